/// Basins of attraction: one colour per attractor over a grid of initial states, or over a random sample.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>

#include "core/settings/value.hpp"
#include "drivers/command/basin_table.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/sheet.hpp"

namespace graze {
namespace {

constexpr int left_margin = 150;
constexpr int right_margin = 420;
constexpr int top_margin = 108;
constexpr int side = 720;
constexpr double everything = std::numeric_limits<double>::infinity();

/// A colour of its own for each of any number of attractors: the first ones easy to tell apart also for the
/// colour-blind (Okabe and Ito), the others around the circle of hues by the golden angle.
std::string basin_colour(std::size_t number) {
  constexpr std::array<std::string_view, 8> first = {"#56b4e9", "#e69f00", "#009e73", "#f0e442",
                                                     "#0072b2", "#d55e00", "#cc79a7", "#b8b8b8"};
  if (number < first.size()) return std::string(first[number]);
  constexpr double golden_share = 0.38196601125010515;
  const double hue = 6 * std::fmod(static_cast<double>(number) * golden_share, 1.0);
  const auto channel = [&](double offset) {
    const double k = std::fmod(offset + hue, 6.0);
    return std::lround(255 * (0.85 - 0.6 * std::clamp(std::min(k, 4 - k), 0.0, 1.0)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(5), channel(3), channel(1));
}

/// The two states that span the picture.
struct Plane {
  std::size_t x = 0;  ///< index of the state
  std::size_t y = 1;
};

std::vector<LegendEntry> legend_of(const Dataset& data) {
  std::vector<LegendEntry> entries;
  for (const std::string& name : basin_names(data)) entries.push_back({basin_colour(entries.size()), name});
  const std::string exponent = uncertainty_text(data);
  if (!exponent.empty()) entries.push_back({"#ffffff", "exponent " + exponent});
  return entries;
}

/// The points of the periodic attractors in this plane.
void add_orbits(std::vector<std::string>& elements, Sheet& sheet, const Dataset& data, const Plane& plane) {
  const Array* orbit = data.find("basin_orbit");
  if (orbit == nullptr) return;
  const std::size_t width = data.size("state");
  std::string rows;
  for (std::size_t i = 0; i + width <= data.elements(*orbit); i += width) {
    const double x = number(*orbit, i + plane.x);
    if (std::isfinite(x)) rows += fmt::format("{} {}\n", x, number(*orbit, i + plane.y));
  }
  if (rows.empty()) return;
  const std::string block = sheet.data(rows);
  elements.push_back(
      fmt::format("{} using 1:2 with points pointtype 7 pointsize 1.6*dot linecolor rgb '#ffffff'", block));
  elements.push_back(
      fmt::format("{} using 1:2 with points pointtype 7 pointsize 1.0*dot linecolor rgb '#000000'", block));
}

/// The basin that most points of a pixel are in; 0: none.
double basin_of_pixel(const Array& basin, std::span<const std::size_t> xs, std::span<const std::size_t> ys,
                      std::size_t y_points) {
  std::map<double, int> counts;
  for (const std::size_t i : xs)
    for (const std::size_t j : ys) ++counts[number(basin, i * y_points + j)];
  double best = 0;
  int most = 0;
  for (const auto& [value, count] : counts) {
    if (!(value >= 0) || count <= most) continue;
    best = value + 1;
    most = count;
  }
  return best;
}

std::string palette(std::size_t basins) {
  std::string text = "0 '#ffffff'";
  for (std::size_t n = 0; n < basins; ++n) text += fmt::format(", {} '{}'", n + 1, basin_colour(n));
  return text;
}

/// The picture's frame, axes and legend.
Sheet begin(const PlotOptions& options, const PlotAxis& x, const PlotAxis& y, const Dataset& data,
            Panel& panel) {
  const int width = options.width > 0 ? options.width : side + left_margin + right_margin;
  const int height = options.height > 0 ? options.height : side + top_margin + bottom_margin;
  panel = {left_margin, top_margin, width - left_margin - right_margin, height - top_margin - bottom_margin};
  Sheet sheet(width, height, options.title);
  sheet.panel(panel);
  sheet.number_axis(x, true);
  sheet.value_axis(panel, y);
  sheet.legend(panel, legend_of(data));
  return sheet;
}

Drawing draw_grid(const Dataset& data, const PlotOptions& options) {
  const Array& basin = data.at("basin");
  if (basin.dimensions.size() != 2)
    throw InputError(
        "a picture of basins needs initial states over two states; read the array basin instead");
  const Array& first = data.at(basin.dimensions[0]);
  const Array& second = data.at(basin.dimensions[1]);
  const PlotAxis x = parameter_axis(first, options.from, options.to, true);
  const PlotAxis y = parameter_axis(second, -everything, everything, true);
  Panel panel;
  Sheet sheet = begin(options, x, y, data, panel);
  const Pixels columns(x, first, panel.width);
  const Pixels rows(y, second, panel.height);
  std::vector<std::vector<double>> raster(rows.count(), std::vector<double>(columns.count()));
  for (std::size_t row = 0; row < rows.count(); ++row)
    for (std::size_t column = 0; column < columns.count(); ++column)
      raster[row][column] = basin_of_pixel(basin, columns[column], rows[row], data.size(second.name));
  const std::size_t basins = data.size("number");
  sheet.command(fmt::format("set palette defined ({}) maxcolors 0", palette(basins)));
  sheet.command(fmt::format("set cbrange [0:{}]", std::max<std::size_t>(basins, 1)));
  sheet.command("unset colorbox");
  std::vector<std::string> elements = {std::string(nothing_on_first_axes), sheet.raster(panel, raster)};
  const std::vector<std::string> states = index_names(data, "state");
  add_orbits(elements, sheet, data,
             {index_of(states, first.name, "state"), index_of(states, second.name, "state")});
  sheet.plot(elements);
  return sheet.finish();
}

Plane chosen_plane(const std::vector<std::string>& states, const PlotOptions& options) {
  if (options.states.empty()) {
    if (states.size() < 2) throw InputError("a picture of basins needs two states");
    const std::vector<Pair> found = pairs(states);
    return found.empty() ? Plane{} : Plane{found.front().position, found.front().velocity};
  }
  if (options.states.size() != 2)
    throw InputError("a picture of a random sample needs --state twice, or not at all");
  return {index_of(states, options.states[0], "state"), index_of(states, options.states[1], "state")};
}

PlotAxis state_axis(const Dataset& data, const std::vector<std::string>& states, std::size_t state) {
  const Array& starts = data.at("start_state");
  double low = everything;
  double high = -everything;
  for (std::size_t i = state; i < data.elements(starts); i += states.size()) {
    low = std::fmin(low, number(starts, i));
    high = std::fmax(high, number(starts, i));
  }
  return value_axis(states[state], low, high);
}

Drawing draw_sample(const Dataset& data, const PlotOptions& options) {
  const std::vector<std::string> states = index_names(data, "state");
  const Plane plane = chosen_plane(states, options);
  Panel panel;
  Sheet sheet =
      begin(options, state_axis(data, states, plane.x), state_axis(data, states, plane.y), data, panel);
  const Array& starts = data.at("start_state");
  const Array& basin = data.at("basin");
  std::vector<std::string> rows(data.size("number"));
  for (std::size_t i = 0; i < data.elements(basin); ++i) {
    const double n = number(basin, i);
    if (!(n >= 0 && n < static_cast<double>(rows.size()))) continue;
    rows[static_cast<std::size_t>(n)] += fmt::format("{} {}\n", number(starts, i * states.size() + plane.x),
                                                     number(starts, i * states.size() + plane.y));
  }
  std::vector<std::string> elements = {std::string(nothing_on_first_axes)};
  for (std::size_t n = 0; n < rows.size(); ++n) {
    if (rows[n].empty()) continue;
    elements.push_back(
        fmt::format("{} using 1:2 with points pointtype 7 pointsize 0.6*dot linecolor rgb '{}'",
                    sheet.data(rows[n]), basin_colour(n)));
  }
  add_orbits(elements, sheet, data, plane);
  sheet.plot(elements);
  return sheet.finish();
}

}  // namespace

Drawing draw_basins(const Result& result, const PlotOptions& options) {
  if (!result.complete || result.data.find("basin") == nullptr)
    throw InputError("which basin a start is in is known when all are computed; go on with graze run");
  const bool random = result.data.find("start_state") != nullptr;
  return random ? draw_sample(result.data, options) : draw_grid(result.data, options);
}

}  // namespace graze
