/// A motion: time series with contacts below them, and phase portraits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/settings/value.hpp"
#include "drivers/command/array_values.hpp"
#include "drivers/plot/colours.hpp"
#include "drivers/plot/plot.hpp"

namespace graze {
namespace {

constexpr std::size_t most_series = 4;
constexpr std::size_t most_portraits = 2;
constexpr std::size_t most_dots = 600;            // impacts; with more of them dots would hide the curves
constexpr std::size_t most_path_points = 100000;  // of a phase portrait
constexpr double steps_across = 2000;             // what moves less than this part of a panel is not seen

constexpr std::string_view held_colour = "#5c3d00";

/// An event at a contact.
struct Contacting {
  std::string kind;
  double time;
  std::size_t contact;
  double force;  ///< of a compliant contact that begins or ends
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
  const Described& described;
  std::vector<std::string> states{};
  std::vector<Pair> pairs{};
  std::vector<std::string> contacts{};
  std::vector<std::string> frictions{};
  std::string unit{};
  std::vector<double> time{};                 ///< of each path point
  std::vector<std::vector<double>> values{};  ///< of each state at each path point
  std::vector<Contacting> events{};
  std::vector<Stick> sticks{};           ///< of contacts
  std::vector<Stick> engaged{};          ///< compliant contacts
  std::vector<Stick> held{};             ///< of contacts, meanwhile not sliding either
  std::vector<Stick> friction_sticks{};  ///< of dry frictions
  std::vector<Stop> stops{};
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
  const Array* forces = data.find("event_force");
  constexpr double no_force = std::numeric_limits<double>::quiet_NaN();
  std::size_t sample = static_cast<std::size_t>(
      std::find_if(times.begin(), times.end(), [&](double t) { return t >= from; }) - times.begin());
  for (std::size_t i = 0; i < event_times.size(); ++i) {
    const double contact = number(data.at("event_contact"), i);
    const double kind = number(kinds, i);
    const bool known = kind >= 0 && kind < static_cast<double>(kinds.flags.size());
    if (!known) continue;
    const bool at_contact = contact >= 0 && contact < static_cast<double>(motion.contacts.size());
    const std::string& name = kinds.flags[static_cast<std::size_t>(kind)];
    const bool visible = from <= event_times[i] && event_times[i] <= to;
    if (at_contact) {
      motion.events.push_back({name, event_times[i], static_cast<std::size_t>(contact),
                               forces != nullptr ? number(*forces, i) : no_force, std::nullopt});
    }
    if (!visible || !(at_contact || name == "jump")) continue;
    add_samples(motion, series, times, event_times[i], sample);
    if (at_contact) motion.events.back().before = motion.time.size();
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

/// From each event of one kind to the next one of the other kind at the same contact, such as from "stick" to
/// "release"; where the other one comes first the motion began between them.
std::vector<Stick> spans_of(const Motion& motion, const char* opening, const char* closing, double begin,
                            double end) {
  std::vector<Stick> sticks;
  for (std::size_t contact = 0; contact < motion.contacts.size(); ++contact) {
    std::optional<double> since;
    bool first = true;
    for (const Contacting& event : motion.events) {
      if (event.contact != contact || (event.kind != opening && event.kind != closing)) continue;
      if (event.kind == opening)
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
    for (const Pair& pair : motion.pairs) {
      if (!jumps(motion, impact, pair.velocity)) continue;
      const double level = motion.values[pair.position][*impact.before];
      const double room = tolerance * std::max(1.0, std::abs(level));
      if (stop && (stop->state != pair.position || std::abs(stop->level - level) > room)) return std::nullopt;
      stop = Stop{contact, pair.position, level};
    }
  }
  return stop;
}

Motion motion_of(const PlotSource& source, double from, double to) {
  const Dataset& data = source.result.data;
  Motion motion{.described = source.described};
  motion.states = index_names(data, data.at("state").dimensions.back());
  motion.pairs = source.described.pairs(motion.states);
  motion.contacts = index_names(data, "contact");
  if (data.find("dry_friction") != nullptr) motion.frictions = index_names(data, "dry_friction");
  motion.unit = data.at("state").unit;
  motion.values.resize(motion.states.size());
  make_path(motion, data, from, to);
  if (motion.time.empty()) throw InputError("the file has no motion in the time asked for");
  const double begin = motion.time.front(), end = motion.time.back();
  motion.sticks = spans_of(motion, "stick", "release", begin, end);
  motion.engaged = spans_of(motion, "contact_begin", "contact_end", begin, end);
  motion.held = held_of(motion);
  motion.friction_sticks = friction_sticks_of(motion, data, number(data.at("time"), 0), end);
  for (std::vector<Stick>* sticks : {&motion.sticks, &motion.engaged, &motion.held, &motion.friction_sticks})
    clip(*sticks, begin, end);
  for (std::size_t contact = 0; contact < motion.contacts.size(); ++contact)
    if (const std::optional<Stop> stop = stop_of(motion, contact)) motion.stops.push_back(*stop);
  return motion;
}

/// First, least, greatest and last value within each of many columns: looks as if all points had been drawn.
Mark series(const std::vector<double>& time, const std::vector<double>& values, const PlotAxis& axis) {
  Mark mark;
  const auto column = [&](std::size_t i) { return static_cast<int>(axis.position(time[i]) * steps_across); };
  for (std::size_t first = 0; first < time.size();) {
    std::size_t end = first;
    std::size_t least = first;
    std::size_t greatest = first;
    for (; end < time.size() && column(end) == column(first); ++end) {
      if (values[end] < values[least]) least = end;
      if (values[end] > values[greatest]) greatest = end;
    }
    std::vector<std::size_t> kept = {first, least, greatest, end - 1};
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    for (const std::size_t i : kept) {
      mark.x.push_back(time[i]);
      mark.y.push_back(values[i]);
    }
    first = end;
  }
  return mark;
}

/// Points of a curve without those that the eye could not tell from the one before.
Mark path(const std::vector<double>& x, const std::vector<double>& y, const PlotAxis& x_axis,
          const PlotAxis& y_axis) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool far = kept.empty() || std::hypot(x_axis.position(x[i]) - x_axis.position(x[kept.back()]),
                                                y_axis.position(y[i]) - y_axis.position(y[kept.back()])) *
                                             steps_across >=
                                         1;
    if (far || i + 1 == x.size()) kept.push_back(i);
  }
  Mark mark;
  for (std::size_t k = kept.size() - std::min(kept.size(), most_path_points); k < kept.size(); ++k) {
    mark.x.push_back(x[kept[k]]);
    mark.y.push_back(y[kept[k]]);
  }
  return mark;
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
  return value_axis(motion.described.label(motion.states[state], motion.unit), low, high);
}

std::size_t position_of(const Motion& motion, std::size_t state) {
  for (const Pair& pair : motion.pairs)
    if (pair.velocity == state) return pair.position;
  return state;
}

std::string contact_name(const Motion& motion, std::size_t contact) {
  return named("contact", motion.contacts[contact]);
}

/// Boxes from time to time between two heights.
Mark stick_boxes(const std::vector<Stick>& sticks, std::size_t index, double low, double high,
                 const std::string& colour) {
  Mark mark;
  mark.shape = Mark::Shape::boxes;
  mark.colour = colour;
  for (const Stick& stick : sticks) {
    if (stick.index != index) continue;
    mark.x.push_back(stick.from);
    mark.x2.push_back(stick.to);
    mark.y.push_back(low);
    mark.y2.push_back(high);
  }
  return mark;
}

/// Light bands where the coordinate of a state, or that of which it is the velocity, is stuck at its stop.
void add_stick_bands(Panel& panel, const Motion& motion, std::size_t state) {
  for (const Stop& stop : motion.stops) {
    if (stop.state != position_of(motion, state)) continue;
    Mark bands =
        stick_boxes(motion.sticks, stop.contact, panel.y.from, panel.y.to, contact_colour(stop.contact));
    bands.opacity = 0.22;
    if (!bands.empty()) panel.marks.push_back(std::move(bands));
  }
}

/// Stops on a coordinate, across or down.
void add_stops(Panel& panel, const Motion& motion, std::size_t state, Mark::Shape shape) {
  for (const Stop& stop : motion.stops) {
    if (stop.state != state) continue;
    Mark line;
    line.shape = shape;
    line.dash = Mark::Dash::dashed;
    line.colour = contact_colour(stop.contact);
    line.meaning = "stop: " + contact_name(motion, stop.contact);
    (shape == Mark::Shape::levels ? line.y : line.x) = {stop.level};
    panel.marks.push_back(std::move(line));
  }
}

/// Impacts as dots, before and after; x(point) and y(point) give a place for a point of the path.
void add_impact_dots(Panel& panel, const Motion& motion, const std::vector<std::size_t>& states,
                     const std::function<double(std::size_t)>& x,
                     const std::function<double(std::size_t)>& y) {
  const std::vector<Contacting> impacts = impacts_of(motion);
  if (impacts.size() > most_dots) return;
  for (std::size_t contact = 0; contact < motion.contacts.size(); ++contact) {
    Mark dots;
    dots.shape = Mark::Shape::dots;
    dots.size = 2.2;
    dots.colour = contact_colour(contact);
    dots.meaning = "impact: " + contact_name(motion, contact);
    for (const Contacting& impact : impacts) {
      const auto jumps_here = [&](std::size_t state) { return jumps(motion, impact, state); };
      if (impact.contact != contact || std::none_of(states.begin(), states.end(), jumps_here)) continue;
      for (const std::size_t point : {*impact.before, *impact.before + 1}) {
        dots.x.push_back(x(point));
        dots.y.push_back(y(point));
      }
    }
    if (!dots.empty()) panel.marks.push_back(std::move(dots));
  }
}

/// The states that tell of an impact in the series of a state: itself, and for a position its velocity.
std::vector<std::size_t> with_velocity(const Motion& motion, std::size_t state) {
  std::vector<std::size_t> states = {state};
  for (const Pair& pair : motion.pairs)
    if (pair.position == state) states.push_back(pair.velocity);
  return states;
}

Panel series_panel(const Motion& motion, const PlotAxis& time, std::size_t state) {
  Panel panel;
  panel.name = motion.states[state];
  panel.share = 0.75;
  panel.x = time;
  panel.y = state_axis(motion, state);
  add_stick_bands(panel, motion, state);
  add_stops(panel, motion, state, Mark::Shape::levels);
  Mark curve = series(motion.time, motion.values[state], time);
  curve.colour = curve_colour;
  panel.marks.push_back(std::move(curve));
  add_impact_dots(
      panel, motion, with_velocity(motion, state), [&](std::size_t i) { return motion.time[i]; },
      [&](std::size_t i) { return motion.values[state][i]; });
  return panel;
}

/// One row per contact: bars while it is stuck, narrower ones while it is compliant and engaged, a dark line
/// in them while it does not slide, a line for each impact, a triangle where it rises; then one per dry
/// friction: bars while it sticks.
Panel contacts_panel(const Motion& motion, const PlotAxis& time) {
  Panel panel;
  panel.name = "contacts";
  panel.x = time;
  std::vector<std::string> names;
  const auto add = [&](Mark mark, const char* meaning) {
    if (mark.empty()) return;
    const bool is_told = std::any_of(panel.marks.begin(), panel.marks.end(),
                                     [&](const Mark& other) { return other.meaning == meaning; });
    if (!is_told) mark.meaning = meaning;  // rows have colours of their own, but one meaning
    panel.marks.push_back(std::move(mark));
  };
  Mark impacts, rises;
  impacts.size = 0.5;
  rises.shape = Mark::Shape::dots;
  rises.symbol = 9;
  rises.size = 4;
  impacts.colour = rises.colour = neutral_colour;
  for (std::size_t contact = 0; contact < motion.contacts.size(); ++contact) {
    names.push_back(contact_name(motion, contact));
    const double low = static_cast<double>(contact);
    for (const Contacting& event : motion.events) {
      if (event.contact != contact || !event.before) continue;
      if (event.kind == "impact") {
        constexpr double gap = std::numeric_limits<double>::quiet_NaN();
        impacts.x.insert(impacts.x.end(), {event.time, event.time, gap});
        impacts.y.insert(impacts.y.end(), {low + 0.2, low + 0.8, gap});
      } else if (event.kind == "rise") {
        rises.x.push_back(event.time);
        rises.y.push_back(low + 0.5);
      }
    }
    add(stick_boxes(motion.sticks, contact, low + 0.1, low + 0.9, contact_colour(contact)), "stuck");
    add(stick_boxes(motion.engaged, contact, low + 0.3, low + 0.7, contact_colour(contact)), "in contact");
    add(stick_boxes(motion.held, contact, low + 0.4, low + 0.6, std::string(held_colour)), "no slip");
  }
  for (std::size_t friction = 0; friction < motion.frictions.size(); ++friction) {
    const double low = static_cast<double>(names.size());
    Mark sticks = stick_boxes(motion.friction_sticks, friction, low + 0.1, low + 0.9,
                              contact_colour(motion.contacts.size() + friction));
    if (sticks.empty()) continue;  // a row of nothing
    names.push_back(named("friction", motion.frictions[friction]));
    add(std::move(sticks), "sticks");
  }
  if (names.empty()) names = {"contacts"};
  add(impacts, "impact");
  add(rises, "rise");
  panel.y = row_axis(names);
  return panel;
}

/// Path points at whole forcing periods: the Poincaré section at phase zero. Empty without forcing.
Mark section(const Motion& motion, double period, const Pair& pair) {
  constexpr double tolerance = 1e-6;
  Mark dots;
  dots.shape = Mark::Shape::dots;
  dots.size = 2.6;
  dots.colour = "#d1222a";
  dots.meaning = "phase zero";
  if (!(period > 0)) return dots;
  double last = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < motion.time.size(); ++i) {
    const double turns = motion.time[i] / period;
    if (std::abs(turns - std::round(turns)) > tolerance || std::round(turns) == last) continue;
    last = std::round(turns);
    dots.x.push_back(motion.values[pair.position][i]);
    dots.y.push_back(motion.values[pair.velocity][i]);
  }
  return dots;
}

Panel portrait_panel(const Motion& motion, double period, const Pair& pair) {
  Panel panel;
  panel.name = "portrait:" + motion.states[pair.position];
  panel.square = true;
  panel.x = state_axis(motion, pair.position);
  panel.y = state_axis(motion, pair.velocity);
  add_stops(panel, motion, pair.position, Mark::Shape::walls);
  const std::vector<double>& position = motion.values[pair.position];
  const std::vector<double>& velocity = motion.values[pair.velocity];
  Mark curve = path(position, velocity, panel.x, panel.y);
  curve.size = 0.6;
  curve.colour = curve_colour;
  panel.marks.push_back(std::move(curve));
  add_impact_dots(
      panel, motion, {pair.velocity}, [&](std::size_t i) { return position[i]; },
      [&](std::size_t i) { return velocity[i]; });
  panel.marks.push_back(section(motion, period, pair));
  return panel;
}

/// The section alone, for long chaotic motions.
Panel section_panel(const Motion& motion, double period, const Pair& pair) {
  Panel panel;
  panel.name = "section:" + motion.states[pair.position];
  panel.square = true;
  Mark dots = section(motion, period, pair);
  if (dots.empty())
    throw InputError(
        "a Poincaré section needs a forced model and samples at whole forcing periods (samples_per_period)");
  dots.size = dots.x.size() > 1000 ? 0.7 : 1.8;
  dots.colour = curve_colour;
  dots.meaning.clear();
  const auto [low, high] = std::minmax_element(dots.x.begin(), dots.x.end());
  panel.x = value_axis(motion.described.label(motion.states[pair.position], motion.unit), *low, *high);
  panel.marks.push_back(std::move(dots));
  fit_y_axis(panel, motion.described.label(motion.states[pair.velocity], motion.unit));
  return panel;
}

/// Least and greatest value of a state within each whole forcing period.
struct PeriodExtrema {
  std::vector<double> time{};  ///< at the end of the period
  std::vector<double> least{}, greatest{};
};

PeriodExtrema period_extrema(const Motion& motion, double period, std::size_t state) {
  if (!(period > 0)) throw InputError("extrema per period need a forced model");
  PeriodExtrema extrema;
  const std::vector<double>& values = motion.values[state];
  const auto at = [&](double time) {
    return static_cast<std::size_t>(std::lower_bound(motion.time.begin(), motion.time.end(), time) -
                                    motion.time.begin());
  };
  const double rounding = 1e-9 * period;
  const double begin = motion.time.front();
  const auto periods = static_cast<std::int64_t>((motion.time.back() + rounding - begin) / period);
  for (std::int64_t k = 1; k <= periods; ++k) {
    const double from = begin + static_cast<double>(k - 1) * period;
    const double to = begin + static_cast<double>(k) * period;
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(at(from - rounding));
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(at(to + rounding));
    const auto [least, greatest] = std::minmax_element(first, end);
    extrema.time.push_back(to);
    extrema.least.push_back(*least);
    extrema.greatest.push_back(*greatest);
  }
  if (extrema.time.empty()) throw InputError("the motion shown is shorter than one forcing period");
  return extrema;
}

Mark per_period(const PeriodExtrema& extrema, std::vector<double> values, std::string meaning,
                std::string_view colour) {
  Mark dots;
  dots.shape = Mark::Shape::dots;
  dots.size = values.size() > 300 ? 1.2 : 2.2;
  dots.colour = colour;
  dots.meaning = std::move(meaning);
  dots.x = extrema.time;
  dots.y = std::move(values);
  return dots;
}

Panel extrema_panel(const Motion& motion, const PlotAxis& time, double period, std::size_t state) {
  const PeriodExtrema extrema = period_extrema(motion, period, state);
  Panel panel;
  panel.name = "extrema:" + motion.states[state];
  panel.share = 0.75;
  panel.x = time;
  panel.marks.push_back(per_period(extrema, extrema.greatest, "greatest in each period", set_colour(0)));
  panel.marks.push_back(per_period(extrema, extrema.least, "least in each period", set_colour(1)));
  fit_y_axis(panel, motion.described.label(motion.states[state], motion.unit));
  return panel;
}

/// Half the way from the least to the greatest value in each forcing period.
Panel amplitude_panel(const Motion& motion, const PlotAxis& time, double period, std::size_t state) {
  const PeriodExtrema extrema = period_extrema(motion, period, state);
  std::vector<double> amplitude;
  for (std::size_t k = 0; k < extrema.time.size(); ++k)
    amplitude.push_back((extrema.greatest[k] - extrema.least[k]) / 2);
  Panel panel;
  panel.name = "amplitude:" + motion.states[state];
  panel.share = 0.75;
  panel.x = time;
  panel.marks.push_back(per_period(extrema, std::move(amplitude), "", curve_colour));
  fit_y_axis(panel, "amplitude of " + motion.described.label(motion.states[state], motion.unit));
  return panel;
}

/// Arrays of numbers over the samples alone: observables of the case.
std::vector<const Array*> observables_of(const Dataset& data) {
  std::vector<const Array*> list;
  for (const Array& array : data.arrays) {
    const bool is_number = std::holds_alternative<std::vector<double>>(array.values);
    if (is_number && array.name != "time" && array.dimensions == std::vector<std::string>{"sample"})
      list.push_back(&array);
  }
  return list;
}

Panel observable_panel(const Dataset& data, const PlotAxis& time, const Array& array) {
  std::vector<double> at, values;
  const std::vector<double> times = numbers(data.at("time"));
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] < time.from || times[i] > time.to) continue;
    at.push_back(times[i]);
    values.push_back(number(array, i));
  }
  Panel panel;
  panel.name = array.name;
  panel.share = 0.75;
  panel.x = time;
  panel.marks.push_back(series(at, values, time));
  panel.marks.back().colour = curve_colour;
  fit_y_axis(panel, label_with_unit(array.name, array.unit));
  return panel;
}

/// Normal force of each contact that has one; a compliant contact begins and ends with the force of its
/// event.
Panel force_panel(const Motion& motion, const Dataset& data, const PlotAxis& time) {
  const Array& forces = data.at("normal_force");
  const std::vector<double> times = numbers(data.at("time"));
  const std::size_t count = motion.contacts.size();
  Panel panel;
  panel.name = "normal_force";
  panel.share = 0.75;
  panel.x = time;
  for (std::size_t contact = 0; contact < count; ++contact) {
    std::vector<double> at, values;
    const auto add = [&](double t, double force) {
      if (t < time.from || t > time.to || !std::isfinite(force)) return;
      at.push_back(t);
      values.push_back(force);
    };
    std::size_t sample = 0;
    const auto add_samples = [&](double until) {
      for (; sample < times.size() && times[sample] < until; ++sample)
        add(times[sample], number(forces, sample * count + contact));
    };
    for (const Contacting& event : motion.events) {
      if (event.contact != contact || !std::isfinite(event.force)) continue;
      add_samples(event.time);
      const bool begins = event.kind == "contact_begin";
      add(event.time, begins ? 0 : event.force);
      add(event.time, begins ? event.force : 0);
    }
    add_samples(std::numeric_limits<double>::infinity());
    if (std::all_of(values.begin(), values.end(), [](double force) { return force == 0; })) continue;
    Mark curve = series(at, values, time);
    curve.colour = contact_colour(contact);
    if (count > 1) curve.meaning = contact_name(motion, contact);
    panel.marks.push_back(std::move(curve));
  }
  if (panel.marks.empty()) throw InputError("no contact has a force in the time shown");
  fit_y_axis(panel, label_with_unit("normal force", forces.unit));
  return panel;
}

/// Whether some contact presses in the time shown.
bool presses(const Motion& motion) { return !motion.sticks.empty() || !motion.engaged.empty(); }

/// The forcing period of the case, 0 where there is none or the case can't be read.
double period_of(const Described& described) {
  if (described.model() == nullptr) return 0;
  const auto system = described.model()->system(described.model()->values(), described.tolerance());
  return system ? system->period() : 0;
}

}  // namespace

Picture draw_motion(const PlotSource& source, const PlotOptions& options) {
  const Motion motion = motion_of(source, options.from, options.to);
  PlotAxis time{label_with_unit("time", source.result.data.at("time").unit), motion.time.front(),
                motion.time.back()};
  if (std::isfinite(options.from)) time.from = options.from;
  if (std::isfinite(options.to)) time.to = options.to;
  if (!(time.from < time.to)) time = value_axis(time.label, time.from, time.to);
  const double period = period_of(source.described);

  std::vector<PanelOffer> offers;
  for (std::size_t state = 0; state < motion.states.size(); ++state)
    offers.push_back({motion.states[state], state < most_series,
                      [&, state] { return series_panel(motion, time, state); }});
  for (std::size_t state = 0; state < motion.states.size(); ++state) {
    const std::string& name = motion.states[state];
    offers.push_back(
        {"extrema:" + name, false, [&, state] { return extrema_panel(motion, time, period, state); }});
    offers.push_back(
        {"amplitude:" + name, false, [&, state] { return amplitude_panel(motion, time, period, state); }});
  }
  for (const Array* array : observables_of(source.result.data))
    offers.push_back(
        {array->name, true, [&, array] { return observable_panel(source.result.data, time, *array); }});
  if (source.result.data.find("normal_force") != nullptr) {
    offers.push_back(
        {"normal_force", presses(motion), [&] { return force_panel(motion, source.result.data, time); }});
  }
  if (!motion.contacts.empty() || !motion.frictions.empty())
    offers.push_back({"contacts", true, [&] { return contacts_panel(motion, time); }});
  for (std::size_t i = 0; i < motion.pairs.size(); ++i) {
    const Pair& pair = motion.pairs[i];
    const std::string name = motion.states[pair.position];
    offers.push_back(
        {"portrait:" + name, i < most_portraits, [&, pair] { return portrait_panel(motion, period, pair); }});
    offers.push_back({"section:" + name, false, [&, pair] { return section_panel(motion, period, pair); }});
  }

  Picture picture;
  std::vector<Panel> squares;
  for (Panel& panel : chosen_panels(offers, options, picture.notes)) {
    if (panel.square)
      squares.push_back(std::move(panel));
    else
      picture.rows.push_back({std::move(panel)});
  }
  if (!squares.empty()) picture.rows.push_back(std::move(squares));
  picture.caption = source.described.parameters({});
  return picture;
}

}  // namespace graze
