#include "control/mcp/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "control/dialect/oauth.h"
#include "control/jail/program.h"
#include "control/jail/texts.h"
#include "control/mcp/exchanges.h"
#include "control/mcp/grant.h"
#include "control/settings/record.h"
#include "ipc/backoff.h"
#include "ipc/child.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/reaper.h"
#include "ipc/tmr.h"
#include "proto/base/utf8.h"

enum { STDIO = 0 /* of mcp_record.transport */, SAID_MAX = 160 };

#define ENDING_NS (200 * UINT64_C(1000000))
/* A server that has been ready for this long starts its backoff over. */
#define GOOD_NS (60 * UINT64_C(1000000000))

static const struct backoff_conf again = {.first_ms = 1000, .max_ms = 60000, .jitter_ms = 500};

struct mcp_server {
	struct mcp_server_conf conf;
	struct mcp_record record;
	struct mcp *client;
	struct child *child;
	struct exchanges *exchanges;
	struct grant *grant;	     /* NULL: a program, or an address with a fixed Authorization */
	bool granted;		     /* it has a token, as far as is known */
	bool challenged;	     /* it wants one */
	bool no_token;		     /* it gets none: why */
	bool bad_request;	     /* its last answer to a request had the status 400 */
	char scope[OAUTH_SCOPE_MAX]; /* what it wants beyond the token; "": nothing */
	struct tmr *due, *retry;
	struct backoff backoff;
	uint64_t ready_at; /* 0: it is not ready */
	bool ready;	   /* as it was seen last, and since when, in ms since 1970 */
	uint64_t since_ms;
	char why[MCP_WHY_MAX]; /* before the client was asked */
	/* The line of its program's stderr that tells most about why it ends; "": none. */
	char said[SAID_MAX];
};

/* ---- trying again ---- */

static void wait_again(struct mcp_server *s, const char *why)
{
	uint64_t now = env_now(s->conf.env);

	if (s->child)
		child_cut(s->child); /* it may hang, and another one is started */
	if (s->exchanges)
		exchanges_reset(s->exchanges);
	if (s->ready_at && now - s->ready_at >= GOOD_NS)
		backoff_reset(&s->backoff);
	s->ready_at = 0;
	log_warn("mcp_server", "server=%s state=unusable why=\"%s\"", s->record.name, why);
	backoff_wait(&s->backoff, s->conf.env, s->retry);
}

static void note_state(struct mcp_server *s)
{
	bool ready = mcp_state(s->client) == MCP_READY;

	if (ready != s->ready || !s->since_ms)
		s->since_ms = env_wall_ms(s->conf.env);
	s->ready = ready;
}

static void look_at_state(struct mcp_server *s)
{
	enum mcp_state state = mcp_state(s->client);
	uint64_t due = mcp_deadline(s->client), listen;

	note_state(s);
	if (state == MCP_READY && s->exchanges && mcp_wants_stream(s->client)) {
		listen = exchanges_listen(s->exchanges, mcp_revision(s->client),
					  env_now(s->conf.env));
		due = listen < due ? listen : due;
	}
	if (due == UINT64_MAX)
		tmr_stop(s->due);
	else
		tmr_start_at(s->due, due);
}

static void on_change(void *arg)
{
	struct mcp_server *s = arg;
	enum mcp_state state = mcp_state(s->client);
	size_t n;

	note_state(s);
	if (state == MCP_READY) {
		if (!s->ready_at)
			s->ready_at = env_now(s->conf.env);
		mcp_tools(s->client, &n);
		log_info("mcp_server", "server=%s state=ready revision=%s tools=%zu left_out=%u",
			 s->record.name, mcp_revision(s->client), n, mcp_left_out(s->client));
	} else if (state == MCP_REFUSED) {
		wait_again(s, mcp_why(s->client));
	}
	s->conf.changeh(s, s->conf.arg);
}

/* ---- programs ---- */

static void on_read(size_t n, void *arg)
{
	struct mcp_server *s = arg;

	mcp_count_bytes(s->client, n, env_now(s->conf.env));
	look_at_state(s);
}

static void on_line(const char *line, size_t len, void *arg)
{
	struct mcp_server *s = arg;

	mcp_receive(s->client, line, len, env_now(s->conf.env));
	look_at_state(s);
}

/* Everybody who sees the state would read it. */
static bool holds_secret(const struct mcp_server *s, const char *line)
{
	json_t *values = json_loads(s->record.values, 0, NULL), *value;
	const char *name;
	bool holds = false;

	json_object_foreach(values, name, value)
	{
		const char *text = json_string_value(value);

		holds = holds || (text && *text && strstr(line, text));
	}
	json_decref(values);
	return holds;
}

static bool names_error(const char *line)
{
	return strstr(line, "rror") || strncmp(line, "bwrap: ", strlen("bwrap: ")) == 0;
}

/* Keeps the last line, or the last one that names an error: node ends what it says with its
 * version. */
static void on_error(const char *line, size_t len, void *arg)
{
	struct mcp_server *s = arg;

	(void)len;
	if (!*line || (names_error(s->said) && !names_error(line)) || holds_secret(s, line))
		return;
	utf8_copy(s->said, sizeof s->said, line);
	utf8_mend(s->said);
	utf8_plain(s->said);
}

static void on_state(bool up, int status, void *arg)
{
	struct mcp_server *s = arg;

	if (up) {
		*s->said = '\0';
		mcp_open(s->client, env_now(s->conf.env));
	} else {
		log_info("mcp_server", "server=%s state=ended status=%d", s->record.name, status);
		snprintf(s->why, sizeof s->why, "its program ended with status %d%s%s", status,
			 status && *s->said ? ": " : "", status ? s->said : "");
		s->ready_at = 0;
		mcp_close(s->client);
	}
	look_at_state(s);
}

static int start_program(struct mcp_server *s)
{
	const struct mcp_record *r = &s->record;

	return program_start(&s->child, s->conf.env,
			     &(struct program){.bwrap = s->conf.bwrap,
					       PROGRAM_OF_RECORD(r),
					       .line_max = MCP_MESSAGE_MAX,
					       .readh = on_read,
					       .lineh = on_line,
					       .errorh = on_error,
					       .log_errors = true,
					       .stateh = on_state,
					       .arg = s});
}

/* ---- addresses ---- */

static void on_message(const char *text, size_t n, void *arg)
{
	struct mcp_server *s = arg;

	mcp_receive(s->client, text, n, env_now(s->conf.env));
	look_at_state(s);
}

/* 404 says so. Many servers say 400 for a session that they lost in a restart, and for one wrong
 * call, too: only a second one in a row means the session. */
static bool session_is_over(struct mcp_server *s, unsigned status)
{
	bool twice = status == 400 && s->bad_request;

	s->bad_request = status == 400;
	return (status == 404 || twice) && mcp_state(s->client) == MCP_READY &&
	       mcp_era(s->client) == MCP_LEGACY && exchanges_in_session(s->exchanges);
}

static void on_challenge(unsigned status, const char *field, void *arg)
{
	struct mcp_server *s = arg;
	struct oauth_challenge challenge;

	oauth_read_challenge(field, &challenge);
	if (s->grant && status == 401)
		grant_challenge(s->grant, &challenge);
	*s->scope = '\0';
	/* The operator may copy it into a shell. */
	if (status == 403 && strcmp(challenge.error, "insufficient_scope") == 0 &&
	    !strchr(challenge.scope, '\''))
		snprintf(s->scope, sizeof s->scope, "%s", challenge.scope);
}

/* NULL: the status says it all. */
static const char *describe_refusal(struct mcp_server *s, unsigned status, char *why)
{
	if (status != 403 || !*s->scope || !s->grant)
		return NULL;
	snprintf(why, MCP_WHY_MAX,
		 "it wants a permission that the sign-in does not include; the operator can run "
		 "control --mcp-login %s --scope '%.100s'",
		 s->record.name, s->scope);
	log_warn("mcp_server", "server=%s why=\"%s\"", s->record.name, why);
	return why;
}

static void on_end(uint32_t id, unsigned status, void *arg)
{
	struct mcp_server *s = arg;
	uint64_t now = env_now(s->conf.env);
	char why[MCP_WHY_MAX];

	if (status == 401) {
		s->granted = false; /* the next start gets another one */
		s->challenged = true;
	}
	if (id && session_is_over(s, status)) {
		mcp_close(s->client);
		exchanges_reset(s->exchanges);
		mcp_open(s->client, now);
	} else if (id) {
		mcp_unanswered(s->client, id, status, describe_refusal(s, status, why), now);
	}
	look_at_state(s);
}

/* While the server is ready: else the next start gets another token. */
static bool on_renew(void *arg)
{
	struct mcp_server *s = arg;

	if (!s->grant || mcp_state(s->client) != MCP_READY)
		return false;
	grant_get(s->grant);
	return true;
}

static int start_exchanges(struct mcp_server *s)
{
	struct texts headers = {0};
	int err = texts_join(&headers, s->record.values, ": ", s->record.headers);

	if (!err)
		err = exchanges_alloc(&s->exchanges,
				      &(struct exchanges_conf){.http = s->conf.http,
							       .url = s->record.url,
							       .headers = headers.v,
							       .readh = on_read,
							       .messageh = on_message,
							       .challengeh = on_challenge,
							       .renewh = on_renew,
							       .endh = on_end,
							       .arg = s});
	texts_clear(&headers);
	return err;
}

/* ---- tokens ---- */

static void on_token(const char *header, void *arg)
{
	struct mcp_server *s = arg;

	s->granted = exchanges_authorize(s->exchanges, header) == 0;
	s->no_token = s->no_token && !s->granted;
	if (s->granted && mcp_state(s->client) == MCP_CLOSED)
		mcp_open(s->client, env_now(s->conf.env));
	look_at_state(s);
}

static void on_no_token(const char *why, void *arg)
{
	struct mcp_server *s = arg;

	snprintf(s->why, sizeof s->why, "%s", why);
	s->no_token = true;
	if (mcp_state(s->client) == MCP_CLOSED)
		wait_again(s, s->why);
	else
		exchanges_give_up(s->exchanges);
	look_at_state(s);
}

static bool has_fixed_token(const struct mcp_server *s)
{
	json_t *headers = *s->record.headers ? json_loads(s->record.headers, 0, NULL) : NULL;
	bool has = false;
	const char *name;
	json_t *value;

	json_object_foreach(headers, name, value) has =
		has || strcasecmp(name, "Authorization") == 0;
	json_decref(headers);
	return has;
}

static int make_grant(struct mcp_server *s)
{
	const struct grant_conf conf = {.env = s->conf.env,
					.http = s->conf.http,
					.guarded = s->conf.guarded,
					.state_dir = s->conf.state_dir,
					.record = &s->record,
					.tokenh = on_token,
					.failedh = on_no_token,
					.arg = s};

	return s->grant || has_fixed_token(s) ? 0 : grant_alloc(&s->grant, &conf);
}

/* ---- the client's ---- */

static void on_send(const struct mcp_message *message, void *arg)
{
	struct mcp_server *s = arg;

	if (s->exchanges) {
		exchanges_send(s->exchanges, message);
	} else if (s->child && child_write_line(s->child, message->text, message->n)) {
		/* It does not read: what waits for an answer runs into its limit. */
		log_warn("mcp_server", "server=%s state=full", s->record.name);
	}
}

static void on_drop(uint32_t id, void *arg)
{
	struct mcp_server *s = arg;

	if (s->exchanges)
		exchanges_drop(s->exchanges, id);
}

static void on_result(uint64_t call, const struct mcp_result *result, void *arg)
{
	struct mcp_server *s = arg;

	s->conf.resulth(call, result, s->conf.arg);
}

static void on_progress(uint64_t call, double share, const char *text, void *arg)
{
	struct mcp_server *s = arg;

	s->conf.progressh(call, share, text, s->conf.arg);
}

static void on_due(void *arg)
{
	struct mcp_server *s = arg;

	mcp_timer(s->client, env_now(s->conf.env));
	look_at_state(s);
}

/* ---- starting ---- */

static void start(struct mcp_server *s)
{
	int err = 0;

	*s->why = '\0';
	s->no_token = false;
	if (s->record.transport != STDIO) {
		err = s->exchanges ? 0 : start_exchanges(s);
		if (!err)
			err = make_grant(s);
		if (!err && s->grant && !s->granted && (s->challenged || grant_wanted(s->grant)))
			grant_get(s->grant);
		else if (!err)
			mcp_open(s->client, env_now(s->conf.env));
	} else if (!s->conf.bwrap) {
		snprintf(s->why, sizeof s->why,
			 "there is no sandbox here (bubblewrap), and no program runs without one");
		log_warn("mcp_server", "server=%s state=unusable why=\"%s\"", s->record.name,
			 s->why);
		return;
	} else {
		err = start_program(s);
	}
	if (err) {
		snprintf(s->why, sizeof s->why, "it cannot be started: %s", strerror(err));
		wait_again(s, s->why);
	}
	look_at_state(s);
}

static void on_retry(void *arg)
{
	struct mcp_server *s = arg;

	if (s->child && child_pid(s->child)) {
		tmr_start(s->retry, ENDING_NS); /* it has not ended yet: nobody waits for it here */
		return;
	}
	mcp_close(s->client);
	if (s->exchanges)
		exchanges_reset(s->exchanges);
	s->child = child_free(s->child);
	start(s);
}

int mcp_server_alloc(struct mcp_server **out, const struct mcp_server_conf *conf)
{
	struct mcp_server *s = calloc(1, sizeof *s);
	struct mcp_conf mc = {.client = "parley",
			      .version = conf->version,
			      .http = conf->record->transport != STDIO,
			      .sendh = on_send,
			      .droph = on_drop,
			      .changeh = on_change,
			      .resulth = on_result,
			      .progressh = on_progress,
			      .arg = s};
	int err;

	if (!s)
		return ENOMEM;
	s->conf = *conf;
	s->record = *conf->record;
	s->conf.record = NULL;
	s->backoff = backoff_of(&again);
	err = mcp_alloc(&s->client, &mc);
	if (!err)
		err = tmr_alloc(&s->due, conf->env, on_due, s);
	if (!err)
		err = tmr_alloc(&s->retry, conf->env, on_retry, s);
	if (err) {
		mcp_server_free(s);
		return err;
	}
	tmr_start(s->retry, 0);
	*out = s;
	return 0;
}

struct mcp_server *mcp_server_free(struct mcp_server *s)
{
	if (!s)
		return NULL;
	reaper_take(s->conf.reaper, s->child);
	grant_free(s->grant);
	exchanges_free(s->exchanges);
	tmr_free(s->due);
	tmr_free(s->retry);
	mcp_free(s->client);
	explicit_bzero(&s->record, sizeof s->record);
	free(s);
	return NULL;
}

/* ---- in use ---- */

const char *mcp_server_name(const struct mcp_server *s)
{
	return s->record.name;
}

const struct mcp *mcp_server_client(const struct mcp_server *s)
{
	return s->client;
}

const char *mcp_server_why(const struct mcp_server *s)
{
	if (mcp_state(s->client) == MCP_READY)
		return "";
	if (s->no_token)
		return s->why;
	return *mcp_why(s->client) ? mcp_why(s->client) : *s->why ? s->why : "it is being started";
}

uint64_t mcp_server_since_ms(const struct mcp_server *s)
{
	return s->since_ms;
}

int mcp_server_call(struct mcp_server *s, uint64_t call, enum mcp_verb verb, const char *name,
		    const json_t *arguments, uint32_t timeout_ms)
{
	int err =
		mcp_call(s->client, call, verb, name, arguments, timeout_ms, env_now(s->conf.env));

	look_at_state(s);
	return err;
}

void mcp_server_cancel(struct mcp_server *s, uint64_t call, const char *why)
{
	mcp_cancel(s->client, call, why);
	look_at_state(s);
}
