/// The attractors of a sweep's result file as starts of branches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/continuation/shooting.hpp"
#include "analysis/continuation/start.hpp"
#include "core/results/dataset.hpp"
#include "core/settings/value.hpp"

namespace graze {

class SweepStarts {
 public:
  /// Throws InputError, naming `key`, for a file that is no sweep over the parameter of this family.
  SweepStarts(const Dataset& data, const Family& family, const Value& key);

  std::size_t size() const { return count_; }
  double parameter(std::size_t point) const { return values_[point % values_.size()]; }
  bool failed(std::size_t point) const { return attractor_[point] < 0 || attractor_[point] >= 5; }
  /// The starts at all points, "<origin> at <value>"; periods 0 where the sweep found no periodic motion.
  std::vector<Start> all(const std::string& origin) const;

 private:
  Start start(std::size_t point) const;

  const Family& family_;
  std::vector<double> values_;
  std::vector<std::int8_t> attractor_;
  std::vector<std::int32_t> period_;
  std::vector<double> forcing_periods_;
  const std::vector<double>* states_;
  const std::vector<double>* times_;
  std::size_t count_ = 0;
  std::size_t record_ = 0;
};

}  // namespace graze
