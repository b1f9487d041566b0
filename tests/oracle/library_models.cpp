/// The models of data/models beside the same systems written by hand for another integrator, and closed
/// forms.
#include <Eigen/LU>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/oracle/independent/rigid_reference.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;
using graze::independent::RigidReference;

namespace {

/// Impacts (or jumps) of the model from this start: instants, contacts and states before and after.
template <std::size_t N>
void check_impacts(const std::string& model, const RigidReference<N>& reference,
                   const typename RigidReference<N>::State& start, std::size_t count,
                   EventKind kind = EventKind::impact) {
  CAPTURE(model);
  const auto expected = reference.impacts(start, count);
  const auto system = make_system(model);
  HybridState state = state_at(std::vector<double>(start.begin(), start.end()));
  Log log;
  REQUIRE(system->advance(state, for_time(static_cast<double>(expected.back().time) + 0.01), &log) ==
          Outcome::ok);
  const auto impacts = log.of(kind);
  REQUIRE(impacts.size() == count);
  for (std::size_t k = 0; k < count; ++k) {
    CAPTURE(k);
    CHECK((kind == EventKind::jump ? impacts[k].jump : impacts[k].contact) == expected[k].contact);
    CHECK(std::abs(impacts[k].time - static_cast<double>(expected[k].time)) <= 1e-10);
    for (std::size_t i = 0; i < N; ++i) {
      CHECK(std::abs(impacts[k].before[i] - static_cast<double>(expected[k].before[i])) <= 1e-10);
      CHECK(std::abs(impacts[k].after[i] - static_cast<double>(expected[k].after[i])) <= 1e-10);
    }
  }
}

}  // namespace

TEST_CASE("duffing_impact: impacts agree with a Runge-Kutta-Fehlberg 7(8) integration", "[library]") {
  using Reference = RigidReference<2>;
  struct Values {
    long double c, a, b, F, omega, s, r;
  };
  for (const Values& v :
       {Values{0.1L, 1, 0.5L, 1, 1, 0.8L, 0.7L}, Values{0.05L, -0.5L, 1, 0.6L, 0.8L, 0.9L, 0.8L},
        Values{0.2L, 1, 0, 2, 1.4L, -0.1L, 0.9L}}) {
    const long double c = v.c, a = v.a, b = v.b, F = v.F, omega = v.omega, s = v.s, r = v.r;
    Reference reference;
    reference.rates = [=](const Reference::State& x, Reference::State& rate, long double t) {
      rate = {x[1], F * std::cos(omega * t) - c * x[1] - a * x[0] - b * x[0] * x[0] * x[0]};
    };
    reference.gaps = {[=](const Reference::State& x, long double) { return s - x[0]; }};
    reference.impact = [=](int, Reference::State& x, long double) { x[1] *= -r; };
    std::string model = "name = 'duffing_impact'";
    const auto set = [&](const char* name, long double value) {
      model += std::string("\n") + name + " = " + fmt_double(static_cast<double>(value));
    };
    set("c", c);
    set("a", a);
    set("b", b);
    set("F", F);
    set("omega", omega);
    set("s", s);
    set("r", r);
    check_impacts(model, reference, {-0.3L, 0.2L}, 8);
  }
}

TEST_CASE("parametric_pendulum: impacts agree with a Runge-Kutta-Fehlberg 7(8) integration", "[library]") {
  using Reference = RigidReference<2>;
  Reference reference;
  reference.rates = [](const Reference::State& x, Reference::State& rate, long double t) {
    rate = {x[1], -0.1L * x[1] - (1 + 0.6L * std::cos(2 * t)) * std::sin(x[0])};
  };
  reference.gaps = {[](const Reference::State& x, long double) { return 0.6L - x[0]; },
                    [](const Reference::State& x, long double) { return 0.6L + x[0]; }};
  reference.impact = [](int, Reference::State& x, long double) { x[1] *= -0.7L; };
  check_impacts("name = 'parametric_pendulum'", reference, {0.3L, 0.9L}, 10);
}

TEST_CASE("cam_follower: impacts agree with a Runge-Kutta-Fehlberg 7(8) integration", "[library]") {
  using Reference = RigidReference<2>;
  constexpr long double w = 2.6L, e = 0.3L;
  const auto lift = [](long double t) {
    const long double side = e * std::sin(w * t);
    return std::sqrt(1 - side * side) - e * std::cos(w * t);
  };
  const auto lift_rate = [](long double t) {
    const long double sine = std::sin(w * t), cosine = std::cos(w * t);
    return e * w * sine - e * e * w * sine * cosine / std::sqrt(1 - e * e * sine * sine);
  };
  Reference reference;
  reference.rates = [](const Reference::State& x, Reference::State& rate, long double) {
    rate = {x[1], -0.1L * x[1] - (x[0] - 0.7L) - 1};
  };
  reference.gaps = {[=](const Reference::State& x, long double t) { return x[0] - lift(t); }};
  reference.impact = [=](int, Reference::State& x, long double t) {
    x[1] = lift_rate(t) - 0.8L * (x[1] - lift_rate(t));
  };
  check_impacts("name = 'cam_follower'\nomega = 2.6\nr = 0.8", reference, {1.6L, 0.0L}, 8);
}

/// Below some speed the follower stays on the cam: its force is m c'' + b c' + k (c - R + e) + P, and it
/// takes off where that falls through zero.
TEST_CASE("cam_follower: it takes off where the contact force vanishes", "[library]") {
  const double w = 2.2, e = 0.3;
  const auto force = [&](double t) {
    const double u = e * e * std::sin(w * t) * std::sin(w * t), root = std::sqrt(1 - u);
    const double du = e * e * w * std::sin(2 * w * t), ddu = 2 * e * e * w * w * std::cos(2 * w * t);
    const double c = root - e * std::cos(w * t);
    const double dc = -du / (2 * root) + e * w * std::sin(w * t);
    const double ddc = -ddu / (2 * root) - du * du / (4 * root * root * root) + e * w * w * std::cos(w * t);
    return ddc + 0.1 * dc + c - 0.7 + 1;
  };
  const auto system = make_system("name = 'cam_follower'\nomega = 2.2");
  HybridState state = state_at({0.7, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(2 * M_PI / w), &log) == Outcome::ok);
  const auto releases = log.of(EventKind::release);
  REQUIRE(!releases.empty());
  const double time = releases.front().time;
  CHECK(std::abs(force(time)) < 1e-11);
  CHECK(force(0.99 * time) > 0);
}

TEST_CASE("vibro_impact_nes: impacts agree with a Runge-Kutta-Fehlberg 7(8) integration", "[library]") {
  using Reference = RigidReference<4>;
  constexpr long double m = 0.1L, r = 0.65L;
  Reference reference;
  reference.rates = [](const Reference::State& x, Reference::State& rate, long double t) {
    rate = {x[1], 0.15L * std::cos(t) - 0.02L * x[1] - x[0], x[3], 0};
  };
  reference.gaps = {[](const Reference::State& x, long double) { return 1 + x[0] - x[2]; },
                    [](const Reference::State& x, long double) { return 1 - x[0] + x[2]; }};
  // Momentum is kept, the relative velocity is turned and falls by r.
  reference.impact = [](int, Reference::State& x, long double) {
    const long double u = x[1], v = x[3];
    x[1] = (u * (1 - r * m) + m * (1 + r) * v) / (1 + m);
    x[3] = ((1 + r) * u + (m - r) * v) / (1 + m);
  };
  check_impacts("name = 'vibro_impact_nes'", reference, {0.4L, 0.1L, 0.2L, 0.9L}, 16);
}

/// Two impacts per period, half a period apart, each the mirror of the other. With Y the velocity of the sink
/// before the impact at the right wall, h half a period: the sink goes from x + b to -(x + b) in h, so that
/// Y = 2 (x + b)/h; the impact turns it round, so that the oscillator comes with -Y (1 - r + 2 epsilon)/(1 +
/// r) and leaves with 2 epsilon Y more; the flow of the oscillator over h gives the rest.
TEST_CASE("vibro_impact_nes: the symmetric orbit of two impacts per period in closed form", "[library]") {
  const double m = 0.1, damping = 0.02, F = 0.15, b = 1, r = 0.65;
  for (const double omega : {0.97, 1.0, 1.05}) {
    CAPTURE(omega);
    const double h = M_PI / omega;
    const double amplitude = F / std::hypot(1 - omega * omega, damping * omega);
    const double lag = std::atan2(damping * omega, 1 - omega * omega);
    const double d = damping / 2, w = std::sqrt(1 - d * d), fall = std::exp(-d * h);
    const double C = std::cos(w * h), S = std::sin(w * h);
    Eigen::Matrix2d flow;
    flow << fall * (C + d / w * S), fall * S / w, -fall * S / w, fall * (C - d / w * S);
    const Eigen::Vector2d kicked = flow * Eigen::Vector2d(0, 2 * m);
    const Eigen::Vector2d free =
        -(flow + Eigen::Matrix2d::Identity()).inverse() * kicked;  // per Y, at the impact
    const double coming = -(1 - r + 2 * m) / (1 + r);
    // x = Y h/2 - b and x' = coming Y are those of the forced motion A cos(tau) and of the free one.
    const double p = h / 2 - free(0), q = (free(1) - coming) / omega;
    const double disc = b * b * p * p - (p * p + q * q) * (b * b - amplitude * amplitude);
    REQUIRE(disc > 0);
    const double Y = (b * p + std::sqrt(disc)) / (p * p + q * q);
    const double tau = std::atan2(q * Y, p * Y - b);
    const double time = (tau + lag) / omega;
    const double x = Y * h / 2 - b;
    const auto system = make_system("name = 'vibro_impact_nes'\nomega = " + fmt_double(omega));
    HybridState state = state_at({x, (coming + 2 * m) * Y, x + b, -Y}, time);
    Log log;
    REQUIRE(system->advance(state, for_time(2 * h), &log) == Outcome::ok);
    const auto impacts = log.of(EventKind::impact);
    REQUIRE(impacts.size() >= 1);
    CHECK(impacts[0].contact == 1);
    CHECK(std::abs(impacts[0].time - (time + h)) < 1e-10);
    CHECK(std::abs(impacts[0].before[0] + x) < 1e-10);
    CHECK(std::abs(impacts[0].before[1] + coming * Y) < 1e-10);
    CHECK(std::abs(impacts[0].before[3] + Y) < 1e-10);
    CHECK(std::abs(state.x(0) - x) < 1e-9);
    CHECK(std::abs(std::abs(state.x(3)) - Y) < 1e-9);
  }
}

/// Where the follower never leaves the cam, its motion is that of the cam, however long it is followed.
TEST_CASE("cam_follower: a slow cam is followed without drift", "[library]") {
  const auto model = make_model("name = 'cam_follower'\nomega = 1.6\nR = 1.2");
  const auto system = model->system(model->values(), {});
  HybridState state = state_at(model->start(model->values()));
  for (int period = 0; period < 500; ++period)
    REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
  CHECK(std::abs(state.x(0) - 0.9) < 1e-14);
  CHECK(std::abs(state.x(1)) < 1e-14);
}

TEST_CASE("rocking_block: impacts agree with a Runge-Kutta-Fehlberg 7(8) integration", "[library]") {
  using Reference = RigidReference<3>;
  constexpr long double alpha = 0.2L, beta = 1.5L, w = 4, r = 0.925L;
  Reference reference;
  reference.rates = [](const Reference::State& x, Reference::State& rate, long double t) {
    const long double slope = alpha * (x[2] - x[0]);
    rate = {x[1], -(std::sin(slope) + alpha * beta * std::cos(slope) * std::cos(w * t)) / alpha, 0};
  };
  reference.gaps = {[](const Reference::State& x, long double) { return x[0]; },
                    [](const Reference::State& x, long double) { return -x[0]; }};
  reference.impact = [](int edge, Reference::State& x, long double) {
    x[1] *= r;
    x[2] = edge == 0 ? -1 : 1;
  };
  check_impacts("name = 'rocking_block'", reference, {0.5L, 0.1L, 1}, 12, EventKind::jump);
}

/// Of a slender block, x'' = x - 1: from rest at x0 it takes arcosh(1/(1 - x0)) to the impact (Housner, a
/// quarter of his period), and comes with the speed sqrt(1 - (1 - x0)^2).
TEST_CASE("rocking_block: free rocking of a slender block in closed form", "[library]") {
  const double x0 = 0.4, r = 0.9, small = 1e-4;
  const auto system = make_system("name = 'rocking_block'\nbeta = 0\nr = 0.9\nalpha = " + fmt_double(small));
  HybridState state = state_at({x0, 0, 1});
  Log log;
  REQUIRE(system->advance(state, for_time(6), &log) == Outcome::ok);
  const auto jumps = log.of(EventKind::jump);
  REQUIRE(jumps.size() >= 3);
  double rest = 1 - x0, time = 0;  // distance from balance at the end of a swing
  for (std::size_t k = 0; k < 3; ++k) {
    time += std::acosh(1 / rest);
    CHECK(std::abs(jumps[k].time - time) < 10 * small * small);
    const double speed = r * std::sqrt(1 - rest * rest);
    CHECK(std::abs(std::abs(jumps[k].after[1]) - speed) < 10 * small * small);
    CHECK(jumps[k].jump == static_cast<int>(k % 2));
    rest = std::sqrt(1 - speed * speed);
    time += std::acosh(1 / rest);
  }
}
