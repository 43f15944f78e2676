/* The state of a call, shared by call.c (commands), call_gateway.c (signalling), call_events.c
 * (events of the audio thread), call_owed.c (commands that wait for memory), secure.c (end-to-end
 * encryption), hear.c (members and listens), hear_index.c (members by SSRC), say.c (playbacks),
 * music.c and video.c (streams). */
#ifndef MEDIAD_CALL_CALL_INTERNAL_H
#define MEDIAD_CALL_CALL_INTERNAL_H

#include "mediad/audio/resample.h"
#include "mediad/call/backlog.h"
#include "mediad/call/call.h"
#include "mediad/call/gateway.h"
#include "mediad/call/key_marks.h"
#include "mediad/call/secure.h"
#include "mediad/call/unmapped.h"
#include "mediad/call/video.h"
#include "mediad/music/decoders.h"

struct tmr;
struct ws;

struct listen {
	uint32_t id, rate, flow, gap; /* gap: HEARD frames dropped since the last one sent */
	uint16_t silence_ms;
};

/* Persons by SSRC, in the order in which it became theirs (hear_index.c). */
struct ssrc_link {
	struct ssrc_link *prev, *next;
	struct person *person;
	uint32_t ssrc; /* 0: in no list */
};
struct ssrc_bucket {
	struct ssrc_link *first, *last;
};
enum { CALL_SSRC_BUCKETS = 1024 };

/* A user who is present, is listened to, or has a consent on record. */
struct person {
	uint64_t user;
	bool present, confirmed;       /* confirmed: this session named the user */
	bool consent_known, consented; /* CONSENT was received, and its value */
	bool consent_told;	       /* by the present control */
	uint32_t ssrc;		       /* 0: not known */
	bool proven;	/* packets of this SSRC were decrypted with this user's key */
	uint32_t claim; /* an SSRC that op 5 gave to this user too; 0: none */
	struct ssrc_link owned, claimed; /* by `ssrc` and by `claim` */
	struct slot *slot;  /* lent; NULL before the first SSRC, or when it was reclaimed */
	unsigned lent_at;   /* place in with_slot */
	bool stale;	    /* the slot missed a command for want of memory */
	unsigned returning; /* earlier slots that are on their way back */
	struct media_key deferred, lent; /* lent: the newest, for another slot in this session */
	bool speaking, given_up;
	uint64_t spoke_at;	/* when speech began or ended, or the slot was lent */
	uint64_t outage_since;	/* start of a decryption outage; 0 = none */
	uint64_t outage_logged; /* when the log named one last */
	bool outage_in_log;	/* it named the present one */
	struct listen listens[AUDIO_LISTENS];
	unsigned n_listens;
};

struct playback {
	uint32_t id;   /* control's id; 0 = its control no longer exists */
	uint32_t lane; /* our own id, because ids of two controls may be equal */
	uint32_t rate;
	bool ended, claimed;
	bool pausing, paused;  /* control wants it; its last faded sample was sent */
	bool lane_ended;       /* the lane has got all there is */
	enum media_reason why; /* reason of a stop */
	struct resample *resample;
	struct backlog backlog; /* has no room in the lane yet */
	uint64_t laned;		/* samples given to the lane, at 48 kHz */
	uint64_t written;	/* samples, at the playback's rate */
	uint64_t pulled, sent;	/* samples, at 48 kHz */
	uint64_t credit;	/* as last sent */
	uint32_t window_ms; /* credit beyond what was pulled; constant, as control counts by it */
	uint64_t written_at;
};

/* One opening of a source of music, with its lane. */
struct music_track {
	uint32_t music;	   /* control's id; 0: superseded by a seek, or its control is gone */
	uint64_t decoded;  /* of the decoders; 0: not opened */
	uint32_t lane;	   /* 0: not lent */
	uint32_t stranded; /* the music that it was to follow and that was taken back; 0: none */
	struct decoder_source source;
	struct decoder_opened opened;
	uint64_t start, played; /* frames; played: of the lane, that left the socket */
	uint64_t moved;		/* ns: when `played` grew last */
	uint64_t analysed;	/* frame whose analysis was asked for last, plus one */
	uint64_t paused_at;	/* ns */
	uint32_t gain;		/* the volume, in millionths */
	uint16_t target;	/* loudness in -LUFS/100 */
	unsigned n_levels;	/* reports of its levels */
	uint32_t crossfade;	/* frames */
	int16_t album_gain; /* of the track before it, in 1/100 dB, if it goes on with its album */
	bool of_album;
	bool paused, claimed;
	bool follows; /* prepared by MUSIC_NEXT, and has not started */
	bool rests;   /* it has no decoder until it, or what it follows, goes on after a pause */
	bool known;   /* it has rested: its levels and tags are known */
	bool waits;   /* it is opened; its lane is lent after that of the track before it */
	struct music_track *replaces; /* a seek: the track that plays until this one starts */
	/* It begins where the one that it replaces has no more sound, because its decoder died. */
	bool continues;
	unsigned deaths; /* of decoders of this music since it was ordered or sought in */
	enum media_music_phase phase;
	enum media_reason why;	      /* reason of a stop */
	enum decoder_reason failure;  /* of the decoder; UNKNOWN: it goes on */
	enum decoder_reason unsought; /* of a seek; UNKNOWN but while control hears of it */
};

/* Ends that a call keeps, for a control that was away when they happened. */
enum { MUSIC_OVER = 4, PLAYBACKS_OVER = 8 };

enum { MUSIC_RESTS_S = 300 };

/* One of each kind for the stream, for each playback its end and four controls, and for each lane
 * of music four controls. */
enum { CALL_OWED = 3 + 5 * SENDER_LANES + 4 * MUSIC_MIXER_LANES };

struct call {
	struct call_conf conf;
	uint32_t id, gen;
	uint64_t guild, channel, user;
	uint64_t joined; /* the channel of the newest credentials */
	uint32_t bitrate;
	uint8_t complexity; /* of the encoder; 0: mediad chooses */
	bool mute, deaf, consent, stage;
	bool lost_refusal; /* of a user, for want of memory: consent by default stays off */
	uint8_t e2ee;	   /* enum media_e2ee */
	/* As control wants them for `channel`; they count once it is the joined one. */
	bool wanted_stage;
	uint8_t wanted_e2ee;

	struct vgw *gw;
	struct tmr *gw_timer, *settle;
	struct ws *ws;
	uint32_t conn;
	uint16_t pending_close; /* a close code that the machine gets once its step is over */
	bool udp_failed;
	bool speaking_pending; /* op 5 was requested and not sent yet */
	struct media_call_state state;
	struct unmapped unmapped;
	struct key_marks keys;
	uint32_t gateway_rtt_us;
	struct secure secure;

	struct call_stream *stream; /* lent to an audio thread */
	uint32_t link;
	/* Commands that found no memory, the oldest first. */
	struct cmd owed[CALL_OWED];
	unsigned n_owed;
	bool leaving;

	/* Sorted by user id. Pointers, because a server can have thousands moved by each message.
	 */
	struct person **people;
	size_t n_people, cap_people;
	struct ssrc_bucket owners[CALL_SSRC_BUCKETS], claimants[CALL_SSRC_BUCKETS];
	struct person *with_slot[CALL_STREAM_SLOTS];
	unsigned n_lent;	 /* of them */
	unsigned n_slots;	 /* lent and not returned yet */
	bool refusal_logged;	 /* once per call, because a server could name thousands */
	struct rate_limit lines; /* of the log, that a server causes */
	uint32_t next_capture;
	uint64_t heard_dropped, lost_events, kernel_dropped;

	struct playback *playbacks[SENDER_LANES];
	uint32_t next_lane;
	struct {
		uint32_t id; /* 0: none */
		uint64_t samples;
		enum media_reason why; /* NONE: it drained */
	} over[PLAYBACKS_OVER];	       /* the playbacks that ended last */
	unsigned n_over;	       /* that ever ended: the place of the next one */

	struct call_video *video; /* of a stream; NULL of a call */

	struct music_track *tracks[MUSIC_MIXER_LANES];
	uint32_t next_music_lane;
	bool music_lent; /* the mixer is with the stream */
	bool watched;	 /* control wants analyses of the music */
	struct {
		uint32_t music; /* 0: none */
		uint64_t position, duration;
		enum media_music_phase phase;
		enum media_reason why;
		enum decoder_reason failure;
	} music_over[MUSIC_OVER];
	unsigned n_music_over;
};

/* Sends msg to control and fills in its head: every message after HELLO begins with call and
 * generation. */
void call_send(struct call *c, struct media_msg *msg, uint32_t flow);
/* Sends a command to the call's stream. Without memory one that lends nothing is owed. Returns
 * false when the command was lost; whatever it lent has been freed then. */
bool call_command(struct call *c, struct cmd *cmd);
/* Sends bitrate, mute, deaf and keep_unmapped to the stream. */
void call_send_set(struct call *c);
/* True if a line may be logged that the voice server can cause at will. */
bool call_may_log(struct call *c);
/* Sends CALL_STATE. */
void call_send_state(struct call *c);
/* Ends each step of the gateway machine or the DAVE session: performs what had to be deferred
 * during the step, then arms their timers. */
void call_finish_step(struct call *c);

/* ---- call_owed.c ---- */
/* Keeps a copy of a command that found no memory, in the place of an older one that it replaces.
 * Returns false when it lends something, or the list is full. */
bool call_owe(struct call *c, const struct cmd *cmd);
/* True if the command would overtake others that are owed. */
bool call_must_wait(const struct call *c, const struct cmd *cmd);
/* Sends what is owed, as far as there is memory: before each command and at each event. */
void call_send_owed(struct call *c);
void call_forget_owed(struct call *c, enum cmd_type type);
/* Forgets what is owed to a lane that has ended, so that the list has room for every lane. */
void call_forget_owed_lane(struct call *c, uint32_t lane);
void call_forget_owed_music(struct call *c, uint32_t lane);

/* ---- call_gateway.c ---- */
/* Action handler of the gateway machine; arg: struct call. */
void call_perform_action(const struct vgw_action *act, void *call);
bool call_may_use_key(const uint8_t *key, void *call);
/* Packets were opened under the key of this number. */
void call_note_key(struct call *c, uint32_t number);
/* Timer handlers; arg: struct call. */
void call_on_gateway_timer(void *call);
void call_on_settle(void *call);

/* ---- hear.c ---- */
/* True if any user may be heard, by default or by consent. */
bool hear_has_consent(const struct call *c);
/* Returns the person or NULL; valid until the person leaves. */
struct person *hear_find(struct call *c, uint64_t user);
void hear_member(struct call *c, uint64_t user, bool present);
/* The gateway says that this SSRC is the user's. While it belongs to a member whose end-to-end key
 * decrypts its packets, the user only has a claim to it. */
void hear_ssrc(struct call *c, uint64_t user, uint32_t ssrc);
/* The user's packets were decrypted end to end. */
void hear_prove_ssrc(struct call *c, uint64_t user);
/* The user's packets cannot be decrypted: a member with a claim to the SSRC gets it. */
void hear_doubt_ssrc(struct call *c, uint64_t user);
/* Packets arrive of an SSRC without a slot. Returns false when its user is not known. */
bool hear_unmapped_ssrc(struct call *c, uint32_t ssrc);
/* Replaces the slots that missed a command. */
void hear_replace_slots(struct call *c);
void hear_end_session(struct call *c);
/* Removes members that the new session did not name. */
void hear_drop_unconfirmed(struct call *c);
void hear_event(struct call *c, const struct ev *ev);
void hear_send_all(struct call *c);
/* Another control is here: it repeats each CONSENT before CALL_SET, or it is forgotten then. */
void hear_doubt_consents(struct call *c);
/* Changes the consent of users for whom the present control has sent no CONSENT. It stays off once
 * a refusal of this control was lost. */
void hear_set_default_consent(struct call *c, bool yes);
void hear_free(struct call *c);

/* ---- hear_index.c ---- */
void hear_set_ssrc(struct call *c, struct person *p, uint32_t ssrc);
void hear_set_claim(struct call *c, struct person *p, uint32_t ssrc);
/* s: NULL, or one while n_lent is below CALL_STREAM_SLOTS. */
void hear_set_slot(struct call *c, struct person *p, struct slot *s);
struct person *hear_find_owner(struct call *c, uint32_t ssrc);
/* Returns the member whose claim is the oldest, so that each of several has its turn. */
struct person *hear_find_claimant(struct call *c, uint32_t ssrc);

/* ---- say.c ---- */
void say_event(struct call *c, const struct ev *ev);
/* Another control is here: it claims playbacks that go on. */
void say_unclaim_all(struct call *c);
void say_check_starved(struct call *c);
void say_send_all(struct call *c);
void say_free(struct call *c);

/* ---- music.c ---- */
void music_set_phase(struct call *c, struct music_track *t, enum media_music_phase phase);
struct music_track *music_find_lane(struct call *c, uint32_t lane);
/* A track is over: tells it, frees it, and goes on with what follows. */
void music_finish_track(struct call *c, struct music_track *t, enum media_reason why);
/* Leaves of paused music its place alone. */
void music_rest(struct call *c, struct music_track *t);
/* music_events.c. Called with the statistics, every few seconds: what has been paused for
 * MUSIC_RESTS_S rests. */
void music_event(struct call *c, const struct ev *ev);
void music_rest_paused(struct call *c);
void music_unclaim_all(struct call *c);
void music_stop_unclaimed(struct call *c);
/* music_told.c: the frame that was heard last; tells control the state of a track, its tags, those
 * of all; takes and tells the title of a stream. */
uint64_t music_position(const struct music_track *t);
void music_send_state(struct call *c, const struct music_track *t);
void music_send_tags(struct call *c, const struct music_track *t);
void music_send_all(struct call *c);
void music_take_title(struct call *c, struct music_track *t, const char *title);
/* The track is not to blame. */
bool music_is_fault_of_machine(enum decoder_reason reason);
/* music_over.c: keeps how the music ended; tells it again, all of it or of one music (false: not
 * known any more); forgets it. */
void music_remember_end(struct call *c, const struct music_track *t, uint64_t position);
void music_send_past_ends(struct call *c);
bool music_repeat_end(struct call *c, uint32_t music);
/* True if it ended because it was stopped, or taken back before its turn. */
bool music_was_stopped(const struct call *c, uint32_t music);
void music_forget_end(struct call *c, uint32_t music);
void music_free(struct call *c);

/* ---- music_analysis.c ---- */
/* A track was opened: whether its decoder makes analyses. */
void music_watch_track(struct call *c, const struct music_track *t);
/* More of the track was played: asks for the analysis of that place, if control wants it. */
void music_ask_analysis(struct call *c, struct music_track *t);
/* Tells control, unless it reads too slowly. */
void music_send_analysis(struct call *c, const struct music_track *t,
			 const struct decoder_msg *msg);

/* ---- music_gain.c ---- */
/* Returns the gain of a track in millionths: the volume, and what brings its loudness to its
 * target. A boost ends where the peak would come above -1 dBFS. One that goes on with an album
 * keeps the gain of the track before it, as far as that is not much too loud or quiet. */
uint32_t music_track_gain(const struct music_track *t);
/* Returns a gain in millionths, which an older control tells in thousandths alone. */
uint32_t music_gain_of(uint16_t thousandths, uint32_t millionths);
/* Tracks of one album run into each other as they are. Control decides so too, but knows the tags
 * of a source only when it is opened. Returns the one that this track goes on with, or NULL. */
const struct music_track *music_find_album(const struct call *c, const struct music_track *t);
/* A track goes on with the album of the one before it. */
void music_keep_album_gain(struct music_track *t, const struct music_track *before);
/* Takes levels that the decoder has measured, each second anew. Returns the ms for each dB by which
 * the gain that follows from them may fall; 0 before the first sound, when nobody hears a change.
 */
uint16_t music_take_levels(struct music_track *t, const struct decoder_levels *levels);

#endif
