#include "core/results/dataset.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>

namespace graze {

// Here, because every source that makes one would compile them again.
Dataset::Dataset() = default;
Dataset::Dataset(const Dataset& other) = default;
Dataset::Dataset(Dataset&& other) noexcept = default;
Dataset& Dataset::operator=(const Dataset& other) = default;
Dataset& Dataset::operator=(Dataset&& other) noexcept = default;
Dataset::~Dataset() = default;

std::size_t Dataset::size(std::string_view dimension) const {
  const auto found =
      std::find_if(dimensions.begin(), dimensions.end(), [&](const auto& d) { return d.name == dimension; });
  if (found == dimensions.end()) throw std::out_of_range("no dimension " + std::string(dimension));
  return found->size;
}

const Array* Dataset::find(std::string_view array) const {
  const auto found =
      std::find_if(arrays.begin(), arrays.end(), [&](const auto& a) { return a.name == array; });
  return found == arrays.end() ? nullptr : &*found;
}

Array* Dataset::find(std::string_view array) {
  return const_cast<Array*>(static_cast<const Dataset&>(*this).find(array));
}

const Array& Dataset::at(std::string_view array) const {
  if (const Array* found = find(array)) return *found;
  throw std::out_of_range("no array " + std::string(array));
}

Array& Dataset::at(std::string_view array) {
  return const_cast<Array&>(static_cast<const Dataset&>(*this).at(array));
}

template <class T>
const std::vector<T>& Dataset::values(std::string_view array) const {
  const Array& found = at(array);
  if (const auto* values = std::get_if<std::vector<T>>(&found.values)) return *values;
  static constexpr const char* types[] = {"std::int8_t", "std::int32_t", "std::int64_t", "double"};
  throw std::invalid_argument("the values of " + found.name + " are of type " + types[found.values.index()]);
}
template const std::vector<std::int8_t>& Dataset::values(std::string_view) const;
template const std::vector<std::int32_t>& Dataset::values(std::string_view) const;
template const std::vector<std::int64_t>& Dataset::values(std::string_view) const;
template const std::vector<double>& Dataset::values(std::string_view) const;

const Dataset* Dataset::group(std::string_view name) const {
  const auto found =
      std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.name == name; });
  return found == groups.end() ? nullptr : &found->data;
}

std::size_t Dataset::elements(const Array& array) const {
  std::size_t product = 1;
  for (const std::string& dimension : array.dimensions) product *= size(dimension);
  return product;
}

std::size_t Box::points() const {
  return std::accumulate(count.begin(), count.end(), std::size_t{1}, std::multiplies<>());
}

Array::Values missing_values(const Array::Values& like, std::size_t n) {
  return std::visit(
      [n](const auto& values) -> Array::Values {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_floating_point_v<T>)
          return std::vector<T>(n, std::numeric_limits<T>::quiet_NaN());
        else
          return std::vector<T>(n, T{-1});
      },
      like);
}

void append(Array::Values& all, const Array::Values& more) {
  std::visit(
      [&](auto& values) {
        const auto& added = std::get<std::decay_t<decltype(values)>>(more);
        values.insert(values.end(), added.begin(), added.end());
      },
      all);
}

}  // namespace graze
