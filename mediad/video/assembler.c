#include "mediad/video/assembler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"

enum { RESTART_AHEAD = 4 * VIDEO_PACKETS }; /* numbers further ahead are another run */

struct entry {
	bool used; /* the packet came */
	bool marker;
	uint8_t asked; /* requests for it while it is missing */
	uint16_t n;    /* 0: it holds nothing but padding */
	uint32_t ts;
	uint64_t at; /* arrival; of a missing one, when it was noticed or last asked for */
};

/* Sequence numbers are extended to 64 bits. Every number from next up to the highest has an entry:
 * of a packet that came, or of a missing one. */
struct video_assembler {
	enum video_codec codec;
	bool started;
	uint64_t next;	  /* first number of the next frame */
	uint64_t end;	  /* behind the highest number seen */
	uint64_t scanned; /* next up to here came and has no marker */
	uint64_t began;	  /* arrival of the first packet of the run */
	bool fresh;   /* nothing was taken or given up yet: the first packets may be overtaken */
	bool aligned; /* the packet before next ended a frame */
	bool broken;  /* frames are dropped until a key frame */
	bool asked_key;
	uint64_t asked_key_at;
	unsigned late_run;
	struct video_assembler_stats stats;
	struct entry entries[VIDEO_PACKETS];
	uint8_t payloads[VIDEO_PACKETS][VIDEO_PACKET_MAX];
	uint8_t frame[VIDEO_FRAME_MAX];
};

int video_assembler_alloc(struct video_assembler **out, enum video_codec codec)
{
	struct video_assembler *a;

	if (codec == VIDEO_NONE)
		return EINVAL;
	a = calloc(1, sizeof *a);
	if (!a)
		return ENOMEM;
	a->codec = codec;
	a->broken = true;
	*out = a;
	return 0;
}

void video_assembler_restart(struct video_assembler *a, enum video_codec codec)
{
	explicit_bzero(a, sizeof *a);
	a->codec = codec;
	a->broken = true;
}

struct video_assembler *video_assembler_free(struct video_assembler *a)
{
	if (a)
		explicit_bzero(a, sizeof *a);
	free(a);
	return NULL;
}

const struct video_assembler_stats *video_assembler_stats(const struct video_assembler *a)
{
	return &a->stats;
}

static struct entry *entry_of(struct video_assembler *a, uint64_t index)
{
	return &a->entries[index % VIDEO_PACKETS];
}

static const uint8_t *payload_of(const struct video_assembler *a, uint64_t index)
{
	return a->payloads[index % VIDEO_PACKETS];
}

/* Begins at this packet, above every number seen. */
static void begin_run(struct video_assembler *a, uint16_t seq, uint64_t now)
{
	a->next = a->end = a->scanned = ((a->end >> 16) + 2) << 16 | seq;
	a->started = true;
	a->began = now;
	a->fresh = true;
	a->aligned = false;
	a->broken = true;
	a->late_run = 0;
}

/* Gives up the packets below `index`. */
static void skip_to(struct video_assembler *a, uint64_t index)
{
	for (; a->next < index; a->next++)
		a->stats.lost += !entry_of(a, a->next)->used;
	a->scanned = a->next;
	a->fresh = false;
	a->broken = true;
	a->stats.incomplete++;
}

/* Makes entries of missing packets up to `index`, and room for them. */
static void reach(struct video_assembler *a, uint64_t index, uint64_t now)
{
	if (index >= a->next + VIDEO_PACKETS) {
		uint64_t lowest = index - VIDEO_PACKETS + 1;

		skip_to(a, lowest < a->end ? lowest : a->end);
		/* What lies below the table and above the highest number never came. */
		if (a->next < lowest) {
			a->stats.lost += lowest - a->next;
			a->next = a->end = a->scanned = lowest;
		}
		a->aligned = false;
	}
	for (; a->end <= index; a->end++)
		*entry_of(a, a->end) = (struct entry){.at = now};
}

/* Moves the beginning of a fresh run back to a packet that others overtook, by n numbers. */
static bool move_back(struct video_assembler *a, unsigned n, uint64_t now)
{
	if (!a->fresh || n > VIDEO_BACK || a->end - a->next + n > VIDEO_PACKETS)
		return false;
	for (; n; n--)
		*entry_of(a, --a->next) = (struct entry){.at = now};
	a->scanned = a->next;
	return true;
}

/* Finds the place of a packet in the run, which begins, or begins anew, where it must. Returns
 * false when the packet is late. */
static bool find_place(struct video_assembler *a, uint16_t seq, uint64_t now, uint64_t *index)
{
	int distance = (int16_t)(uint16_t)(seq - (uint16_t)a->next);

	if (!a->started) {
		begin_run(a, seq, now);
	} else if (distance >= RESTART_AHEAD) {
		a->stats.restarts++;
		begin_run(a, seq, now);
	} else if (distance < 0 && !move_back(a, (unsigned)-distance, now)) {
		if (++a->late_run < VIDEO_LATE_RUN) {
			a->stats.late++;
			return false;
		}
		a->stats.restarts++;
		begin_run(a, seq, now);
	}
	a->late_run = 0;
	*index = a->next + (uint16_t)(seq - (uint16_t)a->next);
	return true;
}

bool video_assembler_put(struct video_assembler *a, const struct video_packet *p, uint64_t now)
{
	uint64_t index;

	if (p->payload.n > VIDEO_PACKET_MAX)
		return false;
	a->stats.packets++;
	if (!find_place(a, p->seq, now, &index))
		return false;
	if (index < a->end && entry_of(a, index)->used) {
		a->stats.duplicate++;
		return false;
	}
	reach(a, index, now);
	*entry_of(a, index) = (struct entry){.used = true,
					     .marker = p->marker,
					     .ts = p->ts,
					     .n = (uint16_t)p->payload.n,
					     .at = now};
	if (p->payload.n)
		memcpy(a->payloads[index % VIDEO_PACKETS], p->payload.p, p->payload.n);
	return true;
}

/* ---- frames ---- */

/* Finds the end of the frame at next. Returns false while packets of it are missing. A frame whose
 * marker a sender left out ends before the next RTP time. */
static bool find_end(struct video_assembler *a, uint64_t *end)
{
	while (a->scanned < a->end) {
		const struct entry *e = entry_of(a, a->scanned);

		if (!e->used)
			return false;
		if (a->scanned > a->next && e->ts != entry_of(a, a->next)->ts) {
			*end = a->scanned;
			return true;
		}
		a->scanned++;
		if (e->marker) {
			*end = a->scanned;
			return true;
		}
	}
	return false;
}

/* Returns the first number from which a frame may begin, above the missing packet `gap`; the end
 * when there is none yet. */
static uint64_t find_begin(struct video_assembler *a, uint64_t gap, bool *aligned)
{
	for (uint64_t i = gap + 1; i < a->end; i++) {
		const struct entry *e = entry_of(a, i), *before = entry_of(a, i - 1);

		if (!e->used)
			continue;
		*aligned = before->used && (before->marker || before->ts != e->ts);
		if (*aligned || video_payload_begins_frame(a->codec, payload_of(a, i), e->n))
			return i;
	}
	*aligned = false;
	return a->end;
}

/* Gives up the frame at next when a packet of it has been missing for too long. The time counts
 * from the arrival of the first packet behind it, which made its entry. */
static bool give_up(struct video_assembler *a, uint64_t now)
{
	const struct entry *gap = entry_of(a, a->scanned);
	uint64_t since = now, i;
	bool aligned;

	if (a->scanned >= a->end || gap->used)
		return false;
	for (i = a->scanned + 1; i < a->end; i++)
		if (entry_of(a, i)->used && entry_of(a, i)->at < since)
			since = entry_of(a, i)->at;
	if (now - since < VIDEO_WAIT_MS * NS_PER_MS)
		return false;
	i = find_begin(a, a->scanned, &aligned);
	skip_to(a, i);
	a->aligned = aligned;
	return true;
}

/* Whether the packets at next are the first of a frame. */
static bool begins_frame(struct video_assembler *a)
{
	const struct entry *e = entry_of(a, a->next);

	return a->aligned || video_payload_begins_frame(a->codec, payload_of(a, a->next), e->n);
}

/* Joins the packets [next, end). Returns false when they make no frame. */
static bool join_frame(struct video_assembler *a, uint64_t end, struct video_frame *out)
{
	struct video_depacketizer d;
	uint32_t ts = entry_of(a, a->next)->ts;
	int err = 0;

	video_depacketizer_start(&d, a->codec, a->frame, sizeof a->frame);
	for (uint64_t i = a->next; i < end && !err; i++)
		if (entry_of(a, i)->n)
			err = video_depacketizer_add(&d, payload_of(a, i), entry_of(a, i)->n);
	if (!err)
		err = video_depacketizer_end(&d);
	if (err)
		return false;
	*out = (struct video_frame){.bytes = {d.out, d.n}, .ts = ts, .key = d.key};
	return true;
}

/* True while the beginning of the first frame may still be on its way. */
static bool awaits_beginning(struct video_assembler *a, uint64_t now)
{
	return a->fresh && now - a->began < VIDEO_REORDER_MS * NS_PER_MS && !begins_frame(a);
}

/* Passes over packets of nothing but padding before a frame. */
static void skip_padding(struct video_assembler *a)
{
	while (a->next < a->end && entry_of(a, a->next)->used && !entry_of(a, a->next)->n)
		a->next++;
	if (a->scanned < a->next)
		a->scanned = a->next;
}

/* Takes the packets [next, end). Returns true when they make a frame that can be decoded. */
static bool take_frame(struct video_assembler *a, uint64_t end, struct video_frame *out)
{
	bool begins = begins_frame(a), joined = begins && join_frame(a, end, out);

	a->next = a->scanned = end;
	a->fresh = false;
	a->aligned = true;
	if (!joined) {
		a->stats.malformed += begins;
		a->stats.incomplete += !begins;
		a->broken = true;
		return false;
	}
	if (a->broken && !out->key) {
		a->stats.undecodable++;
		return false;
	}
	a->broken = false;
	a->stats.frames++;
	a->stats.keys += out->key;
	return true;
}

bool video_assembler_next(struct video_assembler *a, uint64_t now, struct video_frame *out)
{
	struct video_frame f;
	uint64_t end;

	for (;;) {
		skip_padding(a);
		if (awaits_beginning(a, now))
			return false;
		if (find_end(a, &end)) {
			if (!take_frame(a, end, &f))
				continue;
			*out = f;
			return true;
		}
		if (!give_up(a, now))
			return false;
	}
}

/* ---- requests ---- */

unsigned video_assembler_missing(struct video_assembler *a, uint64_t now,
				 uint16_t seqs[VIDEO_NACK_MAX])
{
	unsigned n = 0;

	for (uint64_t i = a->scanned; i < a->end && n < VIDEO_NACK_MAX; i++) {
		struct entry *e = entry_of(a, i);
		uint64_t wait = (e->asked ? VIDEO_NACK_MS : VIDEO_REORDER_MS) * NS_PER_MS;

		if (e->used || e->asked == VIDEO_NACKS || now - e->at < wait)
			continue;
		e->asked++;
		e->at = now;
		seqs[n++] = (uint16_t)i;
	}
	return n;
}

bool video_assembler_wants_key(struct video_assembler *a, uint64_t now)
{
	/* The first frame may be a key frame that is arriving. */
	if (!a->started || !a->broken || (a->fresh && begins_frame(a)) ||
	    (a->asked_key && now - a->asked_key_at < VIDEO_KEY_REQUEST_MS * NS_PER_MS))
		return false;
	a->asked_key = true;
	a->asked_key_at = now;
	return true;
}

void video_assembler_refuse(struct video_assembler *a)
{
	a->broken = true;
}
