/// graze plot: a picture of what is in result files.
#include "drivers/plot/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/settings/value.hpp"
#include "drivers/command/broken_files.hpp"
#include "drivers/command/command.hpp"
#include "drivers/plot/gnuplot.hpp"

namespace graze {
namespace {

constexpr double points_a_millimetre = 72 / 25.4;

struct PlotRequest {
  std::vector<std::string> files;
  std::string picture;
  std::string width = "174mm";
  std::string height;
  std::string panels;
  std::string title;
  bool keep_script = false;
  bool no_caption = false;
  PlotOptions options;
};

/// "84mm", "8.4cm", "3.3in" or "238pt" in points; a bare number is of millimetres.
double read_length(const std::string& text, const char* option) {
  constexpr double least = 10, most = 2000;  // millimetres
  const std::vector<std::pair<std::string, double>> units = {{"", points_a_millimetre},
                                                             {"mm", points_a_millimetre},
                                                             {"cm", 10 * points_a_millimetre},
                                                             {"in", 72},
                                                             {"pt", 1}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  const auto found = std::find_if(units.begin(), units.end(), [&](const auto& u) { return u.first == unit; });
  const double points = found == units.end() ? 0 : number * found->second;
  if (error != std::errc{} ||
      !(points >= least * points_a_millimetre && points <= most * points_a_millimetre))
    throw InputError(
        fmt::format("{} {}: must be a length such as 84mm, 8.4cm, 3.3in or 238pt, from {} to {} mm", option,
                    text, least, most));
  return points;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

void check(const PlotOptions& options) {
  constexpr double least_font = 3, most_font = 72;
  if (!(options.from < options.to)) throw InputError("--from must be less than --to");
  if (!(options.y_from < options.y_to)) throw InputError("--y-from must be less than --y-to");
  if (!(options.page.font >= least_font && options.page.font <= most_font))
    throw InputError(fmt::format("--font-size: must be from {} to {} points", least_font, most_font));
  if (!(options.page.resolution >= 30 && options.page.resolution <= 1200))
    throw InputError("--resolution: must be from 30 to 1200 pixels an inch");
}

void plot(PlotRequest request) {
  if (request.picture.empty())
    request.picture = std::filesystem::path(request.files.front()).replace_extension(".png");
  check_picture_name(request.picture);
  request.options.page.width = read_length(request.width, "--width");
  if (!request.height.empty()) request.options.page.height = read_length(request.height, "--height");
  request.options.panels = split(request.panels);
  check(request.options);
  Picture picture = picture_of(request.files, request.options);
  if (request.title == "none")
    picture.title.clear();
  else if (!request.title.empty())
    picture.title = request.title;
  if (request.no_caption) picture.caption.clear();
  write_picture(picture, request.options.page, request.picture, request.keep_script);
  fmt::print("{}\n", request.picture);
}

}  // namespace

GRAZE_COMMAND(plot) {
  static_cast<void>(context);
  Verb verb = app.add_verb("plot", "draw what is in result files (needs gnuplot)");
  const auto request = std::make_shared<PlotRequest>();
  PlotOptions& options = request->options;
  verb.option(
      "FILE", request->files,
      "result file, complete or not; several sweeps and continuations over one parameter: in one diagram",
      {.required = true});
  verb.option("-o,--output", request->picture,
              "picture: .png, .svg, .pdf or .eps by its ending; default FILE with .png");
  verb.option(
      "--panels", request->panels,
      "panels to draw, from the top, such as x1,class or lyapunov; a wrong name is answered with all of them",
      {.value = "NAME,..."});
  verb.option("--from", options.from, "where the x axis begins; default: with the first point");
  verb.option("--to", options.to, "where the x axis ends; default: with the last point");
  verb.option("--y-from", options.y_from, "where the y axis of the first panel begins");
  verb.option("--y-to", options.y_to, "where the y axis of the first panel ends");
  verb.option("--start", options.start,
              "only this initial state, counted from 0; default: all, with two parameters the first",
              {.least = 0});
  verb.option("--over", options.over, "curves: over the regions of this sweep over the same two parameters",
              {.value = "MAP"});
  verb.option("--width", request->width, "of the picture: 84mm, 8.4cm, 3.3in; default 174mm",
              {.value = "LENGTH"});
  verb.option("--height", request->height, "of the picture; default: what the panels need",
              {.value = "LENGTH"});
  verb.option("--font-size", options.page.font, "in points; default 8");
  verb.option("--resolution", options.page.resolution, "of png, in pixels an inch; default 300");
  verb.option("--title", request->title, "another title than that of the case; none: no title",
              {.value = "TEXT"});
  verb.flag("--no-caption", request->no_caption,
            "without the line of parameters that differ from their defaults");
  verb.flag("--keep-script", request->keep_script,
            "leave PICTURE.gp and its data in PICTURE.data: `gnuplot PICTURE.gp` draws it again");
  verb.footer(
      "The name of the picture is printed.\n"
      "Examples:\n"
      "  graze plot sweep.h5 -o figure.pdf --width 84mm --panels x1,lyapunov\n"
      "  graze plot sweep.h5 --from 0.69 --to 0.73\n"
      "  graze plot up.h5 down.h5 branches.h5 -o overlay.svg\n"
      "  graze plot map.h5 --panels class,p/n,lyapunov\n"
      "  graze plot curves.h5 --over map.h5");
  verb.callback([request] { on_result(request->files.front(), [&] { plot(*request); }); });
}

}  // namespace graze
