/* Shows the visualizer as the video of a stream: the work of a decoder process without a source,
 * which mediad feeds the analyses of what is heard (mediad/music/video_ring.h).
 *
 * Each becomes a picture (picture.h), encoded as VP8 by libav's libvpx. While nothing is heard the
 * last picture stands. */
#ifndef MEDIAD_DECODER_VISUALIZER_H
#define MEDIAD_DECODER_VISUALIZER_H

#include "mediad/decoder/picture.h"
#include "mediad/music/decoder_wire.h"

struct video_ring;

enum { VISUALIZER_FPS = 25, VISUALIZER_BITRATE = 1500000 };

struct visualizer_conf {
	enum picture_mode mode;
	struct video_ring *ring; /* borrowed */
	/* Called once, when the first picture is in the ring. Borrowed until return. */
	void (*openedh)(const struct decoder_opened *opened, void *arg);
	void *arg;
};

/* Returns the reason of a failure only: it goes on until the process is ended. */
enum decoder_reason visualizer_run(const struct visualizer_conf *conf);

#endif
