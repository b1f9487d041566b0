/// What a system tells of itself whose motion between rigid contacts without friction is linear.
#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace graze {

/// All that decides such a motion, where the system has it: LinearSystem, which see.
struct LinearLaw {
  using Matrix = Eigen::Map<const Eigen::MatrixXd>;
  using Vector = Eigen::Map<const Eigen::VectorXd>;

  Matrix mass, damping, stiffness;
  Vector constant, frequency;
  Matrix cosine, sine, normal;
  Vector position, restitution;
  double base_frequency = 0;
  bool commensurate = true;
  double rate = 0;          ///< System::rate
  double chatter = 0;       ///< Tolerance::chatter
  std::int64_t events = 0;  ///< Tolerance::events
};

}  // namespace graze
