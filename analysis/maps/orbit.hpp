/// Periodic orbits of a map: refined by Newton's method, with their multipliers.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <vector>

#include "analysis/maps/poincare_map.hpp"

namespace graze {

/// What Newton's method may do.
struct RefineOptions {
  int iterations = 20;     ///< at most
  double closure = 1e-10;  ///< |P^n(y) − y| allowed, as a share of the orbit's size
};

struct Orbit {
  bool closed = false;       ///< P^n(y) = y to within RefineOptions::closure
  int period = 0;            ///< n, in iterates of the map
  double residual = 0;       ///< |P^n(y) − y| as a share of the size (PoincareMap::share)
  double size = 0;           ///< greatest size met (PoincareMap::size)
  HybridState start;         ///< y; with mode and touches as the orbit itself brings them
  Eigen::MatrixXd jacobian;  ///< DP^n(y)
  std::vector<std::complex<double>> multipliers;  ///< its eigenvalues, greatest modulus first
};

/// One evaluation of P^n and DP^n.
struct Turn {
  Outcome outcome = Outcome::ok;
  HybridState end;           ///< P^n(y)
  Eigen::MatrixXd jacobian;  ///< DP^n(y)
  Eigen::VectorXd defect;    ///< P^n(y) − y
  double residual = 0;       ///< of which the size, as in Orbit
  double size = 0;           ///< greatest one met

  /// Fills defect and residual from the other ones; y: `start`. What takes no time is no orbit: where impacts
  /// accumulate, iterates come to a point that returns to itself so.
  void close(const PoincareMap& map, const HybridState& start);
  /// The step of Newton's method from y.
  Eigen::VectorXd step(const PoincareMap& map) const;
  /// Whether nothing but rounding is left of the residual …
  bool has_closed() const;
  /// … and whether a step of Newton's method is worth more than that.
  bool can_gain(const PoincareMap& map, const Eigen::VectorXd& step) const;
  /// Eigenvalues of DP^n(y), greatest modulus first.
  std::vector<std::complex<double>> multipliers(const PoincareMap& map) const;
  /// What it makes of an orbit of n iterates from y on.
  Orbit orbit(const PoincareMap& map, const HybridState& start, int n, double closure) const;
};

/// By itself.
Turn turn_from(const PoincareMap& map, const HybridState& start, int n);

/// P^n(y) = y solved from a guess by damped Newton steps: (DP^n − 1) Δy = −(P^n(y) − y). It asks for turns
/// and is told them, whoever moves them.
class Refinement {
 public:
  Refinement(const PoincareMap& map, const HybridState& guess, int n, const RefineOptions& options = {})
      : map_(map), n_(n), options_(options), start_(guess), candidate_(guess) {}

  /// Nothing more is asked for.
  bool over() const { return over_; }
  /// A turn has been told.
  bool begun() const { return begun_; }
  /// From where the next turn is to be gone.
  const HybridState& start() const { return candidate_; }
  void add(Turn turn);
  /// The nearest so far; with nothing known but n and the guess where the turn from there broke off.
  Orbit orbit() const;

 private:
  void correct();
  void propose() { candidate_ = map_.at(from_ + share_ * step_, start_); }

  const PoincareMap& map_;
  int n_;
  RefineOptions options_;
  bool begun_ = false, over_ = false;
  int corrections_ = 0;
  HybridState start_;  ///< of the best turn
  Turn best_;
  Eigen::VectorXd from_, step_;  ///< coordinates there, and the step from them …
  double share_ = 1;             ///< … of which so much is tried
  HybridState candidate_;
};

/// A Refinement by itself.
Orbit refine_orbit(const PoincareMap& map, const HybridState& guess, int n,
                   const RefineOptions& options = {});

/// Modulus of the greatest multiplier, 0 for an orbit without any.
double spectral_radius(const Orbit& orbit);

}  // namespace graze
