#include "mediad/audio/receive.h"

#include <errno.h>
#include <stdlib.h>

#include "mediad/audio/decode.h"
#include "mediad/audio/jitter_buffer.h"
#include "proto/rtp.h"
#include "proto/base/time.h"
#include "proto/base/touch.h"

enum { SILENCE_MIN_MS = 100, SILENCE_MAX_MS = 5000, RATES = 5 };

/* The stream at one rate: a decoder and its read position. */
struct track {
	struct audio_decoder *dec; /* NULL: not in use */
	uint64_t cursor;	   /* the next number to decode */
	int64_t credit;		   /* RTP time that may still be decoded */
	uint64_t credit_at;	   /* when credit was computed; 0: never */
};

struct listen {
	bool used;
	uint32_t id;
	uint16_t silence_ms;
	struct track *track;
	uint64_t begun; /* packets below this number arrived before the listen: pre-roll */

	bool open; /* a capture is open */
	uint32_t capture;
	uint32_t seq;
	uint64_t last_voice; /* arrival of the capture's last voice packet */
};

struct audio_speaker {
	audio_event_h *h;
	void *arg;
	bool consent;

	bool speaking;
	uint64_t last_voice;
	struct {
		bool known;
		uint16_t seq;
		uint32_t ts;
		uint64_t at;
		double estimate; /* RTP time */
	} jitter;

	uint64_t now;	    /* time of the running step */
	int64_t *step_left; /* RTP time that it may still decode; borrowed; NULL: no limit */
	uint32_t next_capture;
	struct track tracks[RATES];
	struct listen listens[AUDIO_LISTENS];
	struct audio_stats stats;
	uint64_t concealed; /* RTP time */
	struct jitter_buffer jitter_buffer;
};

/* ---- alloc and free ---- */

int audio_speaker_alloc(struct audio_speaker **out, uint32_t first_capture, audio_event_h *h,
			void *arg)
{
	struct audio_speaker *s = calloc(1, sizeof *s);

	if (!s)
		return ENOMEM;
	touch_pages(s, sizeof *s);
	s->h = h;
	s->arg = arg;
	s->consent = true;
	s->next_capture = first_capture;
	*out = s;
	return 0;
}

struct audio_speaker *audio_speaker_free(struct audio_speaker *s)
{
	if (!s)
		return NULL;
	for (int i = 0; i < RATES; i++)
		audio_decoder_free(s->tracks[i].dec);
	free(s);
	return NULL;
}

void audio_speaker_limit_step(struct audio_speaker *s, int64_t *left)
{
	s->step_left = left;
}

void audio_speaker_stats(const struct audio_speaker *s, struct audio_stats *out)
{
	*out = s->stats;
	out->lost = s->jitter_buffer.lost;
	out->concealed_ms = s->concealed * 1000 / RTP_CLOCK;
	out->jitter_us = (uint32_t)(s->jitter.estimate * 1e6 / RTP_CLOCK);
}

/* ---- captures ---- */

static void end_capture(struct audio_speaker *s, struct listen *l, enum media_reason reason)
{
	struct audio_event ev = {.type = AUDIO_HEARD_END,
				 .listen = l->id,
				 .capture = l->capture,
				 .reason = reason,
				 .at = l->last_voice};

	if (!l->open)
		return;
	l->open = false;
	s->h(&ev, s->arg);
}

/* An utterance has the same capture number in every listen, so a listen that begins later joins the
 * open capture. */
static void open_capture(struct audio_speaker *s, struct listen *l)
{
	uint32_t id = 0;
	bool join = false;

	for (int i = 0; i < AUDIO_LISTENS; i++) {
		const struct listen *o = &s->listens[i];

		if (o->used && o->open && (int32_t)(o->capture - l->capture) > 0) {
			id = o->capture;
			join = true;
		}
	}
	l->capture = join ? id : s->next_capture++;
	l->open = true;
	l->seq = 0;
}

/* Closes captures for which enough silence passed between the last voice packet and `at`, the
 * arrival of a packet or the present. (A reordered packet may have arrived before the one decoded
 * before it.) */
static void close_silent_captures(struct audio_speaker *s, struct track *t, uint64_t at)
{
	for (int i = 0; i < AUDIO_LISTENS; i++) {
		struct listen *l = &s->listens[i];

		if (l->used && l->open && l->track == t &&
		    at >= l->last_voice + l->silence_ms * NS_PER_MS)
			end_capture(s, l, MEDIA_REASON_SILENCE);
	}
}

static bool has_open_capture(const struct audio_speaker *s, const struct track *t)
{
	for (int i = 0; i < AUDIO_LISTENS; i++)
		if (s->listens[i].used && s->listens[i].open && s->listens[i].track == t)
			return true;
	return false;
}

static void extend_captures(struct audio_speaker *s, struct track *t,
			    const struct jitter_buffer_entry *e)
{
	for (int i = 0; i < AUDIO_LISTENS; i++) {
		struct listen *l = &s->listens[i];

		if (!l->used || l->track != t)
			continue;
		if (!l->open) {
			open_capture(s, l);
			l->last_voice = e->at;
		} else if (e->at > l->last_voice) {
			l->last_voice = e->at;
		}
	}
}

/* ---- decoding ---- */

struct sink {
	struct audio_speaker *s;
	const struct track *t;
	const struct jitter_buffer_entry *e;
	uint32_t time; /* delivered so far, RTP time */
};

static void deliver_frame(const int16_t *pcm, size_t n, uint32_t rtp, bool concealed, void *arg)
{
	struct sink *k = arg;
	struct audio_speaker *s = k->s;

	k->time += (uint32_t)n * (RTP_CLOCK / audio_decoder_rate(k->t->dec));
	for (int i = 0; i < AUDIO_LISTENS; i++) {
		struct listen *l = &s->listens[i];
		struct audio_event ev = {.type = AUDIO_HEARD,
					 .listen = l->id,
					 .capture = l->capture,
					 .seq = l->seq,
					 .rtp = rtp,
					 .at = k->e->at,
					 .level = concealed ? RTP_LEVEL_NONE : k->e->level,
					 .pcm = pcm,
					 .samples = n};

		if (!l->used || !l->open || l->track != k->t)
			continue;
		ev.flags = (uint8_t)((concealed ? MEDIA_HEARD_CONCEALED : 0) |
				     (k->e->index < l->begun ? MEDIA_HEARD_PREROLL : 0) |
				     (l->seq == 0 ? MEDIA_HEARD_FIRST : 0));
		l->seq++;
		s->h(&ev, s->arg);
	}
}

/* Concealed time and undecodable packets are counted by the first track only, not once per rate. */
static bool counts_statistics(const struct audio_speaker *s, const struct track *t)
{
	for (const struct track *o = s->tracks; o < t; o++)
		if (o->dec)
			return false;
	return true;
}

/* Older packets have no entry in the jitter buffer any more. */
static uint64_t first_kept_index(const struct jitter_buffer *o, const struct track *t)
{
	return o->next > t->cursor + JITTER_BUFFER_ENTRIES ? o->next - JITTER_BUFFER_ENTRIES
							   : t->cursor;
}

/* Returns the next packet to be decoded, or NULL when the remaining numbers below jb->next were
 * lost or empty. */
static const struct jitter_buffer_entry *find_unread_entry(const struct jitter_buffer *o,
							   const struct track *t)
{
	for (uint64_t i = first_kept_index(o, t); i < o->next; i++) {
		const struct jitter_buffer_entry *e = jitter_buffer_get(o, i);

		if (e && !e->empty)
			return e;
	}
	return NULL;
}

/* Returns how many numbers between the track's last packet and this one were lost. */
static unsigned count_lost_before(const struct jitter_buffer *o, const struct track *t,
				  uint64_t index)
{
	unsigned n = (unsigned)(index - t->cursor);

	for (uint64_t i = first_kept_index(o, t); i < index; i++)
		if (jitter_buffer_get(o, i))
			n--; /* an empty packet is no loss */
	return n;
}

/* True if the track has credit left to decode; the credit bounds the CPU time that one speaker can
 * cost. */
static bool may_decode(const struct audio_speaker *s, struct track *t)
{
	const int64_t most = AUDIO_BURST_MS * (RTP_CLOCK / 1000);
	uint64_t passed = s->now - t->credit_at;

	if (!t->credit_at || passed > AUDIO_BURST_MS * NS_PER_MS) {
		t->credit = most;
	} else {
		t->credit +=
			(int64_t)(passed * AUDIO_CATCHUP_RATE * (RTP_CLOCK / 1000) / NS_PER_MS);
		t->credit = t->credit > most ? most : t->credit;
	}
	t->credit_at = s->now;
	return t->credit > 0;
}

/* Subtracts a packet, with what was concealed before it, from what the step may decode. */
static void charge_step(const struct audio_speaker *s, uint32_t time)
{
	const uint32_t least = AUDIO_PACKET_MIN_MS * (RTP_CLOCK / 1000);

	if (s->step_left)
		*s->step_left -= time > least ? time : least;
}

static bool step_goes_on(const struct audio_speaker *s)
{
	return !s->step_left || *s->step_left > 0;
}

static void decode_entry(struct audio_speaker *s, struct track *t,
			 const struct jitter_buffer_entry *e)
{
	struct sink k = {.s = s, .t = t, .e = e};
	const uint8_t *p = jitter_buffer_bytes(&s->jitter_buffer, e);
	unsigned missing = count_lost_before(&s->jitter_buffer, t, e->index);

	close_silent_captures(s, t, e->at);
	if (!may_decode(s, t)) {
		s->stats.excess += counts_statistics(s, t);
		t->cursor = e->index + 1;
		charge_step(s, 0);
		return;
	}
	if (missing && has_open_capture(s, t)) {
		uint32_t time =
			audio_decoder_conceal(t->dec, missing, e->ts, p, e->n, deliver_frame, &k);

		if (counts_statistics(s, t))
			s->concealed += time;
	}
	if (e->voice)
		extend_captures(s, t, e);
	if (has_open_capture(s, t) &&
	    audio_decoder_packet(t->dec, e->ts, p, e->n, deliver_frame, &k) && e->n &&
	    counts_statistics(s, t))
		s->stats.undecodable++;
	t->credit -= k.time;
	t->cursor = e->index + 1;
	charge_step(s, k.time);
}

/* Decodes up to `most` released packets, and no more than the step may. */
static void decode_track(struct audio_speaker *s, struct track *t, unsigned most)
{
	const struct jitter_buffer_entry *e;

	if (t->cursor < s->jitter_buffer.start) {
		t->cursor = s->jitter_buffer.start;
		audio_decoder_reset(t->dec);
	}
	for (; most && step_goes_on(s) && (e = find_unread_entry(&s->jitter_buffer, t)); most--)
		decode_entry(s, t, e);
	while (t->cursor < s->jitter_buffer.next &&
	       (e = jitter_buffer_get(&s->jitter_buffer, t->cursor)) && e->empty)
		t->cursor++;
}

static void decode_tracks(struct audio_speaker *s, unsigned most)
{
	for (int i = 0; i < RATES; i++)
		if (s->tracks[i].dec)
			decode_track(s, &s->tracks[i], most);
}

/* ---- packets ---- */

/* Measures interarrival jitter (RFC 3550 6.4.1, A.8), reordered packets included, but not across a
 * jump of the numbers. */
static void measure_jitter(struct audio_speaker *s, const struct audio_packet *pkt, uint64_t now)
{
	int distance = (int16_t)(uint16_t)(pkt->seq - s->jitter.seq);

	if (s->jitter.known && distance && distance <= AUDIO_REORDER_PACKETS &&
	    distance >= -AUDIO_REORDER_PACKETS) {
		double arrival = (double)(now - s->jitter.at) * RTP_CLOCK / 1e9;
		double d = arrival - (double)(int32_t)(pkt->ts - s->jitter.ts);

		if (d < 0)
			d = -d;
		if (d <
		    RTP_CLOCK) /* a pause that the sender's RTP clock did not count is no jitter */
			s->jitter.estimate += (d - s->jitter.estimate) / 16;
	}
	s->jitter.known = true;
	s->jitter.seq = pkt->seq;
	s->jitter.ts = pkt->ts;
	s->jitter.at = now;
}

/* Returns how long a packet waits for earlier ones. */
static uint64_t reorder_wait(const struct audio_speaker *s)
{
	double ms = AUDIO_REORDER_JITTERS * s->jitter.estimate * 1000 / RTP_CLOCK;

	if (ms < AUDIO_REORDER_MIN_MS)
		return AUDIO_REORDER_MIN_MS * NS_PER_MS;
	return ms > AUDIO_REORDER_MAX_MS ? AUDIO_REORDER_MAX_MS * NS_PER_MS : (uint64_t)(ms * 1e6);
}

static void note_voice(struct audio_speaker *s, uint64_t now)
{
	struct audio_event ev = {.type = AUDIO_SPEAKING, .on = true, .at = now};

	s->last_voice = now;
	if (s->speaking)
		return;
	s->speaking = true;
	s->h(&ev, s->arg);
}

/* Counts what a track has not read, and passes over it. */
static void skip_unread(struct audio_speaker *s, struct track *t)
{
	const struct jitter_buffer_entry *e;

	while ((e = find_unread_entry(&s->jitter_buffer, t))) {
		s->stats.excess += counts_statistics(s, t);
		t->cursor = e->index + 1;
	}
}

/* Reads the packets that are there, and begins anew with the next one. */
static void restart_numbers(struct audio_speaker *s)
{
	jitter_buffer_flush(&s->jitter_buffer);
	decode_tracks(s, AUDIO_CATCHUP_PACKETS);
	for (int i = 0; i < RATES; i++)
		if (s->tracks[i].dec)
			skip_unread(s, &s->tracks[i]);
	jitter_buffer_restart(&s->jitter_buffer);
}

static void store_packet(struct audio_speaker *s, const struct audio_packet *pkt, bool voice,
			 uint64_t now)
{
	switch (jitter_buffer_classify(&s->jitter_buffer, pkt->seq)) {
	case JITTER_BUFFER_LATE:
		s->stats.late++;
		return;
	case JITTER_BUFFER_DUPLICATE:
		s->stats.duplicate++;
		return;
	case JITTER_BUFFER_RESTART:
		s->stats.resyncs++;
		restart_numbers(s);
		break;
	case JITTER_BUFFER_OK:
		break;
	}
	jitter_buffer_put(&s->jitter_buffer, pkt, voice, now);
	jitter_buffer_release(&s->jitter_buffer, now, reorder_wait(s));
	decode_tracks(s, AUDIO_CATCHUP_PACKETS);
}

void audio_speaker_put(struct audio_speaker *s, const struct audio_packet *pkt, uint64_t now)
{
	struct audio_packet kept = *pkt;
	/* One or two bytes are a DTX packet (RFC 6716 2.1.9). */
	bool voice = pkt->n > 2 && !opus_is_silence(pkt->p, pkt->n);

	s->now = now;
	s->stats.packets++;
	measure_jitter(s, pkt, now);
	if (voice)
		note_voice(s, now);
	if (!s->consent)
		return;
	if (kept.p && (kept.n == 0 || kept.n > AUDIO_OPUS_MAX)) {
		s->stats.undecodable++;
		kept.n = 0;
		voice = false;
	}
	store_packet(s, &kept, voice, now);
}

void audio_speaker_restart(struct audio_speaker *s, uint64_t now)
{
	s->now = now;
	restart_numbers(s);
	s->jitter.known = false;
}

/* ---- time ---- */

static void stop_speaking(struct audio_speaker *s)
{
	struct audio_event ev = {.type = AUDIO_SPEAKING, .on = false, .at = s->last_voice};

	if (!s->speaking)
		return;
	s->speaking = false;
	s->h(&ev, s->arg);
}

void audio_speaker_stalled(struct audio_speaker *s, uint64_t now)
{
	if (s->speaking)
		s->last_voice = now;
	for (int i = 0; i < AUDIO_LISTENS; i++)
		if (s->listens[i].used && s->listens[i].open)
			s->listens[i].last_voice = now;
}

void audio_speaker_tick(struct audio_speaker *s, uint64_t now)
{
	s->now = now;
	jitter_buffer_release(&s->jitter_buffer, now, reorder_wait(s));
	decode_tracks(s, AUDIO_CATCHUP_PACKETS);
	if (s->speaking && now - s->last_voice >= AUDIO_SPEAKING_OFF_MS * NS_PER_MS)
		stop_speaking(s);
	if (jitter_buffer_waiting(&s->jitter_buffer))
		return; /* waiting packets may belong to the open captures */
	for (int i = 0; i < RATES; i++)
		if (s->tracks[i].dec && !find_unread_entry(&s->jitter_buffer, &s->tracks[i]))
			close_silent_captures(s, &s->tracks[i], now);
}

uint64_t audio_speaker_due(const struct audio_speaker *s)
{
	uint64_t due = UINT64_MAX;

	if (jitter_buffer_waiting(&s->jitter_buffer))
		return 0;
	for (int i = 0; i < RATES; i++)
		if (s->tracks[i].dec && find_unread_entry(&s->jitter_buffer, &s->tracks[i]))
			return 0;
	if (s->speaking)
		due = s->last_voice + AUDIO_SPEAKING_OFF_MS * NS_PER_MS;
	for (int i = 0; i < AUDIO_LISTENS; i++) {
		const struct listen *l = &s->listens[i];
		uint64_t end = l->last_voice + l->silence_ms * NS_PER_MS;

		if (l->used && l->open && end < due)
			due = end;
	}
	return due;
}

/* ---- listens ---- */

static struct listen *find_listen(struct audio_speaker *s, uint32_t id)
{
	for (int i = 0; i < AUDIO_LISTENS; i++)
		if (s->listens[i].used && s->listens[i].id == id)
			return &s->listens[i];
	return NULL;
}

static struct listen *find_free_listen(struct audio_speaker *s)
{
	for (int i = 0; i < AUDIO_LISTENS; i++)
		if (!s->listens[i].used)
			return &s->listens[i];
	return NULL;
}

/* Returns the track of a rate, or an unused one (there are as many tracks as rates). */
static struct track *find_track(struct audio_speaker *s, uint32_t rate)
{
	struct track *unused = NULL;

	for (int i = 0; i < RATES; i++) {
		struct track *t = &s->tracks[i];

		if (!t->dec)
			unused = t;
		else if (audio_decoder_rate(t->dec) == rate)
			return t;
	}
	return unused;
}

/* Returns where a new listen begins to decode: at the start of the utterance in progress, as far
 * back as packets are kept. */
static uint64_t find_preroll_start(const struct audio_speaker *s, uint16_t silence_ms, uint64_t now)
{
	const struct jitter_buffer *o = &s->jitter_buffer;
	uint64_t from = o->next, after = now;

	for (uint64_t i = o->next; i-- > o->start && o->next - i < JITTER_BUFFER_AHEAD;) {
		const struct jitter_buffer_entry *e = jitter_buffer_get(o, i);

		if (!e || !e->voice)
			continue;
		if (now - e->at > AUDIO_PREROLL_MS * NS_PER_MS ||
		    after >= e->at + silence_ms * NS_PER_MS)
			break;
		from = i;
		after = e->at;
	}
	return from;
}

int audio_speaker_listen(struct audio_speaker *s, uint32_t id, uint32_t rate, uint16_t silence_ms,
			 struct audio_decoder **lent, uint64_t now)
{
	struct listen *l = find_free_listen(s);
	struct track *t;

	if (!audio_rate_valid(rate) || silence_ms < SILENCE_MIN_MS || silence_ms > SILENCE_MAX_MS)
		return EINVAL;
	if (find_listen(s, id))
		return EEXIST;
	if (!l)
		return ENOSPC;
	t = find_track(s, rate);
	if (!t->dec) {
		if (!*lent || audio_decoder_rate(*lent) != rate)
			return EINVAL;
		t->dec = *lent;
		*lent = NULL;
		t->cursor = find_preroll_start(s, silence_ms, now);
	}
	*l = (struct listen){.used = true,
			     .id = id,
			     .silence_ms = silence_ms,
			     .track = t,
			     .begun = s->jitter_buffer.next,
			     .capture = s->next_capture - 1};
	for (int i = 0; i < AUDIO_LISTENS; i++)
		if (s->listens[i].used && s->listens[i].open &&
		    (int32_t)(s->listens[i].capture - l->capture) <= 0)
			l->capture = s->listens[i].capture - 1;
	return 0;
}

struct audio_decoder *audio_speaker_unlisten(struct audio_speaker *s, uint32_t id,
					     enum media_reason reason)
{
	struct listen *l = find_listen(s, id);
	struct audio_decoder *dec;
	struct track *t;

	if (!l)
		return NULL;
	end_capture(s, l, reason);
	t = l->track;
	*l = (struct listen){0};
	for (int i = 0; i < AUDIO_LISTENS; i++)
		if (s->listens[i].used && s->listens[i].track == t)
			return NULL;
	dec = t->dec;
	t->dec = NULL;
	return dec;
}

/* Ends open captures and deletes all buffered packets. */
static void forget_sound(struct audio_speaker *s, enum media_reason reason)
{
	for (int i = 0; i < AUDIO_LISTENS; i++)
		if (s->listens[i].used)
			end_capture(s, &s->listens[i], reason);
	jitter_buffer_restart(&s->jitter_buffer);
	memset(s->jitter_buffer.bytes, 0, sizeof s->jitter_buffer.bytes);
}

void audio_speaker_consent(struct audio_speaker *s, bool yes)
{
	if (s->consent && !yes)
		forget_sound(s, MEDIA_REASON_NO_CONSENT);
	s->consent = yes;
}

void audio_speaker_end(struct audio_speaker *s, enum media_reason reason)
{
	forget_sound(s, reason);
	stop_speaking(s);
	s->jitter.known = false;
}
