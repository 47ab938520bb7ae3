/* Decimals of up to 17 digits in the notation of layout.h, for any exponent. */

/* 17 digits as text: one, eight and eight; zeros follow the first `count` of them. */
typedef struct {
  u64 first, middle, last;
  i32 count;
} Digits;

static const u64 POWERS_64[] = {
    1ull,           10ull,           100ull,           1000ull,           10000ull,           100000ull,
    1000000ull,     10000000ull,     100000000ull,     1000000000ull,     10000000000ull,     100000000000ull,
    1000000000000ull, 10000000000000ull, 100000000000000ull, 1000000000000000ull, 10000000000000000ull};

/* Of a number below 10^17. */
static inline i32 digit_count_64(u64 value) {
  u32 guess = ((64 - (u32)__builtin_clzll(value)) * 1233) >> 12;
  return (i32)(guess + (guess < 17 && value >= POWERS_64[guess]));
}

/* Of a number of at most 17 digits that fill them. */
static inline Digits digits_of(u64 value) {
  const u64 zeros = 0x3030303030303030ull;
  u64 upper = value / 100000000;
  u64 first = upper / 100000000;
  u64 middle = eight_digits(upper - first * 100000000), last = eight_digits(value - upper * 100000000);
  i32 count = last ? 17 - __builtin_clzll(last) / 8 : middle ? 9 - __builtin_clzll(middle) / 8 : 1;
  return (Digits){first + '0', middle + zeros, last + zeros, count};
}

static inline void put_digits(u8 *at, Digits digits) {
  *at = (u8)digits.first;
  store_8(at + 1, digits.middle);
  store_8(at + 9, digits.last);
}

/* Numbers of up to 7 digits before the point: among the first 8 bytes it is put in a register. */
static inline u8 *put_small_number(u8 *at, Digits digits, i32 point) {
  put_digits(at + 1, digits);
  u64 text = digits.first | digits.middle << 8;
  u64 whole = (1ull << 8 * point) - 1;
  store_8(at, (text & whole) | (u64)'.' << 8 * point | (text & ~whole) << 8);
  return at + (digits.count > point ? digits.count + 1 : point + 2);
}

static inline u8 *put_large_number(u8 *at, Digits digits, i32 point) {
  put_digits(at, digits);
  store_8(at + 17, 0x3030303030303030ull);
  u64 first = load_8(at + point), second = load_8(at + point + 8);
  at[point] = '.';
  store_8(at + point + 1, first);
  store_8(at + point + 9, second);
  return at + (digits.count > point ? digits.count + 1 : point + 2);
}

/* Lays out digits in JavaScript's notation, the decimal point after the first `point` of them. */
static inline u8 *put_notation(u8 *at, Digits digits, i32 point) {
  if (point > -6 && point <= 0) {
    store_8(at, 0x3030303030302e30ull); /* 0.000000 */
    put_digits(at + 2 - point, digits);
    return at + 2 - point + digits.count;
  }
  if (point > 0 && point <= 7) return put_small_number(at, digits, point);
  if (point > 0 && point <= 21) return put_large_number(at, digits, point);
  put_digits(at + 1, digits);
  at[0] = (u8)digits.first;
  at[1] = '.';
  at += digits.count == 1 ? 1 : digits.count + 1;
  *at++ = 'e';
  return put_i64(at, point - 1);
}

static inline u8 *put_decimal_64(u8 *at, Decimal decimal) {
  i32 size = digit_count_64(decimal.digits);
  return put_notation(at, digits_of(decimal.digits * POWERS_64[17 - size]), decimal.exponent + size);
}
