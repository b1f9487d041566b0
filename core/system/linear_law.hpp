/// What a system tells of itself whose motion between contacts without friction is linear.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

#include "core/system/compliant_stop.hpp"

namespace graze {

/// All that decides such a motion, where the system has it: LinearSystem, which see.
struct LinearLaw {
  using Matrix = Eigen::Map<const Eigen::MatrixXd>;
  using Vector = Eigen::Map<const Eigen::VectorXd>;

  Matrix mass, damping, stiffness;
  Vector constant, frequency;
  Matrix cosine, sine, normal;
  Vector position, restitution;
  std::span<const StopLaw> law;         ///< of each contact, none with a plate; nothing: all are rigid
  Vector stop_stiffness, stop_damping;  ///< of those that are not
  /// Where the two bits of contact 0 stand in a mode that tell its Spring; those of the others follow.
  std::int64_t springs = 0;
  double base_frequency = 0;
  bool commensurate = true;
  double rate = 0;          ///< System::rate
  double chatter = 0;       ///< Tolerance::chatter
  std::int64_t events = 0;  ///< Tolerance::events
};

}  // namespace graze
