/// Free flight of the two-mass system by complex modes, and a certified search for the minima and zeros of a
/// gap on the way, all in extended precision: the truth against which an event search is tested.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/oracle/independent/two_masses.hpp"

namespace graze::independent {

using Complex = std::complex<Real>;
/// A value and its first two derivatives.
using Jet = std::array<Real, 3>;

/// The exact motion from one state on, as if there were no stops:
/// x_j(t) = Re sum_i c_i u_ij exp(s_i (t - t0)) + Re Z_j exp(i delta t).
class ReferenceFlight {
 public:
  /// Throws std::domain_error when two eigenvalues are too close for modes (critical damping, free bodies).
  ReferenceFlight(const TwoMasses& masses, const State& state, Real time)
      : start_(time), delta_(masses.delta), eigenvalues_(roots_of_characteristic(masses)) {
    const TwoMasses& p = masses;
    std::array<std::array<Complex, 2>, 4> shapes;
    for (std::size_t i = 0; i < 4; ++i) shapes[i] = shape(p, eigenvalues_[i]);
    force(p);

    // Two displacements and two velocities, less those of the forced response, are shared among four modes.
    std::array<std::array<Complex, 5>, 4> equations;
    for (std::size_t j = 0; j < 2; ++j) {
      for (std::size_t i = 0; i < 4; ++i) {
        equations[2 * j][i] = shapes[i][j];
        equations[2 * j + 1][i] = shapes[i][j] * eigenvalues_[i];
      }
      const Complex forced = response_[j] * std::polar(Real{1}, delta_ * start_);
      equations[2 * j][4] = state[2 * j] - forced.real();
      equations[2 * j + 1][4] = state[2 * j + 1] - (forced * Complex(0, delta_)).real();
    }
    const std::array<Complex, 4> shares = solve(equations);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 2; ++j) amplitude_[i][j] = shares[i] * shapes[i][j];
      // Of a conjugate pair one stands for both.
      const Real turning = eigenvalues_[i].imag() / std::abs(eigenvalues_[i]);
      weight_[i] = turning > 1e-12L ? 2 : turning < -1e-12L ? 0 : 1;
    }
  }

  /// Displacement of mass 0 or 1 at time t with its first and second derivative.
  Jet jet(std::size_t mass, Real t) const {
    Jet sum{};
    const auto add = [&sum](Complex share, Complex rate) {
      for (Real& entry : sum) {
        entry += share.real();
        share *= rate;
      }
    };
    add(response_[mass] * std::polar(Real{1}, delta_ * t), Complex(0, delta_));
    for (std::size_t i = 0; i < 4; ++i) {
      if (weight_[i] > 0)
        add(weight_[i] * amplitude_[i][mass] * std::exp(eigenvalues_[i] * (t - start_)), eigenvalues_[i]);
    }
    return sum;
  }

  /// x1, v1, x2, v2 at time t.
  State state(Real t) const {
    const Jet first = jet(0, t);
    const Jet second = jet(1, t);
    return {first[0], first[1], second[0], second[1]};
  }

  /// No derivative of this order is larger on [from, to].
  Real bound(std::size_t mass, int order, Real from, Real to) const {
    Real sum = std::abs(response_[mass]) * std::pow(delta_, Real(order));
    for (std::size_t i = 0; i < 4; ++i) {
      const Real growth =
          std::max(eigenvalues_[i].real() * (from - start_), eigenvalues_[i].real() * (to - start_));
      sum +=
          std::abs(amplitude_[i][mass]) * std::exp(growth) * std::pow(std::abs(eigenvalues_[i]), Real(order));
    }
    return sum;
  }

  /// The fastest rate, 1/time.
  Real rate() const {
    Real fastest = delta_;
    for (const Complex& s : eigenvalues_) fastest = std::max(fastest, std::abs(s));
    return fastest;
  }

  const std::array<Complex, 4>& eigenvalues() const { return eigenvalues_; }

 private:
  /// Coefficients, lowest first, of det(M s^2 + C s + K).
  static std::array<Real, 5> characteristic(const TwoMasses& p) {
    const std::array<Real, 3> first = {p.k1 + p.k2, p.c1 + p.c2, p.m1};
    const std::array<Real, 3> second = {p.k2, p.c2, p.m2};
    const std::array<Real, 3> coupling = {p.k2, p.c2, 0};
    std::array<Real, 5> product{};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) product[i + j] += first[i] * second[j] - coupling[i] * coupling[j];
    }
    return product;
  }

  /// All four roots at once by the Durand-Kerner iteration.
  static std::array<Complex, 4> roots_of_characteristic(const TwoMasses& p) {
    std::array<Real, 5> c = characteristic(p);
    for (Real& coefficient : c) coefficient /= p.m1 * p.m2;
    const Real radius = 1 + std::max({std::abs(c[0]), std::abs(c[1]), std::abs(c[2]), std::abs(c[3])});
    std::array<Complex, 4> roots;
    for (std::size_t i = 0; i < 4; ++i) roots[i] = std::polar(radius, Real{0.4} + Real(i) * 1.6L);
    for (int pass = 0; pass < 500; ++pass) {
      Real moved = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        Complex value = 1;
        for (std::size_t k = 4; k-- > 0;) value = value * roots[i] + c[k];
        for (std::size_t j = 0; j < 4; ++j) {
          if (j != i) value /= roots[i] - roots[j];
        }
        roots[i] -= value;
        moved = std::max(moved, std::abs(value));
      }
      if (moved < 1e-17L) break;
    }
    Real fastest = 0;
    for (const Complex& root : roots) fastest = std::max(fastest, std::abs(root));
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!(std::abs(roots[i] - roots[j]) > 1e-6L * fastest)) {
          throw std::domain_error("reference flight: two eigenvalues nearly coincide");
        }
      }
    }
    return roots;
  }

  /// The displacements of a mode: what the second equation leaves.
  static std::array<Complex, 2> shape(const TwoMasses& p, Complex s) {
    return {p.m2 * s * s + p.c2 * s + p.k2, p.c2 * s + p.k2};
  }

  void force(const TwoMasses& p) {
    const Complex s(0, p.delta);
    const Complex coupling = p.c2 * s + p.k2;
    const Complex first = p.m1 * s * s + (p.c1 + p.c2) * s + p.k1 + p.k2;
    const Complex second = p.m2 * s * s + p.c2 * s + p.k2;
    const Complex determinant = first * second - coupling * coupling;
    response_ = {(second * p.A1 + coupling * p.A2) / determinant,
                 (coupling * p.A1 + first * p.A2) / determinant};
  }

  /// Gaussian elimination with row exchange; the last column is the right-hand side.
  static std::array<Complex, 4> solve(std::array<std::array<Complex, 5>, 4> rows) {
    for (std::size_t i = 0; i < 4; ++i) {
      std::size_t best = i;
      for (std::size_t r = i; r < 4; ++r) {
        if (std::abs(rows[r][i]) > std::abs(rows[best][i])) best = r;
      }
      std::swap(rows[i], rows[best]);
      for (std::size_t r = i + 1; r < 4; ++r) {
        const Complex factor = rows[r][i] / rows[i][i];
        for (std::size_t k = i; k < 5; ++k) rows[r][k] -= factor * rows[i][k];
      }
    }
    std::array<Complex, 4> solution;
    for (std::size_t i = 4; i-- > 0;) {
      Complex rest = rows[i][4];
      for (std::size_t k = i + 1; k < 4; ++k) rest -= rows[i][k] * solution[k];
      solution[i] = rest / rows[i][i];
    }
    return solution;
  }

  Real start_;
  Real delta_;
  std::array<Complex, 4> eigenvalues_;
  std::array<std::array<Complex, 2>, 4> amplitude_;
  std::array<Real, 4> weight_{};
  std::array<Complex, 2> response_;
};

/// The gap of one mass before its stop along a flight, >= 0 while open.
class ReferenceGap {
 public:
  ReferenceGap(const ReferenceFlight& flight, std::size_t mass, const Stop& stop)
      : flight_(&flight), mass_(mass), stop_(stop) {}

  /// The gap at time t with its first and second derivative.
  Jet operator()(Real t) const {
    Jet gap = flight_->jet(mass_, t);
    gap[0] -= stop_.position;
    for (Real& entry : gap) entry *= -static_cast<Real>(stop_.side);
    return gap;
  }
  /// No derivative of this order is larger on [from, to].
  Real bound(int order, Real from, Real to) const { return flight_->bound(mass_, order, from, to); }
  Real rate() const { return flight_->rate(); }

 private:
  const ReferenceFlight* flight_;
  std::size_t mass_;
  Stop stop_;
};

/// How a gap first meets zero, or how near it comes.
struct Encounter {
  bool touches = false;   ///< the gap goes from positive to zero or below
  Real root = 0;          ///< time of that (touches only)
  Real speed = 0;         ///< approach speed there, >= 0
  Real minimum_time = 0;  ///< of the bottom of the penetration (or the end of the search, if that comes
                          ///< first), else of the lowest local minimum
  Real minimum = 0;       ///< gap there: minus the depth of the penetration, or the clearance left
};

namespace detail {

/// Where derivative number `order` of the gap changes sign between a and b, to the last bits: Newton's
/// method, or bisection where that leaves the bracket.
inline Real polish(const ReferenceGap& gap, std::size_t order, Real a, Real b) {
  const bool positive = gap(a)[order] > 0;
  Real t = a + (b - a) / 2;
  for (int i = 0; i < 200; ++i) {
    const Jet jet = gap(t);
    ((jet[order] > 0) == positive ? a : b) = t;
    Real next = t - jet[order] / jet[order + 1];
    if (!(next > a && next < b)) next = a + (b - a) / 2;
    if (next == t || next <= a || next >= b) break;
    t = next;
  }
  return t;
}

/// A bound of the second and the third derivative of the gap.
struct Bounds {
  Real second, third;
};

/// Appends the times in [a, b] at which the gap may turn: between two of them it is monotone for certain.
inline void find_turns(const ReferenceGap& gap, const Bounds& bounds, Real a, Real b,
                       std::vector<Real>& turns) {
  const Real half = (b - a) / 2;
  const Real middle = a + half;
  const Jet jet = gap(middle);
  if (std::abs(jet[1]) > half * bounds.second) return;
  if (std::abs(jet[2]) > half * bounds.third) {  // the rate is monotone
    if ((gap(a)[1] > 0) != (gap(b)[1] > 0)) turns.push_back(polish(gap, 1, a, b));
  } else if (half * gap.rate() < 1e-12L) {
    turns.push_back(middle);  // rate and acceleration vanish together: a turn or not, a harmless cut
  } else {
    find_turns(gap, bounds, a, middle, turns);
    find_turns(gap, bounds, middle, b, turns);
  }
}

}  // namespace detail

/// The first meeting of the gap with zero in (from, to], found by cutting the interval into pieces on which
/// the gap is proven monotone. A zero at `from` from which the gap opens is no meeting. Where there is none,
/// the lowest local minimum inside is given; no value at all when there is no minimum either.
inline std::optional<Encounter> first_encounter(const ReferenceGap& gap, Real from, Real to) {
  std::optional<Encounter> lowest;
  Encounter meeting;
  Real last = from;
  Real before = gap(from)[0];
  // Ends of monotone pieces in order of time; true once the bottom of a penetration has been reached.
  const auto visit = [&](Real t, bool bottom) {
    const Real here = gap(t)[0];
    if (!meeting.touches && before > 0 && here <= 0) {
      meeting.touches = true;
      meeting.root = detail::polish(gap, 0, last, t);
      meeting.speed = std::max(Real{0}, -gap(meeting.root)[1]);
    }
    last = t;
    before = here;
    if (!bottom) return false;
    meeting.minimum_time = t;
    meeting.minimum = here;
    if (!lowest || here < lowest->minimum) lowest = meeting;
    return meeting.touches;
  };

  const Real cell = 1 / gap.rate();
  for (Real a = from; a < to; a += cell) {
    const Real b = std::min(a + cell, to);
    std::vector<Real> turns;
    detail::find_turns(gap, {gap.bound(2, a, b), gap.bound(3, a, b)}, a, b, turns);
    for (const Real t : turns) {
      if (visit(t, gap(t)[2] > 0)) return meeting;
    }
    visit(b, false);
  }
  if (meeting.touches) {
    meeting.minimum_time = to;
    meeting.minimum = before;
    return meeting;
  }
  return lowest;
}

}  // namespace graze::independent
