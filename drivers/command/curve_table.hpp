/// Curves over two parameters and their points of codimension two as text.
#pragma once

#include <string>

#include "core/results/dataset.hpp"

namespace graze {

/// Whether this is the result of an analysis of curves.
bool has_curves(const Dataset& data);

/// For readers: curves with their ends, then points of codimension two, then starts without a curve.
std::string curve_text(const Dataset& data);

/// All points of all curves with a header line: curve, kind, both parameters, contact, forcing_periods,
/// stable, admissible, residual, states; 17 digits.
std::string curve_csv(const Dataset& data);

/// The points of codimension two: kind, both parameters, curve, contact, forcing_periods, states; 17 digits.
std::string codim2_csv(const Dataset& data);

}  // namespace graze
