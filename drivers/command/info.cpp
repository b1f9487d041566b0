/// graze info: what is in a result file.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/settings/value.hpp"
#include "core/system/outcome.hpp"
#include "data/archive.hpp"
#include "data/h5.hpp"
#include "data/json.hpp"
#include "drivers/command/array_headers.hpp"
#include "drivers/command/array_values.hpp"
#include "drivers/command/basin_table.hpp"
#include "drivers/command/branch_table.hpp"
#include "drivers/command/broken_files.hpp"
#include "drivers/command/command.hpp"
#include "drivers/command/curve_table.hpp"
#include "drivers/command/summary.hpp"

namespace graze {
namespace {

constexpr std::size_t most_failures = 20;  // listed one by one

std::string indented(const std::string& text) {
  std::string result = "  ";
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] == '\n' && i + 1 < text.size()) result += "  ";
  }
  return result;
}

/// Root attributes: texts of several lines below their name, the others beside it.
void print_provenance(const Attributes& attributes) {
  for (const auto& [name, text] : attributes) {
    if (text.empty()) continue;
    if (text.find('\n') == std::string::npos) {
      fmt::print("{}: {}\n", name, text);
    } else {
      fmt::print("{}:\n{}{}", name, indented(text), text.back() == '\n' ? "" : "\n");
    }
  }
}

bool has_groups(const std::string& path) {
  try {
    return !h5::File::open(path).groups().empty();
  } catch (const h5::Error&) {
    return false;
  }
}

void print_shape(const std::vector<Dimension>& dimensions, const std::vector<Array>& arrays) {
  fmt::print("\ndimensions\n");
  for (const Dimension& d : dimensions) fmt::print("  {} = {}\n", d.name, d.size);
  fmt::print("\narrays\n");
  for (const Array& array : arrays) {
    const std::string unit = array.unit.empty() || array.unit == "1" ? "" : " [" + array.unit + "]";
    fmt::print("  {}({}){}: {}\n", array.name, fmt::join(array.dimensions, ", "), unit, array.long_name);
  }
}

/// "delta = 0.25": where in its dimension an index lies; the index itself where there are no coordinates.
std::string coordinate_text(const Dataset& data, const std::string& dimension, std::size_t index) {
  const Array* axis = data.find(dimension);
  if (axis == nullptr) return fmt::format("{} {}", dimension, index);
  return std::visit([&](const auto& values) { return fmt::format("{} = {}", dimension, values[index]); },
                    axis->values);
}

std::string point_text(const Dataset& data, const Array& array, std::size_t element) {
  std::string text;
  for (auto d = array.dimensions.rbegin(); d != array.dimensions.rend(); ++d) {
    const std::size_t size = data.size(*d);
    if (!text.empty()) text.insert(0, ", ");
    text.insert(0, coordinate_text(data, *d, element % size));
    element /= size;
  }
  return text;
}

void print_failures(const Dataset& data) {
  const Array* outcome = data.find("outcome");
  if (outcome == nullptr) return;
  const auto* codes = std::get_if<std::vector<std::int8_t>>(&outcome->values);
  if (codes == nullptr) return;
  std::size_t failures = 0;
  for (std::size_t k = 0; k < codes->size(); ++k) {
    const auto code = (*codes)[k];
    if (code <= 0) continue;  // ok, or not computed
    if (failures == 0) fmt::print("\nfailures\n");
    if (++failures > most_failures) continue;
    const bool known = static_cast<std::size_t>(code) < outcome->flags.size();
    fmt::print("  {}: {}\n", point_text(data, *outcome, k),
               known ? outcome->flags[static_cast<std::size_t>(code)] : std::to_string(code));
  }
  if (failures > most_failures) fmt::print("  and {} more\n", failures - most_failures);
}

void print_basins(const Dataset& data) {
  const std::vector<std::string> names = basin_names(data);
  if (names.empty()) return;
  fmt::print("\nbasins\n");
  for (std::size_t n = 0; n < names.size(); ++n) fmt::print("  {}: {}\n", n, names[n]);
  const std::string exponent = uncertainty_text(data);
  if (!exponent.empty()) fmt::print("  uncertainty exponent: {}\n", exponent);
}

void info(const std::string& path) {
  const std::vector<Array> arrays = array_headers(path);
  std::vector<std::string> wanted = summarised(arrays);
  wanted.insert(wanted.end(), basin_arrays().begin(), basin_arrays().end());
  const Result result = read_result(path, wanted);
  fmt::print("{}: {}\n\n", path, result.complete ? "complete" : "not complete; graze run resumes it");
  print_provenance(result.attributes);
  print_shape(result.data.dimensions, arrays);
  fmt::print("\ncounts\n");
  print_summary(stdout, result.data);
  print_basins(result.data);
  print_failures(result.data);
  if (has_groups(path)) {
    const Result whole = read_result(path);
    if (has_branches(whole.data)) fmt::print("{}", branch_text(whole.data));
    if (has_curves(whole.data)) fmt::print("{}", curve_text(whole.data));
  }
}

Value described(const Array& array) {
  Value about;
  about.set("dimensions", text_list(array.dimensions));
  about.set("units", Value(array.unit));
  about.set("long_name", Value(array.long_name));
  if (!array.flags.empty()) about.set("flag_meanings", text_list(array.flags));
  return about;
}

Value count_table(const Dataset& data, const std::vector<Array>& arrays) {
  Value counts(Value::Table{});
  for (const std::string& name : classifying(arrays)) {
    Value of_class(Value::Table{});
    for (const ClassCount& c : class_counts(data.at(name)))
      of_class.set(c.name, Value(static_cast<std::int64_t>(c.count)));
    counts.set(name, std::move(of_class));
  }
  return counts;
}

Value dimension_table(const Dataset& data) {
  Value dimensions(Value::Table{});
  for (const Dimension& d : data.dimensions) dimensions.set(d.name, Value(static_cast<std::int64_t>(d.size)));
  return dimensions;
}

Value array_table(const std::vector<Array>& arrays) {
  Value table(Value::Table{});
  for (const Array& array : arrays) table.set(array.name, described(array));
  return table;
}

/// Groups have few points: they are read whole.
Value group_table(const std::string& path) {
  Value groups(Value::Table{});
  if (!has_groups(path)) return groups;
  for (const Group& group : read_result(path).data.groups) {
    Value about;
    about.set("dimensions", dimension_table(group.data));
    about.set("arrays", array_table(group.data.arrays));
    groups.set(group.name, std::move(about));
  }
  return groups;
}

/// What info says, for other programs.
void print_json(const std::string& path) {
  const std::vector<Array> arrays = array_headers(path);
  const Result result = read_result(path, classifying(arrays));
  Value attributes(Value::Table{});
  for (const auto& [name, text] : result.attributes) attributes.set(name, Value(text));
  Value all;
  all.set("file", Value(path));
  all.set("complete", Value(result.complete));
  all.set("attributes", std::move(attributes));
  all.set("dimensions", dimension_table(result.data));
  all.set("arrays", array_table(arrays));
  all.set("counts", count_table(result.data, arrays));
  all.set("groups", group_table(path));
  fmt::print("{}\n", json_text(all));
}

/// Points of curves or of codimension two, or bifurcation points, alone, for other programs.
void print_csv(const std::string& path, bool codim2) {
  const Result result = read_result(path);
  const bool curves = has_curves(result.data);
  if (codim2 && !curves) throw InputError(path + ": has no points of codimension two (--codim2)");
  if (!curves && !has_branches(result.data)) throw InputError(path + ": has no bifurcation points (--csv)");
  fmt::print("{}", codim2   ? codim2_csv(result.data)
                   : curves ? curve_csv(result.data)
                            : bifurcation_csv(result.data));
}

void verify(const std::string& path) { fmt::print("{}: {}\n", path, verify_result(path)); }

}  // namespace

GRAZE_COMMAND(info) {
  static_cast<void>(context);
  Verb verb = app.add_verb("info", "summarise a result file");
  const auto path = std::make_shared<std::string>();
  const auto csv = std::make_shared<bool>(false);
  verb.option("FILE", *path, "result file, complete or not", {.required = true});
  verb.flag("--csv", *csv, "only the bifurcation points of a continuation, or the points of curves, as CSV");
  const auto codim2 = std::make_shared<bool>(false);
  verb.flag("--codim2", *codim2, "with --csv: the points of codimension two of curves");
  const auto json = std::make_shared<bool>(false);
  verb.flag("--json", *json, "attributes, dimensions, arrays and counts as JSON");
  const auto verified = std::make_shared<bool>(false);
  verb.flag("--verify", *verified,
            "only compare the digest of the file, or of its blocks, with all that it holds");
  verb.footer(
      "Examples:\n"
      "  graze info result.h5\n"
      "  graze info branches.h5 --csv > points.csv\n"
      "  graze info curves.h5 --csv --codim2\n"
      "  graze info result.h5 --json | jq .counts");
  verb.callback([path, csv, codim2, json, verified] {
    if (*verified) return verify(*path);
    if (*codim2 && !*csv) throw InputError("--codim2 goes with --csv");
    on_result(*path, [&] { *csv ? print_csv(*path, *codim2) : *json ? print_json(*path) : info(*path); });
  });
}

}  // namespace graze
