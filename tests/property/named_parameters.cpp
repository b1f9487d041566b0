/// Named parameters in linear_stops: expressions of them are the numbers that they come to, with derivatives.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

const std::string named = R"toml(
name = "linear_stops"
parameters = { mu = 0.5, zeta = { value = 0.05, min = 0, meaning = "damping ratio" }, F = 0.6, phase = 0.3, f = 0.02 }
omega = 0.8
mass = [[1, 0], [0, "mu"]]
damping = [["2*zeta", 0], [0, "2*zeta*mu"]]
stiffness = [["1 + mu", "-mu"], ["-mu", "mu"]]
constant = [0, "mu/10"]
force = [{ cosine = ["F*cos(phase)", 0], sine = ["-F*sin(phase)", 0] }]
stop = [{ normal = [1, 0], position = "0.2/mu", restitution = "1 - 4*zeta" }, { normal = [1, -1], position = 0.3 }]
friction = [{ direction = [0, 1], amplitude = "f" }]
)toml";

std::string numbers(double mu, double zeta) {
  const auto n = [](double a) { return fmt_double(a); };
  return "name = 'linear_stops'\nomega = 0.8\nmass = [[1, 0], [0, " + n(mu) + "]]\ndamping = [[" +
         n(2 * zeta) + ", 0], [0, " + n(2 * zeta * mu) + "]]\nstiffness = [[" + n(1 + mu) + ", " + n(-mu) +
         "], [" + n(-mu) + ", " + n(mu) + "]]\nconstant = [0, " + n(mu / 10) + "]\nforce = [{ cosine = [" +
         n(0.6 * std::cos(0.3)) + ", 0], sine = [" + n(-0.6 * std::sin(0.3)) +
         ", 0] }]\nstop = [{ normal = [1, 0], position = " + n(0.2 / mu) +
         ", restitution = " + n(1 - 4 * zeta) +
         " }, { normal = [1, -1], position = 0.3 }]\nfriction = [{ direction = [0, 1], amplitude = 0.02 }]";
}

const std::vector<double> first_state = {0.1, 0.2, 0, -0.1};
constexpr double duration = 30;

Eigen::VectorXd end_of(const System& system, double time = duration) {
  HybridState state = state_at(first_state);
  REQUIRE(const_cast<System&>(system).advance(state, for_time(time), nullptr) == Outcome::ok);
  return state.x;
}

}  // namespace

TEST_CASE("linear_stops: expressions of named parameters are the numbers that they come to", "[equations]") {
  const auto model = make_model(named);
  CHECK(model->parameter_index("mu") == 0);
  CHECK(model->parameters()[1].meaning == "damping ratio");
  CHECK(model->parameter_index("M_1_1") > 0);    // a plain number keeps its name
  CHECK(model->parameter_index("M_2_2") == -1);  // an expression has none
  for (const auto& [mu, zeta] : {std::pair(0.5, 0.05), std::pair(0.8, 0.02), std::pair(0.3, 0.1)}) {
    std::vector<double> values = model->values();
    values[0] = mu;
    values[1] = zeta;
    const Eigen::VectorXd expected = end_of(*make_system(numbers(mu, zeta)));
    CAPTURE(mu, zeta);
    CHECK((end_of(*model->system(values, {})) - expected).cwiseAbs().maxCoeff() < 1e-11);
  }
  std::vector<double> values = model->values();
  values[1] = 0.3;  // restitution -0.2
  CHECK(model->system(values, {}) == nullptr);
}

TEST_CASE("linear_stops: derivatives by named parameters agree with differences", "[equations]") {
  const auto model = make_model(named);
  const std::vector<double> values = model->values();
  const Eigen::Index m = static_cast<Eigen::Index>(values.size());
  Tangent tangent{Eigen::MatrixXd::Zero(4, 5), Eigen::RowVectorXd::Zero(5), Eigen::MatrixXd::Zero(m, 5)};
  tangent.parameter.topRows(5).setIdentity();
  HybridState state = state_at(first_state);
  constexpr double time = 12, h = 1e-6;
  REQUIRE(model->system(values, {})->advance(state, for_time(time), tangent) == Outcome::ok);
  for (std::size_t k = 0; k < 5; ++k) {
    std::vector<double> up = values, down = values;
    up[k] += h;
    down[k] -= h;
    const Eigen::VectorXd difference =
        (end_of(*model->system(up, {}), time) - end_of(*model->system(down, {}), time)) / (2 * h);
    CAPTURE(k);
    CHECK((difference - tangent.state.col(static_cast<Eigen::Index>(k))).cwiseAbs().maxCoeff() <
          1e-7 * (1 + difference.cwiseAbs().maxCoeff()));
  }
}

TEST_CASE("linear_stops: wrong expressions are refused with their place and rule", "[equations]") {
  const auto refused = [](std::string what, const std::string& instead, const std::string& rule) {
    std::string text = named;
    text.replace(text.find(what), what.size(), instead);
    CAPTURE(instead);
    CHECK_THROWS_WITH(make_model(text), Catch::Matchers::Contains(rule));
  };
  // settings() puts two lines before the table.
  refused("[0, \"mu\"]", "[0, \"muu\"]",
          ":7:22: model.mass.1.1 = \"muu\": muu: there is no such name; did you mean mu?");
  refused("2*zeta*mu", "2*zeta*", ":8:38: model.damping.1.1 = \"2*zeta*\": *: something must follow");
  refused("0.2/mu", "0.2/nu",
          "model.stop.0.position = \"0.2/nu\": nu: there is no such name; did you mean mu?");
  refused("1 - 4*zeta", "1 + zeta", "is 1.05 at these parameter values: must satisfy 0 <= x <= 1");
  refused("[0, \"mu\"]", "[0, \"-mu\"]", "must be symmetric and positive definite");
  refused("[0, \"mu\"]", "[\"mu\"]", "must have 2 rows and columns");
  refused("mu = 0.5", "mu = true", "model.parameters.mu.value = true: must be a number");
  refused("mu = 0.5", "pi = 0.5", "pi means something else");
  refused("mu = 0.5", "omega = 0.5", "there is a parameter omega already");
  refused("mu = 0.5", "force_scale = 0.5", "the name force_scale is there already");
  refused("min = 0", "min = 1", "must satisfy 1 <= x");
  refused("min = 0", "least = 0", "model.parameters.zeta.least = 0: unknown key");
  refused("omega = 0.8", "omega = \"-zeta\"", "must satisfy 0 < x");
  refused("omega = 0.8", "omega = \"2*t\"", "time has no place here");
}
