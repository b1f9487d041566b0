/// How a system moves and what an impact does to it, as lists of operations.
#pragma once

#include <optional>
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

  /// ∂(rate of state `of`)/∂(state `by`), where it is not zero.
  struct Slope {
    int of = 0, by = 0;
    std::optional<Fixed> constant;  ///< one that hangs on parameters only
  };

  Program flow;  ///< the rates of all states, then the gaps of all contacts, all of them open
  /// … then those slopes that are not constant, in their order: what moves changes of the state, too.
  Program varied;
  std::vector<Slope> slopes;  ///< row by row
  std::vector<Contact> contacts;
};

}  // namespace graze
