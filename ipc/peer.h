/* The framed Unix-socket endpoint between the two halves: `u32 big-endian length | body`.
 *
 * Two lanes a direction, order kept inside each; the command lane goes first. Commands are never
 * dropped: past the cap, or without memory, the peer counts as lost. A full audio lane refuses
 * frames or drops its oldest droppable ones. Nothing blocks: a slow reader only fills the queue. A
 * length above `max_frame` or zero, or a handler that returns an error, closes the peer (bytes from
 * our own half: log, close, resync by HELLO).
 *
 * A peer that sends and then closes is read to the end, even when a write to it failed: the loss
 * comes after its last frame.
 *
 * The number of bytes that the kernel accepted goes through env_answer(), so a journal replays the
 * same drops. */
#ifndef IPC_PEER_H
#define IPC_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct env;
struct peer;
struct peer_server;

enum peer_lane { PEER_COMMAND, PEER_AUDIO };

/* body borrowed until return. Non-zero closes the peer with that error. */
typedef int(peer_msg_h)(struct peer *p, const uint8_t *body, size_t len, void *arg);
/* The peer is lost (err 0 = end of file). The struct is still the owner's to free. Called once. */
typedef void(peer_lost_h)(struct peer *p, int err, void *arg);
/* A droppable frame was dropped from the queue; body is borrowed until return. Called inside send
 * functions: it must not send. */
typedef void(peer_drop_h)(const uint8_t *body, size_t len, void *arg);

struct peer_conf {
	size_t max_frame;   /* bytes of a body, both ways; 0 = 64 KiB */
	size_t command_cap; /* bytes queued in the command lane before the peer counts as lost; 0 =
			       1 MiB */
	size_t audio_cap;   /* bytes queued in the audio lane; 0 = 1 MiB */
	peer_msg_h *msgh;
	peer_lost_h *losth;
	peer_drop_h *droph; /* NULL */
	void *arg;
};

/* Connects to path; a Unix socket gives the result at once. ENOENT, ECONNREFUSED, EACCES, ENOMEM.
 */
int peer_connect(struct peer **out, struct env *env, const char *path,
		 const struct peer_conf *conf);
/* Queues one frame (copied). In the audio lane ENOBUFS when full, and ENOMEM; the caller tries
 * again. In the command lane both lose the peer: EPIPE when full, ENOMEM. ENOTCONN after loss. */
int peer_send(struct peer *p, enum peer_lane lane, const void *body, size_t len);
/* As peer_send on the audio lane, but when the cap is reached the oldest droppable frames of the
 * same `flow` (else of the flow that has most queued) are dropped first. *dropped counts the frames
 * dropped. Sound of a codec begins after the first `firm` bytes (env_output_sound); len when there
 * is none. */
int peer_send_droppable(struct peer *p, uint32_t flow, const void *body, size_t len, size_t firm,
			unsigned *dropped);
/* As peer_send on the audio lane, for frames that keep their order there but must not be lost:
 * droppable frames make room for it; when that is not enough, or there is no memory, the peer is
 * lost, and EPIPE or ENOMEM is returned. */
int peer_send_kept(struct peer *p, const void *body, size_t len, unsigned *dropped);
size_t peer_queued(const struct peer *p, enum peer_lane lane);
/* Calls losth later with err, as if the other side had failed. */
void peer_lose(struct peer *p, int err);
/* Closes and frees; queued frames get one last non-blocking write. NULL accepted. Safe in own
 * handlers. */
struct peer *peer_free(struct peer *p);

/* A peer connected; uid is from SO_PEERCRED. The handler fills *conf and returns 0 to accept it, or
 * an errno to refuse. p belongs to the handler's owner when it returns 0. */
typedef int(peer_accept_h)(struct peer *p, uid_t uid, struct peer_conf *conf, void *arg);

/* Listens at path, mode 0660; a stale socket file is replaced, a live one gives EADDRINUSE. Only
 * peers with our own uid, or peer_uid when it is not (uid_t)-1, are offered. Removes the file when
 * freed. */
int peer_listen(struct peer_server **out, struct env *env, const char *path, uid_t peer_uid,
		peer_accept_h *h, void *arg);
/* A descriptor of the directory of the socket file; -1 on replay. Borrowed. */
int peer_server_directory(const struct peer_server *s);
struct peer_server *peer_server_free(struct peer_server *s);

#endif
