/// Derivatives through every event: against central differences and the determinant identity.
#include <catch2/catch.hpp>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/maps/poincare_map.hpp"
#include "core/math/dense.hpp"
#include "tests/legs.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

Eigen::MatrixXd jacobian(System& system, const HybridState& start, const Section& section, int iterates) {
  const PoincareMap map(system, section);
  Eigen::MatrixXd J = Eigen::MatrixXd::Identity(map.dimension(), map.dimension());
  HybridState state = start;
  for (int k = 0; k < iterates; ++k) REQUIRE(map.iterate(state, J) == Outcome::ok);
  return J;
}

/// Central differences of the map in its own coordinates.
Eigen::MatrixXd differences(System& system, const HybridState& start, const Section& section, int iterates,
                            double h) {
  const PoincareMap map(system, section);
  const Eigen::VectorXd y = map.coordinates(start);
  Eigen::MatrixXd J(map.dimension(), map.dimension());
  for (Eigen::Index k = 0; k < y.size(); ++k) {
    std::array<HybridState, 2> ends;
    for (int side = 0; side < 2; ++side) {
      Eigen::VectorXd shifted = y;
      shifted(k) += side == 0 ? h : -h;
      ends[static_cast<std::size_t>(side)] = map.at(shifted, start);
      for (int i = 0; i < iterates; ++i)
        REQUIRE(map.iterate(ends[static_cast<std::size_t>(side)]) == Outcome::ok);
    }
    J.col(k) = map.difference(ends[0], ends[1]) / (2 * h);
  }
  return J;
}

HybridState settled_state(System& system, int periods) {
  HybridState state = state_at(std::vector<double>(static_cast<std::size_t>(system.states()), 0.0));
  for (int k = 0; k < periods; ++k) REQUIRE(system.advance(state, Section{}, nullptr) == Outcome::ok);
  return state;
}

int impacts_in_period(System& system, HybridState state) {
  Log log;
  REQUIRE(system.advance(state, Section{}, &log) == Outcome::ok);
  return static_cast<int>(log.of(EventKind::impact).size());
}

}  // namespace

TEST_CASE("determinant identity: k impacts of a linear system, det DP = r^2k exp(-trace(C/M) T)") {
  for (const char* parameters :
       {"delta = 0.8\nr1 = 0.7\nr2 = 0.9", "delta = 1.2\nA1 = 1\nr1 = 0.5\nr2 = 0.6\nd2 = inf",
        "delta = 0.95\nd1 = -0.3\nd2 = 0.4\nm1 = 2\nc2 = 0.05"}) {
    INFO(parameters);
    const auto model = make_model(std::string("name = 'two_dof_stops'\n") + parameters);
    const auto system = model->system(model->values(), {});
    const HybridState start = settled_state(*system, 50);
    Log log;
    HybridState end = start;
    REQUIRE(system->advance(end, Section{}, &log) == Outcome::ok);
    REQUIRE(log.of(EventKind::stick).empty());
    const auto value = [&](const char* name) {
      return model->values()[static_cast<std::size_t>(model->parameter_index(name))];
    };
    double expected =
        std::exp(-((value("c1") + value("c2")) / value("m1") + value("c2") / value("m2")) * system->period());
    for (const auto& e : log.of(EventKind::impact)) {
      const double r = value(e.contact == 0 ? "r1" : "r2");
      expected *= r * r;
    }
    REQUIRE(log.of(EventKind::impact).size() > 0);
    CHECK(determinant(jacobian(*system, start, Section{}, 1)) / expected ==
          Approx(1).margin(1e-9).epsilon(0));
  }
}

TEST_CASE("stroboscopic Jacobian against central differences, impacts only") {
  const auto system = make_system("name = 'two_dof_stops'\ndelta = 0.8");
  const HybridState start = settled_state(*system, 50);
  REQUIRE(impacts_in_period(*system, start) > 1);
  const Eigen::MatrixXd J = jacobian(*system, start, Section{}, 2);
  CHECK((J - differences(*system, start, Section{}, 2, 1e-5)).cwiseAbs().maxCoeff() <
        1e-7 * J.cwiseAbs().maxCoeff());
}

TEST_CASE("stroboscopic Jacobian against central differences, through chatter, sticking and release") {
  const auto system = make_system("name = 'two_dof_stops'\ndelta = 0.25\nd1 = -0.3\nd2 = 0.1");
  const HybridState start = settled_state(*system, 50);
  const Eigen::MatrixXd J = jacobian(*system, start, Section{}, 1);
  REQUIRE(J.cwiseAbs().maxCoeff() > 1e-3);
  CHECK((J - differences(*system, start, Section{}, 1, 1e-5)).cwiseAbs().maxCoeff() <
        1e-6 * J.cwiseAbs().maxCoeff());
}

TEST_CASE(
    "stroboscopic Jacobian against central differences, through an impact that frees a closed contact") {
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[1, -0.3], [-0.3, 1.5]]\nstiffness = [[2, 0], [0, 3]]\n"
      "damping = [[0.2, 0], [0, 0.2]]\nconstant = [0.8, 0]\nomega = 1.6\nforce = [{ cosine = [0, -2], sine = "
      "[0, -1.4] }]\n"
      "stop = [{ normal = [1, 0], position = 0, restitution = 0.5 }, "
      "{ normal = [0, 1], position = 0.1, restitution = 0.6 }]");
  const HybridState start = settled_state(*system, 50);
  Log log;
  HybridState end = start;
  REQUIRE(system->advance(end, Section{}, &log) == Outcome::ok);
  const auto released = log.of(EventKind::release);
  REQUIRE(released.size() == 1);
  const auto impacts = log.of(EventKind::impact);
  CHECK(std::any_of(impacts.begin(), impacts.end(), [&](const Log::Entry& impact) {
    return impact.contact == 1 && impact.time == released[0].time;
  }));
  const Eigen::MatrixXd J = jacobian(*system, start, Section{}, 1);
  REQUIRE(J.cwiseAbs().maxCoeff() > 1e-3);
  CHECK((J - differences(*system, start, Section{}, 1, 1e-6)).cwiseAbs().maxCoeff() <
        1e-5 * J.cwiseAbs().maxCoeff());
}

TEST_CASE("Jacobians of the impact maps and of a section against central differences") {
  const auto system = make_system("name = 'two_dof_stops'\ndelta = 0.8");
  std::vector<Section> sections(3);
  sections[0].kind = Section::Kind::impact_before;
  sections[1].kind = Section::Kind::impact_after;
  sections[2] = at_level(2, -0.1, -1);
  for (const Section& section : sections) {
    INFO("section " << static_cast<int>(section.kind));
    HybridState start = settled_state(*system, 50);
    for (int k = 0; k < 3; ++k) REQUIRE(system->advance(start, section, nullptr) == Outcome::ok);
    const Eigen::MatrixXd J = jacobian(*system, start, section, 1);
    CHECK(J.rows() == 4);
    CHECK((J - differences(*system, start, section, 1, 1e-5)).cwiseAbs().maxCoeff() <
          1e-6 * J.cwiseAbs().maxCoeff());
  }
}

TEST_CASE("derivatives with respect to every parameter against central differences") {
  for (const char* parameters :
       {"delta = 0.8", "delta = 0.25\nd1 = -0.3\nd2 = 0.1", "delta = 0.16\nA1 = 0.4\nA2 = 0.1"}) {
    INFO(parameters);
    const auto model = make_model(std::string("name = 'two_dof_stops'\n") + parameters);
    const std::vector<double> values = model->values();
    const auto system = model->system(values, {});
    HybridState start = settled_state(*system, 50);
    const bool sticks = start.mode != 0;  // then a moved stop takes the body along: compare free starts only
    Section to = for_time(3.3);           // not a whole period: the period itself depends on delta
    const Eigen::Index count = static_cast<Eigen::Index>(values.size());
    Tangent tangent;
    tangent.state = Eigen::MatrixXd::Zero(4, count);
    tangent.time = Eigen::RowVectorXd::Zero(count);
    tangent.parameter = Eigen::MatrixXd::Identity(count, count);
    HybridState end = start;
    REQUIRE(system->advance(end, to, tangent) == Outcome::ok);
    const double scale = std::max(1.0, tangent.state.cwiseAbs().maxCoeff());
    for (std::size_t p = 0; p < values.size(); ++p) {
      const std::string name = model->parameters()[p].name;
      const bool at_end = name == "mass_ratio" || name[0] == 'f';  // of its range
      if (at_end || (sticks && (name == "d1" || name == "d2"))) continue;
      INFO("parameter " << name);
      const double h = 1e-6;
      Eigen::VectorXd difference(4);
      std::array<Eigen::VectorXd, 2> x;
      for (int side = 0; side < 2; ++side) {
        std::vector<double> shifted = values;
        shifted[p] += side == 0 ? h : -h;
        HybridState state = start;
        REQUIRE(model->system(shifted, {})->advance(state, to, nullptr) == Outcome::ok);
        x[static_cast<std::size_t>(side)] = state.x;
      }
      difference = (x[0] - x[1]) / (2 * h);
      CHECK((difference - tangent.state.col(static_cast<Eigen::Index>(p))).cwiseAbs().maxCoeff() <
            1e-6 * scale);
    }
  }
}

TEST_CASE("the map of impacts at a moving stop: its derivatives along the section against differences") {
  // Where the stop moves, the state moves along the section with the time of the impact.
  const std::string one =
      "name = 'equations'\ncoordinates = ['x']\nperiod = '2*pi/1.9'\n"
      "force = { x = \"0.9*cos(1.9*t) - 0.2*x' - x\" }\n";
  const std::string two =
      "name = 'equations'\ncoordinates = ['x', 'y']\nperiod = '2*pi/1.9'\n"
      "force = { x = \"0.5*cos(1.9*t) - 0.2*x' - x\", y = \"-0.3*y' - 2*y\" }\n";
  const std::string alone = "contact = [{ gap = '0.3 + 0.1*cos(1.9*t) - x', ";
  const std::string both = "contact = [{ gap = '0.1 + 0.1*cos(1.9*t) - x + y', ";
  for (const std::string& text :
       {one + alone + "restitution = 0.7 }]", one + alone + "stiffness = 20 }]",
        two + both + "restitution = 0.7 }]", two + both + "stiffness = 20, damping = 0.3 }]"}) {
    const auto system = make_system(text);
    for (const auto kind : {Section::Kind::impact_before, Section::Kind::impact_after}) {
      CAPTURE(text, kind);
      Section section;
      section.kind = kind;
      HybridState start = settled_state(*system, 20);
      REQUIRE(PoincareMap(*system, section).iterate(start) == Outcome::ok);
      const Eigen::MatrixXd J = jacobian(*system, start, section, 2);
      CHECK((J - differences(*system, start, section, 2, 1e-6)).cwiseAbs().maxCoeff() <
            1e-6 * J.cwiseAbs().maxCoeff());
    }
  }
}

TEST_CASE("many directions at once agree with one at a time") {
  const auto system = make_system("name = 'two_dof_stops'\ndelta = 0.8");
  const HybridState start = settled_state(*system, 10);
  const Eigen::MatrixXd J = jacobian(*system, start, Section{}, 1);
  for (Eigen::Index k = 0; k < 4; ++k) {
    Eigen::MatrixXd direction = Eigen::MatrixXd::Identity(4, 4).col(k);
    HybridState state = start;
    REQUIRE(PoincareMap(*system, Section{}).iterate(state, direction) == Outcome::ok);
    CHECK((direction - J.col(k)).cwiseAbs().maxCoeff() < 1e-13 * J.cwiseAbs().maxCoeff());
  }
}

TEST_CASE("nonlinear models: derivatives by state and parameters against central differences") {
  struct Run {
    const char* settings;
    std::vector<double> start;
    double time;
    bool sticks;
  };
  for (const Run& run :
       {Run{"name = 'relief_valve'\nq = 5", {0.2, 0.1, 9}, 6, false},
        Run{"name = 'relief_valve'\nq = 0.3\nr = 0.1", {0.2, 0.1, 9}, 12, true},
        Run{"name = 'two_pendulums'\ne = 0.8", {-1.2, 0.1, 0.2, 0.1}, 4, false},
        Run{"name = 'two_pendulums'\ne = 0.3\ntorque1 = 12\nfrequency = 1\ndamping1 = 0.5\ndamping2 = 0.5",
            {-0.2, 0.1, 0.2, 0.1},
            9,
            true}}) {
    CAPTURE(run.settings);
    const auto model = make_model(run.settings);
    const std::vector<double> values = model->values();
    const auto system = model->system(values, {});
    Log log;
    HybridState probe = state_at(run.start);
    REQUIRE(system->advance(probe, for_time(run.time), &log) == Outcome::ok);
    REQUIRE(log.of(EventKind::impact).size() > 1);
    REQUIRE(log.of(EventKind::stick).empty() != run.sticks);
    const Eigen::Index n = system->states();
    const Eigen::Index count = n + static_cast<Eigen::Index>(values.size());
    Tangent tangent;
    tangent.state = Eigen::MatrixXd::Identity(n, count);
    tangent.time = Eigen::RowVectorXd::Zero(count);
    tangent.parameter = Eigen::MatrixXd::Zero(count - n, count);
    tangent.parameter.rightCols(count - n).setIdentity();
    HybridState end = state_at(run.start);
    REQUIRE(system->advance(end, for_time(run.time), tangent) == Outcome::ok);
    CHECK((end.x - probe.x).cwiseAbs().maxCoeff() < 1e-11);
    const double scale = std::max(1.0, tangent.state.cwiseAbs().maxCoeff());
    for (Eigen::Index k = 0; k < count; ++k) {
      CAPTURE(k);
      if (k >= n && values[static_cast<std::size_t>(k - n)] == 0) continue;  // at the end of its range
      const double h = 1e-6;
      std::array<Eigen::VectorXd, 2> x;
      for (int side = 0; side < 2; ++side) {
        std::vector<double> shifted = values;
        HybridState state = state_at(run.start);
        (k < n ? state.x(k) : shifted[static_cast<std::size_t>(k - n)]) += side == 0 ? h : -h;
        REQUIRE(model->system(shifted, {})->advance(state, for_time(run.time), nullptr) == Outcome::ok);
        x[static_cast<std::size_t>(side)] = state.x;
      }
      CHECK(((x[0] - x[1]) / (2 * h) - tangent.state.col(k)).cwiseAbs().maxCoeff() < 1e-6 * scale);
    }
  }
}

TEST_CASE("legs: derivatives by two parameters at once are those by each, values alone are the same") {
  const std::string duffing =
      "name = 'equations'\nparameters = { F = 1.0, omega = 0.9, r = 0.7 }\ncoordinates = ['x']\n"
      "force = { x = \"F*cos(omega*t) - 0.04*x' - x - 0.5*x^3\" }\nperiod = '2*pi/omega'\n"
      "contact = [{ gap = '0.8 - x', restitution = 'r' }]";
  const std::string pendulums =
      "name = 'equations'\nparameters = { F = 0.4, omega = 1.1 }\ncoordinates = ['p', 'q']\n"
      "force = { p = \"F*cos(omega*t) - 0.05*p' - sin(p)\", q = \"-0.05*q' - 1.3*sin(q)\" }\n"
      "period = '2*pi/omega'\ncontact = [{ gap = '0.2 + q - p', restitution = 0.6 }]";
  const std::string linear = "name = 'two_dof_stops'\ndelta = 0.8";
  const std::string valve = "name = 'relief_valve'";
  for (const std::string& model : {duffing, pendulums, linear, valve}) {
    for (const bool own : {false, true}) {
      CAPTURE(model, own);
      const auto system = make_system(model);
      if (own && !(system->period() > 0)) continue;
      HybridState state = state_at(std::vector<double>(static_cast<std::size_t>(system->states()), 0.05));
      Section section;
      section.kind = Section::Kind::time;
      section.interval = 20;
      REQUIRE(system->advance(state, section, nullptr) == Outcome::ok);
      std::vector<Leg> legs;
      if (own) {
        Leg leg;
        leg.length = Leg::Length::own;
        leg.state = state.x;
        leg.mode = HybridState::all_contacts;
        leg.duration = system->period();
        legs = {leg};
      } else {
        const double turn = system->period() > 0 ? system->period() : 5;
        const Record record = record_turn(*system, state.x, 1, turn);
        REQUIRE(record.outcome == Outcome::ok);
        legs = legs_of(record, state.x);
      }
      const auto both = system->follow(legs, {1, 0});
      const Course each[] = {system->follow(legs, {1}).value(), system->follow(legs, {0}).value()};
      const auto values = system->follow_values(legs, {1, 0});
      REQUIRE(both);
      REQUIRE(values);
      const Eigen::Index n = system->states();
      const auto same = [](const auto& a, const auto& b) {
        return (a - b).cwiseAbs().maxCoeff() <= 1e-9 * (1 + b.cwiseAbs().maxCoeff());
      };
      for (std::size_t k = 0; k < legs.size(); ++k) {
        CAPTURE(k);
        const Reached& reached = both->legs[k];
        CHECK(same(values->legs[k].state, reached.state));
        CHECK(values->legs[k].guard == Approx(reached.guard).margin(1e-10));
        CHECK(values->legs[k].measure == Approx(reached.measure).margin(1e-10));
        for (Eigen::Index j = 0; j < 2; ++j) {
          const Reached& one = each[j].legs[k];
          CHECK(same(reached.state_slope.leftCols(n + 2), one.state_slope.leftCols(n + 2)));
          CHECK(same(reached.state_slope.col(n + 2 + j), one.state_slope.col(n + 2)));
          CHECK(reached.time_slope(n + 2 + j) == Approx(one.time_slope(n + 2)).margin(1e-9));
          CHECK(reached.guard_slope(n + 2 + j) == Approx(one.guard_slope(n + 2)).margin(1e-9));
          CHECK(reached.measure_slope(n + 2 + j) == Approx(one.measure_slope(n + 2)).margin(1e-9));
        }
      }
      for (Eigen::Index j = 0; j < 2; ++j)
        CHECK(both->period_slope(j) == Approx(each[j].period_slope(0)).margin(1e-12));
    }
  }
}
