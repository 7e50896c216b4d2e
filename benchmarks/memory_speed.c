/* What memory gives one thread: reading in sequence, following a chain of lines, reading lines that
 * do not depend on each other. Compiled and called by memory_speed.py. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

enum { LINE_BYTES = 64, NUMBERS = LINE_BYTES / 8, HUGE_PAGE = 1 << 21 };
enum { SEQUENCE_BYTES = 1 << 28, CHAIN_STEPS = 1 << 20, RANDOM_STEPS = 1 << 22 };

typedef struct {
  uint64_t number[NUMBERS]; /* the first is the next line of the chain */
} Line;

/* Keeps the compiler from leaving out what is only measured. */
static volatile uint64_t sink;

/* CPU time of this thread: what others take of a busy core is not in it. */
static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Well mixed bits of a number that count nothing on the one before it. */
static uint64_t mixed(uint64_t i) {
  i *= 0x9E3779B97F4A7C15u;
  i ^= i >> 29;
  i *= 0xBF58476D1CE4E5B9u;
  return i >> 32;
}

static size_t place(uint64_t i, size_t lines) { return (size_t)(mixed(i) * lines >> 32); }

/* One cycle through all lines, in random order (Sattolo's shuffle). */
static void link_lines(Line* line, size_t lines) {
  for (size_t i = 0; i < lines; ++i) line[i].number[0] = i;
  for (size_t i = lines - 1; i > 0; --i) {
    const size_t j = place(i, i);
    const uint64_t other = line[j].number[0];
    line[j].number[0] = line[i].number[0];
    line[i].number[0] = other;
  }
}

/* Nanoseconds per byte. */
static double read_in_sequence(const Line* line, size_t lines) {
  const size_t passes = SEQUENCE_BYTES / (lines * LINE_BYTES) + 1;
  uint64_t sum[NUMBERS] = {0};
  const double begin = seconds();
  for (size_t pass = 0; pass < passes; ++pass)
    for (size_t i = 0; i < lines; ++i)
      for (int k = 0; k < NUMBERS; ++k) sum[k] += line[i].number[k];
  const double taken = seconds() - begin;
  for (int k = 0; k < NUMBERS; ++k) sink += sum[k];
  return 1e9 * taken / ((double)passes * (double)lines * LINE_BYTES);
}

/* Nanoseconds per line, each of which says where the next one is. */
static double follow_chain(const Line* line) {
  uint64_t at = line[0].number[0];
  const double begin = seconds();
  for (int i = 0; i < CHAIN_STEPS; ++i) at = line[at].number[0];
  const double taken = seconds() - begin;
  sink += at;
  return 1e9 * taken / CHAIN_STEPS;
}

/* Nanoseconds per line, where the processor may ask for many at a time. */
static double read_at_random(const Line* line, size_t lines, uint64_t from) {
  uint64_t sum = 0;
  const double begin = seconds();
  for (uint64_t i = from; i < from + RANDOM_STEPS; ++i) sum += line[place(i, lines)].number[1];
  const double taken = seconds() - begin;
  sink += sum;
  return 1e9 * taken / RANDOM_STEPS;
}

static void keep_least(double* least, double found) {
  if (found < *least) *least = found;
}

/* The least of so many repeats over an array of so many bytes, at most 2^38: nanoseconds per byte
 * in sequence, per line of a chain, per line at random. Not 0 if there is no such memory. */
int measure_memory(size_t bytes, int repeats, double result[3]) {
  const size_t lines = bytes < 2 * LINE_BYTES ? 2 : bytes / LINE_BYTES;
  const size_t held = (lines * LINE_BYTES + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  Line* const line = aligned_alloc(HUGE_PAGE, held);
  if (line == NULL) return 1;
#if defined(__linux__)
  madvise(line, held, MADV_HUGEPAGE); /* as the model's own memory */
#endif
  for (size_t i = 0; i < lines; ++i)
    for (int k = 0; k < NUMBERS; ++k) line[i].number[k] = i;
  link_lines(line, lines);
  for (int i = 0; i < 3; ++i) result[i] = 1e9;
  for (int r = 0; r < repeats; ++r) {
    keep_least(&result[0], read_in_sequence(line, lines));
    keep_least(&result[1], follow_chain(line));
    keep_least(&result[2], read_at_random(line, lines, (uint64_t)r * RANDOM_STEPS));
  }
  free(line);
  return 0;
}
