#include "control/discord/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/discord/interaction.h"
#include "control/discord/rest.h"
#include "control/words/words.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

enum {
	CUT = 1900,    /* bytes of a text that goes on in a file */
	LOADING = 128, /* message flag: deferred, and not answered yet */
	SILENT_MESSAGE = 4096,
	SUPPRESS_EMBEDS = 4,
};

/* The public part comes first, so a pointer to it is a pointer to the whole. */
struct waiting {
	struct command cmd;
	struct waiting *next;
	struct commands *owner;
	struct interaction interaction;
	bool ready, begun;	 /* nothing keeps it from being carried out; it was */
	bool overtaken;		 /* a later command was carried out before it */
	bool quick;		 /* its reply is the first answer */
	bool unsent;		 /* Discord could not take its reply, which is sent again */
	uint64_t order_until;	 /* later commands wait for it until then */
	json_t *kept;		 /* the interaction, as the next control needs it */
	command_shown_h *shownh; /* NULL: nobody waits for the reply's message, or it is told */
	void *shown_arg;
};

struct commands {
	struct env *env;
	struct rest *rest;
	struct tmr *order_tmr; /* NULL until a command has to wait for an earlier one */
	uint64_t order_at;     /* when it fires; 0: it does not run */
	struct tmr *reply_tmr; /* NULL until a reply has to be sent again */
	command_h *h;
	commands_changed_h *changedh;
	command_ready_h *readyh; /* NULL: nothing is answered at once */
	command_refused_h *refusedh;
	void *arg;
	struct waiting *list; /* oldest first: the next control carries them out in this order */
	unsigned n;
	json_t *inherited; /* array of interactions of the control before us */
};

int commands_alloc(struct commands **out, struct env *env, struct rest *rest, command_h *h,
		   commands_changed_h *changedh, void *arg)
{
	struct commands *c;

	if (!out || !env || !rest || !h)
		return EINVAL;
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->env = env;
	c->rest = rest;
	c->h = h;
	c->changedh = changedh;
	c->arg = arg;
	*out = c;
	return 0;
}

void commands_answer_at_once(struct commands *c, command_ready_h *readyh)
{
	c->readyh = readyh;
}

void commands_tell_refused(struct commands *c, command_refused_h *refusedh)
{
	c->refusedh = refusedh;
}

static void tell_change(const struct commands *c)
{
	if (c->changedh)
		c->changedh(c->arg);
}

/* message 0: there will be none. */
static void tell_shown(struct waiting *w, uint64_t message)
{
	command_shown_h *h = w->shownh;

	w->shownh = NULL;
	if (h)
		h(message, w->shown_arg);
}

static void end(struct waiting *w)
{
	tell_shown(w, 0);
	for (struct waiting **at = &w->owner->list; *at; at = &(*at)->next)
		if (*at == w) {
			*at = w->next;
			w->owner->n--;
			break;
		}
	explicit_bzero(&w->interaction, sizeof w->interaction);
	json_decref(w->kept);
	free(w);
}

struct commands *commands_free(struct commands *c)
{
	if (!c)
		return NULL;
	while (c->list)
		end(c->list);
	tmr_free(c->order_tmr);
	tmr_free(c->reply_tmr);
	json_decref(c->inherited);
	free(c);
	return NULL;
}

static void on_registered(int err, int status, const json_t *body, void *arg)
{
	const char *message = json_string_value(json_object_get(body, "message"));

	(void)arg;
	if (err == ECANCELED)
		return;
	if (err || status / 100 != 2)
		log_warn("commands_refused", "err=%d status=%d text=\"%s\"", err, status,
			 message ? message : "");
	else
		log_info("commands_registered", "count=%u", (unsigned)COMMAND_COUNT);
}

int commands_register(struct commands *c, uint64_t application)
{
	struct rest_call call = {.method = "PUT",
				 .route = "/applications/{}/commands",
				 .idempotent = true,
				 .body = commands_body()};
	char path[64];
	int err;

	snprintf(path, sizeof path, "/applications/%llu/commands", (unsigned long long)application);
	call.path = path;
	err = rest_request(c->rest, &call, on_registered, NULL);
	json_decref(call.body);
	return err;
}

static bool field_id(const json_t *d, const char *name, uint64_t *out)
{
	return discord_snowflake(json_string_value(json_object_get(d, name)), out);
}

static void carry_out_ready(struct commands *c, uint64_t guild);

static void lose(struct waiting *w)
{
	struct commands *c = w->owner;
	uint64_t guild = w->cmd.guild;

	end(w);
	tell_change(c);
	carry_out_ready(c, guild);
}

static bool is_late(const struct waiting *w)
{
	uint64_t at = (uint64_t)json_integer_value(json_object_get(w->kept, "at_ms"));
	uint64_t now = env_wall_ms(w->owner->env);

	return now < at || now - at >= COMMAND_ANSWER_MS;
}

static void on_reply_timer(void *arg);

/* False if nobody waits for it any more. */
static bool send_reply_later(struct waiting *w)
{
	struct commands *c = w->owner;

	if (is_late(w) || (!c->reply_tmr && tmr_alloc(&c->reply_tmr, c->env, on_reply_timer, c)))
		return false;
	w->unsent = true;
	tmr_start(c->reply_tmr, COMMAND_REPLY_AGAIN_MS * NS_PER_MS);
	return true;
}

static void on_edited(int err, int status, const json_t *body, void *arg)
{
	bool passes = err ? err != EACCES : status == 429 || status >= 500;
	uint64_t message = 0;

	if (err == ECANCELED)
		return; /* as in on_deferred; the next control sends the reply */
	if (passes && send_reply_later(arg))
		return;
	if (err || status / 100 != 2)
		log_warn("answer_lost", "err=%d status=%d", err, status);
	else if (field_id(body, "id", &message))
		tell_shown(arg, message);
	lose(arg);
}

/* Until Discord has the reply, the command waits with it for the next control. It has no previews:
 * Discord fetches those at once, and an address that somebody planted in what a model read could
 * carry words of the channel to its owner. */
static void edit_answer(struct waiting *w, const char *text)
{
	json_t *body = json_pack("{s:s,s:{s:[]},s:i,s:O*}", "content", text, "allowed_mentions",
				 "parse", "flags", SUPPRESS_EMBEDS, "components",
				 json_object_get(w->kept, "components"));
	const char *file = json_string_value(json_object_get(w->kept, "file"));
	int err = interaction_edit(w->owner->rest, &w->interaction, body, file ? "answer.md" : NULL,
				   file, on_edited, w);

	json_decref(body);
	if (err) {
		log_warn("answer_lost", "err=%d status=0", err);
		lose(w);
	} else {
		tell_change(w->owner);
	}
}

static void tell_missed(const struct waiting *w);

static void on_answered(int err, int status, const json_t *body, void *arg)
{
	struct waiting *w = arg;
	json_int_t code = json_integer_value(json_object_get(body, "code"));

	if (err == ECANCELED)
		return; /* as in on_deferred; the next control answers it */
	if (err || status / 100 != 2)
		log_warn("answer_lost", "name=%s err=%d status=%d", command_name(w->cmd.kind), err,
			 status);
	if (code == DISCORD_ERROR_UNKNOWN_INTERACTION)
		tell_missed(w);
	lose(w);
}

/* The first answer. It is not kept: the next control makes one of its own. */
static void send_answer(struct waiting *w, const char *text)
{
	int flags = SUPPRESS_EMBEDS | (command_is_private(&w->cmd) ? INTERACTION_EPHEMERAL : 0);
	json_t *body = json_pack("{s:i,s:{s:s,s:{s:[]},s:i,s:O*}}", "type", INTERACTION_MESSAGE,
				 "data", "content", text, "allowed_mentions", "parse", "flags",
				 flags, "components", json_object_get(w->kept, "components"));
	int err = interaction_callback(w->owner->rest, &w->interaction, body, on_answered, w);

	json_decref(body);
	json_object_del(w->kept, "reply");
	if (err) {
		log_warn("answer_lost", "err=%d status=0", err);
		lose(w);
	} else {
		tell_change(w->owner);
	}
}

static void send_reply(struct waiting *w, const char *text)
{
	if (w->quick)
		send_answer(w, text);
	else
		edit_answer(w, text);
}

static void on_reply_timer(void *arg)
{
	struct commands *c = arg;
	struct waiting *w = c->list;

	while (w) {
		if (w->unsent) {
			w->unsent = false;
			send_reply(w, json_string_value(json_object_get(w->kept, "reply")));
			w = c->list; /* it may have ended */
		} else {
			w = w->next;
		}
	}
}

/* Where a command stands among those of its server; /status may be answered at any time. */
static bool has_order(const struct waiting *w)
{
	return w->cmd.kind == COMMAND_JOIN || w->cmd.kind == COMMAND_LEAVE;
}

/* The next command of this server that is to be carried out. *wait: the earlier one that has to be
 * waited for. */
static struct waiting *find_next(const struct commands *c, uint64_t guild, struct waiting **wait)
{
	uint64_t now = env_now(c->env);

	*wait = NULL;
	for (struct waiting *w = c->list; w; w = w->next) {
		if (w->cmd.guild != guild || w->begun)
			continue;
		if (w->ready && (!*wait || !has_order(w)))
			return w;
		if (!w->ready && !*wait && has_order(w) && now < w->order_until)
			*wait = w;
	}
	return NULL;
}

/* The next control must know it, too. */
static void note_overtaking(const struct commands *c, const struct waiting *by)
{
	for (struct waiting *w = c->list; w && w != by && has_order(by); w = w->next)
		if (w->cmd.guild == by->cmd.guild && !w->begun && has_order(w)) {
			w->overtaken = true;
			json_object_set_new(w->kept, "overtaken", json_true());
			tell_change(c);
		}
}

static const char *kept_reply(const struct waiting *w)
{
	return json_string_value(json_object_get(w->kept, "reply"));
}

static void begin_command(struct commands *c, struct waiting *w)
{
	const char *reply = kept_reply(w);
	struct words words = {0};

	w->begun = true;
	if (reply) {
		/* The control before us carried it out; Discord did not get the reply. */
		send_reply(w, reply);
	} else if (w->overtaken) {
		words_speak(&words, w->cmd.locale);
		words_command_overtaken(&words, command_name(w->cmd.kind));
		command_reply(&w->cmd, &words);
	} else {
		note_overtaking(c, w);
		c->h(&w->cmd, c->arg);
	}
}

static void on_order_timer(void *arg);

static void wait_for_order(struct commands *c, const struct waiting *w)
{
	if (!c->order_tmr && tmr_alloc(&c->order_tmr, c->env, on_order_timer, c))
		return; /* the next command looks again */
	/* It may run for an earlier command of another server. */
	if (c->order_at && c->order_at <= w->order_until)
		return;
	c->order_at = w->order_until;
	tmr_start_at(c->order_tmr, c->order_at);
}

/* Carries out what is ready in this server, in the order in which members used the commands. */
static void carry_out_ready(struct commands *c, uint64_t guild)
{
	struct waiting *w, *wait;

	while ((w = find_next(c, guild, &wait)))
		begin_command(c, w);
	if (wait)
		wait_for_order(c, wait);
}

/* A handler may end commands, so each search starts over. */
static void on_order_timer(void *arg)
{
	struct commands *c = arg;
	struct waiting *w = c->list, *wait;

	c->order_at = 0;
	while (w) {
		if (find_next(c, w->cmd.guild, &wait)) {
			carry_out_ready(c, w->cmd.guild);
			w = c->list;
		} else {
			if (wait)
				wait_for_order(c, wait);
			w = w->next;
		}
	}
}

static void on_missed_told(int err, int status, const json_t *body, void *arg)
{
	(void)body, (void)arg;
	if (err != ECANCELED && (err || status / 100 != 2))
		log_warn("not_told", "err=%d status=%d", err, status);
}

/* A message to the channel, for a command whose own answer cannot be given any more. */
static void tell_channel(const struct waiting *w, const struct words *words)
{
	struct rest_call call = {.method = "POST", .route = "/channels/{}/messages"};
	char path[64], major[24];
	uint64_t channel;

	if (!field_id(w->kept, "channel_id", &channel))
		return;
	snprintf(major, sizeof major, "%llu", (unsigned long long)channel);
	snprintf(path, sizeof path, "/channels/%s/messages", major);
	call.path = path;
	call.major = major;
	call.body = json_pack("{s:s,s:i,s:{s:[]}}", "content", words->text, "flags", SILENT_MESSAGE,
			      "allowed_mentions", "parse");
	if (call.body)
		rest_request(w->owner->rest, &call, on_missed_told, NULL);
	json_decref(call.body);
}

/* Discord has told the user that nobody answered. The channel learns why, and that the command was
 * not carried out. */
static void tell_missed(const struct waiting *w)
{
	struct words words = {0};

	words_speak(&words, w->cmd.locale);
	words_command_missed(&words, command_name(w->cmd.kind));
	tell_channel(w, &words);
}

static void carry_out(struct waiting *w)
{
	w->ready = true;
	carry_out_ready(w->owner, w->cmd.guild);
}

/* Only a message that still says that the bot thinks shows that nobody has answered. A /leave that
 * was carried out before would end the call that a member has asked for since. */
static void on_original(int err, int status, const json_t *body, void *arg)
{
	struct waiting *w = arg;
	const json_t *flags = json_object_get(body, "flags");
	struct words words = {0};

	if (err == ECANCELED)
		return; /* as in on_deferred */
	if (!err && status == 200 && json_integer_value(flags) & LOADING) {
		carry_out(w);
		return;
	}
	/* It was carried out, and the same reply does no harm. */
	if (kept_reply(w) && (err || (status != 200 && status != 404))) {
		carry_out(w);
		return;
	}
	if (!err && status == 200) {
		log_info("command_answered_before", "name=%s", command_name(w->cmd.kind));
	} else {
		log_warn("command_answer_unknown", "name=%s err=%d status=%d",
			 command_name(w->cmd.kind), err, status);
		words_speak(&words, w->cmd.locale);
		words_command_unsure(&words, command_name(w->cmd.kind));
		/* A message that was deleted waits for no answer. */
		if (status != 404)
			tell_channel(w, &words);
	}
	lose(w);
}

/* The control before us may have answered it and died before it could note that. The message that
 * members see tells: a command that has its answer is not carried out again. */
static void ask_whether_answered(struct waiting *w)
{
	int err = interaction_get(w->owner->rest, &w->interaction, on_original, w);

	if (err)
		on_original(err, 0, NULL, w);
}

static void on_deferred(int err, int status, const json_t *body, void *arg)
{
	struct waiting *w = arg;
	json_int_t code = json_integer_value(json_object_get(body, "code"));

	if (err == ECANCELED)
		return; /* commands_free has ended it or will end it */
	if (err || (status / 100 != 2 && code != DISCORD_ERROR_ALREADY_ACKNOWLEDGED)) {
		const char *text = discord_error_text((unsigned)code);

		log_warn("command_lost", "name=%s err=%d status=%d text=\"%s\"",
			 command_name(w->cmd.kind), err, status, text ? text : "");
		if (code == DISCORD_ERROR_UNKNOWN_INTERACTION)
			tell_missed(w);
		lose(w);
		return;
	}
	if (code == DISCORD_ERROR_ALREADY_ACKNOWLEDGED)
		ask_whether_answered(w);
	else
		carry_out(w);
}

/* Adds to what its execution needs when it came, and what the control before us added. */
static json_t *keep_interaction(const json_t *d, uint64_t wall_ms)
{
	static const char *const added[] = {"reply", "overtaken", "components", "file"};
	const json_t *at = json_object_get(d, "at_ms");
	json_t *kept = command_extract(d);

	if (!kept)
		return NULL;
	json_object_set_new(
		kept, "at_ms",
		json_integer(json_is_integer(at) ? json_integer_value(at) : (json_int_t)wall_ms));
	for (size_t i = 0; at && i < sizeof added / sizeof added[0]; i++) {
		json_t *value = json_object_get(d, added[i]);

		if (value)
			json_object_set(kept, added[i], value);
	}
	return kept;
}

static int defer(struct waiting *w)
{
	json_t *body = json_pack("{s:i,s:{s:i}}", "type", INTERACTION_DEFER, "data", "flags",
				 command_is_private(&w->cmd) ? INTERACTION_EPHEMERAL : 0);
	int err = interaction_callback(w->owner->rest, &w->interaction, body, on_deferred, w);

	json_decref(body);
	return err;
}

static void on_busy_told(int err, int status, const json_t *body, void *arg)
{
	(void)err, (void)status, (void)body, (void)arg;
}

/* Discord does not take answers, or too many use commands. */
static void tell_busy(const struct commands *c, const struct interaction *i,
		      const struct command *cmd)
{
	struct words words = {0};
	json_t *body;

	log_warn("command_refused", "name=%s waiting=%u", command_name(cmd->kind), c->n);
	if (c->refusedh)
		c->refusedh(c->arg);
	words_speak(&words, cmd->locale);
	words_component_too_many(&words);
	body = json_pack("{s:i,s:{s:s,s:i}}", "type", INTERACTION_MESSAGE, "data", "content",
			 words.text, "flags", INTERACTION_EPHEMERAL);
	interaction_callback(c->rest, i, body, on_busy_told, NULL);
	json_decref(body);
}

/* Before the others: the handler has it before this returns. */
static bool is_quick(const struct commands *c, const struct waiting *w)
{
	return command_is_quick(&w->cmd) && c->readyh && c->readyh(c->arg);
}

/* One that the control before us may have deferred is deferred, too. */
static void answer_at_once(struct commands *c, struct waiting *w)
{
	w->quick = w->begun = true;
	c->h(&w->cmd, c->arg);
}

void commands_interaction(struct commands *c, const json_t *d, uint64_t wall_ms)
{
	struct interaction interaction;
	struct waiting *w, **last;
	struct command cmd;
	int err = command_parse(d, &cmd);

	if (err || !interaction_read(d, &interaction)) {
		log_debug("interaction_ignored", "err=%d", err);
		return;
	}
	if (c->n >= COMMANDS_WAITING_MAX) {
		tell_busy(c, &interaction, &cmd);
		return;
	}
	w = calloc(1, sizeof *w);
	if (w)
		w->kept = keep_interaction(d, wall_ms);
	if (!w || !w->kept) {
		free(w);
		return;
	}
	/* From what is kept, because the interaction goes. */
	if (command_parse(w->kept, &w->cmd)) {
		json_decref(w->kept);
		free(w);
		return;
	}
	/* No name is kept. */
	memcpy(w->cmd.name, cmd.name, sizeof w->cmd.name);
	w->owner = c;
	w->overtaken = json_is_true(json_object_get(w->kept, "overtaken"));
	w->order_until = env_now(c->env) + COMMAND_ORDER_MS * NS_PER_MS;
	w->interaction = interaction;
	for (last = &c->list; *last; last = &(*last)->next)
		;
	*last = w;
	c->n++;
	if (kept_reply(w)) {
		ask_whether_answered(w); /* it was deferred and carried out */
		return;
	}
	if (!json_object_get(d, "at_ms") && is_quick(c, w)) {
		answer_at_once(c, w);
		return;
	}
	err = defer(w);
	if (err)
		lose(w);
	else
		tell_change(c);
}

json_t *commands_waiting(const struct commands *c)
{
	json_t *list = c->inherited ? json_copy(c->inherited) : json_array();

	for (const struct waiting *w = c->list; w; w = w->next)
		json_array_append(list, w->kept);
	return list;
}

void commands_inherit(struct commands *c, json_t *list, uint64_t wall_ms)
{
	json_t *x;
	size_t i;

	if (!c->inherited)
		c->inherited = json_array();
	json_array_foreach(list, i, x)
	{
		json_int_t at = json_integer_value(json_object_get(x, "at_ms"));

		if (i < COMMANDS_WAITING_MAX && at > 0 && (uint64_t)at <= wall_ms &&
		    wall_ms - (uint64_t)at < COMMAND_ANSWER_MS)
			json_array_append(c->inherited, x);
	}
}

void commands_resume(struct commands *c, uint64_t guild)
{
	json_t *left = json_array(), *all = c->inherited, *x;
	uint64_t of;
	size_t i;

	c->inherited = left;
	json_array_foreach(all, i, x)
	{
		if (guild && (!field_id(x, "guild_id", &of) || of != guild))
			json_array_append(left, x);
	}
	json_array_foreach(all, i, x)
	{
		if (guild && (!field_id(x, "guild_id", &of) || of != guild))
			continue;
		log_info("command_inherited", "name=%s",
			 json_string_value(json_object_get(json_object_get(x, "data"), "name")));
		commands_interaction(c, x, 0);
	}
	json_decref(all);
}

void command_reply(struct command *cmd, const struct words *words)
{
	command_reply_with(cmd, words, NULL);
}

void command_reply_with(struct command *cmd, const struct words *words, json_t *components)
{
	struct waiting *w = (struct waiting *)cmd;

	if (components)
		json_object_set_new(w->kept, "components", components);
	json_object_set_new(w->kept, "reply", json_string(words->text));
	send_reply(w, words->text);
}

void command_reply_shown(struct command *cmd, const char *text, command_shown_h *h, void *arg)
{
	struct waiting *w = (struct waiting *)cmd;

	w->shownh = h;
	w->shown_arg = arg;
	command_reply_text(cmd, text);
}

void command_reply_text(struct command *cmd, const char *text)
{
	struct waiting *w = (struct waiting *)cmd;
	char head[CUT + sizeof " …"];

	if (strlen(text) > WORDS_MAX) {
		snprintf(head, sizeof head, "%.*s …", (int)utf8_whole(text, CUT), text);
		json_object_set_new(w->kept, "file", json_string(text));
		text = head;
	}
	json_object_set_new(w->kept, "reply", json_string(text));
	send_reply(w, text);
}
