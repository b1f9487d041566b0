/// One mass between two stops, harmonically forced: the classic of the field.
#include <limits>

#include "core/linear/family.hpp"
#include "core/system/model.hpp"
#include "core/system/registry.hpp"

namespace graze {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

enum : std::size_t { m, k, b, F, omega, offset, stop, stop_low, r, r_low };

std::vector<Parameter> parameter_table() {
  return by_index({
      {m, {{"m", "1", "mass"}, 1, Range::positive()}},
      {k, {{"k", "1", "stiffness of the spring"}, 1, Range::non_negative()}},
      {b, {{"b", "1", "viscous damping"}, 0, Range::non_negative()}},
      {F, {{"F", "1", "amplitude of the force"}, 1, Range::finite()}},
      {omega, {{"omega", "1", "frequency of the force"}, 2.8, Range::positive()}},
      {offset, {{"offset", "1", "constant force"}, 0, Range::finite()}},
      {stop, {{"stop", "1", "upper stop, x <= stop; inf: none"}, 0, Range::any()}},
      {stop_low, {{"stop_low", "1", "lower stop, x >= stop_low; -inf: none"}, -infinity, Range::any()}},
      {r, {{"r", "1", "restitution of the upper stop"}, 0.8, Range::unit()}},
      {r_low, {{"r_low", "1", "restitution of the lower stop"}, 0.8, Range::unit()}},
  });
}

struct Equations {
  template <class S>
  LinearSystem<S, 1, 1, 2> operator()(std::span<const S> p) const {
    LinearSystem<S, 1, 1, 2> s;
    s.resize(1, 1, 2);
    s.mass << p[m];
    s.damping << p[b];
    s.stiffness << p[k];
    s.constant << p[offset];
    s.cosine << p[F];
    s.frequency << p[omega];
    s.base_frequency = p[omega];
    s.normal << S(1), S(-1);
    s.position << p[stop], -p[stop_low];
    s.restitution << p[r], p[r_low];
    return s;
  }
};

}  // namespace

GRAZE_MODEL(impact_oscillator) {
  ModelInfo info;
  info.name = "impact_oscillator";
  info.meaning = "A mass on a spring and a damper between two rigid stops, harmonically forced.";
  info.equations =
      "m x'' + b x' + k x = offset + F cos(omega t)\n"
      "stop_low <= x <= stop; impact: x' -> -r x' at the upper, -r_low x' at the lower stop";
  info.citations = {
      "Shaw S. W., Holmes P. J.: A periodically forced piecewise linear oscillator",
      "Nordmark A. B.: Non-periodic motion caused by grazing incidence in an impact oscillator"};
  info.states = {{"x", "1", "displacement"}, {"v", "1", "velocity", "x"}};
  info.contacts = {{"stop", "1", "mass at the upper stop"}, {"stop_low", "1", "mass at the lower stop"}};
  info.modes = "bit 0 set: the mass sticks at the upper stop; bit 1 set: at the lower";
  info.set_parameters(parameter_table(), [](std::span<const double> values, const Tolerance& tolerance) {
    return linear_family_system<1, 1, 2>(Equations{}, values, tolerance);
  });
  return info;
}

}  // namespace graze
