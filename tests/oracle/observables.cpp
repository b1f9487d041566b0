/// Means and extrema of observables along motions: closed forms, and balances that hold on every periodic
/// orbit.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/maps/observables.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// Tables [[observable]] of these expressions, named q0, q1 …
Observables observables(const std::vector<std::string>& values, const Model& model) {
  std::string text;
  for (std::size_t k = 0; k < values.size(); ++k)
    text += "[[observable]]\nname = 'q" + std::to_string(k) + "'\nvalue = \"" + values[k] + "\"\n";
  Key tables;
  tables.name = "observable";
  tables.type = Key::Type::tables;
  tables.children = observable_keys();
  Key format;
  format.name = "graze";
  format.type = Key::Type::integer;
  const Value root = checked(settings(text), {tables, format}, "");
  return Observables(root.at("observable").array(""), model);
}

/// Over this time from a state on.
std::vector<Observed> watched(const std::string& toml, const std::vector<std::string>& values,
                              HybridState start, double time) {
  const auto model = make_model(toml);
  const auto system = model->system(model->values(), {});
  return observe(observables(values, *model), model->values(), *system, {&start, 1}, for_time(time));
}

/// Where a motion has come to after so many periods.
HybridState settled(const std::string& toml, const std::vector<double>& start, int periods) {
  const auto system = make_system(toml);
  HybridState state = state_at(start);
  for (int k = 0; k < periods; ++k) REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
  state.turns = 0;
  return state;
}

}  // namespace

TEST_CASE("observables: a forced linear oscillator in closed form", "[observables]") {
  const double w = 1.7, c = 0.2, x0 = std::hypot(1 - w * w, c * w);
  const double A = 1 / x0, lag = std::atan2(c * w, 1 - w * w);
  const std::vector<double> start = {A * std::cos(lag), A * w * std::sin(lag)};
  for (const std::string& toml :
       {std::string("name = 'linear_stops'\nmass = [[1]]\ndamping = [[0.2]]\nstiffness = [[1]]\nomega = 1.7\n"
                    "force = [{ order = 1, cosine = [1] }]"),
        std::string(
            "name = 'equations'\nparameters = { omega = 1.7 }\ncoordinates = ['x1']\nvelocities = ['v1']\n"
            "force = { x1 = \"cos(omega*t) - 0.2*v1 - x1 + 0*x1^3\" }\nperiod = '2*pi/omega'")}) {
    const auto q = watched(toml, {"x1^2", "cos(omega*t)*x1'", "1/(2 + x1)", "x1 + 3*t", "exp(x1)*sin(5*x1)"},
                           state_at(start), 2 * M_PI / w);
    CHECK(std::abs(q[0].mean - A * A / 2) < 1e-13);
    CHECK(std::abs(q[0].greatest - A * A) < 1e-13);
    CHECK(std::abs(q[0].least) < 1e-13);
    CHECK(std::abs(q[1].mean - c * w * w * A * A / 2) < 1e-13);
    CHECK(std::abs(q[2].mean - 1 / std::sqrt(4 - A * A)) < 1e-13);
    CHECK(std::abs(q[2].greatest - 1 / (2 - A)) < 1e-13);
    CHECK(std::abs(q[3].mean - 3 * M_PI / w) < 1e-12);
    // Greatest where the derivative exp(x) (sin 5x + 5 cos 5x) vanishes, x = (pi - arctan 5)/5, or at the
    // end.
    const double x = (M_PI - std::atan(5.0)) / 5, end = -A;
    const auto f = [](double y) { return std::exp(y) * std::sin(5 * y); };
    const double low = (-std::atan(5.0)) / 5;
    CHECK(std::abs(q[4].greatest - std::max(f(x < A ? x : A), f(end))) < 1e-13);
    CHECK(std::abs(q[4].least - std::min(f(low > -A ? low : -A), f(end))) < 1e-13);
  }
}

/// The work of the force is what the damper and the impacts take: on a periodic orbit their sum is zero; the
/// mean velocity is zero.
TEST_CASE("observables: balance of energy on orbits with impacts", "[observables]") {
  struct Case {
    std::string toml;
    std::vector<double> start;
    double restitution;
    std::string power, loss;
  };
  const std::vector<Case> cases = {{"name = 'impact_oscillator'\nb = 0.1\nomega = 2.2\nstop = 0.1",
                                    {-0.5, 0},
                                    0.8,
                                    "cos(omega*t)*x'",
                                    "0.1*x'^2"},
                                   {"name = 'duffing_impact'\nomega = 1.5\ns = 0.1\nr = 0.8",
                                    {-0.5, 0},
                                    0.8,
                                    "F*cos(omega*t)*x'",
                                    "c*x'^2"}};
  for (const Case& c : cases) {
    CAPTURE(c.toml);
    const auto system = make_system(c.toml);
    const HybridState from = settled(c.toml, c.start, 3000);
    HybridState end = from;
    Log log;
    int periods = 0;
    do {
      REQUIRE(system->advance(end, Section{}, &log) == Outcome::ok);
      ++periods;
    } while ((end.x - from.x).cwiseAbs().maxCoeff() > 1e-11 && periods < 16);
    REQUIRE(periods < 16);
    const double time = periods * system->period();
    double lost = 0;
    for (const auto& e : log.of(EventKind::impact))
      lost += (1 - c.restitution * c.restitution) * e.speed * e.speed / 2;
    REQUIRE(lost > 0);
    const auto q = watched(c.toml, {c.power, c.loss, "x'", "x", "x'^2"}, from, time);
    CHECK(std::abs((q[0].mean - q[1].mean) * time - lost) < 1e-10);
    CHECK(std::abs(q[2].mean) < 1e-11);
    CHECK(std::abs(q[3].greatest - 0.1) < 1e-14);  // the stop
    CHECK(q[4].least < 1e-14);
    CHECK(q[4].greatest >= std::pow(log.of(EventKind::impact).front().speed, 2) * (1 - 1e-12));
  }
}

/// Models with engines of their own: what the mean velocity says, the states say.
TEST_CASE("observables: a mean velocity is the way over the time, for every engine", "[observables]") {
  struct Case {
    std::string toml;
    std::vector<double> start;
    double time;
    std::size_t place;
    std::string velocity;
    double tolerance;
  };
  const std::vector<Case> cases = {
      {"name = 'two_dof_stops'", {0, 0, 0, 0}, 60, 2, "v2", 1e-11},
      {"name = 'two_dof_stops'\nf1 = 0.1\nf2 = 0.05", {0, 0, 0, 0}, 60, 2, "v2", 1e-11},
      {"name = 'oblique_pendulum'", {0, 0.4, 0, -0.1}, 20, 0, "theta_dot", 1e-10},
      {"name = 'planar_friction'", {0, 0, 0, 0}, 6, 1, "vy", 1e-9},
      {"name = 'planar_friction'\nstep = 1e-3\nlook_ahead = 0.5", {0, 0, 0, 0}, 2, 1, "vy", 1e-9},
      {"name = 'two_pendulums'", {-1.5, 0, 0, 0}, 3, 0, "phi_dot", 1e-10},
      {"name = 'rocking_block'", {0.1, 0, 1}, 9, 0, "x_dot", 1e-11},
      {"name = 'rod_on_ground'\ngravity = 9.81", {0, 0.06, 0.4, 0.1, -1, 0}, 0.06, 2, "phi_dot", 1e-7}};
  for (const Case& c : cases) {
    CAPTURE(c.toml);
    const auto system = make_system(c.toml);
    HybridState end = state_at(c.start);
    REQUIRE(system->advance(end, for_time(c.time), nullptr) == Outcome::ok);
    const auto q = watched(c.toml, {c.velocity}, state_at(c.start), c.time);
    const double way = end.x(static_cast<Eigen::Index>(c.place)) - c.start[c.place];
    CHECK(std::abs(way) > 1e-6);
    CHECK(std::abs(q[0].mean * c.time - way) < c.tolerance);
  }
}

TEST_CASE("observables: mistakes are told with their places", "[observables]") {
  const auto model = make_model("name = 'impact_oscillator'");
  const auto message = [&](const std::string& value) -> std::string {
    try {
      observables({value}, *model);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(message("omga*x"),
             Catch::Matchers::Contains(
                 "4:10: observable.0.value = \"omga*x\": omga: there is no such name; did you mean omega?"));
  CHECK_THAT(message("x + y'"), Catch::Matchers::Contains("4:14: observable.0.value"));
  CHECK_THAT(message("x +"), Catch::Matchers::Contains("4:"));
  CHECK_THAT(message("abs(x)"), Catch::Matchers::Contains("abs has a corner"));
}
