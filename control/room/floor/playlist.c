#include "control/room/floor/playlist.h"

#include <string.h>

#include "proto/base/utf8.h"

void room_playlist_init(struct room_playlist *p)
{
	p->n = 0;
	p->now = -1;
}

static bool insert_track(struct room_playlist *p, unsigned at, const char *track)
{
	if (p->n == ROOM_TRACKS)
		return false;
	memmove(p->track[at + 1 < ROOM_TRACKS ? at + 1 : at], p->track[at],
		(p->n - at) * sizeof p->track[0]);
	utf8_copy(p->track[at], ROOM_TRACK_MAX, track);
	p->n++;
	return true;
}

/* The position after the current track. */
static unsigned position_after_current(const struct room_playlist *p)
{
	return p->now < 0 ? p->n : (unsigned)p->now + 1;
}

bool room_playlist_next(struct room_playlist *p, const char *track)
{
	unsigned at = position_after_current(p);

	if (!insert_track(p, at, track))
		return false;
	if (p->now < 0)
		p->now = (int)at;
	return true;
}

bool room_playlist_play(struct room_playlist *p, const char *track)
{
	unsigned at = position_after_current(p);

	if (!insert_track(p, at, track))
		return false;
	p->now = (int)at;
	return true;
}

bool room_playlist_add(struct room_playlist *p, const char *track)
{
	if (!insert_track(p, p->n, track))
		return false;
	if (p->now < 0)
		p->now = (int)p->n - 1;
	return true;
}

void room_playlist_skip(struct room_playlist *p)
{
	if (p->now >= 0)
		p->now = (unsigned)p->now + 1 < p->n ? p->now + 1 : -1;
}

void room_playlist_stop(struct room_playlist *p, bool clear)
{
	p->now = -1;
	if (clear)
		p->n = 0;
}

const char *room_playlist_now(const struct room_playlist *p)
{
	return p->now >= 0 ? p->track[p->now] : NULL;
}
