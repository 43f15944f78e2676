/* Random walks of one playback: connections break, mediads are killed, end while they report or
 * refuse the call. Whatever happens, Discord gets its samples in order and without a gap, and it
 * ends once. */
#include "tests/unit/control/media/toy_mediad.h"

#include "control/media/call.h"
#include "tests/random.h"

enum { STEPS = 30, WINDOW = 3000, MOST_SAMPLES = 30000, ENDS = 8 };

/* The playback in the mediad. */
struct speech {
	uint32_t id;
	uint64_t first;		 /* place of its first sample in the whole playback */
	uint64_t written, taken; /* counted from there */
	bool began, ended, paused;
};

struct walk {
	struct toy toy;
	uint64_t chance;
	bool holds, full;
	uint32_t call, gen;
	struct speech speech;
	struct media_msg over[ENDS]; /* how playbacks ended */
	unsigned n_over;
	uint64_t sent; /* to Discord, in places of the whole playback */
	/* control's side */
	uint64_t wrote, samples;
	bool ended;
	unsigned ends;
	const char *fault;
};

static void check(struct walk *w, bool is, const char *fault)
{
	if (!is && !w->fault)
		w->fault = fault;
}

static void say(struct walk *w, struct media_msg msg)
{
	msg.call_close.call = w->call;
	msg.call_close.gen = w->gen;
	toy_send(&w->toy, msg);
}

static void say_credit(struct walk *w)
{
	say(w, (struct media_msg){.type = MEDIA_SAY_CREDIT,
				  .say_credit = {.playback = w->speech.id,
						 .samples = w->speech.taken + WINDOW}});
}

static void end_speech(struct walk *w, enum media_reason why)
{
	struct media_msg msg = {
		.type = MEDIA_SAY_DRAINED,
		.say_drained = {.playback = w->speech.id, .samples = w->speech.taken}};

	if (why != MEDIA_REASON_NONE)
		msg = (struct media_msg){.type = MEDIA_SAY_STOPPED,
					 .say_stopped = {.playback = w->speech.id,
							 .samples = w->speech.taken,
							 .reason = (uint8_t)why}};
	say(w, msg);
	w->over[w->n_over++ % ENDS] = msg;
	w->speech = (struct speech){0};
}

/* n samples go to Discord. */
static void play(struct walk *w, uint64_t n)
{
	struct speech *s = &w->speech;

	if (!s->id || s->paused)
		return;
	if (n > s->written - s->taken)
		n = s->written - s->taken;
	s->taken += n;
	if (s->began && s->first + s->taken > w->sent)
		w->sent = s->first + s->taken;
	if (n)
		say_credit(w);
	if (s->ended && s->taken == s->written)
		end_speech(w, MEDIA_REASON_NONE);
}

static void report(struct walk *w)
{
	const struct speech *s = &w->speech;

	toy_state(&w->toy, w->call, w->gen, toy_want.guild, MEDIA_PHASE_UP, false);
	if (s->id)
		say(w, (struct media_msg){.type = MEDIA_SAY_STATE,
					  .say_state = {.playback = s->id,
							.samples = s->taken,
							.rate = 24000,
							.paused = s->paused,
							.ended = s->ended,
							.written = s->written}});
	for (unsigned i = 0; i < ENDS; i++)
		if (w->over[(w->n_over + i) % ENDS].type)
			say(w, w->over[(w->n_over + i) % ENDS]);
}

/* Each sample is its own place. */
static void take_sound(struct walk *w, const struct media_say *m)
{
	struct speech *s = &w->speech;
	size_t n = m->pcm.n / 2;

	if (m->playback != s->id)
		return;
	check(w, !s->ended, "SAY after SAY_END");
	check(w, s->written + n <= s->taken + WINDOW, "more than the credit");
	for (size_t i = 0; i < n; i++) {
		unsigned at = m->pcm.p[2 * i] | m->pcm.p[2 * i + 1] << 8;

		if (!s->began)
			s->first = at;
		s->began = true;
		check(w, s->first <= w->sent, "a gap");
		check(w, at == s->first + s->written++, "out of order");
	}
}

static bool was_over(const struct walk *w, uint32_t id)
{
	for (unsigned i = 0; i < ENDS; i++)
		if (w->over[i].type && w->over[i].say_end.playback == id)
			return true;
	return false;
}

static void take_speech(struct walk *w, const struct media_msg *msg)
{
	struct speech *s = &w->speech;

	if (msg->type == MEDIA_SAY_OPEN) {
		check(w, !s->id, "a second playback");
		*s = (struct speech){.id = msg->say_open.playback};
		say_credit(w);
		return;
	}
	if (msg->type == MEDIA_SAY_CLAIM && s->id != msg->say_claim.playback)
		check(w, was_over(w, msg->say_claim.playback), "claims an unknown playback");
	if (!s->id || s->id != msg->say_end.playback)
		return;
	if (msg->type == MEDIA_SAY_CLAIM)
		say_credit(w);
	if (msg->type == MEDIA_SAY)
		take_sound(w, &msg->say);
	if (msg->type == MEDIA_SAY_PAUSE || msg->type == MEDIA_SAY_RESUME)
		s->paused = msg->type == MEDIA_SAY_PAUSE;
	if (msg->type == MEDIA_SAY_END) {
		s->ended = true;
		play(w, 0);
	}
}

static void on_walk(struct toy *t, const struct media_msg *msg)
{
	struct walk *w = (struct walk *)t;

	if (msg->type == MEDIA_HELLO && w->holds)
		report(w);
	if (msg->type == MEDIA_CALL_OPEN) {
		w->call = msg->call_open.call;
		w->gen = msg->call_open.gen;
		w->holds = !w->full;
		toy_state(t, w->call, w->gen, w->full ? 0 : toy_want.guild,
			  w->full ? MEDIA_PHASE_FAILED : MEDIA_PHASE_WAITING, !w->full);
	}
	if (!w->holds || msg->call_close.call != w->call)
		return;
	if (msg->type == MEDIA_CALL_CREDENTIALS) {
		w->gen = msg->call_credentials.gen;
		toy_state(t, w->call, w->gen, toy_want.guild, MEDIA_PHASE_UP, false);
	}
	if (msg->type >= MEDIA_SAY_OPEN && msg->type <= MEDIA_SAY_STATE)
		take_speech(w, msg);
}

static void on_call(struct media_call *call, const struct media_msg *msg, void *arg)
{
	struct walk *w = arg;

	if (msg->type == MEDIA_CALL_STATE && msg->call_state.phase == MEDIA_PHASE_UP)
		check(w, call->open, "a call is up that speech does not find");
}

static void on_playback(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
			unsigned reason, uint64_t at, void *arg)
{
	struct walk *w = arg;

	(void)pb, (void)reason, (void)at;
	check(w, samples >= w->samples, "samples are taken back");
	w->samples = samples;
	check(w, ev != MEDIA_PB_STOPPED, "it stops by itself");
	if (ev != MEDIA_PB_DRAINED)
		return;
	w->ends++;
	check(w, w->ended && samples == w->wrote, "it drains too early");
}

/* ---- steps ---- */

static void kill_mediad(struct walk *w)
{
	toy_gone(&w->toy);
	w->holds = false;
	w->speech = (struct speech){0};
	memset(w->over, 0, sizeof w->over);
}

static void write_some(struct walk *w)
{
	int16_t pcm[4200];
	unsigned n = random_between(&w->chance, 200, 4200);

	if (w->ended || w->ends || w->wrote + n > MOST_SAMPLES)
		return;
	for (unsigned i = 0; i < n; i++)
		pcm[i] = (int16_t)(w->wrote + i);
	if (media_playback_write(w->toy.pb, pcm, n) == 0)
		w->wrote += n;
}

/* The mediad is away, and may come back; control goes on. */
static void be_away(struct walk *w, bool killed)
{
	if (killed)
		kill_mediad(w);
	else
		toy_gone(&w->toy);
	toy_run_ms(&w->toy, 2);
	play(w, random_below(&w->chance, 2500));
	if (random_below(&w->chance, 2))
		write_some(w);
}

static void give_lease(struct walk *w)
{
	media_call_credentials(w->toy.call, "s", "t", "h", 301);
}

static void step(struct walk *w)
{
	unsigned what = random_below(&w->chance, 14);

	if (what < 4) {
		write_some(w);
	} else if (what < 7) {
		play(w, random_below(&w->chance, 2500));
	} else if (what < 9) {
		(what == 7 ? media_playback_pause : media_playback_resume)(w->toy.pb, 0);
	} else if (what < 11) {
		be_away(w, what == 10);
		w->full = what == 10 && random_below(&w->chance, 3) == 0;
		CHECK(toy_back(&w->toy));
	} else if (what == 11) {
		toy_gone(&w->toy);
		w->toy.still_reports = true;
		CHECK(toy_back(&w->toy));
		w->toy.still_reports = false;
		be_away(w, random_below(&w->chance, 2));
		CHECK(toy_back(&w->toy));
	} else if (what == 12) {
		w->full = w->full && random_below(&w->chance, 2);
		give_lease(w);
	} else if (random_below(&w->chance, 6) == 0) {
		media_playback_end(w->toy.pb);
		w->ended = true;
	}
	if (random_below(&w->chance, 2))
		CHECK(toy_exchange(&w->toy));
}

static void come_to_the_end(struct walk *w)
{
	w->full = false;
	for (unsigned i = 0; i < 3 && !w->holds && !w->ends; i++) {
		give_lease(w);
		CHECK(toy_exchange(&w->toy));
	}
	media_playback_resume(w->toy.pb, 0);
	if (!w->ended)
		media_playback_end(w->toy.pb);
	w->ended = true;
	for (unsigned i = 0; i < 200 && !w->fault && !w->ends; i++) {
		CHECK(toy_exchange(&w->toy));
		if (i % 20 == 19)
			toy_settle(&w->toy);
		play(w, 2500);
	}
	check(w, w->ends == 1, "it has no end");
}

static void walk(uint64_t seed)
{
	struct walk w = {.chance = seed};
	struct toy *t = &w.toy;

	CHECK_INT(toy_alloc(t), 0);
	t->modelh = on_walk;
	CHECK_INT(toy_start_control(t, 10), 0);
	CHECK_INT(media_call_open(&t->call, t->media, &toy_want, on_call, &w), 0);
	CHECK(toy_back(t));
	give_lease(&w);
	CHECK_INT(media_playback_open(&t->pb, t->call, 24000, on_playback, &w), 0);
	for (unsigned i = 0; i < STEPS && !w.fault && !w.ends; i++)
		step(&w);
	come_to_the_end(&w);
	if (w.fault)
		printf("seed %llu: %s\n", (unsigned long long)seed, w.fault);
	CHECK(!w.fault);
	toy_free(t);
}

TEST(media_playback_ends_once_on_random_walks)
{
	/* The planted faults of tests/mutants/media that concern reports show with these. */
	static const uint64_t seeds[] = {2, 3, 4};

	for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++)
		walk(seeds[i]);
}
