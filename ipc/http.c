#include "ipc/http.h"

#include "ipc/env.h"
#include "ipc/http_guard.h"
#include "ipc/unreachable.h"
#include "proto/base/cursor.h"
#include "proto/base/numeric_address.h"

#include <curl/curl.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <openssl/x509_vfy.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	DEFAULT_TIMEOUT_MS = 15000,
	DEFAULT_CONNECT_MS = 5000,
	HAPPY_EYEBALLS_MS = 250, /* RFC 8305 */
	DEFAULT_MAX_BODY = 4 << 20,
	MAX_HEADERS = 64 << 10,
	MAX_URL = 8192,
	MAX_CONNECTIONS = 32, /* idle connections kept open, all hosts together */
	RESULT_HEAD = 4 + 2 + 2 + 4 + 4,
};

enum { IN_WHOLE, IN_PART };

struct buf {
	char *p;
	size_t n, cap;
};

struct http {
	struct env *env;
	CURLM *multi;	     /* NULL on replay */
	struct event *timer; /* curl's own */
	char *ca_file, *user_agent;
	const struct http_guard *guard; /* NULL: none */
	struct http_req *reqs;
	bool global; /* curl_global_init was called */
	bool busy;   /* inside finish_all */
	bool over;   /* http_free was called meanwhile; finish_all completes it */
};

struct http_req {
	struct http *http; /* NULL if http_free was called inside our handler */
	struct http_req *next, **at;
	CURL *easy; /* NULL on replay */
	bool added, in_handler, cancelled;
	struct curl_slist *headers;
	struct buf head, body; /* of a body in parts: bytes not delivered yet */
	size_t max_body, came; /* came: all of the body so far */
	bool cut;	       /* a longer body is cut */
	bool too_big, no_memory, parts_told;
	struct http_guard_watch watch;
	char errtext[CURL_ERROR_SIZE];
	uint32_t source;
	http_resp_h *h, *parth;
	void *arg;
};

/* ---- the response while it arrives ---- */
static bool append(struct http_req *req, struct buf *b, const void *p, size_t n, size_t max)
{
	if (n > max - b->n) {
		req->too_big = true;
		return false;
	}
	if (b->cap - b->n < n) {
		size_t cap = b->cap ? b->cap : 2048;
		char *more;

		while (cap - b->n < n)
			cap *= 2;
		more = realloc(b->p, cap);
		if (!more) {
			req->no_memory = true;
			return false;
		}
		b->p = more;
		b->cap = cap;
	}
	memcpy(b->p + b->n, p, n);
	b->n += n;
	return true;
}

/* Handles one whole header line. A status line begins a new response; earlier lines (100 Continue)
 * are dropped. */
static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
	struct http_req *req = arg;

	n *= size;
	if (n >= 5 && memcmp(p, "HTTP/", 5) == 0)
		req->head.n = 0;
	return append(req, &req->head, p, n, MAX_HEADERS) ? n : 0;
}

static long status_of(const struct http_req *req)
{
	long status = 0;

	curl_easy_getinfo(req->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* Delivers the received part of the body before the rest has arrived. */
static bool in_parts(const struct http_req *req)
{
	return req->parth && status_of(req) / 100 == 2;
}

/* A caller that wants parts bounds them as they come; an error is kept whole and bounded here. */
static size_t limit_of(const struct http_req *req)
{
	return req->parth && !in_parts(req) && req->max_body > DEFAULT_MAX_BODY ? DEFAULT_MAX_BODY
										: req->max_body;
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
	struct http_req *req = arg;
	size_t limit = limit_of(req);

	n *= size;
	if (n > limit - req->came) {
		if (req->cut) {
			n = limit - req->came;
			req->came += n;
			append(req, &req->body, p, n, limit);
		}
		req->too_big = true;
		return 0;
	}
	req->came += n;
	return append(req, &req->body, p, n, limit) ? n : 0;
}

static int errno_of(const struct http_req *req, CURLcode code)
{
	long os = 0, verify = 0;

	if (req->no_memory)
		return ENOMEM;
	if (req->too_big)
		return req->cut && req->came == req->max_body ? 0 : EMSGSIZE;
	if (req->watch.refused && code)
		return EACCES;
	switch (code) {
	case CURLE_OK:
		return 0;
	case CURLE_OPERATION_TIMEDOUT:
		return ETIMEDOUT;
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(req->easy, CURLINFO_OS_ERRNO, &os);
		if (os == ENETUNREACH || os == EHOSTUNREACH)
			return EHOSTUNREACH;
		return os == ETIMEDOUT ? ETIMEDOUT : ECONNREFUSED;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return EHOSTUNREACH;
	case CURLE_PEER_FAILED_VERIFICATION:
		curl_easy_getinfo(req->easy, CURLINFO_SSL_VERIFYRESULT, &verify);
		return verify == X509_V_ERR_CERT_NOT_YET_VALID ||
				       verify == X509_V_ERR_CERT_HAS_EXPIRED
			       ? EKEYEXPIRED
			       : EPROTO;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_CACERT_BADFILE:
		return EPROTO;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return EINVAL;
	case CURLE_OUT_OF_MEMORY:
		return ENOMEM;
	default:
		return EIO;
	}
}

/* The fault of the network that kept the request from its server. UNREACHABLE_COUNT: none did. */
static enum unreachable unreachable_by(const struct http_req *req, CURLcode code)
{
	curl_off_t sent = 0;
	long proxied = 0;

	switch (errno_of(req, code)) {
	case EPROTO:
	case EKEYEXPIRED:
		return UNREACHABLE_TLS;
	case ETIMEDOUT:
		curl_easy_getinfo(req->easy, CURLINFO_PRETRANSFER_TIME_T, &sent);
		return sent ? UNREACHABLE_COUNT : UNREACHABLE_TIME;
	case EIO:
		curl_easy_getinfo(req->easy, CURLINFO_HTTP_CONNECTCODE, &proxied);
		return (proxied && proxied / 100 != 2) || code == CURLE_PROXY ? UNREACHABLE_PROXY
									      : UNREACHABLE_COUNT;
	default:
		break;
	}
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
		return UNREACHABLE_NAME;
	case CURLE_COULDNT_RESOLVE_PROXY:
		return UNREACHABLE_PROXY;
	case CURLE_COULDNT_CONNECT:
		return UNREACHABLE_CONNECT;
	default:
		return UNREACHABLE_COUNT;
	}
}

/* Adds curl's own words to those that all connections share. */
static void explain(struct http_req *req, CURLcode code)
{
	enum unreachable fault = unreachable_by(req, code);
	char curls[CURL_ERROR_SIZE];

	snprintf(curls, sizeof curls, "%s",
		 *req->errtext ? req->errtext : curl_easy_strerror(code));
	if (fault == UNREACHABLE_COUNT)
		snprintf(req->errtext, sizeof req->errtext, "%s", curls);
	else
		unreachable_print(fault, curls, req->errtext, sizeof req->errtext);
}

/* ---- the end of a request, as one input ---- */
static void unchain(struct http_req *req)
{
	if (!req->at)
		return;
	*req->at = req->next;
	if (req->next)
		req->next->at = req->at;
	req->at = NULL;
}

static void req_free(struct http_req *req)
{
	if (!req)
		return;
	unchain(req);
	if (req->http)
		env_source_del(req->http->env, req->source);
	if (req->http && req->added)
		curl_multi_remove_handle(req->http->multi, req->easy);
	if (req->easy)
		curl_easy_cleanup(req->easy);
	curl_slist_free_all(req->headers);
	free(req->head.p);
	free(req->body.p);
	free(req);
}

/* `u32 err | u16 status | u16 length of errtext | u32 of headers | u32 of body`, then these three.
 */
static bool read_record(struct http_resp *resp, const uint8_t *data, size_t len, char *text,
			size_t size)
{
	struct rd r = rd_of(data, len);
	const char *words;
	size_t n_text;

	resp->err = (int)rd_be(&r, 4);
	resp->status = (int)rd_be(&r, 2);
	n_text = rd_be(&r, 2);
	resp->headers.n = rd_be(&r, 4);
	resp->body.n = rd_be(&r, 4);
	words = (const char *)rd_bytes(&r, n_text);
	if (words && n_text < size)
		memcpy(text, words, n_text);
	resp->headers.p = (const char *)rd_bytes(&r, resp->headers.n);
	resp->body.p = (const char *)rd_bytes(&r, resp->body.n);
	resp->errtext = text;
	return r.ok && n_text < size;
}

static void input(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct http_req *req = arg;
	struct http_resp resp = {0};
	char text[CURL_ERROR_SIZE] = "";

	if (!read_record(&resp, data, len, text, sizeof text))
		resp = (struct http_resp){.err = EIO, .errtext = "damaged record"};
	req->in_handler = true;
	if (kind == IN_PART && !resp.err) {
		req->parth(&resp, req->arg);
		req->in_handler = false;
		if (!req->cancelled)
			return;
	} else {
		req->h(&resp, req->arg);
	}
	req_free(req);
}

static size_t shape(uint8_t kind, const uint8_t *data, size_t len, char *text, size_t size)
{
	struct rd r = rd_of(data, len);
	unsigned err = (unsigned)rd_be(&r, 4), status = (unsigned)rd_be(&r, 2);

	(void)kind;
	return (size_t)snprintf(text, size, "http err=%u status=%u", err, status);
}

/* Returns false without memory, and then delivers nothing. */
static bool tell(struct http_req *req, uint8_t kind, int err, size_t n_head)
{
	struct env *env = req->http->env;
	size_t n_text = err ? strnlen(req->errtext, CURL_ERROR_SIZE - 1) : 0;
	size_t n_body = err ? 0 : req->body.n, n = RESULT_HEAD + n_text + n_head + n_body;
	uint8_t *p = malloc(n);
	struct wr w = wr_of(p, n);

	if (!p)
		return false;
	wr_be(&w, (uint32_t)err, 4);
	wr_be(&w, err ? 0 : (uint64_t)status_of(req), 2);
	wr_be(&w, n_text, 2);
	wr_be(&w, n_head, 4);
	wr_be(&w, n_body, 4);
	wr_bytes(&w, req->errtext, n_text);
	wr_bytes(&w, req->head.p, n_head);
	wr_bytes(&w, req->body.p, n_body);
	req->body.n = 0;
	env_deliver(env, req->source, kind, p, n);
	free(p);
	return true;
}

static void deliver(struct http_req *req, int err)
{
	uint8_t small[RESULT_HEAD] = {0};
	struct wr w = wr_of(small, sizeof small);

	/* Some parts could not be delivered for lack of memory, so the body is incomplete. */
	if (!err && in_parts(req) && req->body.n)
		err = ENOMEM;
	if (tell(req, IN_WHOLE, err, err ? 0 : req->head.n))
		return;
	wr_be(&w, ENOMEM, 4);
	env_deliver(req->http->env, req->source, IN_WHOLE, small, sizeof small);
}

/* A handler may end any request, so this searches the list from the start each time. */
static void tell_parts(struct http *h)
{
	struct http_req *req = h->reqs, *next;
	size_t n_head;

	while (!h->over && req) {
		if (!req->body.n || !in_parts(req)) {
			req = req->next;
			continue;
		}
		n_head = req->parts_told ? 0 : req->head.n;
		next = req->next;
		req->parts_told = true;
		if (tell(req, IN_PART, 0, n_head)) {
			req = h->reqs;
		} else {
			req->parts_told = !n_head;
			req = next;
		}
	}
}

static void let_go(struct http *h);

/* Not called inside a curl callback: handlers may start and cancel requests, and free h. */
static void finish_all(struct http *h)
{
	CURLMsg *m;
	int left;

	h->busy = true;
	tell_parts(h);
	while (!h->over && (m = curl_multi_info_read(h->multi, &left))) {
		CURLcode code = m->data.result;
		struct http_req *req = NULL;
		int err;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&req);
		curl_multi_remove_handle(h->multi, m->easy_handle); /* m is gone now */
		req->added = false;
		err = errno_of(req, code);
		if (err)
			explain(req, code);
		deliver(req, err);
	}
	h->busy = false;
	if (h->over)
		let_go(h);
}

/* ---- curl's sockets and timer on the loop ---- */
static void on_socket_ready(evutil_socket_t fd, short what, void *arg)
{
	struct http *h = arg;
	int running, bits = (what & EV_READ ? CURL_CSELECT_IN : 0) |
			    (what & EV_WRITE ? CURL_CSELECT_OUT : 0);

	curl_multi_socket_action(h->multi, fd, bits, &running);
	finish_all(h);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct http *h = arg;
	int running;

	(void)fd;
	(void)what;
	curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	finish_all(h);
}

/* If a socket cannot be watched, its request ends by the timeout: an error here would end every
 * transfer. */
static int want_socket(CURL *easy, curl_socket_t fd, int want, void *arg, void *watching)
{
	struct http *h = arg;
	struct event *ev = watching;
	short what = (short)(EV_PERSIST | (want & CURL_POLL_IN ? EV_READ : 0) |
			     (want & CURL_POLL_OUT ? EV_WRITE : 0));

	(void)easy;
	if (ev)
		event_free(ev);
	ev = want == CURL_POLL_REMOVE ? NULL
				      : event_new(env_base(h->env), fd, what, on_socket_ready, h);
	if (ev)
		event_add(ev, NULL);
	curl_multi_assign(h->multi, fd, ev);
	return 0;
}

static int want_timer(CURLM *multi, long ms, void *arg)
{
	struct http *h = arg;
	struct timeval tv = {ms / 1000, ms % 1000 * 1000};

	(void)multi;
	if (ms < 0)
		event_del(h->timer);
	else
		event_add(h->timer, &tv);
	return 0;
}

/* ---- making requests ---- */
static bool printable(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	return true;
}

static bool call_ok(const struct http_call *call)
{
	if (!call->method || !*call->method || !printable(call->method) || !call->url ||
	    strlen(call->url) > MAX_URL || call->sound_at > call->body_len ||
	    !printable(call->url) || (call->body_len && !call->body))
		return false;
	for (unsigned i = 0; call->headers && call->headers[i]; i++)
		if (!printable(call->headers[i]))
			return false;
	return true;
}

/* A proxy of the environment cannot reach our own loopback. */
static bool loopback(const char *url)
{
	CURLU *u = curl_url();
	char *host = NULL;
	struct sockaddr_storage addr;
	const struct sockaddr_in *four = (struct sockaddr_in *)&addr;
	bool yes = false;

	if (u && !curl_url_set(u, CURLUPART_URL, url, 0) &&
	    !curl_url_get(u, CURLUPART_HOST, &host, 0))
		yes = strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
		      (numeric_address(&addr, host, 0) == sizeof *four &&
		       ntohl(four->sin_addr.s_addr) >> 24 == 127);
	curl_free(host);
	curl_url_cleanup(u);
	return yes;
}

static bool add_header(struct http_req *req, const char *line)
{
	struct curl_slist *more = curl_slist_append(req->headers, line);

	if (more)
		req->headers = more;
	return more;
}

/* Sets the caller's header lines, and removes those that curl would add by itself. */
static int set_headers(struct http_req *req, const struct http_call *call)
{
	bool typed = false;

	for (unsigned i = 0; call->headers && call->headers[i]; i++) {
		typed = typed || strncasecmp(call->headers[i], "Content-Type:", 13) == 0;
		if (!add_header(req, call->headers[i]))
			return ENOMEM;
	}
	if (!add_header(req, "Expect:") || (!typed && !add_header(req, "Content-Type:")))
		return ENOMEM;
	return curl_easy_setopt(req->easy, CURLOPT_HTTPHEADER, req->headers) ? ENOMEM : 0;
}

/* Sets the method and the body. A POST, PUT or PATCH without a body sends Content-Length: 0, which
 * servers require. */
static int set_method(struct http_req *req, const struct http_call *call)
{
	CURL *e = req->easy;
	CURLcode bad = CURLE_OK;

	if (strcmp(call->method, "HEAD") == 0)
		return curl_easy_setopt(e, CURLOPT_NOBODY, 1L) ? ENOMEM : 0;
	if (call->body || call->method[0] == 'P') {
		bad = curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_len);
		if (!bad)
			bad = curl_easy_setopt(e, CURLOPT_COPYPOSTFIELDS,
					       call->body ? call->body : "");
	}
	if (!bad)
		bad = curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, call->method);
	return bad ? ENOMEM : 0;
}

/* CAINFO alone would replace the system's store; with the folder of hashed certificates both count.
 */
static int set_trust(struct http_req *req, const char *ca_file)
{
	if (!ca_file)
		return 0;
	return curl_easy_setopt(req->easy, CURLOPT_CAINFO, ca_file) ||
			       curl_easy_setopt(req->easy, CURLOPT_CAPATH, "/etc/ssl/certs")
		       ? ENOMEM
		       : 0;
}

static int set_options(struct http_req *req, const struct http_call *call)
{
	CURL *e = req->easy;
	long ms = call->timeout_ms ? (long)call->timeout_ms : DEFAULT_TIMEOUT_MS;
	long connect_ms = call->connect_ms ? (long)call->connect_ms : DEFAULT_CONNECT_MS;
	int err;

	curl_easy_setopt(e, CURLOPT_PRIVATE, req);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, req->errtext);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	/* Otherwise a cancel would wait for the thread that resolves the name. */
	curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, ms);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
	curl_easy_setopt(e, CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, (long)HAPPY_EYEBALLS_MS);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, req);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, req);
	if (curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https") ||
	    curl_easy_setopt(e, CURLOPT_URL, call->url) ||
	    curl_easy_setopt(e, CURLOPT_USERAGENT, req->http->user_agent) ||
	    (loopback(call->url) && curl_easy_setopt(e, CURLOPT_PROXY, "")))
		return ENOMEM;
	err = set_trust(req, req->http->ca_file);
	if (!err && req->watch.guard)
		err = http_guard_set(&req->watch, e);
	if (!err)
		err = set_headers(req, call);
	return err ? err : set_method(req, call);
}

static int start(struct http_req *req, const struct http_call *call)
{
	int err;

	req->easy = curl_easy_init();
	if (!req->easy)
		return ENOMEM;
	err = set_options(req, call);
	if (err)
		return err;
	/* Only sets curl's timer: nothing is sent, and no handler is called, before the loop runs.
	 */
	if (curl_multi_add_handle(req->http->multi, req->easy))
		return ENOMEM;
	req->added = true;
	return 0;
}

static void tell_output(struct http_req *req, const struct http_call *call)
{
	struct env *env = req->http->env;

	env_output(env, ENV_OUT_HTTP, req->source, call->method, strlen(call->method));
	env_output(env, ENV_OUT_HTTP, req->source, call->url, strlen(call->url));
	for (unsigned i = 0; call->headers && call->headers[i]; i++)
		env_output(env, ENV_OUT_HTTP, req->source, call->headers[i],
			   strlen(call->headers[i]));
	env_output_sound(env, ENV_OUT_HTTP, req->source, call->body ? call->body : "",
			 call->body_len, call->sound_at ? call->sound_at : call->body_len);
}

int http_request(struct http_req **out, struct http *h, const struct http_call *call,
		 http_resp_h *rh, void *arg)
{
	struct http_req *req;
	int err;

	if (!h || !call || !rh || !call_ok(call))
		return EINVAL;
	req = calloc(1, sizeof *req);
	if (!req)
		return ENOMEM;
	req->http = h;
	req->h = rh;
	req->parth = call->parth;
	req->arg = arg;
	req->cut = call->cut;
	req->watch.guard = h->guard;
	req->max_body = call->max_body ? call->max_body : DEFAULT_MAX_BODY;
	err = env_source_add(h->env, &req->source, input, req);
	if (!err)
		env_source_shape(h->env, req->source, shape);
	if (!err && h->multi)
		err = start(req, call);
	if (err) {
		req_free(req);
		return err;
	}
	req->next = h->reqs;
	req->at = &h->reqs;
	if (req->next)
		req->next->at = &req->next;
	h->reqs = req;
	tell_output(req, call);
	if (out)
		*out = req;
	return 0;
}

void http_req_cancel(struct http_req *req)
{
	/* A request that is cancelled inside its own handler is freed when the handler returns. */
	if (req && req->in_handler)
		req->cancelled = true;
	else
		req_free(req);
}

/* ---- making and freeing ---- */
static int start_multi(struct http *h)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return ENOMEM;
	h->global = true;
	h->timer = evtimer_new(env_base(h->env), on_timer, h);
	h->multi = curl_multi_init();
	if (!h->timer || !h->multi)
		return ENOMEM;
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, want_timer);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
	curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, (long)MAX_CONNECTIONS);
	return 0;
}

int http_alloc_guarded(struct http **out, struct env *env, const char *ca_file,
		       const char *user_agent, const struct http_guard *guard)
{
	int err = guard ? http_alloc(out, env, ca_file, user_agent) : EINVAL;

	if (!err)
		(*out)->guard = guard;
	return err;
}

int http_alloc(struct http **out, struct env *env, const char *ca_file, const char *user_agent)
{
	struct http *h;
	int err = 0;

	if (!out || !env || !user_agent || !printable(user_agent) ||
	    (!env_base(env) && !env_replaying(env)))
		return EINVAL;
	h = calloc(1, sizeof *h);
	if (!h)
		return ENOMEM;
	h->env = env;
	h->user_agent = strdup(user_agent);
	h->ca_file = ca_file ? strdup(ca_file) : NULL;
	if (!h->user_agent || (ca_file && !h->ca_file))
		err = ENOMEM;
	else if (!env_replaying(env))
		err = start_multi(h);
	if (err) {
		http_free(h);
		return err;
	}
	*out = h;
	return 0;
}

static void let_go(struct http *h)
{
	if (h->multi)
		curl_multi_cleanup(h->multi);
	if (h->timer)
		event_free(h->timer);
	if (h->global)
		curl_global_cleanup();
	free(h->user_agent);
	free(h->ca_file);
	free(h);
}

struct http *http_free(struct http *h)
{
	struct http_req *req;

	if (!h)
		return NULL;
	while ((req = h->reqs)) {
		h->reqs = req->next;
		if (req->next)
			req->next->at = &h->reqs;
		req->at = NULL;
		if (!req->in_handler) {
			req_free(req);
			continue;
		}
		/* The rest is freed when its handler returns. */
		env_source_del(h->env, req->source);
		if (req->added)
			curl_multi_remove_handle(h->multi, req->easy);
		req->added = false;
		req->cancelled = true;
		req->http = NULL;
	}
	h->over = true;
	if (!h->busy)
		let_go(h);
	return NULL;
}

/* ---- reading an answer ---- */
const char *http_header(const struct http_resp *resp, const char *name, char *buf, size_t size)
{
	const char *p = resp->headers.p, *end = p ? p + resp->headers.n : p;
	size_t n_name = strlen(name);

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *last = nl ? nl : end;
		const char *v = p + n_name + 1;

		if ((size_t)(last - p) > n_name && p[n_name] == ':' &&
		    strncasecmp(p, name, n_name) == 0) {
			while (v < last && (*v == ' ' || *v == '\t'))
				v++;
			while (last > v && strchr(" \t\r", last[-1]))
				last--;
			if ((size_t)(last - v) >= size)
				return NULL;
			memcpy(buf, v, (size_t)(last - v));
			buf[last - v] = '\0';
			return buf;
		}
		p = nl ? nl + 1 : end;
	}
	return NULL;
}
