/* Shared screens over HTTP: links for operators, the page of a share, its pictures, and pictures of
 * other programs. Whether a request is the browser's that opened a link is known from its cookie
 * before the head is recorded; the handlers get the number of the share that it proves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "control/dialect/base64.h"
#include "control/web/cookies.h"
#include "control/web/inside.h"
#include "control/web/origins.h"
#include "proto/discord.h"

#define COOKIE	      "parley_share"
#define SHARE_PATH    "/api/voice/share-session/"
#define SCREEN_FIELD  "X-Screen-Side" /* of a picture: pixels of the longer side of its screen */
#define PROGRAM_FIELD "X-Public-Api-Token"
#define OF_PROGRAM    (UINT64_C(1) << 32)

enum {
	KEY_SIZE = 32,
	TOKEN_SIZE = 64,
	PROGRAM_TOKEN_SIZE = 256,
	TYPE_SIZE = 64,
	FRAME_MAX = 1 << 20,
	INGEST_MAX = 1400000,
};

uint64_t web_share_read_head(const struct web *w, const struct http_head *head)
{
	const struct web_conf *conf = web_shown(w);
	char key[KEY_SIZE], token[PROGRAM_TOKEN_SIZE];
	uint64_t seen = 0;

	if (!conf->shareh)
		return 0;
	if (cookie_find_in_head(head, COOKIE, key, sizeof key))
		seen = conf->share_matchh(key, conf->arg);
	if (http_head_copy(head, PROGRAM_FIELD, token, sizeof token) &&
	    conf->share_programh(token, conf->arg))
		seen |= OF_PROGRAM;
	sodium_memzero(key, sizeof key);
	sodium_memzero(token, sizeof token);
	return seen;
}

/* The token of a path below SHARE_PATH. */
static void read_token(const char *path, char out[TOKEN_SIZE])
{
	size_t n = strcspn(path + strlen(SHARE_PATH), "/");

	snprintf(out, TOKEN_SIZE, "%.*s", n < TOKEN_SIZE ? (int)n : 0, path + strlen(SHARE_PATH));
}

/* The cookie goes to the requests of its share alone. Without TLS a browser keeps it for loopback
 * addresses. */
static void add_cookie(const struct web *w, const struct web_request *r, const char *token,
		       const char *key)
{
	char attributes[160];

	snprintf(attributes, sizeof attributes,
		 "; Path=" SHARE_PATH "%s; HttpOnly; SameSite=Strict%s", token,
		 web_is_loopback(w, r->head) ? "" : "; Secure");
	http_reply_cookie(r->x, COOKIE, key, attributes);
}

static void reply(struct web *w, const struct web_request *r, const char *token,
		  struct web_share_answer *a)
{
	if (a->status == 200 && *a->key)
		add_cookie(w, r, token, a->key);
	if (a->status == 200)
		web_json(r->x, 200, a->body ? a->body : json_object());
	else
		web_problem(r->x, a->status, a->code, a->text, NULL);
	sodium_memzero(a, sizeof *a);
}

static bool ask(struct web *w, const struct web_share *what, struct web_share_answer *a)
{
	const struct web_conf *conf = web_shown(w);

	*a = (struct web_share_answer){0};
	if (conf->shareh)
		conf->shareh(what, a, conf->arg);
	return conf->shareh != NULL;
}

/* Asks about the share of the path, and answers. */
static void ask_and_reply(struct web *w, const struct web_request *r, struct web_share what)
{
	struct web_share_answer a;
	char token[TOKEN_SIZE];

	read_token(r->head->path, token);
	what.token = token;
	what.browser = (uint32_t)http_tag(r->x);
	if (ask(w, &what, &a))
		reply(w, r, token, &a);
	else
		web_refuse(r->x, WEB_NO_SCREENS);
	sodium_memzero(token, sizeof token);
}

static bool read_id(const json_t *body, const char *name, uint64_t *out)
{
	const char *text = json_string_value(json_object_get(body, name));

	return text && discord_u64(text, out) && *out;
}

/* ---- operators ---- */

/* Who holds the link shows a screen as that person. */
static void audit_link(const struct web *w, const struct web_request *r,
		       const struct web_share *what, const struct web_share_answer *a)
{
	char target[80];

	snprintf(target, sizeof target, "server %llu person %llu", (unsigned long long)what->guild,
		 (unsigned long long)what->requester);
	access_audit(web_access(w), r->x, AUDIT_KIND_SHARE_LINK, target,
		     a->status < 300 ? "carried out" : "refused");
}

void web_share_post(struct web *w, const struct web_request *r)
{
	struct web_share what = {.kind = WEB_SHARE_OFFER, .token = ""};
	struct web_share_answer a;

	if (!read_id(r->body, "guildId", &what.guild) ||
	    !read_id(r->body, "channelId", &what.channel) ||
	    !read_id(r->body, "userId", &what.requester) ||
	    (json_object_get(r->body, "targetUserId") &&
	     !read_id(r->body, "targetUserId", &what.target))) {
		web_refuse(r->x, WEB_BAD_SHARE);
		return;
	}
	if (!what.target)
		what.target = what.requester;
	if (ask(w, &what, &a)) {
		audit_link(w, r, &what, &a);
		reply(w, r, "", &a);
	} else {
		web_refuse(r->x, WEB_NO_SCREENS);
	}
}

/* ---- the page ---- */

/* The same for every token: only the page's own program opens the link, not a preview of it. */
void web_share_page_get(struct web *w, const struct web_request *r)
{
	web_page_send(w, r, "/share/");
}

void web_share_open_post(struct web *w, const struct web_request *r)
{
	ask_and_reply(w, r, (struct web_share){.kind = WEB_SHARE_OPEN});
}

void web_share_state_post(struct web *w, const struct web_request *r)
{
	const json_t *paused = json_object_get(r->body, "paused");

	if (json_is_boolean(paused))
		ask_and_reply(w, r,
			      (struct web_share){
				      .kind = WEB_SHARE_STATE,
				      .paused = json_is_true(paused),
				      .stale = json_is_true(json_object_get(r->body, "stale"))});
	else
		web_refuse(r->x, WEB_BAD_PAUSE);
}

void web_share_stop_post(struct web *w, const struct web_request *r)
{
	ask_and_reply(w, r, (struct web_share){.kind = WEB_SHARE_STOP});
}

static void take_frame(struct http_exchange *x, const uint8_t *data, size_t n, bool last, void *arg)
{
	struct web_request r = {.x = x, .head = http_request_head(x)};
	char type[TYPE_SIZE], side[8];

	(void)last;
	http_head_copy(r.head, "Content-Type", type, sizeof type);
	if (!http_head_copy(r.head, SCREEN_FIELD, side, sizeof side))
		side[0] = '\0';
	ask_and_reply(arg, &r,
		      (struct web_share){.kind = WEB_SHARE_FRAME,
					 .type = type,
					 .picture = {data, n},
					 .screen = (uint32_t)strtoul(side, NULL, 10)});
}

/* What can be refused by the head is refused before a byte of the picture is read. */
void web_share_frame_post(struct web *w, const struct web_request *r)
{
	struct web_share_answer a;
	char token[TOKEN_SIZE];
	struct web_share what = {.kind = WEB_SHARE_EXPECT,
				 .token = token,
				 .browser = (uint32_t)http_tag(r->x),
				 .bytes = r->head->length < FRAME_MAX ? (size_t)r->head->length
								      : FRAME_MAX + 1};

	read_token(r->head->path, token);
	if (!ask(w, &what, &a))
		web_refuse(r->x, WEB_NO_SCREENS);
	else if (a.status != 200)
		reply(w, r, token, &a);
	else
		http_take_body(r->x, &(struct http_body_limits){.max = FRAME_MAX}, take_frame, w);
	sodium_memzero(token, sizeof token);
}

/* ---- other programs ---- */

static void ingest(struct web *w, const struct web_request *r, struct web_share *what,
		   const char *text)
{
	size_t length = strlen(text), n = 0;
	uint8_t *bytes = malloc(base64_decoded(length) + 1);
	struct web_share_answer a;

	if (!bytes) {
		http_reply(r->x, 503, NULL, NULL, 0);
		return;
	}
	if (base64_decode(text, length, bytes, base64_decoded(length), &n)) {
		web_refuse(r->x, WEB_BAD_PICTURE);
	} else {
		what->picture = (struct slice){bytes, n};
		ask(w, what, &a);
		reply(w, r, "", &a);
	}
	sodium_memzero(bytes, base64_decoded(length));
	free(bytes);
}

static void take_ingested(struct http_exchange *x, const uint8_t *data, size_t n, bool last,
			  void *arg)
{
	json_t *body = json_loadb((const char *)data, n, JSON_REJECT_DUPLICATES, NULL);
	struct web_share what = {.kind = WEB_SHARE_INGEST, .token = ""};
	const char *text = json_string_value(json_object_get(body, "dataBase64"));
	struct web_request r = {.x = x, .head = http_request_head(x)};

	(void)last;
	what.type = json_string_value(json_object_get(body, "mimeType"));
	if (read_id(body, "guildId", &what.guild) &&
	    read_id(body, "streamerUserId", &what.target) && what.type && text)
		ingest(arg, &r, &what, text);
	else
		web_refuse(x, WEB_BAD_PICTURE);
	json_decref(body);
}

/* Nothing is read of a program that is not known. */
void web_stream_frame_post(struct web *w, const struct web_request *r)
{
	if (http_tag(r->x) & OF_PROGRAM)
		http_take_body(r->x, &(struct http_body_limits){.max = INGEST_MAX}, take_ingested,
			       w);
	else
		web_refuse(r->x, WEB_NOT_INGESTED);
}
