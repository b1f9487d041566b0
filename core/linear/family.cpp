#include "core/linear/family.hpp"

#include <cmath>

namespace graze {

Eigen::MatrixXd free_displacements(const Eigen::Ref<const Eigen::MatrixXd>& stiffness,
                                   const Eigen::Ref<const Eigen::MatrixXd>& normal,
                                   const Eigen::Ref<const Eigen::VectorXd>& position) {
  const Eigen::Index n = stiffness.cols();
  if (is_positive_definite(stiffness)) return Eigen::MatrixXd(n, 0);  // most are, and this is soon seen
  // What feels a displacement, in rows of one size.
  Eigen::MatrixXd felt = Eigen::MatrixXd::Zero(n + position.size(), n);
  const double stiffest = stiffness.cwiseAbs().maxCoeff();
  if (stiffest > 0) felt.topRows(n) = stiffness / stiffest;
  for (Eigen::Index i = 0; i < position.size(); ++i) {
    if (std::isfinite(position(i))) felt.row(n + i) = normal.col(i).transpose().normalized();
  }
  if (felt.isZero(0)) return Eigen::MatrixXd::Identity(n, n);
  return null_space(felt, 1e-14);
}

template class LinearFamilySystem<1, 1, 2>;

}  // namespace graze
