#include "core/settings/value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace graze {
namespace {

constexpr std::size_t shown_length = 80;  // of a value in a message

/// A value cut to a readable length, never inside a UTF-8 character.
std::string shortened(const std::string& value) {
  if (value.size() <= shown_length) return value;
  std::size_t end = shown_length;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0U) == 0x80U) --end;
  return value.substr(0, end) + " …";
}

std::string message(const Place& place, const std::string& key, const std::string& value,
                    const std::string& rule) {
  std::string result = place.text();
  if (!result.empty()) result += ": ";
  result += key;
  if (!value.empty()) result += " = " + shortened(value);
  return result + ": " + rule;
}

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (code < 0x20 || code == 0x7F) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04X", static_cast<unsigned>(code));
      result += escape.data();
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string key_text(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), is_bare) ? name : quoted(name);
}

std::string number_text(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), x).ptr;
  std::string text(digits.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

struct TomlWriter {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool b) const { return b ? "true" : "false"; }
  std::string operator()(std::int64_t i) const { return std::to_string(i); }
  std::string operator()(double x) const { return number_text(x); }
  std::string operator()(const std::string& text) const { return quoted(text); }
  std::string operator()(const Value::Array& array) const {
    std::string result = "[";
    for (const Value& element : array) {
      if (result.size() > 1) result += ", ";
      result += element.toml();
    }
    return result + "]";
  }
  std::string operator()(const Value::Table& table) const {
    std::string result = "{";
    for (const auto& [name, value] : table) {
      result += result.size() > 1 ? ", " : " ";
      result += key_text(name) + " = " + value.toml();
    }
    return result + (table.empty() ? "}" : " }");
  }
};

std::string element_key(std::string_view key, std::size_t index) {
  return std::string(key) + "." + std::to_string(index);
}

/// Letters to insert, delete, replace or swap with a neighbour to get from a to b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

/// The copy constructor of the variant in libstdc++ 12 destroys what it has not made where memory ends; each
/// alternative's own is safe.
Value::Data copied(const Value::Data& data) {
  return std::visit([](const auto& value) { return Value::Data(value); }, data);
}

}  // namespace

// Here, because every source that makes one would compile them again.
Value::Value() = default;
Value::Value(Data data, Place place) : data_(std::move(data)), place_(std::move(place)) {}
Value::Value(const Value& other) : data_(copied(other.data_)), place_(other.place_) {}
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) { return *this = Value(other); }
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

std::string Place::text() const {
  std::string result = file;
  if (line <= 0) return result;
  result += result.empty() ? "line " : ":";
  result += std::to_string(line);
  if (column <= 0) return result;
  result += ':';
  result += std::to_string(column);
  return result;
}

InputError::InputError(const Place& place, const std::string& key, const std::string& value,
                       const std::string& rule)
    : std::runtime_error(message(place, key, value, rule)) {}

bool Value::is_number() const {
  return std::holds_alternative<std::int64_t>(data_) || std::holds_alternative<double>(data_);
}

bool Value::is_integer() const {
  if (const auto* x = std::get_if<double>(&data_))
    return std::abs(*x) < 9223372036854775808.0 && std::trunc(*x) == *x;
  return std::holds_alternative<std::int64_t>(data_);
}

bool Value::boolean(std::string_view key) const {
  if (const auto* b = std::get_if<bool>(&data_)) return *b;
  throw InputError(place_, std::string(key), toml(), "must be true or false");
}

std::int64_t Value::integer(std::string_view key) const {
  if (!is_integer()) throw InputError(place_, std::string(key), toml(), "must be a whole number");
  if (const auto* x = std::get_if<double>(&data_)) return static_cast<std::int64_t>(*x);
  return std::get<std::int64_t>(data_);
}

double Value::number(std::string_view key) const {
  if (const auto* x = std::get_if<double>(&data_)) return *x;
  if (const auto* i = std::get_if<std::int64_t>(&data_)) return static_cast<double>(*i);
  throw InputError(place_, std::string(key), toml(), "must be a number");
}

const std::string& Value::text(std::string_view key) const {
  if (const auto* text = std::get_if<std::string>(&data_)) return *text;
  throw InputError(place_, std::string(key), toml(), "must be text in quotes");
}

const Value::Array& Value::array(std::string_view key) const {
  if (const auto* array = std::get_if<Array>(&data_)) return *array;
  throw InputError(place_, std::string(key), toml(), "must be an array in square brackets");
}

const Value::Table& Value::table(std::string_view key) const {
  if (const auto* table = std::get_if<Table>(&data_)) return *table;
  throw InputError(place_, std::string(key), toml(), "must be a table");
}

std::vector<double> Value::numbers(std::string_view key) const {
  std::vector<double> result;
  for (const Value& element : array(key)) result.push_back(element.number(element_key(key, result.size())));
  return result;
}

std::vector<std::vector<double>> Value::matrix(std::string_view key) const {
  std::vector<std::vector<double>> result;
  for (const Value& row : array(key)) {
    const std::string row_key = element_key(key, result.size());
    result.push_back(row.numbers(row_key));
    if (result.back().size() != result.front().size())
      throw InputError(row.place(), row_key, row.toml(),
                       "all rows of a matrix must be equally long (" + std::to_string(result.front().size()) +
                           " numbers)");
  }
  return result;
}

const Value* Value::find(std::string_view name) const {
  const auto* table = std::get_if<Table>(&data_);
  if (table == nullptr) return nullptr;
  const auto entry =
      std::find_if(table->begin(), table->end(), [&](const auto& e) { return e.first == name; });
  return entry == table->end() || entry->second.empty() ? nullptr : &entry->second;
}

Value* Value::find(std::string_view name) { return const_cast<Value*>(std::as_const(*this).find(name)); }

const Value& Value::at(std::string_view name) const {
  if (const Value* value = find(name)) return *value;
  throw InputError(place_, std::string(name), "", "is missing");
}

void Value::set(std::string_view name, Value value) {
  if (empty()) data_ = Table{};
  auto* table = std::get_if<Table>(&data_);
  if (table == nullptr) throw InputError(place_, std::string(name), value.toml(), "set in what is no table");
  const auto entry =
      std::find_if(table->begin(), table->end(), [&](const auto& e) { return e.first == name; });
  if (entry == table->end())
    table->emplace_back(std::string(name), std::move(value));
  else
    entry->second = std::move(value);
}

std::string Value::toml() const { return std::visit(TomlWriter{}, data_); }

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& names) {
  constexpr std::size_t least_beginning = 3;
  for (const std::string& name : names)
    if (wrong.size() >= least_beginning && name.starts_with(wrong)) return name;
  std::string nearest;
  std::size_t least = (wrong.size() + 2) / 3 + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(wrong, name);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace graze
