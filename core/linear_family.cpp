#include "core/linear_family.hpp"

#include <Eigen/Cholesky>

namespace graze {

bool is_mass(const Eigen::MatrixXd& matrix) {
  const Eigen::LLT<Eigen::MatrixXd> factor(matrix);
  return factor.info() == Eigen::Success && factor.rcond() > 1e-14;
}

template class LinearFamilySystem<1, 1, 1>;
template class LinearFamilySystem<1, 1, 2>;

}  // namespace graze
