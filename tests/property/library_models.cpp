/// What every model of data/models keeps to: derivatives of its map that agree with differences.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

struct Example {
  std::string model;
  std::string settings;
  std::vector<double> start;
  double time;
};

const std::vector<Example> examples = {
    {"bilinear_oscillator", "x_0 = 0.1", {-0.3, 0.2}, 12},
    {"bouncing_ball", "Gamma = 4\ne = 0.7", {1, 0.5}, 12},
    {"cam_follower", "omega = 2.6\nr = 0.8", {1.6, 0}, 6},
    {"duffing_impact", "", {-0.3, 0.2}, 12},
    {"gear_pair", "b = 0.4", {0.15, 0.3}, 12},
    {"impact_drilling", "omega = 0.3", {0, 0.2, 0.1, 0}, 40},
    {"impact_oscillator", "b = 0.1\nstop = 0.1\nstop_low = -0.4", {-0.3, 0.6}, 9},
    {"impact_pair", "", {0.1, 0.5}, 12},
    {"jeffcott_rotor", "", {0.3, 0.2, 0.1, 0.5}, 12},
    {"parametric_pendulum", "", {0.3, 0.9}, 9},
    {"relief_valve", "q = 5", {0.2, 0.1, 9}, 6},
    {"rocking_block", "", {0.5, 0.1, 1}, 9},
    {"two_pendulums", "e = 0.8\ntorque1 = 1\ndamping1 = 0.2\nfrequency = 1.1", {-1.2, 0.1, 0.2, 0.1}, 4},
    {"vibro_impact_capsule", "", {0.1, 0.5, 0, 0.3}, 12},
    {"vibro_impact_nes", "", {0.4, 0.1, 0.2, 0.9}, 12},
};

/// The state after this time; its impacts, jumps and the contacts that begin are counted.
Eigen::VectorXd end_of(const Model& model, const std::vector<double>& values,
                       const std::vector<double>& start, double time, std::size_t* impacts = nullptr) {
  HybridState state = state_at(start);
  Log log;
  REQUIRE(model.system(values, {})->advance(state, for_time(time), &log) == Outcome::ok);
  for (const EventKind kind : {EventKind::impact, EventKind::jump, EventKind::contact_begin}) {
    if (impacts != nullptr) *impacts += log.of(kind).size();
  }
  return state.x;
}

}  // namespace

TEST_CASE("models of data/models: each has an example here", "[library]") {
  for (const ModelInfo& info : models()) {
    if (info.text.empty()) continue;
    CAPTURE(info.name);
    CHECK(std::any_of(examples.begin(), examples.end(),
                      [&](const Example& e) { return e.model == info.name; }));
    CHECK(!info.meaning.empty());
    CHECK(!info.citations.empty());
    for (const Key& key : info.keys) CHECK(!key.meaning.empty());
  }
}

TEST_CASE("models of data/models: derivatives by states and parameters agree with differences", "[library]") {
  for (const Example& e : examples) {
    CAPTURE(e.model);
    const auto model = make_model("name = '" + e.model + "'\n" + e.settings);
    const std::vector<double> values = model->values();
    std::size_t impacts = 0;
    end_of(*model, values, e.start, e.time, &impacts);
    CHECK(impacts >= 2);
    const auto n = static_cast<Eigen::Index>(e.start.size()), m = static_cast<Eigen::Index>(values.size());
    Tangent tangent{Eigen::MatrixXd::Zero(n, n + m), Eigen::RowVectorXd::Zero(n + m),
                    Eigen::MatrixXd::Zero(m, n + m)};
    tangent.state.leftCols(n).setIdentity();
    tangent.parameter.rightCols(m).setIdentity();
    HybridState state = state_at(e.start);
    REQUIRE(model->system(values, {})->advance(state, for_time(e.time), tangent) == Outcome::ok);
    constexpr double h = 1e-6;
    const double size = tangent.state.cwiseAbs().maxCoeff();
    for (Eigen::Index k = 0; k < n + m; ++k) {
      CAPTURE(k);
      const auto moved = [&](double by) {
        std::vector<double> start = e.start, other = values;
        (k < n ? start : other)[static_cast<std::size_t>(k < n ? k : k - n)] += by;
        return end_of(*model, other, start, e.time);
      };
      const Eigen::VectorXd difference =
          (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
      CHECK((difference - tangent.state.col(k)).cwiseAbs().maxCoeff() <= 1e-8 * (1 + size));
    }
  }
}

/// What a tolerance leaves out grows with the motion, by no more than its derivatives do.
TEST_CASE("models of data/models: the engines agree to the tolerance asked", "[library][odeint]") {
  for (const Example& e : examples) {
    CAPTURE(e.model);
    const auto model = make_model("name = '" + e.model + "'\n" + e.settings);
    const std::vector<double> values = model->values();
    const auto n = static_cast<Eigen::Index>(e.start.size());
    const auto moved = [&](const Tolerance& tolerance, Tangent& tangent, Log& log) {
      const auto system = model->system(values, tolerance);
      HybridState plain = state_at(e.start), state = plain;
      REQUIRE(system->advance(plain, for_time(e.time), &log) == Outcome::ok);
      tangent = {Eigen::MatrixXd::Identity(n, n), Eigen::RowVectorXd::Zero(n), {}};
      REQUIRE(system->advance(state, for_time(e.time), tangent) == Outcome::ok);
      return plain.x;
    };
    Tangent exact;
    Log expected;
    const Eigen::VectorXd end = moved({}, exact, expected);
    const double growth = 1 + exact.state.cwiseAbs().maxCoeff();
    const double size = 1 + end.cwiseAbs().maxCoeff();
    for (const double tolerance : {1e-7, 1e-10, 1e-13}) {
      CAPTURE(tolerance);
      Tolerance by_odeint;
      by_odeint.engine = Tolerance::Engine::odeint;
      by_odeint.integration = tolerance;
      Tangent tangent;
      Log log;
      const Eigen::VectorXd other = moved(by_odeint, tangent, log);
      const double allowed = 100 * std::max(tolerance, 1e-13) * e.time * size * growth;
      CHECK((other - end).cwiseAbs().maxCoeff() <= allowed);
      CHECK((tangent.state - exact.state).cwiseAbs().maxCoeff() <= 100 * allowed * growth);
      for (const EventKind kind : {EventKind::impact, EventKind::jump, EventKind::stick, EventKind::release,
                                   EventKind::contact_begin, EventKind::contact_end, EventKind::slip_to_stick,
                                   EventKind::stick_to_slip, EventKind::slip_reversal}) {
        const auto a = expected.of(kind), b = log.of(kind);
        REQUIRE(a.size() == b.size());
        for (std::size_t k = 0; k < a.size(); ++k) CHECK(std::abs(a[k].time - b[k].time) <= allowed);
      }
    }
  }
}

TEST_CASE("models of data/models: the linear ones move by the exact flow", "[library]") {
  for (const char* name : {"impact_oscillator", "bouncing_ball", "impact_pair", "vibro_impact_nes"})
    CHECK(make_system(std::string("name = '") + name + "'")->linear_law().has_value());
}
