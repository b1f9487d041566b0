#include "drivers/command/branch_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

/// The array over the located points that is the parameter: the one with none of the fixed names.
std::string parameter_of(const Dataset& points) {
  for (const Array& array : points.arrays) {
    const bool fixed = array.name == "kind" || array.name == "contact" || array.name == "branch" ||
                       array.name == "forcing_periods" || array.name == "parameter_error";
    if (!fixed && array.dimensions == std::vector<std::string>{"point"}) return array.name;
  }
  throw InputError("the located points have no parameter");
}

/// Estimated error of the parameter of a located point; 0: none is given.
double error_of(const Dataset& points, std::size_t k) {
  const Array* error = points.find("parameter_error");
  return error == nullptr ? 0 : number(*error, k);
}

/// So many significant digits of a value are right; at most `most`, as of one without an estimated error.
int right_digits(double value, double error, int most) {
  if (!(error > 0) || value == 0) return most;
  const double unit = std::ceil(std::log10(2 * error));  // of the last digit, as a power of ten
  return std::clamp(static_cast<int>(std::floor(std::log10(std::abs(value))) - unit) + 1, 1, most);
}

std::string contact_text(double contact, const std::vector<std::string>& names) {
  return contact >= 0 ? names.at(static_cast<std::size_t>(contact)) : "";
}

std::string kind_text(const Array& kind, std::size_t k) {
  return kind.flags.at(static_cast<std::size_t>(number(kind, k)));
}

}  // namespace

bool has_branches(const Dataset& data) {
  return data.find("points") != nullptr && data.group("bifurcation") != nullptr;
}

std::string branch_text(const Dataset& data) {
  const Dataset& points = part(data, "bifurcation");
  const std::string parameter = parameter_of(points);
  const std::vector<std::string> contacts = index_names(data, "contact");
  std::string text = "\nbranches\n";
  const std::vector<Part> branches = parts_of(column(data, "points"));
  for (std::size_t k = 0; k < branches.size(); ++k) {
    text += fmt::format("  {}: {} from {:.8g} to {:.8g}, {} points, {:.0f} % stable, {} forcing period(s)\n",
                        k, parameter, number(column(data, "least"), k), number(column(data, "greatest"), k),
                        number(column(data, "points"), k), 100 * number(column(data, "stable_share"), k),
                        number(column(data, "forcing_periods"), branches[k].first));
    text += fmt::format("     from {}\n     first point: {}\n     last point: {}\n",
                        text_at(column(data, "origin"), k), text_at(column(data, "begins"), k),
                        text_at(column(data, "ends"), k));
  }
  const Array& kind = column(points, "kind");
  text += fmt::format("\nbifurcation points\n  {:<16} {:>19} {:>8} {:>7} {:>8}\n", "kind", parameter,
                      "contact", "branch", "periods");
  for (std::size_t k = 0; k < points.size("point"); ++k) {
    const double value = number(column(points, parameter), k);
    const int digits = right_digits(value, error_of(points, k), 13);
    text += fmt::format("  {:<16} {:>19.{}g} {:>8} {:>7} {:>8}\n", kind_text(kind, k), value, digits,
                        contact_text(number(column(points, "contact"), k), contacts),
                        number(column(points, "branch"), k), number(column(points, "forcing_periods"), k));
  }
  if (const Dataset* sweep = data.group("sweep")) {
    text += "\nattractors of the sweep\n";
    for (const ClassCount& c : class_counts(column(*sweep, "fate")))
      text += fmt::format("  {} {}\n", c.count, c.name);
  }
  return text;
}

std::string bifurcation_csv(const Dataset& data) {
  const Dataset& points = part(data, "bifurcation");
  const std::string parameter = parameter_of(points);
  const std::vector<std::string> contacts = index_names(data, "contact");
  const std::vector<std::string> states = index_names(points, "state");
  const Array& kind = column(points, "kind");
  const Array& orbit = column(points, "orbit_state");
  std::string text =
      fmt::format("kind,{},contact,branch,forcing_periods,{}\n", parameter, fmt::join(states, ","));
  for (std::size_t k = 0; k < points.size("point"); ++k) {
    const double value = number(column(points, parameter), k);
    const int digits = right_digits(value, error_of(points, k), 17);
    text += fmt::format("{},{:.{}g},{},{},{}", kind_text(kind, k), value, digits,
                        contact_text(number(column(points, "contact"), k), contacts),
                        number(column(points, "branch"), k), number(column(points, "forcing_periods"), k));
    for (std::size_t i = 0; i < states.size(); ++i)
      text += fmt::format(",{:.{}g}", number(orbit, k * states.size() + i), digits);
    text += "\n";
  }
  return text;
}

}  // namespace graze
