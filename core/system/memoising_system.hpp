/// A system that remembers what it has done. A motion that comes back to a state to the last bit goes on as
/// it did before: nothing of that has to be computed again. With sticking this happens after a few periods,
/// because a contact that closes forgets how it was hit.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/system/wrapped_system.hpp"

namespace graze {

/// Whether two motions of one system go on alike, to the last bit: everything of a state counts but the whole
/// periods passed, on which no motion depends.
bool go_on_alike(const HybridState& a, const HybridState& b);

/// Another system whose latest meetings with a section are known again: an orbit of up to `capacity` of them
/// is computed once. Everything of a state counts but the whole periods passed, on which no motion depends;
/// every number that comes out is that of the other system. An observer hears of what is computed, so under
/// one everything is; so it is with derivatives.
///
/// A memory is one motion's: several that take turns would drive each other out of it.
class RecallingSystem final : public WrappedSystem {
 public:
  static constexpr std::size_t capacity = 32;

  using WrappedSystem::WrappedSystem;

  using WrappedSystem::advance;
  Outcome advance(HybridState& state, const Section& section, Observer* observer) override;

  /// Meetings with a section so far that were known.
  std::size_t recalled() const { return recalled_; }

 private:
  struct Iterate {
    HybridState from, to;
  };

  const Iterate* find(const HybridState& state);
  Iterate& oldest();

  Section section_;  ///< that all of these belong to
  std::vector<Iterate> iterates_;
  std::size_t latest_ = 0;    ///< where the last one computed is
  std::size_t expected_ = 0;  ///< where a motion that has been known again is looked for first
  std::size_t recalled_ = 0;
};

/// The same system, remembering; nullptr stays nullptr.
std::unique_ptr<System> recalling(std::unique_ptr<System> system);

}  // namespace graze
