#include "drivers/library/run.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "analysis/run/execute.hpp"
#include "analysis/run/joined.hpp"
#include "core/results/sink.hpp"

namespace graze {
namespace {

/// Tells how far a computation in one piece is, and stops it.
class WatchedJournal final : public Journal {
 public:
  explicit WatchedJournal(const RunWatch& watch) : watch_(watch) {}
  void progress(double share) override { watch_.progress(share); }
  bool stop() override { return watch_.interrupt != nullptr && watch_.interrupt->load(); }

 private:
  const RunWatch& watch_;
};

std::vector<std::size_t> row_major_order(const std::vector<Box>& boxes) {
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return boxes[a].offset < boxes[b].offset; });
  return order;
}

Dataset joined(const Case& given, const std::vector<Box>& boxes, const std::vector<Dataset>& blocks) {
  Joined result(given.layout, given.analysis->point_dimensions());
  for (std::size_t k = 0; k < boxes.size(); ++k) result.put(blocks[k], boxes[k]);
  const std::unique_ptr<Digest> digest = given.analysis->digest();
  if (!digest) return result.take();
  for (const std::size_t k : row_major_order(boxes)) digest->learn(blocks[k]);
  result.add(digest->conclude());
  for (const std::size_t k : row_major_order(boxes)) result.put(digest->describe(blocks[k]), boxes[k]);
  return result.take();
}

}  // namespace

Dataset run(const Case& given, int threads) { return *run(given, threads, RunWatch{}); }

std::optional<Dataset> run(const Case& given, int threads, const RunWatch& watch) {
  const Plan plan = make_plan(given, threads);
  MemorySink blocks(plan.boxes.size());
  WatchedJournal journal(watch);
  double done = 0;
  Execution execution;
  execution.threads = plan.threads;
  execution.interrupt = watch.interrupt;
  if (given.analysis->has_parts()) execution.journal = &journal;
  execution.done = [&](std::size_t points) {
    done += static_cast<double>(points);
    watch.progress(done / plan.points);
  };
  if (!execute(*given.analysis, plan.boxes, blocks, execution)) return std::nullopt;
  return plan.blocks ? joined(given, plan.boxes, blocks.blocks) : std::move(blocks.blocks.front());
}

}  // namespace graze
