/// The flow of linear systems of every kind against closed forms, and against an independent integrator.
#include <catch2/catch.hpp>

#include <Eigen/LU>
#include <cmath>
#include <complex>
#include <random>

#include "tests/ode.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

HybridState flown(const std::string& model, const std::vector<double>& x, double time) {
  const auto system = make_system("name = 'linear_stops'\n" + model);
  HybridState state = state_at(x);
  REQUIRE(system->advance(state, for_time(time), nullptr) == Outcome::ok);
  return state;
}

void check(const HybridState& state, double x, double v, double margin = 1e-13) {
  CHECK(state.x(0) == Approx(x).margin(margin).epsilon(0));
  CHECK(state.x(1) == Approx(v).margin(margin).epsilon(0));
}

}  // namespace

TEST_CASE("one mass, free: under-, critically and overdamped, rigid, falling") {
  const double t = 7.3, x0 = 0.4, v0 = -0.9;
  {
    INFO("x'' + 0.2 x' + x = 0");
    const double g = 0.1, w = std::sqrt(1 - g * g), b = (v0 + g * x0) / w, e = std::exp(-g * t);
    check(flown("mass = [[1]]\ndamping = [[0.2]]\nstiffness = [[1]]", {x0, v0}, t),
          e * (x0 * std::cos(w * t) + b * std::sin(w * t)),
          e * ((b * w - g * x0) * std::cos(w * t) - (x0 * w + g * b) * std::sin(w * t)));
  }
  {
    INFO("x'' + 2 x' + x = 0");
    const double b = v0 + x0, e = std::exp(-t);
    check(flown("mass = [[1]]\ndamping = [[2]]\nstiffness = [[1]]", {x0, v0}, t), e * (x0 + b * t),
          e * (v0 - b * t));
  }
  {
    INFO("x'' + 5 x' + 4 x = 0, rates 1 and 4");
    const double a = (4 * x0 + v0) / 3, b = -(x0 + v0) / 3;
    check(flown("mass = [[1]]\ndamping = [[5]]\nstiffness = [[4]]", {x0, v0}, t),
          a * std::exp(-t) + b * std::exp(-4 * t), -a * std::exp(-t) - 4 * b * std::exp(-4 * t));
  }
  {
    INFO("x'' = 0 and x'' = -2");
    check(flown("mass = [[3]]", {x0, v0}, t), x0 + v0 * t, v0);
    check(flown("mass = [[3]]\nconstant = [-6]", {x0, v0}, t), x0 + v0 * t - t * t, v0 - 2 * t);
  }
  {
    INFO("3 x'' + 0.6 x' = 0: a rigid body in a viscous fluid");
    const double e = std::exp(-0.2 * t);
    check(flown("mass = [[3]]\ndamping = [[0.6]]", {x0, v0}, t), x0 + v0 * (1 - e) / 0.2, v0 * e);
  }
}

TEST_CASE("one mass, forced: off and at resonance, two harmonics") {
  const double t = 11.7, x0 = 0.1, v0 = 0.2;
  {
    INFO("x'' + x = cos t: resonance, amplitude growing as t/2");
    check(flown("mass = [[1]]\nstiffness = [[1]]\nomega = 1\nforce = [{ cosine = [1] }]", {x0, v0}, t),
          x0 * std::cos(t) + v0 * std::sin(t) + t / 2 * std::sin(t),
          -x0 * std::sin(t) + v0 * std::cos(t) + std::sin(t) / 2 + t / 2 * std::cos(t));
  }
  {
    INFO("x'' + x = cos 0.7 t + 0.5 sin 2.1 t");
    const double a = 1 / (1 - 0.49), b = 0.5 / (1 - 4.41);
    const double p = x0 - a, q = v0 - 2.1 * b;
    check(flown("mass = [[1]]\nstiffness = [[1]]\nomega = 0.7\nforce = [{ cosine = [1] }, { order = 3, sine "
                "= [0.5] }]",
                {x0, v0}, t),
          p * std::cos(t) + q * std::sin(t) + a * std::cos(0.7 * t) + b * std::sin(2.1 * t),
          -p * std::sin(t) + q * std::cos(t) - 0.7 * a * std::sin(0.7 * t) + 2.1 * b * std::cos(2.1 * t));
  }
}

TEST_CASE("three masses, any damping, against a Runge-Kutta-Fehlberg 7(8) integration") {
  using Vector = std::vector<double>;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto matrix = [](const Eigen::Matrix3d& m) {
    std::string text = "[";
    for (int i = 0; i < 3; ++i) {
      text += "[";
      for (int j = 0; j < 3; ++j) text += Value(m(i, j)).toml() + ",";
      text += "],";
    }
    return text + "]";
  };
  for (int trial = 0; trial < 20; ++trial) {
    Eigen::Matrix3d A = Eigen::Matrix3d::NullaryExpr([&] { return unit(random); });
    const Eigen::Matrix3d M = A * A.transpose() + Eigen::Matrix3d::Identity();
    A = Eigen::Matrix3d::NullaryExpr([&] { return unit(random); });
    const Eigen::Matrix3d K = A * A.transpose();
    const Eigen::Matrix3d C =
        0.2 * Eigen::Matrix3d::NullaryExpr([&] { return unit(random); });  // not symmetric either
    const auto rhs = [&](const Vector& x, Vector& dx, double t) {
      const Eigen::Vector3d q(x[0], x[2], x[4]), v(x[1], x[3], x[5]);
      const Eigen::Vector3d f(std::cos(0.9 * t), 0.3 * std::sin(0.9 * t), 0.1);
      const Eigen::Vector3d a = M.inverse() * (f - C * v - K * q);
      for (std::size_t i = 0; i < 3; ++i) {
        dx[2 * i] = x[2 * i + 1];
        dx[2 * i + 1] = a(static_cast<Eigen::Index>(i));
      }
    };
    Vector x(6);
    for (double& xi : x) xi = unit(random);
    const std::string text =
        "mass = " + matrix(M) + "\ndamping = " + matrix(C) + "\nstiffness = " + matrix(K) +
        "\nconstant = [0, 0, 0.1]\nomega = 0.9\nforce = [{ cosine = [1, 0, 0], sine = [0, 0.3, 0] }]";
    const HybridState end = flown(text, x, 6);
    x = integrated(rhs, x, 0, 6, 0.01, 1e-14);
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(end.x(static_cast<Eigen::Index>(i)) == Approx(x[i]).margin(1e-11));
  }
}

TEST_CASE("two_dof_stops is linear_stops with its matrices: same orbit, same events") {
  for (const double delta : {0.16, 0.25, 0.8, 1.1}) {
    INFO("delta " << delta);
    const std::string d = Value(delta).toml();
    const auto special = make_system("name = 'two_dof_stops'\nd1 = -0.3\nd2 = 0.1\ndelta = " + d);
    const auto general = make_system(
        "name = 'linear_stops'\nmass = [[1,0],[0,1]]\ndamping = [[0.2,-0.1],[-0.1,0.1]]\nstiffness = "
        "[[2,-1],[-1,1]]\nomega = " +
        d +
        "\nforce = [{ cosine = [0.5, 0] }]\nstop = [{ normal = [-1, 0], position = 0.3 }, { normal = [0, 1], "
        "position = 0.1 }]");
    HybridState a = state_at({0, 0, 0, 0});
    HybridState b = a;
    Log log_a, log_b;
    for (int k = 0; k < 10; ++k) {
      REQUIRE(special->advance(a, Section{}, &log_a) == Outcome::ok);
      REQUIRE(general->advance(b, Section{}, &log_b) == Outcome::ok);
    }
    CHECK((a.x - b.x).cwiseAbs().maxCoeff() < 1e-11);
    REQUIRE(log_a.entries.size() == log_b.entries.size());
    for (std::size_t i = 0; i < log_a.entries.size(); ++i) {
      CHECK(log_a.entries[i].kind == log_b.entries[i].kind);
      CHECK(log_a.entries[i].contact == log_b.entries[i].contact);
      CHECK(log_a.entries[i].time == Approx(log_b.entries[i].time).margin(1e-10));
    }
  }
}

TEST_CASE("frequency sweeps keep the phase: a thousand periods later the forced response is exact") {
  const auto system = make_system("name = 'two_dof_stops'\nd1 = inf\nd2 = inf\ndelta = 0.7");
  HybridState state = state_at({0, 0, 0, 0});
  for (int k = 0; k < 1000; ++k) REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
  // steady response of (K − δ² + iδC) X = (0.5, 0)
  using Complex = std::complex<double>;
  const double d = 0.7;
  Eigen::Matrix2cd Z;
  Z << Complex(2 - d * d, 0.2 * d), Complex(-1, -0.1 * d), Complex(-1, -0.1 * d), Complex(1 - d * d, 0.1 * d);
  const Eigen::Vector2cd X = Z.inverse() * Eigen::Vector2cd(0.5, 0);
  CHECK(state.x(0) == Approx(X(0).real()).margin(1e-13));
  CHECK(state.x(1) == Approx((Complex(0, d) * X(0)).real()).margin(1e-13));
  CHECK(state.x(2) == Approx(X(1).real()).margin(1e-13));
  CHECK(state.turns == 1000);
  CHECK(state.time == 0);
}

// 0 ≤ Λ ⊥ u⁺ + r u⁻ ≥ 0 over both contacts: inertia couples them, M = (1 m; m 1.5).
TEST_CASE(
    "an impact of one body frees another one from its contact or presses it on, as inertia couples them") {
  const double w = 0.8, r = 0.6, hit = 0.625, later = 0.02;
  for (const double m : {-0.3, 0.3}) {
    INFO("m " << m);
    const auto system = make_system(
        "name = 'linear_stops'\nmass = [[1, " + fmt_double(m) + "], [" + fmt_double(m) +
        ", 1.5]]\nconstant = [5, 0]\nstop = [{ normal = [1, 0], position = 0, restitution = 0.9 }, "
        "{ normal = [0, 1], position = 0, restitution = 0.6 }]");
    HybridState state = state_at({0, 0, -0.5, w});
    Log log;
    REQUIRE(system->advance(state, for_time(hit + later), &log) == Outcome::ok);
    const auto impacts = log.of(EventKind::impact);
    REQUIRE(impacts.size() == 1);
    CHECK(impacts[0].contact == 1);
    CHECK(impacts[0].time == Approx(hit).margin(1e-14).epsilon(0));
    CHECK(impacts[0].after[3] == Approx(-r * w).margin(1e-14).epsilon(0));
    const double freed = m < 0 ? m * (1 + r) * w : 0;  // Δv₁ = m (1 + r) w by the impact of the other alone
    CHECK(impacts[0].after[1] == Approx(freed).margin(1e-14).epsilon(0));
    CHECK(state.mode == (m < 0 ? 0 : 1));
    const double pulled = m < 0 ? 5 * 1.5 / (1.5 - m * m) : 0;
    check(state, freed * later + pulled * later * later / 2, freed + pulled * later);
  }
}
