#include "mediad/decoder/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/http_guard.h"
#include "mediad/music/track_ring.h"
#include "proto/base/time.h"
#include "proto/http/hls.h"

enum {
	LIVE_TARGETS = 3, /* RFC 8216 section 6.3.3 */
	/* Decoders need sound before the first frame that is wanted. */
	PRE_ROLL_FRAMES = 3 * TRACK_RING_RATE / 10,
	TEXT_STEP = 16384,
	RELOAD_MIN_S = 1,
};

struct place {
	char url[DECODER_PATH_MAX + 1];
	uint64_t from, length;
};

struct segments {
	uint64_t start; /* the frame that is wanted */
	char *text;	/* of the playlist */
	size_t n, cap;
	struct hls list;
	bool placed; /* a media playlist has been read */
	bool master; /* so has a master playlist */
	bool wants_list;
	char named[DECODER_PATH_MAX + 1]; /* address of the playlist… */
	char base[DECODER_PATH_MAX + 1];  /* …and what its references are relative to */
	uint64_t next;			  /* sequence number of the next segment */
	uint64_t begin, length;		  /* frames */
	uint64_t reload_at;
	struct hls_segment ahead;
	bool has_ahead;
	struct place map; /* that was read last */
};

int segments_alloc(struct segments **out, uint64_t start)
{
	struct segments *s = calloc(1, sizeof *s);

	if (!s)
		return ENOMEM;
	s->start = start;
	*out = s;
	return 0;
}

struct segments *segments_free(struct segments *s)
{
	if (s)
		free(s->text);
	free(s);
	return NULL;
}

static uint64_t frames_of(uint64_t us)
{
	return us * (TRACK_RING_RATE / 1000) / US_PER_MS;
}

/* ---- playlists ---- */

int segments_add_text(struct segments *s, const void *data, size_t n)
{
	size_t need = s->n + n, cap = need + TEXT_STEP;
	char *longer;

	if (need > HLS_TEXT_MAX)
		return EMSGSIZE;
	if (need > s->cap) {
		longer = realloc(s->text, cap);
		if (!longer)
			return ENOMEM;
		s->text = longer;
		s->cap = cap;
	}
	if (n)
		memcpy(s->text + s->n, data, n);
	s->n = need;
	return 0;
}

void segments_drop_text(struct segments *s)
{
	s->n = 0;
}

/* Joins a reference of the playlist. False: it is no address, or too long. */
static bool join(const struct segments *s, struct slice uri, char to[DECODER_PATH_MAX + 1])
{
	char copy[DECODER_PATH_MAX + 1];

	if (!uri.n || uri.n >= sizeof copy)
		return false;
	memcpy(copy, uri.p, uri.n);
	copy[uri.n] = '\0';
	return http_guard_join(s->base, copy, to, DECODER_PATH_MAX + 1);
}

/* Goes to the variant of a master playlist. */
static enum decoder_reason take_master(struct segments *s)
{
	char url[DECODER_PATH_MAX + 1];
	struct slice uri;

	if (s->master || s->placed || !hls_choose(&s->list, &uri))
		return DECODER_REASON_DAMAGED;
	if (!join(s, uri, url))
		return DECODER_REASON_REFUSED_URL;
	memcpy(s->named, url, sizeof url);
	s->master = s->wants_list = true;
	s->n = 0;
	return DECODER_REASON_UNKNOWN;
}

static void read_ahead(struct segments *s)
{
	s->has_ahead = hls_next(&s->list, &s->ahead);
}

/* Begins at the segment that holds the place, or at the end of a live stream: this far from it. */
static void find_place(struct segments *s)
{
	uint64_t wanted = s->start > PRE_ROLL_FRAMES ? s->start - PRE_ROLL_FRAMES : 0,
		 total = s->list.us, us = 0, from_end = LIVE_TARGETS * s->list.target_us;

	for (read_ahead(s); s->has_ahead; read_ahead(s)) {
		uint64_t after = us + s->ahead.microseconds;

		if (s->list.ended ? frames_of(after) > wanted : total - us <= from_end)
			break;
		us = after;
	}
	s->begin = s->list.ended ? frames_of(us) : s->start;
	s->length = s->list.ended ? frames_of(total) : 0;
	s->placed = true;
}

/* Goes on behind the segment that was read last. A stream whose numbers begin again is another one:
 * it is read from its first segment on. */
static void find_next(struct segments *s)
{
	const uint64_t end = s->list.sequence + s->list.segments;

	if (s->next > end + s->list.segments)
		s->next = s->list.sequence;
	for (read_ahead(s); s->has_ahead && s->ahead.sequence < s->next; read_ahead(s))
		;
}

enum decoder_reason segments_end_text(struct segments *s, const char *named, const char *url,
				      uint64_t now)
{
	const struct slice text = {(const uint8_t *)s->text, s->n};
	int err = hls_open(&s->list, text);

	if (err)
		return err == ENOTSUP	 ? DECODER_REASON_ENCRYPTED
		       : err == EMSGSIZE ? DECODER_REASON_LIMIT
					 : DECODER_REASON_UNKNOWN_FORMAT;
	memmove(s->named, named, strlen(named) + 1);
	memmove(s->base, url, strlen(url) + 1);
	s->wants_list = false;
	if (s->list.master)
		return take_master(s);
	if (s->placed)
		find_next(s);
	else
		find_place(s);
	/* One that has not grown is read again sooner (RFC 8216 section 6.3.4). */
	s->reload_at = now + (s->has_ahead ? s->list.target_us : s->list.target_us / 2) * NS_PER_US;
	if (s->reload_at < now + RELOAD_MIN_S * NS_PER_S)
		s->reload_at = now + RELOAD_MIN_S * NS_PER_S;
	return DECODER_REASON_UNKNOWN;
}

/* ---- what comes next ---- */

static void name_list(struct segments *s, struct segments_next *out)
{
	out->what = SEGMENTS_LIST;
	memcpy(out->url, s->named, sizeof out->url);
	s->wants_list = true;
	s->n = 0;
}

static bool resolve(const struct segments *s, const struct hls_part *part, struct place *out)
{
	out->from = part->from;
	out->length = part->length;
	return join(s, part->uri, out->url);
}

static void name_place(const struct place *p, struct segments_next *out)
{
	out->what = SEGMENTS_SOUND;
	out->from = p->from;
	out->length = p->length;
	memcpy(out->url, p->url, sizeof out->url);
}

/* Names what comes before the segments from here on, unless it was read already. */
static bool name_map(struct segments *s, const struct place *map, struct segments_next *out)
{
	if (!s->ahead.map.uri.n || (s->map.from == map->from && s->map.length == map->length &&
				    strcmp(s->map.url, map->url) == 0))
		return false;
	s->map = *map;
	name_place(map, out);
	return true;
}

enum decoder_reason segments_next(struct segments *s, uint64_t now, struct segments_next *out)
{
	struct place map = {0}, sound;

	*out = (struct segments_next){.what = SEGMENTS_OVER};
	while (!s->wants_list && s->has_ahead && s->ahead.gap)
		read_ahead(s);
	if (s->wants_list) {
		name_list(s, out);
	} else if (!s->has_ahead) {
		if (s->list.ended)
			return DECODER_REASON_UNKNOWN;
		if (now >= s->reload_at) {
			name_list(s, out);
		} else {
			out->what = SEGMENTS_LATER;
			out->at = s->reload_at;
		}
	} else if ((s->ahead.map.uri.n && !resolve(s, &s->ahead.map, &map)) ||
		   !resolve(s, &s->ahead.part, &sound)) {
		return DECODER_REASON_REFUSED_URL;
	} else if (!name_map(s, &map, out)) {
		name_place(&sound, out);
		s->next = s->ahead.sequence + 1;
		read_ahead(s);
	}
	return DECODER_REASON_UNKNOWN;
}

uint64_t segments_begin(const struct segments *s)
{
	return s->begin;
}

uint64_t segments_length(const struct segments *s)
{
	return s->length;
}
