/* The conversation with events in any order. */
#include "control/engine/core/conversation.h"

#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/test.h"
#include "tests/unit/control/engine/core/converse.h"

/* ---- events in any order ---- */

enum { ASKS = 6, EVENTS = ASKS * 5, ROUNDS = 10000 };

struct event {
	enum { E_CREATED, E_AUDIO, E_TEXT, E_DONE, E_ACTIVE } type;
	uint32_t ask;
};

static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % n;
}

static struct world {
	struct event queue[EVENTS];
	unsigned n;
	unsigned ends[ASKS + 1], asked;
	bool cancelled[ASKS + 1];
	uint32_t current; /* ask that is wanted */
	unsigned foreign, after_end, heard;
	bool connect, dead;
} world;

static void provider_sees(const struct conversation_output *o)
{
	struct world *w = &world;

	if (o->type == CONVERSATION_DO_CONNECT)
		w->connect = true;
	if (o->type == CONVERSATION_DO_CLOSE)
		w->n = 0;
	if (o->type != CONVERSATION_DO_RESPOND || w->n + 4 > EVENTS)
		return;
	if (rnd(4) == 0) {
		w->queue[w->n++] = (struct event){E_ACTIVE, o->ask};
		return;
	}
	for (unsigned i = 0; i < 4; i++)
		w->queue[w->n++] = (struct event){(int)i, o->ask};
}

static void owner_hears(const struct conversation_output *o)
{
	struct world *w = &world;
	uint32_t told = 0;

	switch (o->type) {
	case CONVERSATION_SAYS_AUDIO:
		memcpy(&told, o->pcm.p, sizeof told);
		w->foreign += told != o->ask || w->cancelled[o->ask];
		w->after_end += w->ends[o->ask] > 0;
		w->heard++;
		break;
	case CONVERSATION_SAYS_TEXT:
		w->after_end += w->ends[o->ask] > 0;
		w->foreign += w->cancelled[o->ask];
		break;
	case CONVERSATION_SAYS_DONE:
	case CONVERSATION_SAYS_FAILED:
		w->ends[o->ask]++;
		break;
	default:
		break;
	}
}

static void world_step(struct conversation_input in)
{
	CHECK_INT(conversation_step(converse.c, &in, converse.now, &converse.out), 0);
	for (size_t i = 0; i < converse.out.n; i++) {
		provider_sees(&converse.out.v[i]);
		owner_hears(&converse.out.v[i]);
	}
}

/* One of what the provider has to say, whichever. A server that returns no metadata keeps its
 * order. */
static void deliver(bool metadata)
{
	struct world *w = &world;
	unsigned at = metadata ? rnd(w->n) : 0;
	struct event e = w->queue[at];
	char response[16], item[16];
	struct conversation_input in = {.response = response, .item = item};

	w->n--;
	memmove(&w->queue[at], &w->queue[at + 1], (w->n - at) * sizeof e);
	snprintf(response, sizeof response, "r%u", e.ask);
	snprintf(item, sizeof item, "i%u", e.ask);
	in.ask = metadata ? e.ask : 0;
	switch (e.type) {
	case E_CREATED:
		in.type = CONVERSATION_RESPONSE;
		break;
	case E_AUDIO:
		in.type = CONVERSATION_AUDIO;
		in.pcm = (struct slice){(uint8_t *)&e.ask, sizeof e.ask};
		break;
	case E_TEXT:
		in.type = CONVERSATION_TEXT;
		in.text = slice_str("word");
		break;
	case E_DONE:
		in.type = CONVERSATION_DONE;
		in.ok = rnd(8) != 0;
		break;
	case E_ACTIVE:
		in.type = CONVERSATION_ERROR;
		in.ask = e.ask;
		in.error = rnd(3) ? CONVERSATION_ERROR_ACTIVE : CONVERSATION_ERROR_OTHER;
		in.text = slice_str("refused");
		break;
	}
	world_step(in);
}

static void world_ask(void)
{
	struct world *w = &world;
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "Alice", .text = "hello"};
	struct engine_ask ask = {
		.id = ++w->asked, .turn = 1 + w->asked / 2, .messages = &m, .n = 1};

	/* Asking again is a new ask; the old one is cancelled, if it still goes on. */
	if (w->current && !w->ends[w->current]) {
		w->cancelled[w->current] = true;
		world_step((struct conversation_input){.type = CONVERSATION_CANCEL,
						       .ask = w->current});
		ask.again = rnd(2);
	}
	w->current = ask.id;
	world_step((struct conversation_input){.type = CONVERSATION_ASK, .request = &ask});
}

static void world_time(uint64_t ms)
{
	uint64_t end = converse.now + ms * NS_PER_MS, at;

	while ((at = conversation_deadline(converse.c)) <= end) {
		converse.now = at > converse.now ? at : converse.now;
		world_step((struct conversation_input){.type = CONVERSATION_TIME});
		if (!world.connect)
			continue;
		world.connect = false;
		world_step((struct conversation_input){.type = CONVERSATION_OPENED});
		world_step((struct conversation_input){.type = CONVERSATION_CREATED});
	}
	converse.now = end;
}

static void round_of(uint64_t number)
{
	struct world *w = &world;
	bool metadata = number % 4 != 3;

	memset(w, 0, sizeof *w);
	seed = number * 977 + 1;
	converse_begin();
	world_time(0);
	while (w->asked < ASKS || w->n) {
		if (w->asked < ASKS && rnd(6) == 0)
			world_ask();
		else if (w->n && rnd(10))
			deliver(metadata);
		else
			world_time(rnd(2000));
	}
	/* Half an hour later nothing is left open. */
	for (unsigned i = 0; i < 180; i++) {
		world_time(10000);
		while (w->n)
			deliver(metadata);
	}
	for (unsigned i = 1; i <= ASKS; i++) {
		CHECK(w->ends[i] <= 1);
		CHECK_INT(w->ends[i] + w->cancelled[i], 1);
	}
	CHECK_INT(w->foreign, 0);
	CHECK_INT(w->after_end, 0);
	converse_end();
}

TEST(events_in_any_order_lose_no_turn_and_play_no_foreign_audio)
{
	uint64_t heard = 0;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		round_of(i);
		heard += world.heard;
	}
	/* Deltas that come before their response are nobody's; the others are heard. */
	CHECK(heard > ROUNDS);
}
