/*
 * Compares the text of every positive float32 with the C++ library's shortest digits in JavaScript's notation:
 * takes minutes. Prints what differs, and how many.
 *
 * c++ -O2 -std=c++17 -fpermissive -w check-float32.cc -o /tmp/check-float32 && /tmp/check-float32
 */
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define EXPORT(name)
#include "json-numbers.c"

/* Of digits in scientific notation: `d.dddde-dd`. Gives the end. */
static char *in_our_notation(char *to, const char *digits, int count, int point) {
  auto put = [&](const char *from, int length) {
    std::memcpy(to, from, length);
    to += length;
  };
  auto zeros = [&](int length) {
    for (int i = 0; i < length; i++) *to++ = '0';
  };
  if (point > 21 || point <= -6) {
    put(digits, 1);
    if (count > 1) *to++ = '.';
    put(digits + 1, count - 1);
    return to + std::sprintf(to, "e%d", point - 1);
  }
  if (point <= 0) {
    put("0.", 2);
    zeros(-point);
    put(digits, count);
  } else if (point < count) {
    put(digits, point);
    *to++ = '.';
    put(digits + point, count - point);
  } else {
    put(digits, count);
    zeros(point - count);
    put(".0", 2);
  }
  return to;
}

static char *expected(char *to, u32 bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  char text[64], digits[32];
  char *end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  int count = 0;
  char *at = text;
  for (; *at != 'e'; at++) {
    if (*at != '.') digits[count++] = *at;
  }
  *end = 0;
  return in_our_notation(to, digits, count, std::atoi(at + 1) + 1);
}

int main() {
  set_up();
  u64 different = 0;
  for (u32 bits = 1; bits < 0x7f800000; bits++) {
    char ours[64], theirs[64];
    char *our_end = (char *)put_float32((u8 *)ours, bits);
    char *their_end = expected(theirs, bits);
    *their_end++ = ',';
    if (our_end - ours == their_end - theirs && std::memcmp(ours, theirs, our_end - ours) == 0) continue;
    if (different++ < 10) {
      std::printf("0x%08x: %.*s not %.*s\n", bits, (int)(our_end - ours), ours, (int)(their_end - theirs), theirs);
    }
  }
  std::printf("%llu differ\n", different);
  return different != 0;
}
