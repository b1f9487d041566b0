/// Where finished blocks go and how a run learns which exist already.
#pragma once

#include <cstddef>
#include <vector>

#include "core/results/dataset.hpp"

namespace graze {

class Sink {
 public:
  virtual ~Sink() = default;
  /// Whether block number `index` is finished. May be called from several threads.
  virtual bool has(std::size_t index) const = 0;
  /// Takes a finished block. May be called from several threads. Throws std::runtime_error when it cannot
  /// be stored (full disk and the like); nothing half written stays behind.
  virtual void put(std::size_t index, const Dataset& block) = 0;
};

/// Keeps blocks in memory; has none to begin with.
class MemorySink final : public Sink {
 public:
  explicit MemorySink(std::size_t count) : blocks(count) {}
  bool has(std::size_t) const override { return false; }
  void put(std::size_t index, const Dataset& block) override { blocks[index] = block; }

  std::vector<Dataset> blocks;
};

}  // namespace graze
