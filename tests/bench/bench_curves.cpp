/// Curves over two parameters of two masses between stops or with dry friction: processor time of a point,
/// kind by kind, in one run. It fails above 20 ms.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "analysis/continuation/beginning.hpp"
#include "analysis/continuation/branch.hpp"
#include "analysis/continuation/curve_start.hpp"
#include "analysis/continuation/settled_start.hpp"
#include "core/settings/parameter.hpp"
#include "tests/bench/library.hpp"
#include "tests/bench/side_by_side.hpp"

namespace graze::bench {
namespace {

constexpr double most = 20;  // ms

/// The chain over frequency and force of the first mass; `settings` are further keys of the model.
Plane plane_of(Value settings) {
  settings.set("name", Value("two_dof_stops"));
  Value axis;
  axis.set("parameter", Value("delta"));
  axis.set("values", Value(Value::Array{Value(1.0)}));
  Value analysis;
  analysis.set("axis", axis);
  Plane plane;
  plane.family.model = problem(settings, {0, 0, 0, 0}, "sweep", analysis, Value(Value::Table{})).model;
  plane.family.values = plane.family.model->values();
  plane.family.parameter = plane.family.model->parameter_index("delta");
  plane.second = plane.family.model->parameter_index("A1");
  return plane;
}

struct Starts {
  Plane plane;
  CurveOptions options;
  std::map<std::string, std::vector<CurveSolution>> of_kind;
};

/// First points of the curves through what a branch has, by their kinds.
Starts starts_of(Value settings, double at) {
  Starts s{plane_of(std::move(settings)), {}, {}};
  const Family& family = s.plane.family;
  const double force = family.values[static_cast<std::size_t>(s.plane.second)];
  const double from[] = {0.15, 0.5 * force}, to[] = {1.7, 1.5 * force};
  for (int k = 0; k < 2; ++k) {
    s.options.from[k] = from[k];
    s.options.to[k] = to[k];
    s.plane.widths[k] = to[k] - from[k];
  }
  s.options.points = 40;
  HybridState rest;
  rest.x = Eigen::VectorXd::Zero(4);
  const Start begin = settled_start(family, at, rest, {}, "");
  if (begin.periods == 0) return s;
  const auto near = between_events(family, {at, begin.orbit.front(), begin.periods, 0, 0});
  const auto orbit = near ? find_orbit(family, *near) : std::nullopt;
  if (!orbit) return s;
  Walk walk;
  walk.options.from = from[0];
  walk.options.to = to[0];
  for (const Bifurcation& b : continue_branch(family, *orbit, walk).bifurcations) {
    CurveStart start = start_curve(s.plane, seed_at(b, force));
    if (start.solution)
      s.of_kind[bifurcation_names()[static_cast<std::size_t>(b.kind)]].push_back(std::move(*start.solution));
  }
  return s;
}

/// Points of the curves from some starts, both ways.
std::size_t walked(const std::vector<CurveSolution>& starts, const CurveOptions& options) {
  std::size_t points = 0;
  for (const CurveSolution& start : starts) {
    for (const int direction : {-1, 1}) {
      CurveWalk walk(start, direction, options);
      while (walk.next()) ++points;
    }
  }
  return points;
}

int run() {
  Value rough;
  for (const char* amplitude : {"f1", "f2"}) rough.set(amplitude, Value(0.05));
  for (const char* stop : {"d1", "d2"}) rough.set(stop, Value(1e3));
  const Starts all[] = {starts_of(Value(Value::Table{}), 1.0), starts_of(Value(Value::Table{}), 0.16),
                        starts_of(rough, 0.7)};
  std::vector<Row> rows;
  std::vector<std::size_t> points;
  for (const Starts& starts : all) {
    for (const auto& [kind, list] : starts.of_kind) {
      const std::size_t place = points.size();
      points.push_back(0);
      rows.push_back(
          {kind,
           [&points, place, list = list, &starts] { points[place] = walked(list, starts.options); },
           {}});
    }
  }
  run_in_turn(rows, 3);
  double worst = 0;
  std::printf("%-18s %8s %12s\n", "curves of", "points", "ms a point");
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (points[k] == 0) continue;
    const double each = 1e3 * rows[k].median() / static_cast<double>(points[k]);
    worst = std::max(worst, each);
    std::printf("%-18s %8zu %12.2f\n", rows[k].name.c_str(), points[k], each);
  }
  std::printf("at most %.2f ms; the limit is %.0f ms\n", worst, most);
  return worst <= most ? 0 : 1;
}

}  // namespace
}  // namespace graze::bench

int main() { return graze::bench::reported("bench_curves", graze::bench::run); }
