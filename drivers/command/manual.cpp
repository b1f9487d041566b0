/// graze manual: the manual page, made of the help.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "drivers/command/command.hpp"
#include "generated/version.hpp"

namespace graze {
namespace {

/// Text as troff takes it: no character of it is a command.
std::string troff(std::string_view text) {
  std::string result;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    begins = c == '\n';
  }
  return result;
}

std::string literal(const std::string& text) { return text.empty() ? "" : ".nf\n" + troff(text) + "\n.fi\n"; }

std::string option_text(const OptionHelp& option) {
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", troff(option.names),
                     option.value.empty() ? "" : " \\fI" + troff(option.value) + "\\fR",
                     troff(option.meaning));
}

/// "run CASE [OPTIONS]".
std::string usage(const VerbHelp& verb) {
  std::string text = verb.name;
  for (const OptionHelp& option : verb.options) {
    if (!option.is_argument) continue;
    text += option.required ? " " + option.names : " [" + option.names + "]";
  }
  return text + " [OPTIONS]";
}

std::string page(const CommandLine& app) {
  std::string text = fmt::format(
      ".TH GRAZE 1 \"\" \"graze {}\" \"User Commands\"\n.SH NAME\n{}\n.SH SYNOPSIS\n.B graze\nCOMMAND "
      "[OPTIONS]\n"
      ".SH COMMANDS\n",
      GRAZE_VERSION, troff("graze - " + app.about()));
  for (const VerbHelp& verb : app.verbs()) {
    text += fmt::format(".SS \"{}\"\n{}\n", troff(usage(verb)), troff(verb.meaning));
    for (const OptionHelp& option : verb.options) text += option_text(option);
    if (!verb.footer.empty()) text += ".PP\n" + literal(verb.footer);
  }
  return text + ".SH EXAMPLES AND EXIT CODES\n" + literal(app.footer());
}

}  // namespace

GRAZE_COMMAND(manual) {
  static_cast<void>(context);
  Verb verb = app.add_verb("manual", "print the manual page");
  verb.footer("Example:\n  graze manual > graze.1");
  verb.callback([&app] { fmt::print("{}", page(app)); });
}

}  // namespace graze
