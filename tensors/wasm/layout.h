/*
 * Decimals of at most 9 digits to text in JavaScript's notation (Number::toString of ECMA-262) with ".0" after
 * whole numbers and no "+" in exponents, without a branch: digits become bytes of a vector, three to a word,
 * and a table that goes by the place of the decimal point says which of them stands where.
 */

/* The decimal point after the first `point` of the digits: 1e-45 to 3.4028235e38. */
#define POINT_MIN (-44)
#define POINT_MAX 39

/*
 * Text to be: the first three of 9 digits before the fraction of a fixed-point number, the others as its
 * fraction, rounded up; the first digit not 0 but for the number 0; the decimal point after `point` of them.
 */
typedef struct {
  u64 digits;
  i32 point;
} NineDigits;

#define DIGITS_FRACTION 50
/* What a number of 9 digits is multiplied by, one of 8 digits, and so on. */
static const u64 DIGITS_SCALE[] = {
    1125899907, 11258999069, 112589990685, 1125899906843, 11258999068427,
    112589990684263, 1125899906842624, 11258999068426240, 112589990684262400};

typedef u8 Bytes16 __attribute__((vector_size(16)));
typedef u32 Words4 __attribute__((vector_size(16)));

/* Indices into the vector of digits, see put_layout. */
enum { ZERO = 3, DOT = 12 };

typedef struct {
  u8 order[16];
  /* What follows the digits that have a meaning: an exponent, or zeros of a number too long; and a comma. */
  u64 suffix;
  /* 5 bits each: the bytes before the suffix by the index of the last digit that is not 0, and, the
     uppermost, the bytes of the suffix. */
  u64 lengths;
} Layout;

#define SUFFIX_LENGTH_AT 55

static Layout LAYOUTS[POINT_MAX - POINT_MIN + 1];
/* The digits of 0 to 999 as text, and a "0". */
static u32 TRIPLES[1000];

static inline Bytes16 pick(Bytes16 bytes, Bytes16 order) {
#ifdef __wasm__
  return (Bytes16)__builtin_wasm_swizzle_i8x16(bytes, order);
#else
  return __builtin_shuffle(bytes, order);
#endif
}

/* A bit for each byte that is not the same. */
static inline u32 differences(Bytes16 a, Bytes16 b) {
#ifdef __wasm__
  return __builtin_wasm_bitmask_i8x16(a != b);
#elif defined(__SSE2__)
  typedef char Chars16 __attribute__((vector_size(16)));
  return (u32)__builtin_ia32_pmovmskb128((Chars16)(a != b));
#else
  u32 bits = 0;
  for (u32 i = 0; i < 16; i++) bits |= (u32)(a[i] != b[i]) << i;
  return bits;
#endif
}

static u32 digit_index(u32 digit) { return digit > 8 ? ZERO : digit + digit / 3; }

static u32 put_suffix(Layout *layout, const char *text) {
  u32 length = 0;
  for (; text[length]; length++) layout->suffix |= (u64)(u8)text[length] << (8 * length);
  return length;
}

static u32 put_exponent(Layout *layout, i32 exponent) {
  char text[8] = {'e'};
  u32 length = 1;
  u32 size = (u32)(exponent < 0 ? -exponent : exponent);
  if (exponent < 0) text[length++] = '-';
  if (size >= 10) text[length++] = (char)('0' + size / 10);
  text[length++] = (char)('0' + size % 10);
  text[length++] = ',';
  return put_suffix(layout, text);
}

static void set_up_layout(Layout *layout, i32 point) {
  u32 is_fixed = point > -6 && point <= 21;
  /* Digits before the point, and zeros between it and the digits. */
  u32 whole = !is_fixed ? 1 : point > 0 ? (u32)point : 0;
  u32 zeros = is_fixed && point < 0 ? (u32)-point : 0;
  u32 at = 0, digit = 0;
  if (whole == 0) layout->order[at++] = ZERO;
  while (digit < whole && at < 16) layout->order[at++] = (u8)digit_index(digit++);
  if (at < 16) layout->order[at++] = DOT;
  for (u32 i = 0; i < zeros; i++) layout->order[at++] = ZERO;
  while (at < 16) layout->order[at++] = (u8)digit_index(digit++);
  /* The uppermost 15 of a whole number and its ".0" do not fit 16 bytes. */
  const char *longer = "00000.0,";
  u32 suffix = !is_fixed ? put_exponent(layout, point - 1)
               : point < 15 ? put_suffix(layout, ",")
               : point == 15 ? put_suffix(layout, "0,")
                             : put_suffix(layout, longer + 21 - point);
  layout->lengths = (u64)suffix << SUFFIX_LENGTH_AT;
  for (u32 count = 1; count <= 9; count++) {
    u32 length = whole == 0 ? 2 + zeros + count : count > whole ? count + 1 : whole + 2;
    if (!is_fixed && count == 1) length = 1;
    if (length > 16) length = 16;
    layout->lengths |= (u64)length << (5 * digit_index(count - 1));
  }
}

static void set_up_layouts(void) {
  for (i32 point = POINT_MIN; point <= POINT_MAX; point++) set_up_layout(&LAYOUTS[point - POINT_MIN], point);
  for (u32 i = 0; i < 1000; i++) TRIPLES[i] = 0x30303030 + i / 100 + (i / 10 % 10 << 8) + (i % 10 << 16);
}

/* Writes the number and a comma; stores up to 24 bytes. */
static inline u8 *put_layout(u8 *at, NineDigits decimal) {
  const u64 fraction = (1ull << DIGITS_FRACTION) - 1;
  const Layout *layout = &LAYOUTS[decimal.point - POINT_MIN];
  u64 second = (decimal.digits & fraction) * 1000;
  u64 third = (second & fraction) * 1000;
  Words4 words = {TRIPLES[decimal.digits >> DIGITS_FRACTION], TRIPLES[second >> DIGITS_FRACTION],
                  TRIPLES[third >> DIGITS_FRACTION], 0x3030302e};
  Bytes16 text = (Bytes16)words, order;
  __builtin_memcpy(&order, layout->order, 16);
  Bytes16 ordered = pick(text, order);
  __builtin_memcpy(at, &ordered, 16);
  const Bytes16 zeros = {'0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '.', '0', '0', '0'};
  u32 last = 31 - (u32)__builtin_clz(differences(text, zeros) | 1);
  at += layout->lengths >> (5 * last) & 31;
  store_8(at, layout->suffix);
  return at + (layout->lengths >> SUFFIX_LENGTH_AT);
}
