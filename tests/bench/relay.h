/* The floor of the hearing path: what remains of it when nothing is left but the kernel and the
 * libraries. Two processes and three threads pass frames on as mediad and control do, with the same
 * system calls: datagram, epoll, recvmmsg, decryption and decoding by bare calls, a ring, an
 * eventfd; epoll, sendmsg to a Unix socket; epoll, recv.
 *
 * With more than sixteen speakers it reads sixteen datagrams at a time, as mediad does.
 *
 * There is no call, member, jitter buffer, consent, replay window, journal or message format in it.
 */
#ifndef TESTS_BENCH_RELAY_H
#define TESTS_BENCH_RELAY_H

#include "tests/bench/bare.h"

#include <sys/types.h>

struct relay;

/* receivers: one for each of n speakers; the processes get copies. */
void relay_alloc(struct relay **out, struct bare_receiver *const *receivers, unsigned n);
struct relay *relay_free(struct relay *r);
/* Handler for speakers_start; arg: struct relay. */
void relay_send(unsigned call, unsigned speaker, const uint8_t *p, size_t n, void *relay);
/* which: 0 is the process with the decoders, 1 the reader. */
pid_t relay_pid(const struct relay *r, unsigned which);
/* Its CPU time, ns. */
uint64_t relay_cpu(const struct relay *r, unsigned which);
/* Frames that the reader got so far. */
uint64_t relay_frames(const struct relay *r);
/* The ages of the frames that came since the last call, in µs from the stamp before decoding to the
 * reader; at most `max` of them. */
size_t relay_ages(struct relay *r, double *out, size_t max);

#endif
