/// Bodies at rest on contacts without friction: which of these stay closed.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace graze {

/// First term in the power series of a guard that is not zero but for rounding.
struct Onset {
  int order = 0;  ///< 0: none
  double coefficient = 0;
};

/// As many leading zeros as no series has: what is at zero and stays there.
inline constexpr int for_good = std::numeric_limits<int>::max();

/// What is asked of a motion about its contacts at zero gap and zero normal speed.
struct RestingBodies {
  std::function<double(int i, int j)> response;          ///< change of opening speed i per strike j
  std::function<Onset(int i, std::int64_t mode)> onset;  ///< of guard i
  bool tells_idle = false;  ///< whether a contact may be closed without a force of its own
};

/// How a contact at rest goes on.
struct AtRest {
  int contact;
  bool holds;
  int order;          ///< of the first derivative that decided; 0: none does
  bool idle = false;  ///< closed without a force of its own: others hold its body
};

/// Decides 0 ≤ λ ⊥ g'' ≥ 0 for these contacts, all of them open in `mode`. Each pass decides by the first
/// order in which something moves; what a term of that order neither presses nor opens is left to the next
/// one, with the bodies held that are held by now. A contact whose body others hold stays closed without a
/// force of its own: the motion is the same whichever of them carries. @param decided  one after the other,
/// as far as it went
/// @return whether there was one solution
bool decide_resting(const RestingBodies& bodies, std::vector<int> contacts, std::int64_t mode,
                    std::vector<AtRest>& decided);

}  // namespace graze
