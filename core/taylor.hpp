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

#include "core/dual.hpp"

namespace graze {

template <class S>
class Tape;

/// One variable or intermediate result. Valid until its tape begins a new expansion.
template <class S>
class Series {
 public:
  Series() = default;
  Series(Tape<S>& tape, std::size_t begin) : tape_(&tape), begin_(begin) {}

  const S* coefficients() const { return tape_->at(begin_); }
  S& operator[](int k) { return tape_->at(begin_)[k]; }
  const S& operator[](int k) const { return coefficients()[k]; }
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
    return a.next([&](int k) { return convolution(a.coefficients(), b.coefficients(), 0, k, k); });
  }
  friend Series operator/(const Series& a, const Series& b) {
    Series r = a.tape_->take();
    const int k = a.tape_->order();
    r[k] = (a[k] - convolution(b.coefficients(), r.coefficients(), 1, k, k)) / b[0];
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
  friend Series sqrt(const Series& a) {
    using std::sqrt;
    Series r = a.tape_->take();
    const int k = a.tape_->order();
    r[k] = k == 0 ? sqrt(a[0])
                  : (a[k] - convolution(r.coefficients(), r.coefficients(), 1, k - 1, k)) / (S(2) * r[0]);
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
      S sine(0), cosine(0);
      for (int j = 1; j <= k; ++j) {
        const S rate = a[j] * static_cast<double>(j);
        sine += rate * c[k - j];
        cosine -= rate * s[k - j];
      }
      s[k] = sine / static_cast<double>(k);
      c[k] = cosine / static_cast<double>(k);
    }
    return {s, c};
  }
  friend Series sin(const Series& a) { return sine_cosine(a).first; }
  friend Series cos(const Series& a) { return sine_cosine(a).second; }

 private:
  /// Σ a_j b_{k−j}, j = first … last.
  static S convolution(const S* a, const S* b, int first, int last, int k) {
    S sum(0);
    for (int j = first; j <= last; ++j) sum += a[j] * b[k - j];
    return sum;
  }
  template <class F>
  Series next(const F& f) const {
    Series r = tape_->take();
    const int k = tape_->order();
    r[k] = f(k);
    return r;
  }

  Tape<S>* tape_ = nullptr;
  std::size_t begin_ = 0;
};

/// Where series live.
template <class S>
class Tape {
 public:
  /// Starts over, for series up to this order.
  void begin(int highest) {
    stride_ = static_cast<std::size_t>(highest) + 1;
    next_ = inputs_ = 0;
    order_ = 0;
  }
  /// A variable, to be filled before the passes begin.
  Series<S> input() {
    Series<S> r = take();
    inputs_ = next_;
    return r;
  }
  /// From here on results get their coefficient k.
  void pass(int k) {
    order_ = k;
    next_ = inputs_;
  }

  int order() const { return order_; }
  S* at(std::size_t begin) { return store_.data() + begin; }
  Series<S> take() {
    if (next_ + stride_ > store_.size()) [[unlikely]]
      grow();
    Series<S> r(*this, next_);
    next_ += stride_;
    return r;
  }

 private:
  [[gnu::noinline]] void grow() { store_.resize(2 * (next_ + stride_)); }

  std::vector<S> store_;
  std::size_t stride_ = 1, next_ = 0, inputs_ = 0;
  int order_ = 0;
};

inline double constant(double, double value) { return value; }
template <int N>
Dual<N> constant(const Dual<N>&, const Dual<N>& value) {
  return value;
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
