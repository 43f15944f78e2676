/* One call: the shell around its gateway machine, and the loop thread's half of its media.
 *
 * It owns the WebSocket, the machine, the timers, the members of the channel, their consent, the
 * listens and the playbacks. The other half, a call stream, is lent to an audio thread. Messages
 * for control go out through outh. Everything runs on env's loop thread.
 *
 * A generation is one set of credentials; a call, its listens and its playbacks outlive it. A
 * command of an older generation than the call's is late and dropped, and CALL_CREDENTIALS must
 * bring a higher one. Playbacks alone are found by their ids, whatever the generation, so that
 * speech outlives a move. */
#ifndef MEDIAD_CALL_CALL_H
#define MEDIAD_CALL_CALL_H

#include "mediad/engine/engine.h"
#include "proto/media.h"

struct call;
struct dave_job;
struct decoders;
struct worker;
struct ws_ctx;

/* Sends a message to control. flow 0: it is never dropped. Otherwise it is a HEARD of this flow,
 * which may be dropped; call_heard_dropped is called then, possibly during this call. */
typedef void(call_send_h)(const struct media_msg *msg, uint32_t flow, void *arg);
/* Returns the number of bytes that wait for control in the lane of captures and video. */
typedef size_t(call_queued_h)(void *arg);
/* The call has left and nothing of it is lent any more. call_free may be called, also from here. */
typedef void(call_gone_h)(struct call *c, void *arg);

struct call_conf {
	struct env *env;
	struct ws_ctx *ws;
	struct engine *engine;
	struct worker *worker;
	struct decoders *decoders; /* NULL: music and films are refused */
	call_send_h *outh;
	call_queued_h *queuedh;
	call_gone_h *goneh;
	uint32_t *flows;    /* mediad's counter of listens of all calls, for outh */
	uint64_t *sessions; /* mediad's counter of DAVE sessions, which own jobs */
	void *arg;
};

/* Sends CALL_STATE, which asks for credentials. Returns ENOMEM, or ENOSPC when no audio thread has
 * room. The caller owns *out. */
int call_alloc(struct call **out, const struct call_conf *conf, const struct media_call_open *open);
/* To be called only after goneh, or together with engine_free. */
struct call *call_free(struct call *c);
/* Leaves the call; goneh follows. */
void call_leave(struct call *c);

uint32_t call_id(const struct call *c);
uint64_t call_guild(const struct call *c);
uint32_t call_generation(const struct call *c);

/* Sends everything a new control must know: CALL_STATE, CALL_SECURE, MEMBER, LISTENING, SAY_STATE,
 * MUSIC_STATE. */
void call_send_all(struct call *c);
/* Another control is here: sends that, and counts its playbacks and music as unclaimed and its
 * consents as not repeated. */
void call_greet_control(struct call *c);
/* Stops the playbacks and the music that are still unclaimed. */
void call_stop_unclaimed(struct call *c);
/* Control will not receive this HEARD; the next one of its listen reports the gap. */
void call_heard_dropped(struct call *c, const struct media_heard *msg);
/* Handler of engine_conf. */
void call_engine_event(const struct ev *ev, void *owner);
/* A job of the worker returned. Returns false when it is not of this call's present session; the
 * job stays with the caller then. */
bool call_job_done(struct call *c, struct dave_job *job, uint64_t owner);

/* Runs a command of control, one of those below. Returns EPROTO for a message that is no command
 * for a call. */
int call_run_command(struct call *c, const struct media_msg *msg);
/* Commands of control. An invalid request is answered by the event that ends it (HEARD_END,
 * SAY_STOPPED) with MEDIA_REASON_BAD_REQUEST. A command about an object that has ended is late and
 * ignored. */
void call_set(struct call *c, const struct media_call_set *m);
void call_credentials(struct call *c, const struct media_call_credentials *m);
void call_verify(struct call *c, const struct media_verify *m);
void call_listen(struct call *c, const struct media_listen *m);
void call_unlisten(struct call *c, const struct media_unlisten *m);
void call_consent(struct call *c, const struct media_consent *m);
void call_say_open(struct call *c, const struct media_say_open *m);
void call_say(struct call *c, const struct media_say *m);
void call_say_end(struct call *c, const struct media_say_end *m);
void call_say_claim(struct call *c, const struct media_say_claim *m);
/* PAUSE, RESUME, GAIN, STOP. */
void call_say_control(struct call *c, uint32_t playback, enum sender_command what, uint16_t target,
		      uint16_t fade_ms);
/* Music that cannot be played answers with MUSIC_STATE{failed}. */
void call_music_play(struct call *c, const struct media_music_play *m);
void call_music_next(struct call *c, const struct media_music_next *m);
/* The music plays on until the new position is ready; where it cannot, MUSIC_STATE says so. */
void call_music_seek(struct call *c, const struct media_music_seek *m);
/* Pauses, or resumes. */
void call_music_pause(struct call *c, uint32_t music, bool pause, uint16_t fade_ms);
void call_music_stop(struct call *c, uint32_t music, uint16_t fade_ms);
void call_music_gain(struct call *c, const struct media_music_gain *m);
/* How music is ducked, unless it leaves that as it is. */
void call_music_duck(struct call *c, const struct media_music_gain *m);
void call_music_claim(struct call *c, uint32_t music);
/* True if the music is there, whatever it does; and if it still waits for its sound. */
bool call_music_is_there(struct call *c, uint32_t music);
bool call_music_opens(struct call *c, uint32_t music);
/* MUSIC_ANALYSIS is wanted, or no longer. */
void call_music_watch(struct call *c, bool on);

#endif
