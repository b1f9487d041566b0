/// The options of every verb that takes a case file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/shard.hpp"

namespace graze {

struct CaseOptions {
  std::string path;
  std::vector<std::string> overrides;  ///< of --set
  int threads = 0;                     ///< 0: what the case says
  std::string shard;                   ///< of --shard; "": the whole
  std::string max_time;                ///< of --max-time; "": no limit
};

/// Reads "I/N", 1 <= I <= N; "" is the whole. Throws InputError.
Shard read_shard(const std::string& text);

/// Adds CASE, --set, --threads, --shard and --max-time. `options` must outlive the parsing and the callback.
void add_case_options(CLI::App& verb, CaseOptions& options);

}  // namespace graze
