/// A mass that rubs on a plane, driven in both directions, between two walls.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/models/planar/event_driven.hpp"
#include "core/models/planar/semi_analytical.hpp"
#include "core/smooth/system.hpp"
#include "core/system/model.hpp"
#include "core/system/registry.hpp"

namespace graze {
namespace {

enum : std::size_t {
  m,
  kx,
  ky,
  cx,
  cy,
  ex,
  ey,
  omega_x,
  omega_y,
  phase_x,
  phase_y,
  mod_x,
  mod_y,
  omega_mod,
  frequency_scale,
  friction,
  x_left,
  x_right,
  r,
  step,
  look_ahead
};

std::vector<Parameter> parameter_table() {
  return by_index({
      {m, {{"m", "1", "mass"}, 1, Range::positive()}},
      {kx, {{"kx", "1", "stiffness along x"}, 10, Range::non_negative()}},
      {ky, {{"ky", "1", "stiffness along y"}, 10, Range::non_negative()}},
      {cx, {{"cx", "1", "damping along x"}, 0.1, Range::non_negative()}},
      {cy, {{"cy", "1", "damping along y"}, 0.1, Range::non_negative()}},
      {ex, {{"ex", "1", "amplitude of the force along x"}, 1.5, Range::finite()}},
      {ey, {{"ey", "1", "amplitude of the force along y"}, 1.5, Range::finite()}},
      {omega_x, {{"omega_x", "1", "frequency of the force along x"}, 1, Range::non_negative()}},
      {omega_y, {{"omega_y", "1", "frequency of the force along y"}, 1, Range::non_negative()}},
      {phase_x, {{"phase_x", "rad", "phase of the force along x"}, 0, Range::finite()}},
      {phase_y, {{"phase_y", "rad", "phase of the force along y"}, 0, Range::finite()}},
      {mod_x, {{"mod_x", "1", "modulation of the force along x"}, 0.4 / 1.5, Range::finite()}},
      {mod_y, {{"mod_y", "1", "modulation of the force along y"}, 0.4 / 1.5, Range::finite()}},
      {omega_mod, {{"omega_mod", "1", "frequency of the modulation"}, 10, Range::non_negative()}},
      {frequency_scale, {{"frequency_scale", "1", "factor of all three frequencies"}, 1, Range::positive()}},
      {friction,
       {{"friction", "1", "friction force while sliding and its limit while sticking, mu N"},
        1,
        Range::non_negative()}},
      {x_left, {{"x_left", "1", "position of the left wall; -inf: none"}, -0.02, Range::any()}},
      {x_right, {{"x_right", "1", "position of the right wall; inf: none"}, 0.02, Range::any()}},
      {r, {{"r", "1", "restitution of the walls"}, 0.95, Range::unit()}},
      {step,
       {{"step", "1", "step of the semi-analytical engine; 0: the event-driven engine"},
        0,
        Range::non_negative()}},
      {look_ahead,
       {{"look_ahead", "1",
         "semi-analytical engine: share of a step after which its resultant is taken; 0: at the beginning, "
         "first order, 0.5: in the predicted middle, second order"},
        0,
        Range::unit()}},
  });
}

/// The greatest frequency of which all of these are whole multiples, 0 when there is none.
double common_frequency(const std::vector<double>& frequencies) {
  constexpr int most = 64;
  for (int n = 1; n <= most && !frequencies.empty(); ++n) {
    const double base = frequencies.front() / n;
    const bool all = std::all_of(frequencies.begin(), frequencies.end(), [&](double w) {
      return std::abs(w / base - std::round(w / base)) <= 1e-12 * w / base;
    });
    if (all) return base;
  }
  return 0;
}

template <class S>
PlanarFriction<S> plane(std::span<const S> p) {
  PlanarFriction<S> s;
  const S scale = p[frequency_scale];
  s.direction[0] = {p[kx], p[cx], p[ex], p[mod_x], p[omega_x] * scale, p[phase_x]};
  s.direction[1] = {p[ky], p[cy], p[ey], p[mod_y], p[omega_y] * scale, p[phase_y]};
  s.mass = p[m];
  s.friction = p[friction];
  s.restitution = p[r];
  s.modulation_frequency = p[omega_mod] * scale;
  s.wall = {p[x_left], p[x_right]};
  s.step = value_of(p[step]);
  s.look_ahead = value_of(p[look_ahead]);

  std::vector<double> frequencies;
  S slowest(0);
  double fastest = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& d = s.direction[i];
    const double mass = value_of(s.mass);
    fastest = std::max({fastest, std::sqrt(value_of(d.stiffness) / mass), value_of(d.damping) / mass});
    if (d.amplitude == S(0)) continue;
    const S modulation = d.modulation == S(0) ? S(0) : s.modulation_frequency;
    fastest = std::max(fastest, value_of(d.frequency) + value_of(modulation));
    for (const S& w : {d.frequency, modulation}) {
      if (!(w > S(0))) continue;
      if (frequencies.empty()) slowest = w;
      frequencies.push_back(value_of(w));
    }
  }
  s.fastest = fastest > 0 ? fastest : 1;
  const double base = common_frequency(frequencies);
  s.has_period = frequencies.empty() || base > 0;
  if (base > 0) {
    s.forcing_period = S(2 * M_PI * std::round(frequencies.front() / base)) / slowest;
  } else {
    s.forcing_period = frequencies.empty() ? S(0) : S(2 * M_PI) / slowest;
  }
  return s;
}

/// One of the two engines, as core/smooth/system asks for it.
template <template <class> class Engine>
struct PlanarKind {
  template <class S>
  using Dynamics = PlanarFriction<S>;
  template <class S>
  using Motion = Engine<S>;
  template <class S>
  PlanarFriction<S> dynamics(std::span<const S> values) const {
    return plane(values);
  }
};

template <template <class> class Engine>
std::unique_ptr<System> moved_by(std::span<const double> values, const Tolerance& tolerance) {
  return std::make_unique<TaylorSystem<PlanarKind<Engine>>>(PlanarKind<Engine>{}, values, tolerance);
}

std::unique_ptr<System> planar_system(std::span<const double> values, const Tolerance& tolerance) {
  if (!(values[x_left] < values[x_right])) return nullptr;
  if (values[step] > 0) return moved_by<SemiAnalyticalPlanar>(values, tolerance);
  return moved_by<EventDrivenPlanar>(values, tolerance);
}

}  // namespace

GRAZE_MODEL(planar_friction) {
  ModelInfo info;
  info.name = "planar_friction";
  info.meaning =
      "A mass on a plane under isotropic Coulomb friction, on springs and dampers, driven in both directions "
      "by modulated harmonic forces, between two smooth walls.";
  info.equations =
      "m x'' + cx x' + kx x = Fx - friction x'/sqrt(x'^2 + y'^2)\n"
      "m y'' + cy y' + ky y = Fy - friction y'/sqrt(x'^2 + y'^2)\n"
      "Fx = ex (1 + mod_x cos(omega_mod t)) cos(omega_x t + phase_x), Fy = ey (...) sin(omega_y t + "
      "phase_y)\n"
      "sticks while the other forces are not above friction; x_left <= x <= x_right; impact: x' -> -r x'";
  info.citations = {
      "Wang Xiaosun, Wu Shijing: Investigation of semi-analytical numerical algorithm for planar Coulomb "
      "frictional system involving impacting (2016)"};
  info.states = {{"x", "1", "displacement towards the right wall"},
                 {"y", "1", "displacement along the walls"},
                 {"vx", "1", "velocity along x", "x", "v_x"},
                 {"vy", "1", "velocity along y", "y", "v_y"}};
  info.contacts = {{"left", "1", "left wall"}, {"right", "1", "right wall"}};
  info.frictions = {{"ground", "1", "mass on the ground"}};
  info.modes =
      "bit 0 set: on the left wall; bit 1 set: on the right wall; bit 2 set: sticks to the ground; bit 3 "
      "set: "
      "slides along a wall towards -y; bit 4 set: sticks at a wall that it does not press";
  info.set_parameters(parameter_table(), planar_system);
  return info;
}

}  // namespace graze
