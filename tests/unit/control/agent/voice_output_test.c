/* Sound that waits to be let out; the playback itself is the agent's test. */
#include "tests/test.h"

#include "control/room/room.h"
#include "control/agent/voice_output.h"

static unsigned told;
static struct room_event last;

static void fact(const struct room_event *ev, void *arg)
{
	(void)arg;
	told++;
	last = *ev;
}

static void pcm(struct voice_output *s, uint32_t turn, const uint8_t *sound, size_t n)
{
	voice_output_do(
		s, &(struct room_effect){.type = ROOM_DO_SAY_PCM, .turn = turn, .pcm = {sound, n}});
}

TEST(of_sound_that_waits_no_more_than_five_minutes_are_kept)
{
	static const uint8_t second[2 * ROOM_RATE];
	struct voice_output *s = NULL;

	told = 0;
	CHECK_INT(voice_output_alloc(&s, NULL, fact, NULL), 0);
	for (unsigned i = 0; i < 300; i++)
		pcm(s, 1, second, sizeof second);
	CHECK_INT(told, 0);
	pcm(s, 1, second, 2);
	CHECK_INT(told, 1);
	CHECK_INT(last.type, ROOM_BRAIN_FAILED);
	CHECK_INT(last.turn, 1);
	pcm(s, 1, second, 2); /* told once */
	CHECK_INT(told, 1);
	/* The next answer begins with nothing. */
	pcm(s, 2, second, sizeof second);
	CHECK_INT(told, 1);
	voice_output_over(s, 1); /* long gone */
	voice_output_do(s, &(struct room_effect){.type = ROOM_DO_SAY_STOP, .turn = 2});
	CHECK_INT(told, 1);
	s = voice_output_free(s);
}

TEST(what_cannot_be_opened_has_stopped)
{
	struct voice_output *s = NULL;

	told = 0;
	CHECK_INT(voice_output_alloc(&s, NULL, fact, NULL), 0);
	voice_output_do(s, &(struct room_effect){.type = ROOM_DO_SAY_OPEN, .turn = 7});
	CHECK_INT(told, 1);
	CHECK_INT(last.type, ROOM_SAY_STOPPED);
	CHECK_INT(last.turn, 7);
	/* None of these is of anything. */
	voice_output_do(s, &(struct room_effect){.type = ROOM_DO_SAY_END, .turn = 7});
	voice_output_do(s, &(struct room_effect){.type = ROOM_DO_SAY_PAUSE, .turn = 7});
	voice_output_do(s, &(struct room_effect){.type = ROOM_DO_SAY_STOP, .turn = 7});
	CHECK_INT(told, 1);
	s = voice_output_free(s);
}

TEST_OOM(a_voice_without_memory_is_none)
{
	struct voice_output *s = NULL;
	int err = voice_output_alloc(&s, NULL, fact, NULL);

	CHECK(err == 0 || (err == ENOMEM && !s));
	if (!err)
		pcm(s, 1, (const uint8_t *)"\0\0", 2);
	voice_output_free(s);
}
