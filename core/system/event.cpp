#include "core/system/event.hpp"

namespace graze {

const std::vector<std::string>& event_names() {
  static const std::vector<std::string> names{
      "impact",        "graze",         "chatter_complete", "stick",       "release", "rise", "slip_to_stick",
      "stick_to_slip", "slip_reversal", "contact_begin",    "contact_end", "section", "jump"};
  return names;
}

}  // namespace graze
