#include "data/json.hpp"

#include <cmath>

namespace graze {
namespace {

// TOML's basic strings and its finite numbers are JSON as long as no escape is longer than \uXXXX, which
// toml() keeps to.
std::string text_of(const Value& value, const std::string& indent) {
  const std::string inner = indent + "  ";
  std::string result;
  if (value.is_table()) {
    for (const auto& [name, member] : value.table(""))
      result += (result.empty() ? "" : ",\n") + inner + Value(name).toml() + ": " + text_of(member, inner);
    return result.empty() ? "{}" : "{\n" + result + "\n" + indent + "}";
  }
  if (value.is_array()) {
    for (const Value& element : value.array(""))
      result += (result.empty() ? "" : ",\n") + inner + text_of(element, inner);
    return result.empty() ? "[]" : "[\n" + result + "\n" + indent + "]";
  }
  const bool has_text = !value.empty() && (!value.is_number() || std::isfinite(value.number("")));
  return has_text ? value.toml() : "null";
}

}  // namespace

std::string json_text(const Value& value) { return text_of(value, ""); }

}  // namespace graze
