/// A case, run in memory.
#pragma once

#include <functional>
#include <optional>

#include "core/results/dataset.hpp"
#include "core/system/interrupt.hpp"
#include "drivers/library/case.hpp"

namespace graze {

/// Does the analysis of a case and returns its result: the arrays that `graze run` writes to its file, with
/// the same values for every number of threads. `threads` 0: what the case says, else as many as the machine
/// has. Throws InputError when the result does not fit into the memory of this machine. Points that fail
/// numerically do not throw: they carry the reason in the array `outcome`.
Dataset run(const Case& given, int threads = 0);

/// How a run in memory is followed and stopped from outside.
struct RunWatch {
  /// Told the share that is done, 0 … 1, by one thread at a time.
  std::function<void(double share)> progress = [](double) {};
  const InterruptFlag* interrupt = nullptr;  ///< set, it ends the run within milliseconds
};

/// The same; nothing: it has been interrupted.
std::optional<Dataset> run(const Case& given, int threads, const RunWatch& watch);

}  // namespace graze
