/// A sweep over two parameters: regions of class and period, and any array of points beside them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/value.hpp"
#include "drivers/plot.hpp"
#include "drivers/plot_points.hpp"
#include "drivers/plot_sheet.hpp"

namespace graze {
namespace {

constexpr int left_margin = 150;
constexpr int right_margin = 210;  // of each panel: its legend or scale
constexpr int top_margin = 108;
constexpr int bottom_margin = 108;
constexpr int row_gap = 160;
constexpr int panel_width = 640;
constexpr int panel_height = 560;
constexpr int scale_distance = 20;
constexpr int scale_width = 20;
constexpr int title_distance = 20;
constexpr std::size_t panels_a_row = 2;
constexpr std::size_t most_panels = 6;

/// From dark to light in even steps, for the colour-blind too.
constexpr std::string_view value_palette =
    "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725') maxcolors 0";

/// Periodic regions: powers of two in blues, the others in yellows and browns, the rest together.
constexpr std::array<std::string_view, 9> period_colours = {
    "#cfe3f5", "#7db8e0", "#f0e442", "#2e7ebc", "#e6ab02", "#c58c3c", "#8c6d31", "#08306b", "#66c2c2"};

/// What the pixels of the class panel stand for.
struct Region {
  std::string name;
  std::string colour;
};

/// Both axes of a map and the way from points to pixels.
struct Map {
  Points points;
  std::size_t start;
  Axis x;
  Axis y;
  Pixels columns;
  Pixels rows;
  std::size_t y_points;  ///< number of coordinates along y

  /// Calls action(point) for all points of a pixel.
  template <typename Action>
  void for_points(std::size_t column, std::size_t row, Action action) const {
    for (const std::size_t i : columns[column])
      for (const std::size_t j : rows[row]) action(points.first(start) + i * y_points + j);
  }
};

Map map_of(const Dataset& data, const PlotOptions& options, int width, int height) {
  Points points(data, options.start);
  const Array& first = *points.parameters().at(0);
  const Array& second = *points.parameters().at(1);
  constexpr double everything = std::numeric_limits<double>::infinity();
  const Axis x = parameter_axis(first, options.from, options.to, true);
  const Axis y = parameter_axis(second, -everything, everything, true);
  return {points,
          points.starts().front(),
          x,
          y,
          Pixels(x, first, width),
          Pixels(y, second, height),
          data.size(second.name)};
}

/// What is drawn in a panel beside the axes.
struct Layer {
  std::string title;
  std::function<void(Sheet&, const Panel&, const Map&)> draw;
};

/// The region most points of a pixel are in, the first of equals; but `overriding` wherever it occurs, so
/// that single points of it stay visible. -1 where nothing has been computed.
int region_of_pixel(const std::vector<int>& regions, int overriding) {
  std::map<int, int> counts;
  for (const int region : regions)
    if (region >= 0) ++counts[region];
  if (counts.empty()) return -1;
  if (counts.contains(overriding)) return overriding;
  const auto more = [](const auto& a, const auto& b) { return a.second < b.second; };
  return std::max_element(counts.begin(), counts.end(), more)->first;
}

/// Draws regions; `region(point)` is an index into `regions` or -1.
void draw_regions(Sheet& sheet, const Panel& panel, const Map& map, const std::vector<Region>& regions,
                  int overriding, const std::function<int(std::size_t)>& region) {
  std::vector<std::vector<double>> raster(map.rows.count(), std::vector<double>(map.columns.count()));
  std::set<int> present;
  std::vector<int> inside;
  for (std::size_t row = 0; row < map.rows.count(); ++row)
    for (std::size_t column = 0; column < map.columns.count(); ++column) {
      inside.clear();
      map.for_points(column, row, [&](std::size_t point) { inside.push_back(region(point)); });
      const int found = region_of_pixel(inside, overriding);
      raster[row][column] = found + 1;
      if (found >= 0) present.insert(found);
    }
  std::string palette = "0 '#ffffff'";
  for (std::size_t i = 0; i < regions.size(); ++i)
    fmt::format_to(std::back_inserter(palette), ", {} '{}'", i + 1, regions[i].colour);
  sheet.command(fmt::format("set palette defined ({}) maxcolors 0", palette));
  sheet.command(fmt::format("set cbrange [0:{}]", regions.size()));
  std::vector<LegendEntry> entries;
  for (const int i : present) {
    const Region& shown = regions[static_cast<std::size_t>(i)];
    entries.push_back({shown.colour, shown.name});
  }
  sheet.legend(panel, entries);
  sheet.plot({std::string(nothing_on_first_axes), sheet.raster(panel, raster)});
}

/// Class and period: first the classes in the order of the file, then the periods.
Layer class_layer(const Points& points) {
  const std::vector<std::string>& names = points.class_names();
  std::vector<Region> regions;
  for (const std::string& name : names) regions.push_back({name, std::string(class_colour(name))});
  const int first_period = static_cast<int>(regions.size());
  const int longest = static_cast<int>(period_colours.size()) - 1;
  for (int period = 1; period <= longest; ++period)
    regions.push_back({fmt::format("period {}", period), std::string(period_colours[period - 1])});
  regions.push_back({fmt::format("period > {}", longest), std::string(period_colours.back())});

  const auto failed = std::find(names.begin(), names.end(), "failed");
  const int overriding = failed == names.end() ? -1 : static_cast<int>(failed - names.begin());
  const Array* period_array = points.find("period");
  const auto region = [points, period_array, first_period, longest](std::size_t point) {
    if (period_array == nullptr || !points.is(point, "periodic")) return points.attractor(point);
    const double period = number(*period_array, point);
    if (!(period >= 1)) return points.attractor(point);
    return first_period + static_cast<int>(std::min<double>(period, longest + 1)) - 1;
  };
  return {"class and period", [=](Sheet& sheet, const Panel& panel, const Map& map) {
            draw_regions(sheet, panel, map, regions, overriding, region);
          }};
}

/// The mean over the points of each pixel, NaN where there is none.
void draw_values(Sheet& sheet, const Panel& panel, const Map& map,
                 const std::function<double(std::size_t)>& value) {
  std::vector<std::vector<double>> raster(map.rows.count(), std::vector<double>(map.columns.count()));
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t row = 0; row < map.rows.count(); ++row)
    for (std::size_t column = 0; column < map.columns.count(); ++column) {
      double sum = 0;
      int count = 0;
      map.for_points(column, row, [&](std::size_t point) {
        const double x = value(point);
        if (!std::isfinite(x)) return;
        sum += x;
        ++count;
      });
      const double mean = count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
      raster[row][column] = mean;
      if (count == 0) continue;
      low = std::min(low, mean);
      high = std::max(high, mean);
    }
  sheet.command(value_palette);
  if (low <= high) sheet.command(fmt::format("set cbrange [{}:{}]", low, high > low ? high : low + 1));
  sheet.command("set cbtics scale 0.4");
  sheet.colour_box({panel.left + panel.width + scale_distance, panel.top, scale_width, panel.height});
  sheet.plot({std::string(nothing_on_first_axes), sheet.raster(panel, raster)});
}

/// One entry of an array over points: of a further dimension of `width` entries, entry `index`.
Layer array_layer(const Array& array, std::string title, std::size_t width, std::size_t index) {
  const auto value = [&array, width, index](std::size_t point) {
    return number(array, point * width + index);
  };
  if (array.flags.empty())
    return {std::move(title),
            [=](Sheet& sheet, const Panel& panel, const Map& map) { draw_values(sheet, panel, map, value); }};
  std::vector<Region> regions;
  for (std::size_t i = 0; i < array.flags.size(); ++i)
    regions.push_back({array.flags[i], std::string(period_colours[i % period_colours.size()])});
  const auto region = [value, count = regions.size()](std::size_t point) {
    const double flag = value(point);
    return flag < static_cast<double>(count) ? static_cast<int>(flag) : -1;
  };
  return {std::move(title), [=](Sheet& sheet, const Panel& panel, const Map& map) {
            draw_regions(sheet, panel, map, regions, -1, region);
          }};
}

/// The panels of NAME or NAME:LABEL.
void add_layers(std::vector<Layer>& layers, const Dataset& data, const Points& points,
                const std::string& shown) {
  const std::size_t colon = shown.find(':');
  const std::string name = shown.substr(0, colon);
  const Array* array = data.find(name);
  if (array == nullptr) throw InputError(fmt::format("the file has no array {}", name));
  const std::vector<std::string> further = points.further_dimensions(*array);
  if (further.size() > 1)
    throw InputError(fmt::format("array {} has more than one value per point and {}", name, further.front()));
  if (further.empty()) {
    layers.push_back(array_layer(*array, label_with_unit(name, array->unit), 1, 0));
    return;
  }
  const std::vector<std::string> labels = index_names(data, further.front());
  const bool one = colon != std::string::npos;
  const std::size_t first = one ? index_of(labels, shown.substr(colon + 1), further.front()) : 0;
  const std::size_t last = one ? first + 1 : labels.size();
  for (std::size_t i = first; i < last; ++i)
    layers.push_back(array_layer(
        *array, fmt::format("{}, {}", label_with_unit(name, array->unit), named(further.front(), labels[i])),
        labels.size(), i));
}

std::vector<Layer> layers_of(const Dataset& data, const PlotOptions& options) {
  const Points points(data, options.start);
  std::vector<Layer> layers = {class_layer(points)};
  for (const std::string& shown : options.show) add_layers(layers, data, points, shown);
  if (layers.size() > most_panels)
    throw InputError(fmt::format("{} panels are more than fit into a picture ({}): choose with NAME:LABEL",
                                 layers.size(), most_panels));
  return layers;
}

}  // namespace

Drawing draw_map(const Result& result, const PlotOptions& options) {
  const std::vector<Layer> layers = layers_of(result.data, options);
  const int columns = static_cast<int>(std::min(layers.size(), panels_a_row));
  const int rows = static_cast<int>((layers.size() + panels_a_row - 1) / panels_a_row);
  const int beside = columns * (left_margin + right_margin);
  const int above = top_margin + bottom_margin + (rows - 1) * row_gap;
  const int sheet_width = options.width > 0 ? options.width : columns * panel_width + beside;
  const int sheet_height = options.height > 0 ? options.height : rows * panel_height + above;
  const int width = (sheet_width - beside) / columns;
  const int height = (sheet_height - above) / rows;
  const Map map = map_of(result.data, options, width, height);

  Sheet sheet(sheet_width, sheet_height, options.title);
  for (int i = 0; i < static_cast<int>(layers.size()); ++i) {
    const Layer& layer = layers[static_cast<std::size_t>(i)];
    const Panel panel = {left_margin + i % columns * (width + left_margin + right_margin),
                         top_margin + i / columns * (height + row_gap), width, height};
    sheet.panel(panel);
    sheet.number_axis(map.x, true);
    sheet.value_axis(panel, map.y);
    sheet.text(panel.left, panel.top - title_distance, layer.title);
    layer.draw(sheet, panel, map);
  }
  return sheet.finish();
}

}  // namespace graze
