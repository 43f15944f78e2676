/* The library calls that any implementation of a call needs, for one speaker or one voice: AES-GCM
 * of the transport (libsodium), AES-GCM of DAVE (libcrypto), Opus, and our upsampler. One thread.
 * Whatever fails ends the bench. */
#ifndef TESTS_BENCH_BARE_H
#define TESTS_BENCH_BARE_H

#include <stddef.h>
#include <stdint.h>

struct bare_receiver;
struct bare_sender;

/* rate: of the decoder, in Hz. */
void bare_receiver_alloc(struct bare_receiver **out, const uint8_t transport[32],
			 const uint8_t dave[16], uint32_t rate);
struct bare_receiver *bare_receiver_free(struct bare_receiver *e);
/* Decrypts and decodes a datagram. Returns the CPU time of these calls in ns. */
uint64_t bare_receiver_run(struct bare_receiver *e, const uint8_t *p, size_t n);
/* The same without a clock; pcm gets 20 ms at the decoder's rate. Returns the number of samples. */
int bare_receiver_decode(struct bare_receiver *e, const uint8_t *p, size_t n, int16_t *pcm);
/* The part of it that Opus took in the last call of bare_receiver_run, ns. */
uint64_t bare_receiver_opus(const struct bare_receiver *e);

enum { BARE_IN = 480 }; /* samples of 20 ms at 24 kHz */
/* complexity: of the encoder. ssrc: of its packets. */
void bare_sender_alloc(struct bare_sender **out, uint32_t ssrc, int complexity);
/* The same for stereo music at 128 kbit/s. */
void bare_sender_alloc_stereo(struct bare_sender **out, uint32_t ssrc, int complexity);
struct bare_sender *bare_sender_free(struct bare_sender *m);
/* Upsamples and encodes 20 ms of speech. Returns the CPU time of these calls in ns. */
uint64_t bare_sender_encode(struct bare_sender *m, const int16_t in[BARE_IN]);
/* Encodes 20 ms of stereo at 48 kHz. Returns the CPU time in ns. */
uint64_t bare_sender_encode_stereo(struct bare_sender *m, const int16_t *in);
/* Seals the frame encoded last into a datagram of *n bytes. Returns the CPU time in ns. */
uint64_t bare_sender_seal(struct bare_sender *m, uint8_t *out, size_t *n);

#endif
