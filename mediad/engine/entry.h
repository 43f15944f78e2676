/* Entries of the rings between the loop thread and an audio thread: fixed size, copied. Audio goes
 * through rings of its own beside them, so that the many entries without audio stay small. Music
 * does not pass through here: the audio thread reads it from the ring of its source.
 *
 * Commands go down. A pointer in a command is *lent*: from then on only the audio thread uses the
 * object. Events come up. A pointer in a `*_GONE` event, and the lane of an EV_LANE or EV_MUSIC
 * that ends it, is returned to the loop thread. */
#ifndef MEDIAD_ENGINE_ENTRY_H
#define MEDIAD_ENGINE_ENTRY_H

#include "mediad/audio/duck.h"
#include "mediad/audio/receive.h"
#include "mediad/audio/send.h"
#include "mediad/dave/media.h"
#include "mediad/transport/path.h"
#include "mediad/transport/rtpsize.h"

struct call_stream;
struct slot;

enum { ENTRY_PCM = LANE_FRAME };

enum cmd_type {
	CMD_STREAM_ADD,	   /* lends the stream */
	CMD_STREAM_REMOVE, /* asks for it back */
	CMD_LINK,	   /* a voice session begins: lends the socket, starts discovery */
	CMD_UNLINK,	   /* the voice session ended */
	CMD_KEY,	   /* lends the transport cipher; sending starts */
	CMD_SPEAKING_SENT, /* op 5 was given to the gateway */
	CMD_SET,
	CMD_SLOT_ADD,	 /* lends a speaker's slot */
	CMD_SLOT_MAP,	 /* the speaker's SSRC, 0 = none */
	CMD_SLOT_REMOVE, /* asks for it back */
	CMD_CONSENT,
	CMD_LISTEN, /* lends the decoder */
	CMD_UNLISTEN,
	CMD_DAVE_CLEAR,	 /* which packets may go, and come, without end-to-end encryption */
	CMD_DAVE_SEND,	 /* lends the key that we encrypt with; NULL: none, nothing is sent */
	CMD_DAVE_OPEN,	 /* lends a speaker's newest key; NULL: the newest epoch has none */
	CMD_ASK_ADDRESS, /* by IP discovery, because our address may be another one now */
	CMD_LANE_ADD,	 /* lends the lane */
	CMD_LANE_PCM,
	CMD_LANE_END,
	CMD_LANE_CONTROL, /* pause, resume, stop, gain */
	CMD_MUSIC_LEND,	  /* lends the mixer of music, once a stream */
	CMD_MUSIC_ADD,	  /* lends a lane of music */
	CMD_MUSIC_CONTROL,
	CMD_MUSIC_SET,
};

struct cmd {
	enum cmd_type type;
	struct call_stream *stream;
	union {
		struct {
			int fd;			       /* connected, non-blocking; -1 on replay */
			uint32_t link, ssrc, ts, ping; /* ping: of keepalives */
			uint16_t seq;
		} link;
		struct {
			struct rtpsize *key;
			uint32_t key_number; /* the call's; comes back in EV_KEY_USED */
		};
		struct {
			struct slot *slot; /* OPEN */
			struct dave_key *key;
			bool send;	/* CLEAR: we send in the clear (version 0) */
			uint64_t until; /* CLEAR: others may until then; UINT64_MAX: always */
		} dave;
		struct {
			uint32_t bitrate;
			uint8_t complexity; /* encoder's upper limit; 0: ENCODER_COMPLEXITY */
			bool mute, deaf;
			bool keep_unmapped; /* keep packets of SSRCs that are not mapped yet */
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
			const int16_t *pcm; /* n samples, at most ENTRY_PCM; borrowed */
		} lane;
		struct {
			struct music_mixer *mixer; /* LEND */
			struct music_lane *lane;   /* ADD */
			struct music_joint joint;
			bool paused;	  /* ADD: it waits for a resume */
			uint32_t id;	  /* CONTROL: of the lane */
			uint32_t bitrate; /* SET: of the encoder while music sounds */
			enum sender_command what;
			uint32_t target;       /* gain in millionths */
			uint16_t fade_ms;      /* of SENDER_GLIDE: for each dB of a fall */
			struct duck_conf duck; /* SET */
		} music;
	};
};

enum ev_type {
	EV_STREAM_GONE, /* the last event of a stream */
	EV_LINK_GONE,	/* fd */
	EV_KEY_GONE,
	EV_KEY_USED, /* the first packet was opened under a transport key */
	EV_SLOT_GONE,
	EV_DECODER_GONE,
	EV_DAVE_KEY_GONE,
	EV_DAVE_OUTAGE, /* a speaker's packets cannot be decrypted, or can be again */
	EV_DAVE_PROOF,	/* a speaker was first decrypted with a key of a newer epoch */
	EV_DAVE_NEXT,	/* the next two generations of a key are wanted */
	EV_DISCOVERED,
	EV_UDP_FAILED,
	EV_WANT_SPEAKING,
	EV_UNMAPPED_SSRC, /* packets arrive of an SSRC without a slot */
	EV_SPEAKING,
	EV_HEARD,
	EV_HEARD_END,
	EV_LANE,	   /* a sender_event of a lane */
	EV_LANE_PROGRESS,  /* every CALL_STREAM_PROGRESS_MS while the lane moves */
	EV_MUSIC,	   /* a sender_event of music */
	EV_MUSIC_PROGRESS, /* every CALL_STREAM_MUSIC_PROGRESS_MS while music plays */
	EV_CALL_STATS,
	EV_USER_STATS,
};

struct call_stream_stats {
	uint64_t received, malformed, replayed, unknown_ssrc;
	uint64_t kernel_dropped; /* because the socket's buffer was full */
	uint64_t lost_events;	 /* that must not be lost; anything but 0 is a fault */
	struct sender_stats send;
	uint32_t rtt_us;
	struct {
		uint32_t reports, /* received about our stream */
			rtt_us;	  /* by those reports; 0: not known */
		int32_t lost;
		uint8_t fraction; /* lost by the newest report, in 256ths */
	} seen;			  /* reception of our stream by others, in this session */
};

struct receiver_stats {
	uint64_t user;
	uint64_t undecryptable; /* packets, transport or end-to-end */
	uint64_t not_sealed;	/* packets in the clear where that is not allowed */
	uint64_t outage_ns;	/* total time in which packets could not be decrypted */
	uint32_t outages;
	bool in_outage;
	struct audio_stats audio;
};

struct ev {
	enum ev_type type;
	struct call_stream *stream;
	union {
		int fd;
		struct rtpsize *key;
		uint32_t key_number; /* USED */
		struct slot *slot;
		struct audio_decoder *decoder;
		struct dave_key *dave_key; /* GONE */
		struct {
			uint64_t user; /* 0: our own */
			uint64_t epoch;
			uint32_t generation; /* NEXT: the first one wanted */
			/* OUTAGE: repeated after each DAVE_OUTAGE_PACKETS. An outage that ends with
			 * the session or its slot ends without an event. */
			bool undecryptable;
			bool unknown; /* OUTAGE: it ended, but nothing was decrypted */
			bool video;   /* OUTAGE, PROOF: it was no sound, so its SSRC is another */
			uint64_t at;  /* OUTAGE: arrival of its first packet; at its end: now */
		} dave;
		struct {
			uint32_t link;
			char ip[64];
			uint16_t port;
			enum path_loss why; /* UDP_FAILED */
		} found;
		bool on;
		struct {
			uint32_t ssrc;
			bool persistent; /* for CALL_STREAM_UNMAPPED_MS already */
		} unmapped;
		struct {
			uint64_t user, at;
			uint32_t listen, capture, seq, rtp, dropped;
			enum media_reason reason;
			bool on;
			uint8_t flags, level;
			uint16_t n;
			const int16_t *pcm; /* n samples, at most ENTRY_PCM; borrowed */
		} heard;		    /* SPEAKING, HEARD, HEARD_END */
		struct {
			enum sender_event_type what;
			uint32_t playback;
			uint64_t samples, pulled, at;
			enum media_reason reason; /* STOPPED: NO_KEY, or NONE */
			struct lane *lane;	  /* LANE: DRAINED, STOPPED */
			struct music_lane *music; /* MUSIC: DRAINED, STOPPED */
		} lane;				  /* of music playback is the lane's id */
		struct call_stream_stats call;
		struct receiver_stats user;
	};
};

/* Frees the object that an entry carries; for the loop thread. */
void cmd_dispose(struct cmd *c);
void ev_dispose(struct ev *e);

#endif
