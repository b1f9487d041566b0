/// How a model gets into the list: its source has a line `GRAZE_MODEL(name) {` that begins the function
/// which describes it. The build collects these lines.
#pragma once

#include "core/system/model.hpp"

#define GRAZE_MODEL(name) ModelInfo name##_model()
