/* Calls of a real mediad that play music from a folder of files that the bench makes, and the sound
 * that arrives at the far end.
 *
 * One thread but for the packets, which arrive on the far end's. Whatever goes wrong ends the bench
 * with a word. */
#ifndef TESTS_BENCH_MUSIC_STAGE_H
#define TESTS_BENCH_MUSIC_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/media.h"
#include "tests/bench/far_end.h"
#include "tests/decoder/sound.h"

struct music_stage;
struct plane;

enum { MUSIC_RATE = 48000, MUSIC_FORMATS = 8 };

/* What mediad plays: containers and codecs with an encoder in libav. */
struct music_format {
	const char *ending, *format, *codec;
	int rate;
};
extern const struct music_format music_formats[MUSIC_FORMATS];

/* delay_ms: of the answers of a web server for the same files. */
void music_stage_alloc(struct music_stage **out, unsigned calls, unsigned delay_ms);
/* Ends mediad and removes the folder. */
struct music_stage *music_stage_free(struct music_stage *s);
struct plane *music_stage_plane(struct music_stage *s);
/* Adds up a figure of mediad and of all processes of decoderd. */
uint64_t music_stage_sum(const struct music_stage *s, uint64_t (*of)(int pid));
unsigned music_stage_requests(const struct music_stage *s);
/* Writes what libav opens for a name of music_play: a path, or a URL. */
void music_stage_address(const struct music_stage *s, const char *name, char *to, size_t size);

/* Makes NAME.ending in the folder; path, format, codec and rate of `sound` are filled in. Returns
 * the name, static. */
const char *music_make(struct music_stage *s, const char *name, const struct music_format *f,
		       struct sound sound);
/* As MUSIC_PLAY or MUSIC_NEXT of this file, at a loudness in -LUFS/100 or 0; returns its id. A name
 * that begins with "/" comes from the web server; music_next of NULL takes back what was to follow.
 */
uint32_t music_play(struct music_stage *s, unsigned call, const char *name, uint16_t loudness);
/* The same from a frame on, as loud as it is. */
uint32_t music_play_at(struct music_stage *s, unsigned call, const char *name, uint64_t start);
uint32_t music_next(struct music_stage *s, unsigned call, const char *name, uint16_t loudness);
void music_stop(struct music_stage *s, unsigned call, uint32_t music);

/* The last state of a call's music. */
struct music_state {
	uint32_t music;
	enum media_music_phase phase;
	uint64_t position;
};
const struct music_state *music_state(const struct music_stage *s, unsigned call);
/* Gets every state. */
typedef void(music_state_h)(unsigned call, const struct music_state *state, void *arg);
void music_stage_states(struct music_stage *s, music_state_h *h, void *arg);

/* Gets every packet as well, as far_end_packet_h, on the far end's thread. */
void music_stage_packets(struct music_stage *s, far_end_packet_h *h, void *arg);

/* Time of the first packet with sound after `since`, CLOCK_REALTIME in ns; 0: none yet. */
uint64_t music_first_sound(struct music_stage *s, unsigned call, uint64_t since);
uint64_t music_clock(void);

/* Decodes a call's packets from now on, for at most so many seconds. */
void music_record(struct music_stage *s, unsigned call, unsigned seconds);
/* The recording so far, mono, from the first packet with sound; *frames is its length. Borrowed. A
 * lost packet ends the bench. */
const int16_t *music_recorded(struct music_stage *s, unsigned call, size_t *frames);
/* Packets of silence within the recording, not at its end. */
unsigned music_silences(struct music_stage *s, unsigned call);

/* Amplitude, within 1, and phase in radians of a frequency in n frames. */
void music_tone(const int16_t *pcm, size_t n, double hz, double *amplitude, double *phase);

#endif
