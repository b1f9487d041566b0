/// Newton's method of branches and curves where it fails.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/continuation/newton.hpp"

using namespace graze;

TEST_CASE("Newton's method does not look where a motion would be followed for ever") {
  // Behind 2 the equation is nearly flat: Newton's step from there is 1e8.
  double furthest = 0;
  const auto flat = [&](const Eigen::VectorXd& x) -> std::optional<double> {
    furthest = std::max(furthest, std::abs(x(0)));
    return 1e-8;
  };
  const auto found = newton(
      Eigen::VectorXd::Constant(1, 2), 2, Eigen::VectorXd::Ones(1), flat,
      [](const Eigen::VectorXd& x, double slope) {
        return Eigen::VectorXd::Constant(1, 1 + slope * x(0)).eval();
      },
      [](const Eigen::VectorXd&, double slope, const Eigen::VectorXd& right) -> Eigen::VectorXd {
        return right / slope;
      });
  CHECK_FALSE(found.ok);
  CHECK(furthest <= 202);
}
