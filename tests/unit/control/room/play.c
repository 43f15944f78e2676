#include "play.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/room/room.h"
#include "control/settings/settings.h"

#define MS    1000000ull
#define START (1000 * MS) /* the room's clock does not begin at zero */

enum { PEOPLE = 8, EVENTS = 4096, TRACE = 4096, LINE = 512, FRAME_MS = 20, FRAME = 480 };
enum { SPEAKING_OFF_MS = 100, PLAYBACK_MS = 40, TAIL_MS = 90000 };

struct person {
	char name[32];
	bool here, speaking, told;
	int amp;
	uint64_t packet_at;
	char words[LINE]; /* said and not yet in a transcript */
};

enum what { W_FRAME, W_OFF, W_END, W_WORDS, W_NO_WORDS, W_STARTED, W_LEFT_ALL, W_STOPPED };

struct pending {
	uint64_t at;
	enum what what;
	unsigned who; /* person */
	uint32_t id;  /* utterance, turn */
	uint64_t samples;
	char text[LINE];
};

struct entry {
	uint64_t at;
	char text[LINE];
};

struct play {
	struct settings *settings;
	struct room *room;
	struct room_effects *fx;
	uint64_t now;
	struct person person[PEOPLE];
	unsigned people;
	struct pending *pending;
	unsigned n_pending;
	struct entry *trace;
	unsigned n_trace;
	/* the world */
	unsigned asr_ms;
	bool asr_fails;
	uint32_t asked;
	struct {
		uint32_t turn;
		uint64_t written, started_at;
		bool open, ended, over;
	} say;
	char *why;
	size_t why_size;
	bool failed;
};

static void run_to(struct play *p, uint64_t until);

__attribute__((format(printf, 2, 3))) static void note(struct play *p, const char *fmt, ...)
{
	va_list ap;

	if (p->n_trace == TRACE)
		return;
	p->trace[p->n_trace].at = p->now;
	va_start(ap, fmt);
	vsnprintf(p->trace[p->n_trace].text, LINE, fmt, ap);
	va_end(ap);
	p->n_trace++;
}

static struct pending *later(struct play *p, uint64_t ms, enum what what, unsigned who)
{
	struct pending *e;

	if (p->n_pending == EVENTS)
		abort();
	e = &p->pending[p->n_pending++];
	*e = (struct pending){.at = p->now + ms * MS, .what = what, .who = who};
	return e;
}

static void forget(struct play *p, enum what what, unsigned who)
{
	unsigned k = 0;

	for (unsigned i = 0; i < p->n_pending; i++)
		if (p->pending[i].what != what || p->pending[i].who != who)
			p->pending[k++] = p->pending[i];
	p->n_pending = k;
}

static struct person *person(struct play *p, uint64_t user)
{
	return &p->person[user - 1];
}

/* The next part of what was said, up to a `/`. */
static void take_words(struct person *who, char *to)
{
	char *cut = strchr(who->words, '/');
	size_t n = cut ? (size_t)(cut - who->words) : strlen(who->words);

	memcpy(to, who->words, n);
	to[n] = '\0';
	memmove(who->words, who->words + n + (cut != NULL),
		strlen(who->words + n + (cut != NULL)) + 1);
}

static uint64_t played(const struct play *p)
{
	uint64_t n;

	if (!p->say.started_at)
		return 0;
	n = (p->now - p->say.started_at) * ROOM_RATE / 1000000000;
	return n < p->say.written ? n : p->say.written;
}

static void playback_plan(struct play *p)
{
	uint64_t ms, gone;

	forget(p, W_LEFT_ALL, 0);
	if (!p->say.ended || !p->say.started_at || p->say.over)
		return;
	ms = p->say.written * 1000 / ROOM_RATE;
	gone = (p->now - p->say.started_at) / MS;
	later(p, ms > gone ? ms - gone : 0, W_LEFT_ALL, 0)->id = p->say.turn;
}

static void perform_say(struct play *p, const struct room_effect *e)
{
	switch (e->type) {
	case ROOM_DO_SAY_PCM:
		if (p->say.turn != e->turn) {
			memset(&p->say, 0, sizeof p->say);
			p->say.turn = e->turn;
		}
		p->say.written += e->pcm.n / 2;
		break;
	case ROOM_DO_SAY_OPEN:
		note(p, "playback opened");
		p->say.open = true;
		later(p, PLAYBACK_MS, W_STARTED, 0)->id = e->turn;
		break;
	case ROOM_DO_SAY_END:
		note(p, "playback ending");
		p->say.ended = true;
		break;
	default:
		if (!p->say.open || p->say.over)
			break;
		note(p, "playback stopping");
		p->say.over = true;
		forget(p, W_LEFT_ALL, 0);
		forget(p, W_STARTED, 0);
		later(p, e->ms, W_STOPPED, 0)->id = e->turn;
		return;
	}
	playback_plan(p);
}

static void perform_asr(struct play *p, const struct room_effect *e)
{
	struct person *who = person(p, e->user);
	struct pending *words;

	switch (e->type) {
	case ROOM_DO_ASR_START:
		note(p, "asr %s started", who->name);
		break;
	case ROOM_DO_ASR_COMMIT:
		note(p, "asr %s committed", who->name);
		words = later(p, p->asr_ms, p->asr_fails ? W_NO_WORDS : W_WORDS,
			      (unsigned)e->user - 1);
		words->id = e->utterance;
		take_words(who, words->text);
		break;
	case ROOM_DO_ASR_CANCEL:
		note(p, "asr %s cancelled", who->name);
		who->words[0] = '\0';
		break;
	case ROOM_DO_ASR_CLOSE:
		note(p, "asr %s closed", who->name);
		break;
	default:
		break;
	}
}

static void perform_record(struct play *p, const struct room_turn *t)
{
	note(p, "turn %s ended %s", t->name, room_reason_name(t->reason));
	if (*t->said)
		note(p, "said \"%s\"", t->said);
	if (p->asked == t->id)
		p->asked = 0;
}

static void perform(struct play *p, const struct room_effect *e)
{
	switch (e->type) {
	case ROOM_DO_LISTEN:
		note(p, "listen %s", person(p, e->user)->name);
		break;
	case ROOM_DO_UNLISTEN:
		note(p, "unlisten %s", person(p, e->user)->name);
		break;
	case ROOM_DO_INSTRUCT:
		note(p, "instructions \"%s\"", strstr(e->text, "people"));
		break;
	case ROOM_DO_ASK:
		note(p, "brain asked \"%s\"", e->text);
		p->asked = e->turn;
		break;
	case ROOM_DO_BRAIN_CANCEL:
		note(p, "brain cancelled");
		p->asked = 0;
		break;
	case ROOM_DO_BRAIN_TRUNCATE:
		note(p, "brain truncated at %u", e->ms);
		break;
	case ROOM_DO_TELL:
		note(p, "told \"%s\"", e->text);
		break;
	case ROOM_DO_ADMIT:
		note(p, "turn %s admitted %s", e->record->name, e->text);
		break;
	case ROOM_DO_RECORD:
		perform_record(p, e->record);
		break;
	case ROOM_DO_SAY_PCM:
	case ROOM_DO_SAY_OPEN:
	case ROOM_DO_SAY_END:
	case ROOM_DO_SAY_STOP:
		perform_say(p, e);
		break;
	default:
		perform_asr(p, e);
	}
}

static void feed(struct play *p, const struct room_event *ev)
{
	room_step(p->room, ev, p->now, p->fx);
	for (size_t i = 0; i < p->fx->n; i++)
		perform(p, &p->fx->v[i]);
}

static void frame(struct play *p, unsigned who)
{
	struct person *x = &p->person[who];
	uint8_t pcm[FRAME * 2];

	for (unsigned i = 0; i < FRAME; i++) {
		int16_t v = (int16_t)(i / 8 % 2 ? x->amp : -x->amp);

		pcm[2 * i] = (uint8_t)(v & 0xff);
		pcm[2 * i + 1] = (uint8_t)((uint16_t)v >> 8);
	}
	x->packet_at = p->now;
	feed(p,
	     &(struct room_event){
		     .type = ROOM_HEARD, .user = who + 1, .at = p->now, .pcm = {pcm, sizeof pcm}});
	later(p, FRAME_MS, W_FRAME, who);
}

static void happen(struct play *p, const struct pending *e)
{
	struct room_event ev = {.user = e->who + 1, .turn = e->id, .utterance = e->id};

	switch (e->what) {
	case W_FRAME:
		frame(p, e->who);
		return;
	case W_OFF:
		ev.type = ROOM_SPEAKING;
		ev.at = p->person[e->who].packet_at;
		p->person[e->who].told = false;
		break;
	case W_END:
		ev.type = ROOM_HEARD_END;
		ev.at = p->person[e->who].packet_at;
		break;
	case W_WORDS:
		ev.type = ROOM_TRANSCRIPT;
		ev.text = (struct slice){(const uint8_t *)e->text, strlen(e->text)};
		break;
	case W_NO_WORDS:
		ev.type = ROOM_TRANSCRIPT_FAILED;
		break;
	case W_STARTED:
		ev.type = ROOM_SAY_STARTED;
		ev.at = p->now;
		p->say.started_at = p->now;
		note(p, "playback started");
		playback_plan(p);
		break;
	case W_LEFT_ALL:
	case W_STOPPED:
		ev.type = e->what == W_STOPPED ? ROOM_SAY_STOPPED : ROOM_SAY_DRAINED;
		ev.samples = played(p);
		p->say.over = true;
		note(p, e->what == W_STOPPED ? "playback stopped" : "playback drained");
		break;
	}
	feed(p, &ev);
}

/* All that is due until then, in the order of its time. */
static void run_to(struct play *p, uint64_t until)
{
	for (;;) {
		uint64_t at = room_deadline(p->room);
		unsigned next = EVENTS;

		for (unsigned i = 0; i < p->n_pending; i++)
			if (p->pending[i].at < at || (next == EVENTS && p->pending[i].at == at)) {
				at = p->pending[i].at;
				next = i;
			}
		if (at > until || at == UINT64_MAX)
			break;
		if (at > p->now)
			p->now = at;
		if (next == EVENTS) {
			feed(p, &(struct room_event){.type = ROOM_TIMER});
		} else {
			struct pending e = p->pending[next];

			p->n_pending--;
			memmove(&p->pending[next], &p->pending[next + 1],
				(p->n_pending - next) * sizeof e);
			happen(p, &e);
		}
	}
	p->now = until;
}

/* ---- the script ---- */

__attribute__((format(printf, 2, 3))) static void fail(struct play *p, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	if (p->failed)
		return;
	p->failed = true;
	va_start(ap, fmt);
	vsnprintf(p->why, p->why_size, fmt, ap);
	va_end(ap);
	n = strlen(p->why);
	for (unsigned i = 0; i < p->n_trace && n < p->why_size; i++)
		n += (size_t)snprintf(p->why + n, p->why_size - n, "\n  %6llu  %s",
				      (unsigned long long)((p->trace[i].at - START) / MS),
				      p->trace[i].text);
}

static struct person *find(struct play *p, const char *name)
{
	for (unsigned i = 0; i < p->people; i++)
		if (strcmp(p->person[i].name, name) == 0)
			return &p->person[i];
	return NULL;
}

static void member(struct play *p, const char *name, bool bot, bool here)
{
	struct person *x = find(p, name);

	if (!x && p->people < PEOPLE) {
		x = &p->person[p->people++];
		snprintf(x->name, sizeof x->name, "%s", name);
	}
	if (!x) {
		fail(p, "too many people");
		return;
	}
	x->here = here;
	feed(p, &(struct room_event){.type = ROOM_MEMBER,
				     .user = (uint64_t)(x - p->person) + 1,
				     .yes = here,
				     .is_bot = bot,
				     .text = {(const uint8_t *)x->name, strlen(x->name)}});
}

static void speaks(struct play *p, struct person *x, const char *words, bool quietly)
{
	unsigned who = (unsigned)(x - p->person);
	size_t said;

	x->amp = quietly ? 100 : 6000;
	said = strlen(x->words);
	snprintf(x->words + said, LINE - said, "%s%s", said && *words ? " " : "", words);
	forget(p, W_OFF, who);
	forget(p, W_END, who);
	if (!x->told)
		feed(p, &(struct room_event){
				.type = ROOM_SPEAKING, .user = who + 1, .yes = true, .at = p->now});
	x->told = true;
	frame(p, who);
}

static void stops(struct play *p, struct person *x)
{
	unsigned who = (unsigned)(x - p->person);

	forget(p, W_FRAME, who);
	later(p, SPEAKING_OFF_MS, W_OFF, who);
	later(p, p->settings->silence_ms, W_END, who);
}

static void brain_audio(struct play *p, uint32_t turn, unsigned ms)
{
	static uint8_t silence[FRAME * 2];

	for (; ms >= FRAME_MS; ms -= FRAME_MS)
		feed(p, &(struct room_event){.type = ROOM_BRAIN_AUDIO,
					     .turn = turn,
					     .pcm = {silence, sizeof silence}});
}

static void brain(struct play *p, const char *verb, const char *words, unsigned ms)
{
	uint32_t turn = p->asked;
	struct room_event ev = {.turn = turn};

	if (!turn) {
		fail(p, "the brain was not asked and cannot say anything");
		return;
	}
	if (strcmp(verb, "says") == 0 || strcmp(verb, "starts") == 0) {
		ev.type = ROOM_BRAIN_TEXT;
		ev.text = (struct slice){(const uint8_t *)words, strlen(words)};
		feed(p, &ev);
		brain_audio(p, turn, ms ? ms : (unsigned)strlen(words) * 60);
	}
	if (strcmp(verb, "starts") == 0)
		return;
	ev = (struct room_event){.turn = turn, .type = ROOM_BRAIN_DONE};
	if (strcmp(verb, "fails") == 0)
		ev.type = ROOM_BRAIN_FAILED;
	feed(p, &ev);
}

static void world(struct play *p, const char *one, const char *two, unsigned ms)
{
	if (strcmp(one, "transcripts") == 0 && strcmp(two, "take") == 0) {
		p->asr_ms = ms;
	} else if (strcmp(one, "transcripts") == 0 && strcmp(two, "fail") == 0) {
		p->asr_fails = true;
	} else if (strcmp(one, "playback") == 0) {
		p->say.over = true;
		forget(p, W_LEFT_ALL, 0);
		forget(p, W_STARTED, 0);
		later(p, 0, W_STOPPED, 0)->id = p->say.turn;
	} else if (strcmp(one, "call") == 0) {
		feed(p, &(struct room_event){.type = ROOM_CALL, .yes = strcmp(two, "up") == 0});
	} else if (strcmp(one, "mute") == 0 || strcmp(one, "unmute") == 0) {
		feed(p, &(struct room_event){.type = ROOM_MUTE, .yes = one[0] == 'm'});
	} else {
		fail(p, "not an action: %s %s", one, two);
	}
}

/* Splits off "quoted words" and a number after `for`, `take` or `within`. */
static void action(struct play *p, char *line)
{
	char one[64] = "", two[64] = "", three[64] = "", words[LINE] = "";
	char *open = strchr(line, '"'), *close = open ? strrchr(line, '"') : NULL, *number;
	unsigned ms = 0;
	struct person *x;

	number = strstr(close ? close : line, close ? "for " : "take ");
	if (number)
		ms = (unsigned)strtoul(strchr(number, ' '), NULL, 10);
	if (close > open)
		snprintf(words, sizeof words, "%.*s", (int)(close - open - 1), open + 1);
	sscanf(line, "%63s %63s %63s", one, two, three);
	x = find(p, one);
	if (strcmp(one, "join") == 0)
		member(p, two, false, true);
	else if (strcmp(one, "bot") == 0)
		member(p, two, true, true);
	else if (strcmp(one, "brain") == 0)
		brain(p, two, words, ms);
	else if (x && strcmp(two, "speaks") == 0)
		speaks(p, x, words, close && strstr(close, "quietly"));
	else if (x && strcmp(two, "stops") == 0)
		stops(p, x);
	else if (x && strcmp(two, "leaves") == 0) {
		forget(p, W_FRAME, (unsigned)(x - p->person));
		member(p, one, false, false);
	} else
		world(p, one, two, ms);
}

struct expectation {
	unsigned line;
	uint64_t from, within;
	bool no, chained;
	char what[LINE];
};

static void expectation(struct expectation *e, const char *text, unsigned line, uint64_t from,
			bool chained)
{
	char *within;

	*e = (struct expectation){
		.line = line, .from = from, .within = 3000 * MS, .chained = chained};
	e->no = strncmp(text, "no ", 3) == 0;
	snprintf(e->what, sizeof e->what, "%s", text + (e->no ? 3 : 0));
	within = strstr(e->what, " within ");
	if (within) {
		e->within = strtoul(within + 8, NULL, 10) * MS;
		*within = '\0';
	}
}

/* The first line of the trace in the window that holds the words, or NULL. */
static const struct entry *look(const struct play *p, const struct expectation *e, uint64_t from)
{
	for (unsigned i = 0; i < p->n_trace; i++)
		if (p->trace[i].at >= from && p->trace[i].at <= from + e->within &&
		    strstr(p->trace[i].text, e->what))
			return &p->trace[i];
	return NULL;
}

static void judge(struct play *p, const struct expectation *e, unsigned n)
{
	uint64_t met = 0;

	for (unsigned i = 0; i < n && !p->failed; i++) {
		uint64_t from = e[i].chained && met > e[i].from ? met : e[i].from;
		const struct entry *found = look(p, &e[i], from);

		if (e[i].no && found)
			fail(p, "line %u: \"%s\" was not to be, but came at %llu ms", e[i].line,
			     e[i].what, (unsigned long long)((found->at - START) / MS));
		if (!e[i].no && !found)
			fail(p, "line %u: \"%s\" did not come between %llu and %llu ms", e[i].line,
			     e[i].what, (unsigned long long)((from - START) / MS),
			     (unsigned long long)((from + e[i].within - START) / MS));
		if (!e[i].no && found)
			met = found->at;
	}
}

static void begin(struct play *p)
{
	if (room_alloc(&p->room, p->settings, "Parley")) {
		fail(p, "no room");
		return;
	}
	feed(p, &(struct room_event){.type = ROOM_CALL, .yes = true});
}

static void play_line(struct play *p, char *line, unsigned number, struct expectation *e,
		      unsigned *n, unsigned max)
{
	char *end, name[64], value[256];
	uint64_t at;

	line += strspn(line, " \t");
	if (!*line || *line == '#')
		return;
	if (sscanf(line, "set %63s %255[^\n]", name, value) == 2) {
		if (p->room || settings_set(p->settings, name, value))
			fail(p, "line %u: cannot set %s", number, name);
		return;
	}
	if (!p->room)
		begin(p);
	if (strncmp(line, "expect ", 7) == 0 && *n < max) {
		expectation(&e[*n], line + 7, number, p->now, *n && e[*n - 1].from == p->now);
		(*n)++;
		return;
	}
	at = START + strtoull(line, &end, 10) * MS;
	if (end == line || at < p->now) {
		fail(p, "line %u: no time, or a time that goes back", number);
		return;
	}
	run_to(p, at);
	action(p, end + strspn(end, " \t"));
}

bool play_text(const char *text, char *why, size_t size)
{
	static struct expectation e[256];
	struct play p = {.why = why, .why_size = size, .now = START, .asr_ms = 150};
	char *copy = strdup(text);
	unsigned n = 0, number = 0;

	p.fx = calloc(1, sizeof *p.fx);
	p.pending = calloc(EVENTS, sizeof *p.pending);
	p.trace = calloc(TRACE, sizeof *p.trace);
	if (!copy || !p.fx || !p.pending || !p.trace || settings_alloc(&p.settings))
		abort();
	/* Scenarios are of the room with a provider unless they say otherwise. */
	settings_set(p.settings, "guest", "off");
	for (char *at = copy; at && !p.failed;) {
		char *line = strsep(&at, "\n");

		play_line(&p, line, ++number, e, &n, 256);
	}
	if (p.room && !p.failed)
		run_to(&p, p.now + TAIL_MS * MS);
	judge(&p, e, n);
	if (!p.failed && n == 0)
		fail(&p, "nothing was expected");
	room_free(p.room);
	settings_free(p.settings);
	free(p.trace);
	free(p.pending);
	free(p.fx);
	free(copy);
	return !p.failed;
}

bool play_file(const char *path, char *why, size_t size)
{
	FILE *f = fopen(path, "r");
	char text[16384];
	size_t n;

	if (!f) {
		snprintf(why, size, "cannot be read");
		return false;
	}
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	return play_text(text, why, size);
}
