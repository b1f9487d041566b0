#include "analysis/continuation/chatter_border.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "core/contact/chatter_border.hpp"

namespace graze {
namespace {

using Vector = Eigen::VectorXd;

/// Coefficient of restitution of a contact at a parameter, and its slope.
struct Restitution {
  double value;
  double slope;
};

std::optional<Restitution> restitution_at(const Family& family, double parameter, const Leg& impact) {
  const std::unique_ptr<System> system = family.system(parameter);
  if (!system) return std::nullopt;
  Leg rebound;  // without duration; its guard is the rate of the gap behind the impact
  rebound.time = std::numeric_limits<double>::quiet_NaN();
  rebound.mode = impact.mode;
  rebound.end = EventKind::graze;
  rebound.contact = impact.contact;
  const std::vector<Leg> legs{impact, rebound};
  const auto course = system->follow(legs, {family.parameter});
  if (!course) return std::nullopt;
  const Reached& before = course->legs[0];
  const Reached& after = course->legs[1];
  const Eigen::Index n = impact.state.size();
  const double change = after.guard_slope(n + 2) + after.guard_slope(n) * before.time_slope(n + 2) +
                        after.guard_slope.head(n).dot(before.state_slope.col(n + 2));
  const double r = after.guard / before.measure;
  return Restitution{r, (change - r * before.measure_slope(n + 2)) / before.measure};
}

/// A step and the time of its end, from the beginning of the orbit on.
struct Entry {
  Step step;
  double end = 0;
};

std::vector<Entry> entries_of(const Solution& s) {
  std::vector<Entry> entries;
  double end = 0;
  for (std::size_t k = 0; k < s.shooting->itinerary().steps.size(); ++k) {
    end += s.u(s.shooting->duration_index(k));
    entries.push_back({s.shooting->itinerary().steps[k], end});
  }
  return entries;
}

/// An orbit with a stick: what Newton's method begins with.
struct Guess {
  std::vector<Entry> entries;
  ChatterStick stick;
  Vector start;
  double parameter = 0;

  int contact() const { return entries[stick.impact].step.contact; }
  double remaining() const { return entries[stick.release].end - entries[stick.impact].end; }
};

/// So short flights find their ends themselves, as a share of the shortest time scale. Those whose ends are
/// prescribed leave Newton's method more room, but lose digits.
constexpr double brief_flight = 0.01;

std::int64_t bit_of(int contact) { return std::int64_t{1} << contact; }

/// One more impact is followed before the contact is closed; its flight takes about this share of the time
/// that remains.
void add_impact(Guess& g, double share, double rate) {
  std::vector<Entry>& list = g.entries;
  const double begin = list[g.stick.impact].end;
  const double end = begin + share * g.remaining();
  Entry complete = list[g.stick.complete];
  Step impact{EventKind::impact, g.contact(), complete.step.mode, false, Leg::Length::rebound};
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(g.stick.complete));
  std::size_t place = g.stick.complete;
  for (; place + 1 < g.stick.release && list[place].end < end; ++place) {  // events of others come before it
    list[place].step.mode &= ~bit_of(impact.contact);
    impact.mode = list[place + 1].step.mode & ~bit_of(impact.contact);
    impact.length = Leg::Length::flight;
  }
  if (end - begin > brief_flight / rate) impact.length = Leg::Length::given;
  complete.step.mode = impact.mode;
  complete.end = end;
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), {Entry{impact, end}, complete});
  g.stick = {place, place + 1, g.stick.release + 1};
}

/// One less; false: another event comes before it.
bool drop_impact(Guess& g) {
  const std::size_t k = g.stick.impact;
  if (g.stick.complete != k + 1 || k == 0) return false;
  const Step& before = g.entries[k - 1].step;
  if (before.end != EventKind::impact || before.contact != g.contact()) return false;
  g.entries.erase(g.entries.begin() + static_cast<std::ptrdiff_t>(k));
  g.entries[k].end = g.entries[k - 1].end;
  g.stick = {k - 1, k, g.stick.release - 1};
  return true;
}

/// The border as far as one number of impacts tells it.
struct Solved {
  std::shared_ptr<const Shooting> shooting;
  Closing closing;
  double parameter = 0;  ///< one step of Newton's method further
  Restitution restitution{};
  Eigen::RowVectorXd slope;  ///< of the border's equation
};

/// Whether all happens in the order of the itinerary, with impacts that have speed.
bool in_order(const Shooting& shooting, const Closing& closing) {
  const std::vector<Step>& steps = shooting.itinerary().steps;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const double measure = closing.equations.measure(static_cast<Eigen::Index>(k));
    if (closing.u(shooting.duration_index(k)) < 0 && !steps[k].instant) return false;
    if (steps[k].end != EventKind::section && !(measure > 0)) return false;
  }
  return true;
}

std::optional<Solved> solve_border(const Solution& near, const Guess& g) {
  Itinerary itinerary;
  itinerary.periods = near.shooting->itinerary().periods;
  std::vector<double> durations;
  for (std::size_t k = 0; k < g.entries.size(); ++k) {
    itinerary.steps.push_back(g.entries[k].step);
    durations.push_back(g.entries[k].end - (k == 0 ? 0 : g.entries[k - 1].end));
  }
  const Family& family = near.shooting->family();
  Solved s;
  s.shooting = shooting_for(family, itinerary, near.shooting->anchor());
  const auto u = s.shooting->unknowns(g.start, durations, g.parameter);
  if (!u) return std::nullopt;
  const auto legs = s.shooting->placed_legs(*u);
  const auto equations = s.shooting->equations(*u);
  if (!legs || !equations) return std::nullopt;
  const Leg& impact = (*legs)[g.stick.impact];
  const Condition condition = chatter_border_condition(*s.shooting, g.stick, impact);
  // Its slope grows by λ with each impact: as a distance from the border it keeps its size.
  const double steep = condition(*u, *equations).slope.cwiseAbs().maxCoeff();
  if (!(steep > 0) || !std::isfinite(steep)) return std::nullopt;
  const Condition distance = [&](const Vector& x, const Equations& e) {
    ConditionValue c = condition(x, e);
    return ConditionValue{c.value / steep, c.slope / steep};
  };
  s.closing = solve_with(*s.shooting, *u, distance);
  if (!s.closing.ok || !in_order(*s.shooting, s.closing)) return std::nullopt;
  const Eigen::Index m = s.shooting->size();
  const ConditionValue rest = distance(s.closing.u, s.closing.equations);
  Vector right(m + 1);
  right << -s.closing.equations.residual, -rest.value;
  s.slope = rest.slope;
  s.parameter = s.closing.u(m) + s.shooting->solve(s.closing.equations.slope, rest.slope, right)(m);
  const auto r = restitution_at(family, s.parameter, impact);
  if (!r) return std::nullopt;
  s.restitution = *r;
  return s;
}

/// The same guess where it has been solved.
Guess improved(Guess g, const Solved& s) {
  double end = 0;
  for (std::size_t k = 0; k < g.entries.size(); ++k)
    g.entries[k].end = end += s.closing.u(s.shooting->duration_index(k));
  g.start = s.closing.u.head(s.shooting->states());
  g.parameter = s.parameter;
  return g;
}

/// Richardson's scheme: the errors of a sequence are Σ C_k q_k^j, j = 0, 1, …, with known q_k.
class Richardson {
 public:
  /// `ratio(k)`, k = 1, 2, …: q_k.
  template <class Ratio>
  void add(double value, const Ratio& ratio) {
    std::vector<double> row{value};
    for (std::size_t k = 1; k <= last_.size(); ++k) {
      const double q = ratio(static_cast<int>(k));
      row.push_back((row[k - 1] - q * last_[k - 1]) / (1 - q));
    }
    if (row.size() > 1) {
      const double away = std::abs(row.back() - row[row.size() - 2]);
      if (away < error) {
        error = away;
        best = row.back();
      }
    }
    last_ = std::move(row);
  }
  double best = 0;
  double error = std::numeric_limits<double>::infinity();  ///< difference of the last two orders

 private:
  std::vector<double> last_;
};

/// With so many impacts more, in shorter steps where that is too far.
std::optional<std::pair<Guess, Solved>> followed_further(const Solution& near, const Guess& from, int more,
                                                         double share, double rate) {
  Guess g = from;
  for (int k = 0; k < more; ++k) add_impact(g, share, rate);
  if (auto s = solve_border(near, g)) return std::pair(improved(g, *s), *s);
  if (more == 1) return std::nullopt;
  const auto half = followed_further(near, from, more / 2, share, rate);
  if (!half) return std::nullopt;
  return followed_further(near, half->first, more - more / 2, share, rate);
}

/// With ever more impacts to the border itself.
std::optional<ChatterBorder> refined(const Solution& near, Guess g, Solved s, const Metric& metric) {
  constexpr double contraction = 0.3;  // of the remaining time, from one number of impacts to the next
  constexpr double shortest = 1e-6;    // remaining time, of the first one
  constexpr double enough = 1e-15;     // of the parameter and its range: no further
  constexpr double rounding = 1e-12;   // … what is claimed at best
  const std::unique_ptr<System> system = near.shooting->family().system(s.parameter);
  if (!system || !(s.restitution.value > 0 && s.restitution.value < 1)) return std::nullopt;
  const ChatterBorderline line(s.restitution.value);
  const int more =
      std::max(1, static_cast<int>(std::lround(std::log(contraction) / std::log(line.remaining))));
  const auto ratio = [&](int k) { return std::pow(std::pow(line.remaining, k) / line.multiplier, more); };
  const double first = g.remaining();
  const double size = std::abs(s.parameter) + metric.range;
  Richardson border;
  border.add(s.parameter, ratio);
  while (g.remaining() > shortest * first && !(border.error <= enough * size)) {
    auto next = followed_further(near, g, more, 1 - line.remaining, system->rate());
    if (!next) break;
    std::tie(g, s) = std::move(*next);
    border.add(s.parameter, ratio);
  }
  if (!(border.error <= 1e-6 * metric.range)) return std::nullopt;
  ChatterBorder b;
  b.contact = g.contact();
  b.parameter = border.best;
  b.error = std::max(border.error, rounding * size);
  b.solution = near;
  b.solution.shooting = s.shooting;
  b.solution.point.multipliers.clear();
  const Eigen::Index m = s.shooting->size();
  b.solution.tangent = tangent_of(*s.shooting, s.closing.equations, Vector::Unit(m + 1, m), metric);
  take_solution(s.closing, metric, b.solution);
  b.solution.point.parameter = b.parameter;
  b.solution.point.state = without_rounding(b.solution.point.state, metric.size);
  b.sticks_towards = s.slope.dot(b.solution.tangent) * b.solution.parameter_slope() > 0 ? 1 : -1;
  return b;
}

/// The border near an orbit that is not one with this guess; with fewer impacts where they leave no room for
/// more, or where it is far.
std::optional<ChatterBorder> border_from(const Solution& near, Guess g, const Metric& metric) {
  constexpr int attempts = 4;
  constexpr int fewer = 3;       // impacts, from one attempt to the next
  constexpr double room = 1e-3;  // of the turn, at first
  const std::unique_ptr<System> system = near.shooting->family().system(g.parameter);
  if (!system) return std::nullopt;
  for (std::size_t k = 1; k <= g.stick.impact; ++k) {
    const double flight = g.entries[k].end - g.entries[k - 1].end;
    tell_rebound(g.entries[k - 1].step, g.entries[k].step, flight, system->rate());
  }
  while (g.remaining() < room * g.entries.back().end && drop_impact(g)) continue;
  for (int k = 0; k < attempts; ++k) {
    if (auto s = solve_border(near, g)) return refined(near, improved(g, *s), *s, metric);
    for (int dropped = 0; dropped < fewer; ++dropped)
      if (!drop_impact(g)) return std::nullopt;
  }
  return std::nullopt;
}

/// Impacts of a contact in a row, each slower than the one before, that do not end in its sticking: the
/// places of at least three.
std::vector<std::vector<std::size_t>> slowing_runs(const std::vector<Entry>& entries, const Vector& measure,
                                                   int contact) {
  constexpr std::size_t least = 3;
  std::vector<std::vector<std::size_t>> runs;
  std::vector<std::size_t> run;
  const auto finish = [&] {
    if (run.size() >= least) runs.push_back(run);
    run.clear();
  };
  double speed = 0;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const Step& step = entries[k].step;
    if (step.contact != contact) continue;
    if (step.end != EventKind::impact) {
      run.clear();
      continue;
    }
    const double now = measure(static_cast<Eigen::Index>(k));
    if (!(now < speed)) finish();
    speed = now;
    run.push_back(k);
  }
  finish();
  return runs;
}

/// Time for which the force goes on pressing a contact that is closed where a leg begins.
std::optional<double> pressing_time(const Solution& near, Leg leg, int contact) {
  const Family& family = near.shooting->family();
  const std::unique_ptr<System> system = family.system(near.point.parameter);
  if (!system) return std::nullopt;
  leg.mode |= bit_of(contact);
  leg.contact = contact;
  leg.end = EventKind::release;
  leg.length = Leg::Length::given;
  leg.duration = 0;
  for (int k = 0; k < 30; ++k) {
    const auto course = system->follow_values({&leg, 1}, {family.parameter});
    if (!course) return std::nullopt;
    const Reached& end = course->legs.front();
    if (!(end.measure > 0) || (k == 0 && !(end.guard > 0))) return std::nullopt;
    const double change = end.guard / end.measure;
    leg.duration += change;
    if (std::abs(change) <= 1e-9 * leg.duration) return leg.duration;
  }
  return std::nullopt;
}

/// The orbit with its contact closed after impact number `last` of a run, until the force vanishes.
std::optional<Guess> closed_after(const Solution& near, const std::vector<Leg>& legs,
                                  const std::vector<std::size_t>& run, std::size_t last) {
  const std::vector<Entry> entries = entries_of(near);
  const int contact = entries[run[last]].step.contact;
  std::size_t next = run[last] + 1;
  while (next + 1 < entries.size() && entries[next].step.instant) ++next;
  const auto pressed = pressing_time(near, legs[next], contact);
  if (!pressed) return std::nullopt;
  const double begin = entries[run[last]].end;
  const double release = begin + *pressed;
  if (!(release < entries.back().end)) return std::nullopt;
  Guess g;
  g.start = near.start();
  g.parameter = near.point.parameter;
  g.entries.assign(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(next));
  const std::int64_t open = entries[next].step.mode;
  g.entries.push_back({{EventKind::chatter_complete, contact, open, true, {}}, begin});
  g.stick = {run[last], next, 0};
  for (std::size_t k = next; k < entries.size(); ++k) {
    Entry e = entries[k];
    if (std::find(run.begin(), run.end(), k) != run.end()) {
      const bool alone = !e.step.instant && !entries[k + 1].step.instant;
      if (!alone) return std::nullopt;
      continue;
    }
    if (e.end < release) {
      if (e.step.contact == contact) return std::nullopt;  // it is not at rest that long
      e.step.mode |= bit_of(contact);
    }
    if (e.end >= release && g.stick.release == 0) {
      g.stick.release = g.entries.size();
      g.entries.push_back({{EventKind::release, contact, e.step.mode | bit_of(contact), false, {}}, release});
    }
    g.entries.push_back(e);
  }
  return g;
}

}  // namespace

void tell_rebound(const Step& before, Step& step, double duration, double rate) {
  const bool impacts = before.end == EventKind::impact && step.end == EventKind::impact;
  const bool told = step.length == Leg::Length::given || step.length == Leg::Length::rebound;
  if (!impacts || !told || before.contact != step.contact || step.instant) return;
  step.length = duration > brief_flight / rate ? Leg::Length::given : Leg::Length::rebound;
}

std::vector<ChatterStick> chatter_sticks(const Itinerary& itinerary) {
  std::vector<ChatterStick> sticks;
  const std::vector<Step>& steps = itinerary.steps;
  for (std::size_t k = 1; k < steps.size(); ++k) {
    if (steps[k].end != EventKind::chatter_complete) continue;
    const int contact = steps[k].contact;
    const auto of_contact = [contact](const Step& s) { return s.contact == contact; };
    const auto begin = steps.begin();
    const auto at = begin + static_cast<std::ptrdiff_t>(k);
    const auto release = std::find_if(at + 1, steps.end(), of_contact);
    auto impact = at;
    while (impact != begin && !of_contact(*--impact)) continue;
    const bool whole = release != steps.end() && release->end == EventKind::release && !release->instant &&
                       impact->end == EventKind::impact && of_contact(*impact);
    if (!whole) continue;
    sticks.push_back(
        {static_cast<std::size_t>(impact - begin), k, static_cast<std::size_t>(release - begin)});
  }
  return sticks;
}

Condition chatter_border_condition(const Shooting& shooting, const ChatterStick& stick, const Leg& impact) {
  return [&shooting, stick, impact](const Vector& u, const Equations& e) {
    ConditionValue c{std::numeric_limits<double>::quiet_NaN(), Eigen::RowVectorXd::Zero(u.size())};
    const Eigen::Index m = shooting.size();
    const auto r = restitution_at(shooting.family(), u(m), impact);
    if (!r || !(r->value > 0 && r->value < 1)) return c;
    const ChatterBorderline line(r->value);
    const Eigen::Index hit = static_cast<Eigen::Index>(stick.impact);
    const Eigen::Index closed = static_cast<Eigen::Index>(stick.complete);
    const Eigen::Index first = shooting.duration_index(stick.complete + 1);
    const Eigen::Index count = static_cast<Eigen::Index>(stick.release - stick.complete);
    const double remaining = u.segment(first, count).sum();
    const double approach = e.measure(hit);
    const double closing = e.measure(closed);
    const double unit = line.ratio / (r->value * approach);
    c.value = closing * remaining * unit - 1;
    c.slope = unit * (remaining * e.measure_slope.row(closed) -
                      closing * remaining / approach * e.measure_slope.row(hit));
    c.slope.segment(first, count).array() += unit * closing;
    c.slope(m) += closing * remaining * unit * r->slope * (line.ratio_slope / line.ratio - 1 / r->value);
    return c;
  };
}

std::optional<ChatterBorder> border_of_stick(const Solution& orbit, const ChatterStick& stick,
                                             const Metric& metric) {
  return border_from(orbit, {entries_of(orbit), stick, orbit.start(), orbit.point.parameter}, metric);
}

std::vector<ChatterBorder> borders_of_sequences(const Solution& orbit, const Metric& metric) {
  std::vector<ChatterBorder> borders;
  const auto legs = orbit.shooting->placed_legs(orbit.u);
  const auto equations = orbit.shooting->equations(orbit.u);
  if (!legs || !equations) return borders;
  const std::vector<Entry> entries = entries_of(orbit);
  const int contacts = static_cast<int>(orbit.shooting->family().model->contacts().size());
  for (int i = 0; i < contacts; ++i) {
    for (const std::vector<std::size_t>& run : slowing_runs(entries, equations->measure, i)) {
      for (std::size_t last = run.size(); last-- > 1;) {
        const auto guess = closed_after(orbit, *legs, run, last);
        const auto solved = guess ? solve_border(orbit, *guess) : std::nullopt;
        auto border = solved ? refined(orbit, improved(*guess, *solved), *solved, metric) : std::nullopt;
        if (!border) continue;
        border->magnification = std::pow(ChatterBorderline(solved->restitution.value).multiplier,
                                         static_cast<double>(run.size()));
        borders.push_back(std::move(*border));
        break;
      }
    }
  }
  return borders;
}

}  // namespace graze
