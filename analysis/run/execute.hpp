/// Runs the blocks of an analysis on all threads. The only file with OpenMP in it.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "analysis/run/analysis.hpp"
#include "core/results/shard.hpp"
#include "core/results/sink.hpp"
#include "core/system/interrupt.hpp"

namespace graze {

struct Execution {
  int threads = 0;  ///< 0: as many as the machine has
  Shard shard;      ///< the part of the blocks that is worked at
  /// The next place in the order `dealt` to work at: each is given out once to everybody who works at these
  /// blocks, whatever comes after the last does not matter. Not set: 0, 1, 2, …
  std::function<std::size_t()> draw;
  std::function<bool()> stop;                ///< asked before each block; true ends the run early
  const InterruptFlag* interrupt = nullptr;  ///< set, it ends the run at once, blocks in flight are dropped
  std::function<void(std::size_t points)> done;  ///< called after each stored block
  Journal* journal = nullptr;                    ///< of an analysis of one block
};

/// Computes every block that is drawn and that the sink does not have yet, and puts it there. `draw` and
/// `done` are called by one thread at a time. Denormals are flushed in every worker. Returns false when
/// `stop` or `interrupt` has left a block undone. The first exception of a worker ends the run and is thrown
/// again here; blocks already stored stay.
bool execute(const Analysis& analysis, const std::vector<Box>& blocks, Sink& sink,
             const Execution& execution);

/// Calls task(0) … task(count − 1), as many at the same time as there are threads. Denormals are flushed. The
/// first exception is thrown again when all have ended.
void call_each(int threads, std::size_t count, const std::function<void(std::size_t)>& task);

}  // namespace graze
