/// What engaged compliant contacts do on pieces of a motion.
#pragma once

#include <vector>

#include "core/system/event.hpp"

namespace graze {

/// Of one contact on one piece: polynomials of s in [0, 1] along it.
struct LoadPiece {
  using Polynomial = std::vector<double>;
  Polynomial depth, rate;     ///< δ, δ'
  Polynomial force, damping;  ///< normal force, and the part of it that is not there where δ' = 0
  Polynomial slip, friction;  ///< sliding speed, and the force against it; empty: it has no friction
  double begin = 0;           ///< time at s = 0
  double duration = 0;
};

/// Adds the greatest force and penetration, impulse and losses to a load that knows its friction.
void add_loads(const LoadPiece& piece, ContactLoad& load);

}  // namespace graze
