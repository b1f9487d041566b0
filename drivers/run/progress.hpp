/// How far a run is, told on stderr.
#pragma once

#include <chrono>
#include <cstddef>

namespace graze {

/// A bar with the time left when stderr is a terminal, drawn with the first points and every 0.2 s; else one
/// line a minute.
class Progress {
 public:
  /// @param total  points of the whole run
  /// @param before points that were there already, > 0 when a run is resumed
  /// @param quiet  say nothing
  Progress(std::size_t total, std::size_t before, bool quiet);
  /// Ends the line of the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So many more points are done.
  void add(std::size_t points);

 private:
  using Clock = std::chrono::steady_clock;

  void draw() const;

  std::size_t total_;
  std::size_t before_;
  std::size_t done_;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point begin_;
  Clock::time_point last_;
};

}  // namespace graze
