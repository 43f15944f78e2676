/* The microphone of a member: a mouth, the sound of the place, and the bot's echo. Without the last
 * two it sends only while the mouth speaks, as Discord's voice activity does; with either it sends
 * without pause.
 *
 * The mouth alone is recorded, at the times at which its samples left. */
#ifndef TESTS_SOUND_MIC_H
#define TESTS_SOUND_MIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;
struct media_call;
struct mic;

enum { MIC_RATE = 24000, MIC_LOW = 8000, MIC_FRAME_MS = 20, MIC_ECHO_MS = 200 };

struct mic_conf {
	const int16_t *background; /* repeated; borrowed; NULL: none */
	size_t background_n;
	double echo; /* of the bot, MIC_ECHO_MS after it was received; 0: none */
	double gain; /* of the mouth */
	int record;  /* a file: s16le at MIC_LOW from t0 on */
	uint64_t t0; /* ns */
};

int mic_alloc(struct mic **out, struct env *env, struct media_call *call,
	      const struct mic_conf *conf);
struct mic *mic_free(struct mic *m);
/* The call is up: sends from now on. */
int mic_start(struct mic *m);
/* Every MIC_FRAME_MS. */
void mic_tick(struct mic *m);
/* pcm is borrowed until mic_speaks is false. */
int mic_say(struct mic *m, const int16_t *pcm, size_t n);
bool mic_speaks(const struct mic *m);
/* The bot's sound, received at this time; at MIC_LOW. */
void mic_hears(struct mic *m, uint64_t at, const int16_t *pcm, size_t n);
/* How often its tick was so late that sound of the place was left out. */
unsigned mic_late(const struct mic *m);

#endif
