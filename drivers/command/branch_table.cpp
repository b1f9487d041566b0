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

}  // namespace

bool has_branches(const Dataset& data) {
  return data.find("points") != nullptr && data.group("bifurcation") != nullptr;
}

std::string branch_text(const Dataset& data) {
  const Dataset& points = group_of(data, "bifurcation");
  const std::string parameter = parameter_of(points);
  const std::vector<std::string> contacts = index_names(data, "contact");
  std::string text = "\nbranches\n";
  const std::vector<Part> branches = parts_from(array_of(data, "points"));
  for (std::size_t k = 0; k < branches.size(); ++k) {
    text +=
        fmt::format("  {}: {} from {:.8g} to {:.8g}, {} points, {:.0f} % stable, {} forcing period(s)\n", k,
                    parameter, number(array_of(data, "least"), k), number(array_of(data, "greatest"), k),
                    number(array_of(data, "points"), k), 100 * number(array_of(data, "stable_share"), k),
                    number(array_of(data, "forcing_periods"), branches[k].first));
    text += fmt::format("     from {}\n     first point: {}\n     last point: {}\n",
                        text_at(array_of(data, "origin"), k), text_at(array_of(data, "begins"), k),
                        text_at(array_of(data, "ends"), k));
  }
  const Array& kind = array_of(points, "kind");
  text += fmt::format("\nbifurcation points\n  {:<16} {:>19} {:>8} {:>7} {:>8}\n", "kind", parameter,
                      "contact", "branch", "periods");
  for (std::size_t k = 0; k < points.size("point"); ++k) {
    const double value = number(array_of(points, parameter), k);
    const int digits = right_digits(value, error_of(points, k), 13);
    text +=
        fmt::format("  {:<16} {:>19.{}g} {:>8} {:>7} {:>8}\n", class_name(kind, k), value, digits,
                    name_at(number(array_of(points, "contact"), k), contacts),
                    number(array_of(points, "branch"), k), number(array_of(points, "forcing_periods"), k));
  }
  if (const Dataset* sweep = data.group("sweep")) {
    text += "\nattractors of the sweep\n";
    for (const ClassCount& c : class_counts(array_of(*sweep, "fate")))
      text += fmt::format("  {} {}\n", c.count, c.name);
  }
  return text;
}

std::string bifurcation_csv(const Dataset& data) {
  const Dataset& points = group_of(data, "bifurcation");
  const std::string parameter = parameter_of(points);
  const std::vector<std::string> contacts = index_names(data, "contact");
  const std::vector<std::string> states = index_names(points, "state");
  const Array& kind = array_of(points, "kind");
  const Array& orbit = array_of(points, "orbit_state");
  std::string text =
      fmt::format("kind,{},contact,branch,forcing_periods,{}\n", parameter, fmt::join(states, ","));
  for (std::size_t k = 0; k < points.size("point"); ++k) {
    const double value = number(array_of(points, parameter), k);
    const int digits = right_digits(value, error_of(points, k), 17);
    text +=
        fmt::format("{},{:.{}g},{},{},{}", class_name(kind, k), value, digits,
                    name_at(number(array_of(points, "contact"), k), contacts),
                    number(array_of(points, "branch"), k), number(array_of(points, "forcing_periods"), k));
    for (std::size_t i = 0; i < states.size(); ++i)
      text += fmt::format(",{:.{}g}", number(orbit, k * states.size() + i), digits);
    text += "\n";
  }
  return text;
}

}  // namespace graze
