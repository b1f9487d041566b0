/// Convergence: errors against the parameter that is to converge, with the order that they show.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/settings/value.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/sheet.hpp"

namespace graze {
namespace {

constexpr int picture_width = 1400;
constexpr int default_height = 800;
constexpr int left_margin = 190;
constexpr int right_margin = 480;
constexpr int top_margin = 66;

struct Point {
  double x;
  double error;
};

/// Greatest error over the states, at every point of one line that has one above zero.
std::vector<Point> points_of(const Dataset& data, const Array& coordinate, std::size_t line) {
  const Array& error = data.at("error");
  const std::size_t states = data.size("state");
  const std::size_t count = data.size(coordinate.name);
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) {
    double greatest = 0;
    for (std::size_t k = 0; k < states; ++k)
      greatest = std::max(greatest, number(error, (line * count + i) * states + k));
    if (greatest > 0) points.push_back({number(coordinate, i), greatest});
  }
  return points;
}

/// Slope of the straight line through the logarithms, by least squares.
double order_of(const std::vector<Point>& points) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const double n = static_cast<double>(points.size());
  for (const Point& p : points) {
    x += std::log(p.x) / n;
    y += std::log(p.error) / n;
  }
  for (const Point& p : points) {
    xx += (std::log(p.x) - x) * (std::log(p.x) - x);
    xy += (std::log(p.x) - x) * (std::log(p.error) - y);
  }
  return xy / xx;
}

}  // namespace

Drawing draw_convergence(const Result& result, const PlotOptions& options) {
  const Dataset& data = result.data;
  const std::vector<std::string>& names = data.at("outcome").dimensions;
  const Array& coordinate = data.at(names.back());
  const Array* lines = names.size() > 1 ? &data.at(names.front()) : nullptr;
  const int width = options.width > 0 ? options.width : picture_width;
  const int height = options.height > 0 ? options.height : default_height;
  Sheet sheet(width, height, options.title);
  const Panel panel{left_margin, top_margin, width - left_margin - right_margin,
                    height - top_margin - bottom_margin};
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  std::vector<std::string> elements;
  std::vector<LegendEntry> legend;
  for (std::size_t line = 0; line < (lines != nullptr ? data.size(lines->name) : 1); ++line) {
    const std::vector<Point> points = points_of(data, coordinate, line);
    if (points.empty()) continue;
    std::string rows;
    for (const Point& p : points) {
      rows += fmt::format("{} {}\n", p.x, p.error);
      low = std::min(low, p.error);
      high = std::max(high, p.error);
    }
    const std::string_view colour = start_colour(line);
    elements.push_back(fmt::format(
        "{} using 1:2 with linespoints pointtype 7 pointsize 1.2*dot linewidth 2 linecolor rgb '{}'",
        sheet.data(rows), colour));
    const std::string name =
        lines != nullptr ? fmt::format("{} {}, ", lines->name, number(*lines, line)) : "";
    legend.push_back({std::string(colour), fmt::format("{}order {:.2f}", name, order_of(points))});
  }
  if (elements.empty()) throw InputError("no errors above zero in this file");
  PlotAxis x = parameter_axis(coordinate, options.from, options.to);
  x.logarithmic = x.from > 0;
  sheet.panel(panel);
  sheet.number_axis(x, true);
  sheet.value_axis(panel, {"greatest error of a state", low / 2, high * 2, true});
  sheet.command("set format xy '%.0e'");
  sheet.command("set grid");
  sheet.legend(panel, legend);
  sheet.plot(elements);
  return sheet.finish();
}

}  // namespace graze
