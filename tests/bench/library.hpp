/// What a user of the library writes between tables of settings and results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/run/analysis.hpp"
#include "core/system/model.hpp"

namespace graze::bench {

/// The entry of a list of models or analyses. Throws std::runtime_error when there is none.
template <class Info>
const Info& named(const std::vector<Info>& list, const std::string& name);
extern template const ModelInfo& named(const std::vector<ModelInfo>&, const std::string&);
extern template const AnalysisInfo& named(const std::vector<AnalysisInfo>&, const std::string&);

/// Tables [model] (with its key `name`), [analysis] of this name and [tolerance], checked as the program does
/// it. Throws InputError.
Problem problem(const Value& model, std::vector<double> start, const std::string& analysis,
                const Value& settings, const Value& tolerance);

/// All blocks on so many threads, kept in memory.
std::vector<Dataset> computed(const Analysis& analysis, const std::vector<Box>& blocks, int threads);

class ImpactCounter : public Observer {
 public:
  std::int64_t impacts = 0;
  void event(const Event& event) override { impacts += event.kind == EventKind::impact ? 1 : 0; }
};

}  // namespace graze::bench
