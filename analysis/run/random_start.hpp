/// Random initial states, the same for a point whoever computes it and when.
#pragma once

#include <cstdint>
#include <vector>

#include "core/system/system.hpp"

namespace graze {

/// A box of initial states, one bound per state.
struct StartBox {
  std::vector<double> low, high;
};

/// Whether no contact is violated.
bool admissible(const System& system, const HybridState& state);

/// Sets the state to number `point` of the uniform sample of a seed: drawn again, up to 1000 times, while it
/// violates a contact. Counter-based (Philox 4x32-10: Salmon et al., SC 2011).
void draw_start(const System& system, const StartBox& box, std::uint64_t seed, std::uint64_t point,
                HybridState& state);

}  // namespace graze
