/// Analyses run in memory: from a model and the keys of a case to the arrays of its result.
#pragma once

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "analysis/run/analysis.hpp"
#include "tests/support.hpp"

namespace graze::test {

/// The checked case of an analysis: `model` and `keys` are tables, `start` is the initial state; none: zero.
inline Problem make_problem(const std::string& analysis, const std::string& model, const std::string& keys,
                            const std::vector<double>& start = {}) {
  Problem problem;
  problem.model = make_model(model);
  problem.start_given = !start.empty();
  problem.start_state = start;
  problem.start_state.resize(problem.model->states().size(), 0.0);
  const Value table = settings("[analysis]\n" + keys).at("analysis");
  for (const AnalysisInfo& info : analyses()) {
    if (info.name == analysis) problem.analysis = checked(table, info.keys, "analysis");
  }
  return problem;
}

inline std::unique_ptr<Analysis> make_analysis(const std::string& name, const Problem& problem) {
  for (const AnalysisInfo& info : analyses()) {
    if (info.name == name) return info.make(problem);
  }
  throw std::runtime_error("no analysis " + name);
}

/// The whole result of an analysis that can be computed in one block.
inline Dataset result_of(const Analysis& analysis) {
  const std::vector<Box> boxes = analysis.blocks(std::numeric_limits<std::int32_t>::max());
  if (boxes.size() != 1) throw std::logic_error("more than one block");
  Dataset block = analysis.compute(boxes.front());
  if (analysis.point_dimensions().empty()) return block;
  Dataset whole = analysis.layout();
  for (Array& array : block.arrays) whole.at(array.name).values = std::move(array.values);
  return whole;
}

}  // namespace graze::test
