/// The command line: verbs with their options, and how a verb joins the program.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

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

/// What is asked of the value of an option.
struct Asked {
  const char* value = nullptr;  ///< its name in the help, such as FILE; default: that of its type
  bool required = false;
  int least = std::numeric_limits<int>::min();  ///< of whole numbers
  int most = std::numeric_limits<int>::max();
};

/// A verb. Names of options are "-o,--output", or "FILE" for an argument without dashes. What options write
/// to must outlive the parsing and the callback. The parser's headers are seen by command.cpp only: they
/// take longer to compile than all that a verb has of its own.
class Verb {
 public:
  explicit Verb(CLI::App& app) : app_(&app) {}
  void option(const char* names, std::string& to, const char* meaning, const Asked& asked = {});
  void option(const char* names, double& to, const char* meaning);
  void option(const char* names, int& to, const char* meaning, const Asked& asked = {});
  /// One value each time it is given; without dashes, all that follow.
  void option(const char* names, std::vector<std::string>& to, const char* meaning, const Asked& asked = {});
  void flag(const char* name, bool& to, const char* meaning);
  /// What the help says last.
  void footer(const char* text);
  /// Called where this is the verb on the command line.
  void callback(std::function<void()> work);

 private:
  CLI::App* app_;
};

/// What the help says of an option or an argument.
struct OptionHelp {
  std::string names;  ///< "-o,--output", or the name of an argument without dashes
  std::string value;  ///< name of its value; "" for a flag
  std::string meaning;
  bool is_argument = false;
  bool required = false;
};

/// What the help says of a verb.
struct VerbHelp {
  std::string name;
  std::string meaning;
  std::vector<OptionHelp> options;
  std::string footer;
};

class CommandLine {
 public:
  CommandLine(const char* about, const char* version, const char* footer);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Verb add_verb(const char* name, const char* meaning);
  /// All verbs by name, for pages and programs that know the command line.
  std::vector<VerbHelp> verbs() const;
  std::string about() const;
  /// Examples and exit codes.
  std::string footer() const;
  /// Calls the verb. A value: there was nothing to call, help or an error of usage has been printed.
  std::optional<Exit> parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  std::vector<std::string> names_;  ///< of the verbs
};

}  // namespace graze

/// Begins `void add_verb(CommandLine& app, Context& context)`; the build collects these lines. It adds a
/// verb to `app` whose callback does the work: results to stdout, messages to stderr, the code into
/// `context.exit` when it is not `done`. An InputError out of the callback ends the program with
/// Exit::wrong_input, any other exception with Exit::internal_error; main prints what() in both cases.
#define GRAZE_COMMAND(verb) void add_##verb(CommandLine& app, Context& context)
