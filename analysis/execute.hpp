/// Runs the blocks of an analysis on all threads. The only file with OpenMP in it.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "analysis/analysis.hpp"
#include "core/sink.hpp"

namespace graze {

struct Execution {
  int threads = 0;                               ///< 0: as many as the machine has
  std::function<bool()> stop;                    ///< asked before each block; true ends the run early
  std::function<void(std::size_t points)> done;  ///< called (one thread at a time) after each stored block
};

/// The order in which the indices 0 … blocks − 1 are worked off: by a stride near the golden section that has
/// no common divisor with their number. Every run of consecutive places in it is spread over all of parameter
/// space, so that easy and hard regions come evenly to all workers, and the time left can be told early on.
std::vector<std::size_t> dealt(std::size_t blocks);

/// Computes every block that the sink does not have yet, in the order `dealt`, and puts it there. Denormals
/// are flushed in every worker. Returns the number of blocks still missing (> 0 only after `stop`). The first
/// exception of a worker ends the run and is thrown again here; blocks already stored stay.
std::size_t execute(const Analysis& analysis, const std::vector<Box>& blocks, Sink& sink,
                    const Execution& execution);

}  // namespace graze
