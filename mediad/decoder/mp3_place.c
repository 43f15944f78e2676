#include "mediad/decoder/mp3_place.h"

#include <math.h>

enum { LAYER_III = 1, MPEG_1 = 3, MPEG_RESERVED = 1, FREE_RATE = 0, BAD_RATE = 15 };

/* Of a packet's length by which its begin may be beside the mean, and parts in a thousand by which
 * a file may be beside the length that its packets give: tags stand at its end. */
#define BESIDE 0.1
enum { BESIDE_MOST = 10 };

struct mp3_place mp3_place_of(const uint8_t head[MP3_HEAD], uint64_t offset)
{
	static const uint16_t kbits[2][15] = {
		{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
		{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}};
	static const uint16_t rates[] = {44100, 48000, 32000};
	unsigned version = head[1] >> 3 & 3, rate = head[2] >> 2 & 3, bits = head[2] >> 4;
	struct mp3_place p = {.first = offset};

	if (head[0] != 0xff || (head[1] & 0xe0) != 0xe0 || (head[1] >> 1 & 3) != LAYER_III ||
	    version == MPEG_RESERVED || rate == 3 || bits == FREE_RATE || bits == BAD_RATE)
		return p;
	p.bit_rate = kbits[version == MPEG_1][bits] * 1000u;
	p.sample_rate = rates[rate] >> (version == MPEG_1 ? 0 : version == 2 ? 1 : 2);
	p.samples = version == MPEG_1 ? 1152 : 576;
	return p;
}

bool mp3_place_sample(const struct mp3_place *first, const struct mp3_place *packet, uint64_t size,
		      uint64_t packets, uint64_t *sample)
{
	double length, at;

	if (!first->bit_rate || packet->bit_rate != first->bit_rate ||
	    packet->sample_rate != first->sample_rate || packet->samples != first->samples ||
	    packet->first < first->first || size < first->first)
		return false;
	length = first->samples / 8.0 * first->bit_rate / first->sample_rate;
	at = (double)(packet->first - first->first) / length;
	if (fabs(at - round(at)) > BESIDE ||
	    (packets && fabs((double)(size - first->first) - length * (double)packets) >
				(double)size * BESIDE_MOST / 1000))
		return false;
	*sample = (uint64_t)round(at) * first->samples;
	return true;
}
