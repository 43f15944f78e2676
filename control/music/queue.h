/* The music queue of one voice channel: the tracks that were played, the present one, and those
 * that wait.
 *
 *   history (at most 50) | present track, then the waiting ones (together at most 500)
 *
 *   request            list                                    present track
 *   play               new tracks go after the present one     the first of them
 *   next               new tracks go after the present one     unchanged
 *   add, insert        new tracks go to the end, or to a place unchanged
 *   skip               the present one goes to the history     the following one
 *   jump               those before it go to the history       the named one
 *   previous           unchanged after 5 s; else one back      the same from its start, or the last
 *   stop               waiting tracks go                       none
 *   end of a track     loop track: unchanged; else as skip     loop track: the same; else as skip
 *   failure            the track is removed                    the following one
 *
 * In a queue that loops, a track goes to the end of the list instead of the history. Without a
 * present track nothing waits, so a request to add starts the first new track. A track that fails
 * is removed so that no loop retries it forever. Ids of entries are never reused in a queue, so a
 * late request cannot reach another track.
 *
 * control decides by this list, and mediad knows the present track and the following one. Positions
 * are frames of 48 kHz that left the socket. Pure. */
#ifndef CONTROL_MUSIC_QUEUE_H
#define CONTROL_MUSIC_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/music/track.h"

struct music_queue;

enum {
	MUSIC_QUEUE_WAITING = 500, /* with the present track */
	MUSIC_QUEUE_HISTORY = 50,
	MUSIC_QUEUE_RESTART_S = 5, /* previous restarts a track that has played for longer */
	MUSIC_VOLUME_FULL = 1000,  /* thousandths */
	MUSIC_FRAMES_PER_S = 48000,
};
#define MUSIC_POSITION_MAX ((uint64_t)TRACK_DURATION_MAX_S * MUSIC_FRAMES_PER_S)

/* L(NAME, name): the name stands in commands and in saved queues. */
#define MUSIC_LOOPS(L)                                                                             \
	L(OFF, "off")                                                                              \
	L(TRACK, "track")                                                                          \
	L(QUEUE, "queue")

enum music_loop {
#define L(NAME, name) MUSIC_LOOP_##NAME,
	MUSIC_LOOPS(L)
#undef L
		MUSIC_LOOP_COUNT
};

enum music_end { MUSIC_ENDED, MUSIC_SKIPPED, MUSIC_FAILED };

const char *music_loop_name(enum music_loop loop);
bool music_loop_parse(enum music_loop *loop, const char *name);

/* ENOMEM. The caller owns *out. */
int music_queue_alloc(struct music_queue **out, uint64_t guild, uint64_t channel);
struct music_queue *music_queue_free(struct music_queue *q);
/* An empty queue goes on where another one of its server ends: as loud, and with other ids and
 * numbers, since messages and reports about tracks outlive their queue. */
void music_queue_succeed(struct music_queue *q, const struct music_queue *before);

/* Places count from 0; place 0 is the present track if there is one, so `add` at MUSIC_QUEUE_END
 * appends. Tracks are copied; a duration longer than TRACK_DURATION_MAX_S becomes 0. *first: place
 * of the first new one. ENOSPC: the queue has no room for all of them; EINVAL; ENOMEM. Nothing has
 * changed after an error. */
#define MUSIC_QUEUE_END SIZE_MAX
int music_queue_add(struct music_queue *q, const struct track *tracks, size_t n, size_t place,
		    size_t *first);
int music_queue_add_next(struct music_queue *q, const struct track *tracks, size_t n,
			 size_t *first);
/* Makes the first of them the present track. */
int music_queue_play(struct music_queue *q, const struct track *tracks, size_t n);

/* ENOENT: no such entry is present or waiting. */
int music_queue_move(struct music_queue *q, uint32_t id, size_t place);
/* To remove the present track is a skip, which leaves it in the history; one that loops goes. */
int music_queue_remove(struct music_queue *q, uint32_t id);
int music_queue_jump(struct music_queue *q, uint32_t id);
/* The present track waits at the end of the list, and the following one is present. */
void music_queue_postpone(struct music_queue *q);
/* As move, but place 0 makes it the present track, with the one that was behind it. The present one
 * stays where it is. */
int music_queue_bring(struct music_queue *q, uint32_t id, size_t place);
/* Removes the waiting tracks, of one requester or (0) of all. Returns their number. */
size_t music_queue_clear(struct music_queue *q, uint64_t requester);
void music_queue_stop(struct music_queue *q);
/* Shuffles the waiting tracks; the same seed gives the same order. */
void music_queue_shuffle(struct music_queue *q, uint64_t seed);

/* The present track is over. Returns the track that plays from its start now, or NULL. */
const struct track *music_queue_advance(struct music_queue *q, enum music_end end);
/* Goes back, or restarts the present track. Returns the track that plays from its start now; NULL:
 * there is neither a present track nor a history. */
const struct track *music_queue_previous(struct music_queue *q);

/* Borrowed until the next change. Place 0 is the present track; waiting ones follow. */
const struct track *music_queue_present(const struct music_queue *q);
const struct track *music_queue_at(const struct music_queue *q, size_t place);
/* The track that plays when the present one ends by itself, to prepare it; NULL: none. */
const struct track *music_queue_following(const struct music_queue *q);
/* i = 0 is the track played last. */
const struct track *music_queue_played(const struct music_queue *q, size_t i);
/* Present and waiting tracks; those of the history. */
size_t music_queue_count(const struct music_queue *q);
size_t music_queue_played_count(const struct music_queue *q);
/* The place of a present or waiting entry; MUSIC_QUEUE_END: none. */
size_t music_queue_find(const struct music_queue *q, uint32_t id);
/* Milliseconds until the track at this place begins, as far as durations are known; false: at least
 * one before it has none. Loops are left out. */
bool music_queue_wait_ms(const struct music_queue *q, size_t place, uint64_t *ms);

/* Forgets that this user requested tracks: they belong to everyone from now on. */
void music_queue_forget(struct music_queue *q, uint64_t user);

/* Fills in the tags and the duration that this entry lacks; those of tags that are empty, 0 or
 * longer than TRACK_DURATION_MAX_S say nothing. */
void music_queue_describe(struct music_queue *q, uint32_t id, const struct track *tags);
/* The source has a known end and can begin anywhere: what a playlist gave as a station is a file.
 */
void music_queue_note_end(struct music_queue *q, uint32_t id);
/* The source tells no end and cannot begin elsewhere: what may be live is a station. False: it may
 * not, and nothing has changed. */
bool music_queue_note_endless(struct music_queue *q, uint32_t id);

uint64_t music_queue_guild(const struct music_queue *q);
uint64_t music_queue_channel(const struct music_queue *q);
/* The bot was moved there, and the music with it. */
void music_queue_set_channel(struct music_queue *q, uint64_t channel);
enum music_loop music_queue_loop(const struct music_queue *q);
void music_queue_set_loop(struct music_queue *q, enum music_loop loop);
bool music_queue_is_paused(const struct music_queue *q);
/* A new present track always plays: every change of it ends the pause. */
void music_queue_set_paused(struct music_queue *q, bool paused);
unsigned music_queue_volume(const struct music_queue *q);
/* Clamped to MUSIC_VOLUME_FULL. */
void music_queue_set_volume(struct music_queue *q, unsigned thousandths);
uint64_t music_queue_position(const struct music_queue *q);
/* Clamped to MUSIC_POSITION_MAX: a radio station may play for longer. */
void music_queue_set_position(struct music_queue *q, uint64_t frames);
/* Counts the starts of tracks: another number means that the present track plays from its start,
 * even if it is the same. */
uint64_t music_queue_starts(const struct music_queue *q);
/* mediad's numbers for the present track and for the one that follows (control/music/player.h), so
 * that a later control knows them; 0: none, or another track has taken its place since. */
void music_queue_set_playing(struct music_queue *q, uint32_t present, uint32_t prepared);
uint32_t music_queue_playing(const struct music_queue *q);
uint32_t music_queue_prepared(const struct music_queue *q);
/* The highest number that was set or noted: no other music gets it, or a report that is late would
 * name the wrong one. */
void music_queue_note_number(struct music_queue *q, uint32_t number);
uint32_t music_queue_last_number(const struct music_queue *q);
/* Grows with every change but that of the position: another number means that it must be saved. */
uint64_t music_queue_revision(const struct music_queue *q);

#endif
