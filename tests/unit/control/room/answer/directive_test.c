#include "tests/test.h"

#include "control/room/answer/directive.h"

/* What came out, as one line: words as they are, <sound>, {note}. */
struct heard {
	char text[4096];
	size_t n;
};

static void out(enum room_directive_out what, const char *text, size_t n, void *arg)
{
	struct heard *h = arg;
	const char *around = what == ROOM_OUT_SOUND ? "<>" : what == ROOM_OUT_NOTE ? "{}" : NULL;

	if (h->n + n + 3 > sizeof h->text)
		return;
	if (around)
		h->text[h->n++] = around[0];
	memcpy(h->text + h->n, text, n);
	h->n += n;
	if (around)
		h->text[h->n++] = around[1];
	h->text[h->n] = '\0';
}

static struct room_directive read_in(const char *text, size_t step, struct heard *h)
{
	struct room_directive d = {0};

	*h = (struct heard){0};
	for (size_t i = 0, n = strlen(text); i < n; i += step)
		room_directive_add(&d, text + i, n - i < step ? n - i : step, out, h);
	room_directive_end(&d, out, h);
	return d;
}

struct row {
	const char *text, *heard;
	enum room_to to;
	enum room_output_lease_mode lease;
	const char *name;
};

/* Each in one delta, and byte by byte, and by threes. */
static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t step = 1; step < 2000; step = step == 1 ? 3 : step * 700) {
			struct heard h;
			struct room_directive d = read_in(rows[i].text, step, &h);

			if (strcmp(h.text, rows[i].heard) != 0 || d.to != rows[i].to ||
			    d.lease != rows[i].lease ||
			    strcmp(d.name, rows[i].name ? rows[i].name : "") != 0)
				test_fail(__FILE__, __LINE__,
					  "\"%s\" by %zu gave \"%s\" to=%d lease=%d name=\"%s\"",
					  rows[i].text, step, h.text, d.to, d.lease, d.name);
		}
}

TEST(rule_090_the_beginning_in_any_order_and_case)
{
	static const struct row rows[] = {
		{"[[TO: SPEAKER]] hello", "hello", ROOM_TO_SPEAKER, ROOM_OUTPUT_LEASE_NONE, NULL},
		{"[[to:me]]hello", "hello", ROOM_TO_SPEAKER, ROOM_OUTPUT_LEASE_NONE, NULL},
		{" \n[[ To : everyone ]]\n[[ lease:atomic ]] hi", "hi", ROOM_TO_ALL,
		 ROOM_OUTPUT_LEASE_ATOMIC, NULL},
		{"[[LEASE: ASSERTIVE]][[TO: vc]]hi", "hi", ROOM_TO_ALL, ROOM_OUTPUT_LEASE_ASSERTIVE,
		 NULL},
		{"[[TO: Big Bob]] hi", "hi", ROOM_TO_NAME, ROOM_OUTPUT_LEASE_NONE, "Big Bob"},
		/* The first of a kind counts. */
		{"[[TO: Ann]][[TO: ALL]] hi", "hi", ROOM_TO_NAME, ROOM_OUTPUT_LEASE_NONE, "Ann"},
		{"[[LEASE: ATOMIC]][[LEASE: ASSERTIVE]] hi", "hi", ROOM_TO_NOBODY,
		 ROOM_OUTPUT_LEASE_ATOMIC, NULL},
		/* Nobody is told: nobody is guessed. */
		{"hi there", "hi there", ROOM_TO_NOBODY, ROOM_OUTPUT_LEASE_NONE, NULL},
		{"[[LEASE: forever]] hi", "hi", ROOM_TO_NOBODY, ROOM_OUTPUT_LEASE_NONE, NULL},
		/* Later it is no beginning, and no words either. */
		{"hi [[TO: ALL]]there", "hi there", ROOM_TO_NOBODY, ROOM_OUTPUT_LEASE_NONE, NULL},
	};

	check_rows(rows, sizeof rows / sizeof rows[0]);
}

TEST(rule_090_a_beginning_that_never_ends_is_said)
{
	char text[400] = "[[TO: ", want[400];
	struct heard h;
	struct room_directive d;

	memset(text + 6, 'a', 200);
	memcpy(text + 206, "]] hi", 6);
	d = read_in(text, 7, &h);
	snprintf(want, sizeof want, "TO: %.200s]] hi", text + 6);
	CHECK_STR(h.text, want);
	CHECK_INT(d.to, ROOM_TO_NOBODY);
	/* It waited no longer than that. */
	d = (struct room_directive){0};
	h = (struct heard){0};
	room_directive_add(&d, text, ROOM_LEAD_MAX - 1, out, &h);
	CHECK_INT(h.n, 0);
	room_directive_add(&d, text + ROOM_LEAD_MAX - 1, 1, out, &h);
	CHECK_INT(h.n, ROOM_LEAD_MAX - 2);
	/* Longer than a name: taken out, not obeyed. */
	memcpy(text + 6 + ROOM_TO_MAX + 1, "]] hi", 6);
	d = read_in(text, 7, &h);
	CHECK_STR(h.text, "hi");
	CHECK_INT(d.to, ROOM_TO_NOBODY);
}

TEST(rule_090_sounds_notes_and_what_nobody_knows_are_not_said)
{
	static const struct row rows[] = {
		{"one [[SOUNDBOARD: horn]] two", "one <horn> two", 0, 0, NULL},
		{"[[soundboard:a:b]]", "<a:b>", 0, 0, NULL},
		{"[[NOTE: likes tea]][[TO: ALL]]hi", "{likes tea}hi", ROOM_TO_ALL, 0, NULL},
		{"a[[WAVE: hands]]b", "ab", 0, 0, NULL},
		{"a [[laughs quietly]] b", "a  b", 0, 0, NULL},
		{"a[[]]b", "ab", 0, 0, NULL},
		{"a [b] c [[d] e]] f", "a [b] c  f", 0, 0, NULL},
		/* Cut off: a note stays private, a line's end ends what is open. */
		{"hi [[NOTE: secr", "hi ", 0, 0, NULL},
		{"hi [[NOTE: secret\nthere", "hi  there", 0, 0, NULL},
		{"hi [[what", "hi what", 0, 0, NULL},
		{"hi [[what\nthere", "hi what there", 0, 0, NULL},
		{"hi [", "hi [", 0, 0, NULL},
	};

	check_rows(rows, sizeof rows / sizeof rows[0]);
}

TEST(rule_091_skip_is_silence)
{
	static const struct {
		const char *text, *heard;
		bool skips;
	} rows[] = {
		{"[SKIP]", "", true},
		{"  [skip] \n", "", true},
		{"[[TO: ALL]] [SKIP]", "", true},
		{"[SKIP].", ".", true},
		{"[SKIP] hello", "hello", false},
		{"hello [SKIP]", "hello ", false},
		{"[SKI", "[SKI", false},
		{"[SKIPPED] it", "[SKIPPED] it", false},
		{"[[SOUNDBOARD:x]][SKIP]", "<x>", false},
		{"", "", false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (size_t step = 1; step < 40; step += 6) {
			struct heard h;
			struct room_directive d = read_in(rows[i].text, step, &h);

			if (strcmp(h.text, rows[i].heard) != 0 ||
			    room_directive_skips(&d) != rows[i].skips)
				test_fail(__FILE__, __LINE__, "\"%s\" by %zu gave \"%s\" skips=%d",
					  rows[i].text, step, h.text, room_directive_skips(&d));
		}
}

TEST(directives_have_their_bounds)
{
	char text[4000] = "", big[600];
	struct heard h;
	struct room_directive d;

	for (unsigned i = 0; i < 12; i++)
		strcat(text, "[[SOUNDBOARD:x]]");
	d = read_in(text, 5, &h);
	CHECK_INT(d.sounds, ROOM_SOUNDS_MAX);
	CHECK_INT(h.n, 3 * ROOM_SOUNDS_MAX);
	memset(big, 'b', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	snprintf(text, sizeof text, "[[SOUNDBOARD:%s]]x[[NOTE:%s]]y", big, big);
	d = read_in(text, 11, &h);
	CHECK_INT(d.sounds, 0);
	CHECK_INT(h.n, 1 + 2 + ROOM_NOTE_MAX + 1);
	/* A note that is never closed does not silence the rest for ever. */
	snprintf(text, sizeof text, "[[NOTE:%s%s hello", big, big);
	d = read_in(text, 11, &h);
	CHECK(strstr(h.text, "hello"));
}

static void count(enum room_directive_out what, const char *text, size_t n, void *arg)
{
	size_t *total = arg;

	(void)what;
	for (size_t i = 0; i + 1 < n; i++)
		if (text[i] == '[' && text[i + 1] == '[')
			*total += 1u << 30;
	*total += n;
}

TEST(hostile_brackets_stay_bounded)
{
	static const char *const units[] = {"[", "[[", "]]", "[[]", "[[NOTE:", "[S", "\xff[[\xc3"};
	size_t n = 1 << 20;
	char *text = malloc(n);

	CHECK(text);
	for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
		struct room_directive d = {0};
		size_t total = 0, len = strlen(units[u]);

		for (size_t i = 0; i < n; i++)
			text[i] = units[u][i % len];
		room_directive_add(&d, text, n, count, &total);
		room_directive_end(&d, count, &total);
		CHECK(total <= n);
	}
	memset(text, 0, n);
	struct room_directive d = {0};
	size_t total = 0;
	room_directive_add(&d, text, n, count, &total);
	CHECK_INT(total, 0);
	free(text);
}
