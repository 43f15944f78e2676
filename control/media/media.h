/* control's side of the link to one or more mediads: desired state, credentials as leases,
 * playbacks under credit.
 *
 * Its owner says what ought to be (a call in this channel, this user listened to); the link makes
 * it so, and makes it so again when a mediad dies and comes back or when this control replaces
 * another (law 4). Messages of an older generation, and of playbacks that are over, never reach a
 * handler (law 5).
 *
 * Everything runs on env's loop thread. Handlers may call any function here, including the free of
 * their own object. */
#ifndef CONTROL_MEDIA_MEDIA_H
#define CONTROL_MEDIA_MEDIA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/media_folder.h"

struct env;
struct http_guard;
struct media;
struct media_call;

struct media_playback;
struct media_msg;

/* mediad asks for a fresh session, token and endpoint of this call (law 4): ask Discord by op 4,
 * then media_call_credentials(). */
typedef void(media_wants_h)(struct media_call *call, void *arg);
/* A message about this call, of its current generation: CALL_STATE, MEMBER, SPEAKING, HEARD,
 * HEARD_END, CALL_SECURE, CODE, CALL_STATS, USER_STATS; MUSIC_STATE, MUSIC_TAGS, MUSIC_TITLE,
 * MUSIC_ANALYSIS of any generation, also before the first CALL_STATE, of music of the control
 * before this one; and a FAULT of its mediad. SAY_STATE, SAY_DRAINED and SAY_STOPPED are about the
 * speech of the control before this one: it goes on, with `ended` to its end, until this control
 * opens its first playback. They come before the first CALL_STATE. Borrowed until return.
 */
typedef void(media_call_h)(struct media_call *call, const struct media_msg *msg, void *arg);
/* The first mediad is there (true), or the last one went away (false). */
typedef void(media_link_h)(bool up, void *arg);

struct media_conf {
	const char *const
		*socks; /* paths of mediad sockets, NULL-terminated; calls go to the least loaded */
	const char
		*spawn; /* or: the mediad program to run as a child, restarted when it dies; NULL */
	const char *ca_file; /* for a spawned mediad; NULL */
	const char *run_dir; /* where a spawned mediad's socket goes */
	/* Music: folders with colons between them, each with its place as the root of its files,
	 * and which addresses of the web are played although they are not public
	 * (control/settings). A spawned mediad gets both; the log warns of another one without
	 * them. NULL: none. */
	const char *music_folders, *music_addresses;
	bool music_web;	       /* addresses are played */
	bool music_downloader; /* music is played from other sources than folders */
	uint64_t user;	       /* the bot's user id; known after READY: media_set_user */
	uint64_t epoch;	       /* rises with every start of control */
	bool members;	       /* MEMBER messages are wanted */
	media_wants_h *wantsh;
	media_link_h *linkh;
	void *arg;
};

/* Copies conf. Connects in the background, for ever, with backoff 50 ms … 250 ms. */
int media_alloc(struct media **out, struct env *env, const struct media_conf *conf);
/* Frees also the calls that are still open; they go on in mediad. */
struct media *media_free(struct media *m);
/* Lets go of every mediad: calls and playbacks freed from now on go on there, for the next control.
 */
void media_disconnect(struct media *m);
/* Some speech was opened and is not wholly in mediad yet. */
bool media_has_unsent(const struct media *m);
void media_set_user(struct media *m, uint64_t user);
/* What every mediad and its decoders write to the log, also those that come later. level: 0 as they
 * were started, else enum log_level plus one. An older mediad is not told. */
void media_set_log(struct media *m, unsigned level, bool json);
/* Numbers of mediads: connected, and expected. */
void media_count(const struct media *m, unsigned *there, unsigned *all);
/* True if a mediad has lost the real-time priority of its audio threads. */
bool media_lacks_real_time(const struct media *m);
/* A newer control has taken a mediad over: this one should end. */
bool media_superseded(const struct media *m);

struct media_want {
	uint64_t guild, channel;
	uint64_t user; /* whose session it is; 0: the bot's */
	uint32_t bitrate;
	uint8_t complexity; /* of the encoder at most; 0: mediad's choice */
	bool mute, deaf, stage;
	bool consent; /* of users not told by media_call_consent */
	uint8_t e2ee; /* enum media_e2ee */
	bool retired; /* transport encryption that Discord retired may be used */
	bool stream;  /* of a Go Live stream: guild and channel are its session's */
};

/* The call ought to exist. Owned by the caller; media_call_free leaves it. */
int media_call_open(struct media_call **out, struct media *m, const struct media_want *want,
		    media_call_h *h, void *arg);
struct media_call *media_call_free(struct media_call *call);
void media_call_set_handler(struct media_call *call, media_call_h *h, void *arg);
/* Changes what ought to be. */
int media_call_set(struct media_call *call, const struct media_want *want);
const struct media_want *media_call_want(const struct media_call *call);
/* A lease for the next generation. Copied into one message and forgotten. A call that mediad had no
 * room for is opened anew: otherwise nobody would hear of a lease that finds no call. */
int media_call_credentials(struct media_call *call, const char *session, const char *token,
			   const char *endpoint, uint64_t channel);
/* The newest CALL_STATE of this call, NULL before the first. */
const struct media_call_state *media_call_last(const struct media_call *call);
/* The newest CALL_SECURE, NULL before the first and while its mediad is lost. Borrowed. */
const struct media_call_secure *media_call_secured(const struct media_call *call);
/* True if the mediad of this call, which is connected, has lost real-time priority. */
bool media_call_lacks_real_time(const struct media_call *call);
/* Whether the mediad of this call decodes music, the folders of its files in their order, and which
 * addresses it reads. */
struct media_music_means {
	bool running;
	unsigned n;
	struct media_folder folder[MEDIA_FOLDERS];
	const struct http_guard *guard; /* NULL: it does not tell */
};
/* Why the mediad of a call plays no such track. */
enum media_music_lack {
	MEDIA_MUSIC_LACKS_NOTHING,  /* as far as is known */
	MEDIA_MUSIC_LACKS_DECODERS, /* it plays none at all */
	MEDIA_MUSIC_LACKS_FOLDER,   /* it was started without the folder of the file */
	MEDIA_MUSIC_LACKS_ADDRESS,  /* it does not read this address */
};
/* For the log. lack: not NOTHING. The hint says what whoever runs them has to do. Static. */
const char *media_music_lack_name(enum media_music_lack lack);
const char *media_music_hint(const struct media_call *call, enum media_music_lack lack);
/* NULL: the call has no mediad that is connected, or one that does not tell. Borrowed. */
const struct media_music_means *media_call_music_means(const struct media_call *call);
/* The verification code of this member, please: CODE comes to the handler. ENOTCONN. */
int media_call_verify(struct media_call *call, uint64_t user);
uint64_t media_call_guild(const struct media_call *call);

/* ---- video of a stream ---- */
/* Watches this user's video: VIDEO_SOURCE and VIDEO_FRAME come to the handler, key frames alone.
 * quality: 1 to 100, as the server understands it; 0: no longer. One user in a call, kept over
 * restarts of mediad; before the first credentials. */
void media_call_watch(struct media_call *call, uint64_t user, uint8_t quality);
/* Our own stream. codec: enum media_video_codec; sizes in pixels, bitrate in bit/s. */
struct media_video {
	uint8_t codec, fps;
	uint16_t width, height;
	uint32_t bitrate;
};
/* The call shows this video from now on, over restarts of mediad, too; NULL: no longer. Before the
 * first credentials. VIDEO_STATE comes to the handler. */
void media_call_publish(struct media_call *call, const struct media_video *video);
/* A frame of it, when it is due; rtp: its time at 90 kHz. At most MEDIA_VIDEO_FRAME_MAX bytes.
 * ENOTCONN, EMSGSIZE, and errors of the link. */
int media_call_show(struct media_call *call, uint32_t rtp, bool key, const uint8_t *frame,
		    size_t n);
/* A film: the video of a source, which mediad opens and shows frame by frame. Borrowed. */
struct media_film {
	uint8_t kind, root; /* enum media_music_kind; of a file: which of mediad's folders */
	const char *path;   /* beneath it, or a URL */
	uint64_t start_ms;
	uint8_t visualizer; /* of MEDIA_MUSIC_VISUALIZER, as VIDEO_PLAY has it */
	uint64_t music;	    /* the server whose music that shows */
	bool sound;	    /* with its sound */
};
/* The call shows this film in place of media_call_publish, over restarts of mediad from where it
 * was; NULL: no longer. Before the first credentials. VIDEO_FILM of it comes to the handler.
 * ENOMEM.
 */
int media_call_play(struct media_call *call, const struct media_film *film);
/* Why the call's mediad shows no such film, as far as is known. folders: how many control has; a
 * file may be in film->root or in a later one. */
enum media_music_lack media_film_find_lack(const struct media_call *call,
					   const struct media_film *film, unsigned folders);
void media_call_pause_film(struct media_call *call, bool paused);
/* The session of a stream that was opened before it had one: the next credentials are for this
 * server and channel. */
void media_call_set_server(struct media_call *call, uint64_t guild, uint64_t channel);
/* A key frame of who is watched, please. mediad asks at most once a second. ENOTCONN. */
int media_call_ask_key(struct media_call *call);

/* MUSIC_ANALYSIS comes to the handler from now on while music plays, over restarts of mediad, too;
 * or no longer. */
void media_call_watch_music(struct media_call *call, bool on);

/* As many users as a room listens to. */
enum { MEDIA_LISTENS_OWED = 64 };

/* Requests this user's audio at a rate of 8000, 12000, 16000, 24000 or 48000 Hz; 0 ends that. Kept
 * over restarts. ENOMEM: it is tried again every second, for MEDIA_LISTENS_OWED users at once. */
int media_call_listen(struct media_call *call, uint64_t user, uint32_t rate, uint16_t silence_ms);
/* Kept over restarts as well, for as many people as mediad keeps. ENOMEM: a refusal counts from
 * then on, in this call, for everybody who has no consent of their own. */
int media_call_consent(struct media_call *call, uint64_t user, bool yes);
/* True if the user's audio is requested; true if the user consents. */
bool media_call_listens(const struct media_call *call, uint64_t user);
bool media_call_consents(const struct media_call *call, uint64_t user);

/* ---- speech ---- */
enum media_playback_event {
	MEDIA_PB_STARTED, /* first sample left the socket; at_ns */
	MEDIA_PB_PAUSED,  /* samples that left so far */
	MEDIA_PB_DRAINED, /* all of it left; the last event */
	MEDIA_PB_STOPPED, /* reason from enum media_reason; the last event, also when mediad was
			     lost */
};
/* samples: really sent, at the playback's rate. */
typedef void(media_playback_h)(struct media_playback *pb, enum media_playback_event ev,
			       uint64_t samples, unsigned reason, uint64_t at_ns, void *arg);

/* One utterance. PCM s16le mono at `rate`. Owned by the caller. A prepared playback keeps what is
 * written to it until media_playback_start opens it in mediad; media_playback_open does both.
 * media_playback_start: ENOTCONN while no mediad has the call, or without a call. */
int media_playback_prepare(struct media_playback **out, struct media_call *call, uint32_t rate,
			   media_playback_h *h, void *arg);
int media_playback_start(struct media_playback *pb);
int media_playback_open(struct media_playback **out, struct media_call *call, uint32_t rate,
			media_playback_h *h, void *arg);
/* Copies n samples into the backlog; what credit allows goes out at once, the rest as it comes.
 * ENOBUFS beyond 300 s of backlog. */
int media_playback_write(struct media_playback *pb, const int16_t *pcm, size_t n);
/* No more will be written: DRAINED follows. */
void media_playback_end(struct media_playback *pb);
void media_playback_pause(struct media_playback *pb, uint16_t fade_ms);
void media_playback_resume(struct media_playback *pb, uint16_t fade_ms);
/* gain in thousandths. */
void media_playback_gain(struct media_playback *pb, uint16_t gain, uint16_t fade_ms);
void media_playback_stop(struct media_playback *pb, uint16_t fade_ms);
/* Samples written so far, and the newest count of those that left (from events and credit). */
uint64_t media_playback_written(const struct media_playback *pb);
/* Stops it when it still runs; no event comes after. */
struct media_playback *media_playback_free(struct media_playback *pb);

/* Stops what the control before us said in this call and mediad still plays. */
void media_call_stop_inherited(struct media_call *call);
/* True if mediad still plays some of that, and nobody has stopped it. */
bool media_call_plays_inherited(const struct media_call *call);

#endif
