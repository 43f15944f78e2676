/* Outputs of tools as operators see them and the store keeps them: as the words of their turn. */
#include "control/agent/agent_tools_inside.h"
#include "tests/unit/control/agent/agent_scene.h"

static char summary[256], name[64], arguments[64];
static bool remembered;

static void note_summary(const struct bus_event *ev, void *arg)
{
	(void)arg;
	snprintf(summary, sizeof summary, "%s", ev->tool.summary);
	snprintf(name, sizeof name, "%s", ev->tool.name);
	snprintf(arguments, sizeof arguments, "%s", ev->tool.arguments ? ev->tool.arguments : "");
}

static bool remembers(uint64_t user, void *arg)
{
	(void)user;
	(void)arg;
	return remembered;
}

static bool leaves_open(struct scene *s)
{
	s->deaf = 1;
	return true;
}

static bool is_asked(const struct scene *s)
{
	const struct room_turn *turn = room_active(s->agent->room);

	return turn && turn->phase == ROOM_PHASE_ASKED;
}

static struct room_turn *turn_of(struct scene *s)
{
	return (struct room_turn *)room_active(s->agent->room);
}

/* Alice's turn waits for its answer. */
static bool open_scene(struct scene *s)
{
	if (!scene_begin(s, "off", leaves_open))
		return false;
	s->words = "parley what is my bank";
	s->agent->remembersh = remembers;
	remembered = true;
	return bus_subscribe(s->bus, BUS_MASK(EVENT_TOOL_CALLED), note_summary, NULL) == 0 &&
	       scene_run(s, is_asked);
}

static const char *tell(struct scene *s, enum event_type type, uint32_t turn, const char *tool)
{
	agent_tools_publish(s->agent->tools,
			    &(struct tool_output){.user = ALICE,
						  .id = 4,
						  .turn = turn,
						  .tool = tool,
						  .code = TOOL_CODE_OK,
						  .text = "the bank of Alice is Triodos"},
			    type, 0);
	return summary;
}

#define OUTPUT	   "the bank of Alice is Triodos"
#define BARE(tool) tool ": its output is not kept here"

TEST(an_output_that_may_not_be_kept_is_told_to_nobody)
{
	static struct scene s;
	uint32_t turn;

	CHECK(open_scene(&s));
	turn = turn_of(&s)->id;
	CHECK_STR(tell(&s, EVENT_TOOL_CALLED, turn, "clock"), OUTPUT);
	/* What a memory holds may be somebody's own. */
	CHECK_STR(tell(&s, EVENT_TOOL_CALLED, turn, "memory_search"), BARE("memory_search"));
	CHECK_STR(tell(&s, EVENT_TOOL_CALLED, turn, "memory_forget"), BARE("memory_forget"));
	CHECK_STR(tell(&s, EVENT_TOOL_CALLED, turn, "conversation_search"),
		  BARE("conversation_search"));
	turn_of(&s)->told_private = true;
	CHECK_STR(tell(&s, EVENT_TOOL_CALLED, turn, "clock"), BARE("clock"));
	turn_of(&s)->told_private = false;
	CHECK_STR(arguments, "");
	CHECK_STR(tell(&s, EVENT_TOOL_CALLED, turn, "clock"), OUTPUT);
	CHECK_INT(strlen(arguments), 16);
	remembered = false;
	CHECK_STR(tell(&s, EVENT_TOOL_CALLED, turn, "clock"), BARE("clock"));
	CHECK_STR(arguments, "");
	scene_end(&s);
}

/* Short arguments are soon guessed by whoever knows how they are hashed. */
TEST(arguments_are_told_so_that_nobody_can_guess_them)
{
	static struct scene s;
	uint32_t turn;
	char first[64];

	CHECK(open_scene(&s));
	turn = turn_of(&s)->id;
	tell(&s, EVENT_TOOL_CALLED, turn, "clock");
	snprintf(first, sizeof first, "%s", arguments);
	CHECK(strcmp(first, "0000000000000000") != 0);
	tell(&s, EVENT_TOOL_CALLED, turn, "clock");
	CHECK_STR(arguments, first);
	scene_end(&s);
	CHECK(open_scene(&s));
	tell(&s, EVENT_TOOL_CALLED, turn_of(&s)->id, "clock");
	CHECK(strcmp(arguments, first) != 0);
	scene_end(&s);
}

/* A model can be told to call a tool by a name that is somebody's words. */
TEST(a_name_that_a_model_made_up_is_told_to_nobody)
{
	static struct scene s;

	CHECK(open_scene(&s));
	remembered = false;
	agent_tools_publish(s.agent->tools,
			    &(struct tool_output){.user = ALICE,
						  .id = 4,
						  .turn = turn_of(&s)->id,
						  .tool = "alice_is_ill",
						  .code = TOOL_CODE_UNKNOWN_TOOL,
						  .text = "no such tool"},
			    EVENT_TOOL_CALLED, 0);
	CHECK_STR(name, "unknown");
	CHECK(!strstr(summary, "alice"));
	scene_end(&s);
}

TEST(a_call_that_outlives_its_turn_is_judged_when_it_begins)
{
	static struct scene s;
	uint32_t turn;

	CHECK(open_scene(&s));
	turn = turn_of(&s)->id;
	/* Nobody can tell any more what a call of another turn may show. */
	CHECK_STR(tell(&s, EVENT_TOOL_CALLED, turn + 1, "clock"), BARE("clock"));
	tell(&s, EVENT_TOOL_BEGAN, turn, "clock");
	turn_of(&s)->id = turn + 1;
	CHECK_STR(tell(&s, EVENT_TOOL_CALLED, turn, "clock"), OUTPUT);
	turn_of(&s)->id = turn;
	turn_of(&s)->told_private = true;
	tell(&s, EVENT_TOOL_BEGAN, turn, "clock");
	turn_of(&s)->id = turn + 1;
	turn_of(&s)->told_private = false;
	CHECK_STR(tell(&s, EVENT_TOOL_CALLED, turn, "clock"), BARE("clock"));
	/* What it was told meanwhile, and what its asker decided, count as well. */
	turn_of(&s)->id = turn;
	tell(&s, EVENT_TOOL_BEGAN, turn, "clock");
	turn_of(&s)->told_private = true;
	CHECK_STR(tell(&s, EVENT_TOOL_CALLED, turn, "clock"), BARE("clock"));
	turn_of(&s)->told_private = false;
	tell(&s, EVENT_TOOL_BEGAN, turn, "clock");
	turn_of(&s)->id = turn + 1;
	remembered = false;
	CHECK_STR(tell(&s, EVENT_TOOL_CALLED, turn, "clock"), BARE("clock"));
	turn_of(&s)->id = turn;
	scene_end(&s);
}
