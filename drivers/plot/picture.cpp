#include "drivers/plot/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>

#include "core/settings/value.hpp"

namespace graze {
namespace {

// In units of the font size.
constexpr double margin = 0.6;  // around everything
constexpr double line_height = 1.35;
constexpr double row_height = 1.45;  // of an axis of rows
constexpr double panel_gap = 1;
constexpr double tic_length = 0.9;  // with the room to the number
constexpr double small = 0.85;      // captions, notes, legends
constexpr double widest_row_name = 9;
constexpr double numbers_height = 3.2;  // of the numbers and the label below a panel
constexpr double sample_width = 1.5;    // of a legend
constexpr double scale_width = 0.8;     // of a scale of colours
constexpr double least_frame = 6;
constexpr double least_share = 0.3;  // of the height that a panel would have by itself

constexpr std::array<std::string_view, 10> superscripts = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

using Tics = std::vector<std::pair<double, std::string>>;

/// A number as tics show it, with so many decimals.
std::string tic_text(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.front() != '-') return text;
  const bool zero = text.find_first_not_of("-0.") == std::string::npos;
  return (zero ? "" : "−") + text.substr(1);
}

std::string power_of_ten(int exponent) {
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(exponent)))
    text += superscripts[static_cast<std::size_t>(digit - '0')];
  return "10" + text;
}

/// A step of 1, 2 or 5 times a power of ten that fits into the range at most `most` times.
double round_step(double range, int most) {
  const double power = std::pow(10.0, std::floor(std::log10(range / most)));
  for (const double step : {power, 2 * power, 5 * power})
    if (range / step <= most * (1 + 1e-9)) return step;
  return 10 * power;
}

/// The power of ten that is taken out of the tics of an axis: 0 unless they would be very long.
int common_exponent(const PlotAxis& axis) {
  const double greatest = std::max(std::abs(axis.from), std::abs(axis.to));
  if (axis.logarithmic || !axis.rows.empty() || !axis.marked.empty() || !(greatest > 0)) return 0;
  const int exponent = static_cast<int>(std::floor(std::log10(greatest)));
  return exponent >= 4 || exponent <= -4 ? exponent : 0;
}

std::string label_of(const PlotAxis& axis) {
  const int exponent = common_exponent(axis);
  if (exponent == 0) return axis.label;
  const std::size_t bracket = axis.label.rfind('[');
  if (bracket == std::string::npos || axis.label.back() != ']')
    return fmt::format("{} [{}]", axis.label, power_of_ten(exponent));
  return fmt::format("{}{} {}", axis.label.substr(0, bracket + 1), power_of_ten(exponent),
                     axis.label.substr(bracket + 1));
}

Tics linear_tics(const PlotAxis& axis, int most) {
  const double step = round_step(axis.to - axis.from, most);
  const int exponent = common_exponent(axis);
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) - exponent + 1e-9)));
  Tics tics;
  const double first = std::ceil(axis.from / step - 1e-9);
  for (double k = first; k * step <= axis.to + 1e-9 * step; ++k)
    tics.emplace_back(k * step, tic_text(k * step / std::pow(10.0, exponent), decimals));
  return tics;
}

Tics logarithmic_tics(const PlotAxis& axis, int most) {
  Tics tics;
  const int low = static_cast<int>(std::floor(std::log10(axis.from)));
  const int high = static_cast<int>(std::ceil(std::log10(axis.to)));
  const bool whole_powers = std::log10(axis.to / axis.from) > 2;
  const bool raised = whole_powers && (low < -2 || high > 2);  // all tics of an axis are written alike
  const int stride = std::max(1, (high - low + most - 1) / most);
  for (int power = low; power <= high; ++power)
    for (const int digit : {1, 2, 5}) {
      const double value = digit * std::pow(10.0, power);
      if (!axis.contains(value) || (whole_powers && digit != 1)) continue;
      const bool named = !whole_powers || (power - low) % stride == 0;
      const std::string text = raised ? power_of_ten(power) : number_text(value);
      tics.emplace_back(value, named ? text : "");
    }
  if (tics.size() < 2) {
    PlotAxis linear = axis;
    linear.logarithmic = false;
    return linear_tics(linear, most);
  }
  return tics;
}

Tics number_tics(const PlotAxis& axis, int most) {
  return axis.logarithmic ? logarithmic_tics(axis, most) : linear_tics(axis, most);
}

double widest(const Tics& tics) {
  double width = 0;
  for (const auto& [value, text] : tics) width = std::max(width, text_width(text));
  return width;
}

/// As many tics as have room side by side.
Tics x_tics(const PlotAxis& axis, double ems) {
  if (!axis.marked.empty()) return axis.marked;
  const int usual = std::max(2, static_cast<int>(ems / 2.5));
  const auto fit = [&](const Tics& tics) {
    return static_cast<double>(tics.size()) * (widest(tics) + 1) <= ems + widest(tics);
  };
  Tics tics;
  for (int most = usual; most > 0; --most) {
    tics = number_tics(axis, most);
    if (fit(tics)) break;
  }
  for (int most = usual + 1; most < 2 * usual + 2 && tics.size() < 2; ++most) {  // one number gives no scale
    Tics finer = number_tics(axis, most);
    if (!fit(finer)) finer = {finer.front(), finer[finer.size() / 2]};
    if (finer.size() > 1 && fit(finer)) tics = std::move(finer);
  }
  return tics;
}

std::string shortened(const std::string& text, double ems) {
  if (text_width(text) <= ems) return text;
  std::string result = text;
  while (!result.empty() && text_width(result) + 1 > ems) {
    while (!result.empty() && (static_cast<unsigned char>(result.back()) & 0xc0) == 0x80) result.pop_back();
    if (!result.empty()) result.pop_back();
  }
  return result + "…";
}

Tics y_tics(const PlotAxis& axis, double ems) {
  Tics tics;
  for (std::size_t row = 0; row < axis.rows.size(); ++row)
    tics.emplace_back(static_cast<double>(row) + 0.5, shortened(axis.rows[row], widest_row_name));
  if (!axis.rows.empty()) return tics;
  const int most = std::max(3, static_cast<int>(ems / 1.9));
  if (axis.marked.empty()) {  // one number gives no scale
    for (int more = most; more < 2 * most && tics.size() < 2; ++more) tics = number_tics(axis, more);
    return tics;
  }
  const std::size_t stride =
      (axis.marked.size() + static_cast<std::size_t>(most) - 1) / static_cast<std::size_t>(most);
  for (std::size_t i = 0; i < axis.marked.size(); i += stride) tics.push_back(axis.marked[i]);
  return tics;
}

/// Lines of at most this width, broken at blanks.
std::vector<std::string> wrapped(const std::string& text, double ems) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    std::string longer = line;
    if (!longer.empty()) longer += ' ';
    longer += word;
    if (!line.empty() && text_width(longer) > ems) {
      lines.push_back(line);
      line = word;
    } else {
      line = longer;
    }
    at = end + 1;
  }
  if (!line.empty()) lines.push_back(shortened(line, ems));
  return lines;
}

bool inside(double value, const PlotAxis& axis) { return axis.contains(value); }

bool same_numbers(const PlotAxis& a, const PlotAxis& b) {
  return a.label == b.label && a.from == b.from && a.to == b.to && a.logarithmic == b.logarithmic;
}

/// An entry of a legend before it has its place.
struct Entry {
  const Mark* mark;
  std::string colour;
  std::string meaning;

  auto look() const {
    const bool across =
        mark != nullptr && (mark->shape == Mark::Shape::walls || mark->shape == Mark::Shape::levels);
    const auto shape = across ? Mark::Shape::line : mark != nullptr ? mark->shape : Mark::Shape::boxes;
    return std::tuple(meaning, colour, mark == nullptr ? -1 : static_cast<int>(shape),
                      mark == nullptr ? 0 : mark->symbol, mark == nullptr ? 0 : static_cast<int>(mark->dash));
  }
};

/// One row of panels with the room that it needs.
struct Row {
  const std::vector<Panel>* panels;
  std::vector<Rectangle> frames;
  std::vector<std::vector<std::vector<Entry>>> legends;  ///< of each panel, line by line
  double above = 0;                                      ///< titles and legends
  double below = 0;                                      ///< numbers and label
  double fixed = 0;                                      ///< height of axes of rows
  double natural = 0;                                    ///< height of the others when nobody asks for one
  double height(double scale) const { return fixed > 0 ? fixed : natural * scale; }
};

class Layouter {
 public:
  Layouter(const Picture& picture, const Page& page) : picture_(picture), page_(page), em_(page.font) {
    layout_.width = page.width;
    layout_.font = page.font;
  }

  Layout result() {
    head();
    for (const std::vector<Panel>& panels : picture_.rows) rows_.push_back(measured(panels));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const bool last = i + 1 == rows_.size();
      const bool alone = rows_[i].panels->size() == 1;
      const bool shared = !last && alone && rows_[i + 1].panels->size() == 1 &&
                          same_numbers(rows_[i].panels->front().x, rows_[i + 1].panels->front().x);
      rows_[i].below = (shared ? panel_gap : numbers_height + (last ? 0.3 : 0.9)) * em_;
    }
    const double scale = scale_of_rows();
    for (Row& row : rows_) place(row, scale);
    foot();
    return std::move(layout_);
  }

 private:
  double ems(double points) const { return points / em_; }

  void head() {
    top_ = margin * em_;
    const double width = page_.width - 2 * margin * em_;
    for (const std::string& line : wrapped(picture_.title, ems(width) / 1.05)) text_line(line, 1.05);
    for (const std::string& line : wrapped(picture_.caption, ems(width) / small)) text_line(line, small);
    top_ += 0.5 * em_;
    notes_.clear();
    for (const std::string& note : picture_.notes)
      for (const std::string& line : wrapped(note, ems(width) / small)) notes_.push_back(line);
  }

  void text_line(const std::string& line, double size) {
    layout_.texts.push_back(
        {margin * em_, top_ + line_height * size * em_ / 2, line, PlacedText::Anchor::left, size});
    top_ += line_height * size * em_;
  }

  void foot() {
    for (const std::string& line : notes_) text_line(line, small);
  }

  /// The widest numbers of an axis up to this height: the higher, the finer their steps are.
  static double widest_tics(const PlotAxis& axis, double highest) {
    double width = widest(y_tics(axis, highest));
    for (const double height : {6, 12, 24, 48, 96})
      if (height < highest) width = std::max(width, widest(y_tics(axis, height)));
    return width;
  }

  double natural_height(const Panel& panel, double width) const {
    return panel.square ? 0.85 * width : panel.share * (56 + 0.17 * page_.width);
  }

  /// How high a panel in a column may become, in units of the font size.
  double highest(const Panel& panel, double column) const {
    return ems(std::max(natural_height(panel, column), page_.height));
  }

  /// Room left of a panel in a column for its numbers and its label.
  double left_of(const Panel& panel, double column) const {
    const double label = panel.y.label.empty() ? 0 : line_height;
    return (label + widest_tics(panel.y, highest(panel, column)) + tic_length + 0.5) * em_;
  }
  /// Room right of a panel for its scale, or for half of the last number.
  double right_of(const Panel& panel, double column) const {
    if (!panel.raster || !panel.raster->with_scale) return 1.2 * em_;
    return (0.5 + scale_width + tic_length + 0.5 +
            widest_tics(scale_axis(*panel.raster), highest(panel, column))) *
           em_;
  }

  static PlotAxis scale_axis(const Raster& raster) {
    return {"", raster.palette.front().first, raster.palette.back().first};
  }

  /// Columns of a row: of square panels as many as the fullest row of such has, so that they are alike.
  std::size_t columns_of(const std::vector<Panel>& panels) const {
    std::size_t columns = panels.size();
    for (const std::vector<Panel>& others : picture_.rows)
      if (panels.front().square && others.front().square) columns = std::max(columns, others.size());
    return columns;
  }

  /// Widths, legends and heights of a row.
  Row measured(const std::vector<Panel>& panels) {
    Row row;
    row.panels = &panels;
    const std::size_t columns = columns_of(panels);
    const double column = (page_.width - 2 * margin * em_) / static_cast<double>(columns);
    double left_room = 0;
    double right_room = 0;
    for (const std::vector<Panel>& others : picture_.rows)
      for (const Panel& panel : others)
        if (columns_of(others) == columns) {
          left_room = std::max(left_room, left_of(panel, column));
          right_room = std::max(right_room, right_of(panel, column));
        }
    double lines = 0;
    bool titled = false;
    for (std::size_t i = 0; i < panels.size(); ++i) {
      const Panel& panel = panels[i];
      Rectangle frame;
      frame.left = margin * em_ + column * static_cast<double>(i) + left_room;
      frame.width = column - left_room - right_room;
      if (frame.width < least_frame * em_)
        throw InputError(fmt::format(
            "--width: this picture needs at least {:.0f} mm",
            std::ceil((page_.width + static_cast<double>(panels.size()) * (least_frame * em_ - frame.width)) *
                      25.4 / 72)));
      row.frames.push_back(frame);
      row.legends.push_back(legend_of(panel, frame.width, left_room));
      lines = std::max(lines, static_cast<double>(row.legends.back().size()));
      titled = titled || !panel.title.empty();
      if (!panel.y.rows.empty())
        row.fixed = std::max(row.fixed, row_height * em_ * static_cast<double>(panel.y.rows.size()));
      row.natural = std::max(row.natural, natural_height(panel, frame.width));
    }
    row.above =
        ((titled ? line_height : 0) + lines * line_height * small + (titled || lines > 0 ? 0.3 : 0)) * em_;
    return row;
  }

  /// Entries that have not been shown yet, in lines of at most this width; one that is wider takes of the
  /// room left of the panel.
  std::vector<std::vector<Entry>> legend_of(const Panel& panel, double width, double left_room) {
    std::vector<Entry> entries;
    for (const Mark& mark : panel.marks)
      if (!mark.meaning.empty() && visible(mark, panel.x, panel.y))
        entries.push_back({&mark, mark.colour, mark.meaning});
    for (const auto& [colour, meaning] : panel.patches) entries.push_back({nullptr, colour, meaning});
    std::vector<std::vector<Entry>> lines;
    double used = 0;
    for (Entry& entry : entries) {
      if (!shown_.insert(entry.look()).second) continue;
      entry.meaning = shortened(entry.meaning, ems(left_room + width) / small - sample_width - 0.5);
      const double needed = entry_width(entry);
      if (lines.empty() || used + needed > width + 1.2 * em_) {
        lines.emplace_back();
        used = 0;
      }
      used += needed;
      lines.back().push_back(entry);
    }
    return lines;
  }

  double entry_width(const Entry& entry) const {
    return (sample_width + 0.5 + text_width(entry.meaning) + 1.2) * small * em_;
  }

  /// How high the panels with numbers are, times what they would be by themselves.
  double scale_of_rows() const {
    double fixed = top_ + static_cast<double>(notes_.size()) * line_height * small * em_ + margin * em_;
    double natural = 0;
    for (const Row& row : rows_) {
      fixed += row.above + row.below + row.fixed;
      if (row.fixed == 0) natural += row.natural;
    }
    if (page_.height == 0) return 1;
    if (natural == 0 || (page_.height - fixed) / natural < least_share)
      throw InputError(fmt::format("--height: this picture needs at least {:.0f} mm",
                                   std::ceil((fixed + least_share * natural) * 25.4 / 72)));
    return (page_.height - fixed) / natural;
  }

  void place(Row& row, double scale) {
    const double height = row.height(scale);
    top_ += row.above;
    for (std::size_t i = 0; i < row.frames.size(); ++i) {
      const Panel& panel = (*row.panels)[i];
      Rectangle& frame = row.frames[i];
      frame.top = top_;
      frame.height = height;
      place_head(panel, row.legends[i], frame);
      place_panel(panel, frame, row.below > line_height * em_);
    }
    top_ += height + row.below;
    layout_.height = top_ + static_cast<double>(notes_.size()) * line_height * small * em_ + margin * em_;
    if (page_.height > 0) layout_.height = page_.height;
  }

  /// Legend right above the frame, title above the legend.
  void place_head(const Panel& panel, const std::vector<std::vector<Entry>>& legend, const Rectangle& frame) {
    const double line = line_height * small * em_;
    double y = frame.top - 0.3 * em_ - line * static_cast<double>(legend.size());
    if (!panel.title.empty())
      layout_.texts.push_back({frame.left, y - line_height * em_ / 2,
                               shortened(panel.title, ems(frame.width + right_of(panel, frame.width))),
                               PlacedText::Anchor::left});
    for (const std::vector<Entry>& entries : legend) {
      double wide = 0;
      for (const Entry& entry : entries) wide += entry_width(entry);
      double x = std::min(frame.left, frame.right() + 1.2 * em_ - wide);
      for (const Entry& entry : entries) {
        const Rectangle sample{x, y + 0.22 * line, sample_width * small * em_, 0.56 * line};
        layout_.entries.push_back({entry.mark, entry.colour, sample});
        layout_.texts.push_back({sample.right() + 0.4 * small * em_, y + line / 2, entry.meaning,
                                 PlacedText::Anchor::left, small});
        x += entry_width(entry);
      }
      y += line;
    }
  }

  void place_panel(const Panel& panel, const Rectangle& frame, bool numbered) {
    PlacedPanel placed{&panel, frame, x_tics(panel.x, ems(frame.width)), y_tics(panel.y, ems(frame.height)),
                       {},     {}};
    if (numbered) {
      const double label = frame.bottom() + (numbers_height - 0.6) * em_;
      layout_.texts.push_back({frame.left + frame.width / 2, label,
                               shortened(label_of(panel.x), ems(frame.width) + 3),
                               PlacedText::Anchor::centre});
    } else {
      for (auto& [value, text] : placed.x_tics) text.clear();
    }
    if (!panel.y.label.empty()) {
      const std::string label = label_of(panel.y);
      const double size = std::clamp(ems(frame.height + 1.2 * em_) / text_width(label), 0.6, 1.0);
      const double x = frame.left - (widest(placed.y_tics) + tic_length + 0.5 + line_height / 2) * em_;
      layout_.texts.push_back({x, frame.top + frame.height / 2,
                               shortened(label, std::max(3.0, ems(frame.height + 1.2 * em_) / size)),
                               PlacedText::Anchor::upright, size});
    }
    if (panel.raster && panel.raster->with_scale) place_scale(placed, *panel.raster);
    layout_.panels.push_back(std::move(placed));
    place_names(panel, frame);
  }

  void place_scale(PlacedPanel& placed, const Raster& raster) {
    const Rectangle& frame = placed.frame;
    placed.scale = Rectangle{frame.right() + 0.5 * em_, frame.top, scale_width * em_, frame.height};
    placed.scale_tics = y_tics(scale_axis(raster), ems(frame.height));
    const int exponent = common_exponent(scale_axis(raster));
    if (exponent != 0)
      layout_.texts.push_back({placed.scale->left, frame.top - 0.7 * em_, "·" + power_of_ten(exponent),
                               PlacedText::Anchor::left, small});
  }

  /// Names beside their places: each in the first of the places around it that is free. Where places crowd, a
  /// name could belong to any of them: there are none.
  void place_names(const Panel& panel, const Rectangle& frame) {
    constexpr std::array<std::pair<double, double>, 8> directions = {
        {{1, -1}, {1, 1}, {-1, -1}, {-1, 1}, {0, -1}, {0, 1}, {1, 0}, {-1, 0}}};
    std::vector<Rectangle> taken;
    const double dot = 0.35 * em_;
    const auto across = [&](double x) { return frame.left + panel.x.position(x) * frame.width; };
    const auto down = [&](double y) { return frame.bottom() - panel.y.position(y) * frame.height; };
    for (const PlaceName& name : panel.names)
      taken.push_back({across(name.x) - dot, down(name.y) - dot, 2 * dot, 2 * dot});
    const std::vector<Rectangle> places = taken;
    const auto crowded = [&](const PlaceName& name) {
      constexpr std::ptrdiff_t most = 4;  // its own among them
      return most < std::count_if(
                        places.begin(), places.end(),
                        [&](const Rectangle& other) {
                          return std::abs(other.left + dot - across(name.x)) < em_ &&
                                 std::abs(other.top + dot - down(name.y)) < em_;
                        });
    };
    for (const PlaceName& name : panel.names) {
      if (!panel.x.contains(name.x) || !panel.y.contains(name.y) || crowded(name)) continue;
      const double width = text_width(name.text) * small * em_;
      const double height = 1.05 * small * em_;
      for (const auto& [right, below] : directions) {
        const double x = across(name.x) + right * (dot + width / 2 + 0.1 * em_);
        const double y = down(name.y) + below * (dot + height / 2);
        const Rectangle box{x - width / 2, y - height / 2, width, height};
        const bool fits = box.left > frame.left + 1 && box.right() < frame.right() - 1 &&
                          box.top > frame.top + 1 && box.bottom() < frame.bottom() - 1;
        const bool free = std::none_of(taken.begin(), taken.end(), [&](const Rectangle& other) {
          return box.left < other.right() && other.left < box.right() && box.top < other.bottom() &&
                 other.top < box.bottom();
        });
        if (!fits || !free) continue;
        taken.push_back(box);
        layout_.texts.push_back({x, y, name.text, PlacedText::Anchor::centre, small, name.colour});
        break;
      }
    }
  }

  const Picture& picture_;
  const Page& page_;
  double em_;
  double top_ = 0;
  std::vector<Row> rows_;
  std::vector<std::string> notes_;
  std::set<std::tuple<std::string, std::string, int, int, int>> shown_;
  Layout layout_;
};

}  // namespace

double PlotAxis::value(double position) const {
  return logarithmic ? from * std::pow(to / from, position) : from + position * (to - from);
}

double PlotAxis::position(double value) const {
  return logarithmic ? std::log(value / from) / std::log(to / from) : (value - from) / (to - from);
}

PlotAxis value_axis(std::string label, double low, double high) {
  if (!(low <= high)) return {std::move(label), 0, 1};
  constexpr double rounding = 1e-9;  // of the values: what differs by less is one value
  const double size = std::max(std::abs(low), std::abs(high));
  const bool spreads = high - low > rounding * size;
  const double room = spreads ? 0.04 * (high - low) : std::max(0.05 * size, 1e-3);
  return {std::move(label), low - room, high + room};
}

PlotAxis row_axis(std::vector<std::string> names) {
  PlotAxis axis;
  axis.to = static_cast<double>(names.size());
  axis.rows = std::move(names);
  return axis;
}

bool visible(const Mark& mark, const PlotAxis& x, const PlotAxis& y) {
  using Shape = Mark::Shape;
  if (mark.shape == Shape::levels)
    return std::any_of(mark.y.begin(), mark.y.end(), [&](double value) { return inside(value, y); });
  if (mark.shape == Shape::walls)
    return std::any_of(mark.x.begin(), mark.x.end(), [&](double value) { return inside(value, x); });
  for (std::size_t i = 0; i < mark.x.size(); ++i) {
    if (mark.shape == Shape::boxes) {
      if (mark.x2[i] > x.from && mark.x[i] < x.to && mark.y2[i] > y.from && mark.y[i] < y.to) return true;
    } else if (inside(mark.x[i], x) && (mark.shape == Shape::area || inside(mark.y[i], y))) {
      return true;
    }
  }
  return false;
}

double text_width(std::string_view text) {
  double width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) == 0x80) continue;
    const bool combining = byte == 0xcc || byte == 0xcd;  // U+0300 … U+036F
    const bool narrow = std::string_view(".,:;'|!ijl ()[]").find(text[i]) != std::string_view::npos;
    const bool wide = std::string_view("mwMW%@").find(text[i]) != std::string_view::npos;
    const bool sign = text[i] == '=' || text[i] == '+' || text.substr(i).starts_with("−");
    width += combining ? 0 : narrow ? 0.36 : wide ? 0.95 : sign ? 0.84 : 0.64;
  }
  return width;
}

std::string number_text(double value) {
  const std::string text = fmt::format("{:.6g}", value);
  const std::size_t power = text.find('e');
  std::string result;
  for (const char c : text.substr(0, power)) result += c == '-' ? "−" : std::string(1, c);
  if (power == std::string::npos) return result;
  const std::string ten = power_of_ten(std::stoi(text.substr(power + 1)));
  return result == "1" ? ten : result + "·" + ten;
}

int columns_of(const Page& page) { return std::max(100, static_cast<int>(2 * page.width)); }

Layout lay_out(const Picture& picture, const Page& page) { return Layouter(picture, page).result(); }

}  // namespace graze
