/// Places of a result and the cases of the motions there.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/results/dataset.hpp"
#include "core/settings/value.hpp"
#include "drivers/library/case.hpp"
#include "drivers/plot/points.hpp"

namespace graze {

using Named = std::vector<std::pair<std::string, double>>;

/// Where a motion begins, and how much of it shows what there is.
struct MotionPlace {
  Named parameters{};
  std::vector<double> state{};  ///< empty: where the case starts
  double time = 0;
  double forcing_periods = 0;  ///< of the orbit; 0: not periodic or not forced
  double duration = 0;         ///< of the orbit, for systems without forcing
};

/// A point of a sweep, by its number. Throws InputError where it has no motion.
MotionPlace place_at(const Dataset& data, const Points& points, std::size_t point);

/// A point of a branch over this parameter, by its number.
MotionPlace place_on_branch(const Dataset& data, const std::string& parameter, std::size_t point);

/// The table [analysis] of the motion at a place of a case: over so many forcing periods (without forcing:
/// turns); 0: as many as show what there is.
Value simulation(const Case& c, const MotionPlace& place, double periods = 0);

/// The case of the motion at a place, as the text of a case file.
std::string motion_case(const Case& c, const MotionPlace& place, const Value& analysis);

}  // namespace graze
