/// When the engine stops following.
#pragma once

#include <cstdint>
#include <vector>

#include "core/settings/parameter.hpp"
#include "core/settings/value.hpp"

namespace graze {

/// Numbers that decide when the engine stops following; each with its reason in tolerance_keys().
struct Tolerance {
  /// What moves nonlinear systems of equations.
  enum class Engine : signed char { series, odeint };
  double chatter = 1e-5;
  double turn = 0.01;
  std::int64_t events = 100000;
  double patience = 1000;
  double integration = 1e-15;
  Engine engine = Engine::series;
};

/// Table [tolerance] of the case file.
const std::vector<Key>& tolerance_keys();
/// From the checked table.
Tolerance read_tolerance(const Value& table);

}  // namespace graze
