#include "control/memory/embed/embedder.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/kernel.h"
#include "tests/unit/control/memory/embed/embedder_file.h"

#include "tests/test.h"

static const char not_installed[] = "the embedder is not installed";

static double cosine_to(const float *v, const json_t *want)
{
	double dot = 0, norm = 0;

	for (size_t i = 0; i < EMBEDDER_DIM; i++) {
		double w = (double)json_integer_value(json_array_get(want, i));

		dot += v[i] * w;
		norm += w * w;
	}
	return dot / sqrt(norm);
}

static void check_golden(struct embedder *e, const json_t *line)
{
	const char *text = json_string_value(json_object_get(line, "text"));
	float v[EMBEDDER_DIM];

	CHECK_INT(embedder_run(e, text, strlen(text), v), 0);
	if (cosine_to(v, json_object_get(line, "v")) < 0.999)
		test_fail(__FILE__, __LINE__, "%s: %.5f", text,
			  cosine_to(v, json_object_get(line, "v")));
}

TEST(vectors_are_those_of_the_published_encoder)
{
	const char *path = test_data("../build/embedder/use-lite.int8");
	char line[32768], file[512];
	struct embedder *e = NULL;
	size_t n;
	uint8_t *bytes;
	FILE *f;

	if (!path) {
		test_skip("%s", not_installed);
		return;
	}
	bytes = embedder_file_read(path, &n);
	CHECK(bytes != NULL);
	CHECK_INT(embedder_alloc(&e, bytes, n), 0);
	snprintf(file, sizeof file, "%s", test_data("embedder/golden.jsonl"));
	f = fopen(file, "r");
	CHECK(f != NULL);
	while (fgets(line, sizeof line, f)) {
		json_t *golden = json_loads(line, 0, NULL);

		check_golden(e, golden);
		json_decref(golden);
	}
	fclose(f);
	embedder_free(e);
	free(bytes);
}

TEST(plain_loops_give_the_same_vector)
{
	size_t n;
	uint8_t *bytes = embedder_file_make(&n);
	float a[EMBEDDER_DIM], b[EMBEDDER_DIM];
	struct embedder *e = NULL;

	CHECK_INT(embedder_alloc(&e, bytes, n), 0);
	CHECK_INT(embedder_run(e, "abba and a cab", 14, a), 0);
	kernel_use_plain(true);
	CHECK_INT(embedder_run(e, "abba and a cab", 14, b), 0);
	kernel_use_plain(false);
	CHECK(memcmp(a, b, sizeof a) == 0);
	CHECK_INT(embedder_run(e, "", 0, a), ENODATA);
	embedder_free(e);
	free(bytes);
}

TEST(a_damaged_file_is_refused)
{
	size_t n;
	uint8_t *bytes = embedder_file_make(&n);
	struct embedder *e = NULL;

	CHECK_INT(embedder_alloc(&e, bytes, n - 1), EBADMSG);
	CHECK_INT(embedder_alloc(&e, bytes, 10), EBADMSG);
	bytes[8] ^= 1; /* another form */
	CHECK_INT(embedder_alloc(&e, bytes, n), EBADMSG);
	bytes[8] ^= 1;
	bytes[12]++; /* another number of pieces */
	CHECK_INT(embedder_alloc(&e, bytes, n), EBADMSG);
	bytes[12]--;
	embedder_file_id(bytes, 0, 77); /* a piece without a row */
	CHECK_INT(embedder_alloc(&e, bytes, n), EBADMSG);
	embedder_file_id(bytes, 0, 1);
	CHECK_INT(embedder_alloc(&e, bytes, n), 0);
	embedder_free(e);
	free(bytes);
}

TEST_OOM(an_embedder_without_memory_is_none)
{
	static uint8_t *bytes;
	static size_t n;
	struct embedder *e = NULL;

	if (!bytes)
		bytes = embedder_file_make(&n);
	if (!bytes)
		return;
	if (embedder_alloc(&e, bytes, n) == ENOMEM)
		CHECK(e == NULL);
	embedder_free(e);
}
