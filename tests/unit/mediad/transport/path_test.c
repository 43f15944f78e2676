#include "mediad/transport/path.h"

#include "proto/base/time.h"
#include "tests/test.h"

TEST(path_is_silent_only_after_it_was_proved)
{
	struct path p = {0};

	CHECK(!path_is_silent(&p, 3600 * NS_PER_S));
	path_echo(&p, 100 * NS_PER_S);
	CHECK(!path_is_silent(&p, 114 * NS_PER_S));
	CHECK(path_is_silent(&p, 115 * NS_PER_S));
	path_echo(&p, 115 * NS_PER_S);
	CHECK(!path_is_silent(&p, 116 * NS_PER_S));
}

TEST(path_is_silent_when_sends_fail)
{
	struct path p = {0};

	path_sent(&p, 100 * NS_PER_S, false);
	path_sent(&p, 110 * NS_PER_S, false);
	CHECK(!path_is_silent(&p, 114 * NS_PER_S));
	CHECK(path_is_silent(&p, 115 * NS_PER_S));
	path_sent(&p, 115 * NS_PER_S, true);
	CHECK(!path_is_silent(&p, 200 * NS_PER_S));
}

/* Reports are about what was sent. */
TEST(path_awaits_reports_of_what_was_sent)
{
	struct path p = {0};

	path_spoke(&p, PATH_SILENT_MS);
	path_report(&p, 100 * NS_PER_S);
	path_spoke(&p, PATH_SILENT_MS - 1);
	CHECK(!path_is_silent(&p, 3600 * NS_PER_S));
	path_spoke(&p, 1);
	CHECK(!path_is_silent(&p, 114 * NS_PER_S));
	CHECK(path_is_silent(&p, 115 * NS_PER_S));
	path_report(&p, 115 * NS_PER_S);
	CHECK(!path_is_silent(&p, 3600 * NS_PER_S));
}

/* Echoes go to any address that we send from, so they do not say that audio is taken. */
TEST(path_misses_reports_beside_echoes)
{
	struct path p = {0};
	unsigned s;

	path_report(&p, 100 * NS_PER_S);
	for (s = 100; s < 100 + PATH_SILENT_MS / 1000; s++) {
		path_echo(&p, s * NS_PER_S);
		CHECK(!path_is_silent(&p, s * NS_PER_S));
		path_spoke(&p, 1000);
	}
	path_echo(&p, s * NS_PER_S);
	CHECK(path_is_silent(&p, s * NS_PER_S));
	/* What the server has for others arrives, so it knows our address: it has ended its
	 * reports. */
	path_ask(&p);
	path_echo(&p, s * NS_PER_S);
	path_reach(&p, s * NS_PER_S);
	CHECK(path_is_back(&p, s * NS_PER_S));
	CHECK(!path_is_silent(&p, s * NS_PER_S));
}

TEST(path_is_back_when_it_was_proved_and_something_came)
{
	struct path p = {0};

	path_echo(&p, 100 * NS_PER_S);
	path_reach(&p, 100 * NS_PER_S);
	CHECK(!path_is_back(&p, 115 * NS_PER_S)); /* nobody asked */
	path_ask(&p);
	CHECK(!path_is_back(&p, 120 * NS_PER_S));
	path_echo(&p, 118 * NS_PER_S);
	CHECK(!path_is_back(&p, 120 * NS_PER_S));
	path_reach(&p, 119 * NS_PER_S);
	CHECK(path_is_back(&p, 120 * NS_PER_S));
	CHECK(!p.asking);
	path_ask(&p);
	path_found(&p, 140 * NS_PER_S);
	CHECK(!p.asking && !path_is_silent(&p, 141 * NS_PER_S));
	CHECK(path_is_silent(&p, 155 * NS_PER_S));
}

/* Echoes alone, for twelve hours: the path is never silent, and our address is asked for each
 * minute. */
TEST(path_is_doubtful_when_nothing_but_echoes_comes)
{
	struct path p = {0};
	unsigned asked = 0;

	path_start(&p, NS_PER_S);
	path_reach(&p, 2 * NS_PER_S);
	for (uint64_t s = 5; s < 12 * 3600; s += 5) {
		path_echo(&p, s * NS_PER_S);
		CHECK(!path_is_silent(&p, s * NS_PER_S));
		if (!path_is_doubtful(&p, s * NS_PER_S))
			continue;
		path_doubt(&p, s * NS_PER_S);
		asked++;
		if (asked % 2)
			path_found(&p, s * NS_PER_S);
		else /* no answer says nothing */
			CHECK(path_is_back(&p, (s + 5) * NS_PER_S));
		CHECK(!p.asking);
	}
	CHECK_INT(asked, 12 * 60 - 1);
	/* Whoever is heard knows our address. */
	path_reach(&p, 12 * 3600 * NS_PER_S);
	CHECK(!path_is_doubtful(&p, (12 * 3600 + 59) * NS_PER_S));
}

/* An answer names another address. Who might forge it cannot keep from us what the server sends. */
TEST(path_is_moved_unless_something_denies_it)
{
	static const struct {
		bool silent, echo, reached, reports, answers, moved;
	} cases[] = {
		/* It seemed well. */
		{.moved = true},
		{.echo = true, .moved = true},
		{.reached = true},
		{.reached = true, .answers = true, .moved = true},
		/* It was silent, and is back or not. */
		{.silent = true, .moved = true},
		{.silent = true, .echo = true, .moved = true},
		{.silent = true, .reached = true, .moved = true},
		{.silent = true, .echo = true, .reached = true},
		{.silent = true, .echo = true, .reached = true, .reports = true, .moved = true},
		{.silent = true, .echo = true, .reached = true, .answers = true, .moved = true},
	};

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct path p = {0};

		path_start(&p, NS_PER_S);
		path_echo(&p, 100 * NS_PER_S);
		if (cases[i].answers) {
			path_doubt(&p, 100 * NS_PER_S);
			path_found(&p, 100 * NS_PER_S);
		}
		if (cases[i].reports) { /* they end, while we speak */
			path_report(&p, 100 * NS_PER_S);
			path_spoke(&p, PATH_SILENT_MS);
		}
		CHECK(path_is_silent(&p, 116 * NS_PER_S));
		if (cases[i].silent)
			path_ask(&p);
		else
			path_doubt(&p, 116 * NS_PER_S);
		if (cases[i].echo)
			path_echo(&p, 117 * NS_PER_S);
		if (cases[i].reached)
			path_reach(&p, 117 * NS_PER_S);
		CHECK_INT(path_is_moved(&p, 118 * NS_PER_S), cases[i].moved);
		CHECK(!p.asking && !p.doubting);
	}
}

/* An answer to a doubt proves neither echoes nor reports, which are awaited as before. */
TEST(path_a_doubt_puts_nothing_off)
{
	struct path p = {0};

	path_start(&p, NS_PER_S);
	path_echo(&p, 100 * NS_PER_S);
	path_doubt(&p, 110 * NS_PER_S);
	path_found(&p, 110 * NS_PER_S);
	CHECK(path_is_silent(&p, 115 * NS_PER_S));
	path_doubt(&p, 115 * NS_PER_S);
	CHECK(path_is_back(&p, 120 * NS_PER_S));
	CHECK(path_is_silent(&p, 120 * NS_PER_S));
	path_ask(&p);
	CHECK(!path_is_back(&p, 125 * NS_PER_S));
}
