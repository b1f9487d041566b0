/// Where gaps turn: by themselves, where a section cuts the motion, by friction, at corners.
#include <catch2/catch.hpp>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// x'' + x = −S sgn x' below and above stops, moved by the exact flow and by power series.
std::vector<std::string> rubbing(double friction, double stop, double restitution) {
  const std::string d = fmt_double(stop), rubs = "amplitude = " + fmt_double(friction) + " }]\n",
                    rebounds = ", restitution = " + fmt_double(restitution) + " }";
  return {"name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]\nfriction = [{ direction = [1], " + rubs +
              "stop = [{ normal = [1], position = " + d + rebounds + ", { normal = [-1], position = " + d +
              rebounds + "]",
          "name = 'equations'\ncoordinates = ['x']\nforce = { x = '-x - 1e-200*x^3' }\n"
          "friction = [{ slip = \"x'\", " +
              rubs + "contact = [{ gap = '" + d + " - x'" + rebounds + ", { gap = 'x + " + d + "'" +
              rebounds + "]"};
}

}  // namespace

TEST_CASE("sections where the gap's own velocity passes zero: every near miss is told") {
  // Steady amplitude A = 1 / |1 − ω² + i c ω|; near-miss speed √(2 (gap − A) ω² A).
  const double damping = 0.05, position = 1.6;
  for (const int direction : {1, -1}) {
    const Section section = at_level(1, 0, direction);
    for (double omega = 0.2; omega < 0.6; omega += 0.004) {
      CAPTURE(direction, omega);
      const auto system = make_system(
          "name = 'linear_stops'\nmass = [[1]]\ndamping = [[0.05]]\nstiffness = [[1]]\n"
          "force = [{ cosine = [1] }]\nstop = [{ normal = [1], position = 1.6 }]\nomega = " +
          fmt_double(omega));
      const std::complex<double> response = 1.0 / std::complex<double>(1 - omega * omega, damping * omega);
      const double amplitude = std::abs(response);
      HybridState state = state_at({response.real(), -omega * response.imag()});
      const PoincareMap map(*system, section);
      REQUIRE(map.iterate(state) == Outcome::ok);
      Log log;
      for (int k = 0; k < 8; ++k) REQUIRE(map.iterate(state, &log) == Outcome::ok);
      REQUIRE(log.near_misses == 8);
      const double speed = omega * std::sqrt(2 * (position - amplitude) * amplitude);
      for (const auto& entry : log.of(EventKind::section)) CHECK(entry.speed == Approx(speed).epsilon(1e-9));
    }
  }
}

TEST_CASE("friction: every gap that turns where a slip reverses or ends is told") {
  // From x_0 = −4.7 at rest: x_n = (−1)^(n + 1) (4.7 − 2 n S), until |x_n| <= S. Braked by |x_n| + S before
  // it.
  const double S = 0.3, start = 4.7, stop = 5;
  for (const std::string& model : rubbing(S, stop, 0.5)) {
    CAPTURE(model);
    const auto system = make_system(model);
    for (int turns = 1; turns <= 7; ++turns) {
      CAPTURE(turns);
      HybridState state = state_at({-start, 0});
      Log log;
      REQUIRE(system->advance(state, for_time(M_PI * (turns + 0.5)), &log) == Outcome::ok);
      std::vector<double> speeds;
      for (const Log::Entry& entry : log.of(EventKind::section)) speeds.push_back(entry.speed);
      REQUIRE(speeds.size() == static_cast<std::size_t>(turns));
      for (int n = 1; n <= turns; ++n) {
        const double amplitude = start - 2 * n * S;
        CHECK(speeds[static_cast<std::size_t>(n - 1)] ==
              Approx(std::sqrt(2 * (stop - amplitude) * (amplitude + S))).epsilon(1e-12));
      }
      CHECK(log.greatest_gap.at(1) == Approx(stop + start - 2 * S).epsilon(1e-13));
      if (turns > 1) CHECK(log.greatest_gap.at(0) == Approx(stop + start - 4 * S).epsilon(1e-13));
    }
  }
}

TEST_CASE("friction: slips that end soon after they begin at rest are told too") {
  // x'' = A cos t − S sgn x' from rest, A = S (1 + ε): it slips from t_b on, A cos t_b = S, to t_e, A (sin
  // t_e − sin t_b) = S (t_e − t_b), and half a turn later as far back.
  const double S = 0.3, stop = 0.5;
  for (const double excess : {1e-2, 1e-4, 1e-6}) {
    const double A = S * (1 + excess), begins = -std::acos(S / A);
    double ends = -2 * begins;
    for (int k = 0; k < 20; ++k) {
      const double speed = A * (std::sin(ends) - std::sin(begins)) - S * (ends - begins);
      ends -= speed / (A * std::cos(ends) - S);
    }
    const double nearest = std::sqrt(2 * stop * (S - A * std::cos(ends)));
    const std::string d = fmt_double(stop), force = fmt_double(A), rubs = ", amplitude = 0.3 }]\n";
    for (const std::string& model :
         {"name = 'linear_stops'\nmass = [[1]]\nomega = 1\nforce = [{ cosine = [" + force + "] }]\n" +
              "friction = [{ direction = [1]" + rubs + "stop = [{ normal = [1], position = " + d + " }]",
          "name = 'equations'\ncoordinates = ['x']\nforce = { x = '" + force +
              " * cos(t) - 1e-200*x^3' }\nperiod = '2*pi'\nfriction = [{ slip = \"x'\"" + rubs +
              "contact = [{ gap = '" + d + " - x', restitution = 0.5 }]"}) {
      CAPTURE(excess, model);
      const auto system = make_system(model);
      HybridState state = state_at({0, 0});
      state.time = M_PI / 2;
      Log log;
      for (int turn = 0; turn < 3; ++turn)
        REQUIRE(system->advance(state, for_time(2 * M_PI), &log) == Outcome::ok);
      CHECK(log.near_misses == 3);
      for (const auto& entry : log.of(EventKind::section))
        CHECK(entry.speed == Approx(nearest).epsilon(std::max(1e-9, 1e-13 / excess)));
    }
  }
}

TEST_CASE("between two stops each gap is highest where the other one is hit") {
  const auto gaps = [](const std::string& model, EventKind second) {
    const auto system = make_system(model);
    HybridState state = state_at({0, 3});
    Log log;
    REQUIRE(system->advance(state, for_time(2), &log) == Outcome::ok);
    CHECK(log.of(EventKind::impact, 0).size() >= 2);
    CHECK(log.of(second, 1).size() >= 2);
    REQUIRE(log.greatest_gap.size() == 2);
    CHECK(log.greatest_gap[1] == Approx(0.8).epsilon(1e-14));
    return log.greatest_gap;
  };
  for (const std::string& model : rubbing(0, 0.4, 0.9)) {
    CAPTURE(model);
    CHECK(gaps(model, EventKind::impact)[0] == Approx(0.8).epsilon(1e-14));
  }
  for (const char* model :  // the second one is soft
       {"name = 'linear_stops'\nmass = [[1]]\nstiffness = [[1]]\nstop = [{ normal = [1], "
        "position = 0.4, restitution = 0.9 }, { normal = [-1], position = 0.4, stiffness = 30 }]",
        "name = 'equations'\ncoordinates = ['x']\nforce = { x = '-x - 1e-200*x^3' }\n"
        "contact = [{ gap = '0.4 - x', restitution = 0.9 }, "
        "{ gap = 'x + 0.4', normal_force = '30*depth^1.5' }]"}) {
    CAPTURE(model);
    CHECK(gaps(model, EventKind::contact_begin)[0] > 0.8);  // it gives way
  }
}

TEST_CASE("a mass between a stop and another mass: gaps are highest where the mass is hit") {
  // Mass 1 flies at 1 away from a wall behind it at −1 towards mass 2, at rest a distance 1 ahead. With equal
  // masses and r = 1 they exchange velocities, with twice the mass ahead mass 1 comes back at −1/3.
  for (const double ahead : {1.0, 2.0}) {
    CAPTURE(ahead);
    const auto system = make_system("name = 'linear_stops'\nmass = [[1, 0], [0, " + fmt_double(ahead) +
                                    "]]\nstop = [{ normal = [-1, 0], position = 1 },"
                                    " { normal = [1, -1], position = 1, restitution = 1 }]");
    HybridState state = state_at({0, 1, 0, 0});
    Log log;
    REQUIRE(system->advance(state, for_time(2.5), &log) == Outcome::ok);
    REQUIRE(log.of(EventKind::impact, 1).size() == 1);
    if (ahead == 1) {
      CHECK(log.greatest_gap.empty());
    } else {
      REQUIRE(log.greatest_gap.size() == 1);
      CHECK(log.greatest_gap[0] == Approx(2).epsilon(1e-14));
    }
  }
}

TEST_CASE("a jump that moves a body: gaps are highest before it or after it") {
  // x' = 1 from 0.5 on; at x = 1 the body is set back to 0.
  const auto system = make_system(
      "name = 'equations'\ncoordinates = ['x']\nforce = { x = '0' }\n"
      "contact = [{ gap = 'x + 1', restitution = 1 }, { gap = '5 - x', restitution = 1 }]\n"
      "jump = [{ when = 'x - 1', direction = 'up', set = { x = 0 } }]");
  HybridState state = state_at({0.5, 1});
  Log log;
  REQUIRE(system->advance(state, for_time(2), &log) == Outcome::ok);
  REQUIRE(log.of(EventKind::jump).size() == 2);
  REQUIRE(log.greatest_gap.size() == 2);
  CHECK(log.greatest_gap[0] == Approx(2).epsilon(1e-14));
  CHECK(log.greatest_gap[1] == Approx(5).epsilon(1e-14));
}
