#include "tests/chaos/watch.h"

#include "proto/base/time.h"
#include "proto/media.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENOUGH_MS = 160, ASK_MS = 150 };

#define HOME "127121515262115840"

void watch_begin(struct watch *w, struct cluster *h, bool real)
{
	*w = (struct watch){.h = h, .real = real, .bot_there = true};
}

static bool missing(struct watch *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool missing(struct watch *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->text, sizeof w->text, fmt, ap);
	va_end(ap);
	return false;
}

static unsigned get(const atomic_uint *v)
{
	return atomic_load(v);
}

static bool lean(const struct watch *w, unsigned who)
{
	return who != CHAOS_BOT || !w->real;
}

/* A real control plays what it is told. */
static bool plays(const struct watch *w, unsigned who)
{
	return w->h->music && (lean(w, who) || w->h->bot_plays);
}

/* Told to wait for a minute: that is a named reason, and nobody waits for it here. A lean member
 * comes back at once. */
static bool excused(const struct watch *w, unsigned who)
{
	return !lean(w, who) && (cluster_log_has(w->h, " phase=cooling reason=rate_limited ") ||
				 cluster_log_has(w->h, " phase=failed reason=rate_limited "));
}

/* Up, and of one mind about keys. */
static bool agents_agree(struct watch *w, const bool here[CHAOS_PEOPLE], unsigned n)
{
	const struct agent_state *first = NULL;

	for (unsigned i = 0; i < CHAOS_PEOPLE; i++) {
		const struct agent_state *st = &w->h->state[i];

		if (!here[i] || !lean(w, i))
			continue;
		if (get(&st->phase) != MEDIA_PHASE_UP)
			return missing(w, "%s is not up", chaos_who_name(i));
		if (n < 2)
			continue;
		if (!get(&st->version) || !get(&st->ready) || get(&st->members) != n ||
		    get(&st->pending))
			return missing(w, "%s has no key that all share", chaos_who_name(i));
		if (first && atomic_load(&st->code) != atomic_load(&first->code))
			return missing(w, "%s has another privacy code", chaos_who_name(i));
		first = st;
	}
	return true;
}

void watch_mark(struct watch *w)
{
	for (unsigned i = 0; i < CHAOS_PEOPLE; i++) {
		for (unsigned k = 0; k < CHAOS_PEOPLE; k++) {
			w->heard[i][k] = get(&w->h->state[i].heard_ms[k]);
			w->music[i][k] = get(&w->h->state[i].music_ms[k]);
		}
		w->drained[i] = get(&w->h->state[i].drained);
		w->ups[i] = get(&w->h->state[i].ups);
		w->music_at_ms[i] = atomic_load(&w->h->state[i].music_at_ms);
	}
}

/* Between two looks a fast machine has somebody down and up again. */
static bool stayed_up(const struct watch *w)
{
	for (unsigned i = 0; i < CHAOS_PEOPLE; i++)
		if (get(&w->h->state[i].ups) != w->ups[i])
			return false;
	return true;
}

/* Of the others' music, ms in which this one heard it since the mark. */
static unsigned music_heard(const struct watch *w, unsigned i, unsigned k)
{
	return get(&w->h->state[i].music_ms[k]) - w->music[i][k];
}

/* Since they came up everybody has heard everybody else and their music, and a playback has begun
 * and drained. */
static bool sound_flows(struct watch *w, const bool here[CHAOS_PEOPLE])
{
	for (unsigned i = 0; i < CHAOS_PEOPLE; i++) {
		const struct agent_state *st = &w->h->state[i];

		if (!here[i] || !lean(w, i))
			continue;
		for (unsigned k = 0; k < CHAOS_PEOPLE; k++) {
			if (k == i || !here[k])
				continue;
			if (lean(w, k) && get(&st->heard_ms[k]) - w->heard[i][k] < ENOUGH_MS)
				return missing(w, "%s does not hear %s", chaos_who_name(i),
					       chaos_who_name(k));
			if (plays(w, k) && music_heard(w, i, k) < ENOUGH_MS)
				return missing(w,
					       "%s does not hear the music of %s, which failed %u "
					       "times",
					       chaos_who_name(i), chaos_who_name(k),
					       get(&w->h->state[k].music_failures));
		}
		/* One that began before may have been all but over. */
		if (get(&st->drained) - w->drained[i] < 2)
			return missing(w, "the playbacks of %s do not drain", chaos_who_name(i));
	}
	return true;
}

bool watch_music_steady(struct watch *w, unsigned ms)
{
	for (unsigned i = 0; i < CHAOS_PEOPLE; i++) {
		uint64_t moved = atomic_load(&w->h->state[i].music_at_ms) - w->music_at_ms[i];

		if (excused(w, i) || !lean(w, i))
			continue;
		if (moved < ms - ms / 3 || moved > ms + ms / 3)
			return missing(w, "the music of %s moved on by %llu ms in %u",
				       chaos_who_name(i), (unsigned long long)moved, ms);
		for (unsigned k = 0; k < CHAOS_PEOPLE; k++)
			if (k != i && !excused(w, k) && plays(w, k) &&
			    music_heard(w, i, k) < ms - ms / 3)
				return missing(w, "%s heard %u ms of the music of %s in %u",
					       chaos_who_name(i), music_heard(w, i, k),
					       chaos_who_name(k), ms);
	}
	return true;
}

static const json_t *session_of(const json_t *stats, uint64_t user)
{
	const json_t *list = json_object_get(stats, "voice"), *s;
	size_t i;
	char id[24];

	snprintf(id, sizeof id, "%" PRIu64, user);
	json_array_foreach((json_t *)list, i, s)
	{
		const char *of = json_string_value(json_object_get(s, "user_id"));

		if (of && strcmp(of, id) == 0)
			return s;
	}
	return NULL;
}

/* The server's side: a socket that only we believe in is not up. */
static bool server_agrees(struct watch *w, const bool here[CHAOS_PEOPLE])
{
	json_t *stats = NULL;
	bool ok = true;

	if (chaos_now() < w->asked_at + ASK_MS * NS_PER_MS)
		return false;
	w->asked_at = chaos_now();
	if (!cluster_request(w->h, &stats, "/stats", NULL) || !stats) {
		json_decref(stats);
		return missing(w, "guildd does not answer");
	}
	w->bot_there = session_of(stats, chaos_user[CHAOS_BOT]);
	for (unsigned i = 0; i < CHAOS_PEOPLE && ok; i++) {
		const json_t *s = session_of(stats, chaos_user[i]);
		const char *channel = json_string_value(json_object_get(s, "channel_id"));

		if (here[i] && (!json_is_true(json_object_get(s, "connected")) ||
				!json_is_true(json_object_get(s, "described")) || !channel ||
				strcmp(channel, HOME) != 0))
			ok = missing(w, "guildd does not have %s in the call", chaos_who_name(i));
	}
	json_decref(stats);
	return ok;
}

/* A real bot may wait for somebody to ask it in, or to resume its music, and whether it is there is
 * known by the server alone. */
static void look_for_bot(struct watch *w)
{
	if (w->real)
		server_agrees(w, (const bool[CHAOS_PEOPLE]){0});
}

bool watch_well(struct watch *w)
{
	bool here[CHAOS_PEOPLE];
	unsigned n = 0;

	for (unsigned i = 0; i < CHAOS_PEOPLE; i++) {
		here[i] = !excused(w, i);
		n += here[i];
	}
	if (!agents_agree(w, here, n)) {
		w->marked = false;
		look_for_bot(w);
		return false;
	}
	if (!w->marked || !stayed_up(w))
		watch_mark(w);
	w->marked = true;
	if (n >= 2 && !sound_flows(w, here)) {
		look_for_bot(w);
		return false;
	}
	return server_agrees(w, here);
}

const char *watch_text(struct watch *w)
{
	size_t n = strlen(w->text);

	for (unsigned i = 0; i < CHAOS_PEOPLE && n < sizeof w->text; i++) {
		const struct agent_state *st = &w->h->state[i];

		if (!lean(w, i))
			continue;
		n += (size_t)snprintf(
			w->text + n, sizeof w->text - n,
			"\n  %s: %s%s%s, members %u, ready %u, pending %u, epoch %llu, heard ms",
			chaos_who_name(i), media_phase_name(get(&st->phase)),
			get(&st->reason) ? " " : "", media_reason_name(get(&st->reason)),
			get(&st->members), get(&st->ready), get(&st->pending),
			atomic_load(&st->epoch));
		for (unsigned k = 0; k < CHAOS_PEOPLE && n < sizeof w->text; k++)
			n += (size_t)snprintf(w->text + n, sizeof w->text - n, " %u",
					      get(&st->heard_ms[k]) - w->heard[i][k]);
		if (n < sizeof w->text)
			n += (size_t)snprintf(w->text + n, sizeof w->text - n,
					      ", drained %u, stopped %u",
					      get(&st->drained) - w->drained[i], get(&st->stopped));
	}
	return w->text;
}

uint64_t watch_count(const json_t *stats, uint64_t user, const char *name)
{
	char id[24];

	snprintf(id, sizeof id, "%" PRIu64, user);
	return (uint64_t)json_integer_value(
		json_object_get(json_object_get(json_object_get(stats, "counts"), id), name));
}

bool watch_there(const json_t *stats, enum chaos_who who)
{
	return session_of(stats, chaos_user[who]);
}

uint64_t watch_refused(const json_t *stats, const char *why)
{
	const json_t *streams = json_object_get(json_object_get(stats, "relay"), "streams"), *s;
	uint64_t n = 0;
	size_t i;

	json_array_foreach((json_t *)streams, i, s) n +=
		(uint64_t)json_integer_value(json_object_get(json_object_get(s, "rx"), why));
	return n;
}
