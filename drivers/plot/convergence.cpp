/// Convergence: errors against the parameter that is to converge, with the order that they show.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/settings/value.hpp"
#include "drivers/command/array_values.hpp"
#include "drivers/plot/colours.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/points.hpp"

namespace graze {
namespace {

/// Greatest error over the states, at every point of one line that has one above zero.
Mark errors_of(const Dataset& data, const Array& coordinate, std::size_t line) {
  const Array& error = data.at("error");
  const std::size_t states = data.size("state");
  const std::size_t count = data.size(coordinate.name);
  Mark mark;
  for (std::size_t i = 0; i < count; ++i) {
    double greatest = 0;
    for (std::size_t k = 0; k < states; ++k)
      greatest = std::max(greatest, number(error, (line * count + i) * states + k));
    if (!(greatest > 0)) continue;
    mark.x.push_back(number(coordinate, i));
    mark.y.push_back(greatest);
  }
  return mark;
}

/// Slope of the straight line through the logarithms, by least squares.
double order_of(const Mark& errors) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const double n = static_cast<double>(errors.x.size());
  for (std::size_t i = 0; i < errors.x.size(); ++i) {
    x += std::log(errors.x[i]) / n;
    y += std::log(errors.y[i]) / n;
  }
  for (std::size_t i = 0; i < errors.x.size(); ++i) {
    xx += (std::log(errors.x[i]) - x) * (std::log(errors.x[i]) - x);
    xy += (std::log(errors.x[i]) - x) * (std::log(errors.y[i]) - y);
  }
  return xy / xx;
}

Panel error_panel(const PlotSource& source, const PlotOptions& options) {
  constexpr std::array<int, 5> shapes = {7, 5, 9, 13, 11};
  const Dataset& data = source.result.data;
  const std::vector<std::string>& names = data.at("outcome").dimensions;
  const Array& coordinate = data.at(names.back());
  const Array* lines = names.size() > 1 ? &data.at(names.front()) : nullptr;
  Panel panel;
  panel.name = "error";
  panel.share = 1.6;
  panel.x = parameter_axis(coordinate, source.described.label(coordinate.name, coordinate.unit), options.from,
                           options.to);
  panel.x.logarithmic = panel.x.from > 0;
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (std::size_t k = 0; k < (lines != nullptr ? data.size(lines->name) : 1); ++k) {
    Mark line = errors_of(data, coordinate, k);
    if (line.empty()) continue;
    for (const double error : line.y) {
      low = std::min(low, error);
      high = std::max(high, error);
    }
    const std::string name = lines != nullptr ? fmt::format("{} {}, ", source.described.symbol(lines->name),
                                                            number_text(number(*lines, k)))
                                              : "";
    line.colour = set_colour(k);
    line.dash = k % 2 == 0 ? Mark::Dash::solid : Mark::Dash::dashed;
    Mark dots = line;
    dots.shape = Mark::Shape::dots;
    dots.dash = Mark::Dash::solid;
    dots.size = 0.45 * options.page.font;
    dots.symbol = shapes[k % shapes.size()];
    dots.meaning = fmt::format("{}order {:.2f}", name, order_of(line));
    panel.marks.push_back(std::move(line));
    panel.marks.push_back(std::move(dots));
  }
  if (panel.marks.empty()) throw InputError("no errors above zero in this file");
  panel.y = {"greatest error of a state", low / 2, high * 2, true};
  return panel;
}

}  // namespace

Picture draw_convergence(const PlotSource& source, const PlotOptions& options) {
  Picture picture;
  picture.rows = stacked(
      chosen_panels({{"error", true, [&] { return error_panel(source, options); }}}, options, picture.notes));
  picture.caption = source.described.parameters(source.result.data.at("outcome").dimensions);
  return picture;
}

}  // namespace graze
