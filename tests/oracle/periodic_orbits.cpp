/// Periodic orbits over their events, and their multipliers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "analysis/continuation/solution.hpp"
#include "analysis/maps/attractor.hpp"
#include "analysis/maps/multipliers.hpp"
#include "core/math/dense.hpp"
#include "tests/dice.hpp"
#include "tests/family.hpp"

using namespace graze;
using namespace graze::test;

namespace {

struct Solved {
  Record record;
  Closing closing;
  Orbit orbit;
};

/// The attractor from rest, solved again over its events.
Solved solved(const Family& f, std::vector<std::size_t> nodes = {}) {
  Solved s;
  const double parameter = f.values[static_cast<std::size_t>(f.parameter)];
  const auto system = f.system(parameter);
  const std::vector<double> rest(f.model->states().size(), 0.0);
  const Attractor a = find_attractor(PoincareMap(*system, Section{}), state_at(rest), {});
  REQUIRE(a.kind == AttractorClass::periodic);
  s.orbit = a.orbit;
  s.record = record_turn(*system, a.orbit.start.x, a.orbit.period);
  const Shooting shooting(f, s.record.itinerary, {}, std::move(nodes));
  const auto u = shooting.unknowns(a.orbit.start.x, s.record.durations, parameter);
  REQUIRE(u);
  s.closing = solve_fixed(shooting, *u);
  return s;
}

/// Solved over its events it is the orbit of the map, with its multipliers.
void check_as_the_map_has_it(const Family& f, const Solved& s) {
  REQUIRE(s.closing.ok);
  const double turn = s.record.times.back();  // slow impacts of chatter feel its rounding most
  CHECK(s.closing.residual < 1e-13 * turn);
  CHECK((s.closing.u.head(4) - s.orbit.start.x).cwiseAbs().maxCoeff() < 1e-11);
  const auto multipliers = orbit_multipliers(Shooting(f, s.record.itinerary, {}), s.closing.u);
  REQUIRE(multipliers.size() == 4);
  for (std::size_t k = 0; k < 4; ++k)
    CHECK(std::abs(std::abs(multipliers[k]) - std::abs(s.orbit.multipliers[k])) < 1e-9);
}

}  // namespace

TEST_CASE("an orbit solved over its events is the orbit of the map, with its multipliers") {
  for (const char* parameters :
       {"delta = 0.8", "delta = 0.16", "delta = 0.25\nd1 = -0.3\nd2 = 0.1",
        "delta = 0.257\nd1 = -0.3\nd2 = 0.1", "delta = 0.16\nA1 = 0.4\nA2 = 0.1", "delta = 1.43"}) {
    INFO(parameters);
    const Family f = family(std::string("name = 'two_dof_stops'\n") + parameters, "delta");
    check_as_the_map_has_it(f, solved(f));
  }
}

// Coupled by inertia, M = (1 m; m 1.5): for m < 0 an impact of mass 2 pulls mass 1 off its stop, for m > 0 it
// presses it on, and the constant force then holds it there for ever.
TEST_CASE("multipliers through 34 impacts, down to speeds of 1e-10, are those of the map's derivative") {
  const Family f = family(
      "name = 'linear_stops'\nmass = [[0.978, 0, 0], [0, 2.149, 0], [0, 0, 0.516]]\n"
      "damping = [[0.647, -0.405, 0], [-0.405, 1.472, -1.067], [0, -1.067, 1.239]]\n"
      "stiffness = [[1.712, -1.071, 0], [-1.071, 3.896, -2.825], [0, -2.825, 3.279]]\n"
      "force = [{ order = 1, cosine = [-0.506, -0.232, 0.718] },\n"
      "  { order = 2, cosine = [0.296, -0.263, -0.048], sine = [0.285, 0.173, 0.227] }]\n"
      "stop = [{ normal = [-1, 1, 0], position = 0.301, restitution = 0.898 },\n"
      "  { normal = [0, -1, 0], position = 0.136, restitution = 0.66 },\n"
      "  { normal = [0, -1, 0], position = 0.445, restitution = 0.74 }]\n",
      "omega");
  constexpr int periods = 3;
  NearOrbit near{1.1718946110839636, Eigen::VectorXd(6), periods};
  near.state << 0.058131920819179, 0.337259912173880, 0.287087317972013, -0.213318540932926,
      0.446783468164838, 0.233404979854577;
  const auto orbit = find_orbit(f, near);
  REQUIRE(orbit);
  CHECK(orbit->point.impacts[1] == 34);
  const auto system = f.system(near.parameter);
  HybridState state;
  state.x = orbit->point.orbit.front();
  Eigen::MatrixXd jacobian = Eigen::MatrixXd::Identity(6, 6);
  for (int k = 0; k < periods; ++k) REQUIRE(PoincareMap(*system, {}).iterate(state, jacobian) == Outcome::ok);
  const auto expected = eigenvalues(jacobian);
  for (std::size_t k = 0; k < expected.size(); ++k)
    CHECK(std::abs(orbit->point.multipliers[k] - expected[k]) < 1e-9);
}

TEST_CASE("an orbit is solved over impacts that find another contact closed, freed by them or held") {
  const auto coupled = [](double m, double constant, double omega) {
    return "name = 'linear_stops'\nmass = [[1, " + fmt_double(m) + "], [" + fmt_double(m) +
           ", 1.5]]\nstiffness = [[2, 0], [0, 3]]\ndamping = [[0.2, 0], [0, 0.2]]\nconstant = [" +
           fmt_double(constant) + ", 0]\nomega = " + fmt_double(omega) +
           "\nforce = [{ cosine = [0, 2] }]\nstop = [{ normal = [1, 0], position = 0, restitution = 0.5 }, "
           "{ normal = [0, 1], position = 0.1, restitution = 0.6 }]";
  };
  for (const double m : {-0.3, 0.3}) {
    for (const double omega : {1.2, 1.6, 2.0}) {
      INFO("m " << m << ", omega " << omega);
      const Family f = family(coupled(m, 0.8, omega), "omega");
      const Solved s = solved(f);
      int hits = 0, freed = 0;
      const std::vector<Step>& steps = s.record.itinerary.steps;
      for (std::size_t k = 0; k < steps.size(); ++k) {
        if (steps[k].end != EventKind::impact || steps[k].contact != 1 || steps[k].mode != 1) continue;
        ++hits;
        if (steps[k + 1].end == EventKind::release && steps[k + 1].instant) ++freed;
      }
      CHECK(hits > 0);
      CHECK(freed == (m < 0 ? hits : 0));
      check_as_the_map_has_it(f, s);
    }
  }
}

// With masses 1 and 2 at rest on their stops, mass 3 obeys 2 x'' + 0.2 x' + 3 x = 2 cos ωt + 0.3 + 0.4,
// whatever its coupling to the others by inertia and damping.
TEST_CASE("masses that rest on their stops for ever leave the multipliers of the rest and add zeros") {
  const Family three = family(
      "name = 'linear_stops'\nmass = [[1, 0.3, 0.2], [0.3, 1.5, 0.4], [0.2, 0.4, 2]]\n"
      "stiffness = [[4, 0, -1], [0, 5, -2], [-1, -2, 3]]\n"
      "damping = [[0.3, 0, -0.1], [0, 0.3, -0.05], [-0.1, -0.05, 0.2]]\nconstant = [20, 30, 0]\nomega = 1.3\n"
      "force = [{ cosine = [0, 0, 2] }]\nstop = [{ normal = [1, 0, 0], position = 0.3 }, "
      "{ normal = [0, 1, 0], position = 0.2 }, { normal = [0, 0, 1], position = 0.5, restitution = 0.6 }]",
      "omega");
  const Family one = family(
      "name = 'linear_stops'\nmass = [[2]]\nstiffness = [[3]]\ndamping = [[0.2]]\nconstant = [0.7]\n"
      "omega = 1.3\nforce = [{ cosine = [2] }]\nstop = [{ normal = [1], position = 0.5, restitution = 0.6 }]",
      "omega");
  const Solved held = solved(three);
  const Solved alone = solved(one);
  REQUIRE(held.closing.ok);
  REQUIRE(alone.closing.ok);
  CHECK(held.closing.u(4) == Approx(alone.closing.u(0)).margin(1e-12).epsilon(0));
  CHECK(held.closing.u(5) == Approx(alone.closing.u(1)).margin(1e-12).epsilon(0));
  const auto over_events = orbit_multipliers(Shooting(three, held.record.itinerary, {}), held.closing.u);
  for (const auto& multipliers : {over_events, held.orbit.multipliers}) {
    REQUIRE(multipliers.size() == 6);
    for (std::size_t k = 0; k < 6; ++k) {
      const double expected = k < 2 ? std::abs(alone.orbit.multipliers[k]) : 0;
      CHECK(std::abs(multipliers[k]) == Approx(expected).margin(1e-10).epsilon(0));
    }
  }
}

TEST_CASE("the signature of an orbit is that of all places to begin that comes first in order") {
  Dice dice(3);
  for (int trial = 0; trial < 2000; ++trial) {
    Record record;
    const int events = 1 + static_cast<int>(dice.number(0, 9));
    const int contacts = 1 + static_cast<int>(dice.number(0, 3));
    for (int k = 0; k <= events; ++k) {
      Step step;
      step.end = k < events ? EventKind::release : EventKind::section;
      step.contact = static_cast<int>(dice.number(0, contacts));
      record.itinerary.steps.push_back(step);
      record.speeds.push_back(0);
      record.times.push_back(k + 1);
    }
    const auto signature = signature_of(record).events;
    REQUIRE(signature.size() == static_cast<std::size_t>(events));
    auto turned = signature;
    for (int k = 0; k < events; ++k) {
      std::rotate(turned.begin(), turned.begin() + 1, turned.end());
      CHECK(signature <= turned);
    }
  }
}

TEST_CASE("where impacts accumulate no orbit closes: an iterate of the impact map takes no time there") {
  const auto system = make_system(
      "name = 'equations'\nparameters = { omega = 0.4918 }\ncoordinates = ['x']\nperiod = '2*pi/omega'\n"
      "force = { x = \"1.283*cos(omega*t) - 0.941*x - 0.196*x' - 0.001*x^3\" }\n"
      "contact = [{ gap = '0.213 - x', restitution = 0.592 }]\n"
      "friction = [{ slip = \"x'\", amplitude = 0.067 }]");
  Section section;
  section.kind = Section::Kind::impact_before;
  section.contact = 0;
  const PoincareMap map(*system, section);
  // Pressed for the first 0.15 periods: impacts at small speeds follow each other up to rest.
  for (double phase = 0.01; phase < 0.13; phase += 0.01) {
    for (const double speed : {1e-17, 1e-14, 1e-8, 1e-6}) {
      CAPTURE(phase, speed);
      HybridState guess = state_at({0.213, speed});
      guess.time = phase * system->period();
      const Orbit orbit = refine_orbit(map, guess, 1);
      CHECK_FALSE((orbit.closed && map.distance(orbit.start, guess, 1) < 1e-3));
      HybridState back = guess;
      back.x(1) = -speed;
      CHECK_FALSE(refine_orbit(map, back, 1).closed);
    }
  }
}

// Factors S_{k+1} D S_k^{-1} with ill-conditioned S and D^40 of a pair, two real values and one of 1e-17,
// which is lost in what rounding leaves of the others.
TEST_CASE("multipliers of a product are those that it was made of, with one that rounding loses") {
  constexpr int count = 40;
  constexpr double angle = 0.3;
  Dice dice(5);
  Eigen::MatrixXd once = Eigen::MatrixXd::Zero(5, 5);
  const auto root = [](double value) { return std::pow(value, 1.0 / count); };
  once.topLeftCorner(2, 2) << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  once.topLeftCorner(2, 2) *= root(1.6);
  for (const auto& [k, value] : {std::pair(2, 0.44), std::pair(3, 0.38), std::pair(4, 1e-17)})
    once(k, k) = root(value);
  std::vector<Eigen::MatrixXd> bases;
  for (int k = 0; k < count; ++k) {
    Eigen::MatrixXd basis(5, 5);
    for (double& entry : basis.reshaped()) entry = dice.number(-1, 1);
    bases.push_back(basis.col(0).cwiseAbs().asDiagonal() * basis);
  }
  std::vector<Eigen::MatrixXd> factors;
  const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(5, 5);
  for (std::size_t k = 0; k < bases.size(); ++k)
    factors.push_back(bases[(k + 1) % bases.size()] * once * linear_solve(bases[k], unit));
  const auto found = product_eigenvalues(factors);
  REQUIRE(found.size() == 5);
  constexpr double close = 1e-9;
  CHECK(std::abs(found[0] - std::polar(1.6, count * angle)) *
            std::abs(found[1] - std::polar(1.6, count * angle)) <
        close);
  CHECK(std::abs(found[0] - std::conj(found[1])) < close);
  CHECK(std::abs(found[2] - 0.44) < close);
  CHECK(std::abs(found[3] - 0.38) < close);
  CHECK(std::abs(found[4]) < close);
}
