/// How an analysis gets into the list: its source has a line `GRAZE_ANALYSIS(name) {` that begins the
/// function which describes it. The build collects these lines.
#pragma once

#include "analysis/run/analysis.hpp"

#define GRAZE_ANALYSIS(name) AnalysisInfo name##_analysis()
