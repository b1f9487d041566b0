/// A sweep over one parameter: bifurcation diagram, below it class, period, marks and shares of time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/settings/value.hpp"
#include "drivers/command/array_values.hpp"
#include "drivers/plot/attractor_sets.hpp"
#include "drivers/plot/colours.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/points.hpp"

namespace graze {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t most_start_rows = 4;  // more initial states than this share one row
constexpr double mark_distance = 4;         // points, between marks of one row
constexpr int cells_up = 400;               // dots closer than this part of the panel are drawn as one

/// The arrays that this program knows to be bookkeeping, or draws in a way of their own.
constexpr std::array<std::string_view, 10> no_curves = {
    "map_state", "map_time", "attractor",     "period",        "rises",
    "itinerary", "outcome",  "multiplier_re", "multiplier_im", "transient_used"};

/// The result of a sweep, ready to be drawn.
struct Sweep {
  const PlotSource& source;
  const Dataset& data;
  Points points;
  const Array& coordinate;
  PlotAxis axis;
  Columns columns;
  std::vector<std::size_t> visible;  ///< indices of the coordinates on the axis

  std::size_t point(std::size_t start, std::size_t i) const { return points.first(start) + i; }
  /// Calls action(point) for all points of some starts at some coordinates.
  template <typename Indices, typename Action>
  void for_points(const std::vector<std::size_t>& starts, const Indices& indices, Action action) const {
    for (const std::size_t start : starts)
      for (const std::size_t i : indices) action(point(start, i));
  }
  template <typename Action>
  void for_visible(Action action) const {
    for_points(points.starts(), visible, action);
  }
  template <typename Wanted>
  bool any_visible(Wanted wanted) const {
    bool found = false;
    for_visible([&](std::size_t point) { found = found || wanted(point); });
    return found;
  }
};

Sweep sweep_of(const PlotSource& source, const PlotOptions& options, const PlotAxis* given = nullptr) {
  const Dataset& data = source.result.data;
  Points points(data, options.start);
  const Array& coordinate = *points.parameters().front();
  const PlotAxis axis =
      given != nullptr ? *given
                       : parameter_axis(coordinate, source.described.label(coordinate.name, coordinate.unit),
                                        options.from, options.to);
  Columns columns(axis, coordinate, columns_of(options.page));
  std::vector<std::size_t> visible;
  for (std::size_t i = 0; i < data.size(coordinate.name); ++i)
    if (axis.contains(number(coordinate, i))) visible.push_back(i);
  return {source, data, std::move(points), coordinate, axis, std::move(columns), std::move(visible)};
}

/// Starts that share a row.
std::vector<std::vector<std::size_t>> rows_of(const Sweep& sweep) {
  const std::vector<std::size_t>& starts = sweep.points.starts();
  if (starts.size() > most_start_rows) return {starts};
  std::vector<std::vector<std::size_t>> rows;
  rows.reserve(starts.size());
  for (const std::size_t start : starts) rows.push_back({start});
  return rows;
}

/// Which set of dots a point belongs to, and what the sets are called.
struct Sets {
  std::vector<std::size_t> of_point;
  std::vector<std::string> names;
};

/// Few starts are a set each; many starts are told apart by the attractors that they lead to.
Sets sets_of(const Sweep& sweep) {
  Sets sets;
  const std::vector<std::size_t>& starts = sweep.points.starts();
  if (starts.size() > most_start_rows) {
    sets.of_point = attractor_sets(sweep.data, sweep.points);
    const std::size_t count = 1 + *std::max_element(sets.of_point.begin(), sets.of_point.end());
    for (std::size_t k = 0; k < std::min(count, set_colours); ++k)
      sets.names.push_back(count == 1 ? "" : fmt::format("attractor {}", k + 1));
    for (std::size_t& set : sets.of_point) set %= set_colours;
    return sets;
  }
  sets.of_point.resize(sweep.points.start_names().size() * sweep.data.size(sweep.coordinate.name));
  for (const std::size_t start : starts) {
    for (std::size_t i = 0; i < sweep.data.size(sweep.coordinate.name); ++i)
      sets.of_point[sweep.point(start, i)] = sets.names.size();
    const std::string& name = sweep.points.start_names()[start];
    sets.names.push_back(starts.size() == 1 ? "" : named("start", name));
  }
  return sets;
}

/// An iterate of an attractor in a diagram.
struct Dot {
  double x;
  double y;
  std::size_t set;
  double share;  ///< of the iterates of its point
};

/// The different iterates of the points on the axis: a periodic motion repeats its orbit in the record.
/// Motions that grow without bound or failed would squeeze all others: they are drawn only where there are no
/// others.
std::vector<Dot> dots_of(const Sweep& sweep, const Sets& sets, std::size_t state) {
  const Array* map_state = sweep.points.find("map_state", {"iterate", "state"});
  if (map_state == nullptr) return {};
  const Array* period = sweep.points.find("period");
  const std::size_t iterates = sweep.data.size("iterate");
  const std::size_t states = sweep.data.size("state");
  const auto bounded = [&](std::size_t point) {
    return !sweep.points.is(point, "unbounded") && !sweep.points.is(point, "failed");
  };
  const bool any_bounded = sweep.any_visible(bounded);
  std::vector<Dot> dots;
  for (const std::size_t start : sweep.points.starts())
    for (const std::size_t i : sweep.visible) {
      const std::size_t point = sweep.point(start, i);
      if (any_bounded && !bounded(point)) continue;
      const double closes = period == nullptr ? 0 : number(*period, point);
      const std::size_t count = closes >= 1 ? std::min(iterates, static_cast<std::size_t>(closes)) : iterates;
      for (std::size_t k = 0; k < count; ++k) {
        const double y = number(*map_state, (point * iterates + k) * states + state);
        if (std::isfinite(y))
          dots.push_back(
              {number(sweep.coordinate, i), y, sets.of_point[point], 1 / static_cast<double>(count)});
      }
    }
  return dots;
}

/// Dots by shade: where iterates are rare they are lighter; what falls into one cell is one dot.
class Cells {
 public:
  Cells(const PlotAxis& x, const PlotAxis& y, int across) : x_(x), y_(y), across_(across) {}

  void add(const Dot& dot) {
    const auto column = static_cast<std::int64_t>(std::floor(x_.position(dot.x) * across_));
    const auto row = static_cast<std::int64_t>(std::floor(y_.position(dot.y) * cells_up));
    const auto [place, is_new] = cells_.try_emplace({dot.set, column, row}, dot);
    if (!is_new) place->second.share += dot.share;
    double& total = totals_[{dot.set, column}];
    total += dot.share;
  }

  /// Marks of one set, the lightest first, so that the darkest lie on top.
  std::vector<Mark> marks(std::size_t set, const std::string& colour, double size) const {
    constexpr std::array<std::pair<double, double>, 3> shades = {{{0, 0.6}, {0.025, 0.3}, {0.06, 0}}};
    std::vector<Mark> marks(shades.size());
    for (std::size_t k = 0; k < shades.size(); ++k) {
      marks[k].shape = Mark::Shape::dots;
      marks[k].colour = mixed(colour, "#ffffff", shades[k].second);
      marks[k].size = size;
    }
    for (const auto& [key, dot] : cells_) {
      if (std::get<0>(key) != set) continue;
      const double share = dot.share / totals_.at({set, std::get<1>(key)});
      std::size_t shade = 0;
      while (shade + 1 < shades.size() && share >= shades[shade + 1].first) ++shade;
      marks[shade].x.push_back(dot.x);
      marks[shade].y.push_back(dot.y);
    }
    std::erase_if(marks, [](const Mark& mark) { return mark.empty(); });
    return marks;
  }

 private:
  PlotAxis x_, y_;
  int across_;
  std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, Dot> cells_;
  std::map<std::pair<std::size_t, std::int64_t>, double> totals_;
};

/// Diameter of dots: as far apart as their parameter values, within bounds.
double dot_size(const Sweep& sweep, const PlotOptions& options) {
  const double spacing =
      0.75 * options.page.width / static_cast<double>(std::max<std::size_t>(1, sweep.visible.size()));
  return std::clamp(0.9 * spacing, 0.55, 1.8);
}

void add_dots(Panel& panel, const Sweep& sweep, const PlotOptions& options, std::size_t state,
              const std::string& colour, const std::string& meaning) {
  const Sets sets = sets_of(sweep);
  const std::vector<Dot> dots = dots_of(sweep, sets, state);
  double low = infinity, high = -infinity;
  for (const Dot& dot : dots) {
    low = std::min(low, dot.y);
    high = std::max(high, dot.y);
  }
  Cells cells(sweep.axis, value_axis("", low, high), columns_of(options.page));
  for (const Dot& dot : dots) cells.add(dot);
  double size = dot_size(sweep, options);
  for (std::size_t set = 0; set < sets.names.size(); ++set) {
    std::vector<Mark> marks = cells.marks(set, colour.empty() ? set_colour(set) : colour, size);
    if (!marks.empty()) marks.back().meaning = meaning.empty() ? sets.names[set] : set == 0 ? meaning : "";
    std::move(marks.begin(), marks.end(), std::back_inserter(panel.marks));
    size = std::max(0.45, 0.8 * size);  // so that what lies below still shows
  }
}

Panel state_panel(const Sweep& sweep, const PlotOptions& options, const std::string& state) {
  Panel panel;
  panel.name = state;
  panel.x = sweep.axis;
  const std::vector<std::string> states = index_names(sweep.data, "state");
  add_dots(panel, sweep, options, index_of(states, state, "state"), "", "");
  fit_y_axis(panel, sweep.source.described.label(state, sweep.data.at("map_state").unit));
  return panel;
}

/// "x₁ = 0.3" where all iterates are at one place, as on a section at a stop.
std::string state_instead(const Sweep& sweep, const std::string& state) {
  const std::vector<Dot> dots =
      dots_of(sweep, sets_of(sweep), index_of(index_names(sweep.data, "state"), state, "state"));
  if (dots.empty()) return {};
  const auto [low, high] =
      std::minmax_element(dots.begin(), dots.end(), [](const Dot& a, const Dot& b) { return a.y < b.y; });
  if (high->y - low->y > 1e-9 * std::max(1.0, std::abs(high->y))) return {};
  return fmt::format("{} = {}", sweep.source.described.symbol(state), number_text(high->y));
}

/// Boxes of one colour each, as wide as columns; neighbours of one height become one box.
class Strips {
 public:
  Strips(const Columns& columns) : columns_(columns) {}

  void add(const std::string& meaning, const std::string& colour, std::size_t column, double low,
           double high) {
    Mark& mark = strip(meaning, colour);
    const auto [place, is_new] = last_.try_emplace({meaning, low, high}, mark.x.size());
    if (!is_new && mark.x2[place->second] == columns_.left(column)) {
      mark.x2[place->second] = columns_.right(column);
      return;
    }
    place->second = mark.x.size();
    mark.x.push_back(columns_.left(column));
    mark.x2.push_back(columns_.right(column));
    mark.y.push_back(low);
    mark.y2.push_back(high);
  }

  std::vector<Mark> marks() const { return marks_; }

 private:
  Mark& strip(const std::string& meaning, const std::string& colour) {
    for (Mark& mark : marks_)
      if (mark.meaning == meaning) return mark;
    Mark& mark = marks_.emplace_back();
    mark.shape = Mark::Shape::boxes;
    mark.meaning = meaning;
    mark.colour = colour;
    return mark;
  }

  const Columns& columns_;
  std::vector<Mark> marks_;
  std::map<std::tuple<std::string, double, double>, std::size_t> last_;
};

/// Each column of a row is divided among the classes of its points, so that no class is hidden.
void add_class_shares(Strips& strips, const Sweep& sweep, const std::vector<std::size_t>& starts,
                      std::size_t row, std::size_t column) {
  const std::vector<std::string>& names = sweep.points.class_names();
  std::vector<double> counts(names.size());
  double total = 0;
  sweep.for_points(starts, sweep.columns[column], [&](std::size_t point) {
    const int index = sweep.points.attractor(point);
    if (index < 0) return;
    ++counts[static_cast<std::size_t>(index)];
    ++total;
  });
  double low = static_cast<double>(row);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (counts[i] == 0) continue;
    const double high = low + counts[i] / total;
    strips.add(names[i], class_colour(names[i]), column, low, high);
    low = high;
  }
}

Panel class_panel(const Sweep& sweep) {
  const std::vector<std::vector<std::size_t>> rows = rows_of(sweep);
  Panel panel;
  panel.name = "class";
  panel.x = sweep.axis;
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const std::vector<std::size_t>& row : rows)
    names.push_back(rows.size() == 1 ? "class" : named("start", sweep.points.start_names()[row.front()]));
  panel.y = row_axis(names);
  Strips strips(sweep.columns);
  for (std::size_t column = 0; column < sweep.columns.count(); ++column)
    for (std::size_t row = 0; row < rows.size(); ++row)
      add_class_shares(strips, sweep, rows[row], row, column);
  panel.marks = strips.marks();
  return panel;
}

std::string class_instead(const Sweep& sweep) {
  std::set<int> found;
  sweep.for_visible([&](std::size_t point) { found.insert(sweep.points.attractor(point)); });
  if (found.size() != 1) return {};
  const int only = *found.begin();
  return only < 0 ? "class not computed yet"
                  : sweep.points.class_names()[static_cast<std::size_t>(only)] + " everywhere";
}

/// Bars at the logarithm of the period, where a periodic motion has been found.
Panel period_panel(const Sweep& sweep) {
  constexpr double half_thickness = 0.16;
  const Array& period = sweep.data.at("period");
  Strips strips(sweep.columns);
  double largest = 1;
  for (std::size_t column = 0; column < sweep.columns.count(); ++column) {
    std::set<double> periods;
    sweep.for_points(sweep.points.starts(), sweep.columns[column], [&](std::size_t point) {
      if (number(period, point) >= 1) periods.insert(number(period, point));
    });
    for (const double value : periods) {
      const double height = std::log2(value);
      strips.add("", class_colour("periodic"), column, height - half_thickness, height + half_thickness);
      largest = std::max(largest, value);
    }
  }
  Panel panel;
  panel.name = "period";
  panel.share = 0.55;
  panel.x = sweep.axis;
  const double top = std::max(2.0, std::log2(largest));
  panel.y = {"period", -0.5, top + 0.5};
  for (int power = 0; power <= top; ++power)
    panel.y.marked.emplace_back(power, fmt::format("{}", std::int64_t{1} << power));
  panel.marks = strips.marks();
  return panel;
}

/// "period 1 everywhere", "no periodic motion".
std::string period_instead(const Sweep& sweep) {
  const Array& period = sweep.data.at("period");
  std::set<double> found;
  sweep.for_visible([&](std::size_t point) {
    if (number(period, point) >= 1) found.insert(number(period, point));
  });
  if (found.empty()) return "no period found";
  const bool all = !sweep.any_visible([&](std::size_t point) { return !(number(period, point) >= 1); });
  return all && found.size() == 1 ? fmt::format("period {} everywhere", *found.begin()) : "";
}

/// A row of symbols over the columns where something occurs, thinned out so that they do not cover each
/// other.
Mark row_mark(const Sweep& sweep, const PlotOptions& options, std::size_t row,
              const std::function<bool(std::size_t)>& occurs) {
  Mark mark;
  mark.shape = Mark::Shape::dots;
  mark.size = 0.45 * options.page.font;
  const double column_width = 0.75 * options.page.width / static_cast<double>(sweep.columns.count());
  double next_free = -1;
  for (std::size_t column = 0; column < sweep.columns.count(); ++column) {
    bool here = false;
    sweep.for_points(sweep.points.starts(), sweep.columns[column],
                     [&](std::size_t point) { here = here || occurs(point); });
    const double place = static_cast<double>(column) * column_width;
    if (!here || place < next_free) continue;
    mark.x.push_back(sweep.columns.middle(column));
    mark.y.push_back(static_cast<double>(row) + 0.5);
    next_free = place + mark_distance;
  }
  return mark;
}

Panel marks_panel(const Sweep& sweep, const PlotOptions& options) {
  Panel panel;
  panel.name = "marks";
  panel.x = sweep.axis;
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, int symbol, const std::string& colour,
                       const std::function<bool(std::size_t)>& occurs) {
    Mark mark = row_mark(sweep, options, names.size(), occurs);
    if (!sweep.any_visible(occurs)) return;
    mark.symbol = symbol;
    mark.colour = colour;
    names.push_back(name);
    panel.marks.push_back(std::move(mark));
  };
  add("failed", 2, "#000000", [&](std::size_t point) { return sweep.points.is(point, "failed"); });
  if (const Array* rises = sweep.points.find("rises", {"contact"})) {
    const std::vector<std::string> contacts = index_names(sweep.data, "contact");
    for (std::size_t c = 0; c < contacts.size(); ++c)
      add("rise " + contacts[c], 9, contact_colour(c),
          [&](std::size_t point) { return number(*rises, point * contacts.size() + c) > 0; });
  }
  panel.y = row_axis(names.empty() ? std::vector<std::string>{"marks"} : names);
  return panel;
}

std::string marks_instead(const Sweep& sweep, const PlotOptions& options) {
  return marks_panel(sweep, options).marks.empty() ? "no failures and no rises" : "";
}

/// One entry of an array over the points as a curve: least and greatest value over each column, a gap where
/// there is none. Where they differ, the room between them is filled.
void add_curve(Panel& panel, const Sweep& sweep, const std::function<double(std::size_t)>& value,
               const std::string& meaning, const std::string& colour, Mark::Dash dash) {
  Mark line, area;
  bool spreads = false;
  const bool few = sweep.visible.size() <= sweep.columns.count();  // then every point has a place of its own
  for (std::size_t k = 0; k < (few ? sweep.visible.size() : sweep.columns.count()); ++k) {
    double low = infinity, high = -infinity;
    const std::span<const std::size_t> here =
        few ? std::span<const std::size_t>(&sweep.visible[k], 1) : sweep.columns[k];
    sweep.for_points(sweep.points.starts(), here, [&](std::size_t point) {
      const double x = value(point);
      if (!std::isfinite(x)) return;
      low = std::min(low, x);
      high = std::max(high, x);
    });
    spreads = spreads || low < high;
    if (low > high) low = high = std::numeric_limits<double>::quiet_NaN();
    line.x.push_back(few ? number(sweep.coordinate, sweep.visible[k]) : sweep.columns.middle(k));
    line.y.push_back(high);
    area.x.push_back(line.x.back());
    area.y.push_back(low);
    area.y2.push_back(high);
  }
  if (spreads) {
    area.shape = Mark::Shape::area;
    area.opacity = 0.4;
    area.colour = colour;
    panel.marks.push_back(std::move(area));
  }
  line.size = 0.7;
  line.colour = colour;
  line.meaning = meaning;
  line.dash = dash;
  panel.marks.push_back(std::move(line));
}

constexpr std::array<Mark::Dash, 3> dashes = {Mark::Dash::solid, Mark::Dash::dashed, Mark::Dash::dotted};

/// Names of the entries that an array has at each point; one "" for an array with one.
std::vector<std::string> entries_of(const Sweep& sweep, const Array& array) {
  const std::vector<std::string> further = sweep.points.further_dimensions(array);
  return further.empty() ? std::vector<std::string>{""} : index_names(sweep.data, further.front());
}

/// What the entries of an array are: contacts, dry frictions …
std::string entry_kind(const Sweep& sweep, const Array& array) {
  const std::vector<std::string> further = sweep.points.further_dimensions(array);
  return further.empty() ? "" : further.front() == "dry_friction" ? "friction" : further.front();
}

Panel curve_panel(const Sweep& sweep, const Array& array, const std::string& name, int only) {
  Panel panel;
  panel.name = name;
  panel.share = name.size() > 16 ? 0.8 : 0.6;  // room for its name
  panel.x = sweep.axis;
  const std::vector<std::string> entries = entries_of(sweep, array);
  const auto never = [&](std::size_t k) {  // zero all along
    return !sweep.any_visible([&](std::size_t point) {
      const double value = number(array, point * entries.size() + k);
      return std::isfinite(value) && value != 0;
    });
  };
  for (std::size_t k = 0; k < entries.size(); ++k) {
    if (only >= 0 ? static_cast<std::size_t>(only) != k : entries.size() > 1 && never(k)) continue;
    add_curve(
        panel, sweep, [&](std::size_t point) { return number(array, point * entries.size() + k); },
        entries[k].empty() ? "" : named(entry_kind(sweep, array), entries[k]), contact_colour(k),
        dashes[k % dashes.size()]);
  }
  if (name == "stick_fraction" && entries.size() > 1) {
    if (const Array* all = sweep.points.find("stick_fraction_all"))
      if (sweep.any_visible([&](std::size_t point) { return number(*all, point) > 0; }))
        add_curve(
            panel, sweep, [&](std::size_t point) { return number(*all, point); }, "all at once",
            std::string(neutral_colour), Mark::Dash::dotted);
  }
  fit_y_axis(panel, label_with_unit(spaced(name), array.unit));
  if (panel.y.from < 0 && panel.y.to > 0) {
    Mark zero;
    zero.shape = Mark::Shape::levels;
    zero.y = {0};
    zero.size = 0.5;
    zero.colour = "#808080";
    panel.marks.insert(panel.marks.begin(), zero);
  }
  return panel;
}

/// "stick fraction = 0 everywhere" where all of an array is one number.
std::string curve_instead(const Sweep& sweep, const Array& array) {
  const std::size_t width = entries_of(sweep, array).size();
  std::set<double> found;
  sweep.for_visible([&](std::size_t point) {
    for (std::size_t k = 0; k < width && found.size() < 2; ++k) {
      const double value = number(array, point * width + k);
      if (std::isfinite(value)) found.insert(value);
    }
  });
  if (found.empty()) return spaced(array.name) + " has no values";
  return found.size() == 1 ? fmt::format("{} = {}", spaced(array.name), number_text(*found.begin())) : "";
}

/// The iterates of one parameter value in the plane of a position and its velocity.
Panel section_panel(const Sweep& sweep, const Pair& pair) {
  const std::vector<std::string> states = index_names(sweep.data, "state");
  if (sweep.visible.size() != 1)
    throw InputError(
        fmt::format("a section shows one parameter value, here are {}: choose one with --from and --to",
                    sweep.visible.size()));
  const Sets sets = sets_of(sweep);
  const std::vector<Dot> x = dots_of(sweep, sets, pair.position);
  const std::vector<Dot> y = dots_of(sweep, sets, pair.velocity);
  Panel panel;
  panel.name = "section:" + states[pair.position];
  panel.square = true;
  panel.title = fmt::format("{} = {}", sweep.source.described.symbol(sweep.coordinate.name),
                            number_text(number(sweep.coordinate, sweep.visible.front())));
  double low = infinity, high = -infinity;
  for (std::size_t set = 0; set < sets.names.size(); ++set) {
    Mark mark;
    mark.shape = Mark::Shape::dots;
    mark.meaning = sets.names[set];
    mark.colour = set_colour(set);
    mark.size = x.size() > 2000 ? 0.7 : 1.6;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (x[i].set != set) continue;
      low = std::min(low, x[i].y);
      high = std::max(high, x[i].y);
      mark.x.push_back(x[i].y);
      mark.y.push_back(y[i].y);
    }
    panel.marks.push_back(std::move(mark));
  }
  const auto label = [&](std::size_t state) {
    return sweep.source.described.label(states[state], sweep.data.at("map_state").unit);
  };
  panel.x = value_axis(label(pair.position), low, high);
  fit_y_axis(panel, label(pair.velocity));
  return panel;
}

/// Whether an array over the points can be drawn as a curve.
bool is_curve(const Sweep& sweep, const Array& array) {
  const bool special = std::find(no_curves.begin(), no_curves.end(), array.name) != no_curves.end();
  if (special || array.dimensions == std::vector{array.name} || !array.flags.empty()) return false;
  try {
    return sweep.points.further_dimensions(array).size() <= 1;
  } catch (const InputError&) {  // not over the points
    return false;
  }
}

void offer_curves(std::vector<PanelOffer>& offers, const Sweep& sweep) {
  constexpr std::array<std::string_view, 4> usual = {"stick_fraction", "friction_stick_fraction",
                                                     "reversing_fraction", "locking_fraction"};
  for (const Array& array : sweep.data.arrays) {
    if (!is_curve(sweep, array)) continue;
    const bool is_usual = std::find(usual.begin(), usual.end(), array.name) != usual.end() ||
                          sweep.source.described.is_observed_mean(array.name);
    offers.push_back({array.name, is_usual, [&] { return curve_panel(sweep, array, array.name, -1); },
                      [&] { return curve_instead(sweep, array); }});
    const std::vector<std::string> entries = entries_of(sweep, array);
    for (std::size_t k = 0; k < entries.size() && !entries[k].empty(); ++k) {
      const std::string name = array.name + ":" + entries[k];
      offers.push_back(
          {name, false, [&, name, k] { return curve_panel(sweep, array, name, static_cast<int>(k)); }});
    }
  }
}

}  // namespace

Picture draw_sweep(const PlotSource& source, const PlotOptions& options) {
  const Sweep sweep = sweep_of(source, options);
  std::vector<PanelOffer> offers;
  if (sweep.data.find("map_state") != nullptr) {
    const std::vector<std::string> states = index_names(sweep.data, "state");
    const std::vector<std::string> usual = source.described.usual_states(states);
    for (const std::string& state : states)
      offers.push_back({state, std::find(usual.begin(), usual.end(), state) != usual.end(),
                        [&, state] { return state_panel(sweep, options, state); },
                        [&, state] { return state_instead(sweep, state); }});
    for (const Pair& pair : source.described.pairs(states))
      offers.push_back(
          {"section:" + states[pair.position], false, [&, pair] { return section_panel(sweep, pair); }});
  }
  offers.push_back({"class", true, [&] { return class_panel(sweep); }, [&] { return class_instead(sweep); }});
  if (sweep.points.find("period") != nullptr)
    offers.push_back(
        {"period", true, [&] { return period_panel(sweep); }, [&] { return period_instead(sweep); }});
  offers.push_back({"marks", true, [&] { return marks_panel(sweep, options); },
                    [&] { return marks_instead(sweep, options); }});
  offer_curves(offers, sweep);

  Picture picture;
  picture.rows = stacked(chosen_panels(offers, options, picture.notes));
  picture.caption = source.described.parameters({sweep.coordinate.name});
  return picture;
}

void add_sweep_marks(Panel& panel, const PlotSource& source, const PlotOptions& options,
                     const std::string& state, const std::string& colour) {
  const Sweep sweep = sweep_of(source, options, &panel.x);
  add_dots(panel, sweep, options, index_of(index_names(sweep.data, "state"), state, "state"), colour,
           source.name);
}

}  // namespace graze
