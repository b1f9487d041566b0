/// The functions of expressions, of every kind of number.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/math/dual.hpp"

namespace graze {

enum class Function : signed char { sqrt, exp, log, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh };

/// In the order of the enumeration.
const std::vector<std::string>& function_names();
std::optional<Function> function_named(std::string_view name);

inline double apply(Function f, double a) {
  switch (f) {
    case Function::sqrt:
      return std::sqrt(a);
    case Function::exp:
      return std::exp(a);
    case Function::log:
      return std::log(a);
    case Function::sin:
      return std::sin(a);
    case Function::cos:
      return std::cos(a);
    case Function::tan:
      return std::tan(a);
    case Function::asin:
      return std::asin(a);
    case Function::acos:
      return std::acos(a);
    case Function::atan:
      return std::atan(a);
    case Function::sinh:
      return std::sinh(a);
    case Function::cosh:
      return std::cosh(a);
    case Function::tanh:
      return std::tanh(a);
  }
  return a;
}

/// 1 − tanh² a, to its last digits also where tanh a is 1 but for rounding: what is left there grows again.
inline double hyperbolic_slope(double a) {
  const double e = std::exp(-2 * std::abs(a));
  return 4 * e / ((1 + e) * (1 + e));
}
template <int N>
Dual<N> hyperbolic_slope(const Dual<N>& a) {
  const double slope = hyperbolic_slope(a.value);
  return chain(a, slope, -2 * std::tanh(a.value) * slope);
}

/// df/da.
inline double slope(Function f, double a) {
  switch (f) {
    case Function::sqrt:
      return 0.5 / std::sqrt(a);
    case Function::exp:
      return std::exp(a);
    case Function::log:
      return 1 / a;
    case Function::sin:
      return std::cos(a);
    case Function::cos:
      return -std::sin(a);
    case Function::tan:
      return 1 + std::tan(a) * std::tan(a);
    case Function::asin:
      return 1 / std::sqrt(1 - a * a);
    case Function::acos:
      return -1 / std::sqrt(1 - a * a);
    case Function::atan:
      return 1 / (1 + a * a);
    case Function::sinh:
      return std::cosh(a);
    case Function::cosh:
      return std::sinh(a);
    case Function::tanh:
      return hyperbolic_slope(a);
  }
  return 1;
}

template <int N>
Dual<N> apply(Function f, const Dual<N>& a) {
  return chain(a, apply(f, a.value), slope(f, a.value));
}

inline double to_power(double a, double p) { return std::pow(a, p); }

/// a^p; a derivative by p asks for a > 0.
template <int N>
Dual<N> to_power(const Dual<N>& a, const Dual<N>& p) {
  const double value = std::pow(a.value, p.value);
  Dual<N> result = chain(a, value, p.value == 0 ? 0 : p.value * std::pow(a.value, p.value - 1));
  if (identical(p, Dual<N>(p.value))) return result;
  const double by_exponent = value * std::log(a.value);
  for (std::size_t k = 0; k < result.slope.size(); ++k) result.slope[k] += by_exponent * p.slope[k];
  return result;
}

}  // namespace graze
