/* What comes back to a fetcher: the headers of a response, and its bytes, which go to the window or
 * to the playlist that they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "mediad/decoder/fetcher_inside.h"
#include "mediad/music/signature.h"
#include "proto/base/time.h"
#include "proto/http/hls.h"

enum {
	SEGMENT_TAG = 10, /* bytes of the head of an ID3v2 tag */
	SEGMENT_TAG_MAX = 64 << 10,
};

uint64_t fetcher_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

long fetcher_status(const struct fetcher *f)
{
	long status = 0;

	curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

bool fetcher_is_sound(long status)
{
	return status == 200 || status == 206;
}

/* With its NUL, because an empty packet reads as the end of the fetcher. */
static void send_title(const char *title)
{
	(void)!send(TITLES_FD, title, strlen(title) + 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Keeps a title once, even if the line breaks while it plays: no title has come then. Of too many
 * the newest counts. */
static void keep_title(struct fetcher *f, uint64_t at)
{
	if (!f->icy.titles || strcmp(f->title, f->icy.title) == 0)
		return;
	memcpy(f->title, f->icy.title, sizeof f->title);
	if (f->n_titles == TITLES_KEPT)
		f->n_titles--;
	f->titles[f->n_titles].at = at;
	memcpy(f->titles[f->n_titles++].text, f->title, sizeof f->title);
}

void fetcher_send_titles(struct fetcher *f)
{
	while (f->n_titles && f->ask.offset >= f->titles[0].at) {
		send_title(f->titles[0].text);
		memmove(f->titles, f->titles + 1, --f->n_titles * sizeof f->titles[0]);
	}
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
	if ((fetcher_status(f) == 206 && strtoull(first, NULL, 10) != f->from) ||
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

/* That of a response with the whole source. */
static void read_length(struct fetcher *f, const char *value)
{
	int64_t size = strtoll(value, NULL, 10);

	if (f->from && f->size != RANGE_UNKNOWN && size != f->size)
		f->failure = DECODER_REASON_NOT_SEEKABLE;
	if (f->size == RANGE_UNKNOWN)
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
	} else if (strcasecmp(name, "content-length") == 0 && fetcher_status(f) == 200 &&
		   f->reads == READS_SOURCE) {
		read_length(f, value);
	}
}

size_t fetcher_on_header(char *line, size_t one, size_t n, void *arg)
{
	struct fetcher *f = arg;
	char copy[256], *colon, *end;

	n *= one;
	if (n >= sizeof copy || !fetcher_is_sound(fetcher_status(f)))
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

static void keep_in(uint8_t *kept, size_t *n_kept, size_t size, const char *data, size_t n)
{
	size_t room = size - *n_kept;

	n = n < room ? n : room;
	memcpy(kept + *n_kept, data, n);
	*n_kept += n;
}

/* Keeps the beginning, and what follows the place of the last seek. */
static void keep_bytes(struct fetcher *f, uint64_t at, const char *data, size_t n)
{
	if (f->live)
		return;
	if (at == f->n_head)
		keep_in(f->head, &f->n_head, HEAD, data, n);
	if (f->tail_at && at == f->tail_at + f->n_tail)
		keep_in(f->tail, &f->n_tail, TAIL, data, n);
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
	if (!f->known && fetcher_status(f) == 200 && (f->from || f->part.length)) {
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
	f->retries = 0;
	retry_end(&f->retry);
	if (n > WINDOW - f->n) {
		f->paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	skip = f->drop < n ? (size_t)f->drop : n;
	f->drop -= skip;
	keep_bytes(f, f->offset + f->n, data + skip, n - skip);
	memcpy(f->bytes + f->n, data + skip, n - skip);
	f->n += n - skip;
	f->part_got += n;
	return n;
}

/* The response goes on with the same source. A server that does not know ranges begins again at the
 * beginning: what is before the wanted place is dropped then, once, and never of a server that has
 * sent parts. */
static bool goes_on_here(struct fetcher *f)
{
	if (validators_differ(&f->first, &f->present))
		return false;
	if (fetcher_status(f) != 200)
		return true;
	if (f->seekable || f->again)
		return false;
	f->again = true;
	f->drop = f->from;
	return true;
}

static size_t add_sound(struct fetcher *f, const char *data, size_t n)
{
	uint64_t at;
	size_t skip;

	if (!f->known && f->from && !f->live && !goes_on_here(f)) {
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
	skip = f->drop < n ? (size_t)f->drop : n;
	f->drop -= skip;
	keep_bytes(f, f->offset + f->n, data + skip, n - skip);
	memcpy(f->bytes + f->n, data + skip, n - skip);
	at = f->offset + f->n;
	f->n += icy_feed(&f->icy, f->bytes + f->n, n - skip);
	keep_title(f, at + f->icy.title_at);
	return n;
}

size_t fetcher_on_bytes(char *data, size_t one, size_t n, void *arg)
{
	struct fetcher *f = arg;

	n *= one;
	f->moved = fetcher_clock();
	if (!fetcher_is_sound(fetcher_status(f)))
		return n;
	if (f->failure || (f->reads == READS_SOURCE && turns_to_list(f, data, n) && f->failure))
		return 0;
	return f->reads == READS_LIST	   ? add_text(f, data, n)
	       : f->reads == READS_SEGMENT ? add_segment(f, data, n)
					   : add_sound(f, data, n);
}
