/* The state of a jukebox, shared by jukebox.c (the link to mediad, saving, who is told) and
 * requests.c (what people ask), pages.c (music whose address has to be found first). */
#ifndef CONTROL_JUKEBOX_INSIDE_H
#define CONTROL_JUKEBOX_INSIDE_H

#include "control/jukebox/jukebox.h"
#include "control/music/player.h"

struct music_found;
struct tmr;

struct jukebox {
	struct jukebox_conf conf;
	struct media_call *call;   /* NULL: outside */
	struct music_queue *queue; /* owned; NULL until the first jukebox_enter */
	struct music_player player;
	struct music_votes votes;
	struct tmr *tmr;   /* tells and saves what has changed, after the running step */
	struct tmr *saver; /* saves what has changed too soon after it was saved */
	struct {
		jukebox_changed_h *changedh;
		jukebox_failed_h *failedh;
		void *arg;
	} subscriber[JUKEBOX_SUBSCRIBERS];
	struct music_report heard; /* the newest of the present music */
	uint32_t fixed;		   /* music that cannot start anywhere else; 0: none */
	struct jukebox_title {
		uint32_t music; /* 0: none */
		char text[TRACK_TITLE_MAX];
	} titles[2]; /* of what plays on the present music and on the prepared one, in any order */
	struct {
		uint32_t music; /* 0: none */
		struct track tags;
	} station; /* its tags, which are those of a song unless it proves to be a file */
	struct jukebox_page {
		struct jukebox *j;
		uint32_t music; /* that waits for the stream of its page; 0: none */
		struct music_request *request;
		const char *failed; /* why it cannot be played; told after the running step */
		enum music_fault fault;
	} pages[2]; /* of the present music and of the prepared one, in any order */
	struct {
		uint32_t entry;
		uint64_t at;
	} renewed[2]; /* entries whose streams were looked for once more, the newest first */
	struct {
		uint64_t revision;
		enum jukebox_phase phase;
		unsigned titles;
	} told;
	unsigned n_titles;   /* changes of the titles */
	unsigned lacks_told; /* bits of enum media_music_lack: in the log already */
	uint64_t saved_revision, saved_position;
	uint64_t queue_due, position_due; /* not saved again before */
};

/* Sends an order to mediad. found: the stream of its page; NULL: it is of none. */
int jukebox_send(struct jukebox *j, const struct music_order *o, const struct music_found *found);
/* The reason, for people, why no mediad of this version takes such an order: it is too long, or the
 * mediad is too old ("": nothing to tell). NULL: it was sent, or the link is lost and the music
 * goes on when it is back. Static. */
const char *jukebox_refusal(int err);
/* Handler of the player's orders; arg is the jukebox. */
void jukebox_order(const struct music_order *o, void *arg);
/* A state of music, from mediad or about a page. reason: as in jukebox_failed_h. */
void jukebox_report(struct jukebox *j, const struct music_report *r, const char *reason);

/* pages.c: the order is about a page: looks for its stream, and sends the order then. */
void jukebox_find_stream(struct jukebox *j, const struct music_order *o);
/* True while the present music waits for its stream: what follows it is ordered behind it. */
bool jukebox_finds_present(const struct jukebox *j);
/* Forgets searches for music that is neither present nor prepared any more. */
void jukebox_drop_pages(struct jukebox *j);
/* The server refuses the stream of this music, which may have expired: looks for it once more and
 * goes on where it was. False: it is of no page, or was looked for just now. */
bool jukebox_renew_stream(struct jukebox *j, uint32_t music);
/* This music, of an order of the player, fails after the running step. why: static. */
void jukebox_fail_later(struct jukebox *j, uint32_t music, const char *why);
/* Reports pages that cannot be looked for. Returns true if there are any more. */
bool jukebox_fail_pages(struct jukebox *j);

/* Something may have changed: tells and saves it after the running step. */
void jukebox_settle(struct jukebox *j);

#endif
