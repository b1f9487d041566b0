/// What a result says at a glance: how many points of each class, how many failed and why.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "core/results/dataset.hpp"
#include "drivers/command/command.hpp"

namespace graze {

/// How many elements of an array with flags have each flag.
struct ClassCount {
  std::string name;  ///< "missing" for elements without a value
  std::size_t count = 0;
};

/// Flags that occur, in their order; empty for an array without flags.
std::vector<ClassCount> class_counts(const Array& array);

/// Names of the arrays that have flags, coordinates left out: what print_summary counts.
std::vector<std::string> classifying(const std::vector<Array>& arrays);
/// Names of the arrays that print_summary looks at, where there are such.
std::vector<std::string> summarised(const std::vector<Array>& arrays);

/// One line per array that classifies: its name and the counts; for failed points a line each with advice.
void print_summary(std::FILE* to, const Dataset& data);

/// Exit::done, some_failed or no_point, by the array `outcome` (none: done).
Exit exit_of(const Dataset& data);

}  // namespace graze
