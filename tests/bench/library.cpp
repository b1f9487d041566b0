#include "tests/bench/library.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "analysis/run/execute.hpp"
#include "core/results/sink.hpp"

namespace graze::bench {
namespace {

/// The table without its key `name`, checked, defaults filled in.
Value settings_of(const Value& table, const std::vector<Key>& keys, const std::string& path) {
  Value::Table rest = table.table(path);
  std::erase_if(rest, [](const auto& entry) { return entry.first == "name"; });
  return checked(Value(std::move(rest)), keys, path);
}

}  // namespace

template <class Info>
const Info& named(const std::vector<Info>& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Info& info) { return info.name == name; });
  if (found == list.end()) throw std::runtime_error("graze has no " + name);
  return *found;
}
template const ModelInfo& named(const std::vector<ModelInfo>&, const std::string&);
template const AnalysisInfo& named(const std::vector<AnalysisInfo>&, const std::string&);

Problem problem(const Value& model, std::vector<double> start, const std::string& analysis,
                const Value& settings, const Value& tolerance) {
  const ModelInfo& info = named(models(), model.at("name").text("model.name"));
  Problem result;
  result.model = info.make(settings_of(model, info.keys, "model"));
  result.start_state = std::move(start);
  result.start_given = true;
  result.analysis = settings_of(settings, named(analyses(), analysis).keys, "analysis");
  result.tolerance = read_tolerance(checked(tolerance, tolerance_keys(), "tolerance"));
  return result;
}

std::vector<Dataset> computed(const Analysis& analysis, const std::vector<Box>& blocks, int threads) {
  MemorySink memory(blocks.size());
  Execution execution;
  execution.threads = threads;
  execute(analysis, blocks, memory, execution);
  return std::move(memory.blocks);
}

}  // namespace graze::bench
