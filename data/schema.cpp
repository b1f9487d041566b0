#include "data/schema.hpp"

#include <cmath>
#include <utility>

#include "data/json.hpp"

namespace graze {
namespace {

// A schema is built as a settings tree and printed as JSON.

/// JSON knows no infinities.
bool fits_json(const Value& value) {
  if (value.empty()) return false;
  if (value.is_array()) {
    for (const Value& element : value.array(""))
      if (!fits_json(element)) return false;
  }
  if (value.is_table()) {
    for (const auto& member : value.table(""))
      if (!fits_json(member.second)) return false;
  }
  return !value.is_number() || std::isfinite(value.number(""));
}

Value texts(const std::vector<std::string>& list) {
  Value::Array result;
  for (const std::string& text : list) result.emplace_back(Value::Data(text));
  return Value(std::move(result));
}

Value typed(const char* type) {
  Value schema;
  schema.set("type", Value(std::string(type)));
  return schema;
}

Value number_schema(const char* type, const Range& range) {
  Value schema = typed(type);
  if (std::isfinite(range.low)) schema.set(range.low_open ? "exclusiveMinimum" : "minimum", Value(range.low));
  if (std::isfinite(range.high))
    schema.set(range.high_open ? "exclusiveMaximum" : "maximum", Value(range.high));
  return schema;
}

/// One number of a key.
Value entry_schema(const Key& key) {
  Value schema = number_schema("number", key.range);  // whose range concerns numbers only
  if (key.expressions) schema.set("type", texts({"number", "string"}));
  return schema;
}

Value array_schema(Value items) {
  Value schema = typed("array");
  schema.set("items", std::move(items));
  return schema;
}

Value schema_of(const Key& key);

/// A table with these keys and, when `name` is given, this value of the key `name`.
Value object_schema(const std::vector<Key>& keys, const std::string& name = "") {
  Value properties = Value(Value::Table{});
  std::vector<std::string> required;
  if (!name.empty()) {
    Value chosen;
    chosen.set("const", Value(name));
    properties.set("name", std::move(chosen));
    required.emplace_back("name");
  }
  for (const Key& key : keys) {
    properties.set(key.name, schema_of(key));
    if (key.required) required.push_back(key.name);
  }
  Value schema = typed("object");
  schema.set("properties", std::move(properties));
  if (!required.empty()) schema.set("required", texts(required));
  schema.set("additionalProperties", Value(false));
  return schema;
}

/// One whole object per variant: what is valid besides `name` depends on it.
Value table_schema(const Key& key) {
  if (key.variants.empty()) return object_schema(key.children);
  Value::Array branches;
  for (const Key::Variant& variant : key.variants) {
    std::vector<Key> keys = key.children;
    keys.insert(keys.end(), variant.keys.begin(), variant.keys.end());
    Value branch = object_schema(keys, variant.name);
    if (variant.name.empty()) {
      branch.set("additionalProperties", Value(true));
    } else {
      branch.set("title", Value(variant.name));
    }
    branch.set("description", Value(variant.meaning));
    branches.push_back(std::move(branch));
  }
  Value schema = typed("object");
  schema.set("oneOf", Value(std::move(branches)));
  return schema;
}

Value text_schema(const std::vector<std::string>& choices) {
  Value schema = typed("string");
  if (!choices.empty()) schema.set("enum", texts(choices));
  return schema;
}

Value type_schema(const Key& key) {
  switch (key.type) {
    case Key::Type::number:
      return entry_schema(key);
    case Key::Type::integer:
      return number_schema("integer", key.range);
    case Key::Type::boolean:
      return typed("boolean");
    case Key::Type::text:
      return text_schema(key.choices);
    case Key::Type::numbers:
      return array_schema(entry_schema(key));
    case Key::Type::matrix:
      return array_schema(array_schema(entry_schema(key)));
    case Key::Type::table:
      return table_schema(key);
    case Key::Type::tables:
      return array_schema(object_schema(key.children));
    case Key::Type::open:
      break;
  }
  return Value(Value::Table{});
}

Value schema_of(const Key& key) {
  Value schema = type_schema(key);
  std::string description = key.meaning;
  if (!key.unit.empty() && key.unit != "1") description += " [" + key.unit + "]";
  if (!description.empty()) schema.set("description", Value(description));
  if (fits_json(key.fallback)) schema.set("default", key.fallback);
  return schema;
}

}  // namespace

std::string json_schema(const std::vector<Key>& keys, const std::string& title) {
  Value schema;
  schema.set("$schema", "https://json-schema.org/draft/2020-12/schema");
  schema.set("title", Value(title));
  const Value object = object_schema(keys);
  for (const auto& [name, member] : object.table("")) schema.set(name, member);
  return json_text(schema) + "\n";
}

}  // namespace graze
