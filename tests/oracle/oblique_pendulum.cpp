/// The oblique pendulum: energy, the limit of small angles, sustained contact against a second method.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <vector>

#include "tests/oracle/independent/oblique_reference.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// Of both bodies and springs, per mass of the bob.
template <class State>
Real energy(const ObliqueParameters& p, const State& y) {
  const Real k = p.kappa, m = p.mass_ratio;
  return (Real(y[1]) * y[1] + Real(y[0]) * y[0] + (Real(y[3]) * y[3] + k * k * y[2] * y[2]) / m) / 2;
}

/// Power of the forces and dampers.
Real power(const ObliqueParameters& p, Real t, const ObliqueFlight::State& y) {
  return (p.f1 * std::cos(p.eta * t) - 2 * p.zeta1 * y[1]) * y[1] +
         (p.f2 * std::cos(p.eta * t + p.psi) - 2 * p.zeta2 * p.kappa * y[3]) * y[3] /
             static_cast<Real>(p.mass_ratio);
}

ObliqueFlight::State real(const std::vector<double>& y) { return {y[0], y[1], y[2], y[3]}; }

/// Impacts of a motion, times counted from the beginning of the forcing period they are in.
struct Impact {
  int period;
  double time;
  std::vector<double> before, after;
};

std::vector<Impact> impacts_of(const ObliqueParameters& p, const std::vector<double>& start,
                               std::size_t count) {
  const auto system = make_system(p.toml());
  HybridState state = state_at(start);
  std::vector<Impact> list;
  for (int period = 0; list.size() < count; ++period) {
    Log log;
    state.turns = 0;
    REQUIRE(system->advance(state, Section{}, &log) == Outcome::ok);
    REQUIRE(log.of(EventKind::stick).empty());
    for (const auto& e : log.of(EventKind::impact)) list.push_back({period, e.time, e.before, e.after});
  }
  return list;
}

}  // namespace

TEST_CASE("oblique pendulum: flight is exact and energy balances over 1e4 impacts") {
  const ObliqueParameters p{
      .eta = 0.5, .f1 = 0.6, .f2 = 0.1, .psi = 0.4, .kappa = 1.3, .clearance = 0.2, .mu = 0.3};
  const auto list = impacts_of(p, {0, 0, 0.6, 0}, 10000);
  const Real period = 2 * static_cast<Real>(M_PI) / static_cast<Real>(p.eta);
  Real worst_flight = 0, worst_work = 0, lost = 0, worked = 0, gained = -1;
  for (std::size_t k = 0; k + 1 < list.size(); ++k) {
    const Impact &a = list[k], &b = list[k + 1];
    const Real from = a.time, to = b.time + period * (b.period - a.period);
    const ObliqueFlight flight(p, from, real(a.after));
    const auto there = flight.at(to);
    for (std::size_t i = 0; i < 4; ++i)
      worst_flight = std::max(worst_flight, std::abs(there[i] - b.before[i]));
    const Real work = boost::math::quadrature::gauss<Real, 40>::integrate(
        [&](Real t) { return power(p, t, flight.at(t)); }, from, to);
    const Real kept = energy(p, b.before) - energy(p, a.after);
    worst_work = std::max(worst_work, std::abs(work - kept));
    worked += work;
    const Real change = energy(p, b.after) - energy(p, b.before);
    gained = std::max(gained, change);
    lost -= change;
  }
  const Real whole = energy(p, list.back().after) - energy(p, list.front().after);
  CHECK(static_cast<double>(worst_flight) < 1e-12);
  CHECK(static_cast<double>(worst_work) < 1e-12);
  CHECK(static_cast<double>(gained) < 0);
  CHECK(static_cast<double>(lost) > 1);
  CHECK(static_cast<double>(std::abs(whole - worked + lost)) < 1e-10);
}

TEST_CASE("oblique pendulum: without friction, damping and losses the energy stays over 1e4 impacts") {
  const ObliqueParameters p{.f1 = 0, .zeta1 = 0, .zeta2 = 0, .kappa = 1.7, .clearance = 0.1, .mu = 0, .r = 1};
  const auto list = impacts_of(p, {-0.4, 0.2, 0.3, 0.1}, 10000);
  const double start = static_cast<double>(energy(p, std::vector<double>{-0.4, 0.2, 0.3, 0.1}));
  double worst = 0;
  for (const Impact& impact : list)
    worst = std::max(worst, std::abs(static_cast<double>(energy(p, impact.after)) / start - 1));
  CHECK(worst < 1e-11);
}

TEST_CASE("oblique pendulum: small angles without friction are two masses with a stop between them") {
  const ObliqueParameters p{
      .eta = 0.7, .f1 = 0.5, .f2 = 0.2, .psi = 0.3, .kappa = 1.4, .clearance = 0.15, .mu = 0};
  const std::string settings =
      "name = 'linear_stops'\nomega = 0.7\nmass = [[1, 0], [0, " + fmt_double(1 / p.mass_ratio) +
      "]]\ndamping = [[" + fmt_double(2 * p.zeta1) + ", 0], [0, " +
      fmt_double(2 * p.zeta2 * p.kappa / p.mass_ratio) + "]]\nstiffness = [[1, 0], [0, " +
      fmt_double(p.kappa * p.kappa / p.mass_ratio) + "]]\nforce = [{ cosine = [0.5, " +
      fmt_double(p.f2 * std::cos(p.psi) / p.mass_ratio) + "], sine = [0, " +
      fmt_double(-p.f2 * std::sin(p.psi) / p.mass_ratio) +
      "] }]\nstop = [{ normal = [1, -1], position = 0.15, restitution = 0.6 }]";
  const auto linear = make_system(settings);
  constexpr double time = 15;
  HybridState exact = state_at({0.05, 0.1, 0.02, 0});
  Log log;
  REQUIRE(linear->advance(exact, for_time(time), &log) == Outcome::ok);
  REQUIRE(log.of(EventKind::impact).size() >= 4);
  // Scaled by ε: the difference is of second order.
  std::vector<double> error;
  for (const double scale : {0.04, 0.02, 0.01, 0.005}) {
    ObliqueParameters q = p;
    q.f1 *= scale;
    q.f2 *= scale;
    q.clearance *= scale;
    HybridState state = state_at({0.05 * scale, 0.1 * scale, 0.02 * scale, 0});
    REQUIRE(make_system(q.toml())->advance(state, for_time(time), nullptr) == Outcome::ok);
    error.push_back((state.x / scale - exact.x).cwiseAbs().maxCoeff());
  }
  for (std::size_t k = 0; k + 1 < error.size(); ++k) {
    CAPTURE(error[k], error[k + 1]);
    CHECK(error[k] / error[k + 1] == Approx(4).margin(0.1));
  }
}

TEST_CASE("oblique pendulum: chatter, sliding, sticking and release against a second method") {
  struct Run {
    double eta, mu, clearance;
  };
  int stuck = 0, slid = 0, locked = 0;
  for (const Run& run : {Run{0.2, 0.3, 0.2}, Run{0.2, 3, -0.5}, Run{0.5, 1, -0.2}, Run{0.2, 0.02, 0.1}}) {
    CAPTURE(run.eta, run.mu, run.clearance);
    const ObliqueParameters p{.eta = run.eta, .f1 = 0.6, .clearance = run.clearance, .mu = run.mu};
    const auto system = make_system(p.toml());
    HybridState state = state_at({0, 0, 0.6, 0});
    Log log;
    constexpr double time = 70;
    REQUIRE(system->advance(state, for_time(time), &log) == Outcome::ok);
    ObliqueReference reference(p, 0, {0, 0, 0.6L, 0});
    reference.run(time);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(state.x(static_cast<Eigen::Index>(i)) ==
            Approx(static_cast<double>(reference.state()[i])).margin(1e-7));
    std::vector<Log::Entry> changes;
    double last_impact = -1;
    for (const auto& e : log.entries) {
      if (e.kind == EventKind::impact) last_impact = e.time;
      const bool of_impact = e.time == last_impact;
      const bool slips = e.kind == EventKind::slip_reversal || e.kind == EventKind::slip_to_stick ||
                         e.kind == EventKind::stick_to_slip;
      locked += slips && of_impact && e.kind == EventKind::slip_to_stick;
      if ((slips && !of_impact) || e.kind == EventKind::stick || e.kind == EventKind::release)
        changes.push_back(e);
    }
    REQUIRE(changes.size() == reference.changes().size());
    for (std::size_t k = 0; k < changes.size(); ++k) {
      CAPTURE(k);
      CHECK(changes[k].kind == reference.changes()[k].kind);
      CHECK(changes[k].time == Approx(static_cast<double>(reference.changes()[k].time)).margin(2e-6));
      stuck += changes[k].kind == EventKind::slip_to_stick;
      slid += changes[k].kind == EventKind::release;
    }
  }
  CHECK(stuck > 3);
  CHECK(slid > 10);
  CHECK(locked > 10);
}
