/* A program that `sonnx-clip check --exec` judges: it reads frames, calls C functions, writes frames.

   docs/frames.md describes the frames. Nothing of a C library is used but read and write, nothing is allocated. To judge
   functions of your own, change KERNELS; the bytes around x and y tell whether a function writes where it must not.

       cc -O2 -Igenerated/c examples/frames.c generated/c/sonnx_clip_*.c -o build/harness
       sonnx-clip check --exec build/harness

   -DENTRIES=1024 suits a small memory; -DINPUT=0 -DOUTPUT=1 speaks on standard input and output (--stdio). */

#include <stddef.h>
#include <stdint.h>

#include "sonnx_clip.h"

#ifdef __unix__
#include <unistd.h>
#else
long read(int descriptor, void *bytes, size_t count);
long write(int descriptor, const void *bytes, size_t count);
#endif

#ifndef ENTRIES
#define ENTRIES 65537u  /* of X */
#endif
#ifndef INPUT
#define INPUT 3
#define OUTPUT 4
#endif
#define NAME "C kernels of sonnx-clip, by frames"
#define RANKS 0x1ffu    /* 0 to 8 */
#define AROUND 64u      /* bytes before and behind x and y */
#define FILLED 0xA5u

enum { OK, REFUSED, UNSUPPORTED, FAULT };
enum { NUMBER, STATUS, TYPE, RANK, DIMS };  /* the words of a request and of a reply, behind their length */

/* X(number of the type, its name, its C type), as docs/frames.md numbers them */
#define KERNELS(X)                                                                                               \
  X(0, int8, int8_t) X(1, int16, int16_t) X(2, int32, int32_t) X(3, int64, int64_t) X(4, uint8, uint8_t)         \
  X(5, uint16, uint16_t) X(6, uint32, uint32_t) X(7, uint64, uint64_t) X(8, float16, uint16_t)                   \
  X(9, bfloat16, uint16_t) X(10, float32, float) X(11, float64, double)

static uint64_t bounds[2], x[ENTRIES + 2 * AROUND / 8], y[ENTRIES + 2 * AROUND / 8];  /* aligned for all */

/* Exactly so many bytes; 0 if the other side has closed. */
static int get(void *place, size_t count) {
  unsigned char *to = place;
  while (count > 0) {
    const long got = (long)read(INPUT, to, count);
    if (got <= 0) return 0;
    to += got;
    count -= (size_t)got;
  }
  return 1;
}

static int put(const void *place, size_t count) {
  const unsigned char *from = place;
  while (count > 0) {
    const long done = (long)write(OUTPUT, from, count);
    if (done <= 0) return 0;
    from += done;
    count -= (size_t)done;
  }
  return 1;
}

static int skip(size_t count) {
  while (count > 0) {
    const size_t part = count < sizeof y ? count : sizeof y;
    if (!get(y, part)) return 0;
    count -= part;
  }
  return 1;
}

static int say(uint32_t number, uint32_t status, const char *words) {
  uint32_t head[3], size = 0;
  while (words[size]) size++;
  head[0] = 8 + size;
  head[1] = number;
  head[2] = status;
  return put(head, sizeof head) && put(words, size);
}

static uint32_t width(uint32_t type) {
#define WIDTH(NUMBER, TYPE_, T) if (type == NUMBER) return (uint32_t)sizeof(T);
  KERNELS(WIDTH)
  return 0;
}

static void fill(unsigned char *array, size_t first, size_t count) {
  while (count-- > 0) array[first++] = FILLED;
}

/* Whether AROUND bytes on both sides of an array are as they were. */
static int untouched(const unsigned char *array, size_t bytes) {
  size_t i;
  for (i = 0; i < AROUND; i++)
    if (array[i] != FILLED || array[AROUND + bytes + i] != FILLED) return 0;
  return 1;
}

static void run(uint32_t type, uint32_t n) {
#define RUN(NUMBER, TYPE_, T)                                                                                    \
  if (type == NUMBER) {                                                                                          \
    const T *lower = (const T *)(const void *)bounds, *from = (const T *)(const void *)((const char *)x + AROUND); \
    sonnx_clip_##TYPE_((T *)(void *)((char *)y + AROUND), from, lower[0], lower[1], n);                          \
  }
  KERNELS(RUN)
}

static int answer(void) {
  uint32_t length, head[DIMS + 8], n = 1, size, i;
  size_t bytes, rest;
  if (!get(&length, 4) || length < 4 * DIMS || !get(head, 4 * DIMS)) return 0;
  rest = length - 4 * DIMS;
  size = width(head[TYPE]);
  if (size == 0) return skip(rest) && say(head[NUMBER], UNSUPPORTED, "no such element type");
  if (head[RANK] > 8) return skip(rest) && say(head[NUMBER], REFUSED, "more than 8 dimensions");
  if (!get(head + DIMS, 4 * head[RANK])) return 0;
  rest -= 4 * head[RANK];
  for (i = 0; i < head[RANK]; i++) n = head[DIMS + i] == 0 || n <= ENTRIES / head[DIMS + i] ? n * head[DIMS + i] : ENTRIES + 1;
  if (n > ENTRIES) return skip(rest) && say(head[NUMBER], REFUSED, "too large");
  bytes = (size_t)n * size;
  fill((unsigned char *)x, 0, AROUND);
  fill((unsigned char *)x, AROUND + bytes, AROUND);
  fill((unsigned char *)y, 0, bytes + 2 * AROUND);
  if (!get(bounds, 2 * (size_t)size) || !get((char *)x + AROUND, bytes)) return 0;
  run(head[TYPE], n);
  if (!untouched((unsigned char *)y, bytes)) return say(head[NUMBER], FAULT, "it wrote outside of its result");
  if (!untouched((unsigned char *)x, bytes)) return say(head[NUMBER], FAULT, "it wrote outside of X");
  length = (uint32_t)(4 * (DIMS + head[RANK]) + bytes);
  head[STATUS] = OK;
  return put(&length, 4) && put(head, 4 * (DIMS + head[RANK])) && put((char *)y + AROUND, bytes);
}

int main(void) {
  const uint32_t hello[5] = {2, 0xfffu, RANKS, ENTRIES, sizeof NAME - 1};
  if (!put("CLIP", 4) || !put(hello, sizeof hello) || !put(NAME, sizeof NAME - 1)) return 1;
  while (answer()) continue;
  return 0;
}
