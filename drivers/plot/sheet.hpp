/// What the kinds of picture share: the sheet with its panels, colours, axes, and the way from many points
/// to few pixels.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/dataset.hpp"
#include "drivers/plot/gnuplot.hpp"

namespace graze {

/// Pixels: of a picture whose width nobody asked for, and below the last panel for its axis.
inline constexpr int default_width = 1600;
inline constexpr int bottom_margin = 108;

/// A plot area, in pixels from the left and from the top.
struct Panel {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
};

/// A number axis of a picture.
struct PlotAxis {
  std::string label;
  double from = 0;
  double to = 1;
  bool logarithmic = false;

  /// 0 at `from`, 1 at `to`.
  double position(double value) const;
  double value(double position) const;
  bool contains(double value) const { return from <= value && value <= to; }
};

/// A line of a legend: a patch of a colour ("#rrggbb") and what it means.
struct LegendEntry {
  std::string colour;
  std::string meaning;
};

/// A gnuplot script under construction: data blocks first, then one panel after the other.
class Sheet {
 public:
  Sheet(int width, int height, std::string_view title);

  /// Stores rows of numbers and returns the name under which commands find them.
  std::string data(std::string rows);
  /// Starts the next panel with everything of the last one forgotten. Its second axes x2, y2 count pixels
  /// of the panel from the lower left.
  void panel(const Panel& panel);
  void command(std::string_view line);
  /// A legend right of the panel, from its top down, that needs no more room than its lines.
  void legend(const Panel& panel, const std::vector<LegendEntry>& entries);
  /// An upright label left of the panel, at a place that does not depend on the numbers there.
  void value_label(const Panel& panel, std::string_view text);
  /// The y axis of the panel.
  void value_axis(const Panel& panel, const PlotAxis& axis);
  /// A y axis of rows with these names, from the bottom; row i reaches from i to i + 1.
  void rows(const std::vector<std::string>& names);
  /// The x axis of the panel, with numbers and label or just with tics.
  void number_axis(const PlotAxis& axis, bool labelled);
  /// Text from this point to the right.
  void text(int left, int middle, std::string_view text);
  /// The range of values that the palette spreads over, low < high.
  void colours(double low, double high);
  /// Where the colour scale of the panel goes.
  void colour_box(const Panel& box);
  /// The plot element of a raster over the whole panel: `rows` from the bottom, numbers for the palette.
  std::string raster(const Panel& panel, const std::vector<std::vector<double>>& rows);
  /// Draws all elements (each a piece of a gnuplot plot command) in the present panel.
  void plot(const std::vector<std::string>& elements);
  Drawing finish() const;

 private:
  double across(int pixels) const;  ///< screen coordinate
  double up(int pixels) const;      ///< screen coordinate of what is so many pixels from the top

  int width_;
  int height_;
  int panel_width_ = 0;  ///< of the present panel
  int blocks_ = 0;
  std::string title_;  ///< until the first panel has taken it
  std::string data_;
  std::string commands_;
};

/// A plot element that draws nothing, so that a panel has its first axes even when all is drawn on others.
constexpr std::string_view nothing_on_first_axes = "1/0";

/// An attractor class has one colour in all pictures ("#rrggbb").
std::string_view class_colour(std::string_view attractor);
/// Colours for contacts, from 0; they repeat.
std::string_view contact_colour(std::size_t contact);
/// Colours for initial states, from 0; they repeat.
std::string_view start_colour(std::size_t start);

/// Colours for regions, from 0: powers of two in blues, the others in yellows and browns, the last one for
/// what has no colour of its own; they repeat.
inline constexpr std::size_t region_colours = 9;
std::string_view region_colour(std::size_t region);
/// Region colours and names of the classes of an array; where there are more than colours, only those that
/// occur get one.
std::vector<LegendEntry> class_entries(const Array& array);

/// A colour ("#rrggbb") with this share of another mixed in.
std::string mixed(std::string_view colour, std::string_view other, double share);

/// What a thing is called in a legend: its name, or "what 1" where the name is a bare number.
std::string named(std::string_view what, const std::string& name);
/// "name [unit]", or the name alone where the unit is 1 or not said.
std::string label_with_unit(std::string_view name, std::string_view unit);
/// One element of an array as a number, NaN where there is no value.
double number(const Array& array, std::size_t i);
/// All elements of an array as numbers, NaN where there is no value.
std::vector<double> numbers(const Array& array);
/// The class of one element by name, "" where there is no value or no name for it.
std::string class_name(const Array& array, std::size_t element);
/// One name for each index of a dimension: the classes of its coordinate, else its numbers, else 0, 1, …
std::vector<std::string> index_names(const Dataset& data, std::string_view dimension);
/// Index of a name; throws InputError telling what there is.
std::size_t index_of(const std::vector<std::string>& names, const std::string& name, std::string_view what);

/// A position and its velocity among the states, by their names (x1 v1, theta theta_dot, x vx).
struct Pair {
  std::size_t position;
  std::size_t velocity;
};
std::vector<Pair> pairs(const std::vector<std::string>& states);

/// The axis of the coordinates of a swept parameter, cut to from … to; logarithmic when their ratios are
/// constant. With `whole_cells` the outermost points have as much room as the others. Throws InputError
/// when nothing is left.
PlotAxis parameter_axis(const Array& coordinate, double from, double to, bool whole_cells = false);
/// Values between low and high with a little room.
PlotAxis value_axis(std::string label, double low, double high);

/// Which of many coordinates belong to each of a few pixels: those inside the pixel, else the nearest one.
class Pixels {
 public:
  Pixels(const PlotAxis& axis, const Array& coordinate, int count);

  std::size_t count() const { return first_.size(); }
  /// Indices of the coordinates of a pixel; at least one.
  std::span<const std::size_t> operator[](std::size_t pixel) const {
    return {order_.data() + first_[pixel], last_[pixel] - first_[pixel]};
  }

 private:
  std::vector<std::size_t> order_;
  std::vector<std::size_t> first_;
  std::vector<std::size_t> last_;
};

}  // namespace graze
