/// How a system moves and what an impact does to it, as lists of operations.
#pragma once

#include <vector>

#include "core/equations/program.hpp"

namespace graze {

/// Of a smooth system with rigid contacts without friction. Input 0 of all programs is time, input 1 + s
/// state s.
struct MotionProgram {
  struct Contact {
    /// The gap, its rate, its foot (a contact only where that is positive); the changes of the coordinates
    /// `moved` per change of that rate by an impulse; the terms that the gap is the sum of.
    Program impact;
    Program pressing;                     ///< minus the gap's acceleration, all contacts open
    std::vector<int> position, velocity;  ///< states, of each coordinate that an impulse moves
    Fixed restitution{};
    bool has_foot = false;
  };

  Program flow;  ///< the rates of all states, then the gaps of all contacts, all of them open
  std::vector<Contact> contacts;
};

}  // namespace graze
