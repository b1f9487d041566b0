/// Motions between rigid contacts by a second method (hybrid_reference), impacts as the caller works them out
/// by hand.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "tests/oracle/independent/hybrid_reference.hpp"

namespace graze::independent {

template <std::size_t N>
struct RigidReference {
  using Real = long double;
  using State = std::array<Real, N>;

  std::function<void(const State& x, State& rate, Real t)> rates;
  std::vector<std::function<Real(const State& x, Real t)>> gaps;
  std::function<void(int contact, State& x, Real t)> impact;
  Real piece = 0.004L;  ///< a gap does not close and open again within one

  struct Impact {
    Real time;
    int contact;
    State before, after;
  };

  /// Until all these impacts have happened. The motion must not come to rest on a contact.
  std::vector<Impact> impacts(State x, std::size_t count) const {
    HybridReference<N> motion;
    motion.piece = piece;
    motion.rates = [&](int, const State& y, State& rate, Real t) { rates(y, rate, t); };
    motion.guards = [&](int, const State& y, Real t) {
      std::vector<Real> list;
      for (const auto& gap : gaps) list.push_back(gap(y, t));
      return list;
    };
    motion.next = [&](int, std::size_t contact, State& y, Real t) {
      impact(static_cast<int>(contact), y, t);
      return 0;
    };
    std::vector<Impact> list;
    for (const auto& e : motion.run(x, 0, 0, std::numeric_limits<Real>::infinity(), count))
      list.push_back({e.time, static_cast<int>(e.guard), e.before, e.after});
    return list;
  }
};

}  // namespace graze::independent
