/// Sums of products of dual numbers in many directions, with the vectors that the processor has.
#pragma once

#include <cstddef>

#include "core/math/dual.hpp"

namespace graze {

/// Directions carried in one pass while parameters vary: whole vectors of any processor.
inline constexpr int wide_directions = 12;
using WideDual = Dual<wide_directions>;

/// sum = t Σ_j a_j b_j over `count` numbers, those of a `stride` apart. The same to the last bit on every
/// processor: directions do not meet each other, and nothing is fused. `sum` is none of the others.
using WideSum = void (*)(const WideDual* a, std::ptrdiff_t stride, const WideDual* b, std::ptrdiff_t count,
                         double t, WideDual& sum);
extern const WideSum wide_sum;

}  // namespace graze
