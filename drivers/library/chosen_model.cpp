#include "drivers/library/chosen_model.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "data/model_file.hpp"

namespace graze {
namespace {

std::shared_ptr<const ModelInfo> listed_model(const std::string& name) {
  const auto info = std::find_if(models().begin(), models().end(),
                                 [&](const ModelInfo& model) { return model.name == name; });
  if (info == models().end()) return nullptr;
  return {std::shared_ptr<const void>(), &*info};  // it stays for as long as the program runs
}

/// Puts the name in the place of the key `file`.
void rename(Value& table, const std::string& name) {
  auto& members = std::get<Value::Table>(table.data());
  const auto file =
      std::find_if(members.begin(), members.end(), [](const auto& member) { return member.first == "file"; });
  *file = {"name", Value(Value::Data(name), file->second.place())};
}

}  // namespace

std::shared_ptr<const ModelInfo> chosen_model(Value& root, const CaseFile& file) {
  namespace fs = std::filesystem;
  Value* table = root.find("model");
  if (table == nullptr || !table->is_table()) return nullptr;
  const Value* path = table->find("file");
  const Value* name = table->find("name");
  if (path != nullptr && name != nullptr)
    throw InputError(path->place(), "model.file", path->toml(), "give model.name or model.file, not both");
  if (path == nullptr && (name == nullptr || !name->is_text())) return nullptr;
  const fs::path place = path != nullptr ? path->text("model.file") : name->text("model.name");
  const std::string known_as = path != nullptr ? place.stem() : place;
  if (path != nullptr) {
    if (known_as == "equations" || known_as.empty())
      throw InputError(path->place(), "model.file", path->toml(), "the file needs another name");
  }
  std::shared_ptr<const ModelInfo> model;
  if (!file.model.empty()) {
    model = std::make_shared<ModelInfo>(parse_model_file(known_as, file.model, known_as + ".toml"));
  } else if (path != nullptr) {
    model = std::make_shared<ModelInfo>(read_model_file(fs::path(file.path).parent_path() / place));
  } else {
    return listed_model(known_as);
  }
  if (path != nullptr) rename(*table, known_as);
  return model;
}

}  // namespace graze
