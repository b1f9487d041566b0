/// The keys with which a case file chooses a map and how its attractors are looked for.
#pragma once

#include <string>
#include <vector>

#include "analysis/maps/attractor.hpp"
#include "core/results/dataset.hpp"
#include "core/settings/parameter.hpp"
#include "core/system/model.hpp"
#include "core/system/system.hpp"

namespace graze {

/// map, contact, side, coordinate, level, direction, transient, record, max_period, extension, persist,
/// exponent.
std::vector<Key> map_keys();

/// The section that table [analysis] asks for. Throws InputError for a contact or state that the model does
/// not have, a key that the map needs, a stroboscopic map of a model without forcing.
Section read_section(const Value& table, const Model& model, const Tolerance& tolerance);

/// Throws InputError when max_period is not below record, or a single point would take absurdly many bytes.
AttractorOptions read_attractor_options(const Value& table);

/// Index in a list (of states, contacts) of the name that a setting gives. Throws InputError naming the
/// nearest.
int index_of(const std::vector<Quantity>& list, const Value& name, const std::string& key);

/// The coordinates 0, 1, … of a dimension whose indices have names.
Array names_coordinate(const std::string& dimension, const std::vector<Quantity>& list, const char* meaning);

}  // namespace graze
