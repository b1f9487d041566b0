/// Impacts over one parameter: how each slides and sticks, below it what it does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "drivers/command/array_values.hpp"
#include "drivers/plot/colours.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/points.hpp"

namespace graze {
namespace {

constexpr std::size_t most_impacts = 4;

/// The result with its axis, ready to be drawn.
struct Chart {
  const Dataset& data;
  const Array& coordinate;
  PlotAxis axis;
  std::vector<std::string> impacts;  ///< names of those that are drawn
  std::size_t kept;                  ///< of each point

  double value(const Array& array, std::size_t point, std::size_t impact) const {
    return number(array, point * kept + impact);
  }
};

/// A row for each impact in the colours of the sequences that occur.
Panel sequence_panel(const Chart& chart, const PlotOptions& options) {
  const Array& sequence = chart.data.at("slip_sequence");
  const std::vector<Region> regions = class_regions(sequence);
  const Columns columns(chart.axis, chart.coordinate, columns_of(options.page));
  Panel panel;
  panel.name = "slip_sequence";
  panel.x = chart.axis;
  panel.y = row_axis(chart.impacts.size() > 1 ? chart.impacts : std::vector<std::string>{"slip"});
  std::map<std::size_t, Mark> strips;
  for (std::size_t impact = 0; impact < chart.impacts.size(); ++impact)
    for (std::size_t column = 0; column < columns.count(); ++column) {
      if (columns[column].empty()) continue;
      const double flag = chart.value(sequence, columns[column].front(), impact);
      if (!(flag >= 0 && flag < static_cast<double>(regions.size()))) continue;
      Mark& strip = strips[static_cast<std::size_t>(flag)];
      const double low = static_cast<double>(impact);
      if (!strip.x2.empty() && strip.x2.back() == columns.left(column) && strip.y.back() == low) {
        strip.x2.back() = columns.right(column);
        continue;
      }
      strip.x.push_back(columns.left(column));
      strip.x2.push_back(columns.right(column));
      strip.y.push_back(low);
      strip.y2.push_back(low + 1);
    }
  for (auto& [flag, strip] : strips) {
    strip.shape = Mark::Shape::boxes;
    strip.colour = regions[flag].colour;
    strip.meaning = regions[flag].meaning;
    panel.marks.push_back(std::move(strip));
  }
  return panel;
}

/// A curve for each impact; it breaks where there is none.
Panel curve_panel(const Chart& chart, const Array& array) {
  Panel panel;
  panel.name = array.name;
  panel.share = 0.7;
  panel.x = chart.axis;
  for (std::size_t impact = 0; impact < chart.impacts.size(); ++impact) {
    Mark line;
    line.colour = set_colour(impact);
    line.meaning = chart.impacts.size() > 1 ? chart.impacts[impact] : "";
    line.dash = impact % 2 == 0 ? Mark::Dash::solid : Mark::Dash::dashed;
    for (std::size_t i = 0; i < chart.data.size(chart.coordinate.name); ++i) {
      line.x.push_back(number(chart.coordinate, i));
      line.y.push_back(chart.value(array, i, impact));
    }
    panel.marks.push_back(std::move(line));
  }
  fit_y_axis(panel, label_with_unit(spaced(array.name), array.unit));
  return panel;
}

std::string curve_instead(const Chart& chart, const Array& array) {
  for (std::size_t i = 0; i < chart.data.size(chart.coordinate.name); ++i)
    for (std::size_t impact = 0; impact < chart.impacts.size(); ++impact)
      if (chart.axis.contains(number(chart.coordinate, i)) && std::isfinite(chart.value(array, i, impact)) &&
          chart.value(array, i, impact) != 0)
        return {};
  return spaced(array.name) + " = 0";
}

}  // namespace

Picture draw_impacts(const PlotSource& source, const PlotOptions& options) {
  const Dataset& data = source.result.data;
  const Points points(data, options.start);
  const Array& coordinate = *points.parameters().front();
  Chart chart{data,
              coordinate,
              parameter_axis(coordinate, source.described.label(coordinate.name, coordinate.unit),
                             options.from, options.to),
              {},
              data.size("impact")};
  const std::vector<std::string> names = index_names(data, "impact");
  for (std::size_t i = 0; i < std::min(most_impacts, names.size()); ++i)
    chart.impacts.push_back(named("impact", names[i]));

  std::vector<PanelOffer> offers = {{"slip_sequence", true, [&] { return sequence_panel(chart, options); }}};
  for (const Array& array : data.arrays) {
    const bool over_impacts = array.dimensions == std::vector<std::string>{coordinate.name, "impact"};
    if (!over_impacts || !array.flags.empty()) continue;
    const std::vector<std::string> usual = {"restitution", "contact_time", "peak_force", "friction_work",
                                            "damping_work"};
    offers.push_back({array.name, std::find(usual.begin(), usual.end(), array.name) != usual.end(),
                      [&] { return curve_panel(chart, array); },
                      [&] { return curve_instead(chart, array); }});
  }
  Picture picture;
  picture.rows = stacked(chosen_panels(offers, options, picture.notes));
  picture.caption = source.described.parameters({coordinate.name});
  return picture;
}

}  // namespace graze
