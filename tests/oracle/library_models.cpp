/// The models of data/models beside the same systems written by hand for another integrator, and closed
/// forms.
#include <Eigen/LU>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/oracle/independent/hybrid_reference.hpp"
#include "tests/oracle/independent/rigid_reference.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;
using graze::independent::HybridReference;
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

/// An event of a contact (−1: of the friction) as the engine tells it.
struct Told {
  EventKind kind;
  int contact;
};

/// All events of the model up to a time, and the state then; `told(event)` says what the engine calls an
/// event of the reference, or nothing.
template <std::size_t N, class TellEvent>
void check_events(const std::string& model, const HybridReference<N>& reference, int mode,
                  const typename HybridReference<N>::State& start, double time, std::size_t least,
                  const TellEvent& told) {
  CAPTURE(model);
  auto x = start;
  std::vector<std::pair<long double, Told>> expected;
  for (const auto& e : reference.run(x, mode, 0, static_cast<long double>(time))) {
    if (const std::optional<Told> t = told(e)) expected.push_back({e.time, *t});
  }
  CHECK(expected.size() >= least);
  const auto system = make_system(model);
  HybridState state = state_at(std::vector<double>(start.begin(), start.end()));
  Log log;
  REQUIRE(system->advance(state, for_time(time), &log) == Outcome::ok);
  std::erase_if(log.entries, [](const Log::Entry& e) { return e.kind == EventKind::section; });
  REQUIRE(log.entries.size() == expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    CAPTURE(k);
    CHECK(log.entries[k].kind == expected[k].second.kind);
    CHECK(log.entries[k].contact == expected[k].second.contact);
    CHECK(std::abs(log.entries[k].time - static_cast<double>(expected[k].first)) <= 1e-10);
  }
  for (std::size_t i = 0; i < N; ++i)
    CHECK(std::abs(state.x(static_cast<Eigen::Index>(i)) - static_cast<double>(x[i])) <= 1e-10);
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

TEST_CASE("gear_pair: contacts agree with a Runge-Kutta-Fehlberg 7(8) integration", "[library]") {
  using Reference = HybridReference<2>;
  enum : int { apart, drive, back };
  for (const long double b : {1.0L, 0.2L}) {
    constexpr long double zeta = 0.05L, kappa = 0.2L, F = 0.1L, e = 0.2L, w = 0.9L;
    Reference reference;
    reference.rates = [=](int mode, const Reference::State& x, Reference::State& rate, long double t) {
      const long double depth = mode == drive ? x[0] - b : mode == back ? x[0] + b : 0;
      rate = {x[1],
              F + e * w * w * std::cos(w * t) - 2 * zeta * x[1] - (1 + kappa * std::cos(w * t)) * depth};
    };
    reference.guards = [=](int mode, const Reference::State& x, long double) {
      if (mode == apart) return std::vector<long double>{b - x[0], b + x[0]};
      return std::vector<long double>{mode == drive ? x[0] - b : -b - x[0]};
    };
    reference.next = [](int mode, std::size_t guard, Reference::State&, long double) {
      return mode != apart ? apart : guard == 0 ? drive : back;
    };
    const auto told = [](const Reference::Event& event) -> std::optional<Told> {
      if (event.mode == apart) return Told{EventKind::contact_begin, static_cast<int>(event.guard)};
      return Told{EventKind::contact_end, event.mode == drive ? 0 : 1};
    };
    check_events("name = 'gear_pair'\nb = " + fmt_double(static_cast<double>(b)), reference, apart,
                 {0.15L, 0.3L}, 60, b == 1 ? 10 : 30, told);
  }
}

/// Stop and friction together: engaged or not, and the capsule slides forward, backward or sticks.
TEST_CASE("vibro_impact_capsule: events agree with a Runge-Kutta-Fehlberg 7(8) integration", "[library]") {
  using Reference = HybridReference<4>;
  enum : int { forward, backward, stuck };
  constexpr long double gamma = 5, xi = 0.05L, beta = 15, delta = 0.02L, alpha = 1.6L, w = 0.95L, f = 1;
  constexpr int engaged = 4;
  const auto inner_force = [=](int mode, const Reference::State& x) {
    const long double spring = x[2] - x[0] + 2 * xi * (x[3] - x[1]);
    return (mode & engaged) != 0 ? spring - beta * (x[0] - x[2] - delta) : spring;
  };
  Reference reference;
  reference.rates = [=](int mode, const Reference::State& x, Reference::State& rate, long double t) {
    const long double inner = inner_force(mode, x);
    const int slides = mode & 3;
    const long double capsule = slides == stuck ? 0 : -inner - (slides == forward ? f : -f);
    rate = {x[1], alpha * std::cos(w * t) + inner, slides == stuck ? 0 : x[3], capsule / gamma};
  };
  reference.guards = [=](int mode, const Reference::State& x, long double) {
    const long double depth = x[0] - x[2] - delta, load = -inner_force(mode, x);
    std::vector<long double> list = {(mode & engaged) != 0 ? depth : -depth};
    if ((mode & 3) == stuck) {
      list.insert(list.end(), {f - load, f + load});
    } else {
      list.push_back((mode & 3) == forward ? x[3] : -x[3]);
    }
    return list;
  };
  reference.next = [=](int mode, std::size_t guard, Reference::State& x, long double) {
    if (guard == 0) return mode ^ engaged;
    const int contact = mode & engaged;
    if ((mode & 3) == stuck) return contact | (guard == 1 ? forward : backward);
    x[3] = 0;
    const long double load = -inner_force(mode, x);
    return contact | (std::abs(load) <= f ? stuck : load > 0 ? forward : backward);
  };
  const auto told = [](const Reference::Event& event) -> std::optional<Told> {
    if (event.guard == 0)
      return Told{(event.mode & engaged) != 0 ? EventKind::contact_end : EventKind::contact_begin, 0};
    if ((event.mode & 3) == stuck) return Told{EventKind::stick_to_slip, -1};
    return Told{(event.next & 3) == stuck ? EventKind::slip_to_stick : EventKind::slip_reversal, -1};
  };
  check_events("name = 'vibro_impact_capsule'", reference, forward, {-0.1L, 0.5L, 0, 0.3L}, 40, 30, told);
}

/// Released by a vanishing force, the ring comes back at once: nothing acts until the gap opens again.
TEST_CASE("jeffcott_rotor: contacts agree with a Runge-Kutta-Fehlberg 7(8) integration", "[library]") {
  using Reference = HybridReference<4>;
  enum : int { open, engaged, recovering };
  constexpr long double zeta = 0.1L, e = 0.3L, w = 1.8L, x0 = 0.1L, k = 20, c = 0.1L, mu = 0.1L;
  struct Polar {
    long double depth, rate, normal[2], along[2];
  };
  const auto polar = [=](const Reference::State& x) {
    const long double u = x[0] - x0, v = x[2], r = std::hypot(u, v);
    return Polar{r - 1, (u * x[1] + v * x[3]) / r, {u / r, v / r}, {-v / r, u / r}};
  };
  Reference reference;
  reference.rates = [=](int mode, const Reference::State& x, Reference::State& rate, long double t) {
    const Polar p = polar(x);
    const long double F = mode == engaged ? k * p.depth + c * p.rate : 0;
    const auto force = [&](int i) { return -F * (p.normal[i] + mu * p.along[i]); };
    rate = {x[1], e * w * w * std::cos(w * t) - 2 * zeta * x[1] - x[0] + force(0), x[3],
            e * w * w * std::sin(w * t) - 2 * zeta * x[3] - x[2] + force(1)};
  };
  reference.guards = [=](int mode, const Reference::State& x, long double) {
    const Polar p = polar(x);
    return std::vector<long double>{mode == open      ? -p.depth
                                    : mode == engaged ? k * p.depth + c * p.rate
                                                      : p.depth};
  };
  reference.next = [](int mode, std::size_t, Reference::State&, long double) { return (mode + 1) % 3; };
  const auto told = [](const Reference::Event& event) -> std::optional<Told> {
    if (event.mode == recovering) return std::nullopt;
    return Told{event.mode == open ? EventKind::contact_begin : EventKind::contact_end, 0};
  };
  check_events("name = 'jeffcott_rotor'", reference, open, {0.3L, 0.2L, 0.1L, 0.5L}, 40, 10, told);
}

TEST_CASE("bilinear_oscillator: contacts agree with a Runge-Kutta-Fehlberg 7(8) integration", "[library]") {
  using Reference = HybridReference<2>;
  constexpr long double zeta = 0.05L, F = 1, w = 1.5L, x0 = 0.1L, k = 15, c = 0.1L;
  Reference reference;
  reference.rates = [=](int mode, const Reference::State& x, Reference::State& rate, long double t) {
    const long double force = mode == 1 ? k * (x[0] - x0) + c * x[1] : 0;
    rate = {x[1], F * std::cos(w * t) - 2 * zeta * x[1] - x[0] - force};
  };
  reference.guards = [=](int mode, const Reference::State& x, long double) {
    return std::vector<long double>{mode == 1 ? x[0] - x0 : x0 - x[0]};
  };
  reference.next = [](int mode, std::size_t, Reference::State&, long double) { return 1 - mode; };
  const auto told = [](const Reference::Event& event) -> std::optional<Told> {
    return Told{event.mode == 0 ? EventKind::contact_begin : EventKind::contact_end, 0};
  };
  check_events("name = 'bilinear_oscillator'\nx_0 = 0.1", reference, 0, {-0.3L, 0.2L}, 40, 10, told);
}
