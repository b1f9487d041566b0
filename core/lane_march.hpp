/// The marching engine's kernel, for one vector type: see core/LANES.md, which this file follows from top to
/// bottom. Included by one source per processor, each with its own `Simd` in an unnamed namespace, so that
/// nothing compiled for one of them is ever run on another.
#pragma once

#include "core/lane_batch.hpp"

namespace graze {
namespace {

using V = Simd::Vector;
using Mask = Simd::Mask;
constexpr int width = Simd::width;
constexpr unsigned every = (1u << width) - 1;

inline V all(double a) { return Simd::all(a); }
inline V load(const double* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline void store(double* p, const V& v) { __builtin_memcpy(p, &v, sizeof v); }
inline V fma(const V& a, const V& b, const V& c) { return Simd::fma(a, b, c); }
inline V pick(const Mask& m, const V& a, const V& b) { return Simd::pick(m, a, b); }
inline Mask below(const V& a, const V& b) { return Simd::less(a, b); }
inline Mask above(const V& a, double b) { return Simd::less(all(b), a); }
inline Mask is(const V& contact, int i) { return Simd::same(contact, all(i)); }
/// The second where one of them is not a number: such a lane is never clear.
inline V greater(const V& a, const V& b) { return a > b ? a : b; }
inline V smaller(const V& a, const V& b) { return a < b ? a : b; }
inline V modulus(const V& a) { return greater(a, -a); }
inline bool any(const Mask& m) { return Simd::bits(m) != 0; }

constexpr int half_cell = 8;   // terms of cosines and sines of half a cell, at most 0.58
constexpr int near_terms = 5;  // next to a root that is known to `nearness` of a cell
constexpr int near_turn = 3;   // terms there
constexpr double nearness = 0.002;
constexpr int most_impacts = 3;  // in one cell
constexpr int more_guesses = 2;  // of an instant

/// Numbers too small to matter cost a hundred times the others.
struct FlushDenormals {
#ifdef __SSE2__
  unsigned before = __builtin_ia32_stmxcsr();
  FlushDenormals() { __builtin_ia32_ldmxcsr(before | 0x8040u); }
  ~FlushDenormals() { __builtin_ia32_ldmxcsr(before); }
#else
  FlushDenormals() {}
#endif
};

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
  Phases phase;  // where the cell begins
  Phases later;  // where it ends
  V active;      // 1: this lane; 0: another one's place
  V at(int r) const { return load(rows + r * lanes_per_block); }
  void put(int r, const V& v) const { store(rows + r * lanes_per_block, v); }
};

/// H: harmonics of the forces, 0: as many as the batch says.
template <int N, int M, int H>
class March {
 public:
  using Rows = LaneRows<N, M>;

  static void period(LaneBatch& batch) {
    const FlushDenormals flush;
    March march(batch);
    march.run();
  }

 private:
  explicit March(LaneBatch& batch) : b_(batch) {}

  int harmonics() const { return H > 0 ? H : b_.harmonics; }
  /// Row 0 of a lane; the others follow at every eighth place.
  double* base(long lane) const {
    return b_.values + lane / lanes_per_block * (b_.rows * lanes_per_block) + lane % lanes_per_block;
  }
  static double* row(double* base, int r) { return base + r * lanes_per_block; }
  static const double* row(const double* base, int r) { return base + r * lanes_per_block; }

  // ---- Bookkeeping: vectors run until a lane is flagged; flagged lanes are polished together -------------

  void run() {
    const long vectors = b_.blocks * (lanes_per_block / width);
    long* ready = b_.queue;              // vectors that can run
    cell_ = b_.queue + vectors;          // where each stands
    waiting_ = cell_ + vectors;          // for so many of its lanes
    long* flagged = waiting_ + vectors;  // lanes
    long readies = 0, waits = 0;
    for (long v = vectors; v-- > 0;) {
      ready[readies++] = v;
      cell_[v] = 0;
      waiting_[v] = 0;
    }
    while (readies > 0 || waits > 0) {
      while (readies > 0 && waits < width) {
        const long v = ready[--readies];
        const unsigned lanes = empty_cells(v);
        if (lanes == 0) continue;
        const int count = __builtin_popcount(lanes);
        if (2 * count > width) {  // where they stand
          Group group;
          look_at(v, lanes, group);
          const unsigned left = polish(group) & lanes;
          for (int j = 0; j < width; ++j) {
            if ((left >> j) & 1u) leave(v * width + j);
          }
          ++cell_[v];
          ready[readies++] = v;
          continue;
        }
        waiting_[v] = count;
        for (int j = 0; j < width; ++j) {
          if ((lanes >> j) & 1u) flagged[waits++] = v * width + j;
        }
      }
      if (waits == 0) continue;
      const long take = waits < width ? waits : width;
      const long* lanes = flagged + (waits - take);
      alignas(64) double rows[Rows::count(most_harmonics) * lanes_per_block];
      Group group;
      group.rows = rows;
      gather(lanes, take, group);
      const unsigned left = polish(group);
      for (int j = 0; j < take; ++j) {
        put_back(group, j, lanes[j]);
        if ((left >> j) & 1u) leave(lanes[j]);
        const long v = lanes[j] / width;
        if (--waiting_[v] > 0) continue;
        ++cell_[v];
        ready[readies++] = v;
      }
      waits -= take;
    }
  }

  // ---- Empty cells ----------------------------------------------------------------------------------------

  /// Marches one vector to the first cell that is not empty for all its lanes; which are flagged there.
  unsigned empty_cells(long v) const {
    double* const lanes = base(v * width);
    const double* phase = b_.phase + 4 * harmonics() * cell_[v];
    V y[2 * N];
    for (int i = 0; i < 2 * N; ++i) y[i] = load(row(lanes, Rows::to + i));
    V first[M];  // half of the hull
    for (int i = 0; i < M; ++i) {
      V x, u;
      contact(lanes, y, phase, i, x, u);
      first[i] = greater(x, x + u);
    }
    for (long cell = cell_[v]; cell < b_.cells; ++cell) {
      V next[2 * N];
      advance(lanes, y, next);
      phase += 4 * harmonics();
      unsigned clear = every;
      V last[M];
      for (int i = 0; i < M; ++i) {
        V x, u;
        contact(lanes, next, phase, i, x, u);
        const V hull = greater(first[i], greater(x - u, x));
        clear &= Simd::bits(below(hull, load(row(lanes, Rows::level + i))));
        last[i] = greater(x, x + u);
      }
      if (clear != every) {
        for (int i = 0; i < 2 * N; ++i) {
          store(row(lanes, Rows::from + i), y[i]);
          store(row(lanes, Rows::to + i), next[i]);
        }
        cell_[v] = cell;
        return ~clear & every;
      }
      for (int i = 0; i < 2 * N; ++i) y[i] = next[i];
      for (int i = 0; i < M; ++i) first[i] = last[i];
    }
    for (int i = 0; i < 2 * N; ++i) store(row(lanes, Rows::to + i), y[i]);
    cell_[v] = b_.cells;
    return 0;
  }

  /// The modes a cell later.
  static void advance(const double* rows, const V* z, V* next) {
    for (int j = 0; j < N; ++j) {
      const V own = load(row(rows, Rows::step + j));
      next[j] = fma(own, z[j], load(row(rows, Rows::across + j)) * z[N + j]);
      next[N + j] = fma(own, z[N + j], load(row(rows, Rows::back + j)) * z[j]);
    }
  }
  static V sum(const double* rows, int r, const V* z) {
    V sum = load(row(rows, r)) * z[0];
    for (int j = 1; j < 2 * N; ++j) sum = fma(load(row(rows, r + j)), z[j], sum);
    return sum;
  }

  /// nᵀx and a third of its rate.
  void contact(const double* lanes, const V* z, const double* phase, int i, V& x, V& u) const {
    x = sum(lanes, Rows::value + 2 * N * i, z);
    const V rate = sum(lanes, Rows::rate + 2 * N * i, z);
    u = rate * (1.0 / 3);
    const double* forced = row(lanes, Rows::forced + 2 * i * harmonics());
    for (int j = 0; j < harmonics(); ++j) {
      const V a = load(row(forced, 2 * j)), b = load(row(forced, 2 * j + 1));
      x = fma(a, all(phase[4 * j]), x);
      x = fma(b, all(phase[4 * j + 1]), x);
      u = fma(a, all(phase[4 * j + 2]), u);
      u = fma(b, all(phase[4 * j + 3]), u);
    }
  }

  // ---- To the polisher and back ---------------------------------------------------------------------------

  /// Lanes of one vector where they stand.
  void look_at(long v, unsigned lanes, Group& g) const {
    g.rows = base(v * width);
    for (int h = 0; h < harmonics(); ++h) {
      const double* phase = b_.phase + 4 * (harmonics() * cell_[v] + h);
      g.phase.cosine[h] = all(phase[0]);
      g.phase.sine[h] = all(phase[1]);
      g.later.cosine[h] = all(phase[4 * harmonics()]);
      g.later.sine[h] = all(phase[4 * harmonics() + 1]);
    }
    for (int j = 0; j < width; ++j) g.active[j] = (lanes >> j) & 1u ? 1.0 : 0.0;
  }

  /// Lanes of any vectors.
  void gather(const long* lanes, long count, Group& g) const {
    const double* place[width];
    for (int j = 0; j < width; ++j) {
      const long lane = lanes[j < count ? j : 0];
      place[j] = base(lane);
      g.active[j] = j < count ? 1.0 : 0.0;
      for (int h = 0; h < harmonics(); ++h) {
        const double* phase = b_.phase + 4 * (harmonics() * cell_[lane / width] + h);
        g.phase.cosine[h][j] = phase[0];
        g.phase.sine[h][j] = phase[1];
        g.later.cosine[h][j] = phase[4 * harmonics()];
        g.later.sine[h][j] = phase[4 * harmonics() + 1];
      }
    }
    const int rows = Rows::count(harmonics());
    for (int r = Rows::from; r < rows; ++r) {
      V v;
      for (int j = 0; j < width; ++j) v[j] = *row(place[j], r);
      g.put(r, v);
    }
  }

  void put_back(const Group& g, int j, long lane) const {
    double* const to = base(lane);
    const auto copy = [&](int r) { *row(to, r) = g.rows[r * lanes_per_block + j]; };
    for (int i = 0; i < 2 * N; ++i) copy(Rows::to + i);
    for (int i = 0; i < M; ++i) {
      copy(Rows::impacts + i);
      copy(Rows::level + i);
    }
    copy(Rows::vigour);
  }

  /// The lane waits at rest, far from everything, for the end of the period.
  void leave(long lane) const {
    double* const to = base(lane);
    b_.left_at[lane] = static_cast<int>(cell_[lane / width]);
    for (int i = 0; i < 2 * N; ++i) {
      *row(to, Rows::left + i) = *row(to, Rows::from + i);
      *row(to, Rows::to + i) = 0;
    }
    for (int i = 0; i < M; ++i) *row(to, Rows::level + i) = __builtin_inf();
  }

  // ---- A cell that is not empty ---------------------------------------------------------------------------

  /// z'.
  static void derive(const Group& g, const V* z, V* rate) {
    for (int j = 0; j < N; ++j) {
      const V a = g.at(Rows::decay + j);
      rate[j] = fma(-a, z[j], z[N + j]);
      rate[N + j] = fma(-a, z[N + j], g.at(Rows::square + j) * z[j]);
    }
  }
  static V value(const Group& g, int i, const V* z) { return sum(g.rows, Rows::value + 2 * N * i, z); }
  static V rate(const Group& g, int i, const V* z) { return sum(g.rows, Rows::rate + 2 * N * i, z); }
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
    V velocity[2 * N];
    derive(g, z, velocity);
    V sum = rate(g, i, velocity);
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
                                        1 / 355687428096000.0};
    V sum = all(factor[2 * (Terms - 1) + First]);
    for (int k = Terms - 2; k >= 0; --k) sum = fma(sum, u, all(factor[2 * k + First]));
    return sum;
  }

  /// The phases at a fraction s of the cell beyond `from`.
  void turn(const Phases& from, const V& s, Phases& to) const {
    for (int j = 0; j < harmonics(); ++j) {
      const V a = s * b_.rate[j];
      const V u = a * a;
      const V c = even<half_cell>(-u), d = odd<half_cell>(-u) * a;
      to.cosine[j] = fma(-from.sine[j], d, from.cosine[j] * c);
      to.sine[j] = fma(from.cosine[j], d, from.sine[j] * c);
    }
  }

  /// The same for a small fraction.
  void turn_little(Phases& p, const V& s) const {
    for (int j = 0; j < harmonics(); ++j) {
      const V a = s * b_.rate[j];
      const V u = a * a;
      const V c = even<near_turn>(-u), d = odd<near_turn>(-u) * a;
      const V cosine = p.cosine[j];
      p.cosine[j] = fma(-p.sine[j], d, cosine * c);
      p.sine[j] = fma(cosine, d, p.sine[j] * c);
    }
  }

  /// √Σ(q''''² + k q'''²): never grows on a flight, and bounds the fourth derivatives.
  static V vigour(const Group& g, const V* z) {
    V first[2 * N], second[2 * N], third[2 * N];
    derive(g, z, first);
    derive(g, first, second);
    derive(g, second, third);
    V sum = all(0);
    for (int j = 0; j < N; ++j) {
      const V a = g.at(Rows::decay + j);
      const V fourth = fma(-a, third[j], third[N + j]);
      const V k = fma(a, a, -g.at(Rows::square + j));
      sum = fma(fourth, fourth, fma(k * third[j], third[j], sum));
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
  /// Where the gap is zero at the beginning, and rises: its hull over the time since.
  static Mask positive_after_zero(const V& rate, const Gap& b, const V& bound, const V& margin) {
    const V b2 = fma(b.rate, all(-1.0 / 3), b.value);
    const V q1 = fma(b2, all(3), rate) * (1.0 / 3) - bound * (1.0 / 72);
    const V q2 = fma(b2, all(3), b.value) * (1.0 / 3);
    return below(margin, smaller(smaller(rate, q1), smaller(q2, b.value)));
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
    /// The greater root of the parabola with its value and rate at the beginning and its value at the end.
    V falls(const V& end) const {
      const V bend = end - a - b;
      return (b + Simd::sqrt(greater(fma(b, b, a * bend * -4.0), all(0)))) / (bend * -2.0);
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
    m.unsure = m.unsure | (open & just_left);
    const Cubic cubic(a, b);
    const Mask crosses = below(b.value, -g.at(Rows::margin + i));
    Mask found = crosses;
    V t = a.value / (a.value - b.value);
    const Mask rises = open & crosses & above(a.rate, 0);
    if (any(rises)) t = pick(rises, cubic.falls(b.value), t);
    const Mask may_dip = open & ~crosses;
    if (any(may_dip)) {
      open = open & ~(~just_left & hull.positive_halves(g.at(Rows::margin + i)));
      // A dip below zero that certainly is one.
      const V disc = fma(cubic.c, cubic.c, cubic.b * cubic.d * -3.0);
      const V turn = -cubic.b / (cubic.c + Simd::sqrt(greater(disc, all(0))));
      const V away = turn * (1.0 - turn);
      const V low = cubic.value(turn);
      const Mask dips = may_dip & above(disc, 0) & above(turn, 0) & below(turn, all(1)) &
                        below(low, -(bound * (1.0 / 24) * (away * away)));
      const V down = Simd::sqrt(greater(-low / cubic.half_curvature(turn), all(0)));
      t = pick(dips, turn - down, t);
      found = found | dips;
    }
    t = cubic.root(t, open & found, curvature(g, i, piece.z, piece.phase) * l2,
                   curvature(g, i, piece.to, g.later) * l2);
    found = found & above(t, 0) & below(t, all(1));
    m.unsure = m.unsure | (open & ~found);
    const Mask first = open & found & below(t, m.fraction);
    m.fraction = pick(first, t, m.fraction);
    m.contact = pick(first, all(i), m.contact);
  }

  /// Everything that happens in the cell, for the lanes that are active; which of them leave.
  [[gnu::noinline]] unsigned polish(const Group& g) const {
    Piece piece;
    piece.begin = all(0);
    piece.last = all(-1);
    piece.vigour = g.at(Rows::vigour);
    piece.phase = g.phase;
    piece.late = all(0);
    for (int i = 0; i < 2 * N; ++i) {
      piece.z[i] = g.at(Rows::from + i);
      piece.before[i] = piece.z[i];
      piece.to[i] = g.at(Rows::to + i);
    }
    for (int i = 0; i < M; ++i) {
      piece.bound[i] = fma(piece.vigour, g.at(Rows::stretch + i), g.at(Rows::driven + i));
      piece.gaps[i] = gap(g, i, piece.z, g.phase);
      piece.end[i] = gap(g, i, piece.to, g.later);
      piece.impacts[i] = g.at(Rows::impacts + i);
    }
    const Mask active = above(g.active, 0);
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
      const Mask done = impact(g, m, todo, piece);
      left = left | (todo & ~done);
      todo = todo & done;
    }
    const V strength = vigour(g, piece.to);
    const Mask done = active & ~left;
    for (int i = 0; i < 2 * N; ++i) g.put(Rows::to + i, pick(done, piece.to[i], g.at(Rows::to + i)));
    for (int i = 0; i < M; ++i) {
      const V bound = fma(strength, g.at(Rows::stretch + i), g.at(Rows::driven + i));
      const V level = g.at(Rows::position + i) - fma(bound, all(1.0 / 384), g.at(Rows::margin + i));
      g.put(Rows::level + i, pick(done, level, g.at(Rows::level + i)));
      g.put(Rows::impacts + i, pick(done, piece.impacts[i], g.at(Rows::impacts + i)));
    }
    g.put(Rows::vigour, pick(done, strength, g.at(Rows::vigour)));
    return Simd::bits(left);
  }

  /// One impact of every lane that has one; which of them are done as certified.
  Mask impact(const Group& g, const Meeting& m, const Mask& todo, Piece& piece) const {
    V push[2 * N];
    V r = g.at(Rows::restitution + 0), slow = g.at(Rows::reach + 0), chatter = g.at(Rows::chatter + 0),
      kick_vigour = g.at(Rows::kick + 0), drag = g.at(Rows::drag + 0);
    for (int j = 0; j < 2 * N; ++j) push[j] = g.at(Rows::push + j);
    for (int i = 1; i < M; ++i) {
      const Mask hit = is(m.contact, i);
      for (int j = 0; j < 2 * N; ++j) push[j] = pick(hit, g.at(Rows::push + 2 * N * i + j), push[j]);
      r = pick(hit, g.at(Rows::restitution + i), r);
      slow = pick(hit, g.at(Rows::reach + i), slow);
      chatter = pick(hit, g.at(Rows::chatter + i), chatter);
      kick_vigour = pick(hit, g.at(Rows::kick + i), kick_vigour);
      drag = pick(hit, g.at(Rows::drag + i), drag);
    }
    V guess = fma(m.fraction, 1.0 - piece.begin, piece.begin);
    V z[2 * N], kick[2 * N];
    V f[near_terms];
    V shift, slope;
    Mask early = todo;
    Phases p;
    for (int tries = 0;; ++tries) {
      // The state at the guess from the nearer end of the cell; what a kick there does to that end.
      early = below(guess, all(0.5)) & ~above(piece.late, 0);
      for (int j = 0; j < 2 * N; ++j) {
        z[j] = pick(early, piece.before[j], piece.to[j]);
        kick[j] = push[j];
      }
      const Turn near = Turn::template over<half_cell>(g, pick(early, guess, guess - 1.0));
      near.forward(z);
      near.backward(kick);
      // The gap next to it, as a polynomial, and its zero.
      turn(g.phase, guess, p);
      near_gap(g, m.contact, p, z, f);
      shift = -(f[0] * f[1]) / fma(f[1], f[1], -(f[0] * f[2]));
      V value;
      evaluate(f, shift, value, slope);
      shift -= value / slope;
      const Mask far = todo & ~below(modulus(shift), all(nearness)) & below(modulus(shift), all(0.25));
      if (tries == more_guesses || !any(far)) break;
      guess = pick(far, guess + shift, guess);
    }
    V rest;
    evaluate(f, shift, rest, slope);

    const V instant = guess + shift;
    const Turn further = Turn::template over<near_turn>(g, shift);
    further.forward(z);
    further.backward(kick);
    V later[2 * N];
    advance(g.rows, kick, later);
    for (int j = 0; j < 2 * N; ++j) later[j] = pick(early, later[j], kick[j]);
    turn_little(p, shift);
    const V speed = -slope;
    const V before = f[2] * -2.0 - shift * f[3] * 6.0;  // acceleration towards the contact

    // Nothing else up to there?
    const V way = instant - piece.begin;
    const V w2 = way * way;
    Mask good = todo & below(modulus(shift), all(nearness)) & above(way, 0) & below(instant, all(1 - 1e-9)) &
                above(speed, 0);
    Gap here[M];
    for (int i = 0; i < M; ++i) {
      const Mask hit = is(m.contact, i);
      here[i] = gap(g, i, z, p);
      const Gap a = {piece.gaps[i].value, piece.gaps[i].rate * way};
      const Gap b = {here[i].value, here[i].rate * way};
      const V bound = piece.bound[i] * (w2 * w2);
      const Mask again = is(piece.last, i);
      // Backwards in time the gap that is hit rises from zero.
      Mask apart =
          hit & ~again & positive_after_zero(speed * way, {a.value, -a.rate}, bound, g.at(Rows::margin + i));
      if (M > 1) {
        apart = apart | (~hit & again & positive_after_zero(a.rate, b, bound, g.at(Rows::margin + i))) |
                (~hit & ~again & Hull(a, b, bound).positive_halves(g.at(Rows::margin + i)));
      }
      good = good & apart;
    }

    // The jump, and what it does to the end of the cell. The body at rest on the contact is pressed by a
    // force between those before and after.
    const V back = r * speed;
    const V jump = speed + back;
    const V lost = drag * jump;  // of the acceleration
    const V press = greater(greater(before, before - lost), all(0));
    good = good & below(chatter * press, back) & below(slow, speed) & below(modulus(before) * 1e-4, speed);

    piece.vigour = pick(good, fma(jump, kick_vigour, piece.vigour), piece.vigour);
    piece.late = pick(good & ~early, all(1), piece.late);
    for (int j = 0; j < 2 * N; ++j) {
      z[j] = fma(-jump, push[j], z[j]);
      piece.z[j] = pick(good, z[j], piece.z[j]);
      piece.before[j] = pick(good & early, fma(-jump, kick[j], piece.before[j]), piece.before[j]);
      piece.to[j] = pick(good, fma(-jump, later[j], piece.to[j]), piece.to[j]);
    }
    for (int i = 0; i < M; ++i) {
      const Mask hit = is(m.contact, i);
      piece.impacts[i] = pick(good & hit, piece.impacts[i] + 1.0, piece.impacts[i]);
      piece.bound[i] = fma(piece.vigour, g.at(Rows::stretch + i), g.at(Rows::driven + i));
      const V rising = pick(hit, back, -(rate(g, i, z) + driven_rate(g, i, p)));
      piece.gaps[i].value = pick(good, pick(hit, all(0), here[i].value), piece.gaps[i].value);
      piece.gaps[i].rate = pick(good, rising, piece.gaps[i].rate);
      piece.end[i] = gap(g, i, piece.to, g.later);
    }
    piece.begin = pick(good, instant, piece.begin);
    for (int j = 0; j < harmonics(); ++j) {
      piece.phase.cosine[j] = pick(good, p.cosine[j], piece.phase.cosine[j]);
      piece.phase.sine[j] = pick(good, p.sine[j], piece.phase.sine[j]);
    }
    piece.last = pick(good, m.contact, piece.last);
    return good;
  }

  /// Taylor coefficients of the gap of each lane's contact.
  void near_gap(const Group& g, const V& which, const Phases& p, const V* z, V* f) const {
    V along[2 * N], change[2 * N];  // the contact's rows
    V position = g.at(Rows::position + 0);
    for (int j = 0; j < 2 * N; ++j) {
      along[j] = g.at(Rows::value + j);
      change[j] = g.at(Rows::rate + j);
    }
    for (int i = 1; i < M; ++i) {
      const Mask here = is(which, i);
      for (int j = 0; j < 2 * N; ++j) {
        along[j] = pick(here, g.at(Rows::value + 2 * N * i + j), along[j]);
        change[j] = pick(here, g.at(Rows::rate + 2 * N * i + j), change[j]);
      }
      position = pick(here, g.at(Rows::position + i), position);
    }
    const auto product = [](const V* a, const V* b) {
      V sum = a[0] * b[0];
      for (int j = 1; j < 2 * N; ++j) sum = fma(a[j], b[j], sum);
      return sum;
    };
    V first[2 * N], second[2 * N], third[2 * N];
    derive(g, z, first);
    derive(g, first, second);
    derive(g, second, third);
    f[0] = -product(along, z);
    f[1] = -product(change, z);
    f[2] = product(change, first) * (-1.0 / 2);
    f[3] = product(change, second) * (-1.0 / 6);
    f[4] = product(change, third) * (-1.0 / 24);
    f[0] += position;
    for (int j = 0; j < harmonics(); ++j) {
      V a = g.at(Rows::forced + 2 * j), b = g.at(Rows::forced + 2 * j + 1);
      for (int i = 1; i < M; ++i) {
        const Mask here = is(which, i);
        a = pick(here, g.at(Rows::forced + 2 * (i * harmonics() + j)), a);
        b = pick(here, g.at(Rows::forced + 2 * (i * harmonics() + j) + 1), b);
      }
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

  LaneBatch& b_;
  long* cell_ = nullptr;
  long* waiting_ = nullptr;
};

struct Entry {
  int dofs, contacts, harmonics;
  LaneKernel kernel;
};

template <int N, int M, int H>
constexpr Entry entry() {
  return {N, M, H, &March<N, M, H>::period};
}

LaneKernel kernel_for(int dofs, int contacts, int harmonics) {
  static constexpr Entry entries[] = {
      entry<1, 1, 1>(), entry<1, 2, 1>(), entry<2, 1, 1>(), entry<2, 2, 1>(),
      entry<1, 1, 0>(), entry<1, 2, 0>(), entry<2, 1, 0>(), entry<2, 2, 0>(),
      entry<2, 3, 0>(), entry<3, 1, 0>(), entry<3, 2, 0>(), entry<3, 3, 0>(),
      entry<4, 1, 0>(), entry<4, 2, 0>(), entry<4, 3, 0>(), entry<4, 4, 0>(),
  };
  for (const Entry& e : entries) {
    if (e.dofs != dofs || e.contacts != contacts) continue;
    if (e.harmonics == harmonics || e.harmonics == 0) return e.kernel;
  }
  return nullptr;
}

}  // namespace
}  // namespace graze
