/// graze completion: what a shell needs to complete command lines.
#include <fmt/format.h>

#include <sstream>
#include <string>

#include "drivers/command/command.hpp"

namespace graze {
namespace {

/// The options of a verb with all their names, separated by blanks.
std::string option_names(const VerbHelp& verb) {
  std::string names;
  for (const OptionHelp& option : verb.options) {
    if (option.is_argument) continue;
    std::istringstream stream(option.names);
    for (std::string name; std::getline(stream, name, ',');) names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

/// Names of models, analyses and cases come from the program that is called; all else is a file.
std::string bash_script(const CommandLine& app) {
  std::string names, options;
  for (const VerbHelp& verb : app.verbs()) {
    names += (names.empty() ? "" : " ") + verb.name;
    options += fmt::format("      {}) words='{}' ;;\n", verb.name, option_names(verb));
  }
  return fmt::format(R"(# bash completion of graze; made by: graze completion
_graze() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}} words=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words='{}'
  elif [[ $current == -* ]]; then
    case $verb in
{}    esac
  else
    case $verb in
      models | new) words=$("${{COMP_WORDS[0]}}" models 2>/dev/null | awk '{{ print $1 }}') ;;
      analyses | cases) words=$("${{COMP_WORDS[0]}}" "$verb" 2>/dev/null | awk '{{ print $1 }}') ;;
      *) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o filenames -F _graze graze
)",
                     names, options);
}

}  // namespace

GRAZE_COMMAND(completion) {
  static_cast<void>(context);
  Verb verb = app.add_verb("completion", "print the script by which bash completes command lines");
  verb.footer("Example:\n  source <(graze completion)");
  verb.callback([&app] { fmt::print("{}", bash_script(app)); });
}

}  // namespace graze
