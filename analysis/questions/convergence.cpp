/// Convergence: how far motions at other values of a parameter, such as a step, end from one at a reference
/// value.
#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/maps/map_keys.hpp"
#include "analysis/run/axis.hpp"
#include "analysis/run/points.hpp"
#include "analysis/run/registry.hpp"

namespace graze {
namespace {

class Convergence final : public Analysis {
 public:
  explicit Convergence(const Problem& problem);

  Dataset layout() const override;
  std::vector<std::string> point_dimensions() const override { return names_of(axes_, model()); }
  std::vector<Box> blocks(std::size_t points) const override {
    return split(extents(), std::max<std::size_t>(points, 1));
  }
  Dataset compute(const Box& box) const override;

 private:
  struct End {
    Outcome outcome = Outcome::bad_parameters;
    Eigen::VectorXd state;
  };

  const Model& model() const { return *problem_.model; }
  std::vector<std::size_t> extents() const { return extents_of(axes_); }
  Dataset shape(const std::vector<std::size_t>& extents) const;
  End end_at(const std::vector<double>& values) const;

  Problem problem_;
  std::vector<Axis> axes_;  ///< the one along which it is to converge comes last
  double reference_ = 0;
  double duration_ = 0;
};

Convergence::Convergence(const Problem& problem) : problem_(problem) {
  const Value& table = problem.analysis;
  axes_ = read_axes(table, model());
  std::reverse(axes_.begin(), axes_.end());
  const Value& reference = table.at("reference");
  reference_ = reference.number("analysis.reference");
  const Parameter& varied = model().parameters()[static_cast<std::size_t>(axes_.back().parameter)];
  if (!varied.range.contains(reference_)) {
    throw InputError(reference.place(), "analysis.reference", reference.toml(),
                     varied.name + " must be " + varied.range.text());
  }
  const Value& end = table.at("end_time");
  duration_ = end.number("analysis.end_time") - problem.start_time;
  if (!(duration_ > 0)) {
    throw InputError(end.place(), "analysis.end_time", end.toml(), "must lie after the start");
  }
}

/// Every array over these extents of the point dimensions, without values.
Dataset Convergence::shape(const std::vector<std::size_t>& extents) const {
  PointArrays arrays(point_dimensions(), extents);
  arrays.dimension("state", model().states().size());
  using F64 = std::vector<double>;
  arrays.add("final_state", {"state"}, F64{}, "1", "state at the end");
  arrays.add("error", {"state"}, F64{}, "1", "distance of the final state from that of the reference");
  arrays.add("outcome", {}, std::vector<std::int8_t>{}, "1", "what happened numerically", outcome_names());
  return arrays.take();
}

Dataset Convergence::layout() const {
  Dataset data = shape(extents());
  for (const Axis& axis : axes_) data.arrays.push_back(axis_coordinate(axis, model()));
  data.arrays.push_back(names_coordinate("state", model().states(), "state of the model"));
  return data;
}

Convergence::End Convergence::end_at(const std::vector<double>& values) const {
  End end;
  const auto system = model().system(values, problem_.tolerance);
  if (!system) return end;
  HybridState state = problem_.start();
  Section section;
  section.kind = Section::Kind::time;
  section.interval = duration_;
  end.outcome = system->advance(state, section, nullptr);
  end.state = state.x;
  return end;
}

Dataset Convergence::compute(const Box& box) const {
  Dataset block = shape(box.count);
  fill_missing(block);
  auto& final_state = std::get<std::vector<double>>(block.at("final_state").values);
  auto& error = std::get<std::vector<double>>(block.at("error").values);
  auto& outcome = std::get<std::vector<std::int8_t>>(block.at("outcome").values);
  const std::size_t width = model().states().size();
  const std::size_t inner = box.count.back();
  End reference;
  for (std::size_t point = 0; point < box.points(); ++point) {
    std::vector<double> values = model().values();
    const auto set = [&](const Axis& axis, double value) {
      values[static_cast<std::size_t>(axis.parameter)] = value;
    };
    if (axes_.size() > 1) set(axes_[0], axes_[0].values[box.offset[0] + point / inner]);
    if (point % inner == 0) {
      set(axes_.back(), reference_);
      reference = end_at(values);
    }
    set(axes_.back(), axes_.back().values[box.offset.back() + point % inner]);
    const End end = end_at(values);
    const bool both = end.outcome == Outcome::ok && reference.outcome == Outcome::ok;
    outcome[point] = static_cast<std::int8_t>(end.outcome == Outcome::ok ? reference.outcome : end.outcome);
    for (std::size_t i = 0; i < width && both; ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      final_state[point * width + i] = end.state(k);
      error[point * width + i] = std::abs(end.state(k) - reference.state(k));
    }
  }
  return block;
}

}  // namespace

GRAZE_ANALYSIS(convergence) {
  AnalysisInfo info;
  info.name = "convergence";
  info.meaning = "how the end of a motion converges with a parameter, such as a step, to that of a reference";
  Key& axis =
      add_key(info.keys, "axis", Key::Type::table, "the parameter that is to converge, and its values");
  axis.children = axis_keys();
  axis.required = true;
  add_key(info.keys, "axis2", Key::Type::table, "a second parameter: one line of errors for each value")
      .children = axis_keys();
  Key& reference = add_key(info.keys, "reference", Key::Type::number,
                           "value of the first parameter at which the reference is computed");
  reference.required = true;
  reference.range = Range::finite();
  Key& end = add_key(info.keys, "end_time", Key::Type::number, "time at which the states are compared");
  end.required = true;
  end.range = Range::finite();
  info.make = analysis_of<Convergence>;
  return info;
}

}  // namespace graze
