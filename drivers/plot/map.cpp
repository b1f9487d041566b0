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
#include "drivers/command/array_values.hpp"
#include "drivers/plot/colours.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/points.hpp"

namespace graze {
namespace {

constexpr std::size_t most_cells = 400;   // of a raster, along one axis
constexpr std::size_t longest_word = 12;  // of an itinerary, in a legend
constexpr double side_by_side = 320;      // points; a narrower page has one map in a row
constexpr double no_limit = std::numeric_limits<double>::infinity();

/// Both axes of a map and the way from points to cells.
struct Map {
  const PlotSource& source;
  const Dataset& data;
  Points points;
  std::size_t start;
  PlotAxis x;
  PlotAxis y;
  Columns columns;
  Columns rows;
  std::size_t y_points;  ///< number of coordinates along y

  std::size_t size() const { return data.size(points.parameters()[0]->name) * y_points; }
  /// Calls action(point) for all points of a cell.
  template <typename Action>
  void for_points(std::size_t column, std::size_t row, Action action) const {
    for (const std::size_t i : columns[column])
      for (const std::size_t j : rows[row]) action(points.first(start) + i * y_points + j);
  }
};

/// A cell a point where points are evenly spaced on the axis, else so many that the eye sees no steps.
int cells_of(const PlotAxis& axis, const Array& coordinate) {
  std::vector<double> places;
  for (const double value : numbers(coordinate))
    if (axis.contains(value)) places.push_back(axis.position(value));
  const std::size_t count = places.size();
  bool even = count <= most_cells;
  for (std::size_t i = 0; even && i < count; ++i)
    even = std::abs(places[i] * static_cast<double>(count) - static_cast<double>(i) - 0.5) < 0.02;
  return static_cast<int>(even && count > 1 ? count : most_cells);
}

Map map_of(const PlotSource& source, const PlotOptions& options) {
  const Dataset& data = source.result.data;
  Points points(data, options.start);
  const Array& first = *points.parameters().at(0);
  const Array& second = *points.parameters().at(1);
  const PlotAxis x =
      parameter_axis(first, source.described.label(first.name, first.unit), options.from, options.to, true);
  const PlotAxis y = parameter_axis(second, source.described.label(second.name, second.unit), options.y_from,
                                    options.y_to, true);
  const std::size_t start = points.starts().front();
  return {source,
          data,
          std::move(points),
          start,
          x,
          y,
          Columns(x, first, cells_of(x, first)),
          Columns(y, second, cells_of(y, second)),
          data.size(second.name)};
}

/// The region most points of a cell are in, the first of equals; but `overriding` wherever it occurs, so
/// that single points of it stay visible. -1 where nothing has been computed.
int region_of_cell(const std::vector<int>& regions, int overriding) {
  std::map<int, int> counts;
  for (const int region : regions)
    if (region >= 0) ++counts[region];
  if (counts.empty()) return -1;
  if (counts.contains(overriding)) return overriding;
  const auto more = [](const auto& a, const auto& b) { return a.second < b.second; };
  return std::max_element(counts.begin(), counts.end(), more)->first;
}

/// Line segments along which a number over the points passes zero, interpolated in each cell of the grid.
Mark zero_lines(const Map& map, const std::function<double(std::size_t)>& number_at) {
  struct Corner {
    double x, y, value;
  };
  const std::vector<double> x = numbers(*map.points.parameters()[0]);
  const std::vector<double> y = numbers(*map.points.parameters()[1]);
  const auto corner = [&](std::size_t i, std::size_t j) {
    return Corner{x[i], y[j], number_at(map.points.first(map.start) + i * map.y_points + j)};
  };
  Mark mark;
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
        mark.x.push_back(a.x + share * (b.x - a.x));
        mark.y.push_back(a.y + share * (b.y - a.y));
        if (++ends % 2 != 0) continue;
        mark.x.push_back(std::numeric_limits<double>::quiet_NaN());  // ends the segment
        mark.y.push_back(std::numeric_limits<double>::quiet_NaN());
      }
    }
  return mark;
}

/// The borders that the result has.
std::vector<Mark> border_lines(const Map& map) {
  constexpr std::array<std::string_view, 4> colours = {"#000000", "#b2182b", "#1a7a1a", "#7b3294"};
  constexpr std::array<Mark::Dash, 3> dashes = {Mark::Dash::solid, Mark::Dash::dashed, Mark::Dash::dotted};
  const Array* array = map.data.find("border");
  if (array == nullptr) return {};
  const std::vector<std::string> names = index_names(map.data, "criterion");
  std::vector<Mark> lines;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Mark line = zero_lines(map, [&](std::size_t point) { return number(*array, point * names.size() + i); });
    line.colour = colours[i % colours.size()];
    line.dash = dashes[i % dashes.size()];
    line.size = 1.1;
    line.meaning = "edge: " + spaced(names[i]);
    lines.push_back(std::move(line));
  }
  return lines;
}

Panel map_panel(const Map& map, const std::string& name, const std::string& title) {
  Panel panel;
  panel.name = name;
  panel.title = title;
  panel.x = map.x;
  panel.y = map.y;
  panel.square = true;
  return panel;
}

/// Draws regions; `region(point)` is an index into `regions` or -1.
void add_regions(Panel& panel, const Map& map, const std::vector<Region>& regions, int overriding,
                 const std::function<int(std::size_t)>& region) {
  Raster raster;
  std::set<int> present;
  std::vector<int> inside;
  for (std::size_t row = 0; row < map.rows.count(); ++row) {
    std::vector<double>& cells = raster.rows.emplace_back(map.columns.count());
    for (std::size_t column = 0; column < cells.size(); ++column) {
      inside.clear();
      map.for_points(column, row, [&](std::size_t point) { inside.push_back(region(point)); });
      const int found = region_of_cell(inside, overriding);
      cells[column] = found + 1;
      if (found >= 0) present.insert(found);
    }
  }
  raster.palette = region_palette(regions);
  for (const int i : present) {
    const Region& found = regions[static_cast<std::size_t>(i)];
    panel.patches.emplace_back(found.colour, found.meaning);
  }
  panel.raster = std::move(raster);
}

/// Class and period: first the classes in the order of the file, then the periods.
Panel class_panel(const Map& map) {
  const std::vector<std::string>& names = map.points.class_names();
  std::vector<Region> regions;
  regions.reserve(names.size() + region_colours);
  for (const std::string& name : names) regions.push_back({class_colour(name), name});
  const int first_period = static_cast<int>(regions.size());
  const int longest = static_cast<int>(region_colours) - 1;
  for (int period = 1; period <= longest; ++period)
    regions.push_back(
        {region_colour(static_cast<std::size_t>(period - 1)), fmt::format("period {}", period)});
  regions.push_back({region_colour(region_colours - 1), fmt::format("period > {}", longest)});

  const auto failed = std::find(names.begin(), names.end(), "failed");
  const int overriding = failed == names.end() ? -1 : static_cast<int>(failed - names.begin());
  const Array* periods = map.points.find("period");
  Panel panel = map_panel(map, "class", "class and period");
  add_regions(panel, map, regions, overriding, [&](std::size_t point) {
    if (periods == nullptr || !map.points.is(point, "periodic")) return map.points.attractor(point);
    const double period = number(*periods, point);
    if (!(period >= 1)) return map.points.attractor(point);
    return first_period + static_cast<int>(std::min<double>(period, longest + 1)) - 1;
  });
  return panel;
}

/// The mean over the points of each cell.
Panel value_panel(const Map& map, const std::string& name, const std::string& title,
                  const std::function<double(std::size_t)>& value) {
  Raster raster;
  double low = no_limit;
  double high = -no_limit;
  for (std::size_t row = 0; row < map.rows.count(); ++row) {
    std::vector<double>& cells = raster.rows.emplace_back(map.columns.count());
    for (std::size_t column = 0; column < cells.size(); ++column) {
      double sum = 0;
      int count = 0;
      map.for_points(column, row, [&](std::size_t point) {
        const double x = value(point);
        if (!std::isfinite(x)) return;
        sum += x;
        ++count;
      });
      cells[column] = count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
      if (count == 0) continue;
      low = std::min(low, cells[column]);
      high = std::max(high, cells[column]);
    }
  }
  raster.palette = value_palette(low, high);
  raster.with_scale = true;
  Panel panel = map_panel(map, name, title);
  panel.raster = std::move(raster);
  return panel;
}

/// One entry of an array over points: of a further dimension of `width` entries, entry `index`.
Panel array_panel(const Map& map, const Array& array, const std::string& name, const std::string& title,
                  std::size_t width, std::size_t index) {
  const auto value = [&](std::size_t point) { return number(array, point * width + index); };
  Panel panel;
  if (array.flags.empty()) {
    panel = value_panel(map, name, title, value);
  } else {
    panel = map_panel(map, name, title);
    const std::vector<Region> regions = class_regions(array);
    add_regions(panel, map, regions, -1, [&](std::size_t point) {
      const double flag = value(point);
      return flag < static_cast<double>(regions.size()) ? static_cast<int>(flag) : -1;
    });
    panel.marks = border_lines(map);
  }
  return panel;
}

/// Regions of equal texts, one a point ("": none); white where the sweep has no result. The most frequent
/// texts get a colour of their own.
Panel text_panel(const Map& map, const std::string& name, const std::string& title, const std::string& none,
                 const std::function<std::string(std::size_t)>& text) {
  // Points have the numbers of their texts: a text for each would take more memory than the array.
  std::map<std::string, std::size_t> known;
  std::vector<std::pair<std::string, std::size_t>> frequent;  // texts with their counts
  const std::size_t first = map.points.first(map.start);
  constexpr std::size_t no_text = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> text_of(map.size(), no_text);
  for (std::size_t point = 0; point < text_of.size(); ++point) {
    if (map.points.attractor(first + point) < 0 || map.points.is(first + point, "failed")) continue;
    const std::string here = text(first + point);
    const auto [place, is_new] = known.try_emplace(here, frequent.size());
    if (is_new) frequent.emplace_back(here, 0);
    ++frequent[place->second].second;
    text_of[point] = place->second;
  }
  std::sort(frequent.begin(), frequent.end(), [](const auto& a, const auto& b) {
    return std::pair(b.second, a.first) < std::pair(a.second, b.first);
  });
  const std::size_t shown = std::min(frequent.size(), region_colours - 1);
  std::vector<Region> regions;
  std::vector<int> place(known.size(), static_cast<int>(shown));
  for (std::size_t i = 0; i < shown; ++i) {
    place[known[frequent[i].first]] = static_cast<int>(i);
    regions.push_back({region_colour(i), frequent[i].first});
  }
  // Texts that begin alike must stay different when they are shortened: then their lengths and ends tell them
  // apart.
  for (Region& region : regions)
    if (region.meaning.empty())
      region.meaning = none;
    else if (region.meaning.size() > longest_word)
      region.meaning =
          fmt::format("{}…{} ({})", region.meaning.substr(0, longest_word / 2),
                      region.meaning.substr(region.meaning.size() - longest_word / 2), region.meaning.size());
  for (std::size_t i = 0; i < regions.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (regions[i].meaning == regions[k].meaning) {
        regions[i].meaning = frequent[i].first;
        regions[k].meaning = frequent[k].first;
      }
  regions.push_back({region_colour(region_colours - 1), "others"});
  Panel panel = map_panel(map, name, title);
  add_regions(panel, map, regions, -1, [&](std::size_t point) {
    const std::size_t known_text = text_of[point - first];
    return known_text == no_text ? -1 : place[known_text];
  });
  return panel;
}

Panel itinerary_panel(const Map& map, const Array& array) {
  const std::size_t letters = map.data.size("letter");
  return text_panel(map, "itinerary", "itinerary: order of the contacts", "no impact",
                    [&](std::size_t point) {
                      std::string word;
                      for (std::size_t k = 0; k < letters; ++k)
                        word += class_name(array, point * letters + k);
                      return word;
                    });
}

/// Impacts p over the n forcing periods of the orbit.
Panel ratio_panel(const Map& map) {
  const Array& impacts = map.data.at("impacts");
  const Array& period = map.data.at("forcing_periods");
  const std::size_t contacts = map.data.size("contact");
  return text_panel(map, "p/n", "p/n: impacts in n forcing periods", "not periodic", [&](std::size_t point) {
    const double n = std::round(number(period, point));  // lengths of orbits are rounded numbers
    if (!map.points.is(point, "periodic") || !(n >= 1)) return std::string();
    double p = 0;
    for (std::size_t c = 0; c < contacts; ++c) p += number(impacts, point * contacts + c);
    return fmt::format("{:.0f}/{:.0f}", p, n);
  });
}

std::string instead_of_values(const Array& array) {
  std::set<double> found;
  for (const double value : numbers(array))
    if (std::isfinite(value) && found.size() < 2) found.insert(value);
  return found.size() == 1 ? fmt::format("{} = {}", spaced(array.name), number_text(*found.begin())) : "";
}

/// Every array with at most one entry more than the points: whole, and entry by entry as NAME:LABEL.
void offer_arrays(std::vector<PanelOffer>& offers, const Map& map, const std::vector<std::string>& usual) {
  const auto is_usual = [&](const std::string& name) {
    return std::find(usual.begin(), usual.end(), name) != usual.end();
  };
  for (const Array& array : map.data.arrays) {
    if (array.name == "attractor" || array.name == "border" || array.dimensions == std::vector{array.name})
      continue;
    std::vector<std::string> further;
    try {
      further = map.points.further_dimensions(array);
    } catch (const InputError&) {
      continue;  // not over the points
    }
    if (further.size() > 1) continue;
    const std::string title = label_with_unit(spaced(array.name), array.unit);
    if (further.empty()) {
      offers.push_back({array.name, is_usual(array.name),
                        [&, title] { return array_panel(map, array, array.name, title, 1, 0); },
                        [&] { return instead_of_values(array); }});
      continue;
    }
    if (further.front() == "letter") {
      offers.push_back({array.name, true, [&] { return itinerary_panel(map, array); }});
      continue;
    }
    const std::vector<std::string> labels = index_names(map.data, further.front());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::string name = array.name + ":" + labels[i];
      offers.push_back({name, is_usual(name) || is_usual(array.name),
                        [&, name, title, i, labels, kind = further.front()] {
                          return array_panel(map, array, name,
                                             fmt::format("{}, {}", title, named(kind, labels[i])),
                                             labels.size(), i);
                        },
                        [&] { return instead_of_values(array); }});
    }
  }
}

}  // namespace

Panel region_panel(const PlotSource& source, const PlotOptions& options) {
  const Map map = map_of(source, options);
  if (!map.points.has_attractors()) throw InputError(source.name + ": has no classes of attractors");
  return class_panel(map);
}

Picture draw_map(const PlotSource& source, const PlotOptions& options) {
  const Map map = map_of(source, options);
  std::vector<PanelOffer> offers;
  if (map.points.has_attractors()) offers.push_back({"class", true, [&] { return class_panel(map); }});
  const bool impacts = map.data.find("slip_sequence") != nullptr;
  offer_arrays(offers, map,
               impacts ? std::vector<std::string>{"slip_sequence:0", "restitution:0"}
                       : std::vector<std::string>{"stick_fraction"});
  if (map.data.find("impacts") != nullptr && map.data.find("forcing_periods") != nullptr)
    offers.push_back({"p/n", false, [&] { return ratio_panel(map); }});

  Picture picture;
  PlotOptions panel_options = options;
  panel_options.y_from = -no_limit;  // in the axes already
  panel_options.y_to = no_limit;
  const std::vector<Panel> panels = chosen_panels(offers, panel_options, picture.notes);
  const std::size_t in_a_row = options.page.width >= side_by_side && panels.size() > 1 ? 2 : 1;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (i % in_a_row == 0) picture.rows.emplace_back();
    picture.rows.back().push_back(panels[i]);
  }
  picture.caption =
      source.described.parameters({map.points.parameters()[0]->name, map.points.parameters()[1]->name});
  return picture;
}

}  // namespace graze
