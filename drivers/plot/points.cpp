#include "drivers/plot/points.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/settings/value.hpp"
#include "drivers/plot/sheet.hpp"

namespace graze {

Points::Points(const Dataset& data, int start)
    : data_(&data),
      attractor_(data.find("attractor")),
      leading_(attractor_ != nullptr ? attractor_ : &data.at("outcome")),
      start_names_{""} {
  for (const std::string& dimension : leading_->dimensions) {
    if (dimension == "start") {
      start_names_ = index_names(data, dimension);
      continue;
    }
    const Array* coordinate = data.find(dimension);
    if (coordinate == nullptr || coordinate->dimensions != std::vector{dimension})
      throw InputError(fmt::format("the file has no coordinates of {}", dimension));
    parameters_.push_back(coordinate);
    per_start_ *= data.size(dimension);
  }
  if (parameters_.empty()) throw InputError("the file has no swept parameter");
  if (start >= static_cast<int>(start_names_.size()))
    throw InputError(
        fmt::format("no start {} in this file; it has {}, counted from 0", start, start_names_.size()));
  for (std::size_t i = 0; i < start_names_.size(); ++i)
    if (start < 0 || i == static_cast<std::size_t>(start)) starts_.push_back(i);
}

const Array* Points::find(std::string_view name, const std::vector<std::string>& further) const {
  const Array* array = data_->find(name);
  if (array == nullptr) return nullptr;
  if (further_dimensions(*array) != further)
    throw InputError(fmt::format("array {} of the file has unexpected dimensions: {}", name,
                                 fmt::join(array->dimensions, ", ")));
  return array;
}

std::vector<std::string> Points::further_dimensions(const Array& array) const {
  const std::vector<std::string>& leading = leading_->dimensions;
  if (array.dimensions.size() < leading.size() ||
      !std::equal(leading.begin(), leading.end(), array.dimensions.begin()))
    throw InputError(fmt::format("array {} is not over the points of the sweep", array.name));
  return {array.dimensions.begin() + static_cast<std::ptrdiff_t>(leading.size()), array.dimensions.end()};
}

int Points::attractor(std::size_t point) const {
  const double value = number(*attractor_, point);
  return value < static_cast<double>(class_names().size()) ? static_cast<int>(value) : -1;
}

bool Points::is(std::size_t point, std::string_view attractor_name) const {
  const int index = attractor(point);
  return index >= 0 && class_names()[static_cast<std::size_t>(index)] == attractor_name;
}

}  // namespace graze
