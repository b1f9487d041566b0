/// What a model is to the rest of the program.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/settings/parameter.hpp"
#include "core/settings/value.hpp"
#include "core/system/system.hpp"
#include "core/system/tolerance.hpp"

namespace graze {

class Model {
 public:
  virtual ~Model() = default;
  /// All scalars that a sweep may vary, with the values of the case file.
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<Quantity>& states() const { return states_; }
  const std::vector<Quantity>& contacts() const { return contacts_; }
  /// Dry frictions of which it is told when they stick.
  const std::vector<Quantity>& frictions() const { return frictions_; }
  /// Jump maps: what sets the state anew and is no contact.
  const std::vector<Quantity>& jumps() const { return jumps_; }
  /// What the case file says that is allowed but seldom meant, a sentence each.
  const std::vector<std::string>& remarks() const { return remarks_; }
  /// Index of a parameter by name, -1 when there is none.
  int parameter_index(std::string_view name) const;
  /// The values of the case file, in the order of parameters().
  std::vector<double> values() const;
  /// Where a motion starts at these parameter values when the case file does not say.
  virtual std::vector<double> start(std::span<const double> values) const;
  /// The system at these parameter values; nullptr when they make none (Outcome::bad_parameters).
  virtual std::unique_ptr<System> system(std::span<const double> values,
                                         const Tolerance& tolerance) const = 0;

 protected:
  std::vector<Parameter> parameters_;
  std::vector<Quantity> states_;
  std::vector<Quantity> contacts_;
  std::vector<Quantity> frictions_;
  std::vector<Quantity> jumps_;
  std::vector<std::string> remarks_;
};

struct ModelInfo {
  std::string name;
  std::string meaning;                 ///< a sentence or two: the system in words
  std::string equations;               ///< plain text, one equation a line
  std::vector<std::string> citations;  ///< papers, most important first
  std::vector<Key> keys;               ///< of table [model], `name` left out
  std::vector<Quantity> states;        ///< with the default settings
  std::vector<Quantity> contacts;      ///< with the default settings
  std::vector<Quantity> frictions;     ///< with the default settings
  std::vector<Quantity> jumps;         ///< with the default settings
  std::string modes;                   ///< what the integer `mode` says
  /// What `graze new` prints below `name` in [model]: TOML with comments. Of models whose required keys have
  /// no value that fits every system; empty: all keys with their defaults.
  std::string example;
  std::string text;  ///< of the model file, verbatim; empty: the model is written in C++
  /// Start of a motion for a model whose settings are its parameters; empty: all states zero.
  std::function<std::vector<double>(std::span<const double> values)> start;
  /// From the checked table [model]. Throws InputError.
  std::function<std::shared_ptr<const Model>(const Value& table)> make;

  /// For a model whose settings are just its parameters: fills in `keys` and `make` from their table, after
  /// states and contacts. `system` makes the system from their values, nullptr when they make none.
  void set_parameters(
      std::vector<Parameter> parameters,
      std::function<std::unique_ptr<System>(std::span<const double>, const Tolerance&)> system);
};

/// The same model where the case file gives its parameters these values, in the order of parameters().
std::shared_ptr<const Model> with_values(std::shared_ptr<const Model> model,
                                         const std::vector<double>& values);

/// All models, by name.
const std::vector<ModelInfo>& models();

}  // namespace graze
