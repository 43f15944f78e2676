#include "control/memory/vectors.h"

#include <errno.h>
#include <math.h>

#include "control/memory/kernel.h"
#include "tests/random.h"
#include "tests/test.h"

enum { LINES = 300 };
static const struct vector_filter everything = {.group = {3, 3}, .until_ms = UINT64_MAX};

static void make_vector(struct vector *out, uint64_t *seed)
{
	float v[VECTOR_DIM];

	for (size_t i = 0; i < VECTOR_DIM; i++)
		v[i] = (float)random_normal(seed, 0, 1 / sqrt(VECTOR_DIM));
	vector_pack(out, v, VECTOR_DIM);
}

/* Lines 1 to n of channel 3, one a second. */
static int add_lines(struct vectors *v, size_t n, struct vector *last)
{
	uint64_t seed = 5;
	int err = 0;

	for (size_t i = 1; i <= n && !err; i++) {
		const struct vector_line line = {.id = i,
						 .at_ms = i * 1000,
						 .group = 3,
						 .name = vector_name("Ana"),
						 .speaker = vector_speaker(i % 2 ? 501 : 502)};

		make_vector(last, &seed);
		err = vectors_add(v, &line, last);
	}
	return err;
}

TEST(the_nearest_lines_are_found)
{
	struct vectors *v = NULL;
	struct vector last;
	uint64_t ids[LINES];

	CHECK_INT(vectors_alloc(&v), 0);
	CHECK_INT(add_lines(v, LINES, &last), 0);
	CHECK_INT(vectors_count(v), LINES);
	CHECK_INT(vectors_find(v, &last, &everything, ids, 1), 1);
	CHECK_INT(ids[0], LINES);
	CHECK_INT(vectors_find(v, &last, &everything, ids, 7), 7);
	CHECK_INT(vectors_find(v, &last, &everything, ids, LINES), LINES);
	kernel_use_plain(true);
	CHECK_INT(vectors_find(v, &last, &everything, ids, 1), 1);
	kernel_use_plain(false);
	CHECK_INT(ids[0], LINES);
	vectors_free(v);
}

TEST(a_filter_leaves_out_channels_times_and_speakers)
{
	struct vector_filter f = everything;
	struct vectors *v = NULL;
	struct vector last;
	uint64_t ids[LINES];

	CHECK_INT(vectors_alloc(&v), 0);
	CHECK_INT(add_lines(v, 10, &last), 0);
	f.since_ms = 3000;
	f.until_ms = 5000;
	CHECK_INT(vectors_find(v, &last, &f, ids, LINES), 2);
	CHECK_INT(ids[0], 3);
	CHECK_INT(ids[1], 4);
	f = everything;
	f.name = vector_name("ANA");
	CHECK_INT(vectors_find(v, &last, &f, ids, LINES), 10);
	f.name = vector_name("Bob");
	CHECK_INT(vectors_find(v, &last, &f, ids, LINES), 0);
	f = everything;
	f.speaker = vector_speaker(501);
	CHECK_INT(vectors_find(v, &last, &f, ids, LINES), 5);
	f = everything;
	f.group[0] = f.group[1] = 4;
	CHECK_INT(vectors_find(v, &last, &f, ids, LINES), 0);
	f.group[1] = 3;
	CHECK_INT(vectors_find(v, &last, &f, ids, 4), 4);
	vectors_free(v);
}

/* Lines are measured in blocks, of which a filter may leave out any, and the last is a short one.
 */
TEST(a_filter_leaves_out_lines_anywhere_in_a_block)
{
	uint64_t seed = 7, ids[LINES], end = 0;
	struct vector_filter f = everything;
	struct vectors *v = NULL;
	unsigned own[4] = {0};
	struct vector last;
	bool right = true;

	CHECK_INT(vectors_alloc(&v), 0);
	for (uint64_t i = 1; i <= LINES; i++) {
		/* The last speaker has a few lines at the end. */
		unsigned speaker = i > LINES - 4 ? 3 : random_below(&seed, 3);
		const struct vector_line line = {
			.id = 10 * i + speaker, .at_ms = i, .group = 3, .speaker = 1 + speaker};

		own[speaker]++;
		make_vector(&last, &seed);
		CHECK_INT(vectors_add(v, &line, &last), 0);
	}
	for (unsigned speaker = 0; speaker < 4; speaker++) {
		size_t n;

		f.speaker = 1 + speaker;
		n = vectors_find(v, &last, &f, ids, LINES);
		CHECK_INT(n, own[speaker]);
		end = 0;
		for (size_t i = 0; i < n; i++) {
			right = right && ids[i] % 10 == speaker && ids[i] > end;
			end = ids[i];
		}
	}
	CHECK(right);
	vectors_free(v);
}

enum { CROWD = 1000, CHANNELS = 3 };

static struct vector_line crowd_line[CROWD];
static struct vector crowd[CROWD];

/* Channels in runs and alone, times not in order. */
static int add_crowd(struct vectors *v, uint64_t *seed)
{
	uint64_t group = 1;
	int err = 0;

	for (size_t i = 0; i < CROWD && !err; i++) {
		if (random_below(seed, i < CROWD / 2 ? 150 : 3) == 0)
			group = 1 + random_below(seed, CHANNELS);
		crowd_line[i] = (struct vector_line){.id = i,
						     .group = group,
						     .at_ms = i * 10 + random_below(seed, 200),
						     .speaker = 1 + random_below(seed, 2)};
		make_vector(&crowd[i], seed);
		err = vectors_add(v, &crowd_line[i], &crowd[i]);
	}
	return err;
}

static bool crowd_passes(size_t i, const struct vector_filter *f)
{
	const struct vector_line *l = &crowd_line[i];

	return (l->group == f->group[0] || l->group == f->group[1]) && l->at_ms >= f->since_ms &&
	       l->at_ms < f->until_ms && (!f->speaker || l->speaker == f->speaker);
}

static unsigned count_signs(const struct vector *a, const struct vector *b)
{
	unsigned n = 0;

	for (size_t i = 0; i < VECTOR_DIM; i++)
		n += (a->v[i] < 0) != (b->v[i] < 0);
	return n;
}

/* True if these are as many as there may be, and no line is nearer than one of them. */
static bool are_nearest(const uint64_t *ids, size_t n, size_t most, const struct vector *question,
			const struct vector_filter *f)
{
	unsigned farthest = 0, nearest = VECTOR_DIM;
	size_t passing = 0;
	bool right = true;

	for (size_t i = 0; i < CROWD; i++) {
		bool found = false;

		for (size_t k = 0; k < n; k++)
			found = found || ids[k] == i;
		passing += crowd_passes(i, f);
		right = right && (!found || crowd_passes(i, f));
		if (found && count_signs(question, &crowd[i]) > farthest)
			farthest = count_signs(question, &crowd[i]);
		if (!found && crowd_passes(i, f) && count_signs(question, &crowd[i]) < nearest)
			nearest = count_signs(question, &crowd[i]);
	}
	return right && n == (passing < most ? passing : most) && farthest <= nearest;
}

TEST(the_nearest_lines_are_those_that_looking_at_each_one_finds)
{
	static const size_t mosts[] = {0, 1, 5, 40, CROWD};
	uint64_t seed = 23, ids[CROWD];
	struct vectors *v = NULL;
	struct vector question;

	CHECK_INT(vectors_alloc(&v), 0);
	CHECK_INT(add_crowd(v, &seed), 0);
	for (unsigned i = 0; i < 200; i++) {
		const struct vector_filter f = {.group = {1 + random_below(&seed, CHANNELS),
							  1 + random_below(&seed, CHANNELS + 1)},
						.since_ms = i % 2 ? random_below(&seed, 10000) : 0,
						.until_ms =
							i % 3 ? random_below(&seed, 11000) : 20000,
						.speaker = i % 5 ? 0 : 1};
		size_t most = mosts[i % (sizeof mosts / sizeof mosts[0])];

		make_vector(&question, &seed);
		CHECK(are_nearest(ids, vectors_find(v, &question, &f, ids, most), most, &question,
				  &f));
	}
	vectors_free(v);
}

TEST(eight_bits_keep_the_cosine)
{
	uint64_t seed = 9;
	struct vector a, b;
	float x[VECTOR_DIM] = {0};

	make_vector(&a, &seed);
	make_vector(&b, &seed);
	CHECK(fabs(vector_cosine(&a, &a) - 1) < 0.15);
	CHECK(fabs(vector_cosine(&a, &b)) < 0.2);
	vector_pack(&a, x, VECTOR_DIM);
	CHECK(vector_cosine(&a, &b) == 0);
	CHECK_INT(vector_name(""), 0);
}

TEST_OOM(lines_without_memory_are_refused)
{
	struct vectors *v = NULL;
	struct vector last;

	if (vectors_alloc(&v) == 0 && add_lines(v, 3, &last) == ENOMEM)
		CHECK(vectors_count(v) == 0);
	vectors_free(v);
}
