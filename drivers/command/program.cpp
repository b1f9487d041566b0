/// The command line: one verb per file, joined here.
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/settings/value.hpp"
#include "data/memory.hpp"
#include "drivers/command/broken_files.hpp"
#include "drivers/command/command.hpp"
#include "drivers/library/main.hpp"
#include "drivers/library/text.hpp"
#include "generated/version.hpp"

namespace graze {

// The list of verbs that the build has collected: first declared, then called.
#undef GRAZE_COMMAND
#define GRAZE_COMMAND(verb) void add_##verb(CommandLine& app, Context& context);
#include "generated/commands.inc"
#undef GRAZE_COMMAND

namespace {

void add_commands(CommandLine& app, Context& context) {
#define GRAZE_COMMAND(verb) add_##verb(app, context);
#include "generated/commands.inc"
#undef GRAZE_COMMAND
}

constexpr const char* about = "bifurcation analysis of systems with impacts and friction";
constexpr const char* examples =
    "Examples:\n"
    "  graze models two_dof_stops                     parameters, states and contacts of a model\n"
    "  graze check case.toml                          what a run would do, and how long\n"
    "  graze run case.toml -o result.h5               do it; the same command resumes after a stop\n"
    "  graze run case.toml --set model.delta=0.25     with another value\n"
    "  graze plot result.h5 -o picture.png            draw what is in the file\n"
    "  graze motion result.h5 --at delta=0.71         the motion at a place of it\n"
    "  graze new impact_oscillator > case.toml        a commented case to begin with\n"
    "Exit codes: 0 done, 1 internal error, 2 wrong usage or case file, 3 no point succeeded,\n"
    "  4 done but some points failed, 75 stopped early (the same command resumes).";

/// The arguments as a shell would take them again.
std::string quoted_command(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i > 0 ? " " : "") + shell_text(argv[i]);
  return line;
}

Exit parse_and_run(int argc, char** argv) {
  Context context;
  context.command_line = quoted_command(argc, argv);
  CommandLine app(about, "graze " GRAZE_VERSION, examples);
  add_commands(app, context);
  const std::optional<Exit> ended = app.parse(argc, argv);
  return ended ? *ended : context.exit;
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  Exit exit = Exit::internal_error;
  try {
    end_on_broken_files(Exit::wrong_input);
    exit = parse_and_run(argc, argv);
  } catch (const InputError& error) {
    fmt::print(stderr, "graze: {}\n", error.what());
    exit = Exit::wrong_input;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "graze: out of memory; fewer threads or a smaller run.block need less\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "graze: {}\n", error.what());
  }
  if (std::fflush(stdout) != 0 && exit == Exit::done) {
    std::perror("graze: standard output");
    exit = Exit::internal_error;
  }
  return static_cast<int>(exit);
}

}  // namespace graze
