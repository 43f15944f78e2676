/* A brain's words through directives and chunks: any bytes, cut anywhere, come out the same;
 * nothing in closed double brackets is said; pieces are within their limit, trimmed and UTF-8, and
 * no word is lost. The first bytes are the settings. */
#include "control/room/answer/chunker.h"
#include "control/room/answer/directive.h"
#include "control/room/turn/eot.h"
#include "control/room/hearing/hallucination_filter.h"
#include "proto/base/fnv.h"
#include "proto/base/utf8.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What came out, as a sum and counts. */
struct out {
	uint64_t sum;
	size_t words, segment_bytes;
	unsigned sounds, notes, segments;
	unsigned max;
	char last; /* byte of the words before */
	struct room_chunker chunker;
};

static void add(struct out *o, uint8_t byte)
{
	o->sum = fnv_value(o->sum, byte);
}

static void take_segment(const char *text, size_t n, void *arg)
{
	struct out *o = arg;
	char copy[ROOM_CHUNK_MAX + 8];

	if (!n || n > o->max || strlen(text) != n || text[0] == ' ' || text[n - 1] == ' ')
		abort();
	memcpy(copy, text, n + 1);
	if (utf8_mend(copy) != n)
		abort();
	for (size_t i = 0; i < n; i++)
		add(o, (uint8_t)text[i]);
	add(o, '|');
	for (size_t i = 0; i < n; i++)
		o->segment_bytes += text[i] != ' ';
	o->segments++;
}

static void directive(enum room_directive_out what, const char *text, size_t n, void *arg)
{
	struct out *o = arg;

	if (what == ROOM_OUT_WORDS) {
		for (size_t i = 0; i < n; i++) {
			if (o->last == '[' && text[i] == '[')
				abort();
			o->last = text[i];
			o->words += isalnum((unsigned char)text[i]) != 0;
		}
		room_chunker_add(&o->chunker, text, n, take_segment, o);
		return;
	}
	if (!n || n > ROOM_NOTE_MAX)
		abort();
	o->sounds += what == ROOM_OUT_SOUND;
	o->notes += what == ROOM_OUT_NOTE;
	room_chunker_flush(&o->chunker, take_segment, o);
	for (size_t i = 0; i < n; i++)
		add(o, (uint8_t)text[i]);
}

static struct out run(const uint8_t *conf, const uint8_t *data, size_t size, size_t step)
{
	struct out o = {.sum = FNV_BEGIN};
	struct room_directive d = {0};

	room_chunker_init(&o.chunker, conf[0] % 7, conf[1], 80 + conf[2] * 3u);
	o.max = o.chunker.max;
	for (size_t i = 0; i < size; i += step)
		room_directive_add(&d, (const char *)data + i, size - i < step ? size - i : step,
				   directive, &o);
	room_directive_end(&d, directive, &o);
	room_chunker_flush(&o.chunker, take_segment, &o);
	if (strlen(d.name) > ROOM_TO_MAX || o.sounds > ROOM_SOUNDS_MAX || o.sounds != d.sounds)
		abort();
	if (room_directive_skips(&d) && o.sounds)
		abort();
	add(&o, (uint8_t)d.to);
	add(&o, (uint8_t)d.lease);
	return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct out whole, parts;
	char *text;

	if (size < 4)
		return 0;
	whole = run(data, data + 4, size - 4, size);
	parts = run(data, data + 4, size - 4, 1 + data[3] % 17);
	if (whole.sum != parts.sum || whole.segments != parts.segments ||
	    whole.notes != parts.notes)
		abort();
	if (whole.segment_bytes < whole.words) /* what a voice can say is never lost */
		abort();
	text = strndup((const char *)data, size);
	if (text && room_has_control_tokens(text) && !room_has_words(text))
		abort();
	/* What people said: nothing is said in circles that has no words, and nobody has finished
	 * who said nothing. */
	if (text && room_repetitions(text) > 1 && !room_has_words(text))
		abort();
	if (text && !room_has_words(text) && room_eot_words(text, NULL) != ROOM_EOT_OPEN)
		abort();
	free(text);
	return 0;
}
