#include "drivers/command/curve_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "core/results/ragged.hpp"
#include "core/settings/value.hpp"
#include "drivers/command/array_values.hpp"
#include "drivers/command/summary.hpp"

namespace graze {
namespace {

/// The names of both parameters.
struct Axes {
  std::string first;
  std::string second;
};

Axes axes_of(const Dataset& data) {
  Axes axes;
  for (const Array& array : group_of(data, "codim2").arrays) {
    const bool fixed = array.name == "kind" || array.name == "curve" || array.name == "contact" ||
                       array.name == "sense" || array.name == "forcing_periods";
    if (fixed || array.dimensions != std::vector<std::string>{"point"}) continue;
    (axes.first.empty() ? axes.first : axes.second) = array.name;
  }
  if (axes.second.empty()) throw InputError("the curves have no two parameters");
  return axes;
}

/// Least and greatest of an array over a part.
std::string range_text(const Array& array, const Part& part) {
  double low = number(array, part.first);
  double high = low;
  for (std::size_t k = part.first; k < part.first + part.size; ++k) {
    low = std::min(low, number(array, k));
    high = std::max(high, number(array, k));
  }
  return fmt::format("{:.6g} ... {:.6g}", low, high);
}

}  // namespace

bool has_curves(const Dataset& data) {
  return data.group("codim2") != nullptr && data.find("curve_index") != nullptr;
}

std::string curve_text(const Dataset& data) {
  const Axes axes = axes_of(data);
  const std::vector<std::string> contacts = index_names(data, "contact");
  std::string text = "\ncurves\n";
  const std::vector<Part> curves = parts_from(array_of(data, "points"));
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const std::string contact = name_at(number(array_of(data, "curve_contact"), k), contacts);
    text += fmt::format("  {}: {}{}, {} {}, {} {}, {} points\n", k, class_name(array_of(data, "kind"), k),
                        contact.empty() ? "" : " of contact " + contact, axes.first,
                        range_text(array_of(data, axes.first), curves[k]), axes.second,
                        range_text(array_of(data, axes.second), curves[k]), curves[k].size);
    text += fmt::format("     from {}\n     first point: {}\n     last point: {}\n",
                        text_at(array_of(data, "origin"), k), text_at(array_of(data, "begins"), k),
                        text_at(array_of(data, "ends"), k));
  }
  const Dataset& points = group_of(data, "codim2");
  text += fmt::format("\npoints of codimension two\n  {:<28} {:>19} {:>19} {:>8} {:>7}\n", "kind", axes.first,
                      axes.second, "contact", "curve");
  for (std::size_t k = 0; k < points.size("point"); ++k)
    text += fmt::format(
        "  {:<28} {:>19.12g} {:>19.12g} {:>8} {:>7}\n", class_name(array_of(points, "kind"), k),
        number(array_of(points, axes.first), k), number(array_of(points, axes.second), k),
        name_at(number(array_of(points, "contact"), k), contacts), number(array_of(points, "curve"), k));
  const Dataset& starts = group_of(data, "start");
  std::string without;
  for (std::size_t k = 0; k < starts.size("point"); ++k) {
    if (number(array_of(starts, "curve"), k) >= 0) continue;
    without += fmt::format("  {} at {} = {:.12g}: {}\n", class_name(array_of(starts, "kind"), k), axes.first,
                           number(array_of(starts, axes.first), k), text_at(array_of(starts, "reason"), k));
  }
  if (!without.empty()) text += "\nstarts without a curve\n" + without;
  return text;
}

std::string curve_csv(const Dataset& data) {
  const Axes axes = axes_of(data);
  const std::vector<std::string> contacts = index_names(data, "contact");
  const std::vector<std::string> states = index_names(data, "state");
  const Array& kind = array_of(data, "kind");
  const Array& orbit = array_of(data, "orbit_state");
  const std::size_t width = data.size("iterate") * states.size();
  std::string text = fmt::format("curve,kind,{},{},contact,forcing_periods,stable,admissible,residual,{}\n",
                                 axes.first, axes.second, fmt::join(states, ","));
  for (std::size_t k = 0; k < data.size("point"); ++k) {
    const std::size_t curve = static_cast<std::size_t>(number(array_of(data, "curve_index"), k));
    text += fmt::format("{},{},{:.17g},{:.17g},{},{},{},{},{:.3g}", curve, class_name(kind, curve),
                        number(array_of(data, axes.first), k), number(array_of(data, axes.second), k),
                        name_at(number(array_of(data, "curve_contact"), curve), contacts),
                        number(array_of(data, "forcing_periods"), k), number(array_of(data, "stable"), k),
                        number(array_of(data, "admissible"), k), number(array_of(data, "residual"), k));
    for (std::size_t i = 0; i < states.size(); ++i)
      text += fmt::format(",{:.17g}", number(orbit, k * width + i));
    text += "\n";
  }
  return text;
}

std::string codim2_csv(const Dataset& data) {
  const Axes axes = axes_of(data);
  const Dataset& points = group_of(data, "codim2");
  const std::vector<std::string> contacts = index_names(data, "contact");
  const std::vector<std::string> states = index_names(points, "state");
  const Array& orbit = array_of(points, "orbit_state");
  std::string text = fmt::format("kind,{},{},curve,contact,forcing_periods,{}\n", axes.first, axes.second,
                                 fmt::join(states, ","));
  for (std::size_t k = 0; k < points.size("point"); ++k) {
    text += fmt::format("{},{:.17g},{:.17g},{},{},{}", class_name(array_of(points, "kind"), k),
                        number(array_of(points, axes.first), k), number(array_of(points, axes.second), k),
                        number(array_of(points, "curve"), k),
                        name_at(number(array_of(points, "contact"), k), contacts),
                        number(array_of(points, "forcing_periods"), k));
    for (std::size_t i = 0; i < states.size(); ++i)
      text += fmt::format(",{:.17g}", number(orbit, k * states.size() + i));
    text += "\n";
  }
  return text;
}

}  // namespace graze
