/* One call: the shell around its gateway machine, and the loop thread's half of its sound.
 *
 * It owns the WebSocket, the machine, the timers, who is in the channel, who is listened to and who
 * agreed to it, and the playbacks. Its other half, a line, is lent to an audio thread. What control
 * is to know goes out through outh. Everything runs on env's loop thread.
 *
 * A generation is one set of credentials; a call, its listens and its playbacks outlive it. Listens
 * and playbacks are found by their own ids, which are never used again, so of the generations in
 * commands only that of CALL_CREDENTIALS is looked at: it must be higher than the call's. */
#ifndef MEDIAD_CALL_CALL_H
#define MEDIAD_CALL_CALL_H

#include "mediad/engine/engine.h"
#include "proto/media.h"

struct call;
struct dave_job;
struct worker;
struct ws_ctx;

/* A message for control. flow 0: never dropped; else a HEARD of this flow, which may be:
 * call_heard_dropped then, also in the middle of this. */
typedef void(call_out_h)(const struct media_msg *msg, uint32_t flow, void *arg);
/* The call has left, and nothing of it is lent any more: call_free may be called, here too. */
typedef void(call_gone_h)(struct call *c, void *arg);

struct call_conf {
	struct env *env;
	struct ws_ctx *ws;
	struct engine *engine;
	struct worker *worker;
	call_out_h *outh;
	call_gone_h *goneh;
	uint32_t *flows;    /* mediad's: numbers every listen of every call, for outh */
	uint64_t *sessions; /* mediad's: numbers every session of every call, owner of its jobs */
	void *arg;
};

/* ENOMEM, ENOSPC (no room on any audio thread). Tells CALL_STATE: it waits for credentials. Caller
 * owns *out. */
int call_alloc(struct call **out, const struct call_conf *conf, const struct media_call_open *open);
/* Only after goneh, or together with the engine. */
struct call *call_free(struct call *c);
/* Leaves: goneh follows. */
void call_leave(struct call *c);

uint32_t call_id(const struct call *c);
uint64_t call_guild(const struct call *c);

/* Everything a new control has to know: CALL_STATE, CALL_SECURE, MEMBER, LISTENING, SAY_STATE. */
void call_tell_all(struct call *c);
/* Playbacks count as unclaimed from now on. */
void call_unclaim(struct call *c);
/* Stops the playbacks that are still unclaimed. */
void call_stop_unclaimed(struct call *c);
/* Control does not get this HEARD of the call's: the next one of its listen tells. */
void call_heard_dropped(struct call *c, const struct media_heard *msg);
/* Handler of engine_conf. */
void call_engine_event(const struct ev *ev, void *owner);
/* Key work came back. False: not this call's (any more), and still the caller's. */
bool call_job_done(struct call *c, struct dave_job *job, uint64_t owner);

/* Commands of control. A request that makes no sense is answered by the event that ends it
 * (HEARD_END, SAY_STOPPED) with MEDIA_REASON_BAD_REQUEST; one about something that is over is late,
 * and ignored. */
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
void call_say_do(struct call *c, uint32_t playback, enum sender_command what, uint16_t target,
		 uint16_t fade_ms);

#endif
