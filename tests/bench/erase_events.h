/* What Ana, Bob and the bot say, write and do in a corpus, as events that the store and the turn
 * file take from the bus. */
#ifndef TESTS_BENCH_ERASE_EVENTS_H
#define TESTS_BENCH_ERASE_EVENTS_H

struct erase_corpus;

/* Random ones, in two turn files. The corpus was opened just now. */
void erase_events_fill(struct erase_corpus *c);

#endif
