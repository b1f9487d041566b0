/// The points of a block and their places in its arrays.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "core/dataset.hpp"

namespace graze {

/// Place of point number `index` of a box (the last dimension running fastest).
inline std::vector<std::size_t> place_in(const Box& box, std::size_t index) {
  std::vector<std::size_t> place(box.count.size());
  for (std::size_t d = place.size(); d-- > 0;) {
    place[d] = box.offset[d] + index % box.count[d];
    index /= box.count[d];
  }
  return place;
}

/// Where the `width` entries of a point begin in an array.
template <class T>
T* row_of(Dataset& block, const char* name, std::size_t point, std::size_t width = 1) {
  return std::get<std::vector<T>>(block.at(name).values).data() + point * width;
}
template <class T>
const T* row_of(const Dataset& block, const char* name, std::size_t point, std::size_t width = 1) {
  return std::get<std::vector<T>>(block.at(name).values).data() + point * width;
}

}  // namespace graze
