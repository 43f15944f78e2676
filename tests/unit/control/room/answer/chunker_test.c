#include "tests/test.h"

#include "control/room/answer/chunker.h"
#include "control/room/answer/directive.h"

struct pieces {
	char text[4096]; /* with a | after each */
	size_t n;
	unsigned count;
	size_t longest;
	bool broken;
};

static void piece(const char *text, size_t n, void *arg)
{
	struct pieces *p = arg;

	p->broken = p->broken || !n || strlen(text) != n || *text == ' ' || text[n - 1] == ' ';
	p->count++;
	if (n > p->longest)
		p->longest = n;
	if (p->n + n + 2 > sizeof p->text)
		return;
	memcpy(p->text + p->n, text, n);
	p->n += n;
	p->text[p->n++] = '|';
	p->text[p->n] = '\0';
}

static struct pieces cut(unsigned sentences, unsigned eager, unsigned max, const char *text,
			 size_t step)
{
	struct room_chunker c;
	struct pieces p = {0};

	room_chunker_init(&c, sentences, eager, max);
	for (size_t i = 0, n = strlen(text); i < n; i += step)
		room_chunker_add(&c, text + i, n - i < step ? n - i : step, piece, &p);
	room_chunker_flush(&c, piece, &p);
	return p;
}

struct row {
	unsigned sentences, eager, max;
	const char *text, *pieces;
};

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t step = 1; step < 1000; step = step * 5 + 2) {
			struct pieces p = cut(rows[i].sentences, rows[i].eager, rows[i].max,
					      rows[i].text, step);

			if (p.broken || strcmp(p.text, rows[i].pieces) != 0)
				test_fail(__FILE__, __LINE__, "\"%s\" by %zu gave %s", rows[i].text,
					  step, p.text);
		}
}

TEST(rule_087_whole_sentences_the_first_soon)
{
	static const struct row rows[] = {
		{2, 30, 300,
		 "The first one is here. And the second is too. The third one follows here. "
		 "The fourth comes after that. The fifth is the last of all of them.",
		 "The first one is here. And the second is too.|The third one follows here. "
		 "The fourth comes after that.|The fifth is the last of all of them.|"},
		/* Two sentences, but fewer than 30 bytes: the third comes along. */
		{2, 30, 300,
		 "Yes. Of course. I can do that for you. And more of it. And then some more.",
		 "Yes. Of course. I can do that for you.|And more of it. And then some more.|"},
		/* One is enough when one is requested. */
		{1, 8, 300, "Once upon a time. There was a king in a castle far away.",
		 "Once upon a time.|There was a king in a castle far away.|"},
		/* No sentence ends there. */
		{1, 8, 300,
		 "It costs 3.14 or 2.50, says Dr. Smith of St. Ives, J. R. said so. Good for you "
		 "then.",
		 "It costs 3.14 or 2.50, says Dr. Smith of St. Ives, J. R. said so.|Good for you "
		 "then.|"},
		{1, 8, 300,
		 "\"Is that so?\" \xe2\x80\x9cYes, it is so!\xe2\x80\x9d (It really is.) And so on "
		 "it goes here.",
		 "\"Is that so?\"|\xe2\x80\x9cYes, it is so!\xe2\x80\x9d|(It really is.) And so on "
		 "it goes here.|"},
		/* Clauses only when nothing better is there. */
		{1, 8, 300, "Take this one first: it is the better of the two; then go.",
		 "Take this one first:|it is the better of the two;|then go.|"},
		{2, 8, 300, "Take this one first: it is the better; then go.",
		 "Take this one first: it is the better; then go.|"},
		{1, 8, 300,
		 "\xe4\xbd\xa0\xe5\xa5\xbd\xe3\x80\x82\xe8\xaf\xb7\xe8\xaf\xb4\xe3\x80\x82",
		 "\xe4\xbd\xa0\xe5\xa5\xbd\xe3\x80\x82|\xe8\xaf\xb7\xe8\xaf\xb4\xe3\x80\x82|"},
	};

	check_rows(rows, sizeof rows / sizeof rows[0]);
}

TEST(rule_087_a_tiny_tail_is_merged_or_flushed)
{
	static const struct row rows[] = {
		/* Fewer than 24 bytes and 4 words: with the next. */
		{1, 8, 300, "This is the first sentence. Right. So this is what comes of it.",
		 "This is the first sentence.|Right. So this is what comes of it.|"},
		{1, 8, 300, "This is the first sentence. I do it so. So this is what comes of it.",
		 "This is the first sentence.|I do it so.|So this is what comes of it.|"},
		/* Nothing follows: flushed. */
		{1, 8, 300, "This is the first sentence. Right.",
		 "This is the first sentence.|Right.|"},
	};

	check_rows(rows, sizeof rows / sizeof rows[0]);
}

/* A voice returns no sound for them, and the answer would count as failed. */
TEST(what_cannot_be_said_is_no_chunk)
{
	static const struct row rows[] = {
		{2, 30, 300, "That works for me. I will do it right away. \xf0\x9f\x98\x8a",
		 "That works for me. I will do it right away.|"},
		{1, 8, 300,
		 "Here you are, as you wished. ... \xe2\x9d\xa4\xef\xb8\x8f \xe2\x80\x94",
		 "Here you are, as you wished.|"},
		{1, 8, 300, "\xf0\x9f\x91\x8d", ""},
		{1, 8, 300, "...", ""},
		/* With words it stays, and letters of any script are words. */
		{1, 8, 300, "Yes \xf0\x9f\x91\x8d", "Yes \xf0\x9f\x91\x8d|"},
		{1, 8, 300, "\xe4\xbd\xa0", "\xe4\xbd\xa0|"},
		{1, 8, 300, "\xc3\xa9", "\xc3\xa9|"},
		{1, 8, 300, "\xef\xbc\x95", "\xef\xbc\x95|"},
		{1, 8, 300, "7", "7|"},
	};

	check_rows(rows, sizeof rows / sizeof rows[0]);
}

TEST(rule_087_forced_at_its_limit_between_words)
{
	static const struct row rows[] = {
		{2, 30, 80,
		 "this goes on and on without any stop at all so that it has to be cut somewhere "
		 "between two words of it",
		 "this goes on and on without any stop at all so that it has to be cut "
		 "somewhere|between two words of it|"},
	};
	char text[1001];
	struct pieces p;

	check_rows(rows, sizeof rows / sizeof rows[0]);
	memset(text, 'x', 1000);
	text[1000] = '\0';
	p = cut(2, 30, 300, text, 9);
	CHECK_INT(p.count, 4);
	CHECK_INT(p.longest, 300);
}

TEST(rule_087_never_inside_a_directive)
{
	static const struct row rows[] = {
		{1, 8, 300, "Here it comes now [[NOTE: one. Two: three; four.]] and there it went.",
		 "Here it comes now [[NOTE: one. Two: three; four.]] and there it went.|"},
		{1, 8, 300, "Listen to this now. [[SOUNDBOARD: a b. c]] That was it, I think.",
		 "Listen to this now.|[[SOUNDBOARD: a b. c]] That was it, I think.|"},
		{1, 8, 40, "Listen to this now please [[SOUNDBOARD: a b c d e]] ok",
		 "Listen to this now please|[[SOUNDBOARD: a b c d e]] ok|"},
	};

	check_rows(rows, sizeof rows / sizeof rows[0]);
}

TEST(a_late_first_chunk_ends_with_its_first_clause)
{
	static const char text[] = "Well, a horse, that is brown. It, too, is old. Yes. ";
	struct pieces p = {0};
	struct room_chunker c;

	room_chunker_init(&c, 2, 30, 300);
	room_chunker_relax(&c);
	room_chunker_add(&c, text, sizeof text - 1, piece, &p);
	room_chunker_flush(&c, piece, &p);
	CHECK_STR(p.text, "Well, a horse,|that is brown. It, too, is old.|Yes.|");
}

TEST(hostile_text_comes_out_valid_and_bounded)
{
	static const char *const units[] = {"x",  "\xc3",     ". ",	 "[[",	 "a. b! ",
					    "]]", "\xf0\x9f", "[[ . ]]", "\x01", "\xe3\x80\x82"};
	size_t n = 1 << 20;
	char *text = malloc(n);

	CHECK(text);
	for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
		struct pieces p = {0};
		struct room_chunker c;
		size_t len = strlen(units[u]);

		for (size_t i = 0; i < n; i++)
			text[i] = units[u][i % len];
		room_chunker_init(&c, 2, 30, 300);
		room_chunker_add(&c, text, n, piece, &p);
		room_chunker_flush(&c, piece, &p);
		CHECK(p.longest <= 300);
		CHECK(!p.broken);
	}
	memset(text, 0, n);
	struct pieces p = {0};
	struct room_chunker c;
	room_chunker_init(&c, 0, 0, 100000);
	CHECK_INT(c.max, ROOM_CHUNK_MAX);
	room_chunker_add(&c, text, n, piece, &p);
	room_chunker_flush(&c, piece, &p);
	CHECK_INT(p.count, 0);
	free(text);
}
