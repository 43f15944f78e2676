/* What members show the bot: shares of screens, their newest pictures, and notes about them.
 *
 * Decisions are those of control/vision/core/shares.h; pictures are decoded by image_jail.h.
 * Pictures are kept in memory alone, the newest of each share, VISION_MEMORY in all. They are wiped
 * when a newer picture arrives, when the person leaves the voice channel, when somebody tells the
 * bot to stop watching, and when the share ends: by its page, by time, because the bot left, or
 * because screen_watch is off. Everything runs on env's thread. */
#ifndef CONTROL_VISION_VISION_H
#define CONTROL_VISION_VISION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/engine/core/ask.h"
#include "control/vision/core/shares.h"
#include "control/vision/image_jail.h"

struct bus;
struct env;
struct settings;
struct vision;

enum { VISION_MEMORY = 64 << 20, VISION_ABOUT_MAX = 400, VISION_NOTES_MAX = 4000 };
enum { VISION_FRESH_MS = 10000 }; /* an older picture is called old */

/* A video of ours: a film or the visualizer, as the account shows it. */
struct vision_show {
	uint64_t guild, channel;
	uint64_t user; /* who asked for it */
	bool visualizer;
	bool announced;		 /* the stream is there */
	bool playing;		 /* somebody watches it */
	uint64_t at_ms, seconds; /* where it is, and its length; 0: not known */
	const char *title;	 /* of strangers, or the name of its file; "": unknown */
	int viewers;	   /* besides the account; -1: not known, as in a stream in the clear */
	uint64_t asked_ms; /* since 1970 */
	/* Why it is over, a clause, and since when; NULL: it is not. */
	const char *why;
	uint64_t over_ms;
};
/* Why it is over. ASKED: its file has ended, somebody stopped it, or the bot is not there any more.
 * TOLD: Discord or mediad ended the stream, and the room has read why. */
enum vision_show_over {
	VISION_SHOW_BEGUN,
	VISION_SHOW_ASKED,
	VISION_SHOW_TOLD,
	VISION_SHOW_LOST,
	VISION_SHOW_FAILED,
	VISION_SHOW_UNWATCHED
};

/* Everything is borrowed for as long as it lives. */
struct vision_conf {
	struct env *env;
	struct bus *bus;
	const struct settings *settings;
	/* Those of one server, read anew each time. NULL: the same for all. */
	const struct settings *(*settings_of)(uint64_t guild, void *arg);
	const char *program; /* imaged */
	struct share_world world;
	/* A member's display name. */
	const char *(*nameh)(uint64_t guild, uint64_t user, void *arg);
	/* A model of this server gets what is shown. NULL: one does. */
	bool (*seesh)(uint64_t guild, void *arg);
	/* A member shows a screen in this voice channel from now on, or no longer. NULL accepted.
	 */
	void (*shownh)(const struct share_owner *owner, bool shown, void *arg);
	/* The stream of this share ended before a picture of it came: why, a clause; told: the room
	 * has read already why. NULL accepted. */
	void (*unseenh)(const struct share_owner *owner, const char *why, bool told, void *arg);
	/* The bot shows this video from now on (over: VISION_SHOW_BEGUN), or no longer. NULL
	 * accepted. */
	void (*showh)(const struct vision_show *what, enum vision_show_over over, void *arg);
	/* The picture of this share is a keyframe. NULL accepted. */
	void (*changedh)(const struct share_owner *owner, uint32_t share, void *arg);
	void *arg;
};

/* ENOMEM. Caller owns *out. */
int vision_alloc(struct vision **out, const struct vision_conf *conf);
struct vision *vision_free(struct vision *v);
/* The settings that hold in this server; 0: those of all. Borrowed until the next call. */
const struct settings *vision_settings(const struct vision *v, uint64_t guild);
/* The jail that decodes pictures; attachments are decoded in it, too. */
struct image_jail *vision_jail(struct vision *v);

/* ---- for commands and tools ---- */

/* A link's token for this owner, whose screen the bot watches from now on. Refusals of
 * shares_offer, and OFF. */
enum share_refusal vision_offer(struct vision *v, const struct share_owner *owner,
				char token[SHARE_SECRET_SIZE]);
/* Watches the open shares of this target in the channel, or watches them no more; target 0: all of
 * the channel. Returns how many there are. *why (NULL accepted): of a stream that cannot be
 * watched, a clause; else unchanged. */
unsigned vision_watch(struct vision *v, uint64_t guild, uint64_t channel, uint64_t target,
		      bool watched, const char **why);
/* What the bot shows in this channel: {"kind": "video" or "visualizer", "state": "opening",
 * "waiting" for somebody who watches or "playing", "askedBy", "atSeconds", "seconds": 0 where it is
 * not known}. Caller owns it; NULL: nothing, or no memory. */
json_t *vision_shown(const struct vision *v, uint64_t guild, uint64_t channel);
/* For the dashboard: what the bot shows in this channel, or what it showed last (out->why), for an
 * hour. *name: of who asked for it. Texts are borrowed until the next step. False: nothing. */
bool vision_show_last(const struct vision *v, uint64_t guild, uint64_t channel,
		      struct vision_show *out, const char **name);
/* "video" or "visualizer". */
const char *vision_show_kind(const struct vision_show *what);
/* "opening", "waiting" for somebody who watches, "playing", or "over". */
const char *vision_show_state(const struct vision_show *what);
/* [{"user", "name", "state", "watched", "frames", "ageMs" or null}], state "away" of who is not in
 * the channel or is not heard, and so shows nothing to the bot: the shares of a channel
 * without links that nobody has opened, which are their owners' affair. Caller owns it; NULL
 * without memory. */
json_t *vision_list(const struct vision *v, uint64_t guild, uint64_t channel);
/* The same for the dashboard, with the notes that models are told, the newest first: "notes"
 * [{"agoMs", "changed" in thousandths, 0: nothing had, "text" of the role see or null}]. */
json_t *vision_room(const struct vision *v, uint64_t guild, uint64_t channel);

/* ---- for models ---- */

struct vision_picture {
	struct engine_image image;    /* borrowed until the next step */
	uint64_t user;		      /* whose screen */
	uint32_t share, number;	      /* of the share, and of the picture in it */
	uint64_t age_ms;	      /* since the screen looked like this for sure */
	uint64_t words;		      /* differs once it is old, paused, or noted otherwise */
	char about[VISION_ABOUT_MAX]; /* whose it is and how old, as a sentence */
};
/* The newest picture of each share that is watched in this voice channel, the newest first. Returns
 * how many of at most `most`. */
size_t vision_latest(const struct vision *v, uint64_t guild, uint64_t channel,
		     struct vision_picture *out, size_t most);
/* A model was given those of this channel: streams are asked for key frames more often for a while.
 */
void vision_looked(struct vision *v, uint64_t guild, uint64_t channel);
/* Why no screen of the target (0: of anybody) can be looked at in this channel, as a sentence for
 * models. It may have a name that a stranger chose: to be cleaned by untrusted_clean_line. channel
 * 0: the bot is in none. False: one can be. */
bool vision_unseen(const struct vision *v, uint64_t guild, uint64_t channel, uint64_t target,
		   char out[VISION_ABOUT_MAX]);
/* Whose screen it was that ended there lately, by the name of then in any case; 0: nobody's. */
uint64_t vision_find_ended(const struct vision *v, uint64_t guild, uint64_t channel,
			   const char *name);
/* Whose screens models see there, by a picture or a note: at most `most` of them. */
size_t vision_whose(const struct vision *v, uint64_t guild, uint64_t channel, uint64_t *users,
		    size_t most);
/* The notes about them with their ages, as text; "" when there is nothing to tell. */
size_t vision_notes(const struct vision *v, uint64_t guild, uint64_t channel,
		    char out[VISION_NOTES_MAX]);

/* What the picture with this number of the share shows, as a model says. False: its notes are gone,
 * or wiped. */
bool vision_note(struct vision *v, uint32_t share, uint32_t number, const char *text);
/* What was said of the share before; "": nothing. Borrowed until the next step. */
const char *vision_noted(struct vision *v, uint32_t share);

/* ---- for the pages and programs that send pictures ---- */

/* The share that this cookie proves; 0: none. */
uint32_t vision_match_key(const struct vision *v, const char *key);
/* Exchanges the token for a key; key "" if the browser has it already. */
enum share_refusal vision_open(struct vision *v, const char *token, uint32_t browser,
			       char key[SHARE_SECRET_SIZE], uint32_t *share);
/* Before the picture is read: whether it is this browser's, and not too large. */
enum share_refusal vision_expect(struct vision *v, const char *token, uint32_t browser,
				 size_t bytes);
/* Takes a picture. known_type: of its media type. */
enum share_refusal vision_frame(struct vision *v, const char *token, uint32_t browser,
				bool known_type, struct slice picture, uint32_t *share);
/* The page scales its pictures down from a screen with a longer side of so many pixels; 0: it does
 * not say. Of the share that vision_frame gave. */
void vision_screen_side(struct vision *v, uint32_t share, uint32_t pixels);
/* The page is there: its screen is the same as before; or nobody knows, as its browser gives it no
 * new pictures; or its person has paused it. AWAY, TARGET_AWAY: it has said so, but nothing is seen
 * of it. */
enum vision_page { VISION_PAGE_SAME, VISION_PAGE_STALE, VISION_PAGE_PAUSED };
enum share_refusal vision_touch(struct vision *v, const char *token, uint32_t browser,
				enum vision_page page, uint32_t *share);
enum share_refusal vision_stop(struct vision *v, const char *token, uint32_t browser);
/* A picture of a target's screen by a program with the token of the settings. */
enum share_refusal vision_ingest(struct vision *v, uint64_t guild, uint64_t target, bool known_type,
				 struct slice picture, uint32_t *share);
/* What a page shows of its share: {"state", "watched", "blind": no model gets the pictures,
 * "wants", "frames", "problem", "settings":
 * {…}}. wants: its newest picture is not there, or was none, so that the page sends one though its
 * screen is the same as before. Caller owns it; NULL: there is none. */
json_t *vision_state(struct vision *v, uint32_t share);

/* ---- streams of Discord, a second source of screens (control/golive) ---- */

/* A video that somebody asks to be shown as a stream. Borrowed. */
struct vision_film {
	uint64_t guild, channel;
	uint64_t user;	 /* who asks */
	const char *url; /* http, https, or file: with a path beneath a folder of music */
	bool sound;
	/* In place of a file: the visualizer of the server's music with this mode, which is that of
	 * the setting music_visualizer plus one; 0: none. */
	unsigned visualizer;
};
/* It plays, or it is over before it did; why: a clause for people. Borrowed until return. */
struct vision_film_state {
	bool playing;
	const char *why, *title; /* title: of strangers; may be "" */
	uint64_t duration_ms;	 /* 0: not known */
};
typedef void(vision_film_h)(const struct vision_film_state *state, void *arg);
typedef void(vision_streamer_h)(uint64_t user, void *arg);
struct vision_streams {
	/* Calls h for each member who streams in this channel. */
	void (*eachh)(uint64_t guild, uint64_t channel, vision_streamer_h *h, void *h_arg,
		      void *arg);
	/* Watches this member's stream, which begins a share by vision_stream_begin. NULL: it does;
	 * else a clause, why not. */
	const char *(*watchh)(uint64_t guild, uint64_t channel, uint64_t user, void *arg);
	/* Shows a film: NULL, and h follows once; or a clause, why it does not. */
	const char *(*showh)(const struct vision_film *film, vision_film_h *h, void *h_arg,
			     void *arg);
	/* Ends the film of this server; false: there is none. */
	bool (*endh)(uint64_t guild, void *arg);
	/* What is shown in this server, or was last (out->why); false: nothing. NULL accepted. */
	bool (*nowh)(uint64_t guild, struct vision_show *out, void *arg);
	/* h with this argument is not called any more. */
	void (*forgeth)(const void *h_arg, void *arg);
	void *arg;
};
/* program: framed, which is started. ENOMEM. */
int vision_set_streams(struct vision *v, const struct vision_streams *streams, const char *program);
/* Begins the share of a member's stream, or finds it. Refusals of shares_offer, and OFF. */
enum share_refusal vision_stream_begin(struct vision *v, uint64_t guild, uint64_t channel,
				       uint64_t user, uint32_t *share);
/* True if films can be shown at all: by the account of the settings. */
bool vision_shows(const struct vision *v);
/* As the functions of vision_streams. */
const char *vision_show(struct vision *v, const struct vision_film *film, vision_film_h *h,
			void *arg);
bool vision_end_show(struct vision *v, uint64_t guild);
/* It begins (VISION_SHOW_BEGUN), once, or is over, after it began: an event, and conf's showh. why:
 * a clause for the event. */
void vision_show_changed(struct vision *v, const struct vision_show *what,
			 enum vision_show_over over, const char *why);
/* NULL accepted. */
void vision_forget_show(struct vision *v, const void *arg);
/* GONE: the share ended, or nobody watches it any more. BUSY: a key frame is being decoded, or was
 * a moment ago, so that another one is dropped: a stream may consist of key frames. */
enum vision_stream { VISION_STREAM_GONE, VISION_STREAM_BUSY, VISION_STREAM_WANTS };
enum vision_stream vision_stream_state(const struct vision *v, uint32_t share);
/* Takes a key frame, of at most FRAME_BYTES_MAX bytes. */
enum share_refusal vision_stream_frame(struct vision *v, uint32_t share, enum frame_codec codec,
				       struct slice frame);
void vision_stream_paused(struct vision *v, uint32_t share, bool paused);
/* Ends the share; why: a word for the log; failure: why it failed, a clause, which is told if no
 * picture has come; NULL: it did not; told: the room has read why. */
void vision_stream_end(struct vision *v, uint32_t share, const char *why, const char *failure,
		       bool told);
/* How long after a key frame was asked for the next one is, in ns. Each costs the streamer's other
 * viewers a part of their picture, so it is longer when no model has looked for a while. */
uint64_t vision_stream_spacing(const struct vision *v, uint32_t share);

/* True if this person's screen may be shown in this voice channel: they are there, and are not
 * refused. */
bool vision_may_show(const struct vision *v, uint64_t guild, uint64_t channel, uint64_t user);
/* This person's shares in this server (0: in all) end: erased, or not to be heard any more. NULL
 * accepted. */
void vision_forget(struct vision *v, uint64_t guild, uint64_t user);

#endif
