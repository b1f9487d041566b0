/// Terms that are too small to be seen where a step of the power series begins and are not where it ends
/// (core/math/series_reach.hpp), by the scalar engine and by every kernel of the lanes, against closed forms.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/lanes/lanes.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// The state at a time.
using Exact = std::function<std::vector<double>(double)>;

/// The greatest difference between a motion seen at equal intervals and its closed form.
double difference(System& system, const Exact& exact) {
  constexpr double interval = 0.037;
  constexpr int iterates = 100;
  std::vector<LaneMotion> motions(1);
  motions[0].system = &system;
  motions[0].state = state_at(exact(0));
  Lanes(motions, for_time(interval)).advance(iterates, true);
  REQUIRE(motions[0].outcome == Outcome::ok);
  double worst = 0;
  auto point = motions[0].points.begin();
  for (int k = 1; k <= iterates; ++k) {
    for (const double expected : exact(interval * k)) worst = std::max(worst, std::abs(*point++ - expected));
  }
  CHECK(point == motions[0].points.end());
  return worst;
}

/// By the scalar engine and by every kernel.
void check(const std::string& equations, const Exact& exact) {
  const auto system = make_system("name = 'equations'\n" + equations);
  REQUIRE(system != nullptr);
  for (const std::string& kernel : lane_kernels()) {
    choose_lane_kernel(kernel);
    INFO(kernel << ": " << equations);
    CHECK(difference(*system, exact) < 1e-11);
  }
  choose_lane_kernel("");
}

}  // namespace

/// y = x + 5, v²/2 + exp(−ky)/k = E: exp(ky) = cosh²(k √(E/2) (t − turn))/(kE).
TEST_CASE("unseen terms: a wall exp(-k (x + 5)), nothing where the motion begins", "[equations]") {
  for (const double k : {20.0, 200.0, 2000.0}) {
    constexpr double E = 0.5, turn = 1.7;
    const double rate = k * std::sqrt(E / 2);
    check("coordinates = ['x']\nforce = { x = 'exp(-" + fmt_double(k) + "*(x + 5))' }", [&](double t) {
      const double s = rate * (t - turn), size = std::abs(s);
      const double log_cosh = size + std::log1p(std::exp(-2 * size)) - std::log(2);
      return std::vector{(2 * log_cosh - std::log(k * E)) / k - 5, 2 * rate / k * std::tanh(s)};
    });
  }
}

/// s = v − 3, s' = −μ tanh ks: sinh ks = sinh(ks₀) exp(−μkt).
TEST_CASE("unseen terms: friction rounded by tanh brings a mass to the speed of a belt", "[equations]") {
  for (const double k : {30.0, 300.0, 3000.0}) {
    constexpr double mu = 0.5, s0 = 1;
    check("states = ['v']\nrate = { v = '-0.5*tanh(" + fmt_double(k) + "*(v - 3))' }", [&](double t) {
      const double log_sinh = k * (s0 - mu * t) + std::log1p(-std::exp(-2 * k * s0)) - std::log(2);
      const double ks =
          log_sinh > 30 ? log_sinh + std::log(2) : std::asinh(std::exp(log_sinh));  // to all digits
      return std::vector{3 + ks / k};
    });
  }
}

/// y = s − 3, p' = y/√(y² + e²), s' = 1: p − √(y² + e²) stays.
TEST_CASE("unseen terms: the corner of sqrt(y^2 + e^2)", "[equations]") {
  for (const double e : {1e-3, 1e-6, 1e-9}) {
    check("states = ['p', 's']\nrate = { p = '(s - 3)/sqrt((s - 3)^2 + " + fmt_double(e * e) + ")', s = 1 }",
          [&](double t) {
            const double y = t - 2;
            return std::vector{std::hypot(y, e), y + 3};
          });
  }
}
