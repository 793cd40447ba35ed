/* Compares results of Clip with what is due, by a table of ranks. Nothing here is shared with what is tested.

   An element is a pattern of 8 or 16 bits. rank[a] orders the numbers, equal ones alike; number[a] is 0 for a
   NaN. Both are computed from exact rational numbers by sonnx_clip/sweep/work.py. */

#include <stddef.h>
#include <stdint.h>

typedef struct {
  const int32_t *rank;
  const int32_t *number;
} table;

typedef struct {
  uint64_t wrong;
  uint32_t x, min, max, got; /* the first wrong one */
} findings;

typedef void clip_signed(int16_t *, const int16_t *, int16_t, int16_t, size_t);
typedef void clip_unsigned(uint16_t *, const uint16_t *, uint16_t, uint16_t, size_t);

static int less(const table *t, uint32_t a, uint32_t b) {
  return t->number[a] && t->number[b] && t->rank[a] < t->rank[b];
}

static int at_most(const table *t, uint32_t a, uint32_t b) {
  return t->number[a] && t->number[b] && t->rank[a] <= t->rank[b];
}

static uint32_t due(const table *t, uint32_t x, uint32_t min, uint32_t max) {
  if (less(t, max, min))
    return max;
  if (at_most(t, x, min))
    return min;
  return at_most(t, max, x) ? max : x;
}

static void note(findings *found, uint32_t x, uint32_t min, uint32_t max, uint32_t got) {
  if (found->wrong++ == 0) {
    found->x = x;
    found->min = min;
    found->max = max;
    found->got = got;
  }
}

/* y[x] for each pattern x below n, under one pair of bounds. */
void sweep_check(const int32_t *rank, const int32_t *number, const uint16_t *y, uint32_t n, uint32_t min,
                 uint32_t max, findings *found) {
  const table t = {rank, number};
  const int32_t inverted = less(&t, max, min), lower = number[min], upper = number[max];
  const int32_t from = rank[min], to = rank[max];
  uint32_t x, wrong = 0;
  for (x = 0; x < n; x++) {
    /* The same as `due`, without branches. */
    const int32_t low = number[x] & lower & (rank[x] <= from), high = number[x] & upper & (to <= rank[x]);
    const uint32_t right = inverted ? max : low ? min : high ? max : x;
    wrong += right != y[x];
  }
  if (wrong)
    for (x = 0; x < n; x++)
      if (due(&t, x, min, max) != y[x])
        note(found, x, min, max, y[x]);
}

/* Three X under every pair of bounds whose lower one is in from ... to - 1: first, the lower bound, last. */
void sweep_bounds(const int32_t *rank, const int32_t *number, void (*kernel)(void), int is_signed, uint32_t from,
                  uint32_t to, uint32_t first, uint32_t last, findings *found) {
  const table t = {rank, number};
  uint32_t min, max, i;
  for (min = from; min < to; min++)
    for (max = 0; max < 65536; max++) {
      const uint16_t x[3] = {(uint16_t)first, (uint16_t)min, (uint16_t)last};
      uint16_t y[3] = {0, 0, 0};
      if (is_signed)
        ((clip_signed *)kernel)((int16_t *)y, (const int16_t *)x, (int16_t)min, (int16_t)max, 3);
      else
        ((clip_unsigned *)kernel)(y, x, (uint16_t)min, (uint16_t)max, 3);
      for (i = 0; i < 3; i++)
        if (due(&t, x[i], min, max) != y[i])
          note(found, x[i], min, max, y[i]);
    }
}
