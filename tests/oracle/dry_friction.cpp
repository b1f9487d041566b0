/// Dry friction in the linear family against closed forms, conservation laws and an independent integration.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "analysis/maps/attractor.hpp"
#include "analysis/maps/orbit.hpp"
#include "core/contact/chatter.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

using Real = long double;
using std::numbers::pi;

/// x'' + x = cos Ωt − S sgn x'.
std::string coulomb_oscillator(double omega, double S) {
  return "name = 'linear_stops'\nomega = " + fmt_double(omega) +
         "\nmass = [[1.0]]\nstiffness = [[1.0]]\nforce = [{ cosine = [1.0] }]\n"
         "friction = [{ direction = [1.0], amplitude = " +
         fmt_double(S) + " }]";
}

/// The same, event by event in closed form: slip of sign σ is x = A cos t + B sin t + cos Ωt/(1 − Ω²) − σS
/// on its own clock; zeros by scanning and bisection.
class IndependentOscillator {
 public:
  struct Instant {
    EventKind kind;
    Real time, x;
  };
  std::vector<Instant> instants;

  IndependentOscillator(Real omega, Real S) : omega_(omega), S_(S) {}

  void run(Real x, Real v, Real end) {
    Real t = 0;
    int sign = v > 0 ? 1 : v < 0 ? -1 : 0;
    while (t < end) {
      if (sign == 0) {
        t = zero(t, end, [&](Real s) { return S_ * S_ - square(std::cos(omega_ * s) - x); });
        sign = std::cos(omega_ * t) > x ? 1 : -1;
        note(EventKind::stick_to_slip, t, x, end);
        continue;
      }
      const Real g = 1 / (1 - omega_ * omega_);
      const Real a = x - g * std::cos(omega_ * t) + static_cast<Real>(sign) * S_;
      const Real b = v + g * omega_ * std::sin(omega_ * t);
      const auto speed = [&, t, sign](Real s) {
        return static_cast<Real>(sign) *
               (-a * std::sin(s - t) + b * std::cos(s - t) - g * omega_ * std::sin(omega_ * s));
      };
      const Real stop = zero(t, end, speed);
      x = a * std::cos(stop - t) + b * std::sin(stop - t) + g * std::cos(omega_ * stop) -
          static_cast<Real>(sign) * S_;
      v = 0;
      t = stop;
      const Real force = std::cos(omega_ * t) - x;
      if (std::abs(force) < S_) {
        sign = 0;
        note(EventKind::slip_to_stick, t, x, end);
      } else {
        sign = force > 0 ? 1 : -1;
        note(EventKind::slip_reversal, t, x, end);
      }
    }
  }

 private:
  static Real square(Real a) { return a * a; }
  void note(EventKind kind, Real t, Real x, Real end) {
    if (t < end) instants.push_back({kind, t, x});
  }
  /// First zero of f after t, where f starts from zero upwards or above it.
  template <class F>
  static Real zero(Real t, Real end, const F& f) {
    const Real step = 1e-3L;
    Real low = t + 1e-6L;
    while (low < end && f(low + step) > 0) low += step;
    Real high = low + step;
    for (int k = 0; k < 80; ++k) {
      const Real middle = (low + high) / 2;
      (f(middle) > 0 ? low : high) = middle;
    }
    return (low + high) / 2;
  }
  Real omega_, S_;
};

double energy(const std::vector<double>& s, double m1, double m2, double k1, double k2) {
  return (m1 * s[1] * s[1] + m2 * s[3] * s[3] + k1 * s[0] * s[0] + k2 * (s[0] - s[2]) * (s[0] - s[2])) / 2;
}

bool is_slip_event(EventKind kind) {
  return kind == EventKind::slip_to_stick || kind == EventKind::stick_to_slip ||
         kind == EventKind::slip_reversal;
}

}  // namespace

TEST_CASE("forced Coulomb oscillator: amplitude of symmetric orbits without sticking, closed form") {
  struct Point {
    double omega, S, amplitude;
  };
  for (const Point& p : {Point{0.6, 0.2, 1.550602854687}, Point{1.5, 0.2, 0.765941686205},
                         Point{0.7, 0.3, 1.885699850414}, Point{1.3, 0.5, 1.035328007705}}) {
    CAPTURE(p.omega, p.S);
    const auto system = make_system(coulomb_oscillator(p.omega, p.S));
    HybridState state = state_at({0, 0});
    for (int k = 0; k < 400; ++k) REQUIRE(system->advance(state, Section{}, nullptr) == Outcome::ok);
    const Orbit orbit = refine_orbit(PoincareMap(*system, Section{}), state, 1);
    REQUIRE(orbit.closed);
    CHECK(spectral_radius(orbit) < 1);
    HybridState on = orbit.start;
    Log log;
    REQUIRE(system->advance(on, Section{}, &log) == Outcome::ok);
    REQUIRE(log.entries.size() == 2);
    for (const auto& e : log.entries) {
      CHECK(e.kind == EventKind::slip_reversal);
      CHECK(e.friction == 0);
      CHECK(std::abs(e.after[0]) == Approx(p.amplitude).margin(1e-11).epsilon(0));
      CHECK(e.after[1] == 0);
    }
    const double tangent = p.S * std::tan(pi / (2 * p.omega)) / p.omega;
    const double resonance = 1 / (1 - p.omega * p.omega);
    CHECK(std::sqrt(resonance * resonance - tangent * tangent) ==
          Approx(p.amplitude).margin(1e-11).epsilon(0));
  }
}

TEST_CASE("forced Coulomb oscillator: stick phases against an independent integration") {
  for (const auto& [omega, S] :
       {std::pair{0.3, 0.5}, std::pair{0.22, 0.7}, std::pair{0.45, 0.3}, std::pair{0.15, 0.9}}) {
    CAPTURE(omega, S);
    const double end = 25 * 2 * pi / omega;
    IndependentOscillator reference(static_cast<Real>(omega), static_cast<Real>(S));
    reference.run(0.1L, 0.7L, static_cast<Real>(end));
    const auto system = make_system(coulomb_oscillator(omega, S));
    HybridState state = state_at({0.1, 0.7});
    Log log;
    REQUIRE(system->advance(state, for_time(end), &log) == Outcome::ok);
    REQUIRE(log.entries.size() == reference.instants.size());
    REQUIRE(log.of(EventKind::slip_to_stick).size() > 5);
    for (std::size_t k = 0; k < log.entries.size(); ++k) {
      CAPTURE(k);
      CHECK(log.entries[k].kind == reference.instants[k].kind);
      CHECK(log.entries[k].time ==
            Approx(static_cast<double>(reference.instants[k].time)).margin(1e-11).epsilon(0));
      CHECK(log.entries[k].after[0] ==
            Approx(static_cast<double>(reference.instants[k].x)).margin(1e-12).epsilon(0));
    }
  }
}

TEST_CASE("free decay under friction: 2F/k less per half cycle, then rest in the dead band") {
  const double F = 0.3, k = 4, m = 2.25;
  const double half_cycle = pi / std::sqrt(k / m);
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[2.25]]\nstiffness = [[4.0]]\n"
      "friction = [{ direction = [1.0], amplitude = 0.3 }]");
  for (const double start : {1.0, -0.77, 0.074, 0.6}) {
    CAPTURE(start);
    HybridState state = state_at({start, 0});
    Log log;
    REQUIRE(system->advance(state, for_time(20 * half_cycle), &log) == Outcome::ok);
    double x = start;
    std::size_t event = 0;
    while (std::abs(k * x) > F) {
      x = (std::abs(x) - 2 * F / k) * (x > 0 ? -1 : 1);
      REQUIRE(event < log.entries.size());
      CHECK(log.entries[event].time ==
            Approx(static_cast<double>(event + 1) * half_cycle).margin(1e-12).epsilon(0));
      CHECK(log.entries[event].after[0] == Approx(x).margin(1e-14).epsilon(0));
      const bool rests = std::abs(k * x) <= F;
      CHECK(log.entries[event].kind == (rests ? EventKind::slip_to_stick : EventKind::slip_reversal));
      ++event;
    }
    CHECK(log.entries.size() == std::max<std::size_t>(event, 1));  // at rest from the start: told once
    CHECK(state.x(0) == log.entries.back().after[0]);              // to the last bit
    CHECK(state.x(1) == 0);
  }
}

TEST_CASE("free decay that ends exactly at the edge of the dead band rests there") {
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[1.0]]\nstiffness = [[1.0]]\n"
      "friction = [{ direction = [1.0], amplitude = 1.0 }]");
  HybridState state = state_at({5, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(1000), &log) == Outcome::ok);
  CHECK(log.entries.size() == 2);
  CHECK(log.entries.back().kind == EventKind::slip_to_stick);
  CHECK(std::abs(state.x(0)) == Approx(1).margin(1e-14).epsilon(0));
}

TEST_CASE("energy: a free system loses what friction and impacts take, exactly") {
  const double m1 = 1.3, m2 = 0.7, k1 = 1.1, k2 = 0.8;
  const std::array<double, 3> amplitude = {0.013, 0.021, 0.017};
  const auto model = make_model(
      "name = 'two_dof_stops'\nA1 = 0\nA2 = 0\nc1 = 0\nc2 = 0\nm1 = 1.3\nm2 = 0.7\nk1 = 1.1\nk2 = 0.8\n"
      "d1 = 0.3\nd2 = -0.2\nr1 = 0.9\nr2 = 0.8\nf1 = 0.013\nf2 = 0.021\nf12 = 0.017");
  const auto system = model->system(model->values(), {});
  HybridState state = state_at({-1.5, 0.3, 1.2, -2.0});
  Log log;
  std::vector<double> last(state.x.begin(), state.x.end());
  const double before = energy(last, m1, m2, k1, k2);
  REQUIRE(system->advance(state, for_time(60), &log) == Outcome::ok);
  log.entries.push_back({60, EventKind::section, -1, 0, {state.x.begin(), state.x.end()}, {}});
  double lost = 0;
  int impacts = 0;
  for (const auto& e : log.entries) {
    if (e.before.empty()) continue;  // a near miss
    const double d1 = std::abs(e.before[0] - last[0]), d2 = std::abs(e.before[2] - last[2]);
    const double d12 = std::abs(e.before[0] - e.before[2] - last[0] + last[2]);
    lost += amplitude[0] * d1 + amplitude[1] * d2 + amplitude[2] * d12;
    if (e.kind == EventKind::impact) {
      lost += energy(e.before, m1, m2, k1, k2) - energy(e.after, m1, m2, k1, k2);
      ++impacts;
    }
    last = e.kind == EventKind::section ? e.before : e.after;
  }
  REQUIRE(impacts > 5);
  REQUIRE(log.of(EventKind::slip_reversal).size() > 10);
  REQUIRE(log.of(EventKind::slip_to_stick).size() > 1);
  const double after = energy(last, m1, m2, k1, k2);
  CHECK(after < before / 10);
  CHECK(before - after == Approx(lost).margin(1e-12).epsilon(0));
}

TEST_CASE("friction between two masses only: momentum stays, they stick and slip on each other") {
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[2.0, 0.0], [0.0, 1.0]]\nstiffness = [[1.0, -1.0], [-1.0, 1.0]]\n"
      "friction = [{ direction = [1.0, -1.0], amplitude = 0.25 }]");
  HybridState state = state_at({0.0, 0.4, 3.1, -0.2});
  const double momentum = 2 * 0.4 - 0.2, centre = 3.1 / 3;
  Log log;
  REQUIRE(system->advance(state, for_time(40), &log) == Outcome::ok);
  REQUIRE(log.of(EventKind::slip_reversal).size() > 3);
  REQUIRE(log.of(EventKind::slip_to_stick).size() == 1);
  for (const auto& e : log.entries) {
    CHECK(2 * e.after[1] + e.after[3] == Approx(momentum).margin(1e-13).epsilon(0));
    CHECK((2 * e.after[0] + e.after[2]) / 3 ==
          Approx(centre + momentum / 3 * e.time).margin(1e-12).epsilon(0));
  }
  CHECK(state.x(1) == Approx(momentum / 3).margin(1e-14).epsilon(0));
  CHECK(state.x(3) == Approx(momentum / 3).margin(1e-14).epsilon(0));
  CHECK(std::abs(state.x(2) - state.x(0)) <= 0.25);
}

TEST_CASE("the motion of masses that friction holds together is periodic, and stays where it is") {
  // m1 x'' + (c) x' + k x = f cos(0.9 t) / 0.3 of both as one body; the spring between them holds what it
  // held: a multiplier of 1, of rounding more or less.
  for (const double f : {0.38, 0.39, 0.4, 0.41, 0.42}) {
    CAPTURE(f);
    const auto system = make_system(
        "name = 'linear_stops'\nomega = 0.9\nmass = [[1.3, 0.0], [0.0, 0.8]]\n"
        "stiffness = [[3.1, -1.2], [-1.2, 1.2]]\ndamping = [[0.2, 0.0], [0.0, 0.0]]\n"
        "force = [{ cosine = [" +
        fmt_double(f / 0.3) +
        ", 0.0] }]\n"
        "friction = [{ direction = [1.0, -1.0], amplitude = 5.0 }]");
    const PoincareMap map(*system, Section{});
    const Attractor found = find_attractor(map, state_at({0.3, 0.0, 0.1, 0.0}), {});
    CHECK(found.kind == AttractorClass::periodic);
    CHECK(found.orbit.period == 1);
    HybridState held = found.last;
    const double apart = held.x(0) - held.x(2);
    CHECK(apart != 0);
    for (int turn = 0; turn < 3000; ++turn) REQUIRE(map.iterate(held) == Outcome::ok);
    // 1e-14 a turn: the rounding of the matrices that move it
    CHECK(held.x(0) - held.x(2) == Approx(apart).margin(1e-10).epsilon(0));
  }
}

TEST_CASE("masses that friction holds on every way stay to the last bit, whichever way it points") {
  const struct {
    const char* equations;
    std::initializer_list<double> start;
  } held[] = {{"mass = [[1.06]]\ndamping = [[0.09]]\nstiffness = [[1.2]]\nforce = [{ cosine = [0.12] }]\n"
               "stop = [{ normal = [-0.978], position = 0.42, restitution = 0.7 }]\n"
               "friction = [{ direction = [-0.978], amplitude = 0.2 }]",
               {0, 0}},
              {"mass = [[1.06, 0.1], [0.1, 0.8]]\nstiffness = [[1.2, 0.2], [0.2, 0.9]]\n"
               "force = [{ cosine = [0.12, 0.05] }]\nconstant = [0.3, 0.4]\n"
               "friction = [{ direction = [-0.615, 0.823], amplitude = 5.0 }, "
               "{ direction = [0.7, 0.6], amplitude = 4.0 }]",
               {0.1, 0, 0.2, 0}}};
  for (const auto& [equations, start] : held) {
    CAPTURE(equations);
    const auto system = make_system(std::string("name = 'linear_stops'\nomega = 0.987\n") + equations);
    const PoincareMap map(*system, Section{});
    HybridState state = state_at(start);
    const Eigen::VectorXd before = state.x;
    for (int turn = 0; turn < 300; ++turn) REQUIRE(map.iterate(state) == Outcome::ok);
    CHECK((state.x - before).cwiseAbs().maxCoeff() == 0);
    const Attractor found = find_attractor(map, state_at(start), {});
    CHECK(found.kind == AttractorClass::periodic);
    CHECK(found.orbit.period == 1);
  }
}

TEST_CASE("a mass at rest on its stop leaves when friction is used up too") {
  // x'' = cos t on x <= 0 with friction F: pressed, then held, and gone when cos t = −F.
  const double F = 0.4;
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[1.0]]\nforce = [{ cosine = [1.0] }]\n"
      "stop = [{ normal = [1.0], position = 0.0 }]\n"
      "friction = [{ direction = [1.0], amplitude = 0.4 }]");
  HybridState state = state_at({0, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(2.1), &log) == Outcome::ok);
  REQUIRE(log.entries.size() == 4);
  CHECK(log.of(EventKind::stick).at(0).time == 0);
  CHECK(log.of(EventKind::slip_to_stick).at(0).time == 0);
  CHECK(log.of(EventKind::release).at(0).time == Approx(std::acos(-F)).margin(1e-14).epsilon(0));
  CHECK(log.of(EventKind::stick_to_slip).at(0).time == Approx(std::acos(-F)).margin(1e-14).epsilon(0));
  const double t0 = std::acos(-F), t = 2.1 - t0;
  CHECK(state.x(0) ==
        Approx(std::cos(t0) - std::cos(2.1) - t * std::sin(t0) + F * t * t / 2).margin(1e-14).epsilon(0));
}

TEST_CASE("two masses at rest on stops and on each other: forces shift until none can hold") {
  // Mass 1 is pulled off by 0.5, mass 2 pressed on by cos t; friction 0.8 between them holds both until the
  // sum turns, cos t = 0.5. Then they leave together.
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[1.0, 0.0], [0.0, 1.0]]\nconstant = [-0.5, 0.0]\n"
      "force = [{ cosine = [0.0, 1.0] }]\n"
      "stop = [{ normal = [1.0, 0.0], position = 0.0 }, { normal = [0.0, 1.0], position = 0.0 }]\n"
      "friction = [{ direction = [1.0, -1.0], amplitude = 0.8 }]");
  HybridState state = state_at({0, 0, 0, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(1.3), &log) == Outcome::ok);
  CHECK(log.of(EventKind::stick).size() == 2);
  REQUIRE(log.of(EventKind::release).size() == 2);
  for (const auto& e : log.of(EventKind::release))
    CHECK(e.time == Approx(std::acos(0.5)).margin(1e-14).epsilon(0));
  CHECK(log.of(EventKind::stick_to_slip).empty());
  CHECK(state.x(0) == Approx(state.x(2)).margin(1e-15).epsilon(0));
  CHECK(state.x(0) < 0);
  const double t0 = std::acos(0.5), t = 1.3 - t0;
  const double x = (std::cos(t0) - std::cos(1.3) - t * std::sin(t0) - 0.5 * t * t / 2) / 2;
  CHECK(state.x(0) == Approx(x).margin(1e-14).epsilon(0));
}

TEST_CASE("chatter under friction: accumulation in closed form") {
  // Pressed by P with friction F: up under P + F, down under P − F; ratio r √((P − F)/(P + F)).
  const double P = 1, F = 0.4, r = 0.7, h = 0.5;
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[1.0]]\nconstant = [1.0]\n"
      "stop = [{ normal = [1.0], position = 0.0, restitution = 0.7 }]\n"
      "friction = [{ direction = [1.0], amplitude = 0.4 }]");
  HybridState state = state_at({-h, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(20), &log) == Outcome::ok);
  const double first = std::sqrt(2 * h / (P - F)), v = r * (P - F) * first;
  const double rho = r * std::sqrt((P - F) / (P + F));
  const double expected = first + v * (1 / (P + F) + 1 / std::sqrt((P + F) * (P - F))) / (1 - rho);
  REQUIRE(log.of(EventKind::stick).size() == 1);
  CHECK(log.of(EventKind::stick)[0].time == Approx(expected).margin(1e-12).epsilon(0));
  CHECK(log.of(EventKind::impact).size() > 8);
  CHECK(state.x(0) == 0);
  // With more friction than pressing the mass comes to rest on its way up, off the stop.
  const auto weak = make_system(
      "name = 'linear_stops'\nmass = [[1.0]]\nconstant = [0.3]\n"
      "stop = [{ normal = [1.0], position = 0.0, restitution = 0.7 }]\n"
      "friction = [{ direction = [1.0], amplitude = 0.4 }]");
  HybridState thrown = state_at({-0.5, 1});
  Log once;
  REQUIRE(weak->advance(thrown, for_time(20), &once) == Outcome::ok);
  const double w2 = 1 - 2 * 0.1 * 0.5, up = 0.49 * w2 / (2 * 0.7);
  CHECK(once.of(EventKind::impact).size() == 1);
  CHECK(once.of(EventKind::stick).empty());
  CHECK(thrown.x(0) == Approx(-up).margin(1e-15).epsilon(0));
}

TEST_CASE("chatter under friction on a neighbour that is held: as on the ground") {
  // Mass 1 carries the friction of mass 2 without moving, held by its own friction or pressed to its stop.
  const auto pair = [](const std::string& press, const std::string& friction) {
    return "name = 'linear_stops'\nmass = [[1.0, 0.0], [0.0, 1.0]]\nconstant = [" + press +
           ", 1.0]\nstop = [{ normal = [1.0, 0.0], position = 0.0 }, "
           "{ normal = [0.0, 1.0], position = 0.0, restitution = 0.7 }]\nfriction = [" +
           friction + "]";
  };
  const std::string ground = "{ direction = [0.0, 1.0], amplitude = 0.4 }";
  const std::string between = "{ direction = [1.0, -1.0], amplitude = 0.4 }";
  const std::string hold = ", { direction = [1.0, 0.0], amplitude = 0.5 }";
  const auto run = [](const std::string& text, double begin) {
    const auto system = make_system(text);
    HybridState state = state_at({begin, 0, -0.5, 0});
    Log log;
    REQUIRE(system->advance(state, for_time(20), &log) == Outcome::ok);
    CHECK(state.x(0) == begin);
    CHECK(state.x(2) == 0);
    REQUIRE(log.of(EventKind::stick, 1).size() == 1);
    return std::pair(log.of(EventKind::stick, 1)[0].time, log.of(EventKind::impact, 1).size());
  };
  const auto [time, impacts] = run(pair("0.0", ground), -1);
  for (const auto& [text, begin] :
       {std::pair(pair("0.0", between + hold), -1.0), std::pair(pair("0.5", between), 0.0),
        std::pair(pair("0.3", between + hold), 0.0)}) {
    const auto [also_time, as_many] = run(text, begin);
    CHECK(also_time == Approx(time).margin(1e-13).epsilon(0));
    CHECK(as_many == impacts);
  }
}

TEST_CASE("chatter under friction on a neighbour that slips on one way is followed") {
  // Mass 1 bears its load of 0.2 and the friction of mass 2 against it, not with it: pulled by 0.1 while mass
  // 2 falls, braked by 0.7 while it rises. Mass 2 falls under 0.6 and rises under 1.4 as on the ground.
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[1.0, 0.0], [0.0, 1.0]]\nconstant = [0.2, 1.0]\n"
      "stop = [{ normal = [0.0, 1.0], position = 0.0, restitution = 0.7 }]\n"
      "friction = [{ direction = [1.0, -1.0], amplitude = 0.4 }, "
      "{ direction = [1.0, 0.0], amplitude = 0.5 }]");
  HybridState state = state_at({-1, 0, -0.5, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(20), &log) == Outcome::ok);
  const double first = std::sqrt(2 * 0.5 / 0.6), v = 0.7 * 0.6 * first;
  const double ratio = 0.7 * std::sqrt(0.6 / 1.4),
               falls = first * first + v * v / (0.84 * (1 - ratio * ratio));
  CHECK(state.x(0) == Approx(-1 + (0.1 / 2 + 0.1 * 0.1 / (2 * 0.7)) * falls).margin(1e-13).epsilon(0));
  CHECK(state.x(2) == 0);
  const double expected = first + v * (1 / 1.4 + 1 / std::sqrt(0.84)) / (1 - ratio);
  REQUIRE(log.of(EventKind::stick, 0).size() == 1);
  CHECK(log.of(EventKind::stick, 0)[0].time == Approx(expected).margin(1e-12).epsilon(0));
}

TEST_CASE("chatter under friction: duration to second order, against the bounces one by one") {
  // g'' = −(a + ȧ t ± φ) − γ g', the sign up or down; each way in closed form.
  const Real a = 1.3L, phi = 0.4L, rate = 0.7L, damping = 0.25L, r = 0.7L;
  const auto speed = [&](Real v, Real pressing, Real s) {
    const Real c = v + pressing / damping - rate / (damping * damping);
    return c * std::exp(-damping * s) - pressing / damping - rate * (s / damping - 1 / (damping * damping));
  };
  const auto gap = [&](Real g, Real v, Real pressing, Real s) {
    const Real c = v + pressing / damping - rate / (damping * damping);
    return g - c * std::expm1(-damping * s) / damping - pressing * s / damping -
           rate * (s * s / (2 * damping) - s / (damping * damping));
  };
  const auto root = [](Real s, const auto& f, const auto& slope) {
    for (int k = 0; k < 20; ++k) s -= f(s) / slope(s);
    return s;
  };
  std::array<Real, 2> error{};
  for (std::size_t k = 0; k < 2; ++k) {
    const Real first = k == 0 ? 1e-2L : 1e-3L;
    Real t = 0;
    for (Real v = first; v > 1e-9L * first;) {
      const Real up = a + rate * t + phi;
      const Real rise = root(
          v / up, [&](Real s) { return speed(v, up, s); },
          [&](Real s) { return -up - rate * s - damping * speed(v, up, s); });
      const Real top = gap(0, v, up, rise);
      const Real down = a + rate * (t + rise) - phi;
      const Real fall = root(
          std::sqrt(2 * top / down), [&](Real s) { return gap(top, 0, down, s); },
          [&](Real s) { return speed(0, down, s); });
      v = -r * speed(0, down, fall);
      t += rise + fall;
    }
    Rebound<double> rebound{static_cast<double>(first), 0.7, 1.3, 0.7, 0.25};
    rebound.friction = 0.4;
    error[k] = std::abs(t - static_cast<Real>(chatter_duration(rebound)));
  }
  CHECK(error[0] < 1e-6L);
  CHECK(error[0] / error[1] == Approx(1000).epsilon(0.05));
  // No friction left: the formula without.
  Rebound<double> little{1e-3, 0.7, 1.3, 0.7, 0.25};
  const double without = chatter_duration(little);
  little.friction = 1e-12;
  CHECK(chatter_duration(little) == Approx(without).epsilon(1e-10));
  CHECK(chatter_gap_integral(little) ==
        Approx(chatter_gap_integral(Rebound<double>{1e-3, 0.7, 1.3, 0.7, 0.25})).epsilon(1e-10));
}

TEST_CASE("chatter under friction: where the sequence is cut changes accumulation by the third order") {
  const auto model = make_model("name = 'two_dof_stops'\nf1 = 0.09\nf2 = 0.02");
  const auto accumulation = [&](double chatter, Eigen::VectorXd& end) {
    Tolerance tolerance;
    tolerance.chatter = chatter;
    tolerance.turn = 0.5;
    const auto system = model->system(model->values(), tolerance);
    HybridState state = state_at({0, 0, 0, 0});
    Log log;
    REQUIRE(system->advance(state, for_time(38), &log) == Outcome::ok);
    REQUIRE(log.of(EventKind::chatter_complete, 0).size() == 1);
    end = state.x;
    return log.of(EventKind::chatter_complete, 0)[0].time;
  };
  // Cut much later the time loses digits: a bounce that turns in flight is no longer seen from its contact.
  Eigen::VectorXd fine, middle, coarse;
  const double reference = accumulation(8e-4, fine);
  const double of_middle = std::abs(accumulation(8e-3, middle) - reference);
  const double of_coarse = std::abs(accumulation(8e-2, coarse) - reference);
  CHECK(of_coarse < 1e-6);
  CHECK(of_middle < of_coarse / 200);
  CHECK((coarse - fine).norm() < 1e-9);
  CHECK((middle - fine).norm() < 1e-13);
}

TEST_CASE("a mass that rides on another chatters to rest with it") {
  // Both are pressed to the stop, which only mass 1 meets; after every impact mass 2 slides on.
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[1.0, 0.0], [0.0, 1.0]]\nconstant = [1.0, 0.2]\n"
      "stop = [{ normal = [1.0, 0.0], position = 0.0, restitution = 0.6 }]\n"
      "friction = [{ direction = [1.0, -1.0], amplitude = 0.5 }]");
  HybridState state = state_at({-0.5, 0, 0, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(20), &log) == Outcome::ok);
  CHECK(state.x(0) == 0);
  CHECK(state.x(1) == 0);
  CHECK(std::abs(state.x(3)) < 1e-12);
  CHECK(log.of(EventKind::stick).size() == 1);
  CHECK(log.entries.back().kind == EventKind::slip_to_stick);
}

TEST_CASE("two frictions along one direction rub as one, and change together") {
  const auto mass = [](const std::string& frictions) {
    return make_system(
        "name = 'linear_stops'\nomega = 0.99\nmass = [[1.365]]\ndamping = [[0.164]]\nstiffness = [[1.036]]\n"
        "force = [{ cosine = [-1.132] }]\n"
        "stop = [{ normal = [1.0], position = 0.116, restitution = 0.314 }]\nfriction = [" +
        frictions + "]");
  };
  const auto one = mass("{ direction = [1.0], amplitude = 0.254 }");
  HybridState single = state_at({0, 0});
  Log told;
  REQUIRE(one->advance(single, for_time(60), &told) == Outcome::ok);
  for (const char* second : {"[1.0]", "[-1.0]"}) {
    CAPTURE(second);
    const auto two = mass("{ direction = [-1.0], amplitude = 0.081 }, { direction = " + std::string(second) +
                          ", amplitude = 0.173 }");
    HybridState both = state_at({0, 0});
    Log log;
    REQUIRE(two->advance(both, for_time(60), &log) == Outcome::ok);
    CHECK((single.x - both.x).cwiseAbs().maxCoeff() < 1e-12);
    std::size_t k = 0;
    for (const Log::Entry& e : told.entries) {
      for (int friction = 0; friction < (is_slip_event(e.kind) ? 2 : 1); ++friction, ++k) {
        REQUIRE(k < log.entries.size());
        CHECK(log.entries[k].kind == e.kind);
        CHECK(log.entries[k].time == Approx(e.time).epsilon(1e-12));
        if (is_slip_event(e.kind)) CHECK(log.entries[k].friction == friction);
      }
    }
    CHECK(k == log.entries.size());
    CHECK(log.of(EventKind::slip_to_stick).size() > 1);
    CHECK(log.of(EventKind::slip_reversal).size() > 50);
  }
}

TEST_CASE("two frictions along one direction let go together, by however little they are exceeded") {
  // Before omega = 0.254777297719 the force exceeds what they hold by less than 1e-12, and for some 1e-5.
  const auto masses = [](double omega, const std::string& frictions) {
    return make_system(
        "name = 'linear_stops'\nomega = " + fmt_double(omega) +
        "\nmass = [[0.706, 0.0], [0.0, 0.798]]\ndamping = [[0.203, -0.152], [-0.152, 0.152]]\n"
        "stiffness = [[3.357, -2.509], [-2.509, 2.509]]\n"
        "force = [{ cosine = [-0.589, -1.063] }, { order = 2, cosine = [-0.076, -0.147], sine = [0.293, "
        "-0.223] }]\n"
        "stop = [{ normal = [-1.0, 1.0], position = 0.684, restitution = 0.848 }]\nfriction = [" +
        frictions + "]");
  };
  const std::vector<double> start = {-2.8238662452276149, 0.066527028336152788, -3.3397989619757622,
                                     0.020125796886105173};
  int brief = 0;
  for (int k = -10; k <= 10; ++k) {
    const double omega = 0.25477729771908481 + 2e-13 * k;
    CAPTURE(omega);
    const auto one = masses(omega, "{ direction = [-1.0, 1.0], amplitude = 0.208 }");
    const auto two = masses(omega,
                            "{ direction = [-1.0, 1.0], amplitude = 0.119 }, "
                            "{ direction = [-1.0, 1.0], amplitude = 0.089 }");
    HybridState single = state_at(start), both = single;
    Log told, log;
    REQUIRE(one->advance(single, {}, &told) == Outcome::ok);
    REQUIRE(two->advance(both, {}, &log) == Outcome::ok);
    CHECK((single.x - both.x).cwiseAbs().maxCoeff() < 1e-11);
    const std::size_t slips = told.of(EventKind::stick_to_slip).size();
    CHECK(log.of(EventKind::stick_to_slip).size() == 2 * slips);
    CHECK(log.of(EventKind::slip_to_stick).size() == 2 * told.of(EventKind::slip_to_stick).size());
    if (slips == 4) ++brief;
  }
  CHECK(brief > 5);
  CHECK(brief < 15);
}

TEST_CASE("two_dof_stops and linear_stops agree with friction everywhere") {
  struct Run {
    double f1, f2, f12, d1, d2, delta;
  };
  for (const Run& r :
       {Run{0.1, 0, 0, 0.3, 0.3, 0.16}, Run{0.05, 0.03, 0.1, 0.3, 0.3, 0.3}, Run{0, 0, 0.08, -0.3, 0.1, 0.25},
        Run{0.2, 0.1, 0, -0.3, 0.1, 0.8}, Run{0.02, 0.3, 0.15, 0.25, -0.4, 0.5}}) {
    CAPTURE(r.f1, r.f2, r.f12);
    const auto number = [](double x) { return fmt_double(x); };
    const auto first = make_system("name = 'two_dof_stops'\nf1 = " + number(r.f1) + "\nf2 = " + number(r.f2) +
                                   "\nf12 = " + number(r.f12) + "\nd1 = " + number(r.d1) +
                                   "\nd2 = " + number(r.d2) + "\ndelta = " + number(r.delta));
    const auto stop = [&](const char* normal, const char* back, double d) {
      return std::string("{ normal = ") + (d < 0 ? back : normal) + ", position = " + number(std::abs(d)) +
             ", restitution = 0.7 }";
    };
    const auto second =
        make_system("name = 'linear_stops'\nomega = " + number(r.delta) +
                    "\nmass = [[1.0, 0.0], [0.0, 1.0]]\ndamping = [[0.2, -0.1], [-0.1, 0.1]]\n"
                    "stiffness = [[2.0, -1.0], [-1.0, 1.0]]\nforce = [{ cosine = [0.5, 0.0] }]\nstop = [" +
                    stop("[1.0, 0.0]", "[-1.0, 0.0]", r.d1) + ", " + stop("[0.0, 1.0]", "[0.0, -1.0]", r.d2) +
                    "]\nfriction = [{ direction = [1.0, 0.0], amplitude = " + number(r.f1) +
                    " }, { direction = [0.0, 1.0], amplitude = " + number(r.f2) +
                    " }, { direction = [1.0, -1.0], amplitude = " + number(r.f12) + " }]");
    HybridState a = state_at({0, 0, 0, 0}), b = a;
    Log log_a, log_b;
    for (int k = 0; k < 8; ++k) {
      REQUIRE(first->advance(a, Section{}, &log_a) == Outcome::ok);
      REQUIRE(second->advance(b, Section{}, &log_b) == Outcome::ok);
      CHECK((a.x - b.x).cwiseAbs().maxCoeff() < 1e-10);
    }
    REQUIRE(log_a.entries.size() == log_b.entries.size());
    int slips = 0;
    for (std::size_t k = 0; k < log_a.entries.size(); ++k) {
      CHECK(log_a.entries[k].kind == log_b.entries[k].kind);
      CHECK(log_a.entries[k].contact == log_b.entries[k].contact);
      CHECK(log_a.entries[k].friction == log_b.entries[k].friction);
      if (is_slip_event(log_a.entries[k].kind)) ++slips;
    }
    CHECK(slips > 5);
  }
}
