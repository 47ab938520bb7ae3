/*
 * Numbers of tensors as the text of nested JSON arrays. JavaScript copies a run of elements to `input` and
 * takes the text from `output`; `sizes` and `positions` say where in the shape the run lies.
 *
 * Floats have the shortest digits that read back as the same value of their own type, in JavaScript's
 * notation with ".0" after whole numbers and no "+" in exponents, and TensorFlow Serving's NaN, Infinity
 * and -Infinity. See build.mjs for how this becomes src/gen.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

#define INPUT_BYTES (128 * 1024)
#define OUTPUT_BYTES (1024 * 1024)
#define MAX_RANK 256
/* TensorFlow's own limit (TensorShape::MaxDimensions). */
#define MAX_TENSOR_RANK 254
#ifndef EXPORT
#define EXPORT(name) __attribute__((export_name(#name)))
#endif
#define RARELY(condition) __builtin_expect((condition), 0)

#include "pow10.h"
#include "shortest.h"
#include "digits.h"
#include "layout.h"
#include "float32.h"
#include "notation.h"
#include "parse.h"

/* Text is read past its end. */
static u8 input[INPUT_BYTES + 64] __attribute__((aligned(16)));
/* Whole words are stored where fewer bytes are meant, hence the slack. */
static u8 output[OUTPUT_BYTES + 64] __attribute__((aligned(16)));
static u32 sizes[MAX_RANK];
static u32 positions[MAX_RANK];

EXPORT(input) u8 *get_input(void) { return input; }
EXPORT(output) u8 *get_output(void) { return output; }
EXPORT(sizes) u32 *get_sizes(void) { return sizes; }
EXPORT(positions) u32 *get_positions(void) { return positions; }

/* To be called before all else: fills the tables. */
EXPORT(set_up) void set_up(void) {
  set_up_layouts();
  set_up_float32();
}

/* All that follow write an element and a comma. */

static u8 *put_special(u8 *at, u32 is_negative, u32 is_nan) {
  if (is_nan) return put_text(at, "NaN,");
  return put_text(at, is_negative ? "-Infinity," : "Infinity,");
}

static u8 *put_rare_float32(u8 *at, u32 is_negative, u32 fraction, u32 exponent) {
  if (exponent == 255) return put_special(at, is_negative, fraction != 0);
  *at = '-';
  at += is_negative;
  NineDigits decimal = fraction ? nine_digits(shortest_32(fraction, -149, 0)) : POWERS_OF_TWO[0];
  return put_layout(at, decimal);
}

static inline u8 *put_float32(u8 *at, u32 bits) {
  u32 is_negative = bits >> 31, exponent = bits >> 23 & 255, fraction = bits & 0x7fffff;
  if (RARELY(exponent - 1 >= 254)) return put_rare_float32(at, is_negative, fraction, exponent);
  *at = '-';
  at += is_negative;
  if (RARELY(fraction == 0)) return put_layout(at, POWERS_OF_TWO[exponent]);
  return put_layout(at, shortest_float32(fraction, exponent));
}

/* A float of 16 bits with this many fraction and exponent bits. */
static inline u8 *put_half(u8 *at, u32 bits, u32 fraction_bits, u32 exponent_bits) {
  u32 max_exponent = (1u << exponent_bits) - 1;
  i32 bias = (i32)(max_exponent >> 1) + (i32)fraction_bits;
  u32 is_negative = bits >> 15;
  u32 exponent = (bits >> fraction_bits) & max_exponent;
  u32 fraction = bits & ((1u << fraction_bits) - 1);
  if (RARELY(exponent == max_exponent)) return put_special(at, is_negative, fraction != 0);
  *at = '-';
  at += is_negative;
  if (RARELY((bits & 0x7fff) == 0)) return put_layout(at, POWERS_OF_TWO[0]);
  u32 is_normal = exponent > 0;
  u32 c = fraction | is_normal << fraction_bits;
  i32 q = (i32)exponent + 1 - (i32)is_normal - bias;
  return put_layout(at, nine_digits(shortest_32(c, q, fraction == 0 && exponent > 1)));
}

static inline u8 *put_float16(u8 *at, u32 bits) { return put_half(at, bits, 10, 5); }
static inline u8 *put_bfloat16(u8 *at, u32 bits) { return put_half(at, bits, 7, 8); }

static inline u8 *put_float64(u8 *at, u64 bits) {
  u32 is_negative = (u32)(bits >> 63);
  u32 exponent = (u32)(bits >> 52) & 0x7ff;
  u64 fraction = bits & ((1ull << 52) - 1);
  if (exponent == 0x7ff) return put_special(at, is_negative, fraction != 0);
  *at = '-';
  at += is_negative;
  if (exponent == 0 && fraction == 0) return put_text(at, "0.0,");
  u32 is_normal = exponent > 0;
  u64 c = fraction | (u64)is_normal << 52;
  i32 q = (i32)exponent + 1 - (i32)is_normal - 1075;
  return put_comma(put_decimal_64(at, shortest_64(c, q, fraction == 0 && exponent > 1)));
}

static inline u8 *put_signed(u8 *at, i64 value) { return put_comma(put_i64(at, value)); }
static inline u8 *put_unsigned(u8 *at, u64 value) { return put_comma(put_u64(at, value)); }
static inline u8 *put_bool(u8 *at, u32 value) { return put_text(at, value ? "true," : "false,"); }

/* The brackets of every axis that ends after `taken` more elements, in place of the last comma. */
static u8 *put_row_end(u8 *at, u32 rank, u32 taken) {
  if (rank == 0) return at - 1;
  u32 axis = rank - 1, closed = 0;
  positions[axis] += taken;
  if (positions[axis] < sizes[axis]) return at;
  for (at--; positions[axis] == sizes[axis]; positions[axis]++) {
    *at++ = ']';
    closed++;
    positions[axis] = 0;
    if (axis-- == 0) return at;
  }
  *at++ = ',';
  for (u32 i = 0; i < closed; i++) *at++ = '[';
  return at;
}

/*
 * Writes `count` elements, those that follow the one at `positions`, and gives the bytes written. The commas
 * and brackets after them are written, too, and before the first element of all its brackets.
 */
#define WRITER(name, type, put)                                                \
  EXPORT(name) u32 name(u32 count, u32 rank, u32 is_first) {                   \
    const type *from = (const type *)input, *end = from + count;               \
    u8 *at = output;                                                           \
    for (u32 i = 0; is_first && i < rank; i++) *at++ = '[';                    \
    while (from < end) {                                                       \
      u32 left = rank == 0 ? 1 : sizes[rank - 1] - positions[rank - 1];        \
      u32 taken = left < (u32)(end - from) ? left : (u32)(end - from);         \
      const type *row_end = from + taken;                                      \
      while (from < row_end) at = put(at, *from++);                            \
      at = put_row_end(at, rank, taken);                                       \
    }                                                                          \
    return (u32)(at - output);                                                 \
  }

WRITER(float16, u16, put_float16)
WRITER(bfloat16, u16, put_bfloat16)
WRITER(float32, u32, put_float32)
WRITER(float64, u64, put_float64)
WRITER(int8, signed char, put_signed)
WRITER(int16, short, put_signed)
WRITER(int32, i32, put_signed)
WRITER(int64, i64, put_signed)
WRITER(uint8, u8, put_unsigned)
WRITER(uint16, u16, put_unsigned)
WRITER(uint32, u32, put_unsigned)
WRITER(uint64, u64, put_unsigned)
WRITER(boolean, u8, put_bool)

#include "read-numbers.h"
