/// How an analysis gets into the list.
#pragma once

#include "analysis/run/analysis.hpp"
#include "core/settings/registered.hpp"

/// Begins the function that describes an analysis, in any source file of the library or of a program that is
/// linked with it, and in any namespace, as GRAZE_MODEL does for a model.
#define GRAZE_ANALYSIS(name)                                                                           \
  ::graze::AnalysisInfo name##_analysis();                                                             \
  static const ::graze::Registered<::graze::AnalysisInfo> name##_analysis_registered(name##_analysis); \
  ::graze::AnalysisInfo name##_analysis()
