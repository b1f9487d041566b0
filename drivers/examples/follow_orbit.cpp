/// Iterates the stroboscopic map of an impact oscillator until it has settled, refines the periodic orbit
/// there and follows it over the forcing frequency, through its bifurcations.
#include <cmath>
#include <graze/graze.hpp>
#include <iomanip>
#include <iostream>

int main() {
  // Parameters as in the table [model] of a case file; what is left out has its default.
  graze::Value settings;
  settings.set("b", graze::Value(0.1));
  settings.set("stop", graze::Value(0.1));
  settings.set("omega", graze::Value(2.2));
  const auto model = graze::make_model("impact_oscillator", settings);
  const auto system = model->system(model->values(), graze::Tolerance{});
  const graze::PoincareMap map(*system, graze::Section{});  // from one phase zero of the forcing to the next
  std::cout << std::setprecision(17);

  graze::HybridState state;
  state.x = Eigen::Vector2d(-0.5, 0.0);
  for (int k = 0; k < 300; ++k) {
    const graze::Outcome outcome = map.iterate(state);
    if (outcome == graze::Outcome::ok) continue;
    std::cerr << graze::advice(outcome) << '\n';
    return 1;
  }

  const graze::Orbit orbit = graze::refine_orbit(map, state, 1);
  if (!orbit.closed) return 1;
  std::cout << "orbit " << orbit.start.x.transpose() << '\n';
  std::cout << "residual " << orbit.residual << '\n';
  for (const std::complex<double>& multiplier : orbit.multipliers)
    std::cout << "multiplier " << multiplier.real() << ' ' << multiplier.imag() << '\n';

  const graze::Family family{model, model->values(), model->parameter_index("omega"), graze::Tolerance{}};
  const auto start = graze::find_orbit(family, {.parameter = 2.2, .state = orbit.start.x});
  if (!start) return 1;
  graze::ContinuationOptions range;
  range.from = 2.0;
  range.to = 3.0;
  graze::Continuation walk(family, *start, +1, range);  // towards greater frequencies
  while (walk.next()) {
    for (const graze::Bifurcation& at : walk.passed())
      std::cout << graze::bifurcation_names()[static_cast<std::size_t>(at.kind)] << ' ' << at.parameter
                << '\n';
    std::cout << "point " << walk.point().parameter << ' ' << walk.point().stable << '\n';
  }
  std::cout << "end: " << walk.end() << '\n';
}
