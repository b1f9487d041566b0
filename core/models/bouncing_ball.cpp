/// A ball on a table that moves up and down, seen from the table.
#include "core/linear/family.hpp"
#include "core/system/model.hpp"
#include "core/system/registry.hpp"

namespace graze {
namespace {

enum : std::size_t { Gamma, omega, gravity, e };

std::vector<Parameter> parameter_table() {
  return by_index({
      {Gamma,
       {{"Gamma", "1", "greatest acceleration of the table over gravity"}, 1.2, Range::non_negative()}},
      {omega, {{"omega", "1", "frequency of the table"}, 1, Range::positive()}},
      {gravity, {{"gravity", "1", "acceleration of free fall"}, 1, Range::positive()}},
      {e, {{"e", "1", "restitution"}, 0.5, Range::unit()}},
  });
}

/// The table is at (Gamma g/omega²) sin(omega t); y is the height above it.
struct Equations {
  template <class S>
  LinearSystem<S, 1, 1, 2> operator()(std::span<const S> p) const {
    LinearSystem<S, 1, 1, 2> s;
    s.resize(1, 1, 1);
    s.mass << S(1);
    s.constant << -p[gravity];
    s.sine << p[Gamma] * p[gravity];
    s.frequency << p[omega];
    s.base_frequency = p[omega];
    s.normal(0) = S(-1);
    s.restitution(0) = p[e];
    return s;
  }
};

}  // namespace

GRAZE_MODEL(bouncing_ball) {
  ModelInfo info;
  info.name = "bouncing_ball";
  info.meaning =
      "A ball that bounces on a table moving up and down sinusoidally; its height is measured from the "
      "table.";
  info.equations =
      "y'' = -gravity + Gamma gravity sin(omega t)\n"
      "table at (Gamma gravity/omega^2) sin(omega t), y >= 0; impact: y' -> -e y'";
  info.citations = {
      "Holmes P. J.: The dynamics of repeated impacts with a sinusoidally vibrating table",
      "Luck J. M., Mehta A.: Bouncing ball with a finite restitution: chattering, locking, and chaos"};
  info.states = {{"y", "1", "height above the table"}, {"v", "1", "velocity relative to the table", "y"}};
  info.contacts = {{"table", "1", "ball on the table"}};
  info.modes = "bit 0 set: the ball rests on the table";
  info.set_parameters(parameter_table(), [](std::span<const double> values, const Tolerance& tolerance) {
    return linear_family_system<1, 1, 2>(Equations{}, values, tolerance);
  });
  return info;
}

}  // namespace graze
