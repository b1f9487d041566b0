#include "analysis/run/joined.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "analysis/run/points.hpp"

namespace graze {

Joined::Joined(Dataset layout, const std::vector<std::string>& point_dimensions) : whole_(std::move(layout)) {
  for (const std::string& name : point_dimensions) extents_.push_back(whole_.size(name));
  for (Array& array : whole_.arrays) allocate(array);
}

void Joined::add(Dataset more) {
  whole_.dimensions.insert(whole_.dimensions.end(), more.dimensions.begin(), more.dimensions.end());
  for (Array& array : more.arrays) allocate(whole_.arrays.emplace_back(std::move(array)));
}

void Joined::put(const Dataset& block, const Box& box) {
  for (const Array& part : block.arrays) put(part, box, whole_.at(part.name));
}

/// Arrays over the points come without values.
void Joined::allocate(Array& array) const {
  const bool has_values = std::visit([](const auto& values) { return !values.empty(); }, array.values);
  if (!has_values) array.values = missing_values(array.values, whole_.elements(array));
}

std::size_t Joined::index_of(const std::vector<std::size_t>& place) const {
  std::size_t index = 0;
  for (std::size_t d = 0; d < place.size(); ++d) index = index * extents_[d] + place[d];
  return index;
}

void Joined::put(const Array& part, const Box& box, Array& whole) const {
  std::visit(
      [&](auto& to) {
        const auto& from = std::get<std::decay_t<decltype(to)>>(part.values);
        const std::size_t width = from.size() / box.points();
        for (std::size_t k = 0; k < box.points(); ++k) {
          std::copy_n(from.data() + k * width, width, to.data() + index_of(place_in(box, k)) * width);
        }
      },
      whole.values);
}

}  // namespace graze
