/* An Opus packet of 120 ms, the longest there is. */
#ifndef TESTS_UNIT_MEDIAD_AUDIO_LONG_PACKET_H
#define TESTS_UNIT_MEDIAD_AUDIO_LONG_PACKET_H

#include <stddef.h>
#include <stdint.h>

enum { LONG_PACKET_FRAMES = 6, LONG_PACKET_MS = 120 };

/* Encodes one frame of a tone into `frame`, which has room for ENCODER_OPUS_MAX bytes, and writes a
 * packet of six of it. Returns the length of the packet; *frame_n is that of the frame. Aborts when
 * that fails. */
size_t long_packet_make(uint8_t *frame, size_t *frame_n, uint8_t *packet, size_t size);

#endif
