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
#include "mediad/engine/hold.h"
#include "mediad/transport/discovery.h"
#include "mediad/transport/keepalive.h"
#include "mediad/transport/nonces.h"
#include "mediad/transport/replay.h"
#include "mediad/transport/report.h"

struct env;

enum {
	LINE_SLOTS = 512,	/* speakers with an SSRC; more are not heard */
	LINE_BUCKETS = 1024,	/* power of two above LINE_SLOTS */
	LINE_HELD_MS = 2000,	/* so long a packet waits for its speaker's name, or for a key */
	LINE_NOBODYS_MS = 120,	/* sound that is nobody's for so long, without a longer pause, is no
				   straggler */
	LINE_UNHEARD_MS = 1000, /* and is told again so often */
	LINE_RETRY = 16,	/* most of those that waited heard at once: decoding takes time */
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
	struct nonces reports; /* RTCP of its SSRC */
	struct report_source source;
	uint64_t undecryptable, not_sealed;
	struct {
		uint32_t listen, n;
	} dropped[AUDIO_LISTENS]; /* HEARD that did not fit into the ring and were not told yet */
	bool consent;

	/* end-to-end encryption */
	struct dave_opener *opener;
	bool stale;	     /* its keys are of a session that is over */
	uint64_t epoch;	     /* of the newest key, 0: there was none in this session */
	uint32_t generation; /* and its first generation */
	uint64_t proved;     /* the epoch that EV_DAVE_PROOF was told of */
	unsigned waiting;    /* packets that are held */
	bool more;     /* they are being heard, some at each tick; fresh ones wait behind them */
	uint64_t came; /* arrival of the newest packet that was heard */
	struct {
		uint32_t run;	 /* packets in a row that did not open */
		uint64_t since;	 /* the first of them */
		bool deaf, owed; /* owed: that it is so is to be told */
		uint32_t count;
		uint64_t ns; /* of spells that are over */
	} spell;
};

/* Who sends RTCP and has no slot: the server, or somebody whose name is not known. */
struct line_reporter {
	uint32_t ssrc;
	uint64_t at; /* newest report */
	struct nonces seen;
};

struct line_unknown {
	uint32_t ssrc;
	uint64_t since, last; /* its packets come, but for pauses below LINE_NOBODYS_MS */
	uint64_t tell;	      /* EV_UNHEARD is due then */
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
	struct report report;

	/* hearing */
	struct slot *slots[LINE_SLOTS];
	unsigned n_slots;
	uint16_t buckets[LINE_BUCKETS]; /* ssrc -> index + 1, linear probing, rebuilt on change */
	struct hold held;
	struct line_unknown unknown[8];
	unsigned unknown_at;
	struct line_reporter reporters[8];
	bool deaf, hold; /* hold: keep packets of unknown SSRCs */
	uint64_t listen_tick;

	/* end-to-end encryption: closed until CMD_DAVE_CLEAR or a key says how */
	bool secured;	      /* it was said in this session */
	bool clear;	      /* we send in the clear */
	uint64_t clear_until; /* and others may until then */
	struct dave_sealer *sealer;
	uint64_t epoch; /* of its key */
	uint32_t generation;
	struct dave_key *spent[DAVE_KEYS]; /* wait to go up; of one speaker at most */
	unsigned n_spent;
	unsigned n_stale; /* slots */
	unsigned sweep_slot;
	uint64_t sweep_at;

	/* speaking */
	struct sender *sender;
	bool mute;
	unsigned complexity, eased; /* of the encoder: as asked for, and steps below that */
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
/* The thread is busy: so many steps of complexity less than was asked for, and below the lowest no
 * redundancy. */
void line_ease(struct line *l, unsigned eased);
void line_datagram(struct line *l, uint8_t *p, size_t n);
void line_tick(struct line *l);
/* When line_tick is due; UINT64_MAX = never. */
uint64_t line_next(const struct line *l);
/* Ends everything and gives back what was lent, but the line itself. */
void line_stop(struct line *l);

#endif
