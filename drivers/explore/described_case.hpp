/// What the page knows of a case: model, settings, colours.
#pragma once

#include <string>

#include "core/settings/value.hpp"
#include "data/archive.hpp"
#include "drivers/library/case.hpp"

namespace graze {

/// What a page shows: a case, and a result of it where there is one.
struct Shown {
  std::string name;  ///< the file, as given
  CaseFile file;     ///< of the case
  bool has_result = false;
  Result result;
};

/// Reads a case (FILE.toml) or a result. Throws InputError, also for a result that has nothing to show there.
Shown read_shown(const std::string& path);

/// A table: `title`, `name`, `analysis`, `model`, `meaning`, `parameters`, `states` and `contacts` (name,
/// symbol, unit, meaning, range), `sections` (the tables of the case file, each value in TOML), `colours`.
Value described(const Shown& shown, const Case& c);

}  // namespace graze
