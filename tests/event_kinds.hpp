/// What happened on a motion, as a list of kinds.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/support.hpp"

namespace graze::test {

/// The kinds of all events in their order; near misses are none.
inline std::vector<EventKind> kinds(const Log& log) {
  std::vector<EventKind> list;
  for (const auto& e : log.entries) {
    if (e.kind != EventKind::section) list.push_back(e.kind);
  }
  return list;
}

/// The same with repetitions left out: chatter counts once however many impacts were followed.
inline std::vector<EventKind> course(const Log& log) {
  std::vector<EventKind> list = kinds(log);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace graze::test
