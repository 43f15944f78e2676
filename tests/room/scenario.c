#include "tests/room/scenario.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "tests/room/stage.h"
#include "tests/room/watch.h"

struct play {
	struct scenario_result *out;
	struct script *script;
	struct settings *settings;
	struct stage *stage;
	struct watch *watch;
	const char *broken; /* what does not hold of any room (watch.h) */
	uint64_t broken_at;
	bool failed;
};

__attribute__((format(printf, 3, 4))) static void fail(struct play *p, const struct script_line *l,
						       const char *fmt, ...)
{
	size_t size = sizeof p->out->why, n;
	const char *about = NULL;
	va_list ap;

	if (p->failed)
		return;
	p->failed = true;
	p->out->line = l ? l->number : 0;
	va_start(ap, fmt);
	vsnprintf(p->out->why, size, fmt, ap);
	va_end(ap);
	if (!p->stage)
		return;
	for (unsigned i = 0; l && i < l->tokens && !about; i++)
		if (!l->token[i].quoted && stage_user(p->stage, l->token[i].text))
			about = l->token[i].text;
	n = strlen(p->out->why);
	n += (size_t)snprintf(p->out->why + n, size - n, "; ");
	stage_chain(p->stage, about, p->out->why + n, size - n);
	if (!p->out->why[n])
		snprintf(p->out->why + n, size - n, "%s has no turn", about ? about : "the room");
}

static uint64_t after(uint64_t ms)
{
	return STAGE_START + ms * NS_PER_MS;
}

static unsigned long long shown(uint64_t at)
{
	return (at - STAGE_START) / NS_PER_MS;
}

/* ---- a raw event ---- */

static const char *const event_names[] = {
#define X(NAME, name, text) #name,
	ROOM_EVENTS(X)
#undef X
};

/* A number, yes or no, now, or whose: user=alice, and turn=alice, utterance=alice for the newest.
 */
static bool value_of(struct play *p, const char *member, const char *text, uint64_t *out)
{
	char *end;

	*out = strtoull(text, &end, 10);
	if (*text && !*end)
		return true;
	if (strcmp(text, "yes") == 0 || strcmp(text, "no") == 0)
		*out = text[0] == 'y';
	else if (strcmp(text, "now") == 0)
		*out = stage_now(p->stage);
	else if (strcmp(member, "turn") == 0)
		*out = stage_turn(p->stage, text);
	else if (strcmp(member, "utterance") == 0)
		*out = stage_utterance(p->stage, stage_user(p->stage, text));
	else
		*out = stage_user(p->stage, text);
	return *out || text[0] == 'n';
}

/* pcm=MS or pcm=MSxLEVEL: a second at most. */
static bool parse_sound(struct play *p, const char *value, struct slice *out)
{
	char *end;
	unsigned long ms = strtoul(value, &end, 10),
		      level = *end == 'x' ? strtoul(end + 1, &end, 10) : 0;

	if (*end || end == value || ms > 1000 || level > INT16_MAX)
		return false;
	*out = stage_tone(p->stage, (unsigned)level, (unsigned)ms);
	return true;
}

static bool set_field(struct play *p, struct room_event *ev, const char *name, size_t n,
		      const char *value)
{
	uint64_t v;

#define N(type, member)                                                                            \
	if (n == sizeof #member - 1 && memcmp(name, #member, n) == 0) {                            \
		if (!value_of(p, #member, value, &v))                                              \
			return false;                                                              \
		ev->member = (type)v;                                                              \
		return true;                                                                       \
	}
#define T(member)                                                                                  \
	if (n == sizeof #member - 1 && memcmp(name, #member, n) == 0) {                            \
		ev->member = (struct slice){(const uint8_t *)value, strlen(value)};                \
		return true;                                                                       \
	}
	if (n == 3 && memcmp(name, "pcm", 3) == 0)
		return parse_sound(p, value, &ev->pcm);
	ROOM_EVENT_FIELDS(N, T)
#undef N
#undef T
	return false;
}

static void event(struct play *p, const struct script_line *l)
{
	struct room_event ev = {0};
	unsigned type = 0;

	while (type < ROOM_EVENT_COUNT && strcmp(event_names[type], l->word) != 0)
		type++;
	if (type == ROOM_EVENT_COUNT) {
		fail(p, l, "the room knows no event %s", l->word);
		return;
	}
	ev.type = (enum room_event_type)type;
	for (unsigned i = 0; i < l->tokens; i++) {
		const char *is = strchr(l->token[i].text, '=');

		if (!set_field(p, &ev, l->token[i].text, (size_t)(is - l->token[i].text), is + 1)) {
			fail(p, l, "not a field of an event, or not its value: %s",
			     l->token[i].text);
			return;
		}
	}
	stage_feed(p->stage, &ev);
}

/* ---- actions ---- */

static unsigned level(const struct script_line *l)
{
	if (l->given & SCRIPT_LEVEL)
		return (unsigned)l->level;
	return l->given & SCRIPT_QUIETLY ? STAGE_QUIET : STAGE_LOUD;
}

static void person_does(struct play *p, const struct script_line *l)
{
	uint64_t user = stage_user(p->stage, l->name);

	if (!user) {
		fail(p, l, "%s is not there", l->name);
		return;
	}
	switch ((int)l->what) {
	case SCRIPT_LEAVES:
		stage_leave(p->stage, user);
		break;
	case SCRIPT_SPEAKS:
		stage_speaks(p->stage, user, l->text, level(l));
		break;
	case SCRIPT_SAYS:
		stage_says(p->stage, user, l->text, (unsigned)l->lasts, level(l));
		break;
	case SCRIPT_STOPS:
		stage_stops(p->stage, user);
		break;
	case SCRIPT_PARTIAL:
		stage_feed(p->stage, &(struct room_event){
					     .type = ROOM_PARTIAL,
					     .user = user,
					     .utterance = stage_utterance(p->stage, user),
					     .text = {(const uint8_t *)l->text, strlen(l->text)}});
		break;
	default:
		stage_transcript(p->stage, user, l->text, l->what == SCRIPT_TRANSCRIPT_FAILS);
	}
}

static void brain_does(struct play *p, const struct script_line *l)
{
	enum stage_brain what = l->what == SCRIPT_BRAIN_SAYS	 ? STAGE_BRAIN_SAYS
				: l->what == SCRIPT_BRAIN_STARTS ? STAGE_BRAIN_STARTS
				: l->what == SCRIPT_BRAIN_WRITES ? STAGE_BRAIN_WRITES
				: l->what == SCRIPT_BRAIN_DONE	 ? STAGE_BRAIN_DONE
								 : STAGE_BRAIN_FAILS;

	if (stage_brain(p->stage, what, l->text, (unsigned)l->lasts))
		fail(p, l, "the brain was not asked and cannot say anything");
}

static void act(struct play *p, const struct script_line *l)
{
	struct stage *s = p->stage;

	switch (l->what) {
	case SCRIPT_JOIN:
	case SCRIPT_BOT:
		if (!stage_join(s, l->name, l->what == SCRIPT_BOT))
			fail(p, l, "too many people");
		break;
	case SCRIPT_LEAVES:
	case SCRIPT_SPEAKS:
	case SCRIPT_SAYS:
	case SCRIPT_STOPS:
	case SCRIPT_PARTIAL:
	case SCRIPT_TRANSCRIPT:
	case SCRIPT_TRANSCRIPT_FAILS:
		person_does(p, l);
		break;
	case SCRIPT_TRANSCRIPTS_TAKE:
		stage_transcripts(s, (unsigned)l->n, false, false);
		break;
	case SCRIPT_TRANSCRIPTS_MANUAL:
		stage_transcripts(s, 0, false, true);
		break;
	case SCRIPT_TRANSCRIPTS_FAIL:
	case SCRIPT_TRANSCRIPTS_WORK:
		stage_transcripts(s, STAGE_ASR_MS, l->what == SCRIPT_TRANSCRIPTS_FAIL, false);
		break;
	case SCRIPT_PARTIALS_EVERY:
		stage_partials(s, (unsigned)l->n);
		break;
	case SCRIPT_BRAIN_SAYS:
	case SCRIPT_BRAIN_STARTS:
	case SCRIPT_BRAIN_WRITES:
	case SCRIPT_BRAIN_DONE:
	case SCRIPT_BRAIN_FAILS:
		brain_does(p, l);
		break;
	case SCRIPT_BRAIN_ANSWERS:
		stage_brain_answers(s, l->text, (unsigned)l->lasts, (unsigned)l->after);
		break;
	case SCRIPT_PLAYBACK_MANUAL:
		stage_playback_manual(s);
		break;
	case SCRIPT_PLAYBACK_STARTS:
		stage_playback(s, STAGE_PLAYBACK_STARTS, 0);
		break;
	case SCRIPT_PLAYBACK_DRAINS:
		stage_playback(s, STAGE_PLAYBACK_DRAINS, 0);
		break;
	case SCRIPT_PLAYBACK_STOPS:
		stage_playback(s, STAGE_PLAYBACK_STOPS, (unsigned)l->lasts);
		break;
	case SCRIPT_PLAYBACK_FAILS:
		stage_playback(s, STAGE_PLAYBACK_STOPS, stage_played(s));
		break;
	case SCRIPT_CALL_UP:
	case SCRIPT_CALL_DOWN:
		stage_feed(s, &(struct room_event){.type = ROOM_CALL,
						   .yes = l->what == SCRIPT_CALL_UP});
		break;
	case SCRIPT_MUTE:
	case SCRIPT_UNMUTE:
		stage_feed(s,
			   &(struct room_event){.type = ROOM_MUTE, .yes = l->what == SCRIPT_MUTE});
		break;
	case SCRIPT_SHUTDOWN:
		stage_feed(s, &(struct room_event){.type = ROOM_SHUTDOWN});
		break;
	case SCRIPT_SETTING:
		if (stage_setting(s, l->word, l->text))
			fail(p, l, "cannot set %s to %s", l->word, l->text);
		break;
	case SCRIPT_EVENT:
		event(p, l);
		break;
	case SCRIPT_WAIT:
	case SCRIPT_EXPECT:
		break;
	}
}

/* ---- expectations ---- */

/* The next word of a note, or what stands in quotes to the last one. */
static const char *next_word(const char *at, const char **word, size_t *n)
{
	const char *end;

	at += strspn(at, " ");
	if (*at == '"') {
		end = strrchr(at + 1, '"');
		if (!end)
			end = at + strlen(at);
		*word = at + 1;
		*n = (size_t)(end - *word);
		return *end ? end + 1 : end;
	}
	*word = at;
	*n = strcspn(at, " ");
	return at + *n;
}

/* The expected words are the first of the note's. Quoted ones stand in its text, after `exactly`
 * they are it. */
static bool matches(const char *note, const struct script_token *v, unsigned n)
{
	bool exactly = false;

	for (unsigned i = 0; i < n; i++) {
		bool quote;
		const char *word;
		size_t len;

		if (!v[i].quoted && strcmp(v[i].text, "exactly") == 0) {
			exactly = true;
			continue;
		}
		note += strspn(note, " ");
		quote = *note == '"';
		note = next_word(note, &word, &len);
		if (v[i].quoted != quote)
			return false;
		if (quote && !exactly) {
			if (!memmem(word, len, v[i].text, strlen(v[i].text)))
				return false;
		} else if (strlen(v[i].text) != len || memcmp(word, v[i].text, len) != 0) {
			return false;
		}
	}
	return true;
}

/* What people in the room would notice. */
static bool noticed(const struct stage_note *n)
{
	return n->effect == ROOM_DO_ASK || n->effect == ROOM_DO_SAY_OPEN ||
	       n->effect == ROOM_DO_SAY_STOP || n->effect == ROOM_DO_TELL;
}

static bool meets(const struct stage_note *n, const struct script_line *l)
{
	const struct script_token *v = l->token;

	if (!v->quoted && strcmp(v->text, "nothing") == 0)
		return noticed(n);
	if (!v->quoted && strcmp(v->text, "effect") == 0)
		return n->plain && matches(n->plain, v + 1, l->tokens - 1);
	return n->text && matches(n->text, v, l->tokens);
}

static void words_of(const struct script_line *l, char *buf, size_t size)
{
	size_t n = 0;

	*buf = '\0';
	for (unsigned i = 0; i < l->tokens && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, l->token[i].quoted ? "%s\"%s\"" : "%s%s",
				      i ? " " : "", l->token[i].text);
}

/* From `from` on. The time at which it was met, 0 when it was not. */
static uint64_t judge_one(struct play *p, const struct script_line *l, uint64_t from)
{
	uint64_t until = from + l->within * NS_PER_MS, met = 0, count = 0;
	bool no = l->no || (!l->token[0].quoted && strcmp(l->token[0].text, "nothing") == 0);
	char words[512];

	for (size_t i = 0; i < stage_notes(p->stage); i++) {
		const struct stage_note *n = stage_note(p->stage, i);

		if (n->at < from || n->at > until || !meets(n, l))
			continue;
		count++;
		if (!met)
			met = n->at;
	}
	words_of(l, words, sizeof words);
	if (no && count)
		fail(p, l, "%s%s was not to be, but came at %llu ms", l->no ? "no " : "", words,
		     shown(met));
	else if (!no && l->times && count != l->times)
		fail(p, l, "%s came %llu times between %llu and %llu ms, not %llu times", words,
		     (unsigned long long)count, shown(from), shown(until),
		     (unsigned long long)l->times);
	else if (!no && !count)
		fail(p, l, "%s did not come between %llu and %llu ms", words, shown(from),
		     shown(until));
	return no ? 0 : met;
}

/* Expectations below one another follow each other in time. */
static void judge(struct play *p)
{
	uint64_t met = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < p->script->n && !p->failed; i++) {
		const struct script_line *l = &p->script->line[i];
		uint64_t from = after(l->ms), at;

		if (l->what != SCRIPT_EXPECT) {
			met = 0;
			continue;
		}
		n++;
		at = judge_one(p, l, met > from ? met : from);
		if (at)
			met = at;
	}
	if (!n)
		fail(p, NULL, "nothing is expected");
}

/* ---- playing ---- */

static void watched(const struct room_event *ev, uint64_t now, const struct room_effects *fx,
		    void *arg)
{
	struct play *p = arg;

	if (p->broken || !p->stage)
		return; /* the very first step, at which the call comes up, is made before there is
			   a stage */
	p->broken = watch_step(p->watch, stage_room(p->stage), ev, now, fx);
	p->broken_at = now;
}

static int begin(struct play *p)
{
	struct stage_conf conf = {.settings = p->settings,
				  .name = "Parley",
				  .notes = true,
				  .steppedh = watched,
				  .arg = p};

	return p->stage ? 0 : stage_alloc(&p->stage, &conf);
}

static void run(struct play *p)
{
	uint64_t end = STAGE_START;
	int err = 0;

	for (unsigned i = 0; i < p->script->n && !p->failed && !err; i++) {
		const struct script_line *l = &p->script->line[i];

		if (l->what == SCRIPT_EXPECT)
			continue;
		if (l->what == SCRIPT_SETTING && !p->stage) {
			if (settings_set(p->settings, l->word, l->text))
				fail(p, l, "cannot set %s to %s", l->word, l->text);
			continue;
		}
		err = begin(p);
		if (err)
			break;
		end = after(l->ms);
		stage_run(p->stage, end);
		act(p, l);
	}
	if (!err && !p->failed)
		err = begin(p);
	if (err)
		fail(p, NULL, "no room: %s", strerror(err));
	if (!p->failed)
		stage_run(p->stage, end + SCENARIO_TAIL_MS * NS_PER_MS);
	if (p->broken)
		fail(p, NULL, "at %llu ms %s", shown(p->broken_at), p->broken);
}

static void print_trace(const struct stage *s, FILE *f)
{
	for (size_t i = 0; i < stage_notes(s); i++) {
		const struct stage_note *n = stage_note(s, i);

		if (n->text)
			fprintf(f, "%8llu  %s\n", shown(n->at), n->text);
		else if (n->effect != ROOM_DO_ASR_APPEND && n->effect != ROOM_DO_SAY_PCM)
			fprintf(f, "%8llu  effect %s\n", shown(n->at), n->plain);
	}
}

void scenario_play(struct scenario_result *out, const char *text, size_t n, FILE *trace)
{
	struct play p = {.out = out};
	int err;

	*out = (struct scenario_result){0};
	err = script_parse(&p.script, text, n, out->why, sizeof out->why);
	if (err == EBADMSG) {
		out->line = (unsigned)strtoul(out->why, NULL, 10);
		memmove(out->why, strchr(out->why, ' ') + 1, strlen(strchr(out->why, ' ')));
		return;
	}
	if (err || settings_alloc(&p.settings) || watch_alloc(&p.watch, NULL))
		abort();
	out->rules = p.script->rules;
	memcpy(out->rule, p.script->rule, sizeof out->rule);
	/* Scenarios are of the room with a provider unless they say otherwise. */
	settings_set(p.settings, "guest", "off");
	run(&p);
	if (trace && p.stage)
		print_trace(p.stage, trace);
	if (!p.failed)
		judge(&p);
	out->passed = !p.failed;
	stage_free(p.stage);
	watch_free(p.watch);
	settings_free(p.settings);
	script_free(p.script);
}

void scenario_play_file(struct scenario_result *out, const char *path, FILE *trace)
{
	static char text[SCRIPT_BYTES + 2];
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f) {
		*out = (struct scenario_result){0};
		snprintf(out->why, sizeof out->why, "cannot be read: %s", strerror(errno));
		return;
	}
	n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	scenario_play(out, text, n, trace);
}
