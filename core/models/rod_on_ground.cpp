/// A rod that hits the ground: compliant contact of its ends, with dry friction.
///
///     free ──gap = 0──▶ pressed (forward | backward | stick) ──penetration = 0──▶ free
///                          │ ▲
///              force = 0   ▼ │   force > 0
///                        lagging: the ground recovers more slowly than the end leaves
///
/// Rules at an instant (each has its test):
/// - Contact begins where a gap falls through zero. The force δ^{3/2} is not smooth there, so while an end is
///   pressed the flow runs in a variable with dt/dσ = w = √δ, in which w is a state and everything is a power
///   series: dw/dσ = δ̇/2, F_n = K w³ (1 + c δ̇). With both ends pressed dt/dσ = w_A w_B/(w_A + w_B).
/// - Both gaps fall through zero at once, or a gap is zero and begins to close from rest: in these starts σ
///   stands still. The rod falls freely for so short a time that what is left out is rounding.
/// - Both ends leave nearly at once: σ would never come to the end, and what derivatives say of w would grow
///   beyond limits. From where the forces left are rounding both ends part as if there were none.
/// - Force zero before the penetration is: the contact pulls nothing, the rest of the stored energy is lost.
/// - Sliding stops: the end sticks if a force within the static limit holds it, else it slides on or back.
/// With
///   two ends at rest their forces minimize the acceleration within both limits. Where there is no normal
///   force yet, the end slides as it is accelerated without, and if it is not accelerated, a normal force
///   alone decides: it sticks if |cross mobility| ≤ μ_s tangential mobility.
/// - Sticking ends where the force that holds passes the static limit. A force that only touches it goes on.
/// - Without friction an end counts as sliding forward.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "core/smooth/motion.hpp"
#include "core/smooth/system.hpp"
#include "core/system/model.hpp"
#include "core/system/registry.hpp"

namespace graze {
namespace {

enum : std::size_t {
  length,
  mass,
  radius,
  young,
  poisson,
  stiffness,
  inertia,
  damping,
  mu,
  mu_static,
  gravity,
  ground_amplitude,
  ground_frequency,
  Gamma,
  theta,
  speed,
  omega
};

std::vector<Parameter> parameter_table() {
  return by_index({
      {length, {{"l", "m", "length of the rod"}, 0.1, Range::positive()}},
      {mass, {{"m", "kg", "mass of the rod"}, 0.2, Range::positive()}},
      {radius, {{"radius", "m", "radius of the round ends"}, 0.01, Range::positive()}},
      {young, {{"young", "Pa", "Young's modulus of rod and ground"}, 2.1e11, Range::positive()}},
      {poisson, {{"poisson", "1", "Poisson's ratio of both"}, 0.3, Range{0, 0.5, false, false}}},
      {stiffness,
       {{"stiffness", "N m-1.5", "Hertzian stiffness K; 0: from radius, young and poisson"},
        0,
        Range::non_negative()}},
      {inertia,
       {{"inertia", "kg m2", "moment of inertia about the centre; 0: m l^2/12"}, 0, Range::non_negative()}},
      {damping, {{"damping", "s m-1", "damping c of the contact"}, 0, Range::non_negative()}},
      {mu, {{"mu", "1", "coefficient of kinetic friction"}, 0.1, Range::non_negative()}},
      {mu_static,
       {{"mu_static", "1", "coefficient of static friction, at least mu; 0: as mu"},
        0,
        Range::non_negative()}},
      {gravity, {{"gravity", "m s-2", "acceleration of free fall"}, 9.81, Range::non_negative()}},
      {ground_amplitude,
       {{"ground_amplitude", "m", "amplitude of the vibrating ground"}, 0, Range::non_negative()}},
      {ground_frequency,
       {{"ground_frequency", "rad s-1", "frequency of the ground; 0: at rest"}, 0, Range::non_negative()}},
      {Gamma,
       {{"Gamma", "1", "greatest acceleration of the ground over gravity, where ground_amplitude is 0"},
        0,
        Range::non_negative()}},
      {theta,
       {{"theta", "rad", "start: inclination, and direction of the motion"}, M_PI / 6, Range::finite()}},
      {speed, {{"v", "m s-1", "start: speed along the rod"}, 2, Range::finite()}},
      {omega, {{"omega", "rad s-1", "start: angular velocity"}, 0, Range::finite()}},
  });
}

constexpr int ends = 2;  // A, B
enum : int { x_c, y_c, phi, x_c_dot, y_c_dot, phi_dot, depth };

/// How an end stands: three bits for each above the two that say which ends are in contact. `leaving` sticks
/// to the end of the contact, which is so near that rounding hides the limit of the force that holds;
/// `parting` moves to it without a force worth counting.
enum class Slip { none = 0, stick, forward, backward, leaving, parting };
constexpr int slip_bits = 3;

Slip slip_of(int i, std::int64_t mode) { return static_cast<Slip>((mode >> (ends + slip_bits * i)) & 7); }
std::int64_t with_slip(std::int64_t mode, int i, Slip slip) {
  const int shift = ends + slip_bits * i;
  return (mode & ~(std::int64_t{7} << shift)) | (static_cast<std::int64_t>(slip) << shift);
}
bool parts(int i, std::int64_t mode) { return slip_of(i, mode) == Slip::parting; }
/// In contact, and the contact force is not zero.
bool pressed(int i, std::int64_t mode) { return slip_of(i, mode) != Slip::none && !parts(i, mode); }
bool sticks(int i, std::int64_t mode) {
  return slip_of(i, mode) == Slip::stick || slip_of(i, mode) == Slip::leaving;
}
int sense(Slip slip) { return slip == Slip::forward ? 1 : slip == Slip::backward ? -1 : 0; }
Slip sliding(double velocity) { return velocity < 0 ? Slip::backward : Slip::forward; }

/// What a force in the contact of one end does to the acceleration of an end, per force.
struct Mobility {
  double normal, cross, tangential;
};

/// After Zhang & Yao. The states are those of the model and per end, while it is in contact, w = √δ (pressed)
/// or δ itself (lagging, parting).
template <class S>
class RodDynamics {
 public:
  static constexpr int outer_states = depth;
  static constexpr int states = outer_states + ends;
  static constexpr int contacts = ends;
  static constexpr int touches = ends;
  static constexpr bool compliant = true;
  template <class T>
  using Vector = Eigen::Matrix<T, states, 1>;
  /// Of end A; end B has the next.
  enum Guard : int {
    edge = 0,            ///< free: the gap; in contact: its depth state
    pull = 2,            ///< pressed: 1 + c δ̇; lagging: its negative; parting: −δ̇
    slide = 4,           ///< sliding velocity, times its sense
    backward_limit = 6,  ///< static limit minus the force that holds
    forward_limit = 8,   ///< … plus it
    shallow = 10,        ///< both pressed: positive while their forces count
    tilt = 11,           ///< both stick on a rod that lies flat: positive while it does
  };
  static constexpr int guards = 12;
  /// Of end A, likewise.
  enum Meter : int {
    friction_power = 0,  ///< lost, per σ
    damping_power = 2,   ///< likewise
    normal_force = 4,
  };
  static constexpr int meter_count() { return 6; }
  static constexpr int first_meter() { return guards; }

  explicit RodDynamics(std::span<const S> p)
      : half(p[length] / 2.0),
        m(p[mass]),
        J(p[inertia] > S(0) ? p[inertia] : S(p[mass] * p[length] * p[length] / 12.0)),
        K(p[stiffness] > S(0) ? p[stiffness] : hertz(p)),
        c(p[damping]),
        kinetic(p[mu]),
        limit(p[mu_static] > S(0) ? p[mu_static] : p[mu]),
        g(p[gravity]),
        amplitude(amplitude_of(p)),
        frequency(p[ground_frequency]) {}

  /// Of the ground; 0 where it is at rest.
  static S amplitude_of(std::span<const S> p) {
    const S omega = p[ground_frequency];
    if (!(omega > S(0))) return S(0);
    return p[ground_amplitude] > S(0) ? p[ground_amplitude] : S(p[Gamma] * p[gravity] / (omega * omega));
  }

  bool valid() const { return !(limit < kinetic); }
  S period() const { return frequency > S(0) ? S(2 * M_PI) / frequency : S(0); }
  /// Of the motion between contacts.
  double rate() const {
    const double pendulum = std::sqrt(value_of(g) / value_of(half));
    const double fastest = std::max(pendulum, value_of(frequency));
    return fastest > 0 ? fastest : 1;
  }

  bool watched(int k, std::int64_t mode) const {
    const int i = k % ends;
    const Slip slip = slip_of(i, mode);
    switch (k - i) {
      case edge:
        return true;
      case pull:
        return is_closed(mode, i) && (c > S(0) || parts(i, mode));
      case slide:
        return sense(slip) != 0 && limit > S(0);
      case shallow:
        return k == tilt ? sticks(0, mode) && sticks(1, mode) : pressed(0, mode) && pressed(1, mode);
      default:
        return slip == Slip::stick;
    }
  }
  bool is_gap(int k, std::int64_t mode) const { return k < ends && !is_closed(mode, k); }
  bool metered(int k, std::int64_t mode) const { return pressed(k % ends, mode); }

  /// Time per σ.
  template <class T>
  T clock(std::int64_t mode, const Vector<T>& x) const {
    const bool a = pressed(0, mode);
    const bool b = pressed(1, mode);
    if (a && b) return x(depth) * share(0, x);
    if (a) return x(depth);
    if (b) return x(depth + 1);
    return constant(x(0), S(1));
  }
  /// What rates and guards share at a state.
  template <class T>
  struct Terms {
    T sine{}, cosine{};                        ///< of the angle
    T ground{}, sinking{};                     ///< height and −velocity of the ground, where it vibrates
    T across{}, upward{};                      ///< while in contact: φ̇ sin φ, φ̇ cos φ
    std::array<T, ends> deeper{};              ///< δ̇ of ends in contact
    std::array<T, ends> normal{}, friction{};  ///< forces on pressed ends
  };
  template <class T>
  Terms<T> terms(std::int64_t mode, const T& t, const Vector<T>& x) const {
    Terms<T> s;
    std::tie(s.sine, s.cosine) = sine_cosine(T(x(phi)));
    if (frequency > S(0)) {
      const auto [sine, cosine] = sine_cosine(T(t * frequency));
      s.ground = cosine * amplitude;
      s.sinking = sine * S(amplitude * frequency);
    }
    if (!is_closed(mode, 0) && !is_closed(mode, 1)) return s;
    s.across = s.sine * x(phi_dot);
    s.upward = s.cosine * x(phi_dot);
    for (int i = 0; i < ends; ++i) {
      if (!is_closed(mode, i)) continue;
      s.deeper[i] = s.upward * arm(i) - x(y_c_dot);
      if (frequency > S(0)) s.deeper[i] = s.deeper[i] - s.sinking;
      if (!pressed(i, mode)) continue;
      s.normal[i] = cube(x(depth + i)) * (s.deeper[i] * S(K * c) + K);
      s.friction[i] = s.normal[i] * S(kinetic * S(-sense(slip_of(i, mode))));
    }
    hold(mode, x, s);
    return s;
  }
  template <class T>
  void rates(std::int64_t mode, const T&, const Vector<T>& x, Vector<T>& rate, const Terms<T>& s) const {
    rate(x_c) = x(x_c_dot);
    rate(y_c) = x(y_c_dot);
    rate(phi) = x(phi_dot);
    const T zero = constant(x(0), S(0));
    rate(x_c_dot) = rate(phi_dot) = rate(depth) = rate(depth + 1) = zero;
    rate(y_c_dot) = constant(x(0), -g);
    if (!is_closed(mode, 0) && !is_closed(mode, 1)) return;
    for (int i = 0; i < ends; ++i) {
      if (!pressed(i, mode)) continue;
      rate(x_c_dot) = rate(x_c_dot) + s.friction[i] / m;
      rate(y_c_dot) = rate(y_c_dot) + s.normal[i] / m;
      rate(phi_dot) = rate(phi_dot) - (s.sine * s.friction[i] + s.cosine * s.normal[i]) * S(arm(i) / J);
    }
    const bool timed = pressed(0, mode) || pressed(1, mode);
    const T tick = clock(mode, x);
    for (int k = 0; timed && k < outer_states; ++k) rate(k) = rate(k) * tick;
    for (int i = 0; i < ends; ++i) {
      if (!is_closed(mode, i)) continue;
      if (!pressed(i, mode)) {
        rate(depth + i) = s.deeper[i] * tick;
      } else if (!pressed(1 - i, mode)) {
        rate(depth + i) = s.deeper[i] * S(0.5);
      } else {
        rate(depth + i) = s.deeper[i] * S(0.5) * share(i, x);
      }
    }
  }
  template <class T>
  void rates(std::int64_t mode, const T& t, const Vector<T>& x, Vector<T>& rate) const {
    rates(mode, t, x, rate, terms(mode, t, x));
  }
  template <class T>
  T guard(int k, std::int64_t mode, const T&, const Vector<T>& x, const Terms<T>& s) const {
    const int i = k % ends;
    switch (k - i) {
      case edge:
        return is_closed(mode, i) ? T(x(depth + i)) : gap(i, x, s);
      case pull: {
        if (parts(i, mode)) return -s.deeper[i];
        const T factor = s.deeper[i] * c + S(1);
        return pressed(i, mode) ? factor : -factor;
      }
      case slide:
        return (x(x_c_dot) - s.across * arm(i)) * S(sense(slip_of(i, mode)));
      case shallow: {
        if (k == tilt) {
          return lies_flat(leading(s.sine)) ? T(constant(x(0), S(flat * flat)) - s.sine * s.sine)
                                            : constant(x(0), S(1));
        }
        // Energy still stored against that of leaving.
        constexpr double share = 1e-18;
        const T both = x(depth) + x(depth + 1);
        const T stored = both * both * cube(both) * K;
        if (!(leading(s.deeper[0]) < 0) || !(leading(s.deeper[1]) < 0)) return stored;
        return stored - s.deeper[0] * s.deeper[1] * S(m * share);
      }
      case backward_limit:
        return s.normal[i] * limit - s.friction[i];
      case forward_limit:
        return s.normal[i] * limit + s.friction[i];
      case guards + normal_force:
        return s.normal[i];
      case guards + friction_power:
        return -s.friction[i] * (x(x_c_dot) - s.across * arm(i)) * clock(mode, x);
      default:
        return cube(x(depth + i)) * s.deeper[i] * s.deeper[i] * S(K * c) * clock(mode, x);
    }
  }
  template <class T>
  T guard(int k, std::int64_t mode, const T& t, const Vector<T>& x) const {
    return guard(k, mode, t, x, terms(mode, t, x));
  }

  /// K δ^1.5 (1 + c δ̇), of a pressed end.
  S contact_force(int i, std::int64_t mode, const S& t, const Vector<S>& x) const {
    using std::sqrt;
    if (!pressed(i, mode)) return S(0);
    const S pressed_in = -gap(i, t, x);
    return pressed_in > S(0) ? S(K * cube(S(sqrt(pressed_in))) * (S(1) + c * closing(i, t, x))) : S(0);
  }
  S gap(int i, const S& t, const Vector<S>& x) const { return gap(i, x, terms(0, t, x)); }
  S gap_in(int i, std::int64_t, const S& t, const Vector<S>& x) const { return gap(i, t, x); }
  S opening_in(int i, std::int64_t, const S& t, const Vector<S>& x) const { return -closing(i, t, x); }
  static Symmetry symmetry(int state) { return state == phi ? Symmetry::turn : Symmetry::none; }
  static Eigen::MatrixXd shifts() { return Eigen::VectorXd::Unit(outer_states, x_c); }
  double unit(int state) const { return state >= outer_states / 2 ? rate() : 1; }
  /// δ̇.
  S closing(int i, const S& t, const Vector<S>& x) const {
    const Terms<S> s = terms(0, t, x);
    const S deeper = s.cosine * x(phi_dot) * arm(i) - x(y_c_dot);
    return frequency > S(0) ? S(deeper - s.sinking) : deeper;
  }
  S slip_speed(int i, const Vector<S>& x) const {
    using std::sin;
    return x(x_c_dot) - sin(x(phi)) * x(phi_dot) * arm(i);
  }
  /// δ̈ without contact forces.
  S pressing(int i, const S& t, const Vector<S>& x) const {
    using std::cos;
    using std::sin;
    const S ground = frequency > S(0) ? S(-(amplitude * frequency * frequency * cos(frequency * t))) : S(0);
    return ground + g - arm(i) * sin(x(phi)) * x(phi_dot) * x(phi_dot);
  }
  double normal(int i, const S& t, const Vector<S>& x) const {
    return value_of(S(K * cube(x(depth + i)) * (S(1) + c * closing(i, t, x))));
  }
  /// Response of end i to forces at end j.
  Mobility mobility(int i, int j, const Vector<S>& x) const {
    const double s = std::sin(value_of(x(phi)));
    const double cosine = std::cos(value_of(x(phi)));
    const double lever = value_of(S(arm(i) * arm(j) / J));
    const double centre = 1 / value_of(m);
    return {centre + lever * cosine * cosine, lever * s * cosine, centre + lever * s * s};
  }
  /// So nearly that ends at rest do not hold each other: the rod may still tilt. (Held, it would slide at
  /// once, against a couple of friction that is smaller than that of the normal forces by at least this.)
  static constexpr double flat = 1e-6;
  static bool lies_flat(double sine) { return std::abs(sine) < flat; }
  /// −1 for end A, +1 for end B, times half the length.
  S arm(int i) const { return i == 0 ? S(-half) : half; }

  S half, m, J, K, c, kinetic, limit, g, amplitude, frequency;

 private:
  static S hertz(std::span<const S> p) {
    using std::sqrt;
    return S(2.0 / 3.0) * p[young] / (S(1) - p[poisson] * p[poisson]) * sqrt(p[radius]);
  }
  template <class T>
  static T constant(const T& like, const S& value) {
    return (like - like) + value;
  }
  /// Of both ends pressed: w_j/(w_i + w_j); a half where both leave at the same instant.
  template <class T>
  static T share(int i, const Vector<T>& x) {
    const T both = x(depth) + x(depth + 1);
    return leading(both) == 0 ? constant(both, S(0.5)) : T(x(depth + 1 - i) / both);
  }
  template <class T>
  static T cube(const T& w) {
    return w * w * w;
  }
  template <class T>
  T gap(int i, const Vector<T>& x, const Terms<T>& s) const {
    const T height = x(y_c) - s.sine * arm(i);
    return frequency > S(0) ? T(height - s.ground) : height;
  }
  /// The forces that keep sticking ends from accelerating.
  template <class T>
  void hold(std::int64_t mode, const Vector<T>& x, Terms<T>& s) const {
    const bool a = sticks(0, mode);
    const bool b = sticks(1, mode);
    if (!a && !b) return;
    // Of the tangential accelerations, what turns with the rod: arm · (−cos φ φ̇² − sin φ φ̈).
    const T inward = s.upward * x(phi_dot);
    T turning = constant(x(0), S(0));  // J φ̈ without the forces looked for
    for (int j = 0; j < ends; ++j) {
      if (!pressed(j, mode)) continue;
      turning = turning - s.cosine * s.normal[j] * arm(j);
      if (!sticks(j, mode)) turning = turning - s.sine * s.friction[j] * arm(j);
    }
    if (a && b) {
      // Neither end moves: the forces balance, and their couple keeps the rod from turning; on a rod that
      // lies flat they have none.
      const T couple = a_couple(s.sine, inward, turning);
      s.friction[0] = -couple;
      s.friction[1] = couple;
      return;
    }
    const int i = a ? 0 : 1;
    const S lever = half * half / J;
    T acceleration = (inward + s.sine * turning / J) * S(-arm(i));
    if (pressed(1 - i, mode)) acceleration = acceleration + s.friction[1 - i] / m;
    s.friction[i] = -acceleration / (s.sine * s.sine * lever + S(1) / m);
  }
  /// Friction of B when A has its negative: sin φ φ̈ = −cos φ φ̇² with J φ̈ = turning − 2 half sin φ couple.
  template <class T>
  T a_couple(const T& sine, const T& inward, const T& turning) const {
    if (lies_flat(leading(sine))) return constant(inward, S(0));
    return (turning + inward * J / sine) / (sine * S(half * 2.0));
  }
  static double leading(const S& a) { return value_of(a); }
  static double leading(const Series<S>& a) { return value_of(a[0]); }
};

template <class S>
using RodState = typename RodDynamics<S>::template Vector<S>;

/// One moving rod.
template <class S>
class RodMotion final
    : public TaylorMotion<RodMotion<S>, MotionLoop<RodMotion<S>, S, RodState<S>>, S, RodDynamics<S>> {
 public:
  using State = RodState<S>;
  using Loop = MotionLoop<RodMotion, S, State>;
  using Dynamics = RodDynamics<S>;
  using Base = TaylorMotion<RodMotion, Loop, S, Dynamics>;
  using Base::Base;
  using Base::time;
  using Base::x;

  Eigen::Matrix<double, Dynamics::outer_states, 1> outer_state() const {
    return values_of(x.template head<Dynamics::outer_states>());
  }
  /// Depths in contact keep the digits that the state does not have, and its derivatives.
  void place(const HybridState& from, std::size_t) {
    Loop::place(from, Dynamics::guards);
    for (int i = 0; i < ends; ++i) {
      x(depth + i) = S(0);
      if (!settled_ || !is_closed(mode_, i)) continue;
      const double root = from.touches[static_cast<std::size_t>(i)].root;
      const S penetration = -dynamics().gap(i, time, x);
      const S change = penetration - S(value_of(penetration));
      x(depth + i) =
          pressed(i, mode_) ? (root > 0 ? S(root) + change / S(2 * root) : S(root)) : S(root * root) + change;
    }
  }
  /// System::end_leg, for the directions from `first` on.
  Outcome end_leg(LegEnd& end, Eigen::Index first) {
    const Outcome outcome = Loop::end_leg(end, first);
    if (outcome != Outcome::ok || end.kind == EventKind::section) return outcome;
    if (is_closed(mode_, end.contact) || end.kind != EventKind::graze) return Outcome::bad_start;
    Loop::tell_end(end, first, dynamics().gap(end.contact, time, x),
                   dynamics().closing(end.contact, time, x));
    return Outcome::ok;
  }
  /// A start that sticks does not slide, whatever derivatives it brings.
  void rest_slopes() { take_sliding(); }
  void report(HybridState& to) const {
    Loop::report(to);
    for (int i = 0; i < ends; ++i) {
      if (!is_closed(mode_, i)) continue;
      const double d = value_of(x(depth + i));
      to.touches[static_cast<std::size_t>(i)].root = pressed(i, mode_) ? d : std::sqrt(std::max(0.0, d));
    }
  }

 private:
  friend Loop;
  friend Base;
  using Base::dynamics;
  using Base::mode_;
  using Base::touches_;
  using Loop::settled_;
  using Loop::snapshot;
  using Loop::tell;
  using typename Loop::ExactTouch;
  using Ends = std::array<bool, ends>;

  bool hits(int contact, const Crossing& c) const { return contact == c.guard && !is_closed(mode_, contact); }
  void put_on(int i) { x(y_c) -= dynamics().gap(i, time, x); }
  /// Where the other end is on the ground already.
  void take_rounding(int i) { x(y_c) -= S(value_of(dynamics().gap(i, time, x))); }
  double pace() const {
    return value_of(x.template segment<2>(x_c_dot).cwiseAbs().sum()) +
           std::abs(value_of(dynamics().half) * value_of(x(phi_dot)));
  }
  double reach() const {
    return std::abs(value_of(x(y_c))) + value_of(dynamics().half) + value_of(dynamics().amplitude);
  }
  void touch(int guard, int order) { touches_[static_cast<std::size_t>(guard)] = {order, S(0)}; }

  Outcome start(Observer* observer);
  Outcome meet(const Crossing& c, Observer* observer);
  Outcome edge(int i, Observer* observer);
  void part();
  void finish_contact(int i, const Ends& together, Observer* observer);
  bool leaves(const Crossing& c) const;
  void begin(const Ends& fresh, Observer* observer);
  void fall_in(const Ends& fresh);
  void pull(int i, Observer* observer);
  void stop(int i);
  void take_sliding();
  void decide(Observer* observer, int forced = -1, Slip slip = Slip::none);
  void decide_unloaded(int i);
  void hold_within_limits(const Ends& still);
  std::array<double, ends> tangential_accelerations() const;
  ContactLoad load_of(int i) const;
  void measure(Observer& observer, double end) const;
};

template <class S>
Outcome RodMotion<S>::start(Observer* observer) {
  constexpr double slack = 1e-12;
  mode_ = 0;
  touches_.assign(Dynamics::guards, {});
  settled_ = true;
  Ends fresh{};
  bool on_ground = false;
  for (int i = 0; i < ends; ++i) {
    using std::sqrt;
    x(depth + i) = S(0);
    const S gap = dynamics().gap(i, time, x);
    if (value_of(gap) > slack * reach()) continue;
    const S deeper = dynamics().closing(i, time, x);
    if (value_of(gap) < -slack * reach()) {
      const bool lags = dynamics().c * deeper < S(-1);
      mode_ |= std::int64_t{1} << i;
      mode_ = with_slip(mode_, i, lags ? Slip::none : Slip::forward);
      x(depth + i) = lags ? S(-gap) : S(sqrt(-gap));
      continue;
    }
    if (on_ground) {
      take_rounding(i);
    } else {
      put_on(i);
    }
    on_ground = true;
    if (std::abs(value_of(deeper)) > slack * pace()) {
      fresh[static_cast<std::size_t>(i)] = deeper > S(0);
      if (deeper < S(0)) touch(i, 1);
    } else {
      fresh[static_cast<std::size_t>(i)] = dynamics().pressing(i, time, x) > S(0);
      touch(i, 2);
    }
  }
  if (fresh[0] || fresh[1]) {
    begin(fresh, observer);
  } else {
    decide(nullptr);
  }
  return Outcome::ok;
}

template <class S>
Outcome RodMotion<S>::meet(const Crossing& c, Observer* observer) {
  const int i = c.guard % ends;
  const int kind = c.guard - i;
  if (kind == Dynamics::edge) return edge(i, observer);
  if (kind != Dynamics::slide && !(c.slope < 0)) {
    touch(c.guard, 2);  // only touches
  } else if (c.guard == Dynamics::tilt) {
    decide(observer);
  } else if (kind == Dynamics::shallow) {
    part();
  } else if (kind == Dynamics::pull) {
    pull(i, observer);
  } else if (kind == Dynamics::slide) {
    stop(i);
    decide(observer);
  } else if (leaves(c)) {
    mode_ = with_slip(mode_, i, Slip::leaving);
  } else {
    decide(observer, i, kind == Dynamics::backward_limit ? Slip::backward : Slip::forward);
  }
  return Outcome::ok;
}

/// Whether a limit is met by rounding: the normal force is nothing against what it was a step ago.
template <class S>
bool RodMotion<S>::leaves(const Crossing& c) const {
  const Coefficients limit = this->polynomial_of(c.guard);
  const double size = std::accumulate(limit.begin(), limit.end(), 0.0,
                                      [](double sum, double a) { return sum + std::abs(a); });
  return value_of(dynamics().limit) * dynamics().normal(c.guard % ends, time, x) <= 1e-12 * size;
}

/// A gap is zero, or a penetration. What is zero but for rounding at the other end goes with it, or time
/// would stand still; only its rounding is taken away, so that derivatives know that the ends are two.
template <class S>
Outcome RodMotion<S>::edge(int i, Observer* observer) {
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * reach();
  const double deeper = value_of(dynamics().closing(i, time, x));
  const bool ends_here = is_closed(mode_, i);
  if (!ends_here && !(deeper > 0)) {
    put_on(i);
    touch(i, 2);
    tell(observer, EventKind::graze, i, snapshot(observer), value_of(time), 0);
    return Outcome::ok;
  }
  Ends together{};
  for (int j = 0; j < ends; ++j) {
    const double d = value_of(x(depth + j));
    const double distance = !is_closed(mode_, j) ? value_of(dynamics().gap(j, time, x))
                            : pressed(j, mode_)  ? d * d
                                                 : d;
    together[static_cast<std::size_t>(j)] =
        j == i || (is_closed(mode_, j) == ends_here && std::abs(distance) <= rounding &&
                   (value_of(dynamics().closing(j, time, x)) > 0) == !ends_here);
  }
  if (ends_here) {
    finish_contact(i, together, observer);
  } else {
    put_on(i);
    begin(together, observer);
  }
  return Outcome::ok;
}

template <class S>
void RodMotion<S>::part() {
  for (int i = 0; i < ends; ++i) {
    mode_ = with_slip(mode_, i, Slip::parting);
    x(depth + i) = x(depth + i) * x(depth + i);
  }
}

template <class S>
void RodMotion<S>::finish_contact(int i, const Ends& together, Observer* observer) {
  for (int j = 0; j < ends; ++j) {
    if (!together[static_cast<std::size_t>(j)]) continue;
    const Eigen::VectorXd before = snapshot(observer);
    x(depth + j) = S(0);
    if (j == i) {
      put_on(j);
    } else {
      take_rounding(j);
    }
    mode_ = with_slip(mode_ & ~(std::int64_t{1} << j), j, Slip::none);
    touch(j, 1);
    tell(observer, EventKind::contact_end, j, before, value_of(time),
         -value_of(dynamics().closing(j, time, x)));
  }
  decide(observer);
}

/// Contact begins at these ends.
template <class S>
void RodMotion<S>::begin(const Ends& fresh, Observer* observer) {
  const Eigen::VectorXd before = snapshot(observer);
  std::array<double, ends> speed;
  bool at_rest = false;
  for (int i = 0; i < ends; ++i) {
    if (!fresh[static_cast<std::size_t>(i)]) continue;
    speed[static_cast<std::size_t>(i)] = std::max(0.0, value_of(dynamics().closing(i, time, x)));
    at_rest = at_rest || !(speed[static_cast<std::size_t>(i)] > 1e-12 * pace());
  }
  const double now = value_of(time);
  const bool singular = at_rest || (fresh[0] && fresh[1]);
  if (singular) fall_in(fresh);
  for (int i = 0; i < ends; ++i) {
    if (!fresh[static_cast<std::size_t>(i)]) continue;
    mode_ = with_slip(mode_ | (std::int64_t{1} << i), i, Slip::forward);
    touch(i, 0);
    tell(observer, EventKind::contact_begin, i, before, now, speed[static_cast<std::size_t>(i)]);
  }
  decide(nullptr);
}

/// Without contact forces for a time τ that is short against the time T in which they act: the velocities
/// miss a share (τ/T)^{5/2}, from rest (τ/T)³.
template <class S>
void RodMotion<S>::fall_in(const Ends& fresh) {
  const double m = value_of(dynamics().m);
  const double K = value_of(dynamics().K);
  std::array<S, ends> before, sunk;
  double tau = std::numeric_limits<double>::infinity();
  for (int i = 0; i < ends; ++i) {
    if (!fresh[static_cast<std::size_t>(i)]) continue;
    const S gap = dynamics().gap(i, time, x);
    before[static_cast<std::size_t>(i)] = dynamics().closing(i, time, x);
    sunk[static_cast<std::size_t>(i)] = S(value_of(gap)) - gap;  // a derivative
    const double speed = value_of(before[static_cast<std::size_t>(i)]);
    const double pressing = value_of(dynamics().pressing(i, time, x));
    if (speed > 0) tau = std::min(tau, 1e-7 * std::pow(m * m / (K * K * speed), 0.2));
    if (pressing > 0) tau = std::min(tau, 1e-6 * std::cbrt(m / (K * std::sqrt(pressing))));
  }
  const S step(tau);
  x += this->rates(0) * step;
  time += step;
  for (int i = 0; i < ends; ++i) {
    using std::sqrt;
    if (!fresh[static_cast<std::size_t>(i)]) continue;
    const S mean = (before[static_cast<std::size_t>(i)] + dynamics().closing(i, time, x)) * 0.5;
    x(depth + i) = sqrt(S(mean * step + sunk[static_cast<std::size_t>(i)]));
  }
}

/// The force of a contact passes zero while the penetration is not; or a parting end turns back.
template <class S>
void RodMotion<S>::pull(int i, Observer* observer) {
  using std::sqrt;
  const S d = x(depth + i);
  const bool lost = pressed(i, mode_);
  const double penetration = value_of(lost ? S(d * d) : d);
  if (observer != nullptr && !parts(i, mode_)) {
    ContactLoad load = load_of(i);
    load.greatest_penetration = penetration;
    const double stored = 0.4 * value_of(dynamics().K) * std::pow(penetration, 2.5);
    load.damping_work = lost ? stored : -stored;
    observer->load(load);
  }
  mode_ = with_slip(mode_, i, lost ? Slip::none : Slip::forward);
  x(depth + i) = lost ? S(d * d) : S(sqrt(d));
  touch(Dynamics::pull + i, 1);
  decide(observer);
}

/// Takes the rounding out of a sliding velocity of zero.
template <class S>
void RodMotion<S>::stop(int i) {
  using std::sin;
  const S lever = dynamics().arm(i) * sin(x(phi));
  const S impulse = -dynamics().slip_speed(i, x) / (S(1) / dynamics().m + lever * lever / dynamics().J);
  x(x_c_dot) += impulse / dynamics().m;
  x(phi_dot) -= lever * impulse / dynamics().J;
}

/// What sticks does not slide: not but for rounding, nor do derivatives know otherwise.
template <class S>
void RodMotion<S>::take_sliding() {
  const std::array<bool, ends> held = {slip_of(0, mode_) == Slip::stick, slip_of(1, mode_) == Slip::stick};
  if (held[0] && held[1] && !Dynamics::lies_flat(std::sin(value_of(x(phi))))) {
    x(x_c_dot) = x(phi_dot) = S(0);
    return;
  }
  for (int i = 0; i < ends; ++i) {
    if (held[static_cast<std::size_t>(i)]) stop(i);
  }
}

/// Finds how every pressed end slides or sticks: those that move as they move, `forced` as told, the others
/// by their forces.
template <class S>
void RodMotion<S>::decide(Observer* observer, int forced, Slip slip) {
  constexpr double rounding = 1e-13;
  const std::int64_t old = mode_;
  Ends still{};
  int unloaded = -1;
  for (int i = 0; i < ends; ++i) {
    if (!pressed(i, mode_)) continue;
    const double velocity = value_of(dynamics().slip_speed(i, x));
    if (!(dynamics().limit > S(0))) {
      mode_ = with_slip(mode_, i, Slip::forward);
    } else if (i == forced) {
      mode_ = with_slip(mode_, i, slip);
      touch(Dynamics::slide + i, dynamics().limit > dynamics().kinetic ? 1 : 2);
    } else if (std::abs(velocity) > rounding * pace()) {
      mode_ = with_slip(mode_, i, sliding(velocity));
    } else if (slip_of(i, mode_) == Slip::leaving) {
      continue;
    } else if (dynamics().normal(i, time, x) > 0) {
      still[static_cast<std::size_t>(i)] = true;
    } else {
      unloaded = i;
    }
  }
  if (still[0] || still[1]) hold_within_limits(still);
  if (unloaded >= 0) decide_unloaded(unloaded);
  take_sliding();
  if (observer == nullptr) return;
  const Eigen::VectorXd state = snapshot(observer);
  for (int i = 0; i < ends; ++i) {
    const Slip was = slip_of(i, old);
    const Slip is = slip_of(i, mode_);
    if (sense(was) == sense(is) || was == Slip::none || is == Slip::none) continue;
    tell(observer,
         sense(was) == 0  ? EventKind::stick_to_slip
         : sense(is) == 0 ? EventKind::slip_to_stick
                          : EventKind::slip_reversal,
         i, state, value_of(time));
  }
}

/// Tangential accelerations of the ends, in the present mode. Ends that carry no force are left out, so that
/// the clock does not stand still.
template <class S>
std::array<double, ends> RodMotion<S>::tangential_accelerations() const {
  std::int64_t mode = mode_;
  for (int i = 0; i < ends; ++i) {
    if (x(depth + i) == S(0)) mode = with_slip(mode, i, Slip::none);
  }
  const double tick = value_of(dynamics().clock(mode, x));
  const State rate = this->rates(mode);
  const double centre = value_of(rate(x_c_dot)) / tick;
  const double turn = value_of(rate(phi_dot)) / tick;
  const double inward = std::cos(value_of(x(phi))) * std::pow(value_of(x(phi_dot)), 2);
  std::array<double, ends> a;
  for (int i = 0; i < ends; ++i) {
    const double arm = value_of(dynamics().arm(i));
    a[static_cast<std::size_t>(i)] = centre - arm * (inward + std::sin(value_of(x(phi))) * turn);
  }
  return a;
}

/// Ends without sliding velocity: forces F within ± limit that minimize the accelerations a + G F.
template <class S>
void RodMotion<S>::hold_within_limits(const Ends& still) {
  for (int i = 0; i < ends; ++i) {
    if (still[static_cast<std::size_t>(i)]) mode_ = with_slip(mode_, i, Slip::forward);
  }
  // Take the kinetic friction of the ends in question off again.
  std::array<double, ends> a = tangential_accelerations(), most{};
  double G[ends][ends];
  for (int i = 0; i < ends; ++i) {
    for (int j = 0; j < ends; ++j) {
      G[i][j] = dynamics().mobility(i, j, x).tangential;
      if (still[static_cast<std::size_t>(j)]) {
        a[static_cast<std::size_t>(i)] +=
            G[i][j] * value_of(dynamics().kinetic) * dynamics().normal(j, time, x);
      }
    }
    if (still[static_cast<std::size_t>(i)])
      most[static_cast<std::size_t>(i)] = value_of(dynamics().limit) * dynamics().normal(i, time, x);
  }
  // Sense of sliding of each, 0 first.
  constexpr std::array<int, 3> senses = {0, 1, -1};
  const double slack = 1e-12 * (std::abs(a[0]) + std::abs(a[1]) + (G[0][0] + G[1][1]) * (most[0] + most[1]));
  // Ends of a rod that turns part at once, wherever it passes through flat.
  const double parting =
      std::abs(a[0] - a[1]) / (std::abs(a[0]) + std::abs(a[1]) + 2 * G[0][0] * (most[0] + most[1]));
  const bool flat = Dynamics::lies_flat(std::sin(value_of(x(phi)))) && !(parting > Dynamics::flat);
  for (int trial = 0; trial < 9; ++trial) {
    const std::array<int, ends> s = {senses[static_cast<std::size_t>(trial % 3)],
                                     senses[static_cast<std::size_t>(trial / 3)]};
    if ((!still[0] && s[0] != 0) || (!still[1] && s[1] != 0)) continue;
    const std::array<bool, ends> stuck = {still[0] && s[0] == 0, still[1] && s[1] == 0};
    std::array<double, ends> F = {-s[0] * most[0], -s[1] * most[1]};
    const bool as_one = stuck[0] && stuck[1] && flat;
    if (as_one) {
      F[0] = F[1] = -0.5 * (a[0] + a[1]) / (G[0][0] + G[0][1]);
    } else if (stuck[0] && stuck[1]) {
      const double determinant = G[0][0] * G[1][1] - G[0][1] * G[1][0];
      F = {(G[0][1] * a[1] - G[1][1] * a[0]) / determinant, (G[1][0] * a[0] - G[0][0] * a[1]) / determinant};
    } else {
      for (int i = 0; i < ends; ++i) {
        if (stuck[static_cast<std::size_t>(i)])
          F[static_cast<std::size_t>(i)] =
              -(a[static_cast<std::size_t>(i)] + G[i][1 - i] * F[static_cast<std::size_t>(1 - i)]) / G[i][i];
      }
    }
    bool holds = true;
    for (int i = 0; i < ends; ++i) {
      const std::size_t k = static_cast<std::size_t>(i);
      if (!still[k]) continue;
      const double after = a[k] + G[i][0] * F[0] + G[i][1] * F[1];
      const bool balanced = as_one || std::abs(after) <= slack;
      holds = holds && (s[k] == 0 ? std::abs(F[k]) <= most[k] && balanced : s[k] * after >= 0);
    }
    if (!holds) continue;
    for (int i = 0; i < ends; ++i) {
      const int way = s[static_cast<std::size_t>(i)];
      if (!still[static_cast<std::size_t>(i)]) continue;
      mode_ = with_slip(mode_, i, way == 0 ? Slip::stick : sliding(way));
      if (way != 0) touch(Dynamics::slide + i, 1);
    }
    return;
  }
}

/// An end without sliding velocity and without normal force: at the very beginning of a contact (then in σ
/// time counts double), or where the force returns.
template <class S>
void RodMotion<S>::decide_unloaded(int i) {
  const bool begins = x(depth + i) == S(0);
  const double a = tangential_accelerations()[static_cast<std::size_t>(i)];
  const double half = value_of(dynamics().half);
  const Mobility own = dynamics().mobility(i, i, x);
  if (std::abs(a) > 1e-12 * pace() * pace() / half) {
    mode_ = with_slip(mode_, i, sliding(a));
    touch(Dynamics::slide + i, begins ? 2 : 1);
  } else if (std::abs(own.cross) > value_of(dynamics().limit) * own.tangential) {
    mode_ = with_slip(mode_, i, sliding(own.cross));
    touch(Dynamics::slide + i, begins ? 5 : 2);
  } else {
    mode_ = with_slip(mode_, i, Slip::stick);
    touch(Dynamics::backward_limit + i, begins ? 3 : 1);
    touch(Dynamics::forward_limit + i, begins ? 3 : 1);
  }
}

template <class S>
ContactLoad RodMotion<S>::load_of(int i) const {
  const Mobility own = dynamics().mobility(i, i, x);
  ContactLoad load;
  load.contact = i;
  load.begin = this->absolute(value_of(time));
  load.slip = sense(slip_of(i, mode_));
  load.slip_speed = value_of(dynamics().slip_speed(i, x));
  load.friction = value_of(dynamics().kinetic);
  load.static_friction = value_of(dynamics().limit);
  load.normal_mobility = own.normal;
  load.cross_mobility = own.cross;
  load.tangential_mobility = own.tangential;
  return load;
}

/// Where a polynomial that rises at 0 has a maximum before `end`; nothing when it still rises there.
std::optional<double> maximum(const Coefficients& c, double end) {
  if (polynomial_slope(c, 0) < 0 || !(polynomial_slope(c, end) < 0)) return std::nullopt;
  double low = 0;
  double high = end;
  while (low < 0.5 * (low + high) && 0.5 * (low + high) < high) {
    const double middle = 0.5 * (low + high);
    (polynomial_slope(c, middle) < 0 ? high : low) = middle;
  }
  return high;
}

double integral(const Coefficients& c, double end) {
  double sum = 0;
  for (std::size_t k = c.size(); k-- > 0;)
    sum = (sum + c[k] / static_cast<double>(k + 1)) * (k > 0 ? end : 1);
  return sum * end;
}

double greatest(const Coefficients& c, double end) {
  const auto turn = maximum(c, end);
  return turn ? polynomial(c, *turn) : std::max(c[0], polynomial(c, end));
}

template <class S>
void RodMotion<S>::measure(Observer& observer, double end) const {
  for (int i = 0; i < ends; ++i) {
    if (!pressed(i, mode_)) continue;
    ContactLoad load = load_of(i);
    const auto meter = [&](int k) { return this->polynomial_of(Dynamics::guards + k + i); };
    const Coefficients root = this->polynomial_of(Dynamics::edge + i);
    if (const auto turn = maximum(root, end))
      load.turn = this->absolute(value_of(time) + value_of(this->flow().passed(*turn)));
    const double deepest = greatest(root, end);
    load.greatest_penetration = deepest * deepest;
    load.peak_force = greatest(meter(Dynamics::normal_force), end);
    const double step = this->flow().length();
    const auto part = [&](const Coefficients& c) { return polynomial_part({c.begin(), c.end()}, 0, end); };
    std::vector<double> clock = part(this->flow().clock());
    clock.erase(clock.begin());
    for (std::size_t k = 0; k < clock.size(); ++k) clock[k] *= static_cast<double>(k + 1);
    load.impulse = product_integral(part(meter(Dynamics::normal_force)), clock);
    load.friction_work = integral(meter(Dynamics::friction_power), end) * step;
    load.damping_work = integral(meter(Dynamics::damping_power), end) * step;
    observer.load(load);
  }
}

/// As core/smooth/system asks for it.
struct RodKind {
  template <class S>
  using Dynamics = RodDynamics<S>;
  template <class S>
  using Motion = RodMotion<S>;
  template <class S>
  RodDynamics<S> dynamics(std::span<const S> values) const {
    return RodDynamics<S>(values);
  }
};

}  // namespace

GRAZE_MODEL(rod_on_ground) {
  ModelInfo info;
  info.name = "rod_on_ground";
  info.meaning =
      "A uniform rod in a vertical plane whose ends hit the ground, at rest or vibrating: Hertzian contact "
      "with damping (Hunt-Crossley) and Coulomb friction.";
  info.equations =
      "m x_c'' = sum F_f, m y_c'' = sum F_n - m gravity\n"
      "J phi'' = -sum s (l/2) (sin(phi) F_f + cos(phi) F_n), s = 1 at end B, -1 at end A\n"
      "penetration d = ground_amplitude cos(ground_frequency t) - y_c + s (l/2) sin(phi)\n"
      "F_n = K d^(3/2) (1 + damping d'), never negative; K = (2/3) young/(1 - poisson^2) sqrt(radius)\n"
      "slip: F_f = -mu F_n sgn(u), u = x_c' - s (l/2) sin(phi) phi'; stick: u' = 0 while |F_f| <= mu_static "
      "F_n\n"
      "start: x_c' = v cos(theta), y_c' = -v sin(theta), phi = theta, phi' = omega, B on the ground at the "
      "origin";
  info.citations = {
      "Zhang Yingxue, Yao Wenli: Study on contact impact problem based on continuous contact force method",
      "Hunt K. H., Crossley F. R. E.: Coefficient of restitution interpreted as damping in vibroimpact"};
  info.states = {{"x_c", "m", "centre, along the ground"},
                 {"y_c", "m", "centre, upwards"},
                 {"phi", "rad", "angle, clockwise from the horizontal"},
                 {"x_c_dot", "m s-1", "velocity of the centre along the ground", "x_c"},
                 {"y_c_dot", "m s-1", "velocity of the centre upwards", "y_c"},
                 {"phi_dot", "rad s-1", "angular velocity", "phi"}};
  info.contacts = {{"A", "m", "end A, at x_c - (l/2) cos(phi)"},
                   {"B", "m", "end B, at x_c + (l/2) cos(phi)"}};
  info.modes =
      "bit 0 set: A in contact; bit 1 set: B in contact; bits 2-4: A without force (0), sticks (1; 4: to the "
      "end of the contact), slides forward (2), backward (3), leaves with a force not worth counting (5); "
      "bits 5-7: B likewise";
  info.start = [](std::span<const double> p) {
    const double s = std::sin(p[theta]), c = std::cos(p[theta]);
    const double ground = RodDynamics<double>::amplitude_of(p);
    return std::vector<double>{
        -p[length] / 2 * c, p[length] / 2 * s + ground, p[theta], p[speed] * c, -p[speed] * s, p[omega]};
  };
  info.set_parameters(
      parameter_table(),
      [](std::span<const double> values, const Tolerance& tolerance) -> std::unique_ptr<System> {
        if (!RodDynamics<double>(values).valid()) return nullptr;
        return std::make_unique<TaylorSystem<RodKind>>(RodKind{}, values, tolerance);
      });
  return info;
}

}  // namespace graze
