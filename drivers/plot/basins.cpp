/// Basins of attraction: one colour per attractor over a grid of initial states, or over a random sample.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "core/settings/value.hpp"
#include "drivers/command/array_values.hpp"
#include "drivers/command/basin_table.hpp"
#include "drivers/plot/colours.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/points.hpp"

namespace graze {
namespace {

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

std::string label_of(const PlotSource& source, const std::string& state) {
  return source.described.label(state, "");
}

/// The points of the periodic attractors in this plane, each in a darker tone of the colour of its basin.
void add_orbits(Panel& panel, const Dataset& data, const Plane& plane) {
  const Array* orbit = data.find("basin_orbit");
  if (orbit == nullptr) return;
  const std::size_t width = data.size("state");
  const std::size_t basins = data.size("number");
  const std::size_t rows = basins == 0 ? 0 : data.elements(*orbit) / (width * basins);
  for (std::size_t n = 0; n < basins; ++n) {
    Mark dots;
    dots.shape = Mark::Shape::dots;
    dots.size = 3.2;
    dots.colour = "#ffffff";
    for (std::size_t i = n * rows; i < (n + 1) * rows; ++i) {
      if (!std::isfinite(number(*orbit, i * width + plane.x))) continue;
      dots.x.push_back(number(*orbit, i * width + plane.x));
      dots.y.push_back(number(*orbit, i * width + plane.y));
    }
    if (dots.empty()) continue;
    Mark inner = dots;
    inner.size = 2.2;
    inner.colour = mixed(basin_colour(n), "#000000", 0.55);
    panel.marks.push_back(std::move(dots));
    panel.marks.push_back(std::move(inner));
  }
}

/// The basin that most points of a cell are in; 0: none.
double basin_of_cell(const Array& basin, std::span<const std::size_t> xs, std::span<const std::size_t> ys,
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

std::vector<Region> regions_of(const Dataset& data) {
  std::vector<Region> regions;
  for (const std::string& name : basin_names(data)) regions.push_back({basin_colour(regions.size()), name});
  return regions;
}

Panel grid_panel(const PlotSource& source, const PlotOptions& options) {
  constexpr int most_cells = 500;
  const Dataset& data = source.result.data;
  const Array& basin = data.at("basin");
  if (basin.dimensions.size() != 2)
    throw InputError(
        "a picture of basins needs initial states over two states; read the array basin instead");
  const Array& first = data.at(basin.dimensions[0]);
  const Array& second = data.at(basin.dimensions[1]);
  Panel panel;
  panel.name = "basins";
  panel.square = true;
  panel.x = parameter_axis(first, label_of(source, first.name), options.from, options.to, true);
  panel.y = parameter_axis(second, label_of(source, second.name), options.y_from, options.y_to, true);
  const auto cells = [&](const Array& coordinate) {
    return std::min(most_cells, static_cast<int>(std::max<std::size_t>(2, data.size(coordinate.name))));
  };
  const bool whole = std::isinf(options.from) && std::isinf(options.to) && std::isinf(options.y_from) &&
                     std::isinf(options.y_to);
  const Columns columns(panel.x, first, whole ? cells(first) : most_cells);
  const Columns rows(panel.y, second, whole ? cells(second) : most_cells);
  Raster raster;
  for (std::size_t row = 0; row < rows.count(); ++row) {
    std::vector<double>& line = raster.rows.emplace_back();
    for (std::size_t column = 0; column < columns.count(); ++column)
      line.push_back(basin_of_cell(basin, columns[column], rows[row], data.size(second.name)));
  }
  const std::vector<Region> regions = regions_of(data);
  raster.palette = region_palette(regions);
  for (const Region& region : regions) panel.patches.emplace_back(region.colour, region.meaning);
  panel.raster = std::move(raster);
  const std::vector<std::string> states = index_names(data, "state");
  add_orbits(panel, data, {index_of(states, first.name, "state"), index_of(states, second.name, "state")});
  return panel;
}

Panel sample_panel(const PlotSource& source, const Plane& plane) {
  const Dataset& data = source.result.data;
  const std::vector<std::string> states = index_names(data, "state");
  const Array& starts = data.at("start_state");
  const Array& basin = data.at("basin");
  Panel panel;
  panel.name = states[plane.x] + "," + states[plane.y];
  panel.square = true;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const std::vector<Region> regions = regions_of(data);
  for (std::size_t n = 0; n < data.size("number"); ++n) {
    Mark dots;
    dots.shape = Mark::Shape::dots;
    dots.size = 1.6;
    dots.colour = basin_colour(n);
    dots.meaning = n < regions.size() ? regions[n].meaning : "";
    for (std::size_t i = 0; i < data.elements(basin); ++i) {
      if (number(basin, i) != static_cast<double>(n)) continue;
      dots.x.push_back(number(starts, i * states.size() + plane.x));
      dots.y.push_back(number(starts, i * states.size() + plane.y));
      low = std::fmin(low, dots.x.back());
      high = std::fmax(high, dots.x.back());
    }
    panel.marks.push_back(std::move(dots));
  }
  add_orbits(panel, data, plane);
  panel.x = value_axis(label_of(source, states[plane.x]), low, high);
  fit_y_axis(panel, label_of(source, states[plane.y]));
  return panel;
}

/// A plane for each pair of a position and its velocity; all others by name.
std::vector<PanelOffer> sample_offers(const PlotSource& source) {
  const std::vector<std::string> states = index_names(source.result.data, "state");
  if (states.size() < 2) throw InputError("a picture of basins needs two states");
  const std::vector<Pair> pairs = source.described.pairs(states);
  const Plane usual = pairs.empty() ? Plane{} : Plane{pairs.front().position, pairs.front().velocity};
  std::vector<PanelOffer> offers;
  for (std::size_t x = 0; x < states.size(); ++x)
    for (std::size_t y = 0; y < states.size(); ++y)
      if (x != y)
        offers.push_back({states[x] + ":" + states[y], x == usual.x && y == usual.y, [&source, x, y] {
                            return sample_panel(source, {x, y});
                          }});
  return offers;
}

}  // namespace

Picture draw_basins(const PlotSource& source, const PlotOptions& options) {
  const Dataset& data = source.result.data;
  if (!source.result.complete || data.find("basin") == nullptr)
    throw InputError("basins are known when all initial states are computed; resume with graze run");
  std::vector<PanelOffer> offers;
  PlotOptions panel_options = options;
  if (data.find("start_state") != nullptr) {
    offers = sample_offers(source);
  } else {
    offers.push_back({"basins", true, [&] { return grid_panel(source, options); }});
    panel_options.y_from = -std::numeric_limits<double>::infinity();  // in the axes already
    panel_options.y_to = std::numeric_limits<double>::infinity();
  }
  Picture picture;
  picture.rows = stacked(chosen_panels(offers, panel_options, picture.notes));
  picture.caption = source.described.parameters({});
  const std::string exponent = uncertainty_text(data);
  if (!exponent.empty())
    picture.notes.push_back(
        fmt::format("uncertainty exponent α = {}: of initial states known within ε, a share of about ε^α may "
                    "lead elsewhere",
                    exponent));
  return picture;
}

}  // namespace graze
