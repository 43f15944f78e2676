/* /privacy, the menu "Forget me", the buttons below both, and erasures. In a direct message
 * /privacy is about all servers, so that who left one can still have everything erased. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/consent/consent.h"
#include "control/control_inside.h"
#include "control/discord/components.h"
#include "control/extraction/extraction.h"
#include "control/golive/golive.h"
#include "control/jukebox/queue_shelf.h"
#include "control/kept.h"
#include "control/settings/settings.h"
#include "control/store/receipt.h"
#include "control/store/store.h"
#include "control/text_session/text_session.h"
#include "control/vision/vision.h"
#include "control/web/web.h"
#include "control/writer.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"

/* A press that waits for the store. */
struct privacy_request {
	struct privacy_request *next;
	struct control *c;
	struct press *press; /* NULL: the dashboard waits, `control --erase` does in another
				process, or nobody does */
	bool web;	     /* the dashboard waits */
	bool unrecorded;     /* no row names who asks in a direct message */
	uint64_t user;
};

/* ---- /privacy ---- */

/* Consent is of one server; guild 0: of none. */
static json_t *privacy_buttons(const struct control *c, uint64_t guild, uint64_t user,
			       const char *locale)
{
	struct words export = {0}, forget, change;
	uint64_t now = env_wall_ms(c->env);

	words_speak(&export, locale);
	forget = change = export;
	words_privacy_export(&export);
	words_privacy_forget(&forget);
	words_privacy_change(&change);
	return component_row(json_pack(
		"[o,o*,o]", component_button("export", user, now, COMPONENT_PLAIN, export.text),
		guild ? component_button("consent_menu", user, now, COMPONENT_PLAIN, change.text)
		      : NULL,
		component_button("forget", user, now, COMPONENT_DANGER, forget.text)));
}

static void tell_kept(const struct settings *s, struct words *words)
{
	kept_tell(s, words);
	words_line(words);
	words_privacy_always(words, kept_days(s));
	words_line(words);
	kept_tell_providers(s, words);
}

void control_answer_privacy(struct control *c, struct command *cmd)
{
	struct settings *s = c->store ? control_read_settings(c, cmd->guild) : NULL;
	struct words words = {0};

	words_speak(&words, cmd->locale);
	if (cmd->guild)
		control_tell_present_consent(c, cmd->guild, cmd->user, &words);
	else
		words_privacy_everywhere(&words);
	words_line(&words);
	if (!c->store) {
		words_privacy_no_store(&words);
		command_reply(cmd, &words);
		return;
	}
	tell_kept(s ? s : c->settings, &words);
	settings_free(s);
	words_line(&words);
	words_privacy_nothing_heard(&words);
	command_reply_with(cmd, &words, privacy_buttons(c, cmd->guild, cmd->user, cmd->locale));
}

static json_t *sure_buttons(const struct control *c, uint64_t user, const char *locale)
{
	struct words erase = {0}, keep = {0};
	uint64_t now = env_wall_ms(c->env);

	words_speak(&erase, locale);
	words_speak(&keep, locale);
	words_privacy_erase(&erase);
	words_privacy_keep(&keep);
	return component_row(json_pack(
		"[o,o]", component_button("forget_sure", user, now, COMPONENT_DANGER, erase.text),
		component_button("keep", user, now, COMPONENT_PLAIN, keep.text)));
}

/* Of oneself: no member has somebody else erased. */
void control_answer_forget_user(struct control *c, struct command *cmd)
{
	struct words words = {0};

	words_speak(&words, cmd->locale);
	if (cmd->target != cmd->user)
		words_privacy_of_others(&words);
	else if (!c->store)
		words_privacy_no_store(&words);
	if (words.n) {
		command_reply(cmd, &words);
		return;
	}
	words_privacy_sure(&words);
	command_reply_with(cmd, &words, sure_buttons(c, cmd->user, cmd->locale));
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

	words_speak(&failed, r->press ? r->press->locale : "");
	if (err)
		words_privacy_failed(&failed, strerror(err));
	if (r->press)
		press_finish(r->press, err ? &failed : words, err ? NULL : name, file);
	end_request(r);
}

static void take_export(int err, const struct store_document *d, void *arg)
{
	struct words words = {0};
	struct privacy_request *r = arg;

	words_speak(&words, r->press ? r->press->locale : "");
	if (!err && d->version)
		words_privacy_exported_newest(&words, (unsigned)d->version);
	else
		words_privacy_exported(&words);
	finish(arg, err, &words, "parley-export.json", err ? NULL : d->document);
}

static struct privacy_request *make_request(struct control *c, struct press *press, uint64_t user)
{
	struct privacy_request *r = malloc(sizeof *r);

	if (!r)
		return NULL;
	*r = (struct privacy_request){
		.next = c->privacy_requests, .c = c, .press = press, .user = user};
	c->privacy_requests = r;
	return r;
}

static void begin(struct control *c, struct press *p,
		  int (*run)(struct control *c, struct privacy_request *r))
{
	struct privacy_request *r = make_request(c, p, p->user);
	struct words words = {0};
	int err;

	press_defer(p);
	err = r ? run(c, r) : ENOMEM;
	if (!err)
		return;
	words_speak(&words, p->locale);
	words_privacy_failed(&words, strerror(err));
	press_finish(p, &words, NULL, NULL);
	end_request(r);
}

static int run_export(struct control *c, struct privacy_request *r)
{
	return c->store ? store_export_person(c->store, r->user, take_export, r) : ENOENT;
}

/* ---- erasure: its steps in order ---- */

static void take_receipt(int err, const struct store_document *d, void *arg)
{
	struct words words = {0}, sentence = {0};
	struct privacy_request *r = arg;

	if (r->press) {
		words_speak(&words, r->press->locale);
		words_speak(&sentence, r->press->locale);
	}
	if (!err)
		err = receipt_tell(&sentence, d->document);
	log_info("person_erased", "error=\"%s\" text=\"%s\"", err ? strerror(err) : "",
		 sentence.text);
	words_privacy_erased(&words, sentence.text);
	if (err)
		erasures_fail(&r->c->erasures, r->user);
	if (r->web && r->c->web)
		web_erased(r->c->web, err ? NULL : d->document);
	finish(r, err, &words, "parley-receipt.json", d->document);
}

/* The turn file has every line that was told before. */
static void on_written(void *arg)
{
	struct privacy_request *r = arg;
	const char *via = r->press ? "/privacy" : r->web ? "dashboard" : "control --erase";
	int err = store_erase_person(r->c->store, r->user, via, r->unrecorded, take_receipt, r);

	/* What is read from now on is read after the erasure. */
	text_session_hold_memory(r->c->text, false);
	if (err)
		take_receipt(err, &(struct store_document){.document = ""}, r);
}

static bool has_guild(const struct store_document *guilds, size_t n, uint64_t guild)
{
	for (size_t i = 0; i < n; i++)
		if (guilds[i].version == guild)
			return true;
	return false;
}

/* The memory goes before the database: a conversation that ends tells the store of its last turn.
 */
static void forget_live(struct privacy_request *r, const struct store_document *guilds, size_t n)
{
	struct control *c = r->c;
	uint64_t user = r->user;
	bool renew = erasures_renew(&c->erasures, user, r->press != NULL);

	if (!r->unrecorded)
		extraction_erase(c->extraction, user);
	/* Answers under way are asked again at once, before the store has erased anything. */
	text_session_hold_memory(c->text, true);
	for (size_t i = 0; i < n; i++)
		text_session_forget(c->text, guilds[i].version, user, true);
	text_session_forget(c->text, 0, user, true);
	queue_shelf_forget(c->shelf, user);
	vision_forget(c->vision, 0, user);
	golive_forget(c->golive, user);
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_forget_requester(c->voice_sessions[i], user);
	for (unsigned i = 0; renew && i < c->n_voice_sessions; i++) {
		struct voice_session *vs = c->voice_sessions[i];

		voice_session_erase(vs, user, has_guild(guilds, n, voice_session_guild(vs)));
	}
	consent_end(c->consents, user, env_wall_ms(c->env));
	for (size_t i = 0; i < n; i++)
		control_end_default_consent(c, guilds[i].version, user);
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_consent(c->voice_sessions[i], user, true);
	own_turns_forget(&c->own_turns, user);
	control_forget_work(c, 0, user);
	control_forget_author(c, user);
	if (c->web && !r->unrecorded)
		web_forget_events(c->web);
}

/* Commands and messages to the bot alone have guild 0, which is no server. */
static bool is_in_a_server(const struct store_document *guilds, size_t n)
{
	return n > has_guild(guilds, n, 0);
}

static void refuse_often(struct privacy_request *r, unsigned seconds)
{
	struct words words = {0};

	words_speak(&words, r->press->locale);
	words_privacy_too_often(&words, seconds / 60);
	finish(r, 0, &words, NULL, NULL);
}

/* Anybody on Discord can write a direct message, and press "Forget me" in it. False: too many did,
 * and the request is ended. Who is refused takes no member's place among the erasures. */
static bool take_direct(struct privacy_request *r, const struct store_document *guilds, size_t n)
{
	struct erasures *e = &r->c->erasures;
	uint64_t now = env_now(r->c->env);

	if (!erasures_allow(e, r->user, now)) {
		refuse_often(r, ERASURE_PAUSE_S);
		return false;
	}
	if (!is_in_a_server(guilds, n) && !erasures_allow_stranger(e, now)) {
		refuse_often(r, ERASURE_STRANGER_S);
		return false;
	}
	r->unrecorded = !n;
	erasures_begin(e, r->user, now);
	return true;
}

/* The request of who is in a server is on the disk, so a crash from here on does not lose it. */
static void take_guilds(int err, const struct store_document *guilds, size_t n, void *arg)
{
	struct privacy_request *r = arg;

	if (!err && r->press && !r->press->guild && !take_direct(r, guilds, n))
		return;
	if (!err) {
		forget_live(r, guilds, n);
		err = writer_sync(r->c->writer, on_written, r);
		if (err)
			text_session_hold_memory(r->c->text, false);
	}
	if (err)
		take_receipt(err, &(struct store_document){.document = ""}, r);
}

static int run_erasure(struct control *c, struct privacy_request *r)
{
	bool direct = r->press && !r->press->guild;
	int err =
		c->store ? store_begin_erasure(c->store, r->user, direct, take_guilds, r) : ENOENT;

	if (!err && r->press && !direct)
		erasures_begin(&c->erasures, r->user, env_now(c->env));
	return err;
}

static void take_erase_requests(int err, const struct store_document *list, size_t n, void *arg)
{
	struct control *c = arg;

	if (err)
		log_warn("erase_requests_not_read", "error=\"%s\"", strerror(err));
	for (size_t i = 0; i < n; i++) {
		struct privacy_request *r = make_request(c, NULL, list[i].version);

		err = r ? run_erasure(c, r) : ENOMEM;
		if (err)
			log_warn("erase_request_failed", "error=\"%s\"", strerror(err));
		if (err)
			end_request(r);
	}
}

int control_erase(uint64_t user, void *arg)
{
	struct control *c = arg;
	struct privacy_request *r;
	int err;

	for (r = c->privacy_requests; r; r = r->next)
		if (r->web)
			return EBUSY;
	r = make_request(c, NULL, user);
	if (r)
		r->web = true;
	err = r ? run_erasure(c, r) : ENOMEM;
	if (err)
		end_request(r);
	return err;
}

void control_take_erase_requests(struct control *c)
{
	if (c->store && store_list_erase_requests(c->store, take_erase_requests, c))
		log_warn("erase_requests_not_read", "error=\"%s\"", strerror(ENOSPC));
}

/* ---- presses ---- */

static void ask_sure(struct control *c, struct press *p)
{
	struct words words = {0};

	words_speak(&words, p->locale);
	words_privacy_sure(&words);
	press_update(p, &words, sure_buttons(c, p->user, p->locale));
}

static void press_sure(struct control *c, struct press *p)
{
	struct words words = {0};

	words_speak(&words, p->locale);
	if (!erasures_allow(&c->erasures, p->user, env_now(c->env))) {
		words_privacy_too_often(&words, ERASURE_PAUSE_S / 60);
		press_update(p, &words, NULL);
		return;
	}
	begin(c, p, run_erasure);
}

/* Of a question for a yes to the call of a tool, which was asked in writing. */
static bool press_question(struct control *c, struct press *p)
{
	enum text_press press = text_session_press(c->text, p);
	struct words words = {0};

	words_speak(&words, p->locale);
	words_text_over(&words);
	if (press == TEXT_PRESS_OVER)
		press_refuse(p, &words);
	else if (press == TEXT_PRESS_TAKEN)
		press_accept(p);
	return press != TEXT_PRESS_OTHER;
}

void control_on_press(struct press *p, void *arg)
{
	struct control *c = arg;
	struct words words = {0};

	words_speak(&words, p->locale);
	if (control_press_music(c, p) || control_press_memory(c, p) ||
	    control_press_settings(c, p) || control_press_work(c, p))
		return;
	if (press_question(c, p))
		return;
	if (strcmp(p->action, "export") == 0) {
		begin(c, p, run_export);
	} else if (strcmp(p->action, "forget") == 0) {
		ask_sure(c, p);
	} else if (strcmp(p->action, "forget_sure") == 0) {
		press_sure(c, p);
	} else if (p->guild && strcmp(p->action, "consent") == 0) {
		control_press_consent(c, p);
	} else if (p->guild && strcmp(p->action, "consent_menu") == 0) {
		words_consent_choose(&words);
		press_update(p, &words, control_consent_menu(c, p->guild, p->user, p->locale));
	} else {
		words_privacy_kept(&words);
		press_update(p, &words, NULL);
	}
}
