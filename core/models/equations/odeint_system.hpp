/// Typed systems moved by Boost.Odeint.
#pragma once

#include <memory>
#include <span>

#include "core/models/equations/typed_system.hpp"
#include "core/system/system.hpp"
#include "core/system/tolerance.hpp"

namespace graze {

/// The same equations, contacts and jumps, between them another flow (core/smooth/odeint_flow). The values
/// make a system.
std::unique_ptr<System> odeint_system(std::shared_ptr<const TypedSystem> system,
                                      std::span<const double> values, const Tolerance& tolerance);

}  // namespace graze
