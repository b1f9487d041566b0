#include "data/case_file.hpp"
#include "drivers/library/case.hpp"
#include "tests/fuzz/readers.hpp"

namespace graze::fuzz {
namespace {

constexpr std::string_view small_case =
    "graze = 1\n[model]\nname = \"two_dof_stops\"\n[analysis]\nname = \"sweep\"\n"
    "axis = { parameter = \"delta\", from = 0.7, to = 1.5, points = 24 }\n";

void read(std::string_view text, const std::vector<std::string>& overrides) {
  try_to([&] {
    const Case made = make_case(parse_case(std::string(text), "fuzz.toml", overrides));
    static_cast<void>(make_plan(made, 1));
  });
}

}  // namespace

void read_case_bytes(std::string_view bytes) { read(bytes, {}); }

void read_override_bytes(std::string_view bytes) { read(small_case, {std::string(bytes)}); }

}  // namespace graze::fuzz
