/* The wire of embeddings: bodies, and answers by index. */
#include "control/dialect/embeddings.h"

#include <math.h>

#include "tests/test.h"

static struct slice slice_of(const char *text)
{
	return (struct slice){(const uint8_t *)text, strlen(text)};
}

TEST(a_body_has_the_texts_and_the_dimension)
{
	static const char *const texts[] = {"a \"dog\"", "chat é"};
	struct embeddings_query q = {"m-1", 0, texts, 2};
	char *body = NULL;

	CHECK_INT(embeddings_build(&body, &q), 0);
	CHECK_STR(body, "{\"model\":\"m-1\",\"input\":[\"a \\\"dog\\\"\",\"chat é\"],"
			"\"encoding_format\":\"float\"}");
	free(body);
	q.dimensions = 256;
	CHECK_INT(embeddings_build(&body, &q), 0);
	CHECK(strstr(body, "\"dimensions\":256"));
	free(body);
}

TEST(a_body_has_limits)
{
	static char big[EMBEDDINGS_BYTES_MAX];
	const char *texts[EMBEDDINGS_TEXTS_MAX + 1] = {"x"};
	struct embeddings_query q = {"m", 0, texts, 0};
	char *body = NULL;

	CHECK_INT(embeddings_build(&body, &q), EINVAL);
	q.n = 2;
	texts[1] = "";
	CHECK_INT(embeddings_build(&body, &q), EINVAL);
	memset(big, 'y', sizeof big - 1);
	texts[1] = big;
	CHECK_INT(embeddings_build(&body, &q), 0);
	free(body);
	body = NULL;
	texts[0] = "xx";
	CHECK_INT(embeddings_build(&body, &q), EINVAL);
	for (size_t i = 0; i <= EMBEDDINGS_TEXTS_MAX; i++)
		texts[i] = "x";
	q.n = EMBEDDINGS_TEXTS_MAX + 1;
	CHECK_INT(embeddings_build(&body, &q), EINVAL);
	CHECK(!body);
}

TEST(the_dimension_is_an_option)
{
	unsigned n = 7;

	CHECK_INT(embeddings_read_options(&n, ""), 0);
	CHECK_INT(n, 0);
	CHECK_INT(embeddings_read_options(&n, "{\"dimensions\":512}"), 0);
	CHECK_INT(n, 512);
	CHECK_INT(embeddings_read_options(&n, "{\"dimensions\":4096}"), EINVAL);
	CHECK_INT(embeddings_read_options(&n, "{\"dimensions\":\"x\"}"), EINVAL);
	CHECK_INT(n, 512);
}

#define ONE(INDEX, FIRST) "{\"index\":" INDEX ",\"embedding\":[" FIRST ",0,0,0,0,0,0,4]}"

TEST(vectors_come_by_index_and_have_length_1)
{
	static const char body[] = "{\"data\":[" ONE("1", "0") "," ONE(
		"0", "-3") "],"
			   "\"usage\":{\"prompt_tokens\":9,\"total_tokens\":9}}";
	struct embeddings e = {0};

	CHECK_INT(embeddings_read(&e, 2, slice_of(body)), 0);
	CHECK_INT(e.n, 2);
	CHECK_INT(e.dim, 8);
	CHECK(fabsf(e.v[0] + 0.6f) < 1e-6f && fabsf(e.v[7] - 0.8f) < 1e-6f);
	CHECK(fabsf(e.v[8]) < 1e-6f && fabsf(e.v[15] - 1) < 1e-6f);
	CHECK_INT(e.usage.n[PRICE_TEXT_IN], 9);
	embeddings_clear(&e);
	CHECK(!e.v);
}

TEST(answers_that_do_not_fit_are_refused)
{
	static const char *const bodies[] = {
		"",
		"{}",
		"{\"data\":[" ONE("0", "1") "]}",
		"{\"data\":[" ONE("0", "1") "," ONE("0", "1") "]}",
		"{\"data\":[" ONE("0", "1") "," ONE("2", "1") "]}",
		"{\"data\":[" ONE("0", "1") "," ONE("-1", "1") "]}",
		"{\"data\":[" ONE("0", "1") "," ONE("\"1\"", "1") "]}",
		"{\"data\":[" ONE("0", "1") "," ONE("1", "1,1") "]}",
		"{\"data\":[" ONE("0", "1") "," ONE("1", "null") "]}",
		"{\"data\":[" ONE("0", "1") "," ONE("1", "1e300") "]}",
		"{\"data\":[" ONE("0", "1") ",{\"index\":1,\"embedding\":[0,0,0,0,0,0,0,0]}]}",
		"{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":1,\"embedding\":[1]}]}"};
	struct embeddings e = {0};

	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
		CHECK_INT(embeddings_read(&e, 2, slice_of(bodies[i])), EBADMSG);
	CHECK(!e.v);
}

TEST_OOM(embeddings_without_memory)
{
	static const char *const texts[] = {"one", "two"};
	const struct embeddings_query q = {"m", 8, texts, 2};
	struct embeddings e = {0};
	char *body = NULL;
	int err = embeddings_build(&body, &q);

	CHECK_OOM(err, free(body));
	free(body);
	err = embeddings_read(&e, 1, slice_of("{\"data\":[" ONE("0", "1") "]}"));
	CHECK_OOM(err, embeddings_clear(&e));
	embeddings_clear(&e);
}
