/// The mode of a motion, one integer: which contacts are closed and, above, what a model says.
#pragma once

#include <cstdint>

namespace graze {

/// Whether contact i is closed in a mode: its bit.
constexpr bool is_closed(std::int64_t mode, std::int64_t i) { return ((mode >> i) & 1) != 0; }

}  // namespace graze
