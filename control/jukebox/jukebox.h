/* One server's music while the bot is in a voice channel: it performs what people ask, with their
 * rights, keeps mediad in step with the queue, and saves the queue.
 *
 *   state      input                                  next
 *   outside    enter                                  inside, without mediad
 *   inside     the call is in mediad                  its music is claimed, or begins where it was
 *              mediad is lost                         inside, without mediad
 *              a state of the music                   the queue's position; the next track
 *              a request                              the queue, then orders to mediad
 *              leave                                  outside: the music stops, and is paused when
 *                                                     the bot comes back
 *
 * The queue is the pure control/music/queue.h, and control/music/player.h decides what mediad is
 * ordered. It is saved at each change, a long one once a second or two, and its position in a row
 * of its own each second while it plays. The position after a crash of control comes from mediad,
 * which plays on; the saved one counts when both have ended.
 *
 * A shell; runs on env's loop thread. Handlers may call everything here but jukebox_free. */
#ifndef CONTROL_JUKEBOX_H
#define CONTROL_JUKEBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/music/policy.h"
#include "control/music/queue.h"

struct env;
struct jukebox;
struct media_call;
struct media_msg;
struct music_sources;
struct queue_shelf;
struct settings;
struct store;

enum { JUKEBOX_SUBSCRIBERS = 4, JUKEBOX_LISTENERS = MUSIC_VOTES };

/* Who asks: fills in the rights of this user. */
typedef void(jukebox_person_h)(struct music_person *to, uint64_t user, void *arg);
/* Writes the ids of the people in the channel who can hear the music; returns their number. */
typedef size_t(jukebox_listeners_h)(uint64_t *to, size_t max, void *arg);
/* The music changed in a way that people see: present track, phase, queue, volume, loop, title. At
 * most once for all changes of one step of the loop. */
typedef void(jukebox_changed_h)(struct jukebox *j, void *arg);
/* What follows the failure of a track. */
enum jukebox_failure {
	JUKEBOX_REMOVED,  /* it has left the queue */
	JUKEBOX_WAITS,	  /* at the end, until others have played */
	JUKEBOX_GIVEN_UP, /* it has waited so, and has left the queue now */
	JUKEBOX_STOPPED,  /* it was the last of MUSIC_FAILURES in a row, or it stays because no
			   * track can be decoded, and the music waits until somebody asks for it */
};
/* A track failed. reason: a clause such as "the file does not exist", or ""; both are borrowed
 * until return. */
typedef void(jukebox_failed_h)(struct jukebox *j, const struct track *track, const char *reason,
			       enum jukebox_failure failure, void *arg);

/* A seek was not possible, and the track plays on where it was. Both are borrowed until return. */
typedef void(jukebox_unsought_h)(const struct track *track, const char *reason, void *arg);

struct jukebox_conf {
	struct env *env;
	uint64_t guild;
	const struct settings *settings; /* read at each request */
	struct store *store;		 /* may be NULL: nothing is saved */
	struct music_sources *sources;	 /* of streams of pages; may be NULL: there are none */
	struct queue_shelf *shelf;	 /* where its queue is, and is put back; may be NULL */
	jukebox_person_h *personh;
	jukebox_listeners_h *listenersh;
	jukebox_unsought_h *unsoughth; /* may be NULL */
	void *arg;
};

/* conf is copied. ENOMEM. The caller owns *out and frees it before env. */
int jukebox_alloc(struct jukebox **out, const struct jukebox_conf *conf);
/* Saves the queue; the music plays on in mediad unless jukebox_leave was called. */
struct jukebox *jukebox_free(struct jukebox *j);

/* failedh may be NULL. ENOSPC: JUKEBOX_SUBSCRIBERS. */
int jukebox_subscribe(struct jukebox *j, jukebox_changed_h *changedh, jukebox_failed_h *failedh,
		      void *arg);
void jukebox_unsubscribe(struct jukebox *j, const void *arg);

/* The bot is in this channel with this call, borrowed until jukebox_leave. In another channel than
 * that of the saved queue the queue is a new one. While it is inside: the bot was moved, and the
 * music goes on there. ENOMEM. */
int jukebox_enter(struct jukebox *j, struct media_call *call, uint64_t channel);
/* Settings have changed: sends mediad the present rules for ducking. */
void jukebox_settings(struct jukebox *j);
/* The bot leaves: the music stops. Before the call is freed. */
void jukebox_leave(struct jukebox *j);
/* CALL_STATE and messages of music of the call. */
void jukebox_media(struct jukebox *j, const struct media_msg *msg);
/* Somebody came or left: a vote may pass without them. */
void jukebox_listeners_changed(struct jukebox *j);

struct jukebox_request {
	enum music_act act;
	uint64_t user;		    /* 0: the bot itself, with all rights */
	const struct track *tracks; /* PLAY, QUEUE_ADD; the user becomes their requester */
	size_t n;
	uint32_t entry; /* REMOVE, MOVE, JUMP, SKIP (0: the present one) */
	size_t place; /* MOVE, QUEUE_ADD, if the rights allow it: 0 is next, MUSIC_QUEUE_END the end
		       */
	uint64_t position; /* SEEK: frames */
	unsigned volume;   /* VOLUME: thousandths */
	enum music_loop loop;
};

struct jukebox_answer {
	enum music_verdict verdict; /* of others than MUSIC_ALLOWED nothing has changed */
	struct music_tally tally;   /* of MUSIC_NEEDS_VOTE: the vote counts */
	enum music_turn turn; /* why new tracks went to the end; of a MOVE that needs a DJ: why */
	size_t place;	      /* of the first new track, or of the moved one; 0: it plays now */
	size_t n; /* tracks that CLEAR and STOP took away; that found room, of PLAY and QUEUE_ADD */
	bool has_track;
	struct track
		track; /* that the request was about: skipped, removed, moved, or present now */
};

/* Returns 0 (look at verdict), or
 *   ENOTCONN  the bot is in no call        ENOENT  no such entry, or nothing plays
 *   EALREADY  it is paused, or plays, already
 *   ENOSPC    the queue is full            ENOTSUP  SEEK in a live stream, or one without ranges
 *   ENODEV    mediad plays no music        ENXIO    it was started without the folder of a track
 *   EADDRNOTAVAIL  it was started without an address
 *   EINVAL, ENOMEM
 * SEARCH and NOW_PLAYING only judge. PLAY by a person who may not skip the present track without a
 * vote comes next, behind it. */
int jukebox_do(struct jukebox *j, const struct jukebox_request *r, struct jukebox_answer *a);

/* For showing it; borrowed until its next change. */
const struct music_queue *jukebox_queue(const struct jukebox *j);

enum jukebox_phase {
	JUKEBOX_IDLE, /* no track */
	JUKEBOX_OPENING,
	JUKEBOX_PLAYING,
	JUKEBOX_WAITING, /* it plays, but its source brings nothing at the moment */
	JUKEBOX_PAUSED,	 /* by a person; not by jukebox_hold */
	JUKEBOX_HALTED,	 /* too many tracks have failed */
};
enum jukebox_phase jukebox_phase(const struct jukebox *j);
/* What a radio stream says that it plays now; NULL: nothing. Borrowed until the next message. */
const char *jukebox_title(const struct jukebox *j);

/* The votes to skip the present track; votes 0: none was given. */
struct music_tally jukebox_votes(const struct jukebox *j);

/* The room's wake latch: pauses the music, without rights and without a change of the queue's own
 * pause. */
void jukebox_hold(struct jukebox *j, bool held);
/* An erasure: no track names this user as its requester any more. */
void jukebox_forget(struct jukebox *j, uint64_t user);

#endif
