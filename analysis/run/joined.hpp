/// A result over points, put together from its blocks.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/results/dataset.hpp"

namespace graze {

class Joined {
 public:
  /// `layout`: the whole result, its arrays over the points without values.
  Joined(Dataset layout, const std::vector<std::string>& point_dimensions);
  /// Further dimensions and arrays.
  void add(Dataset more);
  /// The arrays of one block, in their places.
  void put(const Dataset& block, const Box& box);
  Dataset take() { return std::move(whole_); }

 private:
  void allocate(Array& array) const;
  std::size_t index_of(const std::vector<std::size_t>& place) const;
  void put(const Array& part, const Box& box, Array& whole) const;

  Dataset whole_;
  std::vector<std::size_t> extents_;  ///< of the point dimensions
};

}  // namespace graze
