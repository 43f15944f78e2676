/* What the store of a corpus, and files beside it, are made to hold besides events. */
#ifndef TESTS_BENCH_ERASE_STORE_H
#define TESTS_BENCH_ERASE_STORE_H

struct erase_corpus;

/* Facts, a summary, consent, settings, saved state, a recording, a journal of a room and vectors.
 * erase_events_fill came before: they are of its utterances. */
void erase_store_fill(struct erase_corpus *c);
/* What another erasure was writing when it was killed. */
void erase_store_leave_copies(const struct erase_corpus *c);
/* As if 40 days had gone by with the words kept for 60: rows of other kinds go after 30. Opens the
 * store anew. */
void erase_store_grow_old(struct erase_corpus *c);
/* A model had got the lines before, and answers now. */
void erase_store_extract(struct erase_corpus *c);

#endif
