/// The reference methods against closed forms, against each other and against published orbits, so that what
/// other tests take for the truth has been tested itself.
#include "tests/oracle/independent/reference_flight.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "tests/oracle/independent/reference_motion.hpp"

namespace {

using namespace graze::independent;
using Kind = ReferenceEvent::Kind;

constexpr Real infinity = std::numeric_limits<Real>::infinity();

TwoMasses without_stops() {
  TwoMasses p;
  p.stops = {Stop{infinity, 1, 1}, Stop{infinity, 1, 1}};
  return p;
}

Real distance(const State& a, const State& b) {
  Real largest = 0;
  for (std::size_t k = 0; k < 4; ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

/// Phases of all events of one kind and mass.
std::vector<Real> phases(const ReferenceMotion& motion, Kind kind, std::size_t mass) {
  std::vector<Real> list;
  for (const ReferenceEvent& e : motion.events()) {
    if (e.kind == kind && e.mass == mass) list.push_back(e.time / motion.period());
  }
  return list;
}

void check_phases(const std::vector<Real>& found, const std::vector<Real>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - expected[i]) < 2e-14L);
}

/// The settled motion from zero displacement and velocity, with the events of one more period.
ReferenceMotion settled(const TwoMasses& p) {
  ReferenceMotion motion(p, State{});
  motion.run(100);
  motion.forget_events();
  motion.run(1);
  return motion;
}

TwoMasses case_a() {
  TwoMasses p;
  p.stops = {signed_stop(0.3L, 0.7L), signed_stop(0.3L, 0.7L)};
  p.delta = 0.16L;
  p.c1 = p.c2 = 0.1L;
  return p;
}

TwoMasses case_b(Real delta) {
  TwoMasses p = case_a();
  p.stops = {signed_stop(-0.3L, 0.7L), signed_stop(0.1L, 0.7L)};
  p.delta = delta;
  return p;
}

}  // namespace

TEST_CASE("reference flight: natural frequencies of two equal masses and springs", "[independent]") {
  TwoMasses p;
  p.c1 = p.c2 = 0;
  const ReferenceFlight flight(p, State{}, 0);
  for (const Complex& s : flight.eigenvalues()) {
    const Real golden = (1 + std::sqrt(Real{5})) / 2;
    const Real frequency = std::abs(s.imag());
    CHECK(std::abs(s.real()) < 1e-17L);
    CHECK(std::min(std::abs(frequency - golden), std::abs(frequency - 1 / golden)) < 1e-17L);
  }
}

TEST_CASE("reference flight: starts at its state and obeys the equations of motion", "[independent]") {
  // Light and non-proportional damping, and one pair of real eigenvalues.
  const std::array<Real, 3> dampings = {0.1L, 0.7L, 5.0L};
  for (const Real c2 : dampings) {
    TwoMasses p = without_stops();
    p.m2 = 1.7L;
    p.k2 = 0.4L;
    p.c2 = c2;
    p.A2 = -0.3L;
    p.delta = 0.83L;
    const State start = {0.2L, -1.1L, 0.7L, 0.4L};
    const Real t0 = 1.25L;
    const ReferenceFlight flight(p, start, t0);
    CHECK(distance(flight.state(t0), start) < 1e-17L);
    for (Real t = t0; t < 30; t += 1.7L) {
      const auto [x1, v1, x2, v2] = flight.state(t);
      const Real force = std::cos(p.delta * t);
      const Real first = p.m1 * flight.jet(0, t)[2] + p.c1 * v1 + p.c2 * (v1 - v2) + p.k1 * x1 +
                         p.k2 * (x1 - x2) - p.A1 * force;
      const Real second = p.m2 * flight.jet(1, t)[2] + p.c2 * (v2 - v1) + p.k2 * (x2 - x1) - p.A2 * force;
      CHECK(std::abs(first) < 1e-17L);
      CHECK(std::abs(second) < 1e-17L);
    }
  }
}

TEST_CASE("reference flight: refuses coinciding eigenvalues", "[independent]") {
  TwoMasses p;
  p.k1 = p.c1 = 0;
  CHECK_THROWS_AS(ReferenceFlight(p, State{}, 0), std::domain_error);
}

TEST_CASE("reference flight and reference motion agree without stops", "[independent]") {
  TwoMasses p = without_stops();
  p.c2 = 0.23L;
  const State start = {0.1L, 0.2L, -0.3L, 0.4L};
  ReferenceMotion motion(p, start);
  const ReferenceFlight flight(p, start, 0);
  for (int turn = 1; turn <= 5; ++turn) {
    motion.run(1);
    CHECK(distance(motion.state(), flight.state(static_cast<Real>(turn) * motion.period())) < 1e-16L);
  }
}

TEST_CASE("first encounter: one top of a motion before a stop, from deep to barely", "[independent]") {
  // Near a top of height h a stop at h - p is met sqrt(2 p / curvature) earlier.
  const ReferenceFlight flight(without_stops(), {1, 0, 0, 0}, 0);
  const auto encounter = [&](Real stop) {
    return first_encounter(ReferenceGap(flight, 0, Stop{stop, 1, 1}), 0.5L, 12);
  };
  const auto top = encounter(2);
  REQUIRE(top);
  CHECK_FALSE(top->touches);
  const Real height = 2 - top->minimum;
  const Real curvature = -flight.jet(0, top->minimum_time)[2];
  REQUIRE(curvature > 0.1L);
  CHECK(std::abs(flight.jet(0, top->minimum_time)[1]) < 1e-18L);
  for (Real depth = 1e-3L; depth > 1e-15L; depth /= 10) {
    const auto hit = encounter(height - depth);
    REQUIRE(hit);
    REQUIRE(hit->touches);
    CHECK(std::abs(hit->minimum + depth) < 1e-18L);
    const Real half_width = std::sqrt(2 * depth / curvature);
    const Real tolerance = half_width + 1e-18L / depth;  // third derivative; rounding
    CHECK(std::abs((hit->minimum_time - hit->root) / half_width - 1) < tolerance);
    CHECK(std::abs(hit->speed / (curvature * half_width) - 1) < tolerance);
    const auto miss = encounter(height + depth);
    REQUIRE(miss);
    CHECK_FALSE(miss->touches);
    CHECK(std::abs(miss->minimum - depth) < 1e-18L);
  }
}

TEST_CASE("first encounter: every turn of a flight is found, close pairs too", "[independent]") {
  std::mt19937_64 bits(1);
  const auto draw = [&bits] { return static_cast<Real>(bits()) / static_cast<Real>(bits.max()) * 2 - 1; };
  const Real step = 1e-2L;
  std::size_t close_pairs = 0;
  for (int trial = 0; trial < 200; ++trial) {
    TwoMasses p = without_stops();
    p.delta = 2 + draw();
    const ReferenceFlight flight(p, {draw(), draw(), draw(), draw()}, 0);
    const ReferenceGap gap(flight, 0, Stop{2, 1, 1});
    for (Real a = 0; a < 8; a += 0.5L) {
      const Real b = a + 0.5L;
      std::vector<Real> turns;
      detail::find_turns(gap, {gap.bound(2, a, b), gap.bound(3, a, b)}, a, b, turns);
      std::vector<Real> sampled;
      for (int k = 0; k < 50; ++k) {
        const Real t = a + static_cast<Real>(k) * step;
        if ((gap(t)[1] > 0) != (gap(t + step)[1] > 0)) sampled.push_back(t);
      }
      close_pairs += sampled.size() > 1;
      REQUIRE(turns.size() >= sampled.size());  // a pair closer than a sample is found here only
      REQUIRE((turns.size() - sampled.size()) % 2 == 0);
      if (turns.size() != sampled.size()) continue;
      for (std::size_t k = 0; k < turns.size(); ++k) {
        CHECK(turns[k] >= sampled[k] - 1e-15L);
        CHECK(turns[k] <= sampled[k] + step + 1e-15L);
      }
    }
  }
  CHECK(close_pairs >= 3);  // or the test would show nothing
}

TEST_CASE("first encounter: leaving a stop is no encounter with it", "[independent]") {
  TwoMasses p = without_stops();
  const ReferenceFlight flight(p, {0.3L, -0.5L, 0, 0}, 0);
  const auto next = first_encounter(ReferenceGap(flight, 0, Stop{0.3L, 1, 1}), 0, 60);
  REQUIRE(next);
  REQUIRE(next->touches);
  CHECK(next->root > 0.5L);
  CHECK(std::abs(flight.jet(0, next->root)[0] - 0.3L) < 1e-18L);
}

TEST_CASE("first encounter: a start beyond the stop counts from its first opening", "[independent]") {
  const ReferenceFlight flight(without_stops(), {0.4L, -0.5L, 0, 0}, 0);
  const ReferenceGap gap(flight, 0, Stop{0.3L, 1, 1});
  REQUIRE(gap(0)[0] < 0);
  const auto next = first_encounter(gap, 0, 60);
  REQUIRE(next);
  REQUIRE(next->touches);
  CHECK(gap(next->root - 1e-6L)[0] > 0);
  CHECK(gap(next->root + 1e-6L)[0] < 0);
}

TEST_CASE("reference motion: an impact of one mass tears the other off its stop", "[independent]") {
  // The damper between the masses presses mass 1 while mass 2 approaches its stop, and pulls when it
  // rebounds.
  TwoMasses p;
  p.c2 = 2;
  const Real stop = p.stops[0].position;
  ReferenceMotion motion(p, {stop, 0, stop, 1});
  CHECK(motion.sticks(0));
  motion.run(1);
  const std::vector<ReferenceEvent>& events = motion.events();
  REQUIRE(events.size() > 3);
  CHECK((events[0].kind == Kind::stick && events[0].mass == 0));
  CHECK((events[1].kind == Kind::impact && events[1].mass == 1 && events[1].speed == 1));
  CHECK((events[2].kind == Kind::release && events[2].mass == 0 && events[2].time == 0));

  // From there both fly; the next event is the first meeting of this flight with a stop.
  const ReferenceFlight flight(p, {stop, 0, stop, -p.stops[1].restitution}, 0);
  const auto first = first_encounter(ReferenceGap(flight, 0, p.stops[0]), 0, motion.period());
  const auto second = first_encounter(ReferenceGap(flight, 1, p.stops[1]), 0, motion.period());
  REQUIRE((first && second && first->touches && second->touches));
  CHECK(events[3].kind == Kind::impact);
  CHECK(events[3].mass == (first->root < second->root ? 0 : 1));
  CHECK(std::abs(events[3].time - std::min(first->root, second->root)) < 1e-17L);
}

TEST_CASE("reference motion: accumulation times of the oscillator x'' + x = cos(omega t)", "[independent]") {
  struct Row {
    Real omega, sigma, r, elapsed;
  };
  const std::array<Row, 6> rows = {{{2.8L, -0.8L, 0.6L, 1.372945390141578L},
                                    {2.8L, -0.8L, 0.4L, 1.143757262837700L},
                                    {0.5L, -0.8L, 0.4L, 4.942704245505280L},
                                    {2.0L, -0.5L, 0.2L, 2.388595273797158L},
                                    {1.5L, -0.8L, 0.6L, 2.467786981696733L},
                                    {5.0L, -0.5L, 0.2L, 1.059005504494844L}}};
  for (const Row& row : rows) {
    TwoMasses p = without_stops();
    p.k1 = p.A1 = 1;
    p.k2 = p.c1 = p.c2 = 0;
    p.delta = row.omega;
    p.stops[0] = Stop{row.sigma, 1, row.r};
    ReferenceMotion motion(p, {row.sigma, 0, 0, 0});
    REQUIRE(motion.sticks(0));
    motion.run(2);
    const ReferenceEvent* release = nullptr;
    Real elapsed = 0;
    for (const ReferenceEvent& e : motion.events()) {
      if (e.kind == Kind::release && release == nullptr) release = &e;
      if (e.kind == Kind::stick && release != nullptr && elapsed == 0) {
        elapsed = static_cast<Real>(e.turn - release->turn) * motion.period() + e.time - release->time;
      }
    }
    CHECK(std::abs(elapsed - row.elapsed) < 1e-13L);
  }
}

TEST_CASE("reference motion: case (a), mass 1 sticks, mass 2 does not", "[independent]") {
  const ReferenceMotion motion = settled(case_a());
  CHECK(distance(motion.state(), {0.3L, 0, 0.27280670881226L, 0.0029426150777787L}) < 1e-14L);
  check_phases(phases(motion, Kind::release, 0), {0.143997456300751L});
  check_phases(phases(motion, Kind::stick, 0), {0.949959406445186L});
  CHECK(phases(motion, Kind::stick, 1).empty());
  const std::vector<Real> impacts = phases(motion, Kind::impact, 1);
  REQUIRE(impacts.size() == 4);
  std::vector<Real> speeds;
  for (const ReferenceEvent& e : motion.events()) {
    if (e.kind == Kind::impact && e.mass == 1) speeds.push_back(e.speed);
  }
  CHECK(std::abs(impacts[0] - 0.0385657254461221L) < 2e-14L);
  CHECK(std::abs(impacts[1] - 0.118665913337603L) < 2e-14L);
  CHECK(std::abs(speeds[0] - 0.02522134695926L) < 1e-13L);
  CHECK(std::abs(speeds[1] - 0.01508558183655L) < 1e-13L);
}

TEST_CASE("reference motion: case (a) forced on both masses, motionless together", "[independent]") {
  TwoMasses p = case_a();
  p.A1 = 0.4L;
  p.A2 = 0.1L;
  const ReferenceMotion motion = settled(p);
  CHECK(distance(motion.state(), {0.3L, 0, 0.3L, 0}) == 0);
  check_phases(phases(motion, Kind::release, 0), {0.115026728081308L});
  check_phases(phases(motion, Kind::release, 1), {0.169382917306329L});
  check_phases(phases(motion, Kind::stick, 1), {0.937794598954344L});
  check_phases(phases(motion, Kind::stick, 0), {0.938757759455988L});
}

TEST_CASE("reference motion: case (b), both masses stick in turn", "[independent]") {
  const ReferenceMotion motion = settled(case_b(0.25L));
  const State expected = {0.33979996922474L, 0.10654734166035L, 0.09770447427250L, 0.09747087673247L};
  CHECK(distance(motion.state(), expected) < 1e-14L);
  check_phases(phases(motion, Kind::stick, 1), {0.0737238420262722L});
  check_phases(phases(motion, Kind::release, 1), {0.234006553297403L});
  check_phases(phases(motion, Kind::stick, 0), {0.51805598699534L});
  check_phases(phases(motion, Kind::release, 0), {0.686993483846799L});
}

TEST_CASE("reference motion: case (b) with a rise of mass 1", "[independent]") {
  const ReferenceMotion motion = settled(case_b(0.257L));
  const State expected = {0.29605791364612L, 0.14737484867934L, 0.07763354830930L, 0.01501175645218L};
  CHECK(distance(motion.state(), expected) < 1e-14L);
  check_phases(phases(motion, Kind::stick, 0), {0.49988290018512L, 0.661732354262187L});
  check_phases(phases(motion, Kind::release, 0), {0.565016753315074L, 0.696215791224524L});
}
