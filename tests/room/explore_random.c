/* Runs by seed. What comes next is drawn by how the room stands and by the run's world: in each
 * world something else is frequent that is rare elsewhere, so that all of the room is seen, and
 * seen often. */
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/room/explore_inside.h"

enum { JUMP_MS = 130000 };

/* ---- randomness ---- */

static unsigned below(struct explore *x, unsigned n)
{
	return random_below(&x->random, n);
}

/* ---- worlds ---- */

enum { BIASES = 10 };

static const struct world {
	unsigned share;
	const char *settings; /* name=value … */
	unsigned named;	      /* of four words how many have the bot's name */
	unsigned from, to;    /* what else is said, mostly */
	struct {
		enum explore_kind kind;
		unsigned more;
	} bias[BIASES];
} worlds[] = {
	/* anything */
	{8, "", 2, SAID_ANY, SAID, {{0}}},
	{4, "guest=off", 2, SAID_ANY, SAID, {{0}}},
	/* what is read out */
	{6,
	 "guest=off reply_path=brain stall_ms=60000 chunk_sentences=1 chunk_eager=8",
	 3,
	 SAID_ANY,
	 SAID,
	 {{K_TEXT, 30}, {K_WORD, 10}, {K_SOUNDED, 6}, {K_DRAINED, 40}, {K_VOICE_DONE, 20}}},
	{3,
	 "guest=off reply_path=brain speech_pause_ms=200 speech_resume_ms=0 interruptions=none",
	 3,
	 SAID_ANY,
	 SAID,
	 {{K_TEXT, 30}, {K_DONE, 10}, {K_DRAINED, 80}, {K_VOICE_DONE, 30}, {K_TIMER, 60}}},
	{2,
	 "reply_path=brain",
	 3,
	 SAID_ANY,
	 SAID,
	 {{K_TEXT, 20}, {K_DRAINED, 20}, {K_VOICE_FAILED, 20}, {K_TOOL, 10}}},
	/* a model that receives the room's state first */
	{2,
	 "guest=off reply_path=bridge",
	 2,
	 SAID_ANY,
	 SAID,
	 {{K_JOIN, 10}, {K_LEAVE, 10}, {K_INSTRUCTED, 10}}},
	/* music */
	{3, "guest=off", 2, SAID_MUSIC, SAID_CHOICE, {{K_MUSIC, 40}, {K_STARTED, 10}}},
	{4,
	 "guest=off context_refresh_ms=0 interruptions=none",
	 3,
	 SAID_MUSIC,
	 SAID_CHOICE,
	 {{K_MUSIC, 30}, {K_JOIN, 20}, {K_LEAVE, 15}, {K_WORDS, 20}}},
	{4,
	 "guest=off interruptions=none silent_ms=60000 first_audio_ms=60000",
	 4,
	 SAID_MUSIC,
	 SAID_CHOICE,
	 {{K_MUSIC, 80}, {K_LOUD, 100}, {K_WORDS, 80}, {K_JOIN, 10}}},
	/* a small model decides, and does not always answer */
	{3,
	 "guest=off admission=classifier classify_failures=2 classify_rest_s=5 floor_decay_s=5",
	 0,
	 SAID_ANY,
	 SAID_MUSIC,
	 {{K_CLASSIFIED, 10}, {K_JOIN, 8}}},
	{2,
	 "guest=off admission=focus volition=balanced classify_failures=2 floor_decay_s=5",
	 0,
	 SAID_ANY,
	 SAID_MUSIC,
	 {{K_CLASSIFIED, 10}, {K_JOIN, 8}, {K_WORDS, 20}}},
	{1, "guest=off admission=focus", 1, SAID_ANY, SAID, {{K_JOIN, 8}}},
	{1, "guest=off admission=generation", 1, SAID_ANY, SAID, {{K_TEXT, 10}}},
	{1, "guest=off admission=native", 1, SAID_ANY, SAID, {{0}}},
	{1, "command_only=yes", 1, SAID_ANY, SAID, {{0}}},
	/* words over an answer that no list has */
	{3,
	 "guest=off classify_interruptions=yes classify_failures=2 classify_rest_s=5 "
	 "interruptions=anyone echo_guard_ms=0 stall_ms=60000",
	 2,
	 SAID_ANY,
	 SAID_MUSIC,
	 {{K_CLASSIFIED, 10},
	  {K_LOUD, 80},
	  {K_WORDS, 40},
	  {K_PARTIAL, 20},
	  {K_AUDIO, 40},
	  {K_STARTED, 20}}},
	{2,
	 "guest=off classify_interruptions=yes echo_guard_ms=0 admission=classifier",
	 2,
	 SAID_ANY,
	 SAID_MUSIC,
	 {{K_CLASSIFIED, 4},
	  {K_LOUD, 80},
	  {K_WORDS, 40},
	  {K_AUDIO, 40},
	  {K_STARTED, 20},
	  {K_JOIN, 8}}},
	/* only the bot's name interrupts */
	{2, "guest=off interruptions=name", 2, SAID_ANY, SAID, {{K_WORDS, 40}, {K_DRAINED, 20}}},
	/* speculative answers */
	{3,
	 "guest=off speculative=on eot_share=300 eot_end_share=600",
	 3,
	 SAID_ANY,
	 SAID_MUSIC,
	 {{K_EOT, 40}, {K_POWER, 1}, {K_OWN_WORDS, 20}, {K_TOOL, 6}}},
	{1, "speculative=auto", 3, SAID_ANY, SAID_MUSIC, {{K_EOT, 40}, {K_POWER, 4}}},
	/* speech-to-text */
	{3, "guest=off asr_sessions=file", 2, SAID_ANY, SAID, {{K_LOUD, 40}, {K_END, 20}}},
	{2, "asr_sessions=shared", 2, SAID_ANY, SAID, {{K_LOUD, 20}}},
	{1, "noise_rms=32767 noise_peak=32767 noise_active=1000", 2, SAID_ANY, SAID, {{K_END, 10}}},
	{3,
	 "promote_ms=100 pause_ms=60 duck_ms=20",
	 2,
	 SAID_ANY,
	 SAID,
	 {{K_LOUD, 40}, {K_OLD, 60}, {K_OFF, 40}}},
	{2, "capture_max_ms=2000 guest=off", 2, SAID_ANY, SAID, {{K_LOUD, 200}, {K_WORDS, 20}}},
	{2,
	 "capture_max_ms=2000 guest=off admission=classifier",
	 1,
	 SAID_ANY,
	 SAID,
	 {{K_LOUD, 200}, {K_WORDS, 20}}},
	{2,
	 "capture_max_ms=2000 asr_most_pace=100000 guest=off",
	 1,
	 SAID_LONG,
	 SAID_LONG + 1,
	 {{K_LOUD, 200}, {K_WORDS, 20}}},
	/* somebody has to choose, or has a tool at work */
	{2, "guest=off", 1, SAID_CHOICE, SAID, {{K_CHOICE, 30}}},
	{3, "guest=off", 3, SAID_ANY, SAID, {{K_TOOL, 60}, {K_CALL, 4}}},
	{1, "guest=off tool_ms=1000", 2, SAID_ANY, SAID, {{K_TOOL, 40}}},
	/* answers that stay silent */
	{2, "guest=off silent_ms=500 response_retries=1", 3, SAID_ANY, SAID, {{K_TIMER, 200}}},
	{2, "guest=off silent_ms=500 response_retries=0", 3, SAID_ANY, SAID, {{K_TIMER, 200}}},
	/* many voices over the bot's */
	{3,
	 "guest=off interruptions=anyone echo_guard_ms=0",
	 2,
	 SAID_ANY,
	 SAID,
	 {{K_LOUD, 120}, {K_PARTIAL, 30}, {K_AUDIO, 40}}},
	{3,
	 "guest=off interruptions=anyone barge_in_ms=5000 overlap_words_ms=3000",
	 3,
	 SAID_ANY,
	 SAID,
	 {{K_LOUD, 200}, {K_AUDIO, 80}, {K_STARTED, 20}, {K_JOIN, 10}}},
	{2,
	 "guest=off interruptions=none defer_max=1",
	 3,
	 SAID_ANY,
	 SAID_MUSIC,
	 {{K_JOIN, 30}, {K_LOUD, 100}, {K_WORDS, 40}, {K_AUDIO, 40}}},
	/* a memory that is searched */
	{2, "guest=off memory_wait_ms=1000", 3, SAID_ANY, SAID, {{K_OTHER, 150}}},
	/* voices that the barge-in gate holds back: its own, come back, and noise */
	{3,
	 "guest=off interruptions=anyone echo_guard_ms=0 barge_in_ms=100 "
	 "stall_ms=60000",
	 1,
	 SAID_ECHO,
	 SAID,
	 {{K_LOUD, 100},
	  {K_SOFT, 200},
	  {K_END, 20},
	  {K_WORDS, 60},
	  {K_TEXT, 30},
	  {K_AUDIO, 60},
	  {K_STARTED, 30}}},
	{1,
	 "guest=off interruptions=anyone echo_guard_ms=0 barge_in_ms=100 "
	 "noise_peak=32767 noise_active=1000",
	 3,
	 SAID_ANY,
	 SAID,
	 {{K_LOUD, 200}, {K_AUDIO, 60}, {K_STARTED, 30}}},
	/* words of its own accord */
	{2,
	 "guest=off volition=chatty thought_silence_s=8 thought_interval_s=8 "
	 "thought_eagerness=100 greet=yes debounce_ms=300 overhear=always",
	 1,
	 SAID_ANY,
	 SAID,
	 {{K_TIMER, 200}, {K_AUDIO, 20}}},
	{1,
	 "guest=off screen_commentary=yes commentary_eagerness=100 commentary_interval_s=5",
	 1,
	 SAID_ANY,
	 SAID,
	 {{K_TIMER, 200}, {K_OTHER, 100}, {K_AUDIO, 20}}},
	{2,
	 "guest=off summary_silence_s=2 overhear=always",
	 2,
	 SAID_ANY,
	 SAID,
	 {{K_TIMER, 200}, {K_WORDS, 60}, {K_DRAINED, 40}}},
	{1,
	 "guest=off volition=balanced floor_decay_s=5",
	 0,
	 SAID_ANY,
	 SAID_MUSIC,
	 {{K_TIMER, 60}, {K_JOIN, 10}}},
	/* calls that are lost, and sessions that end */
	{2,
	 "session_max_min=3 inactivity_s=60 call_grace_ms=500 media_recover_s=5",
	 2,
	 SAID_ANY,
	 SAID,
	 {{K_CALL, 6}, {K_TIMER, 100}, {K_SETTINGS, 1}, {K_MUTE, 4}}},
	{1, "guest=off", 3, SAID_ANY, SAID, {{K_CALL, 30}, {K_MUTE, 30}}},
};

enum { WORLDS = sizeof worlds / sizeof worlds[0] };

static const struct world *draw_world(struct explore *x)
{
	unsigned sum = 0, r;

	for (unsigned i = 0; i < WORLDS; i++)
		sum += worlds[i].share;
	r = below(x, sum);
	for (unsigned i = 0;; i++) {
		if (r < worlds[i].share)
			return &worlds[i];
		r -= worlds[i].share;
	}
}

/* ---- settings ---- */

static void choose(struct explore_policy *p, const char *name, const char *value)
{
	if (p->n == EXPLORE_SETTINGS)
		return;
	snprintf(p->set[p->n].name, sizeof p->set[0].name, "%s", name);
	snprintf(p->set[p->n++].value, sizeof p->set[0].value, "%s", value);
}

static void of_world(struct explore_policy *p, const char *settings)
{
	char all[256], *rest = all, *one;

	snprintf(all, sizeof all, "%s", settings);
	while ((one = strsep(&rest, " ")) != NULL) {
		char *value = strchr(one, '=');

		if (!value)
			continue;
		*value = '\0';
		choose(p, one, value + 1);
	}
}

struct collect {
	struct explore *x;
	struct explore_policy *p;
	unsigned row, want;
};

static void one_setting(const char *name, const char *value, bool secret, void *arg)
{
	struct collect *c = arg;
	char *end, less_or_more[24];
	unsigned long v = strtoul(value, &end, 10);
	static const unsigned share[] = {0, 1, 25, 50, 150, 200, 400};

	if (secret || !*value || *end || c->row++ != c->want)
		return;
	snprintf(less_or_more, sizeof less_or_more, "%lu",
		 v * share[below(c->x, sizeof share / sizeof share[0])] / 100);
	choose(c->p, name, less_or_more);
}

static void numbers(struct explore *x, struct explore_policy *p, unsigned n)
{
	struct collect c = {.x = x, .p = p};
	struct settings *s;

	if (!n)
		return;
	if (settings_alloc(&s))
		abort();
	for (; n; n--) {
		c.row = 0;
		c.want = below(x, 80);
		settings_each(s, one_setting, &c);
	}
	settings_free(s);
}

/* In a third of the runs some numbers are less or more than usual. */
static void make_policy(struct explore *x, const struct world *world, struct explore_policy *p)
{
	p->n = 0;
	of_world(p, world->settings);
	if (!*world->settings && below(x, 4) == 0)
		choose(p, "interruptions", below(x, 2) ? "none" : "anyone");
	numbers(x, p, below(x, 3) ? 0 : 1 + below(x, 3));
}

/* ---- ops ---- */

/* What is likely next, as the room stands. */
static void weights(const struct explore *x, const struct world *world, unsigned w[KINDS])
{
	static const unsigned base[KINDS] = {
		[K_TIMER] = 30,	    [K_LOUD] = 60,	[K_SOFT] = 6,
		[K_OLD] = 2,	    [K_ON] = 6,		[K_OFF] = 8,
		[K_END] = 16,	    [K_PARTIAL] = 4,	[K_WORDS] = 2,
		[K_OWN_WORDS] = 1,  [K_NO_WORDS] = 1,	[K_AUDIO] = 2,
		[K_TEXT] = 2,	    [K_DONE] = 2,	[K_FAILED] = 1,
		[K_STARTED] = 1,    [K_DRAINED] = 1,	[K_STOPPED] = 1,
		[K_JOIN] = 4,	    [K_LEAVE] = 2,	[K_CALL] = 1,
		[K_MUTE] = 1,	    [K_OTHER] = 4,	[K_VOICE] = 1,
		[K_WORD] = 1,	    [K_VOICE_DONE] = 1, [K_VOICE_FAILED] = 1,
		[K_SOUNDED] = 1,    [K_INSTRUCTED] = 2, [K_TOOL] = 2,
		[K_CHOICE] = 2,	    [K_MUSIC] = 2,	[K_SOUNDBOARD_PLAYED] = 1,
		[K_CLASSIFIED] = 1, [K_SETTINGS] = 1,	[K_EOT] = 4,
		[K_POWER] = 1};

	memcpy(w, base, sizeof base);
	for (unsigned i = 0; i < BIASES && world->bias[i].more; i++)
		w[world->bias[i].kind] += world->bias[i].more;
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
	w[K_CLASSIFIED] += x->judging.question ? 60 : 0;
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

/* What is said, or written: people say the bot's name as often as their world has it. */
static unsigned text_of(struct explore *x, const struct world *world)
{
	if (below(x, 4) < world->named)
		return SAID_NAMED + (below(x, 8) ? 0 : below(x, SAID_ANY));
	if (below(x, 2))
		return world->from + below(x, world->to - world->from);
	return below(x, SAID);
}

static struct explore_op make(struct explore *x, const struct world *world)
{
	struct explore_op op = {0};
	unsigned w[KINDS], sum = 0, r;

	weights(x, world, w);
	for (unsigned i = 0; i < KINDS; i++)
		sum += w[i];
	r = below(x, sum);
	while (r >= w[op.kind])
		r -= w[op.kind++];
	op.who = (uint8_t)(1 + below(x, below(x, 4) ? 2 : EXPLORE_USERS));
	op.pick = (uint8_t)random_next(&x->random);
	op.text = (uint8_t)(op.kind == K_PARTIAL || op.kind == K_WORDS || op.kind == K_OWN_WORDS ||
					    op.kind == K_EOT
				    ? text_of(x, world)
				    : random_next(&x->random));
	/* What comes back must have been said. */
	if (op.kind == K_TEXT && world->from == SAID_ECHO && below(x, 4))
		op.text = (uint8_t)(1 + below(x, 2));
	op.ms = (uint16_t)(below(x, 3) ? EXPLORE_SOUND_MS : 20);
	op.wait = op.kind == K_LOUD && below(x, 4) ? op.ms : wait_of(x);
	return op;
}

static void play(struct explore *x, struct explore_run *run, struct explore_op op)
{
	if (run->n == EXPLORE_OPS || x->broken)
		return;
	run->op[run->n] = op;
	explore_do(x, &run->op[run->n++]);
}

const char *explore_random(struct explore *x, struct explore_run *run, uint64_t seed, unsigned n)
{
	const struct world *world;

	x->random = seed * 0x2545f4914f6cdd1dull + 1;
	world = draw_world(x);
	make_policy(x, world, &run->policy);
	run->n = 0;
	explore_begin(x, &run->policy);
	/* Mostly the call comes up first, and somebody is there. */
	if (below(x, 16))
		play(x, run, (struct explore_op){.kind = K_CALL, .pick = 1});
	play(x, run, (struct explore_op){.kind = K_JOIN, .who = 1});
	while (run->n < n && !x->broken && !x->room->context.over)
		play(x, run, make(x, world));
	/* One in four ends by leaving, one in four is wanted to end; and one fact more may come. */
	if (below(x, 4) == 0)
		play(x, run, (struct explore_op){.kind = K_SHUTDOWN});
	else if (below(x, 3) == 0)
		play(x, run,
		     (struct explore_op){.kind = K_OVER, .text = (uint8_t)random_next(&x->random)});
	if (x->room->context.over)
		play(x, run, make(x, world));
	explore_rest(x);
	explore_end(x);
	return x->broken;
}
