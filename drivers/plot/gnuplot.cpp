#include "drivers/plot/gnuplot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "core/settings/value.hpp"
#include "drivers/run/output_file.hpp"

namespace graze {
namespace {

/// What differs between the formats. A unit is what gnuplot counts sizes of the page in.
struct Format {
  std::string_view ending;
  std::string_view last_bytes;  ///< found near the end of every whole file of this format
  double units_an_inch;         ///< 0: the resolution of the page
  double line;                  ///< width of gnuplot's line 1, units
  double symbol;                ///< diameter of gnuplot's symbol 1, units; negative: times the font size
  std::string (*terminal)(double width, double height, double font);  ///< all in units
};

std::string png_terminal(double width, double height, double font) {
  return fmt::format(
      "pngcairo noenhanced size {:.0f},{:.0f} font 'Sans,{:.6g}' fontscale 0.75 background '#ffffff'", width,
      height, font);
}
std::string svg_terminal(double width, double height, double font) {
  return fmt::format("svg noenhanced size {:.0f},{:.0f} font 'DejaVu Sans,{:.6g}' background '#ffffff'",
                     width, height, font);
}
/// The cairo terminals take the font for one of 96 dots an inch: hence the scale of 0.75.
std::string vector_terminal(std::string_view name, double width, double height, double font) {
  constexpr double points_an_inch = 72;
  return fmt::format(
      "{} noenhanced size {:.4f}in,{:.4f}in font 'Sans,{:.6g}' fontscale 0.75 background '#ffffff'", name,
      width / points_an_inch, height / points_an_inch, font);
}

constexpr std::array<Format, 4> formats = {{
    {".png", "IEND", 0, 1, 6, png_terminal},
    {".svg", "</svg>", 96, 1, -0.75, svg_terminal},
    {".pdf", "%%EOF", 72, 0.5, 6,
     [](double width, double height, double font) {
       return vector_terminal("pdfcairo", width, height, font);
     }},
    {".eps", "%%EOF", 72, 0.25, 6,
     [](double width, double height, double font) {
       return vector_terminal("epscairo", width, height, font);
     }},
}};

const Format& format_of(const std::string& picture) {
  const std::string ending = std::filesystem::path(picture).extension();
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const Format& format) { return format.ending == ending; });
  if (found == formats.end())
    throw InputError(fmt::format("{}: a picture ends in .png, .svg, .pdf or .eps", picture));
  return *found;
}

/// Length of the UTF-8 character at the front, 0 when there is none (RFC 3629).
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool no_scalar = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  if (overlong || no_scalar) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return length;
}

/// A write to a gnuplot that has given up shall be an error there, not the end of this program.
class IgnoredBrokenPipe {
 public:
  IgnoredBrokenPipe() : old_(std::signal(SIGPIPE, SIG_IGN)) {}
  IgnoredBrokenPipe(const IgnoredBrokenPipe&) = delete;
  IgnoredBrokenPipe& operator=(const IgnoredBrokenPipe&) = delete;
  ~IgnoredBrokenPipe() { std::signal(SIGPIPE, old_); }

 private:
  void (*old_)(int);
};

/// What gnuplot says is of no use to who asks for a picture: it goes nowhere.
pid_t start_gnuplot(int input, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = "gnuplot";
  std::string no_init_files = "-d";
  std::array<char*, 3> arguments = {program.data(), no_init_files.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw InputError(fmt::format("plotting needs the program gnuplot: {} (Debian: apt install gnuplot-nox)",
                                 std::strerror(error)));
  return child;
}

/// Runs a script whose picture goes to the file `output`; no file name ever reaches gnuplot.
void run_gnuplot(std::string_view script, int output) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("no pipe to gnuplot: {}", std::strerror(errno)));
  const auto close_end = [](int* end) { close(*end); };
  std::unique_ptr<int, decltype(close_end)> read_end(&ends[0], close_end);
  std::unique_ptr<int, decltype(close_end)> write_end(&ends[1], close_end);

  const pid_t child = start_gnuplot(*read_end, output);
  read_end.reset();
  const IgnoredBrokenPipe ignored;
  const bool all_sent = write_all(*write_end, script);
  write_end.reset();
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!all_sent || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("gnuplot ended with an error and made no picture");
}

/// gnuplot does not tell when the disk was full: a whole file ends as its format says.
void check_whole(const std::string& file, const Format& format, const std::string& picture) {
  constexpr std::streamoff tail_size = 64;
  std::ifstream in(file, std::ios::binary);
  in.seekg(0, std::ios::end);
  in.seekg(std::max<std::streamoff>(0, in.tellg() - tail_size));
  std::string tail(static_cast<std::size_t>(tail_size), '\0');
  in.read(tail.data(), tail_size);
  if (tail.find(format.last_bytes) == std::string::npos)
    throw std::runtime_error(
        fmt::format("{}: gnuplot could not write all of it (is the disk full?)", picture));
}

/// A text file of the data of a mark.
struct DataFile {
  std::string name;
  std::string rows;
};

/// A layout as gnuplot commands.
class Script {
 public:
  Script(const Layout& layout, const Format& format, const Page& page) : layout_(layout), format_(format) {
    const double inch = format.units_an_inch > 0 ? format.units_an_inch : page.resolution;
    unit_ = inch / 72;
    commands_ =
        fmt::format("set encoding utf8\nset terminal {}\n",
                    format.terminal(layout.width * unit_, layout.height * unit_, layout.font * unit_));
  }

  /// Everything after the terminal; data by name.
  void draw() {
    body_ += "set multiplot\n";
    for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
      begin_panel(layout_.panels[i]);
      if (i == 0) add_page();
      draw_panel(layout_.panels[i]);
    }
    body_ += "unset multiplot\n";
  }

  const std::string& terminal() const { return commands_; }
  const std::string& body() const { return body_; }
  const std::vector<DataFile>& data() const { return data_; }

 private:
  template <class... Parts>
  void add(fmt::format_string<Parts...> text, Parts&&... parts) {
    body_ += fmt::format(text, std::forward<Parts>(parts)...);
  }

  std::string place(double x, double y) const {
    return fmt::format("screen {:.5f},{:.5f}", x / layout_.width, 1 - y / layout_.height);
  }
  double line(double points) const { return points * unit_ / format_.line; }
  double symbol(double points) const {
    const double one = format_.symbol > 0 ? format_.symbol : -format_.symbol * layout_.font * unit_;
    return points * unit_ / one;
  }
  std::string line_look(const Mark& mark) const {
    return fmt::format("linewidth {:.4g} dashtype {} linecolor rgb '{}'", line(mark.size), dash(mark),
                       mark.colour);
  }
  std::string symbol_look(const Mark& mark) const {
    return fmt::format("pointtype {} pointsize {:.4g} linewidth {:.4g} linecolor rgb '{}'", mark.symbol,
                       symbol(mark.size), line(0.8), mark.colour);
  }
  std::string dash(const Mark& mark) const {
    if (mark.dash == Mark::Dash::solid) return "1";
    return mark.dash == Mark::Dash::dashed ? "(12,6)" : "(3,4)";
  }
  static std::string fill_look(const Mark& mark) {
    return mark.opacity < 1 ? fmt::format("fillstyle transparent solid {:.3g} noborder", mark.opacity)
                            : "fillstyle solid noborder";
  }

  /// Texts and legends: they belong to the page, not to a panel.
  void add_page() {
    for (const PlacedText& text : layout_.texts) {
      const char* anchor = text.anchor == PlacedText::Anchor::left     ? "left"
                           : text.anchor == PlacedText::Anchor::right  ? "right"
                           : text.anchor == PlacedText::Anchor::centre ? "center"
                                                                       : "center rotate";
      add("set label {} at {} {} front font ',{:.4g}' textcolor rgb '{}'\n", gnuplot_text(text.text),
          place(text.x, text.y), anchor, text.size * layout_.font * unit_, text.colour);
    }
    for (const PlacedEntry& entry : layout_.entries) add_entry(entry);
  }

  void add_entry(const PlacedEntry& entry) {
    const Rectangle& box = entry.sample;
    const double middle = box.top + box.height / 2;
    const Mark* mark = entry.mark;
    using Shape = Mark::Shape;
    if (mark != nullptr && mark->shape == Shape::dots) {
      Mark shown = *mark;
      shown.size =
          std::max(shown.size, 0.35 * layout_.font);  // a speck of the picture would not be seen here
      add("set label '' at {} point {} front\n", place(box.left + box.width / 2, middle), symbol_look(shown));
    } else if (mark == nullptr || mark->shape == Shape::boxes || mark->shape == Shape::area) {
      const std::string look = mark == nullptr ? "fillstyle solid noborder" : fill_look(*mark);
      add("set object rectangle from {} to {} front {} fillcolor rgb '{}'\n", place(box.left, box.bottom()),
          place(box.right(), box.top), look, entry.colour);
    } else {
      add("set arrow from {} to {} nohead front {}\n", place(box.left, middle), place(box.right(), middle),
          line_look(*mark));
    }
  }

  static std::string tic_list(const std::vector<std::pair<double, std::string>>& tics) {
    std::string list;
    for (const auto& [value, text] : tics) {
      std::string name;  // names of tics are formats to gnuplot
      for (const char c : text) name += c == '%' ? "%%" : std::string(1, c);
      list += fmt::format("{}{} {:.12g}", list.empty() ? "" : ", ", gnuplot_text(name), value);
    }
    return list;
  }

  void axis(char which, const PlotAxis& axis, const std::vector<std::pair<double, std::string>>& tics) {
    add("set {}range [{:.12g}:{:.12g}]\n", which, axis.from, axis.to);
    if (axis.logarithmic) add("set logscale {}\n", which);
    add("set {}tics {}({})\n", which, axis.rows.empty() ? "" : "scale 0 ", tic_list(tics));
  }

  void begin_panel(const PlacedPanel& placed) {
    const Rectangle& frame = placed.frame;
    body_ += fmt::format("\n# {}\nreset\n", one_line(placed.panel->name));
    add("set border 15 linewidth {:.4g} linecolor rgb '#404040'\nunset key\nunset colorbox\n", line(0.5));
    add("set tics out nomirror scale {:.4g} textcolor rgb '#202020'\n", 0.4);
    add("set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n", frame.left / layout_.width,
        frame.right() / layout_.width);
    add("set tmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n", 1 - frame.top / layout_.height,
        1 - frame.bottom() / layout_.height);
    axis('x', placed.panel->x, placed.x_tics);
    axis('y', placed.panel->y, placed.y_tics);
  }

  /// A name as a comment.
  static std::string one_line(const std::string& name) {
    std::string text = name;
    for (char& c : text)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != ' ' && c != ':' && c != '_') c = '-';
    return text;
  }

  void draw_panel(const PlacedPanel& placed) {
    const Panel& panel = *placed.panel;
    std::vector<std::string> elements = {"1/0"};  // so that there are axes also where nothing is drawn
    if (panel.raster) elements.push_back(raster(placed));
    for (const Mark& mark : panel.marks)
      if (visible(mark, panel.x, panel.y)) elements.push_back(element(mark, panel));
    body_ += fmt::format("plot {} notitle\n", fmt::join(elements, " notitle, \\\n     "));
  }

  std::string store(const Panel& panel, std::string rows) {
    std::string name;
    for (const char c : panel.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    const std::string key = fmt::format("{}_{}", name.substr(0, 40), ++counts_[name.substr(0, 40)]);
    data_.push_back({key, std::move(rows)});
    return key;
  }

  std::string element(const Mark& mark, const Panel& panel) {
    const auto rows = [&](auto&&... columns) {
      std::string text;
      for (std::size_t i = 0; i < mark.x.size(); ++i) {
        const std::array<double, sizeof...(columns)> row = {columns[i]...};
        const bool known =
            std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
        text += known ? fmt::format("{:.9g}\n", fmt::join(row, " ")) : "\n";
      }
      return store(panel, text);
    };
    switch (mark.shape) {
      case Mark::Shape::line:
        return fmt::format("@{} using 1:2 with lines {}", rows(mark.x, mark.y), line_look(mark));
      case Mark::Shape::dots:
        return fmt::format("@{} using 1:2 with points {}", rows(mark.x, mark.y), symbol_look(mark));
      case Mark::Shape::area:
        return fmt::format("@{} using 1:2:3 with filledcurves {} linecolor rgb '{}'",
                           rows(mark.x, mark.y, mark.y2), fill_look(mark), mark.colour);
      case Mark::Shape::boxes:
        return fmt::format("@{} using (($1+$3)/2):(($2+$4)/2):1:3:2:4 with boxxyerror {} linecolor rgb '{}'",
                           rows(mark.x, mark.y, mark.x2, mark.y2), fill_look(mark), mark.colour);
      case Mark::Shape::levels:
      case Mark::Shape::walls:
        break;
    }
    return fmt::format("@{} using 1:2 with lines {}", store(panel, across(mark, panel)), line_look(mark));
  }

  /// Lines from edge to edge of a panel.
  static std::string across(const Mark& mark, const Panel& panel) {
    std::string rows;
    for (const double y : mark.y)
      rows += fmt::format("{:.12g} {:.12g}\n{:.12g} {:.12g}\n\n", panel.x.from, y, panel.x.to, y);
    for (const double x : mark.x)
      rows += fmt::format("{:.12g} {:.12g}\n{:.12g} {:.12g}\n\n", x, panel.y.from, x, panel.y.to);
    return rows;
  }

  /// The raster fills the panel, whatever its axes: it has axes of its own, which count cells.
  std::string raster(const PlacedPanel& placed) {
    const Raster& raster = *placed.panel->raster;
    std::string palette;
    for (const auto& [value, colour] : raster.palette)
      palette += fmt::format("{}{:.9g} '{}'", palette.empty() ? "" : ", ", value, colour);
    add("set palette defined ({}) maxcolors 0\nset cbrange [{:.9g}:{:.9g}]\n", palette,
        raster.palette.front().first, raster.palette.back().first);
    if (placed.scale) {
      const Rectangle& box = *placed.scale;
      add("set colorbox user origin {} size screen {:.5f},{:.5f} noborder\nset cbtics scale 0.3 ({})\n",
          place(box.left, box.bottom()), box.width / layout_.width, box.height / layout_.height,
          tic_list(placed.scale_tics));
    }
    const std::size_t columns = raster.rows.front().size();
    add("set x2range [-0.5:{}.5]\nset y2range [-0.5:{}.5]\n", columns - 1, raster.rows.size() - 1);
    std::string text;
    for (const std::vector<double>& row : raster.rows) {
      for (const double value : row) text += std::isfinite(value) ? fmt::format("{:.5g} ", value) : "NaN ";
      text += '\n';
    }
    return fmt::format("@{} matrix using 1:2:3 axes x2y2 with image", store(*placed.panel, text));
  }

  const Layout& layout_;
  const Format& format_;
  double unit_ = 1;
  std::string commands_;
  std::string body_;
  std::vector<DataFile> data_;
  std::map<std::string, int> counts_;
};

/// The commands with something in place of each "@KEY ": texts have no @ of their own (gnuplot_text).
template <class Named>
std::string with_data(const std::string& body, Named named) {
  std::string text;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t mark = std::min(body.find('@', at), body.size());
    text += body.substr(at, mark - at);
    if (mark == body.size()) break;
    const std::size_t end = body.find(' ', mark);
    text += named(body.substr(mark + 1, end - mark - 1));
    at = end;
  }
  return text;
}

/// The whole script for a pipe, all data within.
std::string piped(const Script& script) {
  std::string text = script.terminal();
  for (const DataFile& data : script.data())
    text += fmt::format("$data_{} << END_OF_DATA\n{}END_OF_DATA\n", data.name, data.rows);
  return text + with_data(script.body(), [](const std::string& key) { return "$data_" + key; }) +
         "set output\n";
}

/// The script for a file: data and picture lie in the folder of the script.
std::string kept(const Script& script, const std::string& file) {
  const std::string name = std::filesystem::path(file).filename();
  std::string text = "# Made by graze; `gnuplot FILE` draws the picture again.\n" + script.terminal();
  text +=
      "folder = ARG0\n"
      "while (strlen(folder) > 0 && folder[strlen(folder):*] ne '/') { folder = folder[1:strlen(folder) - 1] "
      "}\n"
      "if (folder eq '') { folder = './' }\n";
  text += fmt::format("data_folder = folder . {}\nset output folder . {}\n", gnuplot_text(name + ".data/"),
                      gnuplot_text(name));
  return text +
         with_data(script.body(), [](const std::string& key) { return "data_folder.'" + key + ".txt'"; }) +
         "set output\n";
}

void keep(const Script& script, const std::string& file) {
  for (const DataFile& data : script.data()) write_text(file + ".data/" + data.name + ".txt", data.rows);
  write_text(file + ".gp", kept(script, file));
}

}  // namespace

std::string gnuplot_text(std::string_view text) {
  // All punctuation that could mean something to gnuplot goes in as octal escapes of a double-quoted string.
  constexpr std::string_view harmless = " .,:;-_+=()[]/<>";
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0)
      result += '?';
    else if (first < 0x20 || first == 0x7f)
      result += ' ';
    else if (length > 1 || std::isalnum(first) || harmless.find(text.front()) != std::string_view::npos)
      result += text.substr(0, length);
    else
      result += fmt::format("\\{:03o}", first);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result + '"';
}

void check_picture_name(const std::string& file) { format_of(file); }

void write_picture(const Picture& picture, const Page& page, const std::string& file, bool keep_script) {
  const Format& format = format_of(file);
  const Layout layout = lay_out(picture, page);
  Script script(layout, format, page);
  script.draw();
  PartialFile partial(file);
  run_gnuplot(piped(script), partial.descriptor());
  check_whole(partial.name(), format, file);
  if (keep_script) keep(script, file);
  partial.finish();
}

}  // namespace graze
