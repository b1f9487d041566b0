/// Logarithms to base 2 that are off by less than 0.09, linear between powers of two: enough where a root of
/// high order is drawn. Of a number, or of a vector of them; Whole: as many whole numbers of 64 bits, of a
/// vector unsigned ones. Always inline: no copy that was compiled for one kind of processor is shared with
/// others.
#pragma once

#include <cstdint>
#include <type_traits>

namespace graze {

/// A whole number ≥ 0, rounded. Vectors without an instruction for it do so in halves, both exact.
template <class V, class Whole>
[[gnu::always_inline]] inline V rounded(const Whole& a) {
  if constexpr (std::is_arithmetic_v<V>) {
    return static_cast<V>(a);
  } else {
#ifdef __AVX512DQ__
    return __builtin_convertvector(a, V);
#else
    const V high = __builtin_bit_cast(V, (a >> 32) | __builtin_bit_cast(std::uint64_t, 0x1p84));
    const V low = __builtin_bit_cast(V, (a & 0xffffffff) | __builtin_bit_cast(std::uint64_t, 0x1p52));
    return (high - (0x1p84 + 0x1p52)) + low;
#endif
  }
}

/// The whole number that a number from 2^52 to 2^63 is.
template <class Whole, class V>
[[gnu::always_inline]] inline Whole whole(const V& a) {
  if constexpr (std::is_arithmetic_v<V>) {
    return static_cast<Whole>(a);
  } else {
#ifdef __AVX512DQ__
    return __builtin_convertvector(a, Whole);
#else
    const V high = a + 0x1p84;
    const V low = (a - (high - 0x1p84)) + 0x1.8p52;
    return (__builtin_bit_cast(Whole, high) << 32) + __builtin_bit_cast(Whole, low) -
           __builtin_bit_cast(std::uint64_t, 0x1.8p52);
#endif
  }
}

/// Of a ≥ 0; −1023 of 0.
template <class Whole = std::int64_t, class V>
[[gnu::always_inline]] inline V rough_logarithm(const V& a) {
  return rounded<V>(__builtin_bit_cast(Whole, a)) * 0x1p-52 - 1023.0;
}

/// Its inverse, between −1022 and 1023.
template <class Whole = std::int64_t, class V>
[[gnu::always_inline]] inline V rough_power(const V& logarithm) {
  return __builtin_bit_cast(V, whole<Whole>((logarithm + 1023.0) * 0x1p52));
}

}  // namespace graze
