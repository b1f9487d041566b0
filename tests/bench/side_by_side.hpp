/// Programs timed in turn in one run, so that a busy moment of the machine falls on all alike.
#pragma once

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace graze::bench {

struct Row {
  std::string name;
  std::function<void()> work;
  std::vector<double> seconds;  ///< processor time of each repetition

  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
  }
};

inline double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Does all works so many times, an odd number, one after the other.
inline void run_in_turn(std::vector<Row>& rows, int repetitions = 5) {
  for (int i = 0; i < repetitions; ++i) {
    for (Row& row : rows) {
      const double begin = processor_seconds();
      row.work();
      row.seconds.push_back(processor_seconds() - begin);
    }
  }
}

/// What a program's main returns; says why where `run` throws.
template <class Run>
int reported(const char* program, const Run& run) {
  try {
    return run();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: %s\n", program, failure.what());
    return 1;
  }
}

}  // namespace graze::bench
