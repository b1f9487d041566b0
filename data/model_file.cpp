#include "data/model_file.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "core/models/equations/model_file.hpp"
#include "core/settings/registered.hpp"
#include "data/case_file.hpp"

namespace graze {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_file_bytes = 1'000'000;  // a case that names the file may come from a stranger

/// Stands for a file that is wrong: whoever names it learns what is wrong.
ModelInfo broken_model(const std::string& name, const InputError& error) {
  ModelInfo info;
  info.name = name;
  info.meaning = std::string("cannot be used: ") + error.what();
  info.make = [error](const Value&) -> std::shared_ptr<const Model> { throw error; };
  return info;
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  if (error) throw InputError("GRAZE_MODELS: " + folder.string() + ": cannot be read: " + error.message());
  std::sort(files.begin(), files.end());
  return files;
}

/// Of the folders that the environment variable GRAZE_MODELS lists, separated by colons.
std::vector<ModelInfo> models_of_folders(const std::vector<ModelInfo>& others) {
  std::vector<ModelInfo> list;
  const auto is_taken = [&](const std::string& name) {
    const auto has_name = [&](const ModelInfo& info) { return info.name == name; };
    return std::any_of(others.begin(), others.end(), has_name) ||
           std::any_of(list.begin(), list.end(), has_name);
  };
  const char* variable = std::getenv("GRAZE_MODELS");
  std::istringstream folders(variable != nullptr ? variable : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) continue;
    for (const fs::path& file : files_of(folder)) {
      const std::string name = file.stem();
      if (is_taken(name))
        throw InputError("GRAZE_MODELS: " + file.string() + ": there is a model " + name +
                         " already; the file needs another name");
      try {
        list.push_back(read_model_file(file));
      } catch (const InputError& error) {
        list.push_back(broken_model(name, error));
      }
    }
  }
  return list;
}

const Registered<ModelInfo> folders(models_of_folders);

ModelInfo model_of_case_file(const std::string& name, CaseFile file) {
  return model_of_file(name, file.root, std::move(file.text));
}

}  // namespace

ModelInfo parse_model_file(const std::string& name, std::string text, const std::string& place) {
  return model_of_case_file(name, parse_case(std::move(text), place, {}));
}

ModelInfo read_model_file(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);  // of a device or a pipe: an error
  if (error) throw InputError(path + ": cannot be read: " + error.message());
  if (size > most_file_bytes) throw InputError(path + ": too large for a model file");
  return model_of_case_file(fs::path(path).stem(), read_case(path, {}));
}

}  // namespace graze
