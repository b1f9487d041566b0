/// graze cite: the papers behind a case.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "drivers/command/command.hpp"
#include "drivers/library/case.hpp"

namespace graze {

GRAZE_COMMAND(cite) {
  static_cast<void>(context);
  Verb verb = app.add_verb("cite", "print the papers behind the model of a case");
  const auto path = std::make_shared<std::string>();
  verb.option("CASE", *path, "case file (TOML)", {.required = true});
  verb.footer("Example:\n  graze cite case.toml");
  verb.callback([path] {
    for (const std::string& source : load_case(*path, {}).model->citations) fmt::print("{}\n", source);
  });
}

}  // namespace graze
