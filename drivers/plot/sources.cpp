/// From result files to a picture: which kind a result asks for, and which of its arrays that needs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "core/settings/value.hpp"
#include "drivers/command/array_headers.hpp"
#include "drivers/command/basin_table.hpp"
#include "drivers/plot/plot.hpp"

namespace graze {
namespace {

/// Parameters that a result is swept over: the dimensions of its outcomes, but for the initial states.
std::size_t swept_parameters(const Result& result) {
  const std::vector<std::string>& points = result.data.at("outcome").dimensions;
  return static_cast<std::size_t>(std::count_if(
      points.begin(), points.end(), [](const std::string& dimension) { return dimension != "start"; }));
}

/// Arrays of states in time and of letters are large: they are read where they are drawn.
bool is_large(const Array& array) {
  return std::find(array.dimensions.begin(), array.dimensions.end(), "iterate") != array.dimensions.end() ||
         std::find(array.dimensions.begin(), array.dimensions.end(), "letter") != array.dimensions.end();
}

/// What is read of a file: all but large arrays that are not asked for.
std::vector<std::string> wanted(const std::string& file, const Attributes& attributes,
                                const PlotOptions& options, std::size_t parameters) {
  const std::string analysis = attribute(attributes, "analysis");
  std::vector<std::string> names;
  if (analysis == "basins") {
    names = basin_arrays();
    names.insert(names.end(), {"basin", "basin_orbit", "start_state"});
    return names;
  }
  if (analysis == "convergence") return {"error", "outcome"};
  if (parameters == 0 || analysis == "continue" || analysis == "curves" || analysis == "chart")
    return {};  // all
  const auto asked = [&](const std::string& name) {
    return std::any_of(options.panels.begin(), options.panels.end(),
                       [&](const std::string& panel) { return panel.substr(0, panel.find(':')) == name; });
  };
  for (const Array& array : array_headers(file)) {
    const bool drawn =
        parameters == 1 ? array.name == "map_state" : options.panels.empty() && array.name == "itinerary";
    if (!is_large(array) || drawn || asked(array.name)) names.push_back(array.name);
  }
  if (names.empty()) names = {"outcome"};
  return names;
}

PlotSource read_source(const std::string& file, const PlotOptions& options) {
  const Result outline = read_result(file, {"outcome"});
  const std::size_t parameters = swept_parameters(outline);
  Result result = read_result(file, wanted(file, outline.attributes, options, parameters));
  Described described(result.attributes);
  return {std::filesystem::path(file).stem().string(), std::move(result), std::move(described)};
}

Picture draw(const PlotSource& source, const PlotOptions& options) {
  const std::string analysis = attribute(source.result.attributes, "analysis");
  if (analysis == "basins") return draw_basins(source, options);
  if (analysis == "continue") return draw_branches(source, options);
  if (analysis == "convergence") return draw_convergence(source, options);
  if (analysis == "chart") {
    const Dataset* map = source.result.data.group("map");
    if (map == nullptr) throw InputError(source.name + ": has no group map");
    const PlotSource below{source.name, {*map, source.result.attributes, true}, source.described};
    return draw_curves(source, &below, options);
  }
  if (analysis == "curves") {
    if (options.over.empty()) return draw_curves(source, nullptr, options);
    const PlotSource map = read_source(options.over, options);
    if (swept_parameters(map.result) != 2)
      throw InputError(options.over + ": must be a sweep over two parameters (--over)");
    return draw_curves(source, &map, options);
  }
  const std::size_t parameters = swept_parameters(source.result);
  if (parameters == 0) return draw_motion(source, options);
  if (parameters > 2) throw InputError(source.name + ": more than two swept parameters");
  if (parameters == 2) return draw_map(source, options);
  return analysis == "impacts" ? draw_impacts(source, options) : draw_sweep(source, options);
}

}  // namespace

Picture picture_of(const std::vector<std::string>& files, const PlotOptions& options) {
  std::vector<PlotSource> sources;
  for (const std::string& file : files) sources.push_back(read_source(file, options));
  return picture_of(sources, options);
}

Picture picture_of(const std::vector<PlotSource>& sources, const PlotOptions& options) {
  const bool curves = attribute(sources.front().result.attributes, "analysis") == "curves";
  if (!options.over.empty() && !curves) throw InputError("--over goes with a result of curves");
  Picture picture = sources.size() > 1 ? draw_overlay(sources, options) : draw(sources.front(), options);
  picture.title = attribute(sources.front().result.attributes, "title");
  if (picture.title.empty()) picture.title = sources.front().name;
  for (const PlotSource& source : sources)
    if (!source.result.complete) picture.notes.push_back(source.name + " is not complete");
  return picture;
}

}  // namespace graze
