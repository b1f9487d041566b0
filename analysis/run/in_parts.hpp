/// Analyses whose result is one block.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/run/analysis.hpp"

namespace graze {

/// An analysis of one block that is computed in parts, by compute_with; its sizes are known only afterwards.
class AnalysisInParts : public Analysis {
 public:
  Dataset layout() const override { return {}; }
  std::vector<std::string> point_dimensions() const override { return {}; }
  std::vector<Box> blocks(std::size_t) const override { return {Box{}}; }
  bool has_parts() const override { return true; }
  Dataset compute(const Box& box) const override {
    Journal silent;
    return *compute_with(box, silent);
  }
  std::optional<Dataset> compute_with(const Box& box, Journal& journal) const override = 0;
};

}  // namespace graze
