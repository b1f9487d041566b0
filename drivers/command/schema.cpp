/// graze schema: what editors need to validate and complete case files.
#include <fmt/format.h>

#include <vector>

#include "data/schema.hpp"
#include "drivers/command/command.hpp"
#include "drivers/library/case.hpp"

namespace graze {
namespace {

/// What a case file may have; a model that is given by its file has keys that are not known here.
std::vector<Key> keys_for_editors() {
  std::vector<Key> keys = case_keys();
  Key file;
  file.name = "file";
  file.type = Key::Type::text;
  file.meaning = "model file, relative to the case";
  file.required = true;
  for (Key& key : keys) {
    if (key.name == "model") key.variants.push_back({"", "a model given by its file", {file}});
  }
  return keys;
}

}  // namespace

GRAZE_COMMAND(schema) {
  static_cast<void>(context);
  Verb verb = app.add_verb("schema", "print the JSON Schema of case files");
  verb.footer("Example:\n  graze schema > graze.schema.json");
  verb.callback([] { fmt::print("{}\n", json_schema(keys_for_editors(), "graze case file")); });
}

}  // namespace graze
