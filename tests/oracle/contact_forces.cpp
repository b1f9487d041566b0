/// Normal forces of contacts: Newton's law, a pendulum at rest on its stop, and one motion in two engines.
#include <catch2/catch.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tests/dice.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// Moves by one step of the motion, or says that something happened on it.
bool moves_freely(System& system, HybridState& state, double step) {
  Log log;
  REQUIRE(system.advance(state, for_time(step), &log) == Outcome::ok);
  return std::none_of(log.entries.begin(), log.entries.end(),
                      [](const Log::Entry& e) { return e.kind != EventKind::section; });
}

}  // namespace

TEST_CASE("contact forces: M q'' = f - C q' - K q - sum n N, rigid and compliant", "[linear]") {
  int closed = 0, engaged = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Dice dice(seed);
    const Eigen::Index n = 2;
    const double omega = dice.number(0.5, 2), step = 1e-3;
    const Eigen::MatrixXd M = dice.definite(n, 0.3, 1), C = dice.definite(n, 0.1, 0.05),
                          K = dice.definite(n, 1, 0.5);
    const Eigen::VectorXd f = dice.vector(n, 3);
    Eigen::MatrixXd normals(n, 2);
    std::string stops;
    for (int c = 0; c < 2; ++c) {
      normals.col(c) = dice.vector(n, 1);
      normals(c, c) = dice.coin() ? 1 : -1;
      const bool rigid = c == 0;
      stops += "{ normal = " + list(Eigen::VectorXd(normals.col(c))) +
               ", position = " + fmt_double(dice.number(0.1, 0.4)) +
               (rigid ? ", restitution = 0.2 }, "
                      : ", stiffness = 40, damping = 0.6" +
                            std::string(dice.coin() ? ", preload = 0.5 }, " : " }, "));
    }
    const auto system =
        make_system("name = 'linear_stops'\nomega = " + fmt_double(omega) + "\nmass = " + rows(M) +
                    "\ndamping = " + rows(C) + "\nstiffness = " + rows(K) +
                    "\nforce = [{ cosine = " + list(f) + " }]\nstop = [" + stops + "]\n");
    HybridState state = state_at({0, 0, 0, 0});
    for (int k = 0; k < 400; ++k) {
      std::array<HybridState, 5> s;
      static_cast<void>(moves_freely(*system, state, 0.05));
      bool free = true;
      for (HybridState& at : s) {
        free = moves_freely(*system, state, step) && free;
        at = state;
      }
      const Eigen::VectorXd N = system->contact_forces(s[2]);
      CHECK(N.minCoeff() >= -1e-12);
      if (!free) continue;
      closed += is_closed(s[2].mode, 0) ? 1 : 0;
      engaged += system->in_contact(s[2], 1) ? 1 : 0;
      Eigen::VectorXd q(n), v(n), a(n);
      for (Eigen::Index i = 0; i < n; ++i) {
        q(i) = s[2].x(2 * i);
        v(i) = s[2].x(2 * i + 1);
        const auto speed = [&](std::size_t j) { return s[j].x(2 * i + 1); };
        a(i) = (8 * (speed(3) - speed(1)) - (speed(4) - speed(0))) / (12 * step);
      }
      const Eigen::VectorXd left = M * a + C * v + K * q - f * std::cos(omega * s[2].time) + normals * N;
      CAPTURE(seed, k, N.transpose());
      CHECK(left.cwiseAbs().maxCoeff() < 1e-8);
    }
  }
  CHECK(closed > 1000);
  CHECK(engaged > 1000);
}

TEST_CASE("contact forces: a pendulum pressed onto its stop, N dg/dphi = sin(phi) - T", "[equations]") {
  for (const double slope : {1.0, 0.4}) {
    const auto system = make_system(
        "name = 'equations'\nparameters = { T = 0.9, m = 3 }\n"
        "coordinates = ['phi']\nmass = [['m']]\nforce = { phi = \"T - sin(phi)\" }\n"
        "contact = [{ gap = \"" +
        fmt_double(slope) + "*(0.5 - phi)\", restitution = 0 }]\n");
    HybridState state = state_at({0.5, 0});
    REQUIRE(system->advance(state, for_time(2), nullptr) == Outcome::ok);
    REQUIRE(is_closed(state.mode, 0));
    const double expected = (0.9 - std::sin(0.5)) / slope;
    CHECK(std::abs(system->contact_forces(state)(0) - expected) < 1e-14 * expected);
    HybridState open = state_at({0.2, 0});
    REQUIRE(system->advance(open, for_time(0.1), nullptr) == Outcome::ok);
    CHECK(system->contact_forces(open)(0) == 0);
  }
}
