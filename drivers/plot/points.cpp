#include "drivers/plot/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/settings/value.hpp"
#include "drivers/command/array_values.hpp"

namespace graze {
namespace {

bool geometric(const std::vector<double>& sorted) {
  constexpr double tolerance = 1e-6;
  if (sorted.size() < 3 || !(sorted.front() > 0)) return false;
  const double ratio = std::log(sorted[1] / sorted[0]);
  const double step = sorted[1] - sorted[0];
  bool equal_steps = true;
  for (std::size_t i = 2; i < sorted.size(); ++i) {
    if (std::abs(std::log(sorted[i] / sorted[i - 1]) - ratio) > tolerance * ratio) return false;
    equal_steps = equal_steps && std::abs(sorted[i] - sorted[i - 1] - step) <= tolerance * step;
  }
  return !equal_steps;
}

}  // namespace

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
  if (!has_attractors()) return -1;
  const double value = number(*attractor_, point);
  return value < static_cast<double>(class_names().size()) ? static_cast<int>(value) : -1;
}

bool Points::is(std::size_t point, std::string_view attractor_name) const {
  const int index = attractor(point);
  return index >= 0 && class_names()[static_cast<std::size_t>(index)] == attractor_name;
}

PlotAxis parameter_axis(const Array& coordinate, std::string label, double from, double to,
                        bool whole_cells) {
  std::vector<double> all = numbers(coordinate);
  std::erase_if(all, [](double value) { return !std::isfinite(value); });
  std::sort(all.begin(), all.end());
  std::vector<double> inside = all;
  std::erase_if(inside, [&](double value) { return !(from <= value && value <= to); });
  if (inside.empty() && !all.empty())
    throw InputError(fmt::format("no points with {} from {} to {}; the file has {} to {}", coordinate.name,
                                 from, to, all.front(), all.back()));
  if (inside.empty()) throw InputError(fmt::format("the file has no coordinates of {}", coordinate.name));

  PlotAxis axis{std::move(label), inside.front(), inside.back(), geometric(all)};
  if (axis.from == axis.to) {
    const double room = axis.from == 0 ? 1 : 0.05 * std::abs(axis.from);
    axis.from -= room;
    axis.to += room;
    axis.logarithmic = false;
  } else if (whole_cells) {
    const double half = 0.5 / static_cast<double>(inside.size() - 1);
    const PlotAxis points = axis;
    axis.from = points.value(-half);
    axis.to = points.value(1 + half);
  }
  if (std::isfinite(from)) axis.from = from;
  if (std::isfinite(to)) axis.to = to;
  axis.logarithmic = axis.logarithmic && axis.from > 0;
  return axis;
}

Columns::Columns(const PlotAxis& axis, const Array& coordinate, int count) : axis_(axis) {
  const std::vector<double> x = numbers(coordinate);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isfinite(x[i])) order_.push_back(i);
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  const auto place = [&](std::size_t k) { return axis.position(x[order_[k]]) * count; };
  // Half the distance of neighbours: as far as the outermost points reach.
  const double reach =
      order_.size() > 1 ? (place(order_.size() - 1) - place(0)) / static_cast<double>(order_.size() - 1) / 2
                        : count;
  std::size_t next = 0;
  for (int column = 0; column < count; ++column) {
    while (next < order_.size() && place(next) < column) ++next;
    std::size_t first = next;
    while (next < order_.size() &&
           (place(next) < column + 1 || (column + 1 == count && place(next) <= count)))
      ++next;
    std::size_t last = next;
    const double middle = column + 0.5;
    if (first == last && !order_.empty()) {
      // Between two points: the nearer one to the middle of the column.
      const bool left_is_nearer =
          first == order_.size() || (first > 0 && middle - place(first - 1) <= place(first) - middle);
      const std::size_t nearest = left_is_nearer ? first - 1 : first;
      const bool outermost = nearest == 0 || nearest + 1 == order_.size();
      first = nearest;
      last = outermost && std::abs(place(nearest) - middle) > reach + 0.5 ? first : first + 1;
    }
    first_.push_back(first);
    last_.push_back(last);
  }
}

}  // namespace graze
