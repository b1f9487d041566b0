#include "core/lanes/modes.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "core/math/spectra.hpp"

namespace graze {
namespace {

using Square = LaneModes::Square;
using Vector = LaneModes::Vector;
using Big = LaneModes::Big;

constexpr double rounding = 1e-14;
constexpr double most_lost = 100;  // factor between errors of modes and of positions

bool is_symmetric(const Square& a) {
  return (a - a.transpose()).cwiseAbs().maxCoeff() <= 1e-13 * a.cwiseAbs().maxCoeff();
}

/// A pair of columns for z' = A z that moves as (q, p) of one mode does.
struct Pair {
  double decay, square;
  Vector q, p;
};

/// Of an eigenvalue −a + iω.
Pair turning(std::complex<double> value, const Eigen::VectorXcd& column) {
  const Eigen::Index n = column.size() / 2;
  // As near to a standing wave as it goes.
  const std::complex<double> sum = column.head(n).cwiseProduct(column.head(n)).sum();
  const std::complex<double> phase = std::polar(1.0, -0.5 * std::arg(sum));
  const Vector re = (phase * column).real(), im = (phase * column).imag();
  const double size = re.head(n).norm(), turn = value.imag();
  return {-value.real(), -turn * turn, re / size, im / (turn * size)};
}

/// Of two real ones.
Pair creeping(double slow, double fast, const Eigen::VectorXd& first, const Eigen::VectorXd& second) {
  const Eigen::Index n = first.size() / 2;
  const double apart = 0.5 * (slow - fast);
  const Vector one = first / first.head(n).norm();
  Vector other = second / second.head(n).norm();
  if (one.head(n).dot(other.head(n)) < 0) other = -other;
  return {-0.5 * (slow + fast), apart * apart, 0.5 * (one + other), (one - other) / (2 * apart)};
}

std::vector<Pair> pairs_of(const Big& A) {
  const auto system = eigensystem_of(A);
  if (!system) return {};
  const auto& values = system->values;
  const auto& columns = system->vectors;
  std::vector<Pair> pairs;
  std::vector<Eigen::Index> real;
  for (Eigen::Index k = 0; k < A.rows(); ++k) {
    if (values(k).imag() > 0) pairs.push_back(turning(values(k), columns.col(k)));
    if (values(k).imag() == 0) real.push_back(k);
  }
  std::sort(real.begin(), real.end(),
            [&](Eigen::Index a, Eigen::Index b) { return values(a).real() > values(b).real(); });
  for (std::size_t k = 0; k + 1 < real.size(); k += 2) {
    pairs.push_back(creeping(values(real[k]).real(), values(real[k + 1]).real(), columns.col(real[k]).real(),
                             columns.col(real[k + 1]).real()));
  }
  return pairs;
}

}  // namespace

LaneModes::LaneModes(const Square& M, const Square& C, const Square& K) : mass(M), damping(C), stiffness(K) {
  sound = is_symmetric(M) && is_symmetric(K) && take_apart();
}

bool LaneModes::are_of(const Square& M, const Square& C, const Square& K) const {
  return mass.rows() == M.rows() && mass == M && damping == C && stiffness == K;
}

bool LaneModes::take_apart() {
  const Eigen::Index n = mass.rows();
  const Eigen::LLT<Square> root(mass);
  if (root.info() != Eigen::Success) return false;
  inverse_mass = root.solve(Square::Identity(n, n));
  // Without damping: shapes Φ with Φᵀ M Φ = 1, Φᵀ K Φ = diag(squares).
  const Square half = root.matrixL().solve(stiffness);
  Square plain = root.matrixL().solve(half.transpose());
  plain = (0.5 * (plain + plain.transpose())).eval();
  const Eigen::SelfAdjointEigenSolver<Square> solver(plain);
  if (solver.info() != Eigen::Success) return false;
  const Square shapes = root.matrixU().solve(solver.eigenvectors());
  const Vector squares = solver.eigenvalues();
  const Square damped = shapes.transpose() * damping * shapes;

  const Vector half_damped = 0.5 * damped.diagonal();
  const double size = damped.cwiseAbs().maxCoeff();
  Square mixed = damped;
  mixed.diagonal().setZero();
  classical = mixed.cwiseAbs().maxCoeff() <= 2e-15 * size;
  if (classical) {
    decay = half_damped.cast<long double>();
    square = decay.cwiseAbs2() - squares.cast<long double>();
    const Square inverse = shapes.transpose() * mass;
    from_modes = Big::Zero(2 * n, 2 * n);
    from_modes.topLeftCorner(n, n) = shapes;
    from_modes.bottomLeftCorner(n, n) = -shapes * half_damped.asDiagonal();
    from_modes.bottomRightCorner(n, n) = shapes;
    to_modes = Big::Zero(2 * n, 2 * n);
    to_modes.topLeftCorner(n, n) = inverse;
    to_modes.bottomLeftCorner(n, n) = half_damped.asDiagonal() * inverse;
    to_modes.bottomRightCorner(n, n) = inverse;
  } else if (!take_damped(shapes, damped, squares)) {
    return false;
  }
  for (Eigen::Index j = 0; j < n; ++j) {
    refine(j);
    const double a = static_cast<double>(decay(j)), D = static_cast<double>(square(j));
    const double slack = rounding * std::sqrt(std::abs(D) + a * a);
    if (!(a >= -slack)) return false;
    decay(j) = std::max(decay(j), 0.0L);
    if (!(a * a - D >= -slack * slack)) return false;
    rate = std::max(rate, D > 0 ? std::max(a, 0.0) + std::sqrt(D) : std::sqrt(std::max(a * a - D, 0.0)));
  }
  return true;
}

/// Where damping mixes the shapes.
bool LaneModes::take_damped(const Square& shapes, const Square& damped, const Vector& squares) {
  const Eigen::Index n = shapes.rows();
  const double unit = std::sqrt(squares.cwiseAbs().maxCoeff()) + damped.cwiseAbs().maxCoeff();  // of rates
  Big A = Big::Zero(2 * n, 2 * n);
  A.topRightCorner(n, n).setIdentity();
  A.bottomLeftCorner(n, n).diagonal() = -squares / (unit * unit);
  A.bottomRightCorner(n, n) = -damped / unit;
  const std::vector<Pair> pairs = pairs_of(A);
  if (static_cast<Eigen::Index>(pairs.size()) != n) return false;
  Big T(2 * n, 2 * n);
  Big B = Big::Zero(2 * n, 2 * n);
  for (Eigen::Index j = 0; j < n; ++j) {
    const Pair& pair = pairs[static_cast<std::size_t>(j)];
    T.col(j) = pair.q;
    T.col(n + j) = pair.p;
    B(j, j) = B(n + j, n + j) = -pair.decay;
    B(j, n + j) = 1;
    B(n + j, j) = pair.square;
  }
  const Big inverse = T.inverse();
  const double lost = T.cwiseAbs().rowwise().sum().maxCoeff() * inverse.cwiseAbs().rowwise().sum().maxCoeff();
  if (!(lost <= most_lost)) return false;
  if (!((A * T - T * B).cwiseAbs().maxCoeff() <= rounding)) return false;
  decay = (-unit * B.diagonal().head(n)).cast<long double>();
  square.resize(n);
  for (Eigen::Index j = 0; j < n; ++j) square(j) = unit * unit * B(n + j, j);
  // p and velocities back to their own unit.
  Big units = Big::Zero(2 * n, 2 * n);
  units.topLeftCorner(n, n) = shapes;
  units.bottomRightCorner(n, n) = unit * shapes;
  from_modes = units * T;
  from_modes.rightCols(n) /= unit;
  const Square back = shapes.transpose() * mass;
  Big units_back = Big::Zero(2 * n, 2 * n);
  units_back.topLeftCorner(n, n) = back;
  units_back.bottomRightCorner(n, n) = back / unit;
  to_modes = inverse * units_back;
  to_modes.bottomRows(n) *= unit;
  return true;
}

/// Gives a and D of a mode all digits, as what they are off by adds up over all periods: from λ² yᵀM u +
/// λ yᵀC u + yᵀK u = 0 with its shapes u and, from the left, y. What these lack counts in second order.
void LaneModes::refine(Eigen::Index mode) {
  using Long = long double;
  using Complex = std::complex<Long>;
  const Eigen::Index n = mass.rows();
  const auto refined = [&](const Complex& root) {
    std::array<Complex, most_dofs> u, y;
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      u[at] = static_cast<Long>(from_modes(i, mode)) + root * static_cast<Long>(from_modes(i, n + mode));
      y[at] = 0;
      for (Eigen::Index k = 0; k < n; ++k)
        y[at] += static_cast<Long>(inverse_mass(i, k)) * (root * static_cast<Long>(to_modes(mode, n + k)) +
                                                          static_cast<Long>(to_modes(n + mode, n + k)));
    }
    const auto form = [&](const Square& of) {
      Complex sum = 0;
      for (Eigen::Index i = 0; i < n; ++i) {
        for (Eigen::Index k = 0; k < n; ++k)
          sum +=
              y[static_cast<std::size_t>(i)] * static_cast<Long>(of(i, k)) * u[static_cast<std::size_t>(k)];
      }
      return sum;
    };
    const Complex m = form(mass), c = form(damping), k = form(stiffness);
    Complex value = root - decay(mode);
    for (int step = 0; step < 2; ++step) value -= ((m * value + c) * value + k) / (Long{2} * m * value + c);
    return value;
  };
  const Long size = std::sqrt(std::abs(square(mode)));
  if (square(mode) < 0) {
    const Complex value = refined({0, size});
    decay(mode) = -value.real();
    square(mode) = -value.imag() * value.imag();
  } else if (square(mode) > 0) {
    const Long slow = refined(size).real(), fast = refined(-size).real();
    decay(mode) = -(slow + fast) / 2;
    square(mode) = (slow - fast) * (slow - fast) / 4;
  }
}

}  // namespace graze
