#include "control/store/rows.h"

#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/events/audit_kind.h"
#include "control/events/events.h"
#include "control/settings/prices.h"
#include "control/store/audit.h"
#include "control/store/db.h"
#include "control/store/messages.h"
#include "control/store/store.h"
#include "control/store/timeline.h"
#include "proto/discord.h"

#define DAY_MS UINT64_C(86400000)

/* What an erased person had said is looked for in files that cannot be read for so long. */
enum { ERASE_TEXTS_DAYS = 7 };

bool rows_kept(const struct bus_event *ev)
{
	return bus_event_info(ev->type)->keep_days > 0;
}

/* ---- adding ---- */

/* NULL for a text that is empty. */
static const char *maybe_text(const char *text)
{
	return text && *text ? text : NULL;
}

static void bind_maybe(sqlite3_stmt *s, int at, int64_t v)
{
	if (v < 0)
		sqlite3_bind_null(s, at);
	else
		sqlite3_bind_int64(s, at, v);
}

/* Shares of what a session cost stay as they are when rows of it go. */
static int add_spoken(struct db *db, uint64_t guild, uint64_t session, uint64_t from_ms,
		      uint64_t to_ms)
{
	sqlite3_stmt *s = db_use(db, DB_ADD_SPOKEN);

	db_bind_uint(s, 1, guild);
	db_bind_uint(s, 2, session);
	db_bind_uint(s, 3, to_ms > from_ms ? to_ms - from_ms : 0);
	return db_run(db, s);
}

static int add_utterance(struct db *db, const struct bus_event *ev, bool words)
{
	const struct event_utterance *u = &ev->utterance;
	int err = add_spoken(db, ev->guild, u->session, u->started_ms, u->ended_ms);

	return err ? err
		   : timeline_add(db,
				  &(struct timeline_line){.guild = ev->guild,
							  .session = u->session,
							  .channel = u->channel,
							  .utterance = u->utterance,
							  .user = ev->user,
							  .name = u->name,
							  .text = u->text,
							  .started_ms = u->started_ms,
							  .ended_ms = u->ended_ms,
							  .source = u->source,
							  .language = u->language,
							  .confidence = u->confidence,
							  .consent = u->consent},
				  words && !u->transient);
}

/* The bot's part of a turn, as far as it was played. It is erased with the person it answered. */
static int add_answer(struct db *db, const struct bus_event *ev, bool words)
{
	const struct event_turn *t = &ev->turn;

	if (!words || !maybe_text(t->said))
		return 0;
	return timeline_add(db,
			    &(struct timeline_line){.guild = ev->guild,
						    .session = t->session,
						    .channel = t->channel,
						    .turn = t->turn,
						    .user = ev->user,
						    .text = t->said,
						    .told = t->told,
						    .started_ms = ev->at_ms,
						    .ended_ms = ev->at_ms,
						    .source = "bot",
						    .confidence = -1,
						    .consent = true},
			    words);
}

static int add_speech(struct db *db, const struct bus_event *ev)
{
	const struct event_speech *p = &ev->speech;
	int err = add_spoken(db, ev->guild, p->session, p->started_ms, p->ended_ms);
	sqlite3_stmt *s;

	if (err)
		return err;
	s = db_use(db, DB_ADD_SPEECH);
	db_bind_uint(s, 1, ev->guild);
	db_bind_uint(s, 2, p->session);
	db_bind_uint(s, 3, p->utterance);
	db_bind_uint(s, 4, ev->user);
	db_bind_text(s, 5, p->name);
	db_bind_uint(s, 6, p->started_ms);
	db_bind_uint(s, 7, p->ended_ms);
	db_bind_text(s, 8, p->reason);
	return db_run(db, s);
}

/* [["direct_address", 1, value, limit], …]: unit and sentence are those of the rule, and need not
 * be kept with each turn. */
static char *compact_why(const char *why)
{
	json_t *in = json_loads(why ? why : "", 0, NULL), *out = json_array(), *d;
	char *text;
	size_t i;

	json_array_foreach(in, i, d)
	{
		const char *rule = json_string_value(json_object_get(d, "rule"));

		if (rule)
			json_array_append_new(out,
					      json_pack("[s,b,O,O]", rule,
							json_is_true(json_object_get(d, "yes")),
							json_object_get(d, "value"),
							json_object_get(d, "limit")));
	}
	text = json_dumps(out, JSON_COMPACT);
	json_decref(in);
	json_decref(out);
	return text;
}

/* An answered turn was meant for the bot. */
static int set_addressee(struct db *db, const struct bus_event *ev, uint64_t user, uint64_t id)
{
	const struct event_turn *t = &ev->turn;
	sqlite3_stmt *s = db_use(db, DB_SET_ADDRESSEE);

	db_bind_uint(s, 1, ev->guild);
	db_bind_uint(s, 2, t->session);
	db_bind_uint(s, 3, id);
	db_bind_uint(s, 4, user);
	db_bind_text(s, 5, maybe_text(t->said) ? "bot" : "room");
	return db_run(db, s);
}

/* Adds the speakers of the turn, and their words if those may be kept. */
static int add_segments(struct db *db, const struct bus_event *ev, uint64_t turn_seq, bool words)
{
	json_t *list = json_loads(ev->turn.segments ? ev->turn.segments : "", 0, NULL), *x;
	uint64_t user;
	size_t i;
	int err = 0;

	json_array_foreach(list, i, x)
	{
		uint64_t id = (uint64_t)json_integer_value(json_object_get(x, "utterance"));
		sqlite3_stmt *s = db_use(db, DB_ADD_SEGMENT);

		if (err || !discord_u64(json_string_value(json_object_get(x, "user")), &user))
			continue;
		db_bind_uint(s, 1, turn_seq);
		db_bind_uint(s, 2, i);
		db_bind_uint(s, 3, user);
		db_bind_text(s, 4, json_string_value(json_object_get(x, "name")));
		db_bind_uint(s, 5, id);
		db_bind_text(s, 6, words ? json_string_value(json_object_get(x, "text")) : NULL);
		db_bind_uint(s, 7, ev->at_ms);
		err = db_run(db, s);
		if (!err)
			err = set_addressee(db, ev, user, id);
	}
	json_decref(list);
	return err;
}

static int add_turn(struct db *db, const struct bus_event *ev, bool words)
{
	const struct event_turn *t = &ev->turn;
	sqlite3_stmt *s = db_use(db, DB_ADD_TURN);
	char *why = compact_why(t->why);
	int err;

	words = words && !t->transient;
	db_bind_uint(s, 1, ev->guild);
	db_bind_uint(s, 2, t->session);
	db_bind_uint(s, 3, t->channel);
	db_bind_uint(s, 4, t->turn);
	db_bind_uint(s, 5, ev->user);
	db_bind_text(s, 6, t->name);
	db_bind_text(s, 7, t->reason);
	db_bind_uint(s, 8, ev->at_ms);
	bind_maybe(s, 9, t->first_audio_ms);
	bind_maybe(s, 10, t->lasted_ms);
	db_bind_text(s, 11, words && t->said && *t->said ? t->said : NULL);
	db_bind_text(s, 12, why);
	db_bind_uint(s, 13, t->prompts);
	err = db_run(db, s);
	free(why);
	if (!err)
		err = add_segments(db, ev, db_last_row(db), words);
	return err ? err : add_answer(db, ev, words);
}

/* Nothing of it may be kept without the words. */
static int add_context(struct db *db, const struct bus_event *ev, bool words)
{
	const struct event_context *c = &ev->context;
	sqlite3_stmt *s;

	if (!words || !c->told)
		return 0;
	s = db_use(db, DB_ADD_CONTEXT);
	db_bind_uint(s, 1, ev->at_ms);
	db_bind_uint(s, 2, ev->guild);
	db_bind_uint(s, 3, c->session);
	db_bind_uint(s, 4, c->channel);
	db_bind_uint(s, 5, c->turn);
	db_bind_uint(s, 6, c->prompts);
	db_bind_text(s, 7, c->told);
	return db_run(db, s);
}

static int add_session(struct db *db, const struct bus_event *ev)
{
	bool starts = ev->type == EVENT_SESSION_STARTED;
	sqlite3_stmt *s = db_use(db, starts ? DB_START_SESSION : DB_END_SESSION);

	db_bind_uint(s, 1, ev->guild);
	db_bind_uint(s, 2, ev->session.session);
	db_bind_uint(s, 3, starts ? ev->session.channel : ev->at_ms);
	if (!starts)
		db_bind_text(s, 4, ev->session.why);
	return db_run(db, s);
}

bool rows_audited(const struct bus_event *ev)
{
	return ev->type == EVENT_OPERATOR_ACTION || ev->type == EVENT_ORDER_ENDED ||
	       ev->type == EVENT_SETTING_CHANGED;
}

/* Cuts the text at the words; *rest: from the second of them on, or NULL. */
static void cut_at(char *text, const char *words, const char **rest)
{
	char *at = strstr(text, words);

	*rest = at ? at + 1 : NULL;
	if (at)
		*at = '\0';
}

/* What tells of people stands in before and after, which an erasure can change: "person ID", whom
 * an order was about, and "from ADDRESS", whence it came. */
static int add_action(struct db *db, const struct bus_event *ev)
{
	const struct event_action *o = &ev->action;
	char *via = strdup(o->via ? o->via : ""), *target = strdup(o->target ? o->target : "");
	struct audit_row row = {.at_ms = ev->at_ms,
				.actor = o->actor,
				.via = o->via ? via : NULL,
				.kind = o->kind,
				.target = o->target ? target : NULL,
				.result = o->result};
	int err = via && target ? 0 : ENOMEM;

	if (!err) {
		cut_at(target, " person ", &row.before);
		cut_at(via, " from ", &row.after);
		err = audit_add(db, &row);
	}
	free(via);
	free(target);
	return err;
}

static int add_audit(struct db *db, const struct bus_event *ev)
{
	const struct event_setting *c = &ev->setting;

	if (ev->type != EVENT_SETTING_CHANGED)
		return add_action(db, ev);
	return audit_add(db,
			 &(struct audit_row){.at_ms = ev->at_ms,
					     .actor = c->author,
					     .via = c->source,
					     .kind = audit_kind_name(AUDIT_KIND_SETTING_CHANGED),
					     .target = c->name,
					     .result = c->effect});
}

/* {"text_in":12,…}: the kinds that were used; "estimated" where the provider did not tell it so. */
static char *print_units(const struct event_usage *u)
{
	const uint64_t n[PRICE_KINDS] = {
		u->text_in,   u->text_cached, u->text_out,   u->audio_in, u->audio_cached,
		u->audio_out, u->image_in,    u->characters, u->seconds,  u->requests};
	json_t *root = json_object();
	char *text;

	for (unsigned i = 0; i < PRICE_KINDS; i++) {
		char name[16];

		settings_price_kind((enum price_kind)i, name, sizeof name);
		if (n[i])
			json_object_set_new(root, name, json_integer((json_int_t)n[i]));
	}
	if (u->estimated)
		json_object_set_new(root, "estimated", json_true());
	text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}

static int add_cost(struct db *db, const struct bus_event *ev)
{
	const struct event_usage *u = &ev->usage;
	sqlite3_stmt *s = db_use(db, DB_ADD_COST);
	char *units = print_units(u);
	int err;

	db_bind_uint(s, 1, ev->at_ms);
	db_bind_uint(s, 2, ev->guild);
	db_bind_uint(s, 3, u->session);
	db_bind_uint(s, 4, u->channel);
	db_bind_uint(s, 5, u->turn);
	db_bind_text(s, 6, u->provider);
	db_bind_text(s, 7, u->model);
	db_bind_text(s, 8, u->role);
	db_bind_text(s, 9, units);
	db_bind_uint(s, 10, u->nano);
	db_bind_uint(s, 11, u->priced);
	err = db_run(db, s);
	free(units);
	return err;
}

static int add_tool_call(struct db *db, const struct bus_event *ev, bool words)
{
	const struct event_tool *t = &ev->tool;
	sqlite3_stmt *s = db_use(db, DB_ADD_TOOL_CALL);

	db_bind_uint(s, 1, ev->guild);
	db_bind_uint(s, 2, t->session);
	db_bind_uint(s, 3, t->call);
	db_bind_uint(s, 4, t->channel);
	db_bind_uint(s, 5, t->turn);
	db_bind_uint(s, 6, ev->user);
	db_bind_text(s, 7, t->name);
	db_bind_text(s, 8, t->arguments);
	db_bind_uint(s, 9, t->tainted);
	db_bind_text(s, 10, ev->type == EVENT_TOOL_BEGAN ? "running" : t->code);
	db_bind_uint(s, 11, ev->at_ms);
	db_bind_uint(s, 12, t->lasted_ms);
	db_bind_text(s, 13, words ? t->summary : NULL);
	db_bind_uint(s, 14, t->nano);
	return db_run(db, s);
}

static int add_event(struct db *db, const struct bus_event *ev, bool words)
{
	json_t *j = bus_event_json(ev, words);
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
	sqlite3_stmt *s = db_use(db, DB_ADD_EVENT);
	int err = 0;

	if (text) {
		db_bind_uint(s, 1, ev->at_ms);
		db_bind_text(s, 2, bus_event_info(ev->type)->name);
		db_bind_uint(s, 3, ev->guild);
		db_bind_uint(s, 4, ev->user);
		db_bind_text(s, 5, text);
		err = db_run(db, s);
	}
	free(text);
	json_decref(j);
	return err;
}

int rows_add(struct db *db, const struct bus_event *ev, bool words)
{
	switch (ev->type) {
	case EVENT_UTTERANCE:
		return add_utterance(db, ev, words);
	case EVENT_MESSAGE:
		return messages_take(db, ev, words);
	case EVENT_SPEECH_DROPPED:
		return add_speech(db, ev);
	case EVENT_TURN:
		return add_turn(db, ev, words);
	case EVENT_SESSION_STARTED:
	case EVENT_SESSION_OVER:
		return add_session(db, ev);
	case EVENT_SETTING_CHANGED:
	case EVENT_OPERATOR_ACTION:
	case EVENT_ORDER_ENDED:
		return add_audit(db, ev);
	case EVENT_CONTEXT:
		return add_context(db, ev, words);
	case EVENT_ENGINE_USED:
		return add_cost(db, ev);
	case EVENT_TOOL_BEGAN:
	case EVENT_TOOL_CALLED:
		return add_tool_call(db, ev, words);
	default:
		return add_event(db, ev, words);
	}
}

/* ---- taking away ---- */

static int run_with(struct db *db, enum db_statement statement, uint64_t v, const char *text,
		    unsigned *changed)
{
	sqlite3_stmt *s = db_use(db, statement);
	int err;

	db_bind_uint(s, 1, v);
	if (text)
		db_bind_text(s, 2, text);
	err = db_run(db, s);
	if (!err)
		*changed += db_changes(db);
	return err;
}

static uint64_t oldest_kept(enum event_type type, uint64_t now_ms)
{
	uint64_t keep = bus_event_info(type)->keep_days * DAY_MS;

	return now_ms > keep ? now_ms - keep : 0;
}

/* Rows that tell whom a line of the bot may quote outlive it: a line may have been quoted when its
 * own words were about to go, and the quote is kept as long again. */
static uint64_t oldest_quoted(enum event_type type, uint64_t now_ms, uint64_t words_ms)
{
	uint64_t keep = now_ms > words_ms ? 2 * (now_ms - words_ms) : 0;
	uint64_t quoted = now_ms > keep ? now_ms - keep : 0, oldest = oldest_kept(type, now_ms);

	return quoted < oldest ? quoted : oldest;
}

static int drop_old_rows(struct db *db, uint64_t now_ms, uint64_t words_ms, unsigned *changed)
{
	static const struct {
		enum db_statement statement;
		enum event_type type;
		bool quoted;
	} tables[] = {{DB_DROP_OLD_UTTERANCES, EVENT_UTTERANCE, true},
		      {DB_DROP_OLD_SPEECH, EVENT_SPEECH_DROPPED, false},
		      {DB_DROP_OLD_SEGMENTS, EVENT_TURN, true},
		      {DB_DROP_OLD_TURNS, EVENT_TURN, true},
		      {DB_DROP_OLD_SESSIONS, EVENT_SESSION_OVER, false},
		      {DB_DROP_OLD_MARKS, EVENT_SESSION_OVER, false},
		      {DB_DROP_OLD_COSTS, EVENT_ENGINE_USED, false},
		      {DB_DROP_OLD_TOOL_CALLS, EVENT_TOOL_CALLED, true}};
	int err = 0;

	for (size_t i = 0; i < sizeof tables / sizeof tables[0] && !err; i++) {
		uint64_t oldest = tables[i].quoted ? oldest_quoted(tables[i].type, now_ms, words_ms)
						   : oldest_kept(tables[i].type, now_ms);

		err = run_with(db, tables[i].statement, oldest, NULL, changed);
	}
	if (!err)
		err = run_with(
			db, DB_EXPIRE_TAKEN,
			now_ms > STORE_TAKEN_DAYS * DAY_MS ? now_ms - STORE_TAKEN_DAYS * DAY_MS : 0,
			NULL, changed);
	if (!err)
		err = run_with(
			db, DB_EXPIRE_ERASE_TEXTS,
			now_ms > ERASE_TEXTS_DAYS * DAY_MS ? now_ms - ERASE_TEXTS_DAYS * DAY_MS : 0,
			NULL, changed);
	if (!err)
		err = audit_drop_old(db, oldest_kept(EVENT_SETTING_CHANGED, now_ms), now_ms,
				     changed);
	for (unsigned i = 0; i < EVENT_COUNT && !err; i++)
		err = run_with(db, DB_DROP_OLD_EVENTS, oldest_kept((enum event_type)i, now_ms),
			       bus_event_info((enum event_type)i)->name, changed);
	return err;
}

static int expire_some(struct db *db, enum db_statement statement, uint64_t words_ms, unsigned *n)
{
	unsigned terms = 0;
	int err = db_begin(db);

	if (err)
		return err;
	if (statement == DB_EXPIRE_UTTERANCES)
		err = run_with(db, DB_EXPIRE_TERMS, words_ms, NULL, &terms);
	if (!err && statement == DB_EXPIRE_UTTERANCES)
		err = run_with(db, DB_EXPIRE_VECTORS, words_ms, NULL, &terms);
	if (!err && statement == DB_EXPIRE_UTTERANCES)
		err = run_with(db, DB_EXPIRE_LINE_PEOPLE, words_ms, NULL, &terms);
	if (!err)
		err = run_with(db, statement, words_ms, NULL, n);
	if (err)
		db_rollback(db);
	return err ? err : db_commit(db);
}

int rows_expire(struct db *db, uint64_t now_ms, uint64_t words_ms, unsigned *changed)
{
	static const enum db_statement words[] = {DB_EXPIRE_UTTERANCES, DB_EXPIRE_SAID,
						  DB_EXPIRE_SEGMENTS, DB_EXPIRE_CONTEXTS,
						  DB_EXPIRE_TOOL_CALLS};
	int err = 0;

	*changed = 0;
	/* Some at a time, so that what people do now does not wait behind it. */
	for (size_t i = 0; i < sizeof words / sizeof words[0] && !err; i++) {
		unsigned n;

		do {
			n = 0;
			err = expire_some(db, words[i], words_ms, &n);
			*changed += n;
		} while (!err && n);
	}
	return err ? err : drop_old_rows(db, now_ms, words_ms, changed);
}

/* "ERASE_FACTS" erases from facts. */
static void tell_erased(const char *name, unsigned rows, rows_erased_h *h, void *arg)
{
	char table[64];
	size_t n = 0;

	for (name += strlen("ERASE_"); name[n] && n + 1 < sizeof table; n++)
		table[n] = (char)tolower((unsigned char)name[n]);
	table[n] = '\0';
	h(table, rows, arg);
}

int rows_find_guilds(struct db *db, uint64_t user, char **out)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_GUILDS_OF_PERSON);
	json_t *guilds = json_array();
	int err;

	db_bind_uint(s, 1, user);
	while ((err = db_step(db, s)) == 0)
		json_array_append_new(guilds, json_integer((json_int_t)db_uint(s, 0)));
	*out = err == ENOENT ? json_dumps(guilds, JSON_COMPACT) : NULL;
	json_decref(guilds);
	return err != ENOENT ? err : *out ? 0 : ENOMEM;
}

int rows_run_erasers(struct db *db, uint64_t user, rows_erased_h *h, void *arg)
{
	static const struct {
		const char *name;
		enum db_statement statement;
	} all[] = {
#define E(statement) {#statement, DB_##statement},
		ERASERS(E)
#undef E
	};
	char *guilds = NULL;
	int err = rows_find_guilds(db, user, &guilds);

	for (size_t i = 0; i < sizeof all / sizeof all[0] && !err; i++) {
		unsigned rows = 0;

		err = run_with(db, all[i].statement, user, guilds, &rows);
		/* Rows of an index are those of its table. */
		if (!err && h && !strstr(all[i].name, "_TERMS"))
			tell_erased(all[i].name, rows, h, arg);
	}
	free(guilds);
	return err;
}
