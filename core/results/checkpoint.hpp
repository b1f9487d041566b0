/// What a computation in one piece tells while it is under way, and keeps of what is done.
#pragma once

#include <cstddef>
#include <optional>

#include "core/results/dataset.hpp"

namespace graze {

/// As it stands it listens to nothing and keeps nothing.
class Journal {
 public:
  virtual ~Journal() = default;
  /// That the computation may use.
  int threads = 1;
  /// So much is done, 0 … 1.
  virtual void progress(double share) { static_cast<void>(share); }
  /// Whether to leave off at the next occasion.
  virtual bool stop() { return false; }
  /// Part `number` as an earlier run of the same case has kept it; nothing: it must be computed.
  virtual std::optional<Dataset> recall(std::size_t number) {
    static_cast<void>(number);
    return std::nullopt;
  }
  virtual void keep(std::size_t number, const Dataset& part) {
    static_cast<void>(number);
    static_cast<void>(part);
  }
};

}  // namespace graze
