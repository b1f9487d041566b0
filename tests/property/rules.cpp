/// What happens at an instant: each rule that core/linear_motion states.
#include <catch2/catch.hpp>

#include <cmath>

#include "tests/event_kinds.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

const std::string ball = "name = 'linear_stops'\nmass = [[1]]\nconstant = [-1]\n";
const std::string floor_stop = "stop = [{ normal = [-1], position = 0, restitution = 0.5 }]";

}  // namespace

TEST_CASE("start on a contact: approaching is an impact at the start, resting sticks, leaving leaves") {
  const auto system = make_system(ball + floor_stop);
  {
    HybridState state = state_at({0, -2}, 0);
    Log log;
    REQUIRE(system->advance(state, for_time(0.1), &log) == Outcome::ok);
    REQUIRE(log.of(EventKind::impact).size() == 1);
    CHECK(log.entries[0].time == 0);
    CHECK(log.entries[0].speed == 2);
    CHECK(log.entries[0].before == std::vector<double>{0, -2});
    CHECK(log.entries[0].after == std::vector<double>{0, 1});
    CHECK(state.x(1) == Approx(0.9).margin(1e-15));
  }
  {
    HybridState state = state_at({0, 0}, 0);
    Log log;
    REQUIRE(system->advance(state, for_time(5), &log) == Outcome::ok);
    CHECK(kinds(log) == std::vector<EventKind>{EventKind::stick});
    CHECK(state.x(0) == 0);
    CHECK(state.x(1) == 0);
    CHECK(state.mode == 1);
  }
  {
    HybridState state = state_at({0, 1}, 0);
    Log log;
    REQUIRE(system->advance(state, for_time(1.9), &log) == Outcome::ok);
    CHECK(kinds(log).empty());
    CHECK(state.x(0) == Approx(1.9 - 1.9 * 1.9 / 2).margin(1e-15));
  }
  {
    HybridState state = state_at({-1e-6, 0}, 0);
    CHECK(system->advance(state, for_time(1), nullptr) == Outcome::bad_start);
  }
  // A state read from a table of eleven digits may lie behind the stop by the twelfth.
  const auto high = make_system(ball + "stop = [{ normal = [-1], position = -1, restitution = 0.5 }]");
  HybridState state = state_at({1 - 2e-11, 0}, 0);
  REQUIRE(high->advance(state, for_time(1), nullptr) == Outcome::ok);
  CHECK(state.x(0) == 1);
  state = state_at({1 - 2e-9, 0}, 0);
  CHECK(high->advance(state, for_time(1), nullptr) == Outcome::bad_start);
}

TEST_CASE("plastic impact (r = 0): the body sticks at once") {
  const auto system = make_system(ball + "stop = [{ normal = [-1], position = 0, restitution = 0 }]");
  HybridState state = state_at({0.5, 0}, 0);
  Log log;
  REQUIRE(system->advance(state, for_time(3), &log) == Outcome::ok);
  CHECK(kinds(log) == std::vector<EventKind>{EventKind::impact, EventKind::stick});
  CHECK(log.of(EventKind::stick)[0].time == Approx(1).margin(1e-15));
}

TEST_CASE("elastic impacts (r = 1) keep the energy and never accumulate") {
  const auto system = make_system(ball + "stop = [{ normal = [-1], position = 0, restitution = 1 }]");
  HybridState state = state_at({0.5, 0}, 0);
  Log log;
  REQUIRE(system->advance(state, for_time(2000), &log) == Outcome::ok);
  CHECK(log.of(EventKind::impact).size() == 1000);
  CHECK(log.of(EventKind::stick).empty());
  CHECK(state.x(0) + state.x(1) * state.x(1) / 2 == Approx(0.5).margin(1e-11));
}

TEST_CASE("two stops hit at the same instant: both impacts, whatever their order in the file") {
  for (const bool swapped : {false, true}) {
    const std::string first = "{ normal = [-1, 0], position = 0, restitution = 0.5 }";
    const std::string second = "{ normal = [0, -1], position = 0, restitution = 0.8 }";
    const auto system =
        make_system("name = 'linear_stops'\nmass = [[1, 0], [0, 1]]\nconstant = [-1, -1]\nstop = [" +
                    (swapped ? second + "," + first : first + "," + second) + "]");
    HybridState state = state_at({0.5, 0, 0.5, 0}, 0);
    Log log;
    REQUIRE(system->advance(state, for_time(1.2), &log) == Outcome::ok);
    const auto impacts = log.of(EventKind::impact);
    REQUIRE(impacts.size() == 2);
    CHECK(impacts[0].time == impacts[1].time);
    CHECK(state.x(1) == Approx(0.5 - 0.2).margin(1e-14));
    CHECK(state.x(3) == Approx(0.8 - 0.2).margin(1e-14));
  }
}

TEST_CASE("two bodies on a floor, one on the other: contacts between masses, Newton's cradle of two") {
  // gap between 1 (below) and 2 (above): x2 − x1; equal masses, elastic: they exchange velocities
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[2, 0], [0, 2]]\nstop = [{ normal = [1, -1], position = 0, restitution "
      "= 1 }]");
  HybridState state = state_at({-1, 1, 0, 0}, 0);
  Log log;
  REQUIRE(system->advance(state, for_time(3), &log) == Outcome::ok);
  REQUIRE(log.of(EventKind::impact).size() == 1);
  CHECK(log.of(EventKind::impact)[0].time == Approx(1).margin(1e-14));
  CHECK(state.x(1) == Approx(0).margin(1e-14));
  CHECK(state.x(3) == Approx(1).margin(1e-14));
}

TEST_CASE("a stack at rest: every contact carries, momentum and the lower impact go through") {
  // x1 ≥ 0 on the floor, x2 ≥ x1 on top, weight 1 each: forces 2 and 1
  const std::string stack =
      "name = 'linear_stops'\nmass = [[1, 0], [0, 1]]\nconstant = [-1, -1]\n"
      "stop = [{ name = 'floor', normal = [-1, 0], position = 0, restitution = 0.5 }, { name = 'top', normal "
      "= [1, -1], "
      "position = 0, restitution = 0.5 }]";
  const auto system = make_system(stack);
  HybridState state = state_at({0, 0, 0, 0}, 0);
  Log log;
  REQUIRE(system->advance(state, for_time(4), &log) == Outcome::ok);
  CHECK(state.mode == 3);
  CHECK(log.of(EventKind::stick).size() == 2);
  // dropped from 0.3 and 0.9 it comes to rest as well, both bodies on each other
  HybridState dropped = state_at({0.3, 0, 0.9, 0}, 0);
  REQUIRE(system->advance(dropped, for_time(60), nullptr) == Outcome::ok);
  CHECK(dropped.mode == 3);
  CHECK(dropped.x.cwiseAbs().maxCoeff() < 1e-12);
}

// Stops 1: x1 <= 0, 2: x2 <= c x1, both masses pulled away from them; after the first instant both fly
// freely, x'' = -1, so that states tell the velocities of that instant in closed form.
TEST_CASE(
    "a body that has just come to rest on one stop is held there when another one throws it against it") {
  constexpr double c = 0.2;
  for (const double r : {0.0, 0.5}) {
    const auto system = make_system(
        "name = 'linear_stops'\nmass = [[1, 0], [0, 1]]\nconstant = [-1, -1]\nstop = [{ normal = "
        "[1, 0], position = 0, restitution = " +
        fmt_double(r) + " }, { normal = [-0.2, 1], position = 0, restitution = 0 }]");
    const auto check = [&](std::vector<double> start, double w, std::size_t second_impacts) {
      INFO("r = " << r << ", from " << start[1] << ", " << start[3]);
      HybridState state = state_at(start);
      Log log;
      REQUIRE(system->advance(state, for_time(1), &log) == Outcome::ok);
      const auto of_first = log.of(EventKind::impact, 0);
      REQUIRE(of_first.size() == 1);
      CHECK(of_first[0].speed == Approx(w).margin(1e-14));
      CHECK(log.of(EventKind::impact, 1).size() == second_impacts);
      // Stop 1 opens at r w, stop 2 at no speed.
      CHECK(state.x(0) == Approx(-r * w - 0.5).margin(1e-14));
      CHECK(state.x(2) == Approx(-c * r * w - 0.5).margin(1e-14));
      CHECK(state.x(1) == Approx(-r * w - 1).margin(1e-14));
      CHECK(state.x(3) == Approx(-c * r * w - 1).margin(1e-14));
    };
    check({0, 1, 0, c}, 1, 0);
    // Stop 2 is hit first, at 1 + 1e-9 c, and throws mass 1 back against stop 1, which it has just left.
    const double thrown = -1e-9 + c * (1 + 1e-9 * c) / (1 + c * c);
    check({0, -1e-9, 0, 1}, thrown, 1);
  }
}

// Masses 1 and 3 swing as one, pressed onto each other by constant forces; nothing couples mass 2, which
// strikes its own stop. What rounding leaves of the pair's speed against each other is of when they were
// fast.
TEST_CASE(
    "a body at rest on another one stays there when a third one strikes elsewhere, however slow all are") {
  const auto system = make_system(
      "name = 'linear_stops'\n"
      "mass = [[1, 0, 0], [0, 1, 0], [0, 0, 2]]\n"
      "damping = [[0.1, 0, 0], [0, 0, 0], [0, 0, 0.2]]\n"
      "stiffness = [[1, 0, 0], [0, 1, 0], [0, 0, 2]]\n"
      "constant = [-0.5, 0.003, 0.5]\n"
      "omega = 0.9\n"
      "force = [{ cosine = [0.2, 0.004, 0.4] }]\n"
      "stop = [{ normal = [-1, 0, 1], position = 0, restitution = 0.5 }, "
      "{ normal = [0, 1, 0], position = 0, restitution = 0.9 }]");
  HybridState state = state_at({0.5, 0.1, -0.02, 0, 0.5, 0.1});
  Log log;
  for (int period = 0; period < 500; ++period)
    REQUIRE(system->advance(state, Section{}, &log) == Outcome::ok);
  CHECK(log.of(EventKind::impact, 1).size() > 3000);
  CHECK(log.of(EventKind::stick, 0).size() == 1);
  CHECK(log.of(EventKind::release, 0).empty());
}

TEST_CASE("a force that only touches zero releases nothing, one that passes does") {
  // weight 1 and forcing A cos t: the contact force 1 − A cos t touches zero for A = 1
  for (const double amplitude : {0.999999, 1.000001}) {
    const auto system =
        make_system("name = 'linear_stops'\nmass = [[1]]\nconstant = [-1]\nomega = 1\nforce = [{ cosine = [" +
                    Value(amplitude).toml() + "] }]\n" + floor_stop);
    HybridState state = state_at({0, 0}, 1);
    Log log;
    REQUIRE(system->advance(state, for_time(6.5), &log) == Outcome::ok);
    CHECK(log.of(EventKind::release).size() == (amplitude > 1 ? 1 : 0));
  }
}

TEST_CASE("release by a vanishing force: at the instant of the closed form, leaving as the cube of time") {
  // contact force 1 − 2 sin t falls through zero at t = pi/6
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[1]]\nconstant = [-1]\nomega = 1\nforce = [{ sine = [2] }]\n" +
      floor_stop);
  HybridState state = state_at({0, 0}, 0);
  Log log;
  const double release = M_PI / 6;
  REQUIRE(system->advance(state, for_time(release + 1e-3), &log) == Outcome::ok);
  REQUIRE(log.of(EventKind::release).size() == 1);
  CHECK(log.of(EventKind::release)[0].time == Approx(release).margin(1e-15));
  CHECK(state.x(0) == Approx(2 * std::cos(release) * 1e-9 / 6).epsilon(1e-3));
}

TEST_CASE("an impact exactly at the section belongs to the iterate that ends there") {
  // period 2 pi; a ball thrown so that it lands at 2 pi: x = v t − t²/2, v = pi
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[1]]\nconstant = [-1]\nomega = 1\nforce = [{ cosine = [0] }]\n" +
      floor_stop);
  HybridState state = state_at({0, M_PI}, 0);
  Log first, second;
  REQUIRE(system->advance(state, Section{}, &first) == Outcome::ok);
  REQUIRE(system->advance(state, Section{}, &second) == Outcome::ok);
  const std::size_t total = first.of(EventKind::impact).size();
  CHECK(total + second.of(EventKind::impact).size() >= 1);
  CHECK(
      (first.of(EventKind::impact).size() == 1 || second.entries[0].time == Approx(2 * M_PI).margin(1e-14)));
  CHECK(state.turns == 2);
}

TEST_CASE("the impact section stops before and after the same impact") {
  const auto system = make_system("name = 'two_dof_stops'\ndelta = 0.8");
  HybridState before = state_at({0, 0, 0, 0}), after = before;
  Section section;
  section.kind = Section::Kind::impact_before;
  REQUIRE(system->advance(before, section, nullptr) == Outcome::ok);
  section.kind = Section::Kind::impact_after;
  REQUIRE(system->advance(after, section, nullptr) == Outcome::ok);
  CHECK(before.x(0) == 0.3);
  CHECK(after.x(0) == 0.3);
  CHECK(after.x(1) == Approx(-0.7 * before.x(1)).margin(1e-15));
  CHECK(after.time == before.time);
  // going on from "before" does the impact first and comes to the next one, as going on from "after" does
  section.kind = Section::Kind::impact_before;
  HybridState next = after;
  REQUIRE(system->advance(before, section, nullptr) == Outcome::ok);
  REQUIRE(system->advance(next, section, nullptr) == Outcome::ok);
  CHECK((before.x - next.x).cwiseAbs().maxCoeff() < 1e-14);
}

TEST_CASE("a level section is passed in its own direction only, and left again") {
  const auto system = make_system("name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]");
  for (const int direction : {1, -1}) {
    HybridState state = state_at({1, 0}, 0);
    const Section section = at_level(0, 0.5, direction);
    for (int k = 0; k < 3; ++k) {
      REQUIRE(system->advance(state, section, nullptr) == Outcome::ok);
      CHECK(state.x(0) == 0.5);
      CHECK(state.x(1) == Approx(direction * std::sqrt(0.75)).margin(1e-13));
    }
    const double first = direction > 0 ? 2 * M_PI - M_PI / 3 : M_PI / 3;
    CHECK(state.time == Approx(first + 4 * M_PI).margin(1e-12));
  }
}

TEST_CASE("what never comes ends with an outcome, not with a loop") {
  const auto quiet = make_system("name = 'two_dof_stops'\nA1 = 0.01");
  Section section;
  section.kind = Section::Kind::impact_after;
  HybridState state = state_at({0, 0, 0, 0});
  CHECK(quiet->advance(state, section, nullptr) == Outcome::no_return);
  Tolerance few;
  few.events = 50;
  const auto busy = make_system(ball + "stop = [{ normal = [-1], position = 0, restitution = 1 }]", few);
  HybridState bouncing = state_at({0.5, 0}, 0);
  CHECK(busy->advance(bouncing, for_time(1e3), nullptr) == Outcome::event_limit);
  const auto unstable = make_system("name = 'linear_stops'\nmass = [[1]]\nstiffness = [[-1]]");
  HybridState growing = state_at({1, 1}, 0);
  CHECK(unstable->advance(growing, for_time(1e4), nullptr) == Outcome::non_finite);
}
