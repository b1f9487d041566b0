/// Two rods hinged side by side that knock against each other: the end of one on the side of the other.
#include <algorithm>
#include <cmath>

#include "core/smooth/newton_system.hpp"
#include "core/system/model.hpp"
#include "core/system/registry.hpp"

namespace graze {
namespace {

enum : std::size_t { l1, l2, m1, m2, d, e, gravity, damping1, damping2, torque1, torque2, frequency };

std::vector<Parameter> parameter_table() {
  return by_index({
      {l1, {{"l1", "1", "length of rod 1"}, 1, Range::positive()}},
      {l2, {{"l2", "1", "length of rod 2"}, 1.1, Range::positive()}},
      {m1, {{"m1", "1", "mass of rod 1"}, 3, Range::positive()}},
      {m2, {{"m2", "1", "mass of rod 2"}, 3, Range::positive()}},
      {d, {{"d", "1", "distance of the hinges"}, 0.5, Range::positive()}},
      {e, {{"e", "1", "restitution"}, 1, Range::unit()}},
      {gravity, {{"gravity", "1", "acceleration of free fall"}, 9.81, Range::non_negative()}},
      {damping1, {{"damping1", "1", "damping of hinge 1"}, 0, Range::non_negative()}},
      {damping2, {{"damping2", "1", "damping of hinge 2"}, 0, Range::non_negative()}},
      {torque1, {{"torque1", "1", "amplitude of the torque on rod 1"}, 0, Range::finite()}},
      {torque2, {{"torque2", "1", "amplitude of the torque on rod 2"}, 0, Range::finite()}},
      {frequency,
       {{"frequency", "1", "frequency of both torques; 0: none, autonomous"}, 0, Range::non_negative()}},
  });
}

}  // namespace

/// After Jin, Wang, Lu & Mei in minimal coordinates. With s = phi - theta the gaps are
///     A, end of rod 1 on rod 2:  d cos theta - l1 sin s,  foot l1 cos s - d sin theta in (0, l2]
///     B, end of rod 2 on rod 1:  d cos phi - l2 sin s,    foot l2 cos s + d sin phi in (0, l1]
template <class S>
struct TwoPendulumsEquations {
  static constexpr int states = 4;
  static constexpr int contacts = 2;
  template <class T>
  using Vector = Eigen::Matrix<T, states, 1>;

  explicit TwoPendulumsEquations(std::span<const S> p)
      : length{p[l1], p[l2]},
        inertia{p[m1] * p[l1] * p[l1] / 3.0, p[m2] * p[l2] * p[l2] / 3.0},
        weight{1.5 * p[gravity] / p[l1], 1.5 * p[gravity] / p[l2]},
        damping{p[damping1], p[damping2]},
        torque{p[torque1], p[torque2]},
        distance(p[d]),
        bounce(p[e]),
        omega(p[frequency]) {}

  bool valid() const { return true; }
  Symmetry symmetry(int state) const { return state < 2 ? Symmetry::turn : Symmetry::none; }
  static bool is_velocity(int state) { return state >= 2; }
  S period() const { return omega > S(0) ? S(2 * M_PI) / omega : S(0); }
  double rate() const {
    double fastest = value_of(omega);
    for (int i = 0; i < 2; ++i) {
      fastest =
          std::max({fastest, std::sqrt(value_of(weight[i])), value_of(damping[i]) / value_of(inertia[i])});
    }
    return fastest > 0 ? fastest : 1;
  }

  template <class T>
  void rates(const T& t, const Vector<T>& x, Vector<T>& rate) const {
    rate(0) = x(2);
    rate(1) = x(3);
    for (int i = 0; i < 2; ++i) rate(2 + i) = acceleration(i, t, x);
  }
  template <class T>
  T gap(int i, const T&, const Vector<T>& x) const {
    using std::cos;
    using std::sin;
    return distance * cos(x(1 - i)) - length[i] * sin(x(0) - x(1));
  }
  template <class T>
  T opening(int i, const T&, const Vector<T>& x) const {
    const Slopes<T> g = slopes(i, x);
    return g.phi * x(2) + g.theta * x(3);
  }
  /// -(g_phi phi'' + g_theta theta'') minus the curvature terms, with u = phi' - theta'.
  template <class T>
  T pressing(int i, const T& t, const Vector<T>& x) const {
    const auto [sine, cosine] = sine_cosine(T(x(0) - x(1)));
    const auto [other_sine, other_cosine] = sine_cosine(x(1 - i));
    const Slopes<T> g = slopes(i, x);
    const T u = x(2) - x(3);
    const T curvature = length[i] * sine * u * u - distance * other_cosine * x(3 - i) * x(3 - i);
    return -(g.phi * acceleration(0, t, x) + g.theta * acceleration(1, t, x) + curvature);
  }
  template <class T>
  T foot(int i, const T&, const Vector<T>& x) const {
    using std::cos;
    using std::sin;
    const double side = i == 0 ? -1.0 : 1.0;
    const T along = length[i] * cos(x(0) - x(1)) + distance * S(side) * sin(x(1 - i));
    // Positive inside (0, other length): the product of the distances from both ends.
    return along * (length[1 - i] - along);
  }
  template <class T>
  void kick(int i, const T&, const Vector<T>& x, const T& speed, Vector<T>& v) const {
    const auto [phi, theta] = turn(i, x, speed);
    v(2) += phi;
    v(3) += theta;
  }
  template <class T>
  void lift(int i, const T&, const Vector<T>& x, const T& gap, Vector<T>& v) const {
    const auto [phi, theta] = turn(i, x, gap);
    v(0) += phi;
    v(1) += theta;
  }
  S restitution(int) const { return bounce; }
  double reach(int i, double, const Vector<double>&) const {
    return value_of(distance) + value_of(length[i]);
  }
  double length_of(const Vector<double>& x) const { return x.head(2).cwiseAbs().maxCoeff(); }
  double speed_of(const Vector<double>& x) const { return x.tail(2).cwiseAbs().maxCoeff(); }

 private:
  template <class T>
  struct Slopes {
    T phi, theta;
  };
  /// Derivatives of gap i with respect to the angles.
  template <class T>
  Slopes<T> slopes(int i, const Vector<T>& x) const {
    using std::cos;
    using std::sin;
    const T along = length[i] * cos(x(0) - x(1));
    const T swing = distance * sin(x(1 - i));
    if (i == 0) return {-along, along - swing};
    return {-along - swing, along};
  }
  /// Changes of angle, or of angular velocity, by an impulse at contact i that opens it by so much.
  template <class T>
  Slopes<T> turn(int i, const Vector<T>& x, const T& opening) const {
    const Slopes<T> g = slopes(i, x);
    const T share = opening / (g.phi * g.phi / inertia[0] + g.theta * g.theta / inertia[1]);
    return {g.phi * share / inertia[0], g.theta * share / inertia[1]};
  }
  template <class T>
  T acceleration(int i, const T& t, const Vector<T>& x) const {
    using std::cos;
    using std::sin;
    return (torque[i] * cos(omega * t) - damping[i] * x(2 + i)) / inertia[i] - weight[i] * sin(x(i));
  }

  S length[2], inertia[2], weight[2], damping[2], torque[2];
  S distance, bounce, omega;
};

GRAZE_MODEL(two_pendulums) {
  ModelInfo info;
  info.name = "two_pendulums";
  info.meaning =
      "Two uniform rods hanging from hinges side by side in a vertical plane; the end of either hits the "
      "side "
      "of the other, wherever its foot lies on it.";
  info.equations =
      "J1 phi'' + damping1 phi' + m1 gravity (l1/2) sin(phi) = torque1 cos(frequency t), J1 = m1 l1^2/3\n"
      "J2 theta'' + damping2 theta' + m2 gravity (l2/2) sin(theta) = torque2 cos(frequency t)\n"
      "gap A = d cos(theta) - l1 sin(phi - theta), foot l1 cos(phi - theta) - d sin(theta) in (0, l2)\n"
      "gap B = d cos(phi) - l2 sin(phi - theta), foot l2 cos(phi - theta) + d sin(phi) in (0, l1)\n"
      "impact: the gap's rate changes by -(1 + e); an end that has no foot passes by";
  info.citations = {
      "Jin Li, Wang Qi, Lu Qishao, Mei Shuli: An automatic searching method for collision points of "
      "multibody "
      "systems"};
  info.states = {{"phi", "rad", "angle of rod 1 from the downward vertical"},
                 {"theta", "rad", "angle of rod 2 from the downward vertical"},
                 {"phi_dot", "rad", "angular velocity of rod 1, per unit of time", "phi"},
                 {"theta_dot", "rad", "angular velocity of rod 2, per unit of time", "theta"}};
  info.contacts = {{"A", "1", "end of rod 1 on rod 2"}, {"B", "1", "end of rod 2 on rod 1"}};
  info.modes =
      "bit 0 set: A closed; bit 1 set: B closed; bit 2 set: the end of rod 1 has passed by rod 2; bit 3 set: "
      "the end of rod 2 has passed by rod 1";
  info.set_parameters(parameter_table(), smooth_system<TwoPendulumsEquations>);
  return info;
}

}  // namespace graze
