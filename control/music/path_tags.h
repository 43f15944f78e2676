/* The tags that the path of a sound file tells, until its own tags are read:
 *
 *   Artist/Album/01 - Title.flac     Artist/Title.mp3     Artist - Title.ogg     Title.wav
 *
 * An artist in the name of the file beats that of the folder. Pure. */
#ifndef CONTROL_MUSIC_PATH_TAGS_H
#define CONTROL_MUSIC_PATH_TAGS_H

#include "control/music/track.h"

/* Sets title, artist and album of t. Returns false, and changes nothing, if the name does not end
 * in that of a format that the decoder opens. */
bool path_tags_read(struct track *t, const char *path);

#endif
