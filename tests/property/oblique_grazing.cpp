/// No impact is missed and none invented where the gap is not linear in the state. The truth comes from the
/// closed-form flight in long double, searched by brute force.
#include <catch2/catch.hpp>

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <random>

#include "tests/oracle/independent/oblique_reference.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// Least gap on (0, end) when it is an interior minimum, else nothing.
bool interior_minimum(const ObliqueFlight& flight, Real end, Real& least) {
  constexpr int samples = 40;
  int best = 0;
  Real low_gap = flight.gap(0);
  for (int i = 1; i <= samples; ++i) {
    const Real g = flight.gap(end * i / samples);
    if (g < low_gap) {
      low_gap = g;
      best = i;
    }
  }
  constexpr Real deepest = 2e-3L;  // the start must stay clear of the contact
  if (best == 0 || best == samples || flight.gap(0) < low_gap + deepest) return false;
  const auto rate = [&](Real t) { return flight.gap_rate(t); };
  const Real low = end * (best - 1) / samples, high = end * (best + 1) / samples;
  const Real before = rate(low), after = rate(high);
  if (!(before < 0 && after > 0)) return false;
  std::uintmax_t steps = 100;
  const auto [left, right] = boost::math::tools::toms748_solve(
      rate, low, high, before, after, boost::math::tools::eps_tolerance<Real>(), steps);
  least = std::min(flight.gap(left), flight.gap(right));
  return true;
}

}  // namespace

TEST_CASE(
    "near grazing with a nonlinear gap: 1e5 flights that penetrate and 1e5 that stay out, 1e-13 to 1e-3") {
  std::mt19937_64 random(20250314);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto model = make_model("name = 'oblique_pendulum'\nmu = 0.3\nkappa = 1.3\nf2 = 0.2\npsi = 0.5");
  std::vector<double> values = model->values();
  const auto set = [&](const char* name, double value) {
    values[static_cast<std::size_t>(model->parameter_index(name))] = value;
  };
  constexpr int wanted = 100000;
  constexpr double window = 3;
  int missed = 0, invented = 0, near_misses = 0, flights = 0, failed = 0;
  double worst = 0;
  ObliqueParameters p{.f2 = 0.2, .psi = 0.5, .kappa = 1.3, .clearance = 0};
  while (flights < wanted) {
    p.eta = 0.3 + 2 * unit(random);
    p.f1 = 0.3 * unit(random);
    const std::vector<double> x0 = {-0.8 + 1.2 * unit(random), -0.8 + 1.6 * unit(random),
                                    -0.4 + 0.8 * unit(random), -0.5 + unit(random)};
    const ObliqueFlight truth(p, 0, {x0[0], x0[1], x0[2], x0[3]});
    Real least = 0;
    if (!interior_minimum(truth, window, least)) continue;
    ++flights;
    set("eta", p.eta);
    set("f1", p.f1);
    const double depth = std::pow(10.0, -13 + 10 * unit(random));
    for (const int side : {+1, -1}) {
      const double clearance = static_cast<double>(-least - side * static_cast<Real>(depth));
      set("clearance", clearance);
      const bool hits = least + static_cast<Real>(clearance) < 0;  // after rounding of the clearance
      const auto system = model->system(values, {});
      HybridState state = state_at(x0);
      Log log;
      failed += system->advance(state, for_time(window), &log) != Outcome::ok;
      const auto impacts = log.of(EventKind::impact);
      if (hits) {
        missed += impacts.empty();
        if (!impacts.empty())
          worst = std::max(worst, std::abs(static_cast<double>(truth.gap(impacts[0].time)) + clearance));
      } else {
        invented += !impacts.empty() || !log.of(EventKind::graze).empty();
        near_misses += log.near_misses > 0;
      }
    }
  }
  CHECK(failed == 0);
  CHECK(missed == 0);
  CHECK(invented == 0);
  CHECK(near_misses == wanted);
  CHECK(worst < 1e-14);
}
