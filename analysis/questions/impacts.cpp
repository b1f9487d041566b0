/// Impacts: what happens in every compliant contact of a motion, over one or two parameters.
#include <algorithm>
#include <cmath>

#include "analysis/maps/impact_log.hpp"
#include "analysis/maps/map_keys.hpp"
#include "analysis/maps/observables.hpp"
#include "analysis/maps/observer_pair.hpp"
#include "analysis/run/axis.hpp"
#include "analysis/run/points.hpp"
#include "analysis/run/registry.hpp"

namespace graze {
namespace {

constexpr std::size_t most_phases = 4;

class Impacts final : public Analysis {
 public:
  explicit Impacts(const Problem& problem)
      : problem_(problem),
        axes_(read_axes(problem.analysis, *problem.model)),
        duration_(problem.analysis.at("end_time").number("analysis.end_time") - problem.start_time),
        kept_(static_cast<std::size_t>(problem.analysis.at("impacts").integer("analysis.impacts"))) {
    if (duration_ > 0) return;
    const Value& end = problem.analysis.at("end_time");
    throw InputError(end.place(), "analysis.end_time", end.toml(), "must be later than initial.time");
  }

  Dataset layout() const override;
  std::vector<std::string> point_dimensions() const override { return names_of(axes_, model()); }
  std::vector<Box> blocks(std::size_t points) const override {
    return split(extents(), std::max<std::size_t>(points, 1));
  }
  Dataset compute(const Box& box) const override;

 private:
  const Model& model() const { return *problem_.model; }
  std::vector<std::size_t> extents() const { return extents_of(axes_); }
  Dataset shape(const std::vector<std::size_t>& extents) const;
  void store(const std::vector<ImpactRecord>& records, std::size_t point, Dataset& block) const;

  Problem problem_;
  std::vector<Axis> axes_;
  double duration_;
  std::size_t kept_;
};

Dataset Impacts::shape(const std::vector<std::size_t>& extents) const {
  PointArrays arrays(point_dimensions(), extents);
  arrays.dimension("impact", kept_);
  arrays.dimension("phase", most_phases);
  arrays.dimension("state", model().states().size());
  arrays.dimension("criterion", ImpactBorders::names().size());
  using I8 = std::vector<std::int8_t>;
  using I32 = std::vector<std::int32_t>;
  using F64 = std::vector<double>;
  std::vector<std::string> contacts;
  for (const Quantity& contact : model().contacts()) contacts.push_back(contact.name);
  arrays.add("impact_count", {}, I32{}, "1", "impacts that began, kept or not");
  arrays.add("impact_contact", {"impact"}, I8{}, "1", "contact of the impact", contacts);
  arrays.add("impact_time", {"impact"}, F64{}, "s", "time at which the contact begins");
  arrays.add("contact_time", {"impact"}, F64{}, "s", "how long it lasts");
  arrays.add("compression_time", {"impact"}, F64{}, "s",
             "from its beginning to the first greatest penetration");
  arrays.add("approach_speed", {"impact"}, F64{}, "m s-1", "normal speed at the beginning");
  arrays.add("separation_speed", {"impact"}, F64{}, "m s-1", "normal speed at the end");
  arrays.add("restitution", {"impact"}, F64{}, "1", "separation speed over approach speed");
  arrays.add("begin_force", {"impact"}, F64{}, "N",
             "normal force right after the beginning, where its law is a spring's");
  arrays.add("impulse", {"impact"}, F64{}, "N s", "time integral of the normal force");
  arrays.add("peak_force", {"impact"}, F64{}, "N", "greatest normal force");
  arrays.add("greatest_penetration", {"impact"}, F64{}, "m", "greatest penetration");
  arrays.add("friction_work", {"impact"}, F64{}, "J", "energy lost to friction");
  arrays.add("damping_work", {"impact"}, F64{}, "J", "energy lost to the damping of the contact");
  arrays.add("slip_sequence", {"impact"}, I8{}, "1",
             "slides forward (F), backward (B), sticks (S), in this order; - is the end of compression",
             slip_sequence_names());
  arrays.add("phase_slip", {"impact", "phase"}, F64{}, "1", "slip mode: sense of sliding, 0 sticks");
  arrays.add("phase_time", {"impact", "phase"}, F64{}, "s",
             "time from the beginning of the contact to this mode");
  arrays.add("painleve", {"impact"}, I8{}, "1",
             "slid in the Painleve region, where a normal force with its friction presses deeper",
             {"no", "yes"});
  arrays.add("state_before", {"impact", "state"}, F64{}, "1", "state at the beginning");
  arrays.add("state_after", {"impact", "state"}, F64{}, "1", "state at the end");
  arrays.add(
      "border", {"criterion"}, F64{}, "1",
      "positive where the first impact, rigid and elastic, would do this: sliding stops in compression, at "
      "the latest in restitution; what has stopped sticks; slides in the Painleve region");
  if (problem_.observables) problem_.observables->add_arrays(arrays, "the motion");
  arrays.add("outcome", {}, I8{}, "1", "what happened numerically", outcome_names());
  return arrays.take();
}

Dataset Impacts::layout() const {
  Dataset data = shape(extents());
  for (const Axis& axis : axes_) data.arrays.push_back(axis_coordinate(axis, model()));
  data.arrays.push_back(names_coordinate("state", model().states(), "state of the model"));
  std::vector<Quantity> borders;
  for (const std::string& name : ImpactBorders::names()) borders.push_back({name, "1", ""});
  data.arrays.push_back(names_coordinate("criterion", borders, "what a rigid impact would do"));
  return data;
}

Dataset Impacts::compute(const Box& box) const {
  Dataset block = shape(box.count);
  fill_missing(block);
  Section section;
  section.kind = Section::Kind::time;
  section.interval = duration_;
  for (std::size_t point = 0; point < box.points(); ++point) {
    const std::vector<double> values = values_at(place_in(box, point), axes_, model());
    const std::unique_ptr<System> system = model().system(values, problem_.tolerance);
    Outcome outcome = Outcome::bad_parameters;
    if (system) {
      ImpactLog log;
      HybridState state = problem_.start(values);
      if (problem_.observables) {
        Observation observation(*problem_.observables, values);
        ObserverPair both(log, observation);
        outcome = system->advance(state, section, &both);
        if (outcome == Outcome::ok) problem_.observables->store(observation.result(), point, block);
      } else {
        outcome = system->advance(state, section, &log);
      }
      store(log.records(), point, block);
    }
    *row_of<std::int8_t>(block, "outcome", point) = static_cast<std::int8_t>(outcome);
  }
  return block;
}

void Impacts::store(const std::vector<ImpactRecord>& records, std::size_t point, Dataset& block) const {
  *row_of<std::int32_t>(block, "impact_count", point) = static_cast<std::int32_t>(records.size());
  if (records.empty()) return;
  const std::vector<double> borders = ImpactBorders::of(records.front());
  std::copy(borders.begin(), borders.end(), row_of<double>(block, "border", point, borders.size()));
  const std::size_t width = model().states().size();
  for (std::size_t k = 0; k < std::min(kept_, records.size()); ++k) {
    const ImpactRecord& r = records[k];
    const std::size_t row = point * kept_ + k;
    const auto put = [&](const char* name, double value) { *row_of<double>(block, name, row) = value; };
    *row_of<std::int8_t>(block, "impact_contact", row) = static_cast<std::int8_t>(r.contact);
    put("impact_time", r.begin);
    put("contact_time", r.end - r.begin);
    put("compression_time", r.turn - r.begin);
    put("approach_speed", r.approach_speed);
    put("separation_speed", r.separation_speed);
    put("restitution", r.separation_speed / r.approach_speed);
    put("begin_force", r.begin_force);
    put("impulse", r.impulse);
    put("peak_force", r.peak_force);
    put("greatest_penetration", r.greatest_penetration);
    put("friction_work", r.friction_work);
    put("damping_work", r.damping_work);
    *row_of<std::int8_t>(block, "slip_sequence", row) = static_cast<std::int8_t>(slip_sequence(r));
    *row_of<std::int8_t>(block, "painleve", row) = r.painleve ? 1 : 0;
    for (std::size_t i = 0; i < std::min(most_phases, r.phases.size()); ++i) {
      row_of<double>(block, "phase_slip", row, most_phases)[i] = r.phases[i].slip;
      row_of<double>(block, "phase_time", row, most_phases)[i] = r.phases[i].time - r.begin;
    }
    std::copy(r.before.begin(), r.before.end(), row_of<double>(block, "state_before", row, width));
    std::copy(r.after.begin(), r.after.end(), row_of<double>(block, "state_after", row, width));
  }
}

}  // namespace

GRAZE_ANALYSIS(impacts) {
  AnalysisInfo info;
  info.name = "impacts";
  info.meaning =
      "what happens in the compliant contacts of a motion, impact by impact, over one or two parameters";
  Key& axis = add_key(info.keys, "axis", Key::Type::table, "the varied parameter and its values");
  axis.children = axis_keys();
  axis.required = true;
  add_key(info.keys, "axis2", Key::Type::table, "a second varied parameter: a chart").children = axis_keys();
  Key& end = add_key(info.keys, "end_time", Key::Type::number, "time at which each motion ends");
  end.range = Range::finite();
  end.required = true;
  Key& impacts = add_key(info.keys, "impacts", Key::Type::integer,
                         "impacts kept of each motion, in the order they begin");
  impacts.range = Range{1, 1e6, false, false};
  impacts.fallback = Value(std::int64_t{1});
  info.make = analysis_of<Impacts>;
  return info;
}

}  // namespace graze
