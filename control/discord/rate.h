/* Discord's REST rate limits as a pure table (Discord documentation, "Rate limits").
 *
 * A limit belongs to a bucket (X-RateLimit-Bucket) and the request's major parameter (channel,
 * guild or webhook). A route's bucket is learned from its first answer; until then requests of
 * one (route, major) are sent one at a time. A global limit of 50 a second applies on top;
 * interaction endpoints are exempt.
 *
 * Protocol of use, per request: rate_when() until it says now; rate_sent(); then exactly one of
 * rate_answer() and rate_lost(). */
#ifndef CONTROL_DISCORD_RATE_H
#define CONTROL_DISCORD_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rate;

/* The key of a limit. route: method and template, such as "PATCH
 * /webhooks/{}/{}/messages/@original". major: the major parameter,
 * "" when the route has none. Both are borrowed during a call. */
struct rate_key {
	const char *route, *major;
	bool exempt; /* an interaction endpoint: outside the global limit */
};

/* Headers of an answer. A missing number is negative, a missing text is "". Times are in seconds,
 * as received. */
struct rate_headers {
	int status;
	char bucket[64];
	double limit, remaining, reset_after;
	double retry_after; /* of a 429, from the body or else from Retry-After */
	bool global;
};

enum { RATE_GLOBAL_PER_SECOND = 50, RATE_OFFSET_MS = 50 };
#define RATE_AFTER_ANSWER UINT64_MAX

/* ENOMEM. Caller owns *out. */
int rate_alloc(struct rate **out);
struct rate *rate_free(struct rate *r);

/* 0: the request may be sent now. RATE_AFTER_ANSWER: only after an answer with the same key.
 * Otherwise: the time to ask again. */
uint64_t rate_when(struct rate *r, const struct rate_key *key, uint64_t now_ns);
/* ENOMEM: nothing was counted, and the request should fail. */
int rate_sent(struct rate *r, const struct rate_key *key, uint64_t now_ns);
void rate_answer(struct rate *r, const struct rate_key *key, const struct rate_headers *h,
		 uint64_t now_ns);
void rate_lost(struct rate *r, const struct rate_key *key);

#endif
