/// Doing what a case asks, in the program.
#pragma once

#include <functional>

#include "drivers/command/case_options.hpp"
#include "drivers/command/command.hpp"
#include "drivers/library/case.hpp"

namespace graze {

/// Computes the result of the case that `load` gives, or resumes it; everything that `graze run` does.
Exit run_case(const std::function<Case()>& load, const CaseOptions& options, const Context& context);

}  // namespace graze
