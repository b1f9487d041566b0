#include "analysis/run/random_start.hpp"

#include <Random123/philox.h>

#include <string>

namespace graze {
namespace {

/// Uniform numbers in [0, 1): the k-th of a point, whoever computes it and when.
double uniform(std::uint64_t seed, std::uint64_t point, std::uint32_t attempt, std::uint32_t k) {
  using Generator = r123::Philox4x32;
  const Generator::ctr_type counter = {
      {static_cast<std::uint32_t>(point), static_cast<std::uint32_t>(point >> 32), attempt, k}};
  const Generator::key_type key = {
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const Generator::ctr_type bits = Generator()(counter, key);
  const std::uint64_t high = bits[0];
  return static_cast<double>((high << 21) ^ (bits[1] >> 11)) * 0x1p-53;
}

std::vector<double> read_bound(const Value& table, const char* key, std::size_t states, double fallback) {
  const Value* list = table.find(key);
  if (list == nullptr) return std::vector<double>(states, fallback);
  const std::string path = std::string("analysis.") + key;
  std::vector<double> values = list->numbers(path);
  if (values.size() == states) return values;
  throw InputError(list->place(), path, list->toml(),
                   "needs one number per state of the model, " + std::to_string(states));
}

}  // namespace

StartBox read_start_box(const Value& table, std::size_t states) {
  StartBox box{read_bound(table, "low", states, -1), read_bound(table, "high", states, 1)};
  for (std::size_t i = 0; i < states; ++i) {
    if (box.low[i] <= box.high[i]) continue;
    const bool given = table.find("high") != nullptr;
    const Value& bound = table.at(given ? "high" : "low");
    throw InputError(bound.place(), given ? "analysis.high" : "analysis.low", bound.toml(),
                     "low must not be above high: entry " + std::to_string(i + 1) + " is from " +
                         Value(box.low[i]).toml() + " to " + Value(box.high[i]).toml());
  }
  return box;
}

bool draw_start(System& system, const StartBox& box, std::uint64_t seed, std::uint64_t point,
                HybridState& state) {
  constexpr std::uint32_t attempts = 1000;
  for (std::uint32_t attempt = 0; attempt < attempts; ++attempt) {
    for (std::size_t i = 0; i < box.low.size(); ++i) {
      const double share = uniform(seed, point, attempt, static_cast<std::uint32_t>(i));
      state.x(static_cast<Eigen::Index>(i)) = box.low[i] + (box.high[i] - box.low[i]) * share;
    }
    if (may_start(system, state)) return true;
  }
  return false;
}

}  // namespace graze
