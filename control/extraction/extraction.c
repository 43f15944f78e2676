#include "control/extraction/extraction.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/agent/usage_event.h"
#include "control/engine/roles.h"
#include "control/events/events.h"
#include "control/ledger/ledger.h"
#include "control/memory/extract.h"
#include "control/engine/model_conf.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/discord.h"

#define HOUR_MS	      UINT64_C(3600000)
#define NANO_PER_CENT UINT64_C(10000000)

enum { ANSWER_BYTES = 32 << 10, ANSWER_TOKENS = 2000, ANY_HOUR = 24 };

enum state { IDLE, READING, ASKED, WRITING, LIMITED };

struct extraction {
	struct model_conf conf;
	struct roles *roles; /* NULL until the first request */
	struct tmr *timer;
	enum state state;
	uint64_t asked_at;
	json_t *episode; /* as the store gave it; the lines borrow its texts */
	uint64_t guild, channel, session, last, failed_session;
	uint64_t extracted; /* facts were extracted from the lines up to this one before */
	unsigned failures, n_lines, next; /* next: the fact that is written next */
	struct extract_line line[EXTRACT_LINES];
	char answer[ANSWER_BYTES];
	size_t answer_n;
	struct extract_result result;
	uint64_t day_ms, day_nano; /* of the day that began then: spent on extraction */
};

/* ---- the end of an episode ---- */

static void clear_episode(struct extraction *x)
{
	json_decref(x->episode);
	x->episode = NULL;
	x->n_lines = 0;
	x->answer_n = 0;
	x->result = (struct extract_result){0};
	x->state = IDLE;
}

/* People may change their consent while the model reads or facts wait to be written. */
static bool may_keep(const struct extraction *x, uint64_t user)
{
	return !x->conf.allowsh || x->conf.allowsh(x->guild, user, x->conf.arg);
}

static bool may_keep_all(const struct extraction *x)
{
	for (unsigned i = 0; i < x->n_lines; i++)
		if (!may_keep(x, x->line[i].user))
			return false;
	return true;
}

/* The caller frees it. NULL: no summary, or no memory for it. */
static char *pack_summary(const struct extraction *x)
{
	json_t *people = json_array(), *lines = json_array(), *packed;
	char *text;

	for (unsigned i = 0; i < x->n_lines; i++) {
		bool first = true;

		for (unsigned k = 0; k < i && first; k++)
			first = x->line[k].user != x->line[i].user;
		if (first)
			json_array_append_new(
				people, json_sprintf("%llu", (unsigned long long)x->line[i].user));
	}
	for (unsigned i = 0; i < x->result.summary_lines; i++)
		json_array_append_new(lines, json_integer((json_int_t)x->result.summary_line[i]));
	packed = json_pack("{s:s,s:o,s:o}", "text", x->result.summary, "people", people, "lines",
			   lines);
	text = packed && *x->result.summary ? json_dumps(packed, JSON_COMPACT) : NULL;
	json_decref(packed);
	return text;
}

static void end_episode(struct extraction *x)
{
	char *summary = may_keep_all(x) ? pack_summary(x) : NULL;
	const struct store_episode e = {.guild = x->guild,
					.session = x->session,
					.channel = x->channel,
					.line = x->last,
					.summary = summary};
	int err = store_end_episode(x->conf.store, &e);

	free(summary);
	if (err)
		log_warn("extraction_not_marked", "error=\"%s\"", strerror(err));
	x->failures = 0;
	clear_episode(x);
}

/* It is tried again later, unless it has failed too often. */
static void fail_episode(struct extraction *x, const char *why)
{
	x->failures = x->failed_session == x->session ? x->failures + 1 : 1;
	x->failed_session = x->session;
	log_warn("extraction_failed", "guild=%llu session=%llu times=%u why=\"%s\"",
		 (unsigned long long)x->guild, (unsigned long long)x->session, x->failures, why);
	if (x->failures >= EXTRACTION_TRIES)
		end_episode(x);
	else
		clear_episode(x);
}

/* ---- writing ---- */

static void write_next(struct extraction *x);

static const char *name_of(const struct extraction *x, uint64_t user)
{
	for (unsigned i = 0; i < x->n_lines; i++)
		if (x->line[i].user == user)
			return x->line[i].name;
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
	bool limited = is_limited(written);

	json_decref(written);
	if (err) {
		fail_episode(x, strerror(err));
		return;
	}
	if (limited) {
		x->state = LIMITED;
		return;
	}
	x->next++;
	write_next(x);
}

/* A session that is only summed up again gives no old facts: people may have deleted them. */
static bool is_kept(const struct extraction *x, const struct extract_fact *f)
{
	uint64_t newest = 0;

	for (unsigned i = 0; i < f->n_evidence; i++)
		newest = f->evidence[i] > newest ? f->evidence[i] : newest;
	return newest > x->extracted && may_keep(x, f->user);
}

static void write_next(struct extraction *x)
{
	struct store_facts what = {.guild = x->guild};
	const struct extract_fact *f;
	json_t *lines, *items;
	char *request;
	int err = ENOMEM;

	while (x->next < x->result.facts && !is_kept(x, &x->result.fact[x->next]))
		x->next++;
	if (x->next == x->result.facts) {
		end_episode(x);
		return;
	}
	f = &x->result.fact[x->next];
	what.owner = what.user = f->user;
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
	if (!extract_read(x->answer, x->line, x->n_lines, &x->result)) {
		fail_episode(x, "the answer is no result");
		return;
	}
	log_info("extracted",
		 "guild=%llu session=%llu lines=%u facts=%u no_evidence=%u wrong_speaker=%u "
		 "guarded=%u",
		 (unsigned long long)x->guild, (unsigned long long)x->session, x->n_lines,
		 x->result.facts, x->result.refused[EXTRACT_REFUSAL_NO_EVIDENCE],
		 x->result.refused[EXTRACT_REFUSAL_WRONG_SPEAKER],
		 x->result.refused[EXTRACT_REFUSAL_GUARDED]);
	x->state = WRITING;
	x->next = 0;
	write_next(x);
}

static void count_cost(struct extraction *x, const struct roles_event *ev)
{
	struct bus_event out = {
		.type = EVENT_ENGINE_USED, .at_ms = env_wall_ms(x->conf.env), .guild = x->guild};

	usage_event_fill(&out.usage, x->conf.settings, ev);
	out.usage.session = x->session;
	x->day_nano += out.usage.nano;
	if (x->conf.ledger)
		ledger_add(x->conf.ledger, x->guild, out.usage.nano, out.at_ms);
	bus_publish(x->conf.bus, &out);
}

static void take_event(const struct roles_event *ev, void *arg)
{
	const struct engine_event *e = ev->engine;
	struct extraction *x = arg;

	if (e->type == ENGINE_USAGE)
		count_cost(x, ev);
	if (x->state != ASKED)
		return;
	if (e->type == ENGINE_WORDS && e->data.n < ANSWER_BYTES - x->answer_n) {
		memcpy(x->answer + x->answer_n, e->data.p, e->data.n);
		x->answer_n += e->data.n;
	} else if (e->type == ENGINE_DONE) {
		read_answer(x);
	} else if (e->type == ENGINE_FAILED) {
		fail_episode(x, "the model failed");
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
	char *request = extract_request(x->line, x->n_lines);
	const struct engine_message message = {.role = ENGINE_USER, .speaker = "", .text = request};
	int err = request ? open_roles(x) : ENOMEM;

	if (err) {
		fail_episode(x, strerror(err));
	} else {
		x->state = ASKED;
		x->asked_at = env_now(x->conf.env);
		roles_ask(x->roles, ENGINE_USE_SUMMARY, 0,
			  &(struct engine_ask){.instructions = PROMPT_EXTRACT,
					       .json = true,
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

	x->last = l.id > x->last ? l.id : x->last;
	if (!discord_u64(json_string_value(json_object_get(line, "user")), &l.user) || !l.name ||
	    !l.text || x->n_lines == EXTRACT_LINES || !may_keep(x, l.user))
		return;
	x->line[x->n_lines++] = l;
}

static void take_episode(int err, const struct store_document *document, void *arg)
{
	struct extraction *x = arg;
	const json_t *line;
	size_t i;

	x->episode = err ? NULL : json_loads(document->document, 0, NULL);
	if (!x->episode) {
		clear_episode(x);
		return;
	}
	x->last = 0;
	x->session = (uint64_t)json_integer_value(json_object_get(x->episode, "session"));
	x->extracted = (uint64_t)json_integer_value(json_object_get(x->episode, "extracted"));
	discord_u64(json_string_value(json_object_get(x->episode, "guild")), &x->guild);
	discord_u64(json_string_value(json_object_get(x->episode, "channel")), &x->channel);
	json_array_foreach(json_object_get(x->episode, "lines"), i, line)
	{
		read_line(x, line);
	}
	if (x->n_lines)
		ask_model(x);
	else
		end_episode(x);
}

/* ---- when it runs ---- */

static bool has_budget(struct extraction *x, uint64_t now)
{
	const struct settings *s = x->conf.settings;
	uint64_t day = ledger_day_ms(now);

	if (day != x->day_ms)
		x->day_nano = 0;
	x->day_ms = day;
	return (!s->memory_extract_cents ||
		x->day_nano < s->memory_extract_cents * NANO_PER_CENT) &&
	       (!x->conf.ledger || ledger_state(x->conf.ledger, s, 0, now) != LEDGER_SPENT);
}

static bool is_wanted(struct extraction *x, uint64_t now)
{
	const struct settings *s = x->conf.settings;
	const struct provider_record *p = settings_purpose(s, PURPOSE_MEMORY, 0);

	return s->memory_extract && !s->unread && s->memory_days && s->store_words_hours && p &&
	       p->dialect != DIALECT_EMBEDDED &&
	       (s->memory_extract_hour == ANY_HOUR ||
		s->memory_extract_hour == now / HOUR_MS % 24) &&
	       has_budget(x, now);
}

static void begin_episode(struct extraction *x)
{
	uint64_t now = env_wall_ms(x->conf.env), keep;

	if (!is_wanted(x, now))
		return;
	keep = x->conf.settings->store_words_hours * HOUR_MS;
	x->state = READING;
	if (store_next_episode(x->conf.store, now > keep ? now - keep : 0, EXTRACT_LINES,
			       take_episode, x))
		x->state = IDLE;
}

static void on_timer(void *arg)
{
	struct extraction *x = arg;

	tmr_start(x->timer, EXTRACTION_CHECK_S * NS_PER_S);
	if (x->state == IDLE) {
		begin_episode(x);
	} else if (x->state == LIMITED) {
		x->state = WRITING;
		write_next(x);
	} else if (x->state == ASKED &&
		   env_now(x->conf.env) >= x->asked_at + EXTRACTION_ANSWER_S * NS_PER_S) {
		roles_cancel_all(x->roles);
		fail_episode(x, "no answer came");
	}
}

/* Its lines are written before the store looks for them. */
static void on_session_over(const struct bus_event *ev, void *arg)
{
	struct extraction *x = arg;

	(void)ev;
	if (x->state == IDLE)
		tmr_start(x->timer, 0);
}

static bool quotes(const struct extraction *x, uint64_t user)
{
	for (unsigned i = 0; i < x->n_lines; i++)
		if (x->line[i].user == user)
			return true;
	return false;
}

void extraction_erase(struct extraction *x, uint64_t user)
{
	/* The lines that the store is about to give may be theirs. */
	if (!x || (x->state != READING && !quotes(x, user)))
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
	store_forget(x->conf.store, x);
	roles_free(x->roles);
	json_decref(x->episode);
	free(x);
	return NULL;
}
