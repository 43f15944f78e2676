#include "tests/room/explore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/room/inside.h"

enum {
	USERS = 6,
	AWAITED = 16,
	PCM_MS = 240,
	START_MS = 1000,
	REST_STEPS = 4000,
	JUMP_MS = 130000
};

/* What can be done. The order is the order of `weights`. */
enum kind {
	K_TIMER, /* to the deadline, and there a timer */
	K_LOUD,
	K_SOFT,
	K_OLD, /* sound that was overtaken */
	K_ON,
	K_OFF,
	K_END,
	K_PARTIAL,
	K_WORDS,
	K_NO_WORDS,
	K_AUDIO,
	K_TEXT,
	K_DONE,
	K_FAILED,
	K_VOICE, /* sound of a line that is to be spoken */
	K_VOICE_DONE,
	K_VOICE_FAILED,
	K_SOUNDED,
	K_INSTRUCTED,
	K_TOOL,
	K_CHOICE,
	K_MUSIC,
	K_BEAT,
	K_JUDGED,
	K_EOT, /* somebody has likely finished */
	K_SETTINGS,
	K_OVER, /* somebody wants the session to end */
	K_STARTED,
	K_DRAINED,
	K_STOPPED,
	K_JOIN,
	K_LEAVE,
	K_CALL,
	K_MUTE,
	K_SHUTDOWN,
	K_OTHER, /* any event of the table, with anything in it */
	KINDS
};

static const char *const texts[] = {
	"parley what time is it",
	"what do you think",
	"mhm",
	"",
	"...",
	"stop",
	"parley stop",
	"parley",
	"<|endoftext|>",
	"i did not catch that",
	"was parley there yesterday",
	"and then we went down to the river and stayed there until it was dark and cold",
	"let me talk",
	"haha",
	"[[TO: ALL]] well. [[NOTE: x]] Here we are, all of us! Shall we?",
	"[SKIP]",
};

static const char *const music[] = {"loading", "playing", "paused", "idle", "failed"};
static const char *const verdicts[] = {"YES", "NO", "perhaps"};
static const char *const ends[] = {
#define X(NAME, name, ...) #name,
	ROOM_ENDS(X)
#undef X
};

enum { TEXTS = sizeof texts / sizeof texts[0], ENDS = sizeof ends / sizeof ends[0] };

struct explore {
	struct watch *watch;
	struct room *room;
	struct room_effects fx;
	struct settings *settings;
	uint64_t now, random;
	uint32_t utterance[USERS + 1]; /* the newest */
	struct {
		uint64_t user;
		uint32_t utterance;
	} awaited[AWAITED];
	unsigned n_awaited;
	uint32_t asked, playing, newest_turn;
	struct {
		uint32_t turn, chunk;
	} line, beat; /* that is to be spoken, a sound that plays */
	bool instructed;
	uint32_t judging; /* the turn that a classifier looks at */
	uint64_t written, started_at, packet_at;
	bool started, ended, over; /* of the playback */
	uint8_t loud[PCM_MS * ROOM_RATE / 1000 * 2], soft[PCM_MS * ROOM_RATE / 1000 * 2];
	FILE *scenario;
	const char *broken;
};

/* ---- randomness: splitmix64, so that a seed means the same everywhere ---- */

static uint64_t rnd(struct explore *x)
{
	uint64_t z = x->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static unsigned below(struct explore *x, unsigned n)
{
	return (unsigned)(rnd(x) % n);
}

static struct slice text_of(const char *text)
{
	return (struct slice){(const uint8_t *)text, strlen(text)};
}

/* ---- stepping ---- */

static const char *const event_names[] = {
#define X(NAME, name, text) #name,
	ROOM_EVENTS(X)
#undef X
};

static void write_text(FILE *f, const char *member, struct slice s)
{
	fprintf(f, " %s=\"", member);
	for (size_t i = 0; i < s.n; i++)
		fprintf(f, s.p[i] == '"' || s.p[i] == '\\' ? "\\%c" : "%c", s.p[i]);
	fprintf(f, "\"");
}

/* As a line of a scenario. */
static void write_event(struct explore *x, const struct room_event *ev)
{
	FILE *f = x->scenario;

	fprintf(f, "%llu event %s", (unsigned long long)(x->now / ROOM_MS - START_MS),
		event_names[ev->type]);
#define N(type, member)                                                                            \
	if (ev->member)                                                                            \
		fprintf(f, " %s=%llu", #member, (unsigned long long)ev->member);
#define T(member)                                                                                  \
	if (ev->member.n && ev->member.p != x->loud && ev->member.p != x->soft)                    \
		write_text(f, #member, ev->member);
	ROOM_EVENT_FIELDS(N, T)
#undef N
#undef T
	if (ev->pcm.n)
		fprintf(f, " pcm=%zux%u", ev->pcm.n / 2 * 1000 / ROOM_RATE,
			ev->pcm.p == x->loud ? 6000 : 100);
	fprintf(f, "\n");
}

static void await(struct explore *x, uint64_t user, uint32_t utterance)
{
	if (x->n_awaited == AWAITED)
		memmove(x->awaited, x->awaited + 1, --x->n_awaited * sizeof x->awaited[0]);
	x->awaited[x->n_awaited].user = user;
	x->awaited[x->n_awaited++].utterance = utterance;
}

static void saw(struct explore *x, const struct room_effect *e)
{
	switch ((int)e->type) {
	case ROOM_DO_ASR_START:
		if (e->user <= USERS)
			x->utterance[e->user] = e->utterance;
		break;
	case ROOM_DO_ASR_COMMIT:
		await(x, e->user, e->utterance);
		break;
	case ROOM_DO_ASK:
	case ROOM_DO_ASK_AGAIN:
		x->asked = e->turn;
		break;
	case ROOM_DO_BRAIN_CANCEL:
		x->asked = 0;
		break;
	case ROOM_DO_CLASSIFY:
		x->judging = e->turn;
		break;
	case ROOM_DO_SPEAK:
		x->line.turn = e->turn;
		x->line.chunk = e->chunk;
		break;
	case ROOM_DO_SPEAK_CANCEL:
		x->line.turn = 0;
		break;
	case ROOM_DO_SOUNDBOARD:
		x->beat.turn = e->turn;
		x->beat.chunk = e->chunk;
		break;
	case ROOM_DO_INSTRUCT:
		x->instructed = false;
		break;
	case ROOM_DO_SAY_END:
		x->ended = x->ended || e->turn == x->playing;
		break;
	case ROOM_DO_SAY_OPEN:
		x->started = x->ended = x->over = false;
		x->written = 0;
		break;
	case ROOM_DO_SAY_PCM:
		x->written = e->turn == x->playing ? x->written + e->pcm.n / 2 : e->pcm.n / 2;
		if (e->turn != x->playing)
			x->started = x->ended = x->over = false;
		x->playing = e->turn;
		break;
	default:
		break;
	}
	if (e->record && e->record->id > x->newest_turn)
		x->newest_turn = e->record->id;
}

static void step(struct explore *x, const struct room_event *ev, uint64_t *steps)
{
	if (x->broken)
		return;
	if (x->scenario)
		write_event(x, ev);
	room_step(x->room, ev, x->now, &x->fx);
	++*steps;
	for (size_t i = 0; i < x->fx.n; i++)
		saw(x, &x->fx.v[i]);
	x->broken = watch_step(x->watch, x->room, ev, x->now, &x->fx);
}

/* ---- ops become events ---- */

/* Mostly the right number; else one before, after, none, or any. */
static uint32_t mostly(uint32_t right, uint8_t pick)
{
	static const int off[] = {-1, 1, -2, 2};

	if (pick < 224)
		return right;
	return pick < 240 ? right + (uint32_t)off[pick & 3] : pick & 7;
}

static void words(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	unsigned i = x->n_awaited ? op->pick % x->n_awaited : 0;

	if (x->n_awaited && op->pick < 250) {
		ev->user = x->awaited[i].user;
		ev->utterance = x->awaited[i].utterance;
		ev->doubt = op->ms == 20 && op->pick % 8 == 0 ? 2500 : 0;
		/* Sometimes it comes again. */
		if (op->pick < 200)
			memmove(&x->awaited[i], &x->awaited[i + 1],
				(--x->n_awaited - i) * sizeof x->awaited[0]);
	} else {
		ev->user = op->who;
		ev->utterance = mostly(x->utterance[op->who], op->pick);
	}
}

static struct slice sound(const uint8_t *from, uint16_t ms)
{
	return (struct slice){from, (size_t)ms * ROOM_RATE / 1000 * 2};
}

static void other(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	struct slice t = ev->text;

	/* Whatever the op holds goes into every field. */
#define N(type, member) ev->member = (type)(op->pick >> (op->ms & 3));
#define T(member)	ev->member = t;
	ROOM_EVENT_FIELDS(N, T)
#undef N
#undef T
	ev->type = (enum room_event_type)((op->pick * 31u + op->ms) % ROOM_EVENT_COUNT);
	ev->user = op->who;
	ev->turn = mostly(x->asked ? x->asked : x->playing, op->pick);
	ev->utterance = mostly(x->utterance[op->who], op->pick);
	ev->at = x->now;
	ev->pcm = ev->type == ROOM_HEARD || ev->type == ROOM_BRAIN_AUDIO ? sound(x->soft, 20)
									 : (struct slice){0};
	if (ev->type == ROOM_SHUTDOWN || ev->type == ROOM_SAY_DRAINED)
		ev->type = ROOM_TIMER;
}

static bool playback(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	uint64_t left = (x->now - x->started_at) * ROOM_RATE / ROOM_S;

	ev->turn = mostly(x->playing, op->pick);
	if (op->kind == K_STARTED) {
		ev->type = ROOM_SAY_STARTED;
		ev->at = x->now;
		x->started = true;
		x->started_at = x->now;
	} else {
		/* mediad tells no end of sound that was not ended: such a pick is a stop. */
		ev->type = op->kind == K_DRAINED && x->ended ? ROOM_SAY_DRAINED : ROOM_SAY_STOPPED;
		ev->samples = ev->type == ROOM_SAY_DRAINED || left > x->written ? x->written : left;
		x->over = ev->turn == x->playing || x->over;
	}
	return true;
}

static void voice(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	bool beat = op->kind == K_SOUNDED;

	ev->user = 0;
	ev->turn = mostly(beat ? x->beat.turn : x->line.turn, op->pick);
	ev->chunk = mostly(beat ? x->beat.chunk : x->line.chunk, (uint8_t)(op->pick * 7u));
	if (op->kind == K_VOICE)
		ev->pcm = sound(x->soft, op->ms);
	if (op->kind != K_VOICE_FAILED)
		ev->text = (struct slice){0};
	if (op->kind == K_VOICE_DONE || op->kind == K_VOICE_FAILED)
		x->line.turn = 0;
	if (beat)
		x->beat.turn = 0;
}

static void sound_event(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	ev->type = ROOM_HEARD;
	ev->pcm = sound(op->kind == K_LOUD ? x->loud : x->soft, op->ms);
	ev->at = x->now;
	if (op->kind == K_OLD)
		ev->at = x->packet_at - (x->packet_at > 300 * ROOM_MS ? op->pick * ROOM_MS : 0);
	else
		x->packet_at = x->now;
}

static bool event_of(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	static const enum room_event_type plain[KINDS] = {[K_TIMER] = ROOM_TIMER,
							  [K_ON] = ROOM_SPEAKING,
							  [K_OFF] = ROOM_SPEAKING,
							  [K_END] = ROOM_HEARD_END,
							  [K_PARTIAL] = ROOM_PARTIAL,
							  [K_WORDS] = ROOM_TRANSCRIPT,
							  [K_NO_WORDS] = ROOM_TRANSCRIPT_FAILED,
							  [K_AUDIO] = ROOM_BRAIN_AUDIO,
							  [K_TEXT] = ROOM_BRAIN_TEXT,
							  [K_DONE] = ROOM_BRAIN_DONE,
							  [K_FAILED] = ROOM_BRAIN_FAILED,
							  [K_JOIN] = ROOM_MEMBER,
							  [K_LEAVE] = ROOM_MEMBER,
							  [K_CALL] = ROOM_CALL,
							  [K_MUTE] = ROOM_MUTE,
							  [K_SHUTDOWN] = ROOM_SHUTDOWN,
							  [K_VOICE] = ROOM_SPEECH_AUDIO,
							  [K_VOICE_DONE] = ROOM_SPEECH_DONE,
							  [K_VOICE_FAILED] = ROOM_SPEECH_FAILED,
							  [K_SOUNDED] = ROOM_SOUND_DONE,
							  [K_INSTRUCTED] = ROOM_INSTRUCTED,
							  [K_TOOL] = ROOM_TOOL,
							  [K_CHOICE] = ROOM_CHOICE,
							  [K_MUSIC] = ROOM_MUSIC,
							  [K_BEAT] = ROOM_BEAT,
							  [K_JUDGED] = ROOM_JUDGED,
							  [K_EOT] = ROOM_EOT,
							  [K_SETTINGS] = ROOM_SETTINGS,
							  [K_OVER] = ROOM_END};
	const char *text = texts[op->text % TEXTS];

	*ev = (struct room_event){.type = plain[op->kind],
				  .user = op->who,
				  .text = {(const uint8_t *)text, strlen(text)}};
	switch ((enum kind)op->kind) {
	case K_TIMER:
		*ev = (struct room_event){.type = ROOM_TIMER};
		return true;
	case K_LOUD:
	case K_SOFT:
	case K_OLD:
		ev->text = (struct slice){0};
		sound_event(x, op, ev);
		return true;
	case K_ON:
	case K_OFF:
	case K_END:
		ev->text = (struct slice){0};
		ev->yes = op->kind == K_ON;
		ev->at = op->kind == K_ON ? x->now : x->packet_at;
		return true;
	case K_PARTIAL:
		ev->utterance = mostly(x->utterance[op->who], op->pick);
		return true;
	case K_WORDS:
	case K_NO_WORDS:
		words(x, op, ev);
		return true;
	case K_AUDIO:
	case K_TEXT:
	case K_DONE:
	case K_FAILED:
		ev->user = 0;
		ev->turn = mostly(x->asked ? x->asked : x->playing, op->pick);
		if (op->kind == K_AUDIO) {
			ev->text = (struct slice){0};
			ev->pcm = sound(x->soft, op->ms);
		} else if (op->kind == K_DONE) {
			ev->text = (struct slice){0};
		}
		return true;
	case K_VOICE:
	case K_VOICE_DONE:
	case K_VOICE_FAILED:
	case K_SOUNDED:
		voice(x, op, ev);
		return true;
	case K_INSTRUCTED:
		*ev = (struct room_event){.type = ROOM_INSTRUCTED};
		x->instructed = true;
		return true;
	case K_MUSIC:
		ev->text = text_of(music[op->text % (sizeof music / sizeof music[0])]);
		ev->turn = mostly(x->asked, op->pick);
		ev->yes = op->pick & 1;
		return true;
	case K_BEAT:
		return true;
	case K_JUDGED:
		ev->user = 0;
		ev->turn = mostly(x->judging, op->pick);
		ev->yes = op->pick < 230;
		ev->text = text_of(verdicts[op->text % (sizeof verdicts / sizeof verdicts[0])]);
		x->judging = 0;
		return true;
	case K_SETTINGS:
		*ev = (struct room_event){.type = ROOM_SETTINGS, .yes = op->pick > 2};
		return true;
	case K_OVER:
		*ev = (struct room_event){.type = ROOM_END, .text = text_of(ends[op->text % ENDS])};
		return true;
	case K_EOT:
		ev->utterance = x->utterance[op->who];
		ev->chunk = op->pick * 97 % 1200;
		return true;
	case K_TOOL:
	case K_CHOICE:
		ev->text = (struct slice){0};
		ev->yes = op->pick & 1;
		return true;
	case K_STARTED:
	case K_DRAINED:
	case K_STOPPED:
		ev->user = 0;
		ev->text = (struct slice){0};
		return playback(x, op, ev);
	case K_JOIN:
	case K_LEAVE:
		ev->yes = op->kind == K_JOIN;
		ev->is_bot = op->who == USERS;
		ev->text = text_of(op->who == USERS ? "jukebox" : "somebody");
		return true;
	case K_CALL:
	case K_MUTE:
		*ev = (struct room_event){.type = plain[op->kind], .yes = op->pick & 1};
		return true;
	case K_SHUTDOWN:
		*ev = (struct room_event){.type = ROOM_SHUTDOWN};
		return true;
	case K_OTHER:
		other(x, op, ev);
		return true;
	case KINDS:
		break;
	}
	return false;
}

static void play_op(struct explore *x, const struct explore_op *op, uint64_t *steps)
{
	struct room_event ev;
	uint64_t deadline;

	x->now += (uint64_t)op->wait * ROOM_MS;
	if (op->kind == K_TIMER) {
		deadline = room_deadline(x->room);
		/* On whole ms, as scenarios have them; nobody waits for what is an hour away. */
		deadline = deadline > UINT64_MAX - ROOM_MS
				   ? deadline
				   : (deadline + ROOM_MS - 1) / ROOM_MS * ROOM_MS;
		if (deadline > x->now && deadline - x->now <= 3600 * ROOM_S)
			x->now = deadline;
	}
	if (event_of(x, op, &ev))
		step(x, &ev, steps);
	/* A brain that was told to be silent, or has said all, says no more of its own accord. */
	if ((op->kind == K_DONE || op->kind == K_FAILED) && ev.turn == x->asked)
		x->asked = 0;
}

/* ---- beginning and ending ---- */

static void join(struct explore *x, uint64_t user, uint64_t *steps)
{
	step(x,
	     &(struct room_event){
		     .type = ROOM_MEMBER, .user = user, .yes = true, .text = text_of("somebody")},
	     steps);
}

static void begin(struct explore *x, const struct explore_policy *p, uint64_t *steps)
{
	if (settings_alloc(&x->settings))
		abort();
	for (unsigned i = 0; i < p->n; i++) {
		settings_set(x->settings, p->set[i].name, p->set[i].value);
		if (x->scenario)
			fprintf(x->scenario, "setting %s %s\n", p->set[i].name, p->set[i].value);
	}
	if (room_alloc(&x->room, x->settings, "Parley"))
		abort();
	watch_reset(x->watch);
	x->broken = NULL;
	x->now = START_MS * ROOM_MS;
	x->asked = x->playing = x->newest_turn = 0;
	x->n_awaited = 0;
	x->started = x->ended = x->over = x->instructed = false;
	x->line.turn = x->beat.turn = x->judging = 0;
	x->written = 0;
	x->started_at = x->packet_at = x->now;
	memset(x->utterance, 0, sizeof x->utterance);
	if (x->scenario)
		fprintf(x->scenario, "0 transcripts manual\n0 playback manual\n");
	step(x, &(struct room_event){.type = ROOM_CALL, .yes = true}, steps);
	join(x, 1, steps);
}

/* Nothing comes any more but time, and what was asked of the world is answered by nobody. */
static void rest(struct explore *x, uint64_t *steps)
{
	uint64_t until = x->now + 3600 * ROOM_S;

	for (unsigned i = 0; i < REST_STEPS && !x->broken; i++) {
		uint64_t at = room_deadline(x->room);

		/* What the room began by itself it may bring to its end. */
		if (at == UINT64_MAX || (at > until && room_turn_next(x->room, 0) == ROOM_TURNS))
			break;
		if (at > x->now)
			x->now = (at + ROOM_MS - 1) / ROOM_MS * ROOM_MS;
		step(x, &(struct room_event){.type = ROOM_TIMER}, steps);
	}
	if (!x->broken)
		x->broken = watch_rest(x->watch, x->room);
}

static void end(struct explore *x)
{
	x->room = room_free(x->room);
	x->settings = settings_free(x->settings);
}

const char *explore_play(struct explore *x, const struct explore_run *run, uint64_t *steps,
			 FILE *scenario)
{
	x->scenario = scenario;
	begin(x, &run->policy, steps);
	for (unsigned i = 0; i < run->n && !x->broken; i++)
		play_op(x, &run->op[i], steps);
	rest(x, steps);
	if (scenario && x->broken)
		fprintf(scenario, "# %s\n", x->broken);
	end(x);
	x->scenario = NULL;
	return x->broken;
}

/* ---- making ops ---- */

/* What is likely next, as the room stands. */
static void weights(const struct explore *x, unsigned w[KINDS])
{
	static const unsigned base[KINDS] = {
		[K_TIMER] = 30,	    [K_LOUD] = 60,	  [K_SOFT] = 6,	   [K_OLD] = 2,
		[K_ON] = 6,	    [K_OFF] = 8,	  [K_END] = 16,	   [K_PARTIAL] = 4,
		[K_WORDS] = 2,	    [K_NO_WORDS] = 1,	  [K_AUDIO] = 2,   [K_TEXT] = 2,
		[K_DONE] = 2,	    [K_FAILED] = 1,	  [K_STARTED] = 1, [K_DRAINED] = 1,
		[K_STOPPED] = 1,    [K_JOIN] = 4,	  [K_LEAVE] = 2,   [K_CALL] = 1,
		[K_MUTE] = 1,	    [K_SHUTDOWN] = 0,	  [K_OTHER] = 4,   [K_VOICE] = 1,
		[K_VOICE_DONE] = 1, [K_VOICE_FAILED] = 1, [K_SOUNDED] = 1, [K_INSTRUCTED] = 2,
		[K_TOOL] = 2,	    [K_CHOICE] = 2,	  [K_MUSIC] = 2,   [K_BEAT] = 1,
		[K_JUDGED] = 1,	    [K_SETTINGS] = 1,	  [K_EOT] = 6};

	memcpy(w, base, sizeof base);
	if (x->n_awaited) {
		w[K_WORDS] += 60;
		w[K_NO_WORDS] += 4;
	}
	if (x->asked) {
		w[K_AUDIO] += 40;
		w[K_TEXT] += 20;
		w[K_DONE] += 14;
		w[K_FAILED] += 3;
	}
	if (x->line.turn) {
		w[K_VOICE] += 40;
		w[K_VOICE_DONE] += 40;
		w[K_VOICE_FAILED] += 3;
	}
	w[K_JUDGED] += x->judging ? 60 : 0;
	w[K_SOUNDED] += x->beat.turn ? 40 : 0;
	w[K_INSTRUCTED] += x->instructed ? 0 : 20;
	if (x->playing && !x->over && !x->started)
		w[K_STARTED] += 40;
	if (x->playing && !x->over && x->started) {
		w[K_DRAINED] += 6;
		w[K_STOPPED] += 4;
		w[K_LOUD] += 80;
		w[K_PARTIAL] += 6;
	}
}

static unsigned wait_of(struct explore *x)
{
	unsigned r = below(x, 1000);

	if (r < 500)
		return 0;
	if (r < 850)
		return below(x, 60);
	if (r < 960)
		return below(x, 1200);
	if (r < 997)
		return below(x, 9000);
	return below(x, JUMP_MS);
}

static struct explore_op make(struct explore *x)
{
	struct explore_op op = {0};
	unsigned w[KINDS], sum = 0, r;

	weights(x, w);
	for (unsigned i = 0; i < KINDS; i++)
		sum += w[i];
	r = below(x, sum);
	while (r >= w[op.kind])
		r -= w[op.kind++];
	op.who = (uint8_t)(1 + below(x, below(x, 4) ? 2 : USERS));
	op.pick = (uint8_t)rnd(x);
	/* A name opens the door: half of all that is said has one. */
	op.text = (uint8_t)(below(x, 2) ? 0 : below(x, TEXTS));
	op.ms = (uint16_t)(below(x, 3) ? PCM_MS : 20);
	op.wait = op.kind == K_LOUD && below(x, 4) ? op.ms : wait_of(x);
	return op;
}

struct collect {
	struct explore *x;
	struct explore_policy *p;
	unsigned row, want;
};

static void one_setting(const char *name, const char *value, bool secret, void *arg)
{
	struct collect *c = arg;
	char *end;
	unsigned long v = strtoul(value, &end, 10);
	static const unsigned share[] = {0, 1, 25, 50, 150, 200, 400};

	if (secret || !*value || *end || c->row++ != c->want || c->p->n == EXPLORE_SETTINGS)
		return;
	snprintf(c->p->set[c->p->n].name, sizeof c->p->set[0].name, "%s", name);
	snprintf(c->p->set[c->p->n++].value, sizeof c->p->set[0].value, "%lu",
		 v * share[below(c->x, sizeof share / sizeof share[0])] / 100);
}

static void choose(struct explore_policy *p, const char *name, const char *value)
{
	snprintf(p->set[p->n].name, sizeof p->set[0].name, "%s", name);
	snprintf(p->set[p->n++].value, sizeof p->set[0].value, "%s", value);
}

static const char *const admissions[] = {"generation", "classifier", "native"};

/* Most runs are of the defaults; the others have some numbers less or more. */
static void make_policy(struct explore *x, struct explore_policy *p)
{
	struct collect c = {.x = x, .p = p};
	struct settings *s;
	unsigned n = below(x, 3) ? 0 : 1 + below(x, 3);

	p->n = 0;
	if (below(x, 4))
		choose(p, "guest", "off");
	if (below(x, 2) == 0)
		choose(p, "reply_path", below(x, 3) ? "brain" : "bridge");
	if (below(x, 4) == 0)
		choose(p, "interruptions", below(x, 2) ? "none" : "anyone");
	if (below(x, 4) == 0)
		choose(p, "admission",
		       admissions[below(x, sizeof admissions / sizeof admissions[0])]);
	if (below(x, 4) == 0) {
		choose(p, "volition", "chatty");
		choose(p, "thought_silence_s", "8");
		choose(p, "greet", below(x, 2) ? "yes" : "no");
	}
	if (settings_alloc(&s))
		abort();
	for (unsigned i = 0; i < n; i++) {
		c.row = 0;
		c.want = below(x, 80);
		settings_each(s, one_setting, &c);
	}
	settings_free(s);
}

const char *explore_random(struct explore *x, struct explore_run *run, uint64_t seed, unsigned n,
			   uint64_t *steps)
{
	x->random = seed * 0x2545f4914f6cdd1dull + 1;
	make_policy(x, &run->policy);
	run->n = 0;
	begin(x, &run->policy, steps);
	while (run->n < n && run->n < EXPLORE_OPS && !x->broken) {
		run->op[run->n] = make(x);
		play_op(x, &run->op[run->n++], steps);
	}
	/* One in four ends by leaving, one in four is wanted to end. */
	for (unsigned how = below(x, 4), i = 0;
	     how < 2 && i < 2 && !x->broken && run->n < EXPLORE_OPS; i++) {
		run->op[run->n] = (struct explore_op){.kind = how ? K_OVER : K_SHUTDOWN,
						      .text = (uint8_t)rnd(x)};
		play_op(x, &run->op[run->n++], steps);
		how = 0;
	}
	rest(x, steps);
	end(x);
	return x->broken;
}

/* ---- every order of a few ---- */

#define LOUD(user)                                                                                 \
	{                                                                                          \
		.kind = K_LOUD, .who = (user), .ms = PCM_MS, .wait = PCM_MS                        \
	}
static const struct explore_op alphabet[] = {
	{.kind = K_TIMER},
	LOUD(1),
	LOUD(2),
	{.kind = K_END, .who = 1},
	{.kind = K_END, .who = 2},
	{.kind = K_WORDS},
	{.kind = K_WORDS, .text = 2},
	{.kind = K_NO_WORDS},
	{.kind = K_AUDIO, .ms = PCM_MS},
	{.kind = K_DONE},
	{.kind = K_FAILED},
	{.kind = K_STARTED},
	{.kind = K_DRAINED},
	{.kind = K_STOPPED},
	{.kind = K_LEAVE, .who = 1},
	{.kind = K_CALL},
};

/* A person spoke; was asked for; hears the answer, while another speaks. */
static const struct explore_op beginning[] = {
	{.kind = K_JOIN, .who = 2}, LOUD(1),	       LOUD(1),
	{.kind = K_END, .who = 1},  {.kind = K_WORDS}, {.kind = K_AUDIO, .ms = PCM_MS},
	{.kind = K_STARTED},	    LOUD(2),
};
static const unsigned beginnings[] = {1, 3, 5, 6, 7, 8};

enum {
	LETTERS = sizeof alphabet / sizeof alphabet[0],
	BEGINNINGS = sizeof beginnings / sizeof beginnings[0]
};

const char *explore_all(struct explore *x, struct explore_run *run, unsigned depth, uint64_t *steps)
{
	uint64_t words = 1;

	for (unsigned i = 0; i < depth; i++)
		words *= LETTERS;
	run->policy.n = 1;
	snprintf(run->policy.set[0].name, sizeof run->policy.set[0].name, "guest");
	snprintf(run->policy.set[0].value, sizeof run->policy.set[0].value, "off");
	for (unsigned b = 0; b < BEGINNINGS; b++)
		for (uint64_t word = 0; word < words; word++) {
			uint64_t rest_of = word;

			run->n = beginnings[b];
			memcpy(run->op, beginning, run->n * sizeof run->op[0]);
			for (unsigned i = 0; i < depth; i++, rest_of /= LETTERS)
				run->op[run->n++] = alphabet[rest_of % LETTERS];
			if (explore_play(x, run, steps, NULL))
				return x->broken;
		}
	return NULL;
}

/* ---- making a failing run short ---- */

static bool still_fails(struct explore *x, const struct explore_run *run, uint64_t *steps)
{
	return explore_play(x, run, steps, NULL) != NULL;
}

void explore_shrink(struct explore *x, struct explore_run *run, uint64_t *steps)
{
	struct explore_run *try = malloc(sizeof *try);

	if (!try)
		abort();
	for (unsigned size = run->n / 2; size; size /= 2)
		for (unsigned at = 0; at + size <= run->n;) {
			*try = *run;
			memmove(&try->op[at], &try->op[at + size],
				(run->n - at - size) * sizeof run->op[0]);
			try->n -= size;
			if (still_fails(x, try, steps))
				*run = *try;
			else
				at += size;
		}
	for (unsigned i = 0; i < run->n; i++) {
		*try = *run;
		try->op[i].wait = 0;
		if (still_fails(x, try, steps))
			*run = *try;
	}
	for (unsigned i = run->policy.n; i-- > 0;) {
		*try = *run;
		memmove(&try->policy.set[i], &try->policy.set[i + 1],
			(run->policy.n - i - 1) * sizeof try->policy.set[0]);
		try->policy.n--;
		if (still_fails(x, try, steps))
			*run = *try;
	}
	free(try);
}

/* ---- coming and going ---- */

static void tone(uint8_t *pcm, size_t samples, int amp)
{
	for (size_t i = 0; i < samples; i++) {
		int16_t v = (int16_t)(i / 8 % 2 ? amp : -amp);

		pcm[2 * i] = (uint8_t)(v & 0xff);
		pcm[2 * i + 1] = (uint8_t)((uint16_t)v >> 8);
	}
}

int explore_alloc(struct explore **out, struct watch_seen *seen)
{
	struct explore *x = calloc(1, sizeof *x);

	if (!x)
		return ENOMEM;
	if (watch_alloc(&x->watch, seen)) {
		free(x);
		return ENOMEM;
	}
	tone(x->loud, sizeof x->loud / 2, 6000);
	tone(x->soft, sizeof x->soft / 2, 100);
	*out = x;
	return 0;
}

struct explore *explore_free(struct explore *x)
{
	if (x)
		watch_free(x->watch);
	free(x);
	return NULL;
}
