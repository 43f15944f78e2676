#include "control/agent/levels.h"
#include "control/agent/ulaw.h"

#include "proto/base/time.h"
#include "tests/test.h"

TEST(who_speaks_and_how_loud_is_told)
{
	static const int16_t half[480] = {[0 ... 479] = 16384};
	const struct slice pcm = {(const uint8_t *)half, sizeof half};
	struct levels l = {0};
	const struct level *v;
	unsigned place = 0;

	levels_heard(&l, 7, 20, pcm, NS_PER_MS); /* who never began */
	CHECK(!levels_next(&l, &place));
	levels_speaking(&l, 5, true);
	place = 0;
	v = levels_next(&l, &place);
	CHECK(v && v->user == 5);
	CHECK_INT(levels_db(v, NS_PER_MS), LEVEL_UNKNOWN);
	levels_heard(&l, 5, 33, pcm, 10 * NS_PER_MS);
	CHECK_INT(levels_db(v, 20 * NS_PER_MS), -33);
	/* Without a level in the packet the samples tell: half of full scale. */
	levels_heard(&l, 5, 127, pcm, 10 * NS_PER_MS);
	CHECK_INT(levels_db(v, 20 * NS_PER_MS), -6);
	CHECK_INT(levels_db(v, (11 + LEVEL_FRESH_MS) * NS_PER_MS), LEVEL_UNKNOWN);
	levels_heard(&l, 5, 127, (struct slice){pcm.p, 0}, 10 * NS_PER_MS);
	CHECK_INT(levels_db(v, 20 * NS_PER_MS), -127);
	levels_speaking(&l, 5, false);
	place = 0;
	CHECK(!levels_next(&l, &place));
}

TEST(a_full_table_of_levels_forgets_those_who_are_silent)
{
	struct levels l = {0};
	unsigned place = 0, n = 0;

	for (unsigned i = 1; i <= ROOM_SPEAKERS; i++)
		levels_speaking(&l, i, true);
	levels_speaking(&l, 1000, true); /* no place */
	levels_speaking(&l, 3, false);
	levels_speaking(&l, 1001, true);
	while (levels_next(&l, &place))
		n++;
	CHECK_INT(n, ROOM_SPEAKERS);
	CHECK_INT(l.v[2].user, 1001);
}

/* Table 2a of ITU-T G.711: the decision values and their codes. */
TEST(mu_law_is_that_of_g711)
{
	static const struct {
		int16_t in;
		uint8_t out;
	} codes[] = {{0, 0xff},	       {-1, 0x7f},     {32635, 0x80},
		     {32767, 0x80},    {-32768, 0x00}, {8031 * 4, 0x80},
		     {4063 * 4, 0x8f}, {1000, 0xce},   {-1000, 0x4e}};

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
		uint8_t out = 0;

		CHECK_INT(ulaw_encode((struct slice){(const uint8_t *)&codes[i].in, 2}, &out), 1);
		CHECK_INT(out, codes[i].out);
	}
	CHECK_INT(ulaw_encode((struct slice){(const uint8_t *)"abc", 3}, (uint8_t[2]){0}), 1);
}
