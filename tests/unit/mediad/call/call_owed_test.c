/* Commands that wait for memory: none is lost, and none overtakes another about the same lane. */
#include "mediad/call/call_internal.h"

#include <stdlib.h>

#include "tests/test.h"

static const enum sender_command controls[] = {SENDER_STOP, SENDER_PAUSE, SENDER_RESUME,
					       SENDER_GAIN};
enum { CONTROLS = sizeof controls / sizeof controls[0] };

static bool owe(struct call *c, enum cmd_type type)
{
	return call_owe(c, &(struct cmd){.type = type});
}

static bool owe_music(struct call *c, uint32_t lane, enum sender_command what, uint16_t target)
{
	return call_owe(c, &(struct cmd){.type = CMD_MUSIC_CONTROL,
					 .music = {.id = lane, .what = what, .target = target}});
}

static bool owe_lane(struct call *c, uint32_t lane)
{
	struct cmd cmd = {.type = CMD_LANE_END, .lane = {.playback = lane}};
	bool ok = call_owe(c, &cmd);

	cmd.type = CMD_LANE_CONTROL;
	for (unsigned i = 0; i < CONTROLS; i++) {
		cmd.lane.what = controls[i];
		ok = call_owe(c, &cmd) && ok;
	}
	return ok;
}

/* Owes everything that there can be: to the stream, to each playback and to each music. */
static bool owe_all(struct call *c, uint32_t first_lane)
{
	bool ok = owe(c, CMD_UNLINK) && owe(c, CMD_SET) && owe(c, CMD_MUSIC_SET);

	for (uint32_t i = 0; i < SENDER_LANES; i++)
		ok = owe_lane(c, first_lane + i) && ok;
	for (uint32_t i = 0; i < MUSIC_MIXER_LANES; i++)
		for (unsigned k = 0; k < CONTROLS; k++)
			ok = owe_music(c, first_lane + i, controls[k], 0) && ok;
	return ok;
}

TEST(call_owes_every_command_of_every_lane)
{
	struct call *c = calloc(1, sizeof *c);

	CHECK(c != NULL);
	CHECK(owe_all(c, 1));
	CHECK_INT(c->n_owed, CALL_OWED);
	/* Again: each replaces its like. */
	CHECK(owe_all(c, 1));
	CHECK_INT(c->n_owed, CALL_OWED);
	/* What lends something cannot wait. */
	CHECK(!owe(c, CMD_MUSIC_ADD) && !owe(c, CMD_MUSIC_LEND) && !owe(c, CMD_LANE_ADD));
	free(c);
}

/* Lanes that end in a shortage leave their places to those that come after them. */
TEST(call_forgets_what_it_owes_to_lanes_that_ended)
{
	struct call *c = calloc(1, sizeof *c);

	CHECK(c != NULL);
	CHECK(owe_all(c, 1));
	for (uint32_t i = 0; i < SENDER_LANES; i++)
		call_forget_owed_lane(c, 1 + i);
	for (uint32_t i = 0; i < MUSIC_MIXER_LANES; i++)
		call_forget_owed_music(c, 1 + i);
	CHECK_INT(c->n_owed, 3);
	CHECK(owe_all(c, 100));
	CHECK_INT(c->n_owed, CALL_OWED);
	free(c);
}

/* Of pause, resume, pause the last two remain, in this order. */
TEST(call_keeps_the_order_of_what_it_owes_to_music)
{
	struct call *c = calloc(1, sizeof *c);
	struct cmd later = {.type = CMD_MUSIC_CONTROL, .music = {.id = 2, .what = SENDER_STOP}};

	CHECK(c != NULL);
	CHECK(!call_must_wait(c, &later));
	CHECK(owe_music(c, 1, SENDER_PAUSE, 0));
	CHECK(owe_music(c, 1, SENDER_GAIN, 500));
	CHECK(owe_music(c, 1, SENDER_RESUME, 0));
	CHECK(owe_music(c, 1, SENDER_GAIN, 700));
	CHECK(owe_music(c, 1, SENDER_PAUSE, 0));
	CHECK_INT(c->n_owed, 3);
	CHECK_INT(c->owed[0].music.what, SENDER_RESUME);
	CHECK_INT(c->owed[1].music.target, 700);
	CHECK_INT(c->owed[2].music.what, SENDER_PAUSE);
	/* A command to another lane waits as well; one that lends a lane need not. */
	CHECK(call_must_wait(c, &later));
	later.type = CMD_MUSIC_ADD;
	CHECK(!call_must_wait(c, &later));
	free(c);
}
