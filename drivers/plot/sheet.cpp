#include "drivers/plot/sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "core/settings/value.hpp"

namespace graze {
namespace {

constexpr std::size_t longest_title = 110;
constexpr int label_distance = 132;
constexpr int tic_distance = 36;
constexpr int number_distance = 80;  // side by side
constexpr int usual_tics = 8;        // of a wide panel
constexpr int title_middle = 34;
constexpr int legend_distance = 20;
constexpr int legend_line = 30;

/// Begins every panel: what a panel does not say is the same in all of them.
constexpr std::string_view panel_style =
    "reset\n"
    "set border 15 linewidth 0.8 linecolor rgb '#404040'\n"
    "set tics out nomirror scale 0.6 textcolor rgb '#202020'\n"
    "set style fill solid 1 noborder\n"
    "unset colorbox\n"
    "unset key\n";

std::string shortened(std::string_view text) {
  if (text.size() <= longest_title) return std::string(text);
  std::size_t end = longest_title;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

bool geometric(const std::vector<double>& sorted) {
  constexpr double tolerance = 1e-6;
  if (sorted.size() < 3 || !(sorted.front() > 0)) return false;
  const double ratio = std::log(sorted[1] / sorted[0]);
  const double step = sorted[1] - sorted[0];
  bool equal_steps = true;
  for (std::size_t i = 2; i < sorted.size(); ++i) {
    if (std::abs(std::log(sorted[i] / sorted[i - 1]) - ratio) > tolerance * ratio) return false;
    equal_steps = equal_steps && std::abs(sorted[i] - sorted[i - 1] - step) <= tolerance * step;
  }
  return !equal_steps;
}

/// A step of 1, 2 or 5 times a power of ten that fits into the range at most `most` times.
double round_step(double range, int most) {
  const double power = std::pow(10.0, std::floor(std::log10(range / most)));
  for (const double step : {power, 2 * power, 5 * power})
    if (range / step <= most) return step;
  return 10 * power;
}

/// How gnuplot writes numbers that are such steps apart: with as many decimals as the step has.
std::string number_format(double step) {
  constexpr int most = 5;
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  return decimals > most ? "%g" : fmt::format("%.{}f", decimals);
}

/// Names of tics are formats to gnuplot.
std::string without_formats(const std::string& name) {
  std::string result;
  for (const char c : name) result += c == '%' ? "%%" : std::string(1, c);
  return result;
}

std::string state_stem(const std::string& name) { return name.empty() ? name : name.substr(1); }

bool is_velocity_of(const std::string& velocity, const std::string& position) {
  if (velocity == position + "_dot" || velocity == "v" + position) return true;
  return velocity.front() == 'v' && position.front() != 'v' && velocity.size() > 1 &&
         state_stem(velocity) == state_stem(position);
}

}  // namespace

Sheet::Sheet(int width, int height, std::string_view title)
    : width_(width), height_(height), title_(shortened(title)) {}

std::string Sheet::data(std::string rows) {
  const std::string name = fmt::format("$data{}", ++blocks_);
  data_ += fmt::format("{} << END\n{}END\n", name, rows);
  return name;
}

void Sheet::panel(const Panel& panel) {
  panel_width_ = panel.width;
  commands_ += panel_style;
  commands_ += fmt::format(
      "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\n"
      "set tmargin at screen {:.6f}\nset bmargin at screen {:.6f}\n"
      "set x2range [0:{}]\nset y2range [0:{}]\n",
      across(panel.left), across(panel.left + panel.width), up(panel.top), up(panel.top + panel.height),
      panel.width, panel.height);
  if (!title_.empty()) text(panel.left, title_middle, std::exchange(title_, ""));
}

void Sheet::command(std::string_view line) { commands_ += fmt::format("{}\n", line); }

void Sheet::legend(const Panel& panel, const std::vector<LegendEntry>& entries) {
  constexpr int patch_width = 26;
  constexpr int patch_height = 14;
  const int left = panel.left + panel.width + legend_distance;
  int middle = panel.top + legend_line / 2;
  for (const LegendEntry& entry : entries) {
    commands_ += fmt::format(
        "set object rectangle from screen {:.6f},{:.6f} to screen {:.6f},{:.6f} front "
        "fillstyle solid noborder fillcolor rgb '{}'\n",
        across(left), up(middle + patch_height / 2), across(left + patch_width),
        up(middle - patch_height / 2), entry.colour);
    text(left + patch_width + legend_distance / 2, middle, entry.meaning);
    middle += legend_line;
  }
}

void Sheet::value_label(const Panel& panel, std::string_view text) {
  commands_ +=
      fmt::format("set label {} at screen {:.6f},{:.6f} center rotate front textcolor rgb '#202020'\n",
                  gnuplot_text(text), across(panel.left - label_distance), up(panel.top + panel.height / 2));
}

void Sheet::value_axis(const Panel& panel, const PlotAxis& axis) {
  value_label(panel, axis.label);
  commands_ += fmt::format("set yrange [{}:{}]\n", axis.from, axis.to);
  if (axis.logarithmic) {
    commands_ += "set logscale y\n";
    return;
  }
  const double step = round_step(axis.to - axis.from, std::max(2, panel.height / tic_distance));
  commands_ += fmt::format("set ytics {}\nset format y '{}'\n", step, number_format(step));
}

void Sheet::rows(const std::vector<std::string>& names) {
  std::string tics;
  for (std::size_t row = 0; row < names.size(); ++row)
    tics += fmt::format("{}{} {}", row == 0 ? "" : ", ", gnuplot_text(without_formats(names[row])),
                        static_cast<double>(row) + 0.5);
  commands_ += fmt::format("set ytics scale 0 ({})\nset yrange [0:{}]\n", tics, names.size());
}

void Sheet::number_axis(const PlotAxis& axis, bool labelled) {
  commands_ += fmt::format("set xrange [{}:{}]\n", axis.from, axis.to);
  const int most_tics = std::max(2, panel_width_ / number_distance);
  if (axis.logarithmic) {
    commands_ += "set logscale x\n";
  } else if (most_tics < usual_tics) {
    commands_ += fmt::format("set xtics {}\n", round_step(axis.to - axis.from, most_tics));
  }
  commands_ += labelled ? fmt::format("set xlabel {}\n", gnuplot_text(axis.label)) : "set format x ''\n";
}

void Sheet::text(int left, int middle, std::string_view text) {
  commands_ += fmt::format("set label {} at screen {:.6f},{:.6f} left front textcolor rgb '#202020'\n",
                           gnuplot_text(text), across(left), up(middle));
}

void Sheet::colours(double low, double high) {
  commands_ +=
      fmt::format("set cbrange [{}:{}]\nset cbtics scale 0.4 {}\n", low, high, round_step(high - low, 8));
}

void Sheet::colour_box(const Panel& box) {
  commands_ += fmt::format("set colorbox user origin screen {:.6f},{:.6f} size screen {:.6f},{:.6f} border\n",
                           across(box.left), up(box.top + box.height), across(box.width), 1 - up(box.height));
}

std::string Sheet::raster(const Panel& panel, const std::vector<std::vector<double>>& rows) {
  std::string text;
  for (const std::vector<double>& row : rows) text += fmt::format("{:.4g}\n", fmt::join(row, " "));
  return fmt::format("{} matrix using (($1+0.5)*{:.6f}):(($2+0.5)*{:.6f}):3 axes x2y2 with image", data(text),
                     static_cast<double>(panel.width) / static_cast<double>(rows.front().size()),
                     static_cast<double>(panel.height) / static_cast<double>(rows.size()));
}

void Sheet::plot(const std::vector<std::string>& elements) {
  commands_ += fmt::format("plot {}\n", fmt::join(elements, ", \\\n     "));
}

Drawing Sheet::finish() const {
  return {width_, height_, fmt::format("{}set multiplot\n{}unset multiplot\n", data_, commands_)};
}

double Sheet::across(int pixels) const { return static_cast<double>(pixels) / width_; }

double Sheet::up(int pixels) const { return 1 - static_cast<double>(pixels) / height_; }

std::string_view class_colour(std::string_view attractor) {
  // Okabe and Ito's colours, which the colour-blind can tell apart.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> colours = {
      {{"periodic", "#0072b2"},
       {"quasiperiodic", "#009e73"},
       {"chaotic", "#d55e00"},
       {"unbounded", "#cc79a7"},
       {"failed", "#000000"}}};
  for (const auto& [name, colour] : colours)
    if (name == attractor) return colour;
  return "#b8b8b8";
}

std::string_view contact_colour(std::size_t contact) {
  constexpr std::array<std::string_view, 5> colours = {"#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#a08000"};
  return colours[contact % colours.size()];
}

std::string_view start_colour(std::size_t start) {
  constexpr std::array<std::string_view, 4> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7"};
  return colours[start % colours.size()];
}

std::string_view region_colour(std::size_t region) {
  constexpr std::array<std::string_view, region_colours> colours = {
      "#cfe3f5", "#7db8e0", "#f0e442", "#2e7ebc", "#e6ab02", "#c58c3c", "#8c6d31", "#08306b", "#66c2c2"};
  return colours[region % colours.size()];
}

std::vector<LegendEntry> class_entries(const Array& array) {
  std::set<std::size_t> occurring;
  for (const double flag : numbers(array))
    if (flag >= 0) occurring.insert(static_cast<std::size_t>(flag));
  const bool all = array.flags.size() <= region_colours;
  std::vector<LegendEntry> entries;
  std::size_t used = 0;
  for (std::size_t i = 0; i < array.flags.size(); ++i) {
    const std::size_t colour = all || occurring.contains(i) ? used++ : 0;
    entries.push_back({std::string(region_colour(colour)), array.flags[i]});
  }
  return entries;
}

std::string mixed(std::string_view colour, std::string_view other, double share) {
  std::string result = "#";
  for (const std::size_t place : {1U, 3U, 5U}) {
    const auto part = [place](std::string_view text) {
      return std::stod("0x" + std::string(text.substr(place, 2)));
    };
    result += fmt::format("{:02x}", std::lround(part(colour) + share * (part(other) - part(colour))));
  }
  return result;
}

std::string named(std::string_view what, const std::string& name) {
  const bool is_number = name.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? fmt::format("{} {}", what, name) : name;
}

std::string label_with_unit(std::string_view name, std::string_view unit) {
  if (unit.empty() || unit == "1") return std::string(name);
  return fmt::format("{} [{}]", name, unit);
}

double number(const Array& array, std::size_t i) {
  return std::visit(
      [i](const auto& values) {
        const auto value = values[i];
        const bool missing = std::is_integral_v<decltype(value)> && value < 0;
        return missing ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(value);
      },
      array.values);
}

std::vector<double> numbers(const Array& array) {
  std::vector<double> result(std::visit([](const auto& values) { return values.size(); }, array.values));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = number(array, i);
  return result;
}

std::string class_name(const Array& array, std::size_t element) {
  const double value = number(array, element);
  const bool named = value >= 0 && value < static_cast<double>(array.flags.size());
  return named ? array.flags[static_cast<std::size_t>(value)] : std::string();
}

std::vector<std::string> index_names(const Dataset& data, std::string_view dimension) {
  const std::size_t size = data.size(dimension);
  std::vector<std::string> names;
  const Array* coordinate = data.find(dimension);
  for (std::size_t i = 0; i < size; ++i) {
    const bool known = coordinate != nullptr && coordinate->dimensions.size() == 1;
    const double value = known ? number(*coordinate, i) : static_cast<double>(i);
    const bool named = known && value >= 0 && value < static_cast<double>(coordinate->flags.size());
    names.push_back(named ? coordinate->flags[static_cast<std::size_t>(value)] : fmt::format("{}", value));
  }
  return names;
}

std::size_t index_of(const std::vector<std::string>& names, const std::string& name, std::string_view what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw InputError(fmt::format("no {} {} in this file; there is: {}", what, name, fmt::join(names, ", ")));
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<Pair> pairs(const std::vector<std::string>& states) {
  std::vector<Pair> result;
  for (std::size_t position = 0; position < states.size(); ++position)
    for (std::size_t velocity = 0; velocity < states.size(); ++velocity)
      if (is_velocity_of(states[velocity], states[position])) result.push_back({position, velocity});
  return result;
}

double PlotAxis::value(double position) const {
  return logarithmic ? from * std::pow(to / from, position) : from + position * (to - from);
}

double PlotAxis::position(double value) const {
  return logarithmic ? std::log(value / from) / std::log(to / from) : (value - from) / (to - from);
}

PlotAxis parameter_axis(const Array& coordinate, double from, double to, bool whole_cells) {
  std::vector<double> all = numbers(coordinate);
  std::erase_if(all, [](double value) { return !std::isfinite(value); });
  std::sort(all.begin(), all.end());
  std::vector<double> inside = all;
  std::erase_if(inside, [&](double value) { return !(from <= value && value <= to); });
  const std::string label = label_with_unit(coordinate.name, coordinate.unit);
  if (inside.empty()) throw InputError(fmt::format("no points with {} from {} to {}", label, from, to));

  PlotAxis axis{label, inside.front(), inside.back(), geometric(all)};
  if (axis.from == axis.to) {
    const double room = axis.from == 0 ? 1 : 0.05 * std::abs(axis.from);
    return {label, axis.from - room, axis.to + room, false};
  }
  if (whole_cells) {
    const double half = 0.5 / static_cast<double>(inside.size() - 1);
    const PlotAxis points = axis;
    axis.from = points.value(-half);
    axis.to = points.value(1 + half);
  }
  return axis;
}

PlotAxis value_axis(std::string label, double low, double high) {
  if (!(low <= high)) return {std::move(label), 0, 1, false};
  const double room = high > low ? 0.04 * (high - low) : std::max(0.05 * std::abs(low), 1e-3);
  return {std::move(label), low - room, high + room, false};
}

Pixels::Pixels(const PlotAxis& axis, const Array& coordinate, int count) {
  const std::vector<double> x = numbers(coordinate);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isfinite(x[i])) order_.push_back(i);
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  const auto place = [&](std::size_t k) { return axis.position(x[order_[k]]) * count; };
  std::size_t next = 0;
  for (int pixel = 0; pixel < count; ++pixel) {
    while (next < order_.size() && place(next) < pixel) ++next;
    std::size_t first = next;
    while (next < order_.size() && (place(next) < pixel + 1 || (pixel + 1 == count && place(next) <= count)))
      ++next;
    std::size_t last = next;
    if (first == last) {
      // Between two points: the nearer one to the middle of the pixel.
      const bool left_is_nearer = first == order_.size() ||
                                  (first > 0 && pixel + 0.5 - place(first - 1) <= place(first) - pixel - 0.5);
      if (left_is_nearer) --first;
      last = first + 1;
    }
    first_.push_back(first);
    last_.push_back(last);
  }
}

}  // namespace graze
