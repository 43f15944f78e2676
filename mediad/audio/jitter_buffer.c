#include "mediad/audio/jitter_buffer.h"

static struct jitter_buffer_entry *entry_at(struct jitter_buffer *jb, uint64_t index)
{
	return &jb->entries[index % JITTER_BUFFER_ENTRIES];
}

const struct jitter_buffer_entry *jitter_buffer_get(const struct jitter_buffer *jb, uint64_t index)
{
	const struct jitter_buffer_entry *e = &jb->entries[index % JITTER_BUFFER_ENTRIES];

	if (!e->used || e->index != index || index < jb->start)
		return NULL;
	return jb->head - e->pos <= AUDIO_PREROLL_BYTES ? e : NULL;
}

const uint8_t *jitter_buffer_bytes(const struct jitter_buffer *jb,
				   const struct jitter_buffer_entry *e)
{
	return jb->bytes + e->pos % AUDIO_PREROLL_BYTES;
}

static int sequence_distance(const struct jitter_buffer *jb, uint16_t seq)
{
	return (int16_t)(uint16_t)(seq - (uint16_t)jb->next);
}

enum jitter_buffer_verdict jitter_buffer_classify(struct jitter_buffer *jb, uint16_t seq)
{
	unsigned rises;
	int d;

	if (!jb->started)
		return JITTER_BUFFER_OK;
	d = sequence_distance(jb, seq);
	if (d > AUDIO_RESTART_AHEAD)
		return JITTER_BUFFER_RESTART;
	if (d >= 0) {
		jb->late_run = 0;
		return jitter_buffer_get(jb, jb->next + (uint64_t)d) ? JITTER_BUFFER_DUPLICATE
								     : JITTER_BUFFER_OK;
	}
	if (jitter_buffer_get(jb, jb->next - (uint64_t)-d))
		return JITTER_BUFFER_DUPLICATE;
	rises = (uint16_t)(seq - jb->late_seq);
	if (!rises || rises > AUDIO_REORDER_PACKETS)
		jb->late_run = 0;
	jb->late_run++;
	jb->late_seq = seq;
	return jb->late_run < AUDIO_LATE_RUN ? JITTER_BUFFER_LATE : JITTER_BUFFER_RESTART;
}

/* Starts a run of numbers above every number seen, with the low 16 bits of seq. */
static void begin_run(struct jitter_buffer *jb, uint16_t seq)
{
	jb->started = true;
	jb->start = jb->next = jb->highest = ((jb->highest >> 16) + 2) << 16 | seq;
	jb->late_run = 0;
}

static void store_packet(struct jitter_buffer *jb, uint64_t index, const struct audio_packet *pkt,
			 bool voice, uint64_t now)
{
	size_t at = (size_t)(jb->head % AUDIO_PREROLL_BYTES);
	struct jitter_buffer_entry *e = entry_at(jb, index);

	/* The bytes of a packet are contiguous: one that does not fit before the ring's end starts
	 * at its beginning. */
	if (pkt->n > AUDIO_PREROLL_BYTES - at)
		jb->head += AUDIO_PREROLL_BYTES - at;
	*e = (struct jitter_buffer_entry){.used = true,
					  .index = index,
					  .pos = jb->head,
					  .ts = pkt->ts,
					  .at = now,
					  .level = pkt->level,
					  .voice = voice,
					  .empty = !pkt->p,
					  .n = (uint16_t)pkt->n};
	if (pkt->p && pkt->n)
		memcpy(jb->bytes + jb->head % AUDIO_PREROLL_BYTES, pkt->p, pkt->n);
	jb->head += pkt->n;
}

void jitter_buffer_put(struct jitter_buffer *jb, const struct audio_packet *pkt, bool voice,
		       uint64_t now)
{
	uint64_t index;

	if (!jb->started)
		begin_run(jb, pkt->seq);
	index = jb->next + (uint64_t)sequence_distance(jb, pkt->seq);
	if (index >= jb->next + JITTER_BUFFER_AHEAD) {
		jitter_buffer_flush(jb);
		jb->lost += index - jb->next;
		jb->next = index;
	}
	store_packet(jb, index, pkt, voice, now);
	if (index > jb->highest)
		jb->highest = index;
}

static bool has_gap(const struct jitter_buffer *jb)
{
	return jb->started && jb->highest >= jb->next;
}

bool jitter_buffer_waiting(const struct jitter_buffer *jb)
{
	return has_gap(jb);
}

/* The packets behind the gap. There are some while there is a gap, unless their bytes were
 * overwritten. */
struct waiting {
	unsigned n;
	uint64_t first; /* the lowest number, or the one after the highest seen */
	uint64_t since; /* the earliest arrival: then the missing ones were overtaken */
};

static struct waiting find_waiting(const struct jitter_buffer *jb)
{
	struct waiting w = {.first = jb->highest + 1};

	for (uint64_t i = jb->next; i <= jb->highest; i++) {
		const struct jitter_buffer_entry *e = jitter_buffer_get(jb, i);

		if (!e)
			continue;
		if (!w.n)
			w.first = i;
		if (!w.n++ || e->at < w.since)
			w.since = e->at;
	}
	return w;
}

void jitter_buffer_release(struct jitter_buffer *jb, uint64_t now, uint64_t max_wait)
{
	while (has_gap(jb)) {
		struct waiting w = find_waiting(jb);

		if (w.first > jb->next && w.n && w.n < AUDIO_REORDER_PACKETS &&
		    now - w.since < max_wait)
			return;
		jb->lost += w.first - jb->next;
		jb->next = w.first;
		while (jb->next <= jb->highest && jitter_buffer_get(jb, jb->next))
			jb->next++;
	}
}

void jitter_buffer_flush(struct jitter_buffer *jb)
{
	for (; has_gap(jb); jb->next++)
		if (!jitter_buffer_get(jb, jb->next))
			jb->lost++;
}

void jitter_buffer_restart(struct jitter_buffer *jb)
{
	jb->started = false;
	jb->start = jb->highest + 1;
	jb->next = jb->start;
	memset(jb->entries, 0, sizeof jb->entries);
}
