/* How many keys are below each of some limits: what sonnx_clip/conform/histogram.py asks for.

   Nothing is proved of it. The tests compare it with NumPy, which counts where there is no compiler. */

#include <stddef.h>
#include <stdint.h>

/* Keys in one piece: it stays in the nearest cache while it is compared with every limit. */
enum { PIECE_BYTES = 12288 };

/* The limits ascend. NaNs, infinities, zeros and subnormals are rare: where the piece before had no keys between
   some limits, the first and the last of these are tried, and where they count the same, so do those between.
   `piece` is room for as many counts as there are limits.

   A block is counted in the type of its keys, as many at once as there are of them in a vector: it is
   short enough that its count fits. They are compared as signed numbers, which
   is one instruction on every processor; `flip` puts unsigned keys into that order. */
#define COUNT_BELOW(width, block)                                                                           \
    static uint64_t below_##width(const int##width##_t *keys, size_t n, int##width##_t flip,                \
                                  int##width##_t limit) {                                                   \
        uint64_t sum = 0;                                                                                   \
        size_t i = 0;                                                                                       \
        for (; n - i >= (block); i += (block)) {                                                            \
            uint##width##_t count = 0;                                                                      \
            for (size_t j = 0; j < (block); j++)                                                            \
                count = (uint##width##_t)(count + ((int##width##_t)(keys[i + j] ^ flip) < limit));          \
            sum += count;                                                                                   \
        }                                                                                                   \
        for (; i < n; i++)                                                                                  \
            sum += (uint64_t)((int##width##_t)(keys[i] ^ flip) < limit);                                    \
        return sum;                                                                                         \
    }                                                                                                       \
                                                                                                            \
    /* piece[next .. end - 1]: `least` keys below the limit before these, `most` below that after. */       \
    static void between_##width(const int##width##_t *keys, size_t n, int##width##_t flip,                  \
                                const int##width##_t *limits, size_t next, size_t end, uint64_t least,      \
                                uint64_t most, uint64_t *piece) {                                           \
        for (; next < end; next++) {                                                                        \
            if (least != most)                                                                              \
                least = below_##width(keys, n, flip, limits[next]);                                         \
            piece[next] = least;                                                                            \
        }                                                                                                   \
    }                                                                                                       \
                                                                                                            \
    void count_below_##width(const int##width##_t *keys, size_t n, int##width##_t flip,                     \
                             const int##width##_t *limits, size_t number, uint64_t *counts,                 \
                             uint64_t *piece) {                                                             \
        const size_t whole = PIECE_BYTES / sizeof *keys;                                                    \
        for (size_t j = 0; j < number; j++)                                                                 \
            counts[j] = piece[j] = 0;                                                                       \
        for (size_t start = 0; start < n; start += whole, keys += whole) {                                  \
            const size_t length = n - start < whole ? n - start : whole;                                    \
            uint64_t least = 0;                                                                             \
            for (size_t next = 0; next < number; next++) {                                                  \
                size_t last = next;                                                                         \
                while (start > 0 && last + 1 < number && piece[last + 1] == piece[next])                    \
                    last++;                                                                                 \
                if (next > 0 && next < last) {                                                              \
                    if (least != length)                                                                    \
                        least = below_##width(keys, length, flip, limits[next]);                            \
                    piece[next++] = least;                                                                  \
                }                                                                                           \
                uint64_t most = length;                                                                     \
                if (least != length)                                                                        \
                    most = below_##width(keys, length, flip, limits[last]);                                 \
                between_##width(keys, length, flip, limits, next, last, least, most, piece);                \
                piece[last] = least = most;                                                                 \
                next = last;                                                                                \
            }                                                                                               \
            for (size_t j = 0; j < number; j++)                                                             \
                counts[j] += piece[j];                                                                      \
        }                                                                                                   \
    }

COUNT_BELOW(8, 192)
COUNT_BELOW(16, 1536)
COUNT_BELOW(32, 768)
COUNT_BELOW(64, 384)
