#include "drivers/command/event_table.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "core/settings/value.hpp"

namespace graze {
namespace {

const std::vector<double>& numbers(const Dataset& data, const char* name) {
  return std::get<std::vector<double>>(data.at(name).values);
}

/// A field that may hold any text.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// The classes of an array as text, one per element; "" where there is none.
std::vector<std::string> classes(const Array& array, const std::vector<std::string>& names) {
  std::vector<std::string> result;
  std::visit(
      [&](const auto& values) {
        for (const auto value : values) {
          const bool known = value >= 0 && static_cast<std::size_t>(value) < names.size();
          result.push_back(known ? field(names[static_cast<std::size_t>(value)]) : "");
        }
      },
      array.values);
  return result;
}

void append_row(std::string& text, const std::vector<double>& table, std::size_t row, std::size_t columns) {
  for (std::size_t i = 0; i < columns; ++i) {
    text += fmt::format(",{:.17g}", table[row * columns + i]);
  }
}

}  // namespace

std::string event_table(const Dataset& data) {
  if (data.find("event_time") == nullptr) throw InputError("--events: this analysis records no events");
  const std::vector<std::string>& states = data.at(data.at("event_before").dimensions.back()).flags;
  const Array& contact = data.at("event_contact");
  const std::vector<std::string> kinds = classes(data.at("event_kind"), data.at("event_kind").flags);
  std::vector<std::string> contacts = classes(contact, data.at("contact").flags);
  for (const auto& [event, names] :
       {std::pair("event_friction", "dry_friction"), std::pair("event_jump", "jump")}) {
    const Array* others = data.find(event);
    if (others == nullptr) continue;
    const std::vector<std::string> places = classes(*others, data.at(names).flags);
    for (std::size_t i = 0; i < contacts.size(); ++i) contacts[i] += places[i];
  }
  const std::vector<double>& time = numbers(data, "event_time");
  const std::vector<double>& speed = numbers(data, "event_approach_speed");
  const std::vector<double>& before = numbers(data, "event_before");
  const std::vector<double>& after = numbers(data, "event_after");

  std::string text = "time,kind,contact,approach_speed";
  for (const char* when : {"_before", "_after"}) {
    for (const std::string& state : states) text += "," + field(state + when);
  }
  text += '\n';
  for (std::size_t i = 0; i < time.size(); ++i) {
    text += fmt::format("{:.17g},{},{},{:.17g}", time[i], kinds[i], contacts[i], speed[i]);
    append_row(text, before, i, states.size());
    append_row(text, after, i, states.size());
    text += '\n';
  }
  return text;
}

}  // namespace graze
