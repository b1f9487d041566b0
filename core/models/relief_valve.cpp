/// A pressure relief valve whose disc hits its seat.
#include <cmath>

#include "core/smooth/newton_system.hpp"
#include "core/system/model.hpp"
#include "core/system/registry.hpp"

namespace graze {
namespace {

enum : std::size_t { q, k, d, b, r };

std::vector<Parameter> parameter_table() {
  return by_index({
      {q, {{"q", "1", "flow into the valve's volume"}, 8, Range::positive()}},
      {k, {{"k", "1", "damping of the disc"}, 1.25, Range::non_negative()}},
      {d, {{"d", "1", "precompression of the spring"}, 10, Range::non_negative()}},
      {b, {{"b", "1", "stiffness of the fluid in the volume"}, 20, Range::positive()}},
      {r, {{"r", "1", "restitution of the seat"}, 0.8, Range::unit()}},
  });
}

}  // namespace

/// After Licskó, Champneys & Hős.
template <class S>
struct ReliefValveEquations {
  static constexpr int states = 3;
  static constexpr int contacts = 1;
  template <class T>
  using Vector = Eigen::Matrix<T, states, 1>;

  explicit ReliefValveEquations(std::span<const S> values)
      : flow(values[q]), damping(values[k]), spring(values[d]), stiffness(values[b]), bounce(values[r]) {}

  bool valid() const { return true; }
  static bool is_velocity(int state) { return state == 1; }
  bool possible(const Vector<double>& y) const { return y(2) >= 0; }
  S period() const { return S(0); }
  /// The disc on its spring, its damper, and the pressure at a lift of the size of the flow.
  double rate() const {
    return 1 + value_of(damping) + std::sqrt(value_of(stiffness) * std::sqrt(value_of(spring) + 1));
  }

  template <class T>
  void rates(const T& t, const Vector<T>& y, Vector<T>& rate) const {
    using std::sqrt;
    rate(0) = y(1);
    rate(1) = -pressing(0, t, y);
    rate(2) = stiffness * (flow - y(0) * sqrt(y(2)));
  }
  template <class T>
  T gap(int, const T&, const Vector<T>& y) const {
    return y(0);
  }
  template <class T>
  T opening(int, const T&, const Vector<T>& y) const {
    return y(1);
  }
  template <class T>
  T pressing(int, const T&, const Vector<T>& y) const {
    return damping * y(1) + y(0) - y(2) + spring;
  }
  template <class T>
  void kick(int, const T&, const Vector<T>&, const T& speed, Vector<T>& v) const {
    v(1) += speed;
  }
  template <class T>
  void lift(int, const T&, const Vector<T>&, const T& gap, Vector<T>& v) const {
    v(0) += gap;
  }
  S restitution(int) const { return bounce; }
  double reach(int, double, const Vector<double>& y) const { return std::abs(y(0)); }
  double length_of(const Vector<double>& y) const { return std::abs(y(0)); }
  double speed_of(const Vector<double>& y) const { return std::abs(y(1)); }

  S flow, damping, spring, stiffness, bounce;
};

GRAZE_MODEL(relief_valve) {
  ModelInfo info;
  info.name = "relief_valve";
  info.meaning =
      "A pressure relief valve: a disc on a spring over a volume with steady inflow, hitting its seat.";
  info.equations =
      "y1' = y2\n"
      "y2' = -k y2 - (y1 + d) + y3\n"
      "y3' = b (q - y1 sqrt(y3))\n"
      "seat at y1 = 0; impact: y2 -> -r y2; a disc pressed to its seat stays there";
  info.citations = {
      "Licskó G., Champneys A., Hős C.: Nonlinear analysis of a single stage pressure relief valve"};
  info.states = {{"y1", "1", "lift of the disc"},
                 {"y2", "1", "velocity of the disc", "y1"},
                 {"y3", "1", "pressure in the volume, not negative"}};
  info.contacts = {{"seat", "1", "disc on its seat"}};
  info.modes = "bit 0 set: the disc sits on its seat";
  info.set_parameters(parameter_table(), smooth_system<ReliefValveEquations>);
  return info;
}

}  // namespace graze
