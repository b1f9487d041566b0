/// graze models: what there is to choose from.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/system/registry.hpp"
#include "drivers/command/command.hpp"

namespace graze {
namespace {

using Row = std::vector<std::string>;

/// Rows as columns of equal width, two blanks apart.
void print_table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += " " + row[i];
      if (i + 1 < row.size()) line += std::string(widths[i] - row[i].size() + 1, ' ');
    }
    fmt::print("{}\n", line);
  }
}

std::string unit_text(const std::string& unit) { return unit.empty() || unit == "1" ? "-" : unit; }

std::string type_text(const Key& key) {
  switch (key.type) {
    case Key::Type::number:
      return key.range.text();
    case Key::Type::integer:
      return "whole number, " + key.range.text();
    case Key::Type::boolean:
      return "true or false";
    case Key::Type::text:
      return key.choices.empty() ? "text" : fmt::format("{}", fmt::join(key.choices, " | "));
    case Key::Type::numbers:
      return "[numbers], " + key.range.text();
    case Key::Type::matrix:
      return "[[rows]], " + key.range.text();
    case Key::Type::table:
      return "table";
    case Key::Type::tables:
      return "[[tables]]";
    case Key::Type::open:
      break;
  }
  return "any";
}

void add_keys(std::vector<Row>& rows, const std::vector<Key>& keys, const std::string& path) {
  for (const Key& key : keys) {
    const std::string fallback = key.required ? "required" : key.fallback.empty() ? "-" : key.fallback.toml();
    rows.push_back({path + key.name, unit_text(key.unit), fallback, type_text(key), key.meaning});
    add_keys(rows, key.children, path + key.name + ".");
  }
}

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
  std::vector<Row> rows = {{"name", "unit", "default", "range", "meaning"}};
  add_keys(rows, model.keys, "");
  print_table(rows);
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
  verb.callback([name] {
    if (name->empty()) {
      print_list();
    } else {
      print_model(find_model(*name));
    }
  });
}

}  // namespace graze
