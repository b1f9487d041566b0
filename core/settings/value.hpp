/// A tree of settings (booleans, integers, numbers, text, arrays, tables), each node with the place it
/// came from, so that whoever reads a setting can say where a wrong one stands. Knows no file format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace graze {

/// Where a setting stands: file (or "--set", or "" for a default), line and column from 1; 0 is unknown.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  /// "file:line:column", or less when less is known.
  std::string text() const;
};

/// A setting that breaks a rule. what() reads "file:line:column: key = value: rule".
class InputError : public std::runtime_error {
 public:
  InputError(const Place& place, const std::string& key, const std::string& value, const std::string& rule);
  /// A wrong file or call that no single key is to blame for.
  explicit InputError(const std::string& message) : std::runtime_error(message) {}
};

class Value {
 public:
  using Array = std::vector<Value>;
  using Table = std::vector<std::pair<std::string, Value>>;  // in the order of the file
  using Data = std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Table>;

  Value();
  Value(Data data, Place place = {});
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();
  template <std::size_t N>
  Value(const char (&text)[N]) : Value(Data(std::string(text))) {}

  const Data& data() const { return data_; }
  Data& data() { return data_; }
  const Place& place() const { return place_; }

  bool empty() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_table() const { return std::holds_alternative<Table>(data_); }
  bool is_array() const { return std::holds_alternative<Array>(data_); }
  bool is_text() const { return std::holds_alternative<std::string>(data_); }
  bool is_number() const;   ///< integer or floating point
  bool is_integer() const;  ///< integer, or a floating-point number with an integer value below 2^63

  /// Typed reading. Throws InputError with the place when the type is another; `key` names the setting.
  bool boolean(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  double number(std::string_view key) const;
  const std::string& text(std::string_view key) const;
  const Array& array(std::string_view key) const;
  const Table& table(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;
  std::vector<std::vector<double>> matrix(std::string_view key) const;

  /// Member of a table, nullptr when this is no table or has no such member (or an empty one).
  const Value* find(std::string_view name) const;
  Value* find(std::string_view name);
  /// Member of a table; throws InputError naming the missing key.
  const Value& at(std::string_view name) const;
  /// Sets a member of a table (made a table when empty).
  void set(std::string_view name, Value value);

  /// The value in TOML syntax on one line; numbers with as many digits as they need to be read back.
  std::string toml() const;

 private:
  Data data_;
  Place place_;
};

/// The name nearest to a misspelt one, or "": the first that begins with it (three letters or more), else the
/// one at the least edit distance (a swap of neighbours counts one), at most a third of its length, rounded
/// up; the first of equally near ones.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& names);

}  // namespace graze
