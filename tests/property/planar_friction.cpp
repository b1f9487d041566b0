/// Planar friction: derivatives through its events, rules at walls, shares of time.
#include <catch2/catch.hpp>

#include <cmath>
#include <numbers>

#include "analysis/maps/attractor.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

using std::numbers::pi;
const std::string no_walls = "x_left = -inf\nx_right = inf\n";
const std::string no_force = "ex = 0\ney = 0\nmod_x = 0\nmod_y = 0\n";
const std::string second_force = "ex = 1\ney = 1\nmod_x = 0.5\nmod_y = 0.4\n";
const std::string semi_analytical = "step = 2e-3\nlook_ahead = 0.5\n";

std::unique_ptr<System> planar(const std::string& settings) {
  return make_system("name = 'planar_friction'\n" + settings);
}

Section impact_section(int contact) {
  Section section;
  section.kind = Section::Kind::impact_before;
  section.contact = contact;
  return section;
}

/// Largest difference of the Jacobian of one iterate and central differences, over the Jacobian's size.
double jacobian_error(System& system, const HybridState& start, const Section& section, double h) {
  const PoincareMap map(system, section);
  Eigen::MatrixXd J = Eigen::MatrixXd::Identity(map.dimension(), map.dimension());
  HybridState state = start;
  REQUIRE(map.iterate(state, J) == Outcome::ok);
  const Eigen::VectorXd y = map.coordinates(start);
  Eigen::MatrixXd differences(J.rows(), J.cols());
  for (Eigen::Index k = 0; k < y.size(); ++k) {
    std::array<HybridState, 2> ends;
    for (std::size_t side = 0; side < 2; ++side) {
      Eigen::VectorXd shifted = y;
      shifted(k) += side == 0 ? h : -h;
      ends[side] = map.at(shifted, start);
      REQUIRE(map.iterate(ends[side]) == Outcome::ok);
    }
    differences.col(k) = map.difference(ends[0], ends[1]) / (2 * h);
  }
  CAPTURE(J, differences);
  REQUIRE(J.allFinite());
  return (J - differences).cwiseAbs().maxCoeff() / J.cwiseAbs().maxCoeff();
}

std::size_t count(System& system, HybridState state, const Section& section, EventKind kind) {
  Log log;
  REQUIRE(system.advance(state, section, &log) == Outcome::ok);
  return log.of(kind).size();
}

double energy(const Eigen::VectorXd& x, double k) {
  return 0.5 * (x(2) * x(2) + x(3) * x(3)) + 0.5 * k * (x(0) * x(0) + x(1) * x(1));
}

}  // namespace

TEST_CASE("planar_friction: Jacobians through impacts, chatter, sliding and sticking at a wall, leaving") {
  for (const std::string& engine : {std::string(), semi_analytical}) {
    INFO(engine);
    const auto system = planar(engine);
    const HybridState start = state_at({0.001, 0.002, 0.02, 0.03});
    const Section half = for_time(2);
    for (const EventKind kind : {EventKind::impact, EventKind::chatter_complete, EventKind::slip_to_stick,
                                 EventKind::stick_to_slip, EventKind::release}) {
      CHECK(count(*system, start, half, kind) > 0);
    }
    CHECK(jacobian_error(*system, start, half, 1e-6) < 1e-7);
  }
}

TEST_CASE("planar_friction: Jacobians through sticking in the plane") {
  for (const std::string& engine : {std::string(), semi_analytical}) {
    INFO(engine);
    const auto system = planar(second_force + no_walls + engine);
    const HybridState start = state_at({0.003, -0.002, 0.1, 0.05});
    REQUIRE(count(*system, start, for_time(3), EventKind::stick_to_slip) >= 3);
    CHECK(jacobian_error(*system, start, for_time(3), 1e-6) < 1e-7);
    CHECK(jacobian_error(*system, start, for_time(0.2), 1e-6) < 1e-7);
  }
}

TEST_CASE("planar_friction: Jacobian of the impact map") {
  for (const std::string& engine : {std::string(), std::string("step = 2e-3\n")}) {
    INFO(engine);
    const auto system = planar("x_left = -0.05\nx_right = 0.05\nr = 0.5\nfriction = 0.5\n" + engine);
    HybridState start = state_at({0, 0, 0.3, 0.2});
    for (int k = 0; k < 2; ++k) REQUIRE(system->advance(start, impact_section(1), nullptr) == Outcome::ok);
    CHECK(jacobian_error(*system, start, impact_section(1), 1e-6) < 1e-7);
  }
}

TEST_CASE("planar_friction: derivatives by parameters") {
  const auto model = make_model("name = 'planar_friction'");
  const HybridState start = state_at({0.001, 0.002, 0.02, 0.03});
  for (const char* name : {"friction", "m", "kx", "cy", "ex", "omega_y", "x_right", "r", "mod_x"}) {
    CAPTURE(name);
    const Eigen::Index p = model->parameter_index(name);
    const std::vector<double> values = model->values();
    Tangent tangent;
    tangent.state = Eigen::MatrixXd::Zero(4, 1);
    tangent.time = Eigen::RowVectorXd::Zero(1);
    tangent.parameter = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(values.size()), 1);
    tangent.parameter(p, 0) = 1;
    HybridState state = start;
    REQUIRE(model->system(values, {})->advance(state, for_time(2), tangent) == Outcome::ok);
    const double h = 1e-6;
    std::array<Eigen::VectorXd, 2> ends;
    for (std::size_t side = 0; side < 2; ++side) {
      std::vector<double> shifted = values;
      shifted[static_cast<std::size_t>(p)] += side == 0 ? h : -h;
      HybridState end = start;
      REQUIRE(model->system(shifted, {})->advance(end, for_time(2), nullptr) == Outcome::ok);
      ends[side] = end.x;
    }
    const Eigen::VectorXd slope = (ends[0] - ends[1]) / (2 * h);
    const Eigen::VectorXd found = tangent.state.col(0);
    CAPTURE(found, slope);
    CHECK((found - slope).cwiseAbs().maxCoeff() < 1e-7 * std::max(0.1, found.cwiseAbs().maxCoeff()));
  }
}

TEST_CASE("planar_friction: without friction and losses the energy stays") {
  for (const std::string& engine : {std::string(), std::string("step = 1e-2\n")}) {
    const auto system = planar(no_force + "friction = 0\ncx = 0\ncy = 0\nr = 1\nkx = 0\nky = 0\n" + engine);
    HybridState state = state_at({0, 0, 0.3, 0.1});
    Log log;
    REQUIRE(system->advance(state, for_time(100), &log) == Outcome::ok);
    CHECK(log.of(EventKind::impact).size() == 750);
    CHECK(energy(state.x, 0) == Approx(0.05).epsilon(1e-12));
    CHECK(state.x(1) == Approx(10).epsilon(1e-12));
  }
  const auto system = planar(no_force + "friction = 0\ncx = 0\ncy = 0\nr = 1\n");
  HybridState state = state_at({0, 0.1, 0.3, 0});
  const double before = energy(state.x, 10);
  for (int k = 0; k < 50; ++k) {
    REQUIRE(system->advance(state, for_time(1), nullptr) == Outcome::ok);
    CHECK(energy(state.x, 10) == Approx(before).epsilon(1e-11));
  }
}

TEST_CASE("planar_friction: energy lost to friction is the friction times the way") {
  // Unforced and undamped, without walls: E(0) − E(end) = f · length of the path.
  const auto system = planar(no_force + no_walls + "cx = 0\ncy = 0\nfriction = 0.2\n");
  const std::vector<double> start = {0.3, 0, 0, 0.7};
  HybridState state = state_at(start);
  const double first = energy(state.x, 10);
  // Simpson's rule for ∫ |v| dt over a time without a stop.
  const int pieces = 2000;
  const double h = 0.8 / pieces;
  double path = 0;
  for (int k = 0; k <= pieces; ++k) {
    path += state.x.tail<2>().norm() * h / 3 * (k == 0 || k == pieces ? 1 : k % 2 == 1 ? 4 : 2);
    if (k < pieces) REQUIRE(system->advance(state, for_time(h), nullptr) == Outcome::ok);
  }
  CHECK(first - energy(state.x, 10) == Approx(0.2 * path).epsilon(1e-10));
}

TEST_CASE("planar_friction: starts at rest: friction holds, the force is too great, a wall takes its part") {
  const auto mode_at = [](const std::string& settings, const std::vector<double>& start) {
    HybridState state = state_at(start);
    REQUIRE(planar("ey = 0\nmod_x = 0\nmod_y = 0\n" + settings)->advance(state, for_time(1e-6), nullptr) ==
            Outcome::ok);
    return state.mode;
  };
  CHECK(mode_at("ex = 0", {0.01, 0.01, 0, 0}) == 4);
  CHECK(mode_at("ex = 0", {0.01, 0.2, 0, 0}) == 0);
  CHECK(mode_at("x_right = 1\nex = 3\nomega_x = 0", {1, 0, 0, 0}) == 0);        // pulled off the wall
  CHECK(mode_at("x_right = 1\nex = 30\nomega_x = 0", {1, 0, 0, 0}) == 6);       // pressed, held
  CHECK(mode_at("x_right = 1\nex = 30\nomega_x = 0", {1, 0.2, 0, 0}) == 10);    // slides down the wall
  CHECK(mode_at("x_right = 1\nex = 30\nomega_x = 0", {1, -0.2, 0, 0}) == 2);    // and up
  CHECK(mode_at("x_right = 1\nex = 9.5\nomega_x = 0", {1, 0.05, 0, 0}) == 22);  // sticks, not pressed
  CHECK(mode_at("x_left = 1\nx_right = 2\nex = -9\nomega_x = 0", {1, 0, 0, 0}) == 5);
}

TEST_CASE("planar_friction: a mass that sticks at a wall stays when the force onto it turns") {
  // F_x = 0.9 cos t on a spring that pulls by 0.3 at the wall: pressed, pulled, pressed again by turns.
  const auto system =
      planar("ex = 0.9\ney = 0\nmod_x = 0\nkx = 1\nky = 1\nfriction = 1.5\nx_left = -1\nx_right = 0.3\n");
  HybridState state = state_at({0.3, 0, 0, 0});
  Log log;
  std::vector<std::int64_t> modes;
  for (int k = 0; k < 80; ++k) {
    REQUIRE(system->advance(state, for_time(2 * pi / 20), &log) == Outcome::ok);
    if (modes.empty() || modes.back() != state.mode) modes.push_back(state.mode);
    CHECK(state.x(0) == 0.3);
  }
  CHECK(modes == std::vector<std::int64_t>{6, 22, 6, 22, 6, 22, 6, 22, 6});
  CHECK(log.of(EventKind::release).empty());
}

TEST_CASE("planar_friction: chatter straight at a wall, where friction brakes the way back too") {
  // The wall at zero keeps the digits of small gaps. Pressed by 3 against friction 1 with r = 0.8: each
  // bounce is 0.8 √(2/4) as fast as the one before.
  const auto system = planar(
      "kx = 0\nky = 0\ncx = 0\ncy = 0\nex = 3\nomega_x = 0\ney = 0\nmod_x = 0\nr = 0.8\nx_left = -2\nx_right "
      "= 0\n");
  HybridState state = state_at({0, 0, -1, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(5), &log) == Outcome::ok);
  const auto impacts = log.of(EventKind::impact);
  REQUIRE(impacts.size() > 8);
  for (std::size_t k = 1; k < 8; ++k) {
    CHECK(impacts[k].speed == Approx(0.8 * std::sqrt(0.5) * impacts[k - 1].speed).epsilon(1e-12));
  }
  REQUIRE(log.of(EventKind::chatter_complete).size() == 1);
  // v/4 up, v √½/2 … down, all again by the ratio.
  const double first = 1 / 4.0 + std::sqrt(0.5) / 2;
  CHECK(log.of(EventKind::chatter_complete)[0].time ==
        Approx(first / (1 - 0.8 * std::sqrt(0.5))).margin(1e-12).epsilon(0));
  CHECK(state.mode == 6);
}

TEST_CASE("planar_friction: chatter at which the speed along the wall is lost first") {
  const auto system = planar(
      "kx = 0\nky = 0\ncx = 0\ncy = 0\nex = 3\nomega_x = 0\ney = 0\nmod_x = 0\nr = 0.8\nx_left = -1\nx_right "
      "= 1\n");
  HybridState state = state_at({1, 0, -1, 1e-3});
  Log log;
  REQUIRE(system->advance(state, for_time(5), &log) == Outcome::ok);
  CHECK(state.mode == 6);
  CHECK(state.x(0) == 1);
  CHECK(log.of(EventKind::chatter_complete).size() == 1);
  CHECK(log.of(EventKind::slip_to_stick).size() == 1);
}

TEST_CASE("planar_friction: shares of time sticking and at the walls") {
  const auto system = planar("");
  AttractorOptions options;
  options.transient = 12;
  options.record = 10;
  options.max_period = 4;
  const Attractor found = find_attractor(PoincareMap(*system, Section{}), state_at({0, 0, 0, 0}), options);
  REQUIRE(found.kind == AttractorClass::periodic);
  CHECK(found.orbit.period == 1);
  const double period = found.end_time - found.start_time;
  // Twice per half period it sticks away from the walls, once it rests on a wall.
  CHECK(found.tally.frictions()[0].sticks == 4);
  CHECK(
      found.tally.frictions()[0].stick_time / period ==
      Approx((127.508666303626 - 127.242878188840 + 127.944534014610 - 127.741670689516) / pi).margin(1e-10));
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(found.tally.contacts()[i].sticks == 1);
    CHECK(found.tally.contacts()[i].stick_time / period ==
          Approx((127.094414874677 - 125.988358504621) / (2 * pi)).margin(1e-10));
  }
}

TEST_CASE("planar_friction: a mass that a wall holds for ever has zero multipliers across it") {
  for (const char* engine : {"", "step = 2e-3\nlook_ahead = 0.5\n"}) {
    INFO(engine);
    const auto system =
        planar("x_left = 0.05\nx_right = inf\nex = 0.1\nmod_x = 0\nfriction = 0.3\n" + std::string(engine));
    HybridState state = state_at({0.05, 0, 0, 0});
    for (int period = 0; period < 20; ++period)
      REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
    REQUIRE(count(*system, state, Section{}, EventKind::release) == 0);
    Eigen::MatrixXd J = Eigen::MatrixXd::Identity(4, 4);
    REQUIRE(PoincareMap(*system, Section{}).iterate(state, J) == Outcome::ok);
    CHECK(J.row(0).cwiseAbs().maxCoeff() < 1e-14);  // the place and the speed across the wall
    CHECK(J.row(2).cwiseAbs().maxCoeff() < 1e-14);
    CHECK(J.col(0).cwiseAbs().maxCoeff() < 1e-14);
    CHECK(J.col(2).cwiseAbs().maxCoeff() < 1e-14);
    CHECK(J.cwiseAbs().maxCoeff() > 1e-3);
  }
}

TEST_CASE("planar_friction: step by step, a mass sets off once from where its force reaches the friction") {
  // Forces that pass the friction slowly and fast, free and along a wall.
  int times = 0;
  for (const char* walls : {"x_left = -inf\nx_right = inf\n", "x_left = 0.05\nx_right = inf\nex = 0.1\n"}) {
    for (const double friction : {0.1, 0.3, 0.6, 1.0, 1.4}) {
      INFO(walls << friction);
      const auto system =
          planar(walls + ("friction = " + fmt_double(friction) + "\nomega_mod = 9.3\nstep = 2e-3\n"));
      const auto exact = planar(walls + ("friction = " + fmt_double(friction) + "\nomega_mod = 9.3\n"));
      HybridState state = state_at({0.06, 0, 0, 0}), same = state;
      Log log;
      REQUIRE(system->advance(state, for_time(40), &log) == Outcome::ok);
      REQUIRE(exact->advance(same, for_time(40), nullptr) == Outcome::ok);
      CHECK((state.x - same.x).cwiseAbs().maxCoeff() < 5e-3);
      double last = -1;
      for (const Log::Entry& entry : log.entries) {
        if (entry.kind != EventKind::stick_to_slip) continue;
        CHECK(entry.time > last);
        last = entry.time;
        ++times;
      }
    }
  }
  CHECK(times > 50);
}
