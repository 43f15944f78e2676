/* A call stream: the part of one call that an audio thread owns. It holds the UDP socket, the
 * transport cipher, one slot per speaker, the sender and the DAVE keys in use.
 *
 * The loop thread makes and frees it. Between CMD_STREAM_ADD and EV_STREAM_GONE it is lent: only
 * the audio thread may touch it, except `owner`, which only the loop thread reads. Only the
 * functions that end in _alloc and _free allocate. Time comes from env, and every answer of the
 * kernel is recorded by env, so the same steps run on replay, where there is no socket (fd -1).
 * Times are in ns unless a name says otherwise. */
#ifndef MEDIAD_ENGINE_CALL_STREAM_H
#define MEDIAD_ENGINE_CALL_STREAM_H

#include "mediad/engine/entry.h"
#include "mediad/engine/music_feed.h"
#include "mediad/engine/pending_queue.h"
#include "mediad/transport/counters.h"
#include "mediad/transport/discovery.h"
#include "mediad/transport/keepalive.h"
#include "mediad/transport/nonces.h"
#include "mediad/transport/path.h"
#include "mediad/transport/replay.h"
#include "mediad/transport/report.h"

struct env;
struct loop_stream;
struct video_sender;

enum {
	CALL_STREAM_SLOTS = 512,    /* speakers with an SSRC; further ones are not heard */
	CALL_STREAM_BUCKETS = 1024, /* a power of two above CALL_STREAM_SLOTS */
	/* A packet waits at most this long for its SSRC to be mapped to a user, or for a key. */
	CALL_STREAM_PENDING_MS = 2000,
	/* An unmapped SSRC that sends for this long without a longer pause is persistent; less may
	 * be a straggler of somebody who left. */
	CALL_STREAM_UNMAPPED_MS = 120,
	CALL_STREAM_UNMAPPED_REPEAT_MS = 1000, /* EV_UNMAPPED_SSRC repeats at this interval */
	CALL_STREAM_LEFT = 4096,	       /* a power of two above CALL_STREAM_LEFT_MAX */
	/* SSRCs that sent under a key and left. Further ones come back without a floor: a recording
	 * may then be heard again, but no new packet is refused. */
	CALL_STREAM_LEFT_MAX = 3072,
	/* Pending packets per step at most: 16 that are delivered, or 64 that no key decrypts. */
	CALL_STREAM_RETRIES = 64,
	CALL_STREAM_DELIVERED = 4,
	/* Sound decoded in one step, of all speakers: the longest that frames of other calls wait
	 * for the speakers of this one. A millisecond of CPU at most. */
	CALL_STREAM_STEP_MS = 480,
	CALL_STREAM_STATS_MS = 5000,
	CALL_STREAM_PROGRESS_MS = 100,
	/* Each frame: control goes on there when this process dies. */
	CALL_STREAM_MUSIC_PROGRESS_MS = 20,
	/* The longest interval of a stream's ticks, when nobody waits for one. */
	CALL_STREAM_LAZY_MS = 500,
	/* Events that may wait for room: by time alone each lane makes up to three, and a stream a
	 * few of its own. */
	CALL_STREAM_OWED = 4 * (SENDER_LANES + MUSIC_MIXER_LANES),
};

/* Passes an event up to the loop thread. Returns false when the ring has no room; `may_drop` says
 * whether the caller can do without the event. */
typedef bool(call_stream_emit_h)(const struct ev *ev, bool may_drop, void *arg);
/* True if the ring has room for all that a tick of the speakers can emit: the end of speech of each
 * slot, and the end of each capture. */
typedef bool(call_stream_room_h)(void *arg);

/* Packets received from an SSRC, for replay protection. */
struct arrivals {
	struct counters counters;
	struct replay numbers; /* in the two retired modes whose nonces are no counters */
};

/* The receive state of one speaker. */
struct slot {
	struct call_stream *stream;
	uint64_t user;
	uint32_t ssrc; /* 0: not mapped */
	struct audio_speaker *speaker;
	struct arrivals arrivals;
	struct nonces reports; /* counters of the RTCP packets of this SSRC */
	struct report_source source;
	uint64_t undecryptable, not_sealed;
	/* HEARD frames of each listen that did not fit into the ring, not reported yet. */
	struct {
		uint32_t listen, n;
	} dropped[AUDIO_LISTENS];
	bool consent;

	/* end-to-end encryption */
	struct dave_opener *opener;
	bool stale;	     /* the opener still holds keys of an earlier voice session */
	uint64_t epoch;	     /* of the newest key; 0: none in this session */
	uint32_t generation; /* the first generation of that key */
	/* The epochs that EV_DAVE_PROOF reported last, by sound and by video. */
	uint64_t proved, proved_video;
	unsigned n_pending;    /* packets of this speaker in the pending queue */
	bool draining;	       /* they are decoded a few per tick; new packets queue behind them */
	uint64_t last_arrival; /* of the newest packet given to the jitter buffer */
	struct {
		uint32_t run;		 /* undecryptable packets in a row */
		uint64_t since;		 /* arrival of the first of them */
		uint64_t sound_at;	 /* the newest of them that was sound; 0: none was */
		bool active, unreported; /* unreported: EV_DAVE_OUTAGE is still to be sent */
		bool unknown;		 /* it ended, but nothing was decrypted */
		uint32_t count;
		uint64_t ns; /* total duration of outages that ended */
	} outage;	     /* packets arrive and cannot be decrypted */
};

/* An RTCP sender without a slot: the voice server, or an unmapped SSRC. */
struct rtcp_reporter {
	uint32_t ssrc;
	uint64_t at; /* newest report */
	struct nonces seen;
};

/* An SSRC that sends RTP and is mapped to no user. */
struct unmapped_source {
	uint32_t ssrc;
	uint64_t last; /* packet */
	struct arrivals arrivals;
};

/* When to ask for an SSRC: more can be asked for than have a window of their own. */
struct unmapped_asked {
	uint32_t ssrc;
	uint64_t since, last; /* first and last packet, without pauses over _UNMAPPED_MS */
	uint64_t tell;	      /* when EV_UNMAPPED_SSRC is due */
};

/* The counters that an SSRC had used when its windows were given up: of RTP and of RTCP. */
struct left_source {
	uint32_t ssrc; /* 0: free */
	struct counters_floor packets, reports;
};

struct call_stream {
	void *owner;	 /* loop thread only */
	unsigned thread; /* loop thread only: the audio thread that has it */
	void *removal;	 /* loop thread only: memory for the command that ends it; owned */
	/* Of a stream that the loop thread drives (loop_stream.h); borrowed. NULL for a call. */
	struct loop_stream *loop;
	struct video_sender *video;
	struct env *env; /* from here on: audio thread only */
	call_stream_emit_h *emit;
	call_stream_room_h *room;
	void *arg;
	struct ev owed[CALL_STREAM_OWED]; /* found no room, oldest first */
	unsigned n_owed;
	uint64_t owed_at; /* when they are tried again */
	unsigned index;	  /* in the thread's table */
	uint64_t phase;	  /* of its deadlines within the 20 ms */

	/* the voice session */
	int fd;
	uint32_t link, ssrc, ts, ping; /* ping: keepalives are numbered from the next on */
	uint16_t seq;
	uint64_t ts_at; /* the deadline that ts belongs to; 0: the sender never ran */
	bool linked, keyed, udp_told;
	bool work_due; /* call_stream_work follows call_stream_send */
	struct rtpsize *key;
	uint32_t key_number;
	bool key_used;	       /* and that was told */
	uint32_t next_counter; /* for the next key: a server may send an earlier key again */
	struct discovery discovery;
	struct keepalive keepalive;
	struct path path;
	struct report report;

	/* receiving */
	struct slot *slots[CALL_STREAM_SLOTS];
	unsigned n_slots;
	/* Hash table from SSRC to slot index + 1; linear probing, rebuilt on every change. */
	uint16_t buckets[CALL_STREAM_BUCKETS];
	struct pending_queue pending;
	struct unmapped_source unmapped[8];
	struct unmapped_asked asked[64];
	/* Hash table of CALL_STREAM_LEFT entries with linear probing, kept as long as the key. Each
	 * sender counts for itself, in a byte order of its own, so SSRCs share no floor. */
	struct left_source *left;
	unsigned n_left;
	struct rtcp_reporter reporters[8];
	bool deaf, keep_unmapped; /* keep_unmapped: packets of unmapped SSRCs are kept */
	uint64_t speaker_tick_at;
	int64_t decode_left;	 /* RTP time that the running step may still decode */
	unsigned next_slot;	 /* whose turn it is in the speakers' tick */
	bool has_more_to_decode; /* the tick is not over: call_stream_work is to be called again */

	/* DAVE: nothing is sent or accepted until CMD_DAVE_CLEAR or a key arrives */
	bool dave_known;      /* one of them arrived in this session */
	bool clear;	      /* we send without end-to-end encryption */
	uint64_t clear_until; /* others may until then */
	struct dave_sealer *sealer;
	uint64_t epoch; /* of the sealer's key */
	uint32_t generation;
	struct dave_key *spent[DAVE_KEYS]; /* keys to return; of one speaker at a time */
	unsigned n_spent;
	unsigned n_stale; /* slots with `stale` */
	unsigned sweep_slot;
	uint64_t sweep_at;

	/* sending */
	struct sender *sender;
	bool mute;
	/* Encoder complexity as requested, and steps below that because the thread is busy. */
	unsigned complexity, degraded;
	struct {
		uint32_t playback;
		uint64_t pulled;
	} progress[SENDER_LANES];
	uint64_t progress_at, music_progress_at;

	struct call_stream_stats stats;
	uint32_t overflow; /* the kernel's count of the socket (overflow.h) */
	uint64_t stats_at;
};

/* Returns ENOMEM. The caller owns *out until it is lent. */
int call_stream_alloc(struct call_stream **out, void *owner, uint32_t bitrate);
/* Frees everything that is lent to the stream, and closes the socket. */
struct call_stream *call_stream_free(struct call_stream *cs);

/* Returns ENOMEM. The caller owns *out until it is lent. */
int slot_alloc(struct slot **out, struct call_stream *cs, uint64_t user, bool consent,
	       uint32_t first_capture);
struct slot *slot_free(struct slot *s);

/* ---- steps of the audio thread ---- */
void call_stream_attach(struct call_stream *cs, struct env *env, unsigned index, uint64_t phase,
			call_stream_emit_h *emit, call_stream_room_h *room, void *arg);
void call_stream_run_command(struct call_stream *cs, struct cmd *cmd);
/* Lowers the encoder's complexity by `degraded` steps because the thread is busy; below the lowest
 * complexity FEC is switched off. */
void call_stream_set_degradation(struct call_stream *cs, unsigned degraded);
void call_stream_receive(struct call_stream *cs, uint8_t *p, size_t n);
/* The kernel tells how many datagrams of the socket it has dropped, four bytes in network order. */
void call_stream_note_overflow(struct call_stream *cs, const uint8_t *p, size_t n);
/* Feeds a lane with music that was read from its source. */
void call_stream_feed_music(struct call_stream *cs, const struct music_feed *f);
/* A tick has two parts. The first sends all that is due. The second encodes the next frame and
 * serves the speakers; it may wait until other streams have sent, and comes before the stream sends
 * again. It returns true when more was to be decoded than one step may: it is to be called again,
 * and what is due may be sent first. */
void call_stream_send(struct call_stream *cs);
bool call_stream_work(struct call_stream *cs);
/* This process stalled after its last tick: the silence of all speakers counts from now. */
void call_stream_stalled(struct call_stream *cs);
/* When call_stream_send is due; UINT64_MAX = never. */
uint64_t call_stream_next(const struct call_stream *cs);
/* Ends the session and all captures, and returns everything lent except the stream itself. */
void call_stream_stop(struct call_stream *cs);

#endif
