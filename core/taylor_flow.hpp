/// The flow of any smooth system, step by step, each step a power series of high order: the state and every
/// guard are polynomials on it, so that events are found by the same certified search as for linear systems,
/// and their number of digits does not hang on an interpolant.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/dual.hpp"
#include "core/taylor.hpp"

namespace graze {

inline constexpr int series_order = 20;  // near the best for rounding accuracy: −ln(1e-16)/2 + 2

/// `Dynamics` with scalar S provides, each templated on the number type T (S or Series<S>),
///
///     static constexpr int states
///     void rates(mode, const T& t, const Vector<T>& x, Vector<T>& rate) const
///     T guard(int k, mode, const T& t, const Vector<T>& x) const
///
/// and may provide `T clock(mode, x) const`: then the flow runs in a variable σ with dt/dσ = clock, and the
/// rates are per σ (core/models/rod_on_ground says what that is good for).
template <class S, class Dynamics>
class TaylorFlow {
 public:
  static constexpr int states = Dynamics::states;
  template <class T>
  using Vector = Eigen::Matrix<T, states, 1>;
  using State = Vector<S>;
  using Coefficients = std::array<double, series_order + 1>;
  static constexpr bool has_clock = requires(const Dynamics& d, const State& x) {
    d.clock(std::int64_t{}, x);
  };

  /// Series of the state and of these guards from (t, x) on, up to `order`.
  void expand(const Dynamics& dynamics, std::int64_t mode, const S& t, const State& x,
              const std::vector<int>& guards, int order = series_order);
  /// Chooses the length of the step: what is left out of any state or guard is below `tolerance` times its
  /// size, |x| + |x'|/rate + |x''|/(2 rate²). 0 where a series does not exist (the root of a state that is
  /// zero).
  double choose(double tolerance, double rate);

  double length() const { return length_; }
  /// State at a fraction of the step.
  State state(double fraction) const;
  /// Time passed since the beginning of the step.
  S passed(double fraction) const;
  /// Coefficients of guard number k of those asked for, in fractions of the step.
  Coefficients guard(std::size_t k) const { return scaled(guards_[k]); }
  Coefficients coordinate(int i) const { return scaled(x_(i)); }
  /// … of the time since the beginning of the step.
  Coefficients clock() const {
    Coefficients c = scaled(time_);
    c[0] = 0;
    return c;
  }
  /// Coefficient per unit of the flow's variable.
  const S& guard_coefficient(std::size_t k, int order) const { return guards_[k][order]; }

  /// Derivative of f(x) at x in a direction; f is templated on the number type.
  template <class F>
  auto along(const S& t, const State& x, const State& direction, const F& f);

 private:
  static double growth(const Series<S>& series, double tolerance, double rate);
  Coefficients scaled(const Series<S>& series) const;
  S evaluate(const Series<S>& series, double fraction) const;

  Tape<S> tape_;
  Series<S> time_;
  Vector<Series<S>> x_, rate_;
  std::vector<Series<S>> guards_;
  double length_ = 0;
};

template <class S, class Dynamics>
void TaylorFlow<S, Dynamics>::expand(const Dynamics& dynamics, std::int64_t mode, const S& t, const State& x,
                                     const std::vector<int>& guards, int order) {
  tape_.begin(series_order);
  time_ = tape_.input();
  for (int i = 0; i < states; ++i) x_(i) = tape_.input();
  time_[0] = t;
  for (int k = 1; k <= series_order; ++k) time_[k] = S(k == 1 && !has_clock ? 1 : 0);
  for (int i = 0; i < states; ++i) x_(i)[0] = x(i);
  guards_.resize(guards.size());
  for (int k = 0; k <= order; ++k) {
    tape_.pass(k);
    if constexpr (has_clock) {
      const Series<S> clock = dynamics.clock(mode, x_);
      if (k < order) time_[k + 1] = clock[k] / static_cast<double>(k + 1);
    }
    for (std::size_t g = 0; g < guards.size(); ++g) guards_[g] = dynamics.guard(guards[g], mode, time_, x_);
    if (k == order) break;
    dynamics.rates(mode, time_, x_, rate_);
    for (int i = 0; i < states; ++i) x_(i)[k + 1] = rate_(i)[k] / static_cast<double>(k + 1);
  }
}

/// Largest (|c_k| / (tolerance · size))^(1/k) over the last orders: symmetric motions lack three of four.
template <class S, class Dynamics>
double TaylorFlow<S, Dynamics>::growth(const Series<S>& series, double tolerance, double rate) {
  double size = 0;
  for (int k = 2; k >= 0; --k) size = size / rate + std::abs(value_of(series[k]));
  if (!(size > 0)) return 0;
  double largest = 0;
  for (int k = series_order - 3; k <= series_order; ++k) {
    const double share = std::abs(value_of(series[k])) / (tolerance * size);
    if (!std::isfinite(share)) return share;
    if (share > 0) largest = std::max(largest, std::exp(std::log(share) / k));
  }
  return largest;
}

template <class S, class Dynamics>
double TaylorFlow<S, Dynamics>::choose(double tolerance, double rate) {
  constexpr double longest = 4;  // per rate: where a series ends by itself
  double fastest = rate / longest;
  for (int i = 0; i < states; ++i) {
    const double g = growth(x_(i), tolerance, rate);
    if (!std::isfinite(g)) return length_ = 0;
    fastest = std::max(fastest, g);
  }
  for (const Series<S>& guard : guards_) fastest = std::max(fastest, growth(guard, tolerance, rate));
  return length_ = 1 / fastest;
}

template <class S, class Dynamics>
S TaylorFlow<S, Dynamics>::evaluate(const Series<S>& series, double fraction) const {
  const double s = fraction * length_;
  S sum(0);
  for (int k = series_order; k >= 0; --k) {
    sum *= s;
    sum += series[k];
  }
  return sum;
}

template <class S, class Dynamics>
auto TaylorFlow<S, Dynamics>::state(double fraction) const -> State {
  State x;
  for (int i = 0; i < states; ++i) x(i) = evaluate(x_(i), fraction);
  return x;
}

template <class S, class Dynamics>
S TaylorFlow<S, Dynamics>::passed(double fraction) const {
  if constexpr (has_clock) {
    return evaluate(time_, fraction) - time_[0];
  } else {
    return S(fraction * length_);
  }
}

template <class S, class Dynamics>
auto TaylorFlow<S, Dynamics>::scaled(const Series<S>& series) const -> Coefficients {
  Coefficients c;
  double power = 1;
  for (int k = 0; k <= series_order; ++k) {
    c[static_cast<std::size_t>(k)] = value_of(series[k]) * power;
    power *= length_;
  }
  return c;
}

template <class S, class Dynamics>
template <class F>
auto TaylorFlow<S, Dynamics>::along(const S& t, const State& x, const State& direction, const F& f) {
  tape_.begin(1);
  Series<S> time = tape_.input();
  Vector<Series<S>> point;
  for (int i = 0; i < states; ++i) point(i) = tape_.input();
  time[0] = t;
  time[1] = S(0);
  for (int i = 0; i < states; ++i) {
    point(i)[0] = x(i);
    point(i)[1] = direction(i);
  }
  tape_.pass(0);
  f(time, point);
  tape_.pass(1);
  return f(time, point);
}

}  // namespace graze
