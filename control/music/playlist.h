/* Playlists of folders and of radio stations: M3U with its extensions, and PLS.
 *
 * A reference is resolved against the place of the playlist. One in a music folder names files
 * below the same folder, or addresses; one from the web names addresses alone, so that no playlist
 * of a stranger reaches a file. Entries that name anything else are left out. Pure. */
#ifndef CONTROL_MUSIC_PLAYLIST_H
#define CONTROL_MUSIC_PLAYLIST_H

#include "control/music/track.h"
#include "proto/base/cursor.h"

enum { PLAYLIST_BYTES_MAX = 1 << 20, PLAYLIST_TRACKS = 500 };

/* A track without id. Borrowed until return; false: no more. */
typedef bool(playlist_h)(const struct track *t, void *arg);

/* place: source, reference (file or address of the playlist itself) and requester; the entries take
 * its root and requester. Entries of the web whose duration is -1 are RADIO; those without one
 * may be live. Gives at most PLAYLIST_TRACKS. EMSGSIZE; EBADMSG: it is no playlist, or none of its
 * entries can be used; ENOTSUP: it lists the segments of one stream (proto/http/hls.h). */
int playlist_read(const struct track *place, struct slice text, playlist_h *h, void *arg);

#endif
