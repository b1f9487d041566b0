/// Lists of operations on power series in vectors: see core/lanes/series/SERIES.md. Included by
/// core/lanes/series/step.hpp only.
#pragma once

#include "core/lanes/series/batch.hpp"
#include "core/lanes/vectors.hpp"

namespace graze {
namespace {

/// 1/k.
inline constexpr double part_of[] = {0,        1.0,      1.0 / 2,  1.0 / 3,  1.0 / 4,  1.0 / 5,
                                     1.0 / 6,  1.0 / 7,  1.0 / 8,  1.0 / 9,  1.0 / 10, 1.0 / 11,
                                     1.0 / 12, 1.0 / 13, 1.0 / 14, 1.0 / 15, 1.0 / 16, 1.0 / 17,
                                     1.0 / 18, 1.0 / 19, 1.0 / 20, 1.0 / 21};

/// Vectors that are worked on together: what one of them has to wait for is done by the others meanwhile.
constexpr int packed = 2;
constexpr int lanes = packed * width;  ///< side by side in a row

struct Pack {
  V v[packed];
};
template <class F>
[[gnu::always_inline]] inline Pack each(const F& f) {
  Pack result;
#pragma GCC unroll 4
  for (int i = 0; i < packed; ++i) result.v[i] = f(i);
  return result;
}
[[gnu::always_inline]] inline Pack both(const V& a) {
  return each([&](int) { return a; });
}
[[gnu::always_inline]] inline Pack both(double a) { return both(all(a)); }
[[gnu::always_inline]] inline Pack load_pack(const double* p) {
  return each([&](int i) { return load(p + i * width); });
}
[[gnu::always_inline]] inline Pack operator+(const Pack& a, const Pack& b) {
  return each([&](int i) { return a.v[i] + b.v[i]; });
}
[[gnu::always_inline]] inline Pack operator-(const Pack& a, const Pack& b) {
  return each([&](int i) { return a.v[i] - b.v[i]; });
}
[[gnu::always_inline]] inline Pack operator-(const Pack& a) {
  return each([&](int i) { return -a.v[i]; });
}
[[gnu::always_inline]] inline Pack operator*(const Pack& a, const Pack& b) {
  return each([&](int i) { return a.v[i] * b.v[i]; });
}
[[gnu::always_inline]] inline Pack operator/(const Pack& a, const Pack& b) {
  return each([&](int i) { return a.v[i] / b.v[i]; });
}
[[gnu::always_inline]] inline Pack fma(const Pack& a, const Pack& b, const Pack& c) {
  return each([&](int i) { return fma(a.v[i], b.v[i], c.v[i]); });
}

/// Coefficient k of a row.
[[gnu::always_inline]] inline Pack get(const double* row, int k) { return load_pack(row + k * lanes); }
[[gnu::always_inline]] inline void put(double* row, int k, const Pack& a) {
#pragma GCC unroll 4
  for (int i = 0; i < packed; ++i) store(row + k * lanes + i * width, a.v[i]);
}
/// … of the lanes of one vector, from where that stands in the row.
inline V get_one(const double* row, int k) { return load(row + k * lanes); }
inline void put_one(double* row, int k, const V& a) { store(row + k * lanes, a); }

/// Σ a_j b_{k−j}, j = 1 … k − 1. Straight code for every k: loops as short as these end where no processor
/// expects it.
template <int k>
[[gnu::always_inline]] inline Pack inner(const double* a, const double* b) {
  Pack sum[2] = {both(0), both(0)};
#pragma GCC unroll 20
  for (int j = 1; j < k; ++j) sum[j % 2] = fma(get(a, j), get(b, k - j), sum[j % 2]);
  return sum[0] + sum[1];
}

/// Σ a_j a_{k−j}, j = 1 … k − 1: each pair once.
template <int k>
[[gnu::always_inline]] inline Pack inner_square(const double* a) {
  Pack once = both(0);
#pragma GCC unroll 20
  for (int j = 1; 2 * j < k; ++j) once = fma(get(a, j), get(a, k - j), once);
  const Pack twice = once + once;
  if constexpr (k % 2 == 0 && k > 0) return fma(get(a, k / 2), get(a, k / 2), twice);
  return twice;
}

/// Σ a_j b_{k−j}, k > 0: the newest coefficients last, so that what is known before need not wait for them.
template <int k>
[[gnu::always_inline]] inline Pack product(const double* a, const double* b) {
  return fma(get(a, k), get(b, 0), fma(get(a, 0), get(b, k), inner<k>(a, b)));
}

template <int k>
[[gnu::always_inline]] inline Pack square(const double* a) {
  const Pack first = get(a, 0);
  return fma(first + first, get(a, k), inner_square<k>(a));
}

/// Σ j a_j b_{k−j}, j = 1 … k, from the row of j a_j.
template <int k>
[[gnu::always_inline]] inline Pack rate_product(const double* rate, const double* b) {
  return fma(get(rate, k), get(b, 0), inner<k>(rate, b));
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
  const auto swapped = (q & 1) != zero;
  const V ones = all(1), minus = all(-1);
  const auto sine_down = (q & 2) != zero, cosine_down = ((q + 1) & 2) != zero;
  sine = (swapped ? c : s) * (sine_down ? minus : ones);
  cosine = (swapped ? s : c) * (cosine_down ? minus : ones);
  const unsigned beyond = Simd::bits(~below(modulus(a), all(large)));
  for (int lane = 0; beyond != 0 && lane < width; ++lane) {
    if ((beyond >> lane & 1) == 0) continue;
    sine[lane] = __builtin_sin(a[lane]);
    cosine[lane] = __builtin_cos(a[lane]);
  }
}

/// 1 − tanh² a (core/equations/function.hpp).
inline V hyperbolic_slope(const V& a) {
  const V e = apply(SeriesOperation::Function::exp, all(-2) * modulus(a));
  return all(4) * e / ((all(1) + e) * (all(1) + e));
}

/// An operation at the beginning of the series, of the vector that stands so many lanes from the first.
inline void work_out_first(const SeriesOperation& op, int at) {
  using Kind = SeriesOperation::Kind;
  using Function = SeriesOperation::Function;
  double* const r = op.result + at;
  double* const other = op.other + at;
  const V a = load(op.a + at);
  const auto invert = [&](const V& divisor) {
    const V inverse = all(1) / divisor;
    store(op.inverse + at, inverse);
    return inverse;
  };
  switch (op.kind) {
    case Kind::sum: {
      V total = load(op.fixed + at);
      const SeriesTerm* term = op.terms;
      const SeriesTerm* const products = term + op.linear;
      const SeriesTerm* const end = products + op.products + op.squares;
      for (; term != products; ++term) total = fma(load(term->a + at), load(term->factor + at), total);
      for (; term != end; ++term)
        total = fma(load(term->a + at) * load(term->b + at), load(term->factor + at), total);
      store(r, total);
      break;
    }
    case Kind::quotient:
      store(r, a / load(op.b + at));
      invert(load(op.b + at));
      break;
    case Kind::reciprocal:
      store(r, invert(a));
      break;
    case Kind::root:
      store(r, Simd::sqrt(a));
      invert(load(r) + load(r));
      break;
    case Kind::power:
      store(r, power(a, load(op.fixed + at)));
      invert(a);
      break;
    case Kind::exponential:
      store(r, apply(Function::exp, a));
      break;
    case Kind::sine:
    case Kind::harmonic: {
      V sine, cosine;
      sine_cosine(a, sine, cosine);
      store(r, sine);
      store(other, cosine);
      break;
    }
    case Kind::hyperbolic_sine:
      store(r, apply(Function::sinh, a));
      store(other, apply(Function::cosh, a));
      break;
    case Kind::tangent:
    case Kind::hyperbolic_tangent: {
      const V value = apply(op.function, a);
      store(r, value);
      store(other, op.kind == Kind::tangent ? all(1) + value * value : hyperbolic_slope(a));
      break;
    }
    case Kind::antiderivative:
      store(r, apply(op.function, a));
      invert(load(op.b + at));
      break;
  }
}

/// Coefficient k > 0 of a sum.
template <int k>
[[gnu::always_inline]] inline void add_up(const SeriesOperation& op) {
  Pack total = both(0);
  const SeriesTerm* term = op.terms;
  const SeriesTerm* end = term + op.linear;
  for (; term != end; ++term) total = fma(get(term->a, k), load_pack(term->factor), total);
  for (end += op.products; term != end; ++term)
    total = fma(product<k>(term->a, term->b), load_pack(term->factor), total);
  for (end += op.squares; term != end; ++term)
    total = fma(square<k>(term->a), load_pack(term->factor), total);
  put(op.result, k, total);
}

/// … of another operation.
template <int k>
inline void work_out(const SeriesOperation& op) {
  using Kind = SeriesOperation::Kind;
  double* const r = op.result;
  double* const other = op.other;
  double* const rate = op.rate;
  const double* const a = op.a;
  const double* const b = op.b;
  const auto inverse = [&] { return get(op.inverse, 0); };
  const auto keep_rate = [&](const double* of) { put(rate, k, get(of, k) * both(k)); };
  const Pack share = both(part_of[k]);
  switch (op.kind) {
    case Kind::sum:
      add_up<k>(op);
      break;
    case Kind::quotient:
      put(r, k, (get(a, k) - fma(get(b, k), get(r, 0), inner<k>(b, r))) * inverse());
      break;
    case Kind::reciprocal:
      put(r, k, -fma(get(a, k), get(r, 0), inner<k>(a, r)) * inverse());
      break;
    case Kind::root:
      put(r, k, (get(a, k) - inner_square<k>(r)) * inverse());
      break;
    case Kind::power: {
      const Pack p = load_pack(op.fixed), more = p + both(1);
      Pack sum = both(0);
      for (int j = 1; j <= k; ++j) sum = fma(fma(more, both(j), both(-k)) * get(a, j), get(r, k - j), sum);
      put(r, k, sum * inverse() * share);
      break;
    }
    case Kind::harmonic: {
      const Pack turn = get(a, 1) * share;
      put(r, k, turn * get(other, k - 1));
      put(other, k, -turn * get(r, k - 1));
      break;
    }
    case Kind::exponential:
      keep_rate(a);
      put(r, k, rate_product<k>(rate, r) * share);
      break;
    case Kind::sine:
    case Kind::hyperbolic_sine:
    case Kind::tangent:
    case Kind::hyperbolic_tangent: {
      keep_rate(a);
      put(r, k, rate_product<k>(rate, other) * share);
      const bool slope = op.kind == Kind::tangent || op.kind == Kind::hyperbolic_tangent;
      const Pack second = slope ? square<k>(r) : rate_product<k>(rate, r) * share;
      const bool falls = op.kind == Kind::sine || op.kind == Kind::hyperbolic_tangent;
      put(other, k, falls ? -second : second);
      break;
    }
    case Kind::antiderivative: {
      // The rate of r is known up to k − 1 only: what it stands beside in a product is b_0.
      put(r, k, fma(get(a, k), both(k), -inner<k>(rate, b)) * inverse() * share);
      keep_rate(r);
      break;
    }
  }
}

/// The results of a list at a point, its inputs being there, of one vector.
inline void evaluate_first(const SeriesList& list, int at) {
  for (int i = 0; i < list.count; ++i) work_out_first(list.operations[i], at);
}

/// Coefficient k > 0 of them.
template <int k>
void evaluate(const SeriesList& list) {
  const SeriesOperation* op = list.operations;
  for (const SeriesOperation* const end = op + list.count; op != end; ++op) {
    if (k < 2 || !op->in_time) work_out<k>(*op);
  }
}

/// Coefficient k + 1 of the changes of the states, v' = J v.
template <int k>
void expand_changes(const SeriesBatch& batch, long stride) {
  const Pack share = both(part_of[k + 1]);
  const SeriesSlope* const end = batch.slopes + batch.slope_count;
  const int states = batch.states;
  double* v = batch.change_series;
  for (int t = batch.tangents; t > 0; --t, v += states * stride) {
    const SeriesSlope* slope = batch.slopes;
    for (int s = 0; s < states; ++s) {
      Pack rate = both(0);
      for (; slope != end && slope->of == s; ++slope) {
        const double* const by = v + slope->by * stride;
        if (slope->series == nullptr) {
          rate = fma(get(by, k), load_pack(slope->fixed), rate);
        } else if constexpr (k == 0) {
          rate = fma(get(by, 0), get(slope->series, 0), rate);
        } else {
          rate = rate + product<k>(slope->series, by);
        }
      }
      put(v + s * stride, k + 1, rate * share);
    }
  }
}

/// What is done for one order.
struct Order {
  void (*evaluate)(const SeriesList& list);
  void (*expand_changes)(const SeriesBatch& batch, long stride);
};

class Orders {
 public:
  static const Order& of(int k) { return table(Count<highest>{})[k - 1]; }

 private:
  static constexpr int highest = 20;
  template <int... k>
  static const Order* table(Count<0, k...>) {
    static constexpr Order list[] = {{&graze::evaluate<k + 1>, &graze::expand_changes<k + 1>}...};
    return list;
  }
};

}  // namespace
}  // namespace graze
