/* One session of a conversation follows another. */
#include "control/engine/core/conversation.h"

#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/test.h"
#include "tests/unit/control/engine/core/converse.h"

/* ---- rollover ---- */

static void next_up(unsigned session)
{
	converse_step((struct conversation_input){.type = CONVERSATION_OPENED, .session = session});
	converse_step(
		(struct conversation_input){.type = CONVERSATION_CREATED, .session = session});
}

static void begin_limited(void)
{
	struct conversation_caps caps = converse_all_caps();

	caps.session_ms = 30 * 60000;
	CHECK_INT(converse_begin_as(caps), 0);
	converse_come_up();
	converse_said();
}

TEST(a_session_is_replaced_before_its_end)
{
	begin_limited();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_done("r1", 1, true);
	converse_said();
	converse_pass(29 * 60000 - 1);
	CHECK_STR(converse_said(), "");
	converse_pass(1);
	CHECK_STR(converse_said(), "next-connect ");
	next_up(1);
	CHECK_STR(converse_said(), "next-describe: close rolled ");
	/* It knows what was said by the next ask. */
	converse_ask_line(2, 8, "more", false);
	CHECK_STR(converse_said(), "next-item::[Bob]: before next-item::indeed "
				   "next-item:ask_2:[Alice]: more next-respond:2 ");
	converse_end();
}

TEST(an_answer_ends_in_its_session)
{
	begin_limited();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_said();
	converse_step((struct conversation_input){.type = CONVERSATION_GO_AWAY});
	converse_pass(0);
	CHECK_STR(converse_said(), "next-connect ");
	next_up(1);
	CHECK_STR(converse_said(), "next-describe: ");
	converse_ask_line(2, 8, "more", false);
	converse_audio("r1", "i1", 480);
	CHECK_STR(converse_said(), "audio:1:480 ");
	converse_done("r1", 1, true);
	CHECK_STR(converse_said(), "done:1 close rolled next-item::[Bob]: before next-item::indeed "
				   "next-item:ask_2:[Alice]: more next-respond:2 ");
	/* What the old one still says is nobody's. */
	converse_created("r9", 2);
	converse_audio("r9", "i9", 480);
	converse_done("r9", 2, true);
	CHECK_STR(converse_said(), "");
	converse_end();
}

TEST(a_lost_session_is_replaced_by_the_next_at_once)
{
	begin_limited();
	converse_ask_line(1, 7, "hello", false);
	converse_step((struct conversation_input){.type = CONVERSATION_GO_AWAY});
	converse_pass(0);
	next_up(1);
	converse_said();
	converse_step((struct conversation_input){.type = CONVERSATION_CLOSED,
						  .text = slice_str("gone")});
	CHECK_STR(converse_said(), "next-item::[Bob]: before next-item::indeed "
				   "next-item:ask_1:[Alice]: hello next-respond:1 ");
	converse_end();
}

TEST(a_next_session_that_fails_is_tried_again)
{
	begin_limited();
	converse_step((struct conversation_input){.type = CONVERSATION_GO_AWAY});
	converse_pass(0);
	converse_said();
	converse_step((struct conversation_input){
		.type = CONVERSATION_CLOSED, .session = 1, .text = slice_str("closed 1006")});
	CHECK_STR(converse_said(), "");
	converse_pass(5000);
	CHECK_STR(converse_said(), "next-connect ");
	/* Now the first one ends, too. */
	converse_step((struct conversation_input){.type = CONVERSATION_CLOSED,
						  .text = slice_str("gone")});
	CHECK_STR(converse_said(), "down:gone ");
	next_up(1);
	CHECK_STR(converse_said(), "next-describe: up ");
	converse_end();
}

TEST(a_call_without_a_result_does_not_hinder_rollover_for_ever)
{
	begin_limited();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_step((struct conversation_input){.type = CONVERSATION_CALL,
						  .response = "r1",
						  .item = "i1",
						  .call = "c1",
						  .name = "look",
						  .text = slice_str("{}")});
	converse_done("r1", 1, true);
	converse_step((struct conversation_input){.type = CONVERSATION_GO_AWAY});
	converse_pass(0);
	next_up(1);
	converse_said();
	converse_pass(CONVERSATION_RESULT_MS - 1);
	CHECK_STR(converse_said(), "");
	CHECK_INT(conversation_deadline(converse.c), converse.now + NS_PER_MS);
	converse_pass(1);
	CHECK_STR(converse_said(), "close rolled ");
	converse_end();
}

TEST(instructions_reach_both_sessions)
{
	begin_limited();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_step((struct conversation_input){.type = CONVERSATION_GO_AWAY});
	converse_pass(0);
	next_up(1);
	converse_said();
	converse_step((struct conversation_input){.type = CONVERSATION_INSTRUCT,
						  .text = slice_str("be")});
	CHECK_STR(converse_said(), "instruct:be next-instruct:be ");
	converse_end();
}

/* ---- sleep ---- */

static void begin_idle(void)
{
	struct conversation_caps caps = converse_all_caps();

	caps.idle_ms = 60000;
	CHECK_INT(converse_begin_as(caps), 0);
	converse_come_up();
	converse_ask_line(1, 7, "hello", false);
	converse_created("r1", 1);
	converse_done("r1", 1, true);
	converse_said();
}

TEST(an_idle_session_is_closed_and_knows_everything_when_it_wakes)
{
	begin_idle();
	converse_pass(59999);
	CHECK_STR(converse_said(), "");
	converse_pass(1);
	CHECK_STR(converse_said(), "close ");
	/* Nobody takes it for lost. */
	CHECK(conversation_up(converse.c));
	CHECK_INT(conversation_deadline(converse.c), UINT64_MAX);
	converse_step((struct conversation_input){.type = CONVERSATION_INSTRUCT,
						  .text = slice_str("be")});
	CHECK_STR(converse_said(), "");
	converse_ask_line(2, 8, "more", false);
	CHECK_STR(converse_said(), "connect ");
	converse_come_up();
	CHECK_STR(converse_said(), "describe:be up item::[Bob]: before item::indeed "
				   "item:ask_2:[Alice]: more respond:2 ");
	converse_end();
}

TEST(a_session_that_may_be_needed_wakes_before_the_ask)
{
	begin_idle();
	converse_act(CONVERSATION_WAKE, 0);
	CHECK_STR(converse_said(), "");
	converse_pass(60000);
	converse_said();
	converse_act(CONVERSATION_WAKE, 0);
	converse_act(CONVERSATION_WAKE, 0);
	CHECK_STR(converse_said(), "connect ");
	converse_come_up();
	converse_said();
	/* It was not needed. */
	converse_pass(60000);
	CHECK_STR(converse_said(), "close ");
	converse_end();
}

TEST(a_session_that_works_does_not_fall_asleep)
{
	begin_idle();
	converse_pass(59000);
	converse_ask_line(2, 8, "more", false);
	converse_created("r2", 2);
	converse_said();
	for (unsigned i = 0; i < 30; i++) {
		converse_pass(5000);
		converse_audio("r2", "i2", 480);
	}
	CHECK(!strstr(converse_said(), "close"));
	converse_done("r2", 2, true);
	converse_said();
	converse_pass(59999);
	CHECK_STR(converse_said(), "");
	converse_pass(1);
	CHECK_STR(converse_said(), "close ");
	converse_end();
}

/* ---- sessions that end, and events in any order ---- */

enum { ASKS = 8, EVENTS = 64, ROUNDS = 4000 };

/* What one session of the provider received, and what it has still to say. */
struct provider_session {
	enum { S_NONE, S_CONNECTING, S_OPEN, S_UP } link;
	bool knows;		 /* it was told what everybody knows */
	bool question[ASKS + 1]; /* it was asked this */
	bool going;		 /* it said that it goes away */
	struct provider_event {
		enum { E_CREATED, E_AUDIO, E_TEXT, E_DONE } type;
		uint32_t ask;
	} queue[EVENTS];
	unsigned n;
};

static struct world {
	uint64_t seed;
	bool drops; /* sockets are lost at any time */
	struct provider_session session[2];
	unsigned asked, ends[ASKS + 1], failed[ASKS + 1], losses[ASKS + 1], rolled, lost;
	bool begun[ASKS + 1];
	unsigned ignorant, unasked, foreign, heard;
} world;

static uint32_t draw(uint32_t n)
{
	world.seed = world.seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(world.seed >> 33) % n;
}

/* The provider answers from nothing but what this session received. */
static void be_asked(struct provider_session *s, uint32_t ask)
{
	world.ignorant += !s->knows;
	world.unasked += !s->question[ask];
	for (unsigned i = 0; i < 4 && s->n < EVENTS; i++)
		s->queue[s->n++] = (struct provider_event){(int)i, ask};
}

static void provider_gets(const struct conversation_output *o)
{
	struct provider_session *s = &world.session[o->session];
	unsigned ask = 0;

	switch (o->type) {
	case CONVERSATION_DO_CONNECT:
		*s = (struct provider_session){.link = S_CONNECTING};
		break;
	case CONVERSATION_DO_CLOSE:
		*s = (struct provider_session){.link = S_NONE};
		break;
	case CONVERSATION_DO_ITEM:
		s->knows = s->knows || strcmp(o->message->text, "the word is cassius") == 0;
		if (sscanf(o->id, "ask_%u", &ask) == 1 && ask <= ASKS)
			s->question[ask] = true;
		break;
	case CONVERSATION_DO_RESPOND:
		be_asked(s, o->ask);
		break;
	default:
		break;
	}
}

static void owner_gets(const struct conversation_output *o)
{
	uint32_t told = 0;

	switch (o->type) {
	case CONVERSATION_SAYS_AUDIO:
		memcpy(&told, o->pcm.p, sizeof told);
		world.foreign += told != o->ask || world.ends[o->ask];
		world.heard++;
		world.begun[o->ask] = true;
		break;
	case CONVERSATION_SAYS_TEXT:
		world.begun[o->ask] = true;
		break;
	case CONVERSATION_SAYS_FAILED:
		world.failed[o->ask]++;
		world.ends[o->ask]++;
		break;
	case CONVERSATION_SAYS_DONE:
		world.ends[o->ask]++;
		break;
	case CONVERSATION_SAYS_ROLLED:
		world.rolled++;
		break;
	default:
		break;
	}
}

static void world_step(struct conversation_input in)
{
	in.response = in.response ? in.response : "";
	in.item = in.item ? in.item : "";
	CHECK_INT(conversation_step(converse.c, &in, converse.now, &converse.out), 0);
	for (size_t i = 0; i < converse.out.n; i++)
		provider_gets(&converse.out.v[i]);
	for (size_t i = 0; i < converse.out.n; i++)
		owner_gets(&converse.out.v[i]);
}

/* Any of what a session has to say. */
static void deliver(unsigned session)
{
	struct provider_session *s = &world.session[session];
	unsigned at = draw(s->n);
	struct provider_event e = s->queue[at];
	char response[16], item[16];
	struct conversation_input in = {
		.session = session, .response = response, .item = item, .ask = e.ask, .ok = true};

	s->n--;
	memmove(&s->queue[at], &s->queue[at + 1], (s->n - at) * sizeof e);
	snprintf(response, sizeof response, "r%u", e.ask);
	snprintf(item, sizeof item, "i%u", e.ask);
	in.type = e.type == E_CREATED ? CONVERSATION_RESPONSE
		  : e.type == E_AUDIO ? CONVERSATION_AUDIO
		  : e.type == E_TEXT  ? CONVERSATION_TEXT
				      : CONVERSATION_DONE;
	if (e.type == E_AUDIO)
		in.pcm = (struct slice){(uint8_t *)&e.ask, sizeof e.ask};
	if (e.type == E_TEXT)
		in.text = slice_str("word");
	world_step(in);
}

static void drop_session(unsigned session)
{
	struct provider_session *s = &world.session[session];
	bool owed[ASKS + 1] = {false};

	for (unsigned i = 0; i < s->n; i++)
		owed[s->queue[i].ask] = true;
	for (unsigned i = 1; i <= ASKS; i++)
		world.losses[i] += owed[i] && !world.ends[i];
	*s = (struct provider_session){.link = S_NONE};
	world.lost++;
	world_step((struct conversation_input){
		.type = CONVERSATION_CLOSED, .session = session, .text = slice_str("gone")});
}

/* The session comes up by and by, and goes. */
static void live(unsigned session)
{
	struct provider_session *s = &world.session[session];

	if (s->link == S_CONNECTING) {
		s->link = S_OPEN;
		world_step((struct conversation_input){.type = CONVERSATION_OPENED,
						       .session = session});
	} else if (s->link == S_OPEN) {
		s->link = S_UP;
		world_step((struct conversation_input){.type = CONVERSATION_CREATED,
						       .session = session});
	} else if (s->link == S_UP && s->n && draw(8)) {
		deliver(session);
	} else if (s->link == S_UP && !s->going && draw(20) == 0) {
		s->going = true;
		world_step((struct conversation_input){.type = CONVERSATION_GO_AWAY,
						       .session = session});
	} else if (s->link == S_UP && (world.drops ? draw(30) == 0 : s->going && !s->n)) {
		drop_session(session);
	}
}

static void world_ask(void)
{
	const struct engine_message messages[] = {
		{.role = ENGINE_USER, .speaker = "Bob", .text = "the word is cassius"},
		{.role = ENGINE_ASSISTANT, .speaker = "", .text = "noted"},
		{.role = ENGINE_USER, .speaker = "Alice", .text = "what is the word"}};
	const struct engine_ask ask = {
		.id = ++world.asked, .turn = world.asked, .messages = messages, .n = 3};

	world_step((struct conversation_input){.type = CONVERSATION_ASK, .request = &ask});
}

static void world_time(uint64_t ms)
{
	uint64_t end = converse.now + ms * NS_PER_MS, at;

	while ((at = conversation_deadline(converse.c)) <= end) {
		converse.now = at > converse.now ? at : converse.now;
		world_step((struct conversation_input){.type = CONVERSATION_TIME});
	}
	converse.now = end;
}

static void run_world(uint64_t number, bool drops)
{
	struct conversation_caps caps = converse_all_caps();

	memset(&world, 0, sizeof world);
	world.seed = number * 977 + 1;
	world.drops = drops;
	caps.session_ms = 60000;
	CHECK_INT(converse_begin_as(caps), 0);
	for (unsigned i = 0; i < 400 || world.asked < ASKS; i++) {
		if (world.asked < ASKS && draw(20) == 0)
			world_ask();
		else if (draw(4))
			live(draw(2));
		else
			world_time(draw(600));
	}
	world.drops = false;
	for (unsigned i = 0; i < 300; i++) {
		world_time(100);
		live(0);
		live(1);
	}
	converse_end();
}

static void check_world(void)
{
	CHECK_INT(world.ignorant, 0);
	CHECK_INT(world.unasked, 0);
	CHECK_INT(world.foreign, 0);
	for (unsigned i = 1; i <= ASKS; i++) {
		CHECK_INT(world.ends[i], 1);
		/* Half an answer cannot be asked again, and a question may be what ends sessions.
		 */
		if (world.failed[i])
			CHECK(world.begun[i] || world.losses[i] > CONVERSATION_LOSSES);
	}
}

TEST(no_turn_is_lost_when_sessions_end_as_announced)
{
	unsigned rolled = 0, failed = 0, heard = 0;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		run_world(i, false);
		check_world();
		rolled += world.rolled;
		heard += world.heard;
		for (unsigned k = 1; k <= ASKS; k++)
			failed += world.failed[k];
	}
	CHECK_INT(failed, 0);
	CHECK(rolled > ROUNDS / 2);
	CHECK(heard > ROUNDS);
}

TEST(no_unanswered_turn_is_lost_when_sockets_drop_at_any_time)
{
	unsigned lost = 0;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		run_world(i, true);
		check_world();
		lost += world.lost;
	}
	CHECK(lost > ROUNDS);
}

/* How many connections a log tells of. */
static unsigned count_connects(const char *log)
{
	unsigned n = 0;

	while ((log = strstr(log, "connect "))) {
		log++;
		n++;
	}
	return n;
}

TEST(a_provider_that_ends_each_session_at_once_causes_no_storm)
{
	unsigned connects = 0, n;

	begin_limited();
	for (unsigned i = 0; i < 600; i++) {
		for (unsigned k = 0; k < 2; k++)
			converse_step((struct conversation_input){.type = CONVERSATION_GO_AWAY,
								  .session = k});
		converse_pass(100);
		n = count_connects(converse_said());
		connects += n;
		if (n)
			next_up(connects % 2);
	}
	/* In a minute. */
	CHECK_INT(connects, 13);
	converse_end();
}
