/* The state that a restart needs: read at start, written when it changed. */
#include <stdio.h>
#include <string.h>

#include "control/control_inside.h"
#include "control/discord/guilds.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

void control_save_state(struct control *c)
{
	int err = 0;

	if (!c->conf.state_dir)
		return;
	/* Until the gateway has started, the previous control's session is the one to keep. */
	if (gateway_state(c->gateway) != GATEWAY_IDLE)
		c->state.session = *gateway_session(c->gateway);
	c->state.saved_ms = env_wall_ms(c->env);
	c->state.n_calls = 0;
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		if (voice_session_channel(c->voice_sessions[i]))
			c->state.calls[c->state.n_calls++] = (struct state_call){
				.guild = voice_session_guild(c->voice_sessions[i]),
				.channel = voice_session_channel(c->voice_sessions[i]),
				.standing = voice_session_standing(c->voice_sessions[i])};
	/* Servers first: an event that is already in them does no harm when replayed; missing one
	 * would. */
	if (c->guilds_dirty)
		err = state_save_guilds(c->env, c->conf.state_dir, guilds_snapshot(c->guilds));
	if (!err)
		err = state_save(c->env, c->conf.state_dir, &c->state);
	if (err)
		log_warn("state_not_saved", "dir=%s error=\"%s\"", c->conf.state_dir,
			 strerror(err));
	c->save_dirty = c->guilds_dirty = false;
	c->saved_at = env_now(c->env);
}

void control_save_soon(struct control *c)
{
	if (!c->save_dirty)
		tmr_start(c->save_tmr, SAVE_MS * NS_PER_MS);
	c->save_dirty = true;
}

void control_on_save_timer(void *arg)
{
	struct control *c = arg;

	if (c->save_dirty || gateway_state(c->gateway) == GATEWAY_UP)
		control_save_state(c);
	tmr_start(c->save_tmr, SAVE_ANYWAY_MS * NS_PER_MS);
}

void control_on_resume_point(void *arg)
{
	struct control *c = arg;

	control_save_state(c);
}

void control_on_calls_changed(void *arg)
{
	struct control *c = arg;

	control_save_soon(c);
}

void control_load_state(struct control *c)
{
	const struct state_kept *kept = c->conf.kept;
	uint64_t wall = env_wall_ms(c->env), old = 0;

	if (kept && kept->session && state_parse(kept->session, &c->state) == 0) {
		old = c->state.epoch;
		c->resuming = state_fresh(&c->state, wall) && kept->guilds &&
			      guilds_restore(c->guilds, kept->guilds) == 0;
		if (wall > c->state.saved_ms + REJOIN_MS)
			c->state.n_calls = 0;
	}
	if (c->resuming)
		guilds_set_self(c->guilds, c->state.user);
	else
		memset(&c->state.session, 0, sizeof c->state.session);
	/* Increases with every start, even if the clock was set back. */
	c->state.epoch = wall > old ? wall : old + 1;
	if (c->conf.state_dir) {
		int err = state_save(c->env, c->conf.state_dir, &c->state);

		if (err)
			log_warn("state_not_saved", "dir=%s error=\"%s\"", c->conf.state_dir,
				 strerror(err));
	}
}
