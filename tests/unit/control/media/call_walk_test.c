/* Random walks of calls at two mediads: they are cut off, killed, report in part or refuse calls,
 * calls come and go, control restarts. In the end each wanted call is at one mediad, and up. */
#include "tests/unit/control/media/toy_mediad.h"

#include "control/media/call.h"
#include "tests/random.h"

enum { STEPS = 30, SIDES = 2, GUILDS = 3, HELD = 16 };

struct side {
	struct toy toy; /* the first one's has the env and control */
	bool synced;	/* said so in this connection, or in the newest one */
	bool full;
	struct held {
		uint64_t guild;
		uint32_t call, gen;
	} held[HELD];
};

struct walk {
	struct side sides[SIDES];
	uint64_t chance, epoch;
	struct media_call *calls[GUILDS];
	const char *fault;
};

static void check(struct walk *w, bool is, const char *fault)
{
	if (!is && !w->fault)
		w->fault = fault;
}

static struct held *find_held(struct side *s, uint32_t call)
{
	for (unsigned i = 0; i < HELD; i++)
		if (s->held[i].guild && s->held[i].call == call)
			return &s->held[i];
	return NULL;
}

static void take_open(struct side *s, const struct media_call_open *m)
{
	struct held *h = s->held;

	while (h < s->held + HELD && h->guild)
		h++;
	if (s->full || h == s->held + HELD) {
		toy_state(&s->toy, m->call, m->gen, 0, MEDIA_PHASE_FAILED, false);
		return;
	}
	*h = (struct held){.guild = m->guild, .call = m->call, .gen = m->gen};
	toy_state(&s->toy, m->call, m->gen, m->guild, MEDIA_PHASE_UP, false);
}

static void on_walk(struct toy *t, const struct media_msg *msg)
{
	struct side *s = (struct side *)t;
	struct held *h = find_held(s, msg->call_close.call);

	if (msg->type == MEDIA_HELLO) {
		for (h = s->held; h < s->held + HELD; h++)
			if (h->guild)
				toy_state(t, h->call, h->gen, h->guild, MEDIA_PHASE_UP, false);
		s->synced = !t->still_reports;
	} else if (msg->type == MEDIA_CALL_OPEN && !h) {
		take_open(s, &msg->call_open);
	} else if (msg->type == MEDIA_CALL_CLOSE && h) {
		h->guild = 0;
	} else if (msg->type == MEDIA_CALL_CREDENTIALS && h) {
		h->gen = msg->call_credentials.gen;
		toy_state(t, h->call, h->gen, h->guild, MEDIA_PHASE_UP, false);
	}
}

static void on_call(struct media_call *call, const struct media_msg *msg, void *arg)
{
	struct walk *w = arg;

	if (msg->type != MEDIA_CALL_STATE || msg->call_state.phase != MEDIA_PHASE_UP)
		return;
	check(w, call->open, "a call is up that speech does not find");
	for (unsigned i = 0; i < SIDES; i++)
		if (!strcmp(media_link_path(call->link), w->sides[i].toy.path))
			check(w, w->sides[i].synced, "a call is up before SYNCED");
}

/* ---- steps ---- */

static void open_call(struct walk *w, unsigned i)
{
	struct media_want want = toy_want;

	want.guild = 100 + i;
	CHECK_INT(media_call_open(&w->calls[i], w->sides[0].toy.media, &want, on_call, w), 0);
}

static void start_control(struct walk *w)
{
	const char *socks[] = {w->sides[0].toy.path, w->sides[1].toy.path, NULL};
	struct media_conf conf = {.socks = socks, .user = 900, .epoch = ++w->epoch};

	CHECK_INT(media_alloc(&w->sides[0].toy.media, w->sides[0].toy.env, &conf), 0);
	for (unsigned i = 0; i < GUILDS; i++)
		if (random_below(&w->chance, 4))
			open_call(w, i);
}

static void end_control(struct walk *w)
{
	media_disconnect(w->sides[0].toy.media);
	for (unsigned i = 0; i < GUILDS; i++)
		w->calls[i] = media_call_free(w->calls[i]);
	w->sides[0].toy.media = media_free(w->sides[0].toy.media);
}

static void be_lost(struct walk *w, struct side *s)
{
	toy_gone(&s->toy);
	if (random_below(&w->chance, 2))
		memset(s->held, 0, sizeof s->held);
}

static void end_report(struct side *s)
{
	if (!s->toy.peer || s->synced)
		return;
	s->synced = true;
	toy_send(&s->toy, (struct media_msg){.type = MEDIA_SYNCED, .synced = {.calls = 1}});
}

static void come_back(struct side *s, bool reports_in_part)
{
	s->toy.still_reports = reports_in_part;
	if (!s->toy.server)
		CHECK_INT(toy_listen(&s->toy), 0);
}

/* Lost calls have waited long enough. */
static void pass_time(struct walk *w)
{
	struct media *m = w->sides[0].toy.media;

	for (struct media_call *c = m->calls; c; c = c->next)
		if (c->lost_at)
			c->lost_at -= MEDIA_MOVE_MS * NS_PER_MS;
	m->settled_at = 0;
	media_wake(m, 0);
}

static void give_leases(struct walk *w)
{
	for (unsigned i = 0; i < GUILDS; i++)
		if (w->calls[i])
			media_call_credentials(w->calls[i], "s", "t", "h", 301);
}

static void change_call(struct walk *w, unsigned i)
{
	if (w->calls[i])
		w->calls[i] = media_call_free(w->calls[i]);
	else
		open_call(w, i);
}

static void step(struct walk *w)
{
	struct side *s = &w->sides[random_below(&w->chance, SIDES)];

	switch (random_below(&w->chance, 10)) {
	case 0:
	case 1:
		be_lost(w, s);
		break;
	case 2:
	case 3:
		come_back(s, random_below(&w->chance, 2));
		break;
	case 4:
		end_report(s);
		break;
	case 5:
		pass_time(w);
		break;
	case 6:
		s->full = !s->full;
		break;
	case 7:
		give_leases(w);
		break;
	case 8:
		change_call(w, random_below(&w->chance, GUILDS));
		break;
	default:
		if (random_below(&w->chance, 3))
			break;
		end_control(w);
		for (unsigned i = 0; i < SIDES; i++)
			toy_gone(&w->sides[i].toy);
		start_control(w);
		break;
	}
	toy_run_ms(&w->sides[0].toy, random_below(&w->chance, 4) ? 2 : 60);
}

static unsigned count_held(const struct walk *w, uint64_t guild)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SIDES; i++)
		for (unsigned k = 0; k < HELD; k++)
			n += w->sides[i].held[k].guild == guild;
	return n;
}

static bool is_settled(const struct walk *w)
{
	for (unsigned i = 0; i < GUILDS; i++) {
		const struct media_call_state *last =
			w->calls[i] ? media_call_last(w->calls[i]) : NULL;

		if (count_held(w, 100 + i) != (w->calls[i] ? 1 : 0) ||
		    (w->calls[i] && (!last || last->phase != MEDIA_PHASE_UP)))
			return false;
	}
	return true;
}

/* Both mediads come back and have room. */
static void settle(struct walk *w)
{
	for (unsigned i = 0; i < SIDES; i++) {
		w->sides[i].full = false;
		come_back(&w->sides[i], false);
		end_report(&w->sides[i]);
	}
	for (unsigned i = 0; i < 40 && !w->fault && !is_settled(w); i++) {
		toy_settle(&w->sides[0].toy);
		give_leases(w);
		pass_time(w);
	}
	check(w, is_settled(w), "a call is not at one mediad, or not up");
}

static void walk(uint64_t seed)
{
	struct walk w = {.chance = seed};
	struct toy *t = &w.sides[0].toy, *other = &w.sides[1].toy;

	CHECK_INT(toy_alloc(t), 0);
	other->env = t->env;
	other->answers_pings = true;
	snprintf(other->path, sizeof other->path, "%s/o", t->dir);
	t->modelh = other->modelh = on_walk;
	start_control(&w);
	come_back(&w.sides[0], false);
	come_back(&w.sides[1], false);
	for (unsigned i = 0; i < STEPS && !w.fault; i++)
		step(&w);
	settle(&w);
	if (w.fault)
		printf("seed %llu: %s\n", (unsigned long long)seed, w.fault);
	CHECK(!w.fault);
	end_control(&w);
	toy_gone(other);
	toy_free(t);
}

TEST(media_each_call_is_at_one_mediad_on_random_walks)
{
	/* The planted faults of tests/mutants/media that concern reports show with these. */
	static const uint64_t seeds[] = {1, 4, 30};

	for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++)
		walk(seeds[i]);
}
