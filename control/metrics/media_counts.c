#include "control/metrics/media_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/media.h"

/* A set has all places that a key may have. */
enum { WAYS = 8, SETS = MEDIA_COUNTS_MAX / WAYS };

enum {
#define C(member, NAME) +1
#define U(member, NAME)
	CALL_COUNTS = 0 METRIC_MEDIA(C, U)
#undef C
#undef U
};

struct place {
	uint64_t guild, user; /* user: 0 for the call itself */
	uint64_t used;	      /* when, by the number of the message; 0: free */
	uint64_t reports;
	uint64_t v[MEDIA_COUNT_COUNT];
};

struct media_counts {
	uint64_t taken;
	struct place place[SETS][WAYS];
};

int media_counts_alloc(struct media_counts **out)
{
	*out = calloc(1, sizeof **out);
	return *out ? 0 : ENOMEM;
}

struct media_counts *media_counts_free(struct media_counts *c)
{
	free(c);
	return NULL;
}

/* Ids are times in their upper bits. */
static unsigned set_of(uint64_t guild, uint64_t user)
{
	uint64_t mixed =
		(guild * UINT64_C(0x9e3779b97f4a7c15)) ^ (user * UINT64_C(0xc2b2ae3d27d4eb4f));

	return (unsigned)((mixed >> 40) % SETS);
}

/* The place of a key, or NULL; *oldest is the one to use then. */
static struct place *look(struct media_counts *c, uint64_t guild, uint64_t user,
			  struct place **oldest)
{
	struct place *set = c->place[set_of(guild, user)];

	*oldest = set;
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].used && set[i].guild == guild && set[i].user == user)
			return &set[i];
		if (set[i].used < (*oldest)->used)
			*oldest = &set[i];
	}
	return NULL;
}

static struct place *find(struct media_counts *c, uint64_t guild, uint64_t user)
{
	struct place *oldest, *p = look(c, guild, user, &oldest);

	if (p)
		return p;
	*oldest = (struct place){.guild = guild, .user = user};
	return oldest;
}

static bool read_counts(const struct media_msg *msg, struct media_delta *out, uint64_t *user)
{
	const uint64_t v[] = {
#define C(member, NAME) msg->call_stats.member,
#define U(member, NAME) 0,
		METRIC_MEDIA(C, U)
#undef C
#undef U
	};
	const uint64_t w[] = {
#define C(member, NAME) 0,
#define U(member, NAME) msg->user_stats.member,
		METRIC_MEDIA(C, U)
#undef C
#undef U
	};
	bool call = msg->type == MEDIA_CALL_STATS;

	if (!call && msg->type != MEDIA_USER_STATS)
		return false;
	out->from = call ? 0 : CALL_COUNTS;
	out->to = call ? CALL_COUNTS : MEDIA_COUNT_COUNT;
	*user = call ? 0 : msg->user_stats.user;
	memcpy(out->v, call ? v : w, sizeof out->v);
	return true;
}

/* Reports come in rounds, of a call first and of its speakers then. */
static bool is_first_round(struct media_counts *c, uint64_t guild)
{
	struct place *oldest, *call = look(c, guild, 0, &oldest);

	return call && call->reports == 1;
}

bool media_counts_take(struct media_counts *c, uint64_t guild, const struct media_msg *msg,
		       struct media_delta *out)
{
	struct place *p;
	uint64_t user;
	bool old;

	if (!read_counts(msg, out, &user))
		return false;
	p = find(c, guild, user);
	p->used = ++c->taken;
	old = !p->reports++ && is_first_round(c, guild);
	for (unsigned i = out->from; i < out->to; i++) {
		uint64_t now = out->v[i];

		out->v[i] = old ? 0 : now < p->v[i] ? now : now - p->v[i];
		p->v[i] = now;
	}
	return true;
}
