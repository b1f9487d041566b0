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

const Dataset& part(const Dataset& data, std::string_view name) {
  const Dataset* group = data.group(name);
  if (group == nullptr) throw InputError(fmt::format("the file has no group {}", name));
  return *group;
}

const Array& column(const Dataset& data, std::string_view name) {
  const Array* array = data.find(name);
  if (array == nullptr) throw InputError(fmt::format("the file has no array {}", name));
  return *array;
}

std::string contact_text(double contact, const std::vector<std::string>& names) {
  return contact >= 0 ? names.at(static_cast<std::size_t>(contact)) : "";
}

std::string kind_text(const Array& kind, std::size_t k) {
  return kind.flags.at(static_cast<std::size_t>(number(kind, k)));
}

/// The names of both parameters.
struct Axes {
  std::string first;
  std::string second;
};

Axes axes_of(const Dataset& data) {
  Axes axes;
  for (const Array& array : part(data, "codim2").arrays) {
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
  const std::vector<Part> curves = parts_of(column(data, "points"));
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const std::string contact = contact_text(number(column(data, "curve_contact"), k), contacts);
    text += fmt::format("  {}: {}{}, {} {}, {} {}, {} points\n", k, kind_text(column(data, "kind"), k),
                        contact.empty() ? "" : " of contact " + contact, axes.first,
                        range_text(column(data, axes.first), curves[k]), axes.second,
                        range_text(column(data, axes.second), curves[k]), curves[k].size);
    text += fmt::format("     from {}\n     first point: {}\n     last point: {}\n",
                        text_at(column(data, "origin"), k), text_at(column(data, "begins"), k),
                        text_at(column(data, "ends"), k));
  }
  const Dataset& points = part(data, "codim2");
  text += fmt::format("\npoints of codimension two\n  {:<28} {:>19} {:>19} {:>8} {:>7}\n", "kind", axes.first,
                      axes.second, "contact", "curve");
  for (std::size_t k = 0; k < points.size("point"); ++k)
    text += fmt::format("  {:<28} {:>19.12g} {:>19.12g} {:>8} {:>7}\n", kind_text(column(points, "kind"), k),
                        number(column(points, axes.first), k), number(column(points, axes.second), k),
                        contact_text(number(column(points, "contact"), k), contacts),
                        number(column(points, "curve"), k));
  const Dataset& starts = part(data, "start");
  std::string without;
  for (std::size_t k = 0; k < starts.size("point"); ++k) {
    if (number(column(starts, "curve"), k) >= 0) continue;
    without += fmt::format("  {} at {} = {:.12g}: {}\n", kind_text(column(starts, "kind"), k), axes.first,
                           number(column(starts, axes.first), k), text_at(column(starts, "reason"), k));
  }
  if (!without.empty()) text += "\nstarts without a curve\n" + without;
  return text;
}

std::string curve_csv(const Dataset& data) {
  const Axes axes = axes_of(data);
  const std::vector<std::string> contacts = index_names(data, "contact");
  const std::vector<std::string> states = index_names(data, "state");
  const Array& kind = column(data, "kind");
  const Array& orbit = column(data, "orbit_state");
  const std::size_t width = data.size("iterate") * states.size();
  std::string text = fmt::format("curve,kind,{},{},contact,forcing_periods,stable,admissible,residual,{}\n",
                                 axes.first, axes.second, fmt::join(states, ","));
  for (std::size_t k = 0; k < data.size("point"); ++k) {
    const std::size_t curve = static_cast<std::size_t>(number(column(data, "curve_index"), k));
    text += fmt::format("{},{},{:.17g},{:.17g},{},{},{},{},{:.3g}", curve, kind_text(kind, curve),
                        number(column(data, axes.first), k), number(column(data, axes.second), k),
                        contact_text(number(column(data, "curve_contact"), curve), contacts),
                        number(column(data, "forcing_periods"), k), number(column(data, "stable"), k),
                        number(column(data, "admissible"), k), number(column(data, "residual"), k));
    for (std::size_t i = 0; i < states.size(); ++i)
      text += fmt::format(",{:.17g}", number(orbit, k * width + i));
    text += "\n";
  }
  return text;
}

std::string codim2_csv(const Dataset& data) {
  const Axes axes = axes_of(data);
  const Dataset& points = part(data, "codim2");
  const std::vector<std::string> contacts = index_names(data, "contact");
  const std::vector<std::string> states = index_names(points, "state");
  const Array& orbit = column(points, "orbit_state");
  std::string text = fmt::format("kind,{},{},curve,contact,forcing_periods,{}\n", axes.first, axes.second,
                                 fmt::join(states, ","));
  for (std::size_t k = 0; k < points.size("point"); ++k) {
    text += fmt::format("{},{:.17g},{:.17g},{},{},{}", kind_text(column(points, "kind"), k),
                        number(column(points, axes.first), k), number(column(points, axes.second), k),
                        number(column(points, "curve"), k),
                        contact_text(number(column(points, "contact"), k), contacts),
                        number(column(points, "forcing_periods"), k));
    for (std::size_t i = 0; i < states.size(); ++i)
      text += fmt::format(",{:.17g}", number(orbit, k * states.size() + i));
    text += "\n";
  }
  return text;
}

}  // namespace graze
