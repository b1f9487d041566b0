/// Events of a result as CSV.
#pragma once

#include <string>

#include "core/results/dataset.hpp"

namespace graze {

/// The events of a dataset as lines `time,kind,contact,approach_speed,<state>_before…,<state>_after…` below
/// a header line: numbers with 17 significant digits, kinds and contacts by name, nothing where an event
/// has no contact. Throws InputError when the dataset has no events.
std::string event_table(const Dataset& data);

}  // namespace graze
