#include "analysis/continuation/budget.hpp"

namespace graze {

std::string Budget::left() const {
  if (starts_left_ == 0 && points_left_ == 0 && !late()) return "";
  return std::to_string(starts_left_) + " starts and " + std::to_string(points_left_) + " " + points_ +
         " not followed: " + reason();
}

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
