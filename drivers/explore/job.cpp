#include "drivers/explore/job.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "data/json.hpp"
#include "drivers/explore/frame.hpp"
#include "drivers/library/run.hpp"
#include "drivers/plot/attractor_sets.hpp"
#include "drivers/plot/points.hpp"
#include "drivers/run/output_file.hpp"

namespace graze {
namespace {

using Settings = std::vector<std::string>;

constexpr std::size_t most_runs = 16;
constexpr std::size_t most_settings = 100;
constexpr double most_bytes = 3e8;
constexpr double most_samples = 2e6;  // of a motion

/// What a page may ask for at most; `graze run` has no such limits.
struct Limit {
  const char* table;  ///< of [analysis]; "": the table itself
  const char* key;
  double most;
};
constexpr std::array limits = {
    Limit{"axis", "points", 20000}, Limit{"axis2", "points", 2000}, Limit{"", "transient", 1e6},
    Limit{"", "record", 20000},     Limit{"", "extension", 1000},   Limit{"", "exponent", 1e6},
    Limit{"", "max_period", 10000}, Limit{"", "starts", 1000},      Limit{"", "samples", 1e6},
    Limit{"", "periods", 1e4},      Limit{"", "skip_periods", 1e6}, Limit{"", "samples_per_period", 1e4},
    Limit{"", "points", 1e5},       Limit{"", "branches", 1000},    Limit{"", "generations", 10}};

struct Closed {};  // nobody reads the answer any more

void send(int out, std::string_view bytes) {
  if (!write_all(out, bytes)) throw Closed{};
}

std::vector<Settings> read_runs(std::string_view request) {
  const auto json = nlohmann::json::parse(request, nullptr, false);
  if (json.is_discarded()) throw InputError("the request is no JSON");
  const auto runs = json.is_object() ? json.find("runs") : json.end();
  if (!json.is_object() || runs == json.end() || !runs->is_array() || runs->empty() ||
      runs->size() > most_runs)
    throw InputError(fmt::format("the request must have \"runs\", a list of 1 to {}", most_runs));
  std::vector<Settings> result;
  for (const auto& run : *runs) {
    Settings& settings = result.emplace_back();
    if (!run.is_array() || run.size() > most_settings)
      throw InputError(fmt::format("a run is a list of at most {} settings", most_settings));
    for (const auto& setting : run) {
      if (!setting.is_string()) throw InputError("a setting is a text such as \"model.delta=0.7\"");
      settings.push_back(setting.get<std::string>());
    }
  }
  return result;
}

std::string toml_of(const Value& root, const char* table, const char* key) {
  const Value* at = root.find(table);
  const Value* value = at != nullptr ? at->find(key) : nullptr;
  return value != nullptr ? value->toml() : "";
}

/// Files and models are those of the case that is shown.
void check_same_files(const Value& root, const Value& own) {
  for (const auto& [table, key] : {std::pair{"model", "name"}, {"model", "file"}, {"analysis", "branches"}})
    if (toml_of(root, table, key) != toml_of(own, table, key) && !toml_of(root, table, key).empty())
      throw InputError(fmt::format("{}.{} = {}: the page has one model and one set of files", table, key,
                                   toml_of(root, table, key)));
  const std::string sweep = toml_of(root, "analysis", "sweep");
  if (!sweep.empty() && sweep != toml_of(own, "analysis", "sweep"))
    throw InputError(fmt::format("analysis.sweep = {}: the page has one model and one set of files", sweep));
}

void check_limits(const Value& root) {
  const Value* analysis = root.find("analysis");
  if (analysis == nullptr) return;
  for (const Limit& limit : limits) {
    const Value* table = *limit.table == '\0' ? analysis : analysis->find(limit.table);
    const Value* value = table != nullptr ? table->find(limit.key) : nullptr;
    if (value == nullptr || !value->is_number()) continue;
    const std::string key =
        fmt::format("analysis.{}{}{}", limit.table, *limit.table == '\0' ? "" : ".", limit.key);
    if (!(value->number(key) <= limit.most))
      throw InputError(value->place(), key, value->toml(),
                       fmt::format("must be at most {} on a page; graze run takes more", limit.most));
  }
}

/// As many samples of a motion as a page can show; a motion to a time is held back by memory alone.
void check_samples(const Value& root) {
  const Value* analysis = root.find("analysis");
  const Value* periods = analysis != nullptr ? analysis->find("periods") : nullptr;
  const Value* each = periods != nullptr ? analysis->find("samples_per_period") : nullptr;
  if (each == nullptr || !each->is_number() || !periods->is_number()) return;
  if (!(periods->number("analysis.periods") * each->number("analysis.samples_per_period") <= most_samples))
    throw InputError(each->place(), "analysis.samples_per_period", each->toml(),
                     fmt::format("over so many periods: at most {} samples on a page", most_samples));
}

Case make(const Shown& shown, const Settings& settings) {
  Settings all = shown.file.overrides;
  all.insert(all.end(), settings.begin(), settings.end());
  CaseFile file = parse_case(shown.file.text, shown.file.path, all);
  file.model = shown.file.model;
  check_same_files(file.root, shown.file.root);
  check_limits(file.root);
  check_samples(file.root);
  Case c = make_case(std::move(file));
  const Plan plan = make_plan(c, 0);
  if (plan.bytes > most_bytes)
    throw InputError(
        fmt::format("a result of {:.0f} bytes is more than a page can show ({:.0f}): fewer points",
                    plan.bytes, most_bytes));
  return c;
}

/// Which attractor each point of a sweep with several starts is on.
void add_sets(Dataset& data) {
  const Array* attractor = data.find("attractor");
  if (attractor == nullptr || data.find("start") == nullptr || data.find("map_state") == nullptr) return;
  const Points points(data, -1);
  if (points.parameters().size() != 1) return;
  const std::vector<std::size_t> numbers = attractor_sets(data, points);
  Array sets{"attractor_set",
             attractor->dimensions,
             std::vector<std::int32_t>(numbers.begin(), numbers.end()),
             "1",
             "number of the coexisting attractor",
             {},
             {}};
  data.arrays.push_back(std::move(sets));
}

std::string frame_of(const Shown& shown, const Case& c, Dataset data, std::size_t run) {
  add_sets(data);
  Value more;
  more.set("run", Value(Value::Data(static_cast<std::int64_t>(run))));
  more.set("case", described(shown, c));
  return frame(data, more);
}

}  // namespace

std::string answer_head(int status, std::string_view type, std::string_view further) {
  const char* reason = status == 200 ? "OK" : status < 500 ? "Bad Request" : "Error";
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nCache-Control: no-store\r\nConnection: close\r\n"
      "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n{}\r\n",
      status, reason, type, further);
}

std::string refusal(int status, std::string_view message) {
  Value error;
  error.set("error", Value(Value::Data(std::string(message))));
  const std::string text = json_text(error);
  return answer_head(status, "application/json", fmt::format("Content-Length: {}\r\n", text.size())) + text;
}

std::string first_frame(const Shown& shown) {
  if (!shown.has_result) return frame_of(shown, make(shown, {}), {}, 0);
  return frame_of(shown, described_case(shown.result.attributes), shown.result.data, 0);
}

void do_job(const Shown& shown, std::string_view request, int out) {
  bool begun = false;
  const auto fail = [&](const std::string& message) {
    Value more;
    more.set("error", Value(Value::Data(message)));
    static_cast<void>(write_all(out, begun ? frame({}, more) : refusal(400, message)));
  };
  try {
    const std::vector<Settings> runs = read_runs(request);
    std::vector<Case> cases;
    cases.reserve(runs.size());
    for (const Settings& settings : runs) cases.push_back(make(shown, settings));
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const std::string bytes = frame_of(shown, cases[k], run(cases[k]), k);
      if (!std::exchange(begun, true)) send(out, answer_head(200, "application/octet-stream"));
      send(out, bytes);
    }
  } catch (const Closed&) {
  } catch (const std::bad_alloc&) {
    fail("this needs more memory than a page may take: fewer points or samples");
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

}  // namespace graze
