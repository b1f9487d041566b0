/// The one table of name, unit, default, range and meaning: what a setting may be. Case-file checking,
/// JSON Schema, `graze models` and the documentation all read these tables, nothing else.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "core/settings/value.hpp"

namespace graze {

/// The interval a number must lie in. NaN never does.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;   ///< low itself is excluded
  bool high_open = false;  ///< high itself is excluded

  bool contains(double x) const;
  /// "0 < x <= 1", "x finite" for the open whole line, "any number" for the closed one.
  std::string text() const;

  static Range any() { return {}; }  ///< every number, the two infinities included
  static Range finite();
  static Range positive();      ///< 0 < x < inf
  static Range non_negative();  ///< 0 <= x < inf
  static Range unit();          ///< 0 <= x <= 1
};

/// A quantity with a name: a state, a contact, a parameter of a model.
struct Quantity {
  std::string name;
  std::string unit;  ///< UDUNITS text; "1" for a dimensionless one
  std::string meaning;
  std::string velocity_of{};  ///< of a state that is the time derivative of another one: the name of that one
  std::string symbol{};       ///< in pictures; empty: the one that the name spells
};

/// A scalar that a sweep may vary.
struct Parameter : Quantity {
  double value = 0;  ///< the default, or what the case file says
  Range range;
};

/// A parameter and its index in the list of a model's values.
struct IndexedParameter {
  std::size_t index;
  Parameter parameter;
};

/// The list in the order of the indices, whatever order these stand in. Throws std::logic_error where two
/// share one or one is beyond their number.
std::vector<Parameter> by_index(const std::vector<IndexedParameter>& parameters);

/// One setting of a case file.
struct Key {
  enum class Type {
    number,   ///< integer or floating point, in `range`
    integer,  ///< whole number, in `range`
    boolean,
    text,     ///< one of `choices`, when there are any
    numbers,  ///< array of numbers, each in `range`
    matrix,   ///< array of equally long arrays of numbers
    table,    ///< `children`; and where `variants` are given, those of the variant that key `name` chooses
    tables,   ///< array of tables with these `children`
    open      ///< checked by whoever reads it
  };
  struct Variant;

  Key();
  Key(const Key& other);
  Key(Key&& other) noexcept;
  Key& operator=(const Key& other);
  Key& operator=(Key&& other) noexcept;
  ~Key();

  std::string name;
  Type type = Type::number;
  std::string unit;
  std::string meaning;
  Value fallback;         ///< the default; empty: none
  bool required = false;  ///< an error when left out
  Range range;
  bool expressions = false;  ///< each of its numbers may be text, an expression; its value is checked later
  std::vector<std::string> choices;
  std::vector<Key> children;
  std::vector<Variant> variants;
};

/// The further keys of a table whose key `name` has this value.
struct Key::Variant {
  std::string name;
  std::string meaning;
  std::vector<Key> keys;
};

/// Appends a key; what else it says the caller fills in.
Key& add_key(std::vector<Key>& keys, const char* name, Key::Type type, const char* meaning);

/// A number key that mirrors a sweepable parameter.
Key parameter_key(const Parameter& parameter);

/// Checks a table against its keys and returns it with the defaults filled in. Throws InputError for an
/// unknown key (with the nearest valid one), a missing one, a wrong type, a value out of range.
/// `path` is the dotted name of the table, "" at the root.
Value checked(const Value& given, const std::vector<Key>& keys, const std::string& path);

}  // namespace graze
