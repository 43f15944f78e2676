#include "control/text/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/ids.h"
#include "control/settings/settings.h"

/* What holds in a server, or held from..until (ms since 1970). */
struct rules {
	uint64_t guild, from, until;
	uint32_t chat;
	char *channels, *blocked; /* owned */
};

struct reading {
	struct rules now[READING_SERVERS + 1]; /* everybody's, too */
	unsigned n_now;
	struct rules former[READING_FORMER]; /* the oldest first */
	unsigned n_former;
	uint64_t floor; /* nothing before is read */
	bool known;	/* what is told now has not always held */
};

bool reading_is_blocked(const char *channels, const char *blocked, uint64_t guild, uint64_t channel,
			uint64_t parent, uint64_t category)
{
	return settings_ids_name(blocked, channel, parent, category) ||
	       (guild && parent == READING_UNKNOWN && !settings_ids_empty(blocked)) ||
	       (guild && !settings_ids_empty(channels) &&
		!settings_ids_name(channels, channel, parent, category));
}

static void clear(struct rules *r)
{
	free(r->channels);
	free(r->blocked);
	*r = (struct rules){0};
}

/* False without memory. */
static bool fill(struct rules *r, const struct reading_rules *from)
{
	r->chat = from->chat;
	r->channels = strdup(from->channels);
	r->blocked = strdup(from->blocked);
	return r->channels && r->blocked;
}

static struct rules *find_now(const struct reading *r, uint64_t guild)
{
	for (unsigned i = 0; i < r->n_now; i++)
		if (r->now[i].guild == guild)
			return (struct rules *)(uintptr_t)&r->now[i];
	return NULL;
}

/* ---- the past ---- */

static void drop_oldest(struct reading *r)
{
	if (r->former[0].until > r->floor)
		r->floor = r->former[0].until;
	clear(&r->former[0]);
	memmove(&r->former[0], &r->former[1], --r->n_former * sizeof r->former[0]);
}

/* Takes the rules, which have held until now. */
static void keep_former(struct reading *r, struct rules *was, uint64_t now_ms)
{
	const uint64_t days = UINT64_C(86400000) * READING_DAYS;

	while (r->n_former == READING_FORMER || (r->n_former && r->former[0].until + days < now_ms))
		drop_oldest(r);
	was->until = now_ms;
	r->former[r->n_former++] = *was;
	*was = (struct rules){0};
}

/* ---- what holds ---- */

static bool is_same(const struct rules *r, const struct reading_rules *rules)
{
	return r->chat == rules->chat && strcmp(r->channels, rules->channels) == 0 &&
	       strcmp(r->blocked, rules->blocked) == 0;
}

void reading_note(struct reading *r, uint64_t guild, const struct reading_rules *rules,
		  uint64_t now_ms)
{
	const struct rules *all = find_now(r, 0);
	struct rules *place = find_now(r, guild), next = {.guild = guild};

	if (place && is_same(place, rules))
		return;
	/* Until everybody's are told, nothing was known. */
	next.from = all || r->known ? now_ms : 0;
	if (!fill(&next, rules) || (!place && r->n_now == READING_SERVERS + 1)) {
		clear(&next);
		r->floor = now_ms;
		r->known = true;
		return;
	}
	if (place)
		keep_former(r, place, now_ms);
	else
		place = &r->now[r->n_now++];
	*place = next;
}

void reading_drop(struct reading *r, uint64_t guild, uint64_t now_ms)
{
	struct rules *place = find_now(r, guild);

	if (!place || !guild)
		return;
	keep_former(r, place, now_ms);
	*place = r->now[--r->n_now];
}

uint64_t reading_server(const struct reading *r, unsigned i)
{
	for (unsigned k = 0; k < r->n_now; k++)
		if (r->now[k].guild && i-- == 0)
			return r->now[k].guild;
	return 0;
}

/* The rules of this server, 0: of everybody, that held then; NULL: it had none of its own. */
static const struct rules *held(const struct reading *r, uint64_t guild, uint64_t at_ms)
{
	const struct rules *now = find_now(r, guild);

	for (unsigned i = 0; i < r->n_former; i++)
		if (r->former[i].guild == guild && r->former[i].from <= at_ms &&
		    at_ms < r->former[i].until)
			return &r->former[i];
	return now && now->from <= at_ms ? now : NULL;
}

uint32_t reading_at(const struct reading *r, uint64_t guild, uint64_t channel, uint64_t parent,
		    uint64_t category, uint64_t at_ms)
{
	const struct rules *rules = held(r, guild, at_ms);

	if (!rules && guild)
		rules = held(r, 0, at_ms);
	if (!rules || at_ms < r->floor ||
	    reading_is_blocked(rules->channels, rules->blocked, guild, channel, parent, category))
		return SETTINGS_TEXT_OFF;
	return rules->chat;
}

/* ---- to and from JSON ---- */

static json_t *rules_json(const struct rules *r)
{
	return json_pack("[I,I,I,i,s,s]", (json_int_t)r->guild, (json_int_t)r->from,
			 (json_int_t)r->until, (int)r->chat, r->channels, r->blocked);
}

json_t *reading_json(const struct reading *r)
{
	const struct rules *all = find_now(r, 0);
	json_t *now = json_array(), *former = json_array();

	if (!r->n_former && !r->floor && r->n_now < 2 && (!all || all->chat == SETTINGS_TEXT_OFF)) {
		json_decref(now);
		json_decref(former);
		return NULL;
	}
	for (unsigned i = 0; i < r->n_now; i++)
		json_array_append_new(now, rules_json(&r->now[i]));
	for (unsigned i = 0; i < r->n_former; i++)
		json_array_append_new(former, rules_json(&r->former[i]));
	return json_pack("{s:o,s:o,s:I}", "now", now, "former", former, "floor",
			 (json_int_t)r->floor);
}

/* False without memory. */
static bool read_rules(const json_t *list, struct rules *to, unsigned *n, unsigned most)
{
	const json_t *x;
	size_t i;

	json_array_foreach(list, i, x)
	{
		json_int_t guild, from, until;
		struct reading_rules rules;
		int chat;

		if (*n == most ||
		    json_unpack((json_t *)(uintptr_t)x, "[I,I,I,i,s,s]", &guild, &from, &until,
				&chat, &rules.channels, &rules.blocked))
			continue;
		rules.chat =
			chat < 0 || chat > SETTINGS_TEXT_ALL ? SETTINGS_TEXT_OFF : (uint32_t)chat;
		to[*n] = (struct rules){
			.guild = (uint64_t)guild, .from = (uint64_t)from, .until = (uint64_t)until};
		if (!fill(&to[(*n)++], &rules))
			return false;
	}
	return true;
}

int reading_alloc(struct reading **out, const json_t *kept)
{
	struct reading *r = calloc(1, sizeof *r);

	if (!r)
		return ENOMEM;
	r->known = json_is_object(kept);
	r->floor = (uint64_t)json_integer_value(json_object_get(kept, "floor"));
	if (!read_rules(json_object_get(kept, "now"), r->now, &r->n_now, READING_SERVERS + 1) ||
	    !read_rules(json_object_get(kept, "former"), r->former, &r->n_former, READING_FORMER)) {
		reading_free(r);
		return ENOMEM;
	}
	*out = r;
	return 0;
}

struct reading *reading_free(struct reading *r)
{
	for (unsigned i = 0; r && i < r->n_now; i++)
		clear(&r->now[i]);
	for (unsigned i = 0; r && i < r->n_former; i++)
		clear(&r->former[i]);
	free(r);
	return NULL;
}
