/// Logarithms to base 2 that are off by less than 0.09, linear between powers of two: enough where a root of
/// high order is drawn. Of a number, or of a vector of them; Whole: as many whole numbers of 64 bits. Always
/// inline: no copy that was compiled for one kind of processor is shared with others.
#pragma once

#include <cstdint>
#include <type_traits>

namespace graze {

template <class To, class From>
[[gnu::always_inline]] inline To converted(const From& a) {
  if constexpr (std::is_arithmetic_v<To>) {
    return static_cast<To>(a);
  } else {
    return __builtin_convertvector(a, To);
  }
}

/// Of a ≥ 0; −1023 of 0.
template <class Whole = std::int64_t, class V>
[[gnu::always_inline]] inline V rough_logarithm(const V& a) {
  return converted<V>(__builtin_bit_cast(Whole, a)) * 0x1p-52 - 1023.0;
}

/// Its inverse, between −1022 and 1023.
template <class Whole = std::int64_t, class V>
[[gnu::always_inline]] inline V rough_power(const V& logarithm) {
  return __builtin_bit_cast(V, converted<Whole>((logarithm + 1023.0) * 0x1p52));
}

}  // namespace graze
