/// What the kernels of the marching engine do with vectors: see core/lanes/LANES.md. Included by
/// lane_polish.hpp only, after a `Simd`.
#pragma once

#include "core/lanes/batch.hpp"

namespace graze {
namespace {

using V = Simd::Vector;
using Mask = Simd::Mask;
constexpr int width = Simd::width;
/// Whole numbers as long as those of a vector.
using Whole = unsigned long long __attribute__((vector_size(sizeof(V))));

inline V all(double a) { return Simd::all(a); }
/// Vectors wherever numbers stand. (Copied as bytes they would go in halves, and a vector that has been
/// stored in halves has to be waited for when it is loaded.)
using Anywhere [[gnu::aligned(8), gnu::may_alias]] = V;
inline V load(const double* p) { return *reinterpret_cast<const Anywhere*>(p); }
inline void store(double* p, const V& v) { *reinterpret_cast<Anywhere*>(p) = v; }
/// Row r of lanes whose row 0 is here: the rows follow at every eighth place.
inline double* row(double* base, int r) { return base + r * lanes_per_block; }
inline const double* row(const double* base, int r) { return base + r * lanes_per_block; }
inline V fma(const V& a, const V& b, const V& c) { return Simd::fma(a, b, c); }
inline V pick(const Mask& m, const V& a, const V& b) { return Simd::pick(m, a, b); }
inline Mask below(const V& a, const V& b) { return Simd::less(a, b); }
inline Mask above(const V& a, double b) { return Simd::less(all(b), a); }
inline Mask same(const V& a, const V& b) { return Simd::same(a, b); }
inline Mask is(const V& contact, int i) { return Simd::same(contact, all(i)); }
/// The second where one of them is not a number: such a lane is never clear.
inline V greater(const V& a, const V& b) { return a > b ? a : b; }
inline V smaller(const V& a, const V& b) { return a < b ? a : b; }
inline V modulus(const V& a) {
  return __builtin_bit_cast(V, __builtin_bit_cast(Whole, a) & 0x7fffffffffffffff);
}
/// One of two types.
template <bool First, class A, class B>
struct ChoiceOf {
  using Type = A;
};
template <class A, class B>
struct ChoiceOf<false, A, B> {
  using Type = B;
};
template <bool First, class A, class B>
using Choice = typename ChoiceOf<First, A, B>::Type;
/// The numbers 0 … n − 1.
template <int n, int... e>
struct Count : Count<n - 1, n - 1, e...> {};
template <int... e>
struct Count<0, e...> {};
/// Blocks of `Half` values change places between two vectors.
template <int Half, int... e>
[[gnu::always_inline]] inline void exchange(V& a, V& b, Count<0, e...>) {
  const V first = __builtin_shufflevector(a, b, ((e & Half) == 0 ? e : Simd::width + e - Half)...);
  b = __builtin_shufflevector(a, b, ((e & Half) == 0 ? e + Half : Simd::width + e)...);
  a = first;
}
/// Blocks of so many, then of half as many … down to single values, in vectors that far from each other.
template <int Half>
[[gnu::always_inline]] inline void exchange_all(V* v) {
  if constexpr (Half > 0) {
#pragma GCC unroll 8
    for (int k = 0; k < Simd::width; ++k) {
      if ((k & Half) == 0) exchange<Half>(v[k], v[k + Half], Count<Simd::width>{});
    }
    exchange_all<Half / 2>(v);
  }
}
/// One value of all lanes in each vector, from where those of each lane stand one after the other.
[[gnu::always_inline]] inline void transpose(const double* const* lanes, int from, V* v) {
  constexpr int half = Simd::width / 2;
#pragma GCC unroll 8
  for (int j = 0; j < half; ++j) {  // what exchanging the greatest blocks would make
    const double *one = lanes[j] + from, *other = lanes[j + half] + from;
    v[j] = Simd::halves(one, other);
    v[j + half] = Simd::halves(one + half, other + half);
  }
  exchange_all<half / 2>(v);
}
inline bool any(const Mask& m) { return Simd::bits(m) != 0; }

}  // namespace
}  // namespace graze
