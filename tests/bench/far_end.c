#include "tests/bench/far_end.h"

#include "ipc/env.h"
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "proto/rtp.h"
#include "tests/bench/bench.h"
#include "tests/bench/far_end_dave.h"
#include "tests/guildd/certs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BATCH = 64, BUFFER = 8 << 20, OWN_SSRC = 100000, THEIR_SSRC = 1000000, PER_CALL = 1000 };

struct far_end_call {
	struct ws *ws;
	unsigned seq, rekeys;
	struct far_end_group *group; /* under the lock of the far end */
	atomic_bool found;
	struct sockaddr_in addr; /* written before found */
};

struct far_end {
	struct env *env;
	far_end_packet_h *packeth;
	void *arg;
	struct gd_certs *certs;
	struct ws_ctx *ctx;
	struct ws_server *server;
	char endpoint[64];
	uint16_t port;
	int fd;
	unsigned speakers;
	pthread_mutex_t lock; /* of the groups, with which a thread of the bench encrypts */
	pthread_t thread;
	struct far_end_call calls[FAR_END_CALLS];
};

/* ---- names and numbers ---- */

const char *far_end_ca(const struct far_end *f)
{
	return gd_certs_ca(f->certs);
}

uint16_t far_end_port(const struct far_end *f)
{
	return f->port;
}

const char *far_end_endpoint(const struct far_end *f)
{
	return f->endpoint;
}

void far_end_token(char *buf, size_t size, unsigned call)
{
	snprintf(buf, size, "token-of-call-%u", call);
}

uint64_t far_end_guild(unsigned call)
{
	return 4000000000 + call;
}

void far_end_key(uint8_t key[FAR_END_KEY], unsigned call, unsigned rekeys)
{
	memset(key, 'k', FAR_END_KEY);
	memcpy(key, &call, sizeof call);
	memcpy(key + 8, &rekeys, sizeof rekeys);
}

uint64_t far_end_user(unsigned call, unsigned speaker)
{
	return 5000000000 + (uint64_t)call * PER_CALL + speaker;
}

uint32_t far_end_ssrc(unsigned call, unsigned speaker, unsigned turn)
{
	return THEIR_SSRC + (turn * FAR_END_CALLS + call) * PER_CALL + speaker;
}

uint32_t far_end_own_ssrc(unsigned call)
{
	return OWN_SSRC + call;
}

bool far_end_ready(const struct far_end *f, unsigned call)
{
	return f->calls[call].group && atomic_load(&f->calls[call].found);
}

/* ---- datagrams ---- */

static uint64_t stamp(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct timespec ts;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof ts);
		return ns_of_timespec(&ts);
	}
	return 0;
}

static void on_discovery(struct far_end *f, const uint8_t *p, const struct sockaddr_in *from)
{
	uint32_t ssrc = (uint32_t)p[4] << 24 | (uint32_t)p[5] << 16 | (uint32_t)p[6] << 8 | p[7];
	uint8_t out[DISCOVERY_SIZE] = {0, 2, 0, 70, p[4], p[5], p[6], p[7]};
	unsigned call = ssrc - OWN_SSRC;

	if (call >= FAR_END_CALLS)
		return;
	inet_ntop(AF_INET, &from->sin_addr, (char *)out + 8, 64);
	memcpy(out + 72, &from->sin_port, 2);
	f->calls[call].addr = *from;
	atomic_store(&f->calls[call].found, true);
	sendto(f->fd, out, sizeof out, 0, (const struct sockaddr *)from, sizeof *from);
}

static void datagram(struct far_end *f, const uint8_t *p, size_t n, uint64_t at,
		     const struct sockaddr_in *from)
{
	struct rtp_header h;

	switch (udp_classify(p, n)) {
	case UDP_DISCOVERY:
		on_discovery(f, p, from);
		break;
	case UDP_KEEPALIVE:
		sendto(f->fd, p, n, 0, (const struct sockaddr *)from, sizeof *from);
		break;
	case UDP_RTP:
		if (f->packeth && !rtp_parse(&h, p, n) && h.ssrc - OWN_SSRC < FAR_END_CALLS)
			f->packeth(h.ssrc - OWN_SSRC, at, p, n, f->arg);
		break;
	default:
		break;
	}
}

static void *reader(void *arg)
{
	static struct {
		uint8_t p[UDP_MAX_PACKET], control[64];
		struct sockaddr_in from;
	} in[BATCH];
	struct far_end *f = arg;

	for (;;) {
		struct mmsghdr m[BATCH] = {0};
		struct iovec iov[BATCH];
		int n;

		for (unsigned i = 0; i < BATCH; i++) {
			iov[i] = (struct iovec){in[i].p, sizeof in[i].p};
			m[i].msg_hdr = (struct msghdr){.msg_name = &in[i].from,
						       .msg_namelen = sizeof in[i].from,
						       .msg_iov = &iov[i],
						       .msg_iovlen = 1,
						       .msg_control = in[i].control,
						       .msg_controllen = sizeof in[i].control};
		}
		n = recvmmsg(f->fd, m, BATCH, MSG_WAITFORONE, NULL);
		if (n < 0 && errno == EINTR)
			continue;
		for (int i = 0; i < n; i++) {
			if (m[i].msg_len == 1)
				return NULL; /* far_end_free */
			datagram(f, in[i].p, m[i].msg_len, stamp(&m[i].msg_hdr), &in[i].from);
		}
	}
}

void far_end_send(struct far_end *f, unsigned call, const uint8_t *p, size_t n)
{
	const struct sockaddr_in *to = &f->calls[call].addr;

	if (sendto(f->fd, p, n, 0, (const struct sockaddr *)to, sizeof *to) != (ssize_t)n)
		bench_die("sendto: %s", strerror(errno));
}

size_t far_end_seal(struct far_end *f, unsigned call, unsigned speaker, const uint8_t *frame,
		    size_t n, uint8_t *out, size_t cap)
{
	size_t len;

	pthread_mutex_lock(&f->lock);
	if (!f->calls[call].group)
		bench_die("call %u has no group", call);
	len = far_end_group_seal(f->calls[call].group, speaker, frame, n, out, cap);
	pthread_mutex_unlock(&f->lock);
	return len;
}

void far_end_client_key(struct far_end *f, unsigned call, uint64_t user, uint8_t key[16])
{
	pthread_mutex_lock(&f->lock);
	if (!f->calls[call].group)
		bench_die("call %u has no group", call);
	far_end_group_key(f->calls[call].group, user, key);
	pthread_mutex_unlock(&f->lock);
}

void far_end_speaker_key(struct far_end *f, unsigned call, unsigned speaker, uint8_t key[16])
{
	far_end_client_key(f, call, far_end_user(call, speaker), key);
}

/* ---- the gateway ---- */

static void say(struct far_end_call *c, unsigned op, json_t *d)
{
	json_t *o = json_pack("{s:i, s:o}", "op", (int)op, "d", d);
	char *text;

	if (c->ws && op != 6)
		json_object_set_new(o, "seq", json_integer(++c->seq));
	text = json_dumps(o, JSON_COMPACT);
	if (c->ws && ws_send(c->ws, true, text, strlen(text)))
		bench_die("the gateway cannot send");
	free(text);
	json_decref(o);
}

static void say_binary(struct far_end_call *c, uint8_t op, struct slice head, struct slice payload)
{
	uint8_t *p = malloc(3 + head.n + payload.n);

	if (!p)
		bench_die("out of memory");
	c->seq++;
	p[0] = (uint8_t)(c->seq >> 8);
	p[1] = (uint8_t)c->seq;
	p[2] = op;
	if (head.n)
		memcpy(p + 3, head.p, head.n);
	memcpy(p + 3 + head.n, payload.p, payload.n);
	if (c->ws && ws_send(c->ws, false, p, 3 + head.n + payload.n))
		bench_die("the gateway cannot send");
	free(p);
}

/* Op 11: all speakers are there. */
static void say_members(struct far_end *f, struct far_end_call *c)
{
	json_t *users = json_array();
	char user[24];

	for (unsigned s = 0; s < f->speakers; s++) {
		snprintf(user, sizeof user, "%" PRIu64, far_end_user((unsigned)(c - f->calls), s));
		json_array_append_new(users, json_string(user));
	}
	say(c, 11, json_pack("{s:o}", "user_ids", users));
}

static void drop_group(struct far_end *f, struct far_end_call *c)
{
	pthread_mutex_lock(&f->lock);
	c->group = far_end_group_free(c->group);
	pthread_mutex_unlock(&f->lock);
}

/* Op 26: the client joins a new group by op 30, whose transition 0 is executed at once. */
static void on_key_package(struct far_end *f, struct far_end_call *c, struct slice package)
{
	static const uint8_t transition[2];
	unsigned call = (unsigned)(c - f->calls);
	struct far_end_group_conf conf = {.group = far_end_guild(call),
					  .first_user = far_end_user(call, 0),
					  .speakers = f->speakers};
	struct far_end_group *group;
	struct slice welcome;

	far_end_group_alloc(&group, &conf, package, &welcome);
	drop_group(f, c);
	pthread_mutex_lock(&f->lock);
	c->group = group;
	pthread_mutex_unlock(&f->lock);
	say_binary(c, 30, (struct slice){transition, sizeof transition}, welcome);
	free((void *)welcome.p);
}

static void describe(struct far_end *f, struct far_end_call *c)
{
	uint8_t key[FAR_END_KEY];
	json_t *list = json_array();

	far_end_key(key, (unsigned)(c - f->calls), c->rekeys);
	for (unsigned i = 0; i < FAR_END_KEY; i++)
		json_array_append_new(list, json_integer(key[i]));
	say(c, 4,
	    json_pack("{s:s, s:o, s:i}", "mode", "aead_aes256_gcm_rtpsize", "secret_key", list,
		      "dave_protocol_version", 1));
}

static struct far_end_call *call_of_token(struct far_end *f, const json_t *d)
{
	const char *token = json_string_value(json_object_get(d, "token"));
	unsigned call;

	if (!token || sscanf(token, "token-of-call-%u", &call) != 1 || call >= FAR_END_CALLS)
		bench_die("a token \"%s\"", token ? token : "");
	return &f->calls[call];
}

static void on_identify(struct far_end *f, struct ws *ws, const json_t *d)
{
	struct far_end_call *c = call_of_token(f, d);
	unsigned call = (unsigned)(c - f->calls);

	c->ws = ws;
	c->seq = c->rekeys = 0;
	drop_group(f, c);
	atomic_store(&c->found, false);
	say(c, 2,
	    json_pack("{s:I, s:s, s:i, s:[s]}", "ssrc", (json_int_t)far_end_own_ssrc(call), "ip",
		      "127.0.0.1", "port", (int)f->port, "modes", "aead_aes256_gcm_rtpsize"));
}

static struct far_end_call *call_of(struct far_end *f, const struct ws *ws)
{
	for (unsigned i = 0; i < FAR_END_CALLS; i++)
		if (f->calls[i].ws == ws)
			return &f->calls[i];
	return NULL;
}

static void on_text(struct far_end *f, struct ws *ws, const json_t *o)
{
	const json_t *d = json_object_get(o, "d");
	struct far_end_call *c = call_of(f, ws);

	switch (json_integer_value(json_object_get(o, "op"))) {
	case 0:
		on_identify(f, ws, d);
		break;
	case 1:
		if (!c)
			break;
		describe(f, c);
		say_members(f, c);
		say_binary(c, 25, (struct slice){0}, far_end_sender());
		break;
	case 3:
		if (c)
			say(c, 6, json_pack("{s:O}", "t", json_object_get(d, "t")));
		break;
	case 7: /* nothing was missed */
		c = call_of_token(f, d);
		c->ws = ws;
		say(c, 9, json_null());
		break;
	default:
		break;
	}
}

static void on_ws(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		  void *arg)
{
	struct far_end *f = arg;
	struct far_end_call *c;
	json_t *o;

	(void)code;
	if (ev == WS_TEXT) {
		o = json_loadb((const char *)data, len, 0, NULL);
		on_text(f, ws, o);
		json_decref(o);
	} else if (ev == WS_BINARY) {
		c = call_of(f, ws);
		if (c && len > 1 && data[0] == 26)
			on_key_package(f, c, (struct slice){data + 1, len - 1});
		else if (c && len && data[0] != 28)
			bench_die("op %u of the client", data[0]);
	} else if (ev == WS_CLOSED) {
		c = call_of(f, ws);
		if (c)
			c->ws = NULL;
		ws_free(ws);
	}
}

static void on_accept(struct ws *ws, const char *path, void *arg)
{
	static const char hello[] = "{\"op\":8,\"d\":{\"v\":8,\"heartbeat_interval\":41250}}";

	(void)path;
	ws_set_handler(ws, on_ws, arg);
	ws_send(ws, true, hello, sizeof hello - 1);
}

void far_end_speaking(struct far_end *f, unsigned call, unsigned speaker, unsigned turn)
{
	char user[24];

	snprintf(user, sizeof user, "%" PRIu64, far_end_user(call, speaker));
	say(&f->calls[call], 5,
	    json_pack("{s:s, s:I, s:i}", "user_id", user, "ssrc",
		      (json_int_t)far_end_ssrc(call, speaker, turn), "speaking", 1));
}

void far_end_left(struct far_end *f, unsigned call, unsigned speaker)
{
	char user[24];

	snprintf(user, sizeof user, "%" PRIu64, far_end_user(call, speaker));
	say(&f->calls[call], 13, json_pack("{s:s}", "user_id", user));
}

void far_end_rekey(struct far_end *f, unsigned call)
{
	f->calls[call].rekeys++;
	describe(f, &f->calls[call]);
}

/* ---- life ---- */

static void open_udp(struct far_end *f)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	int on = 1, size = BUFFER;

	f->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (f->fd < 0 || bind(f->fd, (struct sockaddr *)&a, sizeof a) ||
	    getsockname(f->fd, (struct sockaddr *)&a, &n) ||
	    setsockopt(f->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on))
		bench_die("the far end's socket: %s", strerror(errno));
	/* As root beyond the system's limit. */
	if (setsockopt(f->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size))
		setsockopt(f->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
	f->port = ntohs(a.sin_port);
}

void far_end_alloc(struct far_end **out, struct env *env, unsigned speakers,
		   far_end_packet_h *packeth, void *arg)
{
	struct far_end *f = calloc(1, sizeof *f);
	struct ws_listen_conf conf = {.host = "127.0.0.1"};

	if (!f)
		bench_die("out of memory");
	f->env = env;
	f->speakers = speakers;
	pthread_mutex_init(&f->lock, NULL);
	f->packeth = packeth;
	f->arg = arg;
	BENCH_OK(gd_certs_alloc(&f->certs, "localhost", "127.0.0.1"));
	BENCH_OK(ws_ctx_alloc(&f->ctx, env, NULL));
	conf.cert_file = gd_certs_leaf(f->certs);
	conf.key_file = gd_certs_key(f->certs);
	BENCH_OK(ws_listen(&f->server, f->ctx, &conf, on_accept, f));
	snprintf(f->endpoint, sizeof f->endpoint, "localhost:%u", ws_server_port(f->server));
	open_udp(f);
	if (pthread_create(&f->thread, NULL, reader, f))
		bench_die("no thread");
	*out = f;
}

struct far_end *far_end_free(struct far_end *f)
{
	struct sockaddr_in self = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				   .sin_port = htons(f->port)};

	sendto(f->fd, "", 1, 0, (struct sockaddr *)&self, sizeof self);
	pthread_join(f->thread, NULL);
	close(f->fd);
	for (unsigned i = 0; i < FAR_END_CALLS; i++) {
		ws_free(f->calls[i].ws);
		far_end_group_free(f->calls[i].group);
	}
	pthread_mutex_destroy(&f->lock);
	ws_server_free(f->server);
	ws_ctx_free(f->ctx);
	gd_certs_free(f->certs);
	free(f);
	return NULL;
}
