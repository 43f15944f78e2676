/* Whether a corpus has a trace of its person in every place of the database that may hold one, so
 * that an erasure which leaves a place out is noticed, also of a table that is made later. */
#ifndef TESTS_BENCH_CANARIES_H
#define TESTS_BENCH_CANARIES_H

/* How many columns of the database in this file have none of the traces (traces.h), and are not
 * named as those that hold nobody. Names them on stderr; ends the bench if it cannot read them. */
unsigned canaries_missing(const char *database);

#endif
