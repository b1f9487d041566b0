/// graze analyses: the questions that a case can ask.
#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "analysis/run/analysis.hpp"
#include "core/settings/value.hpp"
#include "drivers/command/command.hpp"
#include "drivers/command/key_table.hpp"

namespace graze {
namespace {

const AnalysisInfo& find_analysis(const std::string& name) {
  std::vector<std::string> names;
  for (const AnalysisInfo& info : analyses()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  const std::string nearest = nearest_name(name, names);
  throw InputError(fmt::format("there is no analysis {}; {}there is: {}", name,
                               nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest),
                               fmt::join(names, ", ")));
}

void print_analyses() {
  std::vector<Row> rows;
  for (const AnalysisInfo& analysis : analyses()) rows.push_back({analysis.name, analysis.meaning});
  print_table(rows);
}

void print_analysis(const AnalysisInfo& analysis) {
  fmt::print("{}: {}\n\nkeys of [analysis]\n", analysis.name, analysis.meaning);
  print_keys(analysis.keys);
}

}  // namespace

GRAZE_COMMAND(analyses) {
  static_cast<void>(context);
  Verb verb = app.add_verb("analyses", "list the analyses, or the keys of one");
  const auto name = std::make_shared<std::string>();
  verb.option("NAME", *name, "analysis whose keys, defaults and meanings to print");
  verb.footer("Example:\n  graze analyses sweep");
  verb.callback([name] {
    if (name->empty())
      print_analyses();
    else
      print_analysis(find_analysis(*name));
  });
}

}  // namespace graze
