#include "tests/room/stage_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
void *stage_must(void *p)
{
	if (!p)
		abort(); /* tests only */
	return p;
}
void stage_feed(struct stage *s, const struct room_event *ev)
{
	room_step(s->room, ev, s->now, s->fx);
	if (s->conf.steppedh)
		s->conf.steppedh(ev, s->now, s->fx, s->conf.arg);
	for (size_t i = 0; i < s->fx->n; i++)
		stage_perform(s, &s->fx->v[i]);
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
	stage_later(s, STAGE_FRAME_MS, W_FRAME, who);
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
	size_t len = strcspn(x->words, "/"), n = stage_said_so_far(s, x);

	n = whole_words(x->words, n, len);
	stage_later(s, s->partial_ms, W_PARTIAL, who);
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
		stage_forget(s, (enum what)w, (unsigned)user - 1);
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
		stage_forget(s, (enum what)w, who);
	if (!x->told)
		stage_feed(s,
			   &(struct room_event){
				   .type = ROOM_SPEAKING, .user = user, .yes = true, .at = s->now});
	x->told = true;
	if (s->partial_ms)
		stage_later(s, s->partial_ms, W_PARTIAL, who);
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
		stage_forget(s, (enum what)w, who);
	stage_later(s, SPEAKING_OFF_MS, W_OFF, who);
	stage_later(s, s->conf.settings->silence_ms, W_END, who);
}

unsigned stage_says(struct stage *s, uint64_t user, const char *words, unsigned ms, unsigned amp)
{
	if (!ms)
		ms = (unsigned)strlen(words) * STAGE_LETTER_MS;
	stage_speaks(s, user, words, amp);
	s->person[user - 1].lasts = ms;
	stage_later(s, ms, W_STOP, (unsigned)user - 1);
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
	case W_JUDGED:
		stage_feed(s,
			   &(struct room_event){.type = ROOM_CLASSIFIED,
						.chunk = e->id,
						.text = {(const uint8_t *)e->text, strlen(e->text)},
						.yes = true});
		return;
	case W_INSTRUCTED:
		ev = (struct room_event){.type = ROOM_INSTRUCTED, .chunk = (uint32_t)e->who};
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
	s->answer.text = stage_must(strdup(words));
	s->answer.ms = ms ? ms : (unsigned)strlen(words) * STAGE_LETTER_MS;
	s->answer.after = after_ms;
}

void stage_classifier(struct stage *s, stage_judge *h, void *arg, unsigned after_ms)
{
	s->classifier.h = h;
	s->classifier.arg = arg;
	s->classifier.after = after_ms;
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
		stage_note_line(s, -1, "playback started");
		ev.type = ROOM_SAY_STARTED;
		ev.at = s->now;
		ev.samples = 0;
		stage_plan_playback(s);
	} else {
		stage_forget(s, W_DRAINED, 0);
		stage_forget(s, W_STARTED, 0);
		stage_forget(s, W_STOPPED, 0);
		s->say.over = true;
		stage_note_line(s, -1,
				what == STAGE_PLAYBACK_DRAINS ? "playback drained"
							      : "playback stopped");
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
	return (unsigned)(stage_played_samples(s) * 1000 / ROOM_RATE);
}

uint64_t stage_now(const struct stage *s)
{
	return s->now;
}

struct room *stage_room(struct stage *s)
{
	return s->room;
}

/* ---- coming and going ---- */

int stage_alloc(struct stage **out, const struct stage_conf *conf)
{
	struct stage *s = stage_must(calloc(1, sizeof *s));
	int err;

	s->conf = *conf;
	s->now = STAGE_START;
	s->asr_ms = STAGE_ASR_MS;
	s->fx = stage_must(calloc(1, sizeof *s->fx));
	s->pending = stage_must(calloc(STAGE_PENDING, sizeof *s->pending));
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
