/// The processes that work on one run: this one alone, or the ranks that mpirun has started.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "drivers/command/command.hpp"

namespace graze {

class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The first rank prepares, reports and joins; it computes like the others.
  bool is_first() const { return rank() == 0; }
  bool is_alone() const { return size() == 1; }

  /// 0, 1, 2, …: each number goes to one rank only. One thread at a time.
  virtual std::size_t draw() = 0;
  /// Adds to a sum over all ranks and returns it. One thread at a time.
  virtual std::size_t add(std::size_t points) = 0;
  /// Waits, without using the processor, until all ranks are here.
  virtual void meet() = 0;
  /// What the first rank gives, to all.
  virtual int tell(int value) = 0;
};

/// Does an action in all ranks. With more than one, an exception in any of them is told and ends them all.
Exit with_ranks(const std::function<Exit(Ranks&)>& action);

/// The same for ranks of MPI: only in programs built with GRAZE_MPI, and only when mpirun has started them.
Exit with_mpi_ranks(const std::function<Exit(Ranks&)>& action);

}  // namespace graze
