/// How stops act that are not rigid, and what they do.
#pragma once

#include <cstdint>

namespace graze {

/// How a stop acts on a body that reaches it.
enum class StopLaw : signed char {
  rigid,             ///< by impacts
  release_by_force,  ///< compliant: engaged from δ = 0 until its force vanishes, δ = 0 at the latest
  release_by_gap,    ///< compliant: engaged while δ > 0; a damper may pull at the end
  relaxing_plate     ///< compliant: released by a vanishing force, it goes back in its own time
};

/// What a compliant stop does that is not closed: a body at rest on its abutment closes it.
enum class Spring : std::int64_t {
  open = 0,    ///< not reached
  engaged,     ///< its force acts
  recovering,  ///< released by a vanishing force at a penetration that has not come back to zero yet
  parting      ///< engaged to the end of the contact, whose force is not worth counting any more
};

}  // namespace graze
