#include "analysis/continuation/budget.hpp"

namespace graze {

void add_seconds_key(std::vector<Key>& keys) {
  Key& seconds = add_key(keys, "seconds", Key::Type::number,
                         "time after which no further point is computed, in seconds; how much there is then "
                         "depends on the machine; default: no limit");
  seconds.range = Range{0, 1e9, true, false};
}

double read_seconds(const Value& table) {
  const Value* seconds = table.find("seconds");
  return seconds != nullptr ? seconds->number("analysis.seconds") : Budget::Limits().seconds;
}

}  // namespace graze
