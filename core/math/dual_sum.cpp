#include "core/math/dual_sum.hpp"

namespace graze {
namespace {

/// So many neighbouring directions of a dual number.
template <int Width>
struct Directions {
  using Vector [[gnu::vector_size(8 * Width), gnu::aligned(8), gnu::may_alias]] = double;
};

// A macro, as the compiler writes vectors for the processor of the function that they stand in.
#define GRAZE_WIDE_SUM(width)                                                      \
  using Vector = Directions<width>::Vector;                                        \
  constexpr int vectors = wide_directions / width;                                 \
  Vector slopes[vectors] = {};                                                     \
  double value = 0;                                                                \
  for (; count-- > 0; a += stride, ++b) {                                          \
    const Vector* da = reinterpret_cast<const Vector*>(a->slope.data());           \
    const Vector* db = reinterpret_cast<const Vector*>(b->slope.data());           \
    _Pragma("GCC unroll 8") for (int k = 0; k < vectors; ++k) {                    \
      slopes[k] += da[k] * b->value + db[k] * a->value;                            \
    }                                                                              \
    value += a->value * b->value;                                                  \
  }                                                                                \
  Vector* to = reinterpret_cast<Vector*>(sum.slope.data());                        \
  _Pragma("GCC unroll 8") for (int k = 0; k < vectors; ++k) to[k] = slopes[k] * t; \
  sum.value = value * t

void sum_in_pairs(const WideDual* a, std::ptrdiff_t stride, const WideDual* b, std::ptrdiff_t count, double t,
                  WideDual& sum) {
  GRAZE_WIDE_SUM(2);
}

#ifdef __x86_64__
[[gnu::target("avx")]] void sum_in_fours(const WideDual* a, std::ptrdiff_t stride, const WideDual* b,
                                         std::ptrdiff_t count, double t, WideDual& sum) {
  GRAZE_WIDE_SUM(4);
}

WideSum best() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx") ? sum_in_fours : sum_in_pairs;
}
#else
WideSum best() { return sum_in_pairs; }
#endif

#undef GRAZE_WIDE_SUM

}  // namespace

const WideSum wide_sum = best();

}  // namespace graze
