#include "drivers/run/part_checkpoint.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/settings/value.hpp"
#include "data/archive.hpp"

namespace graze {
namespace {

constexpr std::size_t shares = 1000;  // of the bar

}  // namespace

PartJournal::PartJournal(std::string result, std::string identity, std::optional<Seconds> limit,
                         const std::string& last_words, bool quiet)
    : folder_(std::move(result) + ".parts"),
      identity_(std::move(identity)),
      watch_(limit, last_words),
      bar_(shares, 0, quiet) {}

std::string PartJournal::file(std::size_t number) const {
  return folder_ + "/part_" + std::to_string(number) + ".h5";
}

void PartJournal::progress(double share) {
  const std::size_t now = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * shares);
  bar_.add(now > told_ ? now - told_ : 0);
  told_ = std::max(told_, now);
}

std::optional<Dataset> PartJournal::recall(std::size_t number) {
  if (result_state(file(number), identity_) != ResultState::complete) return std::nullopt;
  try {
    verify_result(file(number));
    Result part = read_result(file(number));
    part.data.attributes = part.attributes;
    return std::move(part.data);
  } catch (const InputError&) {  // damaged: it is computed again
    return std::nullopt;
  }
}

void PartJournal::keep(std::size_t number, const Dataset& part) {
  write_result(file(number), part, {}, identity_, true);
}

std::string PartJournal::remove_parts() const {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
  return error ? folder_ + ": cannot be removed: " + error.message() : "";
}

}  // namespace graze
