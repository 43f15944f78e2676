/* xAI's speech to text over a WebSocket. Source: docs.x.ai, speech to text, streaming.
 *
 * Sound is binary; the only message is audio.done. The first half of the words comes as an
 * utterance that the server has found (speech_final), the rest in transcript.done. */
#include "tests/standins/ear.h"
#include "tests/standins/services.h"
#include "tests/standins/shape.h"
#include "tests/standins/standin.h"

#include <stdlib.h>
#include <string.h>

struct listener {
	struct si_ear ear;
	bool interim;
	size_t heard; /* samples of the session */
};

static const struct si_shape shape_done[] = {
	{"type", "!'audio.done'"},
	{NULL, NULL},
};

static void event_send(struct listener *s, json_t *event)
{
	si_plan_json(s->ear.link, &(struct si_plan){.out = SI_OUT_TEXT}, event);
}

static void error_send(struct listener *s, const char *text)
{
	event_send(s, json_pack("{s:s, s:s}", "type", "error", "message", text));
}

static void partial_send(struct listener *s, const char *text, size_t n, bool last, uint32_t after)
{
	si_plan_json(s->ear.link, &(struct si_plan){.out = SI_OUT_TEXT, .after_ms = after},
		     json_pack("{s:s, s:s%, s:[], s:b, s:b, s:f, s:f}", "type",
			       "transcript.partial", "text", text, n, "words", "is_final", last,
			       "speech_final", last, "start", 0.0, "duration", 1.0));
}

static void transcript_send(void *arg)
{
	struct listener *s = arg;
	const char *words = s->ear.words, *half = words + strlen(words) / 2;
	const char *space = strchr(half, ' ');
	size_t n = space ? (size_t)(space - words) : 0;

	if (s->interim && *words)
		partial_send(s, words, n ? n : strlen(words), false, 0);
	if (n)
		partial_send(s, words, n, true, 0);
	event_send(s, json_pack("{s:s, s:s, s:[], s:f}", "type", "transcript.done", "text",
				n ? words + n + 1 : words, "words", "duration",
				(double)s->heard / s->ear.rate));
}

static void listener_message(void *session, bool text, const char *data, size_t n)
{
	struct listener *s = session;
	json_t *e = text ? json_loadb(data, n, 0, NULL) : NULL;
	const char *interim;
	struct si_fault f;
	uint32_t after;

	s->heard += text ? 0 : n / 2;
	if (!text && !si_ear_take(&s->ear, data, n)) {
		error_send(s, "The audio is no whole number of samples.");
	} else if (!text && s->interim && si_ear_interim(&s->ear, &interim, &after)) {
		partial_send(s, interim, strlen(interim), false, after);
	} else if (text && !si_shape_check(shape_done, e, &f)) {
		error_send(s, "The message is unknown.");
	} else if (text) {
		si_ear_commit(&s->ear);
		if (s->ear.acts.error)
			error_send(s, s->ear.acts.error->text);
		else
			si_ear_hear(&s->ear);
	}
	json_decref(e);
}

static void listener_act(void *session, const struct si_act *act)
{
	struct listener *s = session;

	if (act->action == SI_DO_ERROR)
		error_send(s, act->text);
	else
		si_plan(s->ear.link, &(struct si_plan){.out = SI_OUT_CLOSE, .code = 1000});
}

static void listener_free(void *session)
{
	struct listener *s = session;

	si_ear_clear(&s->ear);
	free(s);
}

static const struct si_session_ops listener_ops = {
	.message = listener_message, .act = listener_act, .free = listener_free};

static bool rate_good(uint32_t rate)
{
	static const uint32_t rates[] = {8000, 16000, 22050, 24000, 44100, 48000};

	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
		if (rates[i] == rate)
			return true;
	return false;
}

static bool listener_open(struct si_link *l)
{
	const struct http_head *head = si_link_head(l);
	char rate[16] = "16000", encoding[16] = "pcm", flag[8] = "";
	struct listener *s;

	if (strcmp(head->path, "/v1/stt") != 0)
		return false;
	http_head_query(head, "sample_rate", rate, sizeof rate);
	http_head_query(head, "encoding", encoding, sizeof encoding);
	http_head_query(head, "interim_results", flag, sizeof flag);
	if (!si_link_key(l, NULL, NULL) || strcmp(encoding, "pcm") != 0 ||
	    !rate_good((uint32_t)strtoul(rate, NULL, 10))) {
		si_reply_json(l, si_link_key(l, NULL, NULL) ? 400 : 401,
			      json_pack("{s:s}", "error", "The key or a parameter is wrong."));
		return true;
	}
	s = si_alloc(sizeof *s);
	s->ear = (struct si_ear){.st = si_link_standin(l),
				 .link = l,
				 .rate = (uint32_t)strtoul(rate, NULL, 10),
				 .h = transcript_send,
				 .arg = s};
	s->interim = strcmp(flag, "true") == 0;
	si_link_take(l, &listener_ops, s);
	event_send(s, json_pack("{s:s}", "type", "transcript.created"));
	si_link_opened(l);
	return true;
}

const struct si_service si_xai_stt = {.open = listener_open};
