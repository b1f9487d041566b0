/// The options of every verb that takes a case file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace graze {

struct CaseOptions {
  std::string path;
  std::vector<std::string> overrides;  ///< of --set
  int threads = 0;                     ///< 0: what the case says
};

/// Adds CASE, --set and --threads. `options` must outlive the parsing and the callback.
void add_case_options(CLI::App& verb, CaseOptions& options);

}  // namespace graze
