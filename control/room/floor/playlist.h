/* What is to be played: a list with a place in it, and what each wish does to it.
 *
 *   wish    the list                              now playing
 *   play    the track after the current one        it, at once
 *   next    the track after the current one        stays; starts it when nothing played
 *   add     the track at the end                   stays; starts it when nothing played
 *   skip    -                                      the one after, or nothing at the end
 *   over    -                                      the same: a track ended
 *   stop    stays, or empty when cleared           nothing
 *
 * A track is a reference of its source's own. */
#ifndef CONTROL_ROOM_FLOOR_PLAYLIST_H
#define CONTROL_ROOM_FLOOR_PLAYLIST_H

#include <stdbool.h>

enum { ROOM_TRACKS = 64, ROOM_TRACK_MAX = 128 };

struct room_playlist {
	unsigned n;
	int now; /* index, or -1 */
	char track[ROOM_TRACKS][ROOM_TRACK_MAX];
};

void room_playlist_init(struct room_playlist *p);
/* False: it is full. */
bool room_playlist_play(struct room_playlist *p, const char *track);
bool room_playlist_next(struct room_playlist *p, const char *track);
bool room_playlist_add(struct room_playlist *p, const char *track);
void room_playlist_skip(struct room_playlist *p);
void room_playlist_stop(struct room_playlist *p, bool clear);
/* What plays now, or NULL. */
const char *room_playlist_now(const struct room_playlist *p);

#endif
