#include "control/dialect/eleven.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/build.h"
#include "control/dialect/json_aside.h"
#include "control/dialect/json_read.h"

static const char default_voice[] = "JBFqnCBsd6RMkjVDRZzb";
static const char default_model[] = "eleven_flash_v2_5";

/* ---- messages ---- */

/* "HEAD<voice>TAIL" */
static char *path_of(const char *head, const char *voice, const char *tail)
{
	size_t size = strlen(head) + strlen(voice) + sizeof default_voice + strlen(tail) + 1;
	char *path = strpbrk(voice, "/?#% ") ? NULL : malloc(size);

	if (path)
		snprintf(path, size, "%s%s%s", head, *voice ? voice : default_voice, tail);
	return path;
}

/* The others refuse a language. */
static bool takes_language(const char *model)
{
	return !*model || strstr(model, "_v2_5");
}

char *eleven_speech_url(const char *base, const char *voice, const char *model,
			const char *language)
{
	char *path = path_of("/text-to-speech/", voice, "/multi-stream-input"), *url;
	char idle[16];

	snprintf(idle, sizeof idle, "%u", ELEVEN_IDLE_S);
	url = path ? build_socket_url(base, path) : NULL;
	free(path);
	build_query(&url, "model_id", *model ? model : default_model);
	build_query(&url, "output_format", "pcm_24000");
	build_query(&url, "inactivity_timeout", idle);
	build_query(&url, "sync_alignment", "true");
	if (*language && takes_language(model))
		build_query(&url, "language_code", language);
	return url;
}

char *eleven_stream_endpoint(const char *voice)
{
	return path_of("text-to-speech/", voice, "/stream?output_format=pcm_24000");
}

char *eleven_stream_body(const char *model, const char *voice, const char *text)
{
	(void)voice;
	return build_text(
		json_pack("{s:s,s:s}", "text", text, "model_id", *model ? model : default_model));
}

char *eleven_auth(const char *key)
{
	return build_header("xi-api-key", key);
}

/* Steals root. */
static char *message_of(uint32_t context, json_t *root)
{
	char id[16];

	snprintf(id, sizeof id, "c%u", context);
	if (root && json_object_set_new(root, "context_id", json_string(id))) {
		json_decref(root);
		root = NULL;
	}
	return build_text(root);
}

char *eleven_open_context(uint32_t context)
{
	return message_of(context, json_pack("{s:s}", "text", " "));
}

/* The service wants a blank behind each text. */
char *eleven_speak(uint32_t context, const char *text)
{
	return message_of(context,
			  json_pack("{s:o,s:b}", "text", json_sprintf("%s ", text), "flush", 1));
}

char *eleven_close_context(uint32_t context)
{
	return message_of(context, json_pack("{s:b}", "close_context", 1));
}

char *eleven_keep_alive(uint32_t context)
{
	return message_of(context, json_pack("{s:s}", "text", ""));
}

char *eleven_close_socket(void)
{
	return build_text(json_pack("{s:b}", "close_socket", 1));
}

/* ---- facts ---- */

static const json_t *either(const json_t *obj, const char *a, const char *b)
{
	const json_t *v = json_object_get(obj, a);

	return v ? v : json_object_get(obj, b);
}

static int read_context(struct eleven_fact *f, const json_t *root)
{
	const char *camel = "contextId", *snake = "context_id";
	struct slice id = json_read_text(root, json_object_get(root, camel) ? camel : snake);

	f->context = json_read_number_after(id, "c");
	return f->context ? 0 : EBADMSG;
}

static int read_message(struct eleven_fact *f, const json_t *root)
{
	if (json_is_string(json_object_get(root, "error"))) {
		f->type = ELEVEN_ERROR;
		if (json_read_copy(root, "error", f->code, sizeof f->code))
			f->code[0] = '\0';
		f->text = json_read_text(root, "message");
		return 0;
	}
	if (json_is_string(json_object_get(root, "audio"))) {
		f->type = ELEVEN_AUDIO;
		f->audio = json_read_text(root, "audio");
		f->alignment = json_object_get(root, "alignment");
		if (!json_is_object((const json_t *)f->alignment))
			f->alignment = NULL;
		return read_context(f, root);
	}
	if (json_is_true(either(root, "isFinal", "is_final"))) {
		f->type = ELEVEN_FINAL;
		return read_context(f, root);
	}
	return 0;
}

int eleven_parse(struct eleven_fact *fact, const uint8_t *msg, size_t n)
{
	const struct slice none = json_read_text(NULL, "");
	struct eleven_fact f = {.type = ELEVEN_IGNORED, .audio = none, .text = none};
	struct json_aside aside;
	json_t *root;
	int err;

	if (n > ELEVEN_MESSAGE_MAX)
		return EMSGSIZE;
	root = json_aside_load(&aside, msg, n, "audio", JSON_ASIDE_LEAST);
	err = json_is_object(root) ? read_message(&f, root) : EBADMSG;
	if (err) {
		json_decref(root);
		return err;
	}
	f.audio = json_aside_value(&aside, f.audio);
	f.tree = root;
	*fact = f;
	return 0;
}

void eleven_fact_clear(struct eleven_fact *fact)
{
	json_decref(fact->tree);
	*fact = (struct eleven_fact){0};
}

enum trouble eleven_trouble(const uint8_t *why, size_t n)
{
	static const struct {
		const char *words;
		enum trouble trouble;
	} table[] = {{"unauthorized", TROUBLE_KEY}, /* of the handshake */
		     {"authentication_required", TROUBLE_KEY},
		     {"invalid_api_key", TROUBLE_KEY},
		     {"missing_permissions", TROUBLE_KEY},
		     {"auth_error", TROUBLE_KEY},
		     {"exceeds your quota", TROUBLE_CREDIT},
		     {"quota_exceeded", TROUBLE_CREDIT},
		     {"too_many_concurrent_requests", TROUBLE_BUSY},
		     {"max_active_conversations", TROUBLE_BUSY},
		     {"rate_limit", TROUBLE_BUSY},
		     {"system_busy", TROUBLE_BUSY},
		     /* Of whatever has no better words: a spent quota comes with it, too. */
		     {"status 401", TROUBLE_KEY}};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (n && memmem(why, n, table[i].words, strlen(table[i].words)))
			return table[i].trouble;
	return TROUBLE_OTHER;
}

/* ---- when words end ---- */

static void end_word(struct eleven_word *w, eleven_word_h *h, void *arg)
{
	if (w->n)
		h(w->text, w->n, w->ends, arg);
	w->n = 0;
}

static uint64_t samples_of(const json_t *ms)
{
	double v = json_number_value(ms);

	return v > 0 && v < 1e9 ? (uint64_t)(v * ELEVEN_RATE / 1000) : 0;
}

void eleven_words(struct eleven_word *w, const struct eleven_fact *fact, uint64_t before,
		  eleven_word_h *h, void *arg)
{
	const json_t *a = fact->alignment, *chars = either(a, "chars", "characters");
	const json_t *starts = either(a, "charStartTimesMs", "char_start_times_ms");
	const json_t *lengths = either(a, "charDurationsMs", "char_durations_ms");

	for (size_t i = 0; i < json_array_size(chars); i++) {
		const json_t *ch = json_array_get(chars, i);
		const char *text = json_string_value(ch);
		size_t n = json_string_length(ch);

		if (!text || !n)
			continue;
		if (*text == ' ' || *text == '\n') {
			end_word(w, h, arg);
			continue;
		}
		if (n > sizeof w->text - w->n)
			continue;
		memcpy(w->text + w->n, text, n);
		w->n += n;
		w->ends = before + samples_of(json_array_get(starts, i)) +
			  samples_of(json_array_get(lengths, i));
	}
}

size_t eleven_letters_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text != ' ' && *text != '\n';
	return n;
}

size_t eleven_letters(const struct eleven_fact *fact)
{
	const json_t *chars = either(fact->alignment, "chars", "characters");
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(chars); i++) {
		const char *text = json_string_value(json_array_get(chars, i));

		n += text ? eleven_letters_of(text) : 0;
	}
	return n;
}

void eleven_last_word(struct eleven_word *w, eleven_word_h *h, void *arg)
{
	end_word(w, h, arg);
}
