/// What every analysis is to the rest of the program: keys of the case file, the shape of its result, and
/// a pure function from a box of points to their arrays.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/results/checkpoint.hpp"
#include "core/results/dataset.hpp"
#include "core/results/reduction.hpp"
#include "core/settings/parameter.hpp"
#include "core/settings/value.hpp"
#include "core/system/model.hpp"

namespace graze {

class Observables;

/// A case, checked: what an analysis is made from.
struct Problem {
  std::shared_ptr<const Model> model;
  double start_time = 0;            ///< [initial] time
  std::vector<double> start_state;  ///< [initial] state, one per state of the model
  bool start_given = false;         ///< false: [initial] is silent, and the model's start holds
  Value analysis;                   ///< table [analysis], checked, defaults filled in
  Tolerance tolerance;              ///< table [tolerance]
  std::uint64_t seed = 0;           ///< [run] seed
  std::shared_ptr<const Dataset> sweep =
      nullptr;  ///< the result that [analysis] sweep or branches names, if any, with its root attributes
  std::shared_ptr<const Observables> observables = nullptr;  ///< [[observable]]; nullptr: none

  /// The start of a motion at these parameter values.
  HybridState start(std::span<const double> values) const;
  /// … at those of the case.
  HybridState start() const { return start(model->values()); }
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
  /// Points in a block at least, unless fewer are asked for: below this its file would cost more than they.
  virtual std::size_t least_points() const { return 16; }
  /// Computes one block. Pure: depends on the case and the box only. Safe to call from several threads.
  /// Arrays have the block's extent in the point dimensions; coordinates are left out.
  virtual Dataset compute(const Box& box) const = 0;
  /// Whether the one block is computed in parts that are kept, so that it can be left off and gone on with.
  virtual bool has_parts() const { return false; }
  /// compute() of the one block that tells a journal how far it is. Nothing: the journal has stopped it.
  virtual std::optional<Dataset> compute_with(const Box& box, Journal& journal) const {
    static_cast<void>(journal);
    return compute(box);
  }
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

/// What `AnalysisInfo::make` is for an analysis that is made of its problem.
template <class Kind>
std::unique_ptr<Analysis> analysis_of(const Problem& problem) {
  return std::make_unique<Kind>(problem);
}

/// All analyses, by name.
const std::vector<AnalysisInfo>& analyses();

}  // namespace graze
