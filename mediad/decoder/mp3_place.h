/* The place of a packet in an MP3 file, from its offset.
 *
 * Nothing in an MP3 file tells where a packet is in the track. Where all packets have one rate
 * (ISO/IEC 11172-3, 2.4.3.1: each is as long as the mean or a byte shorter), the offset tells it to
 * the packet. Pure. */
#ifndef MEDIAD_DECODER_MP3_PLACE_H
#define MEDIAD_DECODER_MP3_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MP3_HEAD = 4 }; /* bytes */

struct mp3_place {
	uint64_t first;		       /* offset of the first packet */
	unsigned bit_rate;	       /* of it; 0: none is known */
	unsigned sample_rate, samples; /* of a packet */
};

/* The rates of a packet's head, and the offset at which it is. bit_rate 0: it is no Layer III, or
 * of a free rate. */
struct mp3_place mp3_place_of(const uint8_t head[MP3_HEAD], uint64_t offset);
/* Sets *sample to the track's sample, counted from the first packet, at which the packet with this
 * place begins. packets: of the whole file of size bytes, as it declares them; 0: it does not.
 * Returns false if the packets have several rates. */
bool mp3_place_sample(const struct mp3_place *first, const struct mp3_place *packet, uint64_t size,
		      uint64_t packets, uint64_t *sample);

#endif
