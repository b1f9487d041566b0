/// How many branches or curves a search may find, how long it may take, and what it leaves then.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "core/settings/parameter.hpp"
#include "core/settings/value.hpp"

namespace graze {

/// Why a branch or a curve ends when the time of its search is over.
inline const std::string used_up = "the time allowed is used up";

class Budget {
 public:
  struct Limits {
    std::size_t most = 400;
    double seconds = std::numeric_limits<double>::infinity();  ///< after which no further point is computed
  };

  /// Time counts from here on. `things`: branches, curves; `points`: on them, at which others begin.
  Budget(const Limits& limits, const char* things, const char* points)
      : limits_(limits), things_(things), points_(points) {}

  bool late() const {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
    return since.count() >= limits_.seconds;
  }
  bool is_spent(std::size_t found) const { return found >= limits_.most || late(); }
  /// Why nothing is added once it is spent.
  std::string reason() const { return late() ? used_up : "as many " + std::string(things_) + " as allowed"; }
  /// Because it is spent, a start or a point is not followed.
  void leave_start() { ++starts_left_; }
  void leave_point() { ++points_left_; }
  /// What has been left, and why; empty: nothing.
  std::string left() const;

 private:
  Limits limits_;
  const char* things_;
  const char* points_;
  std::size_t starts_left_ = 0;
  std::size_t points_left_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The key `seconds` of a case, and its value.
void add_seconds_key(std::vector<Key>& keys);
double read_seconds(const Value& table);

}  // namespace graze
