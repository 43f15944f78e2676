/* /consent: reading and changing what a member allows in a server. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/configure/live_settings.h"
#include "control/consent/consent.h"
#include "control/control_inside.h"
#include "control/discord/components.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "control/text_session/text_session.h"
#include "control/vision/vision.h"
#include "control/voice_session/policy.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/utf8.h"

enum { GRANTS_A_MINUTE = 3 };

/* An answer to /consent that the store is saving. Either cmd or press waits for the reply. */
struct consent_request {
	struct consent_request *next; /* an older one */
	struct control *c;
	struct command *cmd;
	struct press *press;
	uint64_t guild, user;
	enum consent consent, was;
	bool applied;
};

/* ---- the present consent ---- */

struct settings *control_read_settings(const struct control *c, uint64_t guild)
{
	struct settings *s = NULL;

	if (settings_alloc(&s))
		return NULL;
	live_settings_wanted_of(c->live, guild, s);
	return s;
}

void control_time_zone(uint64_t guild, char *zone, size_t size, void *arg)
{
	const struct control *c = arg;
	struct settings *s = control_read_settings(c, guild);

	utf8_copy(zone, size, s ? s->time_zone : "");
	settings_free(s);
}

static enum consent present_consent(const struct control *c, uint64_t guild, uint64_t user)
{
	struct settings *s = control_read_settings(c, guild);
	enum consent by_default = s ? (enum consent)s->consent : CONSENT_NEITHER;

	settings_free(s);
	return consent_of(c->consents, guild, user, by_default);
}

bool control_remembers(uint64_t guild, uint64_t user, void *arg)
{
	const struct control *c = arg;
	struct settings *s = control_read_settings(c, guild);
	bool yes = s && !c->settings->unread && !policy_blocks_user(s, user) &&
		   consent_of(c->consents, guild, user, (enum consent)s->consent) ==
			   CONSENT_REMEMBERED;

	settings_free(s);
	return yes;
}

static void name_consent(struct words *words, enum consent consent)
{
	if (consent == CONSENT_NEITHER)
		words_consent_neither(words);
	else if (consent == CONSENT_REMEMBERED)
		words_consent_remembered(words);
	else
		words_consent_heard(words);
}

void control_tell_present_consent(struct control *c, uint64_t guild, uint64_t user,
				  struct words *words)
{
	struct words state = {0};

	name_consent(&state, present_consent(c, guild, user));
	if (consent_answer(c->consents, guild, user) != CONSENT_DEFAULT)
		words_consent_is(words, state.text);
	else if (consent_table_unread(c->consents))
		words_consent_unread(words);
	else
		words_consent_by_default(words, state.text);
}

/* ---- changing it ---- */

static bool allows_less(enum consent consent, enum consent than)
{
	static const unsigned allows[CONSENT_COUNT] = {
		[CONSENT_NEITHER] = 0, [CONSENT_HEARD] = 1, [CONSENT_REMEMBERED] = 2};

	return allows[consent] < allows[than];
}

/* Others may speak of a member, so the room learns who is heard and remembered. */
static void tell_room(const struct consent_request *r)
{
	struct voice_session *vs = control_find_voice_session(r->c, r->guild);
	struct words state = {0};

	name_consent(&state, r->consent);
	if (!vs)
		return;
	voice_session_consent(vs, r->user, allows_less(r->consent, r->was));
	voice_session_tell_consent(vs, r->user, state.text);
}

static int apply_consent(struct consent_request *r)
{
	uint64_t now = env_wall_ms(r->c->env);
	int err = allows_less(r->consent, r->was) ? consent_withdraw(r->c->consents, r->guild, now)
						  : 0;

	if (!err)
		err = consent_set(r->c->consents, r->guild, r->user, r->consent, now);
	r->applied = !err;
	if (r->applied && r->was != r->consent)
		tell_room(r);
	if (r->applied && allows_less(r->consent, r->was))
		text_session_forget(r->c->text, r->guild, r->user, r->consent == CONSENT_NEITHER);
	if (r->applied && r->consent == CONSENT_NEITHER) {
		control_forget_work(r->c, r->guild, r->user);
		vision_forget(r->c->vision, r->guild, r->user);
	}
	return err;
}

/* The newest of these requests that the member of r has made. NULL: none. */
static const struct consent_request *find_newest(const struct consent_request *list,
						 const struct consent_request *r)
{
	while (list && (list->guild != r->guild || list->user != r->user))
		list = list->next;
	return list;
}

static const char *locale_of(const struct consent_request *r)
{
	return r->cmd ? r->cmd->locale : r->press->locale;
}

static void send_reply(struct consent_request *r, const struct words *words)
{
	if (r->cmd)
		command_reply(r->cmd, words);
	else
		press_finish(r->press, words, NULL, NULL);
}

static void end_request(struct consent_request *r)
{
	for (struct consent_request **at = &r->c->consent_requests; *at; at = &(*at)->next)
		if (*at == r) {
			*at = r->next;
			break;
		}
	free(r);
}

void control_end_consents(struct control *c)
{
	while (c->consent_requests)
		end_request(c->consent_requests);
}

static void finish(struct consent_request *r, int err)
{
	struct words words = {0}, state = {0};

	words_speak(&words, locale_of(r));
	name_consent(&state, r->consent);
	if (!r->applied) {
		words_consent_unchanged(&words);
	} else {
		words_consent_is(&words, state.text);
		if (r->was == CONSENT_REMEMBERED && r->consent != CONSENT_REMEMBERED)
			words_consent_kept_words(&words);
		if (err)
			words_consent_not_saved(&words);
	}
	send_reply(r, &words);
	end_request(r);
}

static void on_saved(int err, void *arg)
{
	struct consent_request *r = arg;

	if (err)
		log_warn("consent_not_saved", "error=\"%s\"", strerror(err));
	/* A newer answer of the same member takes precedence. */
	if (!err && !r->applied && find_newest(r->c->consent_requests, r) == r)
		err = apply_consent(r);
	else if (!err)
		r->applied = true;
	finish(r, err);
}

static int save(struct consent_request *r, enum consent before)
{
	const struct store_consent change = {.guild = r->guild,
					     .user = r->user,
					     .before = consent_name(before),
					     .after = consent_name(r->consent),
					     .via = "/consent",
					     .grants = allows_less(r->was, r->consent),
					     .by_default = r->was == CONSENT_REMEMBERED};
	char text[64];

	snprintf(text, sizeof text, "%s %s", change.before, change.after);
	env_output(r->c->env, ENV_OUT_FILE, 0, text, strlen(text));
	return r->c->store ? store_put_consent(r->c->store, &change, on_saved, r) : ENOENT;
}

static void on_erasure_saved(int err, void *arg)
{
	(void)arg;
	if (err)
		log_warn("consent_not_saved", "error=\"%s\"", strerror(err));
}

void control_end_default_consent(struct control *c, uint64_t guild, uint64_t user)
{
	const struct store_consent change = {.guild = guild,
					     .user = user,
					     .before = consent_name(CONSENT_DEFAULT),
					     .after = consent_name(CONSENT_HEARD),
					     .via = "erasure",
					     .by_default = true};
	int err;

	if (consent_answer(c->consents, guild, user) != CONSENT_DEFAULT ||
	    present_consent(c, guild, user) != CONSENT_REMEMBERED)
		return;
	err = consent_set(c->consents, guild, user, CONSENT_HEARD, env_wall_ms(c->env));
	if (!err)
		err = store_put_consent(c->store, &change, on_erasure_saved, NULL);
	if (err)
		on_erasure_saved(err, NULL);
}

/* Older answers of the member that still wait for the store change nothing any more, even if this
 * one is not saved. */
static void pass_over_older(const struct consent_request *r)
{
	for (struct consent_request *o = r->next; o; o = o->next)
		if (o->guild == r->guild && o->user == r->user)
			o->applied = true;
}

/* A consent that allows less takes effect at once, one that allows more once it is saved. */
static void run_request(struct consent_request *r)
{
	struct control *c = r->c;
	enum consent before = consent_answer(c->consents, r->guild, r->user);
	bool grants;
	int err;

	r->was = present_consent(c, r->guild, r->user);
	if (before == r->consent && !find_newest(r->next, r)) {
		r->applied = true;
		finish(r, 0);
		return;
	}
	/* One that allows less goes to the store before anything is searched for again because of
	 * it, so that these searches respect it. */
	grants = c->store && allows_less(r->was, r->consent);
	err = save(r, before);
	if (!grants && !apply_consent(r))
		pass_over_older(r);
	if (err)
		finish(r, err);
}

/* Each answer that allows less takes effect at once: conversations lose what may repeat the member,
 * and answers under way are asked again. So a member may not allow more, and then less, all the
 * time. */
static bool may_change(struct control *c, const struct consent_request *r)
{
	const struct consent_request *newest = find_newest(c->consent_requests, r);

	/* The newest answer may still wait for the store. */
	return !allows_less(present_consent(c, r->guild, r->user), r->consent) ||
	       (newest && allows_less(r->consent, newest->consent)) ||
	       cooldown_take(&c->grants, r->guild, r->user, GRANTS_A_MINUTE, env_now(c->env));
}

static void change_consent(struct control *c, const struct consent_request *proto)
{
	struct consent_request *r;
	struct consent_request failed = *proto;
	struct words words = {0};

	if (!may_change(c, proto)) {
		words_speak(&words, locale_of(proto));
		words_ask_too_often(&words, GRANTS_A_MINUTE);
		send_reply(&failed, &words);
		return;
	}
	r = malloc(sizeof *r);
	if (!r) {
		words_speak(&words, locale_of(proto));
		words_consent_unchanged(&words);
		send_reply(&failed, &words);
		return;
	}
	*r = *proto;
	r->c = c;
	r->next = c->consent_requests;
	c->consent_requests = r;
	run_request(r);
}

/* ---- the command and its menu ---- */

static json_t *consent_option(enum consent consent, enum consent now, const char *locale)
{
	struct words label = {0};

	words_speak(&label, locale);
	if (consent == CONSENT_NEITHER)
		words_consent_label_neither(&label);
	else if (consent == CONSENT_REMEMBERED)
		words_consent_label_remembered(&label);
	else
		words_consent_label_heard(&label);
	return json_pack("{s:s,s:s,s:b}", "label", label.text, "value", consent_name(consent),
			 "default", consent == now);
}

json_t *control_consent_menu(struct control *c, uint64_t guild, uint64_t user, const char *locale)
{
	enum consent now = present_consent(c, guild, user);
	json_t *options = json_array();

	for (unsigned i = 0; i < CONSENT_DEFAULT; i++)
		json_array_append_new(options, consent_option((enum consent)i, now, locale));
	return component_row(
		json_pack("[o]", component_select("consent", user, env_wall_ms(c->env), options)));
}

void control_answer_consent(struct control *c, struct command *cmd)
{
	const char *answer = command_text(cmd, "answer");
	struct words words = {0};
	enum consent consent;

	words_speak(&words, cmd->locale);
	if (answer && (!consent_parse(answer, &consent) || consent == CONSENT_DEFAULT)) {
		words_consent_unknown(&words);
		command_reply(cmd, &words);
	} else if (answer) {
		change_consent(c, &(struct consent_request){.cmd = cmd,
							    .guild = cmd->guild,
							    .user = cmd->user,
							    .consent = consent});
	} else {
		control_tell_present_consent(c, cmd->guild, cmd->user, &words);
		words_line(&words);
		words_consent_choose(&words);
		command_reply_with(cmd, &words,
				   control_consent_menu(c, cmd->guild, cmd->user, cmd->locale));
	}
}

void control_press_consent(struct control *c, struct press *p)
{
	struct words words = {0};
	enum consent consent;

	if (!consent_parse(p->value, &consent) || consent == CONSENT_DEFAULT) {
		words_speak(&words, p->locale);
		words_consent_unknown(&words);
		press_update(p, &words, NULL);
		return;
	}
	press_defer(p);
	change_consent(c,
		       &(struct consent_request){
			       .press = p, .guild = p->guild, .user = p->user, .consent = consent});
}

void control_on_typing(const struct typing *t, uint32_t id, void *arg)
{
	static const struct {
		const char *command;
		void (*type)(struct control *c, const struct typing *t, uint32_t id);
	} others[] = {{"music", control_type_music},
		      {"forget", control_type_memory},
		      {"settings", control_type_settings},
		      {"work", control_type_work},
		      {"why", control_type_why}};
	struct control *c = arg;
	json_t *choices;

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strcmp(t->command, others[i].command) == 0 &&
		    (t->guild || others[i].type == control_type_memory)) {
			others[i].type(c, t, id);
			return;
		}
	choices = json_array();
	for (unsigned i = 0; i < CONSENT_DEFAULT; i++) {
		const char *name = consent_name((enum consent)i);

		if (strcmp(t->command, "consent") == 0 && strcmp(t->option, "answer") == 0 &&
		    strncmp(name, t->text, strlen(t->text)) == 0)
			json_array_append_new(choices,
					      json_pack("{s:s,s:s}", "name", name, "value", name));
	}
	components_suggest(c->components, id, choices);
}
