/// Vectors of the kernels for any processor: two lanes, as every compiler knows them.
#pragma once

namespace graze {
namespace {

struct Simd {
  using Vector = double __attribute__((vector_size(16)));
  struct Mask {
    decltype(Vector{} < Vector{}) bits;
    friend Mask operator&(const Mask& a, const Mask& b) { return {a.bits & b.bits}; }
    friend Mask operator|(const Mask& a, const Mask& b) { return {a.bits | b.bits}; }
    friend Mask operator~(const Mask& a) { return {~a.bits}; }
  };
  static constexpr int width = 2;
  static Vector all(double a) { return Vector{a, a}; }
  static Mask less(const Vector& a, const Vector& b) { return {a < b}; }
  static Mask same(const Vector& a, const Vector& b) { return {a == b}; }
  static Vector pick(const Mask& m, const Vector& a, const Vector& b) { return m.bits ? a : b; }
  static Mask mask(unsigned bits) {
    return {decltype(Mask::bits){-static_cast<long>(bits & 1u), -static_cast<long>(bits >> 1)}};
  }
  static unsigned bits(const Mask& m) { return (m.bits[0] != 0 ? 1u : 0u) | (m.bits[1] != 0 ? 2u : 0u); }
  static Vector fma(const Vector& a, const Vector& b, const Vector& c) { return a * b + c; }
  static Vector sqrt(const Vector& a) { return Vector{__builtin_sqrt(a[0]), __builtin_sqrt(a[1])}; }
  static Vector halves(const double* a, const double* b) { return Vector{*a, *b}; }
};

}  // namespace
}  // namespace graze
