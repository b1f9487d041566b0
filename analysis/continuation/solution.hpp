/// Points of a branch: periodic orbits with what is told of them.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/continuation/arclength.hpp"
#include "analysis/continuation/shooting.hpp"

namespace graze {

/// A point of a branch.
struct BranchPoint {
  double parameter = 0;
  Eigen::VectorXd state;               ///< where the orbit begins
  double phase = 0;                    ///< … in forcing periods from the first phase zero (Anchor)
  std::vector<Eigen::VectorXd> orbit;  ///< states on the section of the family, in order
  Signature signature;
  std::vector<int> impacts;  ///< per contact, in one turn; of complete chatter those that were followed
  double period = 0;         ///< time of one turn
  double size = 0;           ///< greatest entry of the states met
  double residual = 0;
  std::vector<std::complex<double>> multipliers;
  int held = 0;  ///< bodies that friction holds at rest, and would elsewhere: the orbit is not isolated
  bool stable = false;
  bool admissible = true;  ///< no contact is crossed: the motion of the system itself takes this way
  double fold = 0;         ///< test functions: direction of the parameter along the branch,
  double branching = 0;    ///< Π(1 − μ)/fold,
  double doubling = 0;     ///< Π(1 + μ),
  double torus = 0;        ///< Π(μ_i μ_j − 1) over pairs i < j

  /// Takes the direction of the parameter along the branch.
  void set_fold(double direction);
  /// Π(1 − μ): det(I − P).
  double determinant() const { return branching * fold; }
};

/// A point with all that is needed to go on from it.
struct Solution {
  std::shared_ptr<const Shooting> shooting;
  Eigen::VectorXd u;
  Eigen::VectorXd tangent;
  BranchPoint point;
  Eigen::VectorXd velocity;  ///< of the state where the orbit begins; without forcing only

  /// Length of the orbit's way, about; without forcing only.
  double swing() const { return velocity.norm() * point.period; }
  double parameter_slope() const { return tangent(tangent.size() - 1); }
  Eigen::VectorXd start() const { return u.head(shooting->states()); }
};

/// Why a branch or curve of orbits without forcing ends.
inline const std::string shrinks_to_rest = "the orbit shrinks to rest";

/// An orbit, nearly: what Newton's method begins with.
struct NearOrbit {
  double parameter = 0;
  Eigen::VectorXd state;  ///< anywhere between events
  int periods = 1;        ///< of the forcing; without forcing, iterates of the map
  double turn = 0;        ///< time of one turn; not used when forced
  double phase = 0;       ///< of the state, in forcing periods (Anchor)
};

/// The orbit near a motion that nearly closes; nothing when Newton's method does not get there or the motion
/// takes another way.
std::optional<Solution> find_orbit(const Family& family, const NearOrbit& near);
/// The same without what take_stability adds.
std::optional<Solution> refine_orbit(const Family& family, const NearOrbit& near);
/// States on the section of the family within one turn from `start` on, of a system without forcing: as many
/// as the map has iterates, fewer where the motion breaks off.
std::vector<Eigen::VectorXd> section_states(const Family& family, System& system,
                                            const Eigen::VectorXd& start, int iterates, double turn);

/// Whether an orbit of these states on a section is one of fewer of them, passed through several times: the
/// same but for this share of its size. It begins at `phase` (in iterates): what an unstable orbit makes of
/// rounding is least right behind.
bool repeats(const std::vector<Eigen::VectorXd>& orbit, double phase, double size, double same = 1e-7);

/// Of an orbit of an even number of iterates: its state half a turn later less the one where it begins, away
/// from events; zero where it is one of half as many, passed through twice. Of an odd number, or where the
/// motion breaks off: no entries.
Eigen::VectorXd halves_apart(const Family& family, const BranchPoint& point);

/// A state with entries of zero where they are so but for rounding, as a share of `size`: what rests on a
/// contact must rest there when a motion begins.
Eigen::VectorXd without_rounding(const Eigen::VectorXd& state, double size);

/// The motion of a point of a branch itself.
Record record_of(System& system, const BranchPoint& point, int periods);

/// Whether the motion with the same events as a solution is that solution: it closes, and what is prescribed
/// lasts as long as solved for. Equations alone do not tell: behind an impact that has lost its speed, or a
/// gap that is crossed, they have solutions that no motion takes.
bool is_motion(const Solution& solution, const Record& record, const std::vector<double>& durations);

/// Equations for orbits of an itinerary, with nodes where it is long.
std::shared_ptr<const Shooting> shooting_for(const Family& family, const Itinerary& itinerary,
                                             const Anchor& anchor);
std::shared_ptr<const Shooting> shooting_for(Family&&, const Itinerary&, const Anchor&) = delete;

/// Takes from a record the signature and the impacts of so many contacts.
void take_signature(const Record& record, std::size_t contacts, BranchPoint& point);
/// Takes from a record what it says of an orbit: signature, counts, states on the section.
void take_events(const Family& family, System& system, const Record& record, BranchPoint& point);
/// Takes from solved equations what they say at once; the tangent is known.
void take_solution(const Closing& closing, const Metric& metric, Solution& solution);
/// Takes the multipliers and what follows from them, unless they are known.
void take_stability(Solution& solution);

}  // namespace graze
