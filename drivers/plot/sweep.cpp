/// A sweep over one parameter: bifurcation diagram, below it class, period, rises and sticking.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "core/settings/value.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/points.hpp"
#include "drivers/plot/sheet.hpp"

namespace graze {
namespace {

constexpr int left_margin = 150;
constexpr int right_margin = 250;
constexpr int top_margin = 66;
constexpr int gap = 18;

constexpr int state_height = 340;
constexpr int row_height = 32;
constexpr int period_height = 130;
constexpr int sticking_height = 210;

constexpr std::size_t most_dots = 4000;            // more than this are counted in cells instead
constexpr std::size_t most_periodic_dots = 20000;  // of periodic motions, on top of the cells
constexpr std::size_t most_start_rows = 4;  // more initial states than this share one row and one colour
constexpr int cell_size = 2;                // pixels
constexpr int shades = 100;                 // steps of the density scale
constexpr double decades = 3;               // of the density scale
constexpr int tic_height = 26;              // pixels, least distance of numbers
constexpr int mark_distance = 9;            // pixels

constexpr std::string_view neutral = "#202020";
constexpr std::string_view single_colour = "#08284a";

/// A part of a strip, in pixels across and rows up.
struct Piece {
  std::size_t left;
  std::size_t right;
  double low;
  double high;
  std::string_view colour;
};

/// Pieces from left to right; neighbours that look the same become one.
class Pieces {
 public:
  void add(const Piece& piece) {
    const auto [place, is_new] = open_.try_emplace({piece.low, piece.high}, pieces_.size());
    if (!is_new) {
      Piece& before = pieces_[place->second];
      if (before.right == piece.left && before.colour == piece.colour) {
        before.right = piece.right;
        return;
      }
      place->second = pieces_.size();
    }
    pieces_.push_back(piece);
  }

  std::string rows() const {
    std::string rows;
    for (const Piece& piece : pieces_)
      rows += fmt::format("{} {} {:.5g} {:.5g} {}\n", piece.left, piece.right, piece.low, piece.high,
                          std::stoul(std::string(piece.colour.substr(1)), nullptr, 16));
    return rows;
  }

 private:
  std::vector<Piece> pieces_;
  std::map<std::pair<double, double>, std::size_t> open_;  // the last piece at each height
};

/// The plot element of rows of pieces.
std::string filled(const std::string& data) {
  return data +
         " using (($1+$2)/2.):(($3+$4)/2.):1:2:3:4:5 axes x2y1 with boxxyerror "
         "fillstyle solid noborder linecolor rgb variable";
}

/// The result of a sweep, ready to be drawn.
struct Sweep {
  Points points;
  const Array* map_state;
  const Array* period;
  const Array* rises;
  const Array* stick_fraction;
  const Array* stick_fraction_all;
  const Array* friction_stick_fraction;
  const Array* reversing_fraction;
  const Array* locking_fraction;
  std::size_t iterates = 0;
  std::vector<std::string> states = {};
  std::vector<std::string> contacts = {};
  std::vector<std::string> frictions = {};
  PlotAxis axis;
  Pixels pixels;
  std::vector<std::vector<std::size_t>> groups;  ///< of starts; each has its own row and colour
};

std::vector<std::vector<std::size_t>> grouped(const std::vector<std::size_t>& starts) {
  if (starts.size() > most_start_rows) return {starts};
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t start : starts) groups.push_back({start});
  return groups;
}

Sweep sweep_of(const Dataset& data, const PlotOptions& options, int width) {
  Points points(data, options.start);
  const Array& coordinate = *points.parameters().front();
  const PlotAxis axis = parameter_axis(coordinate, options.from, options.to);
  Sweep sweep{.points = points,
              .map_state = points.find("map_state", {"iterate", "state"}),
              .period = points.find("period"),
              .rises = points.find("rises", {"contact"}),
              .stick_fraction = points.find("stick_fraction", {"contact"}),
              .stick_fraction_all = points.find("stick_fraction_all"),
              .friction_stick_fraction = points.find("friction_stick_fraction", {"dry_friction"}),
              .reversing_fraction = points.find("reversing_fraction", {"contact"}),
              .locking_fraction = points.find("locking_fraction", {"contact"}),
              .axis = axis,
              .pixels = Pixels(axis, coordinate, width),
              .groups = grouped(points.starts())};
  if (sweep.map_state != nullptr) {
    sweep.iterates = data.size("iterate");
    sweep.states = index_names(data, "state");
  }
  if (sweep.rises != nullptr || sweep.stick_fraction != nullptr)
    sweep.contacts = index_names(data, "contact");
  if (sweep.friction_stick_fraction != nullptr) sweep.frictions = index_names(data, "dry_friction");
  return sweep;
}

double state_value(const Sweep& sweep, std::size_t point, std::size_t iterate, std::size_t state) {
  return number(*sweep.map_state, (point * sweep.iterates + iterate) * sweep.states.size() + state);
}

/// Calls action(point) for the points of some starts at some parameter values.
template <typename Action>
void for_points(const Sweep& sweep, const std::vector<std::size_t>& starts,
                std::span<const std::size_t> parameter_values, Action action) {
  for (const std::size_t start : starts)
    for (const std::size_t i : parameter_values) action(sweep.points.first(start) + i);
}

/// Iterates of a point that differ: a periodic motion repeats its orbit in the record.
std::size_t distinct_iterates(const Sweep& sweep, std::size_t point) {
  const double period = sweep.period == nullptr ? 0 : number(*sweep.period, point);
  return period >= 1 ? std::min(sweep.iterates, static_cast<std::size_t>(period)) : sweep.iterates;
}

/// Calls action(x, value) for all different values of a state at points of a start that are on the axis and
/// have one of the classes wanted.
template <typename Wanted, typename Action>
void for_values(const Sweep& sweep, std::size_t start, std::size_t state, Wanted wanted, Action action) {
  const Array& coordinate = *sweep.points.parameters().front();
  const std::size_t count = numbers(coordinate).size();
  for (std::size_t i = 0; i < count; ++i) {
    const double x = number(coordinate, i);
    const std::size_t point = sweep.points.first(start) + i;
    if (!sweep.axis.contains(x) || !wanted(point)) continue;
    const std::size_t iterates = distinct_iterates(sweep, point);
    for (std::size_t k = 0; k < iterates; ++k) {
      const double value = state_value(sweep, point, k, state);
      if (std::isfinite(value)) action(x, value);
    }
  }
}

constexpr auto all_points = [](std::size_t) { return true; };

/// Motions that grow without bound would squeeze all others: they don't count unless there are no others.
PlotAxis state_axis(const Sweep& sweep, std::size_t state) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const auto extend = [&](double, double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  };
  const auto bounded = [&](std::size_t point) {
    return !sweep.points.is(point, "unbounded") && !sweep.points.is(point, "failed");
  };
  for (const std::size_t start : sweep.points.starts()) for_values(sweep, start, state, bounded, extend);
  if (low > high)
    for (const std::size_t start : sweep.points.starts()) for_values(sweep, start, state, all_points, extend);
  return value_axis(label_with_unit(sweep.states[state], sweep.map_state->unit), low, high);
}

template <typename Wanted>
std::size_t count_values(const Sweep& sweep, std::size_t state, Wanted wanted) {
  std::size_t count = 0;
  for (const std::size_t start : sweep.points.starts())
    for_values(sweep, start, state, wanted, [&](double, double) { ++count; });
  return count;
}

std::string group_name(const Sweep& sweep, std::size_t group) {
  return named("start", sweep.points.start_names()[sweep.groups[group].front()]);
}

std::string_view group_colour(const Sweep& sweep, std::size_t group) {
  return sweep.groups.size() == 1 ? single_colour : start_colour(group);
}

template <typename Wanted>
void add_dots(std::vector<std::string>& elements, Sheet& sheet, const Sweep& sweep, std::size_t state,
              Wanted wanted) {
  double size = 0.4;
  for (std::size_t group = 0; group < sweep.groups.size(); ++group) {
    std::string rows;
    for (const std::size_t start : sweep.groups[group])
      for_values(sweep, start, state, wanted,
                 [&](double x, double value) { rows += fmt::format("{:.9g} {:.9g}\n", x, value); });
    if (!rows.empty())
      elements.push_back(
          fmt::format("{} using 1:2 with points pointtype 7 pointsize {:.3f}*dot linecolor rgb '{}'",
                      sheet.data(rows), size, group_colour(sweep, group)));
    size *= 0.65;  // so that what lies below still shows
  }
}

/// Shade of a cell that holds `count` of the `total` values above a pixel: 1 … shades - 1, logarithmic.
int shade(std::size_t count, std::size_t total) {
  const double share = static_cast<double>(count) / static_cast<double>(total);
  const double scale = std::clamp(1 + std::log10(share) / decades, 0.0, 1.0);
  return 1 + static_cast<int>(std::lround(scale * (shades - 2)));
}

/// How many values of a state fall into each cell above a pixel; per group, and in all cells together.
struct Column {
  std::vector<std::vector<std::size_t>> counts;
  std::vector<std::size_t> totals;
};

Column count_column(const Sweep& sweep, std::size_t state, std::span<const std::size_t> parameter_values,
                    const PlotAxis& axis, int cells) {
  Column column;
  for (const std::vector<std::size_t>& starts : sweep.groups) {
    std::vector<std::size_t> counts(static_cast<std::size_t>(cells));
    for_points(sweep, starts, parameter_values, [&](std::size_t point) {
      for (std::size_t k = 0; k < sweep.iterates; ++k) {
        const double value = state_value(sweep, point, k, state);
        if (!axis.contains(value)) continue;
        const int cell = static_cast<int>(axis.position(value) * cells);
        ++counts[static_cast<std::size_t>(std::min(cell, cells - 1))];
      }
    });
    column.totals.push_back(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
    column.counts.push_back(std::move(counts));
  }
  return column;
}

/// The number in the raster for a cell: 0 when empty, else group * shades + shade; a cell of several groups
/// counts as one more group.
int cell_code(const Column& column, std::size_t cell) {
  int code = 0;
  std::size_t present = 0;
  std::size_t count = 0;
  std::size_t total = 0;
  for (std::size_t group = 0; group < column.counts.size(); ++group) {
    const std::size_t here = column.counts[group][cell];
    if (here == 0) continue;
    ++present;
    count += here;
    total += column.totals[group];
    code = static_cast<int>(group) * shades + shade(here, column.totals[group]);
  }
  if (present > 1) code = static_cast<int>(column.counts.size()) * shades + shade(count, total);
  return code;
}

std::vector<std::vector<double>> density(const Sweep& sweep, std::size_t state, const PlotAxis& axis,
                                         const Panel& panel) {
  const Pixels pixels(sweep.axis, *sweep.points.parameters().front(), std::max(1, panel.width / cell_size));
  const int cells = std::max(1, panel.height / cell_size);
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(cells), std::vector<double>(pixels.count()));
  for (std::size_t pixel = 0; pixel < pixels.count(); ++pixel) {
    const Column column = count_column(sweep, state, pixels[pixel], axis, cells);
    for (std::size_t cell = 0; cell < rows.size(); ++cell) rows[cell][pixel] = cell_code(column, cell);
  }
  return rows;
}

void set_density_palette(Sheet& sheet, const Sweep& sweep) {
  std::string palette = "0 '#ffffff'";
  const auto add = [&](std::size_t group, std::string_view dark) {
    const std::size_t zero = group * shades;
    palette +=
        fmt::format(", {} '{}', {} '{}'", zero + 1, mixed(dark, "#ffffff", 0.7), zero + shades - 1, dark);
  };
  for (std::size_t group = 0; group < sweep.groups.size(); ++group) add(group, group_colour(sweep, group));
  if (sweep.groups.size() > 1) add(sweep.groups.size(), neutral);
  const std::size_t scales = sweep.groups.size() > 1 ? sweep.groups.size() + 1 : 1;
  sheet.command(fmt::format("set palette defined ({}) maxcolors 0", palette));
  sheet.command(fmt::format("set cbrange [0:{}]", scales * shades - 1));
}

void draw_density_scale(Sheet& sheet, const Panel& panel) {
  const int left = panel.left + panel.width + gap;
  sheet.colour_box({left, panel.top + 2 * row_height, gap, panel.height - 2 * row_height});
  sheet.text(left, panel.top + row_height / 2, "share of iterates");
  sheet.command(fmt::format("set cbtics scale 0.4 ('1' {}, '0.1' {}, '0.01' {}, '0.001' {})",
                            shade(1000, 1000), shade(100, 1000), shade(10, 1000), shade(1, 1000)));
}

void draw_state(Sheet& sheet, const Panel& panel, const Sweep& sweep, std::size_t state, bool with_legend) {
  const PlotAxis axis = state_axis(sweep, state);
  sheet.value_axis(panel, axis);
  const bool few = count_values(sweep, state, all_points) <= most_dots;
  if (with_legend && sweep.groups.size() > 1) {
    std::vector<LegendEntry> entries;
    for (std::size_t group = 0; group < sweep.groups.size(); ++group)
      entries.push_back({std::string(group_colour(sweep, group)), group_name(sweep, group)});
    if (!few) entries.push_back({std::string(neutral), "several"});
    sheet.legend(panel, entries);
  } else if (with_legend && !few) {
    draw_density_scale(sheet, panel);
  }
  std::vector<std::string> elements = {std::string(nothing_on_first_axes)};
  const auto periodic = [&](std::size_t point) { return sweep.points.is(point, "periodic"); };
  if (!few) {
    set_density_palette(sheet, sweep);
    elements.push_back(sheet.raster(panel, density(sweep, state, axis, panel)));
  }
  if (few)
    add_dots(elements, sheet, sweep, state, all_points);
  else if (count_values(sweep, state, periodic) <= most_periodic_dots)
    add_dots(elements, sheet, sweep, state, periodic);  // thin branches stand out from clouds
  sheet.plot(elements);
}

/// Each pixel of a row is divided among the classes of its points, so that no class is hidden.
void add_shares(Pieces& pieces, const Sweep& sweep, std::size_t group, std::size_t pixel) {
  const std::vector<std::string>& names = sweep.points.class_names();
  std::vector<std::size_t> counts(names.size());
  std::size_t total = 0;
  for_points(sweep, sweep.groups[group], sweep.pixels[pixel], [&](std::size_t point) {
    const int index = sweep.points.attractor(point);
    if (index < 0) return;
    ++counts[static_cast<std::size_t>(index)];
    ++total;
  });
  double low = static_cast<double>(group);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (counts[i] == 0) continue;
    const double high = low + static_cast<double>(counts[i]) / static_cast<double>(total);
    pieces.add({pixel, pixel + 1, low, high, class_colour(names[i])});
    low = high;
  }
}

void draw_classes(Sheet& sheet, const Panel& panel, const Sweep& sweep) {
  Pieces pieces;
  std::set<int> present;
  for (std::size_t pixel = 0; pixel < sweep.pixels.count(); ++pixel)
    for (std::size_t group = 0; group < sweep.groups.size(); ++group) {
      add_shares(pieces, sweep, group, pixel);
      for_points(sweep, sweep.groups[group], sweep.pixels[pixel],
                 [&](std::size_t point) { present.insert(sweep.points.attractor(point)); });
    }
  std::vector<std::string> names = {"class"};
  if (sweep.groups.size() > 1) {
    names.clear();
    for (std::size_t group = 0; group < sweep.groups.size(); ++group)
      names.push_back(group_name(sweep, group));
  }
  sheet.rows(names);
  std::vector<LegendEntry> entries;
  present.erase(-1);
  for (const int index : present) {
    const std::string& name = sweep.points.class_names()[static_cast<std::size_t>(index)];
    entries.push_back({std::string(class_colour(name)), name});
  }
  sheet.legend(panel, entries);
  sheet.plot({std::string(nothing_on_first_axes), filled(sheet.data(pieces.rows()))});
}

bool any_periodic(const Sweep& sweep) {
  if (sweep.period == nullptr) return false;
  const std::vector<double> periods = numbers(*sweep.period);
  return std::any_of(periods.begin(), periods.end(), [](double period) { return period >= 1; });
}

/// Bars at the logarithm of the period, where a periodic motion has been found.
void draw_periods(Sheet& sheet, const Panel& panel, const Sweep& sweep) {
  constexpr double half_thickness = 0.13;
  Pieces pieces;
  double largest = 1;
  for (std::size_t pixel = 0; pixel < sweep.pixels.count(); ++pixel) {
    std::set<double> periods;
    for_points(sweep, sweep.points.starts(), sweep.pixels[pixel], [&](std::size_t point) {
      const double period = number(*sweep.period, point);
      if (period >= 1) periods.insert(period);
    });
    for (const double period : periods) {
      const double height = std::log2(period);
      pieces.add(
          {pixel, pixel + 1, height - half_thickness, height + half_thickness, class_colour("periodic")});
      largest = std::max(largest, period);
    }
  }
  const double top = std::max(2.0, std::log2(largest));
  const int step = static_cast<int>(std::ceil((top + 0.8) * tic_height / panel.height));
  std::string tics;
  for (int power = 0; power <= top; power += step)
    tics += fmt::format("{}'{}' {}", power == 0 ? "" : ", ", 1LL << power, power);
  sheet.command(fmt::format("set ytics ({})", tics));
  sheet.command(fmt::format("set yrange [-0.4:{:.3f}]", top + 0.4));
  sheet.value_label(panel, "period");
  sheet.plot({std::string(nothing_on_first_axes), filled(sheet.data(pieces.rows()))});
}

/// Pixels over which a mark belongs, thinned out so that marks don't cover each other.
std::string mark_rows(const Sweep& sweep, double height, const std::function<bool(std::size_t)>& is_marked) {
  std::string rows;
  std::size_t next_free = 0;
  for (std::size_t pixel = 0; pixel < sweep.pixels.count(); ++pixel) {
    bool marked = false;
    for_points(sweep, sweep.points.starts(), sweep.pixels[pixel],
               [&](std::size_t point) { marked = marked || is_marked(point); });
    if (!marked || pixel < next_free) continue;
    rows += fmt::format("{} {}\n", static_cast<double>(pixel) + 0.5, height);
    next_free = pixel + mark_distance;
  }
  return rows;
}

/// A row of the marks strip: its name, its marks, and how they look.
struct Marks {
  std::string name;
  std::string rows;
  std::string look;
};

std::vector<Marks> marks_of(const Sweep& sweep) {
  std::vector<Marks> marks;
  const auto add = [&](std::string name, std::string look,
                       const std::function<bool(std::size_t)>& is_marked) {
    std::string rows = mark_rows(sweep, static_cast<double>(marks.size()) + 0.5, is_marked);
    if (!rows.empty()) marks.push_back({std::move(name), std::move(rows), std::move(look)});
  };
  add("failed", "pointtype 2 pointsize 0.9*dot linewidth 1.5 linecolor rgb '#000000'",
      [&](std::size_t point) { return sweep.points.is(point, "failed"); });
  for (std::size_t contact = 0; sweep.rises != nullptr && contact < sweep.contacts.size(); ++contact)
    add("rise " + sweep.contacts[contact],
        fmt::format("pointtype 9 pointsize 1*dot linecolor rgb '{}'", contact_colour(contact)),
        [&](std::size_t point) { return number(*sweep.rises, point * sweep.contacts.size() + contact) > 0; });
  return marks;
}

void draw_marks(Sheet& sheet, const std::vector<Marks>& marks) {
  std::vector<std::string> names;
  std::vector<std::string> elements = {std::string(nothing_on_first_axes)};
  for (const Marks& row : marks) {
    names.push_back(row.name);
    elements.push_back(fmt::format("{} using 1:2 axes x2y1 with points {}", sheet.data(row.rows), row.look));
  }
  sheet.rows(names);
  sheet.plot(elements);
}

/// Least and greatest value over each pixel; a blank line where there is none, so that curves break there.
std::string envelope_rows(const Sweep& sweep, const std::function<double(std::size_t)>& value,
                          double& greatest) {
  std::string rows;
  for (std::size_t pixel = 0; pixel < sweep.pixels.count(); ++pixel) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for_points(sweep, sweep.points.starts(), sweep.pixels[pixel], [&](std::size_t point) {
      const double x = value(point);
      if (!std::isfinite(x)) return;
      low = std::min(low, x);
      high = std::max(high, x);
    });
    if (low > high) {
      rows += "\n";
      continue;
    }
    greatest = std::max(greatest, high);
    rows += fmt::format("{} {:.5g} {:.5g}\n", static_cast<double>(pixel) + 0.5, low, high);
  }
  return rows;
}

/// Filled to the least value in a stronger tone than to the greatest: they differ where points share a pixel.
void add_envelope(std::vector<std::string>& elements, const std::string& data, std::string_view colour) {
  for (const auto& [column, strength] : {std::pair(3, 0.3), std::pair(2, 0.4)})
    elements.push_back(
        fmt::format("{} using 1:{} axes x2y1 with filledcurves y1=0 fillstyle transparent solid {} "
                    "noborder linecolor rgb '{}'",
                    data, column, strength, colour));
  elements.push_back(
      fmt::format("{} using 1:3 axes x2y1 with lines linewidth 1 linecolor rgb '{}'", data, colour));
}

/// Shares of time, one band per contact or friction of these names.
double add_shares(std::vector<std::string>& elements, std::vector<LegendEntry>& entries, Sheet& sheet,
                  const Sweep& sweep, const Array& shares, const std::vector<std::string>& names,
                  const char* what) {
  double greatest = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto fraction = [&](std::size_t point) { return number(shares, point * names.size() + i); };
    add_envelope(elements, sheet.data(envelope_rows(sweep, fraction, greatest)), contact_colour(i));
    entries.push_back({std::string(contact_colour(i)), named(what, names[i])});
  }
  return greatest;
}

/// Whether a share is above zero somewhere.
bool any(const Array* shares) {
  if (shares == nullptr) return false;
  const auto& list = std::get<std::vector<double>>(shares->values);
  return std::any_of(list.begin(), list.end(), [](double share) { return share > 0; });
}

PlotAxis share_axis(const char* label, double greatest) { return {label, 0, 1.08 * greatest}; }

void draw_friction(Sheet& sheet, const Panel& panel, const Sweep& sweep) {
  std::vector<std::string> elements = {std::string(nothing_on_first_axes)};
  std::vector<LegendEntry> entries;
  const double greatest = add_shares(elements, entries, sheet, sweep, *sweep.friction_stick_fraction,
                                     sweep.frictions, "friction");
  sheet.legend(panel, entries);
  sheet.value_axis(panel, share_axis("friction sticks", greatest));
  sheet.plot(elements);
}

/// Shares of the impacts in which slip turns, and in which it locks.
void draw_slip_of_impacts(Sheet& sheet, const Panel& panel, const Sweep& sweep) {
  std::vector<std::string> elements = {std::string(nothing_on_first_axes)};
  std::vector<LegendEntry> entries;
  double greatest = 0;
  std::size_t colour = 0;
  for (const auto& [shares, what] :
       {std::pair(sweep.reversing_fraction, "slip turns"), std::pair(sweep.locking_fraction, "slip locks")}) {
    for (std::size_t i = 0; any(shares) && i < sweep.contacts.size(); ++i) {
      const auto fraction = [&, list = shares](std::size_t point) {
        return number(*list, point * sweep.contacts.size() + i);
      };
      const std::string_view tone = contact_colour(colour++);
      add_envelope(elements, sheet.data(envelope_rows(sweep, fraction, greatest)), tone);
      const std::string of = sweep.contacts.size() > 1 ? ", " + named("contact", sweep.contacts[i]) : "";
      entries.push_back({std::string(tone), what + of});
    }
  }
  sheet.legend(panel, entries);
  sheet.value_axis(panel, share_axis("impacts", greatest));
  sheet.plot(elements);
}

void draw_sticking(Sheet& sheet, const Panel& panel, const Sweep& sweep) {
  std::vector<std::string> elements = {std::string(nothing_on_first_axes)};
  std::vector<LegendEntry> entries;
  const std::size_t contacts = sweep.contacts.size();
  const double greatest =
      add_shares(elements, entries, sheet, sweep, *sweep.stick_fraction, sweep.contacts, "contact");
  if (sweep.stick_fraction_all != nullptr && contacts > 1) {
    double greatest_all = 0;
    const auto fraction = [&](std::size_t point) { return number(*sweep.stick_fraction_all, point); };
    const std::string data = sheet.data(envelope_rows(sweep, fraction, greatest_all));
    if (greatest_all > 0) {
      elements.push_back(
          fmt::format("{} using 1:3 axes x2y1 with lines linewidth 1.5 linecolor rgb '{}'", data, neutral));
      entries.push_back({std::string(neutral), "all at once"});
    }
  }
  sheet.legend(panel, entries);
  sheet.value_axis(panel, share_axis("time stuck", greatest));
  sheet.plot(elements);
}

/// States to draw: those asked for, else the first two positions.
std::vector<std::size_t> chosen_states(const Sweep& sweep, const std::vector<std::string>& asked) {
  std::vector<std::size_t> chosen;
  for (const std::string& name : asked) chosen.push_back(index_of(sweep.states, name, "state"));
  if (!chosen.empty() || sweep.states.empty()) return chosen;
  for (const Pair& pair : pairs(sweep.states)) chosen.push_back(pair.position);
  if (chosen.empty()) chosen = {0};
  chosen.resize(std::min<std::size_t>(chosen.size(), 2));
  return chosen;
}

/// A panel to come.
struct Strip {
  int height;
  std::function<void(Sheet&, const Panel&)> draw;
};

std::vector<Strip> strips_of(const Sweep& sweep, const std::vector<std::string>& asked_states) {
  std::vector<Strip> strips;
  for (const std::size_t state : chosen_states(sweep, asked_states)) {
    const bool first = strips.empty();
    strips.push_back({state_height, [&sweep, state, first](Sheet& sheet, const Panel& panel) {
                        draw_state(sheet, panel, sweep, state, first);
                      }});
  }
  const int rows = static_cast<int>(sweep.groups.size());
  strips.push_back(
      {row_height * rows, [&](Sheet& sheet, const Panel& panel) { draw_classes(sheet, panel, sweep); }});
  if (any_periodic(sweep))
    strips.push_back(
        {period_height, [&](Sheet& sheet, const Panel& panel) { draw_periods(sheet, panel, sweep); }});
  const std::vector<Marks> marks = marks_of(sweep);
  if (!marks.empty())
    strips.push_back({row_height * static_cast<int>(marks.size()),
                      [marks](Sheet& sheet, const Panel&) { draw_marks(sheet, marks); }});
  if (any(sweep.reversing_fraction) || any(sweep.locking_fraction))
    strips.push_back({sticking_height,
                      [&](Sheet& sheet, const Panel& panel) { draw_slip_of_impacts(sheet, panel, sweep); }});
  if (any(sweep.stick_fraction))
    strips.push_back(
        {sticking_height, [&](Sheet& sheet, const Panel& panel) { draw_sticking(sheet, panel, sweep); }});
  if (any(sweep.friction_stick_fraction))
    strips.push_back(
        {sticking_height, [&](Sheet& sheet, const Panel& panel) { draw_friction(sheet, panel, sweep); }});
  return strips;
}

}  // namespace

Drawing draw_sweep(const Result& result, const PlotOptions& options) {
  const int width = options.width > 0 ? options.width : default_width;
  const int plot_width = width - left_margin - right_margin;
  const Sweep sweep = sweep_of(result.data, options, plot_width);
  const std::vector<Strip> strips = strips_of(sweep, options.states);
  int content = 0;
  for (const Strip& strip : strips) content += strip.height;
  const int margins = top_margin + bottom_margin + gap * static_cast<int>(strips.size() - 1);
  const int height = options.height > 0 ? options.height : content + margins;
  const double scale = static_cast<double>(height - margins) / content;

  Sheet sheet(width, height, options.title);
  int top = top_margin;
  for (std::size_t i = 0; i < strips.size(); ++i) {
    const Panel panel = {left_margin, top, plot_width, static_cast<int>(strips[i].height * scale)};
    sheet.panel(panel);
    sheet.number_axis(sweep.axis, i + 1 == strips.size());
    strips[i].draw(sheet, panel);
    top += panel.height + gap;
  }
  return sheet.finish();
}

}  // namespace graze
