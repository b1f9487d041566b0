/// Puts together what compliant contacts do: a record for every impact.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "core/system/event.hpp"

namespace graze {

/// One contact from its beginning to its end. NaN: not known, because the contact had begun before or has not
/// ended yet, or its system does not report it.
struct ImpactRecord {
  struct Phase {
    int slip;     ///< sense of sliding, 0: sticks
    double time;  ///< since when
  };

  int contact = -1;
  double begin = nan;
  double end = nan;
  double turn = nan;              ///< end of compression: the first maximum of the penetration
  double approach_speed = nan;    ///< normal speed at the beginning
  double separation_speed = nan;  ///< at the end
  double peak_force = 0;
  double greatest_penetration = 0;
  double impulse = 0;
  double begin_force = nan;  ///< right after the beginning
  double friction_work = 0;
  double damping_work = 0;
  std::vector<double> before, after;  ///< states
  std::vector<Phase> phases;          ///< of sliding and sticking, in order
  ContactLoad first;                  ///< mobilities and sliding at the beginning
  bool painleve = false;  ///< slid where a normal force, with the friction it causes, presses deeper

  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
};

/// What a rigid contact would do of the elastic impact that begins with this record, each as a number that is
/// positive where it happens: with P the normal impulse, S = nn − μ s nt the growth of the normal speed and
/// D = μ tt − s nt the loss of sliding speed |u| per P (nn, nt, tt mobilities, s = sgn u), compression ends
/// at P = w/S, the impact at twice that, and sliding stops at P = |u|/D: in compression; in restitution or
/// before. Whatever stops then sticks where |nt| ≤ μ_s tt. S < 0 is the Painlevé region.
struct ImpactBorders {
  static const std::vector<std::string>& names();
  static std::vector<double> of(const ImpactRecord& record);
};

/// Listens to a motion. Impacts are in the order in which they begin.
class ImpactLog : public Observer {
 public:
  void event(const Event& event) override;
  void load(const ContactLoad& load) override;

  const std::vector<ImpactRecord>& records() const { return records_; }

 private:
  ImpactRecord* open(int contact);

  std::vector<ImpactRecord> records_;
};

/// Names of the sequences of slip modes: F slides forward, B backward, S sticks, "-" the end of compression;
/// "longer": more than three modes; "open": no end of compression; "none": no friction.
const std::vector<std::string>& slip_sequence_names();
/// Index into these.
int slip_sequence(const ImpactRecord& record);

}  // namespace graze
