/// The energy account of linear systems: it closes through every kind of event, and its parts are what closed
/// forms say.
#include <catch2/catch.hpp>

#include <Eigen/Core>
#include <Eigen/LU>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/maps/energy_balance.hpp"
#include "analysis/maps/observer_pair.hpp"
#include "tests/analyses.hpp"
#include "tests/dice.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// Hears the events of a motion from where it stands, and keeps account of its energy.
struct Accounted {
  Accounted(System& system, const HybridState& start) : balance(system, start) {}

  Log log;
  EnergyBalance balance;
  ObserverPair both{log, balance};
};

double total(System& system, const HybridState& state) {
  const Energy e = system.energy(state).value();
  return e.motion + e.stops;
}

}  // namespace

TEST_CASE("energy: the account of random systems with rigid and compliant stops and friction closes") {
  Dice dice(2026);
  double worst = 0;
  std::size_t impacts = 0, ends = 0, sticks = 0, slips = 0, checked = 0;
  for (int k = 0; k < 400; ++k) {
    const Eigen::Index n = 1 + k % 3;
    const Eigen::MatrixXd M = dice.definite(n, 0.3, 1);
    Eigen::MatrixXd C = dice.definite(n, 0.1, 0.03), K = dice.definite(n, 1, 0.5);
    if (k % 5 == 0) {  // gyroscopic and circulatory terms
      const Eigen::MatrixXd A = Eigen::MatrixXd::NullaryExpr(n, n, [&] { return dice.number(-0.1, 0.1); });
      C += A - A.transpose();
      K += A - A.transpose();
    }
    std::string toml = "name = 'linear_stops'\nomega = " + fmt_double(dice.number(0.5, 2)) +
                       "\nmass = " + rows(M) + "\ndamping = " + rows(C) + "\nstiffness = " + rows(K) +
                       "\nconstant = " + list(dice.vector(n, 0.3)) +
                       "\nforce = [{ cosine = " + list(dice.vector(n, 2)) + " }]\nstop = [";
    Eigen::VectorXd rigid;
    double restitution = 0;
    for (int i = 0; i < 1 + k % 3; ++i) {
      const Eigen::VectorXd normal = dice.pick(n, {-1.0, 0.5, 1.0});
      toml += "{ normal = " + list(normal) + ", position = " + fmt_double(dice.number(0.1, 0.5));
      if (i == 1 || k % 4 == 3) {
        if (i == 1 || k % 3 == 0) {
          rigid = normal;
          restitution = dice.number(0.5, 0.9);
        }
        toml += ", restitution = " + fmt_double(restitution) + " }, ";
        continue;
      }
      toml += ", stiffness = " + fmt_double(std::exp(dice.number(0, 5)));
      const int law = static_cast<int>(dice.number(0, 4));
      toml += ", damping = " + fmt_double(law == 0 ? 0 : dice.number(0.1, 4));
      if (law == 1) toml += ", plate = 'relaxing'";
      if (law == 2) toml += ", release = 'gap'";
      const bool preloaded = law != 1 && dice.coin();
      if (preloaded) toml += ", preload = " + fmt_double(dice.number(0, 0.3));
      if (!preloaded && law != 2 && dice.coin())
        toml += ", mu = " + fmt_double(dice.number(0.1, 0.6)) + ", slip = " + list(dice.vector(n, 1));
      toml += " }, ";
    }
    toml += "]\n";
    if (dice.coin())
      toml += "friction = [{ direction = " + list(dice.pick(n, {0.5, 1.0, 1.0})) + ", amplitude = 0.2 }]\n";
    INFO(toml);
    const auto system = make_system(toml);
    REQUIRE(system != nullptr);
    HybridState state = state_at(std::vector<double>(static_cast<std::size_t>(system->states()), 0.0));
    REQUIRE(system->advance(state, for_time(0), nullptr) == Outcome::ok);
    const double first = total(*system, state);
    Accounted motion(*system, state);
    const Outcome outcome = system->advance(state, for_time(12), &motion.both);
    if (outcome == Outcome::event_limit || outcome == Outcome::painleve) continue;
    REQUIRE(outcome == Outcome::ok);
    const EnergyAccount a = motion.balance.account(state);
    const double turnover = std::abs(a.force_work) + a.damping_work + a.friction_work + a.impact_work +
                            a.stop_work + total(*system, state);
    const double change = a.force_work - a.damping_work - a.friction_work - a.impact_work - a.stop_work;
    worst = std::max(worst, std::abs(total(*system, state) - first - change) / (1 + turnover));
    CHECK(a.friction_work >= -1e-13);
    CHECK(a.stop_work >= -1e-13);
    CHECK(a.impact_work >= -1e-13);
    ++checked;
    impacts += motion.log.of(EventKind::impact).size();
    ends += motion.log.of(EventKind::contact_end).size();
    sticks += motion.log.of(EventKind::stick).size();
    slips += motion.log.of(EventKind::slip_to_stick).size();
  }
  CHECK(worst < 1e-10);
  CHECK(checked > 350);
  CHECK(impacts > 1000);
  CHECK(ends > 800);
  CHECK(sticks > 20);
  CHECK(slips > 200);
}

TEST_CASE("energy: one mass loses at each impact what Newton's law says") {
  const auto system = make_system(
      "name = 'linear_stops'\nomega = 0.7\nmass = [[2]]\ndamping = [[0.1]]\nstiffness = [[1]]\nforce = [{ "
      "cosine = [1] }]\nstop = [{ normal = [1], position = 0.1, restitution = 0.8 }]");
  HybridState state = state_at({0, 0});
  REQUIRE(system->advance(state, for_time(0), nullptr) == Outcome::ok);
  Accounted motion(*system, state);
  REQUIRE(system->advance(state, for_time(60), &motion.both) == Outcome::ok);
  double lost = 0;
  for (const Log::Entry& e : motion.log.of(EventKind::impact)) lost += e.speed * e.speed * (1 - 0.64);
  CHECK(motion.log.of(EventKind::impact).size() > 5);
  CHECK(motion.log.of(EventKind::chatter_complete).empty());
  CHECK(motion.balance.account(state).impact_work == Approx(lost).epsilon(1e-12));
}

TEST_CASE("energy: a block that slides to rest on a stop that is pressed, a plate that goes back") {
  // Pressed by the load 2 on the stop: friction takes the whole kinetic energy of the slip.
  const auto block = make_system(
      "name = 'linear_stops'\nmass = [[1, 0], [0, 1]]\nstiffness = [[0, 0], [0, 0]]\nconstant = [2, 0]\nstop "
      "= "
      "[{ normal = [1, 0], position = 0, stiffness = 4, mu = 0.2, slip = [0, 1] }]");
  HybridState state = state_at({0.5, 0, 0, 1.5});
  REQUIRE(block->advance(state, for_time(0), nullptr) == Outcome::ok);
  Accounted slide(*block, state);
  REQUIRE(block->advance(state, for_time(10), &slide.both) == Outcome::ok);
  CHECK(slide.balance.account(state).friction_work == Approx(1.5 * 1.5 / 2).epsilon(1e-13));
  CHECK(slide.balance.account(state).stop_work == 0);
  // What the spring of a plate holds at the release goes to its damper.
  const auto ball = make_system(
      "name = 'linear_stops'\nmass = [[1]]\nstop = [{ normal = [1], position = 0, stiffness = 9, damping = "
      "1.5, "
      "plate = 'relaxing' }]");
  state = state_at({-0.1, 1, 0});
  REQUIRE(ball->advance(state, for_time(0), nullptr) == Outcome::ok);
  Accounted plate(*ball, state);
  REQUIRE(ball->advance(state, for_time(30), &plate.both) == Outcome::ok);
  CHECK(plate.log.of(EventKind::contact_end).size() == 1);
  CHECK(plate.balance.account(state).stop_work == Approx((1 - state.x(1) * state.x(1)) / 2).epsilon(1e-13));
}

TEST_CASE("energy: arrays of simulate close at every sample") {
  const Problem problem = make_problem("simulate",
                                       "name = 'linear_stops'\nomega = 0.8\nmass = [[1, 0], [0, "
                                       "0.5]]\ndamping = [[0.1, 0], [0, 0.1]]\nstiffness = "
                                       "[[1, 0], [0, 1]]\nforce = [{ cosine = [0, 0.5] }]\nstop = [{ normal "
                                       "= [-1, 1], position = 0.1, stiffness "
                                       "= 20, damping = 0.5 }, { normal = [1, 0], position = 0.2, "
                                       "restitution = 0.7 }]\nfriction = [{ direction = [1, "
                                       "0], amplitude = 0.05 }]",
                                       "periods = 12\nenergy = true");
  const Dataset data = result_of(*make_analysis("simulate", problem));
  const auto column = [&](const char* name) { return std::get<std::vector<double>>(data.at(name).values); };
  const std::vector<double> energy = column("energy"), force = column("force_work"),
                            damping = column("damping_work"), friction = column("friction_work"),
                            impact = column("impact_work"), stop = column("stop_work");
  REQUIRE(energy.size() == 2401);
  double worst = 0;
  for (std::size_t k = 0; k < energy.size(); ++k) {
    worst = std::max(
        worst, std::abs(energy[k] - energy[0] - (force[k] - damping[k] - friction[k] - impact[k] - stop[k])));
    if (k == 0) continue;
    CHECK(damping[k] >= damping[k - 1]);
    CHECK(friction[k] >= friction[k - 1] - 1e-16);
    CHECK(impact[k] >= impact[k - 1] - 1e-16);
    CHECK(stop[k] >= stop[k - 1] - 1e-16);
  }
  CHECK(worst < 1e-12);
  CHECK(force.back() > 1);
  CHECK(impact.back() > 0.01);
  CHECK(friction.back() > 0.1);
  CHECK(stop.back() > 0.01);
  CHECK_THROWS_AS(make_analysis("simulate", make_problem("simulate", "name = 'two_pendulums'",
                                                         "end_time = 1\nenergy = true")),
                  InputError);
}
