#include "tests/conversations/conversation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/room/floor/address.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "tests/conversations/calls.def"
#include "tests/random.h"
#include "tests/room/stage.h"

enum {
	PEOPLE = 8,
	LETTER_MS = 60,
	SHORTEST_MS = 240,
	WORDS = 400,
	YIELD_MS = 2000,
	AFTER_MS = 1000,    /* of an end that is still charged to what was said */
	PATIENCE_MS = 6000, /* for the bot to begin */
	LONGEST_MS = 16000, /* of an answer with pauses */
};

static const struct conversation_words table[] = {
#define W(kind, set, words) {CONVERSATION_##kind, CONVERSATION_##set, words},
	CONVERSATION_WORDS(W)
#undef W
};

enum { TABLE = sizeof table / sizeof table[0] };

static const char *const names[PEOPLE] = {"alice", "bob",   "carol", "dave",
					  "erin",  "frank", "grace", "heidi"};

/* What the bot did, told by its effects. */
struct seen {
	bool speaks, paused;
	uint64_t began_at, over_at, cut_at, paused_at;
	unsigned began, cuts, pauses;
	uint64_t asked_at, asked_user;
	unsigned asks;
};

struct talk {
	const struct conversation_conf *conf;
	struct conversation_score *score;
	struct stage *stage;
	struct settings *settings;
	uint64_t random;
	bool here[PEOPLE];
	unsigned people, holder;
	struct seen seen;
};

const struct conversation_words *conversation_words(size_t i)
{
	return i < TABLE ? &table[i] : NULL;
}

double conversation_rate(const struct conversation_share *s)
{
	return s->of ? (double)s->right / s->of : 0;
}

/* ---- chance ---- */

static unsigned below(struct talk *t, unsigned n)
{
	return random_below(&t->random, n);
}

static unsigned between(struct talk *t, unsigned from, unsigned to)
{
	return from + below(t, to - from + 1);
}

/* Somebody who is there and is not `but`. */
static unsigned somebody(struct talk *t, unsigned but)
{
	unsigned who;

	do
		who = below(t, PEOPLE);
	while (!t->here[who] || who == but);
	return who;
}

/* ---- words ---- */

static void add(char *to, size_t size, const char *word, size_t n)
{
	size_t at = strlen(to);

	snprintf(to + at, size - at, "%s%.*s", at ? " " : "", (int)n, word);
}

/* Any word of what people say, another vowel, or nothing. */
static void mishear(struct talk *t, char *to, size_t size, const char *word, size_t n)
{
	char other[64];
	const char *any = table[below(t, TABLE)].words;
	size_t k;

	switch (below(t, 3)) {
	case 0:
		any += strcspn(any, " ");
		any += *any == ' ';
		add(to, size, any, strcspn(any, " "));
		break;
	case 1:
		k = n < sizeof other ? n : sizeof other - 1;
		memcpy(other, word, k);
		for (size_t i = 0; i < k; i++)
			if (strchr("aeiou", other[i]))
				other[i] = "aeiou"[below(t, 5)];
		add(to, size, other, k);
		break;
	default:
		break;
	}
}

/* The words as they were said, and as they are heard. */
static void speakable(struct talk *t, const char *words, unsigned who, char *said, char *heard,
		      size_t size)
{
	*said = *heard = '\0';
	while (*words) {
		size_t n = strcspn(words, " ");
		const char *word = words;
		size_t len = n;

		if (n == 4 && memcmp(words, "NAME", 4) == 0) {
			word = "parley";
			len = 6;
		} else if (n == 8 && memcmp(words, "SOMEBODY", 8) == 0) {
			word = names[somebody(t, who)];
			len = strlen(word);
		}
		add(said, size, word, len);
		if (below(t, 1000) < t->conf->misheard)
			mishear(t, heard, size, word, len);
		else
			add(heard, size, word, len);
		words += n;
		words += *words == ' ';
	}
}

static const char *pick(struct talk *t, enum conversation_kind kind)
{
	unsigned i;

	do
		i = below(t, TABLE);
	while (table[i].kind != kind || table[i].set != t->conf->set);
	return table[i].words;
}

/* ---- what the bot does ---- */

static void stepped(const struct room_event *ev, uint64_t now, const struct room_effects *fx,
		    void *arg)
{
	struct talk *t = arg;
	struct seen *s = &t->seen;

	if (ev->type == ROOM_SAY_STARTED) {
		s->speaks = true;
		s->paused = false;
		s->began_at = now;
		s->began++;
	} else if (ev->type == ROOM_SAY_DRAINED || ev->type == ROOM_SAY_STOPPED) {
		s->speaks = false;
		s->over_at = now;
	}
	for (size_t i = 0; i < fx->n; i++) {
		const struct room_effect *e = &fx->v[i];

		if (e->type == ROOM_DO_SAY_STOP && s->speaks) {
			s->cuts++;
			s->cut_at = now;
		} else if (e->type == ROOM_DO_SAY_PAUSE) {
			s->pauses++;
			s->paused = true;
			s->paused_at = now;
		} else if (e->type == ROOM_DO_SAY_RESUME) {
			s->paused = false;
		} else if (e->type == ROOM_DO_ASK) {
			s->asks++;
			s->asked_at = now;
			s->asked_user = e->user;
		}
	}
}

static uint64_t now_ms(const struct talk *t)
{
	return stage_now(t->stage) / NS_PER_MS;
}

static void pass(struct talk *t, unsigned ms)
{
	stage_run(t->stage, stage_now(t->stage) + ms * NS_PER_MS);
}

static unsigned say(struct talk *t, unsigned who, const char *words)
{
	char said[WORDS], heard[WORDS];
	unsigned ms;

	speakable(t, words, who, said, heard, sizeof said);
	ms = (unsigned)strlen(said) * LETTER_MS * between(t, 80, 120) / 100;
	if (ms < SHORTEST_MS)
		ms = between(t, SHORTEST_MS, 2 * SHORTEST_MS);
	return stage_says(t->stage, who + 1, heard, ms, STAGE_LOUD);
}

/* Until it speaks; false when it does not. */
static bool wait_for_voice(struct talk *t)
{
	unsigned began = t->seen.began;

	for (unsigned ms = 0; ms < PATIENCE_MS && (t->seen.began == began || !t->seen.speaks);
	     ms += 20)
		pass(t, 20);
	return t->seen.began != began && t->seen.speaks;
}

static void wait_for_silence(struct talk *t)
{
	for (unsigned ms = 0; ms < LONGEST_MS && t->seen.speaks; ms += 20)
		pass(t, 20);
	pass(t, between(t, 300, 1200));
}

/* ---- scoring ---- */

static void right(struct conversation_share *s, bool yes)
{
	s->of++;
	s->right += yes;
}

static void show(const struct talk *t, bool yes, enum conversation_row row, const char *words)
{
	static const char *const rows[CONVERSATION_ROWS] = {"backchannel", "tic", "aside", "yield"};

	if (t->conf->show && !yes)
		fprintf(stderr, "%s %s: \"%s\"\n", rows[row],
			t->seen.speaks ||
					t->seen.cut_at + YIELD_MS * NS_PER_MS > stage_now(t->stage)
				? "over it"
				: "in silence",
			words);
}

/* For all three: the room's by what it did, the others' by what they are. */
static void score_still(struct talk *t, enum conversation_row row, const char *words, bool room,
			bool baseline)
{
	show(t, room, row, words);
	right(&t->score[CONVERSATION_ROOM].row[row], room);
	right(&t->score[CONVERSATION_BASELINE].row[row], baseline);
	right(&t->score[CONVERSATION_ORACLE].row[row], true);
}

static bool has_words(const char *text)
{
	return strpbrk(text, "abcdefghijklmnopqrstuvwxyz") != NULL;
}

static void score_yield(struct talk *t, const char *words, unsigned cuts, uint64_t from_ms)
{
	struct conversation_score *s = &t->score[CONVERSATION_ROOM];
	uint64_t at = t->seen.paused && t->seen.paused_at / NS_PER_MS > from_ms ? t->seen.paused_at
										: t->seen.cut_at;
	bool cut = t->seen.cuts > cuts;
	uint64_t after = cut ? at / NS_PER_MS - from_ms : 0;

	show(t, cut && after <= YIELD_MS, ROW_YIELD, words);
	right(&s->row[ROW_YIELD], cut && after <= YIELD_MS);
	if (cut && s->yields < sizeof s->yield_ms / sizeof s->yield_ms[0])
		s->yield_ms[s->yields++] = (uint32_t)after;
	right(&t->score[CONVERSATION_BASELINE].row[ROW_YIELD], true);
	right(&t->score[CONVERSATION_ORACLE].row[ROW_YIELD], true);
}

/* ---- episodes ---- */

/* While the bot speaks: words of this kind; it should talk on. */
static void over_it(struct talk *t, enum conversation_kind kind, enum conversation_row row,
		    unsigned who)
{
	unsigned cuts = t->seen.cuts, pauses = t->seen.pauses;
	const char *words = pick(t, kind);
	unsigned ms;

	/* Of the one it speaks to, talk for others has to say whom it is for. */
	while (kind == CONVERSATION_ASIDE && who == t->holder && strncmp(words, "SOMEBODY", 8) != 0)
		words = pick(t, kind);
	ms = say(t, who, words);
	pass(t, ms + AFTER_MS);
	score_still(t, row, words, t->seen.cuts == cuts && t->seen.pauses == pauses, false);
}

static void interrupt(struct talk *t, unsigned who)
{
	unsigned cuts = t->seen.cuts, ms;
	uint64_t from = now_ms(t);
	const char *words = pick(t, who == t->holder ? CONVERSATION_TAKEOVER : CONVERSATION_CALL);

	ms = say(t, who, words);
	pass(t, ms > YIELD_MS ? ms : YIELD_MS);
	score_yield(t, words, cuts, from);
}

static void overlap(struct talk *t)
{
	unsigned who = below(t, 2) ? t->holder : somebody(t, t->holder);

	pass(t, between(t, 300, 2500));
	if (!t->seen.speaks)
		return;
	switch (below(t, 5)) {
	case 0:
		over_it(t, CONVERSATION_BACKCHANNEL, ROW_BACKCHANNEL, who);
		break;
	case 1:
		over_it(t, CONVERSATION_TIC, ROW_TIC, who);
		break;
	case 2:
		over_it(t, CONVERSATION_ASIDE, ROW_ASIDE,
			below(t, 4) ? somebody(t, t->holder) : t->holder);
		break;
	case 3:
		interrupt(t, below(t, 3) ? t->holder : somebody(t, t->holder));
		/* Whom it answers now spoke to it last. */
		if (wait_for_voice(t))
			t->holder = (unsigned)t->seen.asked_user - 1;
		break;
	default:
		break;
	}
}

/* Somebody asks, perhaps after a false start or correcting themselves; perhaps something is said
 * over the answer. */
static void question(struct talk *t)
{
	char words[WORDS];
	unsigned who = somebody(t, PEOPLE), asks = t->seen.asks;
	uint64_t end;

	snprintf(words, sizeof words, "%s", pick(t, CONVERSATION_QUESTION));
	if (below(t, 6) == 0) {
		pass(t, say(t, who, pick(t, CONVERSATION_FALSE_START)) + between(t, 300, 500));
	} else if (below(t, 6) == 0) {
		const char *more = pick(t, CONVERSATION_CORRECTION);

		add(words, sizeof words, more, strlen(more));
	}
	pass(t, say(t, who, words));
	end = now_ms(t);
	right(&t->score[CONVERSATION_ROOM].quiet, t->seen.asks == asks);
	asks = t->seen.asks;
	if (wait_for_voice(t) && t->seen.asks > asks) {
		struct conversation_score *s = &t->score[CONVERSATION_ROOM];

		if (s->delays < sizeof s->delay_ms / sizeof s->delay_ms[0])
			s->delay_ms[s->delays++] = (uint32_t)(t->seen.asked_at / NS_PER_MS - end);
		/* What waited may be answered first: then it speaks to whoever that was of. */
		t->holder = t->seen.asked_user ? (unsigned)t->seen.asked_user - 1 : who;
		right(&s->asked, t->holder == who);
		overlap(t);
	} else {
		if (t->conf->show)
			fprintf(stderr, "question not taken up: \"%s\"\n", words);
		right(&t->score[CONVERSATION_ROOM].asked, false);
	}
	wait_for_silence(t);
}

/* Nothing of it is for the bot. Who spoke to it last answers others only. */
static void in_silence(struct talk *t, enum conversation_kind kind, enum conversation_row row)
{
	unsigned n = kind == CONVERSATION_ASIDE ? between(t, 1, 4) : 1;

	wait_for_silence(t);
	for (unsigned i = 0; i < n; i++) {
		unsigned who = i || kind == CONVERSATION_TIC ? somebody(t, PEOPLE)
							     : somebody(t, t->holder);
		unsigned asks = t->seen.asks;
		const char *words = pick(t, kind);

		pass(t, say(t, who, words) + YIELD_MS);
		score_still(t, row, words, t->seen.asks == asks, !has_words(words));
		wait_for_silence(t);
	}
}

static void come_or_go(struct talk *t)
{
	unsigned who = below(t, PEOPLE);

	if (!t->here[who] && t->people < t->conf->people + 1) {
		stage_join(t->stage, names[who], false);
		t->people++;
		t->here[who] = true;
	} else if (t->here[who] && t->people > 2) {
		stage_leave(t->stage, who + 1);
		t->people--;
		t->here[who] = false;
		if (t->holder == who)
			t->holder = somebody(t, PEOPLE);
	}
	pass(t, 500);
}

static void episode(struct talk *t)
{
	unsigned r = below(t, 100);

	stage_brain_answers(
		t->stage, "here is a long answer of the kind that people get when they ask for it",
		between(t, 4000, 9000), between(t, 250, 700));
	if (r < 70)
		question(t);
	else if (r < 83)
		in_silence(t, CONVERSATION_ASIDE, ROW_ASIDE);
	else if (r < 93)
		in_silence(t, CONVERSATION_TIC, ROW_TIC);
	else
		come_or_go(t);
}

int conversation_run(const struct conversation_conf *conf,
		     struct conversation_score score[CONVERSATION_BOTS])
{
	struct talk t = {
		.conf = conf, .score = score, .random = conf->seed * 0x2545f4914f6cdd1dull + 7};
	struct stage_conf sc = {.name = "Parley", .steppedh = stepped, .arg = &t};
	int err = settings_alloc(&t.settings);

	if (err)
		return err;
	settings_set(t.settings, "guest", "off");
	if (conf->no_looks)
		settings_set(t.settings, "interim_ms", "0");
	sc.settings = t.settings;
	err = stage_alloc(&t.stage, &sc);
	if (!err) {
		/* Everybody has a number, whoever comes first. */
		for (unsigned i = 0; i < PEOPLE; i++)
			stage_join(t.stage, names[i], false);
		for (unsigned i = conf->people; i < PEOPLE; i++)
			stage_leave(t.stage, i + 1);
		for (unsigned i = 0; i < conf->people; i++)
			t.here[i] = true;
		t.people = conf->people;
		stage_partials(t.stage, conf->partial_ms);
		if (conf->asr_ms)
			stage_transcripts(t.stage, conf->asr_ms, false, false);
		for (unsigned i = 0; i < conf->episodes; i++)
			episode(&t);
	}
	stage_free(t.stage);
	settings_free(t.settings);
	return err;
}

/* ---- the name within a sentence ---- */

void conversation_calls(struct conversation_share *heard, struct conversation_share *left)
{
	static const struct {
		bool calls;
		const char *text;
	} rows[] = {
#define TUNED(calls, text)
#define HELD_OUT(calls, text) {calls, text},
#define S(set, calls, text)   set(calls, text)
		CONVERSATION_CALLS(S)
#undef TUNED
#undef HELD_OUT
#undef S
	};
	struct room_names bot = {0};

	*heard = *left = (struct conversation_share){0};
	room_names_add(&bot, "Parley");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool got = room_address(&bot, rows[i].text) == ROOM_ADDRESS_ADDRESSED;

		right(rows[i].calls ? heard : left, got == rows[i].calls);
	}
}
