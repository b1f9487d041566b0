/// Derivatives through oblique impacts, locking, sliding and sticking contact against differences.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "analysis/maps/multipliers.hpp"
#include "analysis/maps/poincare_map.hpp"
#include "tests/event_kinds.hpp"

using namespace graze;
using namespace graze::test;

namespace {

bool has(const std::vector<EventKind>& kinds, EventKind kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

struct End {
  Eigen::VectorXd x;
  std::vector<EventKind> kinds;
};

End run(const Model& model, const std::vector<double>& values, const std::vector<double>& start,
        double time) {
  HybridState state = state_at(start);
  Log log;
  REQUIRE(model.system(values, {})->advance(state, for_time(time), &log) == Outcome::ok);
  return {state.x, course(log)};
}

Eigen::MatrixXd derivatives(const Model& model, const std::vector<double>& start, double time) {
  const std::vector<double> values = model.values();
  const Eigen::Index n = 4, count = n + static_cast<Eigen::Index>(values.size());
  Tangent tangent;
  tangent.state = Eigen::MatrixXd::Identity(n, count);
  tangent.time = Eigen::RowVectorXd::Zero(count);
  tangent.parameter = Eigen::MatrixXd::Zero(count - n, count);
  tangent.parameter.rightCols(count - n).setIdentity();
  HybridState state = state_at(start);
  REQUIRE(model.system(values, {})->advance(state, for_time(time), tangent) == Outcome::ok);
  return tangent.state;
}

}  // namespace

TEST_CASE("oblique pendulum: derivatives by states and parameters against central differences") {
  struct Run {
    const char* settings;
    std::vector<double> start;
    double time;
    std::vector<EventKind> on_the_way;
  };
  for (const Run& r :
       {Run{"mu = 0.4\nclearance = 0.4\nf1 = 0.4\nf2 = 0.1\npsi = 0.3",
            {0, 0.9, 0, -0.1},
            9,
            {EventKind::impact}},
        Run{"eta = 0.5\nf1 = 0.6\nmu = 0.3\nclearance = 0.2", {0, 0, 0.6, 0}, 9, {EventKind::slip_reversal}},
        Run{"eta = 0.8\nf1 = 0.6\nmu = 3\nclearance = 0.2", {0, 0, 0.6, 0}, 9, {EventKind::slip_to_stick}},
        Run{"eta = 0.5\nf1 = 0.6\nmu = 0.3\nclearance = -0.5",
            {0, 0, 0.6, 0},
            15,
            {EventKind::stick, EventKind::release}},
        Run{"eta = 0.2\nf1 = 0.6\nmu = 0.3\nclearance = 0.2",
            {0, 0, 0.6, 0},
            72,
            {EventKind::stick, EventKind::slip_to_stick, EventKind::stick_to_slip, EventKind::release}}}) {
    CAPTURE(r.settings);
    const auto model = make_model(std::string("name = 'oblique_pendulum'\n") + r.settings);
    const std::vector<double> values = model->values();
    const End middle = run(*model, values, r.start, r.time);
    for (const EventKind kind : r.on_the_way) REQUIRE(has(middle.kinds, kind));
    const Eigen::MatrixXd J = derivatives(*model, r.start, r.time);
    const double scale = std::max(1.0, J.cwiseAbs().maxCoeff());
    for (Eigen::Index k = 0; k < J.cols(); ++k) {
      CAPTURE(k);
      const auto shifted = [&](double h) {
        std::vector<double> start = r.start, v = values;
        (k < 4 ? start[static_cast<std::size_t>(k)] : v[static_cast<std::size_t>(k - 4)]) += h;
        const End end = run(*model, v, start, r.time);
        CHECK(end.kinds == middle.kinds);
        return end.x;
      };
      constexpr double h = 1e-4;
      const bool one_sided = k >= 4 && values[static_cast<std::size_t>(k - 4)] == 0 &&
                             model->parameters()[static_cast<std::size_t>(k - 4)].range.low == 0;
      if (one_sided) continue;
      const Eigen::VectorXd difference =
          (8 * (shifted(h) - shifted(-h)) - (shifted(2 * h) - shifted(-2 * h))) / (12 * h);
      CHECK((difference - J.col(k)).cwiseAbs().maxCoeff() < 1e-7 * scale);
    }
  }
}

TEST_CASE("oblique pendulum: Jacobians of the stroboscopic and the impact map against central differences") {
  const auto system =
      make_system("name = 'oblique_pendulum'\neta = 0.5\nf1 = 0.6\nmu = 0.3\nclearance = 0.2");
  std::vector<Section> sections(3);
  sections[1].kind = Section::Kind::impact_before;
  sections[2].kind = Section::Kind::impact_after;
  for (const Section& section : sections) {
    CAPTURE(static_cast<int>(section.kind));
    const PoincareMap map(*system, section);
    HybridState start = state_at({0, 0, 0.6, 0});
    for (int k = 0; k < 6; ++k) REQUIRE(map.iterate(start) == Outcome::ok);
    Eigen::MatrixXd J = Eigen::MatrixXd::Identity(map.dimension(), map.dimension());
    HybridState state = start;
    REQUIRE(map.iterate(state, J) == Outcome::ok);
    CHECK(J.rows() == 4);
    const Eigen::VectorXd y = map.coordinates(start);
    for (Eigen::Index k = 0; k < y.size(); ++k) {
      CAPTURE(k);
      const auto shifted = [&](double h) {
        Eigen::VectorXd moved = y;
        moved(k) += h;
        HybridState at = map.at(moved, start);
        REQUIRE(map.iterate(at) == Outcome::ok);
        return at;
      };
      constexpr double h = 1e-4;
      const Eigen::VectorXd near = map.difference(shifted(h), shifted(-h));
      const Eigen::VectorXd far = map.difference(shifted(2 * h), shifted(-2 * h));
      CHECK(((8 * near - far) / (12 * h) - J.col(k)).cwiseAbs().maxCoeff() <
            1e-7 * std::max(1.0, J.cwiseAbs().maxCoeff()));
    }
  }
}

TEST_CASE(
    "oblique pendulum: pressed to the block for ever, it moves along it, and two multipliers are zero") {
  const auto model =
      make_model("name = 'oblique_pendulum'\nclearance = -0.3\nf1 = 0.15\nmu = 0.1\neta = 0.7");
  const auto system = model->system(model->values(), {});
  HybridState state = state_at({0.1, 0, std::sin(0.1) + 0.3, 0});
  for (int period = 0; period < 30; ++period)
    REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
  const Eigen::Vector4d start = state.x;
  Eigen::MatrixXd J = Eigen::MatrixXd::Identity(4, 4);
  Log log;
  HybridState again = state;
  REQUIRE(system->advance(again, Section{}, &log) == Outcome::ok);
  REQUIRE(log.of(EventKind::release).empty());
  REQUIRE(PoincareMap(*system, Section{}).iterate(state, J) == Outcome::ok);

  std::vector<double> moduli;
  for (const auto& multiplier : eigenvalues(J)) moduli.push_back(std::abs(multiplier));
  std::sort(moduli.begin(), moduli.end());
  CHECK(moduli[1] < 1e-12);
  CHECK(moduli[2] > 0.1);
  CHECK(moduli[3] < 0.99);

  // Along the contact: x = sin θ − clearance, x' = θ' cos θ.
  const auto on_block = [](double angle, double rate) {
    return std::vector<double>{angle, rate, std::sin(angle) + 0.3, rate * std::cos(angle)};
  };
  const double h = 1e-6;
  for (int k = 0; k < 2; ++k) {
    std::array<Eigen::VectorXd, 2> begin, end;
    for (std::size_t side = 0; side < 2; ++side) {
      const double by = side == 0 ? h : -h;
      HybridState moved = state_at(on_block(start(0) + (k == 0 ? by : 0), start(1) + (k == 1 ? by : 0)));
      begin[side] = moved.x;
      REQUIRE(system->advance(moved, Section{}, nullptr) == Outcome::ok);
      end[side] = moved.x;
    }
    const Eigen::VectorXd expected = (end[0] - end[1]) / (2 * h);
    CHECK((J * (begin[0] - begin[1]) / (2 * h) - expected).cwiseAbs().maxCoeff() < 1e-7);
  }
}
