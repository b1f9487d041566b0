#include "analysis/continuation/curve_equations.hpp"

#include <cmath>
#include <utility>

#include "analysis/continuation/slip_border.hpp"
#include "analysis/continuation/solution.hpp"
#include "core/math/dense.hpp"
#include "core/math/spectra.hpp"

namespace graze {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// Solutions of [L B; Cᵀ 0] (W; G) = (0; I).
struct Bordered {
  Matrix null;
  Matrix value;
};

Bordered bordered(const Matrix& L, const Matrix& B, const Matrix& C) {
  const Eigen::Index n = L.rows() + C.cols();
  Matrix K = Matrix::Zero(n, n);
  K.topLeftCorner(L.rows(), L.cols()) = L;
  K.topRightCorner(L.rows(), B.cols()) = B;
  K.bottomLeftCorner(C.cols(), L.cols()) = C.transpose();
  Matrix right = Matrix::Zero(n, C.cols());
  right.bottomRows(C.cols()).setIdentity();
  const Matrix x = linear_solve(K, right);
  return {x.topRows(L.cols()), x.bottomRows(B.cols())};
}

}  // namespace

Family Plane::at(double second_value) const {
  Family f = family;
  f.values[static_cast<std::size_t>(second)] = second_value;
  return f;
}

Family Plane::across(double first_value) const {
  Family f = family;
  f.values[static_cast<std::size_t>(family.parameter)] = first_value;
  f.parameter = second;
  return f;
}

double Plane::distance(const Eigen::Vector2d& a, const Eigen::Vector2d& b) const {
  return std::hypot((a(0) - b(0)) / widths[0], (a(1) - b(1)) / widths[1]);
}

bool Plane::has(double second_value) const {
  return family.model->parameters()[static_cast<std::size_t>(second)].range.contains(second_value);
}

bool is_spectral(BifurcationKind kind) {
  return kind == BifurcationKind::fold || kind == BifurcationKind::period_doubling ||
         kind == BifurcationKind::branch_point || kind == BifurcationKind::neimark_sacker;
}

bool has_curve(BifurcationKind kind) {
  return is_spectral(kind) || of_slip(kind) || kind == BifurcationKind::grazing ||
         kind == BifurcationKind::rising_border || kind == BifurcationKind::simultaneous ||
         kind == BifurcationKind::release_moves || kind == BifurcationKind::chatter_border ||
         kind == BifurcationKind::stick_border;
}

CurveEquations::CurveEquations(Plane plane, Itinerary itinerary, Anchor anchor, CurveCondition condition)
    : plane_(std::move(plane)),
      itinerary_(std::move(itinerary)),
      anchor_(std::move(anchor)),
      condition_(condition),
      states_(static_cast<Eigen::Index>(plane_.family.model->states().size())) {
  const auto shooting = shooting_for(plane_.family, itinerary_, anchor_);
  nodes_ = shooting->inner_nodes();
  orbit_ = shooting->size();
}

Vector CurveEquations::unknowns(const Vector& orbit, double second, double extra) const {
  Vector x = Vector::Zero(size());
  x.head(orbit_ + 1) = orbit;
  x(orbit_ + 1) = second;
  if (has_extra()) x(orbit_ + 2) = extra;
  return x;
}

Vector CurveEquations::weights(const Vector& x, double size) const {
  const Eigen::Index places = orbit_ - steps();
  Vector w(this->size());
  w.setOnes();
  w.head(places).setConstant(1 / (size * std::sqrt(static_cast<double>(places))));
  const double turn = x.segment(places, steps()).sum();
  w.segment(places, steps()).setConstant(1 / (turn * std::sqrt(static_cast<double>(steps()))));
  w(orbit_) = 1 / plane_.widths[0];
  w(orbit_ + 1) = 1 / plane_.widths[1];
  return w;
}

std::optional<Equations> CurveEquations::orbit_values(const Vector& x) const {
  if (!plane_.has(second(x))) return std::nullopt;
  const Family along = plane_.at(second(x));
  const Shooting shooting = this->shooting(along);
  auto e = shooting.equations(orbit_of(x), plane_.second);
  if (!e) return std::nullopt;
  const Eigen::Index closing = orbit_ - states_;
  const Matrix slope = e->slope.leftCols(orbit_ + 1);
  const Vector residual = e->residual;
  shooting.hold(slope, residual, e->slope.block(closing, 0, states_, states_), e->residual.tail(states_));
  return e;
}

void CurveEquations::add_closing(Eigen::Ref<Matrix> matrix, double factor) const {
  for (Eigen::Index i = 0; i < states_; ++i) matrix(orbit_ - states_ + i, i) += factor;
}

/// The matrix whose null vectors define the curve, its columns in units of the weights.
Matrix CurveEquations::matrix_of(const Equations& at, double extra, const Vector& weights) const {
  const Eigen::Index m = orbit_;
  const auto units = weights.cwiseInverse();
  switch (condition_.kind) {
    case BifurcationKind::branch_point:
      return at.slope.leftCols(m + 1) * units.head(m + 1).asDiagonal();
    case BifurcationKind::neimark_sacker: {
      Matrix twice = Matrix::Zero(2 * m, 2 * m);
      twice.topLeftCorner(m, m) = at.slope.leftCols(m);
      twice.bottomRightCorner(m, m) = at.slope.leftCols(m);
      add_closing(twice.topLeftCorner(m, m), 1);
      add_closing(twice.topRightCorner(m, m), -1);
      add_closing(twice.bottomLeftCorner(m, m), 1);
      add_closing(twice.bottomRightCorner(m, m), 1 - 2 * extra);
      twice.leftCols(m) = (twice.leftCols(m) * units.head(m).asDiagonal()).eval();
      twice.rightCols(m) = (twice.rightCols(m) * units.head(m).asDiagonal()).eval();
      return twice;
    }
    default: {
      Matrix once = at.slope.leftCols(m);
      if (condition_.kind == BifurcationKind::period_doubling) add_closing(once, 2);
      return once * units.head(m).asDiagonal();
    }
  }
}

std::optional<Borders> CurveEquations::borders(const Vector& x, const Vector& weights) const {
  Borders b;
  if (!is_spectral(condition_.kind)) return b;
  const auto at = orbit_values(x);
  if (!at) return std::nullopt;
  const Matrix L = matrix_of(*at, has_extra() ? extra(x) : 0, weights);
  if (!L.allFinite()) return std::nullopt;
  const Eigen::Index left = condition_.kind == BifurcationKind::neimark_sacker ? 2 : 1;
  b.left = left_singular_vectors(L).rightCols(left);
  b.right = right_singular_vectors(L).rightCols(left + L.cols() - L.rows());
  if (condition_.kind == BifurcationKind::branch_point) b.unfolding = b.left.col(0);
  return b;
}

Borders CurveEquations::renewed(const Borders& old, const CurveValues& values) const {
  Borders b = old;
  if (!is_spectral(condition_.kind)) return b;
  const auto orthonormal = [](const Matrix& columns) -> Matrix {
    if (columns.cols() == 1) return columns / columns.norm();  // keeps its sense
    return orthogonal_factors(columns).q;
  };
  b.left = orthonormal(values.left);
  b.right = orthonormal(values.right);
  return b;
}

double CurveEquations::determinant(const Equations& at, bool doubling) const {
  Matrix once = at.slope.leftCols(orbit_);
  if (doubling) add_closing(once, 2);
  return graze::determinant(once);
}

std::optional<Eigen::RowVectorXd> CurveEquations::second_derivative(const Vector& x, const Vector& left,
                                                                    const Vector& direction,
                                                                    double step) const {
  Vector moved = x;
  moved.head(direction.size()) += step * direction;
  const auto ahead = orbit_values(moved);
  moved.head(direction.size()) = x.head(direction.size()) - step * direction;
  const auto behind = orbit_values(moved);
  if (!ahead || !behind) return std::nullopt;
  return left.transpose() * (ahead->slope - behind->slope) / (2 * step);
}

/// Adds the conditions that are entries of the bordered system's solution.
void CurveEquations::add_spectral(const Vector& x, const Borders& borders, const Vector& weights,
                                  CurveValues& v) const {
  constexpr double difference = 1e-5;  // of lengths in the weights
  const Eigen::Index m = orbit_;
  const bool torus = condition_.kind == BifurcationKind::neimark_sacker;
  const Matrix L = matrix_of(v.orbit, has_extra() ? extra(x) : 0, weights);
  const Bordered solved = bordered(L, borders.left, borders.right);
  v.right = solved.null;
  v.left = bordered(L.transpose(), borders.right, borders.left).null;
  const Eigen::Index n = v.left.cols() * v.right.cols();
  Vector value(n);
  Matrix slope = Matrix::Zero(n, size());
  const Eigen::Index copies = torus ? 2 : 1;
  const Eigen::Index width = v.right.rows() / copies;
  for (Eigen::Index i = 0; i < v.left.cols(); ++i) {
    for (Eigen::Index j = 0; j < v.right.cols(); ++j) {
      const Eigen::Index row = i * v.right.cols() + j;
      value(row) = solved.value(i, j);
      for (Eigen::Index k = 0; k < copies; ++k) {
        const Vector w = v.right.col(j).segment(k * width, width).cwiseQuotient(weights.head(width));
        const double length = v.right.col(j).norm();
        const auto change = second_derivative(x, v.left.col(i).segment(k * m, m), w, difference / length);
        if (!change) {
          slope.row(row).setConstant(std::numeric_limits<double>::quiet_NaN());
          continue;
        }
        slope.row(row).head(m + 2) -= *change;
        if (torus && k == 1)
          slope(row, m + 2) += 2 * v.left.col(i).segment(2 * m - states_, states_).dot(w.head(states_));
      }
    }
  }
  if (torus) {
    // Two of the four conditions are independent: those combinations that change most.
    const Matrix scaled = slope * weights.cwiseInverse().asDiagonal();
    const Matrix mixing = left_singular_vectors(scaled).leftCols(2).transpose();
    value = (mixing * value).eval();
    slope = (mixing * slope).eval();
  }
  Vector residual(m + value.size());
  residual << v.orbit.residual, value;
  Matrix all = Matrix::Zero(m + value.size(), size());
  all.topLeftCorner(m, m + 2) = v.orbit.slope;
  if (condition_.kind == BifurcationKind::branch_point) {
    residual.head(m) += extra(x) * borders.unfolding;
    all.topRightCorner(m, 1) = borders.unfolding;
  }
  all.bottomRows(value.size()) = slope;
  v.residual = std::move(residual);
  v.slope = std::move(all);
}

/// Adds a condition that the equations of the orbit say themselves; false: it has no meaning here.
bool CurveEquations::add_plain(const Vector& x, CurveValues& v) const {
  const Eigen::Index m = orbit_;
  double value = 0;
  Eigen::RowVectorXd slope = Eigen::RowVectorXd::Zero(m + 2);
  const Eigen::Index step = static_cast<Eigen::Index>(condition_.step);
  switch (condition_.kind) {
    case BifurcationKind::simultaneous:
    case BifurcationKind::release_moves:
    case BifurcationKind::stick_border:
      value = x(duration_index(condition_.step));
      slope(duration_index(condition_.step)) = 1;
      break;
    case BifurcationKind::chatter_border: {
      const Family families[2] = {plane_.at(second(x)), plane_.across(first(x))};
      for (int k = 0; k < 2; ++k) {
        const Shooting shooting = this->shooting(families[k]);
        Vector u = orbit_of(x);
        if (k == 1) u(m) = second(x);
        Equations e;
        e.measure = v.orbit.measure;
        e.measure_slope.resize(steps(), m + 1);
        e.measure_slope << v.orbit.measure_slope.leftCols(m), v.orbit.measure_slope.col(m + k);
        const auto legs = shooting.placed_legs(u);
        if (!legs) return false;
        const ConditionValue c =
            chatter_border_condition(shooting, condition_.stick, (*legs)[condition_.stick.impact])(u, e);
        value = c.value;
        slope.head(m) = c.slope.head(m);
        slope(m + k) = c.slope(m);
      }
      // The slope grows by λ with each impact: as a distance from the border it keeps its size.
      const double steep = slope.cwiseAbs().maxCoeff();
      value /= steep;
      slope /= steep;
      break;
    }
    default:
      value = v.orbit.measure(step);
      slope = v.orbit.measure_slope.row(step);
  }
  v.residual.resize(m + 1);
  v.residual << v.orbit.residual, value;
  v.slope.resize(m + 1, size());
  v.slope << v.orbit.slope, slope;
  return v.residual.allFinite() && v.slope.allFinite();
}

std::optional<CurveValues> CurveEquations::values(const Vector& x, const Borders& borders,
                                                  const Vector& weights) const {
  auto orbit = orbit_values(x);
  if (!orbit) return std::nullopt;
  CurveValues v;
  v.orbit = std::move(*orbit);
  if (is_spectral(condition_.kind)) {
    add_spectral(x, borders, weights, v);
    if (!v.residual.allFinite() || !v.slope.allFinite()) return std::nullopt;
  } else if (!add_plain(x, v)) {
    return std::nullopt;
  }
  return v;
}

NewtonResult<CurveValues> solve_curve(const CurveEquations& equations, const Borders& borders,
                                      const Vector& weights, const Vector& guess,
                                      const Eigen::RowVectorXd& row) {
  const Eigen::Index n = equations.size();
  const double scale = guess.head(equations.orbit_size()).cwiseAbs().maxCoeff() + 1e-300;
  return newton(
      guess, scale, with_parameters(guess, equations.orbit_size(), 2),
      [&](const Vector& x) { return equations.values(x, borders, weights); },
      [&](const Vector& x, const CurveValues& v) {
        Vector r(n);
        r << v.residual, row * (x - guess);
        return r;
      },
      [&](const Vector&, const CurveValues& v, const Vector& right) {
        Matrix all(n, n);
        all << v.slope, row;
        return shortest_solution(all, right);
      });
}

}  // namespace graze
