/* Messages of control to the media plane: opens and closes calls, passes the rest to its call. */
#include "mediad/mediad_internal.h"

#include <errno.h>

#include "ipc/log.h"

static void send_state(struct mediad *m, uint32_t call, uint32_t gen, enum media_phase phase,
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
				 .decoders = m->decoders,
				 .outh = mediad_send,
				 .queuedh = mediad_queued,
				 .goneh = mediad_on_call_gone,
				 .flows = &m->flows,
				 .sessions = &m->sessions,
				 .arg = m};
	struct call *c = mediad_find_call(m, open->call);
	int err;

	if (c) {
		/* The call exists already, so its CALL_OPEN counts as a CALL_SET of the same
		 * generation. The same number for another guild is an error. */
		struct media_msg set = {.type = MEDIA_CALL_SET,
					.call_set = {.call = open->call,
						     .gen = open->gen,
						     .channel = open->channel,
						     .bitrate = open->bitrate,
						     .complexity = open->complexity,
						     .mute = open->mute,
						     .deaf = open->deaf,
						     .stage = open->stage,
						     .e2ee = open->e2ee,
						     .consent = open->consent ? MEDIA_CONSENT_YES
									      : MEDIA_CONSENT_NO}};

		return call_guild(c) == open->guild ? call_run_command(c, &set) : EPROTO;
	}
	if (m->stopping || !open->guild || !open->user) {
		send_state(m, open->call, open->gen, MEDIA_PHASE_FAILED, MEDIA_REASON_BAD_REQUEST);
		return 0;
	}
	err = m->n_calls < MEDIAD_CALLS ? call_alloc(&c, &conf, open) : ENOSPC;
	if (err) {
		log_warn("call_refused", "call=%u error=%d", open->call, err);
		link_fault(m->link, MEDIA_FAULT_FULL);
		send_state(m, open->call, open->gen, MEDIA_PHASE_FAILED, MEDIA_REASON_FULL);
		return 0;
	}
	m->calls[m->n_calls++] = c;
	return 0;
}

static void on_close(struct mediad *m, const struct media_call_close *msg)
{
	struct call *c = mediad_find_call(m, msg->call);

	/* One of an older generation is about a session that control no longer means. */
	if (c && msg->gen < call_generation(c))
		call_send_all(c);
	else if (c)
		call_leave(c);
	else
		send_state(m, msg->call, msg->gen, MEDIA_PHASE_CLOSED, MEDIA_REASON_ASKED);
}

/* An unknown level of a newer control is the finest one. */
static void apply_log(struct mediad *m, const struct media_log *log)
{
	enum log_level level = log->level ? (enum log_level)(log->level - 1) : m->started_level;
	bool json = log->json || m->conf.log_json;

	if (level > LOG_TRACE_)
		level = LOG_TRACE_;
	log_set_level(level);
	log_set_json(json);
	decoders_set_log(m->decoders, (unsigned)level, json);
	log_info("log_changed", "level=%d json=%d", (int)level, (int)json);
}

int mediad_on_message(const struct media_msg *msg, void *arg)
{
	struct mediad *m = arg;
	struct call *c;

	if (msg->type == MEDIA_CALL_OPEN)
		return on_open(m, &msg->call_open);
	if (msg->type == MEDIA_LOG) {
		apply_log(m, &msg->log);
		return 0;
	}
	if (msg->type == MEDIA_CALL_CLOSE) {
		on_close(m, &msg->call_close);
		return 0;
	}
	/* Every message about a call begins with its number. A call that we do not hold has ended.
	 */
	c = mediad_find_call(m, msg->call_set.call);
	return c ? call_run_command(c, msg) : 0;
}
