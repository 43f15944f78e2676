#include "mediad/decoder/fetcher.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ipc/http_guard.h"
#include "mediad/decoder/fence.h"
#include "mediad/decoder/jail.h"
#include "mediad/decoder/range_wire.h"
#include "mediad/music/decoder_wire.h"
#include "proto/base/time.h"
#include "proto/http/icy.h"

enum {
	REQUESTS_FD = 0,
	TITLES_FD = 1,
	NOTHING_FD = 2,
	FIRST_CLOSED = 3,
	WINDOW = 256 << 10,
	HEAD = 64 << 10,     /* bytes at the beginning that are kept */
	SKIP_MAX = 64 << 10, /* bytes that are read and dropped rather than requested again */
	REDIRECTS_MAX = 5,
	RETRIES_MAX = 5,
	CONNECT_S = 10,
	IDLE_S = 15,
	WAIT_MS = 1000,
};

struct fetcher {
	const struct fetcher_start *start;
	CURLM *multi;
	CURL *easy;
	bool running;
	struct curl_slist *headers, *aliases;
	struct http_guard_watch watch;
	char url[DECODER_PATH_MAX + 1];
	unsigned redirects, retries;

	/* The window: source bytes [offset, offset + n). */
	uint64_t offset;
	uint64_t from; /* where the present response was asked to begin */
	size_t n;
	uint8_t bytes[WINDOW];
	bool paused, ended;
	enum decoder_reason failure;
	/* Demuxers look at the end of a source and come back: no other request is needed then. */
	uint8_t head[HEAD];
	size_t n_head;

	/* The source. */
	bool known; /* a response has come */
	bool live;  /* a radio station */
	bool seekable;
	int64_t size;
	struct icy icy;
	char title[ICY_TITLE_MAX]; /* newest that was sent */

	bool asked;
	struct range_request ask;
	struct range_answer answer;
};

/* ---- curl's callbacks ---- */

static long read_status(const struct fetcher *f)
{
	long status = 0;

	curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

static bool is_sound(long status)
{
	return status == 200 || status == 206;
}

/* Sends a title once, even if the line breaks while it plays: no title has come then. With its NUL,
 * because an empty packet reads as the end of the fetcher. */
static void send_title(struct fetcher *f)
{
	if (!f->icy.titles || strcmp(f->title, f->icy.title) == 0)
		return;
	memcpy(f->title, f->icy.title, sizeof f->title);
	(void)!send(TITLES_FD, f->title, strlen(f->title) + 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Takes the source's size out of "bytes 0-99/1234". */
static void read_content_range(struct fetcher *f, const char *value)
{
	const char *slash = strchr(value, '/'), *first = value + strcspn(value, "0123456789*");
	int64_t size = RANGE_UNKNOWN;

	if (slash && slash[1] >= '0' && slash[1] <= '9')
		size = strtoll(slash + 1, NULL, 10);
	/* A server may answer with another range than the one that it was asked for, or have
	 * another source meanwhile. */
	if ((read_status(f) == 206 && strtoull(first, NULL, 10) != f->from) ||
	    (f->from && size != RANGE_UNKNOWN && f->size != RANGE_UNKNOWN && size != f->size)) {
		f->failure = DECODER_REASON_NOT_SEEKABLE;
		return;
	}
	f->seekable = true;
	if (size != RANGE_UNKNOWN)
		f->size = size;
}

static void read_header(struct fetcher *f, const char *name, const char *value)
{
	unsigned long interval;

	if (strncasecmp(name, "icy-", 4) == 0)
		f->live = true;
	if (strcasecmp(name, "icy-metaint") == 0) {
		interval = strtoul(value, NULL, 10);
		icy_init(&f->icy, interval <= WINDOW ? (uint32_t)interval : 0);
	} else if (strcasecmp(name, "content-range") == 0) {
		read_content_range(f, value);
	} else if (strcasecmp(name, "content-length") == 0 && f->size == RANGE_UNKNOWN &&
		   read_status(f) == 200) {
		f->size = strtoll(value, NULL, 10);
	}
}

static size_t on_header(char *line, size_t one, size_t n, void *arg)
{
	struct fetcher *f = arg;
	char copy[256], *colon, *end;

	n *= one;
	if (n >= sizeof copy || !is_sound(read_status(f)))
		return n;
	memcpy(copy, line, n);
	copy[n] = '\0';
	end = copy + strcspn(copy, "\r\n");
	*end = '\0';
	colon = strchr(copy, ':');
	if (colon) {
		*colon = '\0';
		read_header(f, copy, colon + 1 + strspn(colon + 1, " \t"));
	}
	return n;
}

static void keep_head(struct fetcher *f, uint64_t at, const char *data, size_t n)
{
	size_t room = HEAD - f->n_head;

	if (f->live || at != f->n_head)
		return;
	n = n < room ? n : room;
	memcpy(f->head + f->n_head, data, n);
	f->n_head += n;
}

static size_t on_bytes(char *data, size_t one, size_t n, void *arg)
{
	struct fetcher *f = arg;

	n *= one;
	if (!is_sound(read_status(f)))
		return n;
	if (f->failure)
		return 0;
	/* A server that does not know ranges begins again at the beginning. */
	if (!f->known && f->from && read_status(f) == 200 && !f->live) {
		f->failure = DECODER_REASON_NOT_SEEKABLE;
		return 0;
	}
	f->known = true;
	f->retries = 0;
	if (n > WINDOW - f->n) {
		f->paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	keep_head(f, f->offset + f->n, data, n);
	memcpy(f->bytes + f->n, data, n);
	f->n += icy_feed(&f->icy, f->bytes + f->n, n);
	send_title(f);
	return n;
}

/* ---- transfers ---- */

static int set_options(struct fetcher *f)
{
	CURL *e = f->easy;
	char range[32];

	snprintf(range, sizeof range, "%llu-", (unsigned long long)f->offset);
	return http_guard_set(&f->watch, e) || curl_easy_setopt(e, CURLOPT_URL, f->url) ||
	       curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, NULL) ||
	       curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) ||
	       curl_easy_setopt(e, CURLOPT_RANGE, f->live ? NULL : range) ||
	       curl_easy_setopt(e, CURLOPT_HTTPHEADER, f->headers) ||
	       curl_easy_setopt(e, CURLOPT_HTTP200ALIASES, f->aliases) ||
	       curl_easy_setopt(e, CURLOPT_USERAGENT, "Parley/" PARLEY_VERSION) ||
	       curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L) ||
	       curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S) ||
	       curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, 1L) ||
	       curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, (long)IDLE_S) ||
	       curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header) ||
	       curl_easy_setopt(e, CURLOPT_HEADERDATA, f) ||
	       curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_bytes) ||
	       curl_easy_setopt(e, CURLOPT_WRITEDATA, f);
}

static void stop_transfer(struct fetcher *f)
{
	if (f->running)
		curl_multi_remove_handle(f->multi, f->easy);
	f->running = false;
}

/* The headers of a page go to the host that it named them for, as no other host may learn what the
 * page is; and they do not leave encryption. */
static bool wants_headers(const struct fetcher *f)
{
	char home[256], host[256];
	const char *url = f->start->url;

	return http_guard_host(url, home, sizeof home) &&
	       http_guard_host(f->url, host, sizeof host) && strcasecmp(home, host) == 0 &&
	       (strncasecmp(url, "https:", 6) != 0 || strncasecmp(f->url, "https:", 6) == 0);
}

/* Appends to the list; false: no memory. */
static bool add_header(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);

	if (longer)
		*list = longer;
	return longer != NULL;
}

/* Of the next request. */
static bool set_headers(struct fetcher *f)
{
	char lines[DECODER_HEADERS_MAX + 1] = "", *rest = lines, *line;
	bool ok;

	curl_slist_free_all(f->headers);
	f->headers = NULL;
	ok = add_header(&f->headers, "Icy-MetaData: 1");
	if (wants_headers(f))
		snprintf(lines, sizeof lines, "%s", f->start->headers);
	while (ok && (line = strsep(&rest, "\n")))
		if (*line)
			ok = add_header(&f->headers, line);
	return ok;
}

/* Requests the source from an offset on. */
static void start_transfer(struct fetcher *f, uint64_t offset)
{
	char why[160];

	stop_transfer(f);
	f->offset = f->from = offset;
	f->n = 0;
	f->paused = f->ended = f->known = false;
	icy_init(&f->icy, 0);
	curl_easy_reset(f->easy);
	if (!http_guard_url(f->watch.guard, f->url, why, sizeof why))
		f->failure = DECODER_REASON_REFUSED_URL;
	else if (!set_headers(f) || set_options(f) || curl_multi_add_handle(f->multi, f->easy))
		f->failure = DECODER_REASON_LIMIT;
	f->running = !f->failure;
}

static void follow_redirect(struct fetcher *f)
{
	char *to = NULL, base[sizeof f->url];

	curl_easy_getinfo(f->easy, CURLINFO_REDIRECT_URL, &to);
	memcpy(base, f->url, sizeof base);
	if (!to || ++f->redirects > REDIRECTS_MAX)
		f->failure = DECODER_REASON_HTTP_ERROR;
	else if (!http_guard_join(base, to, f->url, sizeof f->url))
		f->failure = DECODER_REASON_REFUSED_URL;
	else
		start_transfer(f, f->offset);
}

/* Requests what follows the window. */
static void request_rest(struct fetcher *f)
{
	uint8_t rest[WINDOW];
	size_t n = f->n;
	uint64_t offset = f->offset;

	memcpy(rest, f->bytes, n);
	start_transfer(f, offset + n);
	f->offset = offset;
	memcpy(f->bytes, rest, n);
	f->n = n;
}

/* Connects again where the connection broke, after a pause that grows: a radio station goes on with
 * what it sends then. */
static void connect_again(struct fetcher *f)
{
	const struct timespec pause = {f->retries, 200 * (long)NS_PER_MS};

	if ((!f->live && !f->seekable) || f->retries++ >= RETRIES_MAX) {
		f->failure = DECODER_REASON_UNREACHABLE;
		return;
	}
	nanosleep(&pause, NULL);
	request_rest(f);
}

/* A server may send less than it was asked for (RFC 9110 section 15.3.7). */
static bool is_part(const struct fetcher *f, long status)
{
	return status == 206 && f->known && f->size != RANGE_UNKNOWN &&
	       f->offset + f->n < (uint64_t)f->size;
}

static void end_transfer(struct fetcher *f, CURLcode result)
{
	long status = read_status(f);

	stop_transfer(f);
	if (f->failure)
		return;
	if (f->watch.refused)
		f->failure = DECODER_REASON_REFUSED_URL;
	else if (result == CURLE_OK && status >= 300 && status < 400)
		follow_redirect(f);
	else if (status == 416)
		f->ended = true;
	else if (status >= 400)
		f->failure = DECODER_REASON_HTTP_ERROR;
	else if (result == CURLE_OK && !f->live && is_part(f, status))
		request_rest(f);
	else if (result == CURLE_OK && is_sound(status) && !f->live)
		f->ended = true;
	else
		connect_again(f);
}

static void run_transfer(struct fetcher *f)
{
	int left = 0, running = 0;
	CURLMsg *m;

	if (f->paused && f->n < WINDOW / 2) {
		f->paused = false;
		curl_easy_pause(f->easy, CURLPAUSE_CONT);
	}
	curl_multi_perform(f->multi, &running);
	while ((m = curl_multi_info_read(f->multi, &left)))
		if (m->msg == CURLMSG_DONE)
			end_transfer(f, m->data.result);
}

/* ---- requests ---- */

static void send_answer(struct fetcher *f, size_t length)
{
	struct range_answer *a = &f->answer;

	a->size = f->live ? RANGE_UNKNOWN : f->size;
	a->length = (uint32_t)length;
	a->reason = length ? 0 : (uint8_t)f->failure;
	a->seekable = f->seekable && !f->live;
	f->asked = false;
	if (send(REQUESTS_FD, a, offsetof(struct range_answer, data) + length, MSG_NOSIGNAL) < 0)
		_exit(EXIT_SUCCESS);
}

/* Drops what is before the asked offset from the window. */
static void move_window(struct fetcher *f)
{
	size_t drop;

	if (f->ask.offset <= f->offset)
		return;
	drop = f->ask.offset - f->offset < f->n ? (size_t)(f->ask.offset - f->offset) : f->n;
	memmove(f->bytes, f->bytes + drop, f->n - drop);
	f->offset += drop;
	f->n -= drop;
}

/* Answers from the beginning, and requests what follows it. Returns false if the window is to
 * answer or the beginning does not have it. */
static bool answer_from_head(struct fetcher *f)
{
	size_t n;

	if (f->failure || f->ask.offset >= f->n_head ||
	    (f->ask.offset >= f->offset && f->ask.offset <= f->offset + f->n))
		return false;
	n = f->n_head - (size_t)f->ask.offset;
	n = n < f->ask.length ? n : f->ask.length;
	memcpy(f->answer.data, f->head + f->ask.offset, n);
	if (f->offset > f->n_head && (int64_t)f->n_head != f->size)
		start_transfer(f, f->n_head);
	send_answer(f, n);
	return true;
}

/* Answers the request if that is possible now. */
static void try_answer(struct fetcher *f)
{
	size_t n;

	if (!f->ask.length) {
		if (f->known || f->ended || f->failure)
			send_answer(f, 0);
		return;
	}
	if (answer_from_head(f))
		return;
	if (!f->failure &&
	    (f->ask.offset < f->offset || f->ask.offset > f->offset + f->n + SKIP_MAX))
		start_transfer(f, f->ask.offset);
	move_window(f);
	if (f->n && f->ask.offset == f->offset) {
		n = f->n < f->ask.length ? f->n : f->ask.length;
		memcpy(f->answer.data, f->bytes, n);
		f->ask.offset += n;
		move_window(f);
		send_answer(f, n);
	} else if (f->ended || f->failure) {
		send_answer(f, 0);
	}
}

static void read_request(struct fetcher *f)
{
	ssize_t n = recv(REQUESTS_FD, &f->ask, sizeof f->ask, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != sizeof f->ask || f->ask.length > RANGE_MAX)
		_exit(EXIT_SUCCESS);
	f->asked = true;
}

static _Noreturn void serve_requests(struct fetcher *f)
{
	for (;;) {
		struct curl_waitfd wait = {.fd = REQUESTS_FD,
					   .events = f->asked ? 0 : CURL_WAIT_POLLIN};

		curl_multi_poll(f->multi, &wait, 1, WAIT_MS, NULL);
		if (!f->asked)
			read_request(f);
		if (f->running)
			run_transfer(f);
		while (f->asked) {
			try_answer(f);
			if (f->asked)
				break;
			read_request(f);
		}
	}
}

/* ---- the process ---- */

static int keep_descriptors(const struct fetcher_start *s)
{
	int requests = fcntl(s->requests, F_DUPFD, FIRST_CLOSED),
	    titles = fcntl(s->titles, F_DUPFD, FIRST_CLOSED), nothing = open("/dev/null", O_RDWR);

	if (requests < 0 || titles < 0 || nothing < 0 || dup2(nothing, NOTHING_FD) < 0 ||
	    dup2(requests, REQUESTS_FD) < 0 || dup2(titles, TITLES_FD) < 0)
		return errno;
	return close_range(FIRST_CLOSED, ~0u, 0) ? errno : 0;
}

static void run_fetcher(const void *start, pid_t parent)
{
	const struct fetcher_start *s = start;
	struct fetcher *f = calloc(1, sizeof *f);

	if (!f || munmap(s->rings, s->rings_size) || keep_descriptors(s) || fence_enter(parent))
		_exit(EXIT_FAILURE);
	f->start = s;
	f->size = RANGE_UNKNOWN;
	f->watch.guard = s->guard;
	f->multi = curl_multi_init();
	f->easy = curl_easy_init();
	f->aliases = curl_slist_append(NULL, "ICY 200 OK");
	if (!f->multi || !f->easy || !f->aliases || strlen(s->url) >= sizeof f->url)
		_exit(EXIT_FAILURE);
	strcpy(f->url, s->url);
	start_transfer(f, 0);
	serve_requests(f);
}

int fetcher_prepare(void)
{
	return curl_global_init(CURL_GLOBAL_DEFAULT) ? ENOMEM : 0;
}

int fetcher_fork(pid_t *out, const struct fetcher_start *start)
{
	return jail_fork(out, run_fetcher, start);
}
