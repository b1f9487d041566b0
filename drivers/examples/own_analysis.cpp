/// An analysis of one's own: when the first impact happens, over one or two parameters.
///
///     [analysis]
///     name = "first_impact"
///     end_time = 100.0
///     axis = { parameter = "gravity", from = 0.5, to = 2.0, points = 31 }
#include <graze/graze.hpp>
#include <limits>

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Keeps the time of the first impact.
class FirstImpactTime final : public graze::Observer {
 public:
  void event(const graze::Event& event) override {
    if (event.kind == graze::EventKind::impact && !(time == time)) time = event.time;
  }

  double time = nan;
};

class FirstImpact final : public graze::Analysis {
 public:
  explicit FirstImpact(const graze::Problem& problem)
      : problem_(problem), axes_(graze::read_axes(problem.analysis, *problem.model)) {
    section_.kind = graze::Section::Kind::time;
    section_.interval = problem.analysis.at("end_time").number("analysis.end_time") - problem.start_time;
  }

  graze::Dataset layout() const override {
    graze::Dataset data = arrays(graze::extents_of(axes_));
    for (const graze::Axis& axis : axes_) data.arrays.push_back(axis_coordinate(axis, *problem_.model));
    return data;
  }
  std::vector<std::string> point_dimensions() const override { return names_of(axes_, *problem_.model); }
  std::vector<graze::Box> blocks(std::size_t points) const override {
    return graze::split(graze::extents_of(axes_), points);
  }
  graze::Dataset compute(const graze::Box& box) const override {
    graze::Dataset block = arrays(box.count);
    graze::fill_missing(block);
    for (std::size_t point = 0; point < box.points(); ++point) {
      const std::vector<double> values = values_at(graze::place_in(box, point), axes_, *problem_.model);
      const auto system = problem_.model->system(values, problem_.tolerance);
      graze::Outcome outcome = graze::Outcome::bad_parameters;
      FirstImpactTime first;
      if (system) {
        graze::HybridState state = problem_.start(values);
        outcome = system->advance(state, section_, &first);
      }
      *graze::row_of<double>(block, "first_impact", point) = first.time;
      *graze::row_of<std::int8_t>(block, "outcome", point) = static_cast<std::int8_t>(outcome);
    }
    return block;
  }

 private:
  graze::Dataset arrays(const std::vector<std::size_t>& extents) const {
    graze::PointArrays arrays(point_dimensions(), extents);
    arrays.add("first_impact", {}, std::vector<double>{}, "s", "time of the first impact; NaN: none");
    arrays.add("outcome", {}, std::vector<std::int8_t>{}, "1", "what happened numerically",
               graze::outcome_names());
    return arrays.take();
  }

  graze::Problem problem_;
  std::vector<graze::Axis> axes_;
  graze::Section section_;
};

}  // namespace

GRAZE_ANALYSIS(first_impact) {
  graze::AnalysisInfo info;
  info.name = "first_impact";
  info.meaning = "Time of the first impact, over one or two parameters.";
  for (const char* name : {"axis", "axis2"}) {
    graze::Key& axis = add_key(info.keys, name, graze::Key::Type::table, "a parameter that is varied");
    axis.children = graze::axis_keys();
  }
  info.keys.front().required = true;
  graze::Key& end =
      add_key(info.keys, "end_time", graze::Key::Type::number, "when to stop waiting for an impact");
  end.required = true;
  end.range = graze::Range::finite();
  info.make = [](const graze::Problem& problem) -> std::unique_ptr<graze::Analysis> {
    return std::make_unique<FirstImpact>(problem);
  };
  return info;
}
