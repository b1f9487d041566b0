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
    {"cam_follower", "omega = 2.6\nr = 0.8", {1.6, 0}, 6},
    {"duffing_impact", "", {-0.3, 0.2}, 12},
    {"parametric_pendulum", "", {0.3, 0.9}, 9},
    {"relief_valve", "q = 5", {0.2, 0.1, 9}, 6},
    {"rocking_block", "", {0.5, 0.1, 1}, 9},
    {"two_pendulums", "e = 0.8\ntorque1 = 1\ndamping1 = 0.2\nfrequency = 1.1", {-1.2, 0.1, 0.2, 0.1}, 4},
    {"vibro_impact_nes", "", {0.4, 0.1, 0.2, 0.9}, 12},
};

/// The state after this time; its impacts and jumps are counted.
Eigen::VectorXd end_of(const Model& model, const std::vector<double>& values,
                       const std::vector<double>& start, double time, std::size_t* impacts = nullptr) {
  HybridState state = state_at(start);
  Log log;
  REQUIRE(model.system(values, {})->advance(state, for_time(time), &log) == Outcome::ok);
  if (impacts != nullptr) *impacts = log.of(EventKind::impact).size() + log.of(EventKind::jump).size();
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
