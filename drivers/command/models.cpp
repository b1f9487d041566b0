/// graze models: what there is to choose from.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/system/registry.hpp"
#include "drivers/command/command.hpp"
#include "drivers/command/key_table.hpp"

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
  fmt::print("\nmodes\n  {}\n", model.modes);
  fmt::print("\nsources\n");
  for (const std::string& source : model.citations) fmt::print("  {}\n", source);
}

void print_list() {
  std::vector<Row> rows;
  for (const ModelInfo& model : models()) rows.push_back({model.name, model.meaning});
  print_table(rows);
}

}  // namespace

GRAZE_COMMAND(models) {
  static_cast<void>(context);
  Verb verb = app.add_verb("models", "list the models, or all about one");
  const auto name = std::make_shared<std::string>();
  verb.option("NAME", *name, "model whose parameters, states, contacts and modes to print");
  verb.footer("Example:\n  graze models two_dof_stops");
  verb.callback([name] {
    if (name->empty()) {
      print_list();
    } else {
      print_model(find_model(*name));
    }
  });
}

}  // namespace graze
