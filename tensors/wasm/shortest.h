/*
 * The shortest decimal that rounds to a binary floating-point number, and of those the closest to it:
 * Raffaello Giulietti, "The Schubfach way to render doubles" (2020),
 * https://drive.google.com/file/d/1IEeATSVnEE6TkrHlCYNY2GjaraBjOT4f
 *
 * A number is c * 2^q. Its neighbours lie c +- 1 (in units of 2^q) away, but for the smallest c of a
 * binade, whose lower neighbour is half as far. Every decimal strictly between the midpoints to its
 * neighbours reads back as it; the midpoints themselves do where c is even.
 */

/* A decimal: digits * 10^exponent. */
typedef struct {
  u64 digits;
  i32 exponent;
} Decimal;

static inline i32 floor_log2_pow10(i32 e) { return (e * 1741647) >> 19; }
static inline i32 floor_log10_pow2(i32 e) { return (e * 1262611) >> 22; }
static inline i32 floor_log10_three_quarters_pow2(i32 e) { return (e * 1262611 - 524031) >> 22; }

/* The upper bits of g * c, the lowest of them set where the product has a remainder. */
static inline u32 round_to_odd_32(u64 g, u32 c) {
  u64 low = (g & 0xffffffffu) * c;
  u64 high = (g >> 32) * c + (low >> 32);
  return (u32)(high >> 32) | ((u32)high > 1);
}

static inline u64 multiply_high(u64 a, u64 b, u64 *low) {
  u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
  u64 p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
  u64 middle = p10 + (p00 >> 32) + (u32)p01;
  *low = (middle << 32) | (u32)p00;
  return p11 + (middle >> 32) + (p01 >> 32);
}

static inline u64 round_to_odd_64(u64 g_hi, u64 g_lo, u64 c) {
  u64 x_lo, y_lo;
  u64 x_hi = multiply_high(g_lo, c, &x_lo);
  u64 y_hi = multiply_high(g_hi, c, &y_lo);
  u64 sum = y_lo + x_hi;
  y_hi += sum < y_lo;
  return y_hi | (sum > 1);
}

/*
 * Chooses among the candidates around v / 10^k, one digit fewer first, without branches, which would be
 * mispredicted half of the time. All of lower, v and upper are times 4 and rounded to odd.
 */
#define CHOOSE(T, lower, v, upper, k)                                            \
  do {                                                                           \
    T s = (v) / 4, tens = s / 10, middle = 4 * s + 2;                            \
    u32 tens_down = (lower) <= 40 * tens, tens_up = 40 * tens + 40 <= (upper);   \
    u32 is_tens = (s >= 10) & (tens_down ^ tens_up);                             \
    u32 down = (lower) <= 4 * s, up = 4 * s + 4 <= (upper);                      \
    u32 nearest = ((v) > middle) | (((v) == middle) & (u32)(s & 1));             \
    u32 rounded = (down ^ up) ? up : nearest;                                    \
    return (Decimal){is_tens ? tens + tens_up : s + rounded, (k) + (i32)is_tens}; \
  } while (0)

/* For c < 2^24 and -149 <= q <= 120: float32, and float16 and bfloat16 by their own precision. */
static inline Decimal shortest_32(u32 c, i32 q, int lower_is_closer) {
  if (q <= 0 && q > -24 && (c & ((1u << -q) - 1)) == 0) return (Decimal){c >> -q, 0};
  i32 k = lower_is_closer ? floor_log10_three_quarters_pow2(q) : floor_log10_pow2(q);
  i32 h = q + floor_log2_pow10(-k) + 1;
  u64 g = POW10_64[-k - POW10_64_MIN];
  int odd = c & 1;
  u32 lower = round_to_odd_32(g, (4 * c - 2 + lower_is_closer) << h) + odd;
  u32 v = round_to_odd_32(g, (4 * c) << h);
  u32 upper = round_to_odd_32(g, (4 * c + 2) << h) - odd;
  CHOOSE(u32, lower, v, upper, k);
}

static inline Decimal careful_shortest_64(u64 c, i32 q, int lower_is_closer) {
  i32 k = lower_is_closer ? floor_log10_three_quarters_pow2(q) : floor_log10_pow2(q);
  i32 h = q + floor_log2_pow10(-k) + 1;
  u64 hi = POW10_128[-k - POW10_128_MIN].hi, lo = POW10_128[-k - POW10_128_MIN].lo;
  int odd = c & 1;
  u64 lower = round_to_odd_64(hi, lo, (4 * c - 2 + lower_is_closer) << h) + odd;
  u64 v = round_to_odd_64(hi, lo, (4 * c) << h);
  u64 upper = round_to_odd_64(hi, lo, (4 * c + 2) << h) - odd;
  CHOOSE(u64, lower, v, upper, k);
}

/* True where numbers whose last two bits are not exact might be in the other order. */
static inline u32 is_close(u64 a, u64 b) { return a - b + 4 <= 8; }

/*
 * For c < 2^53 and -1074 <= q <= 971: float64. One multiplication in place of three gives the number in 64.64
 * bits, and tells all but what lies within some 2^-60 of a midpoint, half of the least digit, or both.
 */
static inline Decimal shortest_64(u64 c, i32 q, int lower_is_closer) {
  if (q <= 0 && q > -53 && (c & ((1ull << -q) - 1)) == 0) return (Decimal){c >> -q, 0};
  if (lower_is_closer || c < 1000) return careful_shortest_64(c, q, lower_is_closer);
  i32 k = floor_log10_pow2(q);
  i32 h = q + floor_log2_pow10(-k) + 1;
  u64 hi = POW10_128[-k - POW10_128_MIN].hi, lo = POW10_128[-k - POW10_128_MIN].lo;
  u64 fraction, unused;
  u64 whole = multiply_high(hi, c << h, &fraction);
  u64 carried = multiply_high(lo, c << h, &unused);
  fraction += carried;
  whole += fraction < carried;
  u64 tens = whole / 10;
  const u64 ten = 10ull << 60, half = 1ull << 63;
  u64 over = ((whole - 10 * tens) << 60) + (fraction >> 4), to_midpoint = hi >> (5 - h);
  u64 under = ten - over;
  if (is_close(over, to_midpoint) | is_close(under, to_midpoint) | is_close(fraction, half)) {
    return careful_shortest_64(c, q, 0);
  }
  u32 is_above = under < to_midpoint, is_tens = is_above | (over < to_midpoint);
  u64 chosen = -(u64)is_tens;
  __asm__("" : "+r"(chosen));
  u64 nearest = whole + (fraction > half);
  return (Decimal){nearest ^ ((nearest ^ 10 * (tens + is_above)) & chosen), k};
}
