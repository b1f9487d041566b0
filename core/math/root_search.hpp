/// The certified search for the next event: the first zero of a polynomial, tangencies included.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace graze {

/// First zero in (0, end] of  p(s) = c[0] + c[1] s + c[2] s² + …,  p positive just after 0.
///
/// Zeros at s = 0 that are known exactly (a contact that was just left) are to be divided out before, so
/// the search neither finds them again nor loses digits next to them. From each s the search goes on by
/// the zero of the lower bound p(s) + p'(s) h − M h²/2 with |p''| ≤ M on [0, 1]: no step can jump over a
/// zero, and the last steps converge quadratically. The first steps are taken on a quartic that stays below
/// p. A leading coefficient that is not positive (a guard already at its zero and not leaving) gives 0.
///
/// @param c    coefficients, c.size() >= 2
/// @param end  end of the interval, 0 < end <= 1
/// @return the zero to rounding, or nothing when p > 0 on (0, end]
std::optional<double> first_zero(std::span<const double> c, double end);

/// First local minimum of p on (0, end) (p' from negative to positive), if any; same search on p'.
std::optional<double> first_minimum(std::span<const double> c, double end);

/// Zeros of p' in (0, 1), in order, told from rounding of its terms; same search.
std::vector<double> stationary_points(std::span<const double> c);

/// Coefficients of p(from + length u) in u.
std::vector<double> polynomial_part(std::vector<double> c, double from, double length);
/// ∫ p(s) q(s) ds over [0, 1].
double product_integral(std::span<const double> p, std::span<const double> q);

/// Σ |c_k| from k = first on: a bound of these terms on [0, 1].
double sum_of_moduli(std::span<const double> c, std::size_t first = 0);

/// p(s).
double polynomial(std::span<const double> c, double s);
/// p'(s).
double polynomial_slope(std::span<const double> c, double s);
/// p''(s).
double polynomial_curvature(std::span<const double> c, double s);

}  // namespace graze
