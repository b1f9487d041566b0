/// A program laid out for the kernels of the series engine.
#pragma once

#include <vector>

#include "core/equations/program.hpp"
#include "core/lanes/series/batch.hpp"
#include "core/lanes/team.hpp"

namespace graze {

/// A program and the rows that it needs for series up to an order, `width` of them side by side.
class SeriesProgram {
 public:
  /// `fixed`: rows of the fixed quantities.
  SeriesProgram(const Program& program, int order, int width, const double* fixed);
  /// Valid as long as this lives where it is.
  SeriesList list();

 private:
  std::vector<SeriesOperation> operations_;
  std::vector<SeriesTerm> terms_;
  std::vector<const double*> outputs_;
  std::vector<SeriesReached> reached_;
  std::vector<double, LineAllocator<double>> rows_;
};

}  // namespace graze
