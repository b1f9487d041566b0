#include "core/linear_family.hpp"

#include <Eigen/Cholesky>

namespace graze {

namespace {

template <class Matrix>
bool is_definite(const Matrix& matrix) {
  const Eigen::LLT<Matrix> factor(matrix);
  return factor.info() == Eigen::Success && factor.rcond() > 1e-14;
}

}  // namespace

bool is_mass(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  constexpr int few = 4;  // as most sweeps have: nothing is allocated
  if (matrix.rows() > few) return is_definite<Eigen::MatrixXd>(matrix);
  return is_definite<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, few, few>>(matrix);
}

template class LinearFamilySystem<1, 1, 1>;
template class LinearFamilySystem<1, 1, 2>;

}  // namespace graze
