/// A system that remembers what it has done. A motion that comes back to a state to the last bit goes on as
/// it did before: nothing of that has to be computed again. With sticking this happens after a few periods,
/// because a contact that closes forgets how it was hit.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/system/system.hpp"

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
class RecallingSystem final : public System {
 public:
  static constexpr std::size_t capacity = 32;

  explicit RecallingSystem(std::unique_ptr<System> system) : system_(std::move(system)) {}

  int states() const override { return system_->states(); }
  int contacts() const override { return system_->contacts(); }
  int frictions() const override { return system_->frictions(); }
  bool sticks(const HybridState& state, int k) override { return system_->sticks(state, k); }
  bool in_contact(const HybridState& state, int i) const override { return system_->in_contact(state, i); }
  Eigen::VectorXd contact_forces(const HybridState& state) override { return system_->contact_forces(state); }
  double period() const override { return system_->period(); }
  bool periodic() const override { return system_->periodic(); }
  double rate() const override { return system_->rate(); }
  Outcome advance(HybridState& state, const Section& section, Observer* observer) override;
  Outcome advance(HybridState& state, const Section& section, Tangent& tangent) override {
    return system_->advance(state, section, tangent);
  }
  bool prescribes(int parameter) const override { return system_->prescribes(parameter); }
  bool prescribes_slip(int parameter) const override { return system_->prescribes_slip(parameter); }
  std::int64_t with_stick(std::int64_t mode, int k) const override { return system_->with_stick(mode, k); }
  std::int64_t with_contact(std::int64_t mode, int i, bool engaged) const override {
    return system_->with_contact(mode, i, engaged);
  }
  bool passes_contacts() const override { return system_->passes_contacts(); }
  std::optional<Course> follow(std::span<const Leg> legs, const std::vector<int>& parameters) override {
    return system_->follow(legs, parameters);
  }
  std::optional<Course> follow_values(std::span<const Leg> legs,
                                      const std::vector<int>& parameters) override {
    return system_->follow_values(legs, parameters);
  }
  void gaps(const HybridState& state, Eigen::VectorXd& gap, Eigen::VectorXd& rate) const override {
    system_->gaps(state, gap, rate);
  }
  std::optional<Energy> energy(const HybridState& state) override { return system_->energy(state); }
  Eigen::RowVectorXd gap_gradient(const HybridState& state, int contact) const override {
    return system_->gap_gradient(state, contact);
  }
  Symmetry symmetry(int state) const override { return system_->symmetry(state); }
  Eigen::MatrixXd shifts() const override { return system_->shifts(); }
  double unit(int state) const override { return system_->unit(state); }
  std::optional<LinearLaw> linear_law() const override { return system_->linear_law(); }
  std::optional<SeriesLaw> series_law() const override { return system_->series_law(); }

  /// Meetings with a section so far that were known.
  std::size_t recalled() const { return recalled_; }

 private:
  struct Iterate {
    HybridState from, to;
  };

  const Iterate* find(const HybridState& state);
  Iterate& oldest();

  std::unique_ptr<System> system_;
  Section section_;  ///< that all of these belong to
  std::vector<Iterate> iterates_;
  std::size_t latest_ = 0;    ///< where the last one computed is
  std::size_t expected_ = 0;  ///< where a motion that has been known again is looked for first
  std::size_t recalled_ = 0;
};

/// The same system, remembering; nullptr stays nullptr.
std::unique_ptr<System> recalling(std::unique_ptr<System> system);

}  // namespace graze
