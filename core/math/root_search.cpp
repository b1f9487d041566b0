#include "core/math/root_search.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>
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
template <std::size_t Terms>
ValueAndSlope evaluate(std::span<const double, Terms> c, double s) {
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

/// k (k − 1).
constexpr std::array<double, max_terms> curvature_weights = [] {
  std::array<double, max_terms> weights{};
  for (std::size_t k = 1; k < max_terms; ++k) weights[k] = static_cast<double>(k * (k - 1));
  return weights;
}();

/// Bound of |p''| on [0, 1].
template <std::size_t Terms>
double curvature_bound(std::span<const double, Terms> c) {
  using Row = Eigen::Map<const Eigen::ArrayXd>;
  const auto count = static_cast<Eigen::Index>(c.size());
  return (Row(c.data(), count).abs() * Row(curvature_weights.data(), count)).sum();
}

}  // namespace

double polynomial(std::span<const double> c, double s) { return evaluate(c, s).value; }

double polynomial_slope(std::span<const double> c, double s) { return evaluate(c, s).slope; }

double polynomial_curvature(std::span<const double> c, double s) {
  double value = 0;
  for (std::size_t k = c.size(); k-- > 2;) value = value * s + static_cast<double>(k * (k - 1)) * c[k];
  return value;
}

namespace {

/// Bound of |p''| on [0, r].
template <std::size_t Terms>
double curvature_bound_to(std::span<const double, Terms> c, double r) {
  double bound = 0;
  for (std::size_t k = c.size(); k-- > 2;) bound = bound * r + curvature_weights[k] * std::abs(c[k]);
  return bound;
}

/// Way to the zero of the lower bound p + p' h − M h²/2, in the form that does not cancel for either sign of
/// p'.
struct Step {
  double m, root, length;
  Step(const ValueAndSlope& p, double bound)
      : m(bound),
        root(std::sqrt(p.slope * p.slope + 2 * m * p.value)),
        length(p.slope < 0 ? 2 * p.value / (root - p.slope) : (root + p.slope) / m) {}
  /// Whether it is below this share of the way s to its end, or the next one would be: that is no more than
  /// m step² over the slope, which is near root.
  bool ends(double s, double share) const {
    return length <= share * s || m * length * length <= share * s * root;
  }
};

/// From s on, where p > 0, towards the first zero of p on [s, end], never past it; stops when a step is
/// below `share` of the way. Nothing: no zero.
///
/// Where p is as good as zero at first and grows with a high power, steps of the bound M on [0, 1] would be
/// as short as p is small, all the way: then M on [0, 2 s] leads on, in steps of the size of s.
template <std::size_t Terms>
std::optional<double> march(std::span<const double, Terms> c, double s, double end, double share) {
  constexpr int usual = 30;
  const double m = curvature_bound(c);
  ValueAndSlope p = evaluate(c, s);
  for (int steps = 0; p.value > 0; ++steps) {
    Step step(p, m);
    if (!(s + step.length <= end)) return std::nullopt;  // also when m = 0 and the slope is not negative
    const bool crawls = steps > usual || (p.slope >= 0 && step.ends(s + step.length, share));
    if (crawls && s > 0 && 2 * s < end) {
      step = Step(p, curvature_bound_to(c, 2 * s));
      if (!(step.length < s)) {
        s *= 2;
        p = evaluate(c, s);
        continue;
      }
    }
    s += step.length;
    if (step.ends(s, share)) return s;
    p = evaluate(c, s);
  }
  return s;
}

using Quartic = std::array<double, 5>;

/// Whether it is positive on [0, 1] for certain, rounding included: its coefficients in Bernstein's form are.
bool stays_positive(const Quartic& c) {
  const double second = c[0] + c[1] / 4;
  const double third = c[0] + c[1] / 2 + c[2] / 6;
  const double fourth = c[0] + (c[1] * 3 + c[2] * 2 + c[3]) / 4;
  const double last = c[0] + c[1] + c[2] + c[3] + c[4];
  const double size = std::abs(c[0]) + std::abs(c[1]) + std::abs(c[2]) + std::abs(c[3]) + std::abs(c[4]);
  return std::min({c[0], second, third, fourth, last}) > 8 * epsilon * size;
}

}  // namespace

double sum_of_moduli(std::span<const double> c, std::size_t first) {
  const auto count = static_cast<Eigen::Index>(c.size() - first);
  return Eigen::Map<const Eigen::ArrayXd>(c.data() + first, count).abs().sum();
}

std::optional<double> first_zero(std::span<const double> c, double end) {
  if (c[0] <= 0) return 0.0;
  // A polynomial below p with few terms: the higher ones at their worst.
  Quartic below{};
  std::copy_n(c.begin(), std::min(below.size(), c.size()), below.begin());
  if (c.size() > below.size()) below.back() -= sum_of_moduli(c, below.size());
  if (stays_positive(below)) return std::nullopt;
  if (c.size() <= below.size()) return march(c, 0, end, 2 * epsilon);
  // Most of the way on that.
  const auto near = march(std::span<const double, below.size()>(below), 0, end, 1e-3);
  return near ? march(c, *near, end, 2 * epsilon) : std::nullopt;
}

std::optional<double> first_minimum(std::span<const double> c, double end) {
  double negated_slope[max_terms];
  if (c.size() < 2 || c[1] >= 0) return std::nullopt;
  const std::size_t n = c.size() - 1;
  for (std::size_t k = 0; k < n; ++k) negated_slope[k] = -static_cast<double>(k + 1) * c[k + 1];
  return first_zero({negated_slope, n}, end);
}

std::vector<double> stationary_points(std::span<const double> c) {
  constexpr double rounding = 1e-14;
  std::vector<double> slope(c.size() > 1 ? c.size() - 1 : 0), places;
  for (std::size_t k = 0; k < slope.size(); ++k) slope[k] = static_cast<double>(k + 1) * c[k + 1];
  const double size = sum_of_moduli(slope);
  double from = 0;
  for (std::size_t zeros = 0; zeros < c.size(); ++zeros) {
    std::vector<double> rest = polynomial_part(slope, from, 1 - from);
    std::size_t known = from > 0 ? 1 : 0;  // zeros at its beginning
    while (known + 2 < rest.size() && std::abs(rest[known]) <= rounding * size) ++known;
    if (known >= rest.size()) break;
    std::span<double> p(rest.begin() + static_cast<std::ptrdiff_t>(known), rest.end());
    if (p.front() == 0) break;
    if (p.front() < 0) {
      for (double& a : p) a = -a;
    }
    const auto zero = first_zero(p, 1);
    if (!zero) break;
    const double next = from + *zero * (1 - from);
    if (!(next > from && next < 1)) break;
    from = next;
    places.push_back(from);
  }
  return places;
}

std::vector<double> polynomial_part(std::vector<double> c, double from, double length) {
  for (std::size_t done = 0; from != 0 && done + 1 < c.size(); ++done) {
    for (std::size_t k = c.size() - 1; k-- > done;) c[k] += from * c[k + 1];
  }
  double power = 1;
  for (double& a : c) {
    a *= power;
    power *= length;
  }
  return c;
}

double product_integral(std::span<const double> p, std::span<const double> q) {
  double sum = 0;
  for (std::size_t j = p.size(); j-- > 0;) {
    for (std::size_t k = q.size(); k-- > 0;) sum += p[j] * q[k] / static_cast<double>(j + k + 1);
  }
  return sum;
}

}  // namespace graze
