#include "mediad/mediad.h"

#include <errno.h>
#include <stdlib.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "mediad/call/call.h"
#include "mediad/dave/job.h"
#include "mediad/key_worker.h"
#include "mediad/link.h"
#include "proto/base/time.h"

enum { CLAIM_S = 2, STOP_S = 3, FLUSH_MS = 100 };

struct mediad {
	struct mediad_conf conf;
	struct link *link;
	struct ws_ctx *ws;
	struct engine *engine;
	struct worker *worker;
	struct tmr *claim, *orphan, *stop;
	struct call *calls[MEDIAD_CALLS];
	unsigned n_calls;  /* calls[0..n_calls) are in use */
	uint32_t flows;	   /* number of the newest listen */
	uint64_t sessions; /* number of the newest voice session */
	bool stopping, stopped;
};

static struct call *call_of(struct mediad *m, uint32_t id)
{
	for (unsigned i = 0; i < m->n_calls; i++)
		if (call_id(m->calls[i]) == id)
			return m->calls[i];
	return NULL;
}

static void on_out(const struct media_msg *msg, uint32_t flow, void *arg)
{
	struct mediad *m = arg;

	if (m->link)
		link_send(m->link, msg, flow);
}

static void on_job_done(void *job, uint64_t owner, const uint8_t *answer, size_t len, void *arg)
{
	struct mediad *m = arg;

	(void)answer, (void)len;
	for (unsigned i = 0; i < m->n_calls; i++)
		if (call_job_done(m->calls[i], job, owner))
			return;
	dave_job_free(job);
}

/* The last call has left; its closing messages get a moment to be sent. */
static void stop_if_done(struct mediad *m)
{
	if (!m->stopping || m->n_calls || m->stopped)
		return;
	m->stopped = true;
	m->link = link_free(m->link);
	tmr_start(m->stop, FLUSH_MS * NS_PER_MS);
}

static void on_gone(struct call *c, void *arg)
{
	struct mediad *m = arg;

	for (unsigned i = 0; i < m->n_calls; i++) {
		if (m->calls[i] != c)
			continue;
		m->calls[i] = m->calls[--m->n_calls];
		break;
	}
	call_free(c);
	stop_if_done(m);
}

/* ---- messages ---- */

static void tell_state(struct mediad *m, uint32_t call, uint32_t gen, enum media_phase phase,
		       enum media_reason reason)
{
	struct media_msg msg = {.type = MEDIA_CALL_STATE};

	msg.call_state.call = call;
	msg.call_state.gen = gen;
	msg.call_state.phase = (uint8_t)phase;
	msg.call_state.reason = (uint16_t)reason;
	msg.call_state.mode = slice_str("");
	link_send(m->link, &msg, 0);
}

static int on_open(struct mediad *m, const struct media_call_open *open)
{
	struct call_conf conf = {.env = m->conf.env,
				 .ws = m->ws,
				 .engine = m->engine,
				 .worker = m->worker,
				 .outh = on_out,
				 .goneh = on_gone,
				 .flows = &m->flows,
				 .sessions = &m->sessions,
				 .arg = m};
	struct call *c = call_of(m, open->call);
	int err;

	if (c) {
		struct media_call_set set = {.channel = open->channel,
					     .bitrate = open->bitrate,
					     .complexity = open->complexity,
					     .mute = open->mute,
					     .deaf = open->deaf,
					     .stage = open->stage};

		/* Control repeats it after a resync; another guild under the same number is an
		 * error. */
		if (call_guild(c) != open->guild)
			return EPROTO;
		call_set(c, &set);
		return 0;
	}
	if (m->stopping || !open->guild || !open->user) {
		tell_state(m, open->call, open->gen, MEDIA_PHASE_FAILED, MEDIA_REASON_BAD_REQUEST);
		return 0;
	}
	err = m->n_calls < MEDIAD_CALLS ? call_alloc(&c, &conf, open) : ENOSPC;
	if (err) {
		log_warn("call_refused", "call=%u error=%d", open->call, err);
		link_fault(m->link, MEDIA_FAULT_FULL);
		tell_state(m, open->call, open->gen, MEDIA_PHASE_FAILED, MEDIA_REASON_BAD_REQUEST);
		return 0;
	}
	m->calls[m->n_calls++] = c;
	return 0;
}

static void on_close(struct mediad *m, const struct media_call_close *msg)
{
	struct call *c = call_of(m, msg->call);

	if (c)
		call_leave(c);
	else
		tell_state(m, msg->call, msg->gen, MEDIA_PHASE_CLOSED, MEDIA_REASON_ASKED);
}

static int on_call_msg(struct call *c, const struct media_msg *msg)
{
	switch (msg->type) {
	case MEDIA_CALL_SET:
		call_set(c, &msg->call_set);
		return 0;
	case MEDIA_CALL_CREDENTIALS:
		call_credentials(c, &msg->call_credentials);
		return 0;
	case MEDIA_VERIFY:
		call_verify(c, &msg->verify);
		return 0;
	case MEDIA_LISTEN:
		call_listen(c, &msg->listen);
		return 0;
	case MEDIA_UNLISTEN:
		call_unlisten(c, &msg->unlisten);
		return 0;
	case MEDIA_CONSENT:
		call_consent(c, &msg->consent);
		return 0;
	case MEDIA_SAY_OPEN:
		call_say_open(c, &msg->say_open);
		return 0;
	case MEDIA_SAY:
		call_say(c, &msg->say);
		return 0;
	case MEDIA_SAY_END:
		call_say_end(c, &msg->say_end);
		return 0;
	case MEDIA_SAY_CLAIM:
		call_say_claim(c, &msg->say_claim);
		return 0;
	case MEDIA_SAY_PAUSE:
		call_say_control(c, msg->say_pause.playback, SENDER_PAUSE, 0,
				 msg->say_pause.fade_ms);
		return 0;
	case MEDIA_SAY_RESUME:
		call_say_control(c, msg->say_resume.playback, SENDER_RESUME, 0,
				 msg->say_resume.fade_ms);
		return 0;
	case MEDIA_SAY_GAIN:
		call_say_control(c, msg->say_gain.playback, SENDER_GAIN, msg->say_gain.target,
				 msg->say_gain.fade_ms);
		return 0;
	case MEDIA_SAY_STOP:
		call_say_control(c, msg->say_stop.playback, SENDER_STOP, 0, msg->say_stop.fade_ms);
		return 0;
	default: /* the codec accepts no other message of control */
		return EPROTO;
	}
}

static int on_msg(const struct media_msg *msg, void *arg)
{
	struct mediad *m = arg;
	struct call *c;

	if (msg->type == MEDIA_CALL_OPEN)
		return on_open(m, &msg->call_open);
	if (msg->type == MEDIA_CALL_CLOSE) {
		on_close(m, &msg->call_close);
		return 0;
	}
	/* Every message about a call begins with its number. A call that we do not hold has ended.
	 */
	c = call_of(m, msg->call_set.call);
	return c ? on_call_msg(c, msg) : 0;
}

/* ---- control connects and is lost ---- */

static unsigned on_hello(void *arg)
{
	struct mediad *m = arg;

	tmr_stop(m->orphan);
	for (unsigned i = 0; i < m->n_calls; i++) {
		call_unclaim_playbacks(m->calls[i]);
		call_send_all(m->calls[i]);
	}
	tmr_start(m->claim, CLAIM_S * NS_PER_S);
	return m->n_calls;
}

static void on_drop(const struct media_heard *msg, void *arg)
{
	struct call *c = call_of(arg, msg->call);

	if (c)
		call_heard_dropped(c, msg);
}

static void on_lost(void *arg)
{
	struct mediad *m = arg;

	tmr_stop(m->claim);
	tmr_start(m->orphan, m->conf.orphan_s * NS_PER_S);
}

static void on_claim_over(void *arg)
{
	struct mediad *m = arg;

	for (unsigned i = 0; i < m->n_calls; i++)
		call_stop_unclaimed(m->calls[i]);
}

static void on_orphaned(void *arg)
{
	struct mediad *m = arg;

	if (m->n_calls)
		log_warn("orphaned", "calls=%u after_s=%u", m->n_calls, m->conf.orphan_s);
	for (unsigned i = 0; i < m->n_calls; i++)
		call_leave(m->calls[i]);
}

/* Leaves the calls first, then flushes the link. */
static void on_stop(void *arg)
{
	struct mediad *m = arg;

	if (!m->stopped)
		log_warn("stop_incomplete", "calls=%u", m->n_calls);
	m->conf.stoppedh(m->conf.arg);
}

/* ---- alloc, free, stop ---- */

int mediad_alloc(struct mediad **out, const struct mediad_conf *conf)
{
	struct mediad *m;
	struct link_conf link = {
		.env = conf->env,
		.path = conf->listen,
		.peer_uid = conf->peer_uid,
		.h = {on_hello, on_msg, on_lost, on_drop, NULL},
	};
	struct engine_conf engine = {conf->env, conf->journal, conf->threads, call_engine_event};
	int err;

	if (!out || !conf->env || !conf->listen || !conf->stoppedh)
		return EINVAL;
	m = calloc(1, sizeof *m);
	if (!m)
		return ENOMEM;
	m->conf = *conf;
	link.h.arg = m;
	env_random(conf->env, &link.instance, sizeof link.instance);
	err = tmr_alloc(&m->claim, conf->env, on_claim_over, m);
	if (!err)
		err = tmr_alloc(&m->orphan, conf->env, on_orphaned, m);
	if (!err)
		err = tmr_alloc(&m->stop, conf->env, on_stop, m);
	if (!err)
		err = ws_ctx_alloc(&m->ws, conf->env, conf->ca_file);
	if (!err)
		err = engine_alloc(&m->engine, &engine);
	if (!err)
		err = key_worker_alloc(&m->worker, conf->env, on_job_done, m);
	/* This comes last, because control can connect from here on. */
	if (!err)
		err = link_alloc(&m->link, &link);
	if (err)
		mediad_free(m);
	else
		*out = m;
	return err;
}

struct mediad *mediad_free(struct mediad *m)
{
	if (!m)
		return NULL;
	link_free(m->link);
	/* The engine is freed first, because streams that are still lent point to their calls. */
	engine_free(m->engine);
	worker_free(m->worker);
	while (m->n_calls)
		call_free(m->calls[--m->n_calls]);
	ws_ctx_free(m->ws);
	tmr_free(m->claim);
	tmr_free(m->orphan);
	tmr_free(m->stop);
	free(m);
	return NULL;
}

void mediad_stop(struct mediad *m)
{
	if (m->stopping)
		return;
	m->stopping = true;
	tmr_stop(m->orphan);
	tmr_stop(m->claim);
	tmr_start(m->stop, STOP_S * NS_PER_S);
	for (unsigned i = 0; i < m->n_calls; i++)
		call_leave(m->calls[i]);
	stop_if_done(m);
}

void mediad_stop_input(uint8_t kind, const uint8_t *data, size_t len, void *m)
{
	(void)kind, (void)data, (void)len;
	mediad_stop(m);
}

struct engine *mediad_engine(struct mediad *m)
{
	return m->engine;
}
