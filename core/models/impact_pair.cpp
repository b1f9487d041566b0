/// A particle in a box that is shaken: impacts alone, nothing between them.
#include "core/linear/family.hpp"
#include "core/system/model.hpp"
#include "core/system/registry.hpp"

namespace graze {
namespace {

enum : std::size_t { a, omega, clearance, r };

std::vector<Parameter> parameter_table() {
  return by_index({
      {a, {{"a", "1", "greatest acceleration of the box"}, 1, Range::finite()}},
      {omega, {{"omega", "1", "frequency of the box"}, 1, Range::positive()}},
      {clearance, {{"clearance", "1", "way of the particle between the walls"}, 2, Range::positive()}},
      {r, {{"r", "1", "restitution of both walls"}, 0.6, Range::unit()}},
  });
}

/// Seen from the box, whose acceleration is −a cos(omega t).
struct Equations {
  template <class S>
  LinearSystem<S, 1, 1, 2> operator()(std::span<const S> p) const {
    LinearSystem<S, 1, 1, 2> s;
    s.resize(1, 1, 2);
    s.mass << S(1);
    s.cosine << p[a];
    s.frequency << p[omega];
    s.base_frequency = p[omega];
    s.normal << S(1), S(-1);
    s.position << 0.5 * p[clearance], 0.5 * p[clearance];
    s.restitution << p[r], p[r];
    return s;
  }
};

}  // namespace

GRAZE_MODEL(impact_pair) {
  ModelInfo info;
  info.name = "impact_pair";
  info.meaning =
      "A free particle between the two walls of a box that is shaken along the line between them; its place "
      "is measured from the middle of the box.";
  info.equations =
      "x'' = a cos(omega t)\n"
      "-clearance/2 <= x <= clearance/2; impact: x' -> -r x'";
  info.citations = {"Bapat C. N., Popplewell N., McLachlan K.: Stable periodic motions of an impact-pair"};
  info.states = {{"x", "1", "place in the box"}, {"v", "1", "velocity relative to the box", "x"}};
  info.contacts = {{"upper", "1", "particle at the upper wall"},
                   {"lower", "1", "particle at the lower wall"}};
  info.modes = "bit 0 set: the particle rests at the upper wall; bit 1 set: at the lower";
  info.set_parameters(parameter_table(), [](std::span<const double> values, const Tolerance& tolerance) {
    return linear_family_system<1, 1, 2>(Equations{}, values, tolerance);
  });
  return info;
}

}  // namespace graze
