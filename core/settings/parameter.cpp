#include "core/settings/parameter.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace graze {
namespace {

std::string dotted(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

std::string bound_text(double x) {
  const Value number(x);
  return number.is_integer() ? std::to_string(number.integer("")) : number.toml();
}

std::string listed(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
  return result;
}

/// "; did you mean x?"; nothing where no name is near.
std::string suggestion(const std::string& wrong, const std::vector<std::string>& valid) {
  const std::string nearest = nearest_name(wrong, valid);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

/// "did you mean x?" or all that is valid.
std::string hint(const std::string& wrong, const std::vector<std::string>& valid) {
  const std::string nearest = nearest_name(wrong, valid);
  if (!nearest.empty()) return "did you mean " + nearest + "?";
  return valid.empty() ? "there are none here" : "valid: " + listed(valid);
}

[[noreturn]] void reject(const Value& value, const std::string& path, const std::string& rule) {
  throw InputError(value.place(), path, value.toml(), rule);
}

void check_range(double x, const Value& value, const Range& range, const std::string& path) {
  if (std::isnan(x)) reject(value, path, "must be a number, not nan");
  if (!range.contains(x)) reject(value, path, "must satisfy " + range.text());
}

Value checked_number(const Value& value, const Key& key, const std::string& path) {
  if (key.expressions && value.is_text()) return value;
  const double x = value.number(path);
  check_range(x, value, key.range, path);
  return Value(x, value.place());
}

Value checked_integer(const Value& value, const Range& range, const std::string& path) {
  const std::int64_t i = value.integer(path);
  check_range(static_cast<double>(i), value, range, path);
  return Value(i, value.place());
}

Value checked_text(const Value& value, const std::vector<std::string>& choices, const std::string& path) {
  const std::string& text = value.text(path);
  if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end())
    reject(value, path, "must be one of " + listed(choices) + suggestion(text, choices));
  return value;
}

/// Every element of an array through `check(element, path of the element)`.
template <class Check>
Value checked_elements(const Value& value, const std::string& path, const Check& check) {
  Value::Array result;
  for (const Value& element : value.array(path))
    result.push_back(check(element, dotted(path, std::to_string(result.size()))));
  return Value(std::move(result), value.place());
}

Value checked_numbers(const Value& value, const Key& key, const std::string& path) {
  return checked_elements(value, path, [&](const Value& element, const std::string& element_path) {
    return checked_number(element, key, element_path);
  });
}

Value checked_matrix(const Value& value, const Key& key, const std::string& path) {
  if (!key.expressions) static_cast<void>(value.matrix(path));  // rows equally long
  return checked_elements(value, path, [&](const Value& row, const std::string& row_path) {
    return checked_numbers(row, key, row_path);
  });
}

Value checked_table(const Value& value, const std::vector<Key>& children,
                    const std::vector<Key::Variant>& variants, const std::string& path);

Value checked_setting(const Value& value, const Key& key, const std::string& path) {
  switch (key.type) {
    case Key::Type::number:
      return checked_number(value, key, path);
    case Key::Type::integer:
      return checked_integer(value, key.range, path);
    case Key::Type::boolean:
      return Value(value.boolean(path), value.place());
    case Key::Type::text:
      return checked_text(value, key.choices, path);
    case Key::Type::numbers:
      return checked_numbers(value, key, path);
    case Key::Type::matrix:
      return checked_matrix(value, key, path);
    case Key::Type::table:
      return checked_table(value, key.children, key.variants, path);
    case Key::Type::tables:
      return checked_elements(value, path, [&](const Value& element, const std::string& element_path) {
        return checked_table(element, key.children, key.variants, element_path);
      });
    case Key::Type::open:
      break;
  }
  return value;
}

/// Whether a table of these keys may be left out and still get all its defaults.
bool fills_itself(const Key& key) {
  return key.type == Key::Type::table && key.variants.empty() && !key.children.empty() &&
         std::none_of(key.children.begin(), key.children.end(), [](const Key& k) { return k.required; });
}

Value default_setting(const Key& key, const std::string& path) {
  if (!key.fallback.empty()) return checked_setting(key.fallback, key, path);
  if (fills_itself(key)) return checked_setting(Value(Value::Table{}), key, path);
  return {};
}

/// The key `name` that chooses one of the variants.
Key variant_key(const std::vector<Key::Variant>& variants) {
  Key key;
  key.name = "name";
  key.type = Key::Type::text;
  key.required = true;
  for (const Key::Variant& variant : variants) key.choices.push_back(variant.name);
  return key;
}

[[noreturn]] void reject_missing(const Value& table, const Key& key, const std::string& path) {
  const std::string choices = key.choices.empty() ? "" : "; one of " + listed(key.choices);
  throw InputError(table.place(), dotted(path, key.name), "", "is missing" + choices);
}

/// The keys that are valid in a table, given what its key `name` chooses.
std::vector<Key> valid_keys(const Value& table, const std::vector<Key>& children,
                            const std::vector<Key::Variant>& variants, const std::string& path) {
  if (variants.empty()) return children;
  const Key chooser = variant_key(variants);
  const Value* name = table.find(chooser.name);
  if (name == nullptr) reject_missing(table, chooser, path);
  const std::string chosen = checked_text(*name, chooser.choices, dotted(path, chooser.name)).text("");
  const auto variant =
      std::find_if(variants.begin(), variants.end(), [&](const auto& v) { return v.name == chosen; });
  std::vector<Key> keys{chooser};
  keys.insert(keys.end(), children.begin(), children.end());
  keys.insert(keys.end(), variant->keys.begin(), variant->keys.end());
  return keys;
}

/// The dotted name of a key in the tables below one, those of chosen variants included; "": there is none.
std::string key_below(const std::string& name, const Value& value, const std::vector<Key>& keys,
                      const std::string& path) {
  for (const Key& key : keys) {
    const Value* table = key.type == Key::Type::table ? value.find(key.name) : nullptr;
    if (table == nullptr || !table->is_table()) continue;
    std::vector<Key> below = key.children;
    const Value* chosen = table->find("name");
    for (const Key::Variant& variant : key.variants)
      if (chosen != nullptr && chosen->is_text() && chosen->text("") == variant.name)
        below.insert(below.end(), variant.keys.begin(), variant.keys.end());
    const std::string here = dotted(path, key.name);
    if (std::any_of(below.begin(), below.end(), [&](const Key& k) { return k.name == name; }))
      return dotted(here, name);
    std::string deeper = key_below(name, *table, below, here);
    if (!deeper.empty()) return deeper;
  }
  return {};
}

[[noreturn]] void reject_unknown(const std::string& name, const Value& setting, const Value& table,
                                 const std::vector<Key>& keys, const std::string& path) {
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (const Key& key : keys) names.push_back(key.name);
  const std::string below = key_below(name, table, keys, path);
  reject(setting, dotted(path, name),
         "unknown key; " + (below.empty() ? hint(name, names) : "did you mean " + below + "?"));
}

Value checked_table(const Value& value, const std::vector<Key>& children,
                    const std::vector<Key::Variant>& variants, const std::string& path) {
  const Value::Table& given = value.table(path);
  const std::vector<Key> keys = valid_keys(value, children, variants, path);
  for (const auto& member : given)
    if (std::none_of(keys.begin(), keys.end(), [&](const Key& key) { return key.name == member.first; }))
      reject_unknown(member.first, member.second, value, keys, path);

  Value::Table result;
  for (const Key& key : keys) {
    const std::string setting_path = dotted(path, key.name);
    const Value* setting = value.find(key.name);
    if (setting == nullptr && key.required) reject_missing(value, key, path);
    Value checked = setting != nullptr ? checked_setting(*setting, key, setting_path)
                                       : default_setting(key, setting_path);
    if (!checked.empty()) result.emplace_back(key.name, std::move(checked));
  }
  return Value(std::move(result), value.place());
}

}  // namespace

// Here, because every source that makes one would compile them again.
Key::Key() = default;
Key::Key(const Key& other) = default;
Key::Key(Key&& other) noexcept = default;
Key& Key::operator=(const Key& other) = default;
Key& Key::operator=(Key&& other) noexcept = default;
Key::~Key() = default;

std::vector<Parameter> by_index(const std::vector<IndexedParameter>& parameters) {
  std::vector<Parameter> list(parameters.size());
  for (const IndexedParameter& p : parameters) {
    if (p.index >= list.size() || !list[p.index].name.empty()) {
      throw std::logic_error("parameter " + p.parameter.name + " has no index of its own below their number");
    }
    list[p.index] = p.parameter;
  }
  return list;
}

bool Range::contains(double x) const {
  return (low_open ? x > low : x >= low) && (high_open ? x < high : x <= high);
}

std::string Range::text() const {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const bool from_all = low == -inf;
  const bool to_all = high == inf;
  if (from_all && to_all && low_open && high_open) return "x finite";
  if (from_all && to_all && !low_open && !high_open) return "any number";
  std::string result;
  if (!from_all || low_open) result += bound_text(low) + (low_open ? " < " : " <= ");
  result += "x";
  if (!to_all || high_open) result += (high_open ? " < " : " <= ") + bound_text(high);
  return result;
}

Range Range::finite() {
  Range range;
  range.low_open = range.high_open = true;
  return range;
}

Range Range::positive() {
  Range range = finite();
  range.low = 0;
  return range;
}

Range Range::non_negative() {
  Range range = positive();
  range.low_open = false;
  return range;
}

Range Range::unit() {
  Range range;
  range.low = 0;
  range.high = 1;
  return range;
}

Key& add_key(std::vector<Key>& keys, const char* name, Key::Type type, const char* meaning) {
  Key key;
  key.name = name;
  key.type = type;
  key.meaning = meaning;
  keys.push_back(std::move(key));
  return keys.back();
}

Key parameter_key(const Parameter& parameter) {
  Key key;
  key.name = parameter.name;
  key.type = Key::Type::number;
  key.unit = parameter.unit;
  key.meaning = parameter.meaning;
  key.fallback = Value(parameter.value);
  key.range = parameter.range;
  return key;
}

Value checked(const Value& given, const std::vector<Key>& keys, const std::string& path) {
  return checked_table(given, keys, {}, path);
}

}  // namespace graze
