/// Systems typed as equations: the same system given otherwise, other coordinates of it, conservation laws.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <variant>
#include <vector>

#include "analysis/maps/attractor.hpp"
#include "tests/analyses.hpp"
#include "tests/typed_runs.hpp"

using namespace graze;
using namespace graze::test;

TEST_CASE("typed linear systems move by the exact flow, as linear_stops does", "[equations]") {
  const std::string matrices = R"toml(
name = "linear_stops"
omega = 0.8
mass = [[1, 0], [0, 0.5]]
damping = [[0.2, -0.1], [-0.1, 0.1]]
stiffness = [[2, -1], [-1, 1]]
constant = [0, 0.1]
force = [{ order = 1, cosine = [0.6, 0], sine = [0, 0.2] }, { order = 3, sine = [0.3, 0] }]
stop = [{ normal = [1, 0], position = 0.4, restitution = 0.8 }, { normal = [1, -1], position = 0.3, restitution = 0.6 }]
)toml";
  const std::string equations = R"toml(
name = "equations"
parameters = { omega = 0.8, mu = 0.5 }
coordinates = ["x1", "x2"]
definitions = { spring = "x1 - x2", damper = "0.1*(x1' - x2')" }
mass = [[1, 0], [0, "mu"]]
force = { x1 = "0.6*cos(omega*t) + 0.3*sin(3*omega*t) - x1 - 0.1*x1' - spring - damper", x2 = "0.1 + 0.2*cos(omega*t - pi/2) + spring + damper" }
period = "2*pi/omega"
contact = [{ gap = "0.4 - x1", restitution = 0.8 }, { gap = "0.3 - spring", restitution = 0.6 }]
)toml";
  const std::vector<double> start = {0.1, 0.5, 0, -0.3};
  const Run expected = run(*make_system(matrices), start, 60);
  REQUIRE(expected.log.of(EventKind::impact).size() > 20);
  check_alike(typed(equations, start, 60), expected, 1e-11);
  check_alike(by_series(equations, start, 12), run(*make_system(matrices), start, 12), 1e-11);
}

/// A ball on a moving table: in absolute coordinates the gap hangs on time.
TEST_CASE("typed moving obstacle: the same motion as seen from the obstacle", "[equations]") {
  const std::string absolute = R"toml(
name = "equations"
parameters = { a = 1.7, w = 1.3, r = 0.55 }
coordinates = ["y"]
force = { y = -1 }
period = "2*pi/w"
contact = [{ gap = "y - a/w^2*sin(w*t)", restitution = "r" }]
)toml";
  const std::string relative = R"toml(
name = "equations"
parameters = { a = 1.7, w = 1.3, r = 0.55 }
coordinates = ["y"]
force = { y = "-1 + a*sin(w*t)" }
period = "2*pi/w"
contact = [{ gap = "y", restitution = "r" }]
)toml";
  const double a = 1.7, w = 1.3, time = 40;
  const Run moving = typed(absolute, {2, a / w}, time), fixed = by_series(relative, {2, 0}, time);
  const auto impacts = moving.log.of(EventKind::impact), expected = fixed.log.of(EventKind::impact);
  REQUIRE(impacts.size() == expected.size());
  REQUIRE(impacts.size() > 5);
  for (std::size_t k = 0; k < impacts.size(); ++k) {
    CHECK(std::abs(impacts[k].time - expected[k].time) <= 1e-10);
    CHECK(std::abs(impacts[k].speed - expected[k].speed) <= 1e-10);
  }
  CHECK(moving.log.of(EventKind::stick).size() == fixed.log.of(EventKind::stick).size());
  CHECK(moving.log.of(EventKind::release).size() == fixed.log.of(EventKind::release).size());
  CHECK(moving.end.x(0) == Approx(fixed.end.x(0) + a / (w * w) * std::sin(w * time)).margin(1e-10));
}

/// A double pendulum between walls that lose nothing: mass matrix and normals hang on the angles.
TEST_CASE("typed mass matrix: energy is kept through flights and impacts", "[equations]") {
  const std::string text = R"toml(
name = "equations"
parameters = { m = 0.7, l = 0.8, g = 2, wall = 0.9 }
coordinates = ["a", "b"]
definitions = { c = "cos(a - b)", s = "sin(a - b)" }
mass = [["1 + m", "m*l*c"], ["m*l*c", "m*l^2"]]
force = { a = "-m*l*s*b'^2 - (1 + m)*g*sin(a)", b = "m*l*s*a'^2 - m*g*l*sin(b)" }
contact = [{ name = "right", gap = "wall - sin(a) - l*sin(b)", restitution = 1 }, { name = "left", gap = "wall + sin(a) + l*sin(b)", restitution = 1 }]
)toml";
  const auto energy = [](const Eigen::VectorXd& x) {
    const double m = 0.7, l = 0.8, g = 2;
    const double a = x(0), u = x(1), b = x(2), v = x(3);
    return (1 + m) * u * u / 2 + m * l * l * v * v / 2 + m * l * u * v * std::cos(a - b) -
           (1 + m) * g * std::cos(a) - m * g * l * std::cos(b);
  };
  const Run r = typed(text, {0.5, 1.5, -0.2, 2}, 20);
  REQUIRE(r.outcome == Outcome::ok);
  CHECK(r.log.of(EventKind::impact, 0).size() > 3);
  CHECK(r.log.of(EventKind::impact, 1).size() > 3);
  const double before = energy(state_at({0.5, 1.5, -0.2, 2}).x);
  constexpr double rounding = 1e-12;  // of energies up to 5
  CHECK(energy(r.end.x) == Approx(before).margin(rounding));
  for (const auto& e : r.log.of(EventKind::impact)) {
    const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(e.after.data(), 4);
    CHECK(energy(x) == Approx(before).margin(rounding));
  }
}

TEST_CASE("typed systems: derivatives by states and parameters agree with differences", "[equations]") {
  const std::string text = R"toml(
name = "equations"
parameters = { b = 0.4, F = 0.9, w = 1.1, s = 0.5, r = 0.7, c = 0.2 }
coordinates = ["x", "y"]
states = ["p"]
mass = [[1, "0.2*cos(y)"], ["0.2*cos(y)", "1 + 0.3*x^2"]]
force = { x = "F*cos(w*t) - 0.1*x' - x - b*x^3 + c*p", y = "-y - 0.2*y'" }
rate = { p = "tanh(x') - p" }
period = "2*pi/w"
contact = [{ gap = "s + 0.1*sin(w*t) - x - 0.2*y^2", restitution = "r" }]
)toml";
  const auto model = make_model(text);
  const std::vector<double> values = model->values(), start = {0.1, 0.4, 0.2, -0.1, 0.05};
  constexpr double time = 9;
  const auto end = [&](const std::vector<double>& at, const std::vector<double>& from) {
    HybridState state = state_at(from);
    REQUIRE(model->system(at, {})->advance(state, for_time(time), nullptr) == Outcome::ok);
    return state.x;
  };
  const Eigen::Index n = 5, m = static_cast<Eigen::Index>(values.size());
  Tangent tangent{Eigen::MatrixXd::Zero(n, n + m), Eigen::RowVectorXd::Zero(n + m),
                  Eigen::MatrixXd::Zero(m, n + m)};
  tangent.state.leftCols(n).setIdentity();
  tangent.parameter.rightCols(m).setIdentity();
  HybridState state = state_at(start);
  Log log;
  HybridState heard = state_at(start);
  REQUIRE(model->system(values, {})->advance(heard, for_time(time), &log) == Outcome::ok);
  CHECK(log.of(EventKind::impact).size() >= 2);
  REQUIRE(model->system(values, {})->advance(state, for_time(time), tangent) == Outcome::ok);
  constexpr double h = 1e-6;
  for (Eigen::Index k = 0; k < n + m; ++k) {
    std::vector<double> up = start, down = start, more = values, less = values;
    (k < n ? up : more)[static_cast<std::size_t>(k < n ? k : k - n)] += h;
    (k < n ? down : less)[static_cast<std::size_t>(k < n ? k : k - n)] -= h;
    const Eigen::VectorXd difference = (end(more, up) - end(less, down)) / (2 * h);
    CAPTURE(k);
    CHECK((difference - tangent.state.col(k)).cwiseAbs().maxCoeff() <=
          1e-7 * (1 + difference.cwiseAbs().maxCoeff()));
  }
}

/// A stop at infinity is none, whatever moves the system.
TEST_CASE("typed stops at infinity change nothing", "[equations]") {
  const std::string body =
      "name = 'equations'\nparameters = { low = { value = -inf, min = -inf } }\ncoordinates = ['x']\n"
      "force = { x = \"cos(1.3*t) - 0.1*x' - x - 0.4*x^3\" }\nperiod = '2*pi/1.3'\n";
  const std::string upper = "{ gap = '0.3 - x', restitution = 0.8 }";
  const Run one = typed(body + "contact = [" + upper + "]", {0.1, 0.2}, 30);
  Run two = typed(body + "contact = [" + upper + ", { gap = 'x - low', restitution = 0.8 }]", {0.1, 0.2}, 30);
  REQUIRE(one.outcome == Outcome::ok);
  REQUIRE(one.log.of(EventKind::impact).size() > 3);
  REQUIRE(two.forces.size() == 2);
  CHECK(two.forces(1) == 0);
  two.forces.conservativeResize(1);
  check_alike(two, one, 0);
}

namespace {

/// A model, and the same typed.
struct Copy {
  std::string model, typed, sweep;
};

const std::vector<Copy> copies = {
    {"name = 'two_dof_stops'\nd1 = -0.3\nd2 = 0.1",
     "name = 'equations'\nparameters = { delta = 0.16 }\ncoordinates = ['x1', 'x2']\nvelocities = ['v1', "
     "'v2']\n"
     "force = { x1 = \"0.5*cos(delta*t) - 0.2*v1 + 0.1*v2 - 2*x1 + x2\", x2 = \"0.1*(v1 - v2) + x1 - x2\" }\n"
     "period = '2*pi/delta'\ncontact = [{ gap = 'x1 + 0.3', restitution = 0.7 }, { gap = '0.1 - x2', "
     "restitution "
     "= 0.7 }]",
     "axis = { parameter = 'delta', from = 0.3, to = 0.9, points = 25 }"},
    {"name = 'two_dof_stops'\nd1 = 0.2\nd2 = 0.3\nf1 = 0.05\nf2 = 0.04\nf12 = 0.03",
     "name = 'equations'\nparameters = { delta = 0.16 }\ncoordinates = ['x1', 'x2']\nvelocities = ['v1', "
     "'v2']\n"
     "force = { x1 = \"0.5*cos(delta*t) - 0.2*v1 + 0.1*v2 - 2*x1 + x2\", x2 = \"0.1*(v1 - v2) + x1 - x2\" }\n"
     "period = '2*pi/delta'\ncontact = [{ gap = '0.2 - x1', restitution = 0.7 }, { gap = '0.3 - x2', "
     "restitution "
     "= 0.7 }]\nfriction = [{ slip = 'v1', amplitude = 0.05 }, { slip = 'v2', amplitude = 0.04 }, { slip = "
     "'v1 - "
     "v2', amplitude = 0.03 }]",
     "axis = { parameter = 'delta', from = 0.3, to = 0.9, points = 25 }"},
    {"name = 'linear_stops'\nomega = 0.8\nmass = [[1, 0, 0], [0, 1, 0], [0, 0, 0.5]]\ndamping = [[0.2, -0.1, "
     "0], "
     "[-0.1, 0.2, -0.1], [0, -0.1, 0.1]]\nstiffness = [[2, -1, 0], [-1, 2, -1], [0, -1, 1]]\nforce = [{ "
     "cosine = "
     "[0.6, 0, 0] }, { order = 3, sine = [0, 0.1, 0] }]\nstop = [{ normal = [1, 0, 0], position = 0.4, "
     "restitution = 0.8 }, { normal = [0, 1, -1], position = 0.3 }]",
     "name = 'equations'\nparameters = { omega = 0.8 }\ncoordinates = ['x1', 'x2', 'x3']\nvelocities = "
     "['v1', "
     "'v2', 'v3']\nmass = { x3 = 0.5 }\nforce = { x1 = \"0.6*cos(omega*t) - 0.2*v1 + 0.1*v2 - 2*x1 + x2\", "
     "x2 = "
     "\"0.1*sin(3*omega*t) + 0.1*v1 - 0.2*v2 + 0.1*v3 + x1 - 2*x2 + x3\", x3 = \"0.1*v2 - 0.1*v3 + x2 - x3\" "
     "}\n"
     "period = '2*pi/omega'\ncontact = [{ gap = '0.4 - x1', restitution = 0.8 }, { gap = '0.3 - x2 + x3', "
     "restitution = 0.7 }]",
     "axis = { parameter = 'omega', from = 0.5, to = 1.5, points = 25 }"},
    {"name = 'linear_stops'\nomega = 0.9\nmass = [[1]]\ndamping = [[0.05]]\nstiffness = [[1]]\nforce = [{ "
     "cosine "
     "= [1] }]\nstop = [{ normal = [1], position = 0.2, stiffness = 20, damping = 3 }]\nfriction = [{ "
     "direction = "
     "[1], amplitude = 0.1 }]",
     "name = 'equations'\nparameters = { omega = 0.9 }\ncoordinates = ['x']\nforce = { x = \"cos(omega*t) - "
     "0.05*x' - x\" }\nperiod = '2*pi/omega'\ncontact = [{ gap = '0.2 - x', stiffness = 20, damping = 3 "
     "}]\nfriction = [{ slip = \"x'\", amplitude = 0.1 }]",
     "axis = { parameter = 'omega', from = 0.5, to = 1.5, points = 25 }"},
    {"name = 'linear_stops'\nomega = 0.9\nmass = [[1, 0], [0, 2]]\ndamping = [[0.1, 0], [0, 0.2]]\nstiffness "
     "= "
     "[[1, 0], [0, 0.5]]\nforce = [{ cosine = [1, 0.3] }]\nstop = [{ normal = [1, 0], position = 0.1, "
     "stiffness = "
     "15, damping = 0.3, mu = 0.4, slip = [0, 1] }]",
     "name = 'equations'\nparameters = { omega = 0.9 }\ncoordinates = ['x', 'y']\nmass = { y = 2 }\nforce = "
     "{ x = "
     "\"cos(omega*t) - 0.1*x' - x\", y = \"0.3*cos(omega*t) - 0.2*y' - 0.5*y\" }\nperiod = "
     "'2*pi/omega'\ncontact = [{ gap = '0.1 - x', stiffness = 15, damping = 0.3, mu = 0.4, slip = \"y'\" }]",
     "axis = { parameter = 'omega', from = 0.5, to = 1.5, points = 25 }"},
};

}  // namespace

TEST_CASE("typed copies of linear systems: sweeps have the same arrays", "[equations]") {
  std::size_t impacts = 0, sticks = 0, periodic = 0;
  for (const Copy& copy : copies) {
    CAPTURE(copy.typed);
    const auto swept = [&](const std::string& model) {
      return result_of(
          *make_analysis("sweep", make_problem("sweep", model, copy.sweep + "\ntransient = 300")));
    };
    const Dataset expected = swept(copy.model), found = swept(copy.typed);
    const auto& kinds = std::get<std::vector<std::int8_t>>(expected.at("attractor").values);
    for (const Array& array : found.arrays) {
      CAPTURE(array.name);
      const Array& other = expected.at(array.name);
      if (const auto* numbers = std::get_if<std::vector<double>>(&array.values)) {
        const auto& others = std::get<std::vector<double>>(other.values);
        REQUIRE(others.size() == numbers->size());
        double apart = 0;
        for (std::size_t k = 0; k < numbers->size(); ++k) {
          const double a = (*numbers)[k], b = others[k];
          if (a == b || (std::isnan(a) && std::isnan(b))) continue;
          const double difference = std::abs(a - b) / (1 + std::abs(a));
          apart = difference > apart || std::isnan(difference) ? difference : apart;
        }
        CHECK(apart <= 1e-12);
      } else if (array.name != "transient_used") {
        CHECK((other.values == array.values || !other.flags.empty()));
      }
    }
    CHECK(std::get<std::vector<std::int8_t>>(found.at("attractor").values) == kinds);
    for (const std::int64_t n : std::get<std::vector<std::int64_t>>(expected.at("impacts").values))
      impacts += static_cast<std::size_t>(std::max<std::int64_t>(n, 0));
    if (found.find("friction_sticks") != nullptr) {
      for (const std::int64_t n : std::get<std::vector<std::int64_t>>(expected.at("friction_sticks").values))
        sticks += static_cast<std::size_t>(std::max<std::int64_t>(n, 0));
    }
    periodic += static_cast<std::size_t>(
        std::count(kinds.begin(), kinds.end(), static_cast<std::int8_t>(AttractorClass::periodic)));
  }
  CHECK(impacts > 200);
  CHECK(sticks > 50);
  CHECK(periodic > 60);
}
