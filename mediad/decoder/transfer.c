/* The requests of a fetcher: one transfer after the other, their redirects, and what follows when
 * one ends, breaks or is refused. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "mediad/decoder/fetcher_inside.h"
#include "proto/base/time.h"

enum {
	REDIRECTS_MAX = 5,
	RETRIES_MAX = 5,
	CONNECT_S = 10,
	IDLE_S = 15,
	/* Requests at once, and then one each time: a server is not flooded, whoever asks. */
	BURST = 32,
	REQUEST_MS = 125,
	/* Sound is taken as fast as it plays, and a segment lasts seconds: a playlist of short ones
	 * must not make us ask more often. Requests at once, and then one each time. */
	PARTS_BURST = 32,
	PART_MS = 300,
	EMPTY_MAX = 3,	   /* segments in a row without sound */
	SOUND_LEAST = 188, /* bytes: with fewer, a segment has none */
	SILENT_S = 5,	   /* without a byte */
};

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
	       curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, fetcher_on_header) ||
	       curl_easy_setopt(e, CURLOPT_HEADERDATA, f) ||
	       curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, fetcher_on_bytes) ||
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

	while (!rate_limit_take(&f->rate, BURST, REQUEST_MS * NS_PER_MS, fetcher_clock()))
		nanosleep(&pause, NULL);
}

/* Requests the address from byte `from` on; what is in the window stays. */
static void request(struct fetcher *f)
{
	char why[160];

	stop_transfer(f);
	wait_for_turn(f);
	f->paused = f->ended = f->known = f->watch.refused = false;
	f->moved = fetcher_clock();
	f->present = (struct validators){0};
	icy_init(&f->icy, 0);
	curl_easy_reset(f->easy);
	if (!http_guard_url(f->watch.guard, f->url, why, sizeof why))
		f->failure = DECODER_REASON_REFUSED_URL;
	else if (!set_headers(f) || set_options(f) || curl_multi_add_handle(f->multi, f->easy))
		f->failure = DECODER_REASON_LIMIT;
	f->running = !f->failure;
}

void fetcher_start_transfer(struct fetcher *f, uint64_t offset)
{
	f->offset = f->from = offset;
	f->n = 0;
	f->drop = 0;
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

/* A source of which some was read, and that goes on where it broke. */
static bool goes_on(const struct fetcher *f)
{
	return (f->live || f->segments || f->seekable) && f->offset + f->n;
}

/* The server is overloaded or being restarted: the same request may be answered later. */
static bool is_passing(long status)
{
	return status >= 500 || status == 408 || status == 429;
}

/* The parent takes a decoder without sound for one that hangs. */
static void send_alive(struct fetcher *f)
{
	const uint64_t now = fetcher_clock();

	if (f->alive_at && now - f->alive_at < NS_PER_S)
		return;
	f->alive_at = now;
	(void)!send(TITLES_FD, FETCHER_ALIVE, FETCHER_ALIVE_SIZE, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Tries a source again after a while, from the address that was named. */
static void try_later(struct fetcher *f)
{
	send_alive(f);
	if (!retry_later(&f->retry, fetcher_clock()))
		f->failure = DECODER_REASON_UNREACHABLE;
}

void fetcher_try_again(struct fetcher *f)
{
	if (!f->retry.since || f->failure)
		return;
	send_alive(f);
	if (!retry_due(&f->retry, fetcher_clock()))
		return;
	f->redirects = 0;
	memcpy(f->url, f->named, sizeof f->url);
	if (!f->segments)
		request_rest(f);
	else if (f->part.what != SEGMENTS_LATER)
		request_part(f);
}

/* Connects again where the connection broke, after a pause that grows: a radio station goes on with
 * what it sends then. What has not been read yet is not waited for as long. */
static void connect_again(struct fetcher *f)
{
	const struct timespec pause = {f->retries, 200 * (long)NS_PER_MS};

	if (goes_on(f)) {
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

static enum decoder_reason refusal_of(long status)
{
	return is_passing(status) ? DECODER_REASON_OVERLOADED : DECODER_REASON_HTTP_ERROR;
}

static void end_source(struct fetcher *f, CURLcode result, long status)
{
	if (status == 416)
		f->ended = true;
	else if (status >= 400 && !is_live(f) && !(goes_on(f) && is_passing(status)))
		f->failure = refusal_of(status);
	else if (result == CURLE_OK && !f->live && is_part(f, status))
		request_rest(f);
	else if (result == CURLE_OK && fetcher_is_sound(status) && !f->live)
		f->ended = true;
	else
		connect_again(f);
}

static void end_list(struct fetcher *f, CURLcode result, long status)
{
	if (status >= 400 && !is_live(f))
		f->failure = refusal_of(status);
	else if (result != CURLE_OK || !fetcher_is_sound(status))
		connect_again(f);
	else
		f->failure = segments_end_text(f->segments, f->named, f->url, fetcher_clock());
}

/* A segment that is not there, as one that has left a live stream, is left out; not many in a row,
 * or a playlist could make us ask for thousands. A live stream goes on later, with those that its
 * playlist names then. */
static void leave_segment(struct fetcher *f)
{
	if (++f->empty <= EMPTY_MAX)
		return;
	f->part.what = SEGMENTS_LATER;
	if (is_live(f))
		try_later(f);
	else
		f->failure = DECODER_REASON_HTTP_ERROR;
}

static void end_segment(struct fetcher *f, CURLcode result, long status)
{
	bool part = f->part.length && f->part_got < f->part.length,
	     passing = is_passing(status) && goes_on(f) && !is_live(f),
	     broken = result != CURLE_OK || !fetcher_is_sound(status) || (part && f->part_got);

	if (status < 400 ? broken : passing)
		connect_again(f);
	else if (status >= 400 || f->part_got < SOUND_LEAST)
		leave_segment(f);
	else
		f->empty = 0;
}

static void end_transfer(struct fetcher *f, CURLcode result)
{
	long status = fetcher_status(f);

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

bool fetcher_wants_segments(const struct fetcher *f)
{
	return f->segments && !f->running && !f->retry.at && !f->failure && !f->ended &&
	       f->n <= WINDOW / 2;
}

void fetcher_read_segments(struct fetcher *f)
{
	const uint64_t now = fetcher_clock();

	if (!fetcher_wants_segments(f) || now < f->look_at)
		return;
	if (!rate_limit_take(&f->parts, PARTS_BURST, PART_MS * NS_PER_MS, now)) {
		f->look_at = now + PART_MS * NS_PER_MS;
		return;
	}
	f->failure = segments_next(f->segments, now, &f->part);
	f->look_at = f->part.what == SEGMENTS_LATER ? f->part.at : 0;
	if (f->look_at && is_live(f) && !retry_idle(&f->retry, now))
		f->failure = DECODER_REASON_UNREACHABLE;
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
static void leave_silent_line(struct fetcher *f)
{
	if (!f->running || !f->known || f->paused || !goes_on(f) ||
	    fetcher_clock() - f->moved <= SILENT_S * NS_PER_S)
		return;
	stop_transfer(f);
	try_later(f);
}

void fetcher_run_transfer(struct fetcher *f)
{
	int left = 0, running = 0;
	CURLMsg *m;

	if (f->paused && f->n < WINDOW / 2) {
		f->paused = false;
		f->moved = fetcher_clock();
		curl_easy_pause(f->easy, CURLPAUSE_CONT);
	}
	curl_multi_perform(f->multi, &running);
	while ((m = curl_multi_info_read(f->multi, &left)))
		if (m->msg == CURLMSG_DONE)
			end_transfer(f, m->data.result);
	leave_silent_line(f);
}
