/// Located points of the result of a continuation as starts of curves.
#pragma once

#include <string>
#include <vector>

#include "analysis/continuation/curve_start.hpp"
#include "core/results/dataset.hpp"
#include "core/settings/value.hpp"

namespace graze {

struct LocatedPoint {
  CurveSeed seed;
  std::string origin;  ///< "branch 3"

  /// "grazing at 0.25 of branch 3".
  std::string text() const;
};

/// The points of a result of `continue` over one of the two parameters. Throws InputError naming the key
/// where it is no such result, of another model, or made with other values of further parameters.
std::vector<LocatedPoint> located_points(const Dataset& branches, const Plane& plane, const Value& key);

}  // namespace graze
