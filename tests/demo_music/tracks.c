/* Writes the tracks of the scene music of `make demo`: chords of a steady level, so that a change
 * of level is the player's.
 *
 *   demo_tracks DIR     DIR/The Lanterns - Night Train.ogg (Opus), DIR/The Lanterns - Sea Song.flac
 */
#include <math.h>
#include <stdio.h>

#include "tests/decoder/sound.h"

enum { RATE = 48000, NOTES = 3, CHORDS = 4, CHORD_S = 2 };

/* Frequencies in Hz. */
static const double train[CHORDS][NOTES] = {
	{220.0, 261.6, 329.6}, {174.6, 220.0, 261.6}, {130.8, 164.8, 196.0}, {196.0, 246.9, 293.7}};
static const double sea[CHORDS][NOTES] = {
	{293.7, 370.0, 440.0}, {246.9, 293.7, 370.0}, {196.0, 246.9, 293.7}, {220.0, 277.2, 329.6}};

/* Each chord fades into the next one with equal power; the two channels are a little apart in
 * pitch. */
static double play(const double chords[CHORDS][NOTES], double t, int channel)
{
	unsigned now = (unsigned)(t / CHORD_S) % CHORDS, next = (now + 1) % CHORDS;
	double into = fmod(t, CHORD_S) - (CHORD_S - 0.1), v = 0;
	double turn = into > 0 ? into / 0.1 * M_PI / 2 : 0;

	for (unsigned i = 0; i < NOTES; i++) {
		double phase = 2 * M_PI * t * (channel ? 1.001 : 1.0);

		v += cos(turn) * sin(phase * chords[now][i]) +
		     sin(turn) * sin(phase * chords[next][i]);
	}
	return 0.15 * v;
}

static double play_train(double t, int channel)
{
	return play(train, t, channel);
}

static double play_sea(double t, int channel)
{
	return play(sea, t, channel);
}

int main(int argc, char **argv)
{
	struct sound sounds[] = {{.format = "ogg",
				  .codec = "libopus",
				  .title = "Night Train",
				  .samples = 60 * RATE,
				  .signal = play_train},
				 {.format = "flac",
				  .codec = "flac",
				  .title = "Sea Song",
				  .samples = 16 * RATE,
				  .signal = play_sea}};
	char path[1024];

	if (argc != 2) {
		fprintf(stderr, "usage: demo_tracks DIR\n");
		return 2;
	}
	for (unsigned i = 0; i < sizeof sounds / sizeof sounds[0]; i++) {
		struct sound *s = &sounds[i];

		snprintf(path, sizeof path, "%s/The Lanterns - %s.%s", argv[1], s->title,
			 s->format);
		s->path = path;
		s->artist = "The Lanterns";
		s->rate = RATE;
		s->channels = 2;
		if (!sound_write(s)) {
			fprintf(stderr, "demo_tracks: %s cannot be encoded\n", path);
			return 1;
		}
	}
	return 0;
}
