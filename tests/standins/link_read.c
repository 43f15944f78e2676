#include "tests/standins/link_inside.h"
#include "tests/standins/record.h"

#include <errno.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BODY_MAX = 64 << 20, VALUE_SIZE = 512 };

const struct http_head *si_link_head(const struct si_link *l)
{
	return &l->head;
}

const char *si_link_body(const struct si_link *l, size_t *n)
{
	*n = l->body_n;
	return l->body ? l->body : "";
}

bool si_link_key(const struct si_link *l, const char *header, const char *parameter)
{
	char value[VALUE_SIZE];

	if (!l->st->key)
		return true;
	if (http_head_copy(&l->head, "authorization", value, sizeof value) &&
	    strncasecmp(value, "bearer ", 7) == 0 && strcmp(value + 7, l->st->key) == 0)
		return true;
	if (header && http_head_copy(&l->head, header, value, sizeof value) &&
	    strcmp(value, l->st->key) == 0)
		return true;
	return parameter && http_head_query(&l->head, parameter, value, sizeof value) &&
	       strcmp(value, l->st->key) == 0;
}

static const char *status_text(int status)
{
	return status == 101   ? "Switching Protocols"
	       : status == 200 ? "OK"
	       : status == 401 ? "Unauthorized"
	       : status == 429 ? "Too Many Requests"
	       : status < 500  ? "Bad Request"
			       : "Server Error";
}

static void head_write(struct si_link *l, int status, const char *type, const char *rest)
{
	char head[1024];
	int n = snprintf(head, sizeof head,
			 "HTTP/1.1 %d %s\r\n%s%s%sx-request-id: req_%u\r\n%s\r\n", status,
			 status_text(status), type ? "Content-Type: " : "", type ? type : "",
			 type ? "\r\n" : "", l->number, rest);

	si_link_write(l, head, (size_t)n);
}

void si_reply(struct si_link *l, int status, const char *type, const void *data, size_t n)
{
	char rest[96], wait[48] = "";
	char note[16];

	snprintf(note, sizeof note, "%d", status);
	si_record_note(l->st->record, l->number, "status", note);
	if (l->retry_after_s)
		snprintf(wait, sizeof wait, "Retry-After: %u\r\n", l->retry_after_s);
	l->retry_after_s = 0;
	snprintf(rest, sizeof rest, "%sContent-Length: %zu\r\n", wait, n);
	head_write(l, status, type, rest);
	si_link_write(l, data, n);
	l->state = SI_HEAD;
}

void si_reply_json(struct si_link *l, int status, json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	if (!text)
		abort(); /* as in si_plan_json */
	si_record_message(l->st->record, l->number, "out", true, text, strlen(text));
	si_reply(l, status, "application/json", text, strlen(text));
	free(text);
}

void si_stream(struct si_link *l, int status, const char *type)
{
	head_write(l, status, type, "Transfer-Encoding: chunked\r\n");
	l->state = SI_STREAM;
	si_link_release(l);
}

void si_link_take(struct si_link *l, const struct si_session_ops *ops, void *session)
{
	char key[128], accept[SI_FRAME_ACCEPT], rest[128];

	if (l->ops)
		l->ops->free(l->session); /* of the request before, on the same connection */
	l->ops = ops;
	l->session = session;
	if (!ops->message)
		return;
	http_head_copy(&l->head, "sec-websocket-key", key, sizeof key);
	si_frame_accept(key, accept);
	snprintf(rest, sizeof rest,
		 "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n",
		 accept);
	head_write(l, 101, NULL, rest);
	l->state = SI_SOCKET;
}

/* ---- a request ---- */

static void request_serve(struct si_link *l)
{
	struct si_acts acts;
	const struct si_act *refusal = l->connect.status;

	l->state = SI_ANSWER;
	l->connect.status = NULL;
	l->retry_after_s = refusal ? l->connect.retry_after_s : 0;
	si_record_request(l->st->record, l->number, &l->head, l->body, l->body_n);
	if (!l->head.websocket && !refusal) {
		si_link_fire(l, SI_REQUEST, &acts);
		refusal = acts.status;
		l->retry_after_s = refusal ? acts.retry_after_s : 0;
	}
	if (l->dead || l->frozen)
		return;
	if (refusal) {
		const char *text = refusal->text;

		si_reply_json(l, (int)refusal->number,
			      json_pack("{s:{s:s,s:s,s:n,s:s}}", "error", "message", text, "type",
					"invalid_request_error", "param", "code",
					refusal->number == 401	 ? "invalid_api_key"
					: refusal->number == 429 ? "rate_limit_exceeded"
								 : "refused"));
		return;
	}
	for (size_t i = 0; l->provider->services[i]; i++) {
		const struct si_service *s = l->provider->services[i];
		bool (*h)(struct si_link *) = l->head.websocket ? s->open : s->request;

		if (h && h(l))
			return;
	}
	si_reply_json(l, 404,
		      json_pack("{s:{s:s,s:s,s:n,s:n}}", "error", "message",
				"There is nothing at this address.", "type",
				"invalid_request_error", "param", "code"));
}

/* Joins the chunks of a body that is there. False: more is needed; *bad: this is no such body. */
static bool chunks_take(struct si_link *l, struct evbuffer *in, bool *bad)
{
	size_t n = evbuffer_get_length(in), at = 0, length = 0;
	const char *p = (const char *)evbuffer_pullup(in, -1);
	char *body = si_alloc(n + 1);

	for (;;) {
		const char *end = memmem(p + at, n - at, "\r\n", 2);
		unsigned long m = end ? strtoul(p + at, NULL, 16) : 0;

		if (end && m > BODY_MAX)
			*bad = true;
		if (!end || *bad || n - (size_t)(end + 2 - p) < m + 2) {
			free(body);
			return false;
		}
		at = (size_t)(end + 2 - p);
		memcpy(body + length, p + at, m);
		length += m;
		at += m + 2;
		if (!m)
			break;
	}
	evbuffer_drain(in, at);
	free(l->body);
	l->body = body;
	l->body_n = length;
	return true;
}

static bool body_take(struct si_link *l, struct evbuffer *in)
{
	bool bad = l->head.length > BODY_MAX;

	if (!bad && l->head.chunked) {
		if (!evbuffer_get_length(in) || !chunks_take(l, in, &bad)) {
			if (bad)
				si_link_end(l);
			return false;
		}
		return true;
	}
	if (bad) {
		si_link_end(l);
		return false;
	}
	if (evbuffer_get_length(in) < l->head.length)
		return false;
	free(l->body);
	l->body_n = (size_t)l->head.length;
	l->body = si_alloc(l->body_n + 1);
	evbuffer_remove(in, l->body, l->body_n);
	return true;
}

static bool head_take(struct si_link *l, struct evbuffer *in)
{
	size_t n = evbuffer_get_length(in), seen = 0;
	const char *p = (const char *)evbuffer_pullup(in, -1);
	long length = n ? http_head_find(p, n, &seen) : 0;
	int status;

	if (length == 0 && n < HTTP_HEAD_MAX)
		return false;
	if (length <= 0) {
		si_link_end(l);
		return false;
	}
	free(l->head_text);
	l->head_text = si_copy(p, (size_t)length);
	evbuffer_drain(in, (size_t)length);
	status = http_head_parse(&l->head, l->head_text, (size_t)length);
	if (status) {
		si_reply(l, status, NULL, NULL, 0);
		l->close_sent = true;
		return false;
	}
	l->state = SI_BODY;
	return true;
}

/* ---- a WebSocket ---- */

static void message_take(struct si_link *l, const struct si_frame *f, const uint8_t *payload)
{
	uint8_t *grown = si_alloc(l->message_n + f->length + 1);

	if (l->message_n)
		memcpy(grown, l->message, l->message_n);
	memcpy(grown + l->message_n, payload, f->length);
	free(l->message);
	l->message = grown;
	l->message_n += f->length;
	if (f->opcode != SI_MORE)
		l->message_text = f->opcode == SI_TEXT;
	if (!f->fin)
		return;
	si_record_message(l->st->record, l->number, "in", l->message_text, (char *)l->message,
			  l->message_n);
	l->ops->message(l->session, l->message_text, (char *)l->message, l->message_n);
	free(l->message);
	l->message = NULL;
	l->message_n = 0;
}

static void closed_by_client(struct si_link *l, const struct si_frame *f, const uint8_t *payload)
{
	unsigned code = f->length >= 2 ? (unsigned)payload[0] << 8 | payload[1] : 1005;
	char note[32];

	snprintf(note, sizeof note, "%u", code);
	si_record_note(l->st->record, l->number, "client_close", note);
	if (l->close_sent)
		si_link_end(l);
	else
		si_socket_close(l, (uint16_t)(code == 1005 ? 1000 : code), "", 0);
}

static bool frame_take(struct si_link *l, struct evbuffer *in)
{
	size_t n = evbuffer_get_length(in);
	uint8_t *p = n ? evbuffer_pullup(in, -1) : NULL, *payload;
	struct si_frame f;
	int err = n ? si_frame_parse(&f, p, n) : EAGAIN;

	if (err == EAGAIN)
		return false;
	if (err) {
		si_socket_close(l, err == EMSGSIZE ? 1009 : 1002, "", 0);
		return false;
	}
	payload = memcpy(si_alloc(f.length + 1), p + f.head, f.length);
	si_frame_unmask(&f, payload);
	evbuffer_drain(in, f.head + f.length);
	if (f.opcode == SI_CLOSE)
		closed_by_client(l, &f, payload);
	else if (f.opcode == SI_PING)
		si_socket_send(l, SI_PONG, payload, f.length);
	else if (f.opcode != SI_PONG && !l->close_sent)
		message_take(l, &f, payload);
	free(payload);
	return true;
}

void si_link_read(struct si_link *l)
{
	struct evbuffer *in = bufferevent_get_input(l->bev);
	bool more = true;

	while (more && !l->dead && !l->frozen && !l->hold) {
		switch (l->state) {
		case SI_HEAD:
			more = head_take(l, in);
			break;
		case SI_BODY:
			more = body_take(l, in);
			if (more)
				request_serve(l);
			break;
		case SI_SOCKET:
			more = frame_take(l, in);
			break;
		default:
			more = false;
		}
	}
}
