/// Where the energy of a motion comes from and goes to.
#pragma once

#include "core/system/system.hpp"

namespace graze {

/// Sums since the start of the account. All but the first are losses.
struct EnergyAccount {
  double force_work = 0;     ///< of forces, those of an unsymmetric stiffness included
  double damping_work = 0;   ///< lost in dampers
  double friction_work = 0;  ///< to dry friction
  double impact_work = 0;    ///< at rigid stops, chatter included
  double stop_work = 0;      ///< in compliant stops, by their dampers and where they are released compressed
};

/// Listens to a motion of a system that tells its energy. The energy at any time is that at the start and
/// force_work less the losses: powers are integrated over each piece of the motion by Gauss's formula, which
/// on a piece is exact to rounding; what an instant changes is the difference of the energies around it.
class EnergyBalance final : public Observer {
 public:
  /// From where the motion stands.
  EnergyBalance(System& system, const HybridState& start);

  void event(const Event& event) override;
  bool follows_pieces() const override { return true; }
  void piece(const MotionPiece& piece) override;

  /// Where the motion stands now.
  EnergyAccount account(const HybridState& now);

 private:
  Energy at(const MotionPiece& piece, double s);
  void pass_instant(const Energy& after);

  System& system_;
  HybridState state_;
  Energy last_;           ///< where the piece heard last ended
  bool changed_ = false;  ///< something has happened since
  EnergyAccount account_;
};

}  // namespace graze
