/// Places on a branch where an impact loses its speed or a guard touches zero, and the branch behind them.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/continuation/bifurcation.hpp"
#include "analysis/continuation/solution.hpp"

namespace graze {

/// A place on a leg of an orbit where the guard of a contact has a minimum.
struct Dip {
  std::size_t step = 0;
  int contact = -1;     ///< friction k: −1 − k
  double share = 0;     ///< of the leg's duration
  double guard = 0;     ///< there; of a contact that is closed or engaged its force;
                        ///< of a friction its speed or what is left of its bound
  bool closed = false;  ///< whether it is
};

/// The minima below −depth of the guards of some contacts, on all legs.
std::vector<Dip> dips_of(const Shooting& shooting, const Eigen::VectorXd& u, const std::vector<int>& contacts,
                         double depth);

/// Equations of an orbit with one step more or less, and their unknowns.
struct Touched {
  std::shared_ptr<const Shooting> shooting;
  Eigen::VectorXd u;
};
/// With a touch (EventKind::graze) at a dip.
std::optional<Touched> with_touch(const Shooting& shooting, const Eigen::VectorXd& u, const Dip& dip);
/// A touch in the place of the hit of a step that has no speed left; of a compliant contact the end of the
/// contact, or that of the contact before, goes with it: `step` becomes that of the touch. false: neither is
/// next to it.
bool touch_instead(Itinerary& itinerary, std::vector<double>& durations, std::size_t& step);
/// The equations with it.
std::optional<Touched> as_touch(const Shooting& shooting, const Eigen::VectorXd& u, std::size_t& step);
/// The contrary, a hit in the place of the touch of a step: an impact; of a compliant contact one that ends
/// at once or, where it is engaged, a flight that does. `step` becomes that of the hit.
std::optional<Touched> as_hit(const Shooting& shooting, const Eigen::VectorXd& u, std::size_t& step);
/// Without the event of a step.
std::optional<Touched> without_event(const Shooting& shooting, const Eigen::VectorXd& u, std::size_t step);

struct Grazing {
  double place = 0;                                 ///< arclength from the last point
  BifurcationKind kind = BifurcationKind::grazing;  ///< or rising_border: a contact force touches zero
  int contact = -1;
  std::size_t step = 0;     ///< of the event that comes or goes, in the solution's itinerary
  bool gained = false;      ///< a hit more, else one less
  std::vector<int> others;  ///< contacts of which the same happens there: the motion is its own mirror
  Solution solution;        ///< there, with that step as a touch (gained) or as an event (lost)
};

/// The first of them within this arclength of a point, whatever the motion itself does there. `beyond`: the
/// motion at the end; contacts whose events are others there are looked at first.
std::optional<Grazing> first_grazing(const Solution& from, double step, const Metric& metric,
                                     const Record& beyond);
/// The branch with the other number of hits, at the grazing itself and heading away from it. Nothing: none
/// begins there, as where the force of a damped contact vanishes while its gap does not.
std::optional<Solution> behind_grazing(const Grazing& grazing, const Metric& metric);
/// An orbit of that branch at which the impact that was gained has a speed. Found without the direction of
/// the branch at the grazing, which friction on the body that turns there may leave undefined.
Closing behind_at_speed(const Grazing& grazing, const Solution& behind, double speed);

}  // namespace graze
