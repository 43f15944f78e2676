/* A playlist with a current position.
 *
 *   request   list                                    now playing
 *   play      the track goes after the current one    that track, at once
 *   next      the track goes after the current one    unchanged; starts it if nothing played
 *   add       the track goes to the end               unchanged; starts it if nothing played
 *   skip      unchanged                               the following track, or nothing at the end
 *   stop      unchanged, or emptied                   nothing
 *
 * A track ends like a skip. A track is a reference in its source's own form. */
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
/* Returns false if the list is full. */
bool room_playlist_play(struct room_playlist *p, const char *track);
bool room_playlist_next(struct room_playlist *p, const char *track);
bool room_playlist_add(struct room_playlist *p, const char *track);
void room_playlist_skip(struct room_playlist *p);
void room_playlist_stop(struct room_playlist *p, bool clear);
/* The current track, or NULL. */
const char *room_playlist_now(const struct room_playlist *p);

#endif
