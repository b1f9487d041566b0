/// Units in which numbers are told, without rounding.
#pragma once

#include <cmath>
#include <cstdlib>

namespace graze {

/// A power of two near a size; 1 of what is between 1/32 and 64, and of what is no size: 0, not finite.
inline double unit_near(double size) {
  constexpr int enough = 5;
  const int exponent = size > 0 && std::isfinite(size) ? std::ilogb(size) : 0;
  return std::abs(exponent) <= enough ? 1 : std::scalbn(1.0, exponent);
}

}  // namespace graze
