/// Lists of operations on power series in vectors: see core/lanes/series/SERIES.md. Included by
/// core/lanes/series/step.hpp only.
#pragma once

#include "core/lanes/series/batch.hpp"
#include "core/lanes/vectors.hpp"

namespace graze {
namespace {

/// Whole numbers as long as those of a vector.
using Whole = long long __attribute__((vector_size(sizeof(V))));

/// 1/k.
inline constexpr double part_of[] = {0,        1.0,      1.0 / 2,  1.0 / 3,  1.0 / 4,  1.0 / 5,
                                     1.0 / 6,  1.0 / 7,  1.0 / 8,  1.0 / 9,  1.0 / 10, 1.0 / 11,
                                     1.0 / 12, 1.0 / 13, 1.0 / 14, 1.0 / 15, 1.0 / 16, 1.0 / 17,
                                     1.0 / 18, 1.0 / 19, 1.0 / 20, 1.0 / 21};

/// Coefficient k of a row.
inline V get(const double* row, int k) { return load(row + k * width); }
inline void put(double* row, int k, const V& v) { store(row + k * width, v); }

/// Σ a_j b_{k−j}, j = 1 … k − 1, in chains that do not wait for each other. Straight code for every k: loops
/// as short as these end where no processor expects it.
template <int k>
inline V inner(const double* a, const double* b) {
  V sum[4] = {all(0), all(0), all(0), all(0)};
#pragma GCC unroll 20
  for (int j = 1; j < k; ++j) sum[j % 4] = fma(get(a, j), get(b, k - j), sum[j % 4]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// Σ a_j a_{k−j}, j = 1 … k − 1: each pair once.
template <int k>
inline V inner_square(const double* a) {
  V sum[2] = {all(0), all(0)};
#pragma GCC unroll 20
  for (int j = 1; 2 * j < k; ++j) sum[j % 2] = fma(get(a, j), get(a, k - j), sum[j % 2]);
  const V once = sum[0] + sum[1];
  const V twice = once + once;
  return k % 2 == 0 && k > 0 ? fma(get(a, k / 2), get(a, k / 2), twice) : twice;
}

/// Both for one order.
struct Convolution {
  V (*inner)(const double* a, const double* b);
  V (*inner_square)(const double* a);
};

class Convolutions {
 public:
  static const Convolution& of(int k) { return table(Count<highest + 1>{})[k]; }

 private:
  static constexpr int highest = 20;
  template <int... k>
  static const Convolution* table(Count<0, k...>) {
    static constexpr Convolution list[] = {{&graze::inner<k>, &graze::inner_square<k>}...};
    return list;
  }
};

/// Σ a_j b_{k−j}, k > 0: the newest coefficients last, so that what is known before need not wait for them.
[[gnu::always_inline]] inline V product(const double* a, const double* b, int k, const Convolution& with) {
  return fma(get(a, k), get(b, 0), fma(get(a, 0), get(b, k), with.inner(a, b)));
}

[[gnu::always_inline]] inline V square(const double* a, int k, const Convolution& with) {
  const V twice = get(a, 0) + get(a, 0);
  return fma(twice, get(a, k), with.inner_square(a));
}

/// Σ j a_j b_{k−j}, j = 1 … k, from the row of j a_j.
[[gnu::always_inline]] inline V rate_product(const double* rate, const double* b, int k,
                                             const Convolution& with) {
  return fma(get(rate, k), get(b, 0), with.inner(rate, b));
}

inline double one_apply(SeriesOperation::Function f, double a) {
  using Function = SeriesOperation::Function;
  switch (f) {
    case Function::sqrt:
      return __builtin_sqrt(a);
    case Function::exp:
      return __builtin_exp(a);
    case Function::log:
      return __builtin_log(a);
    case Function::sin:
      return __builtin_sin(a);
    case Function::cos:
      return __builtin_cos(a);
    case Function::tan:
      return __builtin_tan(a);
    case Function::asin:
      return __builtin_asin(a);
    case Function::acos:
      return __builtin_acos(a);
    case Function::atan:
      return __builtin_atan(a);
    case Function::sinh:
      return __builtin_sinh(a);
    case Function::cosh:
      return __builtin_cosh(a);
    case Function::tanh:
      return __builtin_tanh(a);
  }
  return a;
}

/// Lane by lane, by the C library.
inline V apply(SeriesOperation::Function f, const V& a) {
  V result = a;
  for (int lane = 0; lane < width; ++lane) result[lane] = one_apply(f, a[lane]);
  return result;
}

inline V power(const V& a, const V& p) {
  V result = a;
  for (int lane = 0; lane < width; ++lane) result[lane] = __builtin_pow(a[lane], p[lane]);
  return result;
}

/// y Σ (−1)^i y^{2i}/(2i + first)! · first!, of so many terms more: sine over y (first 1) and cosine (first
/// 0).
template <int first, int terms>
inline V alternating(const V& square) {
  V sum = all(1);
  for (int i = terms; i > 0; --i)
    sum = fma(sum, square * all(-1.0 / ((2 * i - 1 + first) * (2 * i + first))), all(1));
  return sum;
}

/// Sine and cosine: an angle below π/4 by multiples of π/2, there the series to rounding. Angles that have
/// lost their digits go by the C library.
inline void sine_cosine(const V& a, V& sine, V& cosine) {
  constexpr double large = 1e5;
  const V shift = all(6755399441055744.0);  // 1.5 · 2^52: sums are whole numbers in the last bits
  const V sum = fma(a, all(0.63661977236758134), shift);
  const V quarters = sum - shift;
  V y = fma(quarters, all(-1.5707963267948966), a);
  y = fma(quarters, all(-6.123233995736766e-17), y);
  const V u = y * y;
  const V s = y * alternating<1, 9>(u), c = alternating<0, 9>(u);
  const Whole q = __builtin_bit_cast(Whole, sum);
  const Whole zero = q ^ q;
  const Whole swapped = (q & 1) != zero;
  const V ones = all(1), minus = all(-1);
  const Whole sine_down = (q & 2) != zero, cosine_down = ((q + 1) & 2) != zero;
  sine = (swapped ? c : s) * (sine_down ? minus : ones);
  cosine = (swapped ? s : c) * (cosine_down ? minus : ones);
  const unsigned beyond = Simd::bits(~below(modulus(a), all(large)));
  for (int lane = 0; beyond != 0 && lane < width; ++lane) {
    if ((beyond >> lane & 1) == 0) continue;
    sine[lane] = __builtin_sin(a[lane]);
    cosine[lane] = __builtin_cos(a[lane]);
  }
}

/// Coefficient k of a sum from its constant on; `products(term)` works out a product.
template <class Products>
[[gnu::always_inline]] inline V sum_of(const SeriesList& list, const SeriesOperation& op, const double* fixed,
                                       int k, V total, const Products& products) {
  const SeriesTerm* term = list.terms + op.begin;
  const auto factor = [&] { return load(fixed + term->fixed * width); };
  for (int i = 0; i < op.by_literal; ++i, ++term) total = fma(get(term->a, k), all(term->literal), total);
  for (int i = 0; i < op.by_fixed; ++i, ++term) total = fma(get(term->a, k), factor(), total);
  for (int i = 0; i < op.plain_products; ++i, ++term) total = total + products(*term);
  for (int i = 0; i < op.products_by_literal; ++i, ++term)
    total = fma(products(*term), all(term->literal), total);
  for (int i = 0; i < op.products_by_fixed; ++i, ++term) total = fma(products(*term), factor(), total);
  return total;
}

/// 1 − tanh² a (core/equations/function.hpp).
inline V hyperbolic_slope(const V& a) {
  const V e = apply(SeriesOperation::Function::exp, all(-2) * modulus(a));
  return all(4) * e / ((all(1) + e) * (all(1) + e));
}

/// Functions at the beginning of the series.
inline void work_out_first(const SeriesList& list, const SeriesOperation& op, const double* fixed) {
  using Kind = SeriesOperation::Kind;
  using Function = SeriesOperation::Function;
  double* const r = op.result;
  double* const other = op.other;
  const V a = get(op.a, 0);
  const auto invert = [&](const V& divisor) {
    const V inverse = all(1) / divisor;
    put(op.inverse, 0, inverse);
    return inverse;
  };
  switch (op.kind) {
    case Kind::sum:
      put(r, 0, sum_of(list, op, fixed, 0, load(fixed + op.fixed * width), [](const SeriesTerm& t) {
            return get(t.a, 0) * get(t.b, 0);
          }));
      break;
    case Kind::quotient:
      put(r, 0, a / get(op.b, 0));
      invert(get(op.b, 0));
      break;
    case Kind::reciprocal:
      put(r, 0, invert(a));
      break;
    case Kind::root:
      put(r, 0, Simd::sqrt(a));
      invert(get(r, 0) + get(r, 0));
      break;
    case Kind::power:
      put(r, 0, power(a, load(fixed + op.fixed * width)));
      invert(a);
      break;
    case Kind::exponential:
      put(r, 0, apply(Function::exp, a));
      break;
    case Kind::sine:
    case Kind::harmonic: {
      V sine, cosine;
      sine_cosine(a, sine, cosine);
      put(r, 0, sine);
      put(other, 0, cosine);
      break;
    }
    case Kind::hyperbolic_sine:
      put(r, 0, apply(Function::sinh, a));
      put(other, 0, apply(Function::cosh, a));
      break;
    case Kind::tangent:
    case Kind::hyperbolic_tangent: {
      const V value = apply(op.function, a);
      put(r, 0, value);
      put(other, 0, op.kind == Kind::tangent ? all(1) + value * value : hyperbolic_slope(a));
      break;
    }
    case Kind::antiderivative:
      put(r, 0, apply(op.function, a));
      invert(get(op.b, 0));
      break;
  }
}

/// Coefficient k > 0.
inline void work_out(const SeriesList& list, const SeriesOperation& op, const double* fixed, int k,
                     const Convolution& with) {
  using Kind = SeriesOperation::Kind;
  double* const r = op.result;
  double* const other = op.other;
  double* const rate = op.rate;
  const double* const a = op.a;
  const double* const b = op.b;
  const auto inverse = [&] { return get(op.inverse, 0); };
  const auto keep_rate = [&](const double* of) { put(rate, k, get(of, k) * all(k)); };
  const V share = all(part_of[k]);
  switch (op.kind) {
    case Kind::sum:
      put(r, k, sum_of(list, op, fixed, k, all(0), [&](const SeriesTerm& t) {
            return t.a == t.b ? square(t.a, k, with) : product(t.a, t.b, k, with);
          }));
      break;
    case Kind::quotient:
      put(r, k, (get(a, k) - fma(get(b, k), get(r, 0), with.inner(b, r))) * inverse());
      break;
    case Kind::reciprocal:
      put(r, k, -fma(get(a, k), get(r, 0), with.inner(a, r)) * inverse());
      break;
    case Kind::root:
      put(r, k, (get(a, k) - with.inner_square(r)) * inverse());
      break;
    case Kind::power: {
      const V p = load(fixed + op.fixed * width), more = p + all(1);
      V sum = all(0);
      for (int j = 1; j <= k; ++j) sum = fma(fma(more, all(j), all(-k)) * get(a, j), get(r, k - j), sum);
      put(r, k, sum * inverse() * share);
      break;
    }
    case Kind::exponential:
      keep_rate(a);
      put(r, k, rate_product(rate, r, k, with) * share);
      break;
    case Kind::sine:
      keep_rate(a);
      put(r, k, rate_product(rate, other, k, with) * share);
      put(other, k, -rate_product(rate, r, k, with) * share);
      break;
    case Kind::harmonic: {
      const V turn = get(a, 1) * share;
      put(r, k, turn * get(other, k - 1));
      put(other, k, -turn * get(r, k - 1));
      break;
    }
    case Kind::hyperbolic_sine:
      keep_rate(a);
      put(r, k, rate_product(rate, other, k, with) * share);
      put(other, k, rate_product(rate, r, k, with) * share);
      break;
    case Kind::tangent:
      keep_rate(a);
      put(r, k, rate_product(rate, other, k, with) * share);
      put(other, k, square(r, k, with));
      break;
    case Kind::hyperbolic_tangent:
      keep_rate(a);
      put(r, k, rate_product(rate, other, k, with) * share);
      put(other, k, -square(r, k, with));
      break;
    case Kind::antiderivative: {
      // The rate of r is known up to k − 1 only: what it stands beside in a product is b_0.
      put(r, k, fma(get(a, k), all(k), -with.inner(rate, b)) * inverse() * share);
      keep_rate(r);
      break;
    }
  }
}

/// The results of a list at a point, its inputs being there.
inline void evaluate(const SeriesList& list, const double* fixed) {
  for (int i = 0; i < list.count; ++i) work_out_first(list, list.operations[i], fixed);
}

/// Coefficient k > 0 of them.
inline void evaluate(const SeriesList& list, const double* fixed, int k) {
  const Convolution with = Convolutions::of(k);
  for (int i = 0; i < list.count; ++i) work_out(list, list.operations[i], fixed, k, with);
}

}  // namespace
}  // namespace graze
