// Runs at positions that the loops do not move along: computed from indices, or read from data. Where they move evenly
// a run is a stretch of memory, checked once and read in place if it is contiguous; the lane loop knows nothing of it.
#pragma once

#include "opgen_cpu_memory.h"

namespace rt {
inline namespace OPGEN_SPACE {

enum class Leaves { never, quietly, reported };  // what happens where a position is out of range

// A position: `at(i)` is where lane i stands along an axis of `size` places that are `stride` apart.
template <Leaves leaves, typename At>
struct Place {
  At at;
  int64_t stride;
  int64_t size;
  int64_t number;  // of the tensor and its axis, for the report
  int64_t axis;
};
// A position that is the same at all lanes.
struct Fixed {
  int64_t at;
  OPGEN_INLINE explicit Fixed(int64_t at) : at(at) {}
  OPGEN_INLINE int64_t operator()(int64_t) const { return at; }
};
template <typename At>
OPGEN_INLINE Place<Leaves::never, At> sure(int64_t stride, const At& at) {
  return {at, stride, 0, 0, 0};
}
template <typename T, typename At>
OPGEN_INLINE Place<Leaves::quietly, At> clipped(const Tensor<T>& tensor, int64_t axis, int64_t stride, const At& at) {
  return {at, stride, tensor.size(axis), 0, axis};
}
template <typename T, typename At>
OPGEN_INLINE Place<Leaves::reported, At> checked(const Tensor<T>& tensor, int64_t axis, int64_t stride, int64_t number,
                                                 const At& at) {
  return {at, stride, tensor.size(axis), number, axis};
}
// A position that is computed once for a run where it is the same at all of its lanes.
template <typename At>
struct Standing {
  At of_lane;
  bool still;
  int64_t first;
  OPGEN_INLINE Standing(bool still, const At& of_lane)
      : of_lane(of_lane), still(still), first(still ? of_lane(0) : 0) {}
  OPGEN_INLINE int64_t operator()(int64_t i) const { return still ? first : of_lane(i); }
};
template <Leaves leaves, typename At>
OPGEN_INLINE bool inside(OpgenHost& host, const Place<leaves, At>& place, int64_t i) {
  if constexpr (leaves == Leaves::never) return true;
  if constexpr (leaves == Leaves::quietly) return within(place.at(i), place.size);
  return inside(host, place.at(i), place.size, place.number, place.axis);
}

// Whether what a lane reads is wanted.
template <typename At>
struct Wanted {
  At at;
};
template <typename At>
OPGEN_INLINE Wanted<At> wanted(const At& at) {
  return {at};
}
struct Always {
  OPGEN_INLINE bool operator()(int64_t) const { return true; }
};

// Which of `count` places that start at `start` and are `slope` apart lie in [0, size): those of [begin, end).
OPGEN_NOINLINE inline void inside_range(int64_t start, int64_t slope, int64_t size, int64_t count, int64_t& begin,
                                        int64_t& end) {
  if (slope == 0) {
    begin = 0;
    end = within(start, size) ? count : 0;
  } else if (slope > 0) {
    begin = start < 0 ? (slope - 1 - start) / slope : 0;
    end = start < size ? (size - 1 - start) / slope + 1 : 0;
  } else {
    begin = start >= size ? (start - size) / -slope + 1 : 0;
    end = start >= 0 ? start / -slope + 1 : 0;
  }
  end = end < count ? end : count;
  if (end <= begin) begin = end = 0;
}

// The lanes of a run where even positions are in range, or less than a size.
struct Span {
  int64_t first = 0;
  int64_t count;

  OPGEN_INLINE explicit Span(int64_t size) : count(size) {}
  template <typename At>
  OPGEN_INLINE void below(int64_t size, const At& at) {
    constexpr int64_t far = int64_t{1} << 60;
    clip(far + size, [&](int64_t i) { return far + at(i); });
  }
  template <typename At>
  OPGEN_INLINE void clip(int64_t size, const At& at) {
    if (count == 0) return;
    const int64_t start = at(first), slope = count > 1 ? at(first + 1) - start : 0;
    if (within(start, size) && within(start + (count - 1) * slope, size)) return;
    int64_t begin = 0, end = 0;
    inside_range(start, slope, size, count, begin, end);
    first += begin;
    count = end - begin;
  }
};

// Calls body(i) for the lanes of a span.
template <typename Body>
OPGEN_INLINE void each(const Span& span, const Body& body) {
#pragma GCC ivdep
  for (int64_t i = span.first; i < span.first + span.count; ++i) body(i);
}

// A run of points in memory, or every n-th point of one. Those of the lanes [first, last) are in range. Positions move
// evenly between lanes that are `period` apart; 0: they need not.
struct Stretch {
  int64_t at;
  int64_t step;
  int64_t size;
  int64_t period;
  int64_t lane = 0;
  int64_t every = 1;
  int64_t first = 0;
  int64_t last = 0;

  OPGEN_INLINE Stretch(int64_t at, int64_t step, int64_t size, int64_t period)
      : at(at), step(step), size(size), period(size == 1 ? 1 : period), last(size) {}

  OPGEN_INLINE bool whole() const { return first == 0 && last == size; }
  // The points from `begin` on that are a period apart.
  OPGEN_INLINE Stretch part(int64_t begin) const {
    Stretch s(at + begin * step, period * step, (size - begin + period - 1) / period, 1);
    s.lane = begin;
    s.every = period;
    return s;
  }
  template <Leaves leaves, typename At>
  OPGEN_INLINE void move(const Place<leaves, At>& place) {
    move(place, slope(place));
  }
  // How far a position moves from a point to the next.
  template <Leaves leaves, typename At>
  OPGEN_INLINE int64_t slope(const Place<leaves, At>& place) const {
    return size > 1 ? place.at(lane + every) - place.at(lane) : 0;
  }
  template <Leaves leaves, typename At>
  OPGEN_INLINE void move(const Place<leaves, At>& place, int64_t slope) {
    const int64_t start = place.at(lane);
    at += start * place.stride;
    step += slope * place.stride;
    if constexpr (leaves != Leaves::never) {
      if (!within(start, place.size) || !within(start + (size - 1) * slope, place.size)) clip(start, slope, place.size);
    }
  }
  OPGEN_INLINE void clip(int64_t start, int64_t slope, int64_t places) {
    int64_t begin = 0, end = 0;
    inside_range(start, slope, places, size, begin, end);
    if (begin > first) first = begin;
    if (end < last) last = end;
    if (last <= first) first = last = 0;
  }
  // Reports what stands out of range at the lanes that are wanted.
  template <typename Needed, Leaves leaves, typename At>
  OPGEN_INLINE void report(OpgenHost& host, const Needed& needed, const Place<leaves, At>& place) const {
    if constexpr (leaves == Leaves::reported) {
      for (int64_t i = 0; i < size; ++i) {
        const int64_t here = lane + i * every;
        if ((i < first || i >= last) && needed(here)) inside(host, place, here);
      }
    }
  }
};

// How far positions move along the parts of a run, which is the same in all of them: to divide takes longer than to
// copy a few points.
template <int Places>
struct Slopes {
  int64_t of[Places];

  template <typename... Place>
  OPGEN_INLINE Slopes(const Stretch& s, const Place&... places) {
    if (s.period <= 0) return;
    const Stretch first = s.part(0);
    int n = 0;
    ((of[n++] = first.slope(places)), ...);
  }
  template <typename... Place>
  OPGEN_INLINE void move(Stretch& part, const Place&... places) const {
    int n = 0;
    (part.move(places, of[n++]), ...);
  }
};
template <typename... Place>
Slopes(const Stretch&, const Place&...) -> Slopes<sizeof...(Place)>;

OPGEN_INLINE Stretch spanned(int64_t at, int64_t step, const Span& span) {
  Stretch s(at + span.first * step, step, span.count, 1);
  s.lane = span.first;
  return s;
}

// Of an access at the points of a run, or at one point for each of the columns; of all lanes, or those of a span.
template <typename Run>
OPGEN_INLINE Stretch stretch(const Run& run, int access, int64_t period) {
  return {run.at[access], run.step[access], run.size, period};
}
template <typename Point, typename Run>
OPGEN_INLINE Stretch stretch(const Point& point, const Run& columns, int access, int64_t period) {
  return {point.at[access], columns.step[access], columns.size, period};
}

template <typename Run>
OPGEN_INLINE Stretch stretch(const Run& run, int access, const Span& span) {
  return spanned(run.at[access], run.step[access], span);
}
template <typename Point, typename Run>
OPGEN_INLINE Stretch stretch(const Point& point, const Run& columns, int access, const Span& span) {
  return spanned(point.at[access], columns.step[access], span);
}

template <typename T>
OPGEN_NOINLINE void gather_stretch(const Tensor<T>& tensor, const Stretch& s, opmath<T> outside, Lane<T>* to) {
  const auto fill = static_cast<Lane<T>>(outside);
  to += s.lane;
  for (int64_t i = 0; i < s.first; ++i) to[i * s.every] = fill;
  const int64_t at = s.at + s.first * s.step;
  if (s.every == 1) {
    gather(tensor, at, s.step, s.last - s.first, to + s.first);
  } else {
    for (int64_t i = s.first; i < s.last; ++i) to[i * s.every] = element(tensor, s.at + i * s.step);
  }
  for (int64_t i = s.last; i < s.size; ++i) to[i * s.every] = fill;
}

// Where the lanes of a run stand in memory, -1 where that is out of range or not wanted: found for all of them before
// anything is read or written there, so that no lane waits for another one, and nothing is guessed about ranges.
struct Spots {
  int64_t at[block];
  int64_t most = -1;   // of them
  bool whole = false;  // is every lane in range?

  template <typename Needed, typename... Places>
  OPGEN_INLINE Spots(OpgenHost& host, const Stretch& s, const Needed& needed, const Places&... places) {
    int64_t least = 0;
    for (int64_t i = 0; i < s.size; ++i) {
      const uint64_t offset = ((static_cast<uint64_t>(places.at(i)) * static_cast<uint64_t>(places.stride)) + ...);
      const bool in = needed(i) & (may_be(places, places.at(i)) & ...);
      at[i] = in ? s.at + i * s.step + static_cast<int64_t>(offset) : -1;
      least = at[i] < least ? at[i] : least;
      most = at[i] > most ? at[i] : most;
    }
    whole = least == 0;
    if (!whole) (report(host, s, needed, places), ...);
  }
  template <Leaves leaves, typename At>
  static OPGEN_INLINE bool may_be(const Place<leaves, At>& place, int64_t index) {
    return leaves == Leaves::never || ((index >= 0) & (index < place.size));
  }
  template <typename Needed, Leaves leaves, typename At>
  OPGEN_INLINE void report(OpgenHost& host, const Stretch& s, const Needed& needed, const Place<leaves, At>& place) {
    if constexpr (leaves == Leaves::reported) {
      for (int64_t i = 0; i < s.size; ++i) {
        if (at[i] < 0 && needed(i)) inside(host, place, i);
      }
    }
  }
};

// What a run reads at such positions: `fill` where they are out of range.
template <typename T>
struct Line {
  const Lane<T>* from;
  bool same;
  alignas(64) Lane<T> buffer[block];

  template <Leaves leaves, typename At, typename... Places>
  OPGEN_INLINE Line(OpgenHost& host, const Tensor<T>& tensor, const Stretch& s, opmath<T> fill,
                    const Place<leaves, At>& place, const Places&... places) {
    read(host, nullptr, tensor, s, fill, Always(), place, places...);
  }
  template <Leaves leaves, typename At, typename... Places>
  OPGEN_INLINE Line(OpgenHost& host, Held<T>& held, const Tensor<T>& tensor, const Stretch& s, opmath<T> fill,
                    const Place<leaves, At>& place, const Places&... places) {
    read(host, &held, tensor, s, fill, Always(), place, places...);
  }
  template <typename At, typename... Places>
  OPGEN_INLINE Line(OpgenHost& host, const Tensor<T>& tensor, const Stretch& s, opmath<T> fill,
                    const Wanted<At>& needed, const Places&... places) {
    read(host, nullptr, tensor, s, fill, needed.at, places...);
  }
  Line() = default;
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  OPGEN_INLINE opmath<T> operator[](int64_t i) const { return static_cast<opmath<T>>(from[i]); }

  template <typename Needed, typename... Places>
  OPGEN_INLINE void read(OpgenHost& host, Held<T>* held, const Tensor<T>& tensor, Stretch s, opmath<T> fill,
                         const Needed& needed, const Places&... places) {
    if (s.period == 1) {
      (s.move(places), ...);
      same = s.whole() && (s.step == 0 || s.size == 1);
      const bool direct = s.whole() && s.step == 1 && s.every == 1 && is_lane<T> && !tensor.narrow;
      from = direct ? static_cast<const Lane<T>*>(tensor.data) + s.at - s.lane : buffer;
      if (direct) return;
      if (same) {
        if (held != nullptr) {
          from = held->of(element(tensor, s.at), s.size);
        } else {
          repeat(element(tensor, s.at), s.lane + s.size, buffer);
        }
        return;
      }
      if (!s.whole()) (s.report(host, needed, places), ...);
      gather_stretch(tensor, s, fill, buffer);
      return;
    }
    same = false;
    from = buffer;
    if (s.period > 1) {
      const Slopes slopes(s, places...);
      for (int64_t lane = 0; lane < s.period && lane < s.size; ++lane) {
        Stretch part = s.part(lane);
        slopes.move(part, places...);
        if (!part.whole()) (part.report(host, needed, places), ...);
        gather_stretch(tensor, part, fill, buffer);
      }
    } else {
      const Spots spots(host, s, needed, places...);
      for (int64_t i = 0; i < s.size; ++i) {  // there is something to read where the last one stands
        if (spots.most >= 0) buffer[i] = element(tensor, spots.at[i] < 0 ? spots.most : spots.at[i]);
      }
      for (int64_t i = 0; !spots.whole && i < s.size; ++i)
        buffer[i] = spots.at[i] < 0 ? static_cast<Lane<T>>(fill) : buffer[i];
    }
  }
};

}  // namespace OPGEN_SPACE
}  // namespace rt
