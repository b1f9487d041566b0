/// A motion: time series with contacts below them, and phase portraits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "core/settings/value.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/sheet.hpp"

namespace graze {
namespace {

constexpr int left_margin = 150;
constexpr int right_margin = 190;
constexpr int top_margin = 66;
constexpr int gap = 18;
constexpr int series_height = 200;
constexpr int lane_height = 36;
constexpr int phase_height = 480;
constexpr int phase_gap = 170;      // room for the numbers and the label of the next portrait
constexpr int between_parts = 120;  // room for the numbers and the label of the time axis
constexpr std::size_t most_series = 4;
constexpr std::size_t most_portraits = 3;
constexpr std::size_t most_dots = 600;            // impacts; with more of them dots would hide the curves
constexpr std::size_t most_path_points = 300000;  // of a phase portrait
constexpr double least_move = 0.3;                // pixels

constexpr std::string_view curve_colour = "#08284a";
constexpr std::string_view impact_colour = "#202020";
constexpr std::string_view held_colour = "#5c3d00";

/// An event at a contact.
struct Contacting {
  std::string kind;
  double time;
  std::size_t contact;
  std::optional<std::size_t>
      before;  ///< path point just before, the one just after follows it; none: not drawn
};

/// A contact closed, or a friction stuck, from one time to another.
struct Stick {
  std::size_t index;
  double from;
  double to;
};

/// Where a contact stops a coordinate.
struct Stop {
  std::size_t contact;
  std::size_t state;
  double level;
};

/// Samples and events of a motion in order of time.
struct Motion {
  std::vector<std::string> states;
  std::vector<std::string> contacts;
  std::vector<std::string> frictions;
  std::string unit;
  std::vector<double> time;                 ///< of each path point
  std::vector<std::vector<double>> values;  ///< of each state at each path point
  std::vector<Contacting> events;
  std::vector<Stick> sticks;           ///< of contacts
  std::vector<Stick> held;             ///< of contacts, meanwhile not sliding either
  std::vector<Stick> friction_sticks;  ///< of dry frictions
  std::vector<Stop> stops;
};

/// Adds a row of an array of states to the path.
void add_point(Motion& motion, double time, const Array& rows, std::size_t row) {
  motion.time.push_back(time);
  for (std::size_t state = 0; state < motion.states.size(); ++state)
    motion.values[state].push_back(number(rows, row * motion.states.size() + state));
}

/// Samples from `sample` on up to a time go to the path.
void add_samples(Motion& motion, const Array& series, const std::vector<double>& times, double until,
                 std::size_t& sample) {
  for (; sample < times.size() && times[sample] < until; ++sample)
    add_point(motion, times[sample], series, sample);
}

/// Events stand in the path with their states before and after, so that jumps are drawn where they are.
void make_path(Motion& motion, const Dataset& data, double from, double to) {
  const Array& series = data.at("state");
  const std::vector<double> times = numbers(data.at("time"));
  const std::vector<double> event_times = numbers(data.at("event_time"));
  const Array& kinds = data.at("event_kind");
  const Array& before = data.at("event_before");
  const Array& after = data.at("event_after");
  std::size_t sample = static_cast<std::size_t>(
      std::find_if(times.begin(), times.end(), [&](double t) { return t >= from; }) - times.begin());
  for (std::size_t i = 0; i < event_times.size(); ++i) {
    const double contact = number(data.at("event_contact"), i);
    const double kind = number(kinds, i);
    const bool known = kind >= 0 && kind < static_cast<double>(kinds.flags.size());
    if (!known || !(contact >= 0 && contact < static_cast<double>(motion.contacts.size()))) continue;
    const std::string& name = kinds.flags[static_cast<std::size_t>(kind)];
    const bool visible = from <= event_times[i] && event_times[i] <= to;
    motion.events.push_back({name, event_times[i], static_cast<std::size_t>(contact), std::nullopt});
    if (!visible) continue;
    add_samples(motion, series, times, event_times[i], sample);
    motion.events.back().before = motion.time.size();
    add_point(motion, event_times[i], before, i);
    add_point(motion, event_times[i], after, i);
  }
  add_samples(motion, series, times, std::nextafter(to, std::numeric_limits<double>::infinity()), sample);
}

/// Leaves only what lies between two times.
void clip(std::vector<Stick>& sticks, double begin, double end) {
  for (Stick& stick : sticks) {
    stick.from = std::max(stick.from, begin);
    stick.to = std::min(stick.to, end);
  }
  std::erase_if(sticks, [](const Stick& stick) { return !(stick.from < stick.to); });
}

/// From each "stick" to the next "release" of the contact; a release without a stick before it tells that
/// the motion began with the contact closed.
std::vector<Stick> sticks_of(const Motion& motion, double begin, double end) {
  std::vector<Stick> sticks;
  for (std::size_t contact = 0; contact < motion.contacts.size(); ++contact) {
    std::optional<double> since;
    bool first = true;
    for (const Contacting& event : motion.events) {
      if (event.contact != contact || (event.kind != "stick" && event.kind != "release")) continue;
      if (event.kind == "stick")
        since = event.time;
      else if (since || first)
        sticks.push_back({contact, std::exchange(since, std::nullopt).value_or(begin), event.time});
      first = false;
    }
    if (since) sticks.push_back({contact, *since, end});
  }
  return sticks;
}

/// The parts of the time that a contact is closed in which it does not slide; a first "stick_to_slip" tells
/// that it has not slid since it closed.
std::vector<Stick> held_of(const Motion& motion) {
  std::vector<Stick> held;
  for (const Stick& closed : motion.sticks) {
    std::optional<double> since;
    bool first = true;
    for (const Contacting& event : motion.events) {
      if (event.contact != closed.index || event.time < closed.from || event.time > closed.to) continue;
      if (event.kind == "slip_to_stick")
        since = event.time;
      else if (event.kind == "stick_to_slip" && (since || first))
        held.push_back({closed.index, std::exchange(since, std::nullopt).value_or(closed.from), event.time});
      else if (event.kind != "slip_reversal")
        continue;
      first = false;
    }
    if (since) held.push_back({closed.index, *since, closed.to});
  }
  return held;
}

/// From each beginning of sticking to its end; the first sample tells how the motion began.
std::vector<Stick> friction_sticks_of(const Motion& motion, const Dataset& data, double begin, double end) {
  std::vector<Stick> sticks;
  if (motion.frictions.empty()) return sticks;
  const Array& kinds = data.at("event_kind");
  const std::vector<double> times = numbers(data.at("event_time"));
  const std::vector<double> frictions = numbers(data.at("event_friction"));
  for (std::size_t friction = 0; friction < motion.frictions.size(); ++friction) {
    std::optional<double> since;
    if (number(data.at("sticks"), friction) > 0) since = begin;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (frictions[i] != static_cast<double>(friction)) continue;
      const std::string kind = class_name(kinds, i);
      if (kind == "slip_to_stick" && !since) since = times[i];
      if (kind == "stick_to_slip" && since)
        sticks.push_back({friction, *std::exchange(since, std::nullopt), times[i]});
    }
    if (since) sticks.push_back({friction, *since, end});
  }
  return sticks;
}

bool jumps(const Motion& motion, const Contacting& event, std::size_t state) {
  return motion.values[state][*event.before] != motion.values[state][*event.before + 1];
}

/// Impacts that are drawn.
std::vector<Contacting> impacts_of(const Motion& motion) {
  std::vector<Contacting> impacts = motion.events;
  std::erase_if(impacts, [](const Contacting& event) { return event.kind != "impact" || !event.before; });
  return impacts;
}

/// A contact on one coordinate: its impacts change one velocity only, always at the same position.
std::optional<Stop> stop_of(const Motion& motion, std::size_t contact) {
  constexpr double tolerance = 1e-9;
  std::optional<Stop> stop;
  for (const Contacting& impact : impacts_of(motion)) {
    if (impact.contact != contact) continue;
    for (const Pair& pair : pairs(motion.states)) {
      if (!jumps(motion, impact, pair.velocity)) continue;
      const double level = motion.values[pair.position][*impact.before];
      const double room = tolerance * std::max(1.0, std::abs(level));
      if (stop && (stop->state != pair.position || std::abs(stop->level - level) > room)) return std::nullopt;
      stop = Stop{contact, pair.position, level};
    }
  }
  return stop;
}

Motion motion_of(const Dataset& data, double from, double to) {
  Motion motion;
  motion.states = index_names(data, data.at("state").dimensions.back());
  motion.contacts = index_names(data, "contact");
  if (data.find("dry_friction") != nullptr) motion.frictions = index_names(data, "dry_friction");
  motion.unit = data.at("state").unit;
  motion.values.resize(motion.states.size());
  make_path(motion, data, from, to);
  if (motion.time.empty()) throw InputError("the file has no motion in the time asked for");
  const double begin = motion.time.front(), end = motion.time.back();
  motion.sticks = sticks_of(motion, begin, end);
  motion.held = held_of(motion);
  motion.friction_sticks = friction_sticks_of(motion, data, number(data.at("time"), 0), end);
  for (std::vector<Stick>* sticks : {&motion.sticks, &motion.held, &motion.friction_sticks})
    clip(*sticks, begin, end);
  for (std::size_t contact = 0; contact < motion.contacts.size(); ++contact)
    if (const std::optional<Stop> stop = stop_of(motion, contact)) motion.stops.push_back(*stop);
  return motion;
}

/// First, least, greatest and last value within each pixel: looks as if all points had been drawn.
std::string series_rows(const std::vector<double>& time, const std::vector<double>& values,
                        const PlotAxis& axis, int pixels) {
  std::string rows;
  const auto pixel = [&](std::size_t i) { return static_cast<int>(axis.position(time[i]) * pixels); };
  for (std::size_t first = 0; first < time.size();) {
    std::size_t end = first;
    std::size_t least = first;
    std::size_t greatest = first;
    for (; end < time.size() && pixel(end) == pixel(first); ++end) {
      if (values[end] < values[least]) least = end;
      if (values[end] > values[greatest]) greatest = end;
    }
    std::vector<std::size_t> kept = {first, least, greatest, end - 1};
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    for (const std::size_t i : kept) rows += fmt::format("{:.9g} {:.9g}\n", time[i], values[i]);
    first = end;
  }
  return rows;
}

/// Points of a curve without those that the eye could not tell from the one before.
std::string path_rows(const std::vector<double>& x, const std::vector<double>& y, const PlotAxis& x_axis,
                      const PlotAxis& y_axis, const Panel& panel) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool far =
        kept.empty() ||
        std::hypot((x_axis.position(x[i]) - x_axis.position(x[kept.back()])) * panel.width,
                   (y_axis.position(y[i]) - y_axis.position(y[kept.back()])) * panel.height) >= least_move;
    if (far || i + 1 == x.size()) kept.push_back(i);
  }
  std::string rows;
  for (std::size_t k = kept.size() - std::min(kept.size(), most_path_points); k < kept.size(); ++k)
    rows += fmt::format("{:.9g} {:.9g}\n", x[kept[k]], y[kept[k]]);
  return rows;
}

/// Room for all values of a state and for the stops on it.
PlotAxis state_axis(const Motion& motion, std::size_t state) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const auto extend = [&](double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  std::for_each(motion.values[state].begin(), motion.values[state].end(), extend);
  for (const Stop& stop : motion.stops)
    if (stop.state == state) extend(stop.level);
  return value_axis(label_with_unit(motion.states[state], motion.unit), low, high);
}

std::size_t position_of(const Motion& motion, std::size_t state) {
  for (const Pair& pair : pairs(motion.states))
    if (pair.velocity == state) return pair.position;
  return state;
}

/// Light bands where the coordinate of a state, or that of which it is the velocity, is stuck at its stop.
void add_stick_bands(std::vector<std::string>& elements, Sheet& sheet, const Motion& motion,
                     std::size_t state, const PlotAxis& axis) {
  for (const Stop& stop : motion.stops) {
    if (stop.state != position_of(motion, state)) continue;
    std::string rows;
    for (const Stick& stick : motion.sticks)
      if (stick.index == stop.contact) rows += fmt::format("{:.9g} {:.9g}\n", stick.from, stick.to);
    if (rows.empty()) continue;
    elements.push_back(fmt::format(
        "{} using (($1+$2)/2.):({}):1:2:({}):({}) with boxxyerror "
        "fillstyle transparent solid 0.22 noborder linecolor rgb '{}'",
        sheet.data(rows), (axis.from + axis.to) / 2, axis.from, axis.to, contact_colour(stop.contact)));
  }
}

/// Impacts as dots, before and after; x(point) and y(point) give a place for a point of the path.
void add_impact_dots(std::vector<std::string>& elements, Sheet& sheet, const Motion& motion,
                     const std::vector<std::size_t>& states, const std::function<double(std::size_t)>& x,
                     const std::function<double(std::size_t)>& y) {
  const std::vector<Contacting> impacts = impacts_of(motion);
  if (impacts.size() > most_dots) return;
  for (std::size_t contact = 0; contact < motion.contacts.size(); ++contact) {
    std::string rows;
    for (const Contacting& impact : impacts) {
      const auto jumps_here = [&](std::size_t state) { return jumps(motion, impact, state); };
      if (impact.contact != contact || std::none_of(states.begin(), states.end(), jumps_here)) continue;
      for (const std::size_t point : {*impact.before, *impact.before + 1})
        rows += fmt::format("{:.9g} {:.9g}\n", x(point), y(point));
    }
    if (rows.empty()) continue;
    elements.push_back(
        fmt::format("{} using 1:2 with points pointtype 7 pointsize 0.6*dot linecolor rgb '{}'",
                    sheet.data(rows), contact_colour(contact)));
  }
}

/// The states that tell of an impact in the series of a state: itself, and for a position its velocity.
std::vector<std::size_t> with_velocity(const Motion& motion, std::size_t state) {
  std::vector<std::size_t> states = {state};
  for (const Pair& pair : pairs(motion.states))
    if (pair.position == state) states.push_back(pair.velocity);
  return states;
}

void draw_series(Sheet& sheet, const Panel& panel, const Motion& motion, std::size_t state,
                 const PlotAxis& time) {
  const PlotAxis axis = state_axis(motion, state);
  const std::vector<double>& values = motion.values[state];
  std::vector<std::string> elements;
  add_stick_bands(elements, sheet, motion, state, axis);
  for (const Stop& stop : motion.stops)
    if (stop.state == state)
      elements.push_back(fmt::format("{} with lines dashtype 2 linewidth 1.2 linecolor rgb '{}'", stop.level,
                                     contact_colour(stop.contact)));
  elements.push_back(fmt::format("{} using 1:2 with lines linewidth 1.1 linecolor rgb '{}'",
                                 sheet.data(series_rows(motion.time, values, time, panel.width)),
                                 curve_colour));
  add_impact_dots(
      elements, sheet, motion, with_velocity(motion, state), [&](std::size_t i) { return motion.time[i]; },
      [&](std::size_t i) { return values[i]; });
  sheet.value_axis(panel, axis);
  sheet.plot(elements);
}

/// Bars of one lane, between two heights; nothing where there are none.
std::string stick_bars(Sheet& sheet, const std::vector<Stick>& sticks, std::size_t index, double low,
                       double high, std::string_view colour) {
  std::string rows;
  for (const Stick& stick : sticks)
    if (stick.index == index) rows += fmt::format("{:.9g} {:.9g}\n", stick.from, stick.to);
  if (rows.empty()) return rows;
  return fmt::format(
      "{} using (($1+$2)/2.):({}):1:2:({}):({}) with boxxyerror "
      "fillstyle solid noborder linecolor rgb '{}'",
      sheet.data(rows), (low + high) / 2, low, high, colour);
}

/// One lane per contact: bars while it is stuck, a dark line in them while it does not slide, a line for each
/// impact, a triangle where it rises; then one per dry friction: bars while it sticks.
void draw_lanes(Sheet& sheet, const Panel& panel, const Motion& motion) {
  std::vector<std::string> elements = {std::string(nothing_on_first_axes)};
  std::vector<std::string> names;
  std::vector<LegendEntry> entries;
  const auto add_bars = [&](const std::vector<Stick>& sticks, std::size_t index, double low, double high,
                            std::string_view colour, const char* meaning) {
    const std::string bars = stick_bars(sheet, sticks, index, low, high, colour);
    if (bars.empty()) return;
    elements.push_back(bars);
    entries.push_back({std::string(colour), meaning});
  };
  std::string impacts;
  std::string rises;
  for (std::size_t contact = 0; contact < motion.contacts.size(); ++contact) {
    names.push_back(named("contact", motion.contacts[contact]));
    const double low = static_cast<double>(contact);
    for (const Contacting& event : motion.events) {
      if (event.contact != contact || !event.before) continue;
      if (event.kind == "impact") impacts += fmt::format("{:.9g} {}\n", event.time, low + 0.2);
      if (event.kind == "rise") rises += fmt::format("{:.9g} {}\n", event.time, low + 0.5);
    }
    add_bars(motion.sticks, contact, low + 0.1, low + 0.9, contact_colour(contact), "stuck");
    add_bars(motion.held, contact, low + 0.4, low + 0.6, held_colour, "no slip");
  }
  for (std::size_t friction = 0; friction < motion.frictions.size(); ++friction) {
    names.push_back(named("friction", motion.frictions[friction]));
    const double low = static_cast<double>(motion.contacts.size() + friction);
    add_bars(motion.friction_sticks, friction, low + 0.1, low + 0.9,
             contact_colour(motion.contacts.size() + friction), "sticks");
  }
  if (!impacts.empty()) {
    elements.push_back(
        fmt::format("{} using 1:2:(0):(0.6) with vectors nohead linewidth 0.8 linecolor rgb '{}'",
                    sheet.data(impacts), impact_colour));
    entries.push_back({std::string(impact_colour), "impact"});
  }
  if (!rises.empty())
    elements.push_back(
        fmt::format("{} using 1:2 with points pointtype 9 pointsize 1.2*dot linecolor rgb '{}'",
                    sheet.data(rises), impact_colour));
  sheet.rows(names);
  sheet.legend(panel, entries);
  sheet.plot(elements);
}

void draw_portrait(Sheet& sheet, const Panel& panel, const Motion& motion, const Pair& pair) {
  const PlotAxis x = state_axis(motion, pair.position);
  const PlotAxis y = state_axis(motion, pair.velocity);
  const std::vector<double>& position = motion.values[pair.position];
  const std::vector<double>& velocity = motion.values[pair.velocity];
  std::vector<std::string> elements;
  for (const Stop& stop : motion.stops)
    if (stop.state == pair.position)
      elements.push_back(fmt::format("{} using 1:2 with lines dashtype 2 linewidth 1.2 linecolor rgb '{}'",
                                     sheet.data(fmt::format("{0} {1}\n{0} {2}\n", stop.level, y.from, y.to)),
                                     contact_colour(stop.contact)));
  elements.push_back(fmt::format("{} using 1:2 with lines linewidth 1 linecolor rgb '{}'",
                                 sheet.data(path_rows(position, velocity, x, y, panel)), curve_colour));
  add_impact_dots(
      elements, sheet, motion, {pair.velocity}, [&](std::size_t i) { return position[i]; },
      [&](std::size_t i) { return velocity[i]; });
  sheet.number_axis(x, true);
  sheet.value_axis(panel, y);
  sheet.plot(elements);
}

/// States to draw: those asked for, else all, but at most four.
std::vector<std::size_t> chosen_states(const Motion& motion, const std::vector<std::string>& asked) {
  std::vector<std::size_t> chosen;
  for (const std::string& name : asked) chosen.push_back(index_of(motion.states, name, "state"));
  for (std::size_t state = 0; asked.empty() && state < std::min(motion.states.size(), most_series); ++state)
    chosen.push_back(state);
  return chosen;
}

std::vector<Pair> portraits_of(const Motion& motion, const std::vector<std::size_t>& states) {
  std::vector<Pair> portraits = pairs(motion.states);
  const auto chosen = [&](std::size_t state) {
    return std::find(states.begin(), states.end(), state) != states.end();
  };
  std::erase_if(portraits,
                [&](const Pair& pair) { return !chosen(pair.position) && !chosen(pair.velocity); });
  portraits.resize(std::min(portraits.size(), most_portraits), Pair{});
  return portraits;
}

}  // namespace

Drawing draw_motion(const Result& result, const PlotOptions& options) {
  const Motion motion = motion_of(result.data, options.from, options.to);
  const Array& time_array = result.data.at("time");
  PlotAxis time{label_with_unit("time", time_array.unit), motion.time.front(), motion.time.back()};
  if (time.from == time.to) time = value_axis(time.label, time.from, time.to);
  const std::vector<std::size_t> states = chosen_states(motion, options.states);
  const std::vector<Pair> portraits = portraits_of(motion, states);

  const int lanes = lane_height * static_cast<int>(motion.contacts.size() + motion.frictions.size());
  const int content =
      series_height * static_cast<int>(states.size()) + (portraits.empty() ? 0 : phase_height);
  const int fixed = top_margin + bottom_margin + lanes + gap * static_cast<int>(states.size()) +
                    (portraits.empty() ? 0 : between_parts);
  const int width = options.width > 0 ? options.width : default_width;
  const int height = options.height > 0 ? options.height : content + fixed;
  const double scale = static_cast<double>(height - fixed) / content;
  const int plot_width = width - left_margin - right_margin;

  Sheet sheet(width, height, options.title);
  int top = top_margin;
  for (const std::size_t state : states) {
    const Panel panel = {left_margin, top, plot_width, static_cast<int>(series_height * scale)};
    sheet.panel(panel);
    sheet.number_axis(time, lanes == 0 && state == states.back());
    draw_series(sheet, panel, motion, state, time);
    top += panel.height + gap;
  }
  if (lanes > 0) {
    const Panel panel = {left_margin, top, plot_width, lanes};
    sheet.panel(panel);
    sheet.number_axis(time, true);
    draw_lanes(sheet, panel, motion);
    top += lanes;
  }
  top += between_parts;
  const int count = static_cast<int>(portraits.size());
  for (int i = 0; i < count; ++i) {
    const int portrait_width = (width - left_margin - bottom_margin - (count - 1) * phase_gap) / count;
    const Panel panel = {left_margin + i * (portrait_width + phase_gap), top, portrait_width,
                         static_cast<int>(phase_height * scale)};
    sheet.panel(panel);
    draw_portrait(sheet, panel, motion, portraits[static_cast<std::size_t>(i)]);
  }
  return sheet.finish();
}

}  // namespace graze
