/* The change detection of shared screens (control/vision/core/change.h) on generated sessions of
 * which it is known what changed when: typing, scrolling, dialogs, video, a pointer alone, a word
 * that is replaced by another one, the digits of a counter, a line of status.
 * Beside it a baseline that makes a keyframe whenever the mean difference to the last picture is
 * above a hundredth.
 *
 * A session is painted at 960 × 540, scaled as imaged does it, with noise as an encoder leaves it.
 * A keyframe is right if since the last one content changed: ten letters, a scrolled line, a
 * dialog, a scene. A change is found if a keyframe follows within 12 s, or before the next change
 * of its kind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/vision/core/change.h"
#include "control/vision/core/pixels.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/random.h"

enum {
	WIDTH = 960,
	HEIGHT = 540,
	FRAME_MS = 1200,
	FRAMES = 100,
	SESSIONS = 8, /* of each kind */
	WITHIN_MS = 12000,
	LETTER_W = 7,
	LETTER_H = 11,
	LINE_H = 18,
	MARGIN = 40,
	COLUMNS = 100,
	ROWS = 25,
	LETTERS = 10, /* that are a change */
	CHANGES_MAX = 4 * FRAMES,
};

enum kind { TYPING, SCROLLING, DIALOGS, VIDEO, POINTER, REPLACED, COUNTER, STATUS, KINDS };

struct session {
	enum kind kind;
	uint64_t random, page; /* page: seed of the text */
	unsigned letters, scrolled, scene;
	unsigned pointer_x, pointer_y;
	bool dialog;
	unsigned changed; /* letters, lines, dialogs and scenes since the last keyframe */
	uint64_t changes[CHANGES_MAX];
	bool found[CHANGES_MAX];
	unsigned n;
};

static uint8_t rgb[WIDTH * HEIGHT * 3], grey[IMAGE_GREY_SIDE * IMAGE_GREY_SIDE];

struct counts {
	unsigned keyframes, right, changes, found;
};

/* ---- painting ---- */

static void fill(unsigned x, unsigned y, unsigned w, unsigned h, uint8_t shade)
{
	for (unsigned row = y; row < y + h && row < HEIGHT; row++)
		for (unsigned col = x; col < x + w && col < WIDTH; col++)
			memset(rgb + ((size_t)row * WIDTH + col) * 3, shade, 3);
}

/* Ink of a quarter of its box, by the letter. */
static void paint_letter(unsigned x, unsigned y, uint64_t letter)
{
	for (unsigned i = 0; i < 5; i++) {
		unsigned a = random_below(&letter, LETTER_W - 2),
			 b = random_below(&letter, LETTER_H);

		fill(x + a, y + b, 2, 1 + random_below(&letter, 3), 30);
	}
}

static void paint_text(const struct session *s, unsigned first, unsigned letters)
{
	for (unsigned i = 0; i < letters && i < COLUMNS * ROWS; i++) {
		uint64_t letter = s->page + (uint64_t)first * COLUMNS + i;

		if (random_next(&letter) % 6)
			paint_letter(MARGIN + i % COLUMNS * LETTER_W, MARGIN + i / COLUMNS * LINE_H,
				     letter);
	}
}

static void paint_video(const struct session *s)
{
	uint64_t r = s->scene * 977 + s->page;

	for (unsigned i = 0; i < 20; i++)
		fill(200 + random_below(&r, 400), 120 + random_below(&r, 200),
		     20 + random_below(&r, 150), 20 + random_below(&r, 100),
		     (uint8_t)random_next(&r));
}

/* What took the place of other letters: a word of a text, the last digits of a number, a line. */
static void paint_replaced(const struct session *s)
{
	unsigned n = s->kind == REPLACED ? 6 : s->kind == COUNTER ? 3 : 24;
	unsigned x = s->kind == STATUS ? MARGIN : MARGIN + (unsigned)(s->page % 80) * LETTER_W;
	unsigned y = s->kind == STATUS ? HEIGHT - 30 : MARGIN + (unsigned)(s->page % 20) * LINE_H;

	fill(x, y, n * LETTER_W, LETTER_H, 250);
	for (unsigned i = 0; i < n; i++)
		paint_letter(x + i * LETTER_W, y, s->page + s->scene * 100003 + i);
}

static void paint(struct session *s)
{
	fill(0, 0, WIDTH, HEIGHT, 250);
	fill(0, 0, WIDTH, 24, 200);
	if (s->kind == SCROLLING)
		paint_text(s, s->scrolled, COLUMNS * ROWS);
	else
		paint_text(s, 0, s->letters);
	if (s->kind == VIDEO)
		paint_video(s);
	if (s->kind >= REPLACED)
		paint_replaced(s);
	if (s->dialog) {
		fill(300, 180, 360, 180, 235);
		fill(300, 180, 360, 26, 120);
		fill(540, 320, 90, 26, 90);
	}
	/* The cursor of the text blinks, and the pointer of the mouse is somewhere. */
	if (s->kind < REPLACED && random_next(&s->random) & 1)
		fill(MARGIN + s->letters % COLUMNS * LETTER_W,
		     MARGIN + s->letters / COLUMNS * LINE_H, 2, LETTER_H, 0);
	for (unsigned i = 0; i < 16; i++)
		fill(s->pointer_x, s->pointer_y + i, 1 + i * 2 / 3, 1, i % 15 ? 20 : 255);
}

static void shrink(struct session *s, uint32_t *width, uint32_t *height)
{
	struct pixels from = {WIDTH, HEIGHT, 3, rgb}, to = {.channels = 1, .p = grey};

	pixels_fit(WIDTH, HEIGHT, IMAGE_GREY_SIDE, &to.width, &to.height);
	pixels_shrink_to_grey(&from, &to);
	for (size_t i = 0; i < (size_t)to.width * to.height; i++) {
		int noisy = grey[i] + (int)random_below(&s->random, 5) - 2;

		grey[i] = (uint8_t)(noisy < 0 ? 0 : noisy > 255 ? 255 : noisy);
	}
	*width = to.width;
	*height = to.height;
}

/* ---- what happens ---- */

static void note_change(struct session *s, uint64_t ms)
{
	if (s->n < CHANGES_MAX)
		s->changes[s->n++] = ms;
	s->changed += LETTERS;
}

static void type_letters(struct session *s, uint64_t ms)
{
	unsigned before = s->letters / COLUMNS, more = random_below(&s->random, 18);

	if (s->letters + more >= COLUMNS * ROWS)
		return;
	s->letters += more;
	s->changed += more;
	/* Each second line is a change that is to be found; its letters are counted already. */
	if (s->letters / COLUMNS > before && s->letters / COLUMNS % 2 == 0 && s->n < CHANGES_MAX)
		s->changes[s->n++] = ms;
}

static void act(struct session *s, uint64_t ms)
{
	bool now = random_below(&s->random, 9) == 0;

	/* Whoever waits for a word leaves the mouse alone. */
	if (s->kind < REPLACED && random_below(&s->random, 2)) {
		s->pointer_x = random_below(&s->random, WIDTH - 20);
		s->pointer_y = random_below(&s->random, HEIGHT - 20);
	}
	if (s->kind == TYPING)
		type_letters(s, ms);
	else if (s->kind == SCROLLING && now)
		s->scrolled += 1 + random_below(&s->random, 12);
	else if (s->kind == DIALOGS && now)
		s->dialog = !s->dialog;
	else if ((s->kind == VIDEO && random_below(&s->random, 4)) || (s->kind >= REPLACED && now))
		s->scene++;
	else
		return;
	if (s->kind != TYPING)
		note_change(s, ms);
}

static void take_keyframe(struct session *s, struct counts *c, uint64_t ms)
{
	c->keyframes++;
	c->right += s->changed >= LETTERS;
	s->changed = 0;
	for (unsigned i = 0; i < s->n; i++)
		if (!s->found[i] && ms - s->changes[i] <= WITHIN_MS)
			s->found[i] = true;
}

/* ---- detectors ---- */

typedef bool(detector)(uint32_t width, uint32_t height, uint64_t ms, bool first);

static struct change state;

static bool detect_change(uint32_t width, uint32_t height, uint64_t ms, bool first)
{
	static const struct change_rules rules = {
		.threshold = 10, .floor = 5, .least = 2 * NS_PER_S, .slow = 10 * NS_PER_S};
	struct change_found found;

	if (first)
		change_clear(&state);
	BENCH_OK(change_feed(&state, &rules,
			     &(struct change_picture){grey, width, height, ms * NS_PER_MS},
			     &found));
	return found.kind != CHANGE_NONE;
}

static bool detect_difference(uint32_t width, uint32_t height, uint64_t ms, bool first)
{
	static uint8_t last[sizeof grey];
	size_t n = (size_t)width * height;
	unsigned long sum = 0;

	(void)ms;
	for (size_t i = 0; i < n; i++)
		sum += (unsigned long)abs(grey[i] - last[i]);
	memcpy(last, grey, n);
	return first || sum > n * 255 / 100;
}

static void run_session(enum kind kind, uint64_t seed, detector *detect, struct counts *c)
{
	static struct session s;
	uint32_t width, height;

	s = (struct session){.kind = kind, .random = seed, .page = seed * 7919};
	s.letters = kind == TYPING ? 0 : COLUMNS * (4 + random_below(&s.random, 8));
	for (unsigned i = 0; i < FRAMES; i++) {
		uint64_t ms = (uint64_t)i * FRAME_MS;
		bool key;

		if (i)
			act(&s, ms);
		paint(&s);
		shrink(&s, &width, &height);
		key = detect(width, height, ms, i == 0);
		if (key && i)
			take_keyframe(&s, c, ms);
	}
	/* What changed in the last seconds had no time to be found. */
	for (unsigned i = 0; i < s.n; i++) {
		if (s.changes[i] + WITHIN_MS > (uint64_t)FRAMES * FRAME_MS)
			continue;
		c->changes++;
		c->found += s.found[i];
	}
}

static double mean_of(double sum, unsigned kinds)
{
	return kinds ? sum / kinds : 0;
}

/* Each kind counts the same, however often its sessions change. A kind without keyframes says
 * nothing of their precision, and one without changes nothing of the recall. */
static void measure(detector *detect, const char *precision, const char *recall)
{
	static const char *const names[] = {"typing",  "scrolling", "dialogs", "video",
					    "pointer", "replaced",  "counter", "status"};
	double right = 0, found = 0;
	unsigned keyframes = 0, changes = 0, kinds_shown = 0, kinds_changed = 0;

	for (unsigned k = 0; k < KINDS; k++) {
		struct counts c = {0};

		for (unsigned i = 0; i < SESSIONS; i++)
			run_session((enum kind)k, 1000 * k + i + 1, detect, &c);
		fprintf(stderr, "%s %s: %u keyframes, %u right; %u changes, %u found\n", precision,
			names[k], c.keyframes, c.right, c.changes, c.found);
		right += c.keyframes ? (double)c.right / c.keyframes : 0;
		found += c.changes ? (double)c.found / c.changes : 0;
		kinds_shown += c.keyframes > 0;
		kinds_changed += c.changes > 0;
		keyframes += c.keyframes;
		changes += c.changes;
	}
	bench_row_more(precision, mean_of(right, kinds_shown), "", "\"n\": %u", keyframes);
	bench_row_more(recall, mean_of(found, kinds_changed), "", "\"n\": %u", changes);
}

int main(void)
{
	measure(detect_change, "change_precision", "change_recall");
	measure(detect_difference, "change_precision_baseline", "change_recall_baseline");
	change_clear(&state);
	return 0;
}
