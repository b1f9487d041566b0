/// The options of the verbs that take a case file: whatever can be run can be checked.
#pragma once

#include <string>
#include <vector>

#include "core/results/shard.hpp"
#include "data/archive.hpp"
#include "drivers/command/command.hpp"
#include "drivers/library/case.hpp"

namespace graze {

struct CaseOptions {
  std::string path;
  std::vector<std::string> overrides;  ///< of --set
  int threads = 0;                     ///< 0: what the case says
  std::string shard;                   ///< of --shard; "": the whole
  std::string max_time;                ///< of --max-time; "": no limit
  std::string output;                  ///< of --output; "": what the case says
  std::string events;                  ///< of --events; "": none
  bool force = false;                  ///< --force
  bool quiet = false;                  ///< --quiet
};

/// Reads "I/N", 1 <= I <= N; "" is the whole. Throws InputError.
Shard read_shard(const std::string& text);

/// Adds CASE and all options. `options` must outlive the parsing and the callback.
void add_case_options(Verb& verb, CaseOptions& options);

/// Where the result goes: what the command line says, else the case, else the case's name with ending .h5.
std::string result_path(const Case& c, const std::string& output);

/// Throws InputError where the result is another case's and --force is not given.
void refuse_foreign(const std::string& path, ResultState state, const CaseOptions& options);

}  // namespace graze
