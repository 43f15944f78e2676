/* The state that the files of control/media/ share: the calls, listens and playbacks of one struct
 * media. */
#ifndef CONTROL_MEDIA_CALL_H
#define CONTROL_MEDIA_CALL_H

#include "control/media/link.h"
#include "control/media/media.h"
#include "proto/media.h"

struct child;
struct tmr;

struct listen {
	struct listen *next;
	uint64_t user;
	uint32_t id; /* of the newest LISTEN; 0 before the first */
	uint32_t rate;
	uint16_t silence_ms;
	bool told; /* the mediad has it, in this form */
};

/* A listen that found no memory; it is tried again. */
struct owed_listen {
	uint64_t user; /* 0: none */
	uint32_t rate;
	uint16_t silence_ms;
};

struct consent {
	struct consent *next;
	uint64_t user;
	bool yes;
};

struct media_playback {
	struct media_playback *next;
	struct media_call *call; /* NULL once the call was freed */
	uint32_t id, rate;
	media_playback_h *h;
	void *arg;
	/* Backlog: len samples from start on. The `kept` samples before them were sent, but not
	 * taken for sending to Discord yet: another mediad would need them. */
	int16_t *pcm;
	size_t start, len, kept, cap;
	/* In samples of the whole playback; left: that left the socket. */
	uint64_t written, sent, credit, left;
	uint64_t base;	 /* where the present mediad began */
	uint64_t unsent; /* of `sent`: never reached the mediad, as it reported while syncing */
	uint64_t window; /* the first credit it gave */
	uint32_t seq;
	bool opened;  /* mediad knows it */
	bool started; /* its first sample has left the socket */
	bool ended, end_sent, stopping, over;
	bool paused;   /* as desired */
	uint16_t gain; /* the same */
	uint16_t stop_fade_ms;
	bool inherited;	  /* of the control before us: owned by the call, nobody writes to it */
	bool reported;	  /* by the mediad since it was connected */
	uint64_t lost_at; /* when its mediad was lost, 0 while it is there */
};

struct media_call {
	struct media_call *next;
	struct media *media;
	struct media_want want;
	media_call_h *h;
	void *arg;
	struct media_link *link; /* which mediad has it; NULL: none yet */
	bool open;		 /* that mediad knows it, and is synced */
	bool reported;		 /* told by the mediad while syncing */
	bool tell;		 /* last is still to be told to the handler */
	uint32_t id, gen;
	uint64_t lost_at;
	bool has_last;
	struct media_call_state last;
	char mode[48];
	bool has_secure;
	struct media_call_secure secure;
	char privacy_code[32];
	struct listen *listens;
	struct owed_listen owed[MEDIA_LISTENS_OWED];
	struct consent *consents;
	unsigned n_consents;
	bool lost_refusal; /* of a user, for want of memory */
	struct media_playback *playbacks;
	bool watches_music;	  /* MUSIC_ANALYSIS is wanted */
	bool watch_told;	  /* mediad was told that it is, or a film needs it */
	bool has_spoken;	  /* this control has opened a playback in it */
	uint64_t watched;	  /* user of VIDEO_WATCH; 0: none */
	struct media_video video; /* of VIDEO_PUBLISH; codec 0: none */
	uint32_t frames;	  /* that were shown */
	struct {
		uint32_t id; /* of VIDEO_PLAY; 0: none */
		uint8_t kind, root;
		bool paused, sound;
		uint8_t visualizer; /* of kind visualizer, with the server whose music it shows */
		uint64_t music;
		uint64_t at_ms; /* as mediad told it */
		char *path;	/* owned */
	} film;
	uint8_t quality;
};

struct media {
	struct env *env;
	struct media_link **links;
	unsigned n_links;
	struct child *spawned;
	struct tmr *tmr;
	uint64_t wake_at;    /* when tmr fires, 0 when it does not run */
	uint64_t settled_at; /* from then on a call that no mediad told of is in none */
	struct media_call *calls;
	struct media_link_hello hello;
	bool log_told; /* a mediad logs as level and json say, not as it was started */
	uint8_t log_level;
	bool log_json;
	uint32_t next_call, next_listen, next_playback, next_film;
	uint32_t first_playback; /* from there to next_playback: of this control */
	unsigned n_folders;	 /* of music, that each mediad has to have */
	char *addresses;	 /* of music that are not public, as web_read_allowed; owned */
	bool music_web, music_downloader;
	media_wants_h *wantsh;
	media_link_h *linkh;
	void *arg;
	unsigned n_synced;
	/* Calls that a mediad told and nobody wants: closed when it is synced. */
	struct stray {
		struct media_link *link;
		uint32_t call, gen;
	} * strays; /* owned */
	size_t n_strays, cap_strays;
};

/* MEDIA_RESUME_MS: a playback waits this long for a mediad to continue it. MEDIA_FULL_MS: a mediad
 * that refused a call gets no other one for so long, if another mediad has room. */
enum {
	MEDIA_RESUME_MS = 5000,
	MEDIA_MOVE_MS = 3000,
	MEDIA_SETTLE_MS = 1000,
	MEDIA_RELISTEN_MS = 1000,
	MEDIA_RETRY_MS = 20,
	MEDIA_FULL_MS = 10000,
	MEDIA_CONSENTS_MAX = 16384, /* as many people as mediad keeps (mediad/call/hear.c) */
};

/* A message for this call's mediad; ENOTCONN while it has none. */
int media_call_send(struct media_call *call, struct media_msg *msg);
/* media.c: this control has started it. */
bool media_is_spawned(const struct media *m, const struct media_link *l);
/* music.c: as media_music_hint. */
const char *media_find_hint(const struct media *m, const struct media_link *l,
			    enum media_music_lack lack);
/* Tells this mediad what to log, unless it is as it was started. */
void media_tell_log(const struct media *m, struct media_link *l);
/* Looks after lost calls and playbacks in ms at the latest. */
void media_wake(struct media *m, unsigned ms);

/* media.c: gives the call to the least loaded mediad, when one is synced. */
void media_place_call(struct media_call *call);
/* Gives a call that its mediad refused to another one. False if none is known to have room. */
bool media_try_next(struct media_call *call);
/* The same as media_place_call for each call that has no mediad yet. */
void media_place_calls(struct media *m);

/* call.c: makes the call known to its mediad, as a new one or as the mediad reported it. */
void media_call_bring_up(struct media_call *call);
/* True if a mediad without room refuses the call: it does not hold it, so it names no guild. */
bool media_refuses_call(const struct media_call_state *s);
/* The call is in no mediad then, although its mediad is there: the next lease opens it anew. */
void media_call_note_refusal(struct media_call *call);
bool media_call_is_refused(const struct media_call *call);
/* Tries the listens again that found no memory. */
void media_call_listen_again(struct media_call *call);
/* Sends the listens that the mediad of an open call does not have. */
void media_call_send_listens(struct media_call *call);
void media_call_send_unlisten(struct media_call *call, uint32_t listen);

/* video.c: sends what is watched and shown to the mediad of an open call. */
void media_call_send_video(struct media_call *call);
/* Takes a VIDEO_FILM. False: it is about an earlier film. */
bool media_call_take_film(struct media_call *call, const struct media_video_film *m);
void media_call_forget_film(struct media_call *call);
/* call.c: a film that shows music began or ended. */
void media_watch_calls(struct media *m);

/* resync.c: handlers of a link (link.h); arg is the struct media. */
void media_on_message(struct media_link *l, const struct media_msg *msg, void *arg);
void media_on_synced(struct media_link *l, void *arg);
void media_on_lost(struct media_link *l, void *arg);

/* music.c: true if it is not known which addresses the mediad reads, or this is one of them. */
bool media_music_reads(const struct media_music_means *d, const char *url);

/* playback.c */
struct media_playback *media_playback_find(struct media_call *call, uint32_t id);
void media_playback_message(struct media_playback *pb, const struct media_msg *msg);
/* A mediad reports a playback that none of ours is: the control before us began it, if we have not
 * spoken yet. Claims it once the mediad is synced, and tells the call's handler. */
void media_playback_inherit(struct media_call *call, const struct media_msg *msg);
/* The mediad is synced: claim what it told, give up what it did not. */
void media_playbacks_synced(struct media_call *call);
void media_playbacks_lost(struct media_call *call, uint64_t now_ns);
void media_playbacks_detach(struct media_call *call);
/* Sends what waits and ends what was lost too long ago. True when it should be called again soon.
 */
bool media_playbacks_tick(struct media_call *call, uint64_t now_ns);

#endif
