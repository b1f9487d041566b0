/// Case files: TOML text into a settings tree, with overrides and positions.
#pragma once

#include <string>
#include <vector>

#include "core/settings/value.hpp"

namespace graze {

struct CaseFile {
  std::string path;                    ///< as given
  std::string text;                    ///< the file, verbatim
  std::vector<std::string> overrides;  ///< each "key=value", verbatim
  Value root;                          ///< file and overrides together, not yet checked against any keys
  std::string model;  ///< of a case out of a result: the text of the model file that it was run with
};

/// Reads a case file and applies overrides "dotted.key=TOML value" in order. A bare word that is no TOML
/// value is taken as text. Throws InputError with file:line:column for an unreadable file, wrong syntax, a
/// wrong override ("--set" stands for the file) or a wrong format version (key `graze`).
CaseFile read_case(const std::string& path, const std::vector<std::string>& overrides);

/// The same for a text that is in memory; `name` stands for the file in messages.
CaseFile parse_case(std::string text, const std::string& name, const std::vector<std::string>& overrides);

}  // namespace graze
