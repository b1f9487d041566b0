/// A system that is another one, but for what is overridden.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/system/system.hpp"

namespace graze {

/// Own legs are followed by the other system, which ends them itself.
class WrappedSystem : public System {
 public:
  explicit WrappedSystem(std::unique_ptr<System> system) : system_(std::move(system)) {}

  int states() const override { return system_->states(); }
  int contacts() const override { return system_->contacts(); }
  int frictions() const override { return system_->frictions(); }
  bool sticks(const HybridState& state, int k) override { return system_->sticks(state, k); }
  bool in_contact(const HybridState& state, int i) const override { return system_->in_contact(state, i); }
  Eigen::VectorXd contact_forces(const HybridState& state) override { return system_->contact_forces(state); }
  double period() const override { return system_->period(); }
  bool periodic() const override { return system_->periodic(); }
  double rate() const override { return system_->rate(); }
  Outcome advance(HybridState& state, const Section& section, Observer* observer) override {
    return system_->advance(state, section, observer);
  }
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
  double period_slope(int parameter) const override { return system_->period_slope(parameter); }

 protected:
  System& system() const { return *system_; }

 private:
  std::unique_ptr<System> system_;
};

}  // namespace graze
