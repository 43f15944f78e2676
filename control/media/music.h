/* Music in a call, as messages of group 400 (proto/media.def): orders of the player to mediad, and
 * mediad's states to reports. Without a state of its own: the player compares and repeats. */
#ifndef CONTROL_MEDIA_MUSIC_H
#define CONTROL_MEDIA_MUSIC_H

#include <stdbool.h>

#include "control/media/media.h"
#include "control/music/player.h"

struct media_call;
struct media_folder;
struct media_music_state;

/* What each track is played with. */
struct media_music_style {
	uint16_t duck; /* gain of music under speech, in thousandths */
	uint16_t duck_attack_ms, duck_hold_ms, duck_release_ms;
	uint16_t fade_ms;  /* of a pause, a stop and a change of the volume */
	uint16_t loudness; /* target in -LUFS/100; 0: as the tracks are */
	uint16_t
		crossfade_ms; /* from the present music into that of MUSIC_ORDER_NEXT; 0: gapless */
	uint32_t bitrate;     /* of the encoder while music sounds */
	/* Address of the sound of the order's track, whose reference is a page; NULL: the reference
	 * is what mediad opens. */
	const char *stream;
	const char
		*headers; /* lines that its server wants (proto/http/stream_headers.h), or NULL */
};

/* True if mediad can open this track as it is: a file of a music folder, or an address of one. */
bool media_music_opens(const struct track *t);
/* folder: of a file, as control sees it; NULL: it is not known. */
enum media_music_lack media_music_find_lack(const struct media_call *call, const struct track *t,
					    const struct media_folder *folder);
/* ENOTCONN: the call has no mediad; ENOTSUP: media_music_opens is false, and there is no stream;
 * errors of media_link_send.
 */
int media_music_order(struct media_call *call, const struct music_order *order,
		      const struct media_music_style *style);
/* False: the state says nothing to a player. An end by the call's own end is none. */
bool media_music_report(struct music_report *r, const struct media_music_state *s);

#endif
