/// Chart: a coarse map over two parameters, branches along some lines of it, and the curves through the
/// points located on them, in one result.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/continuation/branch_data.hpp"
#include "analysis/continuation/branch_set.hpp"
#include "analysis/continuation/curve_data.hpp"
#include "analysis/continuation/orbit_units.hpp"
#include "analysis/continuation/sweep_starts.hpp"
#include "analysis/maps/map_keys.hpp"
#include "analysis/questions/curve_setting.hpp"
#include "analysis/run/execute.hpp"
#include "analysis/run/in_parts.hpp"
#include "analysis/run/joined.hpp"
#include "analysis/run/registry.hpp"

namespace graze {
namespace {

/// A journal whose parts have numbers from another one on.
class Shifted final : public Journal {
 public:
  Shifted(Journal& journal, std::size_t first) : journal_(journal), first_(first) {
    threads = journal.threads;
  }
  bool stop() override { return journal_.stop(); }
  std::optional<Dataset> recall(std::size_t number) override { return journal_.recall(first_ + number); }
  void keep(std::size_t number, const Dataset& part) override { journal_.keep(first_ + number, part); }

 private:
  Journal& journal_;
  std::size_t first_;
};

class Chart final : public AnalysisInParts {
 public:
  explicit Chart(const Problem& problem);

  std::optional<Dataset> compute_with(const Box& box, Journal& journal) const override;

 private:
  /// A line of the map along the first parameter, the periodic orbits that motions on it settle to, and the
  /// branches through these.
  struct Line {
    double second = 0;
    std::vector<Start> starts;
    Family family;
    std::vector<Branch> branches;
    std::string left;  ///< Atlas::left
  };
  std::optional<Dataset> map(Journal& journal) const;
  std::size_t line_place(std::size_t line, std::size_t count) const;
  Dataset along(const Dataset& map, std::size_t place) const;
  Line line_of(const Dataset& map, std::size_t place) const;
  Units units_on(const std::vector<Line>& lines) const;
  void follow(Line& line, const Plane& plane, Journal& journal) const;
  const std::string& name_of(int parameter) const {
    return problem_.model->parameters()[static_cast<std::size_t>(parameter)].name;
  }

  Problem problem_;
  CurveSetting setting_;
  std::unique_ptr<Analysis> sweep_;
  std::size_t lines_ = 0;
  std::size_t branches_ = 0;
};

/// The table of the sweep that a chart begins with.
Value sweep_table(const Value& chart, const std::vector<Key>& keys) {
  Value table;
  for (const Key& key : keys)
    if (const Value* given = chart.find(key.name)) table.set(key.name, *given);
  Value all = checked(table, keys, "analysis");
  all.set("name", Value("sweep"));
  return all;
}

Chart::Chart(const Problem& problem) : problem_(problem), setting_(read_curve_setting(problem)) {
  lines_ = static_cast<std::size_t>(problem.analysis.at("lines").integer("analysis.lines"));
  branches_ = static_cast<std::size_t>(problem.analysis.at("branches").integer("analysis.branches"));
  const auto sweep = std::find_if(analyses().begin(), analyses().end(),
                                  [](const AnalysisInfo& info) { return info.name == "sweep"; });
  Problem of_sweep = problem;
  of_sweep.analysis = sweep_table(problem.analysis, sweep->keys);
  sweep_ = sweep->make(of_sweep);
}

/// The map, some blocks at a time; nothing: stopped.
std::optional<Dataset> Chart::map(Journal& journal) const {
  constexpr std::size_t block = 64;  // points
  const std::vector<Box> boxes = sweep_->blocks(std::max(block, sweep_->least_points()));
  Joined whole(sweep_->layout(), sweep_->point_dimensions());
  const std::size_t at_once = static_cast<std::size_t>(std::max(1, journal.threads));
  for (std::size_t first = 0; first < boxes.size(); first += at_once) {
    if (journal.stop()) return std::nullopt;
    journal.progress(0.5 * static_cast<double>(first) / static_cast<double>(boxes.size()));
    const std::size_t count = std::min(at_once, boxes.size() - first);
    std::vector<std::optional<Dataset>> parts(count);
    std::vector<std::size_t> missing;
    for (std::size_t k = 0; k < count; ++k) {
      parts[k] = journal.recall(first + k);
      if (!parts[k]) missing.push_back(k);
    }
    call_each(journal.threads, missing.size(),
              [&](std::size_t k) { parts[missing[k]] = sweep_->compute(boxes[first + missing[k]]); });
    for (std::size_t k = 0; k < count; ++k) {
      if (std::find(missing.begin(), missing.end(), k) != missing.end()) {
        // A part stands for itself: with the dimensions of its box.
        Dataset part = *parts[k];
        part.dimensions = sweep_->layout().dimensions;
        const std::vector<std::string> over = sweep_->point_dimensions();
        for (std::size_t d = 0; d < over.size(); ++d)
          for (Dimension& dimension : part.dimensions)
            if (dimension.name == over[d]) dimension.size = boxes[first + k].count[d];
        journal.keep(first + k, part);
      }
      whole.put(*parts[k], boxes[first + k]);
    }
  }
  return whole.take();
}

/// Number of a line among `count` values of the second parameter: evenly between its ends.
std::size_t Chart::line_place(std::size_t line, std::size_t count) const {
  const double share = (static_cast<double>(line) + 0.5) / static_cast<double>(lines_);
  return std::min(count - 1, static_cast<std::size_t>(share * static_cast<double>(count)));
}

/// The sweep over the first parameter alone, at one value of the second.
Dataset Chart::along(const Dataset& map, std::size_t place) const {
  const std::string& second = name_of(setting_.plane.second);
  const std::size_t count = map.size(second);
  Dataset line;
  for (const Dimension& d : map.dimensions)
    if (d.name != second) line.dimensions.push_back(d);
  for (const Array& array : map.arrays) {
    if (array.name == second) continue;
    Array cut = array;
    const auto over = std::find(cut.dimensions.begin(), cut.dimensions.end(), second);
    if (over == cut.dimensions.end()) {
      line.arrays.push_back(std::move(cut));
      continue;
    }
    std::size_t inner = 1;
    for (auto d = over + 1; d != cut.dimensions.end(); ++d) inner *= map.size(*d);
    cut.dimensions.erase(over);
    std::visit(
        [&](auto& values) {
          std::decay_t<decltype(values)> kept;
          for (std::size_t at = place * inner; at < values.size(); at += count * inner)
            kept.insert(kept.end(), values.begin() + static_cast<std::ptrdiff_t>(at),
                        values.begin() + static_cast<std::ptrdiff_t>(at + inner));
          values = std::move(kept);
        },
        cut.values);
    line.arrays.push_back(std::move(cut));
  }
  return line;
}

Chart::Line Chart::line_of(const Dataset& map, std::size_t place) const {
  Line line;
  line.second = map.values<double>(name_of(setting_.plane.second))[place];
  const Dataset sweep = along(map, place);
  const Family family = setting_.plane.at(line.second);
  line.starts = SweepStarts(sweep, family, problem_.analysis.at("axis")).all("attractor of the map");
  std::erase_if(line.starts, [](const Start& start) { return start.periods == 0; });
  return line;
}

/// Those of the first orbit on a line.
Units Chart::units_on(const std::vector<Line>& lines) const {
  for (const Line& line : lines)
    if (!line.starts.empty()) return units_of(setting_.plane.at(line.second), line.starts);
  return {};
}

void Chart::follow(Line& line, const Plane& plane, Journal& journal) const {
  line.family = plane.at(line.second);
  AtlasOptions options;
  options.limits.most = branches_;
  options.continuation.from = setting_.options.walk.from[0];
  options.continuation.to = setting_.options.walk.to[0];
  Atlas atlas(line.family, options, journal);
  for (std::size_t k = 0; k < line.starts.size() && !journal.stop(); ++k)
    static_cast<void>(atlas.take(in_units(line.starts[k], plane.family.units)));
  line.branches = atlas.branches();
  line.left = atlas.budget().left();
}

std::optional<Dataset> Chart::compute_with(const Box&, Journal& journal) const {
  constexpr std::size_t room = 1000000;  // numbers of parts of each stage
  auto swept = map(journal);
  if (!swept) return std::nullopt;
  Shifted for_curves(journal, (lines_ + 1) * room);
  std::vector<Line> all;
  for (std::size_t k = 0; k < lines_; ++k)
    all.push_back(line_of(*swept, line_place(k, swept->size(name_of(setting_.plane.second)))));
  const Plane plane = in_units(setting_.plane, units_on(all));
  CurveSet set(plane, setting_.options, for_curves);
  std::vector<TriedStart> tried;
  Dataset lines;
  for (std::size_t k = 0; k < lines_; ++k) {
    journal.progress(0.5 + 0.5 * static_cast<double>(k) / static_cast<double>(lines_));
    Shifted for_branches(journal, (k + 1) * room);
    Line& line = all[k];
    follow(line, plane, for_branches);
    for (std::size_t b = 0; b < line.branches.size(); ++b) {
      for (const Bifurcation& at : line.branches[b].bifurcations) {
        if (journal.stop()) return std::nullopt;
        const CurveSeed seed = seed_at(at, line.second);
        const std::string origin = bifurcation_names()[static_cast<std::size_t>(at.kind)] + " at " +
                                   Value(at.parameter).toml() + " of branch " + std::to_string(b) +
                                   " of line " + std::to_string(k);
        tried.push_back({seed, set.take(seed, origin)});
      }
    }
    Dataset branches = branches_data(line.family, line.branches);
    branches.attributes.emplace_back(name_of(setting_.plane.second), Value(line.second).toml());
    if (!line.left.empty()) branches.attributes.emplace_back("left", line.left);
    lines.groups.push_back({std::to_string(k), std::move(branches)});
  }
  if (journal.stop()) return std::nullopt;
  Dataset data = curves_data(plane, set, problem_.observables.get());
  data.groups.push_back({"start", starts_data(plane, tried)});
  data.groups.push_back({"line", std::move(lines)});
  data.groups.push_back({"map", std::move(*swept)});
  return data;
}

std::vector<Key> chart_keys() {
  std::vector<Key> keys = map_keys();
  add_curve_keys(keys, {"parameter", "from", "to", "points", "spacing"});
  const auto integer = [&](const char* name, std::int64_t fallback, const char* meaning) {
    Key& k = add_key(keys, name, Key::Type::integer, meaning);
    k.fallback = Value(fallback);
    k.range = Range{1, 1000, false, false};
  };
  integer("lines", 3, "values of the second parameter at which branches over the first are followed");
  integer("branches", 40, "branches of a line at most");
  return keys;
}

}  // namespace

GRAZE_ANALYSIS(chart) {
  return {"chart", "a map over two parameters with the curves that bound its regions", chart_keys(),
          analysis_of<Chart>};
}

}  // namespace graze
