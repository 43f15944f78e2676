#include "tests/unit/mediad/audio/long_packet.h"

#include <math.h>
#include <opus/opus.h>
#include <stdlib.h>

#include "mediad/audio/encoder.h"

size_t long_packet_make(uint8_t *frame, size_t *frame_n, uint8_t *packet, size_t size)
{
	struct encoder *e = NULL;
	OpusRepacketizer *rp = opus_repacketizer_create();
	int16_t pcm[ENCODER_FRAME];
	opus_int32 n;

	if (!rp || encoder_alloc(&e, 32000))
		abort();
	for (unsigned i = 0; i < ENCODER_FRAME; i++)
		pcm[i] = (int16_t)lrint(8000 * sin(2 * M_PI * 300 * i / 48000));
	*frame_n = encoder_run(e, pcm, frame);
	for (unsigned i = 0; i < LONG_PACKET_FRAMES; i++)
		opus_repacketizer_cat(rp, frame, (opus_int32)*frame_n);
	n = opus_repacketizer_out(rp, packet, (opus_int32)size);
	opus_repacketizer_destroy(rp);
	encoder_free(e);
	if (n < 0)
		abort();
	return (size_t)n;
}
