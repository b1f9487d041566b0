/// What a picture is: panels in rows, each with axes and what is drawn in it. It knows no file, no format and
/// no plotting program. All lengths are points (1/72 inch).
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace graze {

/// An axis of numbers, or of rows with names.
struct PlotAxis {
  std::string label;
  double from = 0;
  double to = 1;
  bool logarithmic = false;
  std::vector<std::string> rows{};                       ///< row i reaches from i to i + 1
  std::vector<std::pair<double, std::string>> marked{};  ///< tics with texts of their own

  /// 0 at `from`, 1 at `to`.
  double position(double value) const;
  double value(double position) const;
  bool contains(double value) const { return from <= value && value <= to; }
};

/// Values between low and high with a little room.
PlotAxis value_axis(std::string label, double low, double high);
/// An axis of rows with these names, from the bottom.
PlotAxis row_axis(std::vector<std::string> names);

/// Something drawn in a panel, in the numbers of its axes. The legend shows it as it is drawn, where it has a
/// meaning and some of it lies within the axes.
struct Mark {
  enum class Shape {
    line,    ///< through (x, y); not a number breaks it
    dots,    ///< symbols at (x, y)
    boxes,   ///< from (x, y) to (x2, y2)
    area,    ///< between y and y2 over x
    levels,  ///< lines across the panel at heights y
    walls    ///< lines down the panel at places x
  };
  enum class Dash { solid = 1, dashed = 2, dotted = 3 };

  Shape shape = Shape::line;
  std::string meaning{};  ///< in the legend; empty: not there
  std::string colour{};   ///< "#rrggbb"
  double size = 0.8;      ///< width of lines, diameter of symbols
  Dash dash = Dash::solid;
  int symbol = 7;      ///< gnuplot's point type; 7: a disc
  double opacity = 1;  ///< of boxes and areas
  std::vector<double> x{}, y{}, x2{}, y2{};

  bool empty() const { return x.empty() && y.empty(); }
};

/// A raster over the whole panel: numbers with colours; not a number leaves a cell white.
struct Raster {
  std::vector<std::vector<double>> rows;                  ///< from the bottom
  std::vector<std::pair<double, std::string>> palette{};  ///< colours at these numbers, between them mixed
  bool with_scale = false;  ///< whether a scale beside the panel tells the numbers
};

/// A name beside a place, put where it covers nothing; left out where there is no such place.
struct PlaceName {
  double x;
  double y;
  std::string text;
  std::string colour;
};

struct Panel {
  std::string name{};   ///< what --panels calls it
  std::string title{};  ///< above it
  PlotAxis x{};
  PlotAxis y{};
  std::vector<Mark> marks{};
  std::optional<Raster> raster{};
  std::vector<PlaceName> names{};
  std::vector<std::pair<std::string, std::string>> patches{};  ///< further legend entries: colour, meaning
  double share =
      1;  ///< of the height that panels with numbers have; axes of rows need no more than their rows
  bool square = false;
};

struct Picture {
  std::string title{};
  std::string caption{};                   ///< below the title
  std::vector<std::string> notes{};        ///< at the bottom
  std::vector<std::vector<Panel>> rows{};  ///< panels side by side; rows with one x axis share its numbers
};

/// What is asked of the page.
struct Page {
  double width = 493.2;  ///< 174 mm, both columns of a journal
  double height = 0;     ///< 0: what the panels need
  double font = 8;
  double resolution = 300;  ///< of png, pixels an inch
};

/// A rectangle of the page, from its upper left corner.
struct Rectangle {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

/// A text of the page.
struct PlacedText {
  double x;  ///< of its anchor
  double y;  ///< of its middle
  std::string text;
  enum class Anchor { left, centre, right, upright } anchor = Anchor::left;
  double size = 1;  ///< times the font
  std::string colour = "#202020";
};

/// An entry of a legend: the mark as drawn, or a patch of a colour, and its meaning right of it.
struct PlacedEntry {
  const Mark* mark;  ///< nullptr: a patch
  std::string colour;
  Rectangle sample;
};

struct PlacedPanel {
  const Panel* panel;
  Rectangle frame;
  std::vector<std::pair<double, std::string>> x_tics;  ///< without text: a tic alone
  std::vector<std::pair<double, std::string>> y_tics;
  std::optional<Rectangle> scale;
  std::vector<std::pair<double, std::string>> scale_tics;
};

/// A picture whose every text and panel has its place on the page.
struct Layout {
  double width = 0;
  double height = 0;
  double font = 8;
  std::vector<PlacedPanel> panels;
  std::vector<PlacedText> texts;
  std::vector<PlacedEntry> entries;
};

/// Lays out a picture; the picture must outlive the layout. Throws InputError when the page is too small for
/// it.
Layout lay_out(const Picture& picture, const Page& page);

/// Width of a text in units of its font size, about.
double text_width(std::string_view text);
/// A number as a reader expects it: "0.25", "−3", "2·10⁻⁵".
std::string number_text(double value);
/// How many columns of a raster or a strip a page of this width can show.
int columns_of(const Page& page);
/// Whether any of a mark lies within the axes.
bool visible(const Mark& mark, const PlotAxis& x, const PlotAxis& y);

}  // namespace graze
