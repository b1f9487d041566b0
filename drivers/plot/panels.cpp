/// What all kinds of picture share: which panels they show, and several results in one diagram.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/settings/value.hpp"
#include "drivers/command/array_values.hpp"
#include "drivers/plot/colours.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/points.hpp"

namespace graze {
namespace {

const PanelOffer& found(const std::vector<PanelOffer>& offers, const std::string& name) {
  std::vector<std::string> names;
  for (const PanelOffer& offer : offers) {
    if (offer.name == name) return offer;
    names.push_back(offer.name);
  }
  refuse_name(names, name, "panel");
}

/// y-from and y-to are about the first panel with a number axis.
void set_y_range(std::vector<Panel>& panels, const PlotOptions& options) {
  for (Panel& panel : panels) {
    if (!panel.y.rows.empty()) continue;
    if (std::isfinite(options.y_from)) panel.y.from = options.y_from;
    if (std::isfinite(options.y_to)) panel.y.to = options.y_to;
    if (!(panel.y.from < panel.y.to))
      throw InputError(fmt::format("--y-from and --y-to leave nothing of {}: {} to {}", panel.name,
                                   panel.y.from, panel.y.to));
    return;
  }
}

bool is_continuation(const PlotSource& source) { return source.result.data.group("bifurcation") != nullptr; }

Panel overlay_panel(const std::vector<PlotSource>& sources, const PlotOptions& options, const PlotAxis& axis,
                    const std::string& state) {
  Panel panel;
  panel.name = state;
  panel.share = 1.3;
  panel.x = axis;
  const bool with_branches = std::any_of(sources.begin(), sources.end(), is_continuation);
  std::size_t sweeps = 0;
  for (const PlotSource& source : sources)
    if (!is_continuation(source))
      add_sweep_marks(panel, source, options, state,
                      with_branches ? std::string(pale_colour) : set_colour(sweeps++));
  for (const PlotSource& source : sources)
    if (is_continuation(source)) add_branch_marks(panel, source, state);
  fit_y_axis(panel, sources.front().described.label(state, ""));
  return panel;
}

}  // namespace

std::vector<Panel> chosen_panels(const std::vector<PanelOffer>& offers, const PlotOptions& options,
                                 std::vector<std::string>& notes) {
  std::vector<Panel> panels;
  for (const std::string& name : options.panels) panels.push_back(found(offers, name).draw());
  std::string left_out;
  for (const PanelOffer& offer : offers) {
    if (!options.panels.empty() || !offer.usual) continue;
    const std::string instead = offer.instead ? offer.instead() : "";
    if (instead.empty())
      panels.push_back(offer.draw());
    else if (left_out.find(instead) == std::string::npos)
      left_out += (left_out.empty() ? "" : ", ") + instead;
  }
  if (panels.empty() && !offers.empty()) panels.push_back(offers.front().draw());
  if (!left_out.empty()) notes.push_back("Not drawn: " + left_out);
  set_y_range(panels, options);
  return panels;
}

std::vector<std::vector<Panel>> stacked(std::vector<Panel> panels) {
  std::vector<std::vector<Panel>> rows;
  for (Panel& panel : panels) rows.emplace_back().push_back(std::move(panel));
  return rows;
}

void fit_y_axis(Panel& panel, std::string label) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const auto extend = [&](double x, double y) {
    if (!panel.x.contains(x) || !std::isfinite(y)) return;
    low = std::min(low, y);
    high = std::max(high, y);
  };
  for (const Mark& mark : panel.marks) {
    for (std::size_t i = 0; i < std::min(mark.x.size(), mark.y.size()); ++i) extend(mark.x[i], mark.y[i]);
    for (std::size_t i = 0; i < std::min(mark.x.size(), mark.y2.size()); ++i) extend(mark.x[i], mark.y2[i]);
  }
  panel.y = value_axis(std::move(label), low, high);
}

std::string diagram_parameter(const PlotSource& source) {
  if (is_continuation(source)) return attribute(source.result.attributes, "parameter");
  const Points points(source.result.data, -1);
  if (points.parameters().size() != 1)
    throw InputError(
        fmt::format("{}: only sweeps over one parameter and continuations go into one diagram", source.name));
  return points.parameters().front()->name;
}

std::vector<std::string> diagram_states(const PlotSource& source) {
  const Dataset* points =
      is_continuation(source) ? source.result.data.group("bifurcation") : &source.result.data;
  if (points == nullptr || (!is_continuation(source) && points->find("map_state") == nullptr))
    throw InputError(source.name + ": has no states over its parameter");
  return index_names(*points, "state");
}

Picture draw_overlay(const std::vector<PlotSource>& sources, const PlotOptions& options) {
  const PlotSource& first = sources.front();
  const std::string parameter = diagram_parameter(first);
  const std::vector<std::string> states = diagram_states(first);
  Array values;
  values.name = parameter;
  std::vector<double> all;
  for (const PlotSource& source : sources) {
    if (diagram_parameter(source) != parameter || diagram_states(source) != states)
      throw InputError(fmt::format("{} and {} are about different parameters or states: {} and {}",
                                   first.name, source.name, parameter, diagram_parameter(source)));
    const std::vector<double> more = numbers(source.result.data.at(parameter));
    all.insert(all.end(), more.begin(), more.end());
  }
  values.values = all;
  PlotAxis axis = parameter_axis(values, first.described.label(parameter, ""), options.from, options.to);
  axis.logarithmic = false;
  const std::vector<std::string> usual = first.described.usual_states(states);
  std::vector<PanelOffer> offers;
  for (const std::string& state : states)
    offers.push_back({state, std::find(usual.begin(), usual.end(), state) != usual.end(),
                      [&, state] { return overlay_panel(sources, options, axis, state); }});
  Picture picture;
  picture.rows = stacked(chosen_panels(offers, options, picture.notes));
  return picture;
}

}  // namespace graze
