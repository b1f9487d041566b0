/// Sweep: what a system settles to, over one or two parameters and one or several starts.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "analysis/maps/attractor.hpp"
#include "analysis/maps/first_rotation.hpp"
#include "analysis/maps/map_keys.hpp"
#include "analysis/maps/observables.hpp"
#include "analysis/run/axis.hpp"
#include "analysis/run/points.hpp"
#include "analysis/run/random_start.hpp"
#include "analysis/run/registry.hpp"
#include "core/system/memoising_system.hpp"

namespace graze {
namespace {

enum class Start { fixed, follow_up, follow_down, follow_both, random };

struct Settled {
  Attractor attractor;
  double forcing_period = 0;           ///< 0: autonomous
  std::vector<double> section_gaps{};  ///< greatest gap of each contact at the recorded iterates
  std::vector<Observed> observed{};
};

/// A gap that is greatest just where the section is met is an extremum of neither iterate.
std::vector<double> greatest_gaps(const System& system, const Attractor& found) {
  std::vector<double> greatest(static_cast<std::size_t>(system.contacts()), 0.0);
  Eigen::VectorXd gap, rate;
  const bool periodic = found.kind == AttractorClass::periodic;
  const std::size_t count = periodic ? static_cast<std::size_t>(found.orbit.period) : found.points.size();
  HybridState state = found.last;
  for (std::size_t k = 0; k < std::min(count, found.points.size()); ++k) {
    state.x = found.points[k].x;
    system.gaps(state, gap, rate);
    for (Eigen::Index i = 0; i < gap.size(); ++i) {
      double& known = greatest[static_cast<std::size_t>(i)];
      if (std::isfinite(gap(i))) known = std::max(known, gap(i));
    }
  }
  return greatest;
}

class Sweep final : public Analysis {
 public:
  explicit Sweep(const Problem& problem);

  Dataset layout() const override;
  std::vector<std::string> point_dimensions() const override;
  std::size_t least_points() const override {
    return least_attractors(model(), section_, problem_.tolerance, Box{{}, extents()}.points());
  }
  std::vector<Box> blocks(std::size_t points) const override;
  Dataset compute(const Box& box) const override;

 private:
  void read_starts(const Value& table);
  const Model& model() const { return *problem_.model; }
  bool follows() const {
    return start_ == Start::follow_up || start_ == Start::follow_down || start_ == Start::follow_both;
  }
  /// The dimension of the points along which is followed.
  std::size_t along() const { return starts_ > 1 ? 1 : 0; }
  /// Whether it is followed backwards, of start number `start`.
  bool down(std::size_t start) const {
    return start_ == Start::follow_down || (start_ == Start::follow_both && start == 1);
  }
  std::vector<std::size_t> extents() const;
  Dataset shape(const std::vector<std::size_t>& extents) const;
  std::size_t contact_count() const { return model().contacts().size(); }
  std::size_t state_count() const { return model().states().size(); }

  std::optional<HybridState> start_of(System& system, std::span<const double> values,
                                      std::uint64_t point) const;
  std::uint64_t number_of(const std::vector<std::size_t>& place) const;
  std::vector<Settled> settle(std::span<const std::vector<std::size_t>> places,
                              std::span<const std::optional<HybridState>> follow) const;
  void follow_chains(const Box& box, Dataset& block) const;
  void store(std::span<const Settled> settled, std::span<const std::size_t> points, Dataset& block) const;
  void store_itinerary(const Attractor& found, std::size_t point, Dataset& block) const;

  Problem problem_;
  std::vector<Axis> axes_;
  Section section_;
  AttractorOptions options_;
  Start start_ = Start::fixed;
  std::size_t starts_ = 1;
  StartBox starts_in_;
  std::size_t letters_ = 0;  ///< of the itinerary
};

Sweep::Sweep(const Problem& problem) : problem_(problem) {
  const Value& table = problem.analysis;
  axes_ = read_axes(table, model());
  section_ = read_section(table, model(), problem.tolerance);
  options_ = read_attractor_options(table);
  letters_ = static_cast<std::size_t>(table.at("itinerary").integer("analysis.itinerary"));
  read_starts(table);
}

void Sweep::read_starts(const Value& table) {
  static const std::vector<std::string> names = {"fixed", "follow_up", "follow_down", "follow_both",
                                                 "random"};
  const std::string name = table.at("start").text("analysis.start");
  start_ = static_cast<Start>(std::find(names.begin(), names.end(), name) - names.begin());
  const Value* starts = table.find("starts");
  if (start_ == Start::follow_both) starts_ = 2;
  if (start_ == Start::random) {
    starts_ = starts != nullptr ? static_cast<std::size_t>(starts->integer("analysis.starts")) : 1;
  } else if (starts != nullptr) {
    throw InputError(starts->place(), "analysis.starts", starts->toml(), "goes with start = \"random\" only");
  }
  starts_in_ = read_start_box(table, state_count());
}

std::vector<std::size_t> Sweep::extents() const {
  std::vector<std::size_t> extents = extents_of(axes_);
  if (starts_ > 1) extents.insert(extents.begin(), starts_);
  return extents;
}

std::vector<std::string> Sweep::point_dimensions() const {
  std::vector<std::string> names = names_of(axes_, model());
  if (starts_ > 1) names.insert(names.begin(), "start");
  return names;
}

std::vector<Box> Sweep::blocks(std::size_t points) const {
  std::vector<std::size_t> sizes = extents();
  if (!follows()) return split(sizes, std::max<std::size_t>(points, 1));
  // A followed branch is one chain along the first axis. Where there are many, some go side by side.
  constexpr std::size_t side_by_side = 8;
  const std::size_t length = std::exchange(sizes[along()], 1);
  const std::size_t chains = Box{{}, sizes}.points();
  const std::size_t at_least = std::clamp<std::size_t>(chains / side_by_side, 1, side_by_side);
  std::vector<Box> boxes = split(sizes, std::max(points / length, at_least));
  for (Box& box : boxes) box.count[along()] = length;
  return boxes;
}

/// Every array of the result over these extents of the point dimensions, without values.
Dataset Sweep::shape(const std::vector<std::size_t>& extents) const {
  PointArrays arrays(point_dimensions(), extents);
  arrays.dimension("iterate", static_cast<std::size_t>(options_.record));
  arrays.dimension("state", state_count());
  arrays.dimension("contact", contact_count());
  if (!model().frictions().empty()) arrays.dimension("dry_friction", model().frictions().size());
  if (!model().jumps().empty()) arrays.dimension("jump", model().jumps().size());
  arrays.dimension("multiplier", state_count());
  if (letters_ > 0) arrays.dimension("letter", letters_);
  using I8 = std::vector<std::int8_t>;
  using I32 = std::vector<std::int32_t>;
  using I64 = std::vector<std::int64_t>;
  using F64 = std::vector<double>;
  arrays.add("map_state", {"iterate", "state"}, F64{}, "1", "state at the section, iterate by iterate");
  arrays.add("map_time", {"iterate"}, F64{}, "1", "time of the iterate since the start");
  arrays.add("attractor", {}, I8{}, "1", "what the motion settles to", attractor_names());
  arrays.add("period", {}, I32{}, "1", "iterates of the map after which a periodic attractor closes, else 0");
  arrays.add("impacts", {"contact"}, I64{}, "1",
             "impacts per orbit, or in the recorded window when not periodic");
  arrays.add("forcing_periods", {}, F64{}, "1", "length of the orbit or window in forcing periods");
  arrays.add("chatter_complete", {"contact"}, I64{}, "1",
             "complete chatter sequences in the orbit or window");
  arrays.add("chatter_incomplete", {"contact"}, I64{}, "1",
             "incomplete chatter sequences in the orbit or window");
  arrays.add("sticks", {"contact"}, I64{}, "1", "times the contact began to stick in the orbit or window");
  arrays.add("rises", {"contact"}, I64{}, "1", "times the contact rose in the orbit or window");
  arrays.add("reversing_fraction", {"contact"}, F64{}, "1",
             "share of the impacts in which slip along the contact turns");
  arrays.add("locking_fraction", {"contact"}, F64{}, "1",
             "share of the impacts in which slip along the contact stops");
  arrays.add("keeping_fraction", {"contact"}, F64{}, "1",
             "share of the impacts in which slip along the contact neither turns nor stops");
  arrays.add("stick_fraction", {"contact"}, F64{}, "1", "share of time that the contact sticks");
  arrays.add("stick_fraction_all", {}, F64{}, "1", "share of time that all contacts stick at once");
  if (!model().frictions().empty()) {
    arrays.add("friction_sticks", {"dry_friction"}, I64{}, "1",
               "times the friction began to stick in the orbit or window");
    arrays.add("friction_stick_fraction", {"dry_friction"}, F64{}, "1",
               "share of time that the friction sticks");
    arrays.add("slip_reversals", {"dry_friction"}, I64{}, "1", "reversals of sliding in the orbit or window");
  }
  if (!model().jumps().empty())
    arrays.add("jumps", {"jump"}, I64{}, "1", "times the jump map fired in the orbit or window");
  arrays.add("peak_force", {"contact"}, F64{}, "1",
             "greatest normal force of a compliant contact on the orbit or window, NaN where it has none");
  arrays.add("greatest_gap", {"contact"}, F64{}, "1", "greatest gap of the contact on the orbit or window");
  arrays.add("min_gap_speed", {}, F64{}, "1",
             "smallest normal speed at which a contact was touched or nearly touched");
  arrays.add("multiplier_re", {"multiplier"}, F64{}, "1", "multipliers of the periodic orbit, real part");
  arrays.add("multiplier_im", {"multiplier"}, F64{}, "1",
             "multipliers of the periodic orbit, imaginary part");
  arrays.add("lyapunov", {}, F64{}, "1", "largest Lyapunov exponent per time");
  arrays.add("lyapunov_error", {}, F64{}, "1", "standard error of the exponent; 0 when periodic");
  arrays.add("transient_used", {}, I32{}, "1", "map iterates dropped before the recorded ones");
  arrays.add("chaotic_iterates", {}, I64{}, "1",
             "map iterates from the start on over which the motion has looked chaotic: when chaotic, so far; "
             "when periodic, until it was seen to settle, 0: never");
  if (problem_.observables) problem_.observables->add_arrays(arrays, "the orbit or window");
  if (letters_ > 0) {
    std::vector<std::string> names_of_contacts;
    for (const Quantity& contact : model().contacts()) names_of_contacts.push_back(contact.name);
    arrays.add(
        "itinerary", {"letter"}, I8{}, "1",
        "contacts in the order in which they are hit: on a periodic orbit from the impact that makes the "
        "first "
        "word in the order of the contacts, else in the recorded window",
        names_of_contacts);
  }
  arrays.add("outcome", {}, I8{}, "1", "what happened numerically", outcome_names());
  return arrays.take();
}

Dataset Sweep::layout() const {
  Dataset data = shape(extents());
  for (const Axis& axis : axes_) data.arrays.push_back(axis_coordinate(axis, model()));
  data.arrays.push_back(names_coordinate("state", model().states(), "state of the model"));
  data.arrays.push_back(names_coordinate("contact", model().contacts(), "contact of the model"));
  if (!model().frictions().empty())
    data.arrays.push_back(names_coordinate("dry_friction", model().frictions(), "dry friction of the model"));
  if (!model().jumps().empty())
    data.arrays.push_back(names_coordinate("jump", model().jumps(), "jump map of the model"));
  if (start_ == Start::follow_both) {
    data.arrays.push_back(
        names_coordinate("start", {{"up", "1", ""}, {"down", "1", ""}}, "direction of following"));
  }
  return data;
}

/// The start of a point that follows no other; nothing: there is none in the box.
std::optional<HybridState> Sweep::start_of(System& system, std::span<const double> values,
                                           std::uint64_t point) const {
  HybridState state = problem_.start(values);
  if (start_ == Start::random && !draw_start(system, starts_in_, problem_.seed, point, state)) {
    return std::nullopt;
  }
  return state;
}

std::uint64_t Sweep::number_of(const std::vector<std::size_t>& place) const {
  const std::vector<std::size_t> sizes = extents();
  std::uint64_t point = 0;
  for (std::size_t d = 0; d < place.size(); ++d) point = point * sizes[d] + place[d];
  return point;
}

/// The attractors at these places of the grid; the motion at place k goes on from `follow[k]` where that is
/// given and a motion may start there.
std::vector<Settled> Sweep::settle(std::span<const std::vector<std::size_t>> places,
                                   std::span<const std::optional<HybridState>> follow) const {
  std::vector<std::unique_ptr<System>> systems;
  std::vector<std::optional<HybridState>> starts;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::vector<double> values = values_at(places[k], axes_, model());
    systems.push_back(recalling(model().system(values, problem_.tolerance)));
    System* system = systems.back().get();
    if (system == nullptr) {
      starts.push_back(problem_.start(values));
      continue;
    }
    if (!follow.empty() && follow[k]) {
      HybridState from = *follow[k];
      from.turns = 0;
      from.settled = false;
      if (may_start(*system, from)) {
        starts.push_back(std::move(from));
        continue;
      }
    }
    starts.push_back(start_of(*system, values, number_of(places[k])));
  }
  std::vector<Settled> settled;
  for (Attractor& found : find_attractors(systems, starts, section_, options_)) {
    System* system = systems[settled.size()].get();
    const std::vector<double> values = values_at(places[settled.size()], axes_, model());
    if (system == nullptr) {
      settled.push_back({std::move(found)});
      continue;
    }
    std::vector<double> gaps = greatest_gaps(*system, found);
    std::vector<Observed> seen;
    if (problem_.observables && found.outcome == Outcome::ok)
      seen = observe(*problem_.observables, values, *system, ways_of(found), section_);
    settled.push_back({std::move(found), system->period(), std::move(gaps), std::move(seen)});
  }
  return settled;
}

Dataset Sweep::compute(const Box& box) const {
  Dataset block = shape(box.count);
  fill_missing(block);
  if (follows()) {
    follow_chains(box, block);
    return block;
  }
  const std::size_t points = box.points();
  for (std::size_t first = 0; first < points; first += motions_at_once) {
    std::vector<std::vector<std::size_t>> places;
    std::vector<std::size_t> numbers;
    for (std::size_t n = first; n < std::min(points, first + motions_at_once); ++n) {
      numbers.push_back(n);
      places.push_back(place_in(box, n));
    }
    store(settle(places, {}), numbers, block);
  }
  return block;
}

/// All chains of the box, side by side.
void Sweep::follow_chains(const Box& box, Dataset& block) const {
  const std::size_t length = box.count[along()];
  std::size_t stride = 1;  // from one point of a chain to the next
  for (std::size_t d = along() + 1; d < box.count.size(); ++d) stride *= box.count[d];
  const std::size_t chains = box.points() / length;
  std::vector<std::optional<HybridState>> last(chains);
  for (std::size_t step = 0; step < length; ++step) {
    std::vector<std::size_t> points;
    std::vector<std::vector<std::size_t>> places;
    for (std::size_t chain = 0; chain < chains; ++chain) {
      const std::size_t begin = chain / stride * stride * length + chain % stride;
      const std::size_t place = down(box.offset[0] + chain / stride) ? length - 1 - step : step;
      points.push_back(begin + place * stride);
      places.push_back(place_in(box, points.back()));
    }
    const std::vector<Settled> settled = settle(places, last);
    store(settled, points, block);
    for (std::size_t chain = 0; chain < chains; ++chain) {
      const Attractor& found = settled[chain].attractor;
      last[chain].reset();
      if (found.outcome == Outcome::ok) last[chain] = found.last;
    }
  }
}

/// Writes what was found into the block's arrays, at its points of these numbers: array by array, of motions
/// that have not broken off.
void Sweep::store(std::span<const Settled> settled, std::span<const std::size_t> points,
                  Dataset& block) const {
  const auto put_any = [&]<class T>(T, const char* name, std::size_t width, const auto& put) {
    T* const values = row_of<T>(block, name, 0);
    for (std::size_t k = 0; k < settled.size(); ++k) put(settled[k], values + points[k] * width);
  };
  const auto put = [&]<class T>(T like, const char* name, std::size_t width, const auto& put_one) {
    put_any(like, name, width, [&](const Settled& one, T* row) {
      if (one.attractor.outcome == Outcome::ok) put_one(one, row);
    });
  };
  const auto put_value = [&]<class T>(T like, const char* name, const auto& value) {
    put(like, name, 1, [&](const Settled& one, T* row) { *row = value(one); });
  };
  constexpr std::int8_t i8 = 0;
  constexpr std::int32_t i32 = 0;
  constexpr std::int64_t i64 = 0;
  constexpr double f64 = 0;
  put_any(i8, "attractor", 1,
          [](const Settled& one, std::int8_t* row) { *row = static_cast<std::int8_t>(one.attractor.kind); });
  put_any(i8, "outcome", 1, [](const Settled& one, std::int8_t* row) {
    *row = static_cast<std::int8_t>(one.attractor.outcome);
  });
  const std::size_t record = static_cast<std::size_t>(options_.record), width = state_count();
  put(f64, "map_state", record * width, [&](const Settled& one, double* row) {
    const std::vector<double>& x = one.attractor.points.x();
    std::copy_n(x.begin(), record * width, row);
  });
  put(f64, "map_time", record, [&](const Settled& one, double* row) {
    for (std::size_t k = 0; k < record; ++k) {
      const Iterates::Point p = one.attractor.points[k];
      row[k] = p.time + static_cast<double>(p.turns) * one.forcing_period;
    }
  });
  const auto length = [](const Settled& one) { return one.attractor.end_time - one.attractor.start_time; };
  put_value(i32, "period", [](const Settled& one) { return one.attractor.orbit.period; });
  put_value(i32, "transient_used", [](const Settled& one) { return one.attractor.transient_used; });
  put_value(f64, "lyapunov", [](const Settled& one) { return one.attractor.lyapunov; });
  put_value(f64, "lyapunov_error", [](const Settled& one) { return one.attractor.lyapunov_error; });
  put_value(i64, "chaotic_iterates", [](const Settled& one) { return one.attractor.chaotic_iterates; });
  put_value(f64, "min_gap_speed", [](const Settled& one) { return one.attractor.tally.min_gap_speed(); });
  put_value(f64, "stick_fraction_all",
            [&](const Settled& one) { return one.attractor.tally.all_stick_time() / length(one); });
  put(f64, "forcing_periods", 1, [&](const Settled& one, double* row) {
    if (one.forcing_period > 0) *row = length(one) / one.forcing_period;
  });
  for (std::size_t k = 0; k < settled.size(); ++k) {
    if (settled[k].attractor.outcome != Outcome::ok) continue;
    if (letters_ > 0) store_itinerary(settled[k].attractor, points[k], block);
    if (problem_.observables) problem_.observables->store(settled[k].observed, points[k], block);
  }

  const std::size_t contacts = contact_count();
  const auto put_contacts = [&]<class T>(T like, const char* name, const auto& value) {
    put(like, name, contacts, [&](const Settled& one, T* row) {
      for (std::size_t i = 0; i < contacts; ++i) row[i] = value(one, one.attractor.tally.contacts()[i], i);
    });
  };
  using Contact = Tally::Contact;
  put_contacts(i64, "impacts", [](auto&, const Contact& c, std::size_t) { return c.impacts; });
  put_contacts(i64, "chatter_complete",
               [](auto&, const Contact& c, std::size_t) { return c.chatter_complete; });
  put_contacts(i64, "chatter_incomplete",
               [](auto&, const Contact& c, std::size_t) { return c.chatter_incomplete; });
  put_contacts(i64, "sticks", [](auto&, const Contact& c, std::size_t) { return c.sticks; });
  put_contacts(i64, "rises", [](auto&, const Contact& c, std::size_t) { return c.rises; });
  put_contacts(f64, "stick_fraction",
               [&](const Settled& one, const Contact& c, std::size_t) { return c.stick_time / length(one); });
  put_contacts(f64, "peak_force", [](auto&, const Contact& c, std::size_t) { return c.peak_force; });
  put_contacts(f64, "greatest_gap", [](const Settled& one, const Contact& c, std::size_t i) {
    return std::max(c.greatest_gap, one.section_gaps[i]);
  });
  const auto share_of_impacts = [](const Contact& c, std::int64_t number) {
    return static_cast<double>(number) / (c.impacts > 0 ? static_cast<double>(c.impacts) : no_value);
  };
  put_contacts(f64, "reversing_fraction", [&](auto&, const Contact& c, std::size_t) {
    return share_of_impacts(c, c.impacts_reversing);
  });
  put_contacts(f64, "locking_fraction",
               [&](auto&, const Contact& c, std::size_t) { return share_of_impacts(c, c.impacts_locking); });
  put_contacts(f64, "keeping_fraction", [&](auto&, const Contact& c, std::size_t) {
    return share_of_impacts(c, c.impacts - c.impacts_reversing - c.impacts_locking);
  });

  // A system at these values may have no friction though its model can.
  const std::size_t frictions = model().frictions().size();
  const auto put_frictions = [&]<class T>(T like, const char* name, const auto& value) {
    if (frictions == 0) return;
    put(like, name, frictions, [&](const Settled& one, T* row) {
      const auto& all = one.attractor.tally.frictions();
      for (std::size_t k = 0; k < frictions; ++k)
        row[k] = value(one, k < all.size() ? all[k] : Tally::Friction{});
    });
  };
  put_frictions(i64, "friction_sticks", [](auto&, const Tally::Friction& f) { return f.sticks; });
  put_frictions(f64, "friction_stick_fraction",
                [&](const Settled& one, const Tally::Friction& f) { return f.stick_time / length(one); });
  put_frictions(i64, "slip_reversals", [](auto&, const Tally::Friction& f) { return f.reversals; });
  if (const std::size_t jumps = model().jumps().size(); jumps > 0) {
    put(i64, "jumps", jumps, [&](const Settled& one, std::int64_t* row) {
      const auto& all = one.attractor.tally.jumps();
      for (std::size_t k = 0; k < jumps; ++k) row[k] = k < all.size() ? all[k] : 0;
    });
  }
  put(f64, "multiplier_re", width, [](const Settled& one, double* row) {
    for (const std::complex<double>& m : one.attractor.orbit.multipliers) *row++ = m.real();
  });
  put(f64, "multiplier_im", width, [](const Settled& one, double* row) {
    for (const std::complex<double>& m : one.attractor.orbit.multipliers) *row++ = m.imag();
  });
}

void Sweep::store_itinerary(const Attractor& found, std::size_t point, Dataset& block) const {
  std::int64_t impacts = 0;
  for (const Tally::Contact& c : found.tally.contacts()) impacts += c.impacts;
  std::vector<std::int8_t> word = found.tally.itinerary();
  const bool whole = impacts == static_cast<std::int64_t>(word.size());
  if (whole && found.kind == AttractorClass::periodic) rotate_to_first(word);
  word.resize(std::min(word.size(), letters_));
  std::copy(word.begin(), word.end(), row_of<std::int8_t>(block, "itinerary", point, letters_));
}

std::vector<Key> sweep_keys() {
  std::vector<Key> keys;
  Key& axis = add_key(keys, "axis", Key::Type::table, "the swept parameter and its values");
  axis.children = axis_keys();
  axis.required = true;
  add_key(keys, "axis2", Key::Type::table, "a second swept parameter: a two-parameter map").children =
      axis_keys();
  for (Key& key : map_keys()) keys.push_back(std::move(key));
  Key& itinerary = add_key(keys, "itinerary", Key::Type::integer,
                           "letters kept of the order in which the contacts are hit; 0: none");
  itinerary.range = Range{0, static_cast<double>(Tally::most_letters), false, false};
  itinerary.fallback = Value(std::int64_t{0});
  Key& start = add_key(keys, "start", Key::Type::text,
                       "where each point starts: at [initial], from its neighbour's attractor, at random");
  start.choices = {"fixed", "follow_up", "follow_down", "follow_both", "random"};
  start.fallback = Value("fixed");
  Key& starts = add_key(keys, "starts", Key::Type::integer, "start = \"random\": number of starts per point");
  starts.range = Range{1, 1e6, false, false};
  Key& low = add_key(keys, "low", Key::Type::numbers,
                     "start = \"random\": smallest start state, one number per state; default -1");
  low.range = Range::finite();
  Key& high = add_key(keys, "high", Key::Type::numbers,
                      "start = \"random\": greatest start state, one number per state; default 1");
  high.range = Range::finite();
  return keys;
}

}  // namespace

GRAZE_ANALYSIS(sweep) {
  return {"sweep", "what the system settles to, over one or two parameters", sweep_keys(),
          analysis_of<Sweep>};
}

}  // namespace graze
