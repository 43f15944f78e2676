/* Pictures of the visualizer for a stream. */
#include "mediad/decoder/picture.h"

#include <string.h>

#include "tests/test.h"

enum { GROUND = 26 };

/* Pixels that are painted in columns [from, to). */
static int painted(const struct picture *p, int from, int to)
{
	int n = 0;

	for (int y = 0; y < PICTURE_HEIGHT; y++)
		for (int x = from; x < to; x++)
			n += p->y[y * PICTURE_WIDTH + x] != GROUND;
	return n;
}

static struct picture p;

TEST(a_picture_of_levels_has_a_bar_for_each_band)
{
	const int step = PICTURE_WIDTH / ANALYSIS_BANDS;
	struct analysis a = {.bands = {[10] = 255, [20] = 128}};

	picture_init(&p, PICTURE_CQT);
	CHECK_INT(painted(&p, 0, PICTURE_WIDTH), 0);
	picture_draw(&p, &a);
	CHECK_INT(painted(&p, 10 * step, 11 * step), (step - 2) * PICTURE_HEIGHT);
	CHECK_INT(painted(&p, 20 * step, 21 * step), (step - 2) * (128 * PICTURE_HEIGHT / 255));
	CHECK_INT(painted(&p, 0, PICTURE_WIDTH),
		  painted(&p, 10 * step, 11 * step) + painted(&p, 20 * step, 21 * step));
	/* They fall slowly. */
	memset(&a, 0, sizeof a);
	picture_draw(&p, &a);
	CHECK(painted(&p, 10 * step, 11 * step) > (step - 2) * PICTURE_HEIGHT * 9 / 10);
	for (int i = 0; i < 22; i++)
		picture_draw(&p, &a);
	CHECK_INT(painted(&p, 0, PICTURE_WIDTH), 0);
}

TEST(a_picture_over_time_moves_to_the_left)
{
	struct analysis a = {.bands = {[0] = 255}};

	picture_init(&p, PICTURE_SPECTRUM);
	picture_draw(&p, &a);
	CHECK(painted(&p, PICTURE_WIDTH - 4, PICTURE_WIDTH) > 0);
	CHECK_INT(painted(&p, 0, PICTURE_WIDTH - 4), 0);
	memset(&a, 0, sizeof a);
	picture_draw(&p, &a);
	CHECK_INT(painted(&p, PICTURE_WIDTH - 4, PICTURE_WIDTH), 0);
	CHECK(painted(&p, PICTURE_WIDTH - 8, PICTURE_WIDTH - 4) > 0);
}

TEST(a_picture_of_mono_sound_is_a_vertical_line)
{
	struct analysis a = {.bands = {0}};

	for (int i = 0; i < ANALYSIS_POINTS; i++)
		a.scope[i][1] = (int8_t)(i - 64);
	picture_init(&p, PICTURE_VECTORSCOPE);
	picture_draw(&p, &a);
	CHECK(painted(&p, PICTURE_WIDTH / 2 - 2, PICTURE_WIDTH / 2 + 2) > PICTURE_HEIGHT);
	CHECK_INT(painted(&p, 0, PICTURE_WIDTH),
		  painted(&p, PICTURE_WIDTH / 2 - 2, PICTURE_WIDTH / 2 + 2));
}

/* Rows that are painted in the column. */
static int rows_at(const struct picture *of, int x)
{
	return painted(of, x, x + 1);
}

TEST(soft_music_is_drawn_large_again_after_a_loud_moment)
{
	struct analysis a = {.bands = {0}};

	picture_init(&p, PICTURE_WAVES);
	for (int i = 0; i < ANALYSIS_POINTS; i++)
		a.wave[i] = i % 2 ? 120 : -120;
	picture_draw(&p, &a);
	for (int i = 0; i < ANALYSIS_POINTS; i++)
		a.wave[i] = i % 2 ? 24 : -24;
	picture_draw(&p, &a);
	CHECK(rows_at(&p, PICTURE_WIDTH / 2) < PICTURE_HEIGHT / 4);
	for (int i = 0; i < 30 * 25; i++)
		picture_draw(&p, &a);
	CHECK(rows_at(&p, PICTURE_WIDTH / 2) > PICTURE_HEIGHT * 3 / 4);
}

/* A hostile decoder process chooses the bytes, and whoever asks the mode. */
TEST(pictures_of_any_bytes_stay_within_their_memory)
{
	struct analysis a;

	for (unsigned mode = 0; mode < PICTURE_MODES + 2; mode++) {
		picture_init(&p, (enum picture_mode)mode);
		for (int value = 0; value < 256; value += 17) {
			memset(&a, value, sizeof a);
			picture_draw(&p, &a);
		}
		memset(&a, 0x80, sizeof a);
		picture_draw(&p, &a);
		CHECK(painted(&p, 0, PICTURE_WIDTH) >= 0);
	}
}
