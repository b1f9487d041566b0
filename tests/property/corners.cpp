/// Where rules meet: bodies at rest that no force moves, several stops at one instant, impacts beside a body
/// that has just come to rest.
#include <catch2/catch.hpp>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/dice.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// Masses 1 in a row, springs 1 between them and the ground beside the first, a force on the last, a stop at
/// the rest position of the first; no dampers.
std::string row_of_masses(Eigen::Index count, double force, bool stopped) {
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    K(i, i) = i + 1 < count ? 2 : 1;
    if (i > 0) K(i, i - 1) = K(i - 1, i) = -1;
  }
  const Eigen::VectorXd load = force * Eigen::VectorXd::Unit(count, count - 1);
  return "name = 'linear_stops'\nmass = " + rows(Eigen::MatrixXd::Identity(count, count)) +
         "\nstiffness = " + rows(K) + "\nconstant = " + list(load) +
         "\nstop = [{ normal = " + list(Eigen::VectorXd::Unit(count, 0)) +
         ", position = " + (stopped ? "0" : "inf") + ", restitution = 0.5 }]";
}

/// A mass 1 under a constant force, its two stops at position 0.
std::string body_between(const std::string& force, const std::string& one, const std::string& other) {
  return "name = 'linear_stops'\nmass = [[1]]\nconstant = [" + force + "]\nstop = [{ position = 0, " + one +
         " }, { position = 0, " + other + " }]";
}

std::vector<double> at_rest(Eigen::Index masses) {
  return std::vector<double>(static_cast<std::size_t>(2 * masses), 0.0);
}

/// One to three masses and at most as many stops that meet in one point more often than not, all of numbers
/// that leave no room for chance: speeds, gaps and forces vanish together.
struct Corner {
  std::string masses;
  std::vector<std::string> stops;
  std::vector<double> start;
  Eigen::MatrixXd normals;
  Eigen::VectorXd positions;

  Corner(unsigned seed, bool rubs) {
    Dice dice(seed);
    const Eigen::Index n = 1 + seed % 3;
    Eigen::MatrixXd chain = 2 * Eigen::MatrixXd::Identity(n, n);
    for (Eigen::Index i = 1; i < n; ++i) chain(i, i - 1) = chain(i - 1, i) = -1;
    Eigen::MatrixXd mass = 2 * Eigen::MatrixXd::Identity(n, n);
    if (dice.coin()) mass -= (chain - mass) / 2;
    masses = "name = 'linear_stops'\nmass = " + rows(mass) +
             "\nstiffness = " + rows(chain * (dice.coin() ? 1 : 0)) +
             "\ndamping = " + rows(chain * (dice.coin() ? 0.1 : 0)) +
             "\nconstant = " + list(dice.pick(n, {-1, 0, 1, 0.5, 2}));
    if (dice.coin()) masses += "\nomega = 1\nforce = [{ cosine = " + list(dice.pick(n, {0, 1, 2})) + " }]";
    if (rubs) {
      masses += "\nfriction = [{ direction = " +
                list(Eigen::VectorXd::Unit(n, n - 1) -
                     (n > 1 && dice.coin() ? 1 : 0) * Eigen::VectorXd::Unit(n, 0)) +
                ", amplitude = " + fmt_double(dice.pick({0.25, 0.5, 1, 2})) + " }]";
    }
    const Eigen::Index count = 1 + static_cast<Eigen::Index>(dice.number(0, static_cast<double>(n)));
    normals.resize(n, count);
    positions = dice.pick(count, {0, 0, 0, 0.5, 1});
    for (Eigen::Index i = 0; i < count; ++i) {
      do {
        normals.col(i) = dice.pick(n, {-1, 0, 0, 1, 0.5});
      } while (Eigen::FullPivLU<Eigen::MatrixXd>(normals.leftCols(i + 1)).rank() <= i);
      stops.push_back("{ normal = " + list(normals.col(i)) + ", position = " + fmt_double(positions(i)) +
                      ", restitution = " + fmt_double(dice.pick({0, 0, 0.5, 0.25})) + " }, ");
    }
    for (Eigen::Index i = 0; i < n; ++i) {
      start.push_back(dice.pick({0, 0, 0, -0.5, -1}));
      start.push_back(dice.pick({0, 0, 1, -1, 0.5, -0.5}));
    }
  }

  bool possible() const {
    const Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<2>> q(start.data(), normals.rows());
    return (positions - normals.transpose() * q).minCoeff() >= 0;
  }
  std::unique_ptr<System> system(bool reversed) const {
    std::vector<std::string> order = stops;
    if (reversed) std::reverse(order.begin(), order.end());
    std::string text = masses + "\nstop = [";
    for (const std::string& stop : order) text += stop;
    return make_system(text + "]");
  }
};

}  // namespace

// x1 = F tᵏ (...) with k = 2 masses: all derivatives of its gap before that one vanish at the start.
TEST_CASE("a body on its stop that feels nothing yet: the first derivative that does not vanish decides") {
  for (const Eigen::Index masses : {1, 2, 3, 4}) {
    INFO(masses << " masses");
    HybridState pressed = state_at(at_rest(masses));
    const auto held = make_system(row_of_masses(masses, 1, true));
    Log log;
    REQUIRE(held->advance(pressed, for_time(1), &log) == Outcome::ok);
    CHECK(pressed.mode == 1);
    CHECK(pressed.x(0) == 0);
    CHECK(log.entries.size() == 1);  // it sticks
    // Pulled off it moves as if there were no stop.
    HybridState pulled = state_at(at_rest(masses)), free = pulled;
    Log off;
    REQUIRE(make_system(row_of_masses(masses, -1, true))->advance(pulled, for_time(1), &off) == Outcome::ok);
    REQUIRE(make_system(row_of_masses(masses, -1, false))->advance(free, for_time(1), nullptr) ==
            Outcome::ok);
    CHECK(off.entries.empty());
    CHECK(pulled.mode == 0);
    CHECK(pulled.x(0) < 0);
    CHECK((pulled.x - free.x).cwiseAbs().maxCoeff() < 1e-15);
  }
}

TEST_CASE("a body on its stop that no force ever moves rests there") {
  const std::string stop = "\nstop = [{ normal = [1], position = 0.5, restitution = 0.5 }]";
  for (const char* const forces : {"", "\nstiffness = [[3]]\nconstant = [1.5]", "\ndamping = [[1]]"}) {
    INFO(forces);
    const auto system = make_system("name = 'linear_stops'\nmass = [[1]]" + std::string(forces) + stop);
    HybridState state = state_at({0.5, 0});
    Log log;
    for (int k = 0; k < 10; ++k) REQUIRE(system->advance(state, for_time(3), &log) == Outcome::ok);
    CHECK(state.x(0) == 0.5);
    CHECK(state.x(1) == 0);
    CHECK(state.mode == 1);
    CHECK(log.entries.size() == 1);
  }
  // Rods that lean on each other, without gravity.
  const auto rods = make_system("name = 'two_pendulums'\ngravity = 0");
  HybridState state = state_at({std::asin(0.5), 0, 0, 0});
  Log log;
  for (int k = 0; k < 10; ++k) REQUIRE(rods->advance(state, for_time(3), &log) == Outcome::ok);
  CHECK(state.x(0) == Approx(std::asin(0.5)).margin(1e-15));
  CHECK(state.x.tail(3).cwiseAbs().maxCoeff() < 1e-15);
  CHECK(log.entries.size() == 1);
}

// M = [2 1/2; 1/2 2], force (2, 0): without stops mass 2 would be driven away from its own, with mass 1 held
// nothing acts on it.
TEST_CASE("a body that only the held neighbour would have moved rests on its stop") {
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[2, 0.5], [0.5, 2]]\nconstant = [2, 0]\nstop = [{ normal = [1, 0], "
      "position = 0, restitution = 0 }, { normal = [0, 1], position = 0, restitution = 0 }]");
  HybridState state = state_at({0, 0, 0, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(10), &log) == Outcome::ok);
  CHECK(state.mode == 3);
  CHECK(state.x.cwiseAbs().maxCoeff() == 0);
  CHECK(log.entries.size() == 2);
}

TEST_CASE("impacts without end at one instant are an outcome") {
  // Elastic, with no room between the stops.
  const auto system =
      make_system(body_between("0", "normal = [1], restitution = 1", "normal = [-1], restitution = 1"));
  HybridState state = state_at({0, 1});
  CHECK(system->advance(state, for_time(1), nullptr) == Outcome::event_limit);
}

TEST_CASE("a body pressed on two stops at the same place rests, whichever of them carries") {
  const auto system =
      make_system(body_between("1", "normal = [1], restitution = 0", "normal = [1], restitution = 0.5"));
  HybridState state = state_at({0, 0});
  REQUIRE(system->advance(state, for_time(1), nullptr) == Outcome::ok);
  CHECK(state.x.cwiseAbs().maxCoeff() == 0);
}

// Nothing of the forces moves it; which of the two carries changes with their sign.
TEST_CASE("a body between stops without room stays where it is") {
  const auto system =
      make_system("name = 'impact_oscillator'\nb = 0.05\nstop = 0\nstop_low = 0\nomega = 1.3");
  HybridState state = state_at({0, 0});
  Log log;
  for (int k = 0; k < 50; ++k) REQUIRE(system->advance(state, Section{}, &log) == Outcome::ok);
  CHECK(state.x.cwiseAbs().maxCoeff() == 0);
  CHECK(log.of(EventKind::stick).size() == 2);
  CHECK(log.of(EventKind::release).empty());
}

// m = 1 and 1, c, k and the force of the sum: both together are one body, whose motion is known.
TEST_CASE("bodies held to each other by stops without room move as one body") {
  const auto two = make_system(
      "name = 'linear_stops'\nomega = 0.9\nmass = [[1, 0], [0, 1]]\ndamping = [[0.1, 0], [0, 0.1]]\n"
      "stiffness = [[2, -1], [-1, 2]]\nforce = [{ cosine = [1, 0] }]\nstop = [{ normal = [1, -1], position = "
      "0, "
      "restitution = 0.7 }, { normal = [-1, 1], position = 0, restitution = 0.7 }]");
  const auto one = make_system(
      "name = 'linear_stops'\nomega = 0.9\nmass = [[2]]\ndamping = [[0.2]]\nstiffness = [[2]]\n"
      "force = [{ cosine = [1] }]");
  HybridState pair = state_at({0.3, -0.2, 0.3, -0.2});
  HybridState body = state_at({0.3, -0.2});
  for (int k = 0; k < 40; ++k) {
    REQUIRE(two->advance(pair, Section{}, nullptr) == Outcome::ok);
    REQUIRE(one->advance(body, Section{}, nullptr) == Outcome::ok);
    CHECK(pair.x(0) == Approx(body.x(0)).margin(1e-13));
    CHECK(pair.x(1) == Approx(body.x(1)).margin(1e-13));
    CHECK(std::abs(pair.x(2) - pair.x(0)) < 1e-13);
    CHECK(std::abs(pair.x(3) - pair.x(1)) < 1e-13);
  }
}

// The third stop stands where the first two meet: nowhere does it hold anything that they do not.
TEST_CASE("a stop that only repeats what two others do changes no motion") {
  const std::string bodies =
      "name = 'linear_stops'\nomega = 0.3\nmass = [[1, 0], [0, 1]]\ndamping = [[0.1, 0], [0, 0.1]]\n"
      "stiffness = [[1, 0], [0, 1]]\nconstant = [0.6, 0.6]\nforce = [{ cosine = [1, 0.9], sine = [0, 0.2] "
      "}]\n"
      "stop = [{ normal = [1, 0], position = 0.1 }, { normal = [0, 1], position = 0.1 }";
  const auto two = make_system(bodies + "]");
  const auto three = make_system(bodies + ", { normal = [1, 1], position = 0.2 }]");
  HybridState a = state_at({0, 0, 0, 0});
  HybridState b = a;
  Log log;
  for (int k = 0; k < 20; ++k) {
    REQUIRE(two->advance(a, Section{}, nullptr) == Outcome::ok);
    REQUIRE(three->advance(b, Section{}, &log) == Outcome::ok);
    CHECK((a.x - b.x).cwiseAbs().maxCoeff() < 1e-12);
  }
  CHECK(log.of(EventKind::stick, 0).size() > 10);
}

// Mass 1 slides until t = 1, mass 2 feels nothing.
TEST_CASE("a body on its stop that no force moves rests there while friction stops another one") {
  const auto system = make_system(
      "name = 'linear_stops'\nmass = [[1, 0], [0, 1]]\nfriction = [{ direction = [1, 0], amplitude = 1 "
      "}]\nstop = [{ normal = [0, 1], position = 0, restitution = 0.5 }]");
  HybridState state = state_at({0, 1, 0, 0});
  Log log;
  REQUIRE(system->advance(state, for_time(2), &log) == Outcome::ok);
  REQUIRE(log.entries.size() == 2);
  CHECK(log.entries[0].kind == EventKind::stick);
  CHECK(log.entries[1].kind == EventKind::slip_to_stick);
  CHECK(log.entries[1].time == Approx(1).margin(1e-15));
  CHECK(state.x(0) == Approx(0.5).margin(1e-15));
  CHECK(state.x(2) == 0);
}

// The force on a mass at rest is that of the friction, 1, at t = 0 and does not change at first.
TEST_CASE("a friction that is just used up holds where the force turns back, and slips where it grows") {
  const std::string mass =
      "name = 'linear_stops'\nmass = [[1]]\nomega = 1\nfriction = [{ direction = [1], amplitude = 1 "
      "}]\nstop = [{ normal = [1], position = inf, restitution = 0 }]";
  const auto holding = make_system(mass + "\nforce = [{ cosine = [1] }]");
  HybridState held = state_at({0, 0});
  for (int k = 0; k < 5; ++k) REQUIRE(holding->advance(held, for_time(2 * M_PI), nullptr) == Outcome::ok);
  CHECK(held.x.cwiseAbs().maxCoeff() == 0);
  // x'' = 1 - cos t
  const auto slipping = make_system(mass + "\nconstant = [2]\nforce = [{ cosine = [-1] }]");
  HybridState slips = state_at({0, 0});
  REQUIRE(slipping->advance(slips, for_time(1), nullptr) == Outcome::ok);
  CHECK(slips.x(0) == Approx(std::cos(1.0) - 0.5).margin(1e-14));
  CHECK(slips.x(1) == Approx(1 - std::sin(1.0)).margin(1e-14));
}

// No closed form, but what must hold of any motion: gaps are not negative, and it does not matter in which
// order the stops are written down.
TEST_CASE("corners: no gap is ever negative, the numbering of the stops does not matter") {
  constexpr double turn = 3;
  constexpr int pieces = 50;
  const bool rubs = GENERATE(false, true);
  int motions = 0;
  for (unsigned seed = 1; seed <= 600; ++seed) {
    INFO("seed " << seed << (rubs ? " with friction" : ""));
    const Corner corner(seed, rubs);
    if (!corner.possible()) continue;
    ++motions;
    const auto one = corner.system(false), other = corner.system(true);
    HybridState first = state_at(corner.start), second = first;
    Eigen::VectorXd gap, rate;
    double least = 0;
    for (int k = 0; k < pieces; ++k) {
      REQUIRE(one->advance(first, for_time(turn / pieces), nullptr) == Outcome::ok);
      REQUIRE(other->advance(second, for_time(turn / pieces), nullptr) == Outcome::ok);
      one->gaps(first, gap, rate);
      least = std::min(least, gap.minCoeff());
    }
    CHECK(least > -1e-13);
    CHECK((first.x - second.x).cwiseAbs().maxCoeff() < 1e-10);
  }
  CHECK(motions > 450);
}
