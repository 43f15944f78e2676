/* The words of a turn in the store: what was heard, and the turn that has them instead. */
#ifndef CONTROL_STORE_TURN_HEARD_H
#define CONTROL_STORE_TURN_HEARD_H

#include <stdint.h>

struct db;

/* "hello", or "alice: hello / bob: you" when several spoke; "" when no words are kept. seq: the
 * turn's row; speaker: its user. NULL without memory. The caller frees it. */
char *turn_heard(struct db *db, uint64_t seq, uint64_t speaker);
/* The row of the turn into which this one was merged. 0: it was not, or that one has not ended. */
uint64_t turn_merged_into(struct db *db, uint64_t seq);

#endif
