/// From a case file to everything that a run needs.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/run/analysis.hpp"
#include "core/results/dataset.hpp"
#include "core/settings/parameter.hpp"
#include "core/system/model.hpp"
#include "data/archive.hpp"
#include "data/case_file.hpp"

namespace graze {

/// A case file, checked and understood.
struct Case {
  CaseFile file;
  std::string title;
  std::shared_ptr<const ModelInfo> model;
  const AnalysisInfo* question = nullptr;
  Problem problem;
  std::unique_ptr<Analysis> analysis;
  std::vector<std::string> warnings;  ///< what is allowed, but hardly meant
  Dataset layout;                     ///< of the whole result
  std::string identity;               ///< cases with the same identity have the same arrays
  std::string output;                 ///< [output] file; "" when not given
  std::size_t block = 0;              ///< [run] block, points; 0: automatic
  int threads = 0;                    ///< [run] threads; 0: as many as the machine has
};

/// Whether a model is a text of equations.
bool is_typed(const ModelInfo& model);

/// The keys of a whole case file, all models and analyses as variants.
std::vector<Key> case_keys();

/// Reads, checks and builds. Throws InputError with place, key, value and rule; also for a start that lies
/// inside a stop wherever the analysis looks (for a sweep: at every corner of its parameter range).
Case load_case(const std::string& path, const std::vector<std::string>& overrides);
/// The same for a case file that has been read.
Case make_case(CaseFile file);
/// The case file in a result with these attributes, `name` stands for it in messages. Throws InputError.
CaseFile recorded_case(const std::vector<std::pair<std::string, std::string>>& attributes,
                       const std::string& name);
/// Title, model, start and tolerances of the case in a result with these attributes; without its analysis.
/// Throws InputError where this version can't read it.
Case described_case(const std::vector<std::pair<std::string, std::string>>& attributes);

/// What a result says of its case: title, model, analysis, parameters, text, overrides, seed; and how many
/// threads worked on it with which vector instructions.
Attributes case_attributes(const Case& given, int threads);

/// How a case falls into blocks, and how much there is to hold.
struct Plan {
  std::vector<Box> boxes;
  double points = 0;
  double bytes = 0;    ///< of all arrays, before compression; 0 when known only afterwards
  int threads = 1;     ///< that will work on it
  bool blocks = true;  ///< false: computed in one piece, not resumable
};

/// Plans the work for so many threads (0: what the case says). Throws InputError when the blocks would be
/// too many to be files or too large for the memory of this machine.
Plan make_plan(const Case& given, int threads);

}  // namespace graze
