/// graze cases: the cases that come with graze.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "core/settings/value.hpp"
#include "data/case_file.hpp"
#include "drivers/command/command.hpp"
#include "drivers/command/key_table.hpp"

namespace graze {
namespace {

namespace fs = std::filesystem;

/// The folder of the cases: of an installation, or of the source that the build lies in.
fs::path cases_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  fs::path installed = program.parent_path().parent_path() / "share" / "graze" / "cases";
  if (fs::is_directory(installed, error)) return installed;
  for (fs::path above = program.parent_path(); above.has_relative_path(); above = above.parent_path()) {
    fs::path source = above / "data" / "cases";
    if (fs::is_directory(source, error)) return source;
  }
  throw InputError("the cases are not there: neither " + installed.string() + " nor data/cases above " +
                   program.string());
}

std::vector<std::string> case_names(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

fs::path file_of(const fs::path& folder, const std::string& name) { return folder / (name + ".toml"); }

void print_cases(const fs::path& folder) {
  std::vector<Row> rows;
  for (const std::string& name : case_names(folder)) {
    const Value root = read_case(file_of(folder, name).string(), {}).root;
    const Value* title = root.find("title");
    rows.push_back({name, root.at("analysis").at("name").text("analysis.name"),
                    title != nullptr ? title->text("title") : ""});
  }
  if (rows.empty()) throw InputError(folder.string() + ": has no cases");
  print_table(rows);
}

void print_case(const fs::path& folder, const std::string& name) {
  const std::vector<std::string> names = case_names(folder);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::string nearest = nearest_name(name, names);
    throw InputError(fmt::format("there is no case {}; {}graze cases lists them", name,
                                 nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest)));
  }
  std::ifstream file(file_of(folder, name), std::ios::binary);
  fmt::print("{}", std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace

GRAZE_COMMAND(cases) {
  static_cast<void>(context);
  Verb verb = app.add_verb("cases", "list the cases that come with graze, or print one");
  const auto name = std::make_shared<std::string>();
  verb.option("NAME", *name, "case to print");
  verb.footer("Example:\n  graze cases quickstart > quickstart.toml");
  verb.callback([name] {
    const fs::path folder = cases_folder();
    name->empty() ? print_cases(folder) : print_case(folder, *name);
  });
}

}  // namespace graze
