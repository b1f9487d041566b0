#include "core/math/spectra.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace graze {

using Eigen::MatrixXd;

Eigen::VectorXcd eigenvalues_of(const MatrixXd& A) {
  return Eigen::EigenSolver<MatrixXd>(A, false).eigenvalues();
}

std::optional<Eigensystem> eigensystem_of(const MatrixXd& A) {
  const Eigen::EigenSolver<MatrixXd> solver(A);
  if (solver.info() != Eigen::Success) return std::nullopt;
  return Eigensystem{solver.eigenvalues(), solver.eigenvectors()};
}

MatrixXd left_singular_vectors(const MatrixXd& A) {
  return Eigen::JacobiSVD<MatrixXd>(A, Eigen::ComputeFullU).matrixU();
}

MatrixXd right_singular_vectors(const MatrixXd& A) {
  return Eigen::JacobiSVD<MatrixXd>(A, Eigen::ComputeFullV).matrixV();
}

OrthogonalFactors orthogonal_factors(const MatrixXd& A) {
  const Eigen::HouseholderQR<MatrixXd> qr(A);
  const Eigen::Index n = A.cols();
  return {qr.householderQ() * MatrixXd::Identity(A.rows(), n),
          qr.matrixQR().topRows(n).triangularView<Eigen::Upper>()};
}

}  // namespace graze
