/* Decimals of up to 17 digits in the notation of layout.h, for any exponent. */

/* Digits before they are laid out: at most 17, the high part before eight more where `is_long`. */
typedef struct {
  u32 high, low;
  u32 count;
  int is_long;
} Digits;

/* As put_digits_32, for at most 9 digits, without a branch on their number. */
static inline void put_nine_digits(u8 *at, u32 value, u32 count) {
  u32 first = value / 100000000;
  u32 is_nine = count > 8;
  *at = (u8)('0' + first);
  store_8(at + is_nine, eight_characters(value - first * 100000000) >> (is_nine ? 0 : 64 - 8 * count));
}

static inline void put_digits(u8 *at, Digits digits) {
  if (!digits.is_long) {
    put_nine_digits(at, digits.high, digits.count);
    return;
  }
  put_nine_digits(at, digits.high, digits.count - 8);
  store_8(at + digits.count - 8, eight_characters(digits.low));
}

/* Lays out digits in JavaScript's notation, the decimal point after the first `point` of them. */
static inline u8 *put_notation(u8 *at, Digits digits, i32 point) {
  i32 count = (i32)digits.count;
  if (point > -6 && point <= 0) {
    store_8(at, 0x3030303030302e30ull); /* 0.000000 */
    at += 2 - point;
    put_digits(at, digits);
    return at + count;
  }
  if (point > 0 && point < count) {
    put_digits(at, digits);
    u64 first = load_8(at + point), second = load_8(at + point + 8);
    at[point] = '.';
    store_8(at + point + 1, first);
    if (digits.is_long) store_8(at + point + 9, second);
    return at + count + 1;
  }
  if (point > 0 && point <= 21) {
    put_digits(at, digits);
    at += count;
    for (i32 i = count; i < point; i++) *at++ = '0';
    return put_text(at, ".0");
  }
  put_digits(at + 1, digits);
  at[0] = at[1];
  at[1] = '.';
  at += count == 1 ? 1 : count + 1;
  *at++ = 'e';
  return put_i64(at, point - 1);
}

static inline u8 *put_short_decimal(u8 *at, Decimal decimal) {
  u32 value = (u32)decimal.digits;
  i32 exponent = decimal.exponent;
  while (value % 10 == 0) {
    value /= 10;
    exponent++;
  }
  Digits digits = {value, 0, digit_count_32(value), 0};
  return put_notation(at, digits, (i32)digits.count + exponent);
}

static inline u8 *put_decimal_64(u8 *at, Decimal decimal) {
  u64 value = decimal.digits;
  while (value % 10 == 0) {
    value /= 10;
    decimal.exponent++;
  }
  if (value < 1000000000) return put_short_decimal(at, (Decimal){value, decimal.exponent});
  u32 high = (u32)(value / 100000000);
  Digits digits = {high, (u32)(value % 100000000), digit_count_32(high) + 8, 1};
  return put_notation(at, digits, (i32)digits.count + decimal.exponent);
}
