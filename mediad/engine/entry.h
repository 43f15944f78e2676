/* What crosses the rings between the loop thread and an audio thread: entries of fixed size,
 * copied.
 *
 * Down: commands. A pointer in a command is *lent*: from then on the audio thread alone uses the
 * object. Up: events. A pointer in a `*_GONE` event, and the lane of a LANE_OVER, is given back. */
#ifndef MEDIAD_ENGINE_ENTRY_H
#define MEDIAD_ENGINE_ENTRY_H

#include "mediad/audio/receive.h"
#include "mediad/audio/send.h"
#include "mediad/dave/media.h"
#include "mediad/transport/rtpsize.h"

struct line;
struct slot;

enum { ENTRY_PCM = LANE_FRAME };

enum cmd_type {
	CMD_LINE_ADD,	   /* lends line */
	CMD_LINE_REMOVE,   /* asks for it back */
	CMD_LINK,	   /* a session: lends the socket; discovery begins */
	CMD_UNLINK,	   /* the session is over */
	CMD_KEY,	   /* lends the cipher context; speech begins */
	CMD_SPEAKING_SENT, /* op 5 was given to the gateway */
	CMD_SET,
	CMD_SLOT_ADD,	 /* lends a speaker's slot */
	CMD_SLOT_MAP,	 /* the speaker's SSRC, 0 = not known (any more) */
	CMD_SLOT_REMOVE, /* asks for it back */
	CMD_CONSENT,
	CMD_LISTEN, /* lends the decoder */
	CMD_UNLISTEN,
	CMD_DAVE_CLEAR, /* what may go, and come, without end-to-end encryption */
	CMD_DAVE_SEND,	/* lends the key that we seal with; NULL: none, nothing goes out */
	CMD_DAVE_OPEN,	/* lends a speaker's newest key */
	CMD_LANE_ADD,	/* lends the lane */
	CMD_LANE_PCM,
	CMD_LANE_END,
	CMD_LANE_DO,
};

struct cmd {
	enum cmd_type type;
	struct line *line;
	union {
		struct {
			int fd; /* connected, non-blocking; -1 on replay */
			uint32_t link, ssrc, ts;
			uint16_t seq;
		} link;
		struct rtpsize *key;
		struct {
			struct slot *slot; /* OPEN */
			struct dave_key *key;
			bool send;	/* CLEAR: we send in the clear (version 0) */
			uint64_t until; /* CLEAR: others may until then; UINT64_MAX: always */
		} dave;
		struct {
			uint32_t bitrate;
			uint8_t complexity;    /* of the encoder at most; 0: ENCODER_COMPLEXITY */
			bool mute, deaf, hold; /* hold: keep sound of speakers not known yet */
		} set;
		struct {
			struct slot *slot;
			uint32_t ssrc;		  /* MAP */
			bool yes;		  /* CONSENT */
			enum media_reason reason; /* REMOVE, UNLISTEN */
			uint32_t listen, rate;
			uint16_t silence_ms;
			struct audio_decoder *decoder;
		} slot;
		struct {
			struct lane *lane;
			uint32_t playback;
			enum sender_command what;
			uint16_t target, fade_ms;
			uint16_t n;
			int16_t pcm[ENTRY_PCM];
		} lane;
	};
};

enum ev_type {
	EV_LINE_GONE, /* the last event of a line */
	EV_LINK_GONE, /* fd */
	EV_KEY_GONE,
	EV_SLOT_GONE,
	EV_DECODER_GONE,
	EV_DAVE_KEY_GONE,
	EV_DAVE_DEAF,  /* a speaker's packets do not open, or open again */
	EV_DAVE_PROOF, /* a speaker was heard with a newer epoch's key for the first time */
	EV_DAVE_NEXT,  /* the next two generations of a key are wanted */
	EV_DISCOVERED,
	EV_UDP_FAILED,
	EV_WANT_SPEAKING,
	EV_UNHEARD, /* packets come of an SSRC without a slot */
	EV_SPEAKING,
	EV_HEARD,
	EV_HEARD_END,
	EV_LANE,	  /* sender_event of a lane */
	EV_LANE_PROGRESS, /* every 100 ms while it moves */
	EV_CALL_STATS,
	EV_USER_STATS,
};

struct line_stats {
	uint64_t received, malformed, replayed, unknown_ssrc;
	struct sender_stats send;
	uint32_t rtt_us;
	struct {
		uint32_t reports, /* that came about our stream */
			rtt_us;	  /* as they tell, 0: not known */
		int32_t lost;
		uint8_t fraction; /* of the newest, in 256ths */
	} seen;			  /* how others see our stream, in this session */
};

struct slot_stats {
	uint64_t user, undecryptable, /* transport or end-to-end */
		not_sealed,	      /* came in the clear where that is not allowed */
		deaf_ns;	      /* not heard because its packets did not open, so far */
	uint32_t deaf_spells;
	bool deaf;
	struct audio_stats audio;
};

struct ev {
	enum ev_type type;
	struct line *line;
	union {
		int fd;
		struct rtpsize *key;
		struct slot *slot;
		struct audio_decoder *decoder;
		struct dave_key *dave_key; /* GONE */
		struct {
			uint64_t user; /* 0: our own */
			uint64_t epoch;
			uint32_t generation; /* NEXT: the first that is wanted */
			bool deaf;   /* DEAF: told again after each DAVE_DEAF_PACKETS of a spell. A
					spell that   ends with the session, or its slot, ends without a
					word. */
			uint64_t at; /* DEAF: the first packet that did not open; hearing again: now
				      */
		} dave;
		struct {
			uint32_t link;
			char ip[64];
			uint16_t port;
		} found;
		bool on;
		struct {
			uint32_t ssrc;
			bool goes_on; /* for LINE_NOBODYS_MS already */
		} unheard;
		struct {
			uint64_t user, at;
			uint32_t listen, capture, seq, rtp, dropped;
			enum media_reason reason;
			bool on;
			uint8_t flags, level;
			uint16_t n;
			int16_t pcm[ENTRY_PCM];
		} heard; /* SPEAKING, HEARD, HEARD_END */
		struct {
			enum sender_event_type what;
			uint32_t playback;
			uint64_t samples, pulled, at;
			enum media_reason reason; /* STOPPED: NO_KEY, or NONE */
			struct lane *lane;	  /* DRAINED, STOPPED */
		} lane;
		struct line_stats call;
		struct slot_stats user;
	};
};

/* Frees what an entry carries to the other side; for the loop thread. */
void cmd_dispose(struct cmd *c);
void ev_dispose(struct ev *e);

#endif
