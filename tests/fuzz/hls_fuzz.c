/* Playlists of streams in segments: the walk lists what was counted, all that it gives lies in the
 * text, and a fetcher's order of reading ends. The text is read as the first playlist, and its
 * second half as what a live one has become. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mediad/decoder/segments.h"
#include "proto/base/time.h"
#include "proto/http/hls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 4 * HLS_SEGMENTS_MAX };

static void check_inside(struct slice part, struct slice text)
{
	if (part.n && (part.p < text.p || part.p + part.n > text.p + text.n))
		abort();
}

static void walk(struct slice text)
{
	struct hls_segment s;
	struct slice uri;
	struct hls h;
	unsigned n = 0;
	uint64_t us = 0, sequence;

	if (hls_open(&h, text))
		return;
	if (h.master) {
		if (hls_choose(&h, &uri))
			check_inside(uri, text);
		return;
	}
	for (sequence = h.sequence; hls_next(&h, &s); n++) {
		check_inside(s.part.uri, text);
		check_inside(s.map.uri, text);
		if (s.sequence != sequence++ || s.part.from > INT64_MAX ||
		    s.part.length > INT64_MAX)
			abort();
		us += s.microseconds;
	}
	if (n != h.segments || us != h.us || !n)
		abort();
}

static bool take(struct segments *s, const uint8_t *data, size_t n, uint64_t now)
{
	static const char url[] = "https://a.example/live/list.m3u8?token=1";

	segments_drop_text(s);
	return segments_add_text(s, data, n) == 0 &&
	       segments_end_text(s, url, url, now) == DECODER_REASON_UNKNOWN;
}

/* Reads what a stream names until it has to wait or is over. */
static void read_on(struct segments *s, uint64_t now)
{
	struct segments_next next;
	unsigned n = 0;

	do {
		if (segments_next(s, now, &next))
			return;
		if (++n > STEPS || (next.what == SEGMENTS_SOUND && !*next.url) ||
		    (next.what == SEGMENTS_LATER && next.at <= now))
			abort();
	} while (next.what == SEGMENTS_SOUND);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct segments *s;
	size_t half = size / 2;

	walk((struct slice){data, size});
	if (segments_alloc(&s, size % 7 * 48000))
		abort();
	if (take(s, data, size, NS_PER_S)) {
		read_on(s, NS_PER_S);
		read_on(s, 100 * NS_PER_S);
		if (take(s, data + half, size - half, 100 * NS_PER_S))
			read_on(s, 100 * NS_PER_S);
	}
	segments_free(s);
	return 0;
}
