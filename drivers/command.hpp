/// How a verb of the command line joins the program: its source has a line `GRAZE_COMMAND(verb) {` inside
/// namespace graze, which begins the function that adds the verb. The build collects these lines.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace graze {

/// What a script sees of the end of a command.
enum class Exit : int {
  done = 0,
  internal_error = 1,
  wrong_input = 2,    ///< wrong usage, case file or result file
  no_point = 3,       ///< no point succeeded
  some_failed = 4,    ///< the result is whole and valid, but some points failed
  stopped_early = 75  ///< the same command goes on from here
};

/// What main and the verbs have in common. Outlives all callbacks.
struct Context {
  std::string command_line;  ///< as typed, arguments quoted where a shell would need it
  Exit exit = Exit::done;    ///< set by the verb that runs
};

}  // namespace graze

/// Begins `void add_verb(CLI::App& app, Context& context)`. It adds a subcommand to `app` whose callback
/// does the work: results to stdout, messages to stderr, the code into `context.exit` when it is not
/// `done`. An InputError out of the callback ends the program with Exit::wrong_input, any other exception
/// with Exit::internal_error; main prints what() in both cases.
#define GRAZE_COMMAND(verb) void add_##verb(CLI::App& app, Context& context)
