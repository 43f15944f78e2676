#include "control/discord/now_playing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/discord/rest.h"
#include "control/words/words.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/discord.h"

enum { SILENT_MESSAGE = 4096, NONCE_MAX = 26 };

struct now_playing {
	struct now_playing_conf conf;
	struct tmr *tmr;
	uint64_t message; /* 0: there is none */
	json_t *body;	  /* that Discord has, or gets now; NULL: not known */
	uint64_t next_at; /* of the next request, at the earliest */
	uint32_t entry;	  /* of the last text */
	uint32_t refused; /* entry for which nothing is posted; 0: none */
	bool sending;
	bool posted;  /* what is sent is a new message */
	bool over;    /* what is sent is the last text of this message */
	bool ended;   /* nobody owns it: it goes once Discord has answered */
	json_t *last; /* body of the end, while another request is out */
};

static struct now_playing *destroy(struct now_playing *n)
{
	tmr_free(n->tmr);
	json_decref(n->body);
	json_decref(n->last);
	free(n);
	return NULL;
}

static void on_timer(void *arg)
{
	now_playing_look(arg);
}

int now_playing_alloc(struct now_playing **out, const struct now_playing_conf *conf)
{
	struct now_playing *n = calloc(1, sizeof *n);
	int err;

	if (!n)
		return ENOMEM;
	err = tmr_alloc(&n->tmr, conf->env, on_timer, n);
	if (err) {
		free(n);
		return err;
	}
	n->conf = *conf;
	n->message = conf->message;
	*out = n;
	return 0;
}

uint64_t now_playing_channel(const struct now_playing *n)
{
	return n->conf.channel;
}

uint64_t now_playing_message(const struct now_playing *n)
{
	return n->message;
}

/* ---- requests ---- */

static void on_sent(int err, int status, const json_t *body, void *arg);

static int post(struct now_playing *n, json_t *body)
{
	struct rest_call call = {.method = "POST",
				 .route = "/channels/{}/messages",
				 .idempotent = true, /* by its nonce */
				 .body = body};
	char path[64], major[24];

	snprintf(major, sizeof major, "%" PRIu64, n->conf.channel);
	snprintf(path, sizeof path, "/channels/%s/messages", major);
	call.path = path;
	call.major = major;
	return rest_request(n->conf.rest, &call, on_sent, n);
}

static int edit(struct now_playing *n, json_t *body, rest_h *h, void *arg)
{
	struct rest_call call = {.method = "PATCH",
				 .route = "/channels/{}/messages/{}",
				 .idempotent = true,
				 .body = body};
	char path[96], major[24];

	snprintf(major, sizeof major, "%" PRIu64, n->conf.channel);
	snprintf(path, sizeof path, "/channels/%s/messages/%" PRIu64, major, n->message);
	call.path = path;
	call.major = major;
	return rest_request(n->conf.rest, &call, h, arg);
}

static void keep_message(struct now_playing *n, uint64_t message)
{
	if (n->message == message)
		return;
	n->message = message;
	if (!n->ended)
		n->conf.kepth(message, n->conf.arg);
}

static void forget_message(struct now_playing *n)
{
	json_decref(n->body);
	n->body = NULL;
	keep_message(n, 0);
}

/* A message of the same nonce comes back as it was posted or edited before: by the control before,
 * or when the bot left this music. It is edited now. */
static void compare_text(struct now_playing *n, const json_t *message)
{
	const char *has = json_string_value(json_object_get(message, "content"));
	const char *sent = json_string_value(json_object_get(n->body, "content"));

	if (!n->message || !has || !sent || strcmp(has, sent) == 0)
		return;
	json_decref(n->body);
	n->body = NULL;
	n->next_at = 0;
}

static void note_answer(struct now_playing *n, int err, int status, const json_t *body)
{
	uint64_t id;

	if (!err && status / 100 == 2) {
		if (discord_snowflake(json_string_value(json_object_get(body, "id")), &id))
			keep_message(n, id);
		if (n->posted)
			compare_text(n, body);
		if (n->over)
			forget_message(n);
		return;
	}
	log_warn("now_playing_refused", "err=%d status=%d", err, status);
	if (err || status >= 500 || status == 429) {
		json_decref(n->body); /* whether Discord has it is not known: it is sent again */
		n->body = NULL;
	} else {
		n->refused = n->entry;
		forget_message(n);
	}
}

static void send_last(struct now_playing *n)
{
	if (n->message && n->last && edit(n, n->last, NULL, NULL))
		log_warn("now_playing_refused", "err=%d status=0", ENOMEM);
	destroy(n);
}

static void on_sent(int err, int status, const json_t *body, void *arg)
{
	struct now_playing *n = arg;

	n->sending = false;
	if (err != ECANCELED)
		note_answer(n, err, status, body);
	if (n->ended && err == ECANCELED)
		destroy(n);
	else if (n->ended)
		send_last(n);
	else if (err != ECANCELED)
		now_playing_look(n);
}

/* ---- the text ---- */

/* A silent message with a nonce that is this playing's alone. */
static json_t *compose(struct now_playing *n)
{
	struct now_playing_text t = {0};
	struct words words = {0};
	char nonce[NONCE_MAX];

	n->conf.h(&words, &t, n->conf.arg);
	n->entry = t.entry;
	snprintf(nonce, sizeof nonce, "m%" PRIx32 ".%" PRIx64, t.entry,
		 t.starts & UINT64_C(0xffffffffff));
	return json_pack("{s:s,s:o,s:{s:[]},s:i,s:s,s:b}", "content", words.text, "components",
			 t.components ? t.components : json_array(), "allowed_mentions", "parse",
			 "flags", SILENT_MESSAGE, "nonce", nonce, "enforce_nonce", 1);
}

/* The nonce of a later track is no reason for an edit. */
static bool is_same(const json_t *a, const json_t *b)
{
	return a && json_equal(json_object_get(a, "content"), json_object_get(b, "content")) &&
	       json_equal(json_object_get(a, "components"), json_object_get(b, "components"));
}

/* Discord edits no flags and has no nonce for edits. */
static int edit_text(struct now_playing *n, const json_t *body)
{
	json_t *changed = json_pack("{s:O,s:O,s:O}", "content", json_object_get(body, "content"),
				    "components", json_object_get(body, "components"),
				    "allowed_mentions", json_object_get(body, "allowed_mentions"));
	int err = changed ? edit(n, changed, on_sent, n) : ENOMEM;

	json_decref(changed);
	return err;
}

static void send_body(struct now_playing *n, json_t *body)
{
	int err;

	json_decref(n->body);
	n->body = json_incref(body);
	n->over = n->entry == 0;
	n->sending = true;
	n->posted = !n->message;
	err = n->message ? edit_text(n, body) : post(n, body);
	if (err) {
		n->sending = false;
		note_answer(n, err, 0, NULL);
	}
	n->next_at = env_now(n->conf.env) + n->conf.edit_ms * NS_PER_MS;
}

void now_playing_look(struct now_playing *n)
{
	json_t *body;

	if (n->sending)
		return; /* its answer looks again */
	if (env_now(n->conf.env) < n->next_at) {
		tmr_start_at(n->tmr, n->next_at);
		return;
	}
	body = compose(n);
	tmr_stop(n->tmr);
	if (n->entry != n->refused)
		n->refused = 0;
	if (body && (n->message || n->entry) && !n->refused && !is_same(n->body, body))
		send_body(n, body);
	if (n->entry || n->message)
		tmr_start(n->tmr, n->conf.edit_ms * NS_PER_MS);
	json_decref(body);
}

struct now_playing *now_playing_free(struct now_playing *n)
{
	if (!n)
		return NULL;
	tmr_stop(n->tmr);
	n->ended = true;
	return n->sending ? NULL : destroy(n);
}

struct now_playing *now_playing_end(struct now_playing *n, const char *language, bool waits)
{
	struct words words = {0};

	if (!n)
		return NULL;
	words_speak(&words, language);
	if (waits)
		words_music_left(&words);
	else
		words_music_over(&words);
	tmr_stop(n->tmr);
	n->last = json_pack("{s:s,s:[],s:{s:[]}}", "content", words.text, "components",
			    "allowed_mentions", "parse");
	if (n->message && !waits)
		n->conf.kepth(0, n->conf.arg);
	n->ended = true;
	if (!n->sending)
		send_last(n);
	return NULL;
}
