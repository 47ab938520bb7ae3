/*
 * The text of numbers to float64, correctly rounded: Daniel Lemire, "Number Parsing at a Gigabyte per Second"
 * (2021), https://arxiv.org/abs/2101.11408, and before it the exact cases of William Clinger.
 */

/* Digits and what follows them are loaded 8 at a time, past the end of the text, too. */
#define MAX_LOADED_AFTER 8

/* A bit in each byte that is no digit, the rest 0. */
static inline u64 not_digits(u64 bytes) {
  u64 values = bytes ^ 0x3030303030303030ull;
  return (((values & 0x7f7f7f7f7f7f7f7full) + 0x7676767676767676ull) | values) & 0x8080808080808080ull;
}

/* The number that 8 digits make, their first in the lowest byte. */
static inline u64 digits_value(u64 digits) {
  const u64 mask = 0x000000ff000000ffull;
  digits = digits * 10 + (digits >> 8);
  return ((digits & mask) * 0x000f424000000064ull + (digits >> 16 & mask) * 0x0000271000000001ull) >> 32;
}

/* Appends the digits at `at` to `value`; where they are too many it overflows. */
static inline const u8 *read_digits(const u8 *at, u64 *value) {
  for (;;) {
    u64 bytes = load_8(at);
    u64 others = not_digits(bytes);
    if (others == 0) {
      *value = *value * 100000000 + digits_value(bytes & 0x0f0f0f0f0f0f0f0full);
      at += 8;
      continue;
    }
    u32 bits = (u32)__builtin_ctzll(others) & ~7u;
    if (bits == 0) return at;
    static const u32 SCALE[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    *value = *value * SCALE[bits >> 3] + digits_value((bytes & 0x0f0f0f0f0f0f0f0full) << (64 - bits));
    return at + (bits >> 3);
  }
}

/* The float64 nearest to value * 10^exponent, value not 0; 0 where this way cannot tell or it is not normal. */
static inline int nearest_float64(u64 value, i32 exponent, u64 *bits) {
  if (exponent < POW10_128_MIN || exponent > 308) return 0;
  u64 hi = POW10_128[exponent - POW10_128_MIN].hi, lo = POW10_128[exponent - POW10_128_MIN].lo;
  /* Within these the power, or its inverse, is exact; beyond them the paper's table is rounded down. */
  int is_exact = exponent >= -27 && exponent <= 55;
  if (!is_exact) hi -= lo-- == 0;
  i32 zeros = __builtin_clzll(value);
  value <<= zeros;
  u64 lower, upper = multiply_high(value, hi, &lower);
  if ((upper & 0x1ff) == 0x1ff) {
    u64 unused, second = multiply_high(value, lo, &unused);
    lower += second;
    upper += lower < second;
  }
  if (lower == ~0ull && !is_exact) return 0;
  u32 top = (u32)(upper >> 63);
  u64 mantissa = upper >> (top + 9);
  i32 power = floor_log2_pow10(exponent) + 63 + (i32)top - zeros + 1023;
  if (power <= 0 || power >= 0x7fe) return 0;
  /* Halfway between two: to the even one. */
  if (lower <= 1 && exponent >= -4 && exponent <= 23 && (mantissa & 3) == 1 && mantissa << (top + 9) == upper) {
    mantissa &= ~1ull;
  }
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  /* Where all bits were rounded up, the mantissa's upper bit moves on to the exponent. */
  *bits = ((u64)(power - 1) << 52) + mantissa;
  return 1;
}

typedef enum { READ, SLOW, REFUSED } NumberOutcome;

/* A number of the text: *at moves past it; SLOW where its value is left to the caller. */
static inline NumberOutcome read_number(const u8 **from, double *to) {
  static const double POWERS_OF_TEN[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                         1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const u8 *at = *from;
  u64 is_negative = *at == '-';
  at += is_negative;
  const u8 *first = at;
  u64 value = 0;
  i32 exponent = 0;
  u32 is_integer = 1;
  if (*at == '0') {
    at++;
  } else {
    at = read_digits(at, &value);
    if (at == first) return REFUSED;
  }
  u32 count = (u32)(at - first);
  if (*at == '.') {
    const u8 *fraction = ++at;
    at = read_digits(at, &value);
    if (at == fraction) return REFUSED;
    exponent = (i32)(fraction - at);
    count += (u32)(at - fraction);
    is_integer = 0;
  } else if (*at - '0' < 10u) {
    return REFUSED;
  }
  if ((*at | 32) == 'e') {
    at++;
    u32 is_below_one = *at == '-';
    at += is_below_one | (*at == '+');
    u64 size = 0;
    const u8 *digits = at;
    at = read_digits(at, &size);
    if (at == digits) return REFUSED;
    /* More digits than those are slow, whatever they are. */
    if (at - digits > 8) count = 100;
    exponent += is_below_one ? -(i32)size : (i32)size;
    is_integer = 0;
  }
  *from = at;
  if (RARELY(count > 19)) {
    /* Zeros before the digits do not count. */
    while (count > 19 && count < 100 && (*first == '0' || *first == '.')) count -= *first++ == '0';
    if (count > 19) return is_integer ? REFUSED : SLOW;
  }
  const u64 max_exact = 1ull << 53;
  u64 bits;
  if (value <= max_exact && exponent >= -22 && exponent <= 22) {
    double magnitude = (double)value;
    magnitude = exponent < 0 ? magnitude / POWERS_OF_TEN[-exponent] : magnitude * POWERS_OF_TEN[exponent];
    __builtin_memcpy(&bits, &magnitude, 8);
    /* 2^53 is the first integer that is not safe. */
    if (is_integer && value == max_exact) return REFUSED;
  } else if (value == 0) {
    bits = 0;
  } else if (is_integer) {
    return REFUSED;
  } else if (!nearest_float64(value, exponent, &bits)) {
    return SLOW;
  }
  bits |= is_negative << 63;
  __builtin_memcpy(to, &bits, 8);
  return READ;
}
