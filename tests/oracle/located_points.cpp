/// Located points against plain simulation on both sides: what the name of the point says must change there.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analysis/continuation/branch.hpp"
#include "analysis/maps/attractor.hpp"
#include "tests/family.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// Where a motion from a state has come to after many periods, by simulation alone.
struct Settled {
  bool closed = false;  ///< after the given number of periods
  Eigen::VectorXd state;
  Signature signature;
};

Settled simulated(const Family& f, double parameter, const Eigen::VectorXd& start, int periods,
                  int transient = 3000) {
  const auto system = f.system(parameter);
  HybridState state;
  state.x = start;
  for (int k = 0; k < transient * periods; ++k) {
    CAPTURE(parameter, k);
    REQUIRE(system->advance(state, {}, nullptr) == Outcome::ok);
  }
  const Record record = record_turn(*system, state.x, periods, system->period());
  REQUIRE(record.outcome == Outcome::ok);
  Settled s{false, state.x, signature_of(record)};
  HybridState later;
  later.x = state.x;
  for (int k = 0; k < periods; ++k) REQUIRE(system->advance(later, {}, nullptr) == Outcome::ok);
  s.closed = (later.x - state.x).cwiseAbs().maxCoeff() < 1e-6 * record.size;
  return s;
}

std::vector<Bifurcation> located(const Family& f, const std::vector<double>& start, double at, double from,
                                 double to) {
  const auto system = f.system(at);
  const Attractor a = find_attractor(PoincareMap(*system, f.section), state_at(start), {});
  REQUIRE(a.kind == AttractorClass::periodic);
  const auto orbit = find_orbit(f, {at, a.orbit.start.x, a.orbit.period});
  REQUIRE(orbit);
  ContinuationOptions options;
  options.from = from;
  options.to = to;
  return continue_branch(f, *orbit, {options}).bifurcations;
}

/// How often events of some kinds occur at a contact; at all for contact −1.
int count(const Signature& signature, std::initializer_list<EventKind> kinds, int contact) {
  int sum = 0;
  for (const EventKind kind : kinds)
    sum += contact < 0 ? signature.count(kind) : signature.count(kind, contact);
  return sum;
}

/// Whether two signatures differ as the kind of a point says.
bool differs(const Bifurcation& b, const Signature& low, const Signature& high) {
  const auto changes = [&](std::initializer_list<EventKind> kinds) {
    return count(low, kinds, b.contact) != count(high, kinds, b.contact);
  };
  switch (b.kind) {
    case BifurcationKind::grazing:
      return changes({EventKind::impact});
    case BifurcationKind::chatter_border:
      return changes({EventKind::chatter_complete});
    case BifurcationKind::rising_border:
      return changes({EventKind::release});
    case BifurcationKind::stick_border:
      return changes({EventKind::stick, EventKind::release});
    case BifurcationKind::slip_border:
      return changes({EventKind::slip_to_stick, EventKind::stick_to_slip});
    case BifurcationKind::reversal_border:
      return changes({EventKind::slip_reversal});
    default:
      return !(low == high);
  }
}

/// A point that must be among those located.
struct Named {
  BifurcationKind kind;
  int contact;
  double parameter;
};

/// Each of the named points must be located, and so must the simulation change there.
void check_changes(const Family& f, const std::vector<Bifurcation>& points, const std::vector<Named>& names) {
  constexpr double way = 1e-6;
  for (const Named& name : names) {
    INFO(bifurcation_names()[static_cast<std::size_t>(name.kind)] << " at " << name.parameter);
    const auto there = std::find_if(points.begin(), points.end(), [&](const Bifurcation& b) {
      return b.kind == name.kind && b.contact == name.contact &&
             std::abs(b.parameter - name.parameter) < 1e-6;
    });
    REQUIRE(there != points.end());
    const Settled low = simulated(f, there->parameter - way, there->state, there->periods);
    const Settled high = simulated(f, there->parameter + way, there->state, there->periods);
    CHECK(low.closed);
    CHECK(high.closed);
    CHECK(differs(*there, low.signature, high.signature));
  }
}

}  // namespace

TEST_CASE("two masses: where rising begins and ends and where chatter breaks, the simulation changes so",
          "[long]") {
  const Family apart = family("name = 'two_dof_stops'\nd1 = -0.3\nd2 = 0.1", "delta");
  check_changes(apart, located(apart, {0, 0, 0, 0}, 0.25, 0.15, 0.27),
                {{BifurcationKind::rising_border, 0, 0.2560063298},
                 {BifurcationKind::chatter_border, 0, 0.2574556779},
                 {BifurcationKind::rising_border, 1, 0.2680958464}});
  const Family same = family("name = 'two_dof_stops'", "delta");
  check_changes(
      same, located(same, {0, 0, 0, 0}, 0.16, 0.15, 0.26),
      {{BifurcationKind::release_moves, 0, 0.1906813520}, {BifurcationKind::release_moves, 0, 0.2516260317}});
}

TEST_CASE("an impact appears where a branch grazes") {
  const Family f = family(
      "name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]\ndamping = [[0.1]]\nomega = 0.5\n"
      "force = [{ cosine = [1] }]\nstop = [{ name = 'wall', normal = [1], position = 1 }]",
      "force_scale");
  const double touch = std::hypot(0.75, 0.05);
  check_changes(f, located(f, {0, 0}, 0.5 * touch, 0.4 * touch, 1.1 * touch),
                {{BifurcationKind::grazing, 0, touch}});
}

TEST_CASE("dry friction: where it begins to stick, the simulation sticks") {
  const Family f = family("name = 'two_dof_stops'\ndelta = 0.8\nf1 = 0.1\nd1 = inf\nd2 = inf", "f1");
  const std::vector<Bifurcation> points = located(f, {0, 0, 0, 0}, 0.1, 0.05, 0.45);
  const auto slip = std::find_if(points.begin(), points.end(),
                                 [](const Bifurcation& b) { return b.kind == BifurcationKind::slip_border; });
  REQUIRE(slip != points.end());
  check_changes(f, points, {{BifurcationKind::slip_border, -1, slip->parameter}});
}

TEST_CASE("oblique impact: where slip ceases to turn and begins to lock, it does in simulation") {
  const Family f = family(
      "name = 'oblique_pendulum'\neta = 0.52\nf1 = 0.58\nf2 = 0.37\nzeta1 = 0.05\nzeta2 = 0.02\nkappa = 3\n"
      "mass_ratio = 1\nclearance = 0.64\nr = 0.9",
      "mu");
  check_changes(f, located(f, {0, 0, 0, 0}, 2.0, 0.5, 2.2),
                {{BifurcationKind::reversal_border, -1, 0.8890567804},
                 {BifurcationKind::slip_border, -1, 1.1548362752}});
}

TEST_CASE("fold: no orbit is left behind it, and period doubling: it closes after two turns only") {
  const auto oscillator = [](double omega) {
    return family(
        "name = 'impact_oscillator'\noffset = -1\nb = 0.04\nr = 0.9\nstop = 0\nomega = " + fmt_double(omega),
        "F");
  };
  bool folds = false;
  const Family at_fold = oscillator(0.799);
  for (const Bifurcation& b : located(at_fold, {-1, 0}, 0.39, 0.33, 0.42)) {
    if (b.kind != BifurcationKind::fold || std::abs(b.parameter - 0.36283620197) > 1e-6) continue;
    folds = true;
    const Settled with = simulated(at_fold, b.parameter + 1e-5, b.orbit.front(), b.periods, 5000);
    const Settled without = simulated(at_fold, b.parameter - 1e-5, b.orbit.front(), b.periods, 5000);
    CHECK(with.closed);
    CHECK((with.state - b.orbit.front()).cwiseAbs().maxCoeff() < 0.05 * b.size);
    CHECK((without.state - b.orbit.front()).cwiseAbs().maxCoeff() > 0.05 * b.size);
  }
  CHECK(folds);
  bool doubles = false;
  const Family at_doubling = family("name = 'bouncing_ball'\ne = 0.5", "Gamma");
  for (const Bifurcation& b : located(at_doubling, {3, 1}, 1.4, 1.1, 1.56)) {
    if (b.kind != BifurcationKind::period_doubling) continue;
    doubles = true;
    CHECK(simulated(at_doubling, b.parameter - 1e-3, b.orbit.front(), b.periods).closed);
    const Settled beyond = simulated(at_doubling, b.parameter + 1e-3, b.orbit.front(), b.periods);
    CHECK(!beyond.closed);
    CHECK(simulated(at_doubling, b.parameter + 1e-3, beyond.state, 2 * b.periods, 1).closed);
  }
  CHECK(doubles);
}

TEST_CASE("Hopf point: small swings grow below it and die out above it") {
  const double hopf = 8.491117635183;
  const Section lift = at_level(1, 0, -1);  // greatest
  for (const double way : {-0.05, 0.05}) {
    const double q = hopf + way, d = 10;
    double rest = 2;  // y1 sqrt(y1 + d) = q
    for (int k = 0; k < 50; ++k) rest = q / std::sqrt(rest + d);
    const auto system = make_system("name = 'relief_valve'\nq = " + fmt_double(q));
    HybridState state = state_at({rest + 1e-4, 0, rest + d});
    const auto swing_after = [&](int swings) {
      for (int k = 0; k < swings; ++k) REQUIRE(system->advance(state, lift, nullptr) == Outcome::ok);
      return state.x(0) - rest;
    };
    const double early = swing_after(5);
    const double late = swing_after(100);
    CHECK((late > 1.2 * early) == (way < 0));
    CHECK((late < early / 1.2) == (way > 0));
  }
}

/// The beginning and the end of a contact are unknowns of branches; where both meet their terms are series of
/// the place, whatever moves the system between.
TEST_CASE("located points: a soft stop grazed in motions by Boost.Odeint, as by power series") {
  Family f = family(
      "name = 'equations'\nparameters = { w = 0.97, F = 0.86 }\ncoordinates = ['x']\n"
      "force = { x = \"F*cos(w*t) - 0.2*x' - x - 0.3*x^3\" }\nperiod = '2*pi/w'\n"
      "contact = [{ gap = '1.2 - x', stiffness = 30, damping = 0.4 }]\n",
      "w");
  const std::vector<Bifurcation> by_series = located(f, {0, 0}, 0.8, 0.75, 0.8);
  f.tolerance.engine = Tolerance::Engine::odeint;
  f.tolerance.integration = 1e-10;
  const std::vector<Bifurcation> by_odeint = located(f, {0, 0}, 0.8, 0.75, 0.8);
  bool grazes = false;
  REQUIRE(by_odeint.size() == by_series.size());
  for (std::size_t k = 0; k < by_series.size(); ++k) {
    CAPTURE(k, by_series[k].parameter);
    grazes |= by_series[k].kind == BifurcationKind::grazing;
    CHECK(by_odeint[k].kind == by_series[k].kind);
    CHECK(std::abs(by_odeint[k].parameter - by_series[k].parameter) < 1e-9);
  }
  CHECK(grazes);
}
