/// The classic models against their closed forms: periodic orbits, folds, period doublings, accumulation
/// times, the relief valve's Hopf point.
#include <catch2/catch.hpp>

#include <Eigen/Core>
#include <cmath>
#include <numbers>

#include "analysis/maps/multipliers.hpp"
#include "analysis/maps/poincare_map.hpp"
#include "core/math/dense.hpp"
#include "tests/ode.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

using std::numbers::pi;

Section after_impact(int contact) {
  Section section;
  section.kind = Section::Kind::impact_after;
  section.contact = contact;
  return section;
}

/// Right after an impact at time t, leaving contact with `speed` in the direction of `sign`.
HybridState leaving(double position, double velocity, double time) {
  return state_at({position, velocity}, time);
}

struct Loop {
  double defect;  ///< of `iterates` of the map
  Eigen::MatrixXd jacobian;
};

Loop loop(System& system, const Section& section, const HybridState& start, int iterates = 1) {
  const PoincareMap map(system, section);
  HybridState state = start;
  Eigen::MatrixXd J = Eigen::MatrixXd::Identity(map.dimension(), map.dimension());
  for (int k = 0; k < iterates; ++k) REQUIRE(map.iterate(state, J) == Outcome::ok);
  return {map.difference(state, start).cwiseAbs().maxCoeff(), J};
}

/// Distance of the nearest eigenvalue of a 2 x 2 matrix from `wanted`: its characteristic polynomial there
/// over the distance of the other one.
double distance(const Eigen::MatrixXd& J, double wanted) {
  double nearest = HUGE_VAL;
  for (const auto& v : eigenvalues(J)) nearest = std::min(nearest, std::abs(v - wanted));
  return nearest;
}

}  // namespace

TEST_CASE("bouncing_ball: one bounce in n table periods, fold and period doubling at the closed form") {
  // cos φ = n π (1 − e)/(Γ (1 + e)) at the bounce, take-off with n π g/ω in space.
  struct Point {
    double e;
    int n;
    double fold, doubling;
  };
  for (const Point& p :
       {Point{0.5, 1, 1.0471975512, 1.5268237005}, Point{0.8, 2, 0.6981317008, 1.2297282812}}) {
    const double a = p.n * pi * (1 - p.e) / (1 + p.e);
    const double b = 2 * (1 + p.e * p.e) / ((1 + p.e) * (1 + p.e));
    CHECK(a == Approx(p.fold).epsilon(1e-10));
    CHECK(std::hypot(a, b) == Approx(p.doubling).epsilon(1e-10));
    for (const auto& [gamma, multiplier] : {std::pair{a, 1.0}, std::pair{std::hypot(a, b), -1.0}}) {
      CAPTURE(p.e, p.n, gamma);
      const double omega = 1.7, g = 9.81;
      const auto system =
          make_system("name = 'bouncing_ball'\nomega = 1.7\ngravity = 9.81\ne = " + std::to_string(p.e) +
                      "\nGamma = " + fmt_double(gamma));
      const double cosine = std::min(1.0, a / gamma);
      double nearest = HUGE_VAL;
      for (const double side : {1.0, -1.0}) {
        const double phase = side * std::acos(cosine);
        const double time = (phase < 0 ? phase + 2 * pi : phase) / omega;
        const double speed = g / omega * (p.n * pi - gamma * cosine);
        const Loop l = loop(*system, after_impact(0), leaving(0, speed, time));
        CHECK(l.defect < 1e-11 * speed);
        CHECK(determinant(l.jacobian) == Approx(p.e * p.e).epsilon(1e-10));
        nearest = std::min(nearest, distance(l.jacobian, multiplier));
      }
      CHECK(nearest < (multiplier > 0 ? 1e-6 : 1e-10));  // a double eigenvalue-like turn at the fold
    }
  }
}

TEST_CASE("impact_oscillator, undamped: one-impact orbits, folds at the closed form, determinant r^2") {
  // γ² = [σ + (1 + r) V C/2]² + [(1 − r) V/(2ω)]², γ = 1/(1 − ω²), C = cot(πn/ω).
  const double omega = 2.8, r = 0.8;
  const double gamma = 1 / (1 - omega * omega), C = 1 / std::tan(pi / omega);
  const double half = (1 + r) * C / 2, small = (1 - r) / (2 * omega);
  const double a = half * half + small * small;
  const double fold = std::abs(gamma) * std::sqrt(a) / small;
  CHECK(fold == Approx(1.780235601322).epsilon(1e-12));
  const auto best_loop = [&](double sigma, double V) {
    const auto system =
        make_system("name = 'impact_oscillator'\nomega = 2.8\nr = 0.8\nstop = " + fmt_double(sigma));
    Loop best{HUGE_VAL, {}};
    for (const double side : {1.0, -1.0}) {
      double phase = std::atan2(side * small * V / gamma, (sigma + half * V) / gamma);
      if (phase < 0) phase += 2 * pi;
      const Loop l = loop(*system, after_impact(0), leaving(sigma, -r * V, phase / omega));
      if (l.defect < best.defect) best = l;
    }
    return best;
  };
  {
    INFO("sigma = 0, unstable");
    const double V = std::abs(gamma) / std::sqrt(a);
    CHECK(V == Approx(0.336177269976).epsilon(1e-11));
    const Loop l = best_loop(0, V);
    CHECK(l.defect < 1e-12);
    CHECK(determinant(l.jacobian) == Approx(r * r).epsilon(1e-11));
    CHECK(std::abs(eigenvalues(l.jacobian).front()) > 1);
  }
  {
    INFO("period doubling");
    const Loop l = best_loop(-0.0685756523, 0.4930815819);
    CHECK(l.defect < 1e-9);
    CHECK(distance(l.jacobian, -1) < 1e-8);
  }
  {
    INFO("fold");
    const double sigma = half > 0 ? -fold : fold;  // the side on which V is positive
    const double V = -half * sigma / a;
    REQUIRE(V > 0);
    const Loop l = best_loop(sigma, V);
    CHECK(l.defect < 1e-11);
    CHECK(distance(l.jacobian, 1) < 1e-8);
  }
}

TEST_CASE("impact_oscillator: complete chatter from release to accumulation") {
  // x'' + x = cos ωt, x <= σ, released where cos ωt = σ (falling).
  struct Run {
    double omega, sigma, r, duration;
  };
  for (const Run& run : {Run{2.8, -0.8, 0.6, 1.372945390141578}, Run{2.0, -0.5, 0.2, 2.388595273797158},
                         Run{5.0, -0.5, 0.2, 1.059005504494844}}) {
    CAPTURE(run.omega);
    const auto system = make_system("name = 'impact_oscillator'\nomega = " + fmt_double(run.omega) +
                                    "\nstop = " + fmt_double(run.sigma) + "\nr = " + fmt_double(run.r));
    const double release = std::acos(run.sigma) / run.omega;
    HybridState state = state_at({run.sigma, 0}, release);
    Log log;
    REQUIRE(system->advance(state, for_time(run.duration + 0.1), &log) == Outcome::ok);
    const auto complete = log.of(EventKind::chatter_complete);
    REQUIRE(complete.size() == 1);
    CHECK(complete[0].time - release == Approx(run.duration).margin(1e-11));
  }
}

TEST_CASE("impact_oscillator, damped: one impact in two periods, period doubling and fold") {
  // Points computed to 30 digits from the flow of one arc: force, impact speed, forcing phase of the impact.
  struct Point {
    double omega, force, speed, phase, multiplier;
  };
  for (const Point& p : {Point{0.81, 0.347533397412283355, 0.0653039433368541, 0.0782477278637458178, -1},
                         Point{0.799, 0.3628362019808887, 0.124087344852288, 0.0573313327565957372, 1}}) {
    CAPTURE(p.omega);
    const auto system =
        make_system("name = 'impact_oscillator'\noffset = -1\nb = 0.04\nr = 0.9\nstop = 0\nomega = " +
                    fmt_double(p.omega) + "\nF = " + fmt_double(p.force));
    const Loop l = loop(*system, after_impact(0), leaving(0, -0.9 * p.speed, p.phase / p.omega));
    CHECK(l.defect < 1e-12);
    CHECK(distance(l.jacobian, p.multiplier) < 1e-9);
    CHECK(determinant(l.jacobian) == Approx(0.81 * std::exp(-0.04 * 2 * 2 * pi / p.omega)).epsilon(1e-11));
  }
}

TEST_CASE("impact_pair: symmetric motion with two impacts a period at the closed form") {
  // d ω²/a = cos φ − K sin φ at the impact phase φ, K = (π/2)(1 + r)/(1 − r), 2d the clearance, −φ below.
  const double r = 0.6, omega = 1.3, a = 2, d = 0.7;
  const double K = pi / 2 * (1 + r) / (1 - r);
  const auto system = make_system("name = 'impact_pair'\na = 2\nomega = 1.3\nclearance = 1.4\nr = 0.6");
  const double root = std::acos(d * omega * omega / a / std::hypot(1, K));
  int closed = 0;
  for (const double side : {1.0, -1.0}) {
    const double phase = -std::atan(K) + side * root;
    const double speed = -2 * a * r * std::sin(phase) / (omega * (1 - r));
    if (!(speed > 0)) continue;
    const double time = (phase < 0 ? phase + 2 * pi : phase) / omega;
    const Loop l = loop(*system, after_impact(1), leaving(-d, speed, time));
    if (l.defect > 1e-9) continue;  // crosses a wall on the way
    ++closed;
    CHECK(l.defect < 1e-12);
    CHECK(determinant(l.jacobian) == Approx(std::pow(r, 4)).epsilon(1e-11));
  }
  CHECK(closed >= 1);
}

TEST_CASE("sum of Lyapunov exponents of an oscillator with impacts is -b + 2 ln r times the impact rate") {
  for (const char* parameters :
       {"omega = 2.8\nb = 0.05\nr = 0.8\nstop = 0", "omega = 2.6\nb = 0.02\nr = 0.9\nstop = 0.05"}) {
    CAPTURE(parameters);
    const auto system = make_system(std::string("name = 'impact_oscillator'\n") + parameters);
    const auto model = make_model(std::string("name = 'impact_oscillator'\n") + parameters);
    const auto value = [&](const char* name) {
      return model->values()[static_cast<std::size_t>(model->parameter_index(name))];
    };
    const PoincareMap map(*system, Section{});
    HybridState state = state_at({-0.1, 0});
    for (int k = 0; k < 300; ++k) REQUIRE(map.iterate(state) == Outcome::ok);
    double sum = 0;
    Log log;
    const int periods = 400;
    for (int k = 0; k < periods; ++k) {
      HybridState copy = state;
      REQUIRE(system->advance(copy, Section{}, &log) == Outcome::ok);
      Eigen::MatrixXd J = Eigen::MatrixXd::Identity(2, 2);
      REQUIRE(map.iterate(state, J) == Outcome::ok);
      sum += std::log(std::abs(determinant(J)));
    }
    const double time = periods * system->period();
    const double impacts = static_cast<double>(log.of(EventKind::impact).size());
    REQUIRE(impacts > 100);
    REQUIRE(log.of(EventKind::stick).empty());
    CHECK(sum / time == Approx(-value("b") + 2 * std::log(value("r")) * impacts / time).margin(1e-8));
  }
}

TEST_CASE("relief_valve: Hopf point of the equilibrium") {
  const double q = 8.491117635183, d = 10;
  // y1 √y3 = q, y3 = y1 + d
  double y1 = 2;
  for (int k = 0; k < 50; ++k) y1 = q / std::sqrt(y1 + d);
  const auto system = make_system("name = 'relief_valve'\nq = " + fmt_double(q));
  HybridState state = state_at({y1, 0, y1 + d});
  Tangent tangent;
  tangent.state = Eigen::MatrixXd::Identity(3, 3);
  tangent.time = Eigen::RowVectorXd::Zero(3);
  REQUIRE(system->advance(state, for_time(1), tangent) == Outcome::ok);
  CHECK((state.x - Eigen::Vector3d(y1, 0, y1 + d)).norm() < 1e-12);
  CHECK(std::abs(eigenvalues(tangent.state).front()) == Approx(1).epsilon(1e-11));
}

TEST_CASE("relief_valve: flights agree with a Runge-Kutta-Fehlberg 7(8) integration") {
  const auto system = make_system("name = 'relief_valve'\nq = 5");
  HybridState state = state_at({0.2, 0, 0.5});
  Log log;
  REQUIRE(system->advance(state, for_time(20), &log) == Outcome::ok);
  const auto impacts = log.of(EventKind::impact);
  REQUIRE(impacts.size() > 3);
  using Y = std::vector<double>;
  const auto rates = [](const Y& y, Y& rate, double) {
    rate = {y[1], -1.25 * y[1] - (y[0] + 10) + y[2], 20 * (5 - y[0] * std::sqrt(y[2]))};
  };
  for (std::size_t k = 0; k + 1 < impacts.size(); ++k) {
    const Y y = integrated(rates, impacts[k].after, impacts[k].time, impacts[k + 1].time, 1e-3, 1e-14);
    for (std::size_t i = 0; i < 3; ++i) CHECK(y[i] == Approx(impacts[k + 1].before[i]).margin(2e-11));
  }
}

TEST_CASE("relief_valve: the error of all steps of a period together hangs on the tolerance") {
  for (const double tolerance : {1e-8, 1e-10, 1e-12}) {
    for (const double q : {7.6, 7.8, 8.0, 8.2, 8.4}) {
      CAPTURE(tolerance, q);
      Tolerance low;
      low.integration = tolerance;
      const std::string toml = "name = 'relief_valve'\nq = " + fmt_double(q);
      const auto exact = make_system(toml), rough = make_system(toml, low);
      HybridState state = state_at({0.2, 0, 0});
      REQUIRE(exact->advance(state, for_time(300), nullptr) == Outcome::ok);
      HybridState other = state;
      REQUIRE(exact->advance(state, for_time(5), nullptr) == Outcome::ok);
      REQUIRE(rough->advance(other, for_time(5), nullptr) == Outcome::ok);
      CHECK((state.x - other.x).norm() < 40 * tolerance);
    }
  }
}

TEST_CASE("relief_valve: a start without pressure, and one with less") {
  // y3 = b q t − b y1 (2/3) √(b q) t^(3/2) + O(t²): the flow's derivative by the pressure is infinite at 0.
  const auto system = make_system("name = 'relief_valve'\nq = 8");
  HybridState state = state_at({1, 0, 0});
  const double t = 1e-6, bq = 20.0 * 8;
  REQUIRE(system->advance(state, for_time(t), nullptr) == Outcome::ok);
  CHECK(state.x(2) == Approx(bq * t - 20 * std::sqrt(bq) * std::pow(t, 1.5) / 1.5).margin(5e-10).epsilon(0));
  HybridState impossible = state_at({1, 0, -1e-3});
  CHECK(system->advance(impossible, for_time(t), nullptr) == Outcome::bad_start);
}

TEST_CASE("relief_valve: the least lift is told where a section looks for the velocity's zeros") {
  const Section section = at_level(1, 0, -1);
  int told = 0, orbits = 0;
  double last = 0;
  for (double q = 7.6; q < 8.45; q += 0.01, ++orbits) {
    const auto system = make_system("name = 'relief_valve'\nq = " + fmt_double(q));
    const PoincareMap map(*system, section);
    HybridState state = state_at({0.2, 0, 0});
    for (int k = 0; k < 100; ++k) REQUIRE(map.iterate(state) == Outcome::ok);
    Log log;
    REQUIRE(map.iterate(state, &log) == Outcome::ok);
    told += log.near_misses;
    last = log.entries.empty() ? 0 : log.entries.front().speed;
  }
  CHECK(told == orbits);
  CHECK(last > 4);
}

TEST_CASE("relief_valve: the last grazing lies between q = 7.55 and 7.575") {
  const Section section = at_level(1, 0, -1);
  for (const auto& [q, hits] : {std::pair{7.55, true}, std::pair{7.575, false}}) {
    CAPTURE(q);
    const auto system = make_system("name = 'relief_valve'\nq = " + fmt_double(q));
    const PoincareMap map(*system, section);
    HybridState state = state_at({0.2, 0, 0});
    for (int k = 0; k < 1024; ++k) REQUIRE(map.iterate(state) == Outcome::ok);
    Log log;
    for (int k = 0; k < 32; ++k) REQUIRE(map.iterate(state, &log) == Outcome::ok);
    CHECK(log.of(EventKind::impact).empty() != hits);
  }
}
