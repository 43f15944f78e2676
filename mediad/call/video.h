/* The video of a Go Live stream: who sends some, whom control watches, and what we send ourselves.
 *
 * A call that was opened as a stream has one of these; it stays with the loop thread
 * (mediad/engine/loop_stream.h). What control asked for outlives a session, as listens do. */
#ifndef MEDIAD_CALL_VIDEO_H
#define MEDIAD_CALL_VIDEO_H

#include "mediad/call/gateway.h"
#include "mediad/engine/loop_stream.h"
#include "mediad/music/decoder_wire.h"
#include "proto/media.h"

struct call;
struct call_video;

/* Returns ENOMEM. The caller owns *out; c outlives it. */
int call_video_alloc(struct call_video **out, struct call *c);
struct call_video *call_video_free(struct call_video *v);
/* The handlers for engine_add_loop_stream. */
struct loop_stream_handlers call_video_handlers(struct call_video *v);

/* Commands of control: VIDEO_*. */
void call_video_command(struct call *c, const struct media_msg *msg);

/* ---- of the gateway ---- */
/* VGW_VIDEO_*; does nothing in a call that is no stream. */
void call_video_perform_action(struct call *c, const struct vgw_action *act);
/* The session is up, or up again. */
void call_video_up(struct call *c);
void call_video_end_session(struct call *c);
void call_video_left(struct call *c, uint64_t user);
/* Tells control who sends, and how we do. */
void call_video_send_all(struct call *c);
/* Another control is here: it repeats what it wants, or that ends with _stop_unclaimed. */
void call_video_unclaim_all(struct call *c);
void call_video_stop_unclaimed(struct call *c);

/* ---- for a film (film.h) ---- */
/* Publishes this video from now on. */
void call_video_show(struct call *c, const struct decoder_video *video);
/* True if frames can be sent now; the film hears of a change. */
bool call_video_sends(const struct call *c);
/* Sends a frame; ts: its time at 90 kHz. */
void call_video_put(struct call *c, struct slice frame, uint32_t ts, bool key);
/* Bytes of frames that wait for the pacer. */
size_t call_video_queued(const struct call *c);
/* This music, perhaps a film's sound, was played up to this 48 kHz frame of its source at `at` (ns
 * of env's clock). */
void call_video_sound_played(struct call *c, uint32_t music, uint64_t sample, uint64_t at);
/* The film is over; it was freed. */
void call_video_film_over(struct call *c);

#endif
