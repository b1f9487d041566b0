/// graze view: a result as one page that needs no program, with sampled motions in it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/run/execute.hpp"
#include "core/settings/value.hpp"
#include "drivers/command/array_values.hpp"
#include "drivers/command/broken_files.hpp"
#include "drivers/command/command.hpp"
#include "drivers/explore/frame.hpp"
#include "drivers/explore/job.hpp"
#include "drivers/explore/page.hpp"
#include "drivers/library/run.hpp"
#include "drivers/library/text.hpp"
#include "drivers/plot/points.hpp"
#include "drivers/run/output_file.hpp"
#include "drivers/run/place.hpp"

namespace graze {
namespace {

struct ViewRequest {
  std::string path;
  std::string output;
  int motions = 2000;
};

constexpr double samples = 300;              // of a motion, about
constexpr double fewest_shown_samples = 24;  // of a forcing period
constexpr double most_shown_samples = 100;
constexpr double aperiodic_periods = 12;

/// A place whose motion the page holds, and the number by which the page asks for it.
struct Wanted {
  std::size_t number;
  MotionPlace place;
};

std::vector<Wanted> wanted_of_sweep(const Dataset& data) {
  const Points points(data, -1);
  std::vector<Wanted> all;
  for (std::size_t point = 0; point < data.elements(data.at("attractor")); ++point) {
    if (points.attractor(point) < 0 || points.is(point, "failed") || points.is(point, "unbounded")) continue;
    try {
      all.push_back({point, place_at(data, points, point)});
    } catch (const InputError&) {  // no state there: nothing to show
    }
  }
  return all;
}

std::vector<Wanted> wanted_of_branches(const Dataset& data, const std::string& parameter) {
  std::vector<Wanted> all;
  for (std::size_t point = 0; point < data.size("point"); ++point)
    all.push_back({point, place_on_branch(data, parameter, point)});
  return all;
}

/// The periodic attractors.
std::vector<Wanted> wanted_of_basins(const Dataset& data) {
  std::vector<Wanted> all;
  const Array* orbits = data.find("basin_orbit");
  if (orbits == nullptr) return all;
  const std::size_t width = data.size("state");
  const std::size_t stride = data.size("iterate") * width;
  for (std::size_t k = 0; k < data.size("number"); ++k) {
    Wanted wanted{k, {}};
    for (std::size_t s = 0; s < width; ++s) wanted.place.state.push_back(number(*orbits, k * stride + s));
    wanted.place.forcing_periods = number(data.at("basin_period"), k);
    if (std::isfinite(wanted.place.state.front())) all.push_back(std::move(wanted));
  }
  return all;
}

std::vector<Wanted> wanted_of(const Result& result) {
  const std::string analysis = attribute(result.attributes, "analysis");
  if (analysis == "sweep") return wanted_of_sweep(result.data);
  if (analysis == "basins") return wanted_of_basins(result.data);
  if (analysis == "continue")
    return wanted_of_branches(result.data, attribute(result.attributes, "parameter"));
  return {};
}

/// At most so many, evenly spread.
std::vector<Wanted> thinned(std::vector<Wanted> all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<Wanted> result;
  for (std::size_t k = 0; k < most; ++k) result.push_back(std::move(all[k * all.size() / most]));
  return result;
}

/// The frame of a motion.
std::string motion_frame(const Case& c, const Wanted& wanted) {
  Value analysis = simulation(c, wanted.place, wanted.place.forcing_periods >= 1 ? 0 : aperiodic_periods);
  if (const Value* periods = analysis.find("periods")) {
    const double each = samples / periods->number("periods");
    analysis.set("samples_per_period",
                 Value(std::floor(std::clamp(each, fewest_shown_samples, most_shown_samples))));
  } else {
    analysis.set("samples", Value(static_cast<std::int64_t>(samples)));
  }
  CaseFile file = parse_case(motion_case(c, wanted.place, analysis), "case of a motion", {});
  file.model = c.file.model;
  Dataset data = run(make_case(std::move(file)), 1);
  for (Array& array : data.arrays) array.long_name.clear();
  Value more;
  more.set("point", Value(static_cast<std::int64_t>(wanted.number)));
  return frame(data, more, true);
}

std::string motions(const Shown& shown, const ViewRequest& request) {
  const Case c = described_case(shown.result.attributes);
  const std::vector<Wanted> wanted =
      thinned(wanted_of(shown.result), static_cast<std::size_t>(request.motions));
  std::vector<std::string> frames(wanted.size());
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  call_each(threads, wanted.size(), [&](std::size_t k) {
    try {
      frames[k] = motion_frame(c, wanted[k]);
    } catch (const InputError&) {  // a place where no motion may start: the page shows its numbers only
    }
  });
  std::string all;
  for (const std::string& one : frames) all += one;
  return all;
}

void view(const ViewRequest& request) {
  const Shown shown = read_shown(request.path);
  if (!shown.has_result) throw InputError(request.path + ": is no result; first graze run " + request.path);
  const std::string output =
      request.output.empty()
          ? std::filesystem::path(request.path).filename().replace_extension(".html").string()
          : request.output;
  check_can_write(output);
  const std::string page = single_page(first_frame(shown) + motions(shown, request));
  write_text(output, page);
  fmt::print(stderr, "graze: {}: {}\n", output, bytes_text(static_cast<double>(page.size())));
}

}  // namespace

GRAZE_COMMAND(view) {
  static_cast<void>(context);
  Verb verb =
      app.add_verb("view", "write a result as one page that opens in any browser, with motions in it");
  const auto request = std::make_shared<ViewRequest>();
  verb.option("FILE", request->path, "result of a sweep, a continuation, of basins or of simulate",
              {.required = true});
  verb.option("-o,--output", request->output, "the page; default: the result's name with .html",
              {.value = "FILE"});
  verb.option("--motions", request->motions, "sampled motions in it at most, evenly spread over the points",
              {.value = "N", .least = 0, .most = 100000});
  verb.footer("Example:\n  graze view result.h5 -o page.html");
  verb.callback([request] { on_result(request->path, [&] { view(*request); }); });
}

}  // namespace graze
