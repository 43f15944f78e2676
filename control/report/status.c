#include "control/report/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/report/secure.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum {
	CLOCK_S = 20 * 3600, /* for an older time, the time of day alone would be ambiguous */
	NAMES = 300,	     /* bytes of a list of names, which leaves room for the other lines */
	FAULTS = 6,	     /* kinds named, newest first */
};

void status_delay(struct status_delays *d, uint32_t ms)
{
	if (d->n == STATUS_DELAYS)
		memmove(d->ms, d->ms + 1, --d->n * sizeof d->ms[0]);
	d->ms[d->n++] = ms;
}

/* The longest silent one is first. */
static struct status_guild *tally_of(struct status_tally *t, uint64_t guild)
{
	struct status_guild g = {.guild = guild};
	unsigned i = 0;

	while (i < t->n && t->v[i].guild != guild)
		i++;
	if (i < t->n)
		g = t->v[i];
	else if (t->n < STATUS_GUILDS)
		t->n++;
	else
		i = 0;
	memmove(&t->v[i], &t->v[i + 1], (t->n - 1 - i) * sizeof t->v[0]);
	t->v[t->n - 1] = g;
	return &t->v[t->n - 1];
}

void status_take_event(const struct bus_event *ev, void *arg)
{
	struct status_guild *g = tally_of(arg, ev->guild);

	if (ev->type == EVENT_SESSION_STARTED) {
		*g = (struct status_guild){.guild = ev->guild};
	} else if (ev->type == EVENT_TURN && !bus_turn_is_part(ev->turn.reason)) {
		g->turns++;
		g->answered += strcmp(ev->turn.reason, "answered") == 0;
		utf8_copy(g->last, sizeof g->last, ev->turn.text);
		if (ev->turn.first_audio_ms >= 0)
			status_delay(&g->delays, (uint32_t)ev->turn.first_audio_ms);
	}
}

void status_fill_turns(struct status *s, const struct status_tally *tally, uint64_t guild)
{
	for (unsigned i = 0; i < tally->n; i++) {
		const struct status_guild *g = &tally->v[i];

		if (g->guild != guild)
			continue;
		s->turns = g->turns;
		s->answered = g->answered;
		s->last_turn = g->turns ? g->last : NULL;
		s->delays = g->delays;
	}
}

void status_person(struct status *s, const char *name, enum unheard why)
{
	s->people++;
	if (s->n_people == STATUS_PEOPLE)
		return;
	utf8_copy(s->person[s->n_people].name, STATUS_NAME, name);
	s->person[s->n_people++].why = why;
}

static uint64_t wall_time(const struct status *s, uint64_t at)
{
	return at < s->now ? s->wall_s - (s->now - at) / NS_PER_S : s->wall_s;
}

static void add_call(const struct status *s, struct words *w)
{
	bool up = s->has_phase && (s->phase == MEDIA_PHASE_UP || s->phase == MEDIA_PHASE_RESUMING);
	uint64_t since = wall_time(s, s->up_since);

	if (!s->channel)
		words_status_nowhere(w);
	else if (up && s->up_since)
		words_status_up_since(w, s->channel, since,
				      s->wall_s - since < CLOCK_S ? "t" : "f");
	else if (up)
		words_status_up(w, s->channel);
	else
		words_status_not_up(w, s->channel, words_voice_state(s->state));
	if (s->channel && s->has_phase && (!up || s->phase == MEDIA_PHASE_RESUMING))
		words_status_phase(w, words_phase(s->phase));
	words_voice(w, s->why, s->media_reason);
	if (s->mediads_there < s->mediads) {
		words_line(w);
		words_status_sound(w, s->mediads_there, s->mediads);
		words_status_sound_log(w);
	}
}

/* Adds the names of the members whose audio is received, or of the others with the reason. False if
 * there are none.
 */
static bool add_names(const struct status *s, bool heard, struct words *list)
{
	unsigned more = heard ? s->people - s->n_people : 0;

	for (unsigned i = 0; i < s->n_people; i++) {
		const struct status_person *p = &s->person[i];

		if (heard != (p->why == UNHEARD_NOT))
			continue;
		if (list->n > NAMES) {
			more++;
			continue;
		}
		words_comma(list);
		if (heard)
			words_status_name(list, p->name);
		else
			words_status_name_why(list, p->name, words_unheard(p->why));
	}
	if (more) {
		words_comma(list);
		words_status_more(list, more);
	}
	return list->n > 0;
}

static void add_people(const struct status *s, struct words *w)
{
	struct words heard = {.language = w->language}, unheard = heard;

	words_line(w);
	if (!s->people) {
		words_status_alone(w);
		return;
	}
	if (add_names(s, true, &heard))
		words_status_heard(w, heard.text);
	else
		words_status_heard_nobody(w);
	if (add_names(s, false, &unheard)) {
		words_line(w);
		words_status_unheard(w, unheard.text);
	}
}

void status_encryption_words(const struct status *s, struct words *w)
{
	const struct media_call_secure *m = s->secure;
	char code[48];

	secure_code(m, code, sizeof code);
	words_line(w);
	if (!m->known)
		words_status_secure_unknown(w);
	else if (!m->version)
		s->stage ? words_status_secure_stage(w) : words_status_secure_none(w);
	else if (m->undecryptable)
		words_status_secure_deaf(w, m->undecryptable, words_heal(m->heal));
	else if (!m->ready && s->people)
		words_status_secure_waiting(w);
	else if (!m->ready)
		words_status_secure_keyless(w);
	else
		words_status_secure(w, m->members, code);
}

static void add_seconds(struct words *w, uint32_t ms)
{
	words_status_seconds(w, (ms + 50) / 1000, (ms + 50) / 100 % 10);
}

static int compare_delays(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void add_delays(const struct status_delays *d, struct words *w)
{
	struct words last = {.language = w->language}, median = last;
	uint32_t sorted[STATUS_DELAYS];

	if (!d->n)
		return;
	for (unsigned i = d->n > STATUS_DELAYS_SHOWN ? d->n - STATUS_DELAYS_SHOWN : 0; i < d->n;
	     i++) {
		words_comma(&last);
		add_seconds(&last, d->ms[i]);
	}
	memcpy(sorted, d->ms, d->n * sizeof sorted[0]);
	qsort(sorted, d->n, sizeof sorted[0], compare_delays);
	add_seconds(&median,
		    d->n % 2 ? sorted[d->n / 2] : (sorted[d->n / 2 - 1] + sorted[d->n / 2]) / 2);
	words_status_delays(w, last.text, median.text);
}

/* The part of an address that names the provider. */
static const char *find_host(char *buf, size_t size, const char *url)
{
	const char *host = strstr(url, "://");

	host = host ? host + 3 : url;
	snprintf(buf, size, "%.*s", (int)strcspn(host, "/?#`"), host);
	return buf;
}

static void add_brain(const struct status *s, struct words *w)
{
	enum words_link link = s->brain_silent ? WORDS_LINK_SILENT
			       : s->brain_up   ? WORDS_LINK_UP
					       : WORDS_LINK_DOWN;
	char host[80];

	words_line(w);
	if (!s->has_brain) {
		if (s->no_model)
			words_status_brain_no_model(w);
		else if (s->engine_fails)
			words_status_brain_fails(w);
		else
			words_status_brain_none(w);
		return;
	}
	if (s->brain_embedded)
		words_status_brain_embedded(w, words_link(link));
	else
		words_status_brain(w, find_host(host, sizeof host, s->brain), words_link(link));
	if (*s->served)
		words_status_served(w, s->served);
	if (s->guest)
		words_status_guest(w);
	words_line(w);
	words_status_answers(w, s->answered, s->turns);
	add_delays(&s->delays, w);
	if (s->last_turn)
		words_status_last_turn(w, s->last_turn);
}

/* The newest fault that began before this moment, or at it as a later row; FAULT_COUNT for none. */
static unsigned find_older_fault(const struct faults *f, uint64_t at, unsigned row)
{
	unsigned best = FAULT_COUNT;

	for (unsigned i = 0; i < FAULT_COUNT; i++) {
		const struct fault_record *r = &f->v[i];

		if (r->count && (r->last < at || (r->last == at && i > row)) &&
		    (best == FAULT_COUNT || r->last > f->v[best].last))
			best = i;
	}
	return best;
}

static void add_faults(const struct status *s, struct words *w)
{
	struct words list = {.language = w->language};
	unsigned n = 0;

	for (unsigned i = find_older_fault(&s->faults, UINT64_MAX, 0); i < FAULT_COUNT;
	     i = find_older_fault(&s->faults, s->faults.v[i].last, i)) {
		const struct fault_record *r = &s->faults.v[i];
		const char *name = words_fault_name((enum fault)i);

		if (++n > FAULTS)
			continue;
		words_comma(&list);
		if (r->counted)
			words_status_fault_now(&list, name, r->count);
		else
			words_status_fault(&list, name, r->count, wall_time(s, r->last));
	}
	words_line(w);
	if (n > FAULTS) {
		words_comma(&list);
		words_status_more(&list, n - FAULTS);
	}
	if (n)
		words_status_faults(w, list.text);
	else
		words_status_no_faults(w);
}

void status_words(const struct status *s, struct words *w)
{
	bool up = s->has_phase && (s->phase == MEDIA_PHASE_UP || s->phase == MEDIA_PHASE_RESUMING);

	add_call(s, w);
	if (s->channel && up) {
		add_people(s, w);
		if (s->secure)
			status_encryption_words(s, w);
		add_brain(s, w);
	}
	add_faults(s, w);
}
