#include "control/discord/gateway_machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/backoff.h"
#include "proto/base/time.h"
#include "proto/discord.h"

enum {
	CONNECT_S = 15, /* a safety net: the shell's own deadline is shorter */
	HELLO_S = 10,
	READY_S = 30,
	IDENTIFY_BACKOFF_MAX_S = 300,
	RESUME_URL_TRIES = 2, /* after these the session is resumed at the general address */
	FIND_TRIES = 2,	      /* from then on each failure asks for the general address */
	PAYLOAD_MAX = 4096,
	HEARTBEAT_MIN_MS = 100,
	HEARTBEAT_MAX_MS = 600000,
};

/* The first try after a good connection comes within a second, later ones at 1, 2, 4 … 60 s, all
 * with jitter. */
static const struct backoff_conf reconnect = {
	.first_ms = 1000, .max_ms = 60000, .jitter_ms = 1000, .at_once = 1};

struct gateway_machine {
	gateway_act_h *h;
	void *arg;
	char *token;
	uint32_t intents;

	enum gateway_state state;
	struct gateway_session session;
	bool has_seq;
	char base[256];
	struct backoff
		backoff; /* tries: connections in a row that did not reach READY or RESUMED */

	uint64_t state_until; /* deadline of the state, UINT64_MAX for none */
	uint64_t beat_at;
	uint64_t beat_every;
	bool beat_unanswered;

	uint64_t sends[GATEWAY_SENDS_PER_MINUTE]; /* ring: when the last events left */
	unsigned n_sends;
	char *queue[GATEWAY_QUEUE_MAX];
	unsigned queue_head, queue_len;

	uint64_t identifies[GATEWAY_IDENTIFIES_PER_DAY]; /* ring, over all connections */
	unsigned n_identifies;
	unsigned identify_streak; /* consecutive Identifies without a session that lasted */
	uint64_t up_since;

	uint64_t malformed;
};

static const char *const state_names[] = {
	[GATEWAY_IDLE] = "idle",
	[GATEWAY_BACKOFF] = "waiting to reconnect",
	[GATEWAY_CONNECTING] = "connecting",
	[GATEWAY_HELLO] = "waiting for hello",
	[GATEWAY_THROTTLED] = "waiting to identify",
	[GATEWAY_IDENTIFYING] = "identifying",
	[GATEWAY_RESUMING] = "resuming",
	[GATEWAY_UP] = "up",
	[GATEWAY_FATAL] = "refused",
};

const char *gateway_state_name(enum gateway_state s)
{
	return (unsigned)s < sizeof state_names / sizeof state_names[0] ? state_names[s] : "?";
}

int gateway_machine_alloc(struct gateway_machine **out, const char *token, uint32_t intents,
			  gateway_act_h *h, void *arg)
{
	struct gateway_machine *m;

	if (!out || !token || !h)
		return EINVAL;
	m = calloc(1, sizeof *m);
	if (!m)
		return ENOMEM;
	m->h = h;
	m->arg = arg;
	m->intents = intents;
	m->backoff = backoff_of(&reconnect);
	m->state_until = m->beat_at = UINT64_MAX;
	m->token = strdup(token);
	if (!m->token) {
		free(m);
		return ENOMEM;
	}
	*out = m;
	return 0;
}

static void queue_clear(struct gateway_machine *m)
{
	for (; m->queue_len; m->queue_len--) {
		free(m->queue[m->queue_head]);
		m->queue_head = (m->queue_head + 1) % GATEWAY_QUEUE_MAX;
	}
}

struct gateway_machine *gateway_machine_free(struct gateway_machine *m)
{
	if (!m)
		return NULL;
	queue_clear(m);
	if (m->token)
		explicit_bzero(m->token, strlen(m->token));
	free(m->token);
	free(m);
	return NULL;
}

void gateway_machine_set_intents(struct gateway_machine *m, uint32_t intents)
{
	m->intents = intents;
}

void gateway_machine_restore(struct gateway_machine *m, const struct gateway_session *s)
{
	if (m->state != GATEWAY_IDLE || !s->id[0] || s->seq < 0)
		return;
	m->session = *s;
	m->has_seq = true;
}

enum gateway_state gateway_machine_state(const struct gateway_machine *m)
{
	return m->state;
}

const struct gateway_session *gateway_machine_session(const struct gateway_machine *m)
{
	return &m->session;
}

uint64_t gateway_machine_malformed(const struct gateway_machine *m)
{
	return m->malformed;
}

/* ---- actions ---- */

static void act(struct gateway_machine *m, struct gateway_act a)
{
	m->h(&a, m->arg);
}

static void set_state(struct gateway_machine *m, enum gateway_state s, uint64_t until)
{
	m->state = s;
	m->state_until = until;
	act(m, (struct gateway_act){.type = GATEWAY_ACT_STATE});
}

static void forget_session(struct gateway_machine *m)
{
	bool had = m->session.id[0] != '\0';

	memset(&m->session, 0, sizeof m->session);
	m->has_seq = false;
	if (had)
		act(m, (struct gateway_act){.type = GATEWAY_ACT_SESSION});
}

/* ---- the send budget of one connection ---- */

static unsigned sends_in_window(const struct gateway_machine *m, uint64_t now, uint64_t *oldest)
{
	unsigned count = 0;
	unsigned kept =
		m->n_sends < GATEWAY_SENDS_PER_MINUTE ? m->n_sends : GATEWAY_SENDS_PER_MINUTE;

	*oldest = UINT64_MAX;
	for (unsigned i = 0; i < kept; i++) {
		if (m->sends[i] + 60 * NS_PER_S <= now)
			continue;
		count++;
		if (m->sends[i] < *oldest)
			*oldest = m->sends[i];
	}
	return count;
}

static void transmit(struct gateway_machine *m, const char *text, uint64_t now)
{
	m->sends[m->n_sends++ % GATEWAY_SENDS_PER_MINUTE] = now;
	act(m, (struct gateway_act){.type = GATEWAY_ACT_SEND, .text = text, .len = strlen(text)});
}

/* When the next event that is no heartbeat may be sent; 0 means now. */
static uint64_t budget_free_at(const struct gateway_machine *m, uint64_t now)
{
	uint64_t oldest;

	if (sends_in_window(m, now, &oldest) < GATEWAY_SENDS_PER_MINUTE - GATEWAY_HEARTBEAT_RESERVE)
		return 0;
	return oldest + 60 * NS_PER_S;
}

static void queue_flush(struct gateway_machine *m, uint64_t now)
{
	while (m->state == GATEWAY_UP && m->queue_len && !budget_free_at(m, now)) {
		char *text = m->queue[m->queue_head];

		m->queue_head = (m->queue_head + 1) % GATEWAY_QUEUE_MAX;
		m->queue_len--;
		transmit(m, text, now);
		free(text);
	}
}

static char *event_text(int op, json_t *d)
{
	json_t *event = json_pack("{s:i,s:O}", "op", op, "d", d);
	char *text = event ? json_dumps(event, JSON_COMPACT) : NULL;

	json_decref(event);
	return text;
}

int gateway_machine_send(struct gateway_machine *m, int op, json_t *d, uint64_t now)
{
	char *text;

	if (m->state != GATEWAY_UP)
		return ENOTCONN;
	if (m->queue_len == GATEWAY_QUEUE_MAX)
		return ENOBUFS;
	text = event_text(op, d);
	if (!text)
		return ENOMEM;
	if (strlen(text) > PAYLOAD_MAX) {
		free(text);
		return EMSGSIZE;
	}
	m->queue[(m->queue_head + m->queue_len++) % GATEWAY_QUEUE_MAX] = text;
	queue_flush(m, now);
	return 0;
}

static void heartbeat(struct gateway_machine *m, uint64_t now)
{
	char text[64];

	if (m->has_seq)
		snprintf(text, sizeof text, "{\"op\":1,\"d\":%lld}", (long long)m->session.seq);
	else
		snprintf(text, sizeof text, "{\"op\":1,\"d\":null}");
	transmit(m, text, now);
}

/* ---- connecting ---- */

static void wait_to_connect(struct gateway_machine *m, uint64_t wait, uint64_t now)
{
	m->beat_at = UINT64_MAX;
	queue_clear(m);
	set_state(m, GATEWAY_BACKOFF, now + wait);
}

static void connect_later(struct gateway_machine *m, uint32_t rnd, uint64_t now)
{
	wait_to_connect(m, backoff_next(&m->backoff, rnd), now);
	if (m->backoff.tries >= FIND_TRIES)
		act(m, (struct gateway_act){.type = GATEWAY_ACT_FIND});
}

static bool is_secure(const char *url)
{
	return strncmp(url, "wss://", 6) == 0;
}

static void connect_now(struct gateway_machine *m, uint64_t now)
{
	const char *base = m->base;
	char url[320];
	size_t n;

	/* The token goes to this address too, so it must be encrypted if the general address is. */
	if (m->session.id[0] && m->session.url[0] && m->backoff.tries <= RESUME_URL_TRIES &&
	    (is_secure(m->session.url) || !is_secure(m->base)))
		base = m->session.url;
	n = strlen(base);
	snprintf(url, sizeof url, "%s%s?v=10&encoding=json", base,
		 n && base[n - 1] == '/' ? "" : "/");
	m->n_sends = 0;
	m->beat_at = UINT64_MAX;
	m->beat_unanswered = false;
	set_state(m, GATEWAY_CONNECTING, now + CONNECT_S * NS_PER_S);
	act(m, (struct gateway_act){.type = GATEWAY_ACT_CONNECT, .text = url, .len = strlen(url)});
}

static void close_socket(struct gateway_machine *m, unsigned code)
{
	act(m, (struct gateway_act){.type = GATEWAY_ACT_CLOSE, .code = code});
}

static void fatal(struct gateway_machine *m, unsigned code)
{
	m->beat_at = UINT64_MAX;
	queue_clear(m);
	forget_session(m);
	set_state(m, GATEWAY_FATAL, UINT64_MAX);
	act(m, (struct gateway_act){
		       .type = GATEWAY_ACT_FATAL, .code = code, .text = discord_close_text(code)});
}

/* When the next Identify may be sent: spaced, with growing gaps while sessions do not last, capped
 * per day. */
static uint64_t identify_at(const struct gateway_machine *m)
{
	uint64_t spacing = GATEWAY_IDENTIFY_SPACING_S * NS_PER_S, at;
	unsigned last =
		(m->n_identifies + GATEWAY_IDENTIFIES_PER_DAY - 1) % GATEWAY_IDENTIFIES_PER_DAY;

	if (!m->n_identifies)
		return 0;
	if (m->identify_streak > 1)
		spacing <<= m->identify_streak > 7 ? 6 : m->identify_streak - 1;
	if (spacing > IDENTIFY_BACKOFF_MAX_S * NS_PER_S)
		spacing = IDENTIFY_BACKOFF_MAX_S * NS_PER_S;
	at = m->identifies[last] + spacing;
	if (m->n_identifies >= GATEWAY_IDENTIFIES_PER_DAY) {
		uint64_t day = m->identifies[m->n_identifies % GATEWAY_IDENTIFIES_PER_DAY] +
			       86400 * NS_PER_S;

		at = day > at ? day : at;
	}
	return at;
}

static bool transmit_json(struct gateway_machine *m, int op, json_t *d, uint64_t now)
{
	char *text = d ? event_text(op, d) : NULL;

	json_decref(d);
	if (!text)
		return false;
	transmit(m, text, now);
	explicit_bzero(text, strlen(text)); /* it holds the token */
	free(text);
	return true;
}

static void identify(struct gateway_machine *m, uint64_t now)
{
	uint64_t at = identify_at(m);
	json_t *d;

	if (at > now) {
		set_state(m, GATEWAY_THROTTLED, at);
		return;
	}
	m->identifies[m->n_identifies++ % GATEWAY_IDENTIFIES_PER_DAY] = now;
	m->identify_streak++;
	m->has_seq = false;
	d = json_pack("{s:s,s:I,s:i,s:b,s:{s:s,s:s,s:s}}", "token", m->token, "intents",
		      (json_int_t)m->intents, "large_threshold", 50, "compress", 0, "properties",
		      "os", "linux", "browser", "parley", "device", "parley");
	set_state(m, GATEWAY_IDENTIFYING, now + READY_S * NS_PER_S);
	if (!transmit_json(m, DISCORD_OP_IDENTIFY, d, now)) {
		close_socket(m, GATEWAY_CLOSE_ZOMBIE);
		connect_later(m, 0, now);
	}
}

static void resume(struct gateway_machine *m, uint64_t now)
{
	json_t *d = json_pack("{s:s,s:s,s:I}", "token", m->token, "session_id", m->session.id,
			      "seq", (json_int_t)m->session.seq);

	set_state(m, GATEWAY_RESUMING, now + READY_S * NS_PER_S);
	if (!transmit_json(m, DISCORD_OP_RESUME, d, now)) {
		close_socket(m, GATEWAY_CLOSE_ZOMBIE);
		connect_later(m, 0, now);
	}
}

/* ---- messages of the server ---- */

static bool start_handshake(const struct gateway_machine *m)
{
	return m->state == GATEWAY_HELLO || m->state == GATEWAY_THROTTLED ||
	       m->state == GATEWAY_IDENTIFYING || m->state == GATEWAY_RESUMING ||
	       m->state == GATEWAY_UP;
}

static void on_hello(struct gateway_machine *m, const json_t *d, uint32_t rnd, uint64_t now)
{
	const json_t *every = json_object_get(d, "heartbeat_interval");
	json_int_t ms = json_integer_value(every);

	if (!json_is_integer(every) || ms < HEARTBEAT_MIN_MS || ms > HEARTBEAT_MAX_MS ||
	    m->state != GATEWAY_HELLO) {
		m->malformed++;
		return;
	}
	m->beat_every = (uint64_t)ms * NS_PER_MS;
	/* Documented: the first beat comes after interval × random, so that not all clients beat at
	 * once. */
	m->beat_at = now + m->beat_every / 1000 * (rnd % 1000);
	if (m->session.id[0] && m->has_seq)
		resume(m, now);
	else
		identify(m, now);
}

static void on_invalid_session(struct gateway_machine *m, const json_t *d, uint32_t rnd,
			       uint64_t now)
{
	if (m->state != GATEWAY_IDENTIFYING && m->state != GATEWAY_RESUMING &&
	    m->state != GATEWAY_UP)
		return;
	close_socket(m, GATEWAY_CLOSE_ZOMBIE);
	if (json_is_true(d)) {
		connect_later(m, rnd, now);
		return;
	}
	forget_session(m);
	m->backoff.tries++;
	/* Documented: wait 1 to 5 seconds before a new Identify. */
	wait_to_connect(m, NS_PER_S + (uint64_t)rnd % 4000 * NS_PER_MS, now);
}

static bool copy(char *dst, size_t size, const json_t *s)
{
	const char *text = json_string_value(s);

	if (!text || !*text || strlen(text) >= size)
		return false;
	memcpy(dst, text, strlen(text) + 1);
	return true;
}

static void enter_up(struct gateway_machine *m, uint64_t now)
{
	backoff_reset(&m->backoff);
	m->up_since = now;
	set_state(m, GATEWAY_UP, UINT64_MAX);
}

static bool on_ready(struct gateway_machine *m, const json_t *d, uint64_t now)
{
	struct gateway_session s = {.seq = m->session.seq};

	if (m->state != GATEWAY_IDENTIFYING ||
	    !copy(s.id, sizeof s.id, json_object_get(d, "session_id"))) {
		m->malformed++;
		return false;
	}
	if (!copy(s.url, sizeof s.url, json_object_get(d, "resume_gateway_url")))
		snprintf(s.url, sizeof s.url, "%s", m->base);
	m->session = s;
	enter_up(m, now);
	return true;
}

static void on_dispatch(struct gateway_machine *m, const json_t *msg, uint64_t now)
{
	const json_t *s = json_object_get(msg, "s"), *d = json_object_get(msg, "d");
	const char *t = json_string_value(json_object_get(msg, "t"));
	bool ready = t && strcmp(t, "READY") == 0;

	if (!t || !json_is_integer(s) || json_integer_value(s) < 0) {
		m->malformed++;
		return;
	}
	if (m->state != GATEWAY_UP && m->state != GATEWAY_IDENTIFYING &&
	    m->state != GATEWAY_RESUMING)
		return;
	m->session.seq = json_integer_value(s);
	m->has_seq = true;
	if (ready && !on_ready(m, d, now))
		return;
	if (strcmp(t, "RESUMED") == 0 && m->state == GATEWAY_RESUMING)
		enter_up(m, now);
	act(m, (struct gateway_act){
		       .type = GATEWAY_ACT_DISPATCH, .text = t, .len = strlen(t), .d = d});
	/* Who handled READY knows by now whether the session may be resumed: not before what was
	 * missed has been read. */
	if (ready)
		act(m, (struct gateway_act){.type = GATEWAY_ACT_SESSION});
}

static void on_text(struct gateway_machine *m, const struct gateway_in *in, uint64_t now)
{
	json_t *msg = json_loadb(in->text, in->len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *op = json_object_get(msg, "op"), *d = json_object_get(msg, "d");

	if (!json_is_integer(op)) {
		m->malformed++;
		json_decref(msg);
		return;
	}
	switch (json_integer_value(op)) {
	case DISCORD_OP_DISPATCH:
		on_dispatch(m, msg, now);
		break;
	case DISCORD_OP_HEARTBEAT:
		heartbeat(m, now);
		break;
	case DISCORD_OP_RECONNECT:
		close_socket(m, GATEWAY_CLOSE_ZOMBIE);
		connect_later(m, in->rnd, now);
		break;
	case DISCORD_OP_INVALID_SESSION:
		on_invalid_session(m, d, in->rnd, now);
		break;
	case DISCORD_OP_HELLO:
		on_hello(m, d, in->rnd, now);
		break;
	case DISCORD_OP_HEARTBEAT_ACK:
		m->beat_unanswered = false;
		break;
	default: /* unknown opcodes are no error */
		break;
	}
	json_decref(msg);
}

static void on_closed(struct gateway_machine *m, const struct gateway_in *in, uint64_t now)
{
	switch (discord_close_action(in->code)) {
	case DISCORD_CLOSE_FATAL:
		fatal(m, in->code);
		return;
	case DISCORD_CLOSE_IDENTIFY:
		forget_session(m);
		break;
	case DISCORD_CLOSE_RESUME:
		break;
	}
	connect_later(m, in->rnd, now);
}

static void send_due_heartbeat(struct gateway_machine *m, uint32_t rnd, uint64_t now)
{
	if (m->beat_unanswered) {
		/* No acknowledgement between two heartbeats: the connection is a zombie
		 * (documented). */
		close_socket(m, GATEWAY_CLOSE_ZOMBIE);
		connect_later(m, rnd, now);
		return;
	}
	m->beat_unanswered = true;
	m->beat_at += m->beat_every;
	if (m->beat_at <= now) /* the machine slept */
		m->beat_at = now + m->beat_every;
	heartbeat(m, now);
	/* After a session of a minute the next Identify need not wait. */
	if (m->state == GATEWAY_UP && now - m->up_since >= 60 * NS_PER_S)
		m->identify_streak = 0;
}

static void on_tick(struct gateway_machine *m, uint32_t rnd, uint64_t now)
{
	if (start_handshake(m) && now >= m->beat_at)
		send_due_heartbeat(m, rnd, now);
	queue_flush(m, now);
	if (now < m->state_until)
		return;
	switch (m->state) {
	case GATEWAY_BACKOFF:
		connect_now(m, now);
		break;
	case GATEWAY_THROTTLED:
		identify(m, now);
		break;
	case GATEWAY_CONNECTING:
	case GATEWAY_HELLO:
	case GATEWAY_IDENTIFYING:
	case GATEWAY_RESUMING:
		close_socket(m, GATEWAY_CLOSE_ZOMBIE);
		connect_later(m, rnd, now);
		break;
	default:
		break;
	}
}

void gateway_machine_step(struct gateway_machine *m, const struct gateway_in *in, uint64_t now)
{
	switch (in->type) {
	case GATEWAY_IN_START:
		snprintf(m->base, sizeof m->base, "%.*s", (int)(in->len < 255 ? in->len : 255),
			 in->text);
		if (m->state == GATEWAY_IDLE)
			connect_now(m, now);
		break;
	case GATEWAY_IN_OPEN:
		if (m->state == GATEWAY_CONNECTING)
			set_state(m, GATEWAY_HELLO, now + HELLO_S * NS_PER_S);
		break;
	case GATEWAY_IN_TEXT:
		if (start_handshake(m))
			on_text(m, in, now);
		break;
	case GATEWAY_IN_CLOSED:
		if (start_handshake(m) || m->state == GATEWAY_CONNECTING)
			on_closed(m, in, now);
		break;
	case GATEWAY_IN_TICK:
		on_tick(m, in->rnd, now);
		break;
	case GATEWAY_IN_AGAIN:
		if (m->state == GATEWAY_FATAL)
			connect_later(m, in->rnd, now);
		break;
	}
}

uint64_t gateway_machine_deadline(const struct gateway_machine *m)
{
	uint64_t at = m->state_until, oldest;

	if (start_handshake(m) && m->beat_at < at)
		at = m->beat_at;
	if (m->state == GATEWAY_UP && m->queue_len) {
		uint64_t now_at;

		/* The queue waits for the oldest counted event to leave the window. */
		sends_in_window(m, 0, &oldest);
		now_at = oldest == UINT64_MAX ? 0 : oldest + 60 * NS_PER_S;
		at = now_at < at ? now_at : at;
	}
	return at;
}
