/// The digest of all that a file says: values, shapes, names, texts (FORMAT.md, Digest). Finds damage that
/// the checksums of HDF5 do not cover.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/results/dataset.hpp"
#include "data/h5.hpp"

namespace graze {

/// The attribute of the root that holds it.
inline constexpr const char* digest_attribute = "digest";

/// A sum over single values and texts: neither the order of arrays nor the boxes in which they come matter.
class ContentDigest {
 public:
  /// A text that belongs to the whole or, by its `place`, to a group.
  void text(std::string_view place, std::string_view name, std::string_view value);
  /// Name, type, shape and texts of an array.
  void header(std::string_view place, const Array& array, const h5::Extents& extents);
  /// Its values in a box of it, row-major.
  void values(std::string_view place, const Array& array, const h5::Extents& extents, const Box& box);
  /// All of an array that holds all its values.
  void whole(std::string_view place, const Array& array, const h5::Extents& extents);

  /// 16 hexadecimal digits.
  std::string hex() const;

 private:
  std::uint64_t sum_ = 0;
};

}  // namespace graze
