#include "mediad/call/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "mediad/call/call_internal.h"
#include "mediad/engine/loop_stream.h"
#include "proto/base/time.h"

/* Lines of the log that a voice server can cause, for each call: so many at once, then one per
 * CALL_LOG_MS. A call that joins and heals takes about ten. */
enum { CALL_LOG_BURST = 100, CALL_LOG_MS = 1000 };

/* The retired modes come last: they are used when a server offers no other. */
#define X(NAME, num, wire) wire,
static const char *const transport_modes[] = {RTPSIZE_MODES(X) NULL};
static const char *const transport_modes_and_retired[] = {RTPSIZE_MODES(X) RTPSIZE_RETIRED_MODES(X)
								  NULL};
#undef X

void call_send(struct call *c, struct media_msg *msg, uint32_t flow)
{
	/* The head is the same in every message; any member of the union will do. */
	msg->call_state.call = c->id;
	msg->call_state.gen = c->gen;
	c->conf.outh(msg, flow, c->conf.arg);
}

/* A stream must not continue if it missed the end of clear sending, or holds only keys that are no
 * longer valid. Slots that missed a command are replaced (hear_replace_slots). */
static void on_command_lost(struct call *c, enum cmd_type type)
{
	log_warn("engine_command_lost", "call=%u error=memory", c->id);
	if (type == CMD_DAVE_CLEAR || type == CMD_DAVE_SEND || type == CMD_KEY)
		c->secure.rejoin = true;
}

bool call_command(struct call *c, struct cmd *cmd)
{
	if (!c->stream || c->leaving) {
		cmd_dispose(cmd); /* frees what it would have lent */
		return true;
	}
	call_send_owed(c);
	if (call_must_wait(c, cmd)
		    ? call_owe(c, cmd)
		    : !engine_send(c->conf.engine, c->stream, cmd) || call_owe(c, cmd))
		return true;
	on_command_lost(c, cmd->type);
	return false;
}

bool call_may_log(struct call *c)
{
	unsigned left_out;

	if (!rate_limit_take(&c->lines, CALL_LOG_BURST, CALL_LOG_MS * NS_PER_MS,
			     env_now(c->conf.env)))
		return false;
	left_out = rate_limit_refused(&c->lines);
	if (left_out)
		log_warn("lines_left_out", "call=%u count=%u", c->id, left_out);
	return true;
}

void call_send_state(struct call *c)
{
	struct media_msg msg = {.type = MEDIA_CALL_STATE, .call_state = c->state};

	msg.call_state.guild = c->guild;
	msg.call_state.channel = c->joined; /* control knows the one that it wants */
	call_send(c, &msg, 0);
}

bool call_job_done(struct call *c, struct dave_job *job, uint64_t owner)
{
	if (!secure_job_done(c, job, owner))
		return false;
	call_finish_step(c);
	return true;
}

void call_verify(struct call *c, const struct media_verify *m)
{
	secure_verify(c, m->user);
	call_finish_step(c);
}

/* ---- alloc, free, commands ---- */

void call_send_set(struct call *c)
{
	struct cmd cmd = {.type = CMD_SET};

	cmd.set.bitrate = c->bitrate;
	cmd.set.complexity = c->complexity;
	cmd.set.mute = c->mute;
	cmd.set.deaf = c->deaf;
	cmd.set.keep_unmapped = hear_has_consent(c);
	call_command(c, &cmd);
}

static int add_stream(struct call *c, struct call_stream *l)
{
	struct loop_stream_handlers h;

	if (!c->video)
		return engine_add_stream(c->conf.engine, l);
	h = call_video_handlers(c->video);
	return engine_add_loop_stream(c->conf.engine, l, &h);
}

static int lend_stream(struct call *c)
{
	struct call_stream *l;
	int err = call_stream_alloc(&l, c, c->bitrate);

	if (err)
		return err;
	err = add_stream(c, l);
	if (err)
		call_stream_free(l);
	else
		c->stream = l;
	return err;
}

int call_alloc(struct call **out, const struct call_conf *conf, const struct media_call_open *open)
{
	struct vgw_conf gw = {.guild = open->guild, .user = open->user, .stream = open->stream};
	struct call *c = calloc(1, sizeof *c);
	int err;

	if (!c)
		return ENOMEM;
	c->conf = *conf;
	c->id = open->call;
	c->gen = open->gen;
	c->guild = open->guild;
	c->channel = c->joined = open->channel;
	c->stage = c->wanted_stage = open->stage;
	c->user = open->user;
	c->bitrate = open->bitrate;
	c->complexity = open->complexity;
	c->mute = open->mute;
	c->deaf = open->deaf;
	c->consent = open->consent;
	c->e2ee = c->wanted_e2ee = open->e2ee;
	c->next_capture = 1;
	c->state.phase = MEDIA_PHASE_WAITING;
	c->state.reason = MEDIA_REASON_NEW_CALL;
	c->state.wants_credentials = true;
	c->state.mode = slice_str("");
	gw.modes = open->retired ? transport_modes_and_retired : transport_modes;
	gw.acth = call_perform_action;
	gw.keyh = call_may_use_key;
	gw.arg = c;
	err = vgw_alloc(&c->gw, &gw);
	if (!err)
		err = tmr_alloc(&c->gw_timer, conf->env, call_on_gateway_timer, c);
	if (!err)
		err = tmr_alloc(&c->settle, conf->env, call_on_settle, c);
	if (!err)
		err = secure_init(c);
	if (!err && open->stream)
		err = call_video_alloc(&c->video, c);
	/* This comes last, because a lent stream does not return at once. */
	if (!err)
		err = lend_stream(c);
	if (err) {
		call_free(c);
		return err;
	}
	secure_check_policy(c);
	call_send_set(c);
	call_send_state(c);
	*out = c;
	return 0;
}

struct call *call_free(struct call *c)
{
	if (!c)
		return NULL;
	ws_free(c->ws);
	vgw_free(c->gw);
	tmr_free(c->gw_timer);
	tmr_free(c->settle);
	secure_free(c);
	say_free(c);
	music_free(c);
	hear_free(c);
	call_video_free(c->video);
	free(c);
	return NULL;
}

void call_leave(struct call *c)
{
	if (c->leaving)
		return;
	vgw_leave(c->gw, env_now(c->conf.env));
	call_finish_step(c);
	c->n_owed = 0; /* the stream ends its session and its lanes when it is removed */
	engine_remove_stream(c->conf.engine, c->stream);
	c->leaving = true;
}

uint32_t call_id(const struct call *c)
{
	return c->id;
}

uint64_t call_guild(const struct call *c)
{
	return c->guild;
}

uint32_t call_generation(const struct call *c)
{
	return c->gen;
}

void call_greet_control(struct call *c)
{
	say_unclaim_all(c);
	music_unclaim_all(c);
	call_video_unclaim_all(c);
	hear_doubt_consents(c);
	call_send_all(c);
}

void call_send_all(struct call *c)
{
	call_send_state(c);
	secure_send_state(c);
	hear_send_all(c);
	say_send_all(c);
	music_send_all(c);
	call_video_send_all(c);
}

/* Control's policy of encryption counts for its channel, which the next lease joins. */
static void apply_policy(struct call *c)
{
	c->stage = c->wanted_stage;
	c->e2ee = c->wanted_e2ee;
}

void call_set(struct call *c, const struct media_call_set *m)
{
	c->channel = m->channel;
	c->wanted_stage = m->stage;
	c->wanted_e2ee = m->e2ee;
	if (c->channel == c->joined)
		apply_policy(c);
	c->bitrate = m->bitrate;
	c->complexity = m->complexity;
	c->mute = m->mute;
	c->deaf = m->deaf;
	if (m->consent != MEDIA_CONSENT_UNCHANGED)
		hear_set_default_consent(c, m->consent == MEDIA_CONSENT_YES);
	call_send_set(c);
	secure_check_policy(c);
	call_finish_step(c);
}

static bool copy_text(char *buf, size_t size, struct slice s)
{
	if (s.n >= size || memchr(s.p, '\0', s.n))
		return false;
	memcpy(buf, s.p, s.n);
	buf[s.n] = '\0';
	return true;
}

/* A lease that control fetched while the call failed for good. Control passes over the failure,
 * which has an older generation, and the lease would open a call that was left for a reason. */
static bool crosses_failure(const struct call *c, const struct media_call_credentials *m)
{
	return !m->after_failure && c->state.phase == MEDIA_PHASE_FAILED &&
	       media_reason_is_final(c->state.reason) && (!m->channel || m->channel == c->joined);
}

void call_credentials(struct call *c, const struct media_call_credentials *m)
{
	char session[132], token[260], endpoint[260];
	struct vgw_lease lease = {session, token, endpoint, 0};

	if (m->gen <= c->gen || c->leaving) {
		log_info("credentials_late", "call=%u gen=%u have=%u", c->id, m->gen, c->gen);
		return;
	}
	c->gen = m->gen;
	if (crosses_failure(c, m)) {
		log_info("credentials_after_failure", "call=%u gen=%u reason=%s", c->id, c->gen,
			 media_reason_name(c->state.reason));
		call_send_state(c);
		return;
	}
	if (m->channel)
		c->channel = m->channel;
	c->joined = c->channel;
	apply_policy(c);
	/* A field that is no text becomes an invalid endpoint, which the machine refuses, and then
	 * asks again. */
	if (!copy_text(session, sizeof session, m->session) ||
	    !copy_text(token, sizeof token, m->token) ||
	    !copy_text(endpoint, sizeof endpoint, m->endpoint))
		lease = (struct vgw_lease){"", "", "?", 0};
	/* The server may repeat them in a close reason, which is logged. */
	log_lease(lease.session);
	log_lease(lease.token);
	env_random(c->conf.env, &lease.entropy, sizeof lease.entropy);
	vgw_credentials(c->gw, env_now(c->conf.env), &lease);
	explicit_bzero(token, sizeof token);
	explicit_bzero(session, sizeof session);
	explicit_bzero(endpoint, sizeof endpoint);
	call_finish_step(c);
}
