/// What happens in a flagged cell, for any vector type: see core/lanes/LANES.md. Included by lane_march.hpp
/// only.
#pragma once

#include "core/lanes/vectors.hpp"

#include <iterator>

namespace graze {
namespace {

constexpr int near_terms = 6;  // next to a root known to `nearness` of a cell: speeds to the last digit
constexpr int near_turn = 3;   // terms there
constexpr double nearness = 0.002;
constexpr double settled = 1e-11;   // of a step of Newton's, in cells: the next would be lost in rounding
constexpr int more_guesses = 2;     // of an instant
constexpr double slow = 1e6;        // of margins: impacts below this are the scalar engine's
constexpr double closeness = 2e-5;  // of a first guess: there a parabola tells states to the last digit

/// The polisher of a batch. H: harmonics of the forces, 0: as many as the batch says. Classical: LaneRows.
/// Carries: tangent vectors are carried along. Sets: some stops are compliant.
template <int N, int M, int H, bool Classical, bool Carries, bool Sets>
class Polisher {
 public:
  using Rows = LaneRows<N, M, Classical>;
  static constexpr int terms = Rows::terms;
  /// Terms of cosines and sines of half a cell, at most 0.58; with a stop engaged twice as much.
  static constexpr int half_cell = Sets ? 10 : 8;

  /// cos and sin of the phases of all harmonics.
  struct Phases {
    V cosine[most_harmonics], sine[most_harmonics];
  };
  /// A gap and its rate.
  struct Gap {
    V value, rate;
  };
  /// Lanes to be polished, where they stand or in a place of their own.
  struct Group {
    double* rows;
    const double* more;        // SetRows, counted like rows
    double* tangents;          // where the cell ends, unless something is hit in it
    unsigned active;           // the others are not looked at
    Phases phase;              // where the cell begins
    Phases later;              // where it ends
    V seen[2][M], rate[2][M];  // nᵀx there and there
    // Where somebody listens:
    long lane[Carries ? width : 1];
    double cell[Carries ? width : 1];
    V at(int r) const { return load(row(rows, r)); }
    V of_set(int r) const { return load(row(more, r)); }
    void put(int r, const V& v) const { store(row(rows, r), v); }
  };

  explicit Polisher(const LaneBatch& batch) : b_(batch) {}

  int harmonics() const { return H > 0 ? H : b_.harmonics; }
  /// The highest of the corners of a cubic's hull, of values and rates at its ends.
  static V highest(const V& x, const V& u, const V& xx, const V& uu) {
    return greater(greater(x, fma(u, all(1.0 / 3), x)), greater(fma(uu, all(-1.0 / 3), xx), xx));
  }
  /// The modes a cell later.
  [[gnu::always_inline]] static void advance(const double* rows, const V* z, V* next) {
    for (int j = 0; j < N; ++j) {
      const V own = load(row(rows, Rows::step + j));
      next[j] = fma(own, z[j], load(row(rows, Rows::across + j)) * z[N + j]);
      next[N + j] = fma(own, z[N + j], load(row(rows, Rows::back + j)) * z[j]);
    }
  }
  /// What a contact sees of z, added to what is known before z is.
  static V seen(const double* rows, int i, const V* z, const V& before) {
    V sum = before;
    for (int j = 0; j < terms; ++j) sum = fma(load(row(rows, Rows::value + terms * i + j)), z[j], sum);
    return sum;
  }
  /// z', its first so many terms.
  template <int Count>
  [[gnu::always_inline]] static void derive(const double* rows, const V* z, V* rate) {
    for (int j = 0; j < Count; ++j) {
      const V other = j < N ? z[N + j] : load(row(rows, Rows::square + j % N)) * z[j % N];
      rate[j] = fma(-load(row(rows, Rows::decay + j % N)), z[j], other);
    }
  }
  [[gnu::always_inline]] static void derive(const Group& g, const V* z, V* rate) {
    derive<2 * N>(g.rows, z, rate);
  }
  /// What contacts see of z'.
  [[gnu::always_inline]] static void velocity(const double* rows, const V* z, V* rate) {
    derive<terms>(rows, z, rate);
  }
  static V value(const Group& g, int i, const V* z) { return seen(g.rows, i, z, all(0)); }
  static V rate(const Group& g, int i, const V* z) {
    V moves[terms];
    velocity(g.rows, z, moves);
    return value(g, i, moves);
  }
  V driven(const Group& g, int i, const Phases& p) const {
    V sum = all(0);
    for (int j = 0; j < harmonics(); ++j) {
      const int k = 2 * (i * harmonics() + j);
      sum = fma(g.at(Rows::forced + k), p.cosine[j], sum);
      sum = fma(g.at(Rows::forced + k + 1), p.sine[j], sum);
    }
    return sum;
  }
  V driven_rate(const Group& g, int i, const Phases& p) const {
    V sum = all(0);
    for (int j = 0; j < harmonics(); ++j) {
      const int k = 2 * (i * harmonics() + j);
      sum = fma(g.at(Rows::forced + k + 1) * b_.rate[j], p.cosine[j], sum);
      sum = fma(g.at(Rows::forced + k) * -b_.rate[j], p.sine[j], sum);
    }
    return sum;
  }
  Gap gap(const Group& g, int i, const V* z, const Phases& p) const {
    return {g.at(Rows::position + i) - (value(g, i, z) + driven(g, i, p)),
            -(rate(g, i, z) + driven_rate(g, i, p))};
  }

  /// d²gap/dt².
  V curvature(const Group& g, int i, const V* z, const Phases& p) const {
    V first[2 * N];
    derive(g, z, first);
    V sum = rate(g, i, first);
    for (int j = 0; j < harmonics(); ++j) {
      const int k = 2 * (i * harmonics() + j);
      const V driven = fma(g.at(Rows::forced + k), p.cosine[j], g.at(Rows::forced + k + 1) * p.sine[j]);
      sum = fma(driven, all(-b_.rate[j] * b_.rate[j]), sum);
    }
    return -sum;
  }

  /// Σ u^k/(2k)!, which is cosh √u and, where u < 0, cos √−u; Σ u^k/(2k + 1)!, sinh and sin over √±u.
  template <int Terms>
  static V even(const V& u) {
    return series<Terms, 0>(u);
  }
  template <int Terms>
  static V odd(const V& u) {
    return series<Terms, 1>(u);
  }
  template <int Terms, int First>
  static V series(const V& u) {
    static constexpr double factor[] = {1,
                                        1,
                                        1 / 2.0,
                                        1 / 6.0,
                                        1 / 24.0,
                                        1 / 120.0,
                                        1 / 720.0,
                                        1 / 5040.0,
                                        1 / 40320.0,
                                        1 / 362880.0,
                                        1 / 3628800.0,
                                        1 / 39916800.0,
                                        1 / 479001600.0,
                                        1 / 6227020800.0,
                                        1 / 87178291200.0,
                                        1 / 1307674368000.0,
                                        1 / 20922789888000.0,
                                        1 / 355687428096000.0,
                                        1 / 6402373705728000.0,
                                        1 / 121645100408832000.0};
    static_assert(2 * (Terms - 1) + First < static_cast<int>(std::size(factor)));
    V sum = all(factor[2 * (Terms - 1) + First]);
    for (int k = Terms - 2; k >= 0; --k) sum = fma(sum, u, all(factor[2 * k + First]));
    return sum;
  }

  /// The phases at a fraction s of the cell beyond `from`; `to` may be the same.
  template <int Terms>
  void turn(const Phases& from, const V& s, Phases& to) const {
    for (int j = 0; j < harmonics(); ++j) {
      const V a = s * b_.rate[j];
      const V u = a * a;
      const V c = even<Terms>(-u), d = odd<Terms>(-u) * a;
      const V cosine = from.cosine[j], sine = from.sine[j];
      to.cosine[j] = fma(-sine, d, cosine * c);
      to.sine[j] = fma(cosine, d, sine * c);
    }
  }

  /// √Σ(q''''² + k q'''²): never grows on a flight, and bounds the fourth derivatives.
  static V vigour(const Group& g, const V* z) {
    V sum = all(0);
    for (int j = 0; j < N; ++j) {
      const V q = z[j], p = z[N + j];
      const V mixed = fma(g.at(Rows::form + j), q, g.at(Rows::form + N + j) * p);
      sum = fma(mixed, q, sum);
      sum = fma(g.at(Rows::form + 2 * N + j) * p, p, sum);
    }
    return Simd::sqrt(greater(sum, all(0)));
  }

  /// The flow of all modes over a time: e^{−aτ}, e^{aτ}, and the even and odd parts of the turn.
  struct Turn {
    V down[N], up[N], c[N], s[N], d[N];
    template <int Terms>
    static Turn over(const Group& g, const V& time) {
      Turn turn;
      for (int j = 0; j < N; ++j) {
        const V a = g.at(Rows::decay + j) * time;
        const V square = g.at(Rows::square + j) * time;
        const V u = square * time, w = a * a;
        turn.c[j] = even<Terms>(u);
        const V s = odd<Terms>(u);
        turn.s[j] = s * time;
        turn.d[j] = s * square;
        const V c = even<Terms>(w), d = odd<Terms>(w) * a;
        turn.down[j] = c - d;
        turn.up[j] = c + d;
      }
      return turn;
    }
    void forward(V* z) const {
      for (int j = 0; j < N; ++j) {
        const V q = z[j], p = z[N + j];
        z[j] = fma(s[j], p, c[j] * q) * down[j];
        z[N + j] = fma(d[j], q, c[j] * p) * down[j];
      }
    }
    /// Of what begins with nothing but these last terms.
    void backward(const V* last, V* z) const {
      for (int j = 0; j < terms; ++j) z[2 * N - terms + j] = last[j];
      if (!Classical) return backward(z);
      for (int j = 0; j < N; ++j) {
        const V p = z[N + j];
        z[j] = -s[j] * p * up[j];
        z[N + j] = c[j] * p * up[j];
      }
    }
    void backward(V* z) const {
      for (int j = 0; j < N; ++j) {
        const V q = z[j], p = z[N + j];
        z[j] = fma(-s[j], p, c[j] * q) * up[j];
        z[N + j] = fma(-d[j], q, c[j] * p) * up[j];
      }
    }
  };

  /// Bernstein coefficients of the cubic through the ends of a piece, raised to a quartic, less the error.
  struct Hull {
    V c[5];
    Hull(const Gap& a, const Gap& b, const V& bound) {
      const V b1 = fma(a.rate, all(1.0 / 3), a.value);
      const V b2 = fma(b.rate, all(-1.0 / 3), b.value);
      c[0] = a.value;
      c[1] = fma(b1, all(3), a.value) * 0.25;
      c[2] = (b1 + b2) * 0.5 - bound * (1.0 / 144);
      c[3] = fma(b2, all(3), b.value) * 0.25;
      c[4] = b.value;
    }
    Mask positive(const V& margin) const {
      return below(margin, smaller(smaller(smaller(c[0], c[1]), smaller(c[2], c[3])), c[4]));
    }
    /// On either half.
    Mask positive_halves(const V& margin) const {
      V a[5] = {c[0], c[1], c[2], c[3], c[4]};
      V least = smaller(a[0], a[4]);
      for (int level = 4; level > 0; --level) {
        for (int k = 0; k < level; ++k) a[k] = (a[k] + a[k + 1]) * 0.5;
        least = smaller(least, smaller(a[0], a[level - 1]));
      }
      return below(margin, least);
    }
  };
  /// Where the gap is zero at the beginning: it is at least this × the fraction of the piece gone.
  static V rises_at_least(const V& rate, const Gap& b, const V& bound) {
    const V b2 = fma(b.rate, all(-1.0 / 3), b.value);
    const V q1 = fma(b2, all(3), rate) * (1.0 / 3) - bound * (1.0 / 72);
    const V q2 = fma(b2, all(3), b.value) * (1.0 / 3);
    return smaller(smaller(rate, q1), smaller(q2, b.value));
  }
  static Mask positive_after_zero(const V& rate, const Gap& b, const V& bound, const V& margin) {
    return below(margin, rises_at_least(rate, b, bound));
  }

  struct Cubic {
    V a, b, c, d;  // a + t (b + t (c + t d))
    Cubic(const Gap& from, const Gap& to)
        : a(from.value),
          b(from.rate),
          c((to.value - from.value) * 3 - (from.rate + from.rate + to.rate)),
          d((from.value - to.value) * 2 + (from.rate + to.rate)) {}
    V value(const V& t) const { return fma(fma(fma(d, t, c), t, b), t, a); }
    V slope(const V& t) const { return fma(fma(d * 3, t, c + c), t, b); }
    V half_curvature(const V& t) const { return fma(d * 3, t, c); }
    /// Roots of the parabola with its value and rate at the beginning and its value at the end: the greater
    /// one where it is bent down; the one that it falls through to from above zero.
    V falls_back(const V& end) const { return (b + discriminant_root(end)) / ((end - a - b) * -2.0); }
    V falls(const V& end) const { return (a + a) / (discriminant_root(end) - b); }
    /// Their distance × its bend.
    V discriminant_root(const V& end) const {
      return Simd::sqrt(greater(fma(b, b, a * (end - a - b) * -4.0), all(0)));
    }
    V halley(const V& t) const {
      const V f = value(t), s = slope(t);
      return t - f * s / fma(s, s, -(f * half_curvature(t)));
    }
    /// The root near t: steps of Halley's, more where one is not enough, then one of Newton's with the term
    /// t²(1 − t)²(α + β t) that makes a quintic of it, by the second derivatives at the ends.
    V root(V t, const Mask& wanted, const V& begins, const V& ends) const {
      t = halley(t);
      for (int k = 0; k < 4; ++k) {
        const Mask rough = wanted & below(modulus(slope(t)) * 0.01, modulus(value(t)));
        if (!any(rough)) break;
        t = pick(rough, halley(t), t);
      }
      return refined(t, begins, ends);
    }
    V refined(const V& t, const V& begins, const V& ends) const {
      const V alpha = fma(begins, all(0.5), -c);
      const V beta = fma(ends, all(0.5), -(fma(d, all(3), c) + alpha));
      const V w = t * (1.0 - t);
      const V line = fma(beta, t, alpha);
      const V more = fma(w * w, line, value(t));
      const V steeper = fma(w + w, fma(t + t, -line, line), fma(w * w, beta, slope(t)));
      return t - more / steeper;
    }
  };

  /// The part of the cell that is still to be gone: where it begins, with everything there.
  struct Piece {
    V begin;     // fraction of the cell
    V z[2 * N];  // there
    Phases phase;
    V last;           // the contact just left, −1: none
    V rebound;        // rate of its gap
    V before[2 * N];  // where the cell would have begun without the impacts in it; not after one in its later
                      // half
    V late;           // 1: there was one
    V vigour;
    V bound[M];  // of the gaps' fourth derivatives from here on
    Gap gaps[M];
    V to[2 * N];  // where the cell ends
    Gap end[M];
    V impacts[M];
  };

  /// Where a contact may be met first on a piece.
  struct Meeting {
    V fraction;  // of the piece; 2: nowhere
    V contact;
    Mask unsure;
  };

  void look(const Group& g, const Piece& piece, int i, const Mask& todo, Meeting& m) const {
    const V length = 1.0 - piece.begin;
    const V l2 = length * length;
    const V bound = piece.bound[i] * (l2 * l2);
    const Gap a = {piece.gaps[i].value, piece.gaps[i].rate * length};
    const Gap b = {piece.end[i].value, piece.end[i].rate * length};
    const Mask just_left = is(piece.last, i);
    const Hull hull(a, b, bound);
    Mask open = todo & ~((just_left & positive_after_zero(a.rate, b, bound, g.at(Rows::margin + i))) |
                         (~just_left & hull.positive(g.at(Rows::margin + i))));
    if (!any(open)) return;
    const Cubic cubic(a, b);
    const Mask crosses = below(b.value, -g.at(Rows::margin + i));
    const Mask again = open & just_left;
    if (any(again)) {  // short flights are the acceleration's, long ones the cubic's
      const V brief = a.rate * -2.0 / (curvature(g, i, piece.z, piece.phase) * l2);
      const V t = pick(above(brief, 0) & below(brief, all(1)), brief, cubic.falls_back(b.value));
      const Mask found = again & crosses & above(t, 0) & below(t, all(1));
      m.unsure = m.unsure | (again & ~found);
      meet(found, i, t, m);
      open = open & ~just_left;
      if (!any(open)) return;
    }
    Mask found = crosses;
    V t = a.value / (a.value - b.value);
    const Mask rises = open & crosses & above(a.rate, 0);
    if (any(rises)) t = pick(rises, cubic.falls(b.value), t);
    const Mask may_dip = open & (~crosses | above(b.rate, 0));
    if (any(may_dip)) {
      open = open & ~hull.positive_halves(g.at(Rows::margin + i));
      // A dip below zero that certainly is one: on this side of the turning point.
      const V disc = fma(cubic.c, cubic.c, cubic.b * cubic.d * -3.0);
      const V turn = -cubic.b / (cubic.c + Simd::sqrt(greater(disc, all(0))));
      const V away = turn * (1.0 - turn);
      const V low = cubic.value(turn), half_curvature = cubic.half_curvature(turn);
      const Mask turns = may_dip & above(disc, 0) & above(turn, 0) & below(turn, all(1));
      const Mask dips = turns & (crosses | below(low, -(bound * (1.0 / 24) * (away * away))));
      t = pick(dips, turn - Simd::sqrt(greater(-low / half_curvature, all(0))), t);
      found = found | dips;
      const Mask unsure = open & turns & ~found;
      if (any(unsure)) open = open & ~look_closer(g, piece, i, unsure, turn, half_curvature, m);
    }
    t = cubic.root(t, open & found, curvature(g, i, piece.z, piece.phase) * l2,
                   curvature(g, i, piece.to, g.later) * l2);
    found = found & above(t, 0) & below(t, all(1));
    m.unsure = m.unsure | (open & ~found);
    meet(open & found, i, t, m);
  }
  static void meet(const Mask& lanes, int i, const V& t, Meeting& m) {
    const Mask first = lanes & below(t, m.fraction);
    m.fraction = pick(first, t, m.fraction);
    m.contact = pick(first, all(i), m.contact);
  }

  /// Where the cubic is nearer to zero than its error: the gap at its turning point, without error, and
  /// cubics on either side. Lanes for which that decides.
  Mask look_closer(const Group& g, const Piece& piece, int i, const Mask& todo, const V& turn,
                   const V& half_curvature, Meeting& m) const {
    const V length = 1.0 - piece.begin, way = turn * length, rest = length - way;
    const V instant = piece.begin + way;
    V z[2 * N];
    Phases p;
    from_an_end(g, piece.before, piece.to, instant, nearer_to_beginning(piece, instant), z, p);
    const Gap mid = gap(g, i, z, p), a = piece.gaps[i], b = piece.end[i];
    const V margin = g.at(Rows::margin + i), w2 = way * way, r2 = rest * rest;
    const Hull before({a.value, a.rate * way}, {mid.value, mid.rate * way}, piece.bound[i] * (w2 * w2));
    const Hull after({mid.value, mid.rate * rest}, {b.value, b.rate * rest}, piece.bound[i] * (r2 * r2));
    const Mask clear = before.positive_halves(margin) & after.positive_halves(margin);
    const V t = turn - Simd::sqrt(greater(-mid.value / half_curvature, all(0)));
    const Mask dips = todo & below(mid.value, -margin) & above(t, 0);
    meet(dips, i, t, m);
    return todo & (clear | dips);
  }

  /// From where the state at an instant is had.
  static Mask nearer_to_beginning(const Piece& piece, const V& instant) {
    return below(instant, all(0.5)) & ~above(piece.late, 0);
  }
  /// The state at an instant of the cell, from where it begins for the lanes that are `early`, else from
  /// where it ends; the flow from there.
  Turn from_an_end(const Group& g, const V* begins, const V* ends, const V& instant, const Mask& early, V* z,
                   Phases& p) const {
    for (int j = 0; j < 2 * N; ++j) z[j] = pick(early, begins[j], ends[j]);
    for (int j = 0; j < harmonics(); ++j) {
      p.cosine[j] = pick(early, g.phase.cosine[j], g.later.cosine[j]);
      p.sine[j] = pick(early, g.phase.sine[j], g.later.sine[j]);
    }
    const V away = pick(early, instant, instant - 1.0);
    turn<half_cell>(p, away, p);
    const Turn near = Turn::template over<half_cell>(g, away);
    near.forward(z);
    return near;
  }

  /// What belongs to one contact of each lane.
  struct Stop {
    V value[terms], push[terms];
    V position, stretch, driven, kick, margin, restitution, drag, chatter;
    V forced[2 * (H > 0 ? H : most_harmonics)];
  };

  // ---- What is told --------------------------------------------------------------------------------------

  bool tells() const { return Carries && b_.told != nullptr; }

  /// What happens to lanes of a group in a cell.
  struct Notes {
    struct Note {
      Mask lanes;
      LaneNote what;
      V contact, at, value;
    };
    // A contact's gap turns up to three times on a way, told for lanes where it falls and where it rises. Of
    // a strike that is the whole way, and for each impact the one before it, what it turns round and the one
    // behind it.
    static constexpr int of_way = 6 * M;
    static constexpr int most = Carries ? of_way + M * (2 * of_way + M) : 1;
    Note list[most];
    int count = 0;
    void add(const Mask& lanes, LaneNote what, const V& contact, const V& at, const V& value) {
      list[count++] = {lanes, what, contact, at, value};
    }
  };

  /// … to who listens, those of these lanes.
  void tell(const Group& g, const Mask& lanes, Notes& notes) const {
    for (int k = 0; k < notes.count; ++k) {
      const auto& note = notes.list[k];
      for (unsigned which = Simd::bits(note.lanes & lanes); which != 0; which &= which - 1) {
        const int j = __builtin_ctz(which);
        b_.told(b_.owner, g.lane[j], note.what, static_cast<int>(note.contact[j]), g.cell[j] + note.at[j],
                note.value[j]);
      }
    }
    notes.count = 0;
  }

  /// A flight through the cell, or a part of it. from, to: where the cell would have begun on it, for the
  /// lanes for which that `holds`, and where it ends.
  struct Way {
    const V *from, *to;
    Mask holds;
    V begin, end, vigour;
  };
  void motion_at(const Group& g, const Way& way, const V& instant, V* z, Phases& p) const {
    from_an_end(g, way.from, way.to, instant, below(instant, all(0.5)) & way.holds, z, p);
  }

  /// Where gaps turn between the ends of a flight.
  void watch(const Group& g, const Mask& lanes, const Way& way, const Gap* first, const Gap* last,
             Notes& notes) const {
    const V length = way.end - way.begin, square = length * length;
    for (int i = 0; i < M; ++i) {
      const Gap a = first[i], b = last[i];
      const Mask falls = below(a.rate, all(0)), falls_later = below(b.rate, all(0));
      const Mask turns = lanes & ((falls & ~falls_later) | (~falls & falls_later));
      if (any(turns)) turn(g, turns, falls, i, way, a, b, notes);
      // Twice: the cubic's slope nearly turns round between, and that of the gap does.
      const Cubic cubic({a.value, a.rate * length}, {b.value, b.rate * length});
      const V vertex = cubic.c / (cubic.d * -3.0), slope = cubic.slope(vertex);
      const V bound = fma(way.vigour, g.at(Rows::stretch + i), g.at(Rows::driven + i));
      const V error = bound * (square * square) * (1.0 / 120);
      const Mask perhaps = lanes & ~turns & above(vertex, 0) & below(vertex, all(1)) &
                           ((falls & below(-error, slope)) | (~falls & below(slope, error)));
      if (!any(perhaps)) continue;
      const V between = fma(vertex, length, way.begin);
      V z[2 * N];
      Phases p;
      motion_at(g, way, between, z, p);
      const Gap there = gap(g, i, z, p);
      const Mask falls_there = below(there.rate, all(0));
      const Mask twice = perhaps & ((falls & ~falls_there) | (~falls & falls_there));
      if (!any(twice)) continue;
      Way half = way;
      half.end = between;
      turn(g, twice, falls, i, half, a, there, notes);
      half.begin = between;
      half.end = way.end;
      turn(g, twice, ~falls, i, half, there, b, notes);
    }
  }
  /// After an impact: gaps that are highest here as it has turned them round.
  void tell_corners(const Mask& lanes, const V& contact, const V& instant, const Gap* gaps,
                    Notes& notes) const {
    for (int i = 0; i < M; ++i) {
      const Mask turned = lanes & ~is(contact, i) & below(gaps[i].rate, all(0));
      if (any(turned)) notes.add(turned, LaneNote::highest, all(i), instant, gaps[i].value);
    }
  }
  /// One of them, between rates of either sign; where it falls, the gap is lowest there.
  void turn(const Group& g, const Mask& lanes, const Mask& falls, int i, const Way& way, const Gap& a,
            const Gap& b, Notes& notes) const {
    const V length = way.end - way.begin;
    const Cubic cubic({a.value, a.rate * length}, {b.value, b.rate * length});
    const V root = Simd::sqrt(greater(fma(cubic.c, cubic.c, cubic.b * cubic.d * -3.0), all(0)));
    V instant = fma(-cubic.b / (cubic.c + pick(falls, root, -root)), length, way.begin);
    V shift = all(0), step = shift, bend = shift, guessed = shift;  // guessed: the bend at the guess before
    Gap here;
    for (int k = 0; k < 4; ++k) {
      const V guess = instant;
      instant = greater(smaller(instant + shift, way.end), way.begin);
      step = instant - guess;
      guessed = bend;
      V z[2 * N];
      Phases p;
      motion_at(g, way, instant, z, p);
      here = gap(g, i, z, p);
      bend = curvature(g, i, z, p);
      shift = -here.rate / bend;
    }
    bend = pick(above(modulus(step), 0), fma((bend - guessed) / step, shift, bend), bend);
    const V value = fma(here.rate * 0.5, shift, here.value), at = instant + shift;
    notes.add(lanes & ~falls, LaneNote::highest, all(i), at, value);
    const V speed = Simd::sqrt(greater(value * bend * 2.0, all(0)));
    notes.add(lanes & falls & above(value, 0), LaneNote::lowest, all(i), at, speed);
  }

  // ---- Tangent vectors ------------------------------------------------------------------------------------

  /// What has become of the tangent vectors of a group, each where its cell would have begun (not after an
  /// impact in the later half of it) and where it ends, without the impacts to come.
  struct Tangents {
    static constexpr int most = Carries ? 2 * N : 1;
    V from[most][2 * N], to[most][2 * N];
  };

  void begin(const Group& g, Tangents& carried) const {
    V undone[N];  // what a step there and back leaves
    for (int j = 0; j < N; ++j) {
      const V own = g.at(Rows::step + j);
      undone[j] = 1.0 / fma(own, own, -(g.at(Rows::across + j) * g.at(Rows::back + j)));
    }
    for (int t = 0; t < b_.tangents; ++t) {
      V *const from = carried.from[t], *const to = carried.to[t];
      for (int j = 0; j < 2 * N; ++j) to[j] = load(row(g.tangents, 2 * N * t + j));
      for (int j = 0; j < N; ++j) {
        const V own = g.at(Rows::step + j);
        from[j] = fma(own, to[j], -(g.at(Rows::across + j) * to[N + j])) * undone[j];
        from[N + j] = fma(own, to[N + j], -(g.at(Rows::back + j) * to[j])) * undone[j];
      }
    }
  }
  /// An impact, in first order: the instant of it moves by −row·ẑ/speed, and the jump by what that and ẑ make
  /// of the speed. kick, later: what a unit kick does to the nearer end of the cell and to its end; press:
  /// the acceleration towards the contact before; to_impact(ẑ) moves on from the nearer end.
  template <class ToImpact>
  void carry_through(const Group& g, const Stop& s, const Mask& lanes, const Mask& early, const V* kick,
                     const V* later, const V& speed, const V& press, const ToImpact& to_impact,
                     Tangents& carried) const {
    V kick_moves[2 * N], later_moves[2 * N];
    derive(g, kick, kick_moves);
    derive(g, later, later_moves);
    const V factor = s.restitution + 1.0;
    for (int t = 0; t < b_.tangents; ++t) {
      V *const from = carried.from[t], *const to = carried.to[t];
      V z[2 * N], moves[terms];
      for (int j = 0; j < 2 * N; ++j) z[j] = pick(early, from[j], to[j]);
      to_impact(z);
      velocity(g.rows, z, moves);
      const V delay = -(seen(s, z) / speed);
      const V change = factor * fma(press, delay, seen(s, moves));  // of the jump
      const V shift = factor * speed * delay;
      for (int j = 0; j < 2 * N; ++j) {
        from[j] = pick(lanes, fma(shift, kick_moves[j], fma(-change, kick[j], from[j])), from[j]);
        to[j] = pick(lanes, fma(shift, later_moves[j], fma(-change, later[j], to[j])), to[j]);
      }
    }
  }
  void put(const Group& g, const Mask& lanes, const Tangents& carried) const {
    for (int t = 0; t < b_.tangents; ++t) {
      for (int j = 0; j < 2 * N; ++j) {
        double* const place = row(g.tangents, 2 * N * t + j);
        store(place, pick(lanes, carried.to[t][j], load(place)));
      }
    }
  }
  /// Where a piece begins that is left.
  void put(const Group& g, const Mask& lanes, const Piece& piece, const Tangents& carried) const {
    const Mask early = nearer_to_beginning(piece, piece.begin);
    const Turn flow = Turn::template over<half_cell>(g, pick(early, piece.begin, piece.begin - 1.0));
    for (int t = 0; t < b_.tangents; ++t) {
      V z[2 * N];
      for (int j = 0; j < 2 * N; ++j) z[j] = pick(early, carried.from[t][j], carried.to[t][j]);
      flow.forward(z);
      for (int j = 0; j < 2 * N; ++j) {
        double* const place = row(g.tangents, 2 * N * t + j);
        store(place, pick(lanes, z[j], load(place)));
      }
    }
  }

  // ---- The common case ------------------------------------------------------------------------------------

  void copy(const Phases& from, Phases& to) const {
    for (int j = 0; j < harmonics(); ++j) {
      to.cosine[j] = from.cosine[j];
      to.sine[j] = from.sine[j];
    }
  }
  void choose(const Group& g, const V& contact, const Mask& todo, Stop& stop) const {
    for (int i = 0; i < M; ++i) {  // mostly it is the same one for all
      if (any(todo & ~is(contact, i))) continue;
      return take(stop, [&](int first, int stride) { return g.at(first + i * stride); });
    }
    Mask is_it[M];
    for (int i = 1; i < M; ++i) is_it[i] = is(contact, i);
    take(stop, [&](int first, int stride) {
      V v = g.at(first);
      for (int i = 1; i < M; ++i) v = pick(is_it[i], g.at(first + i * stride), v);
      return v;
    });
  }
  /// of_it: a row of the first contact, and how many rows on that of the next one is.
  template <class Choice>
  void take(Stop& stop, const Choice& of_it) const {
    for (int j = 0; j < terms; ++j) {
      stop.value[j] = of_it(Rows::value + j, terms);
      stop.push[j] = of_it(Rows::push + j, terms);
    }
    stop.position = of_it(Rows::position, 1);
    stop.stretch = of_it(Rows::stretch, 1);
    stop.driven = of_it(Rows::driven, 1);
    stop.kick = of_it(Rows::kick, 1);
    stop.margin = of_it(Rows::margin, 1);
    stop.restitution = of_it(Rows::restitution, 1);
    stop.drag = of_it(Rows::drag, 1);
    stop.chatter = of_it(Rows::chatter, 1);
    for (int j = 0; j < 2 * harmonics(); ++j) {
      stop.forced[j] = of_it(Rows::forced + j, 2 * harmonics());
    }
  }
  static V seen(const Stop& s, const V* z) {
    V sum = s.value[0] * z[0];
    for (int j = 1; j < terms; ++j) sum = fma(s.value[j], z[j], sum);
    return sum;
  }
  /// A jump by so much.
  static void kick_by(const Stop& s, const V& jump, V* z) {
    for (int j = 0; j < terms; ++j) {
      V& last = z[2 * N - terms + j];
      last = fma(-jump, s.push[j], last);
    }
  }
  /// nᵀp'' of the stop.
  V pulled(const Stop& s, const Phases& p) const {
    V sum = all(0);
    for (int j = 0; j < harmonics(); ++j) {
      const V driven = fma(s.forced[2 * j], p.cosine[j], s.forced[2 * j + 1] * p.sine[j]);
      sum = fma(driven, all(-b_.rate[j] * b_.rate[j]), sum);
    }
    return sum;
  }
  V curvature(const Group& g, const Stop& s, const V* z, const Phases& p) const {
    V first[2 * N], second[terms];
    derive(g, z, first);
    velocity(g.rows, first, second);
    return -(seen(s, second) + pulled(s, p));
  }

  /// The flight on which the rest of the cell is gone.
  struct Flight {
    V begin;        // fraction of the cell
    V z[2 * N];     // there, …
    Phases phase;   // …
    Gap gaps[M];    // …
    V from[2 * N];  // where the cell would have begun on it; not if `begin` is in its later half
    V to[2 * N];    // where the cell ends
    Gap end[M];     // there
    V vigour;
    V room[M];     // what the gaps keep at least, where that is positive
    V last, rise;  // the contact just left, −1: none; its gap is more than this × fraction of the way
    V hits[M];
  };

  /// An impact that is being worked out.
  struct Strike {
    Mask todo, done;
    Flight flight;
    V contact;
    Stop stop;
    Gap a, b;  // the contact's gap at the ends of the rest of the cell
    V guess;   // of the instant
    Tangents carried;
    Notes notes;
  };
  /// The motion there: the state, what a kick does to the nearer end of the cell, phases, the Taylor
  /// coefficients of the gap.
  struct Near {
    Mask early;
    V z[2 * N], first[2 * N], second[2 * N], kick[2 * N], c[4];
    Phases p;
    Turn flow;  // from the nearer end
  };

  /// One impact in the cell, or more of different contacts, and the others clear of it: for the lanes that
  /// are active; for which of them it was so. The others are as before.
  [[gnu::noinline]] unsigned strike(const Group& g) const {
    Strike strike;
    begin(g, strike);
    pass_by(g, strike);
    for (int impacts = 0; impacts < M && any(strike.todo); ++impacts) {
      aim(g, strike);
      hit(g, strike);
    }
    return end(g, strike);
  }

  void begin(const Group& g, Strike& strike) const {
    Flight& f = strike.flight;
    f.begin = all(0);
    copy(g.phase, f.phase);
    f.vigour = g.at(Rows::vigour);
    f.last = all(-1);
    f.rise = all(0);
    for (int j = 0; j < 2 * N; ++j) {
      f.from[j] = f.z[j] = g.at(Rows::from + j);
      f.to[j] = g.at(Rows::to + j);
    }
    for (int i = 0; i < M; ++i) {
      const V x = g.seen[0][i], u = g.rate[0][i], xx = g.seen[1][i], uu = g.rate[1][i];
      f.gaps[i] = {g.at(Rows::position + i) - x, -u};
      f.end[i] = {g.at(Rows::position + i) - xx, -uu};
      f.room[i] = level(g, i, f.vigour) - highest(x, u, xx, uu);
      f.hits[i] = all(0);
    }
    strike.todo = Simd::mask(g.active);
    strike.done = strike.todo & ~strike.todo;
    if (Carries && b_.tangents > 0) begin(g, strike.carried);
  }

  /// What only comes near a contact is through with the cell: the sharper certificate.
  void pass_by(const Group& g, Strike& strike) const {
    const Flight& f = strike.flight;
    Mask clear = strike.todo;
    for (int i = 0; i < M; ++i) clear = clear & above(f.end[i].value, 0);
    if (!any(clear)) return;
    for (int i = 0; i < M; ++i) {
      const V bound = fma(f.vigour, g.at(Rows::stretch + i), g.at(Rows::driven + i));
      clear = clear & (below(all(0), f.room[i]) |
                       Hull(f.gaps[i], f.end[i], bound).positive_halves(g.at(Rows::margin + i)));
    }
    strike.done = clear;
    strike.todo = strike.todo & ~clear;
    if (tells())
      watch(g, clear, {f.from, f.to, clear, all(0), all(1), f.vigour}, f.gaps, f.end, strike.notes);
  }

  unsigned end(const Group& g, Strike& strike) const {
    const Flight& f = strike.flight;
    const Mask done = strike.done;
    for (int j = 0; j < 2 * N; ++j) g.put(Rows::to + j, pick(done, f.to[j], g.at(Rows::to + j)));
    for (int i = 0; i < M; ++i) {
      const V count = g.at(Rows::impacts + i);
      g.put(Rows::impacts + i, pick(done, count + f.hits[i], count));
    }
    set_flight(g, done, vigour(g, f.to));
    if constexpr (Carries) put(g, done, strike.carried);
    if (tells()) tell(g, done, strike.notes);
    return Simd::bits(done);
  }

  /// The contact that is met first, as far as straight lines tell.
  static V next_contact(const Flight& f) {
    if (M == 1) return all(0);
    V contact = all(0);
    Mask some = below(f.end[0].value, all(0)), several = some & ~some;
    for (int i = 1; i < M; ++i) {
      const Mask crosses = below(f.end[i].value, all(0));
      several = several | (crosses & some);
      some = some | crosses;
      contact = pick(crosses, all(i), contact);
    }
    if (!any(several)) return contact;
    V least = all(2);
    for (int i = 0; i < M; ++i) {
      const V t = f.gaps[i].value / (f.gaps[i].value - f.end[i].value);
      const Mask first = below(f.end[i].value, all(0)) & ~is(f.last, i) & below(t, least);
      contact = pick(first, all(i), contact);
      least = pick(first, t, least);
    }
    return contact;
  }

  /// Which contact is met, and nearly where.
  [[gnu::noinline]] void aim(const Group& g, Strike& strike) const {
    const Flight& f = strike.flight;
    const V contact = next_contact(f);
    Stop& s = strike.stop;
    choose(g, contact, strike.todo, s);
    Gap a = f.gaps[0], b = f.end[0];
    for (int i = 1; i < M; ++i) {
      const Mask here = is(contact, i);
      a = {pick(here, f.gaps[i].value, a.value), pick(here, f.gaps[i].rate, a.rate)};
      b = {pick(here, f.end[i].value, b.value), pick(here, f.end[i].rate, b.rate)};
    }
    const V length = 1.0 - f.begin, square = length * length;
    const Cubic cubic({a.value, a.rate * length}, {b.value, b.rate * length});
    V start = a.value / (a.value - b.value);  // a straight line, or a parabola where the gap turns back
    const Mask turns = strike.todo & (above(b.value, 0) | above(a.rate, 0) | above(b.rate, 0));
    if (any(turns)) start = pick(turns, cubic.falls(b.value), start);
    const V t = cubic.refined(cubic.halley(start), curvature(g, s, f.z, f.phase) * square,
                              curvature(g, s, f.to, g.later) * square);
    strike.guess = fma(t, length, f.begin);
    strike.contact = contact;
    strike.a = a;
    strike.b = b;
  }

  /// The motion at the guess. (Passed on in registers, as far as there are enough.)
  [[gnu::always_inline]] void approach(const Group& g, const Strike& strike, Near& n) const {
    const Flight& f = strike.flight;
    const Stop& s = strike.stop;
    n.early = below(strike.guess, all(0.5));
    const Turn flow = from_an_end(g, f.from, f.to, strike.guess, n.early, n.z, n.p);
    flow.backward(s.push, n.kick);
    if constexpr (Carries) n.flow = flow;

    V third[terms];
    derive(g, n.z, n.first);
    derive(g, n.first, n.second);
    velocity(g.rows, n.second, third);
    V c[4] = {seen(s, n.z), seen(s, n.first), seen(s, n.second), seen(s, third)};
    for (int j = 0; j < harmonics(); ++j) {
      const V cosine = n.p.cosine[j], sine = n.p.sine[j];
      const V x = fma(s.forced[2 * j + 1], sine, s.forced[2 * j] * cosine);
      const V v = fma(s.forced[2 * j + 1], cosine, -(s.forced[2 * j] * sine)) * b_.rate[j];
      c[0] += x;
      c[1] += v;
      c[2] = fma(x, all(-b_.rate[j] * b_.rate[j]), c[2]);
      c[3] = fma(v, all(-b_.rate[j] * b_.rate[j]), c[3]);
    }
    n.c[0] = s.position - c[0];
    n.c[1] = -c[1];
    n.c[2] = c[2] * (-1.0 / 2);
    n.c[3] = c[3] * (-1.0 / 6);
  }

  /// The second derivative of the acceleration towards the contact.
  V bend_of_pull(const Group& g, const Stop& s, const Near& n) const {
    V third[2 * N], fourth[terms];
    derive(g, n.second, third);
    velocity(g.rows, third, fourth);
    V sum = seen(s, fourth);
    for (int j = 0; j < harmonics(); ++j) {
      const double square = b_.rate[j] * b_.rate[j];
      const V driven = fma(s.forced[2 * j], n.p.cosine[j], s.forced[2 * j + 1] * n.p.sine[j]);
      sum = fma(driven, all(square * square), sum);
    }
    return sum;
  }

  /// The impact: lanes certainly through with the cell are `done`, those certainly as far as the impact are
  /// still to do.
  [[gnu::noinline]] void hit(const Group& g, Strike& strike) const {
    Flight& f = strike.flight;
    const Stop& s = strike.stop;
    const Mask todo = strike.todo;
    const V contact = strike.contact, guess = strike.guess;
    const Gap a = strike.a, b = strike.b;
    Near near;
    approach(g, strike, near);
    const V* const c = near.c;
    const V inverse = 1.0 / c[1];
    const V linear = -(c[0] * inverse), bend = c[2] * inverse, twist = c[3] * inverse;
    V shift = fma(-bend * linear, linear, linear);
    const V rest = fma(fma(twist, shift, bend) * shift, shift, shift - linear);
    shift = fma(rest, fma(bend + bend, shift, all(-1)), shift);
    const V instant = guess + shift;
    const V speed = -fma(fma(c[3] * 3, shift, c[2] + c[2]), shift, c[1]);
    const V before = fma(c[3] * -6.0, shift, c[2] * -2.0);  // acceleration towards the contact
    const V back = s.restitution * speed;
    const V jump = speed + back;
    const V half = shift * 0.5;

    // What it does to the ends of the cell.
    V begun[2 * N], ended[2 * N];  // without it
    for (int j = 0; tells() && j < 2 * N; ++j) {
      begun[j] = f.from[j];
      ended[j] = f.to[j];
    }
    V kick[2 * N], later[2 * N], first[2 * N], second[2 * N];
    derive(g, near.kick, first);
    derive(g, first, second);
    for (int j = 0; j < 2 * N; ++j) kick[j] = fma(shift, fma(half, second[j], -first[j]), near.kick[j]);
    advance(g.rows, kick, later);
    for (int j = 0; j < 2 * N; ++j) {
      later[j] = pick(near.early, later[j], kick[j]);
      f.to[j] = pick(todo, fma(-jump, later[j], f.to[j]), f.to[j]);
    }
    if (Carries && b_.tangents > 0) {
      const auto to_impact = [&](V* z) {
        near.flow.forward(z);
        V rate[2 * N], bend_of[2 * N];
        derive(g, z, rate);
        derive(g, rate, bend_of);
        for (int j = 0; j < 2 * N; ++j) z[j] = fma(shift, fma(half, bend_of[j], rate[j]), z[j]);
      };
      const V press = fma(shift * half, bend_of_pull(g, s, near), before);
      carry_through(g, s, todo, near.early, kick, later, speed, press, to_impact, strike.carried);
    }
    V moves[terms];
    velocity(g.rows, later, moves);
    const Gap after = {fma(jump, seen(s, later), b.value), fma(jump, seen(s, moves), b.rate)};

    // Neither before nor after is there anything else of this contact.
    Mask good = todo & below(modulus(shift), all(closeness)) & below(modulus(bend * linear), all(1e-3)) &
                above(instant, 0) & below(instant, all(1 - 1e-9)) & above(a.value, 0) &
                ~same(contact, f.last);
    const V way = instant - f.begin, left = 1.0 - instant, length = 1.0 - f.begin;
    const V way2 = way * way, left2 = left * left;
    const V bound = fma(f.vigour, s.stretch, s.driven) * (way2 * way2);
    const V vigour = fma(jump, s.kick, f.vigour);
    const V bound_after = fma(vigour, s.stretch, s.driven) * (left2 * left2);
    const V rise = rises_at_least(back * left, {after.value, after.rate * left}, bound_after);
    good = good & above(way, 0) & below(s.margin, rise) &
           below(s.margin, rises_at_least(speed * way, {a.value, -(a.rate * way)}, bound));
    const V press = greater(greater(before, fma(-s.drag, jump, before)), all(0));
    good = good & below(s.chatter * press, back) & below(s.margin * slow, speed) &
           below(modulus(before) * 1e-4, speed);

    // The others.
    Mask clear = good;
    for (int i = 0; i < M && M > 1; ++i) {
      const Mask hit = is(contact, i);
      V spill = g.at(Rows::spill + M * i);
      for (int k = 1; k < M; ++k) spill = pick(is(contact, k), g.at(Rows::spill + M * i + k), spill);
      const V room = pick(is(f.last, i), f.rise * way - g.at(Rows::margin + i) * length, f.room[i] * length);
      f.room[i] = f.room[i] - spill * jump;
      clear = clear & (hit | below(spill * jump * length, room));
      f.hits[i] = pick(todo & hit, f.hits[i] + 1.0, f.hits[i]);
    }
    if (M == 1) f.hits[0] = pick(todo, all(1), f.hits[0]);
    strike.done = strike.done | clear;
    Mask more = good & ~clear;
    strike.todo = more;
    if (!tells() && (M == 1 || !any(more))) return;

    // On the way to the next impact.
    for (int j = 0; j < harmonics(); ++j) {
      const V angle = shift * b_.rate[j];
      const V cosine = near.p.cosine[j], sine = near.p.sine[j];
      f.phase.cosine[j] = fma(-angle, fma(angle * 0.5, cosine, sine), cosine);
      f.phase.sine[j] = fma(angle, fma(angle * -0.5, sine, cosine), sine);
    }
    for (int j = 0; j < 2 * N; ++j) {
      f.z[j] = fma(shift, fma(half, near.second[j], near.first[j]), near.z[j]);
      f.from[j] = fma(-jump, kick[j], f.from[j]);
    }
    Gap here[M];
    for (int i = 0; i < M; ++i) here[i] = gap(g, i, f.z, f.phase);
    if (tells()) {
      watch(g, good, {begun, ended, good, f.begin, instant, f.vigour}, f.gaps, here, strike.notes);
      strike.notes.add(good, LaneNote::impact, contact, instant, speed);
    }
    kick_by(s, jump, f.z);
    for (int i = 0; i < M; ++i) {
      const Mask hit = is(contact, i);
      const V limit = fma(f.vigour, g.at(Rows::stretch + i), g.at(Rows::driven + i)) * (way2 * way2);
      more = more & (hit | is(f.last, i) | below(all(0), f.room[i]) |
                     Hull({f.gaps[i].value, f.gaps[i].rate * way}, {here[i].value, here[i].rate * way}, limit)
                         .positive_halves(g.at(Rows::margin + i)));
      f.gaps[i] = {pick(hit, all(0), here[i].value),
                   pick(hit, back, -(rate(g, i, f.z) + driven_rate(g, i, f.phase)))};
    }
    if (tells()) tell_corners(good, contact, instant, f.gaps, strike.notes);
    for (int i = 0; i < M; ++i) f.end[i] = gap(g, i, f.to, g.later);
    f.begin = instant;
    f.last = contact;
    f.rise = rise;
    f.vigour = vigour;
    strike.todo = more;
    if (tells())
      watch(g, clear, {f.from, f.to, near.early, instant, all(1), vigour}, f.gaps, f.end, strike.notes);
  }

  /// d less the error bound on a flight.
  static V level(const Group& g, int i, const V& strength) {
    const V bound = fma(strength, g.at(Rows::stretch + i), g.at(Rows::driven + i));
    return g.at(Rows::position + i) - fma(bound, all(1.0 / 384), g.at(Rows::margin + i));
  }
  /// What holds for the flight on which the cell ends.
  static void set_flight(const Group& g, const Mask& lanes, const V& strength) {
    for (int i = 0; i < M; ++i) {
      g.put(Rows::level + i, pick(lanes, level(g, i, strength), g.at(Rows::level + i)));
    }
    g.put(Rows::vigour, pick(lanes, strength, g.at(Rows::vigour)));
  }

  void begin(const Group& g, Piece& piece) const {
    piece.begin = all(0);
    piece.last = all(-1);
    piece.rebound = all(0);
    piece.vigour = g.at(Rows::vigour);
    copy(g.phase, piece.phase);
    piece.late = all(0);
    for (int i = 0; i < 2 * N; ++i) {
      piece.z[i] = g.at(Rows::from + i);
      piece.before[i] = piece.z[i];
      piece.to[i] = g.at(Rows::to + i);
    }
    for (int i = 0; i < M; ++i) {
      piece.bound[i] = fma(piece.vigour, g.at(Rows::stretch + i), g.at(Rows::driven + i));
      if constexpr (Sets) {
        piece.gaps[i] = {g.at(Rows::position + i) - g.seen[0][i], -g.rate[0][i]};
        piece.end[i] = {g.at(Rows::position + i) - g.seen[1][i], -g.rate[1][i]};
      } else {
        piece.gaps[i] = gap(g, i, piece.z, g.phase);
        piece.end[i] = gap(g, i, piece.to, g.later);
      }
      piece.impacts[i] = g.at(Rows::impacts + i);
    }
  }

  /// Everything that happens in the cell, for the lanes that are active; which of them leave, from where the
  /// last of their certain pieces ends.
  [[gnu::noinline]] unsigned polish(const Group& g) const {
    Piece piece;
    Tangents carried;
    if (Carries && b_.tangents > 0) begin(g, carried);
    begin(g, piece);
    const Mask active = Simd::mask(g.active);
    Mask todo = active;
    Mask left = todo & ~todo;
    for (int pass = 0;; ++pass) {
      Meeting m{all(2), all(-1), todo & ~todo};
      for (int i = 0; i < M; ++i) look(g, piece, i, todo, m);
      left = left | (todo & m.unsure);
      todo = todo & below(m.fraction, all(2)) & ~m.unsure;
      if (!any(todo)) break;
      if (pass == most_impacts) {
        left = left | todo;
        break;
      }
      const Mask done = impact(g, m, todo, piece, carried);
      left = left | (todo & ~done);
      todo = todo & done;
    }
    const Mask done = active & ~left;
    for (int i = 0; i < 2 * N; ++i) {
      g.put(Rows::to + i, pick(done, piece.to[i], g.at(Rows::to + i)));
      g.put(Rows::from + i, piece.z[i]);
    }
    for (int i = 0; i < M; ++i) g.put(Rows::impacts + i, piece.impacts[i]);
    g.put(Rows::begun, piece.begin);
    g.put(Rows::last, piece.last);
    g.put(Rows::rebound, piece.rebound);
    set_flight(g, done, vigour(g, piece.to));
    if (tells()) {
      Notes notes;
      watch(g, done, way_of(piece, all(1)), piece.gaps, piece.end, notes);
      tell(g, done, notes);
    }
    if (Carries && b_.tangents > 0) {
      put(g, done, carried);
      put(g, left, piece, carried);
    }
    return Simd::bits(left);
  }

  /// A contact is met: what belongs to it, when, and the motion there.
  struct Instant {
    Stop stop;
    V instant, shift, speed;
    V before;  // acceleration towards the contact
    V z[2 * N];
    Phases p;
    Mask again;          // a short flight from the same contact
    Mask early;          // z is had from where the cell begins …
    Turn near, further;  // … by these
    V kick[2 * N];       // what a unit kick there does to that end
    V f[near_terms];
    Gap here[M];
  };

  /// The zero of a gap near a guess.
  struct Zero {
    Mask rough;         // lanes for which it may still improve
    V at, step, speed;  // from the guess; by how much it moved last; how fast the gap falls there
    /// A step of Newton's. Among compliant stops one is mostly enough; only those that need more take them.
    void improve(const V* f) {
      V value, slope;
      evaluate(f, at, value, slope);
      step = pick(rough, value / slope, step);
      at = pick(rough, at - step, at);
      if constexpr (Sets) slope = fma(f[2] * -2.0, step, slope);
      speed = pick(rough, -slope, speed);
      if constexpr (Sets) rough = rough & ~below(modulus(step), all(settled));
    }
  };

  /// The instants of all lanes that have one; for which of them it is certain, and the first.
  [[gnu::always_inline]] Mask meet_at(const Group& g, const Meeting& m, const Mask& todo, const Piece& piece,
                                      Instant& at) const {
    Stop& stop = at.stop;
    choose(g, m.contact, todo, stop);
    V guess = fma(m.fraction, 1.0 - piece.begin, piece.begin);
    V(&z)[2 * N] = at.z;
    V(&f)[near_terms] = at.f;
    Zero zero;
    for (int tries = 0;; ++tries) {
      // The state at the guess from the nearer end of the cell; what a kick there does to that end.
      at.early = nearer_to_beginning(piece, guess);
      at.near = from_an_end(g, piece.before, piece.to, guess, at.early, z, at.p);
      at.near.backward(stop.push, at.kick);
      // The gap next to it, as a polynomial, and its zero.
      near_gap(g, stop, at.p, z, f);
      at.again = anchor(m, todo, piece, guess, f);
      zero = {todo, -(f[0] * f[1]) / fma(f[1], f[1], -(f[0] * f[2])), all(0), all(0)};
      zero.improve(f);
      const V shift = modulus(zero.at);
      const Mask far = todo & ~below(shift, all(nearness)) & below(shift, all(0.25));
      if (tries == more_guesses || !any(far)) break;
      guess = pick(far, guess + zero.at, guess);
    }
    // To the last digit: a gap that is not zero here is felt by the next one of ever smaller impacts.
    for (int k = 0; k < 2 && any(zero.rough); ++k) zero.improve(f);
    const V step = zero.step, shift = zero.at;
    at.shift = shift;
    at.instant = guess + shift;
    at.further = Turn::template over<near_turn>(g, shift);
    at.further.forward(z);
    at.further.backward(at.kick);
    turn<near_turn>(at.p, shift, at.p);
    at.speed = zero.speed;
    at.before = f[2] * -2.0 - shift * f[3] * 6.0;

    // Nothing else up to there?
    const V way = at.instant - piece.begin;
    const V w2 = way * way;
    Mask good = todo & below(modulus(shift), all(nearness)) & below(modulus(step), all(settled)) &
                above(way, 0) & below(at.instant, all(1 - 1e-9)) & above(at.speed, 0);
    for (int i = 0; i < M; ++i) {
      const Mask hit = is(m.contact, i);
      at.here[i] = gap(g, i, z, at.p);
      const Gap a = {piece.gaps[i].value, piece.gaps[i].rate * way};
      const Gap b = {at.here[i].value, at.here[i].rate * way};
      const V bound = piece.bound[i] * (w2 * w2);
      const Mask again = is(piece.last, i);
      // Backwards in time the gap that is hit rises from zero.
      Mask apart = hit & ~again &
                   positive_after_zero(at.speed * way, {a.value, -a.rate}, bound, g.at(Rows::margin + i));
      // The gap that is hit again is zero at either end.
      apart =
          apart | (hit & again &
                   below(fma(bound, all(1.0 / 96), g.at(Rows::margin + i)), smaller(a.rate, at.speed * way)));
      if (M > 1) {
        apart = apart | (~hit & again & positive_after_zero(a.rate, b, bound, g.at(Rows::margin + i))) |
                (~hit & ~again & Hull(a, b, bound).positive_halves(g.at(Rows::margin + i)));
      }
      good = good & apart;
    }
    return good;
  }
  /// The gap from a guess of where it is hit again, soon after the piece begins: there the gap is zero and
  /// its rate known, which ever shorter flights of a chatter would lose in the rounding of the state. For
  /// which lanes it is so.
  Mask anchor(const Meeting& m, const Mask& todo, const Piece& piece, const V& guess, V* f) const {
    const V back = piece.begin - guess;
    Mask again = todo & ~todo;
    V rate = all(0);
    for (int i = 0; i < M; ++i) {
      const Mask hit = todo & is(m.contact, i) & is(piece.last, i);
      again = again | hit;
      rate = pick(hit, piece.gaps[i].rate, rate);
    }
    again = again & below(modulus(back), all(nearness));
    if (!any(again)) return again;
    V gone = all(0), bend = all(0);  // but for the rate: the gap there over `back`, and its slope
    for (int k = near_terms - 1; k > 1; --k) {
      gone = fma(gone, back, f[k]);
      bend = fma(bend, back, f[k] * k);
    }
    const V slope = rate - bend * back;
    f[0] = pick(again, -(back * fma(gone, back, slope)), f[0]);
    f[1] = pick(again, slope, f[1]);
    return again;
  }
  /// No near grazing, nor a chatter that may complete: the body at rest on the contact is pressed by a force
  /// between those before and after.
  static Mask impact_is_plain(const Instant& at, const V& back, const V& jump) {
    const Stop& stop = at.stop;
    const V lost = stop.drag * jump;  // of the acceleration
    const V press = greater(greater(at.before, at.before - lost), all(0));
    return below(stop.chatter * press, back) & below(stop.margin * slow, at.speed) &
           (at.again | crossing_is_plain(stop, at.speed, at.before));
  }
  static Mask crossing_is_plain(const Stop& stop, const V& speed, const V& before) {
    return below(stop.margin * slow, speed) & below(modulus(before) * 1e-4, speed);
  }
  /// The acceleration towards the contact to the digits that tangents need.
  static V exact_press(const Instant& at) {
    return at.before - at.shift * at.shift * fma(at.f[5] * 20, at.shift, at.f[4] * 12.0);
  }

  static Way way_of(const Piece& piece, const V& end) {
    return {piece.before, piece.to, ~above(piece.late, 0), piece.begin, end, piece.vigour};
  }

  /// One impact of every lane that has one; which of them are done as certified.
  Mask impact(const Group& g, const Meeting& m, const Mask& todo, Piece& piece, Tangents& carried) const {
    Instant at;
    Mask good = meet_at(g, m, todo, piece, at);
    const Stop& stop = at.stop;
    const Phases& p = at.p;
    V(&z)[2 * N] = at.z;
    V(&kick)[2 * N] = at.kick;
    V later[2 * N];
    advance(g.rows, kick, later);
    for (int j = 0; j < 2 * N; ++j) later[j] = pick(at.early, later[j], kick[j]);

    // The jump, and what it does to the end of the cell.
    const V back = stop.restitution * at.speed;
    const V jump = at.speed + back;
    good = good & impact_is_plain(at, back, jump);

    if (Carries && b_.tangents > 0) {
      const auto to_impact = [&](V* tangent) {
        at.near.forward(tangent);
        at.further.forward(tangent);
      };
      carry_through(g, stop, good, at.early, kick, later, at.speed, exact_press(at), to_impact, carried);
    }
    if (tells()) {
      Notes notes;
      watch(g, good, way_of(piece, at.instant), piece.gaps, at.here, notes);
      notes.add(good, LaneNote::impact, m.contact, at.instant, at.speed);
      tell(g, good, notes);
    }
    piece.vigour = pick(good, fma(jump, stop.kick, piece.vigour), piece.vigour);
    piece.late = pick(good & ~at.early, all(1), piece.late);
    kick_by(stop, jump, z);
    for (int j = 0; j < 2 * N; ++j) {
      piece.z[j] = pick(good, z[j], piece.z[j]);
      piece.before[j] = pick(good & at.early, fma(-jump, kick[j], piece.before[j]), piece.before[j]);
      piece.to[j] = pick(good, fma(-jump, later[j], piece.to[j]), piece.to[j]);
    }
    for (int i = 0; i < M; ++i) {
      const Mask hit = is(m.contact, i);
      piece.impacts[i] = pick(good & hit, piece.impacts[i] + 1.0, piece.impacts[i]);
      piece.bound[i] = fma(piece.vigour, g.at(Rows::stretch + i), g.at(Rows::driven + i));
      const V rising = pick(hit, back, -(rate(g, i, z) + driven_rate(g, i, p)));
      piece.gaps[i].value = pick(good, pick(hit, all(0), at.here[i].value), piece.gaps[i].value);
      piece.gaps[i].rate = pick(good, rising, piece.gaps[i].rate);
      piece.end[i] = gap(g, i, piece.to, g.later);
    }
    if (tells()) {
      Notes notes;
      tell_corners(good, m.contact, at.instant, piece.gaps, notes);
      tell(g, good, notes);
    }
    piece.begin = pick(good, at.instant, piece.begin);
    for (int j = 0; j < harmonics(); ++j) {
      piece.phase.cosine[j] = pick(good, p.cosine[j], piece.phase.cosine[j]);
      piece.phase.sine[j] = pick(good, p.sine[j], piece.phase.sine[j]);
    }
    piece.last = pick(good, m.contact, piece.last);
    piece.rebound = pick(good, back, piece.rebound);
    return good;
  }

  /// Taylor coefficients of the stop's gap.
  void near_gap(const Group& g, const Stop& s, const Phases& p, const V* z, V* f) const {
    V first[2 * N], second[2 * N], third[2 * N], fourth[2 * N], fifth[terms];
    derive(g, z, first);
    derive(g, first, second);
    derive(g, second, third);
    derive(g, third, fourth);
    velocity(g.rows, fourth, fifth);
    f[0] = s.position - seen(s, z);
    f[1] = -seen(s, first);
    f[2] = seen(s, second) * (-1.0 / 2);
    f[3] = seen(s, third) * (-1.0 / 6);
    f[4] = seen(s, fourth) * (-1.0 / 24);
    f[5] = seen(s, fifth) * (-1.0 / 120);
    for (int j = 0; j < harmonics(); ++j) {
      const V a = s.forced[2 * j], b = s.forced[2 * j + 1];
      const V x = fma(b, p.sine[j], a * p.cosine[j]);
      const V v = fma(b, p.cosine[j], -(a * p.sine[j]));
      double power = 1;
      for (int k = 0; k < near_terms; ++k) {  // x, v, −x, −v, x …
        if (k > 0) power *= b_.rate[j] / k;
        f[k] = fma(k % 2 == 0 ? x : v, all((k / 2) % 2 == 0 ? -power : power), f[k]);
      }
    }
  }
  static void evaluate(const V* f, const V& t, V& value, V& slope) {
    value = f[near_terms - 1];
    slope = all(0);
    for (int k = near_terms - 1; k-- > 0;) {
      slope = fma(slope, t, value);
      value = fma(value, t, f[k]);
    }
  }

 protected:
  const LaneBatch& b_;
};

}  // namespace
}  // namespace graze
