#include "analysis/maps/multipliers.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/math/spectra.hpp"

namespace graze {
namespace {

using Matrices = std::vector<Eigen::MatrixXd>;

constexpr double row_rounding = 1e-14;
constexpr int most_rounds = 400;

/// Rows of a factor that are not zero.
std::vector<Eigen::Index> live_rows(const Eigen::MatrixXd& factor) {
  std::vector<Eigen::Index> rows;
  const double size = factor.cwiseAbs().maxCoeff();
  for (Eigen::Index i = 0; i < factor.rows(); ++i) {
    if (factor.row(i).cwiseAbs().maxCoeff() > row_rounding * size) rows.push_back(i);
  }
  return rows;
}

/// The cyclic product begun behind the factor of lowest rank, in the coordinates that this factor reaches.
Matrices without_zeros(std::span<const Eigen::MatrixXd> factors) {
  std::size_t narrowest = 0;
  for (std::size_t k = 1; k < factors.size(); ++k) {
    if (live_rows(factors[k]).size() < live_rows(factors[narrowest]).size()) narrowest = k;
  }
  const std::vector<Eigen::Index> rows = live_rows(factors[narrowest]);
  Matrices rotated;
  for (std::size_t k = 1; k <= factors.size(); ++k) {
    rotated.push_back(factors[(narrowest + k) % factors.size()]);
  }
  rotated.front() = rotated.front()(Eigen::all, rows).eval();
  rotated.back() = rotated.back()(rows, Eigen::all).eval();
  return rotated;
}

/// Signs of the diagonal of R are made positive, so that Q converges and does not flip.
void orthonormalise(Eigen::MatrixXd& q, Eigen::MatrixXd& r) {
  OrthogonalFactors factors = orthogonal_factors(q);
  q = std::move(factors.q);
  r = std::move(factors.r);
  for (Eigen::Index i = 0; i < q.cols(); ++i) {
    if (r(i, i) >= 0) continue;
    r.row(i) *= -1;
    q.col(i) *= -1;
  }
}

/// Eigenvalues of the product of the diagonal blocks from `first` on, `size` wide, closed by `turn`.
void block_eigenvalues(const Matrices& r, const Eigen::MatrixXd& turn, Eigen::Index first, Eigen::Index size,
                       std::vector<std::complex<double>>& values) {
  Eigen::MatrixXd product = Eigen::MatrixXd::Identity(size, size);
  double exponent = 0;
  for (const Eigen::MatrixXd& factor : r) {
    product = (factor.block(first, first, size, size) * product).eval();
    const double scale = product.cwiseAbs().maxCoeff();
    if (!(scale > 0)) {
      values.insert(values.end(), static_cast<std::size_t>(size), 0.0);
      return;
    }
    product /= scale;
    exponent += std::log(scale);
  }
  product = (turn.block(first, first, size, size) * product).eval();
  for (const std::complex<double>& value : eigenvalues(product)) {
    const double modulus = std::abs(value);
    values.push_back(modulus > 0 ? value / modulus * std::exp(exponent + std::log(modulus)) : 0.0);
  }
}

/// Sizes of the diagonal blocks of a matrix that is block triangular but for rounding.
std::vector<Eigen::Index> blocks_of(const Eigen::MatrixXd& turn) {
  constexpr double coupling = 1e-13;
  const Eigen::Index n = turn.cols();
  std::vector<Eigen::Index> sizes;
  for (Eigen::Index first = 0; first < n; first += sizes.back()) {
    Eigen::Index size = 1;
    while (first + size < n &&
           turn.block(first + size, 0, n - first - size, first + size).cwiseAbs().maxCoeff() > coupling) {
      ++size;
    }
    sizes.push_back(size);
  }
  return sizes;
}

/// Whether the moduli of the eigenvalues of a block, but for those that are rounding beside the others,
/// differ so little that those of its product, formed as it is, lose no more than the last digits. The R of
/// one round tell the moduli about.
bool is_even(const Matrices& r, Eigen::Index first, Eigen::Index size) {
  constexpr double spread = 100;
  constexpr double rounding = 1e-13;
  std::vector<double> growths(static_cast<std::size_t>(size), 0.0);
  for (const Eigen::MatrixXd& factor : r)
    for (Eigen::Index i = 0; i < size; ++i)
      growths[static_cast<std::size_t>(i)] += std::log(factor(first + i, first + i));
  const double most = *std::max_element(growths.begin(), growths.end());
  return std::all_of(growths.begin(), growths.end(), [&](double growth) {
    return growth >= most - std::log(spread) || growth <= most + std::log(rounding);
  });
}

/// Eigenvalues of a product that has no zeros by structure.
std::vector<std::complex<double>> regular_eigenvalues(const Matrices& factors) {
  const Eigen::Index n = factors.front().cols();
  Eigen::MatrixXd q = Eigen::MatrixXd::Identity(n, n);
  Matrices r(factors.size());
  // `turn` maps the basis at the end to that at the start: where it couples columns, they form one block.
  // Eigenvalues of very different moduli come apart in a few rounds, the others need not: a complex pair is a
  // block of two for ever.
  std::vector<Eigen::Index> sizes;
  Eigen::MatrixXd turn;
  for (int round = 0; round < most_rounds; ++round) {
    const Eigen::MatrixXd before = q;
    for (std::size_t k = 0; k < factors.size(); ++k) {
      q = (factors[k] * q).eval();
      orthonormalise(q, r[k]);
    }
    turn = before.transpose() * q;
    sizes = blocks_of(turn);
    Eigen::Index first = 0;
    const bool even = std::all_of(sizes.begin(), sizes.end(), [&](Eigen::Index size) {
      const Eigen::Index begin = std::exchange(first, first + size);
      return size <= 2 || is_even(r, begin, size);
    });
    if (even && round > 0) break;
  }
  std::vector<std::complex<double>> values;
  Eigen::Index first = 0;
  for (const Eigen::Index size : sizes) {
    block_eigenvalues(r, turn, first, size, values);
    first += size;
  }
  return values;
}

/// The greatest first.
void sort_by_modulus(std::vector<std::complex<double>>& values) {
  std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) {
    const double x = std::abs(a);
    const double y = std::abs(b);
    return x != y ? x > y : a.imag() > b.imag();
  });
}

}  // namespace

std::vector<std::complex<double>> eigenvalues(const Eigen::MatrixXd& matrix) {
  if (!matrix.allFinite()) return {};
  const Eigen::VectorXcd found = eigenvalues_of(matrix);
  std::vector<std::complex<double>> values(found.begin(), found.end());
  sort_by_modulus(values);
  return values;
}

std::vector<std::complex<double>> product_eigenvalues(std::span<const Eigen::MatrixXd> factors) {
  const std::size_t n = static_cast<std::size_t>(factors.front().cols());
  for (const Eigen::MatrixXd& factor : factors) {
    if (!factor.allFinite()) return {};
  }
  const Matrices regular = without_zeros(factors);
  std::vector<std::complex<double>> values;
  if (regular.front().cols() > 0) values = regular_eigenvalues(regular);
  values.resize(n, 0.0);
  sort_by_modulus(values);
  return values;
}

double growth_of(const std::vector<std::complex<double>>& multipliers) {
  return multipliers.empty() ? 1 : std::max(1.0, std::abs(multipliers.front()));
}

bool is_stable(const std::vector<std::complex<double>>& multipliers) {
  return std::all_of(multipliers.begin(), multipliers.end(),
                     [](const std::complex<double>& m) { return std::abs(m) < 1; });
}

}  // namespace graze
