#include "drivers/case_options.hpp"

namespace graze {

void add_case_options(CLI::App& verb, CaseOptions& options) {
  verb.add_option("CASE", options.path, "case file (TOML)")->required();
  verb.add_option("--set", options.overrides, "setting that replaces the one in the file; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  verb.add_option("--threads", options.threads, "threads; 0: what the case says, else all")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
}

}  // namespace graze
