#include "tests/test.h"

#include <jansson.h>

#include "control/dialect/search.h"
#include "proto/media.h"

static struct search_results got;

static const char *const names[] = {"searxng", "brave", "serpapi", "tavily"};

static int read_text(enum search_service service, int status, const char *text)
{
	return search_read(&got, service, status,
			   (struct slice){(const uint8_t *)text, strlen(text)});
}

/* An answer as the service documents it: tests/data/search. */
static int read_golden(enum search_service service)
{
	char path[64];
	const char *at;
	json_t *root;
	char *text;
	int err;

	snprintf(path, sizeof path, "data/search/%s.json", names[service]);
	at = test_data(path);
	root = at ? json_load_file(at, 0, NULL) : NULL;
	text = json_dumps(root, 0);
	err = text ? read_text(service, 200, text) : ENOENT;
	free(text);
	json_decref(root);
	return err;
}

TEST(search_answers_have_one_shape)
{
	for (unsigned s = 0; s < SEARCH_SERVICE_COUNT; s++) {
		CHECK_STR(search_name(s), names[s]);
		CHECK_INT(read_golden(s), 0);
		CHECK(got.n > 0);
		CHECK_STR(got.hits[0].title, "Tallest bridges");
		CHECK_STR(got.hits[0].url, "https://example.org/bridges");
		CHECK_STR(got.hits[0].text, "The Millau Viaduct is 343 m tall.");
	}
}

TEST(search_answers_keep_what_only_some_services_have)
{
	CHECK_INT(read_golden(SEARCH_SEARXNG), 0);
	CHECK_INT(got.n, 2);
	CHECK_STR(got.answer, "343 m");
	CHECK_STR(got.hits[0].date, "2026-05-01T00:00:00");
	CHECK_STR(got.hits[1].title, "");
	CHECK_STR(got.hits[1].date, "");
	CHECK_INT(read_golden(SEARCH_BRAVE), 0);
	CHECK_INT(got.n, 2);
	CHECK_STR(got.answer, "");
	CHECK_STR(got.hits[0].date, "2 days ago");
	CHECK_INT(read_golden(SEARCH_SERPAPI), 0);
	CHECK_INT(got.n, 1);
	CHECK_STR(got.answer, "343 m tall");
	CHECK_STR(got.hits[0].date, "May 1, 2026");
	CHECK_INT(read_golden(SEARCH_TAVILY), 0);
	CHECK_INT(got.n, 1);
	CHECK_STR(got.answer, "");
	CHECK_INT(read_text(SEARCH_SEARXNG, 200, "{\"results\":[],\"answers\":[\"older\"]}"), 0);
	CHECK_STR(got.answer, "older");
}

TEST(search_answers_that_fail_have_a_reason)
{
	CHECK_INT(read_text(SEARCH_SEARXNG, 403, ""), EACCES);
	CHECK_INT(read_text(SEARCH_BRAVE, 429, "{}"), EAGAIN);
	CHECK_INT(read_text(SEARCH_TAVILY, 432, "{}"), EDQUOT);
	CHECK_INT(read_text(SEARCH_TAVILY, 500, "{}"), EIO);
	CHECK_INT(read_text(SEARCH_SEARXNG, 200, "<html>"), EBADMSG);
	CHECK_INT(read_text(SEARCH_SEARXNG, 200, "{}"), EBADMSG);
	CHECK_INT(read_text(SEARCH_BRAVE, 200, "{\"web\":{\"results\":7}}"), EBADMSG);
	CHECK_INT(read_text(SEARCH_BRAVE, 200, "[]"), EBADMSG);
	/* Nothing was found. */
	CHECK_INT(read_text(SEARCH_BRAVE, 200, "{\"type\":\"search\"}"), 0);
	CHECK_INT(got.n, 0);
}

TEST(search_requests_follow_the_services)
{
	static const struct {
		enum search_service service;
		const char *base, *method, *shown, *key_in, *header, *body;
	} rows[] = {
		{SEARCH_SEARXNG, "http://127.0.0.1:8888/", "GET",
		 "http://127.0.0.1:8888/"
		 "search?q=caf%C3%A9%20%26%20bar&format=json&safesearch=1&time_range=month",
		 "", "Authorization: Bearer s3cret", NULL},
		{SEARCH_BRAVE, "https://b", "GET",
		 "https://b/res/v1/web/"
		 "search?q=caf%C3%A9%20%26%20bar&count=5&safesearch=moderate&text_decorations="
		 "false&freshness=pw",
		 "", "X-Subscription-Token: s3cret", NULL},
		{SEARCH_SERPAPI, "https://s", "GET",
		 "https://s/"
		 "search.json?engine=google&q=caf%C3%A9%20%26%20bar&num=5&safe=active&tbs=qdr%3Aw",
		 "&api_key=s3cret", NULL, NULL},
		{SEARCH_TAVILY, "https://t", "POST", "https://t/search", "",
		 "Authorization: Bearer s3cret",
		 "{\"query\":\"caf\u00e9 & bar\",\"max_results\":5,\"include_answer\":false,"
		 "\"time_range\":\"week\"}"},
	};
	const struct search_query q = {
		.words = "caf\u00e9 & bar", .count = 5, .days = 3, .safe = SEARCH_SAFE_MODERATE};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct search_request r = {0};
		char whole[400];

		CHECK_INT(search_build(&r, rows[i].service, rows[i].base, "s3cret", &q), 0);
		CHECK_STR(r.method, rows[i].method);
		CHECK_STR(r.shown, rows[i].shown);
		CHECK(!strstr(r.shown, "s3cret"));
		snprintf(whole, sizeof whole, "%s%s", rows[i].shown, rows[i].key_in);
		CHECK_STR(r.url, whole);
		CHECK(!rows[i].header == !r.header && !rows[i].body == !r.body);
		if (r.header)
			CHECK_STR(r.header, rows[i].header);
		if (r.body)
			CHECK_STR(r.body, rows[i].body);
		search_request_clear(&r);
	}
}

TEST(search_requests_bound_words_age_and_count)
{
	static const struct {
		unsigned days;
		const char *range;
	} rows[] = {{0, NULL}, {1, "=day"}, {2, "=month"}, {31, "=month"}, {32, "=year"}};
	char words[2000] = "";
	struct search_query q = {.words = words, .count = 99};
	struct search_request r = {0};

	for (unsigned i = 0; i < 500; i++)
		strcat(words, "\u00e9");
	CHECK_INT(search_build(&r, SEARCH_TAVILY, "https://t", "", &q), 0);
	CHECK(strstr(r.body, "\"max_results\":10") && !strstr(r.body, "time_range"));
	CHECK_INT(strcspn(strstr(r.body, ":\"") + 2, "\""), 800);
	search_request_clear(&r);
	q.words = "x";
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		q.days = rows[i].days;
		CHECK_INT(search_build(&r, SEARCH_SEARXNG, "http://s", "", &q), 0);
		CHECK(!r.header);
		CHECK(rows[i].range ? strstr(r.url, rows[i].range) != NULL
				    : !strstr(r.url, "time_range"));
		search_request_clear(&r);
	}
}

TEST_OOM(search_build_survives_without_memory)
{
	const struct search_query q = {.words = "x", .days = 1};
	struct search_request r = {0};

	for (unsigned s = 0; s < SEARCH_SERVICE_COUNT; s++) {
		CHECK_OOM(search_build(&r, s, "https://t", "key", &q), );
		search_request_clear(&r);
	}
}
