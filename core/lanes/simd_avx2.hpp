/// Vectors of the kernels for processors with AVX2 and FMA: four lanes.
#pragma once

#include <immintrin.h>

namespace graze {
namespace {

struct Simd {
  using Vector = double __attribute__((vector_size(32)));
  struct Mask {
    __m256d bits;
    friend Mask operator&(const Mask& a, const Mask& b) { return {_mm256_and_pd(a.bits, b.bits)}; }
    friend Mask operator|(const Mask& a, const Mask& b) { return {_mm256_or_pd(a.bits, b.bits)}; }
    friend Mask operator~(const Mask& a) {
      return {_mm256_xor_pd(a.bits, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)))};
    }
  };
  static constexpr int width = 4;
  static Vector all(double a) { return _mm256_set1_pd(a); }
  static Mask less(const Vector& a, const Vector& b) { return {_mm256_cmp_pd(a, b, _CMP_LT_OQ)}; }
  static Mask same(const Vector& a, const Vector& b) { return {_mm256_cmp_pd(a, b, _CMP_EQ_OQ)}; }
  static Vector pick(const Mask& m, const Vector& a, const Vector& b) {
    return _mm256_blendv_pd(b, a, m.bits);
  }
  static Mask mask(unsigned bits) {
    const __m256i own = _mm256_set_epi64x(8, 4, 2, 1),
                  given = _mm256_set1_epi64x(static_cast<long long>(bits));
    return {_mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(given, own), own))};
  }
  static unsigned bits(const Mask& m) { return static_cast<unsigned>(_mm256_movemask_pd(m.bits)); }
  static Vector fma(const Vector& a, const Vector& b, const Vector& c) { return _mm256_fmadd_pd(a, b, c); }
  static Vector sqrt(const Vector& a) { return _mm256_sqrt_pd(a); }
  static Vector halves(const double* a, const double* b) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a)), _mm_loadu_pd(b), 1);
  }
};

}  // namespace
}  // namespace graze
