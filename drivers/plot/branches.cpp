/// The diagram of a continuation: attractors of the sweep in grey, branches, named bifurcation points.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/ragged.hpp"
#include "core/settings/value.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/points.hpp"
#include "drivers/plot/sheet.hpp"

namespace graze {
namespace {

constexpr int left_margin = 150;
constexpr int right_margin = 400;
constexpr int top_margin = 50;
constexpr int state_height = 430;
constexpr int gap = 16;
constexpr std::size_t most_names = 60;  // written beside their points; with more the legend must do

constexpr std::string_view stable_colour = "#1f4e9c";
constexpr std::string_view unstable_colour = "#d1495b";
constexpr std::string_view crossed_colour = "#b9b9b9";
constexpr std::string_view sweep_colour = "#bdbdbd";

/// How a kind of point is drawn: gnuplot's point type, colour, and its short name.
struct Symbol {
  std::string_view kind;
  int type;
  std::string_view colour;
  std::string_view name;
};
constexpr std::array<Symbol, 14> symbols = {{{"fold", 13, "#000000", "F"},
                                             {"period_doubling", 5, "#7b2d8b", "PD"},
                                             {"neimark_sacker", 15, "#00798c", "NS"},
                                             {"branch_point", 9, "#3a7d44", "BP"},
                                             {"grazing", 7, "#e07a00", "G"},
                                             {"stick_border", 11, "#8c510a", "S"},
                                             {"chatter_border", 4, "#8c510a", "C"},
                                             {"rising_border", 8, "#c51b7d", "R"},
                                             {"release_moves", 6, "#4d4d4d", "L"},
                                             {"simultaneous", 1, "#4d4d4d", "E"},
                                             {"edge", 2, "#4d4d4d", "X"},
                                             {"hopf", 14, "#00798c", "H"},
                                             {"slip_border", 10, "#8c510a", "SL"},
                                             {"reversal_border", 12, "#c51b7d", "RV"}}};

/// What the picture needs of a file.
struct Diagram {
  std::vector<Dataset> branches;  ///< the points of one each
  const Dataset* points;
  const Dataset* sweep;  ///< nullptr: none
  std::string parameter;
  std::vector<std::string> states;
  PlotAxis axis;
};

std::string attribute(const Attributes& attributes, std::string_view name) {
  for (const auto& [key, text] : attributes)
    if (key == name) return text;
  throw InputError(fmt::format("the file has no attribute {}", name));
}

Diagram diagram_of(const Result& result, const PlotOptions& options) {
  Diagram d{{},
            result.data.group("bifurcation"),
            result.data.group("sweep"),
            attribute(result.attributes, "parameter"),
            {},
            {}};
  if (d.points == nullptr) throw std::out_of_range("no group bifurcation");
  d.states = index_names(*d.points, "state");
  Array span;  // everything that there is on the axis
  std::vector<double> values;
  for (const Part& part : parts_of(result.data.at("points")))
    d.branches.push_back(slice(result.data, "point", part));
  for (const Dataset& branch : d.branches) {
    const std::vector<double> more = numbers(branch.at(d.parameter));
    values.insert(values.end(), more.begin(), more.end());
    span.unit = branch.at(d.parameter).unit;
  }
  if (d.sweep != nullptr) {
    const std::vector<double> more = numbers(d.sweep->at(d.parameter));
    values.insert(values.end(), more.begin(), more.end());
  }
  if (values.empty()) throw InputError("the file has no branches to draw");
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  span.name = d.parameter;
  span.values = std::vector<double>{*low, *high > *low ? *high : *low + 1};
  d.axis = parameter_axis(span, options.from, options.to);
  d.axis.logarithmic = false;
  return d;
}

/// Rows "x y" of a branch in pieces of one kind; a blank line between pieces and between iterates.
std::string pieces(const Diagram& d, const Dataset& branch, std::size_t state, bool stable, bool admissible) {
  const std::vector<double> x = numbers(branch.at(d.parameter));
  const std::vector<double> y = numbers(branch.at("orbit_state"));
  const std::vector<double> is_stable = numbers(branch.at("stable"));
  const std::vector<double> is_admissible = numbers(branch.at("admissible"));
  const std::size_t iterates = branch.size("iterate");
  const auto belongs = [&](std::size_t k) {
    return (is_admissible[k] > 0) == admissible && (!admissible || (is_stable[k] > 0) == stable);
  };
  std::string rows;
  for (std::size_t i = 0; i < iterates; ++i) {
    double before = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t k = 0; k < x.size(); ++k) {
      // A piece reaches to the first point of the next one.
      const double value = y[(k * iterates + i) * d.states.size() + state];
      const bool in = std::isfinite(value) && (belongs(k) || (k > 0 && belongs(k - 1)));
      const bool jumps = std::abs(value - before) > 0.05 * (d.axis.to - d.axis.from) && k > 0 &&
                         std::abs(x[k] - x[k - 1]) < 1e-3 * (d.axis.to - d.axis.from);
      if (!in || !d.axis.contains(x[k]) || jumps) rows += "\n";
      if (in && d.axis.contains(x[k])) rows += fmt::format("{:.9g} {:.9g}\n", x[k], value);
      before = value;
    }
    rows += "\n";
  }
  return rows;
}

/// Attractors of the sweep: every iterate of a periodic one once, all recorded ones of the others.
std::string sweep_rows(const Diagram& d, std::size_t state, double& low, double& high) {
  const Points points(*d.sweep, -1);
  const std::vector<double> x = numbers(*points.parameters().front());
  const std::vector<double> period = numbers(d.sweep->at("period"));
  const std::vector<double> values = numbers(d.sweep->at("map_state"));
  const std::size_t record = d.sweep->size("iterate");
  std::string rows;
  for (const std::size_t start : points.starts()) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      const std::size_t point = points.first(start) + k;
      if (!d.axis.contains(x[k]) || points.is(point, "unbounded") || points.is(point, "failed")) continue;
      const std::size_t count =
          period[point] >= 1 ? std::min(record, static_cast<std::size_t>(period[point])) : record;
      for (std::size_t i = 0; i < count; ++i) {
        const double value = values[(point * record + i) * d.states.size() + state];
        if (!std::isfinite(value)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
        rows += fmt::format("{:.6g} {:.6g}\n", x[k], value);
      }
    }
  }
  return rows;
}

std::string kind_of(const Diagram& d, std::size_t k) {
  const Array& kind = d.points->at("kind");
  return kind.flags.at(static_cast<std::size_t>(number(kind, k)));
}

void add_points(std::vector<std::string>& elements, Sheet& sheet, const Diagram& d, std::size_t state) {
  const std::vector<double> x = numbers(d.points->at(d.parameter));
  const std::vector<double> y = numbers(d.points->at("orbit_state"));
  const bool named = x.size() <= most_names;
  for (const Symbol& symbol : symbols) {
    std::string rows;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (kind_of(d, k) != symbol.kind || !d.axis.contains(x[k])) continue;
      rows += fmt::format("{:.9g} {:.9g} \"{}\"\n", x[k], y[k * d.states.size() + state], symbol.name);
    }
    if (rows.empty()) continue;
    const std::string data = sheet.data(rows);
    elements.push_back(fmt::format(
        "{} using 1:2 with points pointtype {} pointsize 1.3*dot linewidth 1.5 linecolor rgb '{}'", data,
        symbol.type, symbol.colour));
    if (named)
      elements.push_back(
          fmt::format("{} using 1:2:3 with labels offset 0.8,0.8 textcolor rgb '{}'", data, symbol.colour));
  }
}

std::vector<LegendEntry> legend_of(const Diagram& d) {
  std::vector<LegendEntry> entries = {{std::string(stable_colour), "stable"},
                                      {std::string(unstable_colour), "unstable"}};
  if (d.sweep != nullptr) entries.push_back({std::string(sweep_colour), "sweep"});
  std::set<std::string> present;
  for (std::size_t k = 0; k < d.points->size("point"); ++k) present.insert(kind_of(d, k));
  for (const Symbol& symbol : symbols) {
    if (present.count(std::string(symbol.kind)) == 0) continue;
    std::string name(symbol.kind);
    std::replace(name.begin(), name.end(), '_', ' ');
    entries.push_back({std::string(symbol.colour), fmt::format("{} {}", symbol.name, name)});
  }
  return entries;
}

void draw_state(Sheet& sheet, const Panel& panel, const Diagram& d, std::size_t state, bool with_legend) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  std::vector<std::string> elements = {std::string(nothing_on_first_axes)};
  if (d.sweep != nullptr) {
    const std::string rows = sweep_rows(d, state, low, high);
    if (!rows.empty())
      elements.push_back(
          fmt::format("{} using 1:2 with points pointtype 7 pointsize 0.25*dot linecolor rgb '{}'",
                      sheet.data(rows), sweep_colour));
  }
  for (const Dataset& branch : d.branches) {
    const std::vector<double> y = numbers(branch.at("orbit_state"));
    const std::vector<double> x = numbers(branch.at(d.parameter));
    const std::size_t width = y.size() / x.size();
    for (std::size_t k = state; k < y.size(); k += d.states.size()) {
      if (!d.axis.contains(x[k / width])) continue;
      low = std::min(low, y[k]);
      high = std::max(high, y[k]);
    }
    const auto add = [&](bool stable, bool admissible, std::string_view colour, std::string_view look) {
      const std::string rows = pieces(d, branch, state, stable, admissible);
      if (rows.find_first_not_of('\n') == std::string::npos) return;
      elements.push_back(
          fmt::format("{} using 1:2 with lines {} linecolor rgb '{}'", sheet.data(rows), look, colour));
    };
    add(false, false, crossed_colour, "linewidth 1 dashtype 3");
    add(false, true, unstable_colour, "linewidth 1.3 dashtype 2");
    add(true, true, stable_colour, "linewidth 2");
  }
  add_points(elements, sheet, d, state);
  sheet.value_axis(panel, value_axis(d.states[state], low, high));
  if (with_legend) sheet.legend(panel, legend_of(d));
  sheet.plot(elements);
}

}  // namespace

Drawing draw_branches(const Result& result, const PlotOptions& options) {
  const Diagram d = diagram_of(result, options);
  std::vector<std::size_t> chosen;
  for (const std::string& name : options.states) chosen.push_back(index_of(d.states, name, "state"));
  if (chosen.empty())
    for (const Pair& pair : pairs(d.states)) chosen.push_back(pair.position);
  if (chosen.empty()) chosen = {0};
  if (options.states.empty()) chosen.resize(std::min<std::size_t>(chosen.size(), 2));

  const int count = static_cast<int>(chosen.size());
  const int margins = top_margin + bottom_margin + gap * (count - 1);
  const int width = options.width > 0 ? options.width : default_width;
  const int height = options.height > 0 ? options.height : margins + state_height * count;
  Sheet sheet(width, height, options.title);
  int top = top_margin;
  for (int i = 0; i < count; ++i) {
    const Panel panel = {left_margin, top, width - left_margin - right_margin, (height - margins) / count};
    sheet.panel(panel);
    sheet.number_axis(d.axis, i + 1 == count);
    draw_state(sheet, panel, d, chosen[static_cast<std::size_t>(i)], i == 0);
    top += panel.height + gap;
  }
  return sheet.finish();
}

}  // namespace graze
