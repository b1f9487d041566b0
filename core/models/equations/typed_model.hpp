/// The model that a text of equations makes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/models/equations/typed_system.hpp"
#include "core/system/model.hpp"

namespace graze {

/// What the integer `mode` of such a system says.
inline constexpr const char* typed_modes =
    "bit i set: contact number i (from 0) is closed\n"
    "  with rigid contacts alone, after n contacts bit n + i set: contact i has been passed by, where it has "
    "a "
    "foot; bit 2 n + k: the trigger of jump k is negative\n"
    "  else, bits n + 2k, n + 2k + 1: friction k (from 0), 0 none, 1 slides forward, 2 backward, 3 sticks\n"
    "  then bit i of the next n set: contact i is closed but does not press, friction holds the bodies\n"
    "  with a compliant contact, then two bits of each contact: 0 open or closed, 1 engaged, 2 released and "
    "not back at depth 0 yet; closed: at rest under less than the preload";

class TypedModel final : public Model {
 public:
  /// From a table with the keys of `typed_keys`. Throws InputError.
  explicit TypedModel(const Value& table);
  std::vector<double> start(std::span<const double> values) const override;
  std::unique_ptr<System> system(std::span<const double> values, const Tolerance& tolerance) const override;
  /// Parameters and definitions that nothing uses, with their places.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Whether it is linear with constant coefficients, and moves by its exact flow.
  bool is_linear() const { return system_->linear != nullptr; }
  /// Moved by the engine that the tolerance names, also where it is linear; nullptr when the values make no
  /// system.
  std::unique_ptr<System> smooth_system(std::span<const double> values, const Tolerance& tolerance) const;

 private:
  std::vector<std::string> warnings_;
  std::shared_ptr<const TypedSystem> system_;
};

}  // namespace graze
