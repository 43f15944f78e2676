/* Questions to the scripted brain (brain.h), paired with the utterances that they answer
 * (journal_times.h). */
#ifndef TESTS_BENCH_ASK_TIMES_H
#define TESTS_BENCH_ASK_TIMES_H

#include <stdbool.h>
#include <stddef.h>

struct brain_asked;
struct journal_times;

/* The provider's connection of this room: the one whose questions match the room's best. */
unsigned ask_times_conn(const struct journal_times *s, const struct brain_asked *asked, size_t n);
/* From the end of the utterance, with the endpointing delay, to the question on the brain's socket.
 * False: it answers no utterance of this room. */
bool ask_times_ms(const struct journal_times *s, const struct brain_asked *asked, double *ms);

#endif
