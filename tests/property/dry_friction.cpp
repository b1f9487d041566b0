/// Derivatives through stick, slip, reversal and stops; the rules of dry friction on random systems.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "analysis/maps/attractor.hpp"
#include "analysis/maps/itinerary.hpp"
#include "tests/legs.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// Derivatives by state and by every parameter after `time`, in columns.
Tangent derivatives(const Model& model, const HybridState& start, double time, HybridState& end) {
  const auto system = model.system(model.values(), {});
  const Eigen::Index n = system->states();
  const Eigen::Index count = n + static_cast<Eigen::Index>(model.values().size());
  Tangent tangent;
  tangent.state = Eigen::MatrixXd::Identity(n, count);
  tangent.time = Eigen::RowVectorXd::Zero(count);
  tangent.parameter = Eigen::MatrixXd::Zero(count - n, count);
  tangent.parameter.rightCols(count - n).setIdentity();
  end = start;
  REQUIRE(system->advance(end, for_time(time), tangent) == Outcome::ok);
  return tangent;
}

/// Central difference along direction k.
Eigen::VectorXd slope(const Model& model, const HybridState& start, double time, Eigen::Index k, double h) {
  const Eigen::Index n = start.x.size();
  std::array<Eigen::VectorXd, 2> x;
  for (int side = 0; side < 2; ++side) {
    std::vector<double> values = model.values();
    HybridState state = start;
    (k < n ? state.x(k) : values[static_cast<std::size_t>(k - n)]) += side == 0 ? h : -h;
    REQUIRE(model.system(values, {})->advance(state, for_time(time), nullptr) == Outcome::ok);
    x[static_cast<std::size_t>(side)] = state.x;
  }
  return (x[0] - x[1]) / (2 * h);
}

/// The same without its error of second order.
Eigen::VectorXd difference(const Model& model, const HybridState& start, double time, Eigen::Index k) {
  constexpr double h = 1e-6;
  return (4 * slope(model, start, time, k, h) - slope(model, start, time, k, 2 * h)) / 3;
}

}  // namespace

TEST_CASE("dry friction: derivatives by state and parameters against central differences") {
  struct Run {
    std::string settings;
    std::vector<double> start;
    double time;
    EventKind through;
  };
  const std::string two = "name = 'two_dof_stops'\n";
  const std::vector<double> start_of_two = {0.05, 0.2, -0.1, 0.3};
  for (const Run& run :
       {Run{two + "d1 = inf\nd2 = inf\nf1 = 0.05\nf2 = 0.03\nf12 = 0.04\nA1 = 1\ndelta = 0.7", start_of_two,
            14, EventKind::slip_reversal},
        Run{two + "d1 = inf\nd2 = inf\nf1 = 0.4\nf2 = 0.2\nf12 = 0.1\ndelta = 0.3", start_of_two, 30,
            EventKind::stick_to_slip},
        Run{two + "d1 = 0.2\nd2 = -0.25\nf1 = 0.04\nf2 = 0.06\nf12 = 0.03\nA1 = 0.9\ndelta = 0.8",
            start_of_two, 20, EventKind::impact},
        Run{two + "d1 = 0.3\nd2 = 0.3\nf1 = 0.05\nf2 = 0.03\nr1 = 0.4\nr2 = 0.3\ndelta = 0.16", start_of_two,
            40, EventKind::release},
        Run{"name = 'linear_stops'\nomega = 0.3\nmass = [[1.2]]\nstiffness = [[0.9]]\ndamping = [[0.05]]\n"
            "force = [{ cosine = [1.0] }]\nstop = [{ normal = [1.0], position = 0.8, restitution = 0.6 }]\n"
            "friction = [{ direction = [1.0], amplitude = 0.45 }]",
            {0.1, 0.7},
            50,
            EventKind::stick_to_slip}}) {
    CAPTURE(run.settings);
    const auto model = make_model(run.settings);
    const HybridState start = state_at(run.start);
    Log log;
    HybridState probe = start;
    REQUIRE(model->system(model->values(), {})->advance(probe, for_time(run.time), &log) == Outcome::ok);
    REQUIRE(log.of(run.through).size() > 0);
    HybridState end;
    const Tangent tangent = derivatives(*model, start, run.time, end);
    CHECK((end.x - probe.x).cwiseAbs().maxCoeff() < 1e-11);
    const double scale = std::max(1.0, tangent.state.cwiseAbs().maxCoeff());
    const Eigen::Index n = start.x.size();
    for (Eigen::Index k = 0; k < tangent.state.cols(); ++k) {
      CAPTURE(k);
      const double value = k < n ? 1 : model->values()[static_cast<std::size_t>(k - n)];
      if (value == 0 || !std::isfinite(value)) continue;  // at the end of its range
      CHECK((difference(*model, start, run.time, k) - tangent.state.col(k)).cwiseAbs().maxCoeff() <
            1e-7 * scale);
    }
  }
}

TEST_CASE("dry friction: contraction, det DP < 1 without any damper") {
  // Between events det = 1; a reversal of x'' + x = cos Ωt − S sgn x' multiplies it by the ratio of the
  // accelerations after and before.
  const auto system = make_system(
      "name = 'linear_stops'\nomega = 0.7\nmass = [[1.0]]\nstiffness = [[1.0]]\n"
      "force = [{ cosine = [1.0] }]\nfriction = [{ direction = [1.0], amplitude = 0.3 }]");
  HybridState state = state_at({0, 0});
  for (int k = 0; k < 50; ++k) REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
  Log log;
  HybridState end = state;
  REQUIRE(system->advance(end, Section{}, &log) == Outcome::ok);
  REQUIRE(log.of(EventKind::slip_reversal).size() == 2);
  double expected = 1;
  for (const auto& e : log.of(EventKind::slip_reversal)) {
    const double free = std::cos(0.7 * e.time) - e.after[0];
    expected *= (std::abs(free) - 0.3) / (std::abs(free) + 0.3);
  }
  Tangent tangent;
  tangent.state = Eigen::MatrixXd::Identity(2, 2);
  tangent.time = Eigen::RowVectorXd::Zero(2);
  REQUIRE(system->advance(state, Section{}, tangent) == Outcome::ok);
  const double det = tangent.state(0, 0) * tangent.state(1, 1) - tangent.state(0, 1) * tangent.state(1, 0);
  CHECK(det / expected == Approx(1).margin(1e-11).epsilon(0));
}

TEST_CASE("dry friction: random chains keep to their rules") {
  std::mt19937_64 random(20250711);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * std::generate_canonical<double, 53>(random);
  };
  int impacts = 0, sticks = 0, slips = 0, releases = 0;
  for (int run = 0; run < 150; ++run) {
    CAPTURE(run);
    std::string text = "name = 'two_dof_stops'";
    const auto set = [&](const char* name, double value) {
      text += std::string("\n") + name + " = " + fmt_double(value);
    };
    const double f[3] = {run % 3 == 0 ? 0 : uniform(0, 0.3), run % 4 == 0 ? 0 : uniform(0, 0.3),
                         run % 5 == 0 ? 0 : uniform(0, 0.3)};
    set("f1", f[0]);
    set("f2", f[1]);
    set("f12", f[2]);
    set("d1", (run % 2 == 0 ? 1 : -1) * uniform(0, 0.4));
    set("d2", (run % 7 < 3 ? 1 : -1) * uniform(0, 0.4));
    set("r1", run % 6 == 0 ? 0 : uniform(0, 0.95));
    set("r2", uniform(0, 0.95));
    set("A1", uniform(-0.7, 0.7));
    set("A2", uniform(-0.5, 0.5));
    set("delta", uniform(0.1, 1.5));
    set("m1", uniform(0.5, 2));
    set("c2", uniform(0, 0.1));
    CAPTURE(text);
    const auto model = make_model(text);
    const auto system = model->system(model->values(), {});
    HybridState state = state_at({0, 0, 0, 0});
    Log log;
    const double step = 0.05;
    Eigen::VectorXd gap, rate;
    std::vector<double> stuck_at(2);
    std::vector<bool> was_stuck(2, false);
    for (int k = 0; k < 1200; ++k) {
      REQUIRE(system->advance(state, for_time(step), &log) == Outcome::ok);
      system->gaps(state, gap, rate);
      REQUIRE(gap.minCoeff() >= -1e-12);
      for (int j = 0; j < system->frictions(); ++j) {
        if (!system->sticks(state, j)) continue;
        const double s = j == 2 ? state.x(1) - state.x(3) : state.x(j == 0 ? 1 : 3);
        REQUIRE(std::abs(s) < 1e-12);
      }
    }
    REQUIRE(log.entries.size() < 20000);
    for (std::size_t k = 0; k < log.entries.size(); ++k) {
      const auto& e = log.entries[k];
      if (e.kind == EventKind::impact) ++impacts;
      if (e.kind == EventKind::slip_to_stick) ++sticks;
      if (e.kind == EventKind::stick_to_slip) ++slips;
      if (e.kind == EventKind::release) ++releases;
    }
    // What is told of each friction alternates.
    for (int j = 0; j < system->frictions(); ++j) {
      EventKind last = EventKind::stick_to_slip;
      for (const auto& e : log.entries) {
        if (e.friction != j) continue;
        if (e.kind == EventKind::slip_to_stick) REQUIRE(last != EventKind::slip_to_stick);
        if (e.kind != EventKind::slip_to_stick)
          REQUIRE((e.kind == EventKind::slip_reversal) == (last != EventKind::slip_to_stick));
        last = e.kind;
      }
    }
  }
  CHECK(impacts > 1000);
  CHECK(sticks > 1000);
  CHECK(slips > 1000);
  CHECK(releases > 100);
}

TEST_CASE("dry friction: a chatter that pulls a neighbour along comes to its end") {
  // Followed impact by impact, down to bounces lower than the last digit of the gap, which rounding repeats.
  const auto parameters = GENERATE(
      "f1 = 0.09\nf12 = 0.06\ndelta = 0.19\nd1 = 0.03\nd2 = -0.01\n"
      "A1 = -0.34\nA2 = -0.42\nr1 = 0.77\nr2 = 0.91",
      "f1 = 0.55\nf12 = 0.15\ndelta = 0.31\nd1 = 0.11\nd2 = -0.19\n"
      "A1 = -0.48\nA2 = -0.98\nr1 = 0.31\nr2 = 0.88",
      "f1 = 0.27\nf2 = 0.03\nf12 = 0.14\ndelta = 0.27\nd1 = -0.1\nd2 = 0.22\n"
      "A1 = 0.77\nA2 = 0.53\nr1 = 0.32\nr2 = 0.94");
  const auto system = make_system(std::string("name = 'two_dof_stops'\n") + parameters);
  HybridState state = state_at({0, 0, 0, 0});
  Log log;
  for (int turn = 0; turn < 30; ++turn) REQUIRE(system->advance(state, Section{}, &log) == Outcome::ok);
  CHECK(log.of(EventKind::chatter_complete, 1).size() > 10);
  CHECK(log.of(EventKind::impact, 1).size() < 10000);
}

TEST_CASE("dry friction: what a sweep counts of it") {
  // Stick phases of x'' + x = cos Ωt − S sgn x' between their events.
  const auto system = make_system(
      "name = 'linear_stops'\nomega = 0.3\nmass = [[1.0]]\nstiffness = [[1.0]]\n"
      "force = [{ cosine = [1.0] }]\nfriction = [{ direction = [1.0], amplitude = 0.5 }]");
  const Attractor found = find_attractor(PoincareMap(*system, Section{}), state_at({0, 0}), {});
  REQUIRE(found.kind == AttractorClass::periodic);
  Log log;
  HybridState state = found.orbit.start;
  REQUIRE(system->advance(state, Section{}, &log) == Outcome::ok);
  REQUIRE(found.tally.frictions().size() == 1);
  const auto& count = found.tally.frictions()[0];
  CHECK(count.sticks == static_cast<std::int64_t>(log.of(EventKind::slip_to_stick).size()));
  CHECK(count.reversals == static_cast<std::int64_t>(log.of(EventKind::slip_reversal).size()));
  const auto sticks = log.of(EventKind::slip_to_stick), slips = log.of(EventKind::stick_to_slip);
  REQUIRE(sticks.size() == slips.size());
  const bool spans = slips[0].time < sticks[0].time;  // a stick spans the section
  double stuck = spans ? system->period() : 0;
  for (std::size_t k = 0; k < sticks.size(); ++k) stuck += slips[k].time - sticks[k].time;
  CHECK(count.stick_time == Approx(stuck).margin(1e-10).epsilon(0));
}

TEST_CASE("dry friction: the derivative by an amplitude of 0 is that of its first effect") {
  struct Run {
    std::string settings;
    std::vector<double> start;
    double time;
    EventKind through;
    std::vector<const char*> amplitudes;  ///< of 0
  };
  const std::vector<double> two = {0.05, 0.2, -0.1, 0.3};
  for (const Run& run :
       {Run{"name = 'two_dof_stops'\nd1 = inf\nd2 = inf\nA1 = 1\ndelta = 0.7",
            two,
            14,
            EventKind::slip_reversal,
            {"f1", "f2", "f12"}},
        Run{"name = 'two_dof_stops'\nd1 = 0.2\nd2 = -0.25\nf2 = 0.06\nA1 = 0.9\ndelta = 0.8",
            two,
            12,
            EventKind::impact,
            {"f1", "f12"}},
        Run{"name = 'two_dof_stops'\nd1 = 0.3\nd2 = 0.3\nr1 = 0.4\nr2 = 0.3\ndelta = 0.16",
            two,
            40,
            EventKind::release,
            {"f1", "f2", "f12"}},
        Run{"name = 'linear_stops'\nomega = 0.3\nmass = [[1.2]]\nstiffness = [[0.9]]\ndamping = [[0.05]]\n"
            "force = [{ cosine = [1.0] }]\nstop = [{ normal = [1.0], position = 0.8, restitution = 0.6 }]\n"
            "friction = [{ direction = [1.0], amplitude = 0.0 }]",
            {0.1, 0.7},
            20,
            EventKind::impact,
            {"friction_1"}}}) {
    CAPTURE(run.settings);
    const auto model = make_model(run.settings);
    const HybridState start = state_at(run.start);
    HybridState end;
    const Tangent tangent = derivatives(*model, start, run.time, end);
    const auto end_at = [&](const char* name, double amplitude, Log& log) {
      std::vector<double> values = model->values();
      values[static_cast<std::size_t>(model->parameter_index(name))] = amplitude;
      HybridState state = start;
      REQUIRE(model->system(values, {})->advance(state, for_time(run.time), &log) == Outcome::ok);
      return state.x;
    };
    for (const char* name : run.amplitudes) {
      CAPTURE(name);
      Log with;
      constexpr double h = 1e-7;
      const Eigen::VectorXd first = end_at(name, h, with), second = end_at(name, 2 * h, with);
      CHECK(with.of(run.through).size() > 0);
      Log none;
      const Eigen::VectorXd slope = (4 * first - second - 3 * end_at(name, 0, none)) / (2 * h);
      const Eigen::Index n = start.x.size();
      const Eigen::VectorXd found = tangent.state.col(n + model->parameter_index(name));
      CAPTURE(found, slope);
      CHECK(found.cwiseAbs().maxCoeff() > 0.05);
      CHECK((found - slope).cwiseAbs().maxCoeff() < 1e-6 * std::max(1.0, found.cwiseAbs().maxCoeff()));
    }
    Log without;
    CHECK((end.x - end_at(run.amplitudes[0], 0, without)).cwiseAbs().maxCoeff() < 1e-11);
  }
}

TEST_CASE("dry friction: a limit at rest that is typed apart from the amplitude, and is the same") {
  // A body that a stop releases from rest slides on as without the limit.
  const auto run = [](const std::string& law) {
    const auto system = make_system(
        "name = 'equations'\nparameters = { a = 0.5, s = 0.5 }\ncoordinates = ['y']\nperiod = '2*pi/1.2'\n"
        "force = { y = \"0.1 + 1.4*cos(1.2*t) - 0.3*y' - y\" }\n"
        "contact = [{ gap = '0.1 - y', restitution = 0.4 }]\nfriction = [{ slip = \"y'\", " +
        law + " }]");
    HybridState state = state_at({0, 0});
    Log log;
    REQUIRE(system->advance(state, for_time(50), &log) == Outcome::ok);
    CHECK(log.of(EventKind::stick_to_slip).size() > 3);
    return state.x;
  };
  const Eigen::VectorXd plain = run("amplitude = 'a'");
  CHECK((run("amplitude = 'a', static = 's'") - plain).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("legs of a system's own motion: derivatives agree with differences, through stops and struck") {
  const auto model = make_model("name = 'two_dof_stops'\ndelta = 0.8\nf1 = 0.1\nf2 = 0.05");
  const int delta = model->parameter_index("delta");
  const auto system_at = [&](double parameter) {
    std::vector<double> values = model->values();
    values[static_cast<std::size_t>(delta)] = parameter;
    return model->system(values, {});
  };
  const Eigen::VectorXd x = state_at({0.05, 0.3, -0.1, 0.2}).x;
  const double period = system_at(0.8)->period();
  Leg leg;
  leg.length = Leg::Length::own;
  leg.mode = HybridState::all_contacts;
  SECTION("with all its events, begun at any phase, over more than a period") {
    check_slopes(
        [&](const Eigen::VectorXd& start, double time, double duration, double parameter) {
          leg.state = start;
          leg.time = time;
          leg.duration = duration;
          return system_at(parameter)->follow({&leg, 1}, {delta}).value().legs.front();
        },
        x, 0.3 * period, 2.1 * period, 0.8);
  }
  // To the first impact, on as if there were no stop by a good part of the shortest time scale, struck there;
  // and then on.
  const auto system = system_at(0.8);
  const Record record = record_turn(*system, x, 1, 0, 0.3);
  const auto& steps = record.itinerary.steps;
  const auto hit = std::find_if(steps.begin(), steps.end(), [](const Step& s) { return is_hit(s.end); });
  REQUIRE(hit != steps.end());
  const double flight = record.times[static_cast<std::size_t>(hit - steps.begin())];
  leg.mode = 0;
  leg.end = EventKind::impact;
  leg.contact = hit->contact;
  Leg next;
  next.length = Leg::Length::own;
  next.time = std::numeric_limits<double>::quiet_NaN();
  next.duration = 0.4;
  for (const double late : {0.0, 0.05, 0.2}) {
    CAPTURE(late);
    const auto struck = [&](const Eigen::VectorXd& start, double time, double duration, double parameter) {
      leg.state = start;
      leg.time = time;
      leg.duration = duration;
      const std::array<Leg, 2> legs{leg, next};
      return system_at(parameter)->follow(legs, {delta}).value();
    };
    check_slopes([&](auto&&... at) { return struck(at...).legs.front(); }, x, 0.3 * period, flight + late,
                 0.8);
    const Course course = struck(x, 0.3 * period, flight + late, 0.8);
    const Reached& reached = course.legs.front();
    CHECK(reached.guard == Approx(0).margin(late == 0 ? 1e-12 : 1));
    if (late > 0) CHECK(reached.guard < 0);
    CHECK(course.period_slope(0) == Approx(-2 * M_PI / (0.8 * 0.8)));
    if (late > 0) continue;
    // As the motion itself goes: it is struck at that instant.
    HybridState state = state_at({x.begin(), x.end()});
    state.time = 0.3 * period;
    Section until;
    until.kind = Section::Kind::time;
    until.interval = flight + next.duration;
    REQUIRE(system->advance(state, until, nullptr) == Outcome::ok);
    CHECK((course.legs.back().state - state.x).cwiseAbs().maxCoeff() < 1e-11);
  }
}

TEST_CASE("a motion passes through contacts that it does not heed, and through released ones from then on") {
  const auto model = make_model("name = 'two_dof_stops'\ndelta = 0.8\nf1 = 0.1\nf2 = 0.05");
  const auto system = model->system(model->values(), {});
  HybridState state = state_at({0.05, 0.3, -0.1, 0.2});
  state.heeded = ~std::int64_t{3};
  Section period;
  Eigen::VectorXd gap, rate;
  double least = 0;
  for (int k = 0; k < 40; ++k) {
    period.kind = Section::Kind::time;
    period.interval = 0.5;
    REQUIRE(system->advance(state, period, nullptr) == Outcome::ok);
    system->gaps(state, gap, rate);
    least = std::min(least, gap.minCoeff());
  }
  CHECK(least < -0.01);
  CHECK(state.heeded == ~std::int64_t{3});
}
