/// Power series of the solution of a differential equation, built coefficient by coefficient.
///
/// The right-hand side is an ordinary function templated on its scalar. Evaluated with `Series` once per
/// order k it computes coefficient k of every intermediate result from the coefficients below, which a `Tape`
/// keeps: as much work as one evaluation per order, whatever the function. The scalar S of the coefficients
/// may be a dual number.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/math/dual.hpp"
#include "core/math/series_reach.hpp"
#include "core/math/series_rules.hpp"

namespace graze {

template <class S>
class Tape;

/// One variable or intermediate result. Valid until its tape begins a new expansion.
template <class S>
class Series {
 public:
  Series() = default;
  Series(Tape<S>& tape, S* coefficients) : tape_(&tape), coefficients_(coefficients) {}

  const S* coefficients() const { return coefficients_; }
  S& operator[](int k) { return coefficients_[k]; }
  const S& operator[](int k) const { return coefficients_[k]; }
  Tape<S>& tape() const { return *tape_; }

  Series& operator+=(const Series& b) { return *this = *this + b; }
  Series& operator-=(const Series& b) { return *this = *this - b; }

  friend Series operator+(const Series& a, const Series& b) {
    return a.next([&](int k) { return a[k] + b[k]; });
  }
  friend Series operator-(const Series& a, const Series& b) {
    return a.next([&](int k) { return a[k] - b[k]; });
  }
  friend Series operator-(const Series& a) {
    return a.next([&](int k) { return -a[k]; });
  }
  friend Series operator*(const Series& a, const Series& b) {
    return a.next([&](int k) { return series::convolution(a.coefficients(), b.coefficients(), 0, k, k); });
  }
  friend Series operator/(const Series& a, const Series& b) {
    Series r = a.tape_->take();
    const int k = a.tape_->order();
    r[k] = series::quotient(a.coefficients(), b.coefficients(), r.coefficients(), k);
    return r;
  }
  friend Series operator+(const Series& a, const S& b) {
    return a.next([&](int k) { return k == 0 ? a[0] + b : a[k]; });
  }
  friend Series operator-(const Series& a, const S& b) {
    return a.next([&](int k) { return k == 0 ? a[0] - b : a[k]; });
  }
  friend Series operator-(const S& a, const Series& b) {
    return b.next([&](int k) { return k == 0 ? a - b[0] : -b[k]; });
  }
  friend Series operator*(const Series& a, const S& b) {
    return a.next([&](int k) { return a[k] * b; });
  }
  friend Series operator/(const Series& a, const S& b) {
    return a.next([&](int k) { return a[k] / b; });
  }
  friend Series operator+(const S& a, const Series& b) { return b + a; }
  friend Series operator*(const S& a, const Series& b) { return b * a; }

  /// A number that does not change, on the tape of `like`.
  friend Series constant(const Series& like, const S& value) {
    return like.next([&](int k) { return k == 0 ? value : S(0); });
  }
  friend Series square(const Series& a) {
    return a.next([&](int k) { return series::square(a.coefficients(), k); });
  }
  friend Series sqrt(const Series& a) {
    using std::sqrt;
    Series r = a.tape_->take();
    const int k = a.tape_->order();
    r[k] = k == 0 ? sqrt(a[0]) : series::root(a.coefficients(), r.coefficients(), k);
    return r;
  }
  /// (sin a, cos a).
  friend std::pair<Series, Series> sine_cosine(const Series& a) {
    using std::cos;
    using std::sin;
    Series s = a.tape_->take();
    Series c = a.tape_->take();
    const int k = a.tape_->order();
    if (k == 0) {
      s[0] = sin(a[0]);
      c[0] = cos(a[0]);
    } else {
      s[k] = series::integral(a.coefficients(), c.coefficients(), k);
      c[k] = -series::integral(a.coefficients(), s.coefficients(), k);
    }
    return {s, c};
  }
  friend Series sin(const Series& a) { return sine_cosine(a).first; }
  friend Series cos(const Series& a) { return sine_cosine(a).second; }

 private:
  template <class F>
  Series next(const F& f) const {
    Series r = tape_->take();
    const int k = tape_->order();
    r[k] = f(k);
    return r;
  }

  Tape<S>* tape_ = nullptr;
  S* coefficients_ = nullptr;
};

/// Where series live: in blocks, so that none moves when one more is taken.
template <class S>
class Tape {
 public:
  /// Starts over, for series up to this order.
  void begin(int highest) {
    stride_ = static_cast<std::size_t>(highest) + 1;
    if (stride_ > most_) {
      most_ = stride_;
      blocks_.clear();
    }
    order_ = 0;
    watched_.clear();
    enter(0);
    first_result_ = {block_, next_};
  }
  /// A variable, to be filled before the passes begin.
  Series<S> input() {
    Series<S> r = take();
    first_result_ = {block_, next_};
    return r;
  }
  /// From here on results get their coefficient k.
  void pass(int k) {
    order_ = k;
    if (block_ != first_result_.first) enter(first_result_.first);
    next_ = first_result_.second;
  }

  /// The argument of a function whose series holds while it does not move further than that.
  void watch(const S* argument, Reach reach) { watched_.emplace_back(argument, reach); }
  /// The greatest step, up to this one, that all of these hold on.
  double held(double step) const {
    const int order = static_cast<int>(stride_) - 1;
    for (const auto& [argument, reach] : watched_) {
      double moved = 0;
      for (int k = order; k > 0; --k) moved = (moved + std::abs(value_of(argument[k]))) * step;
      const double most = reach_of(reach, value_of(argument[0]), order);
      if (moved > most) step *= most / moved;
    }
    return step;
  }

  int order() const { return order_; }
  Series<S> take() {
    if (static_cast<std::size_t>(end_ - next_) < stride_) [[unlikely]]
      enter(block_ + 1);
    Series<S> r(*this, next_);
    next_ += stride_;
    return r;
  }

 private:
  static constexpr std::size_t series_per_block = 64;

  [[gnu::noinline]] void enter(std::size_t block) {
    if (block == blocks_.size()) blocks_.emplace_back(series_per_block * most_);
    block_ = block;
    next_ = blocks_[block].data();
    end_ = next_ + blocks_[block].size();
  }

  std::vector<std::vector<S>> blocks_;
  std::vector<std::pair<const S*, Reach>> watched_;
  std::size_t stride_ = 1, most_ = 0, block_ = 0;
  S* next_ = nullptr;
  S* end_ = nullptr;
  std::pair<std::size_t, S*> first_result_;  ///< block and place behind the variables
  int order_ = 0;
};

inline double constant(double, double value) { return value; }
template <int N>
Dual<N> constant(const Dual<N>&, const Dual<N>& value) {
  return value;
}

template <class S>
S square(const S& a) {
  return a * a;
}

/// (sin a, cos a) of plain and dual numbers.
inline std::pair<double, double> sine_cosine(double a) { return {std::sin(a), std::cos(a)}; }
template <int N>
std::pair<Dual<N>, Dual<N>> sine_cosine(const Dual<N>& a) {
  const double s = std::sin(a.value);
  const double c = std::cos(a.value);
  return {chain(a, s, c), chain(a, c, -s)};
}

}  // namespace graze
