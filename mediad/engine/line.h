/* A line: what an audio thread owns of one call. Socket, cipher context, speakers, sender.
 *
 * Made and freed by the loop thread; between CMD_LINE_ADD and EV_LINE_GONE it is lent, and the
 * audio thread alone touches it (but `owner`, which only the loop thread reads). Nothing here
 * allocates but the functions ending in _alloc and _free. Time comes from env, and every answer of
 * the kernel goes through it, so that the same steps run on replay, where there is no socket (fd
 * -1). */
#ifndef MEDIAD_ENGINE_LINE_H
#define MEDIAD_ENGINE_LINE_H

#include "mediad/engine/entry.h"
#include "mediad/transport/discovery.h"
#include "mediad/transport/keepalive.h"
#include "mediad/transport/replay.h"

struct env;

enum {
	LINE_SLOTS = 512,    /* speakers with an SSRC; more are not heard */
	LINE_BUCKETS = 1024, /* power of two above LINE_SLOTS */
	LINE_HELD = 50,	     /* packets of SSRCs nobody has claimed yet */
	LINE_HELD_MS = 1000,
	LINE_STATS_MS = 5000,
	LINE_PROGRESS_MS = 100,
};

/* Up to the loop thread. False: no room; `may_drop` tells whether that is allowed. */
typedef bool(line_up_h)(const struct ev *ev, bool may_drop, void *arg);

struct slot {
	struct line *line;
	uint64_t user;
	uint32_t ssrc; /* 0: not mapped */
	struct audio_speaker *speaker;
	struct replay replay;
	uint64_t undecryptable;
	uint32_t dropped; /* HEARD that did not fit into the ring */
};

/* One packet, opened at the transport layer, of an SSRC without a user. */
struct held {
	uint64_t at;
	uint32_t ssrc, ts;
	uint16_t seq, n;
	uint8_t level;
	uint8_t opus[AUDIO_OPUS_MAX];
};

struct line_unknown {
	uint32_t ssrc;
	struct replay replay;
};

struct line {
	void *owner;	 /* loop thread only */
	unsigned thread; /* loop thread only: where it is lent */
	struct env *env; /* from here on: the audio thread's */
	line_up_h *uph;
	void *arg;
	unsigned index; /* place in the thread's table */
	uint64_t phase; /* ns into the 20 ms */

	/* the session */
	int fd;
	uint32_t link, ssrc, ts;
	uint16_t seq;
	uint64_t ts_at; /* the deadline that ts belongs to; 0: no sender ran in this session */
	bool linked, keyed, udp_told;
	struct rtpsize *key;
	struct discovery discovery;
	struct keepalive keepalive;

	/* hearing */
	struct slot *slots[LINE_SLOTS];
	unsigned n_slots;
	uint16_t buckets[LINE_BUCKETS]; /* ssrc -> index + 1, linear probing, rebuilt on change */
	struct held held[LINE_HELD];
	unsigned held_at, n_held; /* ring: oldest, count */
	struct line_unknown unknown[8];
	unsigned unknown_at;
	bool deaf, hold; /* hold: keep packets of unknown SSRCs */
	uint64_t listen_tick;

	/* speaking */
	struct sender *sender;
	bool mute;
	struct {
		uint32_t playback;
		uint64_t pulled;
	} progress[SENDER_LANES];
	uint64_t progress_at;

	struct line_stats stats;
	uint64_t stats_at;
};

/* ENOMEM. Caller owns *out until it is lent. */
int line_alloc(struct line **out, void *owner, uint32_t bitrate);
/* Frees everything that is lent to it, and closes the socket. */
struct line *line_free(struct line *l);

/* ENOMEM. Owned by the caller until lent. */
int slot_alloc(struct slot **out, struct line *l, uint64_t user, uint32_t first_capture);
struct slot *slot_free(struct slot *s);

/* ---- the audio thread's steps ---- */
void line_start(struct line *l, struct env *env, unsigned index, uint64_t phase, line_up_h *uph,
		void *arg);
void line_command(struct line *l, struct cmd *cmd);
void line_datagram(struct line *l, uint8_t *p, size_t n);
void line_tick(struct line *l);
/* When line_tick is due; UINT64_MAX = never. */
uint64_t line_next(const struct line *l);
/* Ends everything and gives back what was lent, but the line itself. */
void line_stop(struct line *l);

/* Within engine/: sends one datagram; true when the kernel took it. */
bool line_send(struct line *l, const uint8_t *p, size_t n);
/* Within engine/: the slot of an SSRC or NULL. */
struct slot *line_slot(const struct line *l, uint32_t ssrc);
/* Within engine/: hands held packets of a freshly mapped SSRC to its speaker. */
void line_unhold(struct line *l, struct slot *s);

#endif
