/* /remember and /forget: what the models do with memory_write and memory_forget, asked for in
 * writing. The same guard, the same store. A fact belongs to its author alone unless they say that
 * everybody may know it; only its author can see it here, and have it forgotten.
 *
 * A direct message names no server: there /forget is about all in which its author said facts, so
 * that who left a server can still have a fact of theirs forgotten.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/configure/live_settings.h"
#include "control/control_inside.h"
#include "control/discord/components.h"
#include "control/discord/guilds.h"
#include "control/events/events.h"
#include "control/memory/guard.h"
#include "control/music/match.h"
#include "control/settings/settings.h"
#include "control/store/facts_written.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

enum {
	SUGGESTED = 25,
	LOOKED_AT = 200, /* of what somebody said in all servers, the newest, for suggestions */
	LABEL = 101,	 /* bytes of a suggestion with NUL */
	REQUESTS_MAX = 64,
	REQUESTS_EACH = 8, /* of one member, so that nobody keeps others from it */
};

/* A request that waits for the store. One of cmd, press and typing waits for its answer. */
struct memory_request {
	struct memory_request *next;
	struct control *c;
	struct command *cmd;
	struct press *press;
	uint32_t typing;
	char typed[MUSIC_FOLDED_MAX]; /* folded, as far as suggestions are concerned */
	uint64_t guild;		      /* 0: of a direct message, about all servers */
	uint64_t user;
	bool shared; /* the server's memory */
};

/* ---- requests ---- */

static const char *locale_of(const struct memory_request *r)
{
	return r->cmd ? r->cmd->locale : r->press ? r->press->locale : "";
}

static void end_request(struct memory_request *r)
{
	struct memory_request **at = &r->c->memory_requests;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	free(r);
}

void control_end_memory(struct control *c)
{
	while (c->memory_requests)
		end_request(c->memory_requests);
}

/* NULL: too many wait, or there is no memory. */
static struct memory_request *add_request(struct control *c, const struct memory_request *proto)
{
	struct memory_request *r = NULL;
	unsigned n = 0, own = 0;

	for (const struct memory_request *o = c->memory_requests; o; o = o->next) {
		n++;
		own += o->user == proto->user;
	}
	if (n < REQUESTS_MAX && own < REQUESTS_EACH)
		r = malloc(sizeof *r);
	if (!r)
		return NULL;
	*r = *proto;
	r->c = c;
	r->next = c->memory_requests;
	c->memory_requests = r;
	return r;
}

static void send_reply(const struct memory_request *r, const struct words *words,
		       json_t *components)
{
	if (r->cmd && components)
		command_reply_with(r->cmd, words, components);
	else if (r->cmd)
		command_reply(r->cmd, words);
	else if (r->press)
		press_finish(r->press, words, NULL, NULL);
	else if (r->typing)
		components_suggest(r->c->components, r->typing, NULL);
}

/* Answers and ends the request. */
static void fail(struct memory_request *r, int err)
{
	struct words words = {0};

	log_warn("memory_request_failed", "error=\"%s\"", strerror(err));
	words_speak(&words, locale_of(r));
	words_memory_failed(&words);
	send_reply(r, &words, NULL);
	end_request(r);
}

/* The store does not learn of the fact: the guard or missing consent stands against it. */
static void publish_refused(const struct control *c, uint64_t guild)
{
	bus_publish(c->bus, &(struct bus_event){.type = EVENT_MEMORY_WRITTEN,
						.at_ms = env_wall_ms(c->env),
						.guild = guild,
						.memory = {.source = "asked", .refused = 1}});
}

/* True if this member's words can be kept. Otherwise the words say why not. */
static bool may_keep(struct control *c, uint64_t guild, uint64_t user, struct words *words)
{
	struct settings *s = control_read_settings(c, guild);
	bool keeps = s && c->store && s->store_words_hours && s->memory_days;

	settings_free(s);
	if (keeps && control_remembers(guild, user, c))
		return true;
	if (keeps) {
		words_memory_not_agreed(words);
		publish_refused(c, guild);
	} else {
		words_memory_off(words);
	}
	return false;
}

static struct store_facts facts_of(const struct memory_request *r, const char *request)
{
	return (struct store_facts){
		.guild = r->guild,
		.owner = r->shared ? 0 : r->user,
		.user = r->user,
		.name = r->guild ? guilds_member_name(r->c->guilds, r->guild, r->user) : "",
		.request = request,
		.since_ms = env_wall_ms(r->c->env),
		.any = true,
		.most = STORE_FACTS_MAX};
}

/* request is stolen. */
static int post(struct memory_request *r, json_t *request,
		int (*send)(struct store *s, const struct store_facts *f, store_document_h *h,
			    void *arg),
		store_document_h *h)
{
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	struct store_facts f = facts_of(r, text);
	int err = text ? send(r->c->store, &f, h, r) : ENOMEM;

	free(text);
	json_decref(request);
	return err;
}

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* ---- /remember ---- */

static void tell_refusal(enum memory_refusal why, struct words *words)
{
	if (why == MEMORY_REFUSAL_EMPTY)
		words_memory_no_words(words);
	else if (why == MEMORY_REFUSAL_SENSITIVE)
		words_memory_secret(words);
	else
		words_memory_order(words);
}

static void tell_skipped(const char *reason, struct words *words)
{
	if (strcmp(reason, "duplicate") == 0)
		words_memory_known(words);
	else if (strcmp(reason, "write_rate_limited") == 0)
		words_memory_too_often(words);
	else
		words_memory_failed(words);
}

static void tell_written(const struct memory_request *r, const json_t *done, struct words *words)
{
	const json_t *fact = json_array_get(json_object_get(done, "written"), 0);
	const json_t *skipped = json_array_get(json_object_get(done, "skipped"), 0);

	if (!fact) {
		tell_skipped(text_at(skipped, "reason"), words);
		return;
	}
	if (r->shared)
		words_memory_kept_for_all(words, text_at(fact, "text"));
	else
		words_memory_kept(words, text_at(fact, "text"));
	if (strcmp(text_at(fact, "status"), "updated") == 0)
		words_memory_updated(words);
}

static void take_written(int err, const struct store_document *document, void *arg)
{
	struct memory_request *r = arg;
	json_t *done = err ? NULL : json_loads(document->document, 0, NULL);
	struct bus_event ev = {
		.type = EVENT_MEMORY_WRITTEN, .at_ms = env_wall_ms(r->c->env), .guild = r->guild};
	struct words words = {0};

	if (!done) {
		fail(r, err ? err : ENOMEM);
		return;
	}
	if (facts_written_fill(&ev.memory, done, "asked"))
		bus_publish(r->c->bus, &ev);
	words_speak(&words, locale_of(r));
	tell_written(r, done, &words);
	json_decref(done);
	send_reply(r, &words, NULL);
	end_request(r);
}

void control_answer_remember(struct control *c, struct command *cmd)
{
	const char *text = command_text(cmd, "fact");
	enum memory_refusal why = memory_check_text(text ? text : "");
	struct words words = {0};
	struct memory_request *r;
	int err;

	words_speak(&words, cmd->locale);
	if (why) {
		tell_refusal(why, &words);
		publish_refused(c, cmd->guild);
	}
	if (why || !may_keep(c, cmd->guild, cmd->user, &words)) {
		command_reply(cmd, &words);
		return;
	}
	r = add_request(c, &(struct memory_request){.cmd = cmd,
						    .guild = cmd->guild,
						    .user = cmd->user,
						    .shared = command_flag(cmd, "server")});
	if (!r) {
		words_memory_failed(&words);
		command_reply(cmd, &words);
		return;
	}
	err = post(r, json_pack("[{s:s,s:s}]", "text", text, "type", "other"), store_write_facts,
		   take_written);
	if (err)
		fail(r, err);
}

/* ---- /forget ---- */

/* Whoever had it forgotten: the room may have it in what its models are told. */
static void renew_room(uint64_t guild, void *arg)
{
	struct voice_session *vs = control_find_voice_session(arg, guild);

	if (vs)
		voice_session_fact_forgotten(vs);
}

void control_watch_memory(struct control *c)
{
	store_watch_forgotten(c->store, renew_room, c);
}

static json_t *candidate_menu(const struct memory_request *r, const json_t *candidates)
{
	json_t *options = json_array();
	const json_t *fact;
	char value[24], label[LABEL];
	size_t i;

	json_array_foreach(candidates, i, fact)
	{
		if (json_array_size(options) == SUGGESTED)
			break;
		snprintf(value, sizeof value, "#%" JSON_INTEGER_FORMAT,
			 json_integer_value(json_object_get(fact, "id")));
		utf8_copy(label, sizeof label, text_at(fact, "text"));
		json_array_append_new(options,
				      json_pack("{s:s,s:s}", "label", label, "value", value));
	}
	return component_row(json_pack(
		"[o]", component_select("forget_fact", r->user, env_wall_ms(r->c->env), options)));
}

/* gone: the fact that was forgotten; NULL: candidates are what may be meant. */
static void tell_forgotten(struct memory_request *r, const json_t *gone, const json_t *candidates)
{
	struct words words = {0};
	json_t *menu = NULL;

	words_speak(&words, locale_of(r));
	if (gone) {
		words_memory_forgotten(&words, text_at(gone, "text"));
	} else if (json_array_size(candidates) && r->cmd) {
		words_memory_which(&words);
		menu = candidate_menu(r, candidates);
	} else {
		words_memory_not_found(&words);
	}
	send_reply(r, &words, menu);
	end_request(r);
}

/* The store tells of requests of one server by itself. */
static void renew_rooms(const struct memory_request *r, const json_t *gone)
{
	const json_t *fact;
	size_t i;

	json_array_foreach(gone, i, fact)
	{
		if (!r->guild)
			renew_room((uint64_t)json_integer_value(json_object_get(fact, "guild")),
				   r->c);
	}
}

static void take_forgotten(int err, const struct store_document *document, void *arg)
{
	struct memory_request *r = arg;
	json_t *done = err ? NULL : json_loads(document->document, 0, NULL);
	const json_t *gone = json_array_get(json_object_get(done, "forgotten"), 0);
	json_t *candidates = json_object_get(done, "candidates");

	if (!done) {
		fail(r, err ? err : ENOMEM);
		return;
	}
	renew_rooms(r, json_object_get(done, "forgotten"));
	tell_forgotten(r, gone, candidates);
	json_decref(done);
}

/* "#17" as it is suggested, or words that name a fact. */
static json_t *forget_request(const char *text)
{
	uint64_t id;

	if (*text == '#' && discord_u64(text + 1, &id) && id <= INT64_MAX)
		return json_pack("{s:I}", "id", (json_int_t)id);
	return json_pack("{s:s}", "words", text);
}

static void forget(struct control *c, const struct memory_request *proto, const char *text)
{
	struct memory_request *r = c->store ? add_request(c, proto) : NULL, failed = *proto;
	struct words words = {0};
	int err;

	if (!r) {
		words_speak(&words, locale_of(proto));
		if (c->store)
			words_memory_failed(&words);
		else
			words_memory_off(&words);
		send_reply(&failed, &words, NULL);
		return;
	}
	err = post(r, forget_request(text), store_forget_facts, take_forgotten);
	if (err)
		fail(r, err);
}

/* Whoever does not agree to be remembered may have something forgotten all the same. */
void control_answer_forget(struct control *c, struct command *cmd)
{
	const char *text = command_text(cmd, "fact");
	struct words words = {0};

	if (text && text[strspn(text, " \t\r\n")]) {
		forget(c,
		       &(struct memory_request){.cmd = cmd, .guild = cmd->guild, .user = cmd->user},
		       text);
		return;
	}
	words_speak(&words, cmd->locale);
	words_memory_not_found(&words);
	command_reply(cmd, &words);
}

bool control_press_memory(struct control *c, struct press *p)
{
	if (strcmp(p->action, "forget_fact") != 0)
		return false;
	press_defer(p);
	forget(c, &(struct memory_request){.press = p, .guild = p->guild, .user = p->user},
	       p->value);
	return true;
}

/* ---- suggestions ---- */

static bool fits_typed(const struct memory_request *r, const char *text)
{
	char folded[MUSIC_FOLDED_MAX];

	music_fold(folded, text);
	return strstr(folded, r->typed) != NULL;
}

/* Of the facts that were found, those that this member said. */
static json_t *suggest_own(const struct memory_request *r, const json_t *found)
{
	json_t *list = json_array();
	char value[24], label[LABEL];
	const json_t *fact;
	uint64_t user;
	size_t i;

	json_array_foreach(found, i, fact)
	{
		if (json_array_size(list) == SUGGESTED)
			break;
		if (!discord_u64(text_at(fact, "user"), &user) || user != r->user ||
		    !fits_typed(r, text_at(fact, "text")))
			continue;
		snprintf(value, sizeof value, "#%" JSON_INTEGER_FORMAT,
			 json_integer_value(json_object_get(fact, "id")));
		utf8_copy(label, sizeof label, text_at(fact, "text"));
		json_array_append_new(list, json_pack("{s:s,s:s}", "name", label, "value", value));
	}
	return list;
}

static void take_own(int err, const struct store_document *document, void *arg)
{
	struct memory_request *r = arg;
	json_t *found = err ? NULL : json_loads(document->document, 0, NULL);

	components_suggest(r->c->components, r->typing, suggest_own(r, found));
	json_decref(found);
	end_request(r);
}

void control_type_memory(struct control *c, const struct typing *t, uint32_t id)
{
	struct memory_request proto = {.typing = id, .guild = t->guild, .user = t->user}, *r = NULL;
	int err;

	music_fold(proto.typed, *t->text == '#' ? "" : t->text);
	if (c->store)
		r = add_request(c, &proto);
	if (!r) {
		components_suggest(c->components, id, NULL);
		return;
	}
	err = r->guild ? post(r, json_pack("{s:s,s:b}", "words", "", "mine", 1), store_find_facts,
			      take_own)
		       : store_list_own_facts(c->store, r->user, LOOKED_AT, take_own, r);
	if (err)
		fail(r, err);
}
