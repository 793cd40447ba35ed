/* Runs the vectors that `sonnx-clip export c-header` writes on a C function of one element type.

   cc -DTYPE=float32 -DT=float -DWIDTH=32 -DCLIP=my_clip vectors.c my_clip.c

   The export has this file; its manifest.json has the line for each of its types.

   CLIP is void CLIP(T *y, const T *x, T min, T max, size_t n); -DPOLICY=SONNX_CLIP_STRICT takes less for
   acceptable. Calls of layouts whose entries do not lie side by side are left out: such a function has no
   strides. The status is 1 if a result is wrong, or if nothing was compared. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUOTED(text) #text
#define HEADER_OF(type) QUOTED(sonnx_clip_vectors_##type.h)
#define HEADER(type) HEADER_OF(type)
#include HEADER(TYPE)

#define JOINED(a, b, c) a##b##c
#define NAMED(a, b, c) JOINED(a, b, c)
#define SUITE NAMED(sonnx_clip_, TYPE, _suite)
#define BITS NAMED(uint, WIDTH, _t)
#ifndef POLICY
#define POLICY SONNX_CLIP_DEFAULT
#endif

void CLIP(T *y, const T *x, T min, T max, size_t n);

static unsigned long compared, wrong;

static void compare(const char *what, BITS x, BITS min, BITS max, BITS got, BITS expected, unsigned also) {
  compared++;
  if (sonnx_clip_accepts(got, expected, also, POLICY, SUITE.sign, SUITE.infinity))
    return;
  if (wrong++ < 5)
    printf("wrong: %s: clip(0x%llx, 0x%llx, 0x%llx) is 0x%llx, expected 0x%llx\n", what,
           (unsigned long long)x, (unsigned long long)min, (unsigned long long)max,
           (unsigned long long)got, (unsigned long long)expected);
}

/* Whether the entries lie side by side in memory that is aligned. */
static int is_flat(const struct sonnx_clip_layout *layout) {
  ptrdiff_t reach = 1;
  int at;
  for (at = layout->rank - 1; at >= 0 && !layout->plain; at--) {
    if (layout->shape[at] > 1 && layout->strides[at] != reach)
      return 0;
    reach *= (ptrdiff_t)layout->shape[at];
  }
  return layout->misaligned_bytes == 0 && !layout->repeats;
}

static void call(const struct sonnx_clip_call *one) {
  const struct NAMED(sonnx_clip_table_, WIDTH, ) *table = &SUITE.tables[one->table];
  const struct sonnx_clip_layout *layout = &sonnx_clip_layouts[one->layout];
  size_t first = layout->first_entry, n = one->length, i;
  BITS *x = calloc(first + n + 1, sizeof *x), *y = calloc(n + 1, sizeof *y);
  T min, max, *entries = (T *)calloc(first + n + 1, sizeof *entries), *results = (T *)calloc(n + 1, sizeof *results);
  if (x == NULL || y == NULL || entries == NULL || results == NULL)
    exit(2);
  for (i = 0; i < n; i++)
    x[first + i] = table->pool[(one->start + i) % table->values];
  memcpy(entries, x, (first + n) * sizeof *x);
  memcpy(&min, &table->min[one->pair], sizeof min);
  memcpy(&max, &table->max[one->pair], sizeof max);
  CLIP(results, entries + first, min, max, n);
  memcpy(y, results, n * sizeof *y);
  for (i = 0; i < n; i++) {
    size_t at = one->pair * table->values + (one->start + i) % table->values;
    compare(layout->id, x[first + i], table->min[one->pair], table->max[one->pair], y[i], table->expected[at],
            table->also[at]);
  }
  free(x), free(y), free(entries), free(results);
}

int main(void) {
  size_t i, calls = 0;
  for (i = 0; i < SUITE.vector_count; i++) {
    const struct NAMED(sonnx_clip_vector_, WIDTH, ) *one = &SUITE.vectors[i];
    T x, min, max, y;
    BITS got;
    memcpy(&x, &one->x, sizeof x), memcpy(&min, &one->min, sizeof min), memcpy(&max, &one->max, sizeof max);
    CLIP(&y, &x, min, max, 1);
    memcpy(&got, &y, sizeof got);
    compare(one->id, one->x, one->min, one->max, got, one->expected, one->also);
  }
  for (i = 0; i < SUITE.call_count; i++)
    if (is_flat(&sonnx_clip_layouts[SUITE.calls[i].layout]))
      call(&SUITE.calls[i]), calls++;
  printf("%s: %lu results of %lu calls, %lu wrong\n", SUITE.name, compared,
         (unsigned long)(SUITE.vector_count + calls), wrong);
  return compared == 0 || wrong != 0;
}
