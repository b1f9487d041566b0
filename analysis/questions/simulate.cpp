/// Simulate: one motion as a time series, with all its events.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "analysis/maps/energy_balance.hpp"
#include "analysis/maps/event_statistics.hpp"
#include "analysis/maps/map_keys.hpp"
#include "analysis/maps/observables.hpp"
#include "analysis/maps/observer_pair.hpp"
#include "analysis/run/registry.hpp"

namespace graze {
namespace {

/// Keeps every event as a row of arrays.
class EventLog final : public Observer {
 public:
  struct Row {
    double time;
    EventKind kind;
    int contact;
    int friction;
    int jump;
    double approach_speed;
    double force;
    std::vector<double> before, after;
  };

  explicit EventLog(std::size_t contacts) : tracks_(contacts) {}

  void event(const Event& e) override {
    rows_.push_back({e.time,
                     e.kind,
                     e.contact,
                     e.friction,
                     e.jump,
                     e.approach_speed,
                     e.force,
                     {e.before.begin(), e.before.end()},
                     {e.after.begin(), e.after.end()}});
    if (e.contact < 0) return;
    Track& track = tracks_[static_cast<std::size_t>(e.contact)];
    if (e.kind == EventKind::release) {
      track.released = true;
      track.gap = 0;
    } else if (e.kind == EventKind::chatter_complete && track.released) {
      track.returns.emplace_back(rows_.size() - 1, track.gap);
    } else if (e.kind == EventKind::stick) {
      track.released = false;
    }
  }
  bool follows_gaps() const override { return true; }
  void excursion(int contact, double, double gap) override {
    Track& track = tracks_[static_cast<std::size_t>(contact)];
    track.gap = std::max(track.gap, gap);
    track.greatest = std::max(track.greatest, gap);
  }

  /// All events in order of time. Rises are told only now: they need the greatest gap of all.
  std::vector<Row> rows() const {
    std::vector<Row> all = rows_;
    for (const Track& track : tracks_) {
      for (const auto& [row, gap] : track.returns) {
        if (!(gap < rise_share * track.greatest)) continue;
        all.push_back(rows_[row]);
        all.back().kind = EventKind::rise;
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const Row& a, const Row& b) { return a.time < b.time; });
    return all;
  }

 private:
  struct Track {
    bool released = false;
    double gap = 0;       ///< greatest since the release
    double greatest = 0;  ///< of the whole motion
    std::vector<std::pair<std::size_t, double>> returns;
  };

  std::vector<Row> rows_;
  std::vector<Track> tracks_;
};

/// What a motion looks like at the sample times.
struct Samples {
  std::vector<double> time;
  std::vector<double> state;
  std::vector<std::int64_t> mode;
  std::vector<std::int8_t> sticks;
  std::vector<double> normal_force;

  void add(double t, const HybridState& s, System& system) {
    time.push_back(t);
    state.insert(state.end(), s.x.begin(), s.x.end());
    mode.push_back(s.mode);
    for (int k = 0; k < frictions; ++k)
      sticks.push_back(k < system.frictions() && system.sticks(s, k) ? std::int8_t{1} : std::int8_t{0});
    const Eigen::VectorXd forces = system.contact_forces(s);
    normal_force.insert(normal_force.end(), forces.begin(), forces.end());
  }

  int frictions = 0;  ///< of the model; a system has none where all amplitudes are 0
};

/// The energy at the sample times and its account since the first one.
class EnergySamples {
 public:
  void add(System& system, const HybridState& s) {
    if (!balance_) balance_.emplace(system, s);
    const Energy now = system.energy(s).value_or(Energy{});
    const EnergyAccount a = balance_->account(s);
    const std::array<double, 6> row = {now.motion + now.stops, a.force_work,  a.damping_work,
                                       a.friction_work,        a.impact_work, a.stop_work};
    for (std::size_t k = 0; k < row.size(); ++k) columns_[k].push_back(row[k]);
  }
  /// Listens to the motion; there once the first sample has been added.
  EnergyBalance& balance() { return *balance_; }
  static constexpr std::array<std::array<const char*, 2>, 6> names = {
      {{"energy", "kinetic energy and that stored in springs and compliant stops"},
       {"force_work", "work of the forces since the first sample"},
       {"damping_work", "energy lost in dampers since the first sample"},
       {"friction_work", "energy lost to dry friction since the first sample"},
       {"impact_work", "energy lost in impacts since the first sample"},
       {"stop_work", "energy lost in compliant stops since the first sample"}}};
  void write(Dataset& data) const {
    for (std::size_t k = 0; k < names.size(); ++k)
      data.arrays.push_back({names[k][0], {"sample"}, columns_[k], "1", names[k][1], {}, {}});
  }

 private:
  std::optional<EnergyBalance> balance_;
  std::array<std::vector<double>, 6> columns_;
};

class Simulate final : public Analysis {
 public:
  explicit Simulate(const Problem& problem);

  Dataset layout() const override { return {}; }
  std::vector<std::string> point_dimensions() const override { return {}; }
  std::vector<Box> blocks(std::size_t) const override { return {Box{}}; }
  Dataset compute(const Box& box) const override;

 private:
  Outcome run(System& system, Samples& samples, EnergySamples* energy, EventLog& log) const;
  void add_observables(const Samples& samples, Dataset& data) const;
  Dataset write(const Samples& samples, const EnergySamples* energy, const std::vector<EventLog::Row>& events,
                Outcome outcome) const;

  Problem problem_;
  double begin_ = 0;  ///< times since the start of the motion
  double end_ = 0;
  std::int64_t intervals_ = 0;
  bool energy_ = false;
};

Simulate::Simulate(const Problem& problem) : problem_(problem) {
  const Value& table = problem.analysis;
  const auto system = problem.model->system(problem.model->values(), problem.tolerance);
  if (!system) {
    throw InputError(Place{}, "model", "these parameters",
                     "make no system: " + advice(Outcome::bad_parameters));
  }
  const double period = system->period();
  const Value* periods = table.find("periods");
  const Value* end_time = table.find("end_time");
  if (periods != nullptr && end_time != nullptr) {
    throw InputError(end_time->place(), "analysis.end_time", end_time->toml(),
                     "periods is given as well: leave out one of them");
  }
  if (periods == nullptr && end_time == nullptr) {
    throw InputError(table.place(), "analysis.periods", "", "is missing; give periods or end_time");
  }
  const auto forced = [&](const Value& value, const char* key) {
    if (!(period > 0))
      throw InputError(value.place(), key, value.toml(),
                       "the model has no forcing period; give end_time and samples");
  };
  if (periods != nullptr) forced(*periods, "analysis.periods");
  end_ = periods != nullptr ? periods->number("analysis.periods") * period
                            : end_time->number("analysis.end_time") - problem.start_time;
  const double skip = table.at("skip_periods").number("analysis.skip_periods");
  if (skip > 0) forced(table.at("skip_periods"), "analysis.skip_periods");
  begin_ = skip * period;
  if (periods != nullptr) end_ += begin_;
  if (!(end_ > begin_)) {
    throw InputError(table.place(), "analysis", "simulate",
                     "nothing is left to record: the end lies before the beginning");
  }
  const Value& per_period = table.at("samples_per_period");
  const Value* samples = table.find("samples");
  const double wanted = samples != nullptr || !(period > 0)
                            ? (samples != nullptr ? samples->number("analysis.samples") : 1000.0)
                            : per_period.number("analysis.samples_per_period") * (end_ - begin_) / period;
  constexpr double most_samples = 1e9;
  if (!(wanted <= most_samples)) {
    throw InputError(per_period.place(), "analysis.samples_per_period", per_period.toml(),
                     "makes more than 1e9 samples; take fewer or a shorter run");
  }
  intervals_ = std::max<std::int64_t>(1, std::llround(wanted));
  const Value& energy = table.at("energy");
  energy_ = energy.boolean("analysis.energy");
  if (energy_ && !system->energy(problem.start()))
    throw InputError(energy.place(), "analysis.energy", energy.toml(),
                     "only linear systems tell their energy");
  for (const auto& name : EnergySamples::names) {
    const auto clashes = [&](const Quantity& q) { return q.name == name[0]; };
    if (!energy_ || !problem.observables) break;
    const std::vector<Quantity>& observed = problem.observables->quantities();
    if (std::any_of(observed.begin(), observed.end(), clashes))
      throw InputError(energy.place(), "analysis.energy", energy.toml(),
                       "writes an array " + std::string(name[0]) + ", as an observable of this name does");
  }
}

Outcome Simulate::run(System& system, Samples& samples, EnergySamples* energy, EventLog& log) const {
  const double period = system.period();
  HybridState state = problem_.start();
  Section to;
  to.kind = Section::Kind::time;
  const auto now = [&] { return state.time + static_cast<double>(state.turns) * period; };
  // The next sample is asked for by its own time, so that rounding does not add up.
  for (std::int64_t k = 0; k <= intervals_; ++k) {
    const double share = static_cast<double>(k) / static_cast<double>(intervals_);
    const double target = problem_.start_time + begin_ + (end_ - begin_) * share;
    to.interval = std::max(0.0, target - now());
    Outcome outcome;
    if (k > 0 && energy != nullptr) {
      ObserverPair both(log, energy->balance());
      outcome = system.advance(state, to, &both);
    } else {
      outcome = system.advance(state, to, k == 0 && begin_ > 0 ? nullptr : &log);
    }
    if (outcome != Outcome::ok) return outcome;
    samples.add(target, state, system);
    if (energy != nullptr) energy->add(system, state);
  }
  return Outcome::ok;
}

Dataset Simulate::compute(const Box&) const {
  const Model& model = *problem_.model;
  const auto system = model.system(model.values(), problem_.tolerance);
  Samples samples;
  samples.frictions = static_cast<int>(model.frictions().size());
  EventLog log(model.contacts().size());
  EnergySamples energy;
  EnergySamples* const energy_wanted = energy_ ? &energy : nullptr;
  const Outcome outcome = run(*system, samples, energy_wanted, log);
  return write(samples, energy_wanted, log.rows(), outcome);
}

/// Their values at the samples.
void Simulate::add_observables(const Samples& samples, Dataset& data) const {
  if (!problem_.observables) return;
  const Observables& observables = *problem_.observables;
  const std::vector<double> parameters = problem_.model->values();
  const std::size_t width = problem_.model->states().size();
  std::vector<std::vector<double>> values(observables.size());
  for (std::size_t k = 0; k < samples.time.size(); ++k) {
    const std::span<const double> state(samples.state.data() + k * width, width);
    const std::vector<double> now = observables.at(parameters, samples.time[k], state);
    for (std::size_t i = 0; i < values.size(); ++i) values[i].push_back(now[i]);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Quantity& q = observables.quantities()[i];
    data.arrays.push_back({q.name, {"sample"}, std::move(values[i]), q.unit, q.meaning, {}, {}});
  }
}

Dataset Simulate::write(const Samples& samples, const EnergySamples* energy,
                        const std::vector<EventLog::Row>& events, Outcome outcome) const {
  const Model& model = *problem_.model;
  // The array of states is named `state`; a dimension of that name would have to be an array of its own.
  Dataset data;
  const std::size_t width = model.states().size();
  data.dimensions = {{"sample", samples.time.size()},
                     {"component", width},
                     {"event", events.size()},
                     {"contact", model.contacts().size()}};
  const bool rubs = !model.frictions().empty();
  if (rubs) data.dimensions.push_back({"dry_friction", model.frictions().size()});
  const bool jumps = !model.jumps().empty();
  if (jumps) data.dimensions.push_back({"jump", model.jumps().size()});
  const auto add = [&](const char* name, std::vector<std::string> dimensions, Array::Values values,
                       const char* meaning, std::vector<std::string> flags = {}) {
    data.arrays.push_back(
        {name, std::move(dimensions), std::move(values), "1", meaning, std::move(flags), {}});
  };
  data.attributes = {{"coordinates", "time event_time"}};
  data.arrays.push_back(names_coordinate("component", model.states(), "component of the state"));
  data.arrays.push_back(names_coordinate("contact", model.contacts(), "contact of the model"));
  if (rubs) {
    data.arrays.push_back(names_coordinate("dry_friction", model.frictions(), "dry friction of the model"));
  }
  if (jumps) data.arrays.push_back(names_coordinate("jump", model.jumps(), "jump map of the model"));
  add("time", {"sample"}, samples.time, "time");
  add("state", {"sample", "component"}, samples.state, "state");
  add("mode", {"sample"}, samples.mode,
      "which contacts are closed (bit i: contact i), and above what the model says");
  if (rubs)
    add("sticks", {"sample", "dry_friction"}, samples.sticks, "whether the dry friction does not slide");
  add("normal_force", {"sample", "contact"}, samples.normal_force,
      "normal force of the contact, 0 while it is open; impacts have none");
  if (energy != nullptr) energy->write(data);
  add_observables(samples, data);

  std::vector<double> time, speed, force, before, after;
  std::vector<std::int8_t> kind;
  std::vector<std::int32_t> contact, friction, jump;
  for (const EventLog::Row& row : events) {
    time.push_back(row.time);
    kind.push_back(static_cast<std::int8_t>(row.kind));
    contact.push_back(row.contact);
    friction.push_back(row.friction);
    jump.push_back(row.jump);
    speed.push_back(row.approach_speed);
    force.push_back(row.force);
    before.insert(before.end(), row.before.begin(), row.before.end());
    after.insert(after.end(), row.after.begin(), row.after.end());
  }
  add("event_time", {"event"}, time, "time of the event");
  add("event_kind", {"event"}, kind, "what happened", event_names());
  add("event_contact", {"event"}, contact, "index of the contact, -1 for none");
  if (rubs) add("event_friction", {"event"}, friction, "index of the dry friction, -1 for none");
  if (jumps) add("event_jump", {"event"}, jump, "index of the jump map, -1 for none");
  add("event_before", {"event", "component"}, before, "state before the event");
  add("event_after", {"event", "component"}, after, "state after the event");
  add("event_approach_speed", {"event"}, speed, "normal speed towards the contact");
  if (std::any_of(force.begin(), force.end(), [](double f) { return std::isfinite(f); }))
    add("event_force", {"event"}, force, "force of a compliant stop after it begins, before it ends");
  add("outcome", {}, std::vector<std::int8_t>{static_cast<std::int8_t>(outcome)}, "what happened numerically",
      outcome_names());
  return data;
}

}  // namespace

GRAZE_ANALYSIS(simulate) {
  AnalysisInfo info;
  info.name = "simulate";
  info.meaning = "one motion as a time series with all its events";
  const auto key = [&](const char* name, Key::Type type, Range range, const char* meaning) -> Key& {
    Key& added = add_key(info.keys, name, type, meaning);
    added.range = range;
    return added;
  };
  key("periods", Key::Type::number, Range::positive(), "forcing periods recorded");
  key("end_time", Key::Type::number, Range::finite(), "time at which the record ends, in place of periods");
  key("skip_periods", Key::Type::number, Range::non_negative(), "forcing periods dropped before the record")
      .fallback = Value(0.0);
  key("samples_per_period", Key::Type::number, Range::positive(), "samples per forcing period").fallback =
      Value(200.0);
  key("samples", Key::Type::integer, Range{1, 1e9, false, false},
      "sampling intervals of the whole record, in place of samples_per_period");
  key("energy", Key::Type::boolean, Range{},
      "record the energy, and what forces add to it and dampers, friction, impacts and stops take from it")
      .fallback = Value(false);
  info.make = analysis_of<Simulate>;
  return info;
}

}  // namespace graze
