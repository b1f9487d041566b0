/// graze models: what there is to choose from.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/models/equations/model_file.hpp"
#include "core/system/registry.hpp"
#include "data/model_file.hpp"
#include "drivers/command/command.hpp"
#include "drivers/command/key_table.hpp"
#include "drivers/library/case.hpp"

namespace graze {
namespace {

void print_quantities(const char* title, const std::vector<Quantity>& quantities) {
  if (quantities.empty()) return;
  fmt::print("\n{}\n", title);
  std::vector<Row> rows;
  for (const Quantity& q : quantities) rows.push_back({q.name, unit_text(q.unit), q.meaning});
  print_table(rows);
}

void print_model(const ModelInfo& model) {
  fmt::print("{}: {}\n\n{}\n", model.name, model.meaning, model.equations);
  fmt::print("\nparameters\n");
  print_keys(model.keys);
  print_quantities("states", model.states);
  print_quantities("contacts", model.contacts);
  print_quantities("frictions", model.frictions);
  print_quantities("jumps", model.jumps);
  fmt::print("\nmodes\n  {}\n", model.modes);
  fmt::print("\nsources\n");
  for (const std::string& source : model.citations) fmt::print("  {}\n", source);
}

/// The model of a case, with the values that the case gives.
ModelInfo model_of_case(const std::string& path) {
  const Case c = load_case(path, {});
  ModelInfo info = *c.model;
  if (info.name == "equations") info.equations = equations_text(c.file.root.at("model"));
  const Model& model = *c.problem.model;
  info.states = model.states();
  info.contacts = model.contacts();
  info.frictions = model.frictions();
  info.jumps = model.jumps();
  info.keys.clear();
  for (const Parameter& parameter : model.parameters()) info.keys.push_back(parameter_key(parameter));
  return info;
}

/// Of a model file or a case.
ModelInfo model_in(const std::string& path) {
  const bool is_case = read_case(path, {}).root.find("analysis") != nullptr;
  return is_case ? model_of_case(path) : read_model_file(path);
}

void print_models() {
  std::vector<Row> rows;
  for (const ModelInfo& model : models()) rows.push_back({model.name, model.meaning});
  print_table(rows);
}

}  // namespace

GRAZE_COMMAND(models) {
  static_cast<void>(context);
  Verb verb = app.add_verb("models", "list the models, or all about one");
  const auto name = std::make_shared<std::string>();
  verb.option(
      "NAME", *name,
      "model whose parameters, states, contacts and modes to print; or a model file or case, FILE.toml");
  verb.footer("Examples:\n  graze models two_dof_stops\n  graze models case.toml");
  verb.callback([name] {
    if (name->empty()) {
      print_models();
    } else if (name->ends_with(".toml")) {
      print_model(model_in(*name));
    } else {
      print_model(find_model(*name));
    }
  });
}

}  // namespace graze
