/// What the kernels of the series engine are given: lists of operations and the motions of one vector, as
/// plain arrays. (core/lanes/series/SERIES.md)
///
/// Included by sources that are compiled for other processors: no inline functions here that others share.
#pragma once

namespace graze {

/// Of a sum: a row, or a product of two, times a factor.
struct SeriesTerm {
  const double *a = nullptr, *b = nullptr;
  const double* factor = nullptr;
};

/// One operation of a list; rows are given by where they begin.
struct SeriesOperation {
  enum class Kind : signed char {
    sum,
    quotient,
    reciprocal,
    root,
    power,
    exponential,
    sine,      ///< and cosine, in the next row
    harmonic,  ///< the same where the argument is linear in time
    hyperbolic_sine,
    tangent,             ///< and 1 + its square
    hyperbolic_tangent,  ///< and 1 − its square
    antiderivative       ///< function f with f' b = a'
  };
  enum class Function : signed char { sqrt, exp, log, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh };

  Kind kind = Kind::sum;
  Function function = Function::sqrt;
  double* result = nullptr;
  const double *a = nullptr, *b = nullptr;
  double* other = nullptr;        ///< the row after `result`
  double* inverse = nullptr;      ///< row of its own: in place 0 what is divided by, inverted
  double* rate = nullptr;         ///< row of its own: k times coefficient k of what is differentiated
  const double* fixed = nullptr;  ///< exponent, or the constant of a sum
  /// Terms of a sum: rows, products of two of them, squares, each times a factor.
  const SeriesTerm* terms = nullptr;
  int linear = 0, products = 0, squares = 0;
  bool in_time = false;  ///< linear in time: all but the first two coefficients are zero
};

/// The argument of an operation whose series holds on a part of the step only (core/math/series_reach.hpp).
struct SeriesReached {
  enum class Reach : signed char { exponential, saturation, pole };
  const double* argument = nullptr;
  Reach reach = Reach::pole;
};

/// A list whose rows hold so many coefficients that the operations may be worked out up to the order they
/// were laid out for. The first rows are the inputs: time and the states.
struct SeriesList {
  const SeriesOperation* operations = nullptr;
  const double* const* outputs = nullptr;  ///< their rows
  int count = 0;                           ///< of operations
  double* rows = nullptr;                  ///< room for all of them
  const SeriesReached* reached = nullptr;  ///< what the length of a step depends on
  int reached_count = 0;
};

/// ∂(rate of state `of`)/∂(state `by`).
struct SeriesSlope {
  int of = 0, by = 0;
  const double* series = nullptr;  ///< its row; nullptr: it does not move
  const double* fixed = nullptr;   ///< its value, then
};

/// A fixed quantity that hangs on flags, worked out where a step begins.
struct SeriesSwitched {
  enum class Kind : signed char { sum, product, quotient };
  Kind kind = Kind::sum;
  int result = 0, a = 0, b = 0;  ///< fixed quantities
};

struct SeriesContact {
  SeriesList impact;    ///< order 1: MotionProgram::Contact
  SeriesList pressing;  ///< order 1
  const int* position = nullptr;
  const int* velocity = nullptr;
  int moved = 0;  ///< number of these
  int terms = 0;  ///< of the gap
  int restitution = 0;
  bool has_foot = false;
  /// Of a compliant one: its flag, a fixed quantity; −1: it is rigid.
  int flag = -1;
  int force_guard = -1;  ///< number of the guard that is its force, where that may vanish within it
  SeriesList force;      ///< order 1: LawProgram
};

/// Rows of a lane that change; those of the other lanes stand beside them. n states, m contacts, g guards:
/// gaps, then forces of compliant contacts.
struct SeriesRows {
  int time;      ///< since phase zero
  int deadline;  ///< when the iterate ends at the latest, on the same clock
  int state;     ///< n
  int side;      ///< m: −1 where the contact has been passed by, or is compliant and the body within it
  int left;      ///< g: 1 where the guard has just been left
  int speed;     ///< g: … and how fast, 0: as the state says
  int impacts;   ///< m: in this iterate; beginnings, of compliant ones
  int period;    ///< 0: autonomous
  int turns;     ///< whole periods that the clock has been set back by
  int rate;      ///< System::rate
  int fixed;     ///< all fixed quantities
  int count;
};

struct SeriesBatch {
  SeriesList flow;
  int order = 0;  ///< of all series
  int states = 0, contacts = 0, guards = 0;
  const SeriesContact* contact = nullptr;
  const int* velocities = nullptr;  ///< states that are velocities
  int velocity_count = 0;
  const SeriesSwitched* switched = nullptr;
  int switched_count = 0;
  const double* const* weighed = nullptr;  ///< rows that decide how long a step is
  int weighed_count = 0;
  SeriesRows row{};
  double* rows = nullptr;  ///< of all lanes
  int tangents = 0;        ///< changes of the state that each lane carries along
  const SeriesSlope* slopes = nullptr;
  int slope_count = 0;
  /// Rows of each change: of the states at the point where the lane stands, then of its time. Behind them
  /// those that a step leads to.
  double* changes = nullptr;
  double* change_series = nullptr;  ///< room for the series of changes of all states
  double* polynomials = nullptr;    ///< room for guards + 1 of them
  double tolerance = 0;             ///< of what is left out of a series
  double chatter = 0;               ///< Tolerance::chatter
  int most_impacts = 0;             ///< in an iterate

  /// The section: at the deadline; where a contact is about to be hit, or has been; where a state passes a
  /// level.
  enum class Section : signed char { deadline, before_impact, impact, level };
  Section section = Section::deadline;
  int section_contact = 0;
  int coordinate = 0;
  double level = 0;
  double direction = 1;

  /// First zero of Σ c_k s^k on [0, 1], certified (core/math/root_search); 2: there is none.
  double (*first_zero)(const double* c, int count) = nullptr;
  /// Called for a lane without a motion, for one that has come to the section, and for one whose iterate has
  /// to be done by other means, from its beginning or from where its rows have it. Each time: whether rows of
  /// a motion stand there afterwards.
  bool (*begin)(void* owner, int lane) = nullptr;
  bool (*arrived)(void* owner, int lane) = nullptr;
  bool (*left)(void* owner, int lane, bool from_here) = nullptr;
  void* owner = nullptr;
};

/// Moves motions from section to section as long as there are some.
struct SeriesKernel {
  int width = 0;  ///< lanes side by side
  void (*run)(SeriesBatch&) = nullptr;
};

/// width 0: there is none.
SeriesKernel series_kernel_baseline();
SeriesKernel series_kernel_avx2();
SeriesKernel series_kernel_avx512();

}  // namespace graze
