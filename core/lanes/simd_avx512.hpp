/// Vectors of the kernels for processors with AVX-512: eight lanes.
#pragma once

#include <immintrin.h>

namespace graze {
namespace {

struct Simd {
  using Vector = double __attribute__((vector_size(64)));
  struct Mask {
    __mmask8 bits;
    friend Mask operator&(Mask a, Mask b) { return {static_cast<__mmask8>(a.bits & b.bits)}; }
    friend Mask operator|(Mask a, Mask b) { return {static_cast<__mmask8>(a.bits | b.bits)}; }
    friend Mask operator~(Mask a) { return {static_cast<__mmask8>(~a.bits)}; }
  };
  static constexpr int width = 8;
  static Vector all(double a) { return _mm512_set1_pd(a); }
  static Mask less(const Vector& a, const Vector& b) { return {_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)}; }
  static Mask same(const Vector& a, const Vector& b) { return {_mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ)}; }
  static Vector pick(Mask m, const Vector& a, const Vector& b) { return _mm512_mask_blend_pd(m.bits, b, a); }
  static Mask mask(unsigned bits) { return {static_cast<__mmask8>(bits)}; }
  static unsigned bits(Mask m) { return m.bits; }
  static Vector fma(const Vector& a, const Vector& b, const Vector& c) { return _mm512_fmadd_pd(a, b, c); }
  static Vector sqrt(const Vector& a) { return _mm512_maskz_sqrt_pd(0xff, a); }
  static Vector halves(const double* a, const double* b) {
    return _mm512_maskz_insertf64x4(0xff, _mm512_castpd256_pd512(_mm256_loadu_pd(a)), _mm256_loadu_pd(b), 1);
  }
};

}  // namespace
}  // namespace graze
