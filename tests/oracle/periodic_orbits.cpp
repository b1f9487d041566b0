/// Periodic orbits over their events, and their multipliers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "analysis/attractor.hpp"
#include "tests/family.hpp"

using namespace graze;
using namespace graze::test;

namespace {

struct Solved {
  Record record;
  Closing closing;
  Orbit orbit;
};

/// The attractor from rest, solved again over its events.
Solved solved(const Family& f, std::vector<std::size_t> nodes = {}) {
  Solved s;
  const double parameter = f.values[static_cast<std::size_t>(f.parameter)];
  const auto system = f.system(parameter);
  const std::vector<double> rest(f.model->states().size(), 0.0);
  const Attractor a = find_attractor(PoincareMap(*system, Section{}), state_at(rest), {});
  REQUIRE(a.kind == AttractorClass::periodic);
  s.orbit = a.orbit;
  s.record = record_turn(*system, a.orbit.start.x, a.orbit.period);
  const Shooting shooting(f, s.record.itinerary, {}, std::move(nodes));
  const auto u = shooting.unknowns(a.orbit.start.x, s.record.durations, parameter);
  REQUIRE(u);
  s.closing = solve_fixed(shooting, *u);
  return s;
}

}  // namespace

TEST_CASE("an orbit solved over its events is the orbit of the map, with its multipliers") {
  for (const char* parameters :
       {"delta = 0.8", "delta = 0.16", "delta = 0.25\nd1 = -0.3\nd2 = 0.1",
        "delta = 0.257\nd1 = -0.3\nd2 = 0.1", "delta = 0.16\nA1 = 0.4\nA2 = 0.1", "delta = 1.43"}) {
    INFO(parameters);
    const Family f = family(std::string("name = 'two_dof_stops'\n") + parameters, "delta");
    const Solved s = solved(f);
    REQUIRE(s.closing.ok);
    const double turn = s.record.times.back();  // slow impacts of chatter feel its rounding most
    CHECK(s.closing.residual < 1e-13 * turn);
    CHECK((s.closing.u.head(4) - s.orbit.start.x).cwiseAbs().maxCoeff() < 1e-11);
    const Shooting shooting(f, s.record.itinerary, {});
    const auto multipliers = orbit_multipliers(shooting, s.closing.u);
    REQUIRE(multipliers.size() == 4);
    for (std::size_t k = 0; k < 4; ++k)
      CHECK(std::abs(std::abs(multipliers[k]) - std::abs(s.orbit.multipliers[k])) < 1e-6);
  }
}
