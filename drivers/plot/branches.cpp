/// The diagram of a continuation: attractors of the sweep, branches, located points; spectrum of multipliers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/ragged.hpp"
#include "core/settings/value.hpp"
#include "drivers/command/array_values.hpp"
#include "drivers/plot/colours.hpp"
#include "drivers/plot/kinds.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/points.hpp"

namespace graze {
namespace {

constexpr std::string_view stable_colour = "#1f4e9c";
constexpr std::string_view unstable_colour = "#d1495b";
constexpr std::string_view crossed_colour = "#9a9a9a";
constexpr std::string_view sweep_colour = "#a8a8a8";

/// What the picture needs of a file.
struct Diagram {
  const PlotSource& source;
  std::vector<Dataset> branches;  ///< the points of one each
  const Dataset& points;
  const Dataset* sweep;  ///< nullptr: none
  std::string parameter;
  std::vector<std::string> states;
  std::string unit;  ///< of the parameter
};

const Dataset& part(const Dataset& data, std::string_view name) {
  const Dataset* group = data.group(name);
  if (group == nullptr) throw InputError(fmt::format("the file has no group {}", name));
  return *group;
}

Diagram diagram_of(const PlotSource& source) {
  const Dataset& data = source.result.data;
  Diagram d{source,
            {},
            part(data, "bifurcation"),
            data.group("sweep"),
            attribute(source.result.attributes, "parameter"),
            {},
            {}};
  if (d.parameter.empty()) throw InputError("the file has no attribute parameter");
  d.states = index_names(d.points, "state");
  d.unit = data.at(d.parameter).unit;
  for (const Part& branch : parts_from(data.at("points"))) d.branches.push_back(slice(data, "point", branch));
  return d;
}

/// Everything that there is on the axis.
PlotAxis axis_of(const Diagram& d, const PlotOptions& options) {
  std::vector<double> values;
  const auto add = [&](const Array& array) {
    const std::vector<double> more = numbers(array);
    values.insert(values.end(), more.begin(), more.end());
  };
  for (const Dataset& branch : d.branches) add(branch.at(d.parameter));
  if (d.sweep != nullptr) add(d.sweep->at(d.parameter));
  if (values.empty()) throw InputError("the file has no branches to draw");
  Array span;
  span.name = d.parameter;
  span.values = values;
  PlotAxis axis =
      parameter_axis(span, d.source.described.label(d.parameter, d.unit), options.from, options.to);
  axis.logarithmic = false;
  return axis;
}

/// Whether a curve of a branch jumps between neighbouring points of it, as iterates do that change their
/// order: the step is far longer than its neighbours, measured in the range that the state has on the branch.
std::vector<bool> jumps_of(const std::vector<double>& y) {
  constexpr double long_step = 0.1;  // of the range
  constexpr double far_longer = 20;  // than the step before and the one after
  const auto [low, high] = std::minmax_element(y.begin(), y.end(), [](double a, double b) {
    return std::isfinite(a) && std::isfinite(b) ? a < b : std::isfinite(a) && !std::isfinite(b);
  });
  std::vector<bool> jumps(y.size());
  if (y.empty()) return jumps;
  const double range = std::abs(*high - *low);
  for (std::size_t k = 1; k < y.size(); ++k) {
    const double step = std::abs(y[k] - y[k - 1]);
    const double before = k > 1 ? std::abs(y[k - 1] - y[k - 2]) : 0;
    const double after = k + 1 < y.size() ? std::abs(y[k + 1] - y[k]) : 0;
    jumps[k] = step > long_step * range && step > far_longer * std::max(before, after);
  }
  return jumps;
}

/// A look of branches: which pieces, and how they are drawn.
struct BranchLook {
  bool stable;
  bool admissible;
  std::string_view meaning;
  std::string_view colour;
  double width;
  Mark::Dash dash;
};
constexpr std::array<BranchLook, 3> branch_looks = {
    {{false, false, "crosses a stop", crossed_colour, 0.7, Mark::Dash::dotted},
     {false, true, "unstable", unstable_colour, 0.9, Mark::Dash::dashed},
     {true, true, "stable", stable_colour, 1.4, Mark::Dash::solid}}};

/// The pieces of a branch with one look; curve(k) is the value over point k. Not a number stands between
/// pieces. A piece reaches to the first point of the next one.
void add_pieces(Mark& mark, const Diagram& d, const Dataset& branch, const BranchLook& look,
                const std::vector<double>& curve) {
  const std::vector<double> x = numbers(branch.at(d.parameter));
  const Array& stable = branch.at("stable");
  const Array& admissible = branch.at("admissible");
  const std::vector<bool> jumps = jumps_of(curve);
  const auto belongs = [&](std::size_t k) {
    return (number(admissible, k) > 0) == look.admissible &&
           (!look.admissible || (number(stable, k) > 0) == look.stable);
  };
  for (std::size_t k = 0; k < x.size(); ++k) {
    const bool in = belongs(k) || (k > 0 && belongs(k - 1) && !jumps[k]);
    if (!in || jumps[k]) {
      mark.x.push_back(no_value);
      mark.y.push_back(no_value);
    }
    if (!in) continue;
    mark.x.push_back(x[k]);
    mark.y.push_back(curve[k]);
  }
  mark.x.push_back(no_value);
  mark.y.push_back(no_value);
}

Mark looked(const BranchLook& look) {
  Mark mark;
  mark.meaning = look.meaning;
  mark.colour = look.colour;
  mark.size = look.width;
  mark.dash = look.dash;
  return mark;
}

/// Every iterate of a state along the branches.
void add_branches(Panel& panel, const Diagram& d, std::size_t state) {
  for (const BranchLook& look : branch_looks) {
    Mark mark = looked(look);
    for (const Dataset& branch : d.branches) {
      const std::vector<double> y = numbers(branch.at("orbit_state"));
      const std::size_t iterates = branch.size("iterate");
      const std::size_t count = branch.size("point");
      for (std::size_t i = 0; i < iterates; ++i) {
        std::vector<double> curve(count);
        for (std::size_t k = 0; k < count; ++k) curve[k] = y[(k * iterates + i) * d.states.size() + state];
        add_pieces(mark, d, branch, look, curve);
      }
    }
    panel.marks.push_back(std::move(mark));
  }
}

/// Of symbols, so many that they do not hide the branches.
double symbol_size(std::ptrdiff_t count) {
  constexpr double alone = 3.6, least = 1.6, few = 60;
  return std::max(least, alone * std::min(1.0, std::sqrt(few / static_cast<double>(count))));
}

/// Symbols at the located points and their short names beside them.
void add_points(Panel& panel, const Diagram& d, const std::vector<double>& y) {
  const std::vector<double> x = numbers(d.points.at(d.parameter));
  const double size =
      symbol_size(std::count_if(x.begin(), x.end(), [&](double at) { return panel.x.contains(at); }));
  const Array& kinds = d.points.at("kind");
  for (const KindLook& symbol : kind_looks) {
    Mark mark;
    mark.shape = Mark::Shape::dots;
    mark.meaning = fmt::format("{} {}", symbol.name, spaced(symbol.kind));
    mark.colour = symbol.colour;
    mark.symbol = symbol.type;
    mark.size = size;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (class_name(kinds, k) != symbol.kind || !panel.x.contains(x[k])) continue;
      mark.x.push_back(x[k]);
      mark.y.push_back(y[k]);
      panel.names.push_back({x[k], y[k], std::string(symbol.name), std::string(symbol.colour)});
    }
    if (!mark.empty()) panel.marks.push_back(std::move(mark));
  }
}

void add_state(Panel& panel, const Diagram& d, std::size_t state) {
  add_branches(panel, d, state);
  const Array& orbit = d.points.at("orbit_state");
  std::vector<double> y(d.points.size("point"));
  for (std::size_t k = 0; k < y.size(); ++k) y[k] = number(orbit, k * d.states.size() + state);
  add_points(panel, d, y);
}

/// The sweep that the continuation began from, as a result of its own.
PlotSource sweep_source(const Diagram& d) {
  return {"sweep", {*d.sweep, d.source.result.attributes, true}, d.source.described};
}

Panel state_panel(const Diagram& d, const PlotAxis& axis, const PlotOptions& options, std::size_t state) {
  Panel panel;
  panel.name = d.states[state];
  panel.share = 1.3;
  panel.x = axis;
  if (d.sweep != nullptr)
    add_sweep_marks(panel, sweep_source(d), options, d.states[state], std::string(sweep_colour));
  add_state(panel, d, state);
  fit_y_axis(panel, d.source.described.label(d.states[state], ""));
  return panel;
}

/// Absolute values of all multipliers along the branches; between −1 and 1 lies what is stable.
Panel multiplier_panel(const Diagram& d, const PlotAxis& axis) {
  constexpr double greatest_shown = 4;
  Panel panel;
  panel.name = "multipliers";
  panel.share = 0.9;
  panel.x = axis;
  Mark one;
  one.shape = Mark::Shape::levels;
  one.y = {1};
  one.size = 0.5;
  one.colour = "#808080";
  panel.marks.push_back(one);
  double greatest = 1;
  for (const BranchLook& look : branch_looks) {
    Mark mark = looked(look);
    for (const Dataset& branch : d.branches) {
      const Array& re = branch.at("multiplier_re");
      const Array& im = branch.at("multiplier_im");
      const std::size_t width = branch.size("multiplier");
      for (std::size_t m = 0; m < width; ++m) {
        std::vector<double> curve(branch.size("point"));
        for (std::size_t k = 0; k < curve.size(); ++k) {
          curve[k] = std::hypot(number(re, k * width + m), number(im, k * width + m));
          if (std::isfinite(curve[k])) greatest = std::max(greatest, curve[k]);
        }
        add_pieces(mark, d, branch, look, curve);
      }
    }
    panel.marks.push_back(std::move(mark));
  }
  panel.y = {"|multipliers|", 0, 1.05 * std::min(greatest, greatest_shown)};
  return panel;
}

/// Means and extrema of observables: their names end so.
bool is_observed(const Array& array) {
  const auto ends = [&](const char* part) { return array.name.ends_with(part); };
  return array.dimensions == std::vector<std::string>{"point"} &&
         (ends("_mean") || ends("_min") || ends("_max"));
}

Panel observed_panel(const Diagram& d, const PlotAxis& axis, const Array& observed) {
  Panel panel;
  panel.name = observed.name;
  panel.share = 0.9;
  panel.x = axis;
  for (const BranchLook& look : branch_looks) {
    Mark mark = looked(look);
    for (const Dataset& branch : d.branches)
      add_pieces(mark, d, branch, look, numbers(branch.at(observed.name)));
    panel.marks.push_back(std::move(mark));
  }
  fit_y_axis(panel, label_with_unit(observed.name, observed.unit));
  return panel;
}

}  // namespace

Picture draw_branches(const PlotSource& source, const PlotOptions& options) {
  const Diagram d = diagram_of(source);
  const PlotAxis axis = axis_of(d, options);
  const std::vector<std::string> usual = source.described.usual_states(d.states);
  std::vector<PanelOffer> offers;
  for (std::size_t state = 0; state < d.states.size(); ++state)
    offers.push_back({d.states[state], std::find(usual.begin(), usual.end(), d.states[state]) != usual.end(),
                      [&, state] { return state_panel(d, axis, options, state); }});
  offers.push_back({"multipliers", false, [&] { return multiplier_panel(d, axis); }});
  if (!d.branches.empty()) {
    for (const Array& array : d.branches.front().arrays) {
      if (is_observed(array))
        offers.push_back({array.name, source.described.is_observed_mean(array.name),
                          [&] { return observed_panel(d, axis, array); }});
    }
  }
  Picture picture;
  picture.rows = stacked(chosen_panels(offers, options, picture.notes));
  picture.caption = source.described.parameters({d.parameter});
  return picture;
}

void add_branch_marks(Panel& panel, const PlotSource& source, const std::string& state) {
  const Diagram d = diagram_of(source);
  add_state(panel, d, index_of(d.states, state, "state"));
}

}  // namespace graze
