/// A sweep over two parameters: regions of class and period, and any array of points beside them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "core/settings/value.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/points.hpp"
#include "drivers/plot/sheet.hpp"

namespace graze {
namespace {

constexpr int left_margin = 150;
constexpr int right_margin = 210;  // of each panel: its legend or scale
constexpr int top_margin = 108;
constexpr int row_gap = 160;
constexpr int panel_width = 640;
constexpr int panel_height = 560;
constexpr int scale_distance = 20;
constexpr int scale_width = 20;
constexpr int title_distance = 20;
constexpr std::size_t panels_a_row = 2;
constexpr std::size_t most_panels = 6;
constexpr std::size_t longest_word = 7;  // of an itinerary, in a legend

/// From dark to light in even steps, for the colour-blind too.
constexpr std::string_view value_palette =
    "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725') maxcolors 0";

/// Both axes of a map and the way from points to pixels.
struct Map {
  Points points;
  std::size_t start;
  PlotAxis x;
  PlotAxis y;
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
  const PlotAxis x = parameter_axis(first, options.from, options.to, true);
  const PlotAxis y = parameter_axis(second, -everything, everything, true);
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

/// A name in a file as words.
std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// Where numbers over the points pass zero.
struct Border {
  std::string name;
  std::string colour;
  std::function<double(std::size_t)> value;
};

constexpr std::array<std::string_view, 4> border_colours = {"#000000", "#b2182b", "#1a7a1a", "#7b3294"};

/// The borders that the result has.
std::vector<Border> borders_of(const Dataset& data) {
  const Array* array = data.find("border");
  if (array == nullptr) return {};
  const std::vector<std::string> names = index_names(data, "criterion");
  std::vector<Border> borders;
  for (std::size_t i = 0; i < names.size(); ++i)
    borders.push_back(
        {names[i], std::string(border_colours[i % border_colours.size()]),
         [array, width = names.size(), i](std::size_t point) { return number(*array, point * width + i); }});
  return borders;
}

/// Rows of line segments along which a border passes zero, interpolated in each cell of the grid.
std::string zero_lines(const Map& map, const Border& border) {
  struct Corner {
    double x, y, value;
  };
  const std::vector<double> x = numbers(*map.points.parameters()[0]);
  const std::vector<double> y = numbers(*map.points.parameters()[1]);
  const auto corner = [&](std::size_t i, std::size_t j) {
    return Corner{x[i], y[j], border.value(map.points.first(map.start) + i * map.y_points + j)};
  };
  std::string rows;
  for (std::size_t i = 0; i + 1 < x.size(); ++i)
    for (std::size_t j = 0; j + 1 < y.size(); ++j) {
      const std::array<Corner, 4> around = {corner(i, j), corner(i + 1, j), corner(i + 1, j + 1),
                                            corner(i, j + 1)};
      int ends = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        const Corner& a = around[k];
        const Corner& b = around[(k + 1) % 4];
        if (!((a.value < 0 && b.value >= 0) || (b.value < 0 && a.value >= 0))) continue;
        const double share = a.value / (a.value - b.value);
        rows += fmt::format("{:.6g} {:.6g}\n", a.x + share * (b.x - a.x), a.y + share * (b.y - a.y));
        if (++ends % 2 == 0) rows += '\n';
      }
    }
  return rows;
}

/// Draws regions; `region(point)` is an index into `regions` or -1.
void draw_regions(Sheet& sheet, const Panel& panel, const Map& map, const std::vector<LegendEntry>& regions,
                  int overriding, const std::function<int(std::size_t)>& region,
                  const std::vector<Border>& borders = {}) {
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
    palette += fmt::format(", {} '{}'", i + 1, regions[i].colour);
  sheet.command(fmt::format("set palette defined ({}) maxcolors 0", palette));
  sheet.command(fmt::format("set cbrange [0:{}]", regions.size()));
  std::vector<LegendEntry> entries;
  for (const int i : present) {
    entries.push_back(regions[static_cast<std::size_t>(i)]);
  }
  std::vector<std::string> elements = {std::string(nothing_on_first_axes), sheet.raster(panel, raster)};
  for (const Border& border : borders) {
    const std::string rows = zero_lines(map, border);
    if (rows.empty()) continue;
    elements.push_back(fmt::format("{} using 1:2 with lines linewidth 2 linecolor rgb '{}'", sheet.data(rows),
                                   border.colour));
    entries.push_back({border.colour, "edge: " + spaced(border.name)});
  }
  sheet.legend(panel, entries);
  sheet.plot(elements);
}

/// Class and period: first the classes in the order of the file, then the periods.
Layer class_layer(const Points& points) {
  const std::vector<std::string>& names = points.class_names();
  std::vector<LegendEntry> regions;
  for (const std::string& name : names) regions.push_back({std::string(class_colour(name)), name});
  const int first_period = static_cast<int>(regions.size());
  constexpr int longest = static_cast<int>(region_colours) - 1;
  for (int period = 1; period <= longest; ++period)
    regions.push_back(
        {std::string(region_colour(static_cast<std::size_t>(period - 1))), fmt::format("period {}", period)});
  regions.push_back({std::string(region_colour(region_colours - 1)), fmt::format("period > {}", longest)});

  const auto failed = std::find(names.begin(), names.end(), "failed");
  const int overriding = failed == names.end() ? -1 : static_cast<int>(failed - names.begin());
  const Array* period_array = points.find("period");
  const auto region = [points, period_array, first_period](std::size_t point) {
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
Layer array_layer(const Array& array, std::string title, std::size_t width, std::size_t index,
                  const std::vector<Border>& borders) {
  const auto value = [&array, width, index](std::size_t point) {
    return number(array, point * width + index);
  };
  if (array.flags.empty())
    return {std::move(title),
            [=](Sheet& sheet, const Panel& panel, const Map& map) { draw_values(sheet, panel, map, value); }};
  const std::vector<LegendEntry> regions = class_entries(array);
  const auto region = [value, count = regions.size()](std::size_t point) {
    const double flag = value(point);
    return flag < static_cast<double>(count) ? static_cast<int>(flag) : -1;
  };
  return {std::move(title), [=](Sheet& sheet, const Panel& panel, const Map& map) {
            draw_regions(sheet, panel, map, regions, -1, region, borders);
          }};
}

/// Regions of equal words: the order in which the contacts are hit. The most frequent words get a colour of
/// their own.
Layer word_layer(const Array& array, std::size_t letters) {
  const std::size_t elements = std::visit([](const auto& values) { return values.size(); }, array.values);
  const std::size_t points = letters == 0 ? 0 : elements / letters;
  // Points have the numbers of their words: a text for each would take more memory than the array.
  std::map<std::string, std::size_t> known;
  std::vector<std::pair<std::string, std::size_t>> frequent;  // words with their counts
  std::vector<std::size_t> word_of(points);
  for (std::size_t point = 0; point < points; ++point) {
    std::string word;
    for (std::size_t k = 0; k < letters; ++k) word += class_name(array, point * letters + k);
    const auto [place, is_new] = known.try_emplace(word, frequent.size());
    if (is_new) frequent.emplace_back(word, 0);
    ++frequent[place->second].second;
    word_of[point] = place->second;
  }
  std::sort(frequent.begin(), frequent.end(), [](const auto& a, const auto& b) {
    return std::pair(b.second, a.first) < std::pair(a.second, b.first);
  });
  const std::size_t shown = std::min(frequent.size(), region_colours - 1);
  std::vector<LegendEntry> regions;
  std::vector<int> place(known.size(), static_cast<int>(shown));
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string& word = frequent[i].first;
    place[known[word]] = static_cast<int>(i);
    const std::string shortened = word.size() > longest_word ? word.substr(0, longest_word) + "…" : word;
    regions.push_back({std::string(region_colour(i)), word.empty() ? "no impact" : shortened});
  }
  regions.push_back({std::string(region_colour(region_colours - 1)), "others"});
  const auto words = std::make_shared<const std::vector<std::size_t>>(std::move(word_of));
  const auto region = [words, place](std::size_t point) {
    return point < words->size() ? place[(*words)[point]] : -1;
  };
  return {"itinerary", [=](Sheet& sheet, const Panel& panel, const Map& map) {
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
    layers.push_back(array_layer(*array, label_with_unit(name, array->unit), 1, 0, borders_of(data)));
    return;
  }
  const std::vector<std::string> labels = index_names(data, further.front());
  if (further.front() == "letter") {
    layers.push_back(word_layer(*array, labels.size()));
    return;
  }
  const bool one = colon != std::string::npos;
  const std::size_t first = one ? index_of(labels, shown.substr(colon + 1), further.front()) : 0;
  const std::size_t last = one ? first + 1 : labels.size();
  for (std::size_t i = first; i < last; ++i)
    layers.push_back(array_layer(
        *array, fmt::format("{}, {}", label_with_unit(name, array->unit), named(further.front(), labels[i])),
        labels.size(), i, borders_of(data)));
}

std::vector<Layer> layers_of(const Dataset& data, const PlotOptions& options) {
  const Points points(data, options.start);
  std::vector<Layer> layers;
  if (points.has_attractors()) layers.push_back(class_layer(points));
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
