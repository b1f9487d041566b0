/// What the case in a result says of the names in it: symbols, units, which state is whose velocity, and
/// which parameters differ from their defaults.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/system/model.hpp"
#include "data/archive.hpp"

namespace graze {

/// A position and its velocity among the states.
struct Pair {
  std::size_t position;
  std::size_t velocity;
};

class Described {
 public:
  /// Of a result with these attributes. A case that this program can't read says nothing: names spell their
  /// symbols.
  explicit Described(const Attributes& attributes);

  std::string symbol(std::string_view name) const;
  /// "symbol [unit]", the unit of the file where it says one, else that of the model.
  std::string label(std::string_view name, std::string_view unit) const;
  std::vector<Pair> pairs(const std::vector<std::string>& states) const;
  /// The first two positions, of motions that drift in some the first two that stay, else velocities; without
  /// any the first state.
  std::vector<std::string> usual_states(const std::vector<std::string>& states) const;
  /// Whether this array is the time mean of an observable of the case.
  bool is_observed_mean(std::string_view array) const;
  /// "δ = 0.3, d₁ = −0.3": parameters whose values are not the defaults, but for these (the swept ones).
  std::string parameters(const std::vector<std::string>& swept) const;
  /// The model of the case, nullptr when it can't be read.
  const Model* model() const { return model_.get(); }
  const Tolerance& tolerance() const { return tolerance_; }

 private:
  const Quantity* find(std::string_view name) const;

  std::shared_ptr<const Model> model_;
  std::vector<std::string> drifting_;
  std::vector<std::string> means_;  ///< arrays, of the observables
  std::vector<double> defaults_;    ///< of the parameters; not a number: none
  Tolerance tolerance_;
};

/// Names of the states to which a shift of the motion adds something, such as the place of a body that
/// drifts.
/// `system`: one of the model, or nullptr.
std::vector<std::string> drifting_states(const Model& model, const System* system);

/// "name [unit]", or the name alone where the unit is 1 or not said.
std::string label_with_unit(std::string_view name, std::string_view unit);

}  // namespace graze
