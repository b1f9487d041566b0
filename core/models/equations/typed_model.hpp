/// The model that a text of equations makes.
#pragma once

#include <memory>
#include <span>

#include "core/models/equations/typed_system.hpp"
#include "core/system/model.hpp"

namespace graze {

class TypedModel final : public Model {
 public:
  /// From a table with the keys of `typed_keys`. Throws InputError.
  explicit TypedModel(const Value& table);
  std::unique_ptr<System> system(std::span<const double> values, const Tolerance& tolerance) const override;
  /// Whether it is linear with constant coefficients, and moves by its exact flow.
  bool is_linear() const { return system_->linear != nullptr; }
  /// Moved by power series, also where it is linear; nullptr when the values make no system.
  std::unique_ptr<System> series_system(std::span<const double> values, const Tolerance& tolerance) const;

 private:
  std::shared_ptr<const TypedSystem> system_;
};

}  // namespace graze
