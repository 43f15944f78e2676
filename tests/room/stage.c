#include "tests/room/stage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum {
	STUCK = 1000,
	SPEAKING_OFF_MS = 100,
	PLAYBACK_MS = 40,
	VOICE_MS = 100,
	SOUND_MS = 500,
	LETTER_MS = 60,
	WORD_MS = 300,
	LEVELS = 8,
	TEXT = 2400
};

struct person {
	char name[32];
	bool here, bot, told;
	unsigned amp;
	uint64_t packet_at, began_at;
	unsigned lasts;		       /* of the speech that goes on, 0 = not known */
	uint32_t utterance, committed; /* the newest */
	char words[STAGE_WORDS];
	stage_fill fill; /* of an open microphone */
	void *fill_arg;
	unsigned frames; /* of speech over it */
};

enum what {
	W_FRAME,
	W_OFF,
	W_END,
	W_STOP,
	W_PARTIAL,
	W_INTERIM,
	W_WORDS,
	W_NO_WORDS,
	W_ANSWER,
	W_STARTED,
	W_DRAINED,
	W_STOPPED,
	W_INSTRUCTED,
	W_SPOKEN, /* who: the chunk */
	W_SOUNDED
};

struct pending {
	uint64_t at;
	enum what what;
	unsigned who; /* person */
	uint32_t id;  /* utterance, turn */
	char *text;
};

/* The part of an answer that was given to mediad, and its playback position. */
struct playback {
	uint32_t turn;
	uint64_t written, started_at;
	uint64_t paused_at, silent; /* ns: since when, 0 = not; in all pauses before */
	bool open, ended, over;
};

struct stage {
	struct stage_conf conf;
	struct room *room;
	struct room_effects *fx;
	uint64_t now;
	struct person person[STAGE_PEOPLE];
	unsigned people;
	struct pending *pending;
	unsigned n_pending;
	struct stage_note *note;
	size_t n_notes, note_cap;
	struct {
		unsigned amp;
		uint8_t pcm[STAGE_FRAME * 2];
	} level[LEVELS];
	unsigned levels;
	unsigned asr_ms, partial_ms;
	bool asr_fails, asr_manual, playback_manual;
	uint32_t asked, newest_turn;
	struct {
		char *text;
		unsigned ms, after;
	} answer;
	struct playback say;
};

static void *must(void *p)
{
	if (!p)
		abort(); /* tests only */
	return p;
}

/* ---- notes ---- */

static struct stage_note *note_new(struct stage *s, int effect)
{
	struct stage_note *n;

	if (!s->conf.notes || s->n_notes == STAGE_NOTES)
		return NULL;
	if (s->n_notes == s->note_cap) {
		s->note_cap = s->note_cap ? 2 * s->note_cap : 256;
		s->note = must(realloc(s->note, s->note_cap * sizeof *s->note));
	}
	n = &s->note[s->n_notes++];
	*n = (struct stage_note){.at = s->now, .effect = effect};
	return n;
}

__attribute__((format(printf, 3, 4))) static void note(struct stage *s, int effect, const char *fmt,
						       ...)
{
	struct stage_note *n = note_new(s, effect);
	char text[TEXT];
	va_list ap;

	if (!n)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	/* A note is one line. */
	for (char *p = strchr(text, '\n'); p; p = strchr(p, '\n'))
		*p = ' ';
	n->text = must(strdup(text));
}

static const char *name_of(const struct stage *s, uint64_t user)
{
	return user && user <= s->people ? s->person[user - 1].name : "nobody";
}

static const char *turn_name(struct stage *s, uint32_t turn)
{
	static char name[ROOM_NAME_MAX];
	char why[4096], *end;

	name[0] = '\0';
	if (room_why(s->room, turn, why, sizeof why) == 0 && (end = strchr(why, ':'))) {
		*end = '\0';
		snprintf(name, sizeof name, "%s",
			 strstr(why, " of ") ? strstr(why, " of ") + 4 : "");
	}
	return name;
}

/* "NAME [WHO] [MS] [TEXT]" for any effect. */
static char *plain(struct stage *s, const struct room_effect *e)
{
	static const char *const names[] = {
#define X(NAME, name, text) #name,
		ROOM_EFFECT_ROWS(X)
#undef X
	};
	char buf[TEXT];
	size_t n = (size_t)snprintf(buf, sizeof buf, "%s", names[e->type]);

	if (e->user)
		n += (size_t)snprintf(buf + n, sizeof buf - n, " %s", name_of(s, e->user));
	else if (e->record)
		n += (size_t)snprintf(buf + n, sizeof buf - n, " %s", e->record->name);
	else if (e->turn && *turn_name(s, e->turn))
		n += (size_t)snprintf(buf + n, sizeof buf - n, " %s", turn_name(s, e->turn));
	if (e->ms)
		n += (size_t)snprintf(buf + n, sizeof buf - n, " %u", e->ms);
	if (e->text)
		snprintf(buf + n, sizeof buf - n, " \"%s\"", e->text);
	return must(strdup(buf));
}

static void note_record(struct stage *s, const struct room_turn *t)
{
	int e = ROOM_DO_RECORD;

	for (unsigned i = 0; i < t->decisions && i < ROOM_CHAIN; i++)
		note(s, e, "turn %s rule %s %s %lld %lld", t->name,
		     room_rule_name(t->decision[i].rule), t->decision[i].yes ? "yes" : "no",
		     (long long)t->decision[i].value, (long long)t->decision[i].limit);
	note(s, e, "turn %s ended %s", t->name, room_reason_name(t->reason));
	if (*t->transcript)
		note(s, e, "heard \"%s\"", t->transcript);
	if (*t->answer)
		note(s, e, "said \"%s\"", t->answer);
}

/* In the words of docs/scenarios.md. */
static void note_effect(struct stage *s, const struct room_effect *e)
{
	const char *who = name_of(s, e->user);
	size_t before = s->n_notes;

	switch ((int)e->type) {
	case ROOM_DO_LISTEN:
		note(s, (int)e->type, "listen %s", who);
		break;
	case ROOM_DO_UNLISTEN:
		note(s, (int)e->type, "unlisten %s", who);
		break;
	case ROOM_DO_ASR_START:
		note(s, (int)e->type, "asr %s started", who);
		break;
	case ROOM_DO_ASR_COMMIT:
		note(s, (int)e->type, "asr %s committed", who);
		break;
	case ROOM_DO_ASR_INTERIM:
		note(s, (int)e->type, "asr %s interim", who);
		break;
	case ROOM_DO_ASR_CANCEL:
		note(s, (int)e->type, "asr %s cancelled", who);
		break;
	case ROOM_DO_ASR_CLOSE:
		note(s, (int)e->type, "asr %s closed", who);
		break;
	case ROOM_DO_INSTRUCT:
		note(s, (int)e->type, "instructions \"%s\"", e->text);
		break;
	case ROOM_DO_ASK:
		note(s, (int)e->type, "brain asked \"%s\"", e->text);
		break;
	case ROOM_DO_BRAIN_CANCEL:
		note(s, (int)e->type, "brain cancelled");
		break;
	case ROOM_DO_BRAIN_TRUNCATE:
		note(s, (int)e->type, "brain truncated at %u", e->ms);
		break;
	case ROOM_DO_TELL:
		note(s, (int)e->type, "told \"%s\"", e->text);
		break;
	case ROOM_DO_ADMIT:
		note(s, (int)e->type, "turn %s admitted %s", e->record->name, e->text);
		break;
	case ROOM_DO_OVERHEARD:
		note(s, (int)e->type, "brain hears %s", e->record->name);
		break;
	case ROOM_DO_DEFER:
		note(s, (int)e->type, "turn %s deferred %s", e->record->name, e->text);
		break;
	case ROOM_DO_RECORD:
		note_record(s, e->record);
		break;
	case ROOM_DO_SPEAK:
		note(s, (int)e->type, "speaks \"%s\"", e->text);
		break;
	case ROOM_DO_SOUNDBOARD:
		note(s, (int)e->type, "soundboard \"%s\"", e->text);
		break;
	case ROOM_DO_SAY_OPEN:
		note(s, (int)e->type, "playback opened");
		break;
	case ROOM_DO_SAY_END:
		note(s, (int)e->type, "playback ending");
		break;
	case ROOM_DO_SAY_STOP:
		note(s, (int)e->type, "cut %s", turn_name(s, e->turn));
		break;
	case ROOM_DO_SAY_PAUSE:
	case ROOM_DO_SAY_RESUME:
		note(s, (int)e->type, "playback %s",
		     e->type == ROOM_DO_SAY_PAUSE ? "pausing" : "resuming");
		break;
	default:
		note_new(s, (int)e->type);
		break;
	}
	if (s->n_notes > before && s->note[before].effect == (int)e->type)
		s->note[before].plain = plain(s, e);
}

/* ---- what is to come ---- */

static struct pending *later(struct stage *s, uint64_t ms, enum what what, unsigned who)
{
	struct pending *e;

	if (s->n_pending == STAGE_PENDING)
		abort();
	e = &s->pending[s->n_pending++];
	*e = (struct pending){.at = s->now + ms * NS_PER_MS, .what = what, .who = who};
	return e;
}

static void forget(struct stage *s, enum what what, unsigned who)
{
	unsigned k = 0;

	for (unsigned i = 0; i < s->n_pending; i++)
		if (s->pending[i].what != what || s->pending[i].who != who)
			s->pending[k++] = s->pending[i];
		else
			free(s->pending[i].text);
	s->n_pending = k;
}

/* The next part of what was said, up to a `/`. */
static char *take_words(struct person *x)
{
	char *cut = strchr(x->words, '/'), *out;
	size_t n = cut ? (size_t)(cut - x->words) : strlen(x->words);

	out = must(strndup(x->words, n));
	memmove(x->words, x->words + n + (cut != NULL), strlen(x->words + n + (cut != NULL)) + 1);
	return out;
}

/* ---- playback ---- */

/* How long sound has left for, without its pauses. */
static uint64_t playing_ns(const struct stage *s)
{
	uint64_t until = s->say.paused_at ? s->say.paused_at : s->now;

	return until - s->say.started_at - s->say.silent;
}

static uint64_t played(const struct stage *s)
{
	uint64_t n;

	if (!s->say.started_at)
		return 0;
	n = playing_ns(s) * ROOM_RATE / NS_PER_S;
	return n < s->say.written ? n : s->say.written;
}

static void playback_plan(struct stage *s)
{
	uint64_t ms, gone;

	forget(s, W_DRAINED, 0);
	if (!s->say.ended || !s->say.started_at || s->say.over || s->say.paused_at ||
	    s->playback_manual)
		return;
	ms = s->say.written * 1000 / ROOM_RATE;
	gone = playing_ns(s) / NS_PER_MS;
	later(s, ms > gone ? ms - gone : 0, W_DRAINED, 0)->id = s->say.turn;
}

static void perform_pause(struct stage *s, bool pause)
{
	struct playback *p = &s->say;

	if (!p->started_at || p->over || !p->paused_at != pause)
		return;
	if (!pause)
		p->silent += s->now - p->paused_at;
	p->paused_at = pause ? s->now : 0;
}

static void perform_say(struct stage *s, const struct room_effect *e)
{
	struct playback *p = &s->say;

	/* An answer with a sound in it has more than one playback. */
	if (e->type == ROOM_DO_SAY_PCM && (p->turn != e->turn || (p->over && p->ended)))
		*p = (struct playback){.turn = e->turn};
	if (p->turn != e->turn || p->over)
		return;
	switch ((int)e->type) {
	case ROOM_DO_SAY_PCM:
		p->written += e->pcm.n / 2;
		break;
	case ROOM_DO_SAY_OPEN:
		p->open = true;
		if (!s->playback_manual)
			later(s, PLAYBACK_MS, W_STARTED, 0)->id = e->turn;
		break;
	case ROOM_DO_SAY_END:
		p->ended = true;
		break;
	case ROOM_DO_SAY_PAUSE:
	case ROOM_DO_SAY_RESUME:
		perform_pause(s, e->type == ROOM_DO_SAY_PAUSE);
		break;
	default:
		if (!p->open || s->playback_manual)
			return;
		p->ended = false;
		forget(s, W_DRAINED, 0);
		forget(s, W_STARTED, 0);
		later(s, e->ms, W_STOPPED, 0)->id = e->turn;
		return;
	}
	playback_plan(s);
}

/* ---- speech-to-text ---- */

/* As much as was said by now. */
static size_t said_so_far(const struct stage *s, const struct person *x)
{
	uint64_t gone = (s->now - x->began_at) / NS_PER_MS;
	size_t len = strcspn(x->words, "/"), n = 0;

	if (x->lasts)
		return gone >= x->lasts ? len : len * gone / x->lasts;
	for (uint64_t words = gone / WORD_MS; n < len && words; words--) {
		n += x->words[n] == ' ';
		n += strcspn(x->words + n, " /");
	}
	return n;
}

static void perform_asr(struct stage *s, const struct room_effect *e)
{
	unsigned who = (unsigned)e->user - 1;
	struct person *x = &s->person[who];
	struct pending *words;

	switch ((int)e->type) {
	case ROOM_DO_ASR_START:
		x->utterance = e->utterance;
		break;
	case ROOM_DO_ASR_COMMIT:
		x->committed = e->utterance;
		forget(s, W_PARTIAL, who);
		if (s->asr_manual)
			break;
		words = later(s, s->asr_ms, s->asr_fails ? W_NO_WORDS : W_WORDS, who);
		words->id = e->utterance;
		words->text = take_words(x);
		break;
	case ROOM_DO_ASR_INTERIM:
		if (s->asr_manual || s->asr_fails)
			break;
		/* The last word may be half of one. */
		words = later(s, s->asr_ms, W_INTERIM, who);
		words->id = e->utterance;
		words->text = must(strndup(x->words, utf8_whole(x->words, said_so_far(s, x))));
		break;
	case ROOM_DO_ASR_CANCEL:
		if (e->utterance == x->utterance)
			x->words[0] = '\0';
		break;
	default:
		break;
	}
}

static void perform(struct stage *s, const struct room_effect *e)
{
	struct pending *p;

	if (s->conf.notes)
		note_effect(s, e);
	switch ((int)e->type) {
	case ROOM_DO_ASR_START:
	case ROOM_DO_ASR_COMMIT:
	case ROOM_DO_ASR_CANCEL:
	case ROOM_DO_ASR_INTERIM:
		perform_asr(s, e);
		break;
	case ROOM_DO_ASK:
		s->asked = e->turn;
		if (s->answer.text) {
			p = later(s, s->answer.after, W_ANSWER, 0);
			p->id = e->turn;
		}
		break;
	case ROOM_DO_INSTRUCT:
		later(s, 0, W_INSTRUCTED, 0);
		break;
	case ROOM_DO_SPEAK:
		p = later(s, VOICE_MS, W_SPOKEN, e->chunk);
		p->id = e->turn;
		p->text = must(strdup(e->text));
		break;
	case ROOM_DO_SOUNDBOARD:
		later(s, SOUND_MS, W_SOUNDED, e->chunk)->id = e->turn;
		break;
	case ROOM_DO_BRAIN_CANCEL:
		if (s->asked == e->turn)
			s->asked = 0;
		break;
	case ROOM_DO_RECORD:
		if (s->asked == e->record->id)
			s->asked = 0;
		break;
	case ROOM_DO_SAY_PCM:
	case ROOM_DO_SAY_OPEN:
	case ROOM_DO_SAY_END:
	case ROOM_DO_SAY_STOP:
	case ROOM_DO_SAY_PAUSE:
	case ROOM_DO_SAY_RESUME:
		perform_say(s, e);
		break;
	default:
		break;
	}
	if (e->record && e->record->id > s->newest_turn)
		s->newest_turn = e->record->id;
}

void stage_feed(struct stage *s, const struct room_event *ev)
{
	room_step(s->room, ev, s->now, s->fx);
	if (s->conf.steppedh)
		s->conf.steppedh(ev, s->now, s->fx, s->conf.arg);
	for (size_t i = 0; i < s->fx->n; i++)
		perform(s, &s->fx->v[i]);
}

/* ---- people ---- */

/* A square wave of 1500 Hz, as loud as wanted. */
static struct slice tone(struct stage *s, unsigned amp)
{
	unsigned i = 0;
	uint8_t *pcm;

	while (i < s->levels && s->level[i].amp != amp)
		i++;
	if (i == LEVELS)
		i = s->levels = 0;
	pcm = s->level[i].pcm;
	if (i == s->levels) {
		s->level[s->levels++].amp = amp;
		for (unsigned k = 0; k < STAGE_FRAME; k++) {
			int16_t v = (int16_t)(k / 8 % 2 ? (int)amp : -(int)amp);

			pcm[2 * k] = (uint8_t)(v & 0xff);
			pcm[2 * k + 1] = (uint8_t)((uint16_t)v >> 8);
		}
	}
	return (struct slice){pcm, sizeof s->level[i].pcm};
}

struct slice stage_tone(struct stage *s, unsigned amp, unsigned ms)
{
	static uint8_t second[2 * ROOM_RATE];
	struct slice one = tone(s, amp);

	for (size_t at = 0; at + one.n <= sizeof second; at += one.n)
		memcpy(second + at, one.p, one.n);
	return (struct slice){second, (size_t)ms * ROOM_RATE / 1000 * 2};
}

/* What an open microphone sends: its background and, while somebody speaks, syllables. */
static struct slice mix_frame(struct person *x)
{
	static const unsigned char syllable[] = {3, 6, 9, 10, 10, 9, 8, 6, 4, 2, 1, 2};
	static int16_t samples[STAGE_FRAME];
	static uint8_t pcm[2 * STAGE_FRAME];
	int amp = (int)x->amp * syllable[x->frames++ % sizeof syllable] / 10;

	x->fill(samples, x->fill_arg);
	for (unsigned k = 0; k < STAGE_FRAME; k++) {
		int v = samples[k] + (k / 8 % 2 ? amp : -amp);

		v = v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v;
		pcm[2 * k] = (uint8_t)(v & 0xff);
		pcm[2 * k + 1] = (uint8_t)((unsigned)v >> 8);
	}
	return (struct slice){pcm, sizeof pcm};
}

static void frame(struct stage *s, unsigned who)
{
	struct person *x = &s->person[who];

	x->packet_at = s->now;
	later(s, STAGE_FRAME_MS, W_FRAME, who);
	stage_feed(s, &(struct room_event){.type = ROOM_HEARD,
					   .user = who + 1,
					   .at = s->now,
					   .pcm = x->fill ? mix_frame(x) : tone(s, x->amp)});
}

void stage_open_microphone(struct stage *s, uint64_t user, stage_fill fill, void *arg)
{
	struct person *x = &s->person[user - 1];

	x->fill = fill;
	x->fill_arg = arg;
	stage_speaks(s, user, "", 0);
}

/* The length of the whole words among the first n bytes; of whole characters where no blanks part
 * the words. */
static size_t whole_words(const char *words, size_t n, size_t len)
{
	size_t k = n;

	if (n == len || !memchr(words, ' ', len))
		return utf8_whole(words, n);
	while (k && words[k] != ' ')
		k--;
	return k;
}

/* So many whole words as were said by now. */
static void partial(struct stage *s, unsigned who)
{
	struct person *x = &s->person[who];
	size_t len = strcspn(x->words, "/"), n = said_so_far(s, x);

	n = whole_words(x->words, n, len);
	later(s, s->partial_ms, W_PARTIAL, who);
	if (n && x->utterance)
		stage_feed(s, &(struct room_event){.type = ROOM_PARTIAL,
						   .user = who + 1,
						   .utterance = x->utterance,
						   .text = {(const uint8_t *)x->words, n}});
}

uint64_t stage_user(const struct stage *s, const char *name)
{
	for (unsigned i = 0; i < s->people; i++)
		if (strcmp(s->person[i].name, name) == 0)
			return i + 1;
	return 0;
}

static struct room_event member(const struct person *x, uint64_t user)
{
	return (struct room_event){.type = ROOM_MEMBER,
				   .user = user,
				   .yes = x->here,
				   .is_bot = x->bot,
				   .text = {(const uint8_t *)x->name, strlen(x->name)}};
}

uint64_t stage_join(struct stage *s, const char *name, bool bot)
{
	uint64_t user = stage_user(s, name);
	struct room_event ev;

	if (!user && s->people < STAGE_PEOPLE) {
		snprintf(s->person[s->people].name, sizeof s->person[0].name, "%s", name);
		user = ++s->people;
	}
	if (!user)
		return 0;
	s->person[user - 1].here = true;
	s->person[user - 1].bot = bot;
	ev = member(&s->person[user - 1], user);
	stage_feed(s, &ev);
	return user;
}

void stage_leave(struct stage *s, uint64_t user)
{
	struct person *x = &s->person[user - 1];
	struct room_event ev;

	for (int w = W_FRAME; w <= W_PARTIAL; w++)
		forget(s, (enum what)w, (unsigned)user - 1);
	x->here = x->told = false;
	x->words[0] = '\0';
	ev = member(x, user);
	stage_feed(s, &ev);
}

void stage_speaks(struct stage *s, uint64_t user, const char *words, unsigned amp)
{
	unsigned who = (unsigned)user - 1;
	struct person *x = &s->person[who];
	size_t said = strlen(x->words);

	x->amp = amp;
	x->lasts = 0;
	x->began_at = s->now;
	snprintf(x->words + said, sizeof x->words - said, "%s%s", said && *words ? " " : "", words);
	for (int w = W_FRAME; w <= W_PARTIAL; w++)
		forget(s, (enum what)w, who);
	if (!x->told)
		stage_feed(s,
			   &(struct room_event){
				   .type = ROOM_SPEAKING, .user = user, .yes = true, .at = s->now});
	x->told = true;
	if (s->partial_ms)
		later(s, s->partial_ms, W_PARTIAL, who);
	frame(s, who);
}

void stage_stops(struct stage *s, uint64_t user)
{
	unsigned who = (unsigned)user - 1;

	if (s->person[who].fill) {
		s->person[who].amp = 0;
		return;
	}
	for (int w = W_FRAME; w <= W_STOP; w++)
		forget(s, (enum what)w, who);
	later(s, SPEAKING_OFF_MS, W_OFF, who);
	later(s, s->conf.settings->silence_ms, W_END, who);
}

unsigned stage_says(struct stage *s, uint64_t user, const char *words, unsigned ms, unsigned amp)
{
	if (!ms)
		ms = (unsigned)strlen(words) * STAGE_LETTER_MS;
	stage_speaks(s, user, words, amp);
	s->person[user - 1].lasts = ms;
	later(s, ms, W_STOP, (unsigned)user - 1);
	return ms;
}

uint32_t stage_utterance(const struct stage *s, uint64_t user)
{
	return user && user <= s->people ? s->person[user - 1].utterance : 0;
}

/* ---- what the world does ---- */

static void said_by_brain(struct stage *s, uint32_t turn, const char *words, unsigned ms)
{
	static const uint8_t silence[STAGE_FRAME * 2];

	if (*words)
		stage_feed(s,
			   &(struct room_event){.type = ROOM_BRAIN_TEXT,
						.turn = turn,
						.text = {(const uint8_t *)words, strlen(words)}});
	for (; ms >= STAGE_FRAME_MS; ms -= STAGE_FRAME_MS)
		stage_feed(s, &(struct room_event){.type = ROOM_BRAIN_AUDIO,
						   .turn = turn,
						   .pcm = {silence, sizeof silence}});
}

static void answer(struct stage *s, uint32_t turn)
{
	said_by_brain(s, turn, s->answer.text, s->answer.ms);
	stage_feed(s, &(struct room_event){.type = ROOM_BRAIN_DONE, .turn = turn});
}

/* A line as sound, as fast as it would be said. */
static void spoken(struct stage *s, const struct pending *e)
{
	struct room_event ev = {
		.type = ROOM_SPEECH_AUDIO, .turn = e->id, .chunk = e->who, .pcm = tone(s, 1000)};
	size_t ms = strlen(e->text) * LETTER_MS;

	for (size_t i = 0; i < ms / STAGE_FRAME_MS; i++)
		stage_feed(s, &ev);
	ev.type = ROOM_SPEECH_DONE;
	ev.pcm = (struct slice){0};
	stage_feed(s, &ev);
}

static void happen(struct stage *s, const struct pending *e)
{
	struct room_event ev = {.user = e->who + 1, .turn = e->id, .utterance = e->id};
	struct person *x = &s->person[e->who];

	switch (e->what) {
	case W_FRAME:
		frame(s, e->who);
		return;
	case W_STOP:
		stage_stops(s, e->who + 1);
		return;
	case W_PARTIAL:
		partial(s, e->who);
		return;
	case W_ANSWER:
		answer(s, e->id);
		return;
	case W_OFF:
		ev.type = ROOM_SPEAKING;
		ev.at = x->packet_at;
		x->told = false;
		break;
	case W_END:
		ev.type = ROOM_HEARD_END;
		ev.at = x->packet_at;
		break;
	case W_WORDS:
		ev.type = ROOM_TRANSCRIPT;
		ev.text = (struct slice){(const uint8_t *)e->text, strlen(e->text)};
		break;
	case W_INTERIM:
		ev.type = ROOM_PARTIAL;
		ev.text = (struct slice){(const uint8_t *)e->text, strlen(e->text)};
		break;
	case W_NO_WORDS:
		ev.type = ROOM_TRANSCRIPT_FAILED;
		break;
	case W_STARTED:
		stage_playback(s, STAGE_PLAYBACK_STARTS, 0);
		return;
	case W_DRAINED:
	case W_STOPPED:
		stage_playback(s,
			       e->what == W_DRAINED ? STAGE_PLAYBACK_DRAINS : STAGE_PLAYBACK_STOPS,
			       stage_played(s));
		return;
	case W_INSTRUCTED:
		ev.type = ROOM_INSTRUCTED;
		break;
	case W_SPOKEN:
		spoken(s, e);
		return;
	case W_SOUNDED:
		ev = (struct room_event){.type = ROOM_SOUND_DONE, .turn = e->id, .chunk = e->who};
		stage_feed(s, &ev);
		return;
	}
	if (e->what != W_WORDS && e->what != W_NO_WORDS && e->what != W_INTERIM)
		ev.utterance = ev.turn = 0;
	else
		ev.turn = 0;
	stage_feed(s, &ev);
}

void stage_run(struct stage *s, uint64_t until)
{
	/* A deadline that never gets later is told by the watch; it must not hang the stage. */
	for (unsigned idle = 0; idle < STUCK;) {
		uint64_t at = room_deadline(s->room);
		unsigned next = STAGE_PENDING;

		for (unsigned i = 0; i < s->n_pending; i++)
			if (s->pending[i].at < at ||
			    (next == STAGE_PENDING && s->pending[i].at == at)) {
				at = s->pending[i].at;
				next = i;
			}
		if (at > until || at == UINT64_MAX)
			break;
		idle = at > s->now || next != STAGE_PENDING ? 0 : idle + 1;
		if (at > s->now)
			s->now = at;
		if (next == STAGE_PENDING) {
			stage_feed(s, &(struct room_event){.type = ROOM_TIMER});
		} else {
			struct pending e = s->pending[next];

			s->n_pending--;
			memmove(&s->pending[next], &s->pending[next + 1],
				(s->n_pending - next) * sizeof e);
			happen(s, &e);
			free(e.text);
		}
	}
	s->now = until;
}

void stage_transcripts(struct stage *s, unsigned take_ms, bool fail, bool manual)
{
	s->asr_ms = take_ms;
	s->asr_fails = fail;
	s->asr_manual = manual;
}

void stage_partials(struct stage *s, unsigned every_ms)
{
	s->partial_ms = every_ms;
}

void stage_transcript(struct stage *s, uint64_t user, const char *words, bool fails)
{
	stage_feed(s, &(struct room_event){.type = fails ? ROOM_TRANSCRIPT_FAILED : ROOM_TRANSCRIPT,
					   .user = user,
					   .utterance = s->person[user - 1].committed,
					   .text = {(const uint8_t *)words, strlen(words)}});
}

int stage_brain(struct stage *s, enum stage_brain what, const char *words, unsigned ms)
{
	uint32_t turn = s->asked;

	if (!turn)
		return ENOENT;
	if (what == STAGE_BRAIN_SAYS || what == STAGE_BRAIN_STARTS)
		said_by_brain(s, turn, words, ms ? ms : (unsigned)strlen(words) * STAGE_LETTER_MS);
	else if (what == STAGE_BRAIN_WRITES)
		said_by_brain(s, turn, words, 0);
	if (what == STAGE_BRAIN_SAYS || what == STAGE_BRAIN_DONE)
		stage_feed(s, &(struct room_event){.type = ROOM_BRAIN_DONE, .turn = turn});
	else if (what == STAGE_BRAIN_FAILS)
		stage_feed(s, &(struct room_event){.type = ROOM_BRAIN_FAILED, .turn = turn});
	return 0;
}

void stage_brain_answers(struct stage *s, const char *words, unsigned ms, unsigned after_ms)
{
	free(s->answer.text);
	s->answer.text = must(strdup(words));
	s->answer.ms = ms ? ms : (unsigned)strlen(words) * STAGE_LETTER_MS;
	s->answer.after = after_ms;
}

void stage_playback_manual(struct stage *s)
{
	s->playback_manual = true;
}

void stage_playback(struct stage *s, enum stage_playback what, unsigned ms)
{
	struct room_event ev = {.turn = s->say.turn, .samples = (uint64_t)ms * ROOM_RATE / 1000};

	if (what == STAGE_PLAYBACK_STARTS) {
		s->say.started_at = s->now;
		note(s, -1, "playback started");
		ev.type = ROOM_SAY_STARTED;
		ev.at = s->now;
		ev.samples = 0;
		playback_plan(s);
	} else {
		forget(s, W_DRAINED, 0);
		forget(s, W_STARTED, 0);
		forget(s, W_STOPPED, 0);
		s->say.over = true;
		note(s, -1,
		     what == STAGE_PLAYBACK_DRAINS ? "playback drained" : "playback stopped");
		ev.type = what == STAGE_PLAYBACK_DRAINS ? ROOM_SAY_DRAINED : ROOM_SAY_STOPPED;
		if (what == STAGE_PLAYBACK_DRAINS)
			ev.samples = s->say.written;
	}
	stage_feed(s, &ev);
}

int stage_setting(struct stage *s, const char *name, const char *value)
{
	return settings_set(s->conf.settings, name, value);
}

/* ---- looking ---- */

unsigned stage_played(const struct stage *s)
{
	return (unsigned)(played(s) * 1000 / ROOM_RATE);
}

uint64_t stage_now(const struct stage *s)
{
	return s->now;
}

struct room *stage_room(struct stage *s)
{
	return s->room;
}

size_t stage_notes(const struct stage *s)
{
	return s->n_notes;
}

const struct stage_note *stage_note(const struct stage *s, size_t i)
{
	return &s->note[i];
}

/* Turns are numbered one by one; a few may have begun that no effect told of. */
uint32_t stage_turn(struct stage *s, const char *name)
{
	for (uint32_t id = s->newest_turn + 2 * STAGE_PEOPLE; id; id--)
		if (*turn_name(s, id) && (!name || strcmp(turn_name(s, id), name) == 0))
			return id;
	return 0;
}

void stage_chain(struct stage *s, const char *name, char *buf, size_t size)
{
	char why[8192], *line, *rest = why;
	uint32_t turn = stage_turn(s, name);
	size_t n = 0;

	*buf = '\0';
	if (!turn || room_why(s->room, turn, why, sizeof why))
		return;
	while ((line = strsep(&rest, "\n")) && *line && n < size) {
		/* The rule's sentence, and the reason's, are for people with more room. */
		char *end = n ? strstr(line, ": ") : strchr(line, '(');

		if (end)
			*end = '\0';
		n += (size_t)snprintf(buf + n, size - n, "%s", n ? " > " : "");
		for (bool blank = false; n + 2 < size && *line; line++) {
			if (*line == ' ') {
				blank = true;
				continue;
			}
			if (blank && n && buf[n - 1] != ' ')
				buf[n++] = ' ';
			blank = false;
			buf[n++] = *line;
		}
		buf[n < size ? n : size - 1] = '\0';
	}
}

/* ---- coming and going ---- */

int stage_alloc(struct stage **out, const struct stage_conf *conf)
{
	struct stage *s = must(calloc(1, sizeof *s));
	int err;

	s->conf = *conf;
	s->now = STAGE_START;
	s->asr_ms = STAGE_ASR_MS;
	s->fx = must(calloc(1, sizeof *s->fx));
	s->pending = must(calloc(STAGE_PENDING, sizeof *s->pending));
	err = room_alloc(&s->room, conf->settings, conf->name);
	if (err) {
		stage_free(s);
		return err;
	}
	stage_feed(s, &(struct room_event){.type = ROOM_CALL, .yes = true});
	*out = s;
	return 0;
}

struct stage *stage_free(struct stage *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n_notes; i++) {
		free(s->note[i].text);
		free(s->note[i].plain);
	}
	for (unsigned i = 0; i < s->n_pending; i++)
		free(s->pending[i].text);
	free(s->note);
	free(s->pending);
	free(s->answer.text);
	room_free(s->room);
	free(s->fx);
	free(s);
	return NULL;
}
