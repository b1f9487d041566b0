/// When a run is to end before it is done: a signal or the time is up.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace graze {

using Seconds = std::chrono::duration<double>;

/// Reads "3h", "20m", "45s", "1.5h" or a plain number of seconds, > 0. Throws InputError.
Seconds read_duration(const std::string& text);

/// While it lives
/// - the end of the time and SIGUSR1 are only noted: no further block is begun, those in flight are finished;
/// - SIGINT and SIGTERM as well, but a second later the program ends with exit code 75, wherever it is: what
/// is
///   in flight then is dropped, finished blocks are files already. No loop of any engine needs to ask;
/// - a second SIGINT ends the program at once.
/// One at a time.
class StopWatch {
 public:
  /// Time counts from here; no limit: signals only. `last_words` is written to stderr where something is
  /// dropped; "": nothing is.
  StopWatch(std::optional<Seconds> limit, const std::string& last_words);
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
