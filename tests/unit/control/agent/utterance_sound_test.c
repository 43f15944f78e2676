#include "control/agent/utterance_sound.h"

#include "tests/test.h"

static const uint8_t pcm[1 << 20] = {1, 2, 3, 4, 5, 6};

TEST(the_sound_of_each_utterance_is_kept_apart)
{
	struct utterance_sound *s = NULL;
	struct slice got;

	CHECK_INT(utterance_sound_alloc(&s), 0);
	utterance_sound_add(s, 1, (struct slice){pcm, 2});
	utterance_sound_add(s, 2, (struct slice){pcm + 2, 2});
	utterance_sound_add(s, 1, (struct slice){pcm + 4, 2});
	got = utterance_sound_get(s, 1);
	CHECK_INT(got.n, 4);
	CHECK(memcmp(got.p, "\1\2\5\6", 4) == 0);
	CHECK_INT(utterance_sound_get(s, 2).n, 2);
	utterance_sound_drop(s, 1);
	CHECK_INT(utterance_sound_get(s, 1).n, 0);
	CHECK_INT(utterance_sound_get(s, 0).n, 0);
	CHECK_INT(utterance_sound_get(s, 9).n, 0);
	utterance_sound_free(s);
}

TEST(the_oldest_sound_goes_when_there_is_too_much)
{
	struct utterance_sound *s = NULL;

	CHECK_INT(utterance_sound_alloc(&s), 0);
	for (uint32_t i = 1; i <= 5; i++)
		utterance_sound_add(s, i, (struct slice){pcm, sizeof pcm});
	CHECK_INT(utterance_sound_get(s, 1).n, 0);
	CHECK_INT(utterance_sound_get(s, 2).n, sizeof pcm);
	/* One alone keeps its beginning. */
	for (uint32_t i = 0; i < 8; i++)
		utterance_sound_add(s, 9, (struct slice){pcm, sizeof pcm});
	CHECK_INT(utterance_sound_get(s, 9).n, UTTERANCE_SOUND_BYTES);
	CHECK_INT(utterance_sound_get(s, 5).n, 0);
	utterance_sound_drop(s, 9);
	for (uint32_t i = 1; i <= UTTERANCE_SOUNDS + 1; i++)
		utterance_sound_add(s, i, (struct slice){pcm, 2});
	CHECK_INT(utterance_sound_get(s, 1).n, 0);
	CHECK_INT(utterance_sound_get(s, 2).n, 2);
	utterance_sound_free(s);
}

TEST_OOM(sound_without_memory_is_not_kept)
{
	struct utterance_sound *s = NULL;

	CHECK_OOM(utterance_sound_alloc(&s), (void)0);
	utterance_sound_add(s, 1, (struct slice){pcm, 2});
	CHECK(utterance_sound_get(s, 1).n <= 2);
	utterance_sound_free(s);
}
