/* Decodes a folder of short sounds to stdout, for the soundboard of control: the part of decoderd
 * that needs no mediad.
 *
 * Each file is decoded by a process of its own, as a track is. A sound becomes one line: the file's
 * name without its extension, a tab, and mono int16 at 48 kHz, little-endian, as hex digits. Its
 * loudness is brought to that of speech. Files that are too long or too large, hidden or broken
 * are left out with a line in the log. */
#ifndef MEDIAD_DECODER_CLIPS_H
#define MEDIAD_DECODER_CLIPS_H

#include <stdio.h>

enum {
	CLIPS_MAX = 32,			  /* sounds of a folder */
	CLIP_FRAMES_MAX = 48000 * 26 / 5, /* 5.2 s, as long as Discord's */
	CLIP_BYTES_MAX = 4 << 20,	  /* of a file */
	CLIP_NAME_MAX = 63,		  /* bytes */
};

/* path: the folder. Only in a process whose children can be jailed (jail_works). 0, or errno of a
 * failure: the folder cannot be read, or stdout is gone. */
int clips_print(const char *path, FILE *out);

#endif
