/* A call stream that the loop thread drives itself, not an audio thread: that of a Go Live stream.
 *
 * Its frames of video are up to 1 MB long and may be late, so they have no place on an audio thread
 * (law 3). Commands and events are the same as there, but they cross no ring: a command runs at
 * once, and events are handled in the next turn of the loop. Every datagram, and every deadline, is
 * an input of the loop thread's env. */
#ifndef MEDIAD_ENGINE_LOOP_STREAM_H
#define MEDIAD_ENGINE_LOOP_STREAM_H

#include "mediad/engine/video_receiver.h"
#include "mediad/engine/video_sender.h"

struct env;

struct loop_stream_handlers {
	void (*evh)(const struct ev *ev, void *owner);
	/* The stream has been freed; the handler frees the loop_stream. */
	void (*goneh)(struct loop_stream *l, void *arg);
	void *arg;
	/* Of the owner: what comes of video, during datagrams and commands. */
	received_frame_h *frameh;
	received_codec_h *codech;
	video_state_h *stateh;
	void *video_arg;
};

/* Returns ENOMEM; cs stays with the caller then. Otherwise cs is its own until goneh. */
int loop_stream_alloc(struct loop_stream **out, struct env *env, struct call_stream *cs,
		      const struct loop_stream_handlers *h);
/* Also frees a stream that has not gone. */
struct loop_stream *loop_stream_free(struct loop_stream *l);

void loop_stream_command(struct loop_stream *l, struct cmd *cmd);
/* Stops the stream; EV_STREAM_GONE and goneh follow. */
void loop_stream_remove(struct loop_stream *l);

/* Both halves of its video. After a command to one of them loop_stream_wake arms the timer. */
struct video_receiver *loop_stream_receiver(struct loop_stream *l);
struct video_sender *loop_stream_sender(struct loop_stream *l);
void loop_stream_wake(struct loop_stream *l);

#endif
