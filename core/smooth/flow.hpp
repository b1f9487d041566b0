/// The flow of any smooth system, step by step, each step a power series of high order: the state and every
/// guard are polynomials on it, so that events are found by the same certified search as for linear systems,
/// and their number of digits does not hang on an interpolant.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/math/dual.hpp"
#include "core/math/power_of_two.hpp"
#include "core/math/rough_logarithm.hpp"
#include "core/math/series.hpp"
#include "core/system/tolerance.hpp"

namespace graze {

/// Of every series. A pass over the right-hand side costs much the same whatever its order, so a low
/// tolerance is had in longer steps, not with fewer terms; many more would overflow next to a singular point.
inline constexpr int highest_order = 24;

/// Of a polynomial on a step.
using Coefficients = std::array<double, highest_order + 1>;

/// `Dynamics` with scalar S provides, each templated on the number type T (S or Series<S>),
///
///     static constexpr int states    Eigen::Dynamic: as many as the state that is expanded has
///     void rates(mode, const T& t, const Vector<T>& x, Vector<T>& rate) const
///     T guard(int k, mode, const T& t, const Vector<T>& x) const
///
/// and may provide `T clock(mode, x) const`: then the flow runs in a variable σ with dt/dσ = clock, and the
/// rates are per σ (core/models/rod_on_ground says what that is good for). And it may provide
/// `auto terms(mode, t, x) const`, what rates and guards have in common: then these take it as their last
/// argument, and it is worked out once for all of them. Terms that are of type T are the clock.
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
  static constexpr bool has_terms = requires(const Dynamics& d, const S& t, const State& x) {
    d.terms(std::int64_t{}, t, x);
  };

  static constexpr bool terms_are_clock = requires(const Dynamics& d, const S& t, const State& x) {
    requires has_clock;
    { d.terms(std::int64_t{}, t, x) } -> std::same_as<S>;
  };

  /// Errors of many steps add up, and orbits have to close within the tolerance: a step has a hundredth of
  /// it.
  explicit TaylorFlow(const Tolerance& tolerance)
      : log_left_out_(
            rough_logarithm(std::max(tolerance.integration / 100, std::numeric_limits<double>::epsilon()))) {}

  /// Series of the state and of these guards from (t, x) on.
  void expand(const Dynamics& dynamics, std::int64_t mode, const S& t, const State& x,
              const std::vector<int>& guards) {
    expand(dynamics, mode, t, x, guards, highest_order);
  }
  /// … up to `order` only; no step can be taken.
  void expand(const Dynamics& dynamics, std::int64_t mode, const S& t, const State& x,
              const std::vector<int>& guards, int order);
  /// Chooses the length of the step: what is left out of any state or guard is below the tolerance times its
  /// size on the step. 0 where a series does not exist (the root of a state that is
  /// zero).
  double choose(double rate) { return choose(rate, guards_.size()); }
  /// … of the first `count` guards; the others are only looked at.
  double choose(double rate, std::size_t count);

  double length() const { return length_ * unit_; }
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
  S guard_coefficient(std::size_t k, int order) const {
    return unit_ == 1 ? guards_[k][order] : S(guards_[k][order] * std::pow(unit_, -order));
  }

  /// Derivative of f(t, x) in a direction, in which t passes at `pace`; f is templated on the number type.
  template <class F>
  auto along(const S& t, const State& x, const State& direction, const F& f, const S& pace = S(0));

 private:
  static constexpr int looked_at = 4;
  /// Of the last orders, the highest first.
  using Last = std::array<double, looked_at>;
  /// Raises each of `greatest` to what the last orders of a series, or of its derivatives, are of its size;
  /// false: some are no numbers.
  bool weigh(const Series<S>& series, Last& greatest) const {
    constexpr double least = std::numeric_limits<double>::min();  // so that its inverse is finite
    constexpr double most = std::numeric_limits<double>::max();
    bool finite = true;
    for (int part = 0; part < parts_of<S>; ++part) {
      const auto modulus = [&](int k) { return std::abs(part_of(series[k], part)); };
      const double size = modulus(0) + length_ * (modulus(1) + length_ * modulus(2));
      const double inverse = size == 0 ? 0 : 1 / std::max(size, least);
      for (int j = 0; j < looked_at; ++j) {
        const double c = modulus(highest_order - j) * inverse;
        finite &= c <= most;
        double& highest = greatest[static_cast<std::size_t>(j)];
        highest = std::max(highest, c);
      }
    }
    return finite;
  }
  bool is_coordinate(const Series<S>& series) const {
    return std::any_of(x_.begin(), x_.end(), [&](const Series<S>& coordinate) {
      return coordinate.coefficients() == series.coefficients();
    });
  }
  Coefficients scaled(const Series<S>& series) const;
  S evaluate(const Series<S>& series, double fraction) const;

  Tape<S> tape_;
  Series<S> time_;
  Vector<Series<S>> x_, rate_;
  struct Integral {
    const S* rate;
    S* of;
  };
  std::vector<Integral> integrals_;
  std::vector<Series<S>> guards_;
  double log_left_out_;  ///< of the first term that is, per size of its series
  double unit_ = 1;      ///< of time, in which series are told, so that those of fast systems do not overflow
  double length_ = 0;    ///< in that unit
};

template <class S, class Dynamics>
void TaylorFlow<S, Dynamics>::expand(const Dynamics& dynamics, std::int64_t mode, const S& t, const State& x,
                                     const std::vector<int>& guards, int order) {
  tape_.begin(highest_order);
  if constexpr (!has_clock) unit_ = std::min(1.0, unit_near(1 / dynamics.rate()));
  time_ = has_clock ? tape_.take() : tape_.take().straight();
  x_.resize(x.size());
  rate_.resize(x.size());
  for (Series<S>& coordinate : x_) coordinate = tape_.take();
  time_[0] = t;
  for (int k = 1; k <= highest_order; ++k) time_[k] = S(k == 1 && !has_clock ? unit_ : 0);
  for (Eigen::Index i = 0; i < x.size(); ++i) x_(i)[0] = x(i);
  guards_.resize(guards.size());
  Series<S> clock;
  std::size_t last = 0;  // the rates have one order less
  const auto evaluate = [&](const auto&... terms) {
    for (std::size_t g = 0; g < guards.size(); ++g)
      guards_[g] = dynamics.guard(guards[g], mode, time_, x_, terms...);
    last = tape_.place();
    if (order > 0) dynamics.rates(mode, time_, x_, rate_, terms...);
  };
  if constexpr (terms_are_clock) {
    clock = dynamics.terms(mode, time_, x_);
    evaluate(clock);
  } else {
    if constexpr (has_clock) clock = dynamics.clock(mode, x_);
    if constexpr (has_terms) {
      evaluate(dynamics.terms(mode, time_, x_));
    } else {
      evaluate();
    }
  }
  integrals_.clear();
  for (Eigen::Index i = 0; order > 0 && i < x.size(); ++i)
    integrals_.push_back({rate_(i).coefficients(), x_(i).coefficients()});
  for (int k = 1; k <= order; ++k) {
    const double share = unit_ / k;
    if constexpr (has_clock) time_[k] = clock[k - 1] * share;
    for (const Integral& integral : integrals_) integral.of[k] = integral.rate[k - 1] * share;
    tape_.advance(k, k < order ? tape_.place() : last);
  }
}

/// The radius of convergence that the last coefficients of every series tell, each as a share of its size
/// |c_0| + |c_1| h + |c_2| h² (several, as symmetric motions lack three of four), and the part of it on which
/// the first term that is left out is a hundredth of the tolerance, or rounding; h being first 0 and then the
/// length found with that.
template <class S, class Dynamics>
double TaylorFlow<S, Dynamics>::choose(double rate, std::size_t count) {
  const double longest = rough_logarithm(40 / (rate * unit_));  // where all series end by themselves
  const double part = log_left_out_ / (highest_order + 1);
  length_ = 0;
  for (int pass = 0; pass < 2; ++pass) {
    Last left_out{};  // the greatest |c_k| of a series per its size
    bool finite = true;
    for (const Series<S>& coordinate : x_) finite &= weigh(coordinate, left_out);
    for (std::size_t k = 0; k < count; ++k) {
      if (!is_coordinate(guards_[k])) finite &= weigh(guards_[k], left_out);
    }
    if (!finite) return length_ = 0;
    double shortest = longest;
    for (int j = 0; j < looked_at; ++j)
      shortest = std::min(
          shortest, part - rough_logarithm(left_out[static_cast<std::size_t>(j)]) / (highest_order - j));
    length_ = rough_power(shortest);
  }
  return length_ = tape_.held(length_);
}

template <class S, class Dynamics>
S TaylorFlow<S, Dynamics>::evaluate(const Series<S>& series, double fraction) const {
  const double s = fraction * length_;
  S sum(0);
  for (int k = highest_order; k >= 0; --k) {
    sum *= s;
    sum += series[k];
  }
  return sum;
}

template <class S, class Dynamics>
auto TaylorFlow<S, Dynamics>::state(double fraction) const -> State {
  State x(x_.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) x(i) = evaluate(x_(i), fraction);
  return x;
}

template <class S, class Dynamics>
S TaylorFlow<S, Dynamics>::passed(double fraction) const {
  if constexpr (has_clock) {
    return evaluate(time_, fraction) - time_[0];
  } else {
    return S(fraction * length());
  }
}

template <class S, class Dynamics>
Coefficients TaylorFlow<S, Dynamics>::scaled(const Series<S>& series) const {
  Coefficients c;
  double power = 1;
  for (int k = 0; k <= highest_order; ++k) {
    c[static_cast<std::size_t>(k)] = value_of(series[k]) * power;
    power *= length_;
  }
  return c;
}

template <class S, class Dynamics>
template <class F>
auto TaylorFlow<S, Dynamics>::along(const S& t, const State& x, const State& direction, const F& f,
                                    const S& pace) {
  tape_.begin(1);
  Series<S> time = tape_.take();
  Vector<Series<S>> point(x.size());
  for (Series<S>& coordinate : point) coordinate = tape_.take();
  time[0] = t;
  time[1] = pace;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    point(i)[0] = x(i);
    point(i)[1] = direction(i);
  }
  auto result = f(time, point);
  tape_.advance(1);
  return result;
}

}  // namespace graze
