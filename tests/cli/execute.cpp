/// The executor against a toy analysis: every block once, only the missing ones, and what ends it early.
#include "analysis/run/execute.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>

using namespace graze;

namespace {

constexpr double smallest_normal = 2.2250738585072014e-308;

/// Squares of the point's index; block `poisoned` throws.
class Squares final : public Analysis {
 public:
  explicit Squares(std::size_t poisoned = 1000) : poisoned_(poisoned) {}
  Dataset layout() const override { return {}; }
  std::vector<std::string> point_dimensions() const override { return {"i"}; }
  std::vector<Box> blocks(std::size_t) const override {
    std::vector<Box> boxes;
    for (std::size_t k = 0; k < 40; ++k) boxes.push_back({{3 * k}, {3}});
    return boxes;
  }
  Dataset compute(const Box& box) const override {
    if (box.offset[0] == 3 * poisoned_) throw std::runtime_error("poisoned block");
    volatile double tiny = smallest_normal;
    flushed = flushed && tiny / 4 == 0.0;
    std::vector<double> values;
    for (std::size_t i = 0; i < box.count[0]; ++i) {
      values.push_back(static_cast<double>((box.offset[0] + i) * (box.offset[0] + i)));
    }
    Dataset block;
    block.dimensions = {{"i", box.count[0]}};
    block.arrays = {{"square", {"i"}, values, "1", "", {}, {}}};
    return block;
  }

  mutable std::atomic<bool> flushed = true;  ///< denormals were zero in every block

 private:
  std::size_t poisoned_;
};

/// Remembers which blocks were put, and how often.
class Store final : public Sink {
 public:
  bool has(std::size_t index) const override { return before.count(index) > 0; }
  void put(std::size_t index, const Dataset& block) override {
    const std::lock_guard lock(mutex_);
    put_indices.insert(index);
    const auto& values = std::get<std::vector<double>>(block.at("square").values);
    sum += std::accumulate(values.begin(), values.end(), 0.0);
  }
  std::set<std::size_t> before;
  std::multiset<std::size_t> put_indices;
  double sum = 0;

 private:
  std::mutex mutex_;
};

Execution with_threads(int threads) {
  Execution execution;
  execution.threads = threads;
  return execution;
}

}  // namespace

TEST_CASE("every block is computed once on any number of threads") {
  const Squares analysis;
  for (const int threads : {0, 1, 2, 5}) {
    Store store;
    std::size_t points = 0;
    Execution execution = with_threads(threads);
    execution.done = [&](std::size_t n) { points += n; };
    CHECK(execute(analysis, analysis.blocks(3), store, execution));
    CHECK(store.put_indices.size() == 40);
    CHECK(std::set(store.put_indices.begin(), store.put_indices.end()).size() == 40);
    CHECK(store.sum == 119.0 * 120.0 * 239.0 / 6.0);
    CHECK(points == 120);
  }
}

TEST_CASE("blocks that the sink has are left out") {
  const Squares analysis;
  Store store;
  for (std::size_t k = 0; k < 40; k += 2) store.before.insert(k);
  CHECK(execute(analysis, analysis.blocks(3), store, with_threads(2)));
  CHECK(store.put_indices.size() == 20);
  for (const std::size_t k : store.put_indices) CHECK(k % 2 == 1);
}

TEST_CASE("stop ends the run between blocks") {
  const Squares analysis;
  Store store;
  std::atomic<int> asked = 0;
  Execution execution = with_threads(1);
  execution.stop = [&] { return ++asked > 7; };
  CHECK_FALSE(execute(analysis, analysis.blocks(3), store, execution));
  CHECK(store.put_indices.size() == 7);
  CHECK(asked == 8);
}

TEST_CASE("a stop when nothing is left to do changes nothing") {
  const Squares analysis;
  Store store;
  for (std::size_t k = 0; k < 40; ++k) store.before.insert(k);
  Execution execution = with_threads(2);
  execution.stop = [] { return true; };
  CHECK(execute(analysis, analysis.blocks(3), store, execution));
}

TEST_CASE("shards share the blocks out, each about as many from everywhere") {
  for (const std::size_t parts : {1, 2, 4, 7, 100000}) {
    std::set<std::size_t> all;
    for (std::size_t part = 1; part <= parts; ++part) {
      const std::vector<std::size_t> mine = dealt(40, {part, parts});
      CHECK(mine.size() <= 40 / parts + 1);
      all.insert(mine.begin(), mine.end());
      if (part > 45) break;
    }
    CHECK(all.size() == 40);
  }
  const std::vector<std::size_t> first = dealt(40, {1, 4});
  CHECK(*std::min_element(first.begin(), first.end()) < 8);
  CHECK(*std::max_element(first.begin(), first.end()) > 31);
}

TEST_CASE("a shard computes its blocks only, and several workers draw from one counter") {
  const Squares analysis;
  Store store;
  Execution execution = with_threads(2);
  execution.shard = {2, 4};
  CHECK(execute(analysis, analysis.blocks(3), store, execution));
  const std::vector<std::size_t> mine = dealt(40, {2, 4});
  CHECK(std::set(store.put_indices.begin(), store.put_indices.end()) == std::set(mine.begin(), mine.end()));

  Store one;
  Store two;
  std::size_t next = 0;
  Execution drawing = with_threads(1);
  drawing.draw = [&] { return next++; };
  drawing.stop = [&] { return next > 20; };
  CHECK_FALSE(execute(analysis, analysis.blocks(3), one, drawing));
  drawing.stop = nullptr;
  CHECK(execute(analysis, analysis.blocks(3), two, drawing));
  CHECK(one.put_indices.size() == 20);
  CHECK(two.put_indices.size() == 19);  // the one that was drawn and not done is nobody's
}

TEST_CASE("an exception of a worker comes out and what is stored stays") {
  const Squares analysis(20);
  for (const int threads : {1, 3}) {
    Store store;
    CHECK_THROWS_WITH(execute(analysis, analysis.blocks(3), store, with_threads(threads)), "poisoned block");
    CHECK(store.put_indices.count(20) == 0);
    if (threads == 1) CHECK(store.put_indices.size() == 20);
  }
}

#if defined(__SSE2__)
TEST_CASE("denormals are zero in every worker and come back afterwards") {
  const Squares analysis;
  for (const int threads : {1, 3}) {
    Store store;
    execute(analysis, analysis.blocks(3), store, with_threads(threads));
    CHECK(analysis.flushed);
    volatile double tiny = smallest_normal;
    CHECK(tiny / 4 > 0.0);
  }
}
#endif
