#include "control/extraction/extraction.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/engine/roles.h"
#include "control/events/events.h"
#include "control/extraction/reflection.h"
#include "control/extraction/spending.h"
#include "control/memory/extract.h"
#include "control/engine/model_conf.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/store/facts_written.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/discord.h"

#define HOUR_MS UINT64_C(3600000)

enum { ANSWER_BYTES = 32 << 10, ANSWER_TOKENS = 2000, ANY_HOUR = 24 };

enum state { IDLE, READING, ASKED, WRITING };

struct episode {
	struct episode *next_parked;
	json_t *read; /* as the store gave it; the lines borrow its texts */
	uint64_t guild, channel, session, last;
	uint64_t extracted;	/* facts were extracted from the lines up to this one before */
	unsigned n_lines, next; /* next: the fact that is written next */
	struct extract_line line[EXTRACT_LINES];
	struct extract_result result;
};

struct extraction {
	struct model_conf conf;
	struct roles *roles; /* NULL until the first request */
	struct tmr *timer;
	enum state state;
	uint64_t asked_at, failed_session;
	unsigned failures, losses; /* of that session: answers that were none, and none that came */
	uint64_t again_at;	   /* no answer came: nobody is asked before; 0: now */
	unsigned outage;	   /* how often none came, one after the other */
	struct episode e;
	struct episode *parked; /* of servers that may write later, the oldest first; own */
	unsigned n_parked;
	char answer[ANSWER_BYTES];
	size_t answer_n;
	struct spending spending;
	struct reflection *reflection;
};

/* ---- the end of an episode ---- */

static void clear_episode(struct extraction *x)
{
	json_decref(x->e.read);
	/* The costs of an answer may be told after its end. */
	x->e = (struct episode){.guild = x->e.guild, .session = x->e.session};
	x->answer_n = 0;
	x->state = IDLE;
}

/* People may change their consent while the model reads or facts wait to be written. */
static bool may_keep(const struct extraction *x, uint64_t user)
{
	return !x->conf.allowsh || x->conf.allowsh(x->e.guild, user, x->conf.arg);
}

static bool may_keep_all(const struct extraction *x)
{
	for (unsigned i = 0; i < x->e.n_lines; i++)
		if (!may_keep(x, x->e.line[i].user))
			return false;
	return true;
}

/* The caller frees it. NULL: no summary, or no memory for it. */
static char *pack_summary(const struct extraction *x)
{
	json_t *people = json_array(), *lines = json_array(), *packed;
	char *text;

	for (unsigned i = 0; i < x->e.n_lines; i++) {
		bool first = true;

		for (unsigned k = 0; k < i && first; k++)
			first = x->e.line[k].user != x->e.line[i].user;
		if (first)
			json_array_append_new(
				people,
				json_sprintf("%llu", (unsigned long long)x->e.line[i].user));
	}
	for (unsigned i = 0; i < x->e.result.summary_lines; i++)
		json_array_append_new(lines, json_integer((json_int_t)x->e.result.summary_line[i]));
	packed = json_pack("{s:s,s:o,s:o}", "text", x->e.result.summary, "people", people, "lines",
			   lines);
	text = packed && *x->e.result.summary ? json_dumps(packed, JSON_COMPACT) : NULL;
	json_decref(packed);
	return text;
}

static void end_episode(struct extraction *x)
{
	char *summary = may_keep_all(x) ? pack_summary(x) : NULL;
	const struct store_episode e = {.guild = x->e.guild,
					.session = x->e.session,
					.channel = x->e.channel,
					.line = x->e.last,
					.summary = summary};
	int err = store_end_episode(x->conf.store, &e);

	free(summary);
	if (err)
		log_warn("extraction_not_marked", "error=\"%s\"", strerror(err));
	x->failures = x->losses = 0;
	clear_episode(x);
}

/* It is tried again later, unless it has failed too often. */
static void try_again(struct extraction *x, const char *why)
{
	log_warn("extraction_failed", "guild=%llu session=%llu times=%u why=\"%s\"",
		 (unsigned long long)x->e.guild, (unsigned long long)x->e.session,
		 x->failures + x->losses, why);
	if (x->failures >= EXTRACTION_TRIES || x->losses >= EXTRACTION_LOSSES)
		end_episode(x);
	else
		clear_episode(x);
}

static void note_session(struct extraction *x)
{
	if (x->failed_session != x->e.session)
		x->failures = x->losses = 0;
	x->failed_session = x->e.session;
}

static void fail_episode(struct extraction *x, const char *why)
{
	note_session(x);
	x->failures++;
	try_again(x, why);
}

/* The provider is away, which is not the session's fault: all sessions wait, twice as long each
 * time. It may also be a session that no provider takes, so one is not tried for ever. */
static void lose_answer(struct extraction *x, const char *why)
{
	unsigned doubled = x->outage < EXTRACTION_DOUBLED ? x->outage++ : EXTRACTION_DOUBLED;

	note_session(x);
	x->losses++;
	x->again_at = env_now(x->conf.env) + (EXTRACTION_CHECK_S * NS_PER_S << doubled);
	try_again(x, why);
}

/* ---- episodes that wait ---- */

/* The server's facts of this minute are used up. Its episode waits with the model's answer, and
 * those of other servers go on. */
static void park_episode(struct extraction *x)
{
	struct episode *e = x->n_parked < EXTRACTION_PARKED ? malloc(sizeof *e) : NULL;
	struct episode **at = &x->parked;

	if (!e) {
		fail_episode(x, "too many servers wait");
		return;
	}
	*e = x->e;
	e->next_parked = NULL;
	while (*at)
		at = &(*at)->next_parked;
	*at = e;
	x->n_parked++;
	x->e.read = NULL;
	clear_episode(x);
}

/* Takes one out of the list, at its place there. */
static struct episode *take_parked(struct extraction *x, struct episode **at)
{
	struct episode *e = *at;

	*at = e->next_parked;
	x->n_parked--;
	return e;
}

static void drop_parked(struct extraction *x, struct episode **at)
{
	struct episode *e = take_parked(x, at);

	json_decref(e->read);
	free(e);
}

/* ---- writing ---- */

static void begin_episode(struct extraction *x);
static void write_next(struct extraction *x);

/* The oldest of those that wait. */
static void resume_episode(struct extraction *x)
{
	struct episode *e = take_parked(x, &x->parked);

	x->e = *e;
	free(e);
	x->state = WRITING;
	write_next(x);
}

static const char *name_of(const struct extraction *x, uint64_t user)
{
	for (unsigned i = 0; i < x->e.n_lines; i++)
		if (x->e.line[i].user == user)
			return x->e.line[i].name;
	return "";
}

static bool is_limited(const json_t *written)
{
	const json_t *skipped = json_array_get(json_object_get(written, "skipped"), 0);
	const char *reason = json_string_value(json_object_get(skipped, "reason"));

	return reason && strcmp(reason, "write_rate_limited") == 0;
}

static void take_written(int err, const struct store_document *document, void *arg)
{
	struct extraction *x = arg;
	json_t *written = err ? NULL : json_loads(document->document, 0, NULL);
	struct bus_event ev = {.type = EVENT_MEMORY_WRITTEN,
			       .at_ms = env_wall_ms(x->conf.env),
			       .guild = x->e.guild};
	bool limited = is_limited(written);

	/* What the limit holds back is written later. */
	if (!limited && facts_written_fill(&ev.memory, written, "extracted"))
		bus_publish(x->conf.bus, &ev);
	json_decref(written);
	if (err) {
		fail_episode(x, strerror(err));
		return;
	}
	if (limited) {
		park_episode(x);
		begin_episode(x);
		return;
	}
	x->e.next++;
	write_next(x);
}

/* A session that is only summed up again gives no old facts: people may have deleted them. */
static bool is_kept(const struct extraction *x, const struct extract_fact *f)
{
	uint64_t newest = 0;

	for (unsigned i = 0; i < f->n_evidence; i++)
		newest = f->evidence[i] > newest ? f->evidence[i] : newest;
	return newest > x->e.extracted && may_keep(x, f->user);
}

static void write_next(struct extraction *x)
{
	struct store_facts what = {.guild = x->e.guild};
	const struct extract_fact *f;
	json_t *lines, *items;
	char *request;
	int err = ENOMEM;

	while (x->e.next < x->e.result.facts && !is_kept(x, &x->e.result.fact[x->e.next]))
		x->e.next++;
	if (x->e.next == x->e.result.facts) {
		end_episode(x);
		return;
	}
	f = &x->e.result.fact[x->e.next];
	what.owner = what.user = f->user;
	what.channel = x->e.channel;
	lines = json_array();
	for (unsigned i = 0; i < f->n_evidence; i++)
		json_array_append_new(lines, json_integer((json_int_t)f->evidence[i]));
	items = json_pack("[{s:s,s:s,s:[],s:o}]", "text", f->text, "type", f->type, "tags",
			  "evidence", lines);
	request = items ? json_dumps(items, JSON_COMPACT) : NULL;
	what.name = name_of(x, f->user);
	what.request = request;
	if (request)
		err = store_write_facts(x->conf.store, &what, take_written, x);
	free(request);
	json_decref(items);
	if (err)
		fail_episode(x, strerror(err));
}

/* ---- asking ---- */

static void read_answer(struct extraction *x)
{
	x->answer[x->answer_n] = '\0';
	x->outage = 0;
	if (!extract_read(x->answer, x->e.line, x->e.n_lines, &x->e.result)) {
		fail_episode(x, "the answer is no result");
		return;
	}
	log_info("extracted",
		 "guild=%llu session=%llu lines=%u facts=%u no_evidence=%u wrong_speaker=%u "
		 "guarded=%u",
		 (unsigned long long)x->e.guild, (unsigned long long)x->e.session, x->e.n_lines,
		 x->e.result.facts, x->e.result.refused[EXTRACT_REFUSAL_NO_EVIDENCE],
		 x->e.result.refused[EXTRACT_REFUSAL_WRONG_SPEAKER],
		 x->e.result.refused[EXTRACT_REFUSAL_GUARDED]);
	x->state = WRITING;
	x->e.next = 0;
	write_next(x);
}

static void take_event(const struct roles_event *ev, void *arg)
{
	const struct engine_event *e = ev->engine;
	struct extraction *x = arg;

	if (e->type == ENGINE_USAGE)
		spending_count(&x->spending, x->e.guild, x->e.session, ev);
	if (x->state != ASKED)
		return;
	if (e->type == ENGINE_WORDS && e->data.n < ANSWER_BYTES - x->answer_n) {
		memcpy(x->answer + x->answer_n, e->data.p, e->data.n);
		x->answer_n += e->data.n;
	} else if (e->type == ENGINE_DONE) {
		read_answer(x);
	} else if (e->type == ENGINE_FAILED) {
		lose_answer(x, "the model failed");
	}
}

/* Opens nothing but what is asked. */
static int open_roles(struct extraction *x)
{
	const struct roles_conf rc = {.env = x->conf.env,
				      .ws = x->conf.ws,
				      .http = x->conf.http,
				      .settings = x->conf.settings,
				      .idle = true,
				      .h = take_event,
				      .arg = x};

	return x->roles ? 0 : roles_alloc(&x->roles, &rc);
}

static void ask_model(struct extraction *x)
{
	char *request = extract_request(x->e.line, x->e.n_lines);
	const struct engine_message message = {.role = ENGINE_USER, .speaker = "", .text = request};
	int err = request ? open_roles(x) : ENOMEM;

	if (err) {
		fail_episode(x, strerror(err));
	} else {
		x->state = ASKED;
		x->asked_at = env_now(x->conf.env);
		roles_ask(x->roles, ENGINE_USE_SUMMARY, 0,
			  &(struct engine_ask){.instructions = PROMPT_EXTRACT,
					       .answer_schema = extract_schema,
					       .purpose = PURPOSE_MEMORY,
					       .output_tokens = ANSWER_TOKENS,
					       .messages = &message,
					       .n = 1});
	}
	free(request);
}

/* ---- reading ---- */

static void read_line(struct extraction *x, const json_t *line)
{
	struct extract_line l = {
		.id = (uint64_t)json_integer_value(json_object_get(line, "id")),
		.at_ms = (uint64_t)json_integer_value(json_object_get(line, "at_ms")),
		.name = json_string_value(json_object_get(line, "name")),
		.text = json_string_value(json_object_get(line, "text"))};

	x->e.last = l.id > x->e.last ? l.id : x->e.last;
	if (!discord_u64(json_string_value(json_object_get(line, "user")), &l.user) || !l.name ||
	    !l.text || x->e.n_lines == EXTRACT_LINES || !may_keep(x, l.user))
		return;
	x->e.line[x->e.n_lines++] = l;
}

static void take_episode(int err, const struct store_document *document, void *arg)
{
	struct extraction *x = arg;
	const json_t *line;
	size_t i;

	x->e.read = err ? NULL : json_loads(document->document, 0, NULL);
	if (!x->e.read) {
		clear_episode(x);
		return;
	}
	x->e.last = 0;
	x->e.session = (uint64_t)json_integer_value(json_object_get(x->e.read, "session"));
	x->e.extracted = (uint64_t)json_integer_value(json_object_get(x->e.read, "extracted"));
	discord_u64(json_string_value(json_object_get(x->e.read, "guild")), &x->e.guild);
	discord_u64(json_string_value(json_object_get(x->e.read, "channel")), &x->e.channel);
	x->spending.servers = (unsigned)json_integer_value(json_object_get(x->e.read, "servers"));
	json_array_foreach(json_object_get(x->e.read, "lines"), i, line)
	{
		read_line(x, line);
	}
	if (!spending_has_share(&x->spending, x->e.guild)) {
		clear_episode(x);
		begin_episode(x);
	} else if (x->e.n_lines)
		ask_model(x);
	else
		end_episode(x);
}

/* ---- when it runs ---- */

static bool may_write(const struct settings *s)
{
	return s->memory_extract && !s->unread && s->memory_days && s->store_words_hours;
}

static unsigned local_hour(struct env *env, const char *zone, uint64_t now)
{
	uint64_t local = now + (uint64_t)(env_utc_offset(env, zone) * MS_PER_S);

	return (unsigned)(local / HOUR_MS % 24);
}

static bool is_wanted(struct extraction *x, uint64_t now)
{
	const struct settings *s = x->conf.settings;
	const struct provider_record *p = settings_purpose(s, PURPOSE_MEMORY, 0);

	return may_write(s) && p && p->dialect != DIALECT_EMBEDDED &&
	       (s->memory_extract_hour == ANY_HOUR ||
		s->memory_extract_hour == local_hour(x->conf.env, s->time_zone, now)) &&
	       spending_has_budget(&x->spending, now);
}

/* Servers that get no episode now: one of theirs waits, or their share of the day is spent. NULL
 * without memory. The caller frees it. */
static char *list_excluded(const struct extraction *x)
{
	json_t *list = json_array();
	char *text;

	for (const struct episode *e = x->parked; e; e = e->next_parked)
		json_array_append_new(list, json_sprintf("%llu", (unsigned long long)e->guild));
	spending_list(&x->spending, list);
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

static void begin_episode(struct extraction *x)
{
	uint64_t now = env_wall_ms(x->conf.env), keep, age = EXTRACTION_RUNNING_S * MS_PER_S;
	struct store_episodes what = {.most = EXTRACT_LINES};
	char *without;

	if (!is_wanted(x, now) || env_now(x->conf.env) < x->again_at)
		return;
	keep = x->conf.settings->store_words_hours * HOUR_MS;
	what.since_ms = now > keep ? now - keep : 0;
	/* Before the words go. */
	age = age < keep / 2 ? age : keep / 2;
	what.running_ms = now > age ? now - age : 0;
	without = list_excluded(x);
	what.without = without;
	x->state = READING;
	if (!without || store_next_episode(x->conf.store, &what, take_episode, x))
		x->state = IDLE;
	free(without);
}

static void on_timer(void *arg)
{
	struct extraction *x = arg;

	tmr_start(x->timer, EXTRACTION_CHECK_S * NS_PER_S);
	reflection_check(x->reflection);
	while (x->parked && !may_write(x->conf.settings))
		drop_parked(x, &x->parked);
	if (x->state == IDLE && x->parked) {
		resume_episode(x);
	} else if (x->state == IDLE) {
		begin_episode(x);
	} else if (x->state == ASKED &&
		   env_now(x->conf.env) >= x->asked_at + EXTRACTION_ANSWER_S * NS_PER_S) {
		roles_cancel_all(x->roles);
		lose_answer(x, "no answer came");
	}
}

static void on_spent_known(void *arg)
{
	struct extraction *x = arg;

	if (x->state == IDLE)
		tmr_start(x->timer, 0);
}

/* Its lines are written before the store looks for them. */
static void on_session_over(const struct bus_event *ev, void *arg)
{
	struct extraction *x = arg;

	(void)ev;
	if (x->state == IDLE)
		tmr_start(x->timer, 0);
}

static bool quotes(const struct episode *e, uint64_t user)
{
	for (unsigned i = 0; i < e->n_lines; i++)
		if (e->line[i].user == user)
			return true;
	return false;
}

void extraction_erase(struct extraction *x, uint64_t user)
{
	if (x)
		reflection_erase(x->reflection);
	for (struct episode **at = x ? &x->parked : NULL; at && *at;)
		if (quotes(*at, user))
			drop_parked(x, at);
		else
			at = &(*at)->next_parked;
	/* The lines that the store is about to give may be theirs. */
	if (!x || (x->state != READING && !quotes(&x->e, user)))
		return;
	store_forget(x->conf.store, x);
	clear_episode(x);
	if (x->roles)
		roles_cancel_all(x->roles);
}

int extraction_alloc(struct extraction **out, const struct model_conf *conf)
{
	struct extraction *x = calloc(1, sizeof *x);
	int err;

	if (!x)
		return ENOMEM;
	x->conf = *conf;
	err = spending_begin(&x->spending, &x->conf, on_spent_known, x);
	if (!err)
		err = reflection_alloc(&x->reflection, &x->conf, &x->spending);
	if (!err)
		err = tmr_alloc(&x->timer, conf->env, on_timer, x);
	if (!err)
		err = bus_subscribe(conf->bus, BUS_MASK(EVENT_SESSION_OVER), on_session_over, x);
	if (err) {
		extraction_free(x);
		return err;
	}
	tmr_start(x->timer, EXTRACTION_CHECK_S * NS_PER_S);
	*out = x;
	return 0;
}

struct extraction *extraction_free(struct extraction *x)
{
	if (!x)
		return NULL;
	tmr_free(x->timer);
	reflection_free(x->reflection);
	store_forget(x->conf.store, x);
	roles_free(x->roles);
	while (x->parked)
		drop_parked(x, &x->parked);
	json_decref(x->e.read);
	spending_end(&x->spending);
	free(x);
	return NULL;
}
