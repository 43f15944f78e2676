/* The inside of a call, shared by call.c (gateway), secure.c (end-to-end encryption), hear.c
 * (people and listens) and say.c (playbacks). */
#ifndef MEDIAD_CALL_STATE_H
#define MEDIAD_CALL_STATE_H

#include "mediad/audio/resample.h"
#include "mediad/call/call.h"
#include "mediad/call/gateway.h"
#include "mediad/call/secure.h"
#include "mediad/call/unnamed.h"

struct tmr;
struct ws;

struct listen {
	uint32_t id, rate, flow, gap; /* gap: HEARD frames dropped since the last one told */
	uint16_t silence_ms;
};

/* Somebody who is there, or is listened to, or was asked for consent. */
struct person {
	uint64_t user;
	bool present, confirmed; /* confirmed: told by this session */
	bool asked, yes;	 /* CONSENT was sent, and what it said */
	uint32_t ssrc;		 /* 0: not known */
	struct slot *slot; /* lent; NULL before the first SSRC, and when it was needed elsewhere */
	struct media_key owed, lent; /* lent: the newest, for another slot in the same session */
	bool speaking;
	uint64_t spoke;	     /* began or ended to, or got the slot */
	uint64_t deaf_since; /* packets come and do not open; 0 = not so */
	struct listen listens[AUDIO_LISTENS];
	unsigned n_listens;
};

struct playback {
	uint32_t id;   /* control's; 0 = nobody wants to hear of it any more */
	uint32_t lane; /* ours: ids of two controls may be the same */
	uint32_t rate;
	bool ended, paused, claimed;
	enum media_reason why; /* it was stopped */
	struct resample *resample;
	uint64_t written;      /* at its own rate */
	uint64_t pulled, sent; /* at 48 kHz */
	uint64_t credit;       /* told */
	uint64_t written_at;
};

struct call {
	struct call_conf conf;
	uint32_t id, gen;
	uint64_t guild, channel, user;
	uint64_t joined; /* channel of the newest credentials */
	uint32_t bitrate;
	uint8_t complexity; /* of the encoder, 0: ours to choose */
	bool mute, deaf, consent, stage;

	struct vgw *gw;
	struct tmr *gw_timer, *settle;
	struct ws *ws;
	uint32_t conn;
	uint16_t broken; /* close code to tell the machine once its step is over */
	bool udp_broken;
	bool speaking_due; /* op 5 was asked for, and not yet sent */
	struct media_call_state state;
	struct unnamed unnamed;
	uint32_t gateway_rtt_us;
	struct secure secure;

	struct line *line; /* lent */
	uint32_t link;
	bool leaving;

	struct person *people; /* by user id */
	size_t n_people, cap_people;
	unsigned n_slots;  /* lent and not back yet */
	bool refused_told; /* once a call: a server could name thousands */
	uint32_t next_capture;
	uint64_t heard_dropped;

	struct playback *playbacks[SENDER_LANES];
	uint32_t next_lane;
};

/* Sends msg, whose head is filled in here: every message after HELLO begins with call and
 * generation. */
void call_out(struct call *c, struct media_msg *msg, uint32_t flow);
/* False: it was lost for want of memory, and what it lent is freed. */
bool call_cmd(struct call *c, struct cmd *cmd);
/* Bitrate, mute, deaf and whether unknown speakers are kept, for the line. */
void call_send_set(struct call *c);
/* Ends each step of the gateway or of the DAVE session: what could not be done in the middle of it,
 * then their timers. */
void call_stepped(struct call *c);

/* hear.c */
/* Whether somebody may be heard, by default or because they agreed. */
bool hear_anyone(const struct call *c);
/* NULL. Valid until somebody comes or goes. */
struct person *hear_find(struct call *c, uint64_t user);
void hear_member(struct call *c, uint64_t user, bool present);
void hear_ssrc(struct call *c, uint64_t user, uint32_t ssrc);
/* Somebody without a slot speaks. False: it is not known who. */
bool hear_unheard(struct call *c, uint32_t ssrc);
void hear_session_over(struct call *c);
/* Those that the new session did not name have left. */
void hear_settle(struct call *c);
void hear_event(struct call *c, const struct ev *ev);
void hear_tell_all(struct call *c);
void hear_free(struct call *c);

/* say.c */
void say_event(struct call *c, const struct ev *ev);
void say_check_starved(struct call *c);
void say_tell_all(struct call *c);
void say_free(struct call *c);

#endif
