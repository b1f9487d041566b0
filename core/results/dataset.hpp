/// Named dimensions and named arrays with units: the common language of analyses (which fill them) and
/// archives (which store them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace graze {

/// Stands where there is no number.
inline constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

struct Dimension {
  std::string name;
  std::size_t size = 0;
};

/// A row-major array over named dimensions. An array with the name of its only dimension holds that
/// dimension's coordinates.
struct Array {
  using Values = std::variant<std::vector<std::int8_t>, std::vector<std::int32_t>, std::vector<std::int64_t>,
                              std::vector<double>>;

  std::string name;
  std::vector<std::string> dimensions;  ///< outermost first
  Values values;
  std::string unit;       ///< UDUNITS text; "1" for a dimensionless number
  std::string long_name;  ///< what it is, for a reader
  std::vector<std::string>
      flags;  ///< classes 0, 1, … by name (flag_values, flag_meanings); empty: no classes
  std::vector<std::pair<std::string, std::string>> attributes;  ///< further text attributes
};

struct Group;

struct Dataset {
  Dataset();
  Dataset(const Dataset& other);
  Dataset(Dataset&& other) noexcept;
  Dataset& operator=(const Dataset& other);
  Dataset& operator=(Dataset&& other) noexcept;
  ~Dataset();

  std::vector<Dimension> dimensions;
  std::vector<Array> arrays;
  std::vector<std::pair<std::string, std::string>> attributes;  ///< text that belongs to the whole
  std::vector<Group> groups;                                    ///< parts with dimensions of their own

  /// Size of a dimension; throws std::out_of_range naming it.
  std::size_t size(std::string_view dimension) const;
  const Array* find(std::string_view array) const;
  Array* find(std::string_view array);
  /// The array; throws std::out_of_range naming it.
  const Array& at(std::string_view array) const;
  Array& at(std::string_view array);
  /// The values of an array, row-major, of type T: std::int8_t, std::int32_t, std::int64_t or double. Throws
  /// std::out_of_range naming an array that is not there, std::invalid_argument naming the type that it has.
  template <class T>
  const std::vector<T>& values(std::string_view array) const;
  /// The group of this name; nullptr: none.
  const Dataset* group(std::string_view name) const;
  /// Number of elements of an array over the dimensions declared here.
  std::size_t elements(const Array& array) const;
};

/// A named part of a Dataset that stands for itself.
struct Group {
  std::string name;
  Dataset data;
};

/// A box in the leading dimensions of a result: where a block's arrays belong.
struct Box {
  std::vector<std::size_t> offset;
  std::vector<std::size_t> count;

  std::size_t points() const;
};

/// NaN for doubles, -1 for integers: what stands where there is no value.
Array::Values missing_values(const Array::Values& like, std::size_t n);

/// Adds values of the same type at the end.
void append(Array::Values& all, const Array::Values& more);

}  // namespace graze
