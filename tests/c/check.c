/* Runs every kernel on every vector, elsewhere and in place, and looks beside the arrays too.

   vectors.h is made from generated/vectors by tests/c/table.py: struct vector, `vectors` and `tables`. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sonnx_clip.h"
#include "vectors.h"

#define LENGTH 67  /* more than the widest vector registers hold, and a tail */
#define AROUND 64  /* bytes before and behind each array, which nobody may write */
#define UNWRITTEN 0xA5

typedef void clip_function(void *y, const void *x, const void *min, const void *max, size_t n);

/* The kernel of a type, called with bounds in memory: their bits are copied as they are. */
#define DEFINE(TYPE, T)                                                                            \
  static void run_##TYPE(void *y, const void *x, const void *min, const void *max, size_t n) {     \
    T lower, upper;                                                                                \
    memcpy(&lower, min, sizeof lower);                                                             \
    memcpy(&upper, max, sizeof upper);                                                             \
    sonnx_clip_##TYPE(y, x, lower, upper, n);                                                      \
  }

DEFINE(int8, int8_t)
DEFINE(int16, int16_t)
DEFINE(int32, int32_t)
DEFINE(int64, int64_t)
DEFINE(uint8, uint8_t)
DEFINE(uint16, uint16_t)
DEFINE(uint32, uint32_t)
DEFINE(uint64, uint64_t)
DEFINE(float16, uint16_t)
DEFINE(bfloat16, uint16_t)
DEFINE(float32, float)
DEFINE(float64, double)

static const struct {
  const char *type;
  clip_function *run;
} kernels[] = {
  {"int8", run_int8},       {"int16", run_int16},       {"int32", run_int32},     {"int64", run_int64},
  {"uint8", run_uint8},     {"uint16", run_uint16},     {"uint32", run_uint32},   {"uint64", run_uint64},
  {"float16", run_float16}, {"bfloat16", run_bfloat16}, {"float32", run_float32}, {"float64", run_float64},
};

static void store(void *place, uint64_t bits, size_t width) {
  const uint8_t as8 = (uint8_t)bits;
  const uint16_t as16 = (uint16_t)bits;
  const uint32_t as32 = (uint32_t)bits;
  switch (width) {
    case 1: memcpy(place, &as8, 1); break;
    case 2: memcpy(place, &as16, 2); break;
    case 4: memcpy(place, &as32, 4); break;
    default: memcpy(place, &bits, 8); break;
  }
}

/* Memory that belongs to no type, so that any kernel may use it as its own. */
static unsigned char *fresh(size_t bytes) {
  unsigned char *memory = malloc(bytes);
  if (memory == NULL) {
    fputs("there is no memory\n", stderr);
    exit(2);
  }
  memset(memory, UNWRITTEN, bytes);
  return memory;
}

static void fill(unsigned char *array, const struct vector *from, size_t count, size_t n, size_t width, int due) {
  size_t i;
  for (i = 0; i < n; i++)
    store(array + i * width, due ? from[i % count].due : from[i % count].x, width);
}

static void say(const char *type, const struct vector *v, const char *what) {
  printf("wrong: %s, %s, at %s: x %#llx, min %#llx, max %#llx, due %#llx\n", type, what, v->id,
         (unsigned long long)v->x, (unsigned long long)v->min, (unsigned long long)v->max,
         (unsigned long long)v->due);
}

/* `count` vectors of the same bounds, as an array of n entries. Returns how many are wrong. */
static size_t check(const char *type, clip_function *run, const struct vector *from, size_t count, size_t n,
                    size_t width, int in_place) {
  const size_t bytes = AROUND + n * width + AROUND;
  unsigned char *x = fresh(bytes), *y = in_place ? x : fresh(bytes);
  unsigned char *due = fresh(bytes), *before = fresh(bytes), *bounds = fresh(2 * sizeof(uint64_t));
  size_t i, wrong = 0;
  store(bounds, from->min, width);
  store(bounds + sizeof(uint64_t), from->max, width);
  fill(x + AROUND, from, count, n, width, 0);
  fill(before + AROUND, from, count, n, width, 0);
  fill(due + AROUND, from, count, n, width, 1);
  run(y + AROUND, x + AROUND, bounds, bounds + sizeof(uint64_t), n);
  for (i = 0; i < n; i++)
    if (memcmp(y + AROUND + i * width, due + AROUND + i * width, width) != 0) {
      if (wrong++ == 0)
        say(type, &from[i % count], in_place ? "in place" : "elsewhere");
    }
  if (wrong == 0 && memcmp(y, due, bytes) != 0) {
    say(type, from, "written beside the array");
    wrong = 1;
  }
  if (!in_place && memcmp(x, before, bytes) != 0) {
    say(type, from, "written into x");
    wrong++;
  }
  free(x);
  if (!in_place)
    free(y);
  free(due);
  free(before);
  free(bounds);
  return wrong;
}

/* The vectors with the bounds of the first one go together. Returns how many they are. */
static size_t together(const struct vector *from, size_t left) {
  size_t count = 1;
  while (count < left && from[count].min == from->min && from[count].max == from->max)
    count++;
  return count;
}

static size_t check_type(const struct table *table, clip_function *run) {
  size_t i, count, agree = 0;
  for (i = 0; i < table->count; i += count) {
    const struct vector *from = table->vectors + i;
    const size_t width = table->width;
    size_t wrong = 0;
    int in_place;
    count = together(from, table->count - i);
    for (in_place = 0; in_place < 2; in_place++) {
      wrong += check(table->type, run, from, count, 0, width, in_place);
      wrong += check(table->type, run, from, count, count, width, in_place);
      wrong += check(table->type, run, from, count, count + LENGTH, width, in_place);
    }
    agree += wrong == 0 ? count : 0;
  }
  printf("%s: %lu of %lu vectors agree\n", table->type, (unsigned long)agree, (unsigned long)table->count);
  return agree;
}

int main(void) {
  size_t i, k, agree = 0, asked = 0, checked = 0;
  for (i = 0; i < sizeof tables / sizeof tables[0]; i++)
    for (k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
      if (strcmp(tables[i].type, kernels[k].type) == 0) {
        agree += check_type(&tables[i], kernels[k].run);
        asked += tables[i].count;
        checked++;
      }
  printf("all: %lu of %lu vectors agree\n", (unsigned long)agree, (unsigned long)asked);
  return agree == asked && asked > 0 && checked == sizeof kernels / sizeof kernels[0] ? 0 : 1;
}
