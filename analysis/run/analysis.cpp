#include "analysis/run/analysis.hpp"

#include "core/settings/registered.hpp"

namespace graze {

// From a static library a linker takes only what something refers to: this refers to its analyses.
#define GRAZE_ANALYSIS(name) AnalysisInfo name##_analysis();
#include "generated/analyses.inc"
#undef GRAZE_ANALYSIS
#define GRAZE_ANALYSIS(name) name##_analysis,
[[gnu::used]] static AnalysisInfo (*const linked_analyses[])() = {
#include "generated/analyses.inc"
};
#undef GRAZE_ANALYSIS

const std::vector<AnalysisInfo>& analyses() { return Registered<AnalysisInfo>::all(); }

HybridState Problem::start(std::span<const double> values) const {
  const std::vector<double> x = start_given ? start_state : model->start(values);
  HybridState state;
  state.time = start_time;
  state.x = Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
  return state;
}

}  // namespace graze
