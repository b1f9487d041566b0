/// Two rods that knock against each other: the published run, an independent integration, energy, contact
/// points that leave the rod.
#include <catch2/catch.hpp>

#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <numbers>

#include "analysis/maps/attractor.hpp"
#include "tests/ode.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

using std::numbers::pi;
const std::vector<double> published_start = {-pi / 2, 0, 0, 0};

struct Collision {
  double time;
  int contact;
  std::vector<double> before;
};

std::vector<Collision> collisions(const std::string& settings, const std::vector<double>& start, double time,
                                  const Tolerance& tolerance = {}) {
  const auto system = make_system("name = 'two_pendulums'\n" + settings, tolerance);
  HybridState state = state_at(start);
  Log log;
  REQUIRE(system->advance(state, for_time(time), &log) == Outcome::ok);
  std::vector<Collision> list;
  for (const auto& e : log.of(EventKind::impact)) {
    list.push_back({e.time, e.contact, e.before});
  }
  return list;
}

/// The same rods by a second method: a Runge-Kutta-Fehlberg 7(8) integration in small pieces, brackets by the
/// sign of the gaps, impacts by the impulse-momentum balance about the hinges.
std::vector<Collision> integrated(double l1, double l2, double d, double m1, double m2, double g, double e,
                                  std::vector<double> y, std::size_t count) {
  using Y = std::vector<double>;
  const auto rates = [=](const Y& x, Y& r, double) {
    r = {x[2], x[3], -1.5 * g / l1 * std::sin(x[0]), -1.5 * g / l2 * std::sin(x[1])};
  };
  const auto gap = [=](int i, const Y& x) {
    return i == 0 ? d * std::cos(x[1]) - l1 * std::sin(x[0] - x[1])
                  : d * std::cos(x[0]) - l2 * std::sin(x[0] - x[1]);
  };
  const auto foot = [=](int i, const Y& x) {
    const double at = i == 0 ? l1 * std::cos(x[0] - x[1]) - d * std::sin(x[1])
                             : l2 * std::cos(x[0] - x[1]) + d * std::sin(x[0]);
    return at > 0 && at <= (i == 0 ? l2 : l1);
  };
  const auto to = [&](const Y& x, double h) { return test::integrated(rates, x, 0, h, h, 1e-15); };
  std::vector<Collision> list;
  double t = 0;
  const double piece = 0.002;
  while (list.size() < count) {
    const Y next = to(y, piece);
    int hit = -1;
    double when = piece;
    for (int i = 0; i < 2; ++i) {
      if (!(gap(i, y) > 0) || gap(i, next) > 0) continue;
      std::uintmax_t steps = 100;
      const auto bracket =
          boost::math::tools::toms748_solve([&](double h) { return gap(i, h > 0 ? to(y, h) : y); }, 0.0, when,
                                            boost::math::tools::eps_tolerance<double>(52), steps);
      if (bracket.second < when && foot(i, to(y, bracket.second))) {
        hit = i;
        when = bracket.second;
      }
    }
    y = hit < 0 ? next : to(y, when);
    t += when;
    if (hit < 0) continue;
    list.push_back({t, hit, y});
    // The contact force stands on the rod that is hit, at its foot; the other rod feels it at its end.
    const double s = y[0] - y[1];
    const double J1 = m1 * l1 * l1 / 3, J2 = m2 * l2 * l2 / 3;
    const double a1 = hit == 0 ? -l1 * std::cos(s) : -(l2 * std::cos(s) + d * std::sin(y[0]));
    const double a2 = hit == 0 ? l1 * std::cos(s) - d * std::sin(y[1]) : l2 * std::cos(s);
    const double w = a1 * y[2] + a2 * y[3];
    const double impulse = -(1 + e) * w / (a1 * a1 / J1 + a2 * a2 / J2);
    y[2] += a1 / J1 * impulse;
    y[3] += a2 / J2 * impulse;
    y = to(y, 1e-9);  // off the contact
    t += 1e-9;
  }
  return list;
}

double energy(const std::vector<double>& x, double l1, double l2, double m1, double m2, double g) {
  return m1 * l1 * l1 / 6 * x[2] * x[2] + m2 * l2 * l2 / 6 * x[3] * x[3] - m1 * g * l1 / 2 * std::cos(x[0]) -
         m2 * g * l2 / 2 * std::cos(x[1]);
}

}  // namespace

TEST_CASE("two_pendulums: the published collisions") {
  const auto list = collisions("", published_start, 3);
  REQUIRE(list.size() >= 3);
  const auto foot = [](const Collision& c) {
    const double s = c.before[0] - c.before[1];
    return c.contact == 0 ? std::cos(s) - 0.5 * std::sin(c.before[1])
                          : 1.1 * std::cos(s) + 0.5 * std::sin(c.before[0]);
  };
  const double expected[3][4] = {{0, 0.5235987755983, 0, 0.8660254037844},
                                 {1, -0.1547021649524, -0.6204790138282, 0.9057773191095},
                                 {0, 0.7604942029665, 0.2555451927236, 0.7488126754584}};
  for (std::size_t k = 0; k < 3; ++k) {
    CAPTURE(k);
    CHECK(list[k].contact == static_cast<int>(expected[k][0]));
    CHECK(list[k].before[0] == Approx(expected[k][1]).margin(1e-12));
    CHECK(list[k].before[1] == Approx(expected[k][2]).margin(1e-12));
    CHECK(foot(list[k]) == Approx(expected[k][3]).margin(1e-12));
  }
}

TEST_CASE("two_pendulums: twenty collisions agree between two tolerances and two integrators") {
  const auto exact = collisions("", published_start, 24);
  Tolerance loose;
  loose.integration = 1e-13;
  const auto looser = collisions("", published_start, 24, loose);
  const auto second = integrated(1, 1.1, 0.5, 3, 3, 9.81, 1, {-pi / 2, 0, 0, 0}, 20);
  REQUIRE(exact.size() >= 20);
  REQUIRE(looser.size() >= 20);
  for (std::size_t k = 0; k < 20; ++k) {
    CAPTURE(k);
    CHECK(looser[k].contact == exact[k].contact);
    CHECK(second[k].contact == exact[k].contact);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(looser[k].before[i] == Approx(exact[k].before[i]).margin(1e-11));
      CHECK(second[k].before[i] == Approx(exact[k].before[i]).margin(1e-11));
    }
  }
}

TEST_CASE(
    "two_pendulums: the angles at collisions do not depend on gravity, elastic impacts keep the energy") {
  const auto earth = collisions("", published_start, 16);
  const auto moon = collisions("gravity = 1.62", published_start, 16);
  REQUIRE(moon.size() >= 4);
  const double start = energy({-pi / 2, 0, 0, 0}, 1, 1.1, 3, 3, 9.81);
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t i = 0; i < 2; ++i) CHECK(moon[k].before[i] == Approx(earth[k].before[i]).margin(1e-12));
  }
  for (const Collision& c : earth)
    CHECK(energy(c.before, 1, 1.1, 3, 3, 9.81) == Approx(start).epsilon(1e-12));
}

TEST_CASE(
    "two_pendulums: plastic impacts end in sustained contact, its force is that of the constrained motion") {
  // e = 0: the end of rod 1 stays on rod 2; the gap stays zero until the force falls to zero.
  const auto system = make_system(
      "name = 'two_pendulums'\ne = 0\ntorque1 = 12\nfrequency = 1\ndamping1 = 0.5\ndamping2 = 0.5");
  HybridState state = state_at({0.2, 0, 0, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(20), &log) == Outcome::ok);
  const auto sticks = log.of(EventKind::stick), releases = log.of(EventKind::release);
  REQUIRE(sticks.size() > 0);
  REQUIRE(releases.size() > 0);
  const auto& release = releases[0];
  HybridState at = state_at({release.before[0], release.before[1], release.before[2], release.before[3]});
  Eigen::VectorXd gap, rate;
  system->gaps(at, gap, rate);
  CHECK(std::abs(gap(release.contact)) < 1e-13);
  CHECK(std::abs(rate(release.contact)) < 1e-12);
}

TEST_CASE("two_pendulums: ends that part at their very ends pass by each other") {
  // The end of rod 1 slides along rod 2 to its end, where both gaps are zero; pressed on, it goes to the
  // other side.
  const auto system = make_system(
      "name = 'two_pendulums'\ne = 0\ntorque1 = 20\nfrequency = 1\ndamping1 = 0.5\ndamping2 = 0.5");
  HybridState state = state_at({0.2, 0, 0, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(60), &log) == Outcome::ok);
  int at_the_end = 0;
  for (const auto& e : log.of(EventKind::release)) {
    HybridState at = state_at(e.before);
    Eigen::VectorXd gap, rate;
    system->gaps(at, gap, rate);
    if (gap.cwiseAbs().maxCoeff() < 1e-12) ++at_the_end;
  }
  CHECK(at_the_end > 0);
}

TEST_CASE("two_pendulums: an end without a foot passes by and is met again from behind") {
  // Rods too short to reach each other's side while hanging: nothing ever touches.
  const auto far = make_system("name = 'two_pendulums'\nd = 3");
  HybridState state = state_at({1.2, -1.2, 0, 0});
  Log log;
  REQUIRE(far->advance(state, for_time(20), &log) == Outcome::ok);
  CHECK(log.of(EventKind::impact).empty());
  // A long rod 1 swings over the end of a short rod 2: its end never has a foot there.
  const auto over = make_system("name = 'two_pendulums'\nl1 = 2\nl2 = 0.5\nd = 0.6\ntorque1 = 0");
  HybridState swung = state_at({-0.1, 0, 0, 0});
  Log touched;
  REQUIRE(over->advance(swung, for_time(5), &touched) == Outcome::ok);
  for (const auto& e : touched.of(EventKind::impact)) CHECK(e.contact == 1);  // only the short rod's end
}

TEST_CASE("two_pendulums: a pendulum that goes round and round is periodic") {
  const auto system = make_system(
      "name = 'two_pendulums'\nd = 3\ngravity = 1\ndamping1 = 0.1\ndamping2 = 0.1\ntorque1 = 2\nfrequency = "
      "2");
  const PoincareMap map(*system, Section{});
  const Attractor found = find_attractor(map, state_at({1.5, 0, 2, 0}), {});
  REQUIRE(found.kind == AttractorClass::periodic);
  CHECK(found.orbit.period == 1);
  HybridState state = found.orbit.start;
  REQUIRE(map.iterate(state) == Outcome::ok);
  CHECK(state.x(0) - found.orbit.start.x(0) == Approx(2 * pi).margin(1e-9));
}
