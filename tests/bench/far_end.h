/* A minimal far end of calls: a voice gateway over TLS, and one UDP socket whose datagrams carry
 * the kernel's receive times. A bench measures our side alone; guildd is strict like Discord, the
 * far end is only fast. Every call is encrypted end to end (DAVE version 1) in a group of its
 * speakers and the client.
 *
 * The gateway runs on env's loop, a thread reads the socket. */
#ifndef TESTS_BENCH_FAR_END_H
#define TESTS_BENCH_FAR_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;
struct far_end;

enum { FAR_END_CALLS = 512, FAR_END_KEY = 32 };

/* Gets an RTP packet of a call. at: the kernel's receive time, CLOCK_REALTIME in ns. Runs on the
 * far end's thread. */
typedef void(far_end_packet_h)(unsigned call, uint64_t at, const uint8_t *p, size_t n, void *arg);

/* speakers: members of each call's group beside the client, at least 1. */
void far_end_alloc(struct far_end **out, struct env *env, unsigned speakers,
		   far_end_packet_h *packeth, void *arg);
struct far_end *far_end_free(struct far_end *f);

/* A file with the certificate authority to trust. */
const char *far_end_ca(const struct far_end *f);
/* The address for datagrams. */
uint16_t far_end_port(const struct far_end *f);
/* Values for CALL_CREDENTIALS; the session is "session", any call's token is far_end_token. */
const char *far_end_endpoint(const struct far_end *f);
void far_end_token(char *buf, size_t size, unsigned call);
uint64_t far_end_guild(unsigned call);
/* The key of a call after this many calls of far_end_rekey. */
void far_end_key(uint8_t key[FAR_END_KEY], unsigned call, unsigned rekeys);

uint64_t far_end_user(unsigned call, unsigned speaker);
/* Turn: how often the speaker has changed its SSRC. */
uint32_t far_end_ssrc(unsigned call, unsigned speaker, unsigned turn);
/* Our own, of the packets that come. */
uint32_t far_end_own_ssrc(unsigned call);

/* The call's address is known, and its client was welcomed to the group. */
bool far_end_ready(const struct far_end *f, unsigned call);
/* Op 5: this speaker has this SSRC. */
void far_end_speaking(struct far_end *f, unsigned call, unsigned speaker, unsigned turn);
/* Op 13: it left. */
void far_end_left(struct far_end *f, unsigned call, unsigned speaker);
/* Op 4 with another key. */
void far_end_rekey(struct far_end *f, unsigned call);
/* Encrypts an Opus frame of a speaker end to end into out and returns its size. From any thread. */
size_t far_end_seal(struct far_end *f, unsigned call, unsigned speaker, const uint8_t *frame,
		    size_t n, uint8_t *out, size_t cap);
/* The AES-128 key that this speaker encrypts with. */
void far_end_speaker_key(struct far_end *f, unsigned call, unsigned speaker, uint8_t key[16]);
/* The AES-128 key that the client of a call, which is this user, encrypts with. */
void far_end_client_key(struct far_end *f, unsigned call, uint64_t user, uint8_t key[16]);
/* From any thread. */
void far_end_send(struct far_end *f, unsigned call, const uint8_t *p, size_t n);

#endif
