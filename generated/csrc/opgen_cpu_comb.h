// Loops that are gone through in another order than they are nested in: combs, and short ones that take turns.
#pragma once

namespace rt {
inline namespace OPGEN_SPACE {

// Loops of which short last ones come to the front: at every run along the others, all of their points, one after the
// other.
template <int Accesses>
struct Turns : Loops<Accesses> {
  using Base = Loops<Accesses>;
  int turning = 0;    // so many dims in front
  int64_t turns = 1;  // points of these

  // Of loops whose points are independent: a last one that is too short for runs.
  OPGEN_NOINLINE void arrange() {
    const int last = Base::rank - 1;
    if (last < 1 || (Base::fixed[last] && Base::fixed[last - 1])) return;
    if (Base::sizes[last] < shortest_piece && Base::sizes[last] < Base::sizes[last - 1]) take_turns(last);
  }
  // Of loops that add to shared places: those behind the last long one, if nobody asks for its index.
  OPGEN_NOINLINE void lengthen() {
    int longest = Base::rank - 1;
    while (longest >= 0 && Base::sizes[longest] < shortest_piece) --longest;
    if (longest >= 0 && longest < Base::rank - 1 && !Base::fixed[longest]) take_turns(longest + 1);
  }
  void take_turns(int first) {
    const int rank = Base::rank;
    turning = rank - first;
    for (int d = first; d < rank; ++d) turns *= Base::sizes[d];
    std::rotate(Base::sizes, Base::sizes + first, Base::sizes + rank);
    std::rotate(Base::steps[0], Base::steps[first], Base::steps[rank]);
    std::rotate(Base::fixed, Base::fixed + first, Base::fixed + rank);
    for (int n = 0; n < Base::numbered; ++n) Base::dim_of[n] += Base::dim_of[n] < first ? turning : -first;
  }
  template <int64_t Size, typename Body>
  OPGEN_INLINE void runs(int64_t begin, int64_t end, const int64_t* base, const Body& body) const {
    const int64_t turns = this->turns;
    if (turns > 1) begin /= turns, end /= turns;
    Base::template runs<Size>(begin, end, base, [&](auto& run) {
      for (int64_t left = turns;;) {
        body(run);
        if (turns > 1) Base::moved(run, [&](int64_t* at) { turn(at, run.index); });  // after the last one, the first
        if (--left <= 0) break;
      }
    });
  }
  OPGEN_NOINLINE void turn(int64_t* at, int64_t* index) const {
    for (int d = turning - 1; d >= 0; --d) {
      for (int a = 0; a < Accesses; ++a) at[a] += Base::steps[d][a];
      if (++index[d] < Base::sizes[d]) return;
      index[d] = 0;
      for (int a = 0; a < Accesses; ++a) at[a] -= Base::sizes[d] * Base::steps[d][a];
    }
  }
};

// Loops whose last one is run through in combs: points that are some way apart come one after the other: quotients and
// remainders by that of its index, which is used as a number, move evenly among them.
template <int Accesses>
struct Phases : Loops<Accesses> {
  using Base = Loops<Accesses>;
  int64_t apart = 1;  // also how many phases there are
  int64_t full = 1;   // of these, have as many points as any

  // Once all loops are known: the last one becomes two, the phases and what each of them has.
  OPGEN_NOINLINE void split(int64_t divisor) {
    const int last = Base::rank++;
    int64_t& size = Base::sizes[last - 1];
    apart = divisor < 0 ? -divisor : divisor;
    if (apart > size || apart == 0) apart = size > 0 ? size : 1;
    const int64_t most = (size + apart - 1) / apart;
    full = size - (most - 1) * apart;
    if (size > 0) Base::count = Base::count / size * apart * most;
    Base::sizes[last] = most;
    Base::fixed[last] = true;
    for (int a = 0; a < Accesses; ++a) Base::steps[last][a] = Base::steps[last - 1][a] * apart;
    size = apart;
  }
  template <int64_t Size, typename Body>
  OPGEN_INLINE void runs(int64_t begin, int64_t end, const int64_t* base, const Body& body) const {
    Base::template runs<Size>(begin, end, base, [&](auto& run) {
      const int last = Base::rank - 1;
      const int64_t given = run.size, left = Base::sizes[last] - (run.index[last - 1] >= full) - run.index[last];
      if (left <= 0) return;
      run.size = given < left ? given : left;
      body(run);
      run.size = given;
    });
  }
  bool still(int number) const { return Base::dim_of[number] != Base::rank - 2; }
  int64_t index(const Run<Accesses>& run, int number, int64_t i) const {
    const int d = Base::dim_of[number];
    return run.index[d] + (d == Base::rank - 2 ? (run.index[d + 1] + i) * apart : 0);
  }
};

// A position that moves evenly from lane to lane: it is computed at two of them.
struct Even {
  int64_t first;
  int64_t slope = 0;
  template <typename At>
  OPGEN_INLINE Even(int64_t size, const At& at) : first(at(0)) {
    if (size > 1) slope = at(1) - first;
  }
  OPGEN_INLINE int64_t operator()(int64_t i) const { return first + i * slope; }
};

// The places of a loop where its index is `at`, up to a multiple of a divisor; all of them where that is 0.
struct Teeth {
  int64_t every = 1;
  int64_t first = 0;

  Teeth() = default;
  OPGEN_INLINE Teeth(int64_t at, int64_t divisor) {
    if (divisor != 0) every = divisor < 0 ? -divisor : divisor;
    first = mod(at, every);
  }
};

// Hands out the points that nested loops, all of them used as numbers, have at their teeth, one after the other.
template <int Accesses, int Dims, typename Body>
OPGEN_INLINE void points(const Loops<Accesses>& loops, const Teeth (&teeth)[Dims], const int64_t* base,
                         const Body& body) {
  Run<Accesses> point;
  int64_t index[Dims];
  point.first = 0;
  point.size = 1;
  point.index = index;
  for (int a = 0; a < Accesses; ++a) point.at[a] = base[a];
  for (int a = 0; a < Accesses; ++a) point.step[a] = 0;
  for (int d = 0; d < Dims; ++d) {
    index[d] = teeth[d].first;
    if (index[d] >= loops.sizes[d]) return;
    for (int a = 0; a < Accesses; ++a) point.at[a] += index[d] * loops.steps[d][a];
  }
  for (int d = 0; d >= 0;) {
    body(point);
    for (d = Dims - 1; d >= 0; --d) {
      index[d] += teeth[d].every;
      for (int a = 0; a < Accesses; ++a) point.at[a] += teeth[d].every * loops.steps[d][a];
      if (index[d] < loops.sizes[d]) break;
      for (int a = 0; a < Accesses; ++a) point.at[a] -= (index[d] - teeth[d].first) * loops.steps[d][a];
      index[d] = teeth[d].first;
    }
  }
}

}  // namespace OPGEN_SPACE
}  // namespace rt
