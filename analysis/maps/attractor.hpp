/// What a motion settles to: iterated, refined and confirmed, not guessed.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/maps/event_statistics.hpp"
#include "analysis/maps/iterates.hpp"
#include "analysis/maps/orbit.hpp"
#include "analysis/maps/poincare_map.hpp"
#include "core/system/model.hpp"

namespace graze {

enum class AttractorClass : signed char {
  undetermined = 0,
  periodic,
  quasiperiodic,
  chaotic,
  unbounded,
  failed
};

/// Names in the order of the enumeration.
const std::vector<std::string>& attractor_names();

struct AttractorOptions {
  int transient = 200;     ///< iterates dropped
  int record = 64;         ///< iterates kept
  int max_period = 16;     ///< longest period looked for
  int extension = 10;      ///< the transient may grow to this many times itself where convergence is slow
  double persist = 1;      ///< what looks chaotic is followed for so many times as long again, at least
  int exponent = 512;      ///< iterates over which the exponent of a chaotic motion is taken, at least
  double neutral = 0.005;  ///< a Lyapunov exponent per iterate below this in modulus counts as zero
};

struct Attractor {
  AttractorClass kind = AttractorClass::failed;
  Outcome outcome = Outcome::ok;
  Iterates points;      ///< `record` of them; of a periodic attractor its orbit, repeated to as many at least
  Orbit orbit;          ///< when periodic
  double lyapunov = 0;  ///< largest exponent, per time
  double lyapunov_error = 0;  ///< its standard error; 0 when periodic
  int transient_used = 0;     ///< iterates dropped
  /// Iterates over which the motion has looked chaotic, from the start on: when chaotic so far, when periodic
  /// until it was seen to settle (0: it never did).
  std::int64_t chaotic_iterates = 0;
  double start_time = 0;  ///< of the orbit or window that the tally is of
  double end_time = 0;
  Tally tally;       ///< over one orbit when periodic, else over the recorded window
  HybridState last;  ///< where the motion has come to: a start for a neighbouring parameter
};

/// Iterates from `start` and says what it finds.
///
/// Periodic: the motion has come to a stable orbit, that is, an iterate returns after n ≤ max_period iterates
/// so exactly that Newton's method would move it by less than 1e-13 of its size; or it comes to one: it
/// returns nearly, smallest n first; Newton's method closes the orbit to 1e-10; its multipliers lie in the
/// unit circle; the iterate is as near to it as its rate of convergence allows, and comes nearer turn by
/// turn. Otherwise the largest Lyapunov exponent (a tangent vector carried through every event) decides, with
/// the standard error of its batch means: clearly positive is chaotic, once it has been followed for
/// `persist` times as long again and no period has come; neutral (or, under forcing without a common period,
/// negative) is quasiperiodic. Neither: the transient is extended and everything asked again. At the end,
/// what has grown from look to look is unbounded, as is at once what outgrows every scale of its start, its
/// gaps and its forces; what is still open is undetermined. Nothing of this depends on the units of length,
/// time and mass.
Attractor find_attractor(const PoincareMap& map, const HybridState& start, const AttractorOptions& options);

/// The iterates of the orbit or window as starts, each of the way to the next one.
std::vector<HybridState> ways_of(const Attractor& found);

/// As many motions as are best looked at together.
inline constexpr std::size_t motions_at_once = 256;
/// Analysis::least_points of an analysis that looks for so many attractors of this model: more where motions
/// are marched side by side, and so are soon done.
std::size_t least_attractors(const Model& model, const Section& section, const Tolerance& tolerance,
                             std::size_t all);

/// The same of many motions, systems[k] from starts[k], each of a system of its own. They are moved side by
/// side where that can be, with their tangents (core/lanes). Without a system:
/// Outcome::bad_parameters; without a start: Outcome::bad_start.
std::vector<Attractor> find_attractors(std::span<const std::unique_ptr<System>> systems,
                                       std::span<const std::optional<HybridState>> starts,
                                       const Section& section, const AttractorOptions& options);

}  // namespace graze
