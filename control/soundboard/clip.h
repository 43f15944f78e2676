/* A local sound as decoderd prints it: the name, a tab, and mono int16 at 48 kHz as hex digits
 * (mediad/decoder/clips.h). Pure. */
#ifndef CONTROL_SOUNDBOARD_CLIP_H
#define CONTROL_SOUNDBOARD_CLIP_H

#include <stddef.h>
#include <stdint.h>

enum {
	CLIP_RATE = 48000,
	CLIP_SAMPLES_MAX = CLIP_RATE * 26 / 5, /* 5.2 s */
	CLIP_NAME_SIZE = 64,
	CLIP_LINE_MAX = CLIP_NAME_SIZE + 4 * CLIP_SAMPLES_MAX,
};

struct clip {
	char name[CLIP_NAME_SIZE]; /* one plain line of UTF-8 */
	int16_t *pcm;
	size_t n;
};

/* EBADMSG, ENOMEM: nothing is written. The caller frees it with clip_clear. */
int clip_read(struct clip *out, const char *line, size_t len);
void clip_clear(struct clip *c);

#endif
