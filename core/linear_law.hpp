/// What a system tells of itself whose motion between rigid contacts without friction is linear.
#pragma once

#include <cstdint>
#include <optional>

#include "core/linear_system.hpp"

namespace graze {

/// All that decides such a motion.
struct LinearLaw {
  LinearSystem<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::Dynamic> equations;
  double rate = 0;          ///< System::rate
  double chatter = 0;       ///< Tolerance::chatter
  std::int64_t events = 0;  ///< Tolerance::events
};

/// A system may be one of these: those who move many motions at a time ask for it.
class LinearSource {
 public:
  virtual ~LinearSource() = default;
  /// Nothing: it is not linear, or has frictions, at its values.
  virtual std::optional<LinearLaw> linear_law() const = 0;
};

}  // namespace graze
