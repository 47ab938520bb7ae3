/* Integers to text. */

static inline void store_8(u8 *at, u64 bytes) { __builtin_memcpy(at, &bytes, 8); }

static inline u64 load_8(const u8 *at) {
  u64 bytes;
  __builtin_memcpy(&bytes, at, 8);
  return bytes;
}

static const u32 POWERS[] = {0,      10,      100,      1000,      10000,
                             100000, 1000000, 10000000, 100000000, 1000000000};

static inline u32 digit_count_32(u32 value) {
  u32 guess = ((32 - __builtin_clz(value | 1)) * 1233) >> 12;
  return guess + 1 - (value < POWERS[guess]);
}

/* The 8 digits of a number below 10^8, one in each byte, the first in the lowest. */
static inline u64 eight_digits(u64 value) {
  u64 fours = (value * 109951163) >> 40;
  fours |= (value - 10000 * fours) << 32;
  u64 hundreds = ((fours * 10486) >> 20) & 0x0000007f0000007full;
  u64 pairs = hundreds | (fours - 100 * hundreds) << 16;
  u64 tens = ((pairs * 103) >> 10) & 0x000f000f000f000full;
  return tens | (pairs - 10 * tens) << 8;
}

/* The same as text. */
static inline u64 eight_characters(u32 value) { return eight_digits(value) + 0x3030303030303030ull; }

/* Writes `value` in its `count` digits; up to 8 bytes after them change, too. */
static inline void put_digits_32(u8 *at, u32 value, u32 count) {
  if (count > 8) {
    u32 high = value / 100000000;
    u32 high_count = count - 8;
    store_8(at, eight_characters(high) >> (64 - 8 * high_count));
    store_8(at + high_count, eight_characters(value - high * 100000000));
  } else {
    store_8(at, eight_characters(value) >> (64 - 8 * count));
  }
}

static u8 *put_u64(u8 *at, u64 value) {
  if (value <= 0xffffffffu) {
    u32 count = digit_count_32((u32)value);
    put_digits_32(at, (u32)value, count);
    return at + count;
  }
  at = put_u64(at, value / 100000000);
  store_8(at, eight_characters(value % 100000000));
  return at + 8;
}

static u8 *put_i64(u8 *at, i64 value) {
  if (value >= 0) return put_u64(at, value);
  *at++ = '-';
  return put_u64(at, -(u64)value);
}

static inline u8 *put_text(u8 *at, const char *text) {
  while (*text) *at++ = *text++;
  return at;
}

static inline u8 *put_comma(u8 *at) {
  *at = ',';
  return at + 1;
}
