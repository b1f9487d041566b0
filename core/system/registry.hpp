/// How a model gets into the list, and out of it.
#pragma once

#include <memory>
#include <string>

#include "core/settings/registered.hpp"
#include "core/system/model.hpp"

namespace graze {

/// The model of this name. Throws InputError naming the nearest.
const ModelInfo& find_model(const std::string& name);
/// The model of this name with these settings, a table as [model] of a case file without `name`; those that
/// are left out have their defaults. Throws InputError.
std::shared_ptr<const Model> make_model(const std::string& name, const Value& settings);

}  // namespace graze

/// Begins the function that describes a model, in any source file of the library or of a program that is
/// linked with it, and in any namespace:
///
///     GRAZE_MODEL(mine) {
///       graze::ModelInfo info;
///       info.name = "mine";
///       …
///       return info;
///     }
///
/// models(), and with it every command, then knows the model. `name`: lower case letters, digits,
/// underscores.
#define GRAZE_MODEL(name)                                                               \
  ::graze::ModelInfo name##_model();                                                    \
  static const ::graze::Registered<::graze::ModelInfo> name##_registered(name##_model); \
  ::graze::ModelInfo name##_model()
