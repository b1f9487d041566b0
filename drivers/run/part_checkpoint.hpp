/// The journal of a run in one piece: a bar, signals, parts as files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/results/checkpoint.hpp"
#include "drivers/run/progress.hpp"
#include "drivers/run/stop.hpp"

namespace graze {

/// Part k of the result F lives in the folder "F.parts" until F is whole.
class PartJournal final : public Journal {
 public:
  PartJournal(std::string result, std::string identity, std::optional<Seconds> limit,
              const std::string& last_words, bool quiet);

  void progress(double share) override;
  bool stop() override { return watch_.stop(); }
  std::optional<Dataset> recall(std::size_t number) override;
  void keep(std::size_t number, const Dataset& part) override;

  std::string reason() const { return watch_.reason(); }
  /// The result is there: its parts are no longer needed. Returns what could not be removed and why.
  std::string remove_parts() const;

 private:
  std::string file(std::size_t number) const;

  std::string folder_;
  std::string identity_;
  StopWatch watch_;
  Progress bar_;
  std::size_t told_ = 0;
};

}  // namespace graze
