/// When a run is to end before it is done: a signal or the time is up.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace graze {

using Seconds = std::chrono::duration<double>;

/// Reads "3h", "20m", "45s", "1.5h" or a plain number of seconds, > 0. Throws InputError.
Seconds read_duration(const std::string& text);

/// While it lives SIGINT, SIGTERM and SIGUSR1 are only noted, so that blocks in flight can be finished. A
/// second SIGINT ends the program at once. One at a time.
class StopWatch {
 public:
  /// Time counts from here; no limit: signals only.
  explicit StopWatch(std::optional<Seconds> limit);
  ~StopWatch();
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

  /// May be asked from several threads.
  bool stop() const;
  /// "signal 15", "the time given" …: why stop() is true.
  std::string reason() const;

 private:
  bool late() const;

  std::chrono::steady_clock::time_point begin_;
  std::optional<Seconds> limit_;
};

}  // namespace graze
