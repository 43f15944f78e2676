/* /music: its subcommands, what they say, and what Discord offers while somebody types.
 *
 *   option     subcommands         text that is taken
 *   query      play, add, next     words or an address; suggestions of the library
 *   track      remove, move, jump  "#17" (an entry, as suggested), a place, or words of a title
 *   place      move                from 1
 *   position   seek                90, 1:30, 1:02:03
 *   percent    volume              0 to 100
 *   mode       loop                off, track, queue
 *   page       queue               from 1
 *
 * Pure: an interaction becomes a struct music_command, which borrows its texts. */
#ifndef CONTROL_DISCORD_MUSIC_COMMANDS_H
#define CONTROL_DISCORD_MUSIC_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "control/music/policy.h"
#include "control/music/queue.h"
#include "proto/base/cursor.h"

struct library_hit;
struct words;

/* M(NAME, name, ACT, OPTION): act of the policy; words_command_music_NAME is the description. */
#define MUSIC_COMMANDS(M)                                                                          \
	M(PLAY, play, PLAY, QUERY)                                                                 \
	M(ADD, add, QUEUE_ADD, QUERY)                                                              \
	M(NEXT, next, QUEUE_ADD, QUERY)                                                            \
	M(PAUSE, pause, PAUSE, NONE)                                                               \
	M(RESUME, resume, RESUME, NONE)                                                            \
	M(SKIP, skip, SKIP, NONE)                                                                  \
	M(PREVIOUS, previous, PREVIOUS, NONE)                                                      \
	M(STOP, stop, STOP, NONE)                                                                  \
	M(QUEUE, queue, NOW_PLAYING, PAGE)                                                         \
	M(NOW, now, NOW_PLAYING, NONE)                                                             \
	M(REMOVE, remove, REMOVE, TRACK)                                                           \
	M(MOVE, move, MOVE, TRACK_PLACE)                                                           \
	M(JUMP, jump, JUMP, TRACK)                                                                 \
	M(CLEAR, clear, CLEAR, NONE)                                                               \
	M(SHUFFLE, shuffle, SHUFFLE, NONE)                                                         \
	M(LOOP, loop, LOOP, MODE)                                                                  \
	M(SEEK, seek, SEEK, POSITION)                                                              \
	M(VOLUME, volume, VOLUME, PERCENT)                                                         \
	M(HISTORY, history, NOW_PLAYING, NONE)

enum music_command_kind {
#define M(NAME, name, ACT, OPTION) MUSIC_COMMAND_##NAME,
	MUSIC_COMMANDS(M)
#undef M
};

enum { MUSIC_QUERY_MAX = 500, MUSIC_PAGE = 10 /* tracks on a page of the queue */ };

struct music_command {
	enum music_command_kind kind;
	enum music_act act;
	const char *query, *track; /* borrowed; NULL where the subcommand has none */
	size_t place, page;	   /* from 0 */
	uint64_t position_s;
	unsigned volume; /* thousandths */
	enum music_loop loop;
};

/* options: of the interaction's data. EBADMSG: not as registered; EINVAL: a position that is no
 * time (kind is set). */
int music_command_parse(const json_t *options, struct music_command *out);
/* The address of the web that a member typed as the query, with any case of http and https, and
 * without the "<" and ">" that keep Discord from showing it; borrowed. False: it is words. */
bool music_command_address(const char *query, struct slice *out);
/* True for subcommands of the act NOW_PLAYING: they change nothing, and anybody may use them. */
bool music_command_shows(const json_t *options);
/* The entry that the text names among present and waiting tracks; 0: none. */
uint32_t music_command_find(const struct music_queue *q, const char *text);
/* "3:20", "1:02:03" */
enum { MUSIC_TIME_MAX = 24 };
void music_time_write(char to[MUSIC_TIME_MAX], uint64_t s);

/* The options of the registration. New reference. */
json_t *music_command_options(void);
/* Suggestions: [{"name", "value"}]. New references, NULL without memory. */
json_t *music_suggest_hits(const struct library_hit *hits, size_t n);
json_t *music_suggest_entries(const struct music_queue *q, const char *typed);

#endif
