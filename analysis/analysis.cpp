#include "analysis/analysis.hpp"

namespace graze {

HybridState Problem::start() const {
  HybridState state;
  state.time = start_time;
  state.x =
      Eigen::Map<const Eigen::VectorXd>(start_state.data(), static_cast<Eigen::Index>(start_state.size()));
  return state;
}

// The list of analyses that the build has collected: first declared, then called.
#define GRAZE_ANALYSIS(name) AnalysisInfo name##_analysis();
#include "generated/analyses.inc"
#undef GRAZE_ANALYSIS

const std::vector<AnalysisInfo>& analyses() {
  static const std::vector<AnalysisInfo> list = {
#define GRAZE_ANALYSIS(name) name##_analysis(),
#include "generated/analyses.inc"
#undef GRAZE_ANALYSIS
  };
  return list;
}

}  // namespace graze
