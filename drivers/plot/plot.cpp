/// graze plot: a picture of what is in a result file.
#include "drivers/plot/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/settings/value.hpp"
#include "drivers/command/basin_table.hpp"
#include "drivers/command/broken_files.hpp"
#include "drivers/command/command.hpp"
#include "drivers/plot/gnuplot.hpp"

namespace graze {
namespace {

constexpr int least_width = 800;  // below these the margins leave nothing for the plots
constexpr int least_height = 600;
constexpr int most_pixels = 20000;

struct Request {
  std::string file;
  std::string picture;
  std::string size;
  bool keep_script = false;
  PlotOptions options;
};

/// "1600x1200" into width and height.
void read_size(const std::string& text, PlotOptions& options) {
  if (text.empty()) return;
  int used = 0;
  const int found = std::sscanf(text.c_str(), "%5dx%5d%n", &options.width, &options.height, &used);
  const bool whole = found == 2 && static_cast<std::size_t>(used) == text.size();
  if (!whole || options.width < least_width || options.height < least_height || options.width > most_pixels ||
      options.height > most_pixels)
    throw InputError(fmt::format("--size {}: must be WIDTHxHEIGHT in pixels, from {}x{} to {}x{}", text,
                                 least_width, least_height, most_pixels, most_pixels));
}

std::string title_of(const Result& result, const std::string& file) {
  std::string title = attribute(result.attributes, "title");
  if (title.empty()) title = std::filesystem::path(file).filename();
  return result.complete ? title : title + " (not complete)";
}

/// The name in front of the colon of NAME:LABEL.
std::vector<std::string> array_names(const std::vector<std::string>& shown) {
  std::vector<std::string> names;
  for (const std::string& text : shown) names.push_back(text.substr(0, text.find(':')));
  return names;
}

/// Every result says by its outcomes over which points it goes; only what is drawn is read besides.
Drawing draw(const Request& request) {
  PlotOptions options = request.options;
  const Result outline = read_result(request.file, {"outcome"});
  options.title = title_of(outline, request.file);
  if (attribute(outline.attributes, "analysis") == "basins") {
    std::vector<std::string> arrays = basin_arrays();
    arrays.insert(arrays.end(), {"basin", "basin_orbit", "start_state"});
    return draw_basins(read_result(request.file, arrays), options);
  }
  if (attribute(outline.attributes, "analysis") == "continue")
    return draw_branches(read_result(request.file), options);
  if (attribute(outline.attributes, "analysis") == "convergence")
    return draw_convergence(read_result(request.file, {"error", "outcome"}), options);
  const std::vector<std::string>& points = outline.data.at("outcome").dimensions;
  const auto parameters = std::count_if(points.begin(), points.end(),
                                        [](const std::string& dimension) { return dimension != "start"; });
  if (parameters == 0) return draw_motion(read_result(request.file), options);
  const bool impacts = attribute(outline.attributes, "analysis") == "impacts";
  if (parameters == 1 && impacts) {
    std::vector<std::string> arrays = impact_curves();
    arrays.insert(arrays.end(), {"slip_sequence", "outcome"});
    return draw_impacts(read_result(request.file, arrays), options);
  }
  if (parameters == 1)
    return draw_sweep(
        read_result(request.file,
                    {"attractor", "period", "map_state", "rises", "stick_fraction", "stick_fraction_all",
                     "friction_stick_fraction", "reversing_fraction", "locking_fraction"}),
        options);
  if (parameters > 2) throw InputError(fmt::format("{}: more than two swept parameters", request.file));
  const bool chosen = !options.show.empty();
  if (!chosen)
    options.show = impacts ? std::vector<std::string>{"slip_sequence:0", "restitution:0"}
                           : std::vector<std::string>{"itinerary", "stick_fraction"};
  std::vector<std::string> arrays = array_names(options.show);
  arrays.insert(arrays.end(), {"attractor", "period", "outcome", "border"});
  const Result result = read_result(request.file, arrays);
  if (!chosen && result.data.find("itinerary") == nullptr) std::erase(options.show, "itinerary");
  return draw_map(result, options);
}

void plot(Request request) {
  if (request.picture.empty())
    request.picture = std::filesystem::path(request.file).replace_extension(".png");
  check_picture_name(request.picture);
  read_size(request.size, request.options);
  if (!(request.options.from < request.options.to)) throw InputError("--from must be less than --to");
  write_picture(draw(request), request.picture, request.keep_script);
}

}  // namespace

GRAZE_COMMAND(plot) {
  static_cast<void>(context);
  Verb verb = app.add_verb("plot", "draw what is in a result file (needs gnuplot)");
  const auto request = std::make_shared<Request>();
  PlotOptions& options = request->options;
  verb.option("FILE", request->file, "result file, complete or not", {.required = true});
  verb.option("-o,--output", request->picture,
              "picture: .png, .svg or .pdf by its ending; default FILE with .png");
  verb.flag("--keep-script", request->keep_script,
            "leave PICTURE.gp beside the picture: `gnuplot PICTURE.gp` draws it again");
  verb.option("--state", options.states,
              "a state to draw, may be repeated; default: the first two positions (a motion: all, up to "
              "four)");
  verb.option("--show", options.show,
              "two parameters: an array to draw beside the classes, NAME or NAME:LABEL, may be repeated; "
              "default itinerary, where it was recorded, and stick_fraction");
  verb.option("--start", options.start,
              "only this initial state, counted from 0; default: all, with two parameters the first",
              {.least = 0});
  verb.option("--from", options.from, "where the x axis begins; default: with the first point");
  verb.option("--to", options.to, "where the x axis ends; default: with the last point");
  verb.option("--size", request->size, "WIDTHxHEIGHT in pixels (pdf: 144 an inch)");
  verb.callback([request] { on_result(request->file, [&] { plot(*request); }); });
}

}  // namespace graze
