/// The certified search on polynomials built from their roots.
#include <catch2/catch.hpp>

#include <Eigen/LU>
#include <algorithm>
#include <random>
#include <vector>

#include "core/math/complementarity.hpp"
#include "core/math/dense.hpp"
#include "core/math/dual.hpp"
#include "core/math/root_search.hpp"

using namespace graze;

namespace {

/// Coefficients of Π (1 − s/root) Π ((s − m)² + w²).
std::vector<double> built(const std::vector<double>& roots,
                          const std::vector<std::pair<double, double>>& pairs) {
  std::vector<double> c = {1};
  const auto multiply = [&](const std::vector<double>& factor) {
    std::vector<double> product(c.size() + factor.size() - 1, 0);
    for (std::size_t i = 0; i < c.size(); ++i) {
      for (std::size_t j = 0; j < factor.size(); ++j) product[i + j] += c[i] * factor[j];
    }
    c = product;
  };
  for (const double r : roots) multiply({1, -1 / r});
  for (const auto& [m, w] : pairs) multiply({m * m + w * w, -2 * m, 1});
  while (c.size() < 3) c.push_back(0);
  return c;
}

}  // namespace

TEST_CASE("the first of several roots, whatever follows it") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<double> roots;
    for (int k = 0; k < 4; ++k) roots.push_back(1e-3 + 1.2 * unit(random));
    const double first = *std::min_element(roots.begin(), roots.end());
    const auto c = built(roots, {{unit(random), unit(random)}});
    const auto found = first_zero(c, 1);
    if (first > 1) {
      CHECK(!found);
    } else {
      REQUIRE(found);
      std::vector<double> sorted = roots;
      std::sort(sorted.begin(), sorted.end());
      const double margin =
          1e-12 / std::max(1e-9, sorted[1] - sorted[0]);  // nearly double roots are ill-conditioned
      CHECK(*found == Approx(first).margin(std::max(1e-13, margin)));
    }
  }
}

TEST_CASE("a near miss is no root, a touch is one, at every depth") {
  for (double depth = 1e-2; depth > 1e-14; depth /= 10) {
    INFO("depth " << depth);
    const double m = 0.6180339887;
    const std::vector<double> miss = {m * m + depth, -2 * m, 1};
    const std::vector<double> hit = {m * m - depth, -2 * m, 1};
    CHECK(!first_zero(miss, 1));
    const auto found = first_zero(hit, 1);
    REQUIRE(found);
    CHECK(*found == Approx(m - std::sqrt(depth)).margin(1e-16 / std::sqrt(depth) + 1e-15));
    const auto lowest = first_minimum(miss, 1);
    REQUIRE(lowest);
    CHECK(*lowest == Approx(m).margin(1e-14));
    CHECK(polynomial(miss, *lowest) == Approx(depth).margin(1e-15));
    CHECK(polynomial_curvature(miss, *lowest) == Approx(2));
  }
}

TEST_CASE("a guard already at its zero and not leaving is met at once") {
  CHECK(first_zero(std::vector<double>{0, -1, 0}, 1) == 0.0);
  CHECK(first_zero(std::vector<double>{-1e-20, 1, 0}, 1) == 0.0);
}

// A guard that has just been left with the third power: rounding of the lower ones, 1e-48, would keep steps
// of 1e-24.
TEST_CASE("a polynomial that is as good as zero at first and grows with a high power is gone through") {
  for (const double c0 : {1e-48, 1e-100}) {
    for (const std::size_t power : {2, 3, 6, 9}) {
      std::vector<double> c(20, 0.0);
      c[0] = c0;
      c[power] = 0.02;
      CHECK(!first_zero(c, 1));
      c[power + 1] = -0.04;
      const auto zero = first_zero(c, 1);
      REQUIRE(zero);
      CHECK(*zero == Approx(0.5).epsilon(1e-14));
    }
  }
}

TEST_CASE("complementarity: the solution satisfies 0 <= z, 0 <= Gz + q, z(Gz + q) = 0") {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int trial = 0; trial < 2000; ++trial) {
    const Eigen::Index n = 1 + trial % 6;
    const Eigen::MatrixXd A = Eigen::MatrixXd::NullaryExpr(n, n, [&] { return unit(random); });
    const Eigen::VectorXd scale = Eigen::VectorXd::NullaryExpr(n, [&] { return 2 + unit(random); });
    const Eigen::MatrixXd G =
        (A * A.transpose() + 0.05 * Eigen::MatrixXd::Identity(n, n)) * scale.asDiagonal();
    const Eigen::VectorXd q = Eigen::VectorXd::NullaryExpr(n, [&] { return unit(random); });
    const auto loads = loads_of(G, q);
    REQUIRE(loads);
    std::vector<Eigen::Index> set;
    for (Eigen::Index i = 0; i < n; ++i) {
      if ((*loads)[static_cast<std::size_t>(i)] == Load::carries) set.push_back(i);
    }
    Eigen::VectorXd z = Eigen::VectorXd::Zero(n);
    if (!set.empty()) z(set) = -linear_solve(Eigen::MatrixXd(G(set, set)), Eigen::VectorXd(q(set)));
    CHECK(z.minCoeff() >= 0);
    CHECK((G * z + q).minCoeff() >= -1e-10 * (1 + z.maxCoeff()));
  }
  CHECK(!loads_of(Eigen::MatrixXd::Zero(1, 1), Eigen::VectorXd::Constant(1, -1.0)));
}

TEST_CASE("dual numbers: derivatives of a composed function") {
  Dual<2> x(0.7), y(1.3);
  x.slope[0] = 1;
  y.slope[1] = 1;
  const Dual<2> f = sin(x * y) / sqrt(x + 2.0 * y) - cos(y) * abs(-x);
  const double s = std::sin(0.91), c = std::cos(0.91), root = std::sqrt(3.3);
  CHECK(f.value == Approx(s / root - std::cos(1.3) * 0.7));
  CHECK(f.slope[0] == Approx(c * 1.3 / root - s / (2 * 3.3 * root) - std::cos(1.3)));
  CHECK(f.slope[1] == Approx(c * 0.7 / root - s / (3.3 * root) + std::sin(1.3) * 0.7));
}
