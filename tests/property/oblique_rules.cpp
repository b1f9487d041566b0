/// What happens at an instant of an oblique contact with friction: each rule that core/frictional_contact
/// states.
#include <catch2/catch.hpp>

#include <cmath>

#include "analysis/maps/event_statistics.hpp"
#include "tests/event_kinds.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// A state on the contact; the block moves with the bob plus `opening`.
std::vector<double> touching(double theta, double u, double clearance, double opening = 0) {
  return {theta, u, std::sin(theta) - clearance, u * std::cos(theta) + opening};
}

std::string model(const std::string& settings) { return "name = 'oblique_pendulum'\n" + settings + "\n"; }

}  // namespace

TEST_CASE("oblique contact: a start beyond it, on it approaching, on it leaving, past a right angle") {
  const auto system = make_system(model("f1 = 0\nclearance = 0.1"));
  HybridState state = state_at({0.5, 0, 0, 0});
  CHECK(system->advance(state, for_time(1), nullptr) == Outcome::bad_start);
  state = state_at({1.6, 0, 3, 0});
  CHECK(system->advance(state, for_time(1), nullptr) == Outcome::bad_start);

  state = state_at(touching(0.5, 0.4, 0.1, -0.2));
  Log log;
  REQUIRE(system->advance(state, for_time(0.01), &log) == Outcome::ok);
  REQUIRE(log.of(EventKind::impact).size() == 1);
  CHECK(log.entries[0].time == 0);
  CHECK(log.entries[0].speed == Approx(0.2).margin(1e-15));

  state = state_at(touching(0.5, 0.4, 0.1, 0.3));
  Log left;
  REQUIRE(system->advance(state, for_time(0.01), &left) == Outcome::ok);
  CHECK(kinds(left).empty());
}

TEST_CASE(
    "oblique contact: pressed together at rest it sticks where friction can hold it, and not a bit moves") {
  // Θ = f1 cos − θ, N = κ² x/m
  const double theta = 0.3, clearance = 0.1, x = std::sin(theta) - clearance;
  const double c = std::cos(theta), s = std::sin(theta), force = x / 0.6, mu = 0.5;
  const double high = theta + (c + mu * s) * force, low = theta + (c - mu * s) * force;
  // The torque of a phase within the bounds, then it rises above them.
  const double start = 0.5 * (high + low), amplitude = 2 * high;
  const double eta = 0.4;
  const double t0 = -std::acos(start / amplitude) / eta;
  const auto system =
      make_system(model("eta = 0.4\nmu = 0.5\nclearance = 0.1\nf1 = " + fmt_double(amplitude)));
  HybridState state = state_at(touching(theta, 0, clearance), t0);
  const Eigen::VectorXd at = state.x;
  Log log;
  const double slips = -std::acos(high / amplitude) / eta;
  REQUIRE(system->advance(state, for_time(0.5 * (slips - t0)), &log) == Outcome::ok);
  CHECK(state.mode == 1);
  CHECK((state.x - at).cwiseAbs().maxCoeff() == 0);
  REQUIRE(system->advance(state, for_time(0.6 * (slips - t0)), &log) == Outcome::ok);
  CHECK(state.mode == 3);
  REQUIRE(kinds(log) == std::vector<EventKind>{EventKind::stick, EventKind::stick_to_slip});
  CHECK(log.entries[1].time == Approx(slips).margin(1e-13));
  CHECK(log.entries[1].after == std::vector<double>(at.begin(), at.end()));
  CHECK(state.x(1) > 0);
}

TEST_CASE("oblique contact: an impact without restitution closes it at once, smooth ones never stick") {
  for (const char* mu : {"mu = 0.4", "mu = 0"}) {
    const auto system = make_system(model(std::string("f1 = 0\nr = 0\nclearance = -0.2\n") + mu));
    HybridState state = state_at({-0.3, 0.2, 0.3, 0});
    Log log;
    REQUIRE(system->advance(state, for_time(60), &log) == Outcome::ok);
    CHECK(kinds(log).size() >= 2);
    CHECK(kinds(log)[0] == EventKind::impact);
    CHECK(log.of(EventKind::stick).size() >= 1);
    CHECK(log.of(EventKind::stick)[0].time == log.of(EventKind::impact)[0].time);
    Eigen::VectorXd gap, rate;
    system->gaps(state, gap, rate);
    CHECK(std::abs(gap(0)) < 1e-13);
    CHECK(log.of(EventKind::slip_to_stick).empty() == (std::string(mu) == "mu = 0"));
  }
}

TEST_CASE("oblique contact: backward slip that no force can sustain is a named outcome") {
  // m + c (c − f) < 0 at theta = 1, mu = 2
  const double theta = 1, clearance = 0.2;
  const auto system = make_system(model("mass_ratio = 0.1\nmu = 2\nclearance = 0.2\nf1 = 3"));
  HybridState state = state_at(touching(theta, -0.5, clearance));
  CHECK(system->advance(state, for_time(1), nullptr) == Outcome::painleve);
  // Approached, slip stops within the impact.
  state = state_at(touching(theta, -0.5, clearance, -0.1));
  Log log;
  REQUIRE(system->advance(state, for_time(0.01), &log) == Outcome::ok);
  CHECK(kinds(log)[0] == EventKind::impact);
  CHECK(kinds(log)[1] == EventKind::slip_to_stick);
  CHECK(log.entries[0].after[1] == 0);
}

TEST_CASE("oblique contact: chatter ends where it does wherever it is cut, in slip and jammed") {
  struct Run {
    const char* settings;
    double time;
    bool locks;
  };
  for (const Run& chatter : {Run{"eta = 0.2\nf1 = 0.6\nmu = 3\nclearance = -0.5", 25, true},
                             Run{"eta = 0.5\nf1 = 0.6\nmu = 0.3\nclearance = -0.5", 13, false}}) {
    CAPTURE(chatter.settings);
    const auto run = [&](double cut, Log& log) {
      Tolerance tolerance;
      tolerance.chatter = cut;
      const auto system = make_system(model(chatter.settings), tolerance);
      HybridState state = state_at({0, 0, 0.6, 0});
      REQUIRE(system->advance(state, for_time(chatter.time), &log) == Outcome::ok);
      return state;
    };
    Log fine;
    const HybridState exact = run(1e-7, fine);
    REQUIRE(fine.of(EventKind::chatter_complete).size() > 0);
    CHECK((fine.of(EventKind::slip_to_stick).size() > 3) == chatter.locks);
    for (const double cut : {1e-2, 1e-3, 1e-4}) {
      Log log;
      const HybridState state = run(cut, log);
      const double error = (state.x - exact.x).cwiseAbs().maxCoeff();
      CAPTURE(cut, error);
      CHECK(log.of(EventKind::chatter_complete)[0].time ==
            Approx(fine.of(EventKind::chatter_complete)[0].time).margin(30 * cut * cut));
      CHECK(error < std::max(1e-12, 30 * cut * cut * cut));
    }
  }
}

TEST_CASE("oblique contact: an arm that reaches a right angle ends the motion, by name") {
  const auto system = make_system(model("f1 = 5\nclearance = 3"));
  HybridState state = state_at({0, 0, 0, 0});
  CHECK(system->advance(state, for_time(20), nullptr) == Outcome::unbounded);
}

TEST_CASE("oblique contact: the three forms of the law lead to the same motion") {
  const std::string settings = "eta = 0.5\nf1 = 0.6\nmu = 1\nclearance = -0.2\n";
  HybridState first;
  for (const char* law : {"law = 'event_to_event'", "law = 'closed_form'", "law = 'incremental'",
                          "law = 'incremental'\nsteps = 7"}) {
    CAPTURE(law);
    const auto system = make_system(model(settings + law));
    HybridState state = state_at({0, 0, 0.6, 0});
    REQUIRE(system->advance(state, for_time(40), nullptr) == Outcome::ok);
    if (first.x.size() == 0) first = state;
    CHECK((state.x - first.x).cwiseAbs().maxCoeff() < 1e-11);
    CHECK(state.mode == first.mode);
  }
  CHECK_THROWS_WITH(make_model(model("law = 'closed'")), Catch::Contains("closed_form"));
}

TEST_CASE("a tally tells reversing and locking impacts from transitions of a closed contact") {
  const auto system = make_system(model(""));
  Tally tally(*system);
  tally.open_window(0, *system, state_at({0, 0, 0, 0}));
  const auto tell = [&](EventKind kind, double time, double speed = 0) {
    Event event;
    event.time = time;
    event.kind = kind;
    event.contact = 0;
    event.approach_speed = speed;
    tally.event(event);
  };
  tell(EventKind::impact, 1, 0.5);
  tell(EventKind::slip_reversal, 1);
  tell(EventKind::impact, 2, 0.5);
  tell(EventKind::impact, 3, 0.5);
  tell(EventKind::slip_to_stick, 3);
  tell(EventKind::stick, 4);
  tell(EventKind::slip_to_stick, 5);
  tell(EventKind::slip_reversal, 6);
  tally.close_window(7);
  CHECK(tally.contacts()[0].impacts == 3);
  CHECK(tally.contacts()[0].impacts_reversing == 1);
  CHECK(tally.contacts()[0].impacts_locking == 1);
}

// What is left of the block's speed against a slip thousands of times as fast is rounding of the slip.
TEST_CASE("oblique contact: chatter much slower than the slip comes to its end") {
  const std::string settings =
      "eta = 0.7843526122200928\nf1 = 0.44552298585423833\nf2 = 0.42844517795481524\n"
      "psi = 2.3875275646029728\nzeta1 = 0.12214256444659273\nzeta2 = 0.2931027740984704\n"
      "kappa = 2.713263166148817\nmass_ratio = 0.8130402893216107\nclearance = -0.31358678045744204\n"
      "mu = 0.2461824838846451\nr = 0.5731474697256411";
  std::vector<Eigen::VectorXd> ends;
  for (const double cut : {1e-5, 1e-6}) {
    Tolerance tolerance;
    tolerance.chatter = cut;
    const auto system = make_system(model(settings), tolerance);
    HybridState state = state_at({0, 0, 0.9, 0});
    Log log;
    REQUIRE(system->advance(state, for_time(23.5), &log) == Outcome::ok);
    REQUIRE(log.of(EventKind::chatter_complete).size() > 0);
    ends.push_back(state.x);
  }
  CHECK((ends[0] - ends[1]).cwiseAbs().maxCoeff() < 1e-7);
}
