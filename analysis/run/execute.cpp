#include "analysis/run/execute.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>

#include "core/math/denormals.hpp"

namespace graze {
namespace {

/// Calls `work()` in every thread of a team; the first exception is thrown again when all have ended.
template <class Work>
void in_team(int threads, const Work& work) {
  std::mutex hand;
  std::exception_ptr failure;
  const InterruptFlag* const flag = interrupt_flag;
#pragma omp parallel num_threads(threads)
  {
    const InterruptScope listening(flag);
    const Denormals flushed(Denormals::mode() | Denormals::flush);
    try {
      work();
    } catch (...) {  // no exception may leave the parallel region
      const std::lock_guard lock(hand);
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

bool execute(const Analysis& analysis, const std::vector<Box>& blocks, Sink& sink,
             const Execution& execution) {
  const std::vector<std::size_t> order = dealt(blocks.size(), execution.shard);
  std::mutex hand;  // held to draw and to report
  std::size_t next = 0;
  std::atomic<bool> over = false;
  std::atomic<bool> stopped = false;

  /// The next block to compute; nothing when there is none left.
  const auto draw = [&]() -> std::optional<std::size_t> {
    while (!over) {
      const std::lock_guard lock(hand);
      const std::size_t place = execution.draw ? execution.draw() : next++;
      if (place >= order.size()) return std::nullopt;
      if (!sink.has(order[place])) return order[place];
    }
    return std::nullopt;
  };
  const auto work = [&] {
    while (const std::optional<std::size_t> index = draw()) {
      if (execution.stop && execution.stop()) {
        over = stopped = true;
        return;
      }
      const std::optional<Dataset> block = execution.journal != nullptr
                                               ? analysis.compute_with(blocks[*index], *execution.journal)
                                               : analysis.compute(blocks[*index]);
      if (!block) {
        over = stopped = true;
        return;
      }
      sink.put(*index, *block);
      const std::lock_guard lock(hand);
      if (execution.done) execution.done(blocks[*index].points());
    }
  };

  const int threads = execution.threads > 0 ? execution.threads : omp_get_max_threads();
  if (execution.journal != nullptr) execution.journal->threads = threads;
  // A computation in one piece shares its threads out itself.
  const InterruptScope listening(execution.interrupt != nullptr ? execution.interrupt : interrupt_flag);
  in_team(execution.journal != nullptr ? 1 : threads, [&] {
    try {
      work();
    } catch (const Interrupted&) {
      over = stopped = true;
    } catch (...) {
      over = true;
      throw;
    }
  });
  return !stopped;
}

void call_each(int threads, std::size_t count, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next = 0;
  in_team(std::min(threads, static_cast<int>(count)), [&] {
    for (std::size_t k = next++; k < count; k = next++) task(k);
  });
}

}  // namespace graze
