#include "mediad/call/call_internal.h"

#include <string.h>

/* These lend nothing, so that a copy can wait. */
static bool can_wait(const struct cmd *cmd)
{
	if (cmd->type == CMD_MUSIC_CONTROL || cmd->type == CMD_MUSIC_SET)
		return true;
	return cmd->type == CMD_UNLINK || cmd->type == CMD_SET || cmd->type == CMD_LANE_END ||
	       cmd->type == CMD_LANE_CONTROL;
}

/* The later one of two such commands counts. */
static bool replaces(const struct cmd *later, const struct cmd *cmd)
{
	if (later->type != cmd->type)
		return false;
	if (cmd->type == CMD_LANE_CONTROL)
		return later->lane.playback == cmd->lane.playback &&
		       later->lane.what == cmd->lane.what;
	if (cmd->type == CMD_MUSIC_CONTROL)
		return later->music.id == cmd->music.id && later->music.what == cmd->music.what;
	return cmd->type != CMD_LANE_END || later->lane.playback == cmd->lane.playback;
}

static void drop_owed(struct call *c, unsigned i)
{
	memmove(c->owed + i, c->owed + i + 1, (--c->n_owed - i) * sizeof c->owed[0]);
}

bool call_owe(struct call *c, const struct cmd *cmd)
{
	if (!can_wait(cmd))
		return false;
	for (unsigned i = c->n_owed; i-- > 0;)
		if (replaces(cmd, &c->owed[i]))
			drop_owed(c, i);
	if (c->n_owed == CALL_OWED)
		return false;
	c->owed[c->n_owed++] = *cmd;
	return true;
}

bool call_must_wait(const struct call *c, const struct cmd *cmd)
{
	return c->n_owed && can_wait(cmd);
}

void call_send_owed(struct call *c)
{
	while (c->n_owed && c->stream) {
		struct cmd cmd = c->owed[0];

		if (engine_send(c->conf.engine, c->stream, &cmd))
			return;
		drop_owed(c, 0);
	}
}

void call_forget_owed_lane(struct call *c, uint32_t lane)
{
	for (unsigned i = c->n_owed; i-- > 0;)
		if ((c->owed[i].type == CMD_LANE_END || c->owed[i].type == CMD_LANE_CONTROL) &&
		    c->owed[i].lane.playback == lane)
			drop_owed(c, i);
}

void call_forget_owed_music(struct call *c, uint32_t lane)
{
	for (unsigned i = c->n_owed; i-- > 0;)
		if (c->owed[i].type == CMD_MUSIC_CONTROL && c->owed[i].music.id == lane)
			drop_owed(c, i);
}

void call_forget_owed(struct call *c, enum cmd_type type)
{
	for (unsigned i = c->n_owed; i-- > 0;)
		if (c->owed[i].type == type)
			drop_owed(c, i);
}
