/* Random walks of joining against models of Discord and of mediad: members move the bot, voice
 * servers change, connections lose op 4 and are resumed, mediad is killed and refuses calls. After
 * that the call comes up; then a member kicks the bot or moves it. */
#include "control/discord/voice.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/random.h"
#include "tests/test.h"

enum { SEEDS = 2000, STEPS = 12, QUEUE = 256, HOME = 7, OTHER = 8 };

struct news {
	uint64_t at;
	enum { STATE, SERVER, MEDIA } kind;
	uint64_t channel;
	unsigned session, token, phase, reason;
	bool wants;
};

struct walk {
	struct voice *v;
	uint64_t chance, now;
	/* Discord. Its messages keep their order; those of mediad may overtake them. */
	uint64_t channel, last_at;
	unsigned session, token;
	bool online, loses; /* what is sent is lost with the connection */
	struct news queue[QUEUE];
	unsigned n;
	/* mediad */
	bool up, refuses;
	/* results */
	unsigned left, failed, op4s;
	const char *fault;
};

static void check(struct walk *w, bool is, const char *fault)
{
	if (!is && !w->fault)
		w->fault = fault;
}

static void send_news(struct walk *w, struct news e)
{
	e.at = w->now + random_between(&w->chance, 10, 300) * NS_PER_MS;
	if (e.kind != MEDIA && e.at <= w->last_at)
		e.at = w->last_at + 1;
	if (e.kind != MEDIA)
		w->last_at = e.at;
	check(w, w->n < QUEUE, "too much news");
	if (w->n < QUEUE)
		w->queue[w->n++] = e;
}

static void send_phase(struct walk *w, enum media_phase phase, enum media_reason reason, bool wants)
{
	send_news(w,
		  (struct news){.kind = MEDIA, .phase = phase, .reason = reason, .wants = wants});
}

static void send_server(struct walk *w)
{
	send_news(w, (struct news){.kind = SERVER, .token = ++w->token});
}

static void lose_session(struct walk *w, enum media_reason reason)
{
	if (w->up)
		send_phase(w, MEDIA_PHASE_WAITING, reason, reason == MEDIA_REASON_SESSION_INVALID);
	w->up = false;
}

static void set_channel(struct walk *w, uint64_t channel, bool fresh_server)
{
	if (channel && !w->channel)
		w->session++;
	if (channel != w->channel)
		lose_session(w, MEDIA_REASON_DISCONNECTED);
	w->channel = channel;
	send_news(w, (struct news){.kind = STATE, .channel = channel, .session = w->session});
	if (channel && fresh_server)
		send_server(w);
}

static void forget_media(struct walk *w)
{
	unsigned kept = 0;

	w->up = false;
	for (unsigned i = 0; i < w->n; i++)
		if (w->queue[i].kind != MEDIA)
			w->queue[kept++] = w->queue[i];
	w->n = kept;
}

/* ---- what the machine does ---- */

static void take_op4(struct walk *w, uint64_t channel)
{
	bool same = channel == w->channel;

	w->op4s++;
	if (!w->online || w->loses || (!channel && same))
		return;
	set_channel(w, channel, !same || random_below(&w->chance, 2));
}

static void take_lease(struct walk *w, const struct voice_act *a)
{
	char session[16], token[16];

	snprintf(session, sizeof session, "s%u", w->session);
	snprintf(token, sizeof token, "t%u", w->token);
	w->up = false;
	if (w->refuses && random_below(&w->chance, 3) == 0) {
		send_phase(w, MEDIA_PHASE_FAILED, MEDIA_REASON_BAD_REQUEST, false);
		return;
	}
	w->up = w->channel == a->channel && !strcmp(session, a->session) &&
		!strcmp(token, a->token);
	if (w->up)
		send_phase(w, MEDIA_PHASE_UP, MEDIA_REASON_NONE, false);
	else
		send_phase(w, MEDIA_PHASE_WAITING, MEDIA_REASON_SESSION_INVALID, true);
}

static void act(const struct voice_act *a, void *arg)
{
	struct walk *w = arg;

	if (a->type == VOICE_ACT_OP4)
		take_op4(w, a->channel);
	if (a->type == VOICE_ACT_LEASE)
		take_lease(w, a);
	w->left += a->type == VOICE_ACT_LEFT;
	w->failed += a->type == VOICE_ACT_FAILED;
	if (a->type == VOICE_ACT_LEFT || a->type == VOICE_ACT_FAILED)
		forget_media(w);
}

static enum voice_reason predict(uint64_t channel, void *arg)
{
	(void)channel, (void)arg;
	return VOICE_REASON_NONE;
}

/* ---- time ---- */

static void give(struct walk *w, const struct news *e)
{
	char session[16], token[16];

	snprintf(session, sizeof session, "s%u", e->session);
	snprintf(token, sizeof token, "t%u", e->token);
	if (e->kind == STATE)
		voice_own_state(w->v, e->channel, e->channel ? session : NULL, w->now);
	else if (e->kind == SERVER)
		voice_server(w->v, token, "h:1", w->now);
	else
		voice_media(w->v, e->phase, e->reason, e->wants, w->now);
}

/* The first of the news that can arrive; without a connection Discord's wait for the next one. */
static struct news *find_first(struct walk *w)
{
	struct news *first = NULL;

	for (struct news *e = w->queue; e < w->queue + w->n; e++)
		if ((w->online || e->kind == MEDIA) && (!first || e->at < first->at))
			first = e;
	return first;
}

static void run(struct walk *w, uint64_t ms)
{
	uint64_t end = w->now + ms * NS_PER_MS;

	for (unsigned most = 5000; most && !w->fault; most--) {
		uint64_t deadline = voice_deadline(w->v);
		struct news *first = find_first(w), e;

		if (first && first->at <= end && first->at <= deadline) {
			e = *first;
			*first = w->queue[--w->n];
			w->now = e.at > w->now ? e.at : w->now;
			give(w, &e);
		} else if (deadline <= end) {
			w->now = deadline > w->now ? deadline : w->now;
			voice_tick(w->v, w->now);
		} else {
			break;
		}
	}
	w->now = end;
}

static void go_offline(struct walk *w)
{
	w->online = false;
	voice_offline(w->v);
}

/* The session is resumed: what was missed comes first. */
static void go_online(struct walk *w)
{
	struct news *e;

	w->online = true;
	while ((e = find_first(w)) && e->at <= w->last_at) {
		struct news first = *e;

		*e = w->queue[--w->n];
		give(w, &first);
	}
	voice_online(w->v, false, w->now);
}

/* ---- steps ---- */

static void kill_mediad(struct walk *w)
{
	forget_media(w);
	voice_media(w->v, MEDIA_PHASE_UNKNOWN, MEDIA_REASON_MEDIA_LOST, false, w->now);
	voice_mediad(w->v, false, w->now);
	run(w, random_below(&w->chance, 9000));
	voice_mediad(w->v, true, w->now);
	if (voice_channel(w->v))
		send_phase(w, MEDIA_PHASE_WAITING, MEDIA_REASON_NEW_CALL, true);
}

static void lose_op4(struct walk *w)
{
	w->loses = true;
	run(w, random_below(&w->chance, 1500));
	w->loses = false;
	go_offline(w);
}

/* A member acts in Discord, or it changes its voice server. */
static void change_discord(struct walk *w, unsigned what)
{
	if (!w->channel)
		return;
	if (what == 0) {
		set_channel(w, w->channel == HOME ? OTHER : HOME, true);
		return;
	}
	send_server(w);
	lose_session(w, MEDIA_REASON_SESSION_INVALID);
}

static void step(struct walk *w)
{
	unsigned what = random_below(&w->chance, 9);

	if (what == 0 && w->online)
		go_offline(w);
	else if (what <= 2 && !w->online)
		go_online(w);
	else if (what == 3)
		lose_session(w, MEDIA_REASON_SESSION_INVALID);
	else if (what == 4 || what == 5)
		change_discord(w, what - 4);
	else if (what == 6 && w->online)
		lose_op4(w);
	else if (what == 7)
		kill_mediad(w);
	run(w, random_below(&w->chance, random_below(&w->chance, 3) ? 600 : 9000));
}

static bool is_at_rest(const struct walk *w)
{
	return w->up && voice_state(w->v) == VOICE_IN && w->channel == voice_channel(w->v);
}

/* The call is up. Then a member may kick the bot, which stays away, or move it, which it follows.
 */
static void come_to_rest(struct walk *w, uint64_t to)
{
	unsigned op4s;

	if (!w->online)
		go_online(w);
	w->refuses = false;
	run(w, 400000);
	check(w, !w->left && !w->failed, "it leaves without a kick");
	check(w, is_at_rest(w), "the call is not up");
	set_channel(w, to, true);
	run(w, 400000);
	op4s = w->op4s;
	run(w, 60000);
	check(w, w->op4s == op4s, "op 4 without an end");
	check(w, w->channel == to, "the bot is elsewhere");
	check(w, to ? is_at_rest(w) : w->left == 1, "the call is not up, or the kick is not told");
}

static void walk(uint64_t seed)
{
	static const uint64_t ends[] = {0, HOME, OTHER};
	struct walk w = {.chance = seed, .now = 100 * NS_PER_S, .online = true};

	CHECK_INT(voice_alloc(&w.v, act, predict, &w), 0);
	voice_online(w.v, true, w.now);
	voice_join(w.v, HOME, true, w.now);
	run(&w, 5000);
	w.refuses = random_below(&w.chance, 2);
	for (unsigned i = 0; i < STEPS; i++)
		step(&w);
	come_to_rest(&w, ends[seed % 3]);
	voice_free(w.v);
	if (w.fault)
		printf("seed %llu: %s\n", (unsigned long long)seed, w.fault);
	CHECK(!w.fault);
}

TEST(voice_comes_up_and_heeds_members_on_random_walks)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		walk(seed);
}
