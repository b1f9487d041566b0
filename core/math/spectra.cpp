#include "core/math/spectra.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <limits>

namespace graze {

using Eigen::MatrixXd;

Eigen::VectorXcd eigenvalues_of(const MatrixXd& A) {
  thread_local Eigen::EigenSolver<MatrixXd> solver;  // keeps its room
  solver.compute(A, false);
  if (solver.info() != Eigen::Success)
    return Eigen::VectorXcd::Constant(A.cols(), std::numeric_limits<double>::quiet_NaN());
  return solver.eigenvalues();
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
