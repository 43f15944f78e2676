/* The dialects of text models and of speech-to-text by themselves (wire.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/stt_file.h"
#include "control/dialect/stt_wire.h"
#include "control/dialect/text.h"
#include "tests/picture.h"
#include "tests/wire/wire.h"

enum { PCM_SIZE = 9600, WORD_TOKENS = 8 };

static const uint8_t pcm[PCM_SIZE];

static const struct {
	const char *name;
	const struct text_dialect *dialect;
} texts[] = {
	{"CHAT", &text_dialect_chat},
	{"RESPONSES", &text_dialect_responses},
	{"ANTHROPIC", &text_dialect_messages},
};
static const struct {
	const char *name;
	const struct stt_wire *wire;
} sessions[] = {
	{"OPENAI/transcribe", &stt_openai},   {"XAI/transcribe", &stt_xai},
	{"XAI_STT/transcribe", &stt_xai_stt}, {"ELEVENLABS/transcribe", &stt_scribe},
	{"VLLM/transcribe", &stt_vllm},
};
static const struct {
	const char *name;
	enum dialect dialect;
	const char *models[2];
} files[] = {
	{"OPENAI/files", DIALECT_OPENAI, {"gpt-4o-mini-transcribe", "whisper-1"}},
	{"ELEVENLABS/files", DIALECT_ELEVENLABS, {"scribe_v2", NULL}},
};

/* ---- text models ---- */

static const struct engine_image image = {.type = "image/jpeg",
					  .data = {picture_jpeg, sizeof picture_jpeg}};
static const struct engine_message talk[] = {
	{.role = ENGINE_USER, .speaker = "Alice", .text = "good morning"},
	{.role = ENGINE_ASSISTANT, .speaker = "", .text = "Good morning."},
	{.role = ENGINE_USER, .speaker = "Bob", .text = "look", .images = &image, .n_images = 1},
	{.role = ENGINE_CALL, .speaker = "", .call = "call_1", .tool = "weather", .text = "{}"},
	{.role = ENGINE_RESULT,
	 .speaker = "",
	 .call = "call_1",
	 .tool = "weather",
	 .text = "sunny"},
};
static const struct engine_message look = {.role = ENGINE_USER,
					   .speaker = "",
					   .text = "what do you see",
					   .images = &image,
					   .n_images = 1};
static const struct engine_tool tool = {
	.name = "weather", .description = "The weather.", .schema = "{\"type\":\"object\"}"};

/* One of each kind that control asks. */
static const struct {
	const char *name, *previous;
	struct engine_ask ask;
} asks[] = {
	{"answer", "", {.instructions = "Be brief.", .messages = talk, .n = 3}},
	{"results", "", {.messages = talk, .n = 5, .tools = &tool, .n_tools = 1}},
	{"word", "", {.messages = talk, .n = 1, .one_word = true, .output_tokens = WORD_TOKENS}},
	{"object", "", {.messages = talk, .n = 1, .answer_schema = "{\"type\":\"object\"}"}},
	{"form", "", {.model = "gpt-5-mini", .messages = talk, .n = 1, .answer_schema = "{}"}},
	{"formed",
	 "",
	 {.model = "claude-sonnet-4-5", .messages = talk, .n = 1, .answer_schema = "{}"}},
	{"search", "", {.messages = talk, .n = 3, .search = true}},
	{"see", "", {.instructions = "Describe.", .messages = &look, .n = 1}},
	{"more", "resp_1", {.messages = talk, .n = 3}},
};

static int send_asks(const struct text_dialect *d)
{
	struct text_options options;

	text_options_parse(&options, "");
	for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
		struct engine_ask ask = asks[i].ask;
		const struct text_request request = {.ask = &ask,
						     .options = &options,
						     .from = 2,
						     .previous = asks[i].previous,
						     .stream = !ask.one_word};
		char *body;

		if (*request.previous && !d->continues)
			continue;
		ask.model = ask.model ? ask.model : "model";
		ask.instructions = ask.instructions ? ask.instructions : "";
		body = d->build(&request);
		if (!body)
			return 1;
		wire_print_sent(asks[i].name, true, body, strlen(body));
		free(body);
	}
	return 0;
}

static bool note_fact(const struct text_fact *fact, void *arg)
{
	static const char *const names[] = {[TEXT_WORDS] = "words",
					    [TEXT_CALL_START] = "call_begun",
					    [TEXT_CALL_MORE] = "call_fragment",
					    [TEXT_CALL] = "call",
					    [TEXT_SEARCH_BEGAN] = "search_begun",
					    [TEXT_SEARCHED] = "searched",
					    [TEXT_SOURCE] = "source",
					    [TEXT_USAGE] = "usage",
					    [TEXT_DONE] = "done",
					    [TEXT_FAILED] = "failed"};

	json_array_append_new(arg, json_string(names[fact->type]));
	return true;
}

/* Some events change only what is known of the answer. */
static void note_changes(const struct text_stream *was, const struct text_stream *is, json_t *facts)
{
	if (is->finished && !was->finished)
		json_array_append_new(facts, json_string("finished"));
	if (is->end != was->end)
		json_array_append_new(facts, json_string("end"));
	if (is->used && memcmp(&is->usage, &was->usage, sizeof is->usage) != 0)
		json_array_append_new(facts, json_string("usage"));
	if (strcmp(is->response, was->response) != 0)
		json_array_append_new(facts, json_string("id"));
	if (is->think != was->think)
		json_array_append_new(facts, json_string("reasoning"));
}

/* An empty line ends an answer. */
static int take_data(const struct text_dialect *d)
{
	struct text_stream s = {.ask = 1};
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while ((n = getline(&line, &size, stdin)) > 0) {
		struct text_stream was = s;
		json_t *facts;
		int err;

		n -= line[n - 1] == '\n';
		if (!n) {
			text_stream_clear(&s);
			continue;
		}
		facts = json_array();
		err = text_stream_read(&s, d, (const uint8_t *)line, (size_t)n, note_fact, facts);
		note_changes(&was, &s, facts);
		wire_print_taken(s.over ? 0 : err, facts);
	}
	text_stream_clear(&s);
	free(line);
	return 0;
}

/* ---- sessions of speech-to-text ---- */

/* Takes text. */
static void print_text(const char *command, char *text)
{
	if (text)
		wire_print_sent(command, true, text, strlen(text));
	free(text);
}

static int send_session(const struct stt_wire *w)
{
	const struct stt_session s = {.socket_url = "ws://127.0.0.1:1/v1/realtime",
				      .http_url = "http://127.0.0.1:1/v1",
				      .model = "model",
				      .language = ""};

	if (w->open)
		print_text("open", w->open(&s));
	if (w->begin)
		print_text("begin", w->begin());
	if (w->append)
		print_text("append", w->append(pcm, sizeof pcm));
	else
		wire_print_sent("append", false, pcm, sizeof pcm);
	/* Twice, which is enough for each. */
	if (w->append)
		print_text("append", w->append(pcm, sizeof pcm));
	if (w->commit)
		print_text("commit", w->commit(1));
	if (w->clear)
		print_text("clear", w->clear());
	return 0;
}

static int take_session(const struct stt_wire *w)
{
	static const char *const names[] = {
		[STT_IGNORED] = NULL,	   [STT_READY] = "ready",     [STT_COMMITTED] = "committed",
		[STT_PARTIAL] = "partial", [STT_SEGMENT] = "segment", [STT_FINAL] = "final",
		[STT_FAILED] = "failed",   [STT_ERROR] = "error"};
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while ((n = getline(&line, &size, stdin)) > 0) {
		json_t *facts = json_array();
		struct stt_fact f;
		int err = w->parse(&f, (const uint8_t *)line, (size_t)n);

		if (!err && names[f.type])
			json_array_append_new(facts, json_string(names[f.type]));
		if (!err && f.doubt)
			json_array_append_new(facts, json_string("doubt"));
		if (!err)
			stt_fact_clear(&f);
		wire_print_taken(err, facts);
	}
	free(line);
	return 0;
}

/* ---- recordings ---- */

static int send_file(enum dialect dialect, const char *model)
{
	const struct openai_recording rec = {.model = model,
					     .language = "en",
					     .boundary = "boundary",
					     .pcm = {pcm, sizeof pcm},
					     .rate = 24000};
	struct openai_body body;
	json_t *form;
	char *text;

	if (stt_file(dialect)->build(&body, &rec))
		return 1;
	/* What stands before the sound, as a string. */
	form = json_stringn((const char *)body.p, body.sound_at - 44);
	text = form ? json_dumps(form, JSON_ENCODE_ANY) : NULL;
	json_decref(form);
	free(body.p);
	if (!text)
		return 1;
	printf("{\"command\":\"file\",\"form\":%s}\n", text);
	free(text);
	return 0;
}

static int take_words(enum dialect dialect)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while ((n = getline(&line, &size, stdin)) > 0) {
		json_t *facts = json_array();
		struct openai_words words = {0};
		int err = stt_file(dialect)->parse(&words, line, (size_t)n);

		if (!err)
			json_array_append_new(facts, json_string("final"));
		if (words.doubt)
			json_array_append_new(facts, json_string("doubt"));
		if (words.no_speech)
			json_array_append_new(facts, json_string("no_speech"));
		wire_print_taken(err, facts);
	}
	free(line);
	return 0;
}

/* ---- by name ---- */

void wire_exchange_list(void)
{
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		puts(texts[i].name);
	for (size_t i = 0; i < sizeof sessions / sizeof sessions[0]; i++)
		puts(sessions[i].name);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		puts(files[i].name);
}

int wire_exchange_sends(const char *name)
{
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (strcmp(texts[i].name, name) == 0)
			return send_asks(texts[i].dialect);
	for (size_t i = 0; i < sizeof sessions / sizeof sessions[0]; i++)
		if (strcmp(sessions[i].name, name) == 0)
			return send_session(sessions[i].wire);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (strcmp(files[i].name, name) == 0)
			return send_file(files[i].dialect, files[i].models[0]) ||
			       (files[i].models[1] &&
				send_file(files[i].dialect, files[i].models[1]));
	return -1;
}

int wire_exchange_takes(const char *name)
{
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (strcmp(texts[i].name, name) == 0)
			return take_data(texts[i].dialect);
	for (size_t i = 0; i < sizeof sessions / sizeof sessions[0]; i++)
		if (strcmp(sessions[i].name, name) == 0)
			return take_session(sessions[i].wire);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (strcmp(files[i].name, name) == 0)
			return take_words(files[i].dialect);
	return -1;
}
