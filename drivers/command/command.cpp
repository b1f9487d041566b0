#include "drivers/command/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

#include "core/settings/value.hpp"

namespace graze {
namespace {

void ask(CLI::Option& option, const Asked& asked) {
  if (asked.value != nullptr) option.type_name(asked.value);
  option.required(asked.required);
}

OptionHelp help_of(const CLI::Option& option) {
  const bool is_argument = option.get_positional();
  return {is_argument ? option.get_name(true) : option.get_name(false, true),
          is_argument || option.get_items_expected_max() == 0 ? "" : option.get_type_name(),
          option.get_description(), is_argument, option.get_required()};
}

VerbHelp help_of(const CLI::App& verb) {
  VerbHelp help{verb.get_name(), verb.get_description(), {}, verb.get_footer()};
  for (const CLI::Option* option : verb.get_options()) help.options.push_back(help_of(*option));
  return help;
}

}  // namespace

void Verb::option(const char* names, std::string& to, const char* meaning, const Asked& asked) {
  ask(*app_->add_option(names, to, meaning), asked);
}

void Verb::option(const char* names, double& to, const char* meaning) {
  app_->add_option(names, to, meaning);
}

void Verb::option(const char* names, int& to, const char* meaning, const Asked& asked) {
  CLI::Option& option = *app_->add_option(names, to, meaning);
  ask(option, asked);
  const Asked any;
  if (asked.least != any.least || asked.most != any.most) option.check(CLI::Range(asked.least, asked.most));
}

void Verb::option(const char* names, std::vector<std::string>& to, const char* meaning, const Asked& asked) {
  CLI::Option& option = *app_->add_option(names, to, meaning);
  ask(option, asked);
  if (names[0] == '-') option.allow_extra_args(false);
}

void Verb::flag(const char* name, bool& to, const char* meaning) { app_->add_flag(name, to, meaning); }

void Verb::footer(const char* text) { app_->footer(text); }

void Verb::callback(std::function<void()> work) { app_->callback(std::move(work)); }

CommandLine::CommandLine(const char* about, const char* version, const char* footer)
    : app_(std::make_unique<CLI::App>(about, "graze")) {
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
  app_->footer(footer);
}

CommandLine::~CommandLine() = default;

Verb CommandLine::add_verb(const char* name, const char* meaning) {
  names_.emplace_back(name);
  return Verb(*app_->add_subcommand(name, meaning));
}

std::vector<VerbHelp> CommandLine::verbs() const {
  std::vector<VerbHelp> verbs;
  for (const CLI::App* verb : app_->get_subcommands({})) verbs.push_back(help_of(*verb));
  std::sort(verbs.begin(), verbs.end(), [](const VerbHelp& a, const VerbHelp& b) { return a.name < b.name; });
  return verbs;
}

std::string CommandLine::about() const { return app_->get_description(); }

std::string CommandLine::footer() const { return app_->get_footer(); }

std::optional<Exit> CommandLine::parse(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "{}", app_->help());
    return Exit::wrong_input;
  }
  const std::string_view first = argv[1];
  if (!first.starts_with('-') && std::find(names_.begin(), names_.end(), first) == names_.end()) {
    const std::string nearest = nearest_name(first, names_);
    fmt::print(stderr, "graze: there is no command {}; {}graze --help lists them all\n", first,
               nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest));
    return Exit::wrong_input;
  }
  try {
    app_->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {  // --help and --version come this way too
    return app_->exit(error) == 0 ? Exit::done : Exit::wrong_input;
  }
}

}  // namespace graze
