/// What a system tells of itself whose motion between contacts without friction is a list of operations.
#pragma once

#include <cstdint>
#include <span>

namespace graze {

struct MotionProgram;

/// All that decides such a motion.
struct SeriesLaw {
  const MotionProgram* program = nullptr;  ///< the same one for all systems of a model
  std::span<const double> fixed;           ///< its fixed quantities (core/equations) at the system's values
  double period = 0;                       ///< System::period
  double rate = 0;                         ///< System::rate
  double chatter = 0;                      ///< Tolerance::chatter
  double integration = 0;                  ///< Tolerance::integration
  double patience = 0;                     ///< Tolerance::patience
  std::int64_t events = 0;                 ///< Tolerance::events
  std::int64_t springs = 0;                ///< as in LinearLaw
};

}  // namespace graze
