#include "core/equations/named_parameters.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace graze {
namespace {

std::vector<Key> long_form() {
  std::vector<Key> keys;
  Key& value = add_key(keys, "value", Key::Type::number, "in the case at hand");
  value.required = true;
  value.range = Range::any();
  add_key(keys, "unit", Key::Type::text, "UDUNITS text").fallback = Value("1");
  add_key(keys, "meaning", Key::Type::text, "what it is, in a few words").fallback = Value("");
  add_key(keys, "min", Key::Type::number, "least value allowed");
  add_key(keys, "max", Key::Type::number, "greatest value allowed");
  add_key(keys, "above", Key::Type::number, "must be greater than this");
  add_key(keys, "below", Key::Type::number, "must be less than this");
  return keys;
}

Range range_of(const Value& settings, const std::string& path) {
  const auto end = [&](const char* closed, const char* open, double& limit, bool& is_open) {
    const Value* included = settings.find(closed);
    const Value* excluded = settings.find(open);
    if (included != nullptr && excluded != nullptr)
      throw InputError(excluded->place(), path + "." + open, excluded->toml(),
                       std::string("give ") + closed + " or " + open + ", not both");
    const Value* given = included != nullptr ? included : excluded;
    if (given != nullptr) limit = given->number(path);
    is_open = excluded != nullptr || (included == nullptr && std::isinf(limit));  // min = -inf: it, too
  };
  Range range;
  end("min", "above", range.low, range.low_open);
  end("max", "below", range.high, range.high_open);
  return range;
}

Parameter parameter(const std::string& name, const Value& given, const std::string& path) {
  Value table = given;
  if (!given.is_table()) {
    table = Value(Value::Table{}, given.place());
    table.set("value", given);
  }
  const Value settings = checked(table, long_form(), path);
  Parameter p;
  p.name = name;
  p.unit = settings.at("unit").text(path);
  p.meaning = settings.at("meaning").text(path);
  p.value = settings.at("value").number(path);
  p.range = range_of(settings, path);
  if (!p.range.contains(p.value))
    throw InputError(given.place(), path, given.toml(), "must satisfy " + p.range.text());
  return p;
}

}  // namespace

Key parameters_key() {
  Key key;
  key.name = "parameters";
  key.type = Key::Type::open;
  key.meaning =
      "named numbers for use in expressions, such as { mu = 0.5, gap = { value = 0.8, unit = \"mm\", meaning "
      "= \"clearance\", min = 0 } }; each can be swept; min, max, above and below say what is allowed";
  return key;
}

std::vector<Parameter> named_parameters(const Value& table, const std::string& path) {
  std::vector<Parameter> list;
  const std::string prefix = path + ".";
  for (const auto& [name, value] : table.table(path)) list.push_back(parameter(name, value, prefix + name));
  return list;
}

}  // namespace graze
