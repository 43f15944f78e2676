/* What providers cost: told, estimated, not believed, and of no answer. */
#include "control/engine/roles.h"

#include "control/ledger/ledger.h"
#include "control/settings/settings.h"
#include "ipc/http.h"
#include "tests/test.h"
#include "tests/unit/control/engine/fake_realtime.h"

enum behaviour { TELLS, TELLS_NOTHING, LIES, WAITS, WAITS_AND_TELLS, FLOODS };

static struct seen {
	struct fake fake;
	struct settings *settings;
	struct http *http;
	struct roles *roles;
	enum behaviour is;
	struct usage usage[8];
	uint32_t turn[8];
	unsigned told, sound, done;
} fx;

static void on_event(const struct roles_event *ev, void *arg)
{
	(void)arg;
	if (ev->engine->type == ENGINE_USAGE && fx.told < 8) {
		fx.usage[fx.told] = *ev->engine->usage;
		fx.turn[fx.told++] = ev->turn;
	}
	fx.sound += ev->engine->type == ENGINE_AUDIO;
	fx.done += ev->engine->type == ENGINE_DONE;
	if (fx.done || (fx.is >= WAITS && fx.is < FLOODS && fx.sound))
		env_stop(fx.fake.env);
}

#define USAGE(n)                                                                                   \
	",\"usage\":{\"input_token_details\":{\"text_tokens\":" n                                  \
	",\"audio_tokens\":0},\"output_token_details\":{\"text_tokens\":" n ",\"audio_tokens\":" n \
	"}}"

static void flood(struct fake *f, unsigned conn)
{
	for (unsigned i = 0; i < 300; i++)
		fake_send(f, conn,
			  "{\"type\":\"conversation.item.input_audio_transcription.completed\","
			  "\"item_id\":\"x%u\",\"content_index\":0,\"transcript\":\"\",\"usage\":"
			  "{\"type\":\"duration\",\"seconds\":100000}}",
			  i);
}

static void server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	const char *usage = fx.is == TELLS || fx.is == FLOODS || fx.is == WAITS_AND_TELLS
				    ? USAGE("7")
			    : fx.is == LIES ? USAGE("900000000")
					    : "";

	(void)root;
	if (strcmp(type, "response.cancel") == 0 && fx.is == WAITS_AND_TELLS) {
		fake_send(f, conn,
			  "{\"type\":\"response.done\",\"response\":{\"id\":\"r1\",\"status\":"
			  "\"cancelled\"%s}}",
			  usage);
		env_stop(f->env);
	}
	if (strcmp(type, "response.create") != 0)
		return;
	fake_send(f, conn, "{\"type\":\"response.created\",\"response\":{\"id\":\"r1\"}}");
	fake_audio(f, conn, "r1", "i1", 3, 24000);
	if (fx.is == FLOODS)
		flood(f, conn);
	if (fx.is == WAITS || fx.is == WAITS_AND_TELLS)
		return;
	fake_send(f, conn,
		  "{\"type\":\"response.done\",\"response\":{\"id\":\"r1\","
		  "\"status\":\"completed\"%s}}",
		  usage);
}

static void begin_as(enum behaviour is, enum dialect dialect)
{
	struct settings_records *r;
	struct provider_record *p;

	memset(&fx, 0, sizeof fx);
	fx.is = is;
	CHECK(fake_begin(&fx.fake, server, NULL));
	CHECK_INT(settings_alloc(&fx.settings), 0);
	CHECK_INT(http_alloc(&fx.http, fx.fake.env, NULL, "x"), 0);
	r = &fx.settings->records;
	p = &r->provider[r->n[RECORD_KIND_PROVIDER]++];
	p->dialect = dialect;
	snprintf(p->name, sizeof p->name, "voice");
	snprintf(p->url, sizeof p->url, "%s", fx.fake.url);
	snprintf(p->model, sizeof p->model, "gpt-realtime");
	r->role[ROLE_VOICE].n = 1;
	snprintf(r->role[ROLE_VOICE].name[0], RECORD_NAME_MAX, "voice");
	settings_resolve(fx.settings);
	CHECK_INT(roles_alloc(&fx.roles, &(struct roles_conf){.env = fx.fake.env,
							      .ws = fx.fake.ctx,
							      .http = fx.http,
							      .settings = fx.settings,
							      .h = on_event}),
		  0);
}

static void begin(enum behaviour is)
{
	begin_as(is, DIALECT_OPENAI);
}

static void ask(uint32_t turn)
{
	const struct engine_message m = {
		.role = ENGINE_USER, .speaker = "", .text = "tell me a story"};

	fx.done = fx.sound = 0;
	roles_ask(fx.roles, ENGINE_USE_VOICE, 0,
		  &(struct engine_ask){.turn = turn, .instructions = "", .messages = &m, .n = 1});
	env_run(fx.fake.env);
	CHECK(!fx.fake.timed_out);
}

/* Also tells what is left. */
static void leave(void)
{
	fx.roles = roles_free(fx.roles);
}

static void end(void)
{
	roles_free(fx.roles);
	http_free(fx.http);
	settings_free(fx.settings);
	fake_end(&fx.fake);
}

static double dollars(unsigned i)
{
	return (double)ledger_cost(fx.settings, "gpt-realtime", &fx.usage[i], NULL) / 1e9;
}

TEST(usage_that_a_provider_tells_is_told_once)
{
	begin(TELLS);
	ask(1);
	leave();
	CHECK_INT(fx.told, 1);
	CHECK_INT(fx.turn[0], 1);
	CHECK(!fx.usage[0].estimated);
	CHECK_INT(fx.usage[0].n[PRICE_AUDIO_OUT], 7);
	end();
}

TEST(an_answer_without_usage_is_estimated)
{
	begin(TELLS_NOTHING);
	ask(1);
	leave();
	CHECK_INT(fx.told, 1);
	CHECK_INT(fx.turn[0], 1);
	CHECK(fx.usage[0].estimated);
	CHECK_INT(fx.usage[0].n[PRICE_AUDIO_OUT], 20); /* a second */
	CHECK_INT(fx.usage[0].n[PRICE_TEXT_IN], 4);
	end();
}

TEST(the_embedded_engine_costs_nothing)
{
	for (enum behaviour is = TELLS; is <= TELLS_NOTHING; is++) {
		begin_as(is, DIALECT_EMBEDDED);
		ask(1);
		leave();
		CHECK_INT(fx.told, 0);
		end();
	}
}

TEST(false_usage_does_not_spend_the_budget)
{
	begin(LIES);
	ask(1);
	leave();
	CHECK_INT(fx.told, 1);
	CHECK(fx.usage[0].estimated);
	CHECK(dollars(0) > 0 && dollars(0) < 1);
	end();
}

TEST(an_answer_that_is_cut_is_estimated)
{
	begin(WAITS);
	ask(1);
	roles_cancel(fx.roles, ENGINE_USE_VOICE, 1);
	leave();
	CHECK_INT(fx.told, 1);
	CHECK_INT(fx.turn[0], 1);
	CHECK(fx.usage[0].estimated);
	CHECK_INT(fx.usage[0].n[PRICE_AUDIO_OUT], 20);
	end();
}

/* It told usage before, so its usage of the answer that is cut is awaited. */
TEST(an_answer_that_is_cut_counts_once_where_its_usage_comes_late)
{
	begin(TELLS);
	ask(1);
	fx.is = WAITS_AND_TELLS;
	ask(2);
	roles_cancel(fx.roles, ENGINE_USE_VOICE, 2);
	CHECK_INT(fx.told, 1);
	do
		env_run(fx.fake.env);
	while (fx.told < 2 && !fx.fake.timed_out);
	leave();
	CHECK_INT(fx.told, 2);
	CHECK_INT(fx.turn[1], 2);
	CHECK(!fx.usage[1].estimated);
	CHECK_INT(fx.usage[1].n[PRICE_AUDIO_OUT], 7);
	end();
}

TEST(a_flood_of_usage_of_no_answer_is_told_as_one)
{
	begin(FLOODS);
	ask(1);
	leave();
	CHECK_INT(fx.told, 2);
	CHECK_INT(fx.turn[1], 0);
	CHECK(fx.usage[1].n[PRICE_SECONDS] < 10);
	end();
}
