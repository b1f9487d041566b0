/// What analyses that follow curves over two parameters have in common: keys, and what became of their
/// starts.
#pragma once

#include <string>
#include <vector>

#include "analysis/continuation/curve_set.hpp"
#include "analysis/run/analysis.hpp"

namespace graze {

struct CurveSetting {
  Plane plane;
  CurveSetOptions options;
};

/// Adds axis, axis2 (with these of the keys of axes), switch, step, points, curves.
void add_curve_keys(std::vector<Key>& keys, const std::vector<std::string>& axis);

/// Reads these keys and the section. Throws InputError where from is not less than to, where both axes vary
/// one parameter, and where the orbits of the model cannot be continued.
CurveSetting read_curve_setting(const Problem& problem);

/// A start with what became of it.
struct TriedStart {
  CurveSeed seed;
  CurveFate fate;
};

/// Group `start` of a result: kind, both parameters, contact, curve, reason.
Dataset starts_data(const Plane& plane, const std::vector<TriedStart>& tried);

}  // namespace graze
