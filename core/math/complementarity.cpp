#include "core/math/complementarity.hpp"

#include <cmath>

#include "core/math/dense.hpp"

namespace graze {
namespace {

/// Of value = Σ terms, zero where they cancel.
int sign_of_sum(double value, double size_of_terms) {
  constexpr double rounding = 1e-13;
  if (std::abs(value) <= rounding * size_of_terms) return 0;
  return value < 0 ? -1 : 1;
}

}  // namespace

std::optional<std::vector<Load>> loads_of(const Eigen::MatrixXd& G, const Eigen::VectorXd& q) {
  const Eigen::Index n = q.size();
  std::vector<Load> loads(static_cast<std::size_t>(n), Load::none);
  if (n == 1) {
    if (!(G(0, 0) > 0)) return std::nullopt;
    if (q(0) != 0) loads[0] = q(0) < 0 ? Load::carries : Load::open;
    return loads;
  }
  std::vector<bool> carries(static_cast<std::size_t>(n), false);
  // Murty's rule visits no set twice, so 2^n bounds it; in practice it needs a few n.
  const long limit = n < 20 ? 1L << n : 1L << 20;
  for (long pivot = 0; pivot <= limit; ++pivot) {
    std::vector<Eigen::Index> set;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (carries[static_cast<std::size_t>(i)]) set.push_back(i);
    }
    Eigen::VectorXd z = Eigen::VectorXd::Zero(n);
    if (!set.empty()) {
      const auto solution = solve_regular(G(set, set), q(set));
      if (!solution) return std::nullopt;
      z(set) = -*solution;
    }
    const Eigen::VectorXd w = G * z + q;
    const Eigen::VectorXd size = G.cwiseAbs() * z.cwiseAbs() + q.cwiseAbs();
    Eigen::Index wrong = -1;
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const int sign = sign_of_sum(carries[k] ? z(i) * G(i, i) : w(i), size(i));
      if (sign < 0 && wrong < 0) wrong = i;
      loads[k] = sign == 0 ? Load::none : carries[k] ? Load::carries : Load::open;
    }
    if (wrong < 0) return loads;
    carries[static_cast<std::size_t>(wrong)] = !carries[static_cast<std::size_t>(wrong)];
  }
  return std::nullopt;
}

std::optional<std::vector<Eigen::Index>> carriers_of(const Eigen::MatrixXd& G, const Eigen::VectorXd& q) {
  const auto loads = loads_of(G, q);
  if (!loads) return std::nullopt;
  std::vector<Eigen::Index> set;
  for (std::size_t k = 0; k < loads->size(); ++k) {
    if ((*loads)[k] == Load::carries) set.push_back(static_cast<Eigen::Index>(k));
  }
  return set;
}

bool independent(const Eigen::MatrixXd& G) { return is_regular(G); }

Eigen::MatrixXd responses_beside(const Eigen::MatrixXd& G, const Eigen::MatrixXd& across,
                                 const Eigen::MatrixXd& held, const Eigen::MatrixXd& back) {
  constexpr double dependent = 1e-11;
  Eigen::MatrixXd rest = G - across * linear_solve(held, back);
  for (Eigen::Index i = 0; i < rest.rows(); ++i) {
    if (rest(i, i) > dependent * G(i, i)) continue;
    rest.row(i).setZero();
    rest.col(i).setZero();
  }
  return rest;
}

}  // namespace graze
