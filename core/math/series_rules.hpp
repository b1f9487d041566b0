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

/// Σ a_j b_{k−j}, j = 1 … k − 1, as two sums: neither waits for the other.
template <class S>
S inner(const S* a, const S* b, int k) {
  Products<S> odd, even;
  int j = 1;
  for (; j + 1 < k; j += 2) {
    odd.add(a[j], b[k - j]);
    even.add(a[j + 1], b[k - j - 1]);
  }
  if (j < k) odd.add(a[j], b[k - j]);
  return total_of(odd) + total_of(even);
}

/// a b.
template <class S>
S product(const S* a, const S* b, int k) {
  if (k == 0) return a[0] * b[0];
  Products<S> newest;
  newest.add(a[k], b[0]);
  newest.add(a[0], b[k]);
  return inner(a, b, k) + total_of(newest);
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

/// r = a/b, k > 0, with 1/b_0.
template <class S>
S quotient(const S* a, const S* b, const S* r, const S& inverse, int k) {
  return (a[k] - (inner(b, r, k) + b[k] * r[0])) * inverse;
}

/// r = 1/b, k > 0, with 1/b_0.
template <class S>
S reciprocal(const S* b, const S* r, const S& inverse, int k) {
  return -((inner(b, r, k) + b[k] * r[0]) * inverse);
}

/// r = √a, k > 0, with 1/(2 r_0).
template <class S>
S root(const S* a, const S* r, const S& inverse, int k) {
  return (a[k] - inner_square(r, k)) * inverse;
}

/// k a_k.
template <class S>
S rate(const S* a, int k) {
  return a[k] * static_cast<double>(k);
}

/// r with r' = a' b, k > 0, from the rates k a_k; b may be r itself.
template <class S>
S integral(const S* rates, const S* b, int k) {
  return (inner(rates, b, k) + rates[k] * b[0]) * (1.0 / k);
}

/// The integrals of a' b and a' c: sums in one loop, neither waits for another.
template <class S>
std::pair<S, S> integrals(const S* rates, const S* b, const S* c, int k) {
  Products<S> of_b, of_c;
  for (int j = 1; j <= k; ++j) {
    of_b.add(rates[j], b[k - j]);
    of_c.add(rates[j], c[k - j]);
  }
  const double share = 1.0 / k;
  return {total_of(of_b) * share, total_of(of_c) * share};
}

/// Sine and cosine of an angle a whose coefficients from the second order on are zero, k > 0.
template <class S>
void turn(const S* a, S* sine, S* cosine, int k) {
  const S angle = a[1] * (1.0 / k);
  sine[k] = angle * cosine[k - 1];
  cosine[k] = -(angle * sine[k - 1]);
}

/// r with r' b = a', k > 0, from the rates of r up to k − 1, with 1/b_0.
template <class S>
S quotient_integral(const S* a, const S* b, const S* rates, const S& inverse, int k) {
  return (rate(a, k) - inner(rates, b, k)) * inverse * (1.0 / k);
}

/// r = a^p, k > 0, with 1/a_0, which is not zero: a r' = p a' r, so that
/// k a_0 r_k = Σ ((p + 1) j − k) a_j r_{k−j}, j = 1 … k.
template <class S>
S power(const S* a, const S* rates, const S& p, const S* r, const S& inverse, int k) {
  const S weighed = (inner(rates, r, k) + rates[k] * r[0]) * (p + S(1));
  const S plain = (inner(a, r, k) + a[k] * r[0]) * static_cast<double>(k);
  return (weighed - plain) * inverse * (1.0 / k);
}

}  // namespace graze::series
