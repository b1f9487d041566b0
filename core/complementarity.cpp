#include "core/complementarity.hpp"

#include <Eigen/LU>

namespace graze {

std::optional<std::vector<bool>> carrying_contacts(const Eigen::MatrixXd& G, const Eigen::VectorXd& q) {
  const Eigen::Index n = q.size();
  if (n == 1) return G(0, 0) > 0 ? std::optional(std::vector<bool>{q(0) < 0}) : std::nullopt;
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
      const Eigen::MatrixXd block = G(set, set);
      const Eigen::PartialPivLU<Eigen::MatrixXd> factor(block);
      if (!(factor.rcond() > 1e-14)) return std::nullopt;
      z(set) = -factor.solve(q(set).eval());
    }
    const Eigen::VectorXd w = G * z + q;
    Eigen::Index wrong = -1;
    for (Eigen::Index i = 0; i < n && wrong < 0; ++i) {
      const bool in = carries[static_cast<std::size_t>(i)];
      if ((in && z(i) < 0) || (!in && w(i) < 0)) wrong = i;
    }
    if (wrong < 0) return carries;
    carries[static_cast<std::size_t>(wrong)] = !carries[static_cast<std::size_t>(wrong)];
  }
  return std::nullopt;
}

}  // namespace graze
