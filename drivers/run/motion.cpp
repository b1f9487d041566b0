/// graze motion: from a place in a diagram, a map or a basin to the motion there.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/settings/value.hpp"
#include "data/archive.hpp"
#include "drivers/command/array_values.hpp"
#include "drivers/command/broken_files.hpp"
#include "drivers/command/command.hpp"
#include "drivers/library/case.hpp"
#include "drivers/plot/gnuplot.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/plot/points.hpp"
#include "drivers/run/place.hpp"
#include "drivers/run/run.hpp"

namespace graze {
namespace {

struct MotionRequest {
  std::string file;
  std::vector<std::string> at;
  std::vector<std::string> cell;
  std::string start;
  int branch = -1;
  std::string point;
  double periods = 0;
  std::string output;
  std::string picture;
};

/// "NAME=VALUE,NAME=VALUE", given once or several times.
Named read_values(const std::vector<std::string>& texts, const char* option) {
  Named values;
  for (const std::string& text : texts)
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      const std::string part = text.substr(at, end - at);
      const std::size_t equals = std::min(part.find('='), part.size());
      double value = 0;
      const char* last = part.data() + part.size();
      const char* first = std::min(part.data() + equals + 1, last);
      const auto [stop, error] = std::from_chars(first, last, value);
      if (equals == 0 || error != std::errc{} || stop != last)
        throw InputError(fmt::format("{} {}: must be NAME=VALUE, such as delta=0.71", option, text));
      values.emplace_back(part.substr(0, equals), value);
      at = end + 1;
    }
  return values;
}

/// Index of the finite coordinate that is nearest to a value.
std::size_t nearest(const std::vector<double>& coordinates, double value) {
  std::size_t best = coordinates.size();
  for (std::size_t i = 0; i < coordinates.size(); ++i)
    if (std::isfinite(coordinates[i]) &&
        (best == coordinates.size() ||
         std::abs(coordinates[i] - value) < std::abs(coordinates[best] - value)))
      best = i;
  if (best == coordinates.size()) throw InputError("the file has no coordinates to be near to");
  return best;
}

/// The value that --at gives for one of these parameters; throws for others.
double value_at(const Named& at, const std::string& name, const std::vector<std::string>& names) {
  for (const auto& [given, value] : at) index_of(names, given, "swept parameter");
  for (const auto& [given, value] : at)
    if (given == name) return value;
  throw InputError(fmt::format("--at {0}=VALUE is missing: which value of {0}?", name));
}

std::size_t start_index(const Points& points, const std::string& start) {
  if (start.empty()) return points.starts().front();
  const std::vector<std::string>& names = points.start_names();
  const auto found = std::find(names.begin(), names.end(), start);
  if (found == names.end()) refuse_name(names, start, "start");
  return static_cast<std::size_t>(found - names.begin());
}

MotionPlace place_in_sweep(const Dataset& data, const MotionRequest& request) {
  const Points points(data, -1);
  const Named at = read_values(request.at, "--at");
  std::vector<std::string> names;
  for (const Array* parameter : points.parameters()) names.push_back(parameter->name);
  std::size_t point = 0;
  for (const Array* parameter : points.parameters()) {
    const std::vector<double> coordinates = numbers(*parameter);
    point = point * coordinates.size() + nearest(coordinates, value_at(at, parameter->name, names));
  }
  return place_at(data, points, points.first(start_index(points, request.start)) + point);
}

/// "fold:2": the second of this kind.
std::pair<std::string, std::size_t> read_point(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  std::size_t number = 1;
  if (colon < text.size()) {
    const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number == 0)
      throw InputError(
          fmt::format("--point {}: must be KIND or KIND:NUMBER, counted from 1, such as fold:2", text));
  }
  return {text.substr(0, colon), number};
}

MotionPlace place_at_point(const Dataset& points, const std::string& parameter,
                           const MotionRequest& request) {
  const auto [kind, wanted] = read_point(request.point);
  const Array& kinds = points.at("kind");
  index_of(kinds.flags, kind, "kind of point");
  std::size_t seen = 0;
  for (std::size_t k = 0; k < points.size("point"); ++k) {
    const bool on_branch = request.branch < 0 || number(points.at("branch"), k) == request.branch;
    if (class_name(kinds, k) != kind || !on_branch || ++seen < wanted) continue;
    MotionPlace place;
    place.parameters = {{parameter, number(points.at(parameter), k)}};
    const std::size_t width = points.size("state");
    for (std::size_t s = 0; s < width; ++s)
      place.state.push_back(number(points.at("orbit_state"), k * width + s));
    place.forcing_periods = std::round(number(points.at("forcing_periods"), k));
    return place;
  }
  throw InputError(fmt::format("--point {}: there {} {} of this kind{}", request.point,
                               seen == 1 ? "is" : "are", seen,
                               request.branch < 0 ? "" : fmt::format(" on branch {}", request.branch)));
}

/// The point of the branches (of one of them) that is nearest to a parameter value.
MotionPlace place_near(const Dataset& data, const std::string& parameter, const MotionRequest& request) {
  const double value = value_at(read_values(request.at, "--at"), parameter, {parameter});
  std::vector<double> values = numbers(data.at(parameter));
  const Array& branch = data.at("branch");
  const std::size_t branches = data.size("branch_number");
  if (request.branch >= static_cast<int>(branches))
    throw InputError(
        fmt::format("--branch {}: there are {} branches, counted from 0", request.branch, branches));
  for (std::size_t k = 0; k < values.size(); ++k)
    if (request.branch >= 0 && number(branch, k) != request.branch)
      values[k] = std::numeric_limits<double>::quiet_NaN();
  return place_on_branch(data, parameter, nearest(values, value));
}

MotionPlace place_in_continuation(const Result& result, const MotionRequest& request) {
  const std::string parameter = attribute(result.attributes, "parameter");
  const Dataset* points = result.data.group("bifurcation");
  if (points == nullptr) throw InputError("the file has no located points");
  if (request.point.empty()) return place_near(result.data, parameter, request);
  MotionPlace place = place_at_point(*points, parameter, request);
  MotionRequest near = request;
  near.at = {fmt::format("{}={}", parameter, place.parameters.front().second)};
  place.duration = place_near(result.data, parameter, near).duration;
  return place;
}

/// The start of the case with the coordinates of a cell.
MotionPlace place_in_basins(const Case& c, const MotionRequest& request) {
  MotionPlace place;
  place.state = c.problem.start_state;
  place.time = c.problem.start_time;
  const Named cell = read_values(request.cell, "--cell");
  if (cell.empty())
    throw InputError("--cell is missing: which initial state, such as --cell x1=-0.5,v1=0.2?");
  std::vector<std::string> states;
  for (const Quantity& state : c.problem.model->states()) states.push_back(state.name);
  for (const auto& [name, value] : cell) place.state[index_of(states, name, "state")] = value;
  return place;
}

MotionPlace place_of(const Result& result, const Case& c, const MotionRequest& request) {
  const std::string analysis = attribute(result.attributes, "analysis");
  if (analysis == "continue") return place_in_continuation(result, request);
  if (analysis == "basins") return place_in_basins(c, request);
  if (analysis == "sweep") return place_in_sweep(result.data, request);
  throw InputError(
      fmt::format("{}: motions are taken from sweeps, continuations and basins, not from the analysis {}",
                  request.file, analysis));
}

void motion(const MotionRequest& request, Context& context) {
  const Result result = read_result(request.file);
  const Case c = described_case(result.attributes);
  const MotionPlace place = place_of(result, c, request);
  const std::string text = motion_case(c, place, simulation(c, place, request.periods));

  CaseOptions options;
  options.output = request.output;
  if (options.output.empty())
    options.output = std::filesystem::path(request.file).stem().string() + "_motion.h5";
  const std::string picture = request.picture.empty()
                                  ? std::filesystem::path(options.output).replace_extension(".png").string()
                                  : request.picture;
  check_picture_name(picture);
  options.force = true;
  options.quiet = true;
  fmt::print("{}\n", text);
  const auto make = [&] {
    CaseFile file = parse_case(text, "case of the motion", {});
    file.model = c.file.model;
    return make_case(std::move(file));
  };
  context.exit = run_case(make, options, context);
  PlotOptions plot;
  write_picture(picture_of({options.output}, plot), plot.page, picture, false);
  fmt::print("# result: {}\n# picture: {}\n", options.output, picture);
}

}  // namespace

GRAZE_COMMAND(motion) {
  Verb verb = app.add_verb("motion", "simulate and draw the motion at a place of a result");
  const auto request = std::make_shared<MotionRequest>();
  verb.option("RESULT", request->file, "result of a sweep, a continuation or of basins", {.required = true});
  verb.option("--at", request->at, "parameter value; the nearest point of the result is taken",
              {.value = "NAME=VALUE"});
  verb.option("--start", request->start, "sweeps with several initial states: which, by name or number",
              {.value = "NAME"});
  verb.option("--branch", request->branch, "continuations: only this branch, counted from 0", {.least = 0});
  verb.option("--point", request->point, "continuations: a located point, such as fold:2, counted from 1",
              {.value = "KIND:NUMBER"});
  verb.option("--cell", request->cell, "basins: the initial state, other states as in the case",
              {.value = "NAME=VALUE,..."});
  verb.option("--periods", request->periods, "how long: forcing periods (without forcing: orbits)");
  verb.option("-o,--output", request->output, "result file of the motion; default: RESULT_motion.h5",
              {.value = "FILE"});
  verb.option("--picture", request->picture, "its picture; default: the result file with .png",
              {.value = "FILE"});
  verb.footer(
      "The case of the motion is printed: saved to a file, graze run takes it.\n"
      "Examples:\n"
      "  graze motion sweep.h5 --at delta=0.71\n"
      "  graze motion map.h5 --at delta=0.71,mass_ratio=1.2 -o m.h5\n"
      "  graze motion branches.h5 --branch 3 --at delta=0.9\n"
      "  graze motion branches.h5 --point fold:2\n"
      "  graze motion basins.h5 --cell x1=-0.5,v1=0.2");
  verb.callback([request, &context] { on_result(request->file, [&] { motion(*request, context); }); });
}

}  // namespace graze
