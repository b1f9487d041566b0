/// graze schema: what editors need to validate and complete case files.
#include <fmt/format.h>

#include "data/schema.hpp"
#include "drivers/command/command.hpp"
#include "drivers/library/case.hpp"

namespace graze {

GRAZE_COMMAND(schema) {
  static_cast<void>(context);
  Verb verb = app.add_verb("schema", "print the JSON Schema of case files");
  verb.footer("Example:\n  graze schema > graze.schema.json");
  verb.callback([] { fmt::print("{}\n", json_schema(case_keys(), "graze case file")); });
}

}  // namespace graze
