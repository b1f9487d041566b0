#include "data/case_file.hpp"

#include <toml++/toml.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>

namespace graze {
namespace {

constexpr std::int64_t case_format = 1;
const std::string override_file = "--set";

Place place_of(const toml::source_region& source, const std::string& file) {
  // An override is one line of its own; its position there tells nothing.
  if (file == override_file) return {file, 0, 0};
  return {file, static_cast<int>(source.begin.line), static_cast<int>(source.begin.column)};
}

/// From toml++'s tree to a settings tree.
class Conversion {
 public:
  /// Of a tree that was read from this text.
  explicit Conversion(std::string_view text) : text_(text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') lines_.push_back(i + 1);
    }
  }

  Value converted(const toml::node& node, Place place) const {
    if (const auto* table = node.as_table()) return converted_table(*table, std::move(place));
    if (const auto* array = node.as_array()) return converted_array(*array, std::move(place));
    if (const auto* text = node.as_string()) {
      if (place.line != 0) begin_text(place, node.source().begin);
      return Value(text->get(), std::move(place));
    }
    if (const auto* whole = node.as_integer()) return Value(whole->get(), std::move(place));
    if (const auto* number = node.as_floating_point()) return Value(number->get(), std::move(place));
    if (const auto* flag = node.as_boolean()) return Value(flag->get(), std::move(place));
    throw InputError(place.text() + ": dates and times have no meaning in a case file");
  }

 private:
  Value converted_array(const toml::array& array, Place place) const {
    Value::Array result;
    for (const toml::node& element : array)
      result.push_back(converted(element, place_of(element.source(), place.file)));
    return Value(std::move(result), std::move(place));
  }
  /// A member stands where its key begins, unless it is text; members come in the order of the file.
  Value converted_table(const toml::table& table, Place place) const {
    Value::Table result;
    for (const auto& [key, node] : table) {
      const Place key_place = place_of(key.source(), place.file);
      result.emplace_back(std::string(key.str()), converted(node, key_place));
    }
    std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
      const Place& p = a.second.place();
      const Place& q = b.second.place();
      return std::pair(p.line, p.column) < std::pair(q.line, q.column);
    });
    return Value(std::move(result), std::move(place));
  }
  /// A text stands where its first character does, behind the quotes that open here.
  void begin_text(Place& place, const toml::source_position& quotes) const {
    place.line = static_cast<int>(quotes.line);
    place.column = static_cast<int>(quotes.column);
    const std::string_view rest = text_.substr(offset(place.line, place.column));
    const bool block = rest.starts_with("\"\"\"") || rest.starts_with("'''");
    place.column += block ? 3 : 1;
    if (!block || !(rest.substr(3).starts_with("\n") || rest.substr(3).starts_with("\r\n"))) return;
    ++place.line;
    place.column = 1;
  }
  /// Of a character, in bytes.
  std::size_t offset(int line, int column) const {
    std::size_t at = lines_[std::min(static_cast<std::size_t>(line), lines_.size()) - 1];
    const auto continues = [&] {
      return at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0) == 0x80;
    };
    for (; column > 1 && at < text_.size(); --column) {
      ++at;
      while (continues()) ++at;
    }
    return at;
  }

  std::string_view text_;
  std::vector<std::size_t> lines_ = {0};  ///< where they begin
};

std::string read_text(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw InputError(path + ": is a folder, not a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path + ": cannot be read: " + std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw InputError(path + ": cannot be read to its end");
  return text;
}

std::string line_of(const std::string& text, int line) {
  std::istringstream stream(text);
  std::string found;
  for (int k = 0; k < line; ++k) std::getline(stream, found);
  return found;
}

/// The word at a place that stands for a value and begins with a letter, as text without quotes does; else
/// "".
std::string unquoted_word(const std::string& text, const Place& place) {
  const std::string line = line_of(text, place.line);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_part = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  std::size_t begin = std::min(line.size(), static_cast<std::size_t>(std::max(place.column - 1, 0)));
  while (begin > 0 && is_part(line[begin - 1])) --begin;
  const std::size_t before = begin == 0 ? std::string::npos : line.find_last_not_of(" \t", begin - 1);
  const bool is_value = before != std::string::npos && std::strchr("=[,", line[before]) != nullptr;
  if (!is_value || begin >= line.size() || !is_letter(line[begin])) return {};
  std::size_t end = begin;
  while (end < line.size() && is_part(line[end])) ++end;
  return line.substr(begin, end - begin);
}

Value parsed(const std::string& text, const std::string& path) {
  try {
    return Conversion(text).converted(toml::parse(text, path), Place{path, 1, 1});
  } catch (const toml::parse_error& error) {
    const Place place = place_of(error.source(), path);
    const std::string word = unquoted_word(text, place);
    throw InputError(place.text() + ": " +
                     (word.empty() ? std::string(error.description())
                                   : word + " is no value; text needs quotes: \"" + word + "\""));
  }
}

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

/// Letters, digits and what file names have besides; no digit or sign first, that is meant as a number.
bool is_bare_word(const std::string& text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  };
  const auto is_part = [&](char c) { return is_letter(c) || std::strchr("0123456789_./+-", c) != nullptr; };
  return !text.empty() && (is_letter(text[0]) || std::strchr("_./", text[0]) != nullptr) &&
         text.find('\0') == std::string::npos && std::all_of(text.begin(), text.end(), is_part);
}

Value override_value(const std::string& key, const std::string& text) {
  try {
    const toml::table table = toml::parse("value = " + text);
    if (table.size() == 1) return Conversion({}).converted(*table.get("value"), Place{override_file, 0, 0});
  } catch (const toml::parse_error& error) {
    if (is_bare_word(text)) return Value(text, Place{override_file, 0, 0});
    throw InputError(Place{override_file, 0, 0}, key, text,
                     "is no TOML value: " + std::string(error.description()));
  }
  throw InputError(Place{override_file, 0, 0}, key, text, "must be one value");
}

/// The parts of a dotted key; "stop[0]" is the same as "stop.0".
std::vector<std::string> split_key(const std::string& key) {
  static const std::regex index(R"(\[(\d+)\])");
  std::vector<std::string> parts;
  std::istringstream stream(std::regex_replace(key, index, ".$1"));
  for (std::string part; std::getline(stream, part, '.');) parts.push_back(trimmed(part));
  if (!key.empty() && key.back() == '.') parts.emplace_back();
  if (parts.empty() || std::count(parts.begin(), parts.end(), "") > 0)
    throw InputError(Place{override_file, 0, 0}, key, "", "is no dotted key");
  return parts;
}

std::optional<std::size_t> index_of(const std::string& part) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (error != std::errc{} || end != part.data() + part.size()) return std::nullopt;
  return index;
}

/// The member or element that a part of a dotted key names; a missing member is made.
Value& descend(Value& value, const std::string& part, const std::string& key) {
  if (auto* array = std::get_if<Value::Array>(&value.data())) {
    const auto index = index_of(part);
    if (index && *index < array->size()) return (*array)[*index];
    throw InputError(
        Place{override_file, 0, 0}, key, "",
        part + " is no element of an array of " + std::to_string(array->size()) + " (the first is 0)");
  }
  if (!value.empty() && !value.is_table())
    throw InputError(Place{override_file, 0, 0}, key, "",
                     "there is no " + part + " in the value " + value.toml());
  if (value.empty()) value = Value(Value::Table{}, Place{override_file, 0, 0});
  if (Value* member = value.find(part)) return *member;
  auto& table = std::get<Value::Table>(value.data());
  return table.emplace_back(part, Value()).second;
}

void apply_override(Value& root, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    throw InputError(override_file + ": " + text + ": an override is written key=value");
  const std::string key = trimmed(std::string_view(text).substr(0, equals));
  Value* target = &root;
  for (const std::string& part : split_key(key)) target = &descend(*target, part, key);
  *target = override_value(key, trimmed(std::string_view(text).substr(equals + 1)));
}

void check_format(const Value& root) {
  const Value* format = root.find("graze");
  if (format == nullptr)
    throw InputError(root.place(), "graze", "", "is missing; a case file begins with graze = 1");
  if (format->integer("graze") != case_format)
    throw InputError(format->place(), "graze", format->toml(),
                     "is a case-file format that this program does not know; it reads format " +
                         std::to_string(case_format));
}

}  // namespace

CaseFile parse_case(std::string text, const std::string& name, const std::vector<std::string>& overrides) {
  CaseFile result{name, std::move(text), overrides, {}, {}};
  result.root = parsed(result.text, name);
  for (const std::string& override : overrides) apply_override(result.root, override);
  check_format(result.root);
  return result;
}

CaseFile read_case(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_case(read_text(path), path, overrides);
}

}  // namespace graze
