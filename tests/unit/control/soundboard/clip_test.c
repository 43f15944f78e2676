#include "control/soundboard/clip.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/test.h"

static int read_line(struct clip *c, const char *line)
{
	return clip_read(c, line, strlen(line));
}

TEST(a_sound_is_read_from_its_line)
{
	struct clip c;

	CHECK_INT(read_line(&c, "Ta da\t0100ff7f0080ffff"), 0);
	CHECK_STR(c.name, "Ta da");
	CHECK_INT(c.n, 4);
	CHECK_INT(c.pcm[0], 1);
	CHECK_INT(c.pcm[1], 32767);
	CHECK_INT(c.pcm[2], -32768);
	CHECK_INT(c.pcm[3], -1);
	clip_clear(&c);
	CHECK(!c.pcm);
}

TEST(a_line_that_is_no_sound_is_refused)
{
	static const char *const lines[] = {
		"",
		"ding",
		"ding\t",
		"\t0000",
		"ding\t00000",
		"ding\t000g",
		"ding\t00A0",
		"a\x01\t0000",
		"a\xff\t0000",
		"ding\t0000\t0000",
		"0123456789012345678901234567890123456789012345678901234567"
		"890123\t0000"};
	struct clip c;
	char *big = malloc(CLIP_LINE_MAX + 16);

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		CHECK_INT(read_line(&c, lines[i]), EBADMSG);
	CHECK(big);
	memset(big, '0', CLIP_LINE_MAX + 16);
	memcpy(big, "x\t", 2);
	CHECK_INT(clip_read(&c, big, 2 + 4 * (size_t)(CLIP_SAMPLES_MAX + 1)), EBADMSG);
	CHECK_INT(clip_read(&c, big, 2 + 4 * (size_t)CLIP_SAMPLES_MAX), 0);
	CHECK_INT(c.n, CLIP_SAMPLES_MAX);
	clip_clear(&c);
	free(big);
}

TEST_OOM(a_sound_without_memory)
{
	struct clip c;
	int err = read_line(&c, "a\t0000");

	if (!err)
		clip_clear(&c);
	CHECK_OOM(err, (void)0);
}
