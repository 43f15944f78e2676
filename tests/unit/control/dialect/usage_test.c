/* Usage as each dialect tells it, in the units that prices are for. The objects are as the services
 * document them or send them. */
#include "control/dialect/eleven.h"
#include "control/dialect/openai.h"
#include "control/dialect/realtime.h"
#include "control/dialect/text.h"
#include "control/ledger/ledger.h"
#include "control/settings/prices.h"
#include "control/settings/settings.h"
#include "tests/test.h"

struct row {
	const char *message;
	uint64_t n[PRICE_KINDS];
};

static bool take_fact(const struct text_fact *f, void *arg)
{
	if (f->type == TEXT_USAGE)
		*(struct usage *)arg = *f->usage;
	return true;
}

static struct usage of_text(const struct text_dialect *dialect, const char *message)
{
	struct text_stream s = {0};
	struct usage u = {0};

	text_stream_read(&s, dialect, (const uint8_t *)message, strlen(message), take_fact, &u);
	text_stream_end(&s, take_fact, &u);
	text_stream_clear(&s);
	return u;
}

static void read_realtime(struct usage *u, const struct realtime_dialect *wire, const char *message)
{
	static struct realtime_facts facts;
	const struct realtime_conf conf = {
		.url = "ws://h", .model = "m", .voice = "v", .rate_in = 24000, .rate_out = 24000};
	void *codec = NULL;

	*u = (struct usage){0};
	CHECK_INT(wire->alloc(&codec, &conf), 0);
	CHECK_INT(wire->decode(codec, true, (const uint8_t *)message, strlen(message), &facts), 0);
	for (size_t i = 0; i < facts.n; i++)
		if (facts.v[i].type == REALTIME_DONE || facts.v[i].type == REALTIME_USAGE)
			*u = facts.v[i].usage;
	realtime_facts_clear(&facts);
	wire->free(codec);
}

static void check_row(const struct usage *u, const struct row *row)
{
	for (unsigned k = 0; k < PRICE_KINDS; k++)
		CHECK_INT(u->n[k], row->n[k]);
}

#define DONE_(usage)                                                                               \
	"{\"type\":\"response.done\",\"response\":{\"id\":\"r\",\"object\":\"realtime.response\"," \
	"\"status\":\"completed\",\"output\":[],\"usage\":" usage "}}"

TEST(usage_of_realtime_answers)
{
	static const struct row rows[] = {
		{DONE_("{\"total_tokens\":253,\"input_tokens\":132,\"output_tokens\":121,"
		       "\"input_token_details\":{\"text_tokens\":119,\"audio_tokens\":13,"
		       "\"image_tokens\":0,\"cached_tokens\":64,\"cached_tokens_details\":"
		       "{\"text_tokens\":64,\"audio_tokens\":0,\"image_tokens\":0}},"
		       "\"output_token_details\":{\"text_tokens\":30,\"audio_tokens\":91}}"),
		 {[PRICE_TEXT_IN] = 55,
		  [PRICE_TEXT_CACHED] = 64,
		  [PRICE_TEXT_OUT] = 30,
		  [PRICE_AUDIO_IN] = 13,
		  [PRICE_AUDIO_OUT] = 91}},
		/* The kinds of what was cached are not told. */
		{DONE_("{\"input_tokens\":132,\"output_tokens\":9,\"input_token_details\":"
		       "{\"text_tokens\":100,\"audio_tokens\":32,\"cached_tokens\":120}}"),
		 {[PRICE_TEXT_CACHED] = 100,
		  [PRICE_AUDIO_IN] = 12,
		  [PRICE_AUDIO_CACHED] = 20,
		  [PRICE_TEXT_OUT] = 9}},
		{DONE_("{\"input_tokens\":132,\"output_tokens\":9,\"input_token_details\":"
		       "{\"cached_tokens\":100}}"),
		 {[PRICE_TEXT_IN] = 32, [PRICE_TEXT_CACHED] = 100, [PRICE_TEXT_OUT] = 9}},
		/* An image that was cached is not charged as a new one. */
		{DONE_("{\"input_tokens\":1000,\"output_tokens\":9,\"input_token_details\":"
		       "{\"text_tokens\":200,\"image_tokens\":800,\"cached_tokens\":700,"
		       "\"cached_tokens_details\":{\"text_tokens\":100,\"image_tokens\":600}}}"),
		 {[PRICE_TEXT_IN] = 100,
		  [PRICE_TEXT_CACHED] = 700,
		  [PRICE_IMAGE_IN] = 200,
		  [PRICE_TEXT_OUT] = 9}},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct usage u;

		read_realtime(&u, &realtime_openai, rows[i].message);
		check_row(&u, &rows[i]);
		read_realtime(&u, &realtime_xai, rows[i].message);
		check_row(&u, &rows[i]);
	}
}

TEST(usage_of_gemini)
{
	static const struct row row = {
		"{\"usageMetadata\":{\"promptTokenCount\":1300,\"cachedContentTokenCount\":600,"
		"\"responseTokenCount\":80,\"totalTokenCount\":1380,"
		"\"promptTokensDetails\":[{\"modality\":\"TEXT\",\"tokenCount\":300},"
		"{\"modality\":\"AUDIO\",\"tokenCount\":500},"
		"{\"modality\":\"IMAGE\",\"tokenCount\":500}],"
		"\"cacheTokensDetails\":[{\"modality\":\"TEXT\",\"tokenCount\":200},"
		"{\"modality\":\"IMAGE\",\"tokenCount\":400}],"
		"\"responseTokensDetails\":[{\"modality\":\"AUDIO\",\"tokenCount\":80}]}}",
		{[PRICE_TEXT_IN] = 100,
		 [PRICE_TEXT_CACHED] = 600,
		 [PRICE_AUDIO_IN] = 500,
		 [PRICE_AUDIO_OUT] = 80,
		 [PRICE_IMAGE_IN] = 100}};
	struct usage u;

	read_realtime(&u, &realtime_gemini, row.message);
	check_row(&u, &row);
}

TEST(usage_of_text_models)
{
	static const struct row chat = {
		"{\"choices\":[{\"delta\":{\"content\":\"Ten.\"},\"finish_reason\":\"stop\"}],"
		"\"usage\":{\"prompt_tokens\":2006,\"completion_tokens\":300,\"total_tokens\":2306,"
		"\"prompt_tokens_details\":{\"cached_tokens\":1920,\"audio_tokens\":0},"
		"\"completion_tokens_details\":{\"reasoning_tokens\":0}}}",
		{[PRICE_TEXT_IN] = 86, [PRICE_TEXT_CACHED] = 1920, [PRICE_TEXT_OUT] = 300}};
	static const struct row responses = {
		"{\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":"
		"\"completed\",\"output\":[],\"usage\":{\"input_tokens\":81,"
		"\"input_tokens_details\":{\"cached_tokens\":64},\"output_tokens\":1035,"
		"\"output_tokens_details\":{\"reasoning_tokens\":832},\"total_tokens\":1116}}}",
		{[PRICE_TEXT_IN] = 17, [PRICE_TEXT_CACHED] = 64, [PRICE_TEXT_OUT] = 1035}};
	struct usage u = of_text(&text_dialect_chat, chat.message);

	check_row(&u, &chat);
	u = of_text(&text_dialect_responses, responses.message);
	check_row(&u, &responses);
}

#define MESSAGE_(usage)                                                                            \
	"{\"type\":\"message\",\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":"        \
	"\"text\",\"text\":\"Ten.\"}],\"stop_reason\":\"end_turn\",\"usage\":" usage "}"

/* 1.25 of what is read, twice that for an hour: dollars a million tokens of claude-haiku-4. */
TEST(usage_of_anthropic_counts_what_is_written_to_the_cache)
{
	static const struct {
		struct row row;
		uint64_t nano;
	} rows[] = {
		{{MESSAGE_("{\"input_tokens\":100,\"cache_creation_input_tokens\":2000,"
			   "\"cache_read_input_tokens\":500,\"output_tokens\":40,"
			   "\"cache_creation\":{\"ephemeral_5m_input_tokens\":2000,"
			   "\"ephemeral_1h_input_tokens\":0}}"),
		  {[PRICE_TEXT_IN] = 2600, [PRICE_TEXT_CACHED] = 500, [PRICE_TEXT_OUT] = 40}},
		 2600000 + 50000 + 200000},
		{{MESSAGE_("{\"input_tokens\":100,\"cache_creation_input_tokens\":3000,"
			   "\"cache_read_input_tokens\":0,\"output_tokens\":40,"
			   "\"cache_creation\":{\"ephemeral_5m_input_tokens\":1000,"
			   "\"ephemeral_1h_input_tokens\":2000}}"),
		  {[PRICE_TEXT_IN] = 5350, [PRICE_TEXT_OUT] = 40}},
		 5350000 + 200000},
		/* A service that does not tell for how long: five minutes. */
		{{MESSAGE_("{\"input_tokens\":0,\"cache_creation_input_tokens\":1000,"
			   "\"output_tokens\":0}"),
		  {[PRICE_TEXT_IN] = 1250}},
		 1250000},
	};
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct usage u = of_text(&text_dialect_messages, rows[i].row.message);
		bool priced = false;

		check_row(&u, &rows[i].row);
		CHECK_INT(ledger_cost(s, "claude-haiku-4-5-20251001", &u, &priced), rows[i].nano);
		CHECK(priced);
	}
	settings_free(s);
}

/* What a service takes by itself is what is billed. */
TEST(a_model_that_is_not_named_has_the_price_of_the_services_own)
{
	static const struct {
		enum dialect dialect;
		enum role role;
		const char *model;
		bool priced;
	} rows[] = {
		{DIALECT_XAI, ROLE_VOICE, "grok-voice-latest", true},
		{DIALECT_XAI, ROLE_TRANSCRIBE, "grok-voice-latest", true},
		{DIALECT_XAI_STT, ROLE_TRANSCRIBE, "grok-stt", true},
		{DIALECT_ELEVENLABS, ROLE_SPEECH, "eleven_flash_v2_5", true},
		{DIALECT_ELEVENLABS, ROLE_TRANSCRIBE, "scribe_v2_realtime", true},
		{DIALECT_GEMINI, ROLE_VOICE, "gemini-3.8-live", true},
		{DIALECT_OPENAI, ROLE_VOICE, "gpt-realtime", true},
		{DIALECT_OPENAI, ROLE_TEXT, "gpt-4o-mini", true},
		{DIALECT_VLLM, ROLE_TRANSCRIBE, "", false},
	};
	struct provider_record p = {.name = "p"};
	struct settings *s = NULL;
	char *url = eleven_speech_url("https://h", "abc", "", "");
	uint64_t usd;

	CHECK_INT(settings_alloc(&s), 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *model;
		bool priced = false;

		p.dialect = rows[i].dialect;
		model = settings_billed_model(s, rows[i].role, &p);
		CHECK_STR(model, rows[i].model);
		for (unsigned k = 0; k < PRICE_KINDS; k++)
			priced = priced || settings_price(s, model, (enum price_kind)k, &usd);
		CHECK_INT(priced, rows[i].priced);
	}
	snprintf(p.model, sizeof p.model, "mine");
	CHECK_STR(settings_billed_model(s, ROLE_VOICE, &p), "mine");
	CHECK(url && strstr(url, "eleven_flash_v2_5"));
	free(url);
	settings_free(s);
}
