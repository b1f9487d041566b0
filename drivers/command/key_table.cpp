#include "drivers/command/key_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace graze {
namespace {

void add_keys(std::vector<Row>& rows, const std::vector<Key>& keys, const std::string& path) {
  for (const Key& key : keys) {
    const std::string fallback = key.required ? "required" : key.fallback.empty() ? "-" : key.fallback.toml();
    rows.push_back({path + key.name, unit_text(key.unit), fallback, type_text(key), key.meaning});
    add_keys(rows, key.children, path + key.name + ".");
  }
}

}  // namespace

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
  const std::string entry = key.range.text() + (key.expressions ? ", or an expression" : "");
  switch (key.type) {
    case Key::Type::number:
      return entry;
    case Key::Type::integer:
      return "whole number, " + key.range.text();
    case Key::Type::boolean:
      return "true or false";
    case Key::Type::text:
      return key.choices.empty() ? "text" : fmt::format("{}", fmt::join(key.choices, " | "));
    case Key::Type::numbers:
      return "[numbers], " + entry;
    case Key::Type::matrix:
      return "[[rows]], " + entry;
    case Key::Type::table:
      return "table";
    case Key::Type::tables:
      return "[[tables]]";
    case Key::Type::open:
      break;
  }
  return "any";
}

void print_keys(const std::vector<Key>& keys) {
  std::vector<Row> rows = {{"name", "unit", "default", "range", "meaning"}};
  add_keys(rows, keys, "");
  print_table(rows);
}

}  // namespace graze
