#include "analysis/continuation/beginning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace graze {
namespace {

using Vector = Eigen::VectorXd;

/// State after so much of a leg, whatever its end.
std::optional<Vector> on_leg(const Shooting& shooting, double parameter, Leg leg, double duration) {
  const std::unique_ptr<System> system = shooting.family().system(parameter);
  if (!system) return std::nullopt;
  leg.duration = duration;
  leg.end = EventKind::section;
  leg.contact = -1;
  const auto course = system->follow_values({&leg, 1}, {shooting.family().parameter});
  if (!course) return std::nullopt;
  return course->legs.front().state;
}

/// The turn of a motion from a state on; without forcing it lasts as long as that of these equations.
Record recorded(System& system, const Shooting& shooting, const Vector& u, const Vector& from, double phase) {
  const double turn = shooting.forced() ? 0 : shooting.turn(u);
  return record_turn(system, from, shooting.itinerary().periods, turn, phase);
}

/// The same of a system's own motion, moved on to a phase.
std::optional<Begun> moved_to(const Shooting& shooting, const Vector& u, double phase) {
  const std::unique_ptr<System> system = shooting.family().system(u(shooting.size()));
  if (!system) return std::nullopt;
  const double from = shooting.anchor().phase;
  const double periods = shooting.itinerary().periods;
  HybridState state;
  state.x = u.head(shooting.states());
  state.time = shooting.forced() ? time_in_period(*system, from) : 0;
  Section section;
  section.kind = Section::Kind::time;
  const double period = shooting.forced() ? system->period() : shooting.turn(u) / periods;
  section.interval = (phase < from ? phase + periods - from : phase - from) * period;
  if (system->advance(state, section, nullptr) != Outcome::ok) return std::nullopt;
  const Record record = recorded(*system, shooting, u, state.x, shooting.forced() ? phase : 0);
  if (record.outcome != Outcome::ok) return std::nullopt;
  Prescription taken = shooting.family().prescribed(record, *system);
  return Begun{std::move(taken.itinerary), state.x, std::move(taken.durations), phase, 0};
}

/// A way between events. Whether a motion begun on one that rests has one more impact, rounding decides.
struct Way {
  double length = 0;
  bool rests = false;  ///< on a rigid contact
};

/// Those before the first event and after the last apart.
std::vector<Way> ways_of(const System& system, const Itinerary& itinerary,
                         const std::vector<double>& durations) {
  std::vector<Way> ways;
  for (std::size_t k = 0; k < durations.size(); ++k) {
    const std::int64_t mode = itinerary.steps[k].mode;
    bool rests = false;
    for (int i = 0; i < system.contacts(); ++i)
      rests |= is_closed(mode, i) && system.with_contact(mode, i, false) == mode;
    ways.push_back({durations[k], rests});
  }
  return ways;
}

std::vector<Way> ways_of(const Shooting& shooting, const Vector& u) {
  const std::unique_ptr<System> system = shooting.family().system(u(shooting.size()));
  if (!system) return {};
  const Itinerary& itinerary = shooting.itinerary();
  if (!moves_by_itself(itinerary)) return ways_of(*system, itinerary, shooting.durations(u));
  const Record record = recorded(*system, shooting, u, u.head(shooting.states()), shooting.anchor().phase);
  if (record.outcome != Outcome::ok) return {};
  return ways_of(*system, record.itinerary, record.durations);
}

/// The longest of some ways, one on no contact unless all of these are short.
std::size_t best_of(const std::vector<Way>& ways) {
  constexpr double least = 0.1;  // of the longest
  const auto longest = [&](const auto& length) {
    return std::max_element(ways.begin(), ways.end(),
                            [&](const Way& a, const Way& b) { return length(a) < length(b); });
  };
  const auto any = longest([](const Way& way) { return way.length; });
  const auto free = longest([](const Way& way) { return way.rests ? 0 : way.length; });
  const bool short_ones = free->rests || free->length < least * any->length;
  return static_cast<std::size_t>((short_ones ? any : free) - ways.begin());
}

/// From the first on to the middle of one.
double middle_of(const std::vector<Way>& ways, std::size_t which) {
  double middle = ways[which].length / 2;
  for (std::size_t k = 0; k < which; ++k) middle += ways[k].length;
  return middle;
}

/// Begun on the leg of a step, so many periods after the first phase zero.
std::optional<Begun> begun_on(const Shooting& shooting, const Vector& u, std::size_t step, double phase) {
  const double parameter = u(shooting.size());
  const auto legs = shooting.placed_legs(u);
  if (!legs) return std::nullopt;
  const double turn = shooting.turn(u);
  const double begin = phase * turn / shooting.itinerary().periods;
  const Leg& leg = (*legs)[step];
  const double time = begin + turn * std::ceil((leg.time - begin) / turn);
  const auto start = on_leg(shooting, parameter, leg, time - leg.time);
  if (!start) return std::nullopt;
  const std::vector<Step>& steps = shooting.itinerary().steps;
  Begun b{shooting.itinerary(), *start, {}, phase, 0};
  if (steps.size() == 1) {
    b.durations = {turn};
    return b;
  }
  // The end of the turn is no event: the last leg and the first are one, which leads to the first event.
  const std::size_t events = steps.size() - 1;
  const double last = legs->back().duration;
  std::size_t from = step;
  double before = time - leg.time;
  if (step == events) from = 0;
  b.first = from;
  if (step == 0) before += last;
  b.itinerary.steps.clear();
  for (std::size_t k = 0; k < events; ++k) {
    const std::size_t event = (from + k) % events;
    b.itinerary.steps.push_back(steps[event]);
    b.durations.push_back((*legs)[event].duration + (event == 0 ? last : 0));
  }
  b.durations.front() -= before;
  b.durations.push_back(before);
  b.itinerary.steps.front().length = Leg::Length::given;
  Step end;
  end.mode = steps[from].mode;
  b.itinerary.steps.push_back(end);
  return b;
}

}  // namespace

std::optional<NearOrbit> between_events(const Family& family, const NearOrbit& near) {
  const std::unique_ptr<System> system = family.system(near.parameter);
  if (!system) return std::nullopt;
  const bool forced = system->period() > 0;
  const Record record =
      record_turn(*system, near.state, forced ? near.periods : 1, forced ? 0 : near.turn, near.phase);
  if (record.outcome != Outcome::ok) return std::nullopt;
  const std::vector<Way> ways = ways_of(*system, record.itinerary, record.durations);
  Section middle;
  middle.kind = Section::Kind::time;
  middle.interval = middle_of(ways, best_of(ways));
  HybridState state;
  state.x = near.state;
  state.time = time_in_period(*system, near.phase);
  if (system->advance(state, middle, nullptr) != Outcome::ok) return std::nullopt;
  const double phase =
      forced ? std::fmod(near.phase + middle.interval / system->period(), near.periods) : 0.0;
  return NearOrbit{near.parameter, state.x, near.periods, near.turn, phase};
}

namespace {

/// Where to begin an orbit anew, in the middle of its longest way; nothing: no event is near its beginning.
struct NewBeginning {
  std::size_t step = 0;
  double phase = 0;  ///< in periods; without forcing so far behind the old one
};

std::optional<NewBeginning> better_beginning(const Shooting& shooting, const Vector& u) {
  constexpr double near = 0.2;  // of the way between events on which the orbit begins
  const std::vector<Way> ways = ways_of(shooting, u);
  if (ways.size() < 2) return std::nullopt;
  const std::size_t best = best_of(ways);
  const double first = ways.front().length;
  const double last = ways.back().length;
  const bool far = std::min(first, last) > near * (first + last) && first + last > near * ways[best].length;
  if (far && (ways[best].rests || !ways.front().rests)) return std::nullopt;
  const double periods = shooting.itinerary().periods;
  const double phase = shooting.anchor().phase + middle_of(ways, best) * periods / shooting.turn(u);
  return NewBeginning{best, std::fmod(phase, periods)};
}

std::optional<Begun> begun_at(const Shooting& shooting, const Vector& u, const NewBeginning& at) {
  if (moves_by_itself(shooting.itinerary())) return moved_to(shooting, u, at.phase);
  return begun_on(shooting, u, at.step, at.phase);
}

}  // namespace

std::optional<Begun> begun_between(const Shooting& shooting, const Vector& u) {
  const auto at = better_beginning(shooting, u);
  return at ? begun_at(shooting, u, *at) : std::nullopt;
}

std::optional<Solution> begun_elsewhere(const Solution& s, const Metric& metric) {
  constexpr double ahead = 1e-7;  // for the direction of the branch
  const Shooting& shooting = *s.shooting;
  const auto at = better_beginning(shooting, s.u);
  if (!at) return std::nullopt;
  const auto here = begun_at(shooting, s.u, *at);
  const auto there = begun_at(shooting, s.u + ahead * s.tangent, *at);
  if (!here || !there || !(here->itinerary == there->itinerary)) return std::nullopt;
  const Eigen::Index m = shooting.size();
  Anchor anchor = anchor_at(shooting.family(), s.u(m), here->start, here->itinerary.steps.front().mode);
  if (shooting.forced()) anchor.phase = at->phase;
  Solution t = s;
  t.shooting = shooting_for(shooting.family(), here->itinerary, anchor);
  const auto u = t.shooting->unknowns(here->start, here->durations, s.u(m));
  const auto v = t.shooting->unknowns(there->start, there->durations, s.u(m) + ahead * s.tangent(m));
  if (!u || !v) return std::nullopt;
  const Vector way = (*v - *u) / ahead;
  const Vector normal = metric.plane(*t.shooting, way);
  const Closing closing = solve_plane(*t.shooting, *u, normal);
  if (!closing.ok) return std::nullopt;
  t.tangent = in_sense_of(way.head(shooting.states()), way(way.size() - 1), *t.shooting, metric,
                          tangent_of(*t.shooting, closing.equations, normal, metric));
  take_solution(closing, metric, t);
  if (!shooting.forced())
    t.velocity =
        velocity_at(shooting.family(), t.point.parameter, t.point.state, here->itinerary.steps.front().mode);
  t.point.state = without_rounding(t.point.state, metric.size);
  return t;
}

namespace {

/// An orbit's state at a phase on the leg of a step, solved for there. What rounding leaves where the
/// equations begin grows on the way, and once more over the turn that a motion from there takes.
std::optional<Vector> solved_at(const Solution& s, std::size_t step, double phase) {
  constexpr double same = 1e-5;  // of the size
  const Shooting& shooting = *s.shooting;
  const auto begun = begun_at(shooting, s.u, {step, phase});
  if (!begun) return std::nullopt;
  Anchor anchor;
  anchor.phase = phase;
  const auto there = shooting_for(shooting.family(), begun->itinerary, anchor);
  const auto guess = there->unknowns(begun->start, begun->durations, s.u(shooting.size()));
  const Closing closing = guess ? solve_fixed(*there, *guess) : Closing{};
  if (!closing.ok) return begun->start;
  const Vector state = closing.u.head(shooting.states());
  const double size = std::max(s.point.size, begun->start.cwiseAbs().maxCoeff());
  const bool other = !((state - begun->start).cwiseAbs().maxCoeff() <= same * size);
  return other ? begun->start : without_rounding(state, size);
}

/// The leg, of legs of a turn in order, on which a time lies.
std::size_t leg_at(const std::vector<Leg>& legs, double time) {
  std::size_t k = legs.size() - 1;
  while (k > 0 && legs[k].time > time) --k;
  return k;
}

/// The turn of unknowns of a forced system, begun with `start`, in pieces of about a period, each begun where
/// it flies free; one: there is no other such place. None: it cannot be followed.
std::vector<TurnPiece> pieces_of(const Shooting& shooting, const Vector& u, const Vector& start) {
  constexpr double inside = 0.2;  // of a leg: so far from its ends
  const int periods = shooting.itinerary().periods;
  const auto legs = shooting.placed_legs(u);
  if (!legs) return {};
  const double begin = legs->front().time;
  const double turn = shooting.turn(u);
  std::vector<TurnPiece> pieces{{start, turn}};
  double last = begin;
  for (int j = 1; j < periods; ++j) {
    const double time = begin + turn * j / periods;
    const Leg& leg = (*legs)[leg_at(*legs, time)];
    const double way = std::clamp(time - leg.time, inside * leg.duration, (1 - inside) * leg.duration);
    if (leg.mode != 0 || !(leg.time + way > last)) continue;
    const auto place = on_leg(shooting, u(shooting.size()), leg, way);
    if (!place) return {};
    pieces.back().duration = leg.time + way - last;
    last = leg.time + way;
    pieces.push_back({*place, begin + turn - last});
  }
  return pieces;
}

bool goes_in_pieces(const Solution& s) {
  const Itinerary& itinerary = s.shooting->itinerary();
  return s.shooting->forced() && itinerary.periods > 1 && !moves_by_itself(itinerary);
}

}  // namespace

std::optional<Record> recorded_by_periods(System& system, const Solution& s) {
  if (!goes_in_pieces(s)) return std::nullopt;
  const std::vector<TurnPiece> pieces = pieces_of(*s.shooting, s.u, s.point.state);
  if (pieces.size() < 2) return std::nullopt;
  return record_pieces(system, pieces, s.shooting->itinerary().periods, s.point.phase);
}

std::optional<Record> recorded_ahead(System& system, const Solution& s, double along) {
  constexpr double step = 1e-9;
  const int periods = s.shooting->itinerary().periods;
  if (goes_in_pieces(s)) {
    const auto at = [&](const Vector& u) {
      return pieces_of(*s.shooting, u, without_rounding(u.head(s.shooting->states()), s.point.size));
    };
    std::vector<TurnPiece> pieces = at(s.u);
    const std::vector<TurnPiece> further = at(s.u + step * s.tangent);
    if (pieces.size() != further.size()) return std::nullopt;
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      pieces[k].start += along / step * (further[k].start - pieces[k].start);
      pieces[k].duration += along / step * (further[k].duration - pieces[k].duration);
    }
    if (pieces.size() > 1) {
      auto record = record_pieces(system, pieces, periods, s.point.phase);
      if (record.outcome == Outcome::ok) return record;
    }
  }
  const Vector start = s.start() + along * s.tangent.head(s.shooting->states());
  return record_turn(system, start, periods, s.point.period / periods, s.point.phase);
}

bool goes_along(System& system, const Shooting& shooting, const Vector& u, const BranchPoint& point,
                double open) {
  constexpr double brief = 1e-3;  // of the turn: beside impacts states are not compared
  const auto legs = shooting.placed_legs(u);
  if (!legs) return false;
  HybridState state;
  state.x = point.state;
  state.time = time_in_period(system, point.phase);
  double now = legs->front().time;
  for (const Leg& leg : *legs) {
    if (!(leg.duration > brief * shooting.turn(u))) continue;
    const auto middle = on_leg(shooting, u(shooting.size()), leg, leg.duration / 2);
    Section there;
    there.kind = Section::Kind::time;
    there.interval = leg.time + leg.duration / 2 - now;
    if (!middle || system.advance(state, there, nullptr) != Outcome::ok) return false;
    if (!((state.x - *middle).cwiseAbs().maxCoeff() <= open * point.size)) return false;
    now += there.interval;
  }
  return true;
}

std::vector<Vector> states_on_section(const Solution& s) {
  const Shooting& shooting = *s.shooting;
  const int periods = shooting.itinerary().periods;
  const double turn = shooting.turn(s.u);
  if (!shooting.forced()) {
    const std::unique_ptr<System> system = shooting.family().system(s.u(shooting.size()));
    if (!system) return {};
    return section_states(shooting.family(), *system, s.start(), periods, turn);
  }
  const auto legs = shooting.placed_legs(s.u);
  if (!legs) return {};
  std::vector<Vector> states;
  for (int j = 0; j < periods; ++j) {
    if (j == shooting.anchor().phase) {
      states.push_back(s.start());
      continue;
    }
    const double time = turn * (j < shooting.anchor().phase ? j + periods : j) / periods;
    const auto state = solved_at(s, leg_at(*legs, time), j);
    if (!state) return {};
    states.push_back(*state);
  }
  return states;
}

std::vector<Vector> states_from_best(const Solution& s) {
  constexpr double closed = 1e-8;  // of the size
  std::vector<Vector> states = states_on_section(s);
  if (!s.shooting->forced() || states.size() < 2) return states;
  const std::unique_ptr<System> system = s.shooting->family().system(s.u(s.shooting->size()));
  if (!system) return states;
  std::pair<double, std::ptrdiff_t> best{std::numeric_limits<double>::infinity(), 0};
  for (std::ptrdiff_t k = 0; k < std::ssize(states) && best.first > closed; ++k) {
    const Vector& start = states[static_cast<std::size_t>(k)];
    const Record turn = record_turn(*system, start, s.shooting->itinerary().periods);
    if (turn.outcome != Outcome::ok) continue;
    best = std::min(best, {(turn.end - start).cwiseAbs().maxCoeff() / turn.size, k});
  }
  std::rotate(states.begin(), states.begin() + best.second, states.end());
  return states;
}

}  // namespace graze
