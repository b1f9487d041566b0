/// A system that is given by its equations as text: what reading them comes to.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/contact/jump_maps.hpp"
#include "core/equations/motion_program.hpp"
#include "core/models/linear_form.hpp"
#include "core/system/model.hpp"

namespace graze {

/// Changes of velocities that add one to the opening speed of a contact: M⁻¹n/(nᵀM⁻¹n).
struct TypedKick {
  struct Constant {
    int coordinate;
    Fixed change;
  };
  std::vector<Constant> fixed;
  std::vector<int> moving;  ///< coordinates, of which the program works out the changes
  Program program;
};

/// Force F of a compliant contact at depth = −gap, of a law that vanishes with depth and depth'.
struct TypedLaw {
  Program force;          ///< F, what it is zero with while depth > 0, ∂F/∂depth, ∂F/∂depth'
  Program elastic;        ///< F where depth' is 0
  Program at_surface;     ///< F where depth is 0
  bool by_gap = false;    ///< it lasts while depth > 0; else until F vanishes
  bool watched = false;   ///< F may vanish while depth > 0
  bool singular = false;  ///< there may be no power series where depth is 0
  /// F = preload + stiffness depth + damping depth', where the contact says so.
  struct Linear {
    Fixed stiffness{}, damping{};
  };
  std::optional<Linear> linear;
  Fixed preload{};
};

/// Dry friction along a slip that is linear in the velocities.
struct TypedFriction {
  Program slip;
  Program amplitude, limit;    ///< sliding, at rest
  std::optional<Fixed> fixed;  ///< amplitude, where it hangs on parameters only
  bool eases = false;          ///< the two are not the same
  /// What is slid against and what holds at rest, at least as much: amplitudes, or coefficients of a contact,
  /// where `static` is typed and both hang on parameters only.
  struct Bounds {
    Fixed sliding{}, resting{};
  };
  std::optional<Bounds> bounds;
  /// Whose force it is a share of; of a rigid one amplitude and limit are the coefficients.
  int contact = -1;
  Program share, share_at_rest;  ///< by a contact: of its force
};

struct TypedContact {
  Program gap, opening, pressing;  ///< gap, its rate, minus its acceleration with all contacts open
  Program terms;                   ///< what the gap is a sum of
  std::optional<Program> foot;
  TypedKick kick;
  Program mobility;  ///< nᵀM⁻¹n
  Fixed restitution{};
  std::optional<TypedLaw> law;  ///< of a compliant one
};

/// What sets the state anew where `trigger` passes through zero.
struct TypedJump {
  JumpDirection direction = JumpDirection::down;
  Program trigger;
  Program terms;  ///< what the trigger is a sum of
  std::vector<int> states;
  Program values;  ///< of these states, from the state before
};

/// Input 0 of all programs is time, input 1 + s state s.
struct TypedSystem {
  int coordinates = 0, others = 0;      ///< second order, first order
  std::vector<int> position, velocity;  ///< states, of each coordinate
  std::vector<int> other;               ///< states, of each first-order equation
  std::vector<FixedOperation> operations;
  Program rates;     ///< accelerations, then the rates of the others
  Program mass;      ///< M, row by row
  Program jacobian;  ///< of the rates by the states, row by row in their order
  std::vector<TypedContact> contacts;
  std::vector<TypedJump> jumps;
  std::vector<TypedFriction> frictions;
  /// Where contacts are compliant or there are frictions: what a force that opens contact i, then one against
  /// slip k, makes of the accelerations; rates of the opening speeds, then of the slips with the other sign,
  /// all contacts open and no friction; changes of these per force, row by row, of the upper triangle.
  std::vector<TypedKick> pushes;
  Program holding;
  MotionProgram motion;  ///< all of this that decides a motion, of what has_motion()
  std::optional<Fixed> period, fastest_rate;
  std::vector<Fixed> start;                  ///< of the states, where the case does not say
  std::vector<Symmetry> symmetries;          ///< of the states
  std::vector<std::size_t> shifted;          ///< states to which anything may be added
  std::shared_ptr<const LinearForm> linear;  ///< where it is linear with constant coefficients

  int states() const { return 2 * coordinates + others; }
  /// Whether all that can happen are impacts of rigid contacts.
  bool only_impacts() const {
    return frictions.empty() && std::none_of(contacts.begin(), contacts.end(),
                                             [](const TypedContact& c) { return c.law.has_value(); });
  }
  /// Whether it has a MotionProgram.
  bool has_motion() const {
    return frictions.empty() && jumps.empty() &&
           std::none_of(contacts.begin(), contacts.end(),
                        [](const TypedContact& c) { return c.law && c.law->singular; });
  }
};

/// From a checked table [model]; parameters, states, contacts and jumps are told to the model.
struct TypedDescription {
  std::vector<Parameter> parameters;
  std::vector<Quantity> states;
  std::vector<Quantity> contacts;
  std::vector<Quantity> jumps;
  std::vector<Quantity> frictions;
  std::vector<std::string> warnings;  ///< parameters and definitions that nothing uses, with their places
  std::shared_ptr<const TypedSystem> system;
};

/// The keys of such a table but for its parameters.
std::vector<Key> typed_keys();

/// Throws InputError.
TypedDescription read_typed(const Value& table);

}  // namespace graze
