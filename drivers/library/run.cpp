#include "drivers/library/run.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/run/execute.hpp"
#include "analysis/run/points.hpp"
#include "core/results/sink.hpp"

namespace graze {
namespace {

/// A result over points, put together from its blocks.
class Joined {
 public:
  Joined(Dataset layout, const std::vector<std::string>& point_dimensions) : whole_(std::move(layout)) {
    for (const std::string& name : point_dimensions) extents_.push_back(whole_.size(name));
    for (Array& array : whole_.arrays) allocate(array);
  }
  void add(Dataset more) {
    whole_.dimensions.insert(whole_.dimensions.end(), more.dimensions.begin(), more.dimensions.end());
    for (Array& array : more.arrays) allocate(whole_.arrays.emplace_back(std::move(array)));
  }
  void put(const Dataset& block, const Box& box) {
    for (const Array& part : block.arrays) put(part, box, whole_.at(part.name));
  }
  Dataset take() { return std::move(whole_); }

 private:
  /// Arrays over the points come without values.
  void allocate(Array& array) const {
    const bool has_values = std::visit([](const auto& values) { return !values.empty(); }, array.values);
    if (!has_values) array.values = missing_values(array.values, whole_.elements(array));
  }
  std::size_t index_of(const std::vector<std::size_t>& place) const {
    std::size_t index = 0;
    for (std::size_t d = 0; d < place.size(); ++d) index = index * extents_[d] + place[d];
    return index;
  }
  void put(const Array& part, const Box& box, Array& whole) const {
    std::visit(
        [&](auto& to) {
          const auto& from = std::get<std::decay_t<decltype(to)>>(part.values);
          const std::size_t width = from.size() / box.points();
          for (std::size_t k = 0; k < box.points(); ++k) {
            std::copy_n(from.data() + k * width, width, to.data() + index_of(place_in(box, k)) * width);
          }
        },
        whole.values);
  }

  Dataset whole_;
  std::vector<std::size_t> extents_;  ///< of the point dimensions
};

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
