/// How a system moves and what an impact does to it, as lists of operations.
#pragma once

#include <optional>
#include <vector>

#include "core/equations/program.hpp"

namespace graze {

/// Of a compliant contact, whose force is multiplied by its flag.
struct LawProgram {
  Fixed flag{};                    ///< 1 while it is engaged
  bool by_gap = false;             ///< it lasts while depth > 0; else until its force vanishes
  std::optional<Program> force{};  ///< what has the sign of the force, where this may vanish while depth > 0
};

/// Of a smooth system with rigid and compliant contacts without friction. Input 0 of all programs is time,
/// input 1 + s state s.
struct MotionProgram {
  struct Contact {
    /// The gap, its rate, its foot (a contact only where that is positive); the changes of the coordinates
    /// `moved` per change of that rate by an impulse; the terms that the gap is the sum of.
    Program impact;
    Program pressing;                     ///< minus the gap's acceleration, no contact closed
    std::vector<int> position, velocity;  ///< states, of each coordinate that an impulse moves
    Fixed restitution{};
    bool has_foot = false;
    std::optional<LawProgram> law{};
  };

  /// ∂(rate of state `of`)/∂(state `by`), where it is not zero.
  struct Slope {
    int of = 0, by = 0;
    std::optional<Fixed> constant;  ///< one that hangs on parameters only
  };

  /// The rates of all states, then the gaps of all contacts, none of them closed, then the forces of those
  /// that may vanish while depth > 0, or 1 where they are not engaged.
  Program flow;
  /// … then those slopes that are not constant, in their order: what moves changes of the state, too.
  Program varied;
  std::vector<Slope> slopes;  ///< row by row
  std::vector<Contact> contacts;
  std::vector<int> velocities;  ///< states
  /// What hangs on flags, each after what it needs: sums, products and quotients.
  struct Switched {
    Fixed result{};
    FixedOperation operation;
  };
  std::vector<Switched> switched;
};

}  // namespace graze
