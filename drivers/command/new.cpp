/// graze new: a case file to begin with.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/settings/value.hpp"
#include "core/system/registry.hpp"
#include "data/case_file.hpp"
#include "drivers/command/command.hpp"
#include "drivers/command/key_table.hpp"

namespace graze {
namespace {

/// A value for a key that must be given.
std::string placeholder(const Key& key) {
  switch (key.type) {
    case Key::Type::matrix:
      return "[[1]]";
    case Key::Type::numbers:
      return "[1]";
    case Key::Type::text:
      return key.choices.empty() ? "\"\"" : Value(key.choices.front()).toml();
    case Key::Type::boolean:
      return "false";
    default:
      return "1";
  }
}

/// "# d1 = 0.3  # stop of mass 1": keys that may be left out are comments.
std::string key_line(const Key& key) {
  const std::string unit = key.unit.empty() || key.unit == "1" ? "" : " [" + key.unit + "]";
  if (key.required) return fmt::format("{} = {}  # {}{}\n", key.name, placeholder(key), key.meaning, unit);
  if (key.fallback.empty()) return fmt::format("# {}: {}\n", key.name, key.meaning);
  return fmt::format("# {} = {}  # {}{}; {}\n", key.name, key.fallback.toml(), key.meaning, unit,
                     type_text(key));
}

/// The table [model] with placeholders where keys must be given.
Value smallest_table(const ModelInfo& info) {
  Value table{Value::Table{}};
  for (const Key& key : info.keys) {
    if (!key.required) continue;
    const Value one(1.0);
    const Value row(Value::Array{one});
    table.set(key.name, key.type == Key::Type::matrix    ? Value(Value::Array{row})
                        : key.type == Key::Type::numbers ? row
                                                         : one);
  }
  return table;
}

/// The table [model] of an example, without its name.
Value example_table(const ModelInfo& info) {
  const CaseFile file =
      parse_case(fmt::format("graze = 1\n[model]\n{}", info.example), "example of " + info.name, {});
  return file.root.at("model");
}

/// A parameter worth sweeping: a frequency, else the first that is not zero.
const Parameter& swept(const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters)
    if (parameter.meaning.find("frequency") != std::string::npos && parameter.value > 0) return parameter;
  for (const Parameter& parameter : parameters)
    if (parameter.value != 0 && std::isfinite(parameter.value)) return parameter;
  return parameters.front();
}

std::string case_text(const ModelInfo& info) {
  const bool has_example = !info.example.empty();
  const std::shared_ptr<const Model> model =
      make_model(info.name, has_example ? example_table(info) : smallest_table(info));
  std::string text = fmt::format("# {}\ngraze = 1\ntitle = \"{}\"\n\n[model]\nname = \"{}\"\n", info.meaning,
                                 info.name, info.name);
  if (has_example)
    text += fmt::format("# graze models {} explains all keys\n{}", info.name, info.example);
  else
    for (const Key& key : info.keys) text += key_line(key);
  text += "\n[initial]\n";
  for (const Quantity& state : model->states())
    text += fmt::format("# {} = 0.0  # {}\n", state.name, state.meaning);
  text +=
      "\n# graze analyses lists what else can be asked; graze analyses NAME explains the keys\n[analysis]\n";
  const std::unique_ptr<System> system = model->system(model->values(), Tolerance{});
  const Parameter& parameter = swept(model->parameters());
  if (!system || !(system->period() > 0)) {  // a sweep without forcing needs a section
    text += "name = \"simulate\"\nend_time = 10.0\nsamples = 1000\n# parameters:";
  } else {
    const double low = parameter.value != 0 ? 0.8 * parameter.value : 0;
    const double high = parameter.value != 0 ? 1.2 * parameter.value : 1;
    text += fmt::format(
        "name = \"sweep\"\naxis = {{ parameter = \"{}\", from = {}, to = {}, points = 201 }}  # any of:",
        parameter.name, Value(low).toml(), Value(high).toml());
  }
  for (const Parameter& other : model->parameters()) text += " " + other.name;
  return text + "\n";
}

}  // namespace

GRAZE_COMMAND(new) {
  static_cast<void>(context);
  Verb verb = app.add_verb("new", "print a commented case file for a model");
  const auto name = std::make_shared<std::string>();
  verb.option("MODEL", *name, "a name from graze models", {.required = true});
  verb.footer("Example:\n  graze new impact_oscillator > case.toml");
  verb.callback([name] { fmt::print("{}", case_text(find_model(*name))); });
}

}  // namespace graze
