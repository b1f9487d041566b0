/// Linear systems that are singular: told by a pivot that is exactly zero, whatever an estimate of the
/// condition makes of it.
#include <Eigen/Core>
#include <catch2/catch.hpp>

#include "core/math/dense.hpp"
#include "tests/dice.hpp"

using namespace graze;
using namespace graze::test;

TEST_CASE("a matrix with a row of zeros is singular, and the shortest solution solves all other rows") {
  Dice dice(1);
  constexpr Eigen::Index size = 8;
  for (int trial = 0; trial < 200; ++trial) {
    Eigen::MatrixXd A(size, size);
    for (double& entry : A.reshaped()) entry = dice.number(-1.9, 1.9);
    Eigen::VectorXd b = dice.vector(size, 1);
    const Eigen::Index none = trial % size;
    A.row(none).setZero();
    for (Eigen::Index j = 0; j < size; ++j) A((none + 1) % size, j) = dice.number(1, 1.9);  // columns alike
    b(none) = 0;
    CHECK_FALSE(is_regular(A));
    CHECK_FALSE(solve_regular(A, b).has_value());
    const Eigen::VectorXd x = shortest_solution(A, b);
    CHECK((A * x - b).cwiseAbs().maxCoeff() < 1e-11);
    // Shortest: nothing of it lies in the null space.
    const Eigen::MatrixXd null = null_space(A, 1e-13);
    REQUIRE(null.cols() == 1);
    CHECK(std::abs(null.col(0).normalized().dot(x)) < 1e-11 * (1 + x.norm()));
  }
}
