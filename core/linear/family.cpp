#include "core/linear/family.hpp"

#include <Eigen/Cholesky>
#include <cmath>

namespace graze {

namespace {

template <class Matrix>
bool is_definite(const Matrix& matrix) {
  const Eigen::LLT<Matrix> factor(matrix);
  return factor.info() == Eigen::Success && factor.rcond() > 1e-14;
}

/// Every diagonal outweighs what stands beside it: certainly definite, and not nearly singular (Gershgorin).
/// Most masses are so, and this is soon seen.
bool is_dominant(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  const double size = matrix.cwiseAbs().sum();
  for (Eigen::Index i = 0; i < matrix.cols(); ++i) {
    const double others = matrix.col(i).cwiseAbs().sum() - std::abs(matrix(i, i));
    if (!(matrix(i, i) - others > 1e-12 * size)) return false;
  }
  return true;
}

}  // namespace

bool is_mass(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  if (is_dominant(matrix)) return true;
  constexpr int few = 4;  // as most sweeps have: nothing is allocated
  if (matrix.rows() > few) return is_definite<Eigen::MatrixXd>(matrix);
  return is_definite<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, few, few>>(matrix);
}

template class LinearFamilySystem<1, 1, 1>;
template class LinearFamilySystem<1, 1, 2>;

}  // namespace graze
