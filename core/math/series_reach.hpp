/// How far the argument of a function may move on a step that is chosen by the last coefficients of its
/// series.
///
/// These coefficients do not tell what is too small to be seen where the step begins and is not any more
/// where it ends: tanh(1000 v) is 1 to all digits and turns nevertheless, exp(1000 x) may come out of
/// nothing, sqrt(x^2 + 1e-20) has its corner. On arguments that move no further than this they do.
#pragma once

#include <algorithm>
#include <cmath>

namespace graze {

enum class Reach : signed char { exponential, saturation, pole };

/// Greatest Σ_{k>0} |a_k| h^k, for series up to this order n.
/// exponential  exp: n, as the last term of e^n is 1/√(2πn) of it: while that is not seen, nothing is.
/// Further
///              where it stays below e^-100 all the way.
/// saturation   tanh, whose distance from ±1 is 2 exp(−2|a|): half of that
/// pole         what is divided by, or has a power that is no integer: 3 |a_0|, just to where
///              (1 − s)² is 0; the radius of 1 − s is seen anyway
inline double reach_of(Reach reach, double argument, int order) {
  constexpr double unseen = 100;
  switch (reach) {
    case Reach::exponential:
      return std::max<double>(order, -argument - unseen);
    case Reach::saturation:
      return std::max<double>(order, 2 * std::abs(argument) - unseen) / 2;
    case Reach::pole:
      break;
  }
  return 3 * std::abs(argument);
}

}  // namespace graze
