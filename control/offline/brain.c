#include "control/offline/brain.h"

#include "control/offline/brain_tools.h"
#include "control/offline/facts.h"
#include "control/offline/arithmetic.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct brain {
	const struct rules *rules;
	struct facts facts;
	char last[BRAIN_ANSWER_SIZE]; /* what it said last, for "say that again" */
	unsigned jokes_told;
	unsigned first_joke;
};

/* The input of an answer. */
struct ask {
	struct brain *b;
	const struct brain_moment *now;
	const struct reading *r;
	uint64_t random;
	char *buf;
	size_t size;
};

typedef void(answer_fn)(struct ask *a);

static const char *const jokes[] = {
	"Why did the scarecrow win a prize? Because he was outstanding in his field.",
	"I told my computer a joke about clocks. It said, not this time.",
	"What do you call a fish without eyes? A fsh.",
	"Why do bees have sticky hair? Because they use honey combs.",
	"What did one wall say to the other wall? I will meet you at the corner.",
	"Why was the math book sad? It had too many problems.",
	"What is brown and sticky? A stick.",
	"Why can you not trust stairs? They are always up to something.",
};
enum { N_JOKES = sizeof jokes / sizeof *jokes };

/* splitmix64 */
static uint64_t next_random(struct ask *a)
{
	uint64_t z = a->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static const char *part_of_day(int hour)
{
	return hour < 12 ? "in the morning" : hour < 18 ? "in the afternoon" : "in the evening";
}

static void answer_time(struct ask *a)
{
	const struct tm *t = &a->now->local;
	int min = t->tm_min, hour = t->tm_hour + (min > 30);
	char h[32], m[32];

	number_say((hour + 11) % 12 + 1, h, sizeof h);
	number_say(min > 30 ? 60 - min : min, m, sizeof m);
	if (min == 0)
		snprintf(a->buf, a->size, "It is %s o'clock %s.", h, part_of_day(t->tm_hour));
	else if (min == 15 || min == 45)
		snprintf(a->buf, a->size, "It is a quarter %s %s %s.", min == 15 ? "past" : "to", h,
			 part_of_day(t->tm_hour));
	else if (min == 30)
		snprintf(a->buf, a->size, "It is half past %s %s.", h, part_of_day(t->tm_hour));
	else
		snprintf(a->buf, a->size, "It is %s%s %s %s %s.", m,
			 min % 5 == 0		 ? ""
			 : min == 1 || min == 59 ? " minute"
						 : " minutes",
			 min < 30 ? "past" : "to", h, part_of_day(t->tm_hour));
}

static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
				   "Thursday", "Friday", "Saturday"};
static const char *const months[] = {"January",	  "February", "March",	  "April",
				     "May",	  "June",     "July",	  "August",
				     "September", "October",  "November", "December"};

/* The date `shift` days from now. timegm only counts; it asks nothing of the system's time zone. */
static struct tm shifted(const struct tm *t, int shift)
{
	struct tm d = {.tm_year = t->tm_year,
		       .tm_mon = t->tm_mon,
		       .tm_mday = t->tm_mday + shift,
		       .tm_hour = 12};

	timegm(&d);
	return d;
}

static void date_say(const struct tm *d, char *buf, size_t size)
{
	char day[64], century[32], rest[32], year[80];
	int y = d->tm_year + 1900, hundreds = y / 100;

	ordinal_say((unsigned)d->tm_mday, day, sizeof day);
	number_say(hundreds, century, sizeof century);
	number_say(y % 100, rest, sizeof rest);
	if (y % 100 == 0 || hundreds == 20)
		number_say(y, year, sizeof year);
	if (hundreds != 20 || y % 100 >= 10)
		snprintf(year, sizeof year, "%s %s", century, y % 100 ? rest : "hundred");
	snprintf(buf, size, "%s, %s %s, %s", days[d->tm_wday], months[d->tm_mon], day, year);
}

static const struct pattern_cap *captured(const struct ask *a, unsigned slot)
{
	for (unsigned i = 0; i < a->r->match.n; i++)
		if (a->r->match.cap[i].slot == slot)
			return &a->r->match.cap[i];
	return NULL;
}

static void captured_text(const struct ask *a, unsigned slot, char *buf, size_t size)
{
	const struct pattern_cap *c = captured(a, slot);

	words_join(&a->r->words, c ? c->from : 0, c ? c->to : 0, buf, size);
}

static void answer_date(struct ask *a)
{
	int shift = captured(a, SLOT_TOMORROW) ? 1 : captured(a, SLOT_YESTERDAY) ? -1 : 0;
	struct tm d = shifted(&a->now->local, shift);
	const char *which = shift > 0 ? "Tomorrow is" : shift < 0 ? "Yesterday was" : "Today is";
	char said[256], asked[WORD_SIZE];

	date_say(&d, said, sizeof said);
	if (captured(a, SLOT_MONTH)) {
		snprintf(a->buf, a->size, "It is %s.", months[d.tm_mon]);
	} else if (captured(a, SLOT_DAY)) {
		captured_text(a, SLOT_DAY, asked, sizeof asked);
		snprintf(a->buf, a->size, "%s today is %s.",
			 strcasecmp(asked, days[d.tm_wday]) ? "No," : "Yes,", days[d.tm_wday]);
	} else {
		snprintf(a->buf, a->size, "%s %s.", which, said);
	}
}

static void answer_sum(struct ask *a)
{
	arithmetic_answer(a->r, a->buf, a->size);
}

static unsigned captured_number(const struct ask *a, unsigned slot, unsigned fallback, unsigned max)
{
	const struct pattern_cap *c = captured(a, slot);
	double v;

	if (!c || !number_hear(&a->r->words, c->from, c->to, &v))
		return fallback;
	return v < 1 ? 1 : v > max ? max : (unsigned)v;
}

static void read_dice(const struct ask *a, unsigned *n, unsigned *sides)
{
	char count[32];

	captured_text(a, SLOT_COUNT, count, sizeof count);
	*n = captured_number(a, SLOT_COUNT,
			     strchr(count, ' ') || strcmp(count, "some") == 0 ? 2 : 1, BRAIN_DICE);
	*sides = captured_number(a, SLOT_SIDES, 6, 1000);
}

static void answer_dice(struct ask *a)
{
	unsigned n, sides, values[BRAIN_DICE];

	read_dice(a, &n, &sides);
	for (unsigned i = 0; i < n; i++)
		values[i] = 1 + (unsigned)(next_random(a) % sides);
	brain_say_dice(values, n, a->buf, a->size);
}

/* Each is used once before one repeats. */
static void answer_joke(struct ask *a)
{
	if (!a->b->jokes_told)
		a->b->first_joke = (unsigned)(next_random(a) % N_JOKES);
	snprintf(a->buf, a->size, "%s", jokes[(a->b->first_joke + a->b->jokes_told++) % N_JOKES]);
}

static void answer_who(struct ask *a)
{
	const struct brain_room *room = a->now->room;
	size_t k;

	if (!room || !room->n) {
		snprintf(a->buf, a->size, "I have not been told who is in the room.");
		return;
	}
	k = (size_t)snprintf(a->buf, a->size, "In the room %s ", room->n == 1 ? "is" : "are");
	for (unsigned i = 0; i < room->n && k < a->size; i++)
		k += (size_t)snprintf(a->buf + k, a->size - k, "%s%s",
				      !i		? ""
				      : i + 1 < room->n ? ", "
							: " and ",
				      room->name[i]);
	if (k < a->size)
		snprintf(a->buf + k, a->size - k, ".");
}

static void answer_can(struct ask *a)
{
	snprintf(a->buf, a->size,
		 "I am Parley. I can tell you the time and the date, do sums, roll dice, tell a "
		 "joke, say who is in "
		 "the room, and remember things for you.");
}

static void answer_again(struct ask *a)
{
	snprintf(a->buf, a->size, "%s",
		 a->b->last[0] ? a->b->last : "I have not said anything yet.");
}

/* Without a tool that knows, and without facts of its own: what people had it remember is
 * elsewhere, so it must not say that there is nothing. */
static bool say_no_memory(struct ask *a)
{
	if (a->now->alone)
		snprintf(a->buf, a->size,
			 "I cannot use my memory for this. The commands remember and forget do.");
	return a->now->alone;
}

static void answer_remember(struct ask *a)
{
	char fact[FACT_SIZE], turned[2 * FACT_SIZE];

	if (say_no_memory(a))
		return;
	captured_text(a, captured(a, SLOT_STATED) ? SLOT_STATED : SLOT_FACT, fact, sizeof fact);
	facts_add(&a->b->facts, fact, a->r->words.speaker);
	fact_turn_round(fact, turned, sizeof turned);
	snprintf(a->buf, a->size, "I will remember that %s.", turned);
}

static void answer_recall(struct ask *a)
{
	bool named = captured(a, SLOT_MINE) || captured(a, SLOT_ABOUT);
	char question[512], turned[512], said[2 * FACT_SIZE + 64];
	const struct facts *f = &a->b->facts;
	const struct fact *found;
	size_t k = 0;

	if (say_no_memory(a))
		return;
	words_join(&a->r->words, 0, a->r->words.n, question, sizeof question);
	found = facts_find(f, question, a->r->words.speaker);
	if (found) {
		fact_say(found, a->r->words.speaker, a->buf, a->size);
		return;
	}
	if (named || !f->n) {
		captured_text(a, captured(a, SLOT_MINE) ? SLOT_MINE : SLOT_ABOUT, question,
			      sizeof question);
		fact_turn_round(question, turned, sizeof turned);
		if (!named || strcmp(turned, "it") == 0 || strcmp(turned, "that") == 0)
			snprintf(a->buf, a->size, "You have not told me anything to remember.");
		else
			snprintf(a->buf, a->size, "You have not told me about %s%s.",
				 captured(a, SLOT_MINE) ? "your " : "", turned);
		return;
	}
	for (unsigned i = 0; i < f->n && k < a->size && i < 5; i++) {
		fact_say(&f->fact[f->n - 1 - i], a->r->words.speaker, said, sizeof said);
		k += (size_t)snprintf(a->buf + k, a->size - k, "%s%s", i ? " " : "", said);
	}
}

static void answer_forget(struct ask *a)
{
	bool gone;

	if (say_no_memory(a))
		return;
	gone = facts_forget_last(&a->b->facts, a->r->words.speaker);
	snprintf(a->buf, a->size, "%s",
		 gone ? "I have forgotten it." : "You have not told me anything to remember.");
}

static void answer_greet(struct ask *a)
{
	const char *name = a->r->words.speaker;

	snprintf(a->buf, a->size, "Hello%s%s. What can I do for you?", name[0] ? " " : "", name);
}

static void answer_thanks(struct ask *a)
{
	snprintf(a->buf, a->size, "You are welcome.");
}

/* Without a tool that knows, so it must not say that there is nothing. */
static void answer_said(struct ask *a)
{
	snprintf(a->buf, a->size, "I cannot look up here what was said.%s",
		 a->now->alone ? " Ask me in the voice channel." : "");
}

/* Nobody asked. */
static void answer_yes(struct ask *a)
{
	snprintf(a->buf, a->size, "Good to hear.");
}

static void answer_stop(struct ask *a)
{
	snprintf(a->buf, a->size, "All right.");
}

/* Nothing was offered. */
static void answer_choice(struct ask *a)
{
	snprintf(a->buf, a->size, "I have asked nothing.");
}

/* Without a tool for music, which may play nevertheless: a response may be asked for without tools.
 */
static void answer_music(struct ask *a)
{
	snprintf(a->buf, a->size, "I cannot reach the music from here. The command music can.");
}

static void answer_playing(struct ask *a)
{
	snprintf(a->buf, a->size,
		 "I cannot see from here what plays. The command music now tells it.");
}

static void answer_bye(struct ask *a)
{
	const char *name = a->r->words.speaker;

	snprintf(a->buf, a->size, "Goodbye%s%s.", name[0] ? " " : "", name);
}

/* Asks back, with a different hint each time. */
static void answer_none(struct ask *a)
{
	static const char *const hints[] = {
		"Could you say it another way?",
		"You can ask me for the time, a sum or a joke.",
		"Ask me what I can do, if you like.",
	};

	snprintf(a->buf, a->size, "I did not catch that. %s", hints[next_random(a) % 3]);
}

static answer_fn *const answers[INTENT_COUNT] = {
	[INTENT_NONE] = answer_none,	    [INTENT_TIME] = answer_time,
	[INTENT_DATE] = answer_date,	    [INTENT_SUM] = answer_sum,
	[INTENT_DICE] = answer_dice,	    [INTENT_JOKE] = answer_joke,
	[INTENT_WHO] = answer_who,	    [INTENT_CAN] = answer_can,
	[INTENT_AGAIN] = answer_again,	    [INTENT_REMEMBER] = answer_remember,
	[INTENT_RECALL] = answer_recall,    [INTENT_GREET] = answer_greet,
	[INTENT_FORGET] = answer_forget,    [INTENT_SAID] = answer_said,
	[INTENT_THANKS] = answer_thanks,    [INTENT_YES] = answer_yes,
	[INTENT_STOP] = answer_stop,	    [INTENT_BYE] = answer_bye,
	[INTENT_PLAY] = answer_music,	    [INTENT_PLAYING] = answer_playing,
	[INTENT_LOUDER] = answer_music,	    [INTENT_SOFTER] = answer_music,
	[INTENT_QUEUE] = answer_music,	    [INTENT_PAUSE] = answer_music,
	[INTENT_RESUME] = answer_music,	    [INTENT_SKIP] = answer_music,
	[INTENT_STOP_MUSIC] = answer_music, [INTENT_CHOICE] = answer_choice,
};

/* ---- tools ---- */

static bool call_roll(const struct ask *a, struct brain_call *out)
{
	unsigned n, sides;

	read_dice(a, &n, &sides);
	snprintf(out->arguments, sizeof out->arguments, "{\"count\":%u,\"sides\":%u}", n, sides);
	return true;
}

static bool call_search(const struct ask *a, struct brain_call *out)
{
	char person[WORD_SIZE * 4], topic[WORD_SIZE * 4];

	captured_text(a, SLOT_PERSON, person, sizeof person);
	captured_text(a, SLOT_TOPIC, topic, sizeof topic);
	/* Tokens have no marks that JSON would have to escape. */
	snprintf(out->arguments, sizeof out->arguments,
		 "{\"speaker\":\"%s\",\"query\":\"%s\",\"top_k\":3}", person, topic);
	return true;
}

static bool call_write(const struct ask *a, struct brain_call *out)
{
	char fact[FACT_SIZE];

	captured_text(a, captured(a, SLOT_STATED) ? SLOT_STATED : SLOT_FACT, fact, sizeof fact);
	snprintf(out->arguments, sizeof out->arguments, "{\"items\":[{\"text\":\"%s\"}]}", fact);
	return true;
}

/* Recalls the subject that a question names, or else the newest facts. */
static bool call_recall(const struct ask *a, struct brain_call *out)
{
	bool named = captured(a, SLOT_MINE) || captured(a, SLOT_ABOUT);
	char question[300], about[WORD_SIZE * 4];

	words_join(&a->r->words, 0, a->r->words.n, question, sizeof question);
	captured_text(a, SLOT_ABOUT, about, sizeof about);
	if (named && strcmp(about, "me") != 0)
		snprintf(out->arguments, sizeof out->arguments, "{\"query\":\"%s\",\"top_k\":1}",
			 question);
	else
		snprintf(out->arguments, sizeof out->arguments,
			 "{\"query\":\"\",\"about_speaker\":true,\"top_k\":5}");
	return true;
}

static bool call_forget(const struct ask *a, struct brain_call *out)
{
	char about[WORD_SIZE * 4];

	captured_text(a, SLOT_ABOUT, about, sizeof about);
	if (*about)
		snprintf(out->arguments, sizeof out->arguments, "{\"query\":\"%s\"}", about);
	else
		snprintf(out->arguments, sizeof out->arguments, "{\"last\":true}");
	return true;
}

/* "Some music" names none: then music that waits goes on. */
static bool call_play(const struct ask *a, struct brain_call *out)
{
	char title[WORD_SIZE * 6];
	const char *words = title;

	captured_text(a, SLOT_TITLE, title, sizeof title);
	if (strncmp(words, "some ", 5) == 0)
		words += 5;
	if (strcmp(words, "music") == 0)
		snprintf(out->arguments, sizeof out->arguments, "{}");
	else
		snprintf(out->arguments, sizeof out->arguments, "{\"query\":\"%s\"}", words);
	return true;
}

static bool call_volume(const struct ask *a, struct brain_call *out)
{
	snprintf(out->arguments, sizeof out->arguments, "{\"volume\":\"%s\"}",
		 a->r->intent == INTENT_LOUDER ? "up" : "down");
	return true;
}

static bool call_plainly(const struct ask *a, struct brain_call *out)
{
	(void)a;
	snprintf(out->arguments, sizeof out->arguments, "{}");
	return true;
}

static const struct {
	enum intent intent;
	const char *tool;
	bool (*call)(const struct ask *a, struct brain_call *out);
} tools[] = {{INTENT_DICE, "roll", call_roll},
	     {INTENT_SAID, "conversation_search", call_search},
	     {INTENT_REMEMBER, "memory_write", call_write},
	     {INTENT_RECALL, "memory_search", call_recall},
	     {INTENT_FORGET, "memory_forget", call_forget},
	     {INTENT_PLAY, "music_play", call_play},
	     {INTENT_QUEUE, "music_queue_add", call_play},
	     {INTENT_LOUDER, "music_change", call_volume},
	     {INTENT_SOFTER, "music_change", call_volume},
	     {INTENT_PLAYING, "music_now_playing", call_plainly},
	     {INTENT_PAUSE, "music_pause", call_plainly},
	     {INTENT_RESUME, "music_resume", call_plainly},
	     {INTENT_SKIP, "music_skip", call_plainly},
	     {INTENT_STOP_MUSIC, "media_stop", call_plainly}};

/* ---- what control puts around words ---- */

/* The words that an operator has it say (the test holds the form against control/prompts). What a
 * person says or writes has their name before it, so it cannot pass for an order, whatever it
 * repeats. False: it is another text. */
static bool read_order(const char *text, char *words, size_t size)
{
	static const char form[] = "(The person who runs you has you say this to the room now. Say "
				   "exactly these words and no others: ";
	const char *own = text + strspn(text, " ");
	size_t n = strlen(own);

	if (n < sizeof form || strncmp(own, form, sizeof form - 1) != 0 || own[n - 1] != ')')
		return false;
	snprintf(words, size, "%.*s", (int)(n - sizeof form), own + sizeof form - 1);
	return true;
}

/* "[Name]: words" of what somebody wrote and wants answered by voice; by that name they would be
 * theirs whom a person names in such a form. False: it is another text. */
static bool read_written(const char *text, char *line, size_t size)
{
	static const char form[] = " wrote this to you and wants the answer by voice: ";
	const char *own = text + strspn(text, " "), *at = *own == '(' ? strstr(own, form) : NULL;
	const char *words = at ? at + sizeof form - 1 : NULL;
	const char *end = words ? strstr(words, "\nAnswer it ") : NULL;

	if (!end)
		return false;
	snprintf(line, size, "[%.*s]: %.*s", (int)(at - own) - 1, own + 1, (int)(end - words),
		 words);
	return true;
}

bool brain_wants_tool(struct brain *b, const char *text, brain_tool_h *known, void *arg,
		      struct brain_call *out)
{
	struct reading r;
	const struct ask a = {.b = b, .r = &r};
	char line[BRAIN_ANSWER_SIZE];

	if (read_order(text, line, sizeof line))
		return false;
	if (read_written(text, line, sizeof line))
		text = line;
	if (strchr(text, '\n') || rules_read(b->rules, text, &r))
		return false;
	for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
		if (tools[i].intent != r.intent || !known(tools[i].tool, arg))
			continue;
		snprintf(out->tool, sizeof out->tool, "%s", tools[i].tool);
		return tools[i].call(&a, out);
	}
	return false;
}

bool brain_hears_yes(const struct brain *b, const char *text)
{
	struct reading r;

	return !rules_read(b->rules, text, &r) && r.intent == INTENT_YES;
}

void brain_said(struct brain *b, const char *text)
{
	snprintf(b->last, sizeof b->last, "%s", text);
}

int brain_alloc(struct brain **out, const struct rules *rules)
{
	struct brain *b = calloc(1, sizeof *b);

	if (!b)
		return ENOMEM;
	b->rules = rules;
	*out = b;
	return 0;
}

struct brain *brain_free(struct brain *b)
{
	free(b);
	return NULL;
}

static int answer_line(struct brain *b, const char *text, const struct brain_moment *now, char *buf,
		       size_t size, enum intent *intent)
{
	struct reading r;
	struct ask a = {
		.b = b, .now = now, .r = &r, .random = now->random, .buf = buf, .size = size};
	int err = rules_read(b->rules, text, &r);

	buf[0] = '\0';
	if (err)
		return err;
	answers[r.intent](&a);
	if (r.intent != INTENT_NONE)
		snprintf(b->last, sizeof b->last, "%s", buf);
	*intent = r.intent;
	return 0;
}

static int answer_lines(struct brain *b, const char *text, const struct brain_moment *now,
			char *buf, size_t size, enum intent *intent)
{
	char line[BRAIN_ANSWER_SIZE], one[BRAIN_ANSWER_SIZE];
	struct brain_moment moment = *now;
	enum intent of = INTENT_NONE;
	size_t n = 0;
	int err;

	if (!strchr(text, '\n'))
		return answer_line(b, text, now, buf, size, intent);
	*intent = INTENT_NONE;
	buf[0] = '\0';
	for (; *text; text += strspn(text, "\n")) {
		size_t len = strcspn(text, "\n");

		snprintf(line, sizeof line, "%.*s", (int)len, text);
		text += len;
		err = answer_line(b, line, &moment, one, sizeof one, &of);
		if (err)
			return err;
		moment.random += UINT64_C(0x9e3779b97f4a7c15);
		/* It says that it did not understand only when it understood no line. */
		if (n && of == INTENT_NONE)
			continue;
		if (*intent == INTENT_NONE)
			n = 0;
		*intent = of;
		n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? " " : "", one);
		if (n >= size)
			n = size - 1;
	}
	return 0;
}

int brain_answer(struct brain *b, const char *text, const struct brain_moment *now, char *buf,
		 size_t size, enum intent *intent)
{
	char line[BRAIN_ANSWER_SIZE];

	if (read_order(text, buf, size)) {
		*intent = INTENT_AGAIN;
		return 0;
	}
	return answer_lines(b, read_written(text, line, sizeof line) ? line : text, now, buf, size,
			    intent);
}

bool brain_room_parse(struct brain_room *room, const char *text)
{
	static const char key[] = "people in the room:";
	const char *p = strcasestr(text, key);

	if (!p)
		return false;
	room->n = 0;
	for (p += sizeof key - 1; room->n < ROOM_MAX;) {
		size_t n, keep;

		p += strspn(p, " \t");
		n = strcspn(p, ",\r\n");
		for (keep = n; keep && (p[keep - 1] == ' ' || p[keep - 1] == '.'); keep--)
			;
		if (keep)
			snprintf(room->name[room->n++], ROOM_NAME_SIZE, "%.*s",
				 (int)(keep < 63 ? keep : 63), p);
		if (p[n] != ',')
			return true;
		p += n + 1;
	}
	return true;
}
