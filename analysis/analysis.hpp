/// What every analysis is to the rest of the program: keys of the case file, the shape of its result, and
/// a pure function from a box of points to their arrays.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/dataset.hpp"
#include "core/digest.hpp"
#include "core/model.hpp"
#include "core/parameter.hpp"
#include "core/value.hpp"

namespace graze {

/// A case, checked: what an analysis is made from.
struct Problem {
  std::shared_ptr<const Model> model;
  double start_time = 0;            ///< [initial] time
  std::vector<double> start_state;  ///< [initial] state, one per state of the model
  Value analysis;                   ///< table [analysis], checked, defaults filled in
  Tolerance tolerance;              ///< table [tolerance]
  std::uint64_t seed = 0;           ///< [run] seed

  HybridState start() const;  ///< [initial]
};

class Analysis {
 public:
  virtual ~Analysis() = default;

  /// Dimensions, coordinates and empty arrays (type, units, names; no values) of the whole result. An
  /// analysis of one block whose sizes are known only afterwards returns a Dataset without dimensions.
  virtual Dataset layout() const = 0;
  /// Names of the leading dimensions over which points are spread, outermost first; empty: one block.
  virtual std::vector<std::string> point_dimensions() const = 0;
  /// The blocks: boxes in the point dimensions, about `points` points each, together every point once.
  /// Points that depend on each other (a followed branch) are in one block.
  virtual std::vector<Box> blocks(std::size_t points) const = 0;
  /// Computes one block. Pure: depends on the case and the box only. Safe to call from several threads.
  /// Arrays have the block's extent in the point dimensions; coordinates are left out.
  virtual Dataset compute(const Box& box) const = 0;
  /// What is to be said of all blocks together; nullptr: nothing.
  virtual std::unique_ptr<Digest> digest() const { return nullptr; }
};

struct AnalysisInfo {
  std::string name;
  std::string meaning;
  std::vector<Key> keys;
  /// Throws InputError with place, value and rule.
  std::unique_ptr<Analysis> (*make)(const Problem& problem);
};

/// All analyses, by name.
const std::vector<AnalysisInfo>& analyses();

}  // namespace graze
