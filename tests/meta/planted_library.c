/* C functions of int16, each right or wrong in one way, and called in one way: for test_shared_libraries.py. */

#include <stddef.h>
#include <stdint.h>

static int16_t one(int16_t x, int16_t min, int16_t max) {
  return max < min ? max : x <= min ? min : max <= x ? max : x;
}

void right(int16_t *y, const int16_t *x, int16_t min, int16_t max, size_t n) {
  size_t i;
  for (i = 0; i < n; i++) y[i] = one(x[i], min, max);
}

void right_in_place(int32_t n, int16_t *x, int16_t max, int16_t min) {
  int32_t i;
  for (i = 0; i < n; i++) x[i] = one(x[i], min, max);
}

void right_by_pointers(const int16_t *x, const int16_t *min, const int16_t *max, int16_t *y, uint64_t n) {
  right(y, x, *min, *max, (size_t)n);
}

int refuses_inverted(int16_t *y, const int16_t *x, int16_t min, int16_t max, size_t n) {
  if (max < min) return 22;
  right(y, x, min, max, n);
  return 0;
}

void wrong_in_one_class(int16_t *y, const int16_t *x, int16_t min, int16_t max, size_t n) {
  size_t i;
  for (i = 0; i < n; i++) y[i] = max < min ? min : one(x[i], min, max);
}

void writes_past_the_end(int16_t *y, const int16_t *x, int16_t min, int16_t max, size_t n) {
  right(y, x, min, max, n);
  y[n] = 7;
}

void writes_past_the_end_and_is_wrong(int16_t *y, const int16_t *x, int16_t min, int16_t max, size_t n) {
  wrong_in_one_class(y, x, min, max, n);
  y[n] = 7;
}

void writes_into_x(int16_t *y, int16_t *x, int16_t min, int16_t max, size_t n) {
  right(y, x, min, max, n);
  if (n > 0) x[0] = y[0];
}

void reads_past_x(int16_t *y, const int16_t *x, int16_t min, int16_t max, size_t n) {
  volatile int16_t beyond = x[n];
  (void)beyond;
  right(y, x, min, max, n);
}

void dies_inverted(int16_t *y, const int16_t *x, int16_t min, int16_t max, size_t n) {
  if (max < min) *(volatile int *)0 = 1;
  right(y, x, min, max, n);
}

void hangs_at_seven(int16_t *y, const int16_t *x, int16_t min, int16_t max, size_t n) {
  volatile int on = n == 7;
  while (on) continue;
  right(y, x, min, max, n);
}
