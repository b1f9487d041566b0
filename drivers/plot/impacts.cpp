/// Impacts over one parameter: how each slides and sticks, below it what it does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

#include "drivers/plot/plot.hpp"
#include "drivers/plot/points.hpp"
#include "drivers/plot/sheet.hpp"

namespace graze {
namespace {

constexpr int left_margin = 190;
constexpr int right_margin = 250;
constexpr int top_margin = 66;
constexpr int gap = 18;
constexpr int row_height = 32;
constexpr int curve_height = 210;
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
void draw_sequences(Sheet& sheet, const Panel& panel, const Chart& chart) {
  const Array& sequence = chart.data.at("slip_sequence");
  const std::vector<LegendEntry> all = class_entries(sequence);
  const Pixels pixels(chart.axis, chart.coordinate, panel.width);
  std::vector<std::vector<double>> raster;
  std::vector<bool> present(all.size());
  for (std::size_t impact = 0; impact < chart.impacts.size(); ++impact) {
    std::vector<double> row(pixels.count());
    for (std::size_t pixel = 0; pixel < row.size(); ++pixel) {
      const double flag = chart.value(sequence, pixels[pixel].front(), impact);
      if (!(flag >= 0)) continue;
      row[pixel] = flag + 1;
      present[static_cast<std::size_t>(flag)] = true;
    }
    raster.insert(raster.end(), 2, row);  // gnuplot draws no image of a single row
  }
  std::string palette = "0 '#ffffff'";
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < all.size(); ++i) {
    palette += fmt::format(", {} '{}'", i + 1, all[i].colour);
    if (present[i]) entries.push_back(all[i]);
  }
  sheet.command(fmt::format("set palette defined ({}) maxcolors 0", palette));
  sheet.command(fmt::format("set cbrange [0:{}]", all.size()));
  sheet.rows(chart.impacts.size() > 1 ? chart.impacts : std::vector<std::string>{"slip"});
  sheet.legend(panel, entries);
  sheet.plot({std::string(nothing_on_first_axes), sheet.raster(panel, raster)});
}

/// A curve for each impact; it breaks where there is none.
void draw_curves(Sheet& sheet, const Panel& panel, const Chart& chart, const Array& array) {
  std::vector<std::string> elements = {std::string(nothing_on_first_axes)};
  std::vector<LegendEntry> entries;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t impact = 0; impact < chart.impacts.size(); ++impact) {
    std::string rows;
    for (std::size_t i = 0; i < chart.data.size(chart.coordinate.name); ++i) {
      const double x = number(chart.coordinate, i), y = chart.value(array, i, impact);
      if (!chart.axis.contains(x)) continue;
      if (!std::isfinite(y)) {
        rows += '\n';
        continue;
      }
      low = std::min(low, y);
      high = std::max(high, y);
      rows += fmt::format("{:.9g} {:.9g}\n", x, y);
    }
    if (rows.find_first_not_of('\n') == std::string::npos) continue;
    const std::string colour(start_colour(impact));
    elements.push_back(
        fmt::format("{} using 1:2 with lines linewidth 2 linecolor rgb '{}'", sheet.data(rows), colour));
    entries.push_back({colour, chart.impacts[impact]});
  }
  if (chart.impacts.size() > 1) sheet.legend(panel, entries);
  const std::string label = label_with_unit(array.name, array.unit);
  if (array.unit != "1") sheet.command("set format y '%.1s%c'");  // 120.0u rather than 0.00012
  sheet.value_axis(panel, low <= high ? value_axis(label, low, high) : PlotAxis{label, 0, 1, false});
  sheet.plot(elements);
}

}  // namespace

Drawing draw_impacts(const Result& result, const PlotOptions& options) {
  const Dataset& data = result.data;
  const Points points(data, options.start);
  const Array& coordinate = *points.parameters().front();
  Chart chart{
      data, coordinate, parameter_axis(coordinate, options.from, options.to), {}, data.size("impact")};
  const std::vector<std::string> names = index_names(data, "impact");
  for (std::size_t i = 0; i < std::min(most_impacts, names.size()); ++i)
    chart.impacts.push_back(named("impact", names[i]));

  struct Strip {
    int height;
    std::function<void(Sheet&, const Panel&)> draw;
  };
  std::vector<Strip> strips = {
      {row_height * static_cast<int>(chart.impacts.size()),
       [&](Sheet& sheet, const Panel& panel) { draw_sequences(sheet, panel, chart); }}};
  for (const std::string& name : impact_curves()) {
    strips.push_back({curve_height, [&, array = &data.at(name)](Sheet& sheet, const Panel& panel) {
                        draw_curves(sheet, panel, chart, *array);
                      }});
  }
  int content = 0;
  for (const Strip& strip : strips) content += strip.height;
  const int width = options.width > 0 ? options.width : default_width;
  const int margins = top_margin + bottom_margin + gap * static_cast<int>(strips.size() - 1);
  const int height = options.height > 0 ? options.height : content + margins;
  const double scale = static_cast<double>(height - margins) / content;
  Sheet sheet(width, height, options.title);
  int top = top_margin;
  for (std::size_t i = 0; i < strips.size(); ++i) {
    const Panel panel = {left_margin, top, width - left_margin - right_margin,
                         static_cast<int>(strips[i].height * scale)};
    sheet.panel(panel);
    sheet.number_axis(chart.axis, i + 1 == strips.size());
    strips[i].draw(sheet, panel);
    top += panel.height + gap;
  }
  return sheet.finish();
}

const std::vector<std::string>& impact_curves() {
  static const std::vector<std::string> names = {"restitution", "contact_time", "peak_force", "friction_work",
                                                 "damping_work"};
  return names;
}

}  // namespace graze
