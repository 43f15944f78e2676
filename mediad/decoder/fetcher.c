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
#include "ipc/jail/jail.h"
#include "mediad/decoder/range_wire.h"
#include "mediad/decoder/retry.h"
#include "mediad/decoder/segments.h"
#include "mediad/music/decoder_wire.h"
#include "mediad/music/signature.h"
#include "proto/base/rate_limit.h"
#include "proto/base/time.h"
#include "proto/http/hls.h"
#include "proto/http/icy.h"
#include "proto/http/validators.h"

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
	/* Requests at once, and then one each time: a server is not flooded, whoever asks. */
	BURST = 32,
	REQUEST_MS = 125,
	EMPTY_MAX = 3,	  /* segments in a row without sound */
	LIVE_IDLE_S = 5,  /* without a byte */
	SEGMENT_TAG = 10, /* bytes of the head of an ID3v2 tag */
	SEGMENT_TAG_MAX = 64 << 10,
};

/* What a transfer reads. */
enum reads { READS_SOURCE, READS_LIST, READS_SEGMENT };

struct fetcher {
	const struct fetcher_start *start;
	CURLM *multi;
	CURL *easy;
	bool running;
	struct curl_slist *headers, *aliases;
	struct http_guard_watch watch;
	char url[DECODER_PATH_MAX + 1];	  /* after redirects */
	char named[DECODER_PATH_MAX + 1]; /* before them */
	unsigned redirects, retries;
	struct rate_limit rate;
	enum reads reads;

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
	struct validators first, present; /* of the first response and this one */
	struct icy icy;
	char title[ICY_TITLE_MAX]; /* newest that was sent */

	/* A stream in segments. */
	struct segments *segments; /* NULL: it is none */
	struct segments_next part; /* the segment under way */
	uint64_t part_got;	   /* bytes of it */
	uint64_t drop;		   /* bytes that come before the next one that is wanted */
	unsigned empty;		   /* segments in a row without sound */

	struct retry retry; /* of a live source */
	uint64_t moved;	    /* ns: when bytes came last */
	uint64_t look_at;   /* when there may be more to read; 0: at once */

	bool asked;
	struct range_request ask;
	struct range_answer answer;
};

/* ---- curl's callbacks ---- */

static uint64_t read_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

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
	if (f->reads != READS_SOURCE)
		return;
	f->seekable = true;
	if (size != RANGE_UNKNOWN)
		f->size = size;
}

static void read_header(struct fetcher *f, const char *name, const char *value)
{
	unsigned long interval;

	if (strncasecmp(name, "icy-", 4) == 0 && f->reads == READS_SOURCE)
		f->live = true;
	validators_note(&f->present, name, value);
	if (strcasecmp(name, "icy-metaint") == 0) {
		interval = strtoul(value, NULL, 10);
		icy_init(&f->icy, interval <= WINDOW ? (uint32_t)interval : 0);
	} else if (strcasecmp(name, "content-range") == 0) {
		read_content_range(f, value);
	} else if (strcasecmp(name, "content-length") == 0 && f->size == RANGE_UNKNOWN &&
		   read_status(f) == 200 && f->reads == READS_SOURCE) {
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

static void keep_head(struct fetcher *f, uint64_t at, const void *data, size_t n)
{
	size_t room = HEAD - f->n_head;

	if (f->live || at != f->n_head)
		return;
	n = n < room ? n : room;
	memcpy(f->head + f->n_head, data, n);
	f->n_head += n;
}

/* Bytes of a playlist. */
static size_t add_text(struct fetcher *f, const char *data, size_t n)
{
	if (segments_add_text(f->segments, data, n)) {
		f->failure = DECODER_REASON_LIMIT;
		return 0;
	}
	return n;
}

/* Looks at the first bytes of a source: a playlist is read as such. */
static bool turns_to_list(struct fetcher *f, const char *data, size_t n)
{
	if (f->segments || f->from || f->known || !hls_begins((const uint8_t *)data, n))
		return false;
	if (segments_alloc(&f->segments, f->start->start))
		f->failure = DECODER_REASON_LIMIT;
	f->reads = READS_LIST;
	f->seekable = f->live = false;
	f->size = RANGE_UNKNOWN;
	return true;
}

/* A segment of sound alone begins with a tag that tells its time, which is no sound. */
static void find_segment_tag(struct fetcher *f, const uint8_t *data, size_t n)
{
	size_t tag = n >= SEGMENT_TAG ? signature_tag(data, n) : 0;

	if (!f->part_got && !f->drop && tag <= SEGMENT_TAG_MAX)
		f->drop = tag;
}

/* Takes bytes of a segment into the window. */
static size_t add_segment(struct fetcher *f, const char *data, size_t n)
{
	size_t skip;

	/* Of a server that begins again at the beginning, what has come is dropped. */
	if (!f->known && read_status(f) == 200 && (f->from || f->part.length)) {
		if (f->part.length) {
			f->failure = DECODER_REASON_NOT_SEEKABLE;
			return 0;
		}
		f->drop += f->part_got;
		f->part_got = 0;
	} else if (!f->known) {
		find_segment_tag(f, (const uint8_t *)data, n);
	}
	f->known = true;
	f->retries = f->empty = 0;
	retry_end(&f->retry);
	if (n > WINDOW - f->n) {
		f->paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	skip = f->drop < n ? (size_t)f->drop : n;
	f->drop -= skip;
	keep_head(f, f->offset + f->n, data + skip, n - skip);
	memcpy(f->bytes + f->n, data + skip, n - skip);
	f->n += n - skip;
	f->part_got += n;
	return n;
}

static size_t add_sound(struct fetcher *f, const char *data, size_t n)
{
	/* A server that does not know ranges begins again at the beginning. */
	if (!f->known && f->from && !f->live &&
	    (read_status(f) == 200 || validators_differ(&f->first, &f->present))) {
		f->failure = DECODER_REASON_NOT_SEEKABLE;
		return 0;
	}
	if (!f->known && !validators_exist(&f->first))
		f->first = f->present;
	f->known = true;
	f->retries = 0;
	retry_end(&f->retry);
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

static size_t on_bytes(char *data, size_t one, size_t n, void *arg)
{
	struct fetcher *f = arg;

	n *= one;
	f->moved = read_clock();
	if (!is_sound(read_status(f)))
		return n;
	if (f->failure || (f->reads == READS_SOURCE && turns_to_list(f, data, n) && f->failure))
		return 0;
	return f->reads == READS_LIST	   ? add_text(f, data, n)
	       : f->reads == READS_SEGMENT ? add_segment(f, data, n)
					   : add_sound(f, data, n);
}

/* ---- transfers ---- */

/* Bytes that are asked for; "": all of them. */
static void write_range(const struct fetcher *f, char *to, size_t size)
{
	unsigned long long from = f->from, last = f->part.from + f->part.length - 1;

	if (f->reads == READS_SEGMENT && f->part.length)
		snprintf(to, size, "%llu-%llu", from, last);
	else if (f->live || (f->reads != READS_SOURCE && !from))
		*to = '\0';
	else
		snprintf(to, size, "%llu-", from);
}

static int set_options(struct fetcher *f)
{
	CURL *e = f->easy;
	char range[48];

	write_range(f, range, sizeof range);
	return http_guard_set(&f->watch, e) || curl_easy_setopt(e, CURLOPT_URL, f->url) ||
	       curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, NULL) ||
	       curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) ||
	       curl_easy_setopt(e, CURLOPT_RANGE, *range ? range : NULL) ||
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

/* The headers of a page go to the host that it named them for, and to those that the playlist of
 * the stream names for its segments; no host learns by a redirect what the page is. They do not
 * leave encryption. */
static bool wants_headers(const struct fetcher *f)
{
	char home[256], host[256];

	return http_guard_host(f->named, home, sizeof home) &&
	       http_guard_host(f->url, host, sizeof host) && strcasecmp(home, host) == 0 &&
	       (strncasecmp(f->start->url, "https:", 6) != 0 ||
		strncasecmp(f->url, "https:", 6) == 0);
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

static void wait_for_turn(struct fetcher *f)
{
	const struct timespec pause = {0, REQUEST_MS * (long)NS_PER_MS};

	while (!rate_limit_take(&f->rate, BURST, REQUEST_MS * NS_PER_MS, read_clock()))
		nanosleep(&pause, NULL);
}

/* Requests the address from byte `from` on; what is in the window stays. */
static void request(struct fetcher *f)
{
	char why[160];

	stop_transfer(f);
	wait_for_turn(f);
	f->paused = f->ended = f->known = f->watch.refused = false;
	f->moved = read_clock();
	f->present = (struct validators){0};
	icy_init(&f->icy, 0);
	curl_easy_reset(f->easy);
	if (!http_guard_url(f->watch.guard, f->url, why, sizeof why))
		f->failure = DECODER_REASON_REFUSED_URL;
	else if (!set_headers(f) || set_options(f) || curl_multi_add_handle(f->multi, f->easy))
		f->failure = DECODER_REASON_LIMIT;
	f->running = !f->failure;
}

/* Requests the source from an offset on. */
static void start_transfer(struct fetcher *f, uint64_t offset)
{
	f->offset = f->from = offset;
	f->n = 0;
	request(f);
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
		request(f);
}

/* Requests what follows the window. */
static void request_rest(struct fetcher *f)
{
	f->from = f->offset + f->n;
	request(f);
}

/* Takes back what came of a playlist, or goes on behind what came of a segment. */
static void request_part(struct fetcher *f)
{
	if (f->reads == READS_LIST)
		segments_drop_text(f->segments);
	else
		f->from = f->part.from + f->part_got;
	request(f);
}

/* A station, or a stream in segments that grows, of which some was read. */
static bool is_live(const struct fetcher *f)
{
	return (f->live || (f->segments && !segments_length(f->segments))) && f->offset + f->n;
}

/* The parent takes a decoder without sound for one that hangs. */
static void send_alive(void)
{
	(void)!send(TITLES_FD, FETCHER_ALIVE, FETCHER_ALIVE_SIZE, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Tries a live source again after a while, from the address that was named. */
static void try_later(struct fetcher *f)
{
	send_alive();
	if (!retry_later(&f->retry, read_clock()))
		f->failure = DECODER_REASON_UNREACHABLE;
}

static void try_again(struct fetcher *f)
{
	if (!f->retry.since)
		return;
	send_alive();
	if (!retry_due(&f->retry, read_clock()))
		return;
	f->redirects = 0;
	memcpy(f->url, f->named, sizeof f->url);
	if (f->segments)
		request_part(f);
	else
		request_rest(f);
}

/* Connects again where the connection broke, after a pause that grows: a radio station goes on with
 * what it sends then. */
static void connect_again(struct fetcher *f)
{
	const struct timespec pause = {f->retries, 200 * (long)NS_PER_MS};

	if (is_live(f)) {
		try_later(f);
		return;
	}
	if ((!f->live && !f->seekable && !f->segments) || f->retries++ >= RETRIES_MAX) {
		f->failure = DECODER_REASON_UNREACHABLE;
		return;
	}
	nanosleep(&pause, NULL);
	if (f->segments)
		request_part(f);
	else
		request_rest(f);
}

/* A server may send less than it was asked for (RFC 9110 section 15.3.7). */
static bool is_part(const struct fetcher *f, long status)
{
	return status == 206 && f->known && f->size != RANGE_UNKNOWN &&
	       f->offset + f->n < (uint64_t)f->size;
}

static void end_source(struct fetcher *f, CURLcode result, long status)
{
	if (status == 416)
		f->ended = true;
	else if (status >= 400 && !is_live(f))
		f->failure = DECODER_REASON_HTTP_ERROR;
	else if (result == CURLE_OK && !f->live && is_part(f, status))
		request_rest(f);
	else if (result == CURLE_OK && is_sound(status) && !f->live)
		f->ended = true;
	else
		connect_again(f);
}

static void end_list(struct fetcher *f, CURLcode result, long status)
{
	if (status >= 400 && !is_live(f))
		f->failure = DECODER_REASON_HTTP_ERROR;
	else if (result != CURLE_OK || !is_sound(status))
		connect_again(f);
	else
		f->failure = segments_end_text(f->segments, f->named, f->url, read_clock());
}

/* A segment that is not there, as one that has left a live stream, is left out; not many in a row,
 * or a playlist could make us ask for thousands. */
static void end_segment(struct fetcher *f, CURLcode result, long status)
{
	bool part = f->part.length && f->part_got < f->part.length;

	if (status < 400 && (result != CURLE_OK || !is_sound(status) || (part && f->part_got)))
		connect_again(f);
	else if ((status >= 400 || !f->part_got) && ++f->empty > EMPTY_MAX)
		f->failure = DECODER_REASON_HTTP_ERROR;
}

static void end_transfer(struct fetcher *f, CURLcode result)
{
	long status = read_status(f);

	stop_transfer(f);
	if (f->failure)
		return;
	/* Another address of the host may have answered. */
	if (f->watch.refused && result != CURLE_OK)
		f->failure = DECODER_REASON_REFUSED_URL;
	else if (result == CURLE_OK && status >= 300 && status < 400)
		follow_redirect(f);
	else if (f->reads == READS_SOURCE)
		end_source(f, result, status);
	else if (f->reads == READS_LIST)
		end_list(f, result, status);
	else
		end_segment(f, result, status);
}

/* Reads on in a stream of segments once there is room. */
static void read_segments(struct fetcher *f)
{
	const uint64_t now = read_clock();

	if (!f->segments || f->running || f->retry.at || f->failure || f->ended ||
	    f->n > WINDOW / 2 || now < f->look_at)
		return;
	f->failure = segments_next(f->segments, now, &f->part);
	f->look_at = f->part.what == SEGMENTS_LATER ? f->part.at : 0;
	f->ended = f->part.what == SEGMENTS_OVER;
	if (f->failure || f->look_at || f->ended)
		return;
	f->reads = f->part.what == SEGMENTS_LIST ? READS_LIST : READS_SEGMENT;
	f->from = f->part.from;
	f->part_got = f->drop = 0;
	f->redirects = f->retries = 0;
	memcpy(f->url, f->part.url, sizeof f->url);
	memcpy(f->named, f->part.url, sizeof f->named);
	request(f);
}

/* curl's own clock would need longer than the decoder has. */
static void leave_silent_station(struct fetcher *f)
{
	if (!f->running || !f->known || f->paused || !is_live(f) ||
	    read_clock() - f->moved <= LIVE_IDLE_S * NS_PER_S)
		return;
	stop_transfer(f);
	try_later(f);
}

static void run_transfer(struct fetcher *f)
{
	int left = 0, running = 0;
	CURLMsg *m;

	if (f->paused && f->n < WINDOW / 2) {
		f->paused = false;
		f->moved = read_clock();
		curl_easy_pause(f->easy, CURLPAUSE_CONT);
	}
	curl_multi_perform(f->multi, &running);
	while ((m = curl_multi_info_read(f->multi, &left)))
		if (m->msg == CURLMSG_DONE)
			end_transfer(f, m->data.result);
	leave_silent_station(f);
}

/* ---- requests ---- */

static void send_answer(struct fetcher *f, size_t length)
{
	struct range_answer *a = &f->answer;

	a->size = f->live ? RANGE_UNKNOWN : f->size;
	a->begin = f->segments ? (int64_t)segments_begin(f->segments) : RANGE_UNKNOWN;
	a->lasts = f->segments ? (int64_t)segments_length(f->segments) : 0;
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
	if (!f->segments && f->offset > f->n_head && (int64_t)f->n_head != f->size)
		start_transfer(f, f->n_head);
	send_answer(f, n);
	return true;
}

/* An honest decoder does not seek where it was told that it cannot. */
static void seek_source(struct fetcher *f)
{
	if (f->segments)
		f->failure = DECODER_REASON_NOT_SEEKABLE;
	else
		start_transfer(f, f->ask.offset);
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
		seek_source(f);
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

/* Milliseconds until there may be more to read. */
static int count_wait(const struct fetcher *f)
{
	uint64_t at = f->retry.at ? f->retry.at : f->look_at, now = at ? read_clock() : 0;

	if (!at || at >= now + WAIT_MS * NS_PER_MS)
		return WAIT_MS;
	return at > now ? (int)((at - now) / NS_PER_MS) + 1 : 0;
}

static _Noreturn void serve_requests(struct fetcher *f)
{
	for (;;) {
		struct curl_waitfd wait = {.fd = REQUESTS_FD,
					   .events = f->asked ? 0 : CURL_WAIT_POLLIN};

		try_again(f);
		read_segments(f);
		curl_multi_poll(f->multi, &wait, 1, count_wait(f), NULL);
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
	strcpy(f->named, s->url);
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
