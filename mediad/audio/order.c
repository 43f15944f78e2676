#include "mediad/audio/order.h"

static struct order_entry *slot(struct order *o, uint64_t index)
{
	return &o->entries[index % ORDER_ENTRIES];
}

const struct order_entry *order_get(const struct order *o, uint64_t index)
{
	const struct order_entry *e = &o->entries[index % ORDER_ENTRIES];

	if (!e->used || e->index != index || index < o->start)
		return NULL;
	return o->head - e->pos <= AUDIO_PREROLL_BYTES ? e : NULL;
}

const uint8_t *order_bytes(const struct order *o, const struct order_entry *e)
{
	return o->bytes + e->pos % AUDIO_PREROLL_BYTES;
}

static int distance(const struct order *o, uint16_t seq)
{
	return (int16_t)(uint16_t)(seq - (uint16_t)o->next);
}

enum order_verdict order_look(struct order *o, uint16_t seq)
{
	int d;

	if (!o->started)
		return ORDER_OK;
	d = distance(o, seq);
	if (d > AUDIO_JUMP || d < -AUDIO_BACK)
		return ORDER_RESTART;
	if (d >= 0) {
		o->late_run = 0;
		return order_get(o, o->next + (uint64_t)d) ? ORDER_DUPLICATE : ORDER_OK;
	}
	if (order_get(o, o->next - (uint64_t)-d))
		return ORDER_DUPLICATE;
	o->late_run = o->late_run && seq == o->late_seq ? o->late_run + 1 : 1;
	o->late_seq = (uint16_t)(seq + 1);
	return o->late_run < AUDIO_LATE_RUN ? ORDER_LATE : ORDER_RESTART;
}

/* Above everything seen, with the low 16 bits of seq. */
static void begin(struct order *o, uint16_t seq)
{
	o->started = true;
	o->start = o->next = o->highest = ((o->highest >> 16) + 2) << 16 | seq;
	o->late_run = 0;
}

static void store(struct order *o, uint64_t index, const struct audio_packet *pkt, bool voice,
		  uint64_t now)
{
	size_t at = (size_t)(o->head % AUDIO_PREROLL_BYTES);
	struct order_entry *e = slot(o, index);

	/* A packet's bytes are in one piece: what is too long for the ring's end begins at its
	 * start. */
	if (pkt->n > AUDIO_PREROLL_BYTES - at)
		o->head += AUDIO_PREROLL_BYTES - at;
	*e = (struct order_entry){.used = true,
				  .index = index,
				  .pos = o->head,
				  .ts = pkt->ts,
				  .at = now,
				  .level = pkt->level,
				  .voice = voice,
				  .empty = !pkt->p,
				  .n = (uint16_t)pkt->n};
	if (pkt->p && pkt->n)
		memcpy(o->bytes + o->head % AUDIO_PREROLL_BYTES, pkt->p, pkt->n);
	o->head += pkt->n;
}

void order_put(struct order *o, const struct audio_packet *pkt, bool voice, uint64_t now)
{
	uint64_t index;

	if (!o->started)
		begin(o, pkt->seq);
	index = o->next + (uint64_t)distance(o, pkt->seq);
	if (index >= o->next + ORDER_AHEAD) {
		order_flush(o);
		o->lost += index - o->next;
		o->next = index;
	}
	store(o, index, pkt, voice, now);
	if (index > o->highest)
		o->highest = index;
}

static bool gap(const struct order *o)
{
	return o->started && o->highest >= o->next;
}

bool order_holding(const struct order *o)
{
	return gap(o);
}

/* The first held packet; there is one while there is a gap, unless its bytes are gone. */
static uint64_t first_held(const struct order *o, unsigned *held)
{
	uint64_t first = 0;

	*held = 0;
	for (uint64_t i = o->next; i <= o->highest; i++) {
		if (!order_get(o, i))
			continue;
		if (!*held)
			first = i;
		++*held;
	}
	return *held ? first : o->highest + 1;
}

void order_advance(struct order *o, uint64_t now, uint64_t hold)
{
	while (gap(o)) {
		unsigned held;
		uint64_t first = first_held(o, &held);

		if (first > o->next && held && held < AUDIO_HOLD_PACKETS &&
		    now - order_get(o, first)->at < hold)
			return;
		o->lost += first - o->next;
		o->next = first;
		while (o->next <= o->highest && order_get(o, o->next))
			o->next++;
	}
}

void order_flush(struct order *o)
{
	for (; gap(o); o->next++)
		if (!order_get(o, o->next))
			o->lost++;
}

void order_restart(struct order *o)
{
	o->started = false;
	o->start = o->highest + 1;
	o->next = o->start;
	memset(o->entries, 0, sizeof o->entries);
}
