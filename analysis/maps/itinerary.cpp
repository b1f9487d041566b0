#include "analysis/maps/itinerary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/maps/first_rotation.hpp"
#include "analysis/maps/shifts.hpp"

namespace graze {
namespace {

/// Turns what it hears into steps.
class Recorder final : public Observer {
 public:
  Recorder(double begin, Record& record) : now_(begin), record_(record) {}

  void event(const Event& e) override {
    for (const double x : e.before) record_.size = std::max(record_.size, std::abs(x));
    switch (e.kind) {
      case EventKind::impact:
      case EventKind::release:
      case EventKind::jump:
        add(e, e.time - now_);
        break;
      case EventKind::chatter_complete:  // at the instant of its last impact; e.time is the accumulation's
        add(e, 0);
        break;
      case EventKind::stick:
        // What rests on its contact at the start is closed from the start on; completed chatter is told.
        if (steps().empty() ? e.time > now_ : !completed(e.contact)) add(e, e.time - now_);
        break;
      case EventKind::contact_begin:
      case EventKind::contact_end:
      case EventKind::slip_to_stick:
      case EventKind::stick_to_slip:
      case EventKind::slip_reversal:
        // What sticks or is engaged at the start is told to.
        if (!steps().empty() || e.time > now_) add(e, e.time - now_);
        break;
      default:
        break;
    }
  }
  void near_miss(int contact, double, double speed) override { record_.misses.emplace_back(contact, speed); }
  bool follows_gaps() const override { return true; }

  void finish(double end, std::int64_t mode) {
    record_.itinerary.steps.push_back({EventKind::section, -1, mode, false, {}});
    record_.durations.push_back(end - now_);
    record_.speeds.push_back(0);
    record_.times.push_back(end);
  }

 private:
  const std::vector<Step>& steps() const { return record_.itinerary.steps; }
  bool completed(int contact) const {
    return steps().back().end == EventKind::chatter_complete && steps().back().contact == contact;
  }
  void add(const Event& e, double duration) {
    const bool instant = duration <= 0 && !steps().empty();
    const int place = e.jump >= 0 ? e.jump : e.friction >= 0 ? -1 - e.friction : e.contact;
    record_.itinerary.steps.push_back({e.kind, place, e.mode, instant, {}});
    if (instant && e.kind == EventKind::release) free_from_impact_on(e.contact);
    record_.durations.push_back(instant ? 0 : duration);
    record_.speeds.push_back(is_hit(e.kind) ? e.approach_speed : 0);
    record_.times.push_back(e.time);
    record_.behind.emplace_back(
        Eigen::Map<const Eigen::VectorXd>(e.after.data(), static_cast<Eigen::Index>(e.after.size())));
    now_ += std::max(0.0, duration);
  }

  /// What an impact frees is open from it on, also while others are told to be freed.
  void free_from_impact_on(int contact) {
    std::vector<Step>& all = record_.itinerary.steps;
    for (std::size_t k = all.size(); k-- > 0 && all[k].instant && all[k].end == EventKind::release;) {
      all[k].mode &= ~(std::int64_t{1} << contact);
    }
  }

  double now_;
  Record& record_;
};

/// Flights within a chatter sequence that are short of `longest` find their ends themselves: their lengths
/// change together, by orders of magnitude.
void free_short_flights(Record& record, double longest) {
  std::vector<Step>& steps = record.itinerary.steps;
  const std::vector<bool> inside = chattering(record.itinerary, record.speeds);
  for (std::size_t k = 1; k < steps.size(); ++k) {
    if (!inside[k]) continue;
    double flight = record.durations[k];
    std::size_t from = k;
    while (from-- > 0 && steps[from].contact != steps[k].contact) flight += record.durations[from];
    if (from >= k || !inside[from] || flight > longest) continue;
    steps[k].length = from + 1 == k ? Leg::Length::rebound : Leg::Length::flight;
  }
}

/// What friction holds at the end of the turn it holds from the start on, whatever speed rounding has left it
/// there.
void hold_from_start(const System& system, std::int64_t end_mode, double brief, Record& record) {
  std::vector<Step>& steps = record.itinerary.steps;
  while (steps.size() > 1 && steps[0].end == EventKind::slip_to_stick && record.durations[0] <= brief &&
         system.with_stick(end_mode, -1 - steps[0].contact) == end_mode) {
    record.durations[1] += record.durations[0];
    steps[1].instant = false;
    steps.erase(steps.begin());
    record.behind.erase(record.behind.begin());
    for (std::vector<double>* list : {&record.durations, &record.speeds, &record.times})
      list->erase(list->begin());
  }
}

void finish(const System& system, double begin, double end, std::int64_t mode, Recorder& recorder,
            Record& record) {
  recorder.finish(end, mode);
  constexpr double no_time = 1e-10;  // of the shortest time scale
  hold_from_start(system, mode, no_time / system.rate(), record);
  for (double& time : record.times) time -= begin;
  constexpr double brief = 0.2;  // of the shortest time scale
  free_short_flights(record, brief / system.rate());
}

}  // namespace

bool moves_by_itself(const Itinerary& itinerary) {
  return itinerary.steps.front().length == Leg::Length::own;
}

bool chatters_at_once(const Itinerary& itinerary) {
  const std::vector<Step>& steps = itinerary.steps;
  for (std::size_t k = 1; k < steps.size(); ++k) {
    if (steps[k].end != EventKind::chatter_complete) continue;
    for (std::size_t j = k; j-- > 0 && is_hit(steps[j].end);)
      if (steps[j].contact != steps[k].contact) return true;
  }
  return false;
}

double time_in_period(const System& system, double phase) {
  return (phase - std::floor(phase)) * system.period();
}

Record record_turn(System& system, const Eigen::VectorXd& start, int periods, double period, double phase) {
  if (system.period() > 0) period = system.period();
  Record record;
  record.itinerary.periods = periods;
  HybridState state;
  state.x = start;
  state.time = time_in_period(system, phase);
  const double begin = state.time;
  Recorder recorder(begin, record);
  const auto move = [&](const Section& section) {
    record.size = std::max(record.size, state.x.cwiseAbs().maxCoeff());
    if (record.outcome == Outcome::ok) record.outcome = system.advance(state, section, &recorder);
  };
  Section whole;
  whole.interval = period;
  for (int k = 0; k < periods && record.outcome == Outcome::ok; ++k) {
    if (phase == 0) record.states.push_back(state.x);
    move(whole);
    if (phase > 0) record.states.push_back(state.x);
  }
  if (phase > 0) {
    Section rest;
    rest.kind = Section::Kind::time;
    rest.interval = begin;
    move(rest);
    const std::ptrdiff_t first = periods - 1 - static_cast<std::ptrdiff_t>(std::floor(phase));
    if (record.outcome == Outcome::ok)
      std::rotate(record.states.begin(), record.states.begin() + first, record.states.end());
  }
  const Shifts shifts(system);
  record.end = shifts.unshifted(state.x);
  for (Eigen::VectorXd& at : record.states) at = shifts.unshifted(at);
  finish(system, begin, begin + periods * period, state.mode, recorder, record);
  return record;
}

Record record_pieces(System& system, const std::vector<TurnPiece>& pieces, int periods, double phase) {
  Record record;
  record.itinerary.periods = periods;
  HybridState state;
  state.time = time_in_period(system, phase);
  const double begin = state.time;
  Recorder recorder(begin, record);
  for (const TurnPiece& piece : pieces) {
    if (&piece != &pieces.front())
      record.apart = std::max(record.apart, (state.x - piece.start).cwiseAbs().maxCoeff());
    HybridState fresh;
    fresh.x = piece.start;
    fresh.time = state.time;
    fresh.turns = state.turns;
    state = std::move(fresh);
    record.size = std::max(record.size, state.x.cwiseAbs().maxCoeff());
    Section section;
    section.kind = Section::Kind::time;
    section.interval = piece.duration;
    record.outcome = system.advance(state, section, &recorder);
    if (record.outcome != Outcome::ok) return record;
  }
  record.end = Shifts(system).unshifted(state.x);
  finish(system, begin, begin + periods * system.period(), state.mode, recorder, record);
  return record;
}

int Signature::count(EventKind kind, int contact) const {
  return static_cast<int>(std::count_if(events.begin(), events.end(), [=](const Event& event) {
    return event.kind == kind && event.place == contact;
  }));
}

std::vector<bool> chattering(const Itinerary& itinerary, const std::vector<double>& speeds) {
  const std::vector<Step>& steps = itinerary.steps;
  std::vector<bool> inside(steps.size(), false);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k].end != EventKind::chatter_complete) continue;
    double slower = 0;
    for (std::size_t back = 1; back < steps.size(); ++back) {
      const std::size_t j = (k + steps.size() - back) % steps.size();  // the orbit is a circle
      if (steps[j].contact != steps[k].contact || of_friction(steps[j].end)) continue;
      if (steps[j].end != EventKind::impact || speeds[j] < slower) break;
      slower = speeds[j];
      inside[j] = true;
    }
  }
  return inside;
}

namespace {

/// The event of the contact of a step before it; the orbit is a circle.
std::size_t before_of_contact(const std::vector<Step>& steps, std::size_t k) {
  std::size_t before = k;
  do {
    before = (before + steps.size() - 1) % steps.size();
  } while (before != k && (steps[before].contact != steps[k].contact || of_friction(steps[before].end)));
  return before;
}

/// Events of frictions between two steps.
std::vector<std::size_t> frictions_between(const std::vector<Step>& steps, std::size_t from, std::size_t to) {
  std::vector<std::size_t> found;
  for (std::size_t k = (from + 1) % steps.size(); k != to; k = (k + 1) % steps.size())
    if (of_friction(steps[k].end)) found.push_back(k);
  return found;
}

/// Events that belong to no chatter sequence. What frictions do in its flights, alike up to the last one,
/// belongs to it but for once: how many are followed before it is completed is a matter of accuracy.
std::vector<bool> outside_chatter(const Record& record) {
  const std::vector<Step>& steps = record.itinerary.steps;
  const std::vector<bool> inside = chattering(record.itinerary, record.speeds);
  const auto alike = [&](std::size_t a, std::size_t b) {
    return steps[a].end == steps[b].end && steps[a].contact == steps[b].contact;
  };
  std::vector<bool> outside = inside;
  outside.flip();
  for (std::size_t complete = 0; complete < steps.size(); ++complete) {
    if (steps[complete].end != EventKind::chatter_complete) continue;
    std::size_t end = before_of_contact(steps, complete);
    std::size_t begin = before_of_contact(steps, end);
    if (!inside[begin]) continue;
    const std::vector<std::size_t> last = frictions_between(steps, begin, end);
    for (end = begin; inside[begin = before_of_contact(steps, end)]; end = begin) {
      const std::vector<std::size_t> flight = frictions_between(steps, begin, end);
      if (!std::equal(flight.begin(), flight.end(), last.begin(), last.end(), alike)) break;
      for (const std::size_t friction : flight) outside[friction] = false;
    }
  }
  return outside;
}

}  // namespace

Signature signature_of(const Record& record) {
  const std::vector<Step>& steps = record.itinerary.steps;
  const std::vector<bool> outside = outside_chatter(record);
  Signature signature;
  signature.periods = record.itinerary.periods;
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const EventKind kind = steps[k].end;
    if (outside[k] && kind != EventKind::section && kind != EventKind::graze) order.push_back(k);
  }
  if (order.empty()) return signature;
  const double turn = record.times.back();
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::fmod(record.times[a], turn) < std::fmod(record.times[b], turn);
  });
  for (const std::size_t k : order) {
    const bool begins = steps[k].end == EventKind::contact_begin && k + 1 < steps.size();
    signature.events.push_back({steps[k].end, steps[k].contact, begins ? steps[k + 1].mode : 0});
  }
  auto& events = signature.events;
  rotate_to_first(events);
  return signature;
}

int Signature::hits(int contact) const {
  return count(EventKind::impact, contact) + count(EventKind::contact_begin, contact);
}

int Signature::count(EventKind kind) const {
  return static_cast<int>(
      std::count_if(events.begin(), events.end(), [kind](const Event& event) { return event.kind == kind; }));
}

std::string text(const Signature& signature, const Model& model) {
  std::string result = std::to_string(signature.periods) + ":";
  for (const auto& [kind, place, sense] : signature.events) {
    const auto& names = kind == EventKind::jump ? model.jumps()
                        : place >= 0            ? model.contacts()
                                                : model.frictions();
    result += " " + event_names()[static_cast<std::size_t>(kind)] + "(" +
              names[static_cast<std::size_t>(place >= 0 ? place : -1 - place)].name + ")";
  }
  return result;
}

Itinerary doubled(const Itinerary& itinerary) {
  Itinerary twice = itinerary;
  twice.periods *= 2;
  twice.steps.pop_back();  // the end of the first turn is no event
  twice.steps.insert(twice.steps.end(), itinerary.steps.begin(), itinerary.steps.end());
  return twice;
}

}  // namespace graze
