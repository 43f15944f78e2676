/* Random walks of listens and consents: connections break, mediads are killed or end while they
 * report, control restarts. After each step mediad hears whom control wants to hear, and nobody
 * else. */
#include "tests/unit/control/media/toy_mediad.h"

#include "tests/random.h"

enum { STEPS = 20, USERS = 5, LISTENS = 32 };

struct walk {
	struct toy toy;
	uint64_t chance, epoch;
	struct media_want want;
	uint32_t rates[USERS + 1]; /* 0: nobody listens */
	/* the mediad */
	bool holds;
	uint32_t call, gen;
	bool consent;
	struct {
		bool known, repeated, yes;
	} consents[USERS + 1];
	struct media_listen listens[LISTENS];
	const char *fault;
};

static void check(struct walk *w, bool is, const char *fault)
{
	if (!is && !w->fault)
		w->fault = fault;
}

static void report(struct walk *w)
{
	toy_state(&w->toy, w->call, w->gen, toy_want.guild, MEDIA_PHASE_UP, false);
	for (unsigned i = 0; i < LISTENS; i++)
		if (w->listens[i].listen)
			toy_send(&w->toy,
				 (struct media_msg){.type = MEDIA_LISTENING,
						    .listening = {.call = w->call,
								  .gen = w->gen,
								  .listen = w->listens[i].listen,
								  .user = w->listens[i].user,
								  .rate = w->listens[i].rate}});
}

static struct media_listen *find_listen(struct walk *w, uint32_t id)
{
	for (unsigned i = 0; i < LISTENS; i++)
		if (w->listens[i].listen == id)
			return &w->listens[i];
	return NULL;
}

static void take_listen(struct walk *w, const struct media_listen *m)
{
	struct media_listen *l = find_listen(w, m->listen);

	check(w, !l || (l->user == m->user && l->rate == m->rate),
	      "the number of a listen is that of another one");
	if (!l)
		l = find_listen(w, 0);
	check(w, l, "too many listens");
	if (l)
		*l = *m;
}

/* mediad forgets consents that the control at hand has not repeated. */
static void take_set(struct walk *w, const struct media_call_set *m)
{
	w->consent = m->consent == MEDIA_CONSENT_YES;
	for (unsigned u = 1; u <= USERS; u++)
		w->consents[u].known &= w->consents[u].repeated;
}

static void forget_call(struct walk *w)
{
	w->holds = false;
	memset(w->consents, 0, sizeof w->consents);
	memset(w->listens, 0, sizeof w->listens);
}

static void take_open(struct walk *w, const struct media_call_open *m)
{
	forget_call(w);
	w->holds = true;
	w->call = m->call;
	w->gen = m->gen;
	w->consent = m->consent;
	toy_state(&w->toy, w->call, w->gen, toy_want.guild, MEDIA_PHASE_WAITING, true);
}

static void on_walk(struct toy *t, const struct media_msg *msg)
{
	struct walk *w = (struct walk *)t;

	if (msg->type == MEDIA_CALL_OPEN)
		take_open(w, &msg->call_open);
	if (msg->type == MEDIA_HELLO) {
		for (unsigned u = 1; u <= USERS; u++)
			w->consents[u].repeated = false;
		if (w->holds)
			report(w);
		return;
	}
	if (!w->holds || msg->call_close.call != w->call || msg->call_close.gen < w->gen)
		return;
	if (msg->type == MEDIA_CALL_CREDENTIALS)
		w->gen = msg->call_credentials.gen;
	if (msg->type == MEDIA_CALL_SET)
		take_set(w, &msg->call_set);
	if (msg->type == MEDIA_CONSENT) {
		w->consents[msg->consent.user].known = true;
		w->consents[msg->consent.user].repeated = true;
		w->consents[msg->consent.user].yes = msg->consent.yes;
	}
	if (msg->type == MEDIA_LISTEN)
		take_listen(w, &msg->listen);
	if (msg->type == MEDIA_UNLISTEN && find_listen(w, msg->unlisten.listen))
		find_listen(w, msg->unlisten.listen)->listen = 0;
}

static void compare_user(struct walk *w, uint64_t user)
{
	bool yes = w->consents[user].known ? w->consents[user].yes : w->consent;
	unsigned n = 0;

	check(w, yes == media_call_consents(w->toy.call, user), "another consent");
	for (unsigned i = 0; i < LISTENS; i++) {
		const struct media_listen *l = &w->listens[i];

		if (!l->listen || l->user != user)
			continue;
		n++;
		check(w, l->rate == w->rates[user], "another rate");
	}
	check(w, n == (w->rates[user] ? 1 : 0), "another number of listens");
}

/* ---- steps ---- */

static void start_control(struct walk *w)
{
	w->want = toy_want;
	w->want.consent = random_below(&w->chance, 2);
	memset(w->rates, 0, sizeof w->rates);
	CHECK_INT(toy_start_control(&w->toy, ++w->epoch), 0);
	CHECK_INT(media_call_open(&w->toy.call, w->toy.media, &w->want, NULL, NULL), 0);
}

static void end_control(struct walk *w)
{
	media_disconnect(w->toy.media);
	w->toy.call = media_call_free(w->toy.call);
	w->toy.media = media_free(w->toy.media);
}

static void change(struct walk *w)
{
	static const uint32_t rates[] = {0, 16000, 24000};
	unsigned user = random_between(&w->chance, 1, USERS), what = random_below(&w->chance, 5);

	if (what < 2) {
		w->rates[user] = rates[random_below(&w->chance, 3)];
		CHECK_INT(media_call_listen(w->toy.call, user, w->rates[user], 600), 0);
	} else if (what < 4) {
		CHECK_INT(media_call_consent(w->toy.call, user, random_below(&w->chance, 2)), 0);
	} else {
		w->want.consent = random_below(&w->chance, 2);
		CHECK_INT(media_call_set(w->toy.call, &w->want), 0);
	}
}

static void change_some(struct walk *w)
{
	for (unsigned n = random_below(&w->chance, 4); n; n--)
		change(w);
}

/* The connection breaks, or the mediad is killed. */
static void lose_mediad(struct walk *w)
{
	toy_gone(&w->toy);
	if (random_below(&w->chance, 2))
		forget_call(w);
	toy_run_ms(&w->toy, 2);
	change_some(w);
}

static void step(struct walk *w)
{
	unsigned what = random_below(&w->chance, 10);

	if (what < 2) {
		lose_mediad(w);
		CHECK(toy_back(&w->toy));
	} else if (what == 2) {
		end_control(w);
		start_control(w);
		change_some(w);
		CHECK(toy_back(&w->toy));
	} else if (what == 3) {
		toy_gone(&w->toy);
		w->toy.still_reports = true;
		CHECK(toy_back(&w->toy));
		w->toy.still_reports = false;
		change_some(w);
		lose_mediad(w);
		CHECK(toy_back(&w->toy));
	} else if (what == 4) {
		media_call_credentials(w->toy.call, "s", "t", "h", 301);
	} else {
		change(w);
	}
	CHECK(toy_exchange(&w->toy));
	check(w, w->holds, "no call");
	for (uint64_t user = 1; user <= USERS; user++)
		compare_user(w, user);
}

static void walk(uint64_t seed)
{
	struct walk w = {.chance = seed};

	CHECK_INT(toy_alloc(&w.toy), 0);
	w.toy.modelh = on_walk;
	start_control(&w);
	CHECK(toy_back(&w.toy));
	for (unsigned i = 0; i < STEPS && !w.fault; i++)
		step(&w);
	if (w.fault)
		printf("seed %llu: %s\n", (unsigned long long)seed, w.fault);
	CHECK(!w.fault);
	toy_free(&w.toy);
}

TEST(media_hears_whom_it_should_on_random_walks)
{
	/* The planted faults of tests/mutants/media that concern reports show with these. */
	static const uint64_t seeds[] = {1, 2, 3};

	for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++)
		walk(seeds[i]);
}
