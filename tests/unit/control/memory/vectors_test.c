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
