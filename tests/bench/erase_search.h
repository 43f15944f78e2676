/* The search for Ana in a corpus (traces.h holds what is searched for). Each returns how much of
 * her it found. */
#ifndef TESTS_BENCH_ERASE_SEARCH_H
#define TESTS_BENCH_ERASE_SEARCH_H

struct erase_corpus;

/* Ends the bench if, before an erasure, a place that may hold her does not. */
void erase_search_check(const struct erase_corpus *c);
/* In an incident, made now. */
unsigned erase_search_incident(const struct erase_corpus *c);
/* Her words in the log. */
unsigned erase_search_log(const struct erase_corpus *c);
/* In the directory, a new backup, a file of facts and an export. Ends the bench if Bob's words are
 * gone, too. */
unsigned erase_search_exports(struct erase_corpus *c);
/* Rows that name nobody, and are of no use without what was erased. */
unsigned erase_search_orphans(const struct erase_corpus *c);

#endif
