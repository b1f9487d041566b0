/// Random masses coupled by inertia, damping and stiffness, with stops along single coordinates or across
/// them: impacts beside closed contacts, contacts freed by them, chatter of two at once.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/dice.hpp"
#include "tests/legs.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// Two to four masses and as many stops at most.
std::string coupled_masses(unsigned seed) {
  Dice dice(seed);
  const Eigen::Index n = 2 + seed % 3;
  std::string text =
      "name = 'linear_stops'\nmass = " + rows(dice.definite(n, 0.3, 1)) +
      "\nstiffness = " + rows(dice.definite(n, 1, 1)) + "\ndamping = " + rows(dice.definite(n, 0.1, 0.1)) +
      "\nconstant = " + list(dice.vector(n, 1)) + "\nomega = " + fmt_double(dice.number(0.4, 2)) +
      "\nforce = [{ cosine = " + list(dice.vector(n, 2)) + " }]\nstop = [";
  for (Eigen::Index i = 0; i < n; ++i) {
    Eigen::VectorXd normal = dice.vector(n, 1);
    if (seed % 2 == 0) normal = Eigen::VectorXd::Unit(n, i) * (normal(i) < 0 ? -1 : 1);
    text += "{ normal = " + list(normal) + ", position = " + fmt_double(dice.number(0, 0.5)) +
            ", restitution = " + fmt_double(dice.number(0.2, 0.8)) + " }, ";
  }
  return text + "]";
}

}  // namespace

// The engine finds each event by its search; a leg is told when it is and only evaluates the flow and the
// guard.
TEST_CASE("coupled masses: legs by prescription lead where the motion led, guards are zero at their ends") {
  int beside = 0, freed = 0, completed = 0, motions = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    const auto system = make_system(coupled_masses(seed));
    HybridState state = state_at(std::vector<double>(static_cast<std::size_t>(system->states()), 0.0));
    for (int period = 0; period < 10; ++period)
      REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
    const Eigen::VectorXd start = state.x;
    const Record record = record_turn(*system, start, 1);
    REQUIRE(record.outcome == Outcome::ok);
    const std::vector<Step>& steps = record.itinerary.steps;
    if (steps.size() > 100) continue;  // several in a corner: impacts feel the rounding of those before
    ++motions;
    for (const Step& step : steps) {
      beside += step.end == EventKind::impact && step.mode != 0;
      freed += step.end == EventKind::release && step.instant;
      completed += step.end == EventKind::chatter_complete && step.mode != 0;
    }
    const auto course = system->follow(legs_of(record, start), {0});
    REQUIRE(course);
    HybridState end = state_at({start.begin(), start.end()});
    REQUIRE(system->advance(end, Section{}, nullptr) == Outcome::ok);
    CHECK((course->legs.back().state - end.x).cwiseAbs().maxCoeff() < 1e-8);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      if (!steps[k].instant) CHECK(std::abs(course->legs[k].guard) < 1e-8);
    }
  }
  CHECK(motions > 250);
  CHECK(beside > 100);
  CHECK(freed > 30);
  CHECK(completed > 10);
}

TEST_CASE("coupled masses: a motion carried with its derivatives is the motion") {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    const auto system = make_system(coupled_masses(seed));
    const Eigen::Index n = system->states();
    HybridState plain = state_at(std::vector<double>(static_cast<std::size_t>(n), 0.0));
    for (int period = 0; period < 3; ++period)
      REQUIRE(system->advance(plain, Section{}, nullptr) == Outcome::ok);
    HybridState carried = plain;
    Tangent tangent{Eigen::MatrixXd::Identity(n, n), Eigen::RowVectorXd::Zero(n), {}};
    REQUIRE(system->advance(plain, Section{}, nullptr) == Outcome::ok);
    REQUIRE(system->advance(carried, Section{}, tangent) == Outcome::ok);
    CHECK(carried.mode == plain.mode);
    CHECK((carried.x - plain.x).cwiseAbs().maxCoeff() < 1e-8);
  }
}
