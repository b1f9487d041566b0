/// The models of data/models, and other typed laws, against Taylor series in long arithmetic.
#include <catch2/catch.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/continuation/branch.hpp"
#include "analysis/continuation/solution.hpp"
#include "tests/family.hpp"
#include "tests/oracle/references.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// What tests/oracle/independent/law_references.py has worked out to 30 digits.
const Value::Array& references() {
  static const Value all = settings(
#include "tests/oracle/independent/law_references.inc"
  );
  return all.at("system").array("system");
}

/// Its parameter free. Without forcing its orbits begin where a state falls through zero.
Family family_of(const Value& reference) {
  Family f = family(reference.at("model").text("model"), reference.at("parameter").text("parameter").c_str());
  if (const Value* state = reference.find("section"))
    f.section = at_level(static_cast<int>(state->integer("section")), 0, -1);
  return f;
}

/// Events that a reference tells.
std::vector<Log::Entry> told(const Log& log) {
  std::vector<Log::Entry> entries = log.entries;
  std::erase_if(entries, [](const Log::Entry& e) {
    return e.kind == EventKind::section || e.kind == EventKind::stick;
  });
  return entries;
}

/// Contact of an event, or jump; of a friction that is on no contact −1.
int subject(const Log::Entry& e) { return e.kind == EventKind::jump ? e.jump : e.contact; }

/// The orbit at this value of the parameter near a known one, closed but for its drift. Without forcing it is
/// begun behind the section, where no event is.
std::optional<Solution> orbit_near(const Family& f, const Value& known, double parameter, double moved = 0) {
  const int periods = static_cast<int>(known.at("period").integer("period"));
  NearOrbit near{parameter, vector_of(known, "state").array() + moved, periods, 0, 0};
  if (const Value* turn = known.find("turn")) {
    near.turn = turn->number("turn");
    HybridState state;
    state.x = near.state;
    REQUIRE(f.system(parameter)->advance(state, for_time(near.turn / 8), nullptr) == Outcome::ok);
    near.state = state.x;
  }
  return find_orbit(f, near);
}

/// How far a state is from the nearest of an orbit at phase zero, but for what changes nothing of the motion.
double distance(const System& system, const std::vector<Eigen::VectorXd>& orbit, const Eigen::VectorXd& x) {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Eigen::VectorXd& y : orbit) {
    Eigen::VectorXd apart = y - x;
    const Eigen::MatrixXd shifts = system.shifts();
    for (const auto& shift : shifts.colwise()) apart -= shift * (shift.dot(apart) / shift.squaredNorm());
    nearest = std::min(nearest, apart.cwiseAbs().maxCoeff());
  }
  return nearest;
}

}  // namespace

TEST_CASE("typed laws: motions, events and speeds of impacts against references of 30 digits", "[library]") {
  std::size_t events = 0;
  for (const Value& reference : references()) {
    CAPTURE(reference.at("name").text("name"));
    const auto system = family_of(reference).system(reference.at("a").number("a"));
    HybridState state = state_at(reference.at("start").numbers("start"));
    Log log;
    REQUIRE(system->advance(state, for_time(reference.at("time").number("time")), &log) == Outcome::ok);
    CHECK((state.x - vector_of(reference, "end")).cwiseAbs().maxCoeff() < 1e-10);
    const std::vector<Log::Entry> found = told(log);
    const Eigen::VectorXd times = vector_of(reference, "event_time"),
                          speeds = vector_of(reference, "event_speed"), of = vector_of(reference, "event_of");
    REQUIRE(found.size() == static_cast<std::size_t>(times.size()));
    for (std::size_t k = 0; k < found.size(); ++k) {
      CAPTURE(k, found[k].time);
      const Eigen::Index i = static_cast<Eigen::Index>(k);
      const std::string& kind = reference.at("event_kind").array("event_kind")[k].text("event_kind");
      CHECK(event_names()[static_cast<std::size_t>(found[k].kind)] == kind);
      CHECK(subject(found[k]) == static_cast<int>(of(i)));
      CHECK(std::abs(found[k].time - times(i)) < 1e-10);
      if (is_hit(found[k].kind)) CHECK(std::abs(found[k].speed - speeds(i)) < 1e-10);
    }
    events += found.size();
  }
  CHECK(references().size() >= 17);
  CHECK(events > 250);
}

TEST_CASE("typed laws: periodic orbits and multipliers against references of 30 digits", "[library]") {
  int orbits = 0;
  for (const Value& reference : references()) {
    const Value* cycle = reference.find("cycle");
    if (cycle == nullptr) continue;
    CAPTURE(reference.at("name").text("name"));
    const Family f = family_of(reference);
    const double a = cycle->at("a").number("a");
    const auto orbit = orbit_near(f, *cycle, a);
    REQUIRE(orbit);
    CHECK(distance(*f.system(a), orbit->point.orbit, vector_of(*cycle, "state")) < 1e-10);
    check_multipliers(orbit->point.multipliers, *cycle);
    ++orbits;
  }
  CHECK(orbits >= 17);
}

namespace {

/// How far a point of this kind on a branch beside it is from a known one; 1: there is none.
double error_of(const Family& f, const Value& point) {
  const double there = point.at("a").number("a");
  const auto error_on = [&](const Solution& orbit) {
    ContinuationOptions options;
    options.from = 0.99 * there;
    options.to = 1.01 * there;
    double error = 1;
    for (const Bifurcation& b : continue_branch(f, orbit, {options}).bifurcations) {
      const std::string& kind = bifurcation_names()[static_cast<std::size_t>(b.kind)];
      if (kind == point.at("kind").text("kind")) error = std::min(error, std::abs(b.parameter - there));
    }
    return error;
  };
  // Of a fold the orbits are on one side, apart from the point.
  for (const double beside : {-1e-4, 1e-4, -1e-3, 1e-3}) {
    for (const double moved : {0.0, 1e-3, -1e-3, 1e-2, -1e-2}) {
      const auto orbit = orbit_near(f, point, (1 + beside) * there, moved);
      if (const double error = orbit ? error_on(*orbit) : 1; error < 1e-3) return error;
    }
  }
  return 1;
}

}  // namespace

TEST_CASE("typed laws: located points against references of 30 digits", "[library][long]") {
  const int points = check_points(references(), [](const Value& reference, const Value& point) {
    return error_of(family_of(reference), point);
  });
  CHECK(points >= 31);
}
