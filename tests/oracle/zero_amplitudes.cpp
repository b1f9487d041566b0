/// Derivatives by what is zero and may only grow: coefficients of friction, amplitudes, preloads.
#include <catch2/catch.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

struct Zero {
  const char* what;
  std::string model;
  std::string parameter;
  std::vector<double> start;
  double time;
};

std::size_t place_of(const Model& model, const std::string& name) {
  const auto& parameters = model.parameters();
  const auto place =
      std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; });
  REQUIRE(place != parameters.end());
  return static_cast<std::size_t>(place - parameters.begin());
}

Eigen::VectorXd moved(const Model& model, std::size_t parameter, double value, const Zero& zero) {
  std::vector<double> values = model.values();
  values[parameter] = value;
  HybridState state = state_at(zero.start);
  REQUIRE(model.system(values, {})->advance(state, for_time(zero.time), nullptr) == Outcome::ok);
  return state.x;
}

Tangent by_parameter(const Model& model, std::size_t parameter, const Zero& zero) {
  const Eigen::Index n = static_cast<Eigen::Index>(zero.start.size());
  const Eigen::Index p = static_cast<Eigen::Index>(model.parameters().size());
  Tangent tangent{Eigen::MatrixXd::Zero(n, 1), Eigen::RowVectorXd::Zero(1), Eigen::MatrixXd::Zero(p, 1)};
  tangent.parameter(static_cast<Eigen::Index>(parameter), 0) = 1;
  return tangent;
}

std::unique_ptr<System> system_at_zero(const Model& model, std::size_t parameter) {
  std::vector<double> values = model.values();
  values[parameter] = 0;
  return model.system(values, {});
}

Eigen::VectorXd derivative(const Model& model, std::size_t parameter, const Zero& zero) {
  Tangent tangent = by_parameter(model, parameter, zero);
  HybridState state = state_at(zero.start);
  const auto system = system_at_zero(model, parameter);
  REQUIRE(system->advance(state, for_time(zero.time), tangent) == Outcome::ok);
  return tangent.state.col(0);
}

/// The second part goes on from a motion without derivatives.
Eigen::VectorXd derivative_in_parts(const Model& model, std::size_t parameter, const Zero& zero) {
  Tangent tangent = by_parameter(model, parameter, zero);
  HybridState state = state_at(zero.start), plain = state;
  const auto system = system_at_zero(model, parameter);
  REQUIRE(system->advance(state, for_time(0.3 * zero.time), tangent) == Outcome::ok);
  REQUIRE(system->advance(plain, for_time(0.3 * zero.time), nullptr) == Outcome::ok);
  REQUIRE(system->advance(plain, for_time(0.7 * zero.time), tangent) == Outcome::ok);
  return tangent.state.col(0);
}

const std::string oblique =
    "name = 'equations'\n"
    "parameters = { eta = 0.5, f1 = 0.6, zeta1 = 0.05, zeta2 = 0.05, kappa = 1, m = 0.6, clearance = 0.2, "
    "mu = 0, r = 0.6 }\n"
    "coordinates = ['theta', 'x']\nmass = { x = '1/m' }\n"
    "force = { theta = \"f1*cos(eta*t) - 2*zeta1*theta' - theta\", x = \"(-2*zeta2*kappa*x' - "
    "kappa^2*x)/m\" }\nperiod = '2*pi/eta'\n"
    "contact = [{ name = 'block', gap = 'clearance + x - sin(theta)', restitution = 'r', mu = 'mu', slip = "
    "\"sin(theta)*theta'\" }]\n";
const std::string built_in_oblique =
    "name = 'oblique_pendulum'\nmu = 0\neta = 0.5\nf1 = 0.6\nclearance = 0.2\n";

}  // namespace

/// To one side only, by differences of second order.
TEST_CASE("zero amplitudes: derivatives by what may only grow from 0", "[equations]") {
  const auto duffing = [](const std::string& more) {
    return "name = 'equations'\nparameters = { F = 0.6, w = 1.1, f = 0, s = 0.3 }\ncoordinates = ['x', 'y']\n"
           "force = { x = \"F*cos(w*t) - 0.1*x' - x - x^3 + 0.5*(y - x)\", y = \"0.5*(x - y) - 0.1*y'\" }\n"
           "period = '2*pi/w'\n" +
           more;
  };
  const auto linear = [](const std::string& more) {
    return "name = 'equations'\nparameters = { F = 0.6, w = 1.1, f = 0, s = 0.5 }\ncoordinates = ['x', 'y']\n"
           "force = { x = \"F*cos(w*t) - 0.1*x' - x + 0.5*(y - x)\", y = \"0.5*(x - y) - 0.1*y'\" }\n"
           "period = '2*pi/w'\n" +
           more;
  };
  const std::string stops =
      "name = 'linear_stops'\nparameters = { f = 0 }\nomega = 1.1\nmass = [[1]]\ndamping = [[0.1]]\n"
      "stiffness = [[1]]\nforce = [{ cosine = [0.6] }]\n"
      "stop = [{ normal = [1], position = 0.5, restitution = 0.7 }]\n"
      "friction = [{ direction = [1], amplitude = '2*f' }]\n";
  const auto plane = [](const std::string& more) { return "name = 'planar_friction'\n" + more; };
  const std::vector<double> still = {0.1, 0, 0, 0};
  const std::string wall = "contact = [{ gap = 's - x', restitution = 0.7 }]\n";
  const std::string ground = "friction = [{ slip = \"x'\", amplitude = 'f' }]\n";
  const std::string doubled = "friction = [{ slip = \"x'\", amplitude = '2*f' }]\n";
  const std::string statically = "friction = [{ slip = \"x'\", amplitude = 'f', static = '1.3*f' }]\n";
  const std::string between = "friction = [{ slip = \"x' - y'\", amplitude = 'f' }]\n";
  const auto soft = [](const std::string& law) {
    return "contact = [{ gap = 's - x', stiffness = 20, " + law + " }]\n";
  };
  const std::string rough = "mu = 'f', slip = \"y'\"";
  const std::vector<Zero> zeros = {
      {"oblique pendulum", built_in_oblique, "mu", {0, 0, 0.6, 0}, 40},
      {"typed oblique pendulum", oblique, "mu", {0, 0, 0.6, 0}, 40},
      {"oblique pendulum, at rest", built_in_oblique, "mu", {0, 0, 0.6, 0}, 11},
      {"typed oblique pendulum, at rest", oblique, "mu", {0, 0, 0.6, 0}, 11},
      {"duffing ground", duffing(ground), "f", still, 20},
      {"duffing ground, wall", duffing(wall + ground), "f", still, 20},
      {"duffing doubled", duffing(wall + doubled), "f", still, 20},
      {"duffing static", duffing(wall + statically), "f", still, 20},
      {"duffing between", duffing(wall + between), "f", still, 20},
      {"duffing preload", duffing(soft("preload = 'f'")), "f", still, 20},
      {"duffing preload damping", duffing(soft("preload = 'f', damping = 0.5")), "f", still, 20},
      {"duffing soft damping", duffing(soft("damping = 'f'")), "f", still, 20},
      {"duffing soft by gap", duffing(soft("damping = 'f', release = 'gap'")), "f", still, 20},
      {"duffing soft mu", duffing(soft(rough)), "f", still, 20},
      {"linear ground", linear(ground), "f", still, 20},
      {"linear ground, wall", linear(wall + ground), "f", still, 20},
      {"linear doubled", linear(wall + doubled), "f", still, 20},
      {"linear static", linear(wall + statically), "f", still, 20},
      {"linear between", linear(wall + between), "f", still, 20},
      {"linear preload", linear(soft("preload = 'f'")), "f", still, 20},
      {"linear preload damping", linear(soft("preload = 'f', damping = 0.5")), "f", still, 20},
      {"linear soft damping", linear(soft("damping = 'f'")), "f", still, 20},
      {"linear soft by gap", linear(soft("damping = 'f', release = 'gap'")), "f", still, 20},
      {"linear soft mu", linear(soft(rough)), "f", still, 20},
      {"linear soft doubled mu", linear(soft("mu = '2*f', slip = \"y'\"")), "f", still, 20},
      {"linear stops, doubled", stops, "f", {0.1, 0}, 20},
      {"mass in the plane", plane("r = 0.5\n"), "friction", {0, 0, 0.1, 0.2}, 12},
      {"mass in the plane, on a wall", plane("r = 0\nx_left = -0.1\n"), "friction", {0, 0, 0, 0}, 6},
      {"mass in the plane, in steps",
       plane("x_left = -inf\nx_right = inf\nstep = 0.01\n"),
       "friction",
       {0, 0, 0.1, 0.2},
       12},
  };
  for (const Zero& zero : zeros) {
    CAPTURE(zero.what);
    const auto model = make_model(zero.model);
    const std::size_t p = place_of(*model, zero.parameter);
    const double h = 2e-6;
    const Eigen::VectorXd x0 = moved(*model, p, 0, zero), x1 = moved(*model, p, h, zero),
                          x2 = moved(*model, p, 2 * h, zero);
    const Eigen::VectorXd expected = (4 * x1 - x2 - 3 * x0) / (2 * h);
    REQUIRE(expected.norm() > 1e-3);
    const double size = 1 + expected.cwiseAbs().maxCoeff();
    CHECK((derivative(*model, p, zero) - expected).cwiseAbs().maxCoeff() < 1e-7 * size);
    CHECK((derivative_in_parts(*model, p, zero) - expected).cwiseAbs().maxCoeff() < 1e-7 * size);
  }
}

/// That of a motion whose greatest part is known: by mu of the oblique pendulum, of impacts alone.
TEST_CASE("zero amplitudes: by the mu of a typed pendulum", "[equations]") {
  const auto model = make_model(oblique);
  const Zero zero{"", oblique, "mu", {0, 0, 0.6, 0}, 40};
  const auto built_in = make_model(built_in_oblique);
  const Eigen::VectorXd typed = derivative(*model, place_of(*model, "mu"), zero);
  const Eigen::VectorXd own = derivative(*built_in, place_of(*built_in, "mu"), zero);
  CHECK((typed - own).cwiseAbs().maxCoeff() < 1e-10);
  CHECK(typed.cwiseAbs().maxCoeff() == Approx(0.212944).epsilon(1e-5));
}

/// A body of mass 1 under a constant force, held at rest by up to 0.5, free when it slides.
TEST_CASE("zero amplitudes: what slides without friction may yet stick", "[equations]") {
  const std::string ground = "friction = [{ slip = \"x'\", amplitude = 0, static = 0.5 }]\n",
                    contact =
                        "contact = [{ gap = 'y', restitution = 0, mu = 0, static = 0.5, slip = \"x'\" }]\n";
  const std::string body =
      "name = 'equations'\nparameters = { F = 0.4 }\ncoordinates = ['x', 'y']\n"
      "force = { x = 'F', y = -1 }\nfastest_rate = 1\n";
  for (const std::string& friction : {ground, contact}) {
    CAPTURE(friction);
    const auto model = make_model(body + friction);
    const Zero rest{"", body, "F", {0, 0, 0, 0}, 2};
    CHECK(moved(*model, 0, 0.4, rest)(0) == 0);
    CHECK(moved(*model, 0, 0.6, rest)(0) == Approx(1.2).epsilon(1e-14));
  }
}
