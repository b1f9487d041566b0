/// The points of a block and their places in its arrays.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/results/dataset.hpp"

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

/// Arrays that all begin with the dimensions of the points, without values.
class PointArrays {
 public:
  PointArrays(std::vector<std::string> names, const std::vector<std::size_t>& extents)
      : names_(std::move(names)) {
    for (std::size_t d = 0; d < names_.size(); ++d) dimension(names_[d], extents[d]);
  }
  void dimension(const std::string& name, std::size_t size) { data_.dimensions.push_back({name, size}); }
  /// An array over the points and further dimensions; `like` tells the type of its values.
  void add(const char* name, const std::vector<std::string>& further, Array::Values like, const char* unit,
           const char* meaning, std::vector<std::string> flags = {}) {
    std::vector<std::string> dimensions = names_;
    dimensions.insert(dimensions.end(), further.begin(), further.end());
    data_.arrays.push_back(
        {name, std::move(dimensions), std::move(like), unit, meaning, std::move(flags), {}});
  }
  Dataset take() { return std::move(data_); }

 private:
  std::vector<std::string> names_;
  Dataset data_;
};

/// Gives all arrays their sizes and values that say: missing.
inline void fill_missing(Dataset& block) {
  for (Array& array : block.arrays) array.values = missing_values(array.values, block.elements(array));
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
