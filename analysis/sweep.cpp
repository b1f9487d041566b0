/// Sweep: what a system settles to, over one or two parameters and one or several starts.
#include <Random123/philox.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/attractor.hpp"
#include "analysis/axis.hpp"
#include "analysis/registry.hpp"

namespace graze {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

enum class Start { fixed, follow_up, follow_down, follow_both, random };

/// Uniform numbers in [0, 1): the k-th of a point, whoever computes it and when.
double uniform(std::uint64_t seed, std::uint64_t point, std::uint32_t attempt, std::uint32_t k) {
  using Generator = r123::Philox4x32;
  const Generator::ctr_type counter = {
      {static_cast<std::uint32_t>(point), static_cast<std::uint32_t>(point >> 32), attempt, k}};
  const Generator::key_type key = {
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const Generator::ctr_type bits = Generator()(counter, key);
  const std::uint64_t high = bits[0];
  return static_cast<double>((high << 21) ^ (bits[1] >> 11)) * 0x1p-53;
}

struct Settled {
  Attractor attractor;
  double forcing_period = 0;  ///< 0: autonomous
};

class Sweep final : public Analysis {
 public:
  explicit Sweep(const Problem& problem);

  Dataset layout() const override;
  std::vector<std::string> point_dimensions() const override;
  std::vector<Box> blocks(std::size_t points) const override;
  Dataset compute(const Box& box) const override;

 private:
  void read_map(const Value& table);
  void read_starts(const Value& table);
  const Model& model() const { return *problem_.model; }
  bool follows() const {
    return start_ == Start::follow_up || start_ == Start::follow_down || start_ == Start::follow_both;
  }
  std::vector<std::size_t> extents() const;
  Dataset shape(const std::vector<std::size_t>& extents) const;
  std::size_t contact_count() const { return model().contacts().size(); }
  std::size_t state_count() const { return model().states().size(); }

  HybridState fixed_start() const;
  bool admissible(const System& system, const HybridState& state) const;
  HybridState start_of(const System& system, std::uint64_t point) const;
  Settled settle(const std::vector<std::size_t>& place, const HybridState* follow) const;
  void store(const Settled& settled, std::size_t point, Dataset& block) const;

  Problem problem_;
  std::vector<Axis> axes_;
  Section section_;
  AttractorOptions options_;
  Start start_ = Start::fixed;
  std::size_t starts_ = 1;
  std::vector<double> low_, high_;
};

int index_of(const std::vector<Quantity>& list, const Value& name, const std::string& key) {
  std::vector<std::string> names;
  for (const Quantity& q : list) names.push_back(q.name);
  const auto found = std::find(names.begin(), names.end(), name.text(key));
  if (found != names.end()) return static_cast<int>(found - names.begin());
  const std::string near = nearest_name(name.text(key), names);
  throw InputError(name.place(), key, name.toml(),
                   "the model has no such name" + (near.empty() ? "" : "; did you mean " + near + "?"));
}

Sweep::Sweep(const Problem& problem) : problem_(problem) {
  const Value& table = problem.analysis;
  axes_.push_back(read_axis(table.at("axis"), model(), "analysis.axis"));
  if (const Value* second = table.find("axis2")) {
    axes_.push_back(read_axis(*second, model(), "analysis.axis2"));
    if (axes_[0].parameter == axes_[1].parameter) {
      throw InputError(second->place(), "analysis.axis2.parameter", second->at("parameter").toml(),
                       "both axes sweep the same parameter");
    }
  }
  read_map(table);
  read_starts(table);
  options_.transient = static_cast<int>(table.at("transient").integer("analysis.transient"));
  options_.record = static_cast<int>(table.at("record").integer("analysis.record"));
  options_.max_period = static_cast<int>(table.at("max_period").integer("analysis.max_period"));
  options_.extension = static_cast<int>(table.at("extension").integer("analysis.extension"));
  if (options_.max_period >= options_.record) {
    throw InputError(table.at("max_period").place(), "analysis.max_period", table.at("max_period").toml(),
                     "must be below record: a period is seen only when it returns within the record");
  }
}

void Sweep::read_map(const Value& table) {
  const std::string map = table.at("map").text("analysis.map");
  const auto needed = [&](const char* key) -> const Value& {
    const Value* value = table.find(key);
    if (value == nullptr) {
      throw InputError(table.at("map").place(), "analysis.map", table.at("map").toml(),
                       std::string("needs the key ") + key);
    }
    return *value;
  };
  if (map == "impact") {
    const std::string side = table.at("side").text("analysis.side");
    section_.kind = side == "before" ? Section::Kind::impact_before : Section::Kind::impact_after;
    section_.contact = index_of(model().contacts(), needed("contact"), "analysis.contact");
  } else if (map == "section") {
    section_.kind = Section::Kind::level;
    section_.coordinate = index_of(model().states(), needed("coordinate"), "analysis.coordinate");
    section_.level = needed("level").number("analysis.level");
    section_.direction = table.at("direction").text("analysis.direction") == "up" ? 1 : -1;
  } else {
    const auto system = model().system(model().values(), problem_.tolerance);
    if (system && !(system->period() > 0)) {
      throw InputError(table.at("map").place(), "analysis.map", "\"stroboscopic\"",
                       "needs a forced model; take the map impact or section");
    }
  }
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
  const auto bound = [&](const char* key, double fallback) {
    const Value* list = table.find(key);
    if (list == nullptr) return std::vector<double>(state_count(), fallback);
    std::vector<double> values = list->numbers(std::string("analysis.") + key);
    if (values.size() == state_count()) return values;
    throw InputError(list->place(), std::string("analysis.") + key, list->toml(),
                     "needs one number per state of the model, " + std::to_string(state_count()));
  };
  low_ = bound("low", -1);
  high_ = bound("high", 1);
}

std::vector<std::size_t> Sweep::extents() const {
  std::vector<std::size_t> extents;
  if (starts_ > 1) extents.push_back(starts_);
  for (const Axis& axis : axes_) extents.push_back(axis.values.size());
  return extents;
}

std::vector<std::string> Sweep::point_dimensions() const {
  std::vector<std::string> names;
  if (starts_ > 1) names.push_back("start");
  for (const Axis& axis : axes_)
    names.push_back(model().parameters()[static_cast<std::size_t>(axis.parameter)].name);
  return names;
}

std::vector<Box> Sweep::blocks(std::size_t points) const {
  std::vector<std::size_t> sizes = extents();
  if (!follows()) return split(sizes, std::max<std::size_t>(points, 1));
  // A followed branch is one chain along the first axis.
  const std::size_t chain = starts_ > 1 ? 1 : 0;
  const std::size_t length = sizes[chain];
  sizes[chain] = 1;
  std::vector<Box> boxes = split(sizes, 1);
  for (Box& box : boxes) box.count[chain] = length;
  return boxes;
}

/// Every array of the result over these extents of the point dimensions, without values.
Dataset Sweep::shape(const std::vector<std::size_t>& extents) const {
  const std::vector<std::string> names = point_dimensions();
  Dataset data;
  for (std::size_t d = 0; d < names.size(); ++d) data.dimensions.push_back({names[d], extents[d]});
  data.dimensions.push_back({"iterate", static_cast<std::size_t>(options_.record)});
  data.dimensions.push_back({"state", state_count()});
  data.dimensions.push_back({"contact", contact_count()});
  data.dimensions.push_back({"multiplier", state_count()});
  const auto add = [&](const char* name, std::vector<std::string> further, Array::Values values,
                       const char* unit, const char* meaning, std::vector<std::string> flags = {}) {
    Array array;
    array.name = name;
    array.dimensions = names;
    array.dimensions.insert(array.dimensions.end(), further.begin(), further.end());
    array.values = std::move(values);
    array.unit = unit;
    array.long_name = meaning;
    array.flags = std::move(flags);
    data.arrays.push_back(std::move(array));
  };
  using I8 = std::vector<std::int8_t>;
  using I32 = std::vector<std::int32_t>;
  using I64 = std::vector<std::int64_t>;
  using F64 = std::vector<double>;
  add("map_state", {"iterate", "state"}, F64{}, "1", "state at the section, iterate by iterate");
  add("map_time", {"iterate"}, F64{}, "1", "time of the iterate since the start");
  add("attractor", {}, I8{}, "1", "what the motion settles to", attractor_names());
  add("period", {}, I32{}, "1", "iterates of the map after which a periodic attractor closes, else 0");
  add("impacts", {"contact"}, I64{}, "1", "impacts per orbit, or in the recorded window when not periodic");
  add("forcing_periods", {}, F64{}, "1", "length of the orbit or window in forcing periods");
  add("chatter_complete", {"contact"}, I64{}, "1", "complete chatter sequences in the orbit or window");
  add("chatter_incomplete", {"contact"}, I64{}, "1", "incomplete chatter sequences in the orbit or window");
  add("sticks", {"contact"}, I64{}, "1", "times the contact began to stick in the orbit or window");
  add("rises", {"contact"}, I64{}, "1", "times the contact rose in the orbit or window");
  add("stick_fraction", {"contact"}, F64{}, "1", "share of time that the contact sticks");
  add("stick_fraction_all", {}, F64{}, "1", "share of time that all contacts stick at once");
  add("min_gap_speed", {}, F64{}, "1",
      "smallest normal speed at which a contact was touched or nearly touched");
  add("multiplier_re", {"multiplier"}, F64{}, "1", "multipliers of the periodic orbit, real part");
  add("multiplier_im", {"multiplier"}, F64{}, "1", "multipliers of the periodic orbit, imaginary part");
  add("lyapunov", {}, F64{}, "1", "largest Lyapunov exponent per time");
  add("transient_used", {}, I32{}, "1", "map iterates dropped before the recorded ones");
  add("outcome", {}, I8{}, "1", "what happened numerically", outcome_names());
  return data;
}

Array coordinate(const std::string& name, const std::vector<Quantity>& list, const char* meaning) {
  Array array;
  array.name = name;
  array.dimensions = {name};
  std::vector<std::int8_t> index;
  for (std::size_t i = 0; i < list.size(); ++i) {
    index.push_back(static_cast<std::int8_t>(i));
    array.flags.push_back(list[i].name);
  }
  array.values = std::move(index);
  array.unit = "1";
  array.long_name = meaning;
  return array;
}

Dataset Sweep::layout() const {
  Dataset data = shape(extents());
  for (const Axis& axis : axes_) {
    const Parameter& p = model().parameters()[static_cast<std::size_t>(axis.parameter)];
    Array array;
    array.name = p.name;
    array.dimensions = {p.name};
    array.values = axis.values;
    array.unit = p.unit;
    array.long_name = p.meaning;
    data.arrays.push_back(std::move(array));
  }
  data.arrays.push_back(coordinate("state", model().states(), "state of the model"));
  data.arrays.push_back(coordinate("contact", model().contacts(), "contact of the model"));
  if (start_ == Start::follow_both) {
    data.arrays.push_back(
        coordinate("start", {{"up", "1", ""}, {"down", "1", ""}}, "direction of following"));
  }
  return data;
}

HybridState Sweep::fixed_start() const {
  HybridState state;
  state.time = problem_.start_time;
  state.x = Eigen::Map<const Eigen::VectorXd>(problem_.start_state.data(),
                                              static_cast<Eigen::Index>(state_count()));
  return state;
}

bool Sweep::admissible(const System& system, const HybridState& state) const {
  Eigen::VectorXd gap, rate;
  system.gaps(state, gap, rate);
  return gap.size() == 0 || gap.minCoeff() >= 0;
}

/// The start of a point that follows no other; random starts are drawn until no contact is violated.
HybridState Sweep::start_of(const System& system, std::uint64_t point) const {
  HybridState state = fixed_start();
  if (start_ != Start::random) return state;
  constexpr std::uint32_t attempts = 1000;
  for (std::uint32_t attempt = 0; attempt < attempts; ++attempt) {
    for (std::size_t i = 0; i < state_count(); ++i) {
      const double share = uniform(problem_.seed, point, attempt, static_cast<std::uint32_t>(i));
      state.x(static_cast<Eigen::Index>(i)) = low_[i] + (high_[i] - low_[i]) * share;
    }
    if (admissible(system, state)) break;
  }
  return state;
}

/// The attractor at one place of the grid, from `follow` where it is given and admissible there.
Settled Sweep::settle(const std::vector<std::size_t>& place, const HybridState* follow) const {
  std::vector<double> values = model().values();
  const std::size_t first_axis = place.size() - axes_.size();
  std::uint64_t point = 0;
  const std::vector<std::size_t> sizes = extents();
  for (std::size_t d = 0; d < place.size(); ++d) point = point * sizes[d] + place[d];
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    values[static_cast<std::size_t>(axes_[a].parameter)] = axes_[a].values[place[first_axis + a]];
  }
  const std::unique_ptr<System> system = model().system(values, problem_.tolerance);
  if (!system) {
    Attractor failed;
    failed.outcome = Outcome::bad_parameters;
    failed.lyapunov = nan;
    failed.last = fixed_start();
    return {failed, 0};
  }
  HybridState start = start_of(*system, point);
  if (follow != nullptr) {
    HybridState from = *follow;
    from.turns = 0;
    from.settled = false;
    if (admissible(*system, from)) start = from;
  }
  return {find_attractor(PoincareMap(*system, section_), start, options_), system->period()};
}

/// Place of point number `index` of a box (the last dimension running fastest).
std::vector<std::size_t> place_in(const Box& box, std::size_t index) {
  std::vector<std::size_t> place(box.count.size());
  for (std::size_t d = place.size(); d-- > 0;) {
    place[d] = box.offset[d] + index % box.count[d];
    index /= box.count[d];
  }
  return place;
}

Dataset Sweep::compute(const Box& box) const {
  Dataset block = shape(box.count);
  for (Array& array : block.arrays) array.values = missing_values(array.values, block.elements(array));
  const bool down = start_ == Start::follow_down || (start_ == Start::follow_both && box.offset[0] == 1);
  const std::size_t points = box.points();
  HybridState last;
  bool have_last = false;
  for (std::size_t n = 0; n < points; ++n) {
    const std::size_t index = follows() && down ? points - 1 - n : n;
    const Settled found = settle(place_in(box, index), follows() && have_last ? &last : nullptr);
    have_last = found.attractor.outcome == Outcome::ok;
    last = found.attractor.last;
    store(found, index, block);
  }
  return block;
}

template <class T>
T* row_of(Dataset& block, const char* name, std::size_t point, std::size_t width) {
  return std::get<std::vector<T>>(block.at(name).values).data() + point * width;
}

/// Writes what was found into the block's arrays, at its point number `point`.
void Sweep::store(const Settled& settled, std::size_t point, Dataset& block) const {
  const Attractor& found = settled.attractor;
  *row_of<std::int8_t>(block, "attractor", point, 1) = static_cast<std::int8_t>(found.kind);
  *row_of<std::int8_t>(block, "outcome", point, 1) = static_cast<std::int8_t>(found.outcome);
  if (found.outcome != Outcome::ok) return;
  const std::size_t record = static_cast<std::size_t>(options_.record);
  const std::size_t width = state_count();
  double* state = row_of<double>(block, "map_state", point, record * width);
  double* time = row_of<double>(block, "map_time", point, record);
  for (std::size_t k = 0; k < found.points.size(); ++k) {
    const HybridState& p = found.points[k];
    std::copy(p.x.begin(), p.x.end(), state + k * width);
    time[k] = p.time + static_cast<double>(p.turns) * settled.forcing_period;
  }
  const double length = found.end_time - found.start_time;
  *row_of<std::int32_t>(block, "period", point, 1) = found.orbit.period;
  *row_of<std::int32_t>(block, "transient_used", point, 1) = found.transient_used;
  *row_of<double>(block, "lyapunov", point, 1) = found.lyapunov;
  *row_of<double>(block, "min_gap_speed", point, 1) = found.tally.min_gap_speed();
  *row_of<double>(block, "stick_fraction_all", point, 1) = found.tally.all_stick_time() / length;
  if (settled.forcing_period > 0) {
    *row_of<double>(block, "forcing_periods", point, 1) = length / settled.forcing_period;
  }
  const std::size_t contacts = contact_count();
  for (std::size_t i = 0; i < contacts; ++i) {
    const Tally::Contact& c = found.tally.contacts()[i];
    row_of<std::int64_t>(block, "impacts", point, contacts)[i] = c.impacts;
    row_of<std::int64_t>(block, "chatter_complete", point, contacts)[i] = c.chatter_complete;
    row_of<std::int64_t>(block, "chatter_incomplete", point, contacts)[i] = c.chatter_incomplete;
    row_of<std::int64_t>(block, "sticks", point, contacts)[i] = c.sticks;
    row_of<std::int64_t>(block, "rises", point, contacts)[i] = c.rises;
    row_of<double>(block, "stick_fraction", point, contacts)[i] = c.stick_time / length;
  }
  for (std::size_t k = 0; k < found.orbit.multipliers.size(); ++k) {
    row_of<double>(block, "multiplier_re", point, width)[k] = found.orbit.multipliers[k].real();
    row_of<double>(block, "multiplier_im", point, width)[k] = found.orbit.multipliers[k].imag();
  }
}

std::vector<Key> sweep_keys() {
  const AttractorOptions defaults;
  std::vector<Key> keys;
  const auto add = [&](const char* name, Key::Type type, const char* meaning) -> Key& {
    Key key;
    key.name = name;
    key.type = type;
    key.meaning = meaning;
    keys.push_back(std::move(key));
    return keys.back();
  };
  const auto count = [&](const char* name, std::int64_t fallback, double low, const char* meaning) {
    Key& key = add(name, Key::Type::integer, meaning);
    key.fallback = Value(fallback);
    key.range = Range{low, 1e9, false, false};
  };
  Key& axis = add("axis", Key::Type::table, "the swept parameter and its values");
  axis.children = axis_keys();
  axis.required = true;
  add("axis2", Key::Type::table, "a second swept parameter: a two-parameter map").children = axis_keys();
  Key& map = add("map", Key::Type::text, "the section whose iterates are classified");
  map.choices = {"stroboscopic", "impact", "section"};
  map.fallback = Value("stroboscopic");
  add("contact", Key::Type::text, "map = \"impact\": the contact whose impacts are the iterates");
  Key& side = add("side", Key::Type::text, "map = \"impact\": states before or after the impact");
  side.choices = {"before", "after"};
  side.fallback = Value("after");
  add("coordinate", Key::Type::text, "map = \"section\": the state that passes a level");
  Key& level = add("level", Key::Type::number, "map = \"section\": that level");
  level.range = Range::finite();
  Key& direction = add("direction", Key::Type::text, "map = \"section\": the way it passes");
  direction.choices = {"up", "down"};
  direction.fallback = Value("up");
  count("transient", defaults.transient, 0, "map iterates dropped");
  count("record", defaults.record, 2, "map iterates kept");
  count("max_period", defaults.max_period, 1, "longest period looked for, below record");
  count("extension", defaults.extension, 1,
        "the transient may grow to this many times itself where convergence is slow");
  Key& start = add("start", Key::Type::text,
                   "where each point starts: at [initial], from its neighbour's attractor, at random");
  start.choices = {"fixed", "follow_up", "follow_down", "follow_both", "random"};
  start.fallback = Value("fixed");
  Key& starts = add("starts", Key::Type::integer, "start = \"random\": number of starts per point");
  starts.range = Range{1, 1e6, false, false};
  Key& low = add("low", Key::Type::numbers,
                 "start = \"random\": smallest start state, one number per state; default -1");
  low.range = Range::finite();
  Key& high = add("high", Key::Type::numbers,
                  "start = \"random\": greatest start state, one number per state; default 1");
  high.range = Range::finite();
  return keys;
}

}  // namespace

GRAZE_ANALYSIS(sweep) {
  AnalysisInfo info;
  info.name = "sweep";
  info.meaning = "what the system settles to, over one or two parameters";
  info.keys = sweep_keys();
  info.make = [](const Problem& problem) -> std::unique_ptr<Analysis> {
    return std::make_unique<Sweep>(problem);
  };
  return info;
}

}  // namespace graze
