/* The sounds of answers and tools: which are played, left out, and cut. */
#include "control/agent/agent_sounds.h"

#include <errno.h>

#include "control/agent/sound_output.h"
#include "tests/unit/control/agent/agent_scene.h"

static struct scene s;
static char trace[512];
static int refusal;
static bool unsent;
static const int16_t horn[SOUND_OUTPUT_RATE / 10] = {1, 2, 3};

static void note(const char *format, uint32_t a, const char *b)
{
	size_t n = strlen(trace);

	snprintf(trace + n, sizeof trace - n, format, a, b);
}

static int play(uint32_t turn, uint32_t chunk, const char *ref, void *arg)
{
	(void)arg;
	note("play %u %s\n", chunk, ref);
	if (!refusal && strcmp(ref, "horn") == 0)
		return agent_play_local(s.agent, turn, chunk, horn, sizeof horn / sizeof horn[0]);
	return refusal;
}

static bool take_back(uint32_t turn, uint32_t chunk, void *arg)
{
	(void)turn, (void)arg;
	note("drop %u%s\n", chunk, "");
	return unsent;
}

static void take_event(const struct bus_event *ev, void *arg)
{
	(void)arg;
	if (ev->type == EVENT_SOUND_PLAYED || ev->type == EVENT_SOUND_DROPPED)
		note(ev->sound.local ? "event %u local %s\n" : "event %u %s\n",
		     ev->type == EVENT_SOUND_PLAYED, ev->sound.why);
}

static bool leaves_open(struct scene *scene)
{
	scene->deaf = 1;
	return true;
}

static bool is_asked(const struct scene *scene)
{
	const struct room_turn *turn = room_active(scene->agent->room);

	return turn && turn->phase == ROOM_PHASE_ASKED;
}

/* Alice's turn waits for its answer. */
static bool begin(void)
{
	memset(&s, 0, sizeof s);
	trace[0] = '\0';
	refusal = 0;
	unsent = false;
	if (!scene_begin(&s, "off", leaves_open))
		return false;
	s.words = "parley play it";
	if (!scene_run(&s, is_asked))
		return false;
	s.agent->soundh = play;
	s.agent->unsoundh = take_back;
	return bus_subscribe(s.bus, BUS_ALL, take_event, NULL) == 0;
}

static void perform(enum room_effect_type type, uint32_t chunk, const char *text)
{
	agent_perform(s.agent, &(struct room_effect){.type = type,
						     .turn = room_active(s.agent->room)->id,
						     .chunk = chunk,
						     .text = text});
}

static void sound(uint32_t chunk, const char *name)
{
	perform(ROOM_DO_SOUNDBOARD, chunk, name);
}

static uint32_t turn_now(void)
{
	return room_active(s.agent->room)->id;
}

TEST(an_answer_plays_discords_sounds_and_local_ones)
{
	CHECK(begin());
	sound(2, "quack");
	agent_sounded(s.agent, turn_now(), 2, 0);
	sound(4, "horn");
	CHECK_STR(trace, "play 2 quack\nevent 1 played\nplay 4 horn\nevent 1 local played\n");
	scene_end(&s);
}

TEST(a_sound_that_cannot_be_played_is_left_out_with_its_reason)
{
	static const struct {
		int err;
		const char *why;
	} rows[] = {{ENOENT, "unknown"},
		    {EEXIST, "ambiguous"},
		    {EPERM, "muted"},
		    {EACCES, "refused"},
		    {EIO, "failed"}};
	char want[64];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		CHECK(begin());
		refusal = rows[i].err;
		sound(2, "quack");
		snprintf(want, sizeof want, "play 2 quack\nevent 0 %s\n", rows[i].why);
		CHECK_STR(trace, want);
		trace[0] = '\0';
		refusal = 0;
		sound(3, "quack");
		agent_sounded(s.agent, turn_now(), 3, rows[i].err);
		snprintf(want, sizeof want, "play 3 quack\nevent 0 %s\n", rows[i].why);
		CHECK_STR(trace, want);
		scene_end(&s);
	}
}

TEST(sounds_have_a_limit_for_each_minute)
{
	CHECK(begin());
	settings_set(s.settings, "sounds_a_minute", "2");
	for (uint32_t i = 1; i <= 3; i++)
		sound(i, "q");
	CHECK_STR(trace, "play 1 q\nplay 2 q\nevent 0 too_many\n");
	scene_end(&s);
}

TEST(sounds_that_are_switched_off_are_not_played)
{
	CHECK(begin());
	settings_set(s.settings, "soundboard", "off");
	sound(1, "quack");
	CHECK_STR(trace, "event 0 off\n");
	CHECK_INT(agent_sounds_call(s.agent->sounds, 7, "quack"), ENOTSUP);
	scene_end(&s);
}

/* A sound that Discord has cannot be stopped. */
TEST(a_cut_answer_takes_its_sound_back)
{
	CHECK(begin());
	sound(2, "quack");
	unsent = true;
	perform(ROOM_DO_SAY_STOP, 0, NULL);
	CHECK_STR(trace, "play 2 quack\ndrop 2\nevent 0 cut\n");
	perform(ROOM_DO_SAY_STOP, 0, NULL);
	CHECK_STR(trace, "play 2 quack\ndrop 2\nevent 0 cut\n");
	trace[0] = '\0';
	unsent = false;
	sound(3, "quack");
	perform(ROOM_DO_SAY_STOP, 0, NULL);
	CHECK_STR(trace, "play 3 quack\ndrop 3\n");
	scene_end(&s);
}

static bool run_until(bool (*over)(const struct scene *scene))
{
	tmr_start(scene_watch, 0);
	return scene_run(&s, over);
}

static bool stops(const struct scene *scene)
{
	return scene->stopped;
}

static bool starts(const struct scene *scene)
{
	return scene->playback != 0;
}

/* The answer has no playback of its own then. */
TEST(a_cut_answer_stops_its_local_sound)
{
	CHECK(begin());
	s.barge_in = true; /* its end is not told */
	sound(2, "horn");
	CHECK(run_until(starts));
	agent_perform(s.agent, &(struct room_effect){
				       .type = ROOM_DO_SAY_PAUSE, .turn = turn_now(), .ms = 60});
	agent_perform(s.agent, &(struct room_effect){
				       .type = ROOM_DO_SAY_STOP, .turn = turn_now(), .ms = 60});
	CHECK(run_until(stops));
	CHECK_INT(s.stopped_fade, 60);
	CHECK_INT(s.paused, 1);
	scene_end(&s);
}

static bool knows_sounds(const struct scene *scene)
{
	return strstr(scene->soundboard, "The sounds: horn, quack.") != NULL;
}

TEST(a_voice_model_is_told_the_names_by_its_tool)
{
	CHECK(begin());
	CHECK(!strstr(s.soundboard, "The sounds"));
	agent_sounds_listed(s.agent, "horn\nquack\n[x]\n");
	CHECK(run_until(knows_sounds));
	scene_end(&s);
}

static unsigned ends;

static void take_end(uint32_t turn, uint32_t chunk, void *arg)
{
	(void)arg;
	ends += turn == 1 && chunk == 2;
}

static bool has_ended(const struct scene *scene)
{
	(void)scene;
	return ends;
}

TEST(the_end_of_a_local_sound_is_told_once)
{
	struct sound_output *o = NULL;

	CHECK(begin());
	ends = 0;
	CHECK_INT(sound_output_alloc(&o, s.call, take_end, NULL), 0);
	CHECK_INT(sound_output_play(o, 1, 1, horn, 9), 0);
	CHECK_INT(sound_output_play(o, 1, 2, horn, 9), 0);
	CHECK(run_until(has_ended));
	CHECK_INT(ends, 1);
	sound_output_stop(o, 0);
	sound_output_free(o);
	scene_end(&s);
}

TEST(there_is_no_local_sound_without_a_call)
{
	struct sound_output *o = NULL;

	CHECK_INT(sound_output_alloc(&o, NULL, NULL, NULL), EINVAL);
	CHECK_INT(sound_output_alloc(&o, NULL, take_end, NULL), 0);
	CHECK_INT(sound_output_play(o, 1, 1, horn, 9), ENOTCONN);
	sound_output_stop(o, 0);
	sound_output_do(o, &(struct room_effect){.type = ROOM_DO_SAY_PAUSE, .turn = 1});
	sound_output_free(o);
}

TEST_OOM(a_local_sound_without_memory)
{
	struct sound_output *o = NULL;
	int err = sound_output_alloc(&o, NULL, take_end, NULL);

	CHECK(err == 0 || (err == ENOMEM && !o));
	if (!err)
		err = sound_output_play(o, 1, 1, horn, 9);
	CHECK(err == ENOTCONN || err == ENOMEM);
	sound_output_free(o);
}
