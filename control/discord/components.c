#include "control/discord/components.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/discord/interaction.h"
#include "control/words/words.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/discord.h"

enum { TYPE_ROW = 1, TYPE_BUTTON = 2, TYPE_SELECT = 3, CHOICES_MAX = 25, ID_SIZE = 100 };
#define PREFIX "parley:"

/* The public part comes first, so a pointer to it is a pointer to the whole. */
struct open_press {
	struct press press;
	struct open_press *next;
	struct components *owner;
	struct interaction interaction;
	bool deferred;		/* Discord has accepted the deferral */
	json_t *body;		/* of press_finish; NULL until then */
	char *file_name, *file; /* NULL: none */
};

struct open_typing {
	struct open_typing *next; /* a newer one */
	uint32_t id;
	uint64_t until;
	struct interaction interaction;
};

struct components {
	struct env *env;
	struct rest *rest;
	press_h *h;
	typing_h *typingh;
	void *arg;
	struct open_press *list;
	unsigned n;
	struct open_typing *typings; /* the oldest first */
	unsigned n_typings;
	uint32_t last_typing;
	struct tmr *typing_tmr; /* NULL until a user types */
};

int components_alloc(struct components **out, struct env *env, struct rest *rest, press_h *h,
		     typing_h *typingh, void *arg)
{
	struct components *c = calloc(1, sizeof *c);

	if (!c)
		return ENOMEM;
	c->env = env;
	c->rest = rest;
	c->h = h;
	c->typingh = typingh;
	c->arg = arg;
	*out = c;
	return 0;
}

static void end(struct open_press *o)
{
	for (struct open_press **at = &o->owner->list; *at; at = &(*at)->next)
		if (*at == o) {
			*at = o->next;
			o->owner->n--;
			break;
		}
	explicit_bzero(&o->interaction, sizeof o->interaction);
	json_decref(o->body);
	free(o->file_name);
	free(o->file);
	free(o);
}

static void end_typing(struct components *c, struct open_typing **at)
{
	struct open_typing *t = *at;

	*at = t->next;
	c->n_typings--;
	explicit_bzero(&t->interaction, sizeof t->interaction);
	free(t);
}

struct components *components_free(struct components *c)
{
	if (!c)
		return NULL;
	while (c->list)
		end(c->list);
	while (c->typings)
		end_typing(c, &c->typings);
	tmr_free(c->typing_tmr);
	free(c);
	return NULL;
}

/* ---- making ---- */

static void print_id(char out[ID_SIZE], const char *action, uint64_t user, uint64_t wall_ms)
{
	snprintf(out, ID_SIZE, PREFIX "%s:%llu:%llu", action, (unsigned long long)user,
		 (unsigned long long)(wall_ms / 1000));
}

static json_t *button_json(const char *id, enum component_style style, const char *label)
{
	return json_pack("{s:i,s:i,s:s,s:s}", "type", TYPE_BUTTON, "style", (int)style, "label",
			 label, "custom_id", id);
}

json_t *component_button(const char *action, uint64_t user, uint64_t wall_ms,
			 enum component_style style, const char *label)
{
	char id[ID_SIZE];

	print_id(id, action, user, wall_ms);
	return button_json(id, style, label);
}

json_t *component_shared_button(const char *action, const char *subject, enum component_style style,
				const char *label)
{
	char id[ID_SIZE];

	snprintf(id, sizeof id, PREFIX "%s:*:%s", action, subject);
	return button_json(id, style, label);
}

json_t *component_select(const char *action, uint64_t user, uint64_t wall_ms, json_t *options)
{
	char id[ID_SIZE];

	print_id(id, action, user, wall_ms);
	return json_pack("{s:i,s:s,s:o}", "type", TYPE_SELECT, "custom_id", id, "options", options);
}

json_t *component_row(json_t *components)
{
	return json_pack("[{s:i,s:o}]", "type", TYPE_ROW, "components", components);
}

void component_add_row(json_t *rows, json_t *components)
{
	json_array_append_new(rows,
			      json_pack("{s:i,s:o}", "type", TYPE_ROW, "components", components));
}

/* ---- parsing ---- */

/* In a direct message there is no server (0) and no member. */
static int parse_who(const json_t *d, uint64_t *guild, uint64_t *user)
{
	const json_t *member = json_object_get(d, "member"), *in = json_object_get(d, "guild_id");
	bool direct = !member && !in;
	const json_t *who = json_object_get(direct ? d : member, "user");

	*guild = 0;
	return (direct || discord_snowflake(json_string_value(in), guild)) &&
			       discord_snowflake(json_string_value(json_object_get(who, "id")),
						 user)
		       ? 0
		       : EBADMSG;
}

struct owner {
	uint64_t user, made_s; /* user 0: a shared button */
};

static int parse_subject(const char *text, char to[COMPONENT_SUBJECT])
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-";
	size_t n = strlen(text);

	if (!n || n >= COMPONENT_SUBJECT || strspn(text, allowed) != n)
		return EBADMSG;
	memcpy(to, text, n + 1);
	return 0;
}

static int parse_owner(const char *text, struct owner *owner)
{
	char user[24], seconds[24];

	return sscanf(text, "%23[0-9]:%23[0-9]", user, seconds) == 2 &&
			       discord_snowflake(user, &owner->user) &&
			       discord_u64(seconds, &owner->made_s)
		       ? 0
		       : EBADMSG;
}

/* ENOENT: another program with this token may have made it. */
static int parse_id(const char *id, struct press *p, struct owner *owner)
{
	static const char shared[] = ":*:";
	size_t n;

	if (!id || strncmp(id, PREFIX, sizeof PREFIX - 1) != 0)
		return ENOENT;
	id += sizeof PREFIX - 1;
	n = strcspn(id, ":");
	if (!n || n >= COMPONENT_ACTION || !id[n])
		return EBADMSG;
	memcpy(p->action, id, n);
	p->action[n] = '\0';
	if (strncmp(id + n, shared, sizeof shared - 1) == 0)
		return parse_subject(id + n + sizeof shared - 1, p->subject);
	return parse_owner(id + n + 1, owner);
}

int press_parse(const json_t *d, uint64_t wall_ms, struct press *out)
{
	const json_t *data = json_object_get(d, "data");
	const char *value = json_string_value(json_array_get(json_object_get(data, "values"), 0));
	uint64_t now_s = wall_ms / 1000;
	struct owner owner = {0};
	struct press p = {0};
	int err;

	if (json_integer_value(json_object_get(d, "type")) != INTERACTION_COMPONENT)
		return ENOENT;
	err = parse_id(json_string_value(json_object_get(data, "custom_id")), &p, &owner);
	if (!err)
		err = parse_who(d, &p.guild, &p.user);
	if (err)
		return err;
	if (value && strlen(value) > COMPONENT_VALUE)
		return EBADMSG;
	snprintf(p.value, sizeof p.value, "%s", value ? value : "");
	snprintf(p.locale, sizeof p.locale, "%s", interaction_locale(d));
	p.member = json_object_get(d, "member");
	discord_snowflake(json_string_value(json_object_get(d, "channel_id")), &p.channel);
	discord_snowflake(json_string_value(json_object_get(json_object_get(d, "message"), "id")),
			  &p.message);
	*out = p;
	if (*p.subject)
		return 0;
	if (owner.user != p.user)
		return EPERM;
	/* Clocks of before a restart may differ by a little. */
	return owner.made_s > now_s + 60 || now_s > owner.made_s + COMPONENT_LIFE_S ? ETIME : 0;
}

static void find_focused(const json_t *options, struct typing *t)
{
	json_t *option;
	size_t i;

	json_array_foreach(options, i, option)
	{
		const char *name = json_string_value(json_object_get(option, "name"));

		if (name && strcmp(name, "name") == 0)
			t->named = json_string_value(json_object_get(option, "value"));
		if (!json_is_true(json_object_get(option, "focused")))
			continue;
		t->option = json_string_value(json_object_get(option, "name"));
		t->text = json_string_value(json_object_get(option, "value"));
	}
}

int typing_parse(const json_t *d, struct typing *out)
{
	const json_t *data = json_object_get(d, "data"),
		     *options = json_object_get(data, "options"),
		     *first = json_array_get(options, 0);
	struct typing t = {.command = json_string_value(json_object_get(data, "name")),
			   .subcommand = "",
			   .locale = interaction_locale(d),
			   .member = json_object_get(d, "member")};

	if (json_integer_value(json_object_get(d, "type")) != INTERACTION_AUTOCOMPLETE)
		return ENOENT;
	if (!t.command || parse_who(d, &t.guild, &t.user))
		return EBADMSG;
	if (json_integer_value(json_object_get(first, "type")) == INTERACTION_SUBCOMMAND) {
		t.subcommand = json_string_value(json_object_get(first, "name"));
		options = json_object_get(first, "options");
	}
	find_focused(options, &t);
	discord_snowflake(json_string_value(json_object_get(d, "channel_id")), &t.in);
	if (!t.subcommand || !t.option || !t.text)
		return EBADMSG;
	*out = t;
	return 0;
}

/* ---- answering ---- */

static json_t *message_of(const struct words *words, json_t *components)
{
	json_t *data =
		json_pack("{s:s,s:{s:[]}}", "content", words->text, "allowed_mentions", "parse");

	json_object_set_new(data, "components", components ? components : json_array());
	return data;
}

static void on_answered(int err, int status, const json_t *body, void *arg)
{
	(void)body, (void)arg;
	if (err != ECANCELED && (err || status / 100 != 2))
		log_warn("component_not_answered", "err=%d status=%d", err, status);
}

static void send_callback(struct components *c, const struct interaction *i, int type, json_t *data)
{
	json_t *body = json_pack("{s:i,s:o*}", "type", type, "data", data);
	int err = interaction_callback(c->rest, i, body, on_answered, NULL);

	if (err)
		log_warn("component_not_answered", "err=%d status=0", err);
	json_decref(body);
}

static void send_ephemeral(struct components *c, const struct interaction *i,
			   const struct words *words)
{
	json_t *data = message_of(words, NULL);

	json_object_set_new(data, "flags", json_integer(INTERACTION_EPHEMERAL));
	send_callback(c, i, INTERACTION_MESSAGE, data);
}

static void refuse(struct components *c, const json_t *d, int why)
{
	struct interaction i;
	struct words words = {0};

	if (!interaction_read(d, &i))
		return;
	words_speak(&words, interaction_locale(d));
	if (why == EPERM)
		words_component_of_another(&words);
	else if (why == ETIME)
		words_component_expired(&words);
	else
		words_component_too_many(&words);
	send_ephemeral(c, &i, &words);
}

void press_update(struct press *p, const struct words *words, json_t *components)
{
	struct open_press *o = (struct open_press *)p;

	send_callback(o->owner, &o->interaction, INTERACTION_UPDATE, message_of(words, components));
	end(o);
}

void press_accept(struct press *p)
{
	struct open_press *o = (struct open_press *)p;

	send_callback(o->owner, &o->interaction, INTERACTION_DEFER_UPDATE, NULL);
	end(o);
}

void press_refuse(struct press *p, const struct words *words)
{
	struct open_press *o = (struct open_press *)p;

	send_ephemeral(o->owner, &o->interaction, words);
	end(o);
}

static void on_finished(int err, int status, const json_t *body, void *arg)
{
	if (err == ECANCELED)
		return; /* components_free ends it */
	on_answered(err, status, body, NULL);
	end(arg);
}

static void send_finish(struct open_press *o)
{
	int err = interaction_edit(o->owner->rest, &o->interaction, o->body, o->file_name, o->file,
				   on_finished, o);

	if (err)
		on_finished(err, 0, NULL, o);
}

static void on_deferred(int err, int status, const json_t *body, void *arg)
{
	struct open_press *o = arg;

	if (err == ECANCELED)
		return;
	on_answered(err, status, body, NULL);
	/* Also without the deferral: then Discord refuses what follows. */
	o->deferred = true;
	if (o->body)
		send_finish(o);
}

void press_defer(struct press *p)
{
	struct open_press *o = (struct open_press *)p;
	json_t *body = json_pack("{s:i,s:{s:i}}", "type", INTERACTION_DEFER, "data", "flags",
				 INTERACTION_EPHEMERAL);
	int err = interaction_callback(o->owner->rest, &o->interaction, body, on_deferred, o);

	json_decref(body);
	if (err)
		on_deferred(err, 0, NULL, o);
}

void press_finish(struct press *p, const struct words *words, const char *file_name,
		  const char *file)
{
	struct open_press *o = (struct open_press *)p;

	o->body = message_of(words, NULL);
	if (file_name && file) {
		o->file_name = strdup(file_name);
		o->file = strdup(file);
	}
	if (o->deferred)
		send_finish(o);
}

/* ---- what users do ---- */

static void take_press(struct components *c, const json_t *d, const struct press *p)
{
	struct open_press *o = c->n < COMPONENTS_OPEN_MAX ? calloc(1, sizeof *o) : NULL;

	if (!o || !interaction_read(d, &o->interaction)) {
		free(o);
		refuse(c, d, ENOSPC);
		return;
	}
	o->press = *p;
	o->owner = c;
	o->next = c->list;
	c->list = o;
	c->n++;
	c->h(&o->press, c->arg);
}

static void answer_typing(struct components *c, const struct interaction *i, json_t *choices)
{
	if (!choices)
		choices = json_array();
	while (json_array_size(choices) > CHOICES_MAX)
		json_array_remove(choices, CHOICES_MAX);
	send_callback(c, i, INTERACTION_CHOICES, json_pack("{s:o}", "choices", choices));
}

static void wait_for_suggestions(struct components *c)
{
	if (c->typings)
		tmr_start_at(c->typing_tmr, c->typings->until);
	else
		tmr_stop(c->typing_tmr);
}

void components_suggest(struct components *c, uint32_t id, json_t *choices)
{
	for (struct open_typing **at = &c->typings; *at; at = &(*at)->next)
		if ((*at)->id == id) {
			answer_typing(c, &(*at)->interaction, choices);
			end_typing(c, at);
			wait_for_suggestions(c);
			return;
		}
	json_decref(choices);
}

static void on_typing_timer(void *arg)
{
	struct components *c = arg;

	while (c->typings && env_now(c->env) >= c->typings->until) {
		answer_typing(c, &c->typings->interaction, NULL);
		end_typing(c, &c->typings);
	}
	wait_for_suggestions(c);
}

static struct open_typing *open_typing(struct components *c)
{
	struct open_typing *o, **last;

	if (c->n_typings >= COMPONENTS_TYPING_MAX ||
	    (!c->typing_tmr && tmr_alloc(&c->typing_tmr, c->env, on_typing_timer, c)))
		return NULL;
	o = calloc(1, sizeof *o);
	if (!o)
		return NULL;
	for (last = &c->typings; *last; last = &(*last)->next)
		;
	*last = o;
	c->n_typings++;
	o->id = ++c->last_typing;
	o->until = env_now(c->env) + COMPONENT_TYPING_MS * NS_PER_MS;
	return o;
}

static void take_typing(struct components *c, const json_t *d)
{
	struct interaction i;
	struct open_typing *o;
	struct typing t;

	if (typing_parse(d, &t) || !interaction_read(d, &i))
		return;
	o = open_typing(c);
	if (!o) {
		answer_typing(c, &i, NULL);
		return;
	}
	o->interaction = i;
	wait_for_suggestions(c);
	c->typingh(&t, o->id, c->arg);
}

bool components_interaction(struct components *c, const json_t *d, uint64_t wall_ms)
{
	json_int_t type = json_integer_value(json_object_get(d, "type"));
	struct press p;
	int err;

	if (type == INTERACTION_AUTOCOMPLETE) {
		take_typing(c, d);
		return true;
	}
	if (type != INTERACTION_COMPONENT)
		return false;
	err = press_parse(d, wall_ms, &p);
	if (!err)
		take_press(c, d, &p);
	else if (err == EPERM || err == ETIME)
		refuse(c, d, err);
	else
		log_debug("component_ignored", "err=%d", err);
	return true;
}
