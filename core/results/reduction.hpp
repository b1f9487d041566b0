/// What an analysis can say only when all its blocks are there (how many different attractors were found):
/// further arrays of the finished result.
#pragma once

#include "core/results/dataset.hpp"

namespace graze {

/// Made for one joining of blocks. Sees one block at a time, always in the order of their places, so that the
/// arrays do not depend on who computed what and when.
class Digest {
 public:
  virtual ~Digest() = default;
  /// First every block once.
  virtual void learn(const Dataset& block) = 0;
  /// Then, once: further dimensions; arrays with their values; and, without values, the arrays over the
  /// points that describe() brings.
  virtual Dataset conclude() = 0;
  /// Then every block once more: its part of the arrays over the points.
  virtual Dataset describe(const Dataset& block) = 0;
};

}  // namespace graze
