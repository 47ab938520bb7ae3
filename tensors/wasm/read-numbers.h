/*
 * Nested lists of numbers, the same at every level, from JSON text to float64. Numbers are the grammar's, and bare
 * NaN, Infinity and -Infinity. Everything else is refused: lists that are empty or differ in size, integers
 * of 2^53 and beyond, other values, errors. JavaScript copies the text to `input`, a window at a time, and takes
 * the numbers from `output`; `sizes` are the shape so far.
 */
#define MAX_SLOW 1024
/* A number, and some more bytes, begun this far from the end of a window is whole. */
#define WINDOW_MARGIN 64

enum { MORE, DONE, NOT_NUMBERS };

static struct {
  u32 consumed, count, rank, slow_count;
} reading;

/* Numbers whose values are left to JavaScript: their index in `output`, and their place in `input`. */
static struct {
  u32 index, start, end;
} slow[MAX_SLOW];

static u32 depth, is_after_value;

static inline const u8 *skip_space(const u8 *at) {
  while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') at++;
  return at;
}

static u32 starts_with(const u8 *at, const char *text) {
  while (*text) {
    if (*at++ != (u8)*text++) return 0;
  }
  return 1;
}

/* NaN and the infinities; gives their length, or 0. */
static u32 read_special(const u8 *at, double *to) {
  u32 sign = *at == '-';
  if (starts_with(at + sign, "Infinity")) {
    *to = sign ? -__builtin_inf() : __builtin_inf();
    return 8 + sign;
  }
  *to = __builtin_nan("");
  return starts_with(at, "NaN") ? 3 : 0;
}

/* A list ends: of the size of those before it. */
static u32 close_list(void) {
  u32 size = positions[--depth] + 1;
  if (sizes[depth] == 0) sizes[depth] = size;
  return sizes[depth] == size;
}

static u32 suspend(const u8 *at, u32 count, u32 after_value) {
  is_after_value = after_value;
  reading.consumed = (u32)(at - input);
  reading.count = count;
  return MORE;
}

/* To be called before the first window of a list. */
EXPORT(read_start) void read_start(void) {
  depth = reading.rank = is_after_value = 0;
  for (u32 i = 0; i < MAX_RANK; i++) sizes[i] = 0;
}

/* A number that is not the usual; gives the place after it, or its start where it is none. */
static const u8 *read_rare(const u8 *start, const u8 *end, NumberOutcome outcome, double *to) {
  if (outcome == REFUSED) return start + read_special(start, to);
  slow[reading.slow_count].index = (u32)(to - (double *)output);
  slow[reading.slow_count].start = (u32)(start - input);
  slow[reading.slow_count++].end = (u32)(end - input);
  return end;
}

/* Reads the window on to where its last whole number ends, or the list. */
EXPORT(read_window) u32 read_window(u32 length, u32 is_last) {
  const u8 *at = input, *end = input + length;
  const u8 *limit = is_last ? end : end - WINDOW_MARGIN;
  double *numbers = (double *)output, *to = numbers;
  u32 has_value = is_after_value;
  for (u32 i = 0; i < WINDOW_MARGIN; i++) input[length + i] = 0;
  reading.slow_count = 0;
  for (;; has_value = 0) {
    if (!has_value) {
      at = skip_space(at);
      if (at >= limit || reading.slow_count == MAX_SLOW) return suspend(at, (u32)(to - numbers), 0);
      if (*at == '[') {
        if (depth == MAX_TENSOR_RANK || (reading.rank != 0 && depth == reading.rank)) return NOT_NUMBERS;
        positions[depth++] = 0;
        at++;
        continue;
      }
      if (reading.rank == 0) reading.rank = depth;
      if (depth != reading.rank) return NOT_NUMBERS;
      const u8 *start = at;
      NumberOutcome outcome = read_number(&at, to);
      if (RARELY(outcome != READ)) at = read_rare(start, at, outcome, to);
      if (RARELY(at == start || at >= end)) return NOT_NUMBERS;
      to++;
    }
    for (;;) {
      if (RARELY(*at <= ' ')) at = skip_space(at);
      if (*at != ']') break;
      at++;
      if (!close_list()) return NOT_NUMBERS;
      if (depth == 0) {
        suspend(at, (u32)(to - numbers), 0);
        return DONE;
      }
    }
    if (*at != ',') {
      if (at < end || is_last) return NOT_NUMBERS;
      return suspend(at, (u32)(to - numbers), 1);
    }
    positions[depth - 1]++;
    at++;
  }
}

EXPORT(reading) u32 *get_reading(void) { return (u32 *)&reading; }
EXPORT(slow) u32 *get_slow(void) { return (u32 *)slow; }
