/* The re-keys that members of a call can cause by what only we find invalid, in one day.
 *
 * A request of new keys re-keys the whole group. A member can cause requests without end, by
 * packets that we cannot decrypt, by commits and by welcomes, so all of them share one budget. From
 * the sixth re-key of a day on, each answer to an invalid message waits longer than the one before.
 * Requests for single speakers count for that wait, too. Requests for single speakers leave some of
 * the budget to the answers, because without an answer we can neither hear nor speak.
 *
 * A value of its owner, all zero at first; times in ns. Pure. */
#ifndef MEDIAD_DAVE_REKEY_BUDGET_H
#define MEDIAD_DAVE_REKEY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum {
	REKEY_BUDGET_A_DAY = 10, /* in any 24 hours */
	REKEY_BUDGET_SINGLE = 6, /* of these for single speakers */
};

struct rekey_budget {
	struct {
		uint64_t at;
		bool single;
	} spent[REKEY_BUDGET_A_DAY]; /* the oldest first */
	unsigned n;
};

/* Returns when the next answer to an invalid message may be sent. */
uint64_t rekey_budget_next(const struct rekey_budget *b);
/* Takes one for such an answer. Returns false before rekey_budget_next. */
bool rekey_budget_take(struct rekey_budget *b, uint64_t now);
/* Takes one without waiting for rekey_budget_next. Returns false when the day's are spent. */
bool rekey_budget_take_early(struct rekey_budget *b, uint64_t now);
/* Returns whether a request for single speakers may be sent. */
bool rekey_budget_has_single(struct rekey_budget *b, uint64_t now);
/* Takes one for such a request, which must be allowed. */
void rekey_budget_take_single(struct rekey_budget *b, uint64_t now);

#endif
