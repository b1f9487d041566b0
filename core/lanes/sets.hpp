/// What happens in a flagged cell of lanes with compliant stops: see core/lanes/LANES.md. Included by
/// march.hpp only.
#pragma once

#include "core/lanes/polish.hpp"

namespace graze {
namespace {

constexpr int most_crossings = 6;  // of a lane in a cell; with more of them the cell is not the kernel's

/// Goes through a cell from event to event; between them each lane is in one of its sets, whose constants
/// then stand in its rows.
template <int N, int M, int H, bool Carries>
class SetPolisher : public Polisher<N, M, H, false, Carries, true> {
 public:
  using Base = Polisher<N, M, H, false, Carries, true>;
  using Rows = typename Base::Rows;
  using Group = typename Base::Group;
  using More = SetRows<N, M>;
  using Base::Base;

  /// Everything that happens in the cell, for the lanes that are active; which of them leave, from where it
  /// begins. `set`: in which each of them is, at the end of it too; `bring(first, end)` puts the constants of
  /// these into the rows.
  template <class Bring>
  [[gnu::noinline]] unsigned go_through(const Group& g, int* set, const Bring& bring) const {
    Piece piece;
    Tangents carried, begun;
    if constexpr (Carries) {
      Base::begin(g, carried);
      begun = carried;
    }
    Base::begin(g, piece);
    const Mask active = Simd::mask(g.active);
    Mask todo = active;
    Mask left = todo & ~todo;
    for (int pass = 0;; ++pass) {
      todo = todo & ~come_free(g, todo, piece, set, bring);
      if (!any(todo)) break;
      typename Base::Meeting m{all(2), all(-1), todo & ~todo};
      for (int i = 0; i < M; ++i) Base::look(g, piece, i, todo, m);
      left = left | (todo & m.unsure);
      todo = todo & below(m.fraction, all(2)) & ~m.unsure;
      if (!any(todo)) break;
      if (pass == most_crossings) {
        left = left | todo;
        break;
      }
      if (pass > 0) bring(More::over(harmonics()), More::count(harmonics()));
      const Mask done = cross(g, m, todo, piece, carried, set, bring);
      left = left | (todo & ~done);
      todo = todo & done;
    }
    const Mask done = active & ~left;
    for (int j = 0; j < 2 * N; ++j) g.put(Rows::to + j, pick(done, piece.to[j], g.at(Rows::to + j)));
    for (int i = 0; i < M; ++i)
      g.put(Rows::impacts + i, pick(done, piece.impacts[i], g.at(Rows::impacts + i)));
    Base::set_flight(g, done, Base::vigour(g, piece.to));
    if constexpr (Carries) {
      for (int t = 0; t < b_.tangents; ++t) {
        for (int j = 0; j < 2 * N; ++j) {
          store(row(g.tangents, 2 * N * t + j), pick(left, begun.from[t][j], carried.to[t][j]));
        }
      }
    }
    return Simd::bits(left);
  }

 private:
  using Piece = typename Base::Piece;
  using Phases = typename Base::Phases;
  using Tangents = typename Base::Tangents;
  using Turn = typename Base::Turn;
  using Base::b_;
  using Base::half_cell;
  using Base::harmonics;

  /// A constant of the contact of each lane.
  static V of_contact(const Group& g, const V& contact, int first) {
    V v = g.of_set(first);
    for (int i = 1; i < M; ++i) v = pick(is(contact, i), g.of_set(first + i), v);
    return v;
  }
  /// z of the next set: of a motion, or of a change of it, which forces do not change.
  void over(const Group& g, const V& contact, const Phases* p, const V* z, V* to) const {
    const int h = harmonics(), size = More::over_size(h);
    const auto at = [&](int r) {
      V v = g.of_set(More::over(h) + r);
      for (int i = 1; i < M; ++i) v = pick(is(contact, i), g.of_set(More::over(h) + i * size + r), v);
      return v;
    };
    for (int i = 0; i < 2 * N; ++i) {
      const int first = i * (2 * N + 1 + 2 * h);
      V sum = p != nullptr ? at(first + 2 * N) : all(0);
      for (int j = 0; j < 2 * N; ++j) sum = fma(at(first + j), z[j], sum);
      for (int j = 0; p != nullptr && j < h; ++j) {
        sum = fma(at(first + 2 * N + 1 + 2 * j), p->cosine[j], sum);
        sum = fma(at(first + 2 * N + 2 + 2 * j), p->sine[j], sum);
      }
      to[i] = sum;
    }
  }

  /// Lanes that certainly do nothing more in this cell than recover: the gap of one stop grows and opens, and
  /// the others are clear. When it opens does not matter, as the motion does not feel it.
  template <class Bring>
  Mask come_free(const Group& g, const Mask& todo, const Piece& piece, int* set, const Bring& bring) const {
    const int h = harmonics();
    Mask free = todo & ~todo;
    V next = all(0);
    for (int i = 0; i < M; ++i) {
      Mask opens = todo & above(g.of_set(More::passing(h) + i), 0);
      if (!any(opens)) continue;
      const V length = 1.0 - piece.begin, l2 = length * length;
      for (int k = 0; k < M; ++k) {
        const typename Base::Gap a = {piece.gaps[k].value, piece.gaps[k].rate * length};
        const typename Base::Gap b = {piece.end[k].value, piece.end[k].rate * length};
        const V bound = piece.bound[k] * (l2 * l2), margin = g.at(Rows::margin + k);
        if (k != i) {
          opens = opens & ~is(piece.last, k) & typename Base::Hull(a, b, bound).positive(margin);
        } else {  // the rate of the cubic is off by B/120 at most
          const V middle = fma(b.value - a.value, all(3), -(a.rate + b.rate));
          const V highest = greater(greater(a.rate, b.rate), middle);
          opens = opens & below(b.value, -margin) & below(fma(bound, all(1.0 / 120), highest), -margin);
        }
      }
      free = free | opens;
      next = pick(opens, g.of_set(More::next(h) + i), next);
    }
    const unsigned which = Simd::bits(free);
    if (which == 0) return free;
    for (int j = 0; j < width; ++j) {
      if ((which >> j) & 1u) set[j] = static_cast<int>(next[j]);
    }
    bring(Rows::value, Rows::count(h));  // with the same modes
    return free;
  }

  /// One event of every lane that has one: an impact, or from one set into another one. Which of them are
  /// done as certified.
  template <class Bring>
  Mask cross(const Group& g, const typename Base::Meeting& m, const Mask& todo, Piece& piece,
             Tangents& carried, int* set, const Bring& bring) const {
    const int h = harmonics();
    typename Base::Instant at;
    Mask good = Base::meet_at(g, m, todo, piece, at);
    const V next = of_contact(g, m.contact, More::next(h));
    const V counted = of_contact(g, m.contact, More::counted(h));
    const V shock = of_contact(g, m.contact, More::shock(h));
    const Mask rigid = below(next, all(0));
    const V back = at.stop.restitution * at.speed;
    const V jump = pick(rigid, at.speed + back, all(0));
    good = good & ((rigid & Base::impact_is_plain(at, back, jump)) |
                   (~rigid & Base::crossing_is_plain(at.stop, at.speed, at.before)));

    V change[Tangents::most][2 * N], lost[Tangents::most];
    if (Carries && b_.tangents > 0) leave(g, at, m.contact, rigid, jump, shock, carried, change, lost);
    Base::kick_by(at.stop, jump, at.z);
    V entered[2 * N];
    over(g, m.contact, &at.p, at.z, entered);
    const Mask switches = good & ~rigid;
    const unsigned which = Simd::bits(switches);
    for (int j = 0; j < width; ++j) {
      if ((which >> j) & 1u) set[j] = static_cast<int>(next[j]);
    }
    bring(Rows::constants, More::over(h));
    for (int j = 0; j < 2 * N; ++j) at.z[j] = pick(switches, entered[j], at.z[j]);

    // To where the cell would have begun in this set, or else only to where it ends.
    const Mask early = below(at.instant, all(0.5));
    const Turn flow = Turn::template over<half_cell>(g, pick(early, -at.instant, 1.0 - at.instant));
    const auto to_ends = [&](V* z, V* before, V* to) {
      V later[2 * N];
      flow.forward(z);
      Base::advance(g.rows, z, later);
      for (int j = 0; j < 2 * N; ++j) {
        before[j] = pick(good & early, z[j], before[j]);
        to[j] = pick(good, pick(early, later[j], z[j]), to[j]);
      }
    };
    if (Carries && b_.tangents > 0) {
      typename Base::Stop stop;
      Base::choose(g, m.contact, todo, stop);
      for (int t = 0; t < b_.tangents; ++t) {
        Base::kick_by(stop, lost[t], change[t]);
        to_ends(change[t], carried.from[t], carried.to[t]);
      }
    }
    for (int j = 0; j < 2 * N; ++j) piece.z[j] = pick(good, at.z[j], piece.z[j]);
    to_ends(at.z, piece.before, piece.to);
    piece.late = pick(good, pick(early, all(0), all(1)), piece.late);
    piece.begin = pick(good, at.instant, piece.begin);
    for (int j = 0; j < h; ++j) {
      piece.phase.cosine[j] = pick(good, at.p.cosine[j], piece.phase.cosine[j]);
      piece.phase.sine[j] = pick(good, at.p.sine[j], piece.phase.sine[j]);
    }
    piece.vigour = pick(good, Base::vigour(g, piece.z), piece.vigour);

    // Whether the next event of every contact is still to come.
    const Mask fresh = rigid | above(of_contact(g, m.contact, More::fresh(h)), 0);
    Mask clear = good;
    for (int i = 0; i < M; ++i) {
      const Mask met = is(m.contact, i);
      const V margin = g.at(Rows::margin + i);
      const typename Base::Gap here = Base::gap(g, i, piece.z, piece.phase);
      const V value = pick(met & fresh, all(0), here.value);
      const V rate = pick(met & rigid, back, here.rate);
      clear = clear & ((met & fresh & below(margin * slow, rate)) | (~(met & fresh) & below(margin, value)));
      piece.bound[i] = fma(piece.vigour, g.at(Rows::stretch + i), g.at(Rows::driven + i));
      piece.gaps[i].value = pick(good, value, piece.gaps[i].value);
      piece.gaps[i].rate = pick(good, rate, piece.gaps[i].rate);
      piece.end[i] = Base::gap(g, i, piece.to, g.later);
      piece.impacts[i] = pick(good & met, piece.impacts[i] + counted, piece.impacts[i]);
    }
    piece.last = pick(good, pick(fresh, m.contact, all(-1)), piece.last);
    return clear;
  }

  /// Tangents at the instant of an event, in the next set, and the kick, against the contact, that is still
  /// to come from them.
  void leave(const Group& g, const typename Base::Instant& at, const V& contact, const Mask& rigid,
             const V& jump, const V& shock, const Tangents& carried, V (*change)[2 * N], V* lost) const {
    const V press = Base::exact_press(at);
    const V factor = at.stop.restitution + 1.0;
    V unit[2 * N], moved[2 * N];
    for (int j = 0; j < 2 * N; ++j) unit[j] = at.stop.push[j];
    Base::derive(g, unit, moved);
    for (int t = 0; t < b_.tangents; ++t) {
      V z[2 * N], moves[2 * N];
      for (int j = 0; j < 2 * N; ++j) z[j] = pick(at.early, carried.from[t][j], carried.to[t][j]);
      at.near.forward(z);
      at.further.forward(z);
      Base::velocity(g.rows, z, moves);
      const V seen = Base::seen(at.stop, z);
      const V delay = -(seen / at.speed);
      const V impact = factor * fma(press, delay, Base::seen(at.stop, moves));
      const V shift = jump * delay;
      for (int j = 0; j < 2 * N; ++j) {
        z[j] = pick(rigid, fma(shift, moved[j], fma(-impact, unit[j], z[j])), z[j]);
      }
      lost[t] = pick(rigid, all(0), shock * seen);
      over(g, contact, nullptr, z, change[t]);
      for (int j = 0; j < 2 * N; ++j) change[t][j] = pick(rigid, z[j], change[t][j]);
    }
  }
};

}  // namespace
}  // namespace graze
