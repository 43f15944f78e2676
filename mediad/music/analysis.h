/* What the visualizer draws of one moment of a track: an analysis of the sound around one frame.
 *
 * A decoder process computes it in its jail (mediad/decoder/analyser.h), mediad passes it on when
 * that frame is played, and control's dashboard draws it. All of it are bytes, so that no value of
 * a hostile decoder process is out of range. */
#ifndef MEDIAD_MUSIC_ANALYSIS_H
#define MEDIAD_MUSIC_ANALYSIS_H

#include <stdint.h>

enum {
	ANALYSIS_STEP = 1920, /* frames between two analyses: 25 a second */
	ANALYSIS_BANDS = 64,
	ANALYSIS_BANDS_AN_OCTAVE = 7,
	ANALYSIS_POINTS = 128,
	ANALYSIS_POINT_FRAMES = 8, /* between two points */
	ANALYSIS_FLOOR_DB = -78,   /* of bands */
};
/* Hz: the middle of band b is ANALYSIS_LOWEST * 2^(b / ANALYSIS_BANDS_AN_OCTAVE). */
#define ANALYSIS_LOWEST 32.703

struct analysis {
	/* Levels in bands of constant Q, both channels together: 0 is ANALYSIS_FLOOR_DB or less,
	 * 255 the level of a sine of full scale in both. */
	uint8_t bands[ANALYSIS_BANDS];
	/* (L + R) / 2 in 1/128 of full scale, which crosses 0 upwards at its beginning if it does
	 * so nearby. */
	int8_t wave[ANALYSIS_POINTS];
	/* (R - L) / 2 and (L + R) / 2 of each point, in the same unit: x and y of a vectorscope, in
	 * which mono sound is a vertical line. */
	int8_t scope[ANALYSIS_POINTS][2];
};

#endif
