/// Random initial states, the same for a point whoever computes it and when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/settings/value.hpp"
#include "core/system/system.hpp"

namespace graze {

/// A box of initial states, one bound per state.
struct StartBox {
  std::vector<double> low, high;
};

/// From the keys low and high of an analysis, where left out -1 and 1. Throws InputError unless they have one
/// number per state.
StartBox read_start_box(const Value& table, std::size_t states);

/// Sets the state to number `point` of the uniform sample of a seed: drawn again, up to 1000 times, until a
/// motion may start there. @return whether one may. Counter-based (Philox 4x32-10: Salmon et al., SC 2011).
bool draw_start(System& system, const StartBox& box, std::uint64_t seed, std::uint64_t point,
                HybridState& state);

}  // namespace graze
