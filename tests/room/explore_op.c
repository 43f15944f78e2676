/* Ops become events. */
#include <string.h>

#include "proto/base/time.h"
#include "tests/room/explore_inside.h"

enum { START_MS = 1000 };

#define OFTEN                                                                                      \
	"he told us of the river and of the bridge, and then of all that he had seen beyond it; "

static const char *const said[SAID] = {
	"parley what time is it",
	"parley stop",
	"parley",
	"what do you think",
	"mhm",
	"",
	"...",
	"stop",
	"<|endoftext|>",
	"was parley there yesterday",
	"and then we went down to the river and stayed there until it was dark and cold",
	"let me talk",
	"haha",
	"never mind",
	"bert what do you say",
	"no no no no no no no no no no no no",
	"thank you for watching and please do not forget to subscribe to the channel and to ring "
	"the bell and to tell "
	"your friends about everything that you have seen here with us today because that helps us "
	"so very much",
	"we will see",
	"i was there yesterday",
	"no",
	"pause",
	"resume the music",
	"skip this song",
	"stop the music",
	"skip",
	"the second one",
	"two",
	"the last one",
	"something else",
	OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN OFTEN,
	"the sun is still up as far as anybody here can tell", /* written[1], heard again */
	"i did not catch that",				       /* written[2] */
};

static const char *const written[] = {
	"well it is ten past four. ",
	"and the sun is still up, as far as anybody here can tell. ",
	"i did not catch that",
	"[[TO: ALL]] well. [[NOTE: x]] Here we are, all of us! Shall we?",
	"[[TO: SPEAKER]] [[LEASE: ATOMIC]] it is late. ",
	"[[LEASE: ASSERTIVE]] listen. [[SOUNDBOARD: gong]] that was it. ",
	"[[TO: bert]] yes. ",
	"[SKIP]",
	"[[SOUNDBOARD: horn]]",
	"",
};

static const char *const names[EXPLORE_USERS + 1] = {"nobody", "anna", "bert",	 "carla",
						     "dora",   "emil", "jukebox"};
static const char *const music[] = {"loading", "playing", "paused", "idle", "failed"};
static const char *const verdicts[] = {"YES", "NO", "perhaps", "INTERRUPT", "IGNORE"};
static const char *const powers[] = {"mains", "battery", "sun"};
static const char *const lost[] = {"", "crashed", "disconnected"};
static const char *const offers[] = {"play\nthe river\nthe night\nthe train",
				     "queue_add\none of them\nthe other"};
static const char *const ends[] = {
#define X(NAME, name, ...) #name,
	ROOM_ENDS(X)
#undef X
};

static const char *const event_names[] = {
#define X(NAME, name, text) #name,
	ROOM_EVENTS(X)
#undef X
};

static struct slice text_of(const char *text)
{
	return (struct slice){(const uint8_t *)text, strlen(text)};
}

#define ONE_OF(list, i) text_of((list)[(i) % (sizeof(list) / sizeof *(list))])

/* ---- as a line of a scenario ---- */

static void write_text(FILE *f, const char *member, struct slice s)
{
	fprintf(f, " %s=\"", member);
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\n')
			fprintf(f, "\\n");
		else
			fprintf(f, s.p[i] == '"' || s.p[i] == '\\' ? "\\%c" : "%c", s.p[i]);
	fprintf(f, "\"");
}

void explore_write(struct explore *x, const struct room_event *ev)
{
	FILE *f = x->scenario;

	fprintf(f, "%llu event %s", (unsigned long long)(x->now / NS_PER_MS - START_MS),
		event_names[ev->type]);
#define N(type, member)                                                                            \
	if (ev->member)                                                                            \
		fprintf(f, " %s=%llu", #member, (unsigned long long)ev->member);
#define T(member)                                                                                  \
	if (ev->member.n && ev->member.p != x->loud && ev->member.p != x->murmur &&                \
	    ev->member.p != x->soft)                                                               \
		write_text(f, #member, ev->member);
	ROOM_EVENT_FIELDS(N, T)
#undef N
#undef T
	if (ev->pcm.n)
		fprintf(f, " pcm=%zux%u", ev->pcm.n / 2 * 1000 / ROOM_RATE,
			ev->pcm.p == x->loud	 ? EXPLORE_LOUD
			: ev->pcm.p == x->murmur ? EXPLORE_MURMUR
						 : EXPLORE_SOFT);
	fprintf(f, "\n");
}

/* ---- what an op picks ---- */

/* Mostly the right number; else one before, after, none, or any. */
static uint32_t mostly(uint32_t right, uint8_t pick)
{
	static const int off[] = {-1, 1, -2, 2};

	if (pick < 224)
		return right;
	return pick < 240 ? right + (uint32_t)off[pick & 3] : pick & 7;
}

static struct slice sound(const uint8_t *from, uint16_t ms)
{
	return (struct slice){from, (size_t)ms * ROOM_RATE / 1000 * 2};
}

/* As providers tell it. */
static const char *const languages[] = {"", "en", "de-DE", "jpn", "xx", "not a language code"};

/* How sure the recogniser is of its words, if it says so. */
static void trust(const struct explore_op *op, struct room_event *ev)
{
	if (op->ms != 20)
		return;
	ev->doubt = op->pick % 8 == 0 ? 2500 : op->pick % 8 == 1 ? 1 : 0;
	ev->no_speech = op->pick % 8 == 2 ? 951 : op->pick % 8 == 1 ? 1 : 0;
}

static void words(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	unsigned i = x->n_awaited ? op->pick % x->n_awaited : 0;

	trust(op, ev);
	ev->language = ONE_OF(languages, op->pick);
	if (!x->n_awaited || op->pick >= 250) {
		ev->utterance = mostly(x->utterance[op->who], op->pick);
		return;
	}
	ev->user = x->awaited[i].user;
	ev->utterance = x->awaited[i].utterance;
	/* Sometimes it comes again. */
	if (op->pick < 200)
		memmove(&x->awaited[i], &x->awaited[i + 1],
			(--x->n_awaited - i) * sizeof x->awaited[0]);
}

/* Each message has words of its own, and is typed, edited and deleted again and again. */
static void type_message(const struct explore_op *op, struct room_event *ev)
{
	static const char *const typed[] = {"anna\nthe first tide turns at one",
					    "anna\nthe second tide turns at two",
					    "anna\nthe third tide turns at three"};
	static const char *const edited[] = {"", "", "the tide turned early",
					     "the first tide turns at one"};

	ev->message = op->who % 3u + (op->pick < 250);
	ev->text = ev->type == ROOM_TYPED ? ONE_OF(typed, op->who) : ONE_OF(edited, op->pick >> 5);
}

static void other(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	struct slice t = ev->text;
	unsigned any = op->text; /* the type follows from the other numbers */

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
	/* What the memory returns, mostly to the newest search. */
	if (ev->type == ROOM_RETRIEVED && op->who & 1) {
		ev->chunk = x->retrieve;
		ev->yes = true;
		ev->text = text_of(any & 1   ? "f12 u7\nAnna likes tea."
				   : any & 2 ? "s9 u7\nThey spoke of tea."
					     : "p3 f12\nAnna likes tea.");
	} else if (ev->type == ROOM_MEMORY) {
		ev->yes = op->who & 1;
	} else if (ev->type == ROOM_RECALLED) {
		ev->text = text_of(any & 1 ? "anna\nthe river is high" : "anna");
	} else if (ev->type == ROOM_TYPED || ev->type == ROOM_EDITED) {
		type_message(op, ev);
	}
}

static void playback(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	uint64_t left = (x->now - x->started_at) * ROOM_RATE / NS_PER_S;

	ev->turn = mostly(x->playing, op->pick);
	if (op->kind == K_STARTED) {
		ev->type = ROOM_SAY_STARTED;
		ev->at = x->now;
		x->started = true;
		x->started_at = x->now;
		return;
	}
	/* mediad tells no end of sound that was not ended: such a pick is a stop. */
	ev->type = op->kind == K_DRAINED && x->ended ? ROOM_SAY_DRAINED : ROOM_SAY_STOPPED;
	ev->samples = ev->type == ROOM_SAY_DRAINED || left > x->written ? x->written : left;
	x->over = ev->turn == x->playing || x->over;
}

static void voice(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	bool beat = op->kind == K_SOUNDED;

	ev->turn = mostly(beat ? x->beat.turn : x->line.turn, op->pick);
	ev->chunk = mostly(beat ? x->beat.chunk : x->line.chunk, (uint8_t)(op->pick * 7u));
	if (op->kind == K_VOICE)
		ev->pcm = sound(x->soft, op->ms);
	if (op->kind == K_WORD) {
		ev->text = text_of(op->text % 2 ? "well" : "is");
		ev->samples = op->ms * 24u;
	}
	if (op->kind == K_VOICE_DONE || op->kind == K_VOICE_FAILED)
		x->line.turn = 0;
	if (beat)
		x->beat.turn = 0;
}

static void brain(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	ev->turn = mostly(x->asked ? x->asked : x->playing, op->pick);
	if (op->kind == K_AUDIO)
		ev->pcm = sound(x->soft, op->ms);
	if (op->kind == K_TEXT)
		ev->text = ONE_OF(written, op->text);
}

/* A murmur is a voice that can be the bot's own, come back. */
static const uint8_t *tone_of(const struct explore *x, const struct explore_op *op)
{
	if (op->kind == K_LOUD)
		return x->loud;
	return op->kind == K_SOFT && op->pick & 1 ? x->murmur : x->soft;
}

static void heard(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	ev->user = op->who;
	ev->at = x->now;
	if (op->kind == K_LOUD || op->kind == K_SOFT || op->kind == K_OLD)
		ev->pcm = sound(tone_of(x, op), op->ms);
	if (op->kind == K_OLD)
		ev->at = x->packet_at - (x->packet_at > 300 * NS_PER_MS ? op->pick * NS_PER_MS : 0);
	else if (op->kind == K_OFF || op->kind == K_END)
		ev->at = x->packet_at;
	else if (op->kind != K_ON)
		x->packet_at = x->now;
	ev->yes = op->kind == K_ON;
}

static void fact(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	switch ((enum explore_kind)op->kind) {
	case K_INSTRUCTED:
		x->instructed = true;
		ev->chunk = mostly(x->instructions, op->pick);
		break;
	case K_MUSIC:
		ev->text = ONE_OF(music, op->text);
		ev->turn = mostly(x->asked, op->pick);
		ev->yes = op->pick & 1;
		break;
	case K_CLASSIFIED:
		ev->turn = mostly(x->judging.turn, op->pick);
		ev->chunk = mostly(x->judging.question, (uint8_t)(op->pick * 7u));
		ev->yes = op->pick < 230;
		ev->text = ONE_OF(verdicts, op->text);
		if (op->pick < 200) /* else it answers twice */
			x->judging.question = 0;
		break;
	case K_EOT:
		ev->user = op->who;
		ev->utterance = x->utterance[op->who];
		ev->probability = op->pick * 97 % 1200;
		ev->text = ONE_OF(said, op->text);
		break;
	case K_POWER:
		ev->text = ONE_OF(powers, op->text);
		break;
	case K_SETTINGS:
		ev->yes = op->pick > 2;
		break;
	case K_OVER:
		ev->text = ONE_OF(ends, op->text);
		break;
	case K_JOIN:
	case K_LEAVE:
		ev->user = op->who;
		ev->yes = op->kind == K_JOIN;
		ev->is_bot = op->who == EXPLORE_USERS;
		ev->text = ONE_OF(names, op->who);
		break;
	case K_CALL:
		ev->yes = op->pick & 1;
		if (!ev->yes)
			ev->text = ONE_OF(lost, op->text);
		break;
	case K_MUTE:
		ev->yes = op->pick & 1;
		break;
	default: /* a tool, a choice, a sound of somebody's */
		ev->user = op->who;
		ev->yes = op->pick & 1;
		if (op->kind != K_TOOL)
			ev->text = ONE_OF(offers, op->text);
		break;
	}
}

void explore_event(struct explore *x, const struct explore_op *op, struct room_event *ev)
{
	static const struct {
		enum room_event_type type;
		void (*make)(struct explore *x, const struct explore_op *op, struct room_event *ev);
	} of[KINDS] = {[K_TIMER] = {ROOM_TIMER, NULL},
		       [K_LOUD] = {ROOM_HEARD, heard},
		       [K_SOFT] = {ROOM_HEARD, heard},
		       [K_OLD] = {ROOM_HEARD, heard},
		       [K_ON] = {ROOM_SPEAKING, heard},
		       [K_OFF] = {ROOM_SPEAKING, heard},
		       [K_END] = {ROOM_HEARD_END, heard},
		       [K_PARTIAL] = {ROOM_PARTIAL, NULL},
		       [K_WORDS] = {ROOM_TRANSCRIPT, words},
		       [K_OWN_WORDS] = {ROOM_TRANSCRIPT, NULL},
		       [K_NO_WORDS] = {ROOM_TRANSCRIPT_FAILED, words},
		       [K_AUDIO] = {ROOM_BRAIN_AUDIO, brain},
		       [K_TEXT] = {ROOM_BRAIN_TEXT, brain},
		       [K_DONE] = {ROOM_BRAIN_DONE, brain},
		       [K_FAILED] = {ROOM_BRAIN_FAILED, brain},
		       [K_VOICE] = {ROOM_SPEECH_AUDIO, voice},
		       [K_WORD] = {ROOM_SPEECH_WORD, voice},
		       [K_VOICE_DONE] = {ROOM_SPEECH_DONE, voice},
		       [K_VOICE_FAILED] = {ROOM_SPEECH_FAILED, voice},
		       [K_SOUNDED] = {ROOM_SOUND_DONE, voice},
		       [K_INSTRUCTED] = {ROOM_INSTRUCTED, fact},
		       [K_TOOL] = {ROOM_TOOL, fact},
		       [K_CHOICE] = {ROOM_CHOICE, fact},
		       [K_MUSIC] = {ROOM_MUSIC, fact},
		       [K_SOUNDBOARD_PLAYED] = {ROOM_SOUNDBOARD_PLAYED, fact},
		       [K_CLASSIFIED] = {ROOM_CLASSIFIED, fact},
		       [K_EOT] = {ROOM_EOT, fact},
		       [K_POWER] = {ROOM_POWER, fact},
		       [K_SETTINGS] = {ROOM_SETTINGS, fact},
		       [K_OVER] = {ROOM_END, fact},
		       [K_STARTED] = {ROOM_SAY_STARTED, playback},
		       [K_DRAINED] = {ROOM_SAY_DRAINED, playback},
		       [K_STOPPED] = {ROOM_SAY_STOPPED, playback},
		       [K_JOIN] = {ROOM_MEMBER, fact},
		       [K_LEAVE] = {ROOM_MEMBER, fact},
		       [K_CALL] = {ROOM_CALL, fact},
		       [K_MUTE] = {ROOM_MUTE, fact},
		       [K_SHUTDOWN] = {ROOM_SHUTDOWN, NULL},
		       [K_OTHER] = {ROOM_TIMER, other}};
	bool speech = op->kind == K_PARTIAL || op->kind == K_WORDS || op->kind == K_OWN_WORDS ||
		      op->kind == K_OTHER;

	*ev = (struct room_event){.type = of[op->kind].type};
	if (speech) {
		ev->user = op->who;
		ev->text = ONE_OF(said, op->text);
		ev->utterance = x->utterance[op->who];
	}
	if (op->kind == K_PARTIAL)
		ev->utterance = mostly(ev->utterance, op->pick);
	if (op->kind == K_NO_WORDS)
		ev->user = op->who;
	if (of[op->kind].make)
		of[op->kind].make(x, op, ev);
}
