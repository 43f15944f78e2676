/* Pictures of the visualizer for a stream: draws an analysis (mediad/music/analysis.h) as YUV 4:2:0
 * of 8 bits in limited range. No I/O. */
#ifndef MEDIAD_DECODER_PICTURE_H
#define MEDIAD_DECODER_PICTURE_H

#include <stdint.h>

#include "mediad/music/analysis.h"

enum { PICTURE_WIDTH = 640, PICTURE_HEIGHT = 384, PICTURE_PIXELS = PICTURE_WIDTH * PICTURE_HEIGHT };

/* As the setting music_visualizer names them, and plus one in messages. */
enum picture_mode {
	PICTURE_CQT,
	PICTURE_SPECTRUM,
	PICTURE_WAVES,
	PICTURE_VECTORSCOPE,
	PICTURE_MODES
};

struct picture {
	enum picture_mode mode;
	uint8_t bars[ANALYSIS_BANDS]; /* of PICTURE_CQT: they fall slowly */
	int peak;		      /* the loudest points of late, which fill the height */
	uint8_t y[PICTURE_PIXELS], u[PICTURE_PIXELS / 4], v[PICTURE_PIXELS / 4];
};

/* An empty picture. */
void picture_init(struct picture *p, enum picture_mode mode);
/* The picture of the next analysis. */
void picture_draw(struct picture *p, const struct analysis *a);

#endif
