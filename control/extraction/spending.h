/* What extraction and reflection may spend in a day: memory_extract_cents, of which each server has
 * an equal share, and what the ledger allows. Both share one. Days are those of the ledger. What a
 * control before this one spent on the day counts: it is read before the first request. */
#ifndef CONTROL_EXTRACTION_SPENDING_H
#define CONTROL_EXTRACTION_SPENDING_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct model_conf;
struct roles_event;

struct spending {
	const struct model_conf *conf; /* borrowed */
	uint64_t day_ms, day_nano;     /* of the day that began then */
	json_t *spent;		       /* {server: nano} of that day; own */
	unsigned servers;	       /* that have a share; 0: not known yet */
	bool loading, loaded;	       /* what was spent before */
	bool unpriced;		       /* a model has no price; the log knows */
	void (*readyh)(void *arg);
	void *arg;
};

/* readyh: what was spent before is known from now on; may be NULL. ENOMEM. */
int spending_begin(struct spending *s, const struct model_conf *conf, void (*readyh)(void *arg),
		   void *arg);
void spending_end(struct spending *s);
/* Counts what an answer about this server cost, and tells it on the bus. session 0: of none. */
void spending_count(struct spending *s, uint64_t guild, uint64_t session,
		    const struct roles_event *ev);
/* False: all of the day's amount is spent, or it is not known yet what was. now: ms since 1970. */
bool spending_has_budget(struct spending *s, uint64_t now);
bool spending_has_share(const struct spending *s, uint64_t guild);
/* Adds the servers whose share is spent: ["ID", …]. */
void spending_list(const struct spending *s, json_t *list);

#endif
