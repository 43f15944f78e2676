/* /consent and /privacy, the buttons below them, and erasures that `control --erase` asks for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/configure/live_settings.h"
#include "control/consent/consent.h"
#include "control/control_inside.h"
#include "control/discord/components.h"
#include "control/discord/guilds.h"
#include "control/settings/settings.h"
#include "control/store/erase.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "control/web/web.h"
#include "ipc/log.h"

/* Discord takes files of 10 MiB; the form around it needs a little. */
enum { FILE_MAX = 9 << 20 };

/* A press that waits for the store. */
struct privacy_request {
	struct privacy_request *next;
	struct control *c;
	struct press *press; /* NULL: `control --erase` waits, in another process */
};

static enum consent default_consent(struct control *c, uint64_t guild)
{
	struct settings *s = NULL;
	enum consent consent = CONSENT_NEITHER;

	if (settings_alloc(&s))
		return consent;
	live_settings_wanted_of(c->live, guild, s);
	consent = (enum consent)s->consent;
	settings_free(s);
	return consent;
}

static void tell_consent(struct words *words, enum consent consent)
{
	if (consent == CONSENT_NEITHER)
		words_consent_neither(words);
	else if (consent == CONSENT_REMEMBERED)
		words_consent_remembered(words);
	else
		words_consent_heard(words);
}

/* ---- /consent ---- */

static void on_saved(int err, void *arg)
{
	(void)arg;
	if (err)
		log_warn("consent_not_saved", "error=\"%s\"", strerror(err));
}

static bool save(struct control *c, const struct store_consent *change)
{
	char text[64];

	snprintf(text, sizeof text, "%s %s", change->before, change->after);
	env_output(c->env, ENV_OUT_FILE, 0, text, strlen(text));
	return c->store && store_put_consent(c->store, change, on_saved, c) == 0;
}

/* The room learns who is heard and remembered, for others may speak of it. */
static void tell_room(struct control *c, uint64_t guild, uint64_t user, enum consent consent)
{
	struct voice_session *vs = control_find_voice_session(c, guild);
	struct words state = {0};

	tell_consent(&state, consent);
	if (!vs)
		return;
	voice_session_consent(vs, user);
	voice_session_tell_consent(vs, user, state.text);
}

static void change_consent(struct control *c, uint64_t guild, uint64_t user, enum consent consent,
			   struct words *reply)
{
	enum consent before = consent_answer(c->consents, guild, user);
	enum consent was = consent_of(c->consents, guild, user, default_consent(c, guild));
	const struct store_consent change = {.guild = guild,
					     .user = user,
					     .before = consent_name(before),
					     .after = consent_name(consent),
					     .via = "/consent"};
	struct words state = {0};
	bool saved = before == consent || save(c, &change);

	if (consent_set(c->consents, guild, user, consent))
		saved = false;
	tell_consent(&state, consent);
	words_consent_is(reply, state.text);
	if (was == CONSENT_REMEMBERED && consent != CONSENT_REMEMBERED)
		words_consent_kept_words(reply);
	if (!saved)
		words_consent_not_saved(reply);
	if (was != consent)
		tell_room(c, guild, user, consent);
}

static json_t *consent_option(enum consent consent, enum consent now)
{
	struct words label = {0};

	if (consent == CONSENT_NEITHER)
		words_consent_label_neither(&label);
	else if (consent == CONSENT_REMEMBERED)
		words_consent_label_remembered(&label);
	else
		words_consent_label_heard(&label);
	return json_pack("{s:s,s:s,s:b}", "label", label.text, "value", consent_name(consent),
			 "default", consent == now);
}

static json_t *consent_menu(struct control *c, uint64_t guild, uint64_t user)
{
	enum consent now = consent_of(c->consents, guild, user, default_consent(c, guild));
	json_t *options = json_array();

	for (unsigned i = 0; i < CONSENT_DEFAULT; i++)
		json_array_append_new(options, consent_option((enum consent)i, now));
	return component_row(
		json_pack("[o]", component_select("consent", user, env_wall_ms(c->env), options)));
}

static void tell_present_consent(struct control *c, uint64_t guild, uint64_t user,
				 struct words *words)
{
	struct words state = {0};

	tell_consent(&state, consent_of(c->consents, guild, user, default_consent(c, guild)));
	if (consent_answer(c->consents, guild, user) == CONSENT_DEFAULT)
		words_consent_by_default(words, state.text);
	else
		words_consent_is(words, state.text);
}

static void answer_consent(struct control *c, struct command *cmd)
{
	struct words words = {0};
	enum consent consent;

	if (cmd->answer && (!consent_parse(cmd->answer, &consent) || consent == CONSENT_DEFAULT)) {
		words_consent_unknown(&words);
		command_reply(cmd, &words);
	} else if (cmd->answer) {
		change_consent(c, cmd->guild, cmd->user, consent, &words);
		command_reply(cmd, &words);
	} else {
		tell_present_consent(c, cmd->guild, cmd->user, &words);
		words_line(&words);
		words_consent_choose(&words);
		command_reply_with(cmd, &words, consent_menu(c, cmd->guild, cmd->user));
	}
}

json_t *control_on_typing(const struct typing *t, void *arg)
{
	json_t *choices = json_array();

	(void)arg;
	if (strcmp(t->command, "consent") != 0 || strcmp(t->option, "answer") != 0)
		return choices;
	for (unsigned i = 0; i < CONSENT_DEFAULT; i++) {
		const char *name = consent_name((enum consent)i);

		if (strncmp(name, t->text, strlen(t->text)) == 0)
			json_array_append_new(choices,
					      json_pack("{s:s,s:s}", "name", name, "value", name));
	}
	return choices;
}

/* ---- /privacy ---- */

static json_t *privacy_buttons(const struct control *c, uint64_t user)
{
	struct words export = {0}, forget = {0}, change = {0};
	uint64_t now = env_wall_ms(c->env);

	words_privacy_export(&export);
	words_privacy_forget(&forget);
	words_privacy_change(&change);
	return component_row(json_pack(
		"[o,o,o]", component_button("export", user, now, COMPONENT_PLAIN, export.text),
		component_button("consent_menu", user, now, COMPONENT_PLAIN, change.text),
		component_button("forget", user, now, COMPONENT_DANGER, forget.text)));
}

static void answer_privacy(struct control *c, struct command *cmd)
{
	const struct settings *s = c->settings;
	struct words words = {0};

	tell_present_consent(c, cmd->guild, cmd->user, &words);
	words_line(&words);
	if (!c->store) {
		words_privacy_no_store(&words);
		command_reply(cmd, &words);
		return;
	}
	if (s->store_words_hours)
		words_privacy_words(&words, s->store_words_hours, s->memory_days);
	else
		words_privacy_no_words(&words);
	words_line(&words);
	words_privacy_always(&words);
	words_line(&words);
	words_privacy_nothing_heard(&words);
	command_reply_with(cmd, &words, privacy_buttons(c, cmd->user));
}

void control_answer_privacy(struct control *c, struct command *cmd)
{
	if (cmd->kind == COMMAND_CONSENT)
		answer_consent(c, cmd);
	else
		answer_privacy(c, cmd);
}

/* ---- requests of the store ---- */

/* NULL accepted. */
static void end_request(struct privacy_request *r)
{
	if (!r)
		return;
	for (struct privacy_request **at = &r->c->privacy_requests; *at; at = &(*at)->next)
		if (*at == r) {
			*at = r->next;
			break;
		}
	free(r);
}

void control_end_privacy(struct control *c)
{
	while (c->privacy_requests)
		end_request(c->privacy_requests);
}

static void finish(struct privacy_request *r, int err, const struct words *words, const char *name,
		   const char *file)
{
	struct words failed = {0};

	if (err)
		words_privacy_failed(&failed, strerror(err));
	if (r->press)
		press_finish(r->press, err ? &failed : words, err ? NULL : name, file);
	end_request(r);
}

static void take_export(int err, const struct store_document *d, void *arg)
{
	struct words words = {0};
	bool fits = strlen(d->document) <= FILE_MAX;

	if (fits)
		words_privacy_exported(&words);
	else
		words_privacy_too_long(&words);
	finish(arg, err, &words, fits ? "parley-export.json" : NULL, d->document);
}

static struct privacy_request *make_request(struct control *c, struct press *press)
{
	struct privacy_request *r = malloc(sizeof *r);

	if (!r)
		return NULL;
	*r = (struct privacy_request){.next = c->privacy_requests, .c = c, .press = press};
	c->privacy_requests = r;
	return r;
}

static void begin(struct control *c, struct press *p,
		  int (*run)(struct control *c, uint64_t user, struct privacy_request *r))
{
	struct privacy_request *r = make_request(c, p);
	struct words words = {0};
	int err;

	press_defer(p);
	err = r ? run(c, p->user, r) : ENOMEM;
	if (!err)
		return;
	words_privacy_failed(&words, strerror(err));
	press_finish(p, &words, NULL, NULL);
	end_request(r);
}

static int run_export(struct control *c, uint64_t user, struct privacy_request *r)
{
	return c->store ? store_export_person(c->store, user, take_export, r) : ENOENT;
}

/* ---- erasure ---- */

static void take_receipt(int err, const struct store_document *d, void *arg)
{
	struct words words = {0}, sentence = {0};

	if (!err)
		err = erase_tell(&sentence, d->document);
	log_info("person_erased", "error=\"%s\" text=\"%s\"", err ? strerror(err) : "",
		 sentence.text);
	words_privacy_erased(&words, sentence.text);
	finish(arg, err, &words, "parley-receipt.json", d->document);
}

/* First the memory: what it tells while it ends goes to the store, which erases it then. */
static void forget_live(struct control *c, uint64_t user)
{
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_erase(c->voice_sessions[i], user);
	consent_end(c->consents, user);
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_consent(c->voice_sessions[i], user);
	if (c->web)
		web_forget_events(c->web);
}

static int run_erasure(struct control *c, uint64_t user, struct privacy_request *r)
{
	if (!c->store)
		return ENOENT;
	forget_live(c, user);
	return store_erase_person(c->store, user, r->press ? "/privacy" : "control --erase",
				  take_receipt, r);
}

static void take_erase_requests(int err, const struct store_document *list, size_t n, void *arg)
{
	struct control *c = arg;

	if (err)
		log_warn("erase_requests_not_read", "error=\"%s\"", strerror(err));
	for (size_t i = 0; i < n; i++) {
		struct privacy_request *r = make_request(c, NULL);

		err = r ? run_erasure(c, list[i].version, r) : ENOMEM;
		if (err)
			log_warn("erase_request_failed", "error=\"%s\"", strerror(err));
		if (err)
			end_request(r);
	}
}

void control_take_erase_requests(struct control *c)
{
	if (c->store && store_list_erase_requests(c->store, take_erase_requests, c))
		log_warn("erase_requests_not_read", "error=\"%s\"", strerror(ENOSPC));
}

/* ---- presses ---- */

static void ask_sure(struct control *c, struct press *p)
{
	struct words words = {0}, erase = {0}, keep = {0};
	uint64_t now = env_wall_ms(c->env);

	words_privacy_sure(&words);
	words_privacy_erase(&erase);
	words_privacy_keep(&keep);
	press_update(
		p, &words,
		component_row(json_pack(
			"[o,o]",
			component_button("forget_sure", p->user, now, COMPONENT_DANGER, erase.text),
			component_button("keep", p->user, now, COMPONENT_PLAIN, keep.text))));
}

static void press_consent(struct control *c, struct press *p)
{
	struct words words = {0};
	enum consent consent;

	if (consent_parse(p->value, &consent) && consent != CONSENT_DEFAULT)
		change_consent(c, p->guild, p->user, consent, &words);
	else
		words_consent_unknown(&words);
	press_update(p, &words, NULL);
}

void control_on_press(struct press *p, void *arg)
{
	struct control *c = arg;
	struct words words = {0};

	if (strcmp(p->action, "export") == 0) {
		begin(c, p, run_export);
	} else if (strcmp(p->action, "forget") == 0) {
		ask_sure(c, p);
	} else if (strcmp(p->action, "forget_sure") == 0) {
		begin(c, p, run_erasure);
	} else if (strcmp(p->action, "consent") == 0) {
		press_consent(c, p);
	} else if (strcmp(p->action, "consent_menu") == 0) {
		words_consent_choose(&words);
		press_update(p, &words, consent_menu(c, p->guild, p->user));
	} else {
		words_privacy_kept(&words);
		press_update(p, &words, NULL);
	}
}
