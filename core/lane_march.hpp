/// The marching engine's kernel, for one vector type: see core/LANES.md, which this file follows from top to
/// bottom. Included by one source per processor, each with its own `Simd` in an unnamed namespace, so that
/// nothing compiled for one of them is ever run on another.
#pragma once

#include "core/lane_polish.hpp"

namespace graze {
namespace {

constexpr int width = Simd::width;
constexpr unsigned every = (1u << width) - 1;
constexpr long most_lanes = 2 * width;  // that wait to be struck

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

/// Vectors or lanes that are to be done.
struct Stack {
  long* entries = nullptr;
  long count = 0;
  void add(long entry) { entries[count++] = entry; }
  long take() { return entries[--count]; }
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
  using Polish = Polisher<N, M, H>;
  using Group = typename Polish::Group;

  explicit March(LaneBatch& batch) : b_(batch), polisher_(batch) {}

  int harmonics() const { return H > 0 ? H : b_.harmonics; }
  /// Row 0 of a lane; the others follow at every eighth place.
  double* base(long lane) const {
    return b_.values + lane / lanes_per_block * (b_.rows * lanes_per_block) + lane % lanes_per_block;
  }

  // ---- Bookkeeping: vectors run until a lane is flagged; flagged lanes are polished together -------------

  void run() {
    const long vectors = b_.blocks * (lanes_per_block / width);
    ready_ = {b_.queue, 0};                           // vectors that can run
    cell_ = b_.queue + vectors;                       // where each stands
    waiting_ = cell_ + vectors;                       // for so many of its lanes
    flagged_ = {waiting_ + vectors, 0};               // lanes, for an impact
    hard_ = {flagged_.entries + vectors * width, 0};  // lanes with more than that
    for (long v = vectors; v-- > 0;) {
      ready_.add(v);
      cell_[v] = 0;
      waiting_[v] = 0;
    }
    for (;;) {
      while (ready_.count > 0 && flagged_.count < most_lanes && hard_.count < width &&
             standing_ < Polish::most_groups) {
        const long v = ready_.take();
        const unsigned lanes = empty_cells(v);
        if (lanes == 0) continue;
        if (2 * __builtin_popcount(lanes) > width) {
          stands_[standing_] = v;
          stands_flagged_[standing_++] = lanes;
        } else {
          await(v, lanes, flagged_);
        }
      }
      if (standing_ == Polish::most_groups || (standing_ > 0 && ready_.count == 0)) {
        strike_where_they_stand();
      } else if (hard_.count >= width) {
        polish_together();
      } else if (flagged_.count > 0) {
        strike_together();
      } else if (hard_.count > 0) {
        polish_together();
      } else {
        return;
      }
    }
  }

  /// Vectors most of whose lanes are flagged.
  void strike_where_they_stand() {
    Group groups[Polish::most_groups];
    unsigned struck[Polish::most_groups];
    for (int k = 0; k < standing_; ++k) look_at(stands_[k], stands_flagged_[k], groups[k]);
    polisher_.strike(groups, standing_, struck);
    for (int k = standing_; k-- > 0;) await(stands_[k], stands_flagged_[k] & ~struck[k], hard_);
    standing_ = 0;
  }

  void strike_together() {
    Group groups[Polish::most_groups];
    unsigned struck[Polish::most_groups];
    int counts[Polish::most_groups];
    const long end = flagged_.count;
    int number = 0;
    for (; number < Polish::most_groups && flagged_.count > 0; ++number) {
      counts[number] = gather(flagged_, number, groups[number]);
    }
    polisher_.strike(groups, number, struck);
    long entry = end;
    for (int k = 0; k < number; ++k) {
      entry -= counts[k];
      for (int j = 0; j < counts[k]; ++j) {
        const long lane = flagged_.entries[entry + j];
        if ((struck[k] >> j) & 1u) {
          put_back(k, j, lane);
          done(lane);
        } else {
          hard_.add(lane);
        }
      }
    }
  }

  void polish_together() {
    Group group;
    const int count = gather(hard_, 0, group);
    const unsigned left = polisher_.polish(group);
    for (int j = 0; j < count; ++j) {
      const long lane = hard_.entries[hard_.count + j];
      put_back(0, j, lane);
      if ((left >> j) & 1u) leave(lane);
      done(lane);
    }
  }

  /// The vector goes on when these lanes of it are done.
  void await(long v, unsigned lanes, Stack& stack) {
    if (lanes == 0) {
      ++cell_[v];
      return ready_.add(v);
    }
    waiting_[v] = __builtin_popcount(lanes);
    for (int j = 0; j < width; ++j) {
      if ((lanes >> j) & 1u) stack.add(v * width + j);
    }
  }
  void done(long lane) {
    const long v = lane / width;
    if (--waiting_[v] > 0) return;
    ++cell_[v];
    ready_.add(v);
  }

  // ---- Empty cells ----------------------------------------------------------------------------------------

  /// Marches one vector to the first cell that is not empty for all its lanes; which are flagged there.
  unsigned empty_cells(long v) const {
    double* const lanes = base(v * width);
    const double* phase = b_.phase + 4 * harmonics() * cell_[v];
    V y[2 * N];
    for (int i = 0; i < 2 * N; ++i) y[i] = load(row(lanes, Rows::to + i));
    V x[M], u[M];
    for (int i = 0; i < M; ++i) contact(lanes, y, phase, i, x[i], u[i]);
    for (long cell = cell_[v]; cell < b_.cells; ++cell) {
      V next[2 * N];
      Polish::advance(lanes, y, next);
      phase += 4 * harmonics();
      unsigned clear = every;
      V xx[M], uu[M];
      for (int i = 0; i < M; ++i) {
        contact(lanes, next, phase, i, xx[i], uu[i]);
        clear &=
            Simd::bits(below(Polish::highest(x[i], u[i], xx[i], uu[i]), load(row(lanes, Rows::level + i))));
      }
      if (clear != every) {
        for (int i = 0; i < 2 * N; ++i) {
          store(row(lanes, Rows::from + i), y[i]);
          store(row(lanes, Rows::to + i), next[i]);
        }
        for (int i = 0; i < M; ++i) {
          double* const ends = row(lanes, Rows::ends + 4 * i);
          store(row(ends, 0), x[i]);
          store(row(ends, 1), u[i]);
          store(row(ends, 2), xx[i]);
          store(row(ends, 3), uu[i]);
        }
        cell_[v] = cell;
        return ~clear & every;
      }
      for (int i = 0; i < 2 * N; ++i) y[i] = next[i];
      for (int i = 0; i < M; ++i) {
        x[i] = xx[i];
        u[i] = uu[i];
      }
    }
    for (int i = 0; i < 2 * N; ++i) store(row(lanes, Rows::to + i), y[i]);
    cell_[v] = b_.cells;
    return 0;
  }

  /// nᵀx and a third of its rate.
  void contact(const double* lanes, const V* z, const double* phase, int i, V& x, V& u) const {
    x = Polish::sum(lanes, Rows::value + 2 * N * i, z);
    const V rate = Polish::sum(lanes, Rows::rate + 2 * N * i, z);
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
    g.active = lanes;
    for (int h = 0; h < harmonics(); ++h) {
      const double* phase = b_.phase + 4 * (harmonics() * cell_[v] + h);
      const double* later = phase + 4 * harmonics();
      g.phase.cosine[h] = all(phase[0]);
      g.phase.sine[h] = all(phase[1]);
      g.later.cosine[h] = all(later[0]);
      g.later.sine[h] = all(later[1]);
    }
  }

  /// Rows of the lanes that have come together in group k.
  double* place(int k) { return together_ + k * Rows::count(most_harmonics) * lanes_per_block; }

  /// As many lanes of any vectors as there is place for, from the end of a stack; how many.
  int gather(Stack& stack, int k, Group& g) {
    const int count = static_cast<int>(stack.count < width ? stack.count : width);
    stack.count -= count;
    g.rows = place(k);
    g.active = (1u << count) - 1;
    const double* from[width];
    for (int j = 0; j < width; ++j) {
      const long lane = stack.entries[stack.count + (j < count ? j : 0)];
      from[j] = base(lane);
      for (int h = 0; h < harmonics(); ++h) {
        const double* phase = b_.phase + 4 * (harmonics() * cell_[lane / width] + h);
        const double* later = phase + 4 * harmonics();
        g.phase.cosine[h][j] = phase[0];
        g.phase.sine[h][j] = phase[1];
        g.later.cosine[h][j] = later[0];
        g.later.sine[h][j] = later[1];
      }
    }
    const int rows = Rows::count(harmonics());
    for (int r = Rows::from; r < rows; ++r) {  // the processors' own gathers can be ten times slower
      V v;
      for (int j = 0; j < width; ++j) v[j] = *row(from[j], r);
      g.put(r, v);
    }
    return count;
  }

  void put_back(int k, int j, long lane) {
    double* const to = base(lane);
    const double* const from = place(k) + j;
    const auto copy = [&](int r) { *row(to, r) = *row(from, r); };
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

  LaneBatch& b_;
  Polish polisher_;
  alignas(64) double together_[Polish::most_groups * Rows::count(most_harmonics) * lanes_per_block];
  int standing_ = 0;  // vectors to be struck, and which of their lanes
  long stands_[Polish::most_groups] = {};
  unsigned stands_flagged_[Polish::most_groups] = {};
  Stack ready_, flagged_, hard_;
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
