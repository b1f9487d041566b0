/// Curves of bifurcations over two parameters and the points where they meet, over the regions of a sweep.
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
#include "drivers/plot/kinds.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/points.hpp"

namespace graze {
namespace {

/// Short names of points of codimension two.
struct Codim2Name {
  std::string_view kind;
  std::string_view name;
};
constexpr std::array<Codim2Name, 21> codim2_short = {{{"cusp", "CP"},
                                                      {"fold_flip", "FF"},
                                                      {"resonance_1_1", "R1"},
                                                      {"resonance_1_2", "R2"},
                                                      {"resonance_1_3", "R3"},
                                                      {"resonance_1_4", "R4"},
                                                      {"fold_neimark_sacker", "FN"},
                                                      {"flip_neimark_sacker", "PN"},
                                                      {"generalized_period_doubling", "GP"},
                                                      {"resonant_grazing", "RG"},
                                                      {"double_grazing", "GG"},
                                                      {"grazing_fold", "GF"},
                                                      {"grazing_period_doubling", "GD"},
                                                      {"grazing_neimark_sacker", "GN"},
                                                      {"degenerate_grazing", "DG"},
                                                      {"rising_border", "RB"},
                                                      {"chatter_grazing", "CG"},
                                                      {"simultaneous", "SI"},
                                                      {"release_moves", "RM"},
                                                      {"stick_corner", "SC"},
                                                      {"slip_grazing", "SG"}}};

std::string_view short_name(const std::string& kind) {
  for (const Codim2Name& n : codim2_short)
    if (n.kind == kind) return n.name;
  return "";
}

/// Curves of one look: of stable orbits, of unstable ones, of orbits that no motion takes.
struct CurveLook {
  bool stable;
  bool admissible;
  double width;
  Mark::Dash dash;
  std::string_view meaning;
};
constexpr std::array<CurveLook, 3> curve_looks = {{{true, true, 1.3, Mark::Dash::solid, ""},
                                                   {false, true, 0.9, Mark::Dash::dashed, ", unstable orbit"},
                                                   {false, false, 0.6, Mark::Dash::dotted, ", no motion"}}};

/// The pieces of all curves of a kind with one look.
Mark pieces(const Dataset& data, const KindLook& kind, const CurveLook& look, const Panel& panel,
            const std::string& first, const std::string& second) {
  Mark mark;
  mark.colour = kind.colour;
  mark.size = look.width;
  mark.dash = look.dash;
  mark.meaning = fmt::format("{}{}", spaced(kind.kind), look.meaning);
  const Array& x = data.at(first);
  const Array& y = data.at(second);
  const Array& stable = data.at("stable");
  const Array& admissible = data.at("admissible");
  const std::vector<Part> curves = parts_from(data.at("points"));
  const auto belongs = [&](std::size_t k) {
    return (number(admissible, k) > 0) == look.admissible &&
           (!look.admissible || (number(stable, k) > 0) == look.stable);
  };
  for (std::size_t c = 0; c < curves.size(); ++c) {
    if (class_name(data.at("kind"), c) != kind.kind) continue;
    for (std::size_t k = curves[c].first; k < curves[c].first + curves[c].size; ++k) {
      // A piece reaches to the first point of the next one.
      const bool in = belongs(k) || (k > curves[c].first && belongs(k - 1));
      const bool inside = panel.x.contains(number(x, k)) && panel.y.contains(number(y, k));
      mark.x.push_back(in && inside ? number(x, k) : no_value);
      mark.y.push_back(in && inside ? number(y, k) : no_value);
    }
    mark.x.push_back(no_value);
    mark.y.push_back(no_value);
  }
  const bool any = std::any_of(mark.x.begin(), mark.x.end(), [](double v) { return std::isfinite(v); });
  return any ? mark : Mark{};
}

/// One symbol for all points of codimension two, with their short names beside them.
void add_codim2(Panel& panel, const Dataset& points, const std::string& first, const std::string& second) {
  const Array& kind = points.at("kind");
  Mark mark;
  mark.shape = Mark::Shape::dots;
  mark.colour = "#202020";
  mark.symbol = 6;
  mark.size = 3;
  for (std::size_t k = 0; k < points.size("point"); ++k) {
    const double x = number(points.at(first), k);
    const double y = number(points.at(second), k);
    if (!panel.x.contains(x) || !panel.y.contains(y)) continue;
    mark.x.push_back(x);
    mark.y.push_back(y);
    const std::string name = class_name(kind, k);
    panel.names.push_back({x, y, std::string(short_name(name)), mark.colour});
  }
  if (mark.empty()) return;
  mark.meaning = "codimension two";
  panel.marks.push_back(std::move(mark));
}

/// What the short names in a panel mean.
std::string names_note(const Dataset& points) {
  std::string note;
  for (const Codim2Name& n : codim2_short) {
    bool present = false;
    for (std::size_t k = 0; k < points.size("point"); ++k)
      present = present || class_name(points.at("kind"), k) == n.kind;
    std::string told = spaced(n.kind);
    if (n.kind.starts_with("resonance_")) told[told.size() - 2] = ':';
    if (present) note += fmt::format("{}{} {}", note.empty() ? "" : ", ", n.name, told);
  }
  return note;
}

Panel empty_panel(const PlotSource& source, const Dataset& data, const std::string& first,
                  const std::string& second, const PlotOptions& options) {
  if (data.size("point") == 0) throw InputError(source.name + ": has no curves to draw");
  Panel panel;
  panel.square = true;
  const auto axis = [&](const std::string& name, double from, double to) {
    const Array& array = data.at(name);
    PlotAxis a = parameter_axis(array, source.described.label(name, array.unit), from, to);
    a.logarithmic = false;
    return a;
  };
  panel.x = axis(first, options.from, options.to);
  panel.y = axis(second, options.y_from, options.y_to);
  return panel;
}

}  // namespace

Picture draw_curves(const PlotSource& source, const PlotSource* map, const PlotOptions& options) {
  const Dataset& data = source.result.data;
  std::string first = attribute(source.result.attributes, "parameter");
  std::string second = attribute(source.result.attributes, "parameter2");
  const Dataset* points = data.group("codim2");
  if (first.empty() || second.empty() || points == nullptr)
    throw InputError(source.name + ": is not the result of curves");
  if (map != nullptr) {
    const std::vector<std::string>& over = map->result.data.at("outcome").dimensions;
    const std::string& x = over[over.size() - 2];
    const std::string& y = over.back();
    if (x == second && y == first) std::swap(first, second);
    if (x != first || y != second)
      throw InputError(fmt::format("{}: is a sweep over {} and {}, the curves are over {} and {}", map->name,
                                   x, y, first, second));
  }
  Panel panel =
      map != nullptr ? region_panel(*map, options) : empty_panel(source, data, first, second, options);
  panel.name = "curves";
  panel.title.clear();
  for (const KindLook& kind : kind_looks)
    for (const CurveLook& look : curve_looks) {
      Mark mark = pieces(data, kind, look, panel, first, second);
      if (!mark.empty()) panel.marks.push_back(std::move(mark));
    }
  add_codim2(panel, *points, first, second);
  Picture picture;
  picture.rows = {{std::move(panel)}};
  picture.caption = source.described.parameters({first, second});
  const std::string note = names_note(*points);
  if (!note.empty()) picture.notes.push_back(note);
  return picture;
}

}  // namespace graze
