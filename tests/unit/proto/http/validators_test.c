#include "proto/http/validators.h"

#include <string.h>

#include "tests/test.h"

static struct validators of(const char *etag, const char *modified, const char *date)
{
	struct validators v = {0};

	if (etag)
		validators_note(&v, "ETag", etag);
	if (modified)
		validators_note(&v, "last-modified", modified);
	if (date)
		validators_note(&v, "Date", date);
	validators_note(&v, "Server", "x");
	return v;
}

TEST(contents_with_other_validators_differ)
{
	static const struct {
		const char *etag[2], *modified[2], *date[2];
		bool differ;
	} rows[] = {
		{{"\"a\"", "\"a\""}, {NULL, NULL}, {NULL, NULL}, false},
		{{"\"a\"", "\"b\""}, {NULL, NULL}, {NULL, NULL}, true},
		{{NULL, NULL}, {"Mon", "Tue"}, {NULL, NULL}, true},
		{{NULL, NULL}, {"Mon", "Mon"}, {NULL, NULL}, false},
		/* Mirrors of one file, and a file that was copied. */
		{{"\"a\"", "\"b\""}, {"Mon", "Mon"}, {NULL, NULL}, false},
		{{"\"a\"", "\"a\""}, {"Mon", "Tue"}, {NULL, NULL}, false},
		/* Nothing to compare. */
		{{"\"a\"", NULL}, {NULL, "Mon"}, {NULL, NULL}, false},
		{{NULL, NULL}, {NULL, NULL}, {"Mon", "Tue"}, false},
		/* A program that makes each response anew. */
		{{NULL, NULL}, {"Mon", "Tue"}, {"Mon", "Tue"}, false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct validators a = of(rows[i].etag[0], rows[i].modified[0], rows[i].date[0]),
				  b = of(rows[i].etag[1], rows[i].modified[1], rows[i].date[1]);

		CHECK_INT(validators_differ(&a, &b), rows[i].differ);
		CHECK_INT(validators_differ(&b, &a), rows[i].differ);
	}
}

TEST(a_validator_that_is_too_long_is_none)
{
	char longer[VALIDATOR_MAX + 1];
	struct validators v;

	memset(longer, 'a', VALIDATOR_MAX);
	longer[VALIDATOR_MAX] = '\0';
	v = of(longer, NULL, NULL);
	CHECK(!validators_exist(&v));
	longer[VALIDATOR_MAX - 1] = '\0';
	v = of(longer, NULL, NULL);
	CHECK(validators_exist(&v));
}
