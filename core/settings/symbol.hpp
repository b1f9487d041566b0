/// How the name of a quantity is written in pictures.
#pragma once

#include <string>
#include <string_view>

#include "core/settings/parameter.hpp"

namespace graze {

/// The symbol that a name spells: Greek letters, a number at the end as a subscript, `_dot` as a dot above
/// the letter, underscores as blanks: delta -> δ, x1 -> x₁, phi1_dot -> φ̇₁, mass_ratio -> mass ratio. Names
/// that end in one letter after an underscore keep it: x_c.
std::string spelled_symbol(std::string_view name);

/// A unit with its exponents raised: "m s-1" -> "m s⁻¹", "N m-1.5" -> "N m⁻¹·⁵".
std::string typeset_unit(std::string_view unit);

/// What the model says, else the symbol that the name spells.
std::string symbol_of(const Quantity& quantity);

}  // namespace graze
