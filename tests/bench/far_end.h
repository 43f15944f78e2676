/* A minimal far end of calls: a voice gateway over TLS, and one UDP socket whose datagrams carry
 * the kernel's receive times. A bench measures our side alone; guildd is strict like Discord, the
 * far end is only fast. It has no end-to-end encryption.
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

void far_end_alloc(struct far_end **out, struct env *env, far_end_packet_h *packeth, void *arg);
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

/* A session description was given and the call's address is known. */
bool far_end_ready(const struct far_end *f, unsigned call);
/* Op 5: this speaker has this SSRC. */
void far_end_speaking(struct far_end *f, unsigned call, unsigned speaker, unsigned turn);
/* Op 13: it left. */
void far_end_left(struct far_end *f, unsigned call, unsigned speaker);
/* Op 4 with another key. */
void far_end_rekey(struct far_end *f, unsigned call);
/* From any thread. */
void far_end_send(struct far_end *f, unsigned call, const uint8_t *p, size_t n);

#endif
