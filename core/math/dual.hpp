/// Forward-mode dual numbers: a value and its derivatives in N directions. Everything the engine does with
/// a scalar it does with these too, so derivatives go through every event without being written by hand.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace graze {

/// value + Σ_k slope[k] ε_k with ε_j ε_k = 0. The slopes come first: what writes them two at a time does not
/// make a copy wait, which reads 16 bytes from the beginning on.
template <int N>
struct Dual {
  std::array<double, static_cast<std::size_t>(N)> slope{};
  double value = 0;

  Dual() = default;
  template <class T>
  requires std::is_arithmetic_v<T> Dual(T v)
      : value(static_cast<double>(v)) {}  // NOLINT: numbers mix freely with duals

  /// What depends on one parameter, among N directions of which the last is that parameter's.
  template <int M>
  requires(M == 1 && N > 1) explicit Dual(const Dual<M>& p) : value(p.value) {
    slope.back() = p.slope.front();
  }

  Dual& operator+=(const Dual& b) {
    value += b.value;
    for (std::size_t k = 0; k < slope.size(); ++k) slope[k] += b.slope[k];
    return *this;
  }
  Dual& operator-=(const Dual& b) {
    value -= b.value;
    for (std::size_t k = 0; k < slope.size(); ++k) slope[k] -= b.slope[k];
    return *this;
  }
  Dual& operator*=(const Dual& b) {
    for (std::size_t k = 0; k < slope.size(); ++k) slope[k] = slope[k] * b.value + value * b.slope[k];
    value *= b.value;
    return *this;
  }
  Dual& operator/=(const Dual& b) {
    value /= b.value;
    for (std::size_t k = 0; k < slope.size(); ++k) slope[k] = (slope[k] - value * b.slope[k]) / b.value;
    return *this;
  }
  Dual& operator*=(double b) {
    value *= b;
    for (double& s : slope) s *= b;
    return *this;
  }
  Dual& operator/=(double b) {
    value /= b;
    for (double& s : slope) s /= b;
    return *this;
  }

  friend Dual operator+(Dual a, const Dual& b) { return a += b; }
  friend Dual operator-(Dual a, const Dual& b) { return a -= b; }
  friend Dual operator*(Dual a, const Dual& b) { return a *= b; }
  friend Dual operator/(Dual a, const Dual& b) { return a /= b; }
  friend Dual operator*(Dual a, double b) { return a *= b; }
  friend Dual operator*(double a, Dual b) { return b *= a; }
  friend Dual operator/(Dual a, double b) { return a /= b; }
  friend Dual operator-(Dual a) { return a *= -1.0; }
  friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  friend bool operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  friend bool operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }
  friend bool operator==(const Dual& a, const Dual& b) { return a.value == b.value; }
  friend bool operator!=(const Dual& a, const Dual& b) { return a.value != b.value; }
};

/// What depends on one parameter times what moves in N directions, the last of them that parameter's.
template <int N>
requires(N > 1) Dual<N>
operator*(const Dual<1>& p, Dual<N> b) {
  const double value = b.value;
  b *= p.value;
  b.slope.back() += p.slope.front() * value;
  return b;
}

/// Adds up products. The derivatives go two at a time: left alone, the compiler takes them one by one.
template <class T>
class Products {
 public:
  void add(double a, double b) { sum_ += a * b; }
  /// to = sum t.
  void store(double t, double& to) const { to = sum_ * t; }

 private:
  T sum_ = 0;
};

template <int N>
class Products<Dual<N>> {
 public:
  void add(const Dual<N>& a, const Dual<N>& b) {
#pragma GCC unroll 16
    for (std::size_t k = 0; k < pairs; ++k) pairs_[k] += pair(a, k) * b.value + pair(b, k) * a.value;
    if constexpr (odd) last_ += a.slope.back() * b.value + a.value * b.slope.back();
    value_ += a.value * b.value;
  }
  void add(double a, const Dual<N>& b) {
#pragma GCC unroll 16
    for (std::size_t k = 0; k < pairs; ++k) pairs_[k] += pair(b, k) * a;
    if constexpr (odd) last_ += a * b.slope.back();
    value_ += a * b.value;
  }
  void add(const Dual<1>& a, const Dual<N>& b) requires(N > 1) {
    add(a.value, b);
    if constexpr (odd) {
      last_ += a.slope.front() * b.value;
    } else {
      pairs_[pairs - 1] += Pair{0, a.slope.front() * b.value};
    }
  }
  void store(double t, Dual<N>& to) const {
#pragma GCC unroll 16
    for (std::size_t k = 0; k < pairs; ++k) {
      const Pair p = pairs_[k] * t;
      std::memcpy(to.slope.data() + 2 * k, &p, sizeof p);
    }
    if constexpr (odd) to.slope.back() = last_ * t;
    to.value = value_ * t;
  }

 private:
  using Pair = double __attribute__((vector_size(16)));
  static constexpr std::size_t pairs = static_cast<std::size_t>(N) / 2;
  static constexpr bool odd = N % 2 != 0;
  static Pair pair(const Dual<N>& a, std::size_t k) { return Pair{a.slope[2 * k], a.slope[2 * k + 1]}; }

  std::array<Pair, pairs> pairs_{};
  double last_ = 0;
  double value_ = 0;
};

/// f(a) for a function with value `f` and derivative `slope` at a.
template <int N>
Dual<N> chain(const Dual<N>& a, double f, double slope) {
  Dual<N> result = a;
  result *= slope;
  result.value = f;
  return result;
}

template <int N>
Dual<N> sin(const Dual<N>& a) {
  return chain(a, std::sin(a.value), std::cos(a.value));
}
template <int N>
Dual<N> cos(const Dual<N>& a) {
  return chain(a, std::cos(a.value), -std::sin(a.value));
}
template <int N>
Dual<N> sqrt(const Dual<N>& a) {
  const double root = std::sqrt(a.value);
  return chain(a, root, 0.5 / root);
}
template <int N>
Dual<N> abs(const Dual<N>& a) {
  return a.value < 0 ? -a : a;
}

/// The number without its derivatives.
inline double value_of(double a) { return a; }
template <int N>
double value_of(const Dual<N>& a) {
  return a.value;
}

/// Whether two numbers agree, derivatives and all.
inline bool identical(double a, double b) { return a == b; }
template <int N>
bool identical(const Dual<N>& a, const Dual<N>& b) {
  return a.value == b.value && a.slope == b.slope;
}

/// A number as a list: its value, then its derivatives.
template <class S>
inline constexpr int parts_of = 1;
template <int N>
inline constexpr int parts_of<Dual<N>> = 1 + N;
inline double part_of(double a, int) { return a; }
template <int N>
double part_of(const Dual<N>& a, int i) {
  return i == 0 ? a.value : a.slope[static_cast<std::size_t>(i - 1)];
}

/// Matrices and vectors without their derivatives.
template <class Derived>
auto values_of(const Eigen::MatrixBase<Derived>& m) {
  return m.unaryExpr([](const typename Derived::Scalar& a) { return value_of(a); });
}

/// A product of matrices. Of dual ones sum by sum: Eigen's blocked products are long to compile with them and
/// gain nothing. (What this is assigned to must not stand in it.)
template <class A, class B>
auto matrix_product(const A& a, const B& b) {
  if constexpr (std::is_arithmetic_v<typename A::Scalar> && std::is_arithmetic_v<typename B::Scalar>) {
    return a * b;
  } else {
    return a.lazyProduct(b);
  }
}

}  // namespace graze

template <int N>
struct Eigen::NumTraits<graze::Dual<N>> : Eigen::NumTraits<double> {
  using Real = graze::Dual<N>;
  using NonInteger = graze::Dual<N>;
  using Nested = graze::Dual<N>;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = N + 1,
    AddCost = N + 1,
    MulCost = 3 * N + 1
  };
};

/// Products of plain and dual matrices without widening the plain one.
template <int N, class Op>
struct Eigen::ScalarBinaryOpTraits<double, graze::Dual<N>, Op> {
  using ReturnType = graze::Dual<N>;
};
template <int N, class Op>
struct Eigen::ScalarBinaryOpTraits<graze::Dual<N>, double, Op> {
  using ReturnType = graze::Dual<N>;
};
template <int N, class Op>
requires(N > 1) struct Eigen::ScalarBinaryOpTraits<graze::Dual<1>, graze::Dual<N>, Op> {
  using ReturnType = graze::Dual<N>;
};
