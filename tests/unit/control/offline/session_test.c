#include "control/offline/rules.h"
#include "control/offline/session.h"
#include "tests/test.h"

#include <jansson.h>
#include <sodium.h>

enum { MAX_EVENTS = 400 };

/* A session with everything it wants written down. */
static struct fixture {
	struct session *s;
	struct session_moment now;
	json_t *events[MAX_EVENTS];
	unsigned n, at;
	uint32_t begun, ended, dropped; /* the last of each */
	size_t fed;
	uint32_t speech, stopped;
	char line[1024], voice[8];
} fx;

static void on_event(const char *json, size_t len, void *arg)
{
	(void)arg;
	if (fx.n < MAX_EVENTS)
		fx.events[fx.n++] = json_loadb(json, len, JSON_REJECT_DUPLICATES, NULL);
}

static void on_begin(uint32_t id, void *arg)
{
	(void)arg;
	fx.begun = id;
	fx.fed = 0;
}

static void on_pcm(uint32_t id, const int16_t *pcm, size_t n, void *arg)
{
	(void)arg;
	(void)pcm;
	if (id == fx.begun)
		fx.fed += n;
}

static void on_end(uint32_t id, void *arg)
{
	(void)arg;
	fx.ended = id;
}

static void on_drop(uint32_t id, void *arg)
{
	(void)arg;
	fx.dropped = id;
}

static void on_say(uint32_t id, const char *text, const char *voice, double speed, void *arg)
{
	(void)arg;
	(void)speed;
	fx.speech = id;
	snprintf(fx.line, sizeof fx.line, "%s", text);
	snprintf(fx.voice, sizeof fx.voice, "%s", voice);
}

static void on_stop(uint32_t id, void *arg)
{
	(void)arg;
	fx.stopped = id;
}

/* Compiled once: with an allocation failing in turn it would take its time. */
static struct rules *rules_once(void)
{
	static struct rules *r;

	if (!r && rules_alloc(&r))
		return NULL;
	return r;
}

static int setup(bool transcription)
{
	struct session_conf conf = {.transcription = transcription, .model = "offline", .seed = 42};
	int err;

	memset(&fx, 0, sizeof fx);
	fx.now = (struct session_moment){
		.wall_s = 1772813400,
		.local = {.tm_year = 126,
			  .tm_mon = 2,
			  .tm_mday = 6,
			  .tm_hour = 16,
			  .tm_min = 10,
			  .tm_wday = 5},
		.random = 5,
	};
	conf.rules = rules_once();
	err = conf.rules ? 0 : ENOMEM;
	conf.out = (struct session_out){on_event, on_begin, on_pcm,  on_end,
					on_drop,  on_say,   on_stop, NULL};
	if (!err)
		err = session_alloc(&fx.s, &conf);
	return err ? err : session_open(fx.s, &fx.now);
}

static void teardown(void)
{
	session_free(fx.s);
	for (unsigned i = 0; i < fx.n; i++)
		json_decref(fx.events[i]);
}

static int put(const char *json)
{
	return session_event(fx.s, &fx.now, json, strlen(json));
}

static const char *type_of(const json_t *e)
{
	const char *t = json_string_value(json_object_get(e, "type"));

	return t ? t : "";
}

/* The next event; NULL when there is none. */
static json_t *next(void)
{
	return fx.at < fx.n ? fx.events[fx.at++] : NULL;
}

/* The next event if it is of this type. */
static json_t *expect(const char *type)
{
	json_t *e = next();

	if (e && strcmp(type_of(e), type) == 0)
		return e;
	printf("wanted %s, got %s\n", type, e ? type_of(e) : "nothing");
	return NULL;
}

static const char *string_at(json_t *e, const char *a, const char *b)
{
	json_t *j = json_object_get(e, a);
	const char *v = json_string_value(b ? json_object_get(j, b) : j);

	return v ? v : "";
}

/* ms of a tone, or of silence. */
static int append(unsigned ms, bool loud)
{
	size_t n = (size_t)ms * 24,
	       size = sodium_base64_encoded_len(n * 2, sodium_base64_VARIANT_ORIGINAL);
	int16_t *pcm = calloc(n, sizeof *pcm);
	char *text = malloc(size + 64), *b64 = malloc(size);
	int err;

	for (size_t i = 0; loud && i < n; i++)
		pcm[i] = (int16_t)(i % 100 < 50 ? 6000 : -6000);
	sodium_bin2base64(b64, size, (unsigned char *)pcm, n * 2, sodium_base64_VARIANT_ORIGINAL);
	snprintf(text, size + 64, "{\"type\":\"input_audio_buffer.append\",\"audio\":\"%s\"}", b64);
	err = put(text);
	free(pcm);
	free(text);
	free(b64);
	return err;
}

static int user(const char *text)
{
	char json[1024];

	snprintf(json, sizeof json,
		 "{\"type\":\"conversation.item.create\",\"item\":{\"type\":\"message\",\"role\":"
		 "\"user\",\"content\":[{"
		 "\"type\":\"input_text\",\"text\":\"%s\"}]}}",
		 text);
	return put(json);
}

#define MANUAL                                                                                     \
	"{\"type\":\"session.update\",\"session\":{\"type\":\"realtime\",\"audio\":{\"input\":{"   \
	"\"turn_detection\":"                                                                      \
	"null,\"transcription\":{\"model\":\"x\"}}}}}"

TEST(session_speaks_first)
{
	json_t *e;

	CHECK_INT(setup(false), 0);
	CHECK((e = expect("session.created")));
	CHECK_STR(string_at(e, "session", "type"), "realtime");
	CHECK_STR(string_at(e, "session", "model"), "offline");
	CHECK(!next());
	teardown();
	CHECK_INT(setup(true), 0);
	CHECK((e = expect("session.created")));
	CHECK_STR(string_at(e, "session", "type"), "transcription");
	teardown();
}

TEST(session_update_changes_what_is_named)
{
	json_t *e, *in;

	CHECK_INT(setup(false), 0);
	next();
	CHECK_INT(put("{\"type\":\"session.update\",\"session\":{\"type\":\"realtime\","
		      "\"instructions\":\"x\",\"audio\":"
		      "{\"input\":{\"turn_detection\":{\"type\":\"server_vad\",\"silence_duration_"
		      "ms\":700}}}}}"),
		  0);
	CHECK((e = expect("session.updated")));
	in = json_object_get(json_object_get(json_object_get(e, "session"), "audio"), "input");
	CHECK_INT(json_integer_value(json_object_get(json_object_get(in, "turn_detection"),
						     "silence_duration_ms")),
		  700);
	CHECK_INT(json_integer_value(json_object_get(json_object_get(in, "turn_detection"),
						     "prefix_padding_ms")),
		  300);
	CHECK_STR(string_at(e, "session", "instructions"), "x");
	CHECK_STR(string_at(e, "session", "model"), "offline");
	CHECK_INT(put("{\"type\":\"session.update\",\"event_id\":\"e1\",\"session\":{\"audio\":{"
		      "\"output\":{\"voice\":"
		      "\"hal\"}},\"instructions\":\"y\"}}"),
		  0);
	CHECK((e = expect("error")));
	CHECK_STR(string_at(e, "error", "code"), "invalid_value");
	CHECK_STR(string_at(e, "error", "event_id"), "e1");
	/* Refused as a whole. */
	CHECK_INT(put(MANUAL), 0);
	CHECK((e = expect("session.updated")));
	CHECK_STR(string_at(e, "session", "instructions"), "x");
	teardown();
}

TEST(session_answers_text_aloud)
{
	static const int16_t sound[6000];
	json_t *e;
	const char *item;

	CHECK_INT(setup(false), 0);
	next();
	CHECK_INT(put("{\"type\":\"session.update\",\"session\":{\"instructions\":\"people in the "
		      "room: Al, Bo\"}}"),
		  0);
	next();
	CHECK_INT(user("[Al]: who is here?"), 0);
	CHECK(expect("conversation.item.added"));
	CHECK(expect("conversation.item.done"));
	CHECK_INT(put("{\"type\":\"response.create\"}"), 0);
	CHECK((e = expect("response.created")));
	CHECK_STR(string_at(e, "response", "status"), "in_progress");
	CHECK(expect("response.output_item.added"));
	CHECK((e = expect("conversation.item.added")));
	item = string_at(e, "item", "id");
	CHECK(expect("response.content_part.added"));
	CHECK_STR(fx.line, "In the room are Al and Bo.");
	CHECK_STR(fx.voice, "slt");
	CHECK_INT(session_take_speech(fx.s, &fx.now, fx.speech, sound, 6000, "In the room", false),
		  0);
	CHECK((e = expect("response.output_audio_transcript.delta")));
	CHECK_STR(string_at(e, "delta", NULL), "In the room");
	CHECK(expect("response.output_audio.delta"));
	CHECK(expect("response.output_audio.delta"));
	CHECK_INT(session_take_speech(fx.s, &fx.now, fx.speech, sound, 0, " are Al and Bo.", true),
		  0);
	CHECK(expect("response.output_audio_transcript.delta"));
	CHECK(expect("response.output_audio.done"));
	CHECK((e = expect("response.output_audio_transcript.done")));
	CHECK_STR(string_at(e, "transcript", NULL), "In the room are Al and Bo.");
	CHECK(expect("response.content_part.done"));
	CHECK((e = expect("response.output_item.done")));
	CHECK_STR(string_at(e, "item", "id"), item);
	CHECK(expect("conversation.item.done"));
	CHECK((e = expect("response.done")));
	CHECK_STR(string_at(e, "response", "status"), "completed");
	e = json_object_get(json_object_get(e, "response"), "metadata");
	CHECK_STR(string_at(e, "intent", NULL), "who");
	CHECK(expect("rate_limits.updated"));
	CHECK(!next());
	teardown();
}

TEST(session_hears_what_is_committed)
{
	json_t *e;

	CHECK_INT(setup(false), 0);
	next();
	CHECK_INT(put(MANUAL), 0);
	next();
	CHECK_INT(append(1000, false), 0);
	CHECK_INT(fx.begun, 0);
	CHECK_INT(append(1000, true), 0);
	/* What came shortly before the sound belongs to it. */
	CHECK_INT(fx.begun, 1);
	CHECK(fx.fed > 1150 * 24 && fx.fed <= 1200 * 24);
	CHECK(!next());
	CHECK_INT(put("{\"type\":\"input_audio_buffer.commit\"}"), 0);
	CHECK_INT(fx.ended, 1);
	CHECK((e = expect("input_audio_buffer.committed")));
	CHECK(json_is_null(json_object_get(e, "previous_item_id")));
	CHECK(expect("conversation.item.added"));
	CHECK(expect("conversation.item.done"));
	CHECK_INT(put("{\"type\":\"response.create\"}"), 0);
	CHECK(expect("response.created"));
	/* It waits for the words. */
	CHECK(!next());
	CHECK_INT(session_recognised(fx.s, &fx.now, 1, "what time is it"), 0);
	CHECK(expect("conversation.item.input_audio_transcription.delta"));
	CHECK((e = expect("conversation.item.input_audio_transcription.completed")));
	CHECK_STR(string_at(e, "transcript", NULL), "what time is it");
	CHECK(expect("response.output_item.added"));
	CHECK_STR(fx.line, "It is ten past four in the afternoon.");
	teardown();
}

TEST(session_tells_a_failed_ear_from_silence)
{
	json_t *e;

	CHECK_INT(setup(false), 0);
	next();
	CHECK_INT(put(MANUAL), 0);
	next();
	CHECK_INT(append(1000, true), 0);
	CHECK_INT(put("{\"type\":\"input_audio_buffer.commit\"}"), 0);
	CHECK(expect("input_audio_buffer.committed"));
	CHECK(expect("conversation.item.added"));
	CHECK(expect("conversation.item.done"));
	CHECK_INT(session_recognised(fx.s, &fx.now, 1, NULL), 0);
	CHECK((e = expect("conversation.item.input_audio_transcription.failed")));
	CHECK(*string_at(e, "item_id", NULL));
	CHECK(*string_at(e, "error", "message"));
	CHECK(!next());
	/* It was an utterance all the same: what is asked next is answered. */
	CHECK_INT(put("{\"type\":\"response.create\"}"), 0);
	CHECK(expect("response.created"));
	teardown();
}

TEST(session_knows_an_empty_buffer)
{
	json_t *e;

	CHECK_INT(setup(false), 0);
	next();
	CHECK_INT(put(MANUAL), 0);
	next();
	CHECK_INT(put("{\"type\":\"input_audio_buffer.commit\",\"event_id\":\"c\"}"), 0);
	CHECK((e = expect("error")));
	CHECK_STR(string_at(e, "error", "code"), "input_audio_buffer_commit_empty");
	CHECK_STR(string_at(e, "error", "event_id"), "c");
	CHECK_INT(append(500, true), 0);
	CHECK_INT(put("{\"type\":\"input_audio_buffer.clear\"}"), 0);
	CHECK(expect("input_audio_buffer.cleared"));
	CHECK_INT(fx.dropped, fx.begun);
	CHECK_INT(put("{\"type\":\"input_audio_buffer.commit\"}"), 0);
	CHECK(expect("error"));
	/* Silence is an item without words, and no recogniser works. */
	CHECK_INT(append(500, false), 0);
	CHECK_INT(put("{\"type\":\"input_audio_buffer.commit\"}"), 0);
	CHECK(expect("input_audio_buffer.committed"));
	CHECK(expect("conversation.item.added"));
	CHECK(expect("conversation.item.done"));
	CHECK((e = expect("conversation.item.input_audio_transcription.completed")));
	CHECK_STR(string_at(e, "transcript", NULL), "");
	CHECK_INT(fx.begun, 1);
	teardown();
}

TEST(session_finds_speech_by_itself)
{
	json_t *e;
	json_int_t from, to;

	CHECK_INT(setup(false), 0);
	next();
	CHECK_INT(append(1000, false), 0);
	CHECK_INT(append(800, true), 0);
	CHECK((e = expect("input_audio_buffer.speech_started")));
	from = json_integer_value(json_object_get(e, "audio_start_ms"));
	CHECK(from >= 650 && from <= 1000);
	CHECK_INT(append(600, false), 0);
	CHECK((e = expect("input_audio_buffer.speech_stopped")));
	to = json_integer_value(json_object_get(e, "audio_end_ms"));
	CHECK(to >= 1800 && to <= 2400);
	CHECK(expect("input_audio_buffer.committed"));
	CHECK(expect("conversation.item.added"));
	CHECK(expect("conversation.item.done"));
	CHECK(expect("response.created"));
	CHECK_INT(session_recognised(fx.s, &fx.now, fx.ended, "hello"), 0);
	CHECK(fx.speech);
	/* Speaking over it stops it. */
	fx.at = fx.n;
	CHECK_INT(append(300, true), 0);
	CHECK_INT(fx.stopped, fx.speech);
	CHECK(expect("response.output_audio.done"));
	fx.at = fx.n - 3;
	CHECK((e = expect("response.done")));
	CHECK_STR(string_at(e, "response", "status"), "cancelled");
	CHECK_STR(string_at(json_object_get(e, "response"), "status_details", "reason"),
		  "turn_detected");
	CHECK(expect("rate_limits.updated"));
	CHECK(expect("input_audio_buffer.speech_started"));
	teardown();
}

TEST(session_cancels)
{
	static const int16_t sound[100];
	json_t *e;

	CHECK_INT(setup(false), 0);
	CHECK_INT(put("{\"type\":\"response.cancel\"}"), 0);
	fx.at = 1;
	CHECK((e = expect("error")));
	CHECK_STR(string_at(e, "error", "code"), "response_cancel_not_active");
	CHECK_INT(user("hello"), 0);
	CHECK_INT(put("{\"type\":\"response.create\"}"), 0);
	CHECK_INT(put("{\"type\":\"response.create\"}"), 0);
	CHECK_STR(string_at(fx.events[fx.n - 1], "error", "code"),
		  "conversation_already_has_active_response");
	CHECK_INT(put("{\"type\":\"response.cancel\"}"), 0);
	CHECK_INT(fx.stopped, fx.speech);
	fx.at = fx.n - 2;
	CHECK((e = expect("response.done")));
	CHECK_STR(string_at(e, "response", "status"), "cancelled");
	/* What was on its way is not told any more. */
	fx.at = fx.n;
	CHECK_INT(session_take_speech(fx.s, &fx.now, fx.speech, sound, 100, "x", true), 0);
	CHECK(!next());
	CHECK_INT(put("{\"type\":\"response.create\"}"), 0);
	CHECK(expect("response.created"));
	teardown();
}

TEST(session_truncates_what_was_said)
{
	static const int16_t sound[24000];
	char id[128], json[512];
	json_t *e;

	CHECK_INT(setup(false), 0);
	CHECK_INT(user("hello"), 0);
	CHECK_INT(put("{\"type\":\"response.create\"}"), 0);
	CHECK_INT(session_take_speech(fx.s, &fx.now, fx.speech, sound, 24000, fx.line, true), 0);
	e = json_object_get(fx.events[fx.n - 2], "response");
	snprintf(id, sizeof id, "%s",
		 string_at(json_array_get(json_object_get(e, "output"), 0), "id", NULL));
	fx.at = fx.n;
	snprintf(json, sizeof json,
		 "{\"type\":\"conversation.item.truncate\",\"item_id\":\"%s\",\"content_index\":0,"
		 "\"audio_end_ms\":1001}",
		 id);
	CHECK_INT(put(json), 0);
	CHECK(expect("error"));
	snprintf(json, sizeof json,
		 "{\"type\":\"conversation.item.truncate\",\"item_id\":\"%s\",\"content_index\":0,"
		 "\"audio_end_ms\":400}",
		 id);
	CHECK_INT(put(json), 0);
	CHECK(expect("conversation.item.truncated"));
	snprintf(json, sizeof json, "{\"type\":\"conversation.item.delete\",\"item_id\":\"%s\"}",
		 id);
	CHECK_INT(put(json), 0);
	CHECK(expect("conversation.item.deleted"));
	CHECK_INT(put(json), 0);
	CHECK((e = expect("error")));
	CHECK_STR(string_at(e, "error", "code"), "item_not_found");
	teardown();
}

TEST(session_speaks_an_exact_line_out_of_band)
{
	json_t *e;

	CHECK_INT(setup(false), 0);
	CHECK_INT(put("{\"type\":\"response.create\",\"response\":{\"conversation\":\"none\","
		      "\"input\":[],\"metadata\":{"
		      "\"k\":\"v\"},\"instructions\":\"say exactly: \\\"Good "
		      "day.\\\"\",\"audio\":{\"output\":{\"voice\":"
		      "\"awb\"}}}}"),
		  0);
	CHECK_STR(fx.line, "Good day.");
	CHECK_STR(fx.voice, "awb");
	fx.at = 1;
	CHECK((e = expect("response.created")));
	CHECK(json_is_null(json_object_get(json_object_get(e, "response"), "conversation_id")));
	CHECK_STR(string_at(json_object_get(e, "response"), "metadata", "k"), "v");
	/* Another may run beside it. */
	CHECK_INT(put("{\"type\":\"response.create\",\"response\":{\"output_modalities\":[\"text\"]"
		      ",\"conversation\":"
		      "\"none\",\"input\":[{\"type\":\"message\",\"role\":\"user\",\"content\":[{"
		      "\"type\":\"input_text\","
		      "\"text\":\"two plus two\"}]}]}}"),
		  0);
	fx.at = fx.n - 2;
	CHECK((e = expect("response.done")));
	e = json_array_get(json_object_get(json_object_get(e, "response"), "output"), 0);
	CHECK_STR(string_at(json_array_get(json_object_get(e, "content"), 0), "text", NULL),
		  "Two plus two is four.");
	teardown();
}

TEST(session_transcribes_without_answering)
{
	json_t *e;

	CHECK_INT(setup(true), 0);
	next();
	CHECK_INT(put("{\"type\":\"session.update\",\"session\":{\"type\":\"transcription\","
		      "\"audio\":{\"input\":{"
		      "\"turn_detection\":null}}}}"),
		  0);
	CHECK((e = expect("session.updated")));
	CHECK_INT(append(400, true), 0);
	CHECK_INT(put("{\"type\":\"input_audio_buffer.commit\"}"), 0);
	CHECK_INT(session_recognised(fx.s, &fx.now, 1, "any words"), 0);
	CHECK_STR(string_at(fx.events[fx.n - 1], "transcript", NULL), "any words");
	CHECK_INT(put("{\"type\":\"response.create\"}"), 0);
	CHECK_STR(type_of(fx.events[fx.n - 1]), "error");
	CHECK_INT(fx.speech, 0);
	teardown();
}

TEST(session_knows_who_speaks)
{
	CHECK_INT(setup(false), 0);
	CHECK_INT(put(MANUAL), 0);
	CHECK_INT(put("{\"type\":\"conversation.item.create\",\"item\":{\"type\":\"message\","
		      "\"role\":\"system\","
		      "\"content\":[{\"type\":\"input_text\",\"text\":\"people in the room: "
		      "Al\\nnow speaking: Al\"}]}}"),
		  0);
	CHECK_INT(append(400, true), 0);
	CHECK_INT(put("{\"type\":\"input_audio_buffer.commit\"}"), 0);
	CHECK_INT(put("{\"type\":\"response.create\"}"), 0);
	CHECK_INT(session_recognised(fx.s, &fx.now, 1, "hello"), 0);
	CHECK_STR(fx.line, "Hello Al. What can I do for you?");
	teardown();
}

TEST(session_survives_what_is_malformed)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{",
		"{}",
		"{\"type\":5}",
		"{\"type\":\"nonsense\"}",
		"{\"type\":\"session.update\"}",
		"{\"type\":\"session.update\",\"session\":{\"audio\":{\"input\":{\"turn_"
		"detection\":7}}}}",
		"{\"type\":\"session.update\",\"session\":{\"output_modalities\":[\"audio\","
		"\"text\"]}}",
		"{\"type\":\"session.update\",\"session\":{\"audio\":{\"input\":{\"format\":{"
		"\"type\":\"audio/pcmu\"}}}}}",
		"{\"type\":\"input_audio_buffer.append\"}",
		"{\"type\":\"input_audio_buffer.append\",\"audio\":\"!!\"}",
		"{\"type\":\"input_audio_buffer.append\",\"audio\":\"AAAA\"}",
		"{\"type\":\"conversation.item.create\"}",
		"{\"type\":\"conversation.item.create\",\"item\":{\"type\":\"message\"}}",
		"{\"type\":\"conversation.item.create\",\"item\":{\"type\":\"message\",\"role\":"
		"\"user\",\"content\":[7]}}",
		"{\"type\":\"conversation.item.create\",\"previous_item_id\":\"x\",\"item\":{"
		"\"type\":\"message\",\"role\":"
		"\"user\",\"content\":[]}}",
		"{\"type\":\"conversation.item.truncate\",\"item_id\":\"x\"}",
		"{\"type\":\"conversation.item.retrieve\"}",
		"{\"type\":\"response.create\",\"response\":{\"input\":[{\"type\":\"item_"
		"reference\",\"id\":\"x\"}]}}",
		"{\"type\":\"output_audio_buffer.clear\"}",
	};

	CHECK_INT(setup(false), 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		unsigned before = fx.n;

		CHECK_INT(put(bad[i]), 0);
		CHECK_INT(fx.n, before + 1);
		CHECK_STR(type_of(fx.events[before]), "error");
	}
	CHECK_INT(user("hello"), 0);
	CHECK_STR(type_of(fx.events[fx.n - 1]), "conversation.item.done");
	teardown();
}

TEST(session_forgets_the_oldest_items)
{
	CHECK_INT(setup(false), 0);
	for (unsigned i = 0; i < 1200; i++) {
		CHECK_INT(user("hello"), 0);
		while (fx.n > 1)
			json_decref(fx.events[--fx.n]);
	}
	CHECK_INT(put("{\"type\":\"response.create\"}"), 0);
	CHECK(fx.speech);
	teardown();
}

TEST_OOM(session_survives_without_memory)
{
	int err = setup(false);

	if (!err)
		err = put(MANUAL);
	if (!err)
		err = user("what can you do");
	if (!err)
		err = put("{\"type\":\"response.create\"}");
	if (!err)
		err = session_take_speech(fx.s, &fx.now, fx.speech, (const int16_t[2]){0}, 2,
					  fx.line, true);
	teardown();
	CHECK_OOM(err, );
}

/* The client's refusal of the call, and the answer to it. */
static int refuse_call(const char *call)
{
	char json[600];
	int err;

	snprintf(json, sizeof json,
		 "{\"type\":\"conversation.item.create\",\"item\":{\"type\":\"function_call_"
		 "output\","
		 "\"call_id\":\"%s\",\"output\":\"{\\\"ok\\\":false,\\\"error\\\":{\\\"code\\\":"
		 "\\\"needs_yes\\\",\\\"question\\\":\\\"Shall I do this: memory forget, "
		 "bike?\\\"}}\"}}",
		 call);
	err = put(json);
	return err ? err : put("{\"type\":\"response.create\"}");
}

/* Says the words and returns the call that answers them; NULL: none does. */
static json_t *call_after(const char *words)
{
	static const int16_t none[1];
	json_t *e;

	/* The line before it, if there is one, has been spoken. */
	if (session_take_speech(fx.s, &fx.now, fx.speech, none, 0, "", true) || user(words) ||
	    put("{\"type\":\"response.create\"}"))
		return NULL;
	while ((e = next()))
		if (strcmp(type_of(e), "response.function_call_arguments.done") == 0)
			return e;
	return NULL;
}

TEST(session_asks_for_a_yes_and_makes_the_call_again)
{
	json_t *call;

	CHECK_INT(setup(false), 0);
	CHECK_INT(put("{\"type\":\"session.update\",\"session\":{\"type\":\"realtime\",\"tools\":[{"
		      "\"type\":\"function\",\"name\":\"memory_forget\"}]}}"),
		  0);
	CHECK((call = call_after("[Alice]: forget about my bike")));
	CHECK_INT(refuse_call(string_at(call, "call_id", NULL)), 0);
	CHECK_STR(fx.line, "Shall I do this: memory forget, bike?");
	CHECK(!call_after("[Alice]: what time is it"));
	CHECK((call = call_after("[Alice]: yes please")));
	CHECK_STR(string_at(call, "name", NULL), "memory_forget");
	CHECK_STR(string_at(call, "arguments", NULL), "{\"query\":\"bike\"}");
	teardown();
}
