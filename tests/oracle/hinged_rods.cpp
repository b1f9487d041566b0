/// Rods joined by hinges: the same motion as in minimal coordinates, joints that hold, the rules of contact.
#include <catch2/catch.hpp>

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/math/dense.hpp"
#include "tests/legs.hpp"
#include "tests/ode.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

using std::numbers::pi;

std::string rod(double length, double mass, double angle, const std::string& more = "") {
  return "[[model.rod]]\nlength = " + fmt_double(length) + "\nmass = " + fmt_double(mass) +
         "\nangle = " + fmt_double(angle) + "\n" + more + "\n";
}
std::string joint(int number, const std::string& more = "") {
  return "[[model.joint]]\nrod = " + std::to_string(number) + "\n" + more + "\n";
}
std::string knocking(const std::string& settings = "", double phi = -pi / 2, double theta = 0) {
  return "name = 'hinged_rods'\n" + settings + "\n" + rod(1, 3, phi) + rod(1.1, 3, theta) + joint(1) +
         joint(2, "x = 0.5");
}

struct Moved {
  HybridState state;
  Log log;
  Outcome outcome;
};

Moved move(const std::string& toml, double time, std::vector<double> start = {}) {
  const auto model = make_model(toml);
  if (start.empty()) start = model->start(model->values());
  Moved m{state_at(start), {}, Outcome::ok};
  m.outcome = model->system(model->values(), {})->advance(m.state, for_time(time), &m.log);
  return m;
}

/// Kinetic and potential energy of rods of these lengths and masses.
double energy(const Eigen::VectorXd& x, const std::vector<std::array<double, 2>>& rods, double g) {
  double sum = 0;
  const Eigen::Index n = static_cast<Eigen::Index>(rods.size());
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto [l, m] = rods[static_cast<std::size_t>(i)];
    const auto v = x.segment<3>(3 * (n + i));
    sum += m / 2 * (v(0) * v(0) + v(1) * v(1)) + m * l * l / 24 * v(2) * v(2) + m * g * x(3 * i + 1);
  }
  return sum;
}

/// Three free rods in a row along x, upright, without gravity; rod i at x_i with velocity u_i.
std::vector<double> row(const std::vector<std::array<double, 3>>& rods) {
  const std::size_t n = rods.size();
  std::vector<double> state(6 * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    state[3 * i] = rods[i][0];
    state[3 * i + 1] = rods[i][1];
    state[3 * (n + i)] = rods[i][2];
  }
  return state;
}

}  // namespace

TEST_CASE("hinged_rods: twenty collisions as in minimal coordinates") {
  const auto minimal = make_system("name = 'two_pendulums'");
  HybridState reference = state_at({-pi / 2, 0, 0, 0});
  Log expected;
  REQUIRE(minimal->advance(reference, for_time(22), &expected) == Outcome::ok);
  const Moved rods = move(knocking(), 22);
  REQUIRE(rods.outcome == Outcome::ok);
  const auto a = expected.of(EventKind::impact), b = rods.log.of(EventKind::impact);
  REQUIRE(a.size() >= 20);
  REQUIRE(b.size() == a.size());
  for (std::size_t k = 0; k < 20; ++k) {
    CAPTURE(k);
    CHECK(b[k].contact == a[k].contact);
    CHECK(b[k].time == Approx(a[k].time).margin(1e-11));
    for (const bool after : {false, true}) {
      const auto& p = after ? a[k].after : a[k].before;
      const auto& q = after ? b[k].after : b[k].before;
      CHECK(q[2] == Approx(p[0]).margin(1e-11));
      CHECK(q[5] == Approx(p[1]).margin(1e-11));
      CHECK(q[8] == Approx(p[2]).margin(1e-11));
      CHECK(q[11] == Approx(p[3]).margin(1e-11));
    }
    // Place of the foot on the rod that is hit.
    const auto& p = a[k].before;
    const auto& q = b[k].before;
    const int own = a[k].contact == 0 ? 0 : 1;
    const double l = own == 0 ? 1 : 1.1, other = own == 0 ? 1.1 : 1;
    const double x =
        q[3 * static_cast<std::size_t>(own)] + l / 2 * std::sin(p[static_cast<std::size_t>(own)]);
    const double y =
        q[3 * static_cast<std::size_t>(own) + 1] - l / 2 * std::cos(p[static_cast<std::size_t>(own)]);
    const std::size_t o = static_cast<std::size_t>(1 - own);
    const double foot = (x - q[3 * o]) * std::sin(p[o]) - (y - q[3 * o + 1]) * std::cos(p[o]) + other / 2;
    const double expected_foot = own == 0 ? std::cos(p[0] - p[1]) - 0.5 * std::sin(p[1])
                                          : 1.1 * std::cos(p[0] - p[1]) + 0.5 * std::sin(p[0]);
    CHECK(foot == Approx(expected_foot).margin(1e-11));
  }
}

TEST_CASE("hinged_rods: canonical momenta give the same motion") {
  // p = M v + D^T s, [M D^T; D 0] [v; s] = [p; -a Phi], q' = v, p' = G + D'^T s; at an impact p gains psi P.
  using Six = Eigen::Matrix<double, 6, 1>;
  using Twelve = std::vector<double>;
  struct Rods {
    double l[2] = {1, 1.1}, hinge[2] = {0, 0.5}, m = 3, g = 9.81, a = 4;

    /// v, then s.
    Eigen::Matrix<double, 10, 1> velocities(const Six& q, const Six& p) const {
      Eigen::Matrix<double, 10, 10> A = Eigen::Matrix<double, 10, 10>::Zero();
      Eigen::Matrix<double, 10, 1> b;
      b.head<6>() = p;
      for (int i = 0; i < 2; ++i) {
        const double arm = -l[i] / 2, s = std::sin(q(3 * i + 2)), c = std::cos(q(3 * i + 2));
        A.block<3, 3>(3 * i, 3 * i) = Eigen::Vector3d(m, m, m * l[i] * l[i] / 12).asDiagonal();
        A.block<2, 3>(6 + 2 * i, 3 * i) << 1, 0, arm * c, 0, 1, arm * s;
        A.block<3, 2>(3 * i, 6 + 2 * i) = A.block<2, 3>(6 + 2 * i, 3 * i).transpose();
        b(6 + 2 * i) = -a * (q(3 * i) + arm * s - hinge[i]);
        b(7 + 2 * i) = -a * (q(3 * i + 1) - arm * c);
      }
      return linear_solve(Eigen::MatrixXd(A), Eigen::VectorXd(b));
    }
    void operator()(const Twelve& y, Twelve& rate, double) const {
      const Eigen::Map<const Six> q(y.data()), p(y.data() + 6);
      const auto both = velocities(q, p);
      for (std::size_t k = 0; k < 6; ++k) rate[k] = both(static_cast<Eigen::Index>(k));
      for (std::size_t i = 0; i < 2; ++i) {
        const Eigen::Index j = static_cast<Eigen::Index>(i);
        const double arm = -l[i] / 2, phi = q(3 * j + 2), spin = both(3 * j + 2);
        rate[6 + 3 * i] = 0;
        rate[7 + 3 * i] = -m * g;
        rate[8 + 3 * i] = arm * spin * (std::cos(phi) * both(7 + 2 * j) - std::sin(phi) * both(6 + 2 * j));
      }
    }
    /// Gradient of the gap of the foot of one rod over the other one.
    Six normal(const Six& q, int own) const {
      const int p = 3 * own, o = 3 - p;
      const double s = std::sin(q(o + 2)), c = std::cos(q(o + 2)), half = l[own] / 2;
      const double rx = q(p) - q(o) + half * std::sin(q(p + 2)),
                   ry = q(p + 1) - q(o + 1) - half * std::cos(q(p + 2));
      Six n;
      n.segment<3>(p) << c, s, half * std::cos(q(p + 2) - q(o + 2));
      n.segment<3>(o) << -c, -s, -(rx * s - ry * c);
      return n;
    }
  } rods;

  const Moved moved = move(knocking("e = 0.9"), 9);
  REQUIRE(moved.outcome == Outcome::ok);
  const auto impacts = moved.log.of(EventKind::impact);
  REQUIRE(impacts.size() >= 6);
  const auto model = make_model(knocking());
  const std::vector<double> start = model->start(model->values());
  Twelve y(12);
  std::copy_n(start.begin(), 6, y.begin());
  Eigen::Map<Six> q(y.data()), p(y.data() + 6);
  double time = 0;
  for (const auto& impact : impacts) {
    const int steps = static_cast<int>(std::ceil((impact.time - time) / 4e-3));
    const Twelve there = integrated_evenly(rods, y, time, impact.time, steps);
    std::copy(there.begin(), there.end(), y.begin());
    time = impact.time;
    const auto agrees = [&](const std::vector<double>& state) {
      const auto both = rods.velocities(q, p);
      for (Eigen::Index k = 0; k < 6; ++k) {
        const std::size_t i = static_cast<std::size_t>(k);
        CHECK(q(k) == Approx(state[i]).margin(1e-10));
        CHECK(both(k) == Approx(state[6 + i]).margin(1e-9));
      }
    };
    agrees(impact.before);
    const Six normal = rods.normal(q, impact.contact);
    const double before = normal.dot(rods.velocities(q, p).head<6>());
    const Six still = Six::Zero();
    const double gained =
        normal.dot(rods.velocities(q, normal).head<6>() - rods.velocities(q, still).head<6>());
    p -= 1.9 * before / gained * normal;
    agrees(impact.after);
  }
  // At rest, hanging, these momenta grow for ever.
  Twelve hanging(12), rate(12);
  hanging[1] = -0.5;
  hanging[3] = 0.5;
  hanging[4] = -0.55;
  rods(hanging, rate, 0);
  CHECK(std::abs(rate[1]) < 1e-14);
  CHECK(rate[7] == Approx(-3 * 9.81));
}

TEST_CASE("hinged_rods: plastic and damped impacts as in minimal coordinates") {
  for (const std::string settings : {"e = 0", "e = 0.4"}) {
    CAPTURE(settings);
    const auto minimal = make_system("name = 'two_pendulums'\n" + settings);
    HybridState reference = state_at({-1, 0.2, 0, 0});
    Log expected;
    REQUIRE(minimal->advance(reference, for_time(8), &expected) == Outcome::ok);
    const Moved rods = move(knocking(settings, -1, 0.2), 8);
    REQUIRE(rods.outcome == Outcome::ok);
    REQUIRE(rods.log.entries.size() > 2);
    CHECK(rods.log.of(EventKind::impact).size() == expected.of(EventKind::impact).size());
    CHECK(rods.log.of(EventKind::release).size() == expected.of(EventKind::release).size());
    CHECK(rods.state.x(2) == Approx(reference.x(0)).margin(1e-9));
    CHECK(rods.state.x(5) == Approx(reference.x(1)).margin(1e-9));
  }
}

TEST_CASE("hinged_rods: joints hold and energy stays over a thousand collisions") {
  const Moved rods = move(knocking(), 1120);
  REQUIRE(rods.outcome == Outcome::ok);
  CHECK(rods.log.of(EventKind::impact).size() >= 1000);
  double drift = 0;
  for (const auto& impact : rods.log.of(EventKind::impact)) {
    const auto& x = impact.before;
    drift = std::max({drift, std::hypot(x[0] - 0.5 * std::sin(x[2]), x[1] + 0.5 * std::cos(x[2])),
                      std::hypot(x[3] - 0.5 - 0.55 * std::sin(x[5]), x[4] + 0.55 * std::cos(x[5]))});
  }
  CHECK(drift < 1e-10);
  const auto& x = rods.state.x;
  const std::vector<std::array<double, 2>> both = {{1, 3}, {1.1, 3}};
  const auto model = make_model(knocking());
  const double before = energy(state_at(model->start(model->values())).x, both, 9.81);
  CHECK(energy(x, both, 9.81) == Approx(before).epsilon(1e-10));
}

TEST_CASE("hinged_rods: a double pendulum by a second method") {
  // Lagrange's equations in two angles, integrated by Runge-Kutta-Fehlberg.
  const double l1 = 1, l2 = 0.7, m1 = 1, m2 = 2, g = 9.81;
  using Y = std::vector<double>;
  const auto rates = [=](const Y& y, Y& r, double) {
    const double s = std::sin(y[0] - y[1]), c = std::cos(y[0] - y[1]);
    const double a = (m1 / 3 + m2) * l1 * l1, b = m2 * l1 * l2 / 2, d = m2 * l2 * l2 / 3;
    const double p = -b * s * y[3] * y[3] - (m1 / 2 + m2) * g * l1 * std::sin(y[0]);
    const double q = b * s * y[2] * y[2] - m2 * g * l2 / 2 * std::sin(y[1]);
    const double determinant = a * d - b * b * c * c;
    r = {y[2], y[3], (d * p - b * c * q) / determinant, (a * q - b * c * p) / determinant};
  };
  const Y y = integrated_evenly(rates, {1.5, -0.8, 0, 0}, 0, 3, 3000);
  const Moved rods = move(
      "name = 'hinged_rods'\n" + rod(l1, m1, 1.5) + rod(l2, m2, -0.8) + joint(1) + joint(2, "other = 1"), 3);
  REQUIRE(rods.outcome == Outcome::ok);
  CHECK(rods.state.x(2) == Approx(y[0]).margin(1e-10));
  CHECK(rods.state.x(5) == Approx(y[1]).margin(1e-10));
  CHECK(rods.state.x(8) == Approx(y[2]).margin(1e-10));
}

TEST_CASE("hinged_rods: four rods with joints between them keep energy, joints and angular impulse rule") {
  const std::string four = "name = 'hinged_rods'\ne = 1\n" + rod(1, 1, -1.2) + rod(0.9, 0.8, -1) +
                           rod(1.1, 1.2, 0) + rod(0.8, 0.7, 0) + joint(1) + joint(2, "other = 1") +
                           joint(3, "x = 0.6") + joint(4, "other = 3");
  const auto model = make_model(four);
  CHECK(model->contacts().size() == 4);  // each free foot on the rods that it is not joined to
  const std::vector<std::array<double, 2>> all = {{1, 1}, {0.9, 0.8}, {1.1, 1.2}, {0.8, 0.7}};
  const double before = energy(state_at(model->start(model->values())).x, all, 9.81);
  const Moved rods = move(four, 10);
  REQUIRE(rods.outcome == Outcome::ok);
  CHECK(rods.log.of(EventKind::impact).size() > 3);
  const auto& x = rods.state.x;
  CHECK(energy(x, all, 9.81) == Approx(before).margin(1e-9));
  for (const int i : {0, 2}) {
    const double l = all[static_cast<std::size_t>(i)][0], next = all[static_cast<std::size_t>(i + 1)][0];
    CHECK(std::hypot(x(3 * i) - (i == 0 ? 0 : 0.6) - l / 2 * std::sin(x(3 * i + 2)),
                     x(3 * i + 1) + l / 2 * std::cos(x(3 * i + 2))) < 1e-11);
    CHECK(std::hypot(
              x(3 * i) + l / 2 * std::sin(x(3 * i + 2)) - x(3 * i + 3) + next / 2 * std::sin(x(3 * i + 5)),
              x(3 * i + 1) - l / 2 * std::cos(x(3 * i + 2)) - x(3 * i + 4) -
                  next / 2 * std::cos(x(3 * i + 5))) < 1e-11);
  }
}

TEST_CASE("hinged_rods: end on end is one impact of both ends") {
  // Two upright rods, the foot of the first level with the head of the second. Free rods: impulse P at
  // distance l/2 from both centres, relative speed u, 1/m_eff = 2 (1/m + (l/2)^2/J) = 8/m.
  const std::string pair = "name = 'hinged_rods'\ngravity = 0\ne = 1\n" + rod(1, 1, 0) + rod(1, 1, 0);
  const Moved rods = move(pair, 1, row({{{0, 0.5, 1}, {0.5, -0.5, 0}}}));
  REQUIRE(rods.outcome == Outcome::ok);
  const double P = 2.0 / 8;
  const auto& x = rods.state.x;
  CHECK(x(6) == Approx(1 - P).margin(1e-12));
  CHECK(x(9) == Approx(P).margin(1e-12));
  CHECK(x(8) == Approx(-6 * P).margin(1e-12));  // (l/2) P/J, the impulse at the foot to the left
  CHECK(x(11) == Approx(-6 * P).margin(1e-12));
  const auto impacts = rods.log.of(EventKind::impact);
  REQUIRE(impacts.size() == 2);
  CHECK(impacts[0].time == impacts[1].time);
  CHECK(impacts[0].time == Approx(0.5).margin(1e-14));
}

TEST_CASE("hinged_rods: two pairs at once share one impact") {
  // A rod at rest is hit from both sides by the ends of two level ones.
  const std::string three =
      "name = 'hinged_rods'\ngravity = 0\ne = 0.5\n" + rod(1, 1, 0) + rod(1, 1, pi / 2) + rod(1, 1, pi / 2);
  std::vector<double> start = row({{{0, 0, 0}, {-1, 0, 1}, {1, 0, -1}}});
  start[5] = start[8] = pi / 2;
  const Moved rods = move(three, 1, start);
  REQUIRE(rods.outcome == Outcome::ok);
  const auto impacts = rods.log.of(EventKind::impact);
  REQUIRE(impacts.size() == 2);
  CHECK(impacts[0].time == impacts[1].time);
  CHECK(rods.state.x(9) == Approx(0).margin(1e-14));
  CHECK(rods.state.x(12) == Approx(-0.5).margin(1e-13));
  CHECK(rods.state.x(15) == Approx(0.5).margin(1e-13));
}

TEST_CASE("hinged_rods: a foot that comes to the end of the rod leaves it") {
  // A level rod slides down along an upright one that it was pressed to, and past its end.
  const std::string pair = "name = 'hinged_rods'\ngravity = 0\ne = 0\n" + rod(1, 1, 0) + rod(1, 1, pi / 2);
  std::vector<double> start = row({{{0, 0, 0}, {-0.6, 0.4, 1}}});
  start[5] = pi / 2;
  start[10] = -2;  // sinks
  const Moved rods = move(pair, 2, start);
  REQUIRE(rods.outcome == Outcome::ok);
  REQUIRE(rods.log.of(EventKind::impact).size() >= 1);
  // Beyond the end it may go on to the other side.
  const auto impact = rods.log.of(EventKind::impact)[0];
  CHECK(impact.time == Approx(0.1).margin(1e-12));
  CHECK(rods.state.x(4) < -3);
  // Momentum stays whatever happened.
  CHECK(rods.state.x(6) + rods.state.x(9) == Approx(1).margin(1e-12));
  CHECK(rods.state.x(7) + rods.state.x(10) == Approx(-2).margin(1e-12));
}

TEST_CASE("hinged_rods: an end that passes by is met from behind") {
  // A level rod passes below an upright one, which then comes back at its end from the other side.
  const std::string pair = "name = 'hinged_rods'\ngravity = 0\ne = 1\n" + rod(1, 1, 0) + rod(0.2, 1, 0);
  // The short rod below passes; no contact.
  const Moved below = move(pair, 3, row({{{0, 0, 0}, {-1, -2, 1}}}));
  REQUIRE(below.outcome == Outcome::ok);
  CHECK(below.log.of(EventKind::impact).empty());
  // On the other side from the start it hits all the same.
  const Moved right = move(pair, 3, row({{{0, 0, 0}, {1, 0, -1}}}));
  REQUIRE(right.outcome == Outcome::ok);
  CHECK(right.log.of(EventKind::impact).size() >= 1);
  CHECK(right.state.x(9) > -1);
}

TEST_CASE("hinged_rods: rods that cross are no start") {
  const std::string pair = "name = 'hinged_rods'\n" + rod(1, 1, 0) + rod(1, 1, pi / 2);
  std::vector<double> crossed = row({{{0, 0, 0}, {0, 0, 0}}});
  crossed[5] = pi / 2;
  CHECK(move(pair, 0.1, crossed).outcome == Outcome::bad_start);
}

TEST_CASE("hinged_rods: wrong linkages are told") {
  CHECK_THROWS_AS(make_model("name = 'hinged_rods'\n" + rod(1, 1, 0) + joint(2)), InputError);
  CHECK_THROWS_AS(make_model("name = 'hinged_rods'\n" + rod(1, 1, 0) + joint(1, "other = 1")), InputError);
}

TEST_CASE("hinged_rods: what rests stays at rest while its neighbour chatters and is hit") {
  // Three pendulums that torques press together, the outer ones onto the middle one.
  const auto torque = [](double value) { return "torque = " + fmt_double(value); };
  const std::string leaning = "name = 'hinged_rods'\ngravity = 1\ne = 0.5\n" + rod(1, 1, 0.05, torque(0.5)) +
                              rod(1.2, 1, 0) + rod(1.1, 1.3, -0.08, torque(-0.65)) +
                              joint(1, "damping = 0.3") + joint(2, "x = 0.3\ndamping = 0.3") +
                              joint(3, "x = 0.6\ndamping = 0.3");
  const auto model = make_model(leaning);
  const auto system = model->system(model->values(), {});
  const Eigen::VectorXd start = state_at(model->start(model->values())).x;
  const Record record = record_turn(*system, start, 1, 2);
  const std::vector<Step>& steps = record.itinerary.steps;
  int hits = 0, sticks = 0;
  for (const Step& step : steps) {
    const bool beside = (step.mode & ~(std::int64_t{1} << std::max(0, step.contact)) & 0xff) != 0;
    if (step.end == EventKind::impact && beside) ++hits;
    if (step.end == EventKind::chatter_complete) ++sticks;
  }
  CHECK(hits > 3);
  REQUIRE(sticks >= 2);

  SECTION("gaps of closed contacts do not grow") {
    HybridState state = state_at({start.begin(), start.end()});
    REQUIRE(system->advance(state, for_time(30), nullptr) == Outcome::ok);
    const auto gap = [&](Eigen::Index of, Eigen::Index on, double length) {
      const double phi = state.x(3 * of + 2), psi = state.x(3 * on + 2);
      const double x = state.x(3 * of) + length / 2 * std::sin(phi) - state.x(3 * on);
      const double y = state.x(3 * of + 1) - length / 2 * std::cos(phi) - state.x(3 * on + 1);
      return x * std::cos(psi) + y * std::sin(psi);
    };
    CHECK(std::abs(gap(0, 1, 1.0)) < 1e-12);
    CHECK(std::abs(gap(2, 1, 1.1)) < 1e-12);
  }
  SECTION("legs by prescription lead where the motion led") {
    const auto course = system->follow(legs_of(record, start), {0});
    REQUIRE(course);
    HybridState state = state_at({start.begin(), start.end()});
    REQUIRE(system->advance(state, for_time(2), nullptr) == Outcome::ok);
    CHECK((course->legs.back().state - state.x).cwiseAbs().maxCoeff() < 1e-10);
  }
}

TEST_CASE("hinged_rods: derivatives go through impacts") {
  const auto model = make_model(knocking("e = 0.7"));
  const auto system = model->system(model->values(), {});
  const HybridState start = state_at(model->start(model->values()));
  HybridState state = start;
  const Eigen::Index n = start.x.size();
  Tangent tangent{Eigen::MatrixXd::Identity(n, n), Eigen::RowVectorXd::Zero(n), {}};
  REQUIRE(system->advance(state, for_time(2), tangent) == Outcome::ok);
  for (const Eigen::Index k : {2L, 8L, 11L}) {
    const double h = 1e-6;
    const auto image = [&](double step) {
      HybridState moved = start;
      moved.x(k) += step;
      REQUIRE(system->advance(moved, for_time(2), nullptr) == Outcome::ok);
      return moved.x;
    };
    const Eigen::VectorXd slope = (image(h) - image(-h)) / (2 * h);
    for (Eigen::Index i = 0; i < n; ++i)
      CHECK(tangent.state(i, k) == Approx(slope(i)).margin(1e-5 * slope.cwiseAbs().maxCoeff()));
  }
}
