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
#include <limits>
#include <vector>

#include "core/dual.hpp"
#include "core/taylor.hpp"

namespace graze {

inline constexpr int highest_order = 20;

/// The order that costs least at a tolerance: −ln(tolerance)/2 + 2, the work growing with its square.
inline int series_order(double tolerance) {
  return std::clamp(static_cast<int>(std::ceil(-0.5 * std::log(tolerance))) + 2, 8, highest_order);
}

/// Of a polynomial on a step.
class Coefficients {
 public:
  explicit Coefficients(int order) : size_(static_cast<std::size_t>(order) + 1) {}
  double* data() { return list_.data(); }
  double* begin() { return data(); }
  double* end() { return data() + size_; }
  const double* data() const { return list_.data(); }
  const double* begin() const { return data(); }
  const double* end() const { return data() + size_; }
  std::size_t size() const { return size_; }
  double& operator[](std::size_t k) { return list_[k]; }
  double operator[](std::size_t k) const { return list_[k]; }

 private:
  std::array<double, highest_order + 1> list_{};
  std::size_t size_;
};

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
  static constexpr bool has_clock = requires(const Dynamics& d, const State& x) {
    d.clock(std::int64_t{}, x);
  };

  explicit TaylorFlow(double tolerance) : tolerance_(tolerance), highest_(series_order(tolerance)) {}

  /// Series of the state and of these guards from (t, x) on.
  void expand(const Dynamics& dynamics, std::int64_t mode, const S& t, const State& x,
              const std::vector<int>& guards) {
    expand(dynamics, mode, t, x, guards, highest_);
  }
  /// … up to `order` only; no step can be taken.
  void expand(const Dynamics& dynamics, std::int64_t mode, const S& t, const State& x,
              const std::vector<int>& guards, int order);
  /// Chooses the length of the step: what is left out of any state or guard is below the tolerance times its
  /// size on the step. 0 where a series does not exist (the root of a state that is
  /// zero).
  double choose(double rate);

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
  double reach(const Series<S>& series, double longest) const;
  Coefficients scaled(const Series<S>& series) const;
  S evaluate(const Series<S>& series, double fraction) const;

  Tape<S> tape_;
  Series<S> time_;
  Vector<Series<S>> x_, rate_;
  std::vector<Series<S>> guards_;
  double tolerance_;
  int highest_;
  double length_ = 0;
};

template <class S, class Dynamics>
void TaylorFlow<S, Dynamics>::expand(const Dynamics& dynamics, std::int64_t mode, const S& t, const State& x,
                                     const std::vector<int>& guards, int order) {
  tape_.begin(highest_order);
  time_ = tape_.input();
  for (int i = 0; i < states; ++i) x_(i) = tape_.input();
  time_[0] = t;
  for (int k = 1; k <= highest_order; ++k) time_[k] = S(k == 1 && !has_clock ? 1 : 0);
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

/// Length at which the last orders of a series are `tolerance` of its size |c_0| + |c_1| h + |c_2| h² over
/// this very length; several orders, as symmetric motions lack three of four. NaN where a series does not
/// exist.
template <class S, class Dynamics>
double TaylorFlow<S, Dynamics>::reach(const Series<S>& series, double longest) const {
  constexpr int looked_at = 4;
  const auto modulus = [&](int k) { return std::abs(value_of(series[k])); };
  std::array<double, looked_at> logarithm;
  for (int j = 0; j < looked_at; ++j) {
    const double c = modulus(highest_ - j);
    if (!std::isfinite(c)) return std::numeric_limits<double>::quiet_NaN();
    logarithm[static_cast<std::size_t>(j)] = std::log(c);  // −inf: no limit
  }
  double h = longest;
  for (int pass = 0; pass < 3; ++pass) {
    const double size = modulus(0) + h * (modulus(1) + h * modulus(2));
    if (size == 0) return longest;
    const double allowed = std::log(tolerance_ * size);
    double shortest = std::log(longest);  // never longer than what was asked for
    for (int j = 0; j < looked_at; ++j) {
      shortest = std::min(shortest, (allowed - logarithm[static_cast<std::size_t>(j)]) / (highest_ - j));
    }
    const double before = h;
    h = std::exp(shortest);
    if (h > 0.8 * before) break;
  }
  return h;
}

template <class S, class Dynamics>
double TaylorFlow<S, Dynamics>::choose(double rate) {
  length_ = 4 / rate;  // where all series end by themselves
  for (int i = 0; i < states; ++i) length_ = reach(x_(i), length_);
  for (const Series<S>& guard : guards_) length_ = reach(guard, length_);
  if (!std::isfinite(length_)) length_ = 0;
  return length_;
}

template <class S, class Dynamics>
S TaylorFlow<S, Dynamics>::evaluate(const Series<S>& series, double fraction) const {
  const double s = fraction * length_;
  S sum(0);
  for (int k = highest_; k >= 0; --k) {
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
Coefficients TaylorFlow<S, Dynamics>::scaled(const Series<S>& series) const {
  Coefficients c(highest_);
  double power = 1;
  for (int k = 0; k <= highest_; ++k) {
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
