/// The marching engine's kernel, for one vector type: see core/lanes/LANES.md, which this file follows from
/// top to bottom. Included by one source per processor, each with its own `Simd` in an unnamed namespace, so
/// that nothing compiled for one of them is ever run on another.
#pragma once

#include "core/lanes/sets.hpp"
#include "core/math/denormals.hpp"

namespace graze {
namespace {

constexpr unsigned every = (1u << width) - 1;
constexpr int hard_together = width / 2;  // more of them would keep too many vectors waiting
constexpr int periods_on_end = 16;        // periods of a vector before it lets those behind it go first

/// Vectors or lanes that are to be done.
struct Stack {
  long* entries = nullptr;
  long count = 0;
  void add(long entry) { entries[count++] = entry; }
  /// Below those of smaller rank that are on top.
  void add_by_rank(long entry, const long* rank) {
    long k = count++;
    for (; k > 0 && rank[entries[k - 1]] < rank[entry]; --k) entries[k] = entries[k - 1];
    entries[k] = entry;
  }
  long take() { return entries[--count]; }
};

/// H: harmonics of the forces, 0: as many as the batch says. Classical: LaneRows. Carries: tangent vectors
/// are carried along. Sets: some stops are compliant.
template <int N, int M, int H, bool Classical, bool Carries, bool Sets>
class March {
 public:
  using Rows = LaneRows<N, M, Classical>;

  static void periods(LaneBatch& batch) {
    const Denormals flushed(Denormals::mode() | Denormals::flush);
    March march(batch);
    march.run();
  }

 private:
  using Polish = Choice<Sets, SetPolisher<N, M, H, Carries>, Polisher<N, M, H, Classical, Carries, false>>;
  using Group = typename Polish::Group;
  static constexpr int rows_with(int harmonics) {
    return Sets ? SetRows<N, M>::count(harmonics) : Rows::count(harmonics);
  }
  /// As many flagged lanes of a vector are looked at where they stand.
  static constexpr int standing = Sets ? (3 * width + 3) / 4 : width / 2 + 1;
  static constexpr int most_rows = rows_with(most_harmonics) + lanes_per_block;  // whole cards

  explicit March(LaneBatch& batch) : b_(batch), polisher_(batch) {}

  int harmonics() const { return H > 0 ? H : b_.harmonics; }
  double* base(long lane) const { return b_.places[lane].rows; }
  double* tangents(long lane) const { return b_.places[lane].tangents; }
  static long vector_of(long lane) { return static_cast<long>(static_cast<unsigned long>(lane) / width); }

  // ---- Bookkeeping: vectors run until a lane is flagged; flagged lanes are polished together -------------

  void run() {
    const long vectors = b_.blocks * (lanes_per_block / width);
    ready_ = {b_.queue, 0};                           // vectors that can run
    cell_ = b_.queue + vectors;                       // where each stands
    waiting_ = cell_ + vectors;                       // for so many of its lanes
    gone_ = waiting_ + vectors;                       // periods that it has gone
    until_ = gone_ + vectors;                         // where lanes of it board, or the period ends
    flagged_ = {until_ + vectors, 0};                 // lanes, for an impact
    hard_ = {flagged_.entries + vectors * width, 0};  // lanes with more than that
    for (long v = vectors; v-- > 0;) {
      cell_[v] = 0;
      waiting_[v] = 0;
      gone_[v] = 0;
      board(v);
    }
    for (;;) {
      while (ready_.count > 0 && flagged_.count < width && hard_.count < hard_together) {
        const long v = ready_.take();
        const unsigned lanes = empty_cells(v);
        if (lanes == 0) {
          cell_[v] == b_.cells ? arrive(v) : board(v);
        } else if (__builtin_popcount(lanes) >= standing) {
          if constexpr (Sets) {
            cross_where_they_stand(v, lanes);
          } else {
            strike_where_they_stand(v, lanes);
          }
        } else {
          await(v, lanes, flagged_);
          if constexpr (Sets) fetch_cards(v, lanes);
        }
      }
      if (hard_.count >= hard_together || (hard_.count > 0 && flagged_.count == 0)) {
        polish_together();
      } else if (flagged_.count > 0) {
        if constexpr (Sets) {
          cross_together();
        } else {
          strike_together();
        }
      } else {
        return;
      }
    }
  }

  /// Lanes whose stops are compliant.
  void cross_together() {
    Group group;
    int set[width];
    const int count = gather(flagged_, group);
    const long* const taken = flagged_.entries + flagged_.count;
    const unsigned left = cross(group, taken, set);
    for (int j = 0; j < count; ++j) {
      const long lane = taken[j];
      if ((left >> j) & 1u) {
        for (int r = 0; Carries && r < 2 * N * b_.tangents; ++r) {
          *row(tangents(lane), r) = *row(together_tangents_ + j, r);
        }
        leave_at_beginning(lane);
      } else {
        put_back(j, lane);
        if (b_.sets[lane] != set[j]) enter(j, lane, set[j]);
      }
      done(lane);
    }
  }
  /// A vector most of whose lanes are flagged.
  void cross_where_they_stand(long v, unsigned active) {
    long lanes[width];
    int set[width];
    Group group;
    for (int j = 0; j < width; ++j) lanes[j] = v * width + j;
    group.rows = base(v * width);
    group.more = together_;
    const double* card[width];
    for (int j = 0; j < width; ++j) card[j] = card_of(lanes[j], b_.sets[lanes[j]]);
    bring_constants(card, group, Rows::constants, rows_with(harmonics()));
    look_at(v, active, group);
    const unsigned left = cross(group, lanes, set);
    for (int j = 0; j < width; ++j) {
      if ((left >> j) & 1u) {
        leave_at_beginning(lanes[j]);
      } else {
        b_.sets[lanes[j]] = set[j];
      }
    }
    ++cell_[v];
    ready_.add(v);
  }
  /// What happens in the cell to lanes of a group, and the sets in which they are then; which of them leave.
  unsigned cross(const Group& group, const long* lanes, int* set) {
    for (int j = 0; j < width; ++j) set[j] = b_.sets[lanes[j]];
    return polisher_.go_through(group, set, [&](int first, int end) {
      const double* card[width];
      for (int j = 0; j < width; ++j) card[j] = card_of(lanes[j], set[j]);
      bring_constants(card, group, first, end);
    });
  }
  void leave_at_beginning(long lane) {
    *row(base(lane), Rows::begun) = 0;
    *row(base(lane), Rows::last) = -1;
    leave(lane);
  }
  void leave(long lane) {
    const long v = vector_of(lane);
    const long back = b_.left(b_.owner, lane, static_cast<int>(cell_[v]));
    until_[v] = back < until_[v] ? back : until_[v];
  }
  const double* card_of(long lane, int set) const { return b_.places[lane].card + set * b_.card; }
  /// What marching needs of another set.
  void enter(int j, long lane, int set) {
    b_.sets[lane] = set;
    for (int r = Rows::step; r < Rows::form; ++r) copy(j, lane, r);
    for (int r = Rows::value; r < Rows::push; ++r) copy(j, lane, r);
    for (int r = 0; r < 2 * M * harmonics(); ++r) copy(j, lane, Rows::forced + r);
  }

  /// Cards of these lanes, for when they will be gathered.
  void fetch_cards(long v, unsigned lanes) const {
    for (; lanes != 0; lanes &= lanes - 1) {
      const long lane = v * width + __builtin_ctz(lanes);
      const double* const card = card_of(lane, b_.sets[lane]);
      for (long k = 0; k < b_.card; k += lanes_per_block) __builtin_prefetch(card + k);
    }
  }

  /// A vector most of whose lanes are flagged.
  void strike_where_they_stand(long v, unsigned lanes) {
    Group group;
    look_at(v, lanes, group);
    const unsigned left = lanes & ~polisher_.strike(group);
    if (left != 0) return await(v, left, hard_);
    ++cell_[v];
    ready_.add(v);
  }

  void strike_together() {
    Group group;
    const int count = gather(flagged_, group);
    const unsigned struck = polisher_.strike(group);
    for (int j = 0; j < count; ++j) {
      const long lane = flagged_.entries[flagged_.count + j];
      if ((struck >> j) & 1u) {
        put_back(j, lane);
        done(lane);
      } else {
        hard_.add(lane);
      }
    }
  }

  void polish_together() {
    Group group;
    const int count = gather(hard_, group);
    const unsigned left = polisher_.polish(group);
    for (int j = 0; j < count; ++j) {
      const long lane = hard_.entries[hard_.count + j];
      put_back(j, lane);
      if ((left >> j) & 1u) {
        for (int r = 0; r < 2 * N; ++r) copy(j, lane, Rows::from + r);
        for (int r = Rows::begun; r <= Rows::rebound; ++r) copy(j, lane, r);
        leave(lane);
      }
      done(lane);
    }
  }

  /// The end of a period.
  void arrive(long v) {
    if (!b_.arrived(b_.owner, v * width, width)) return;
    cell_[v] = 0;
    until_[v] = boards(v);
    if (++gone_[v] % periods_on_end == 0) {
      ready_.add_by_rank(v, gone_);
    } else {
      ready_.add(v);
    }
  }
  /// Where lanes of it may board.
  void board(long v) {
    until_[v] = boards(v);
    ready_.add(v);
  }
  long boards(long v) { return b_.boards(b_.owner, v * width, width, static_cast<int>(cell_[v])); }

  // Which lanes these are is hard to foresee: no branches.
  /// The vector goes on when these lanes of it are done.
  void await(long v, unsigned lanes, Stack& stack) {
    waiting_[v] = __builtin_popcount(lanes);
    long* const entries = stack.entries;
    long count = stack.count;
    for (int j = 0; j < width; ++j) {
      entries[count] = v * width + j;
      count += (lanes >> j) & 1u;
    }
    stack.count = count;
  }
  void done(long lane) {
    const long v = vector_of(lane);
    const long last = --waiting_[v] == 0 ? 1 : 0;
    cell_[v] += last;
    ready_.entries[ready_.count] = v;
    ready_.count += last;
  }

  // ---- Empty cells ----------------------------------------------------------------------------------------

  /// Marches one vector to the first cell that is not empty for all its lanes; which are flagged there. None:
  /// it is where lanes of it board, or the period ends.
  unsigned empty_cells(long v) const {
    double* lanes = base(v * width);
    const double* phase = b_.phase + 4 * harmonics() * cell_[v];
    V z[2 * N], x[M], u[M];  // values and rates
    for (int i = 0; i < 2 * N; ++i) z[i] = load(row(lanes, Rows::to + i));
    see(lanes, z, phase, x, u);
    for (long cell = cell_[v];; ++cell) {
      asm("" : "+r"(lanes));  // for a few cells it does not pay to bring constants into registers
      if (cell == until_[v]) {
        put(lanes, Rows::to, z, 2 * N);
        if constexpr (Carries) carry(v, cell - cell_[v]);
        cell_[v] = cell;
        return 0;
      }
      V zz[2 * N], xx[M], uu[M];  // at the end of the cell
      Polish::advance(lanes, z, zz);
      phase += 4 * harmonics();
      see(lanes, zz, phase, xx, uu);
      Mask empty[M];
      for (int i = 0; i < M; ++i) {
        empty[i] = below(Polish::highest(x[i], u[i], xx[i], uu[i]), load(row(lanes, Rows::level + i)));
      }
      const unsigned clear = bits(empty);
      if constexpr (Carries && !Sets) {
        if (b_.told != nullptr) watch(v, cell, clear, z, zz, x, u, xx, uu);
      }
      if (clear != every) {
        put(lanes, Rows::from, z, 2 * N);
        put(lanes, Rows::to, zz, 2 * N);
        if constexpr (Carries) carry(v, cell + 1 - cell_[v]);
        cell_[v] = cell;
        return ~clear & every;
      }
      for (int i = 0; i < 2 * N; ++i) z[i] = zz[i];
      for (int i = 0; i < M; ++i) x[i] = xx[i];
      for (int i = 0; i < M; ++i) u[i] = uu[i];
    }
  }

  /// What gaps do in a cell that is empty for these lanes.
  void watch(long v, long cell, unsigned lanes, const V* z, const V* zz, const V* x, const V* u, const V* xx,
             const V* uu) const {
    Group g;
    g.rows = base(v * width);
    typename Polish::Gap first[M], last[M];
    for (int i = 0; i < M; ++i) {
      first[i] = {g.at(Rows::position + i) - x[i], -u[i]};
      last[i] = {g.at(Rows::position + i) - xx[i], -uu[i]};
    }
    set_phases(b_.phase + 4 * harmonics() * cell, g);
    name(v, cell, g);
    const Mask watched = Simd::mask(lanes);
    typename Polish::Notes notes;
    polisher_.watch(g, watched, {z, zz, watched, all(0), all(1), g.at(Rows::vigour)}, first, last, notes);
    polisher_.tell(g, watched, notes);
  }
  /// The lanes of a vector at a cell.
  void name(long v, long cell, Group& g) const {
    for (int j = 0; j < width; ++j) {
      g.lane[j] = v * width + j;
      g.cell[j] = static_cast<double>(cell);
    }
  }

  /// The tangent vectors so many empty cells on.
  void carry(long v, long cells) const {
    double* const lanes = base(v * width);
    for (int t = 0; t < b_.tangents; ++t) {
      double* const place = row(tangents(v * width), 2 * N * t);
      V z[2 * N], next[2 * N];
      for (int j = 0; j < 2 * N; ++j) z[j] = load(row(place, j));
      for (long cell = 0; cell < cells; ++cell) {
        Polish::advance(lanes, z, next);
        for (int j = 0; j < 2 * N; ++j) z[j] = next[j];
      }
      put(place, 0, z, 2 * N);
    }
  }

  /// Lanes for which it is true of all contacts.
  static unsigned bits(const Mask* of) {
    Mask all_of = of[0];
    for (int i = 1; i < M; ++i) all_of = all_of & of[i];
    return Simd::bits(all_of);
  }
  static void put(double* lanes, int r, const V* values, int count) {
    for (int i = 0; i < count; ++i) store(row(lanes, r + i), values[i]);
  }
  /// nᵀx of the contacts and its rates; phase: a row of b_.phase, of all lanes alike or of each.
  template <class Phase>
  void see(const double* lanes, const V* z, const Phase* phase, V* x, V* rate) const {
    V velocity[Rows::terms];
    Polish::velocity(lanes, z, velocity);
    for (int i = 0; i < M; ++i) {
      x[i] = Polish::seen(lanes, i, z, forced(lanes, phase, i));
      rate[i] = Polish::seen(lanes, i, velocity, forced(lanes, phase + 2, i));
    }
  }
  static V each(double a) { return all(a); }
  static V each(const V& a) { return a; }
  /// What the forces make of it, by its factors of cos and sin.
  template <class Phase>
  V forced(const double* lanes, const Phase* phase, int i) const {
    const double* factors = row(lanes, Rows::forced + 2 * i * harmonics());
    V sum = all(0);
    for (int j = 0; j < harmonics(); ++j) {
      sum = fma(load(row(factors, 2 * j)), each(phase[4 * j]), sum);
      sum = fma(load(row(factors, 2 * j + 1)), each(phase[4 * j + 1]), sum);
    }
    return sum;
  }

  // ---- To the polisher and back ---------------------------------------------------------------------------

  /// Lanes of one vector where they stand.
  void look_at(long v, unsigned lanes, Group& g) const {
    g.rows = base(v * width);
    if constexpr (Carries) g.tangents = tangents(v * width);
    g.active = lanes;
    if constexpr (Carries) name(v, cell_[v], g);
    see_ends(b_.phase + 4 * harmonics() * cell_[v], g);
  }

  /// As many lanes of any vectors as there is place for, from the end of a stack; how many.
  int gather(Stack& stack, Group& g) {
    const int count = static_cast<int>(stack.count < width ? stack.count : width);
    stack.count -= count;
    long* const taken = stack.entries + stack.count;
    for (int j = count; j < width; ++j) taken[j] = taken[0];
    g.rows = together_;
    g.more = together_;
    g.tangents = together_tangents_;
    g.active = (1u << count) - 1;
    const double *card[width], *phase[width], *lanes[width];
    for (int j = 0; j < width; ++j) {
      card[j] = card_of(taken[j], Sets ? b_.sets[taken[j]] : 0);
      phase[j] = b_.phase + 4 * harmonics() * cell_[vector_of(taken[j])];
      lanes[j] = base(taken[j]);
      if constexpr (Carries) {
        g.lane[j] = taken[j];
        g.cell[j] = static_cast<double>(cell_[vector_of(taken[j])]);
      }
    }
    bring_constants(card, g, Rows::constants, rows_with(harmonics()));
    V turns[8 * most_harmonics];  // rows of b_.phase: where the cell begins, where it ends
    for (int r = 0; r < 8 * harmonics(); r += width) transpose(phase, r, turns + r);
    const auto bring = [&](int r) {
      V v;
      for (int j = 0; j < width; ++j)
        v[j] = *row(lanes[j], r);  // processors' own gathers can be ten times slower
      g.put(r, v);
    };
    for (int i = 0; i < 2 * N; ++i) bring(Rows::from + i);
    bring(Rows::vigour);
    for (int i = 0; i < M; ++i) g.put(Rows::impacts + i, all(0));
    for (int r = 0; Carries && r < 2 * N * b_.tangents; ++r) {
      V v;
      for (int j = 0; j < width; ++j) v[j] = *row(tangents(taken[j]), r);
      store(row(g.tangents, r), v);
    }
    see_ends(turns, g);
    return count;
  }

  /// Rows from `first` on, in whole vectors.
  void bring_constants(const double* const* card, const Group& g, int first, int end) {
    for (int r = (first - Rows::constants) / width * width; r < end - Rows::constants; r += width) {
      V v[width];
      transpose(card, r, v);
      for (int i = 0; i < width; ++i) {
        const int to = Rows::constants + r + i;
        store(row(to < Rows::count(harmonics()) ? g.rows : together_, to), v[i]);
      }
    }
  }

  /// The ends of the cell, from where it begins; turns: rows of b_.phase there and there.
  template <class Phase>
  void see_ends(const Phase* turns, Group& g) const {
    set_phases(turns, g);
    V z[2 * N], zz[2 * N];
    for (int i = 0; i < 2 * N; ++i) z[i] = g.at(Rows::from + i);
    Polish::advance(g.rows, z, zz);
    put(g.rows, Rows::to, zz, 2 * N);
    see(g.rows, z, turns, g.seen[0], g.rate[0]);
    see(g.rows, zz, turns + 4 * harmonics(), g.seen[1], g.rate[1]);
  }
  template <class Phase>
  void set_phases(const Phase* turns, Group& g) const {
    for (int h = 0; h < harmonics(); ++h) {
      const Phase *here = turns + 4 * h, *there = here + 4 * harmonics();
      g.phase.cosine[h] = each(here[0]);
      g.phase.sine[h] = each(here[1]);
      g.later.cosine[h] = each(there[0]);
      g.later.sine[h] = each(there[1]);
    }
  }

  void put_back(int j, long lane) {
    for (int i = 0; i < 2 * N; ++i) copy(j, lane, Rows::to + i);
    for (int i = 0; i < M; ++i) {
      *row(base(lane), Rows::impacts + i) += *row(together_ + j, Rows::impacts + i);
      copy(j, lane, Rows::level + i);
    }
    copy(j, lane, Rows::vigour);
    for (int r = 0; Carries && r < 2 * N * b_.tangents; ++r) {
      *row(tangents(lane), r) = *row(together_tangents_ + j, r);
    }
  }
  void copy(int j, long lane, int r) { *row(base(lane), r) = *row(together_ + j, r); }

  LaneBatch& b_;
  Polish polisher_;
  alignas(64) double together_[most_rows * lanes_per_block] = {};  // rows of lanes of any vectors
  alignas(64) double together_tangents_[Carries ? 4 * N * N * lanes_per_block : 1] = {};
  Stack ready_, flagged_, hard_;
  long* cell_ = nullptr;
  long* waiting_ = nullptr;
  long* gone_ = nullptr;
  long* until_ = nullptr;
};

/// Kernels of one shape.
struct Entry {
  LaneShape shape;
  LaneKernel kernel, carrying;
};

/// The most frequent shapes, those of one harmonic, have a kernel of their own that carries nothing; for all
/// else there is one that carries what it is given, with compliant stops of any harmonics.
template <int N, int M, int H, bool Classical, bool Sets>
constexpr Entry entry() {
  constexpr int carried = Sets ? 0 : H;
  return {{N, M, H, Classical, false, Sets},
          &March<N, M, H, Classical, H == 0, Sets>::periods,
          &March<N, M, carried, Classical, true, Sets>::periods};
}

/// The first one that does.
template <int Count>
LaneKernel find_kernel(const Entry (&entries)[Count], const LaneShape& shape) {
  for (const Entry& e : entries) {
    if (e.shape.dofs != shape.dofs || e.shape.contacts != shape.contacts) continue;
    if (e.shape.classical != shape.classical || e.shape.sets != shape.sets) continue;
    if (e.shape.harmonics == shape.harmonics || e.shape.harmonics == 0) {
      return shape.carries ? e.carrying : e.kernel;
    }
  }
  return nullptr;
}

}  // namespace
}  // namespace graze
