/* Sentences as sound, by several synthesizers: flite and espeak-ng, and pico2wave where it is
 * installed. What was spoken once is kept in a folder. */
#ifndef TESTS_SOUND_VOICES_H
#define TESTS_SOUND_VOICES_H

#include <stdint.h>

enum { VOICES_RATE = 24000, VOICES_DBFS = -23 };

/* The bot's voice; the others are the people's. */
enum { VOICE_BOT = 0 };
/* At least 9. Those whose synthesizer is missing do not count. */
unsigned voices_count(void);
const char *voices_name(unsigned voice);

/* Writes the text as s16le mono at VOICES_RATE, its voiced part at VOICES_DBFS, to a file of the
 * folder, unless it is there. path: of this file; *ms: its length. pause_ms: silence at the end.
 * EIO: the synthesizer is missing or fails. */
int voices_speak(char path[256], uint32_t *ms, const char *folder, unsigned voice, const char *text,
		 unsigned pause_ms);

#endif
