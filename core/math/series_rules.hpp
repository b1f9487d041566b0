/// The rules of power series: coefficient k of a result from the coefficients up to k of its arguments and
/// the coefficients below k of itself. S may be a dual number.
#pragma once

#include <cmath>
#include <utility>

#include "core/math/dual.hpp"

namespace graze::series {

template <class S>
S total_of(const Products<S>& products) {
  S total;
  products.store(1, total);
  return total;
}

/// Σ a_j b_{k−j}, j = first … last, as two sums: neither waits for the other.
template <class S>
S convolution(const S* a, const S* b, int first, int last, int k) {
  Products<S> even, odd;
  int j = first;
  for (; j < last; j += 2) {
    even.add(a[j], b[k - j]);
    odd.add(a[j + 1], b[k - j - 1]);
  }
  if (j == last) even.add(a[j], b[k - j]);
  return total_of(even) + total_of(odd);
}

/// Σ a_j a_{k−j}, j = 1 … k − 1: each pair once.
template <class S>
S inner_square(const S* a, int k) {
  Products<S> pairs;
  for (int j = 1; 2 * j < k; ++j) pairs.add(a[j], a[k - j]);
  S sum = total_of(pairs);
  sum *= 2.0;
  if (k % 2 == 0) sum += a[k / 2] * a[k / 2];
  return sum;
}

/// a².
template <class S>
S square(const S* a, int k) {
  return k == 0 ? a[0] * a[0] : inner_square(a, k) + a[0] * a[k] * 2.0;
}

/// r = a/b.
template <class S>
S quotient(const S* a, const S* b, const S* r, int k) {
  return (a[k] - convolution(b, r, 1, k, k)) / b[0];
}

/// r = 1/b.
template <class S>
S reciprocal(const S* b, const S* r, int k) {
  return k == 0 ? S(1) / b[0] : -convolution(b, r, 1, k, k) / b[0];
}

/// r = √a, k > 0.
template <class S>
S root(const S* a, const S* r, int k) {
  return (a[k] - inner_square(r, k)) / (S(2) * r[0]);
}

/// Σ j a_j b_{k−j}, j = 1 … last: k times coefficient k of the integral of a' b.
template <class S>
S rate_convolution(const S* a, const S* b, int last, int k) {
  Products<S> sum;
  for (int j = 1; j <= last; ++j) sum.add(a[j] * static_cast<double>(j), b[k - j]);
  return total_of(sum);
}

/// r with r' = a' b, k > 0; b may be r itself.
template <class S>
S integral(const S* a, const S* b, int k) {
  return rate_convolution(a, b, k, k) / static_cast<double>(k);
}

/// The integrals of a' b and a' c, where coefficients of a behind `last` are zero: two sums in one loop,
/// neither waits for the other.
template <class S>
std::pair<S, S> integrals(const S* a, const S* b, const S* c, int last, int k) {
  Products<S> of_b, of_c;
  for (int j = 1; j <= last; ++j) {
    const S rate = a[j] * static_cast<double>(j);
    of_b.add(rate, b[k - j]);
    of_c.add(rate, c[k - j]);
  }
  return {total_of(of_b) / static_cast<double>(k), total_of(of_c) / static_cast<double>(k)};
}

/// r with r' b = a', k > 0.
template <class S>
S quotient_integral(const S* a, const S* b, const S* r, int k) {
  return (a[k] * static_cast<double>(k) - rate_convolution(r, b, k - 1, k)) / (b[0] * static_cast<double>(k));
}

/// r = a^p, k > 0, where a_0 is not zero: a r' = p a' r.
template <class S>
S power(const S* a, const S& p, const S* r, int k) {
  const S rates = p * rate_convolution(a, r, k, k) - rate_convolution(r, a, k - 1, k);
  return rates / (a[0] * static_cast<double>(k));
}

}  // namespace graze::series
