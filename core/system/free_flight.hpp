/// Motions that are followed to where they fly freely.
#pragma once

#include "core/system/system.hpp"

namespace graze {

/// What a System is besides, if it can do so.
class FreeFlights {
 public:
  virtual ~FreeFlights() = default;
  /// As System::advance to phase zero, but no farther than to where `time` is a multiple of `step` and no
  /// rigid contact is closed.
  virtual Outcome advance_to_flight(HybridState& state, double step, Observer* observer) = 0;
  virtual Outcome advance_to_flight(HybridState& state, double step, Tangent& tangent) = 0;
};

}  // namespace graze
