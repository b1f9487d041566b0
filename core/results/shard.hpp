/// Who computes which block: the order in which blocks are dealt out, and the part of it that is a shard's.
#pragma once

#include <cstddef>
#include <vector>

namespace graze {

/// One of several parts of a run, each computed by a process of its own, at any time and anywhere.
struct Shard {
  std::size_t part = 1;   ///< 1 … parts
  std::size_t parts = 1;  ///< 1: the whole run

  bool is_whole() const { return parts == 1; }
};

/// The order in which the indices 0 … blocks − 1 are worked off: by a stride near the golden section that has
/// no common divisor with their number. Every run of consecutive places in it is spread over all of parameter
/// space, so that easy and hard regions come evenly to all workers, and the time left can be told early on.
/// A shard has the places part − 1, part − 1 + parts, … of this order.
std::vector<std::size_t> dealt(std::size_t blocks, Shard shard = {});

}  // namespace graze
