#include "core/root_search.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

namespace graze {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t max_terms = 32;

struct ValueAndSlope {
  double value;
  double slope;
};

/// p(s) = E(s²) + s O(s²): even and odd terms in two chains side by side, half as long as Horner's one.
ValueAndSlope evaluate(std::span<const double> c, double s) {
  const double u = s * s;
  double even = 0, odd = 0, even_slope = 0, odd_slope = 0;
  std::size_t k = c.size();
  if (k % 2 == 1) even = c[--k];
  while (k >= 2) {
    k -= 2;
    odd_slope = odd_slope * u + odd;
    odd = odd * u + c[k + 1];
    even_slope = even_slope * u + even;
    even = even * u + c[k];
  }
  return {even + s * odd, 2 * s * even_slope + odd + 2 * u * odd_slope};
}

/// Bound of |p''| on [0, end].
double curvature_bound(std::span<const double> c, double end) {
  double bound = 0;
  for (std::size_t k = c.size(); k-- > 2;) {
    bound = bound * end + static_cast<double>(k * (k - 1)) * std::abs(c[k]);
  }
  return bound;
}

}  // namespace

double polynomial(std::span<const double> c, double s) { return evaluate(c, s).value; }

double polynomial_slope(std::span<const double> c, double s) { return evaluate(c, s).slope; }

double polynomial_curvature(std::span<const double> c, double s) {
  double value = 0;
  for (std::size_t k = c.size(); k-- > 2;) value = value * s + static_cast<double>(k * (k - 1)) * c[k];
  return value;
}

std::optional<double> first_zero(std::span<const double> c, double end) {
  if (c[0] <= 0) return 0.0;
  const double m = curvature_bound(c, end);
  double s = 0;
  ValueAndSlope p{c[0], c[1]};
  while (true) {
    // Zero of the lower bound, in the form that does not cancel for either sign of the slope.
    const double root = std::sqrt(p.slope * p.slope + 2 * m * p.value);
    const double step = p.slope < 0 ? 2 * p.value / (root - p.slope) : (root + p.slope) / m;
    if (!(s + step <= end)) return std::nullopt;  // also when m = 0 and the slope is not negative
    s += step;
    if (step <= 2 * epsilon * s) return s;
    p = evaluate(c, s);
    if (p.value <= 0) return s;
  }
}

std::optional<double> first_minimum(std::span<const double> c, double end) {
  double negated_slope[max_terms];
  const std::size_t n = c.size() - 1;
  for (std::size_t k = 0; k < n; ++k) negated_slope[k] = -static_cast<double>(k + 1) * c[k + 1];
  if (negated_slope[0] <= 0) return std::nullopt;
  return first_zero({negated_slope, n}, end);
}

}  // namespace graze
