/*
 * The shortest decimals of float32 (see shortest.h for what that is) with one multiplication: the number and
 * the distance to its midpoints, both divided by the power of ten that leaves 7 to 9 digits, are fixed-point
 * numbers of 28 and 36 bits. check-float32.cc compares all of them with the C++ library.
 */

/* For each exponent field: 10^k <= 2^q < 10^(k + 1). */
typedef struct {
  /* 2^q / 10^k in 4 and 60 bits, rounded up. */
  u64 scale;
  /* The least number that has a digit more than the others. */
  u32 threshold;
  /* The decimal point of the others: k and their digits. */
  i32 point;
  /* The members of DIGITS_SCALE for the others, and from the threshold on. */
  u64 digits_scale[2];
} Float32Scale;

static Float32Scale FLOAT32_SCALES[256];

/* The powers of two by their exponent field, and 0. */
static NineDigits POWERS_OF_TWO[256];

/* Of any decimal with at most 9 digits, not 0. */
static inline NineDigits nine_digits(Decimal decimal) {
  u32 count = digit_count_32((u32)decimal.digits);
  return (NineDigits){decimal.digits * DIGITS_SCALE[9 - count], decimal.exponent + (i32)count};
}

static void set_up_float32(void) {
  POWERS_OF_TWO[0] = (NineDigits){0, 1};
  for (i32 exponent = 1; exponent < 255; exponent++) {
    i32 q = exponent - 150;
    i32 k = floor_log10_pow2(q);
    i32 cut = 3 - q - floor_log2_pow10(-k);
    u64 scale = ((POW10_64[-k - POW10_64_MIN] - 1) >> cut) + 1;
    u32 count = digit_count_32((u32)(scale >> (60 - 23)));
    FLOAT32_SCALES[exponent] = (Float32Scale){
        scale, POWERS[count], k + (i32)count, {DIGITS_SCALE[9 - count], count < 9 ? DIGITS_SCALE[8 - count] : 0}};
    POWERS_OF_TWO[exponent] = nine_digits(shortest_32(1u << 23, q, exponent > 1));
  }
}

/* For normal numbers, the fraction not 0: their midpoints are equally far. */
static inline NineDigits shortest_float32(u32 fraction, u32 exponent) {
  const u64 ten = 10ull << 36, half = 1ull << 35;
  const Float32Scale *scale = &FLOAT32_SCALES[exponent];
  u64 c = (u64)(fraction | 0x800000) << 8;
  u64 v = (scale->scale >> 32) * c + (((scale->scale & 0xffffffff) * c) >> 32);
  /* Even numbers own their midpoints. The last two bits of v and of the distance are not exact. */
  u64 to_midpoint = (scale->scale >> 25) + 2 - 4 * (fraction & 1);
  u64 upper = v + to_midpoint;
  u64 tens = ((upper >> 36) * 429496730) >> 32;
  u64 nearest = (v + half - 1 + (v >> 36 & 1)) >> 36;
  /* All bits where a multiple of ten lies between the midpoints; a branch would be mispredicted. */
  u64 is_tens = -(u64)(upper - tens * ten <= 2 * to_midpoint);
  __asm__("" : "+r"(is_tens));
  u64 digits = nearest ^ ((nearest ^ 10 * tens) & is_tens);
  u32 has_more = digits >= scale->threshold;
  return (NineDigits){digits * scale->digits_scale[has_more], scale->point + (i32)has_more};
}
