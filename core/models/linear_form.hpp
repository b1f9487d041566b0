/// A linear system with stops and dry friction whose numbers hang on the parameters of the model by
/// expressions.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "core/equations/graph.hpp"
#include "core/linear/system.hpp"
#include "core/system/model.hpp"

namespace graze {

/// The entries of LinearSystem (core/linear/system), which see.
struct LinearForm {
  using Vector = Eigen::Matrix<Fixed, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<Fixed, Eigen::Dynamic, Eigen::Dynamic>;

  std::vector<FixedOperation> operations;  ///< that these are results of
  Matrix mass, damping, stiffness;
  Vector constant;
  Vector frequency;
  Matrix cosine, sine;     ///< of each frequency, in columns
  Fixed base_frequency{};  ///< a zero: autonomous
  bool commensurate = true;
  Matrix normal;  ///< of each stop, in columns
  Vector position, restitution;
  std::vector<StopLaw> law;                      ///< of each stop; empty: all are rigid
  Vector stop_stiffness, stop_damping, preload;  ///< of each stop, where some are compliant
  Matrix sliding;                                ///< direction of each friction, in columns
  Vector friction;
  std::vector<int> pressed_by;  ///< of each friction the compliant stop it is on; -1: none
};

/// At these parameter values; nullptr when they make no system.
std::unique_ptr<System> linear_system(std::shared_ptr<const LinearForm> form, std::span<const double> values,
                                      const Tolerance& tolerance);

}  // namespace graze
