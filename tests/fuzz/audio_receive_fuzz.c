/* One speaker's packets in any order, at any time, with any Opus in them. Whatever came, it comes
 * to rest when nothing more comes.
 *
 * Input: steps of one byte of choices and its operands; see step(). */
#include <stdlib.h>

#include "mediad/audio/receive.h"
#include "proto/base/cursor.h"
#include "proto/base/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct state {
	struct audio_speaker *s;
	uint64_t now;
	uint16_t seq;
	uint32_t ts;
};

static void event_h(const struct audio_event *ev, void *arg)
{
	(void)arg;
	if (ev->type == AUDIO_HEARD &&
	    (ev->samples == 0 || ev->samples > AUDIO_FRAME_MAX || !ev->pcm))
		abort();
}

static void step(struct state *st, struct rd *r)
{
	static const uint32_t rates[] = {8000, 12000, 16000, 24000, 48000, 44100};
	uint8_t b = (uint8_t)rd_be(r, 1), c = (uint8_t)rd_be(r, 1);
	struct audio_packet p = {.level = c};

	switch (b & 7) {
	case 0: { /* listen */
		struct audio_decoder *d = NULL;

		if (audio_decoder_alloc(&d, rates[(b >> 3) % 6]) == 0)
			(void)audio_speaker_listen(st->s, c & 15, rates[(b >> 3) % 6], 300, &d,
						   st->now);
		audio_decoder_free(d);
		return;
	}
	case 1:
		audio_decoder_free(audio_speaker_unlisten(st->s, c & 15, MEDIA_REASON_UNLISTENED));
		return;
	case 2:
		st->now += c * NS_PER_MS;
		audio_speaker_tick(st->s, st->now);
		return;
	case 3:
		audio_speaker_consent(st->s, c & 1);
		return;
	case 4: /* a jump */
		st->seq = (uint16_t)(st->seq + (c << (b >> 5)));
		st->ts += (uint32_t)c << (b >> 3);
		return;
	default:
		p.seq = st->seq++;
		p.ts = st->ts;
		st->ts += 960;
		p.n = c < rd_left(r) ? c : rd_left(r);
		p.p = c == 255 ? NULL : rd_bytes(r, p.n); /* NULL: padding only */
		if (!p.p)
			p.n = 0;
		st->now += (b >> 3) * NS_PER_MS;
		audio_speaker_put(st->s, &p, st->now);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct state st = {.now = 1000 * NS_PER_MS};
	struct rd r = rd_of(data, size < 8192 ? size : 8192);
	struct audio_stats stats;

	if (audio_speaker_alloc(&st.s, 1, event_h, NULL))
		abort();
	while (rd_left(&r))
		step(&st, &r);
	for (unsigned i = 0; i < 500 && audio_speaker_due(st.s) != UINT64_MAX; i++) {
		st.now += 20 * NS_PER_MS;
		audio_speaker_tick(st.s, st.now);
	}
	if (audio_speaker_due(st.s) != UINT64_MAX)
		abort();
	audio_speaker_stats(st.s, &stats);
	audio_speaker_end(st.s, MEDIA_REASON_LEFT);
	audio_speaker_free(st.s);
	return 0;
}
