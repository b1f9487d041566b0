/// Defining systems of curves over two parameters: the equations of an orbit (Shooting) and one condition.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/continuation/bifurcation.hpp"
#include "analysis/continuation/chatter_border.hpp"
#include "analysis/continuation/newton.hpp"
#include "analysis/continuation/shooting.hpp"

namespace graze {

/// A model with two parameters free.
struct Plane {
  Family family;           ///< its parameter is the first one
  int second = 0;          ///< index of the other, into Model::parameters()
  double widths[2]{1, 1};  ///< ranges of both, units of lengths along a curve

  /// The first parameter free, the second at a value; the other way round.
  Family at(double second_value) const;
  Family across(double first_value) const;
  /// Whether the model takes this value of the second parameter.
  bool has(double second_value) const;
  /// Of two pairs of values, as a share of the ranges.
  double distance(const Eigen::Vector2d& a, const Eigen::Vector2d& b) const;
};

/// What holds along a curve besides the equations of the orbit.
struct CurveCondition {
  BifurcationKind kind = BifurcationKind::fold;
  int contact = -1;  ///< slip_border, reversal_border: −1 − friction
  /// grazing, rising_border: the step that ends where the guard touches zero; simultaneous, release_moves:
  /// the step without duration, whose event and the one before it coincide; stick_border: that of the release
  /// right after the stick; slip_border, reversal_border:
  /// that of the event that comes or goes (SlipForm).
  std::size_t step = 0;
  ChatterStick stick{};  ///< chatter_border
};

/// Whether curves of this kind have a defining system.
bool has_curve(BifurcationKind kind);
/// Whether it says that a matrix is singular (fold, period_doubling, branch_point, neimark_sacker).
bool is_spectral(BifurcationKind kind);

/// Borders that make a singular matrix regular, and its null vectors as they give them.
struct Borders {
  Eigen::MatrixXd left;       ///< about the left null vectors, in columns
  Eigen::MatrixXd right;      ///< about the right ones
  Eigen::VectorXd unfolding;  ///< branch_point: direction of the artificial unfolding
};

/// Everything at one place.
struct CurveValues {
  Equations orbit;
  Eigen::VectorXd residual;  ///< of all equations
  Eigen::MatrixXd slope;     ///< one column more than rows
  Eigen::MatrixXd left;      ///< null vectors of the bordered matrix, in columns
  Eigen::MatrixXd right;
};

/// G(X) = 0 for the orbits of one itinerary that meet a condition. Unknowns X: those of Shooting with the
/// first parameter at their end, the second parameter, for neimark_sacker c = Re μ, for branch_point the
/// artificial unfolding ε (zero along the curve).
///
/// With A = ∂F/∂u of the orbit's equations, in which the row of the closing, end − start, has E = −∂/∂start:
/// fold: A singular; period_doubling: A + 2E singular; branch_point: (A, ∂F/∂p) has two null vectors, with
/// F + εφ in place of F; neimark_sacker: of the equations passed through twice with v₂ − 2c v₁ + v₀ in place
/// of the closing, two null vectors. Each by a bordered system (Govaerts), regular where an impact loses its
/// speed, where multipliers have bad scale, and for neimark_sacker at c = ±1. Derivatives along null vectors
/// are central differences of the Jacobian: they serve Newton's method, not the residual.
/// grazing, rising_border: the guard and its rate are zero at the end of a step. simultaneous, release_moves:
/// a step has no duration; stick_border: the release of what has just begun to stick. slip_border,
/// reversal_border: the measure of a step is zero. chatter_border: chatter_border_condition.
class CurveEquations {
 public:
  CurveEquations(Plane plane, Itinerary itinerary, Anchor anchor, CurveCondition condition);

  const Plane& plane() const { return plane_; }
  const Itinerary& itinerary() const { return itinerary_; }
  const Anchor& anchor() const { return anchor_; }
  const CurveCondition& condition() const { return condition_; }
  Eigen::Index orbit_size() const { return orbit_; }
  /// Number of unknowns; there is one equation less.
  Eigen::Index size() const { return orbit_ + 2 + (has_extra() ? 1 : 0); }
  bool has_extra() const {
    return condition_.kind == BifurcationKind::neimark_sacker ||
           condition_.kind == BifurcationKind::branch_point;
  }
  double first(const Eigen::VectorXd& x) const { return x(orbit_); }
  double second(const Eigen::VectorXd& x) const { return x(orbit_ + 1); }
  double extra(const Eigen::VectorXd& x) const { return x(orbit_ + 2); }
  /// Unknowns of Shooting.
  Eigen::VectorXd orbit_of(const Eigen::VectorXd& x) const { return x.head(orbit_ + 1); }
  /// The equations of the orbit in this family, with the nodes of these equations.
  Shooting shooting(const Family& family) const { return {family, itinerary_, anchor_, nodes_}; }
  /// X from unknowns of the orbit.
  Eigen::VectorXd unknowns(const Eigen::VectorXd& orbit, double second, double extra = 0) const;

  /// One weight per unknown: states count by `size`, durations by the turn, parameters by their ranges.
  Eigen::VectorXd weights(const Eigen::VectorXd& x, double size) const;
  std::optional<Equations> orbit_values(const Eigen::VectorXd& x) const;
  /// Borders from the singular vectors of the matrices at X.
  std::optional<Borders> borders(const Eigen::VectorXd& x, const Eigen::VectorXd& weights) const;
  /// Borders for places near one, from the null vectors there.
  Borders renewed(const Borders& old, const CurveValues& values) const;
  std::optional<CurveValues> values(const Eigen::VectorXd& x, const Borders& borders,
                                    const Eigen::VectorXd& weights) const;
  /// det A or det (A + 2E): zero where an orbit of these equations has a multiplier +1 or −1.
  double determinant(const Equations& at, bool doubling) const;
  /// d/ds of uᵀ ∂F/∂X (X + s w) over both parameters, w over the first entries of X; nothing where the
  /// equations do not exist that far.
  std::optional<Eigen::RowVectorXd> second_derivative(const Eigen::VectorXd& x, const Eigen::VectorXd& left,
                                                      const Eigen::VectorXd& direction, double step) const;
  /// Adds `factor` E to a square matrix of the orbit's equations.
  void add_closing(Eigen::Ref<Eigen::MatrixXd> matrix, double factor) const;
  Eigen::Index states() const { return states_; }
  Eigen::Index steps() const { return static_cast<Eigen::Index>(itinerary_.steps.size()); }
  Eigen::Index duration_index(std::size_t step) const {
    return orbit_ - steps() + static_cast<Eigen::Index>(step);
  }

 private:
  Eigen::MatrixXd matrix_of(const Equations& at, double extra, const Eigen::VectorXd& weights) const;
  void add_spectral(const Eigen::VectorXd& x, const Borders& borders, const Eigen::VectorXd& weights,
                    CurveValues& v) const;
  bool add_plain(const Eigen::VectorXd& x, CurveValues& v) const;

  Plane plane_;
  Itinerary itinerary_;
  Anchor anchor_;
  CurveCondition condition_;
  std::vector<std::size_t> nodes_;
  Eigen::Index states_;
  Eigen::Index orbit_ = 0;
};

/// Newton's method for G(X) = 0 together with row · (X − at) = 0.
NewtonResult<CurveValues> solve_curve(const CurveEquations& equations, const Borders& borders,
                                      const Eigen::VectorXd& weights, const Eigen::VectorXd& guess,
                                      const Eigen::RowVectorXd& row);

}  // namespace graze
