#include "analysis/run/analysis.hpp"

namespace graze {

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

HybridState Problem::start(std::span<const double> values) const {
  const std::vector<double> x = start_given ? start_state : model->start(values);
  HybridState state;
  state.time = start_time;
  state.x = Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
  return state;
}

}  // namespace graze
