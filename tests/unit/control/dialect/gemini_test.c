/* The codec of Gemini Live sessions. */
#include <jansson.h>

#include "control/dialect/realtime.h"
#include "tests/test.h"

static struct seen {
	void *codec;
	char out[2048];	  /* messages that were sent, each with a newline */
	char facts[1024]; /* "response 7 answer-1, done completed, …" */
	struct usage usage;
} fx;

static int keep(bool text, const void *data, size_t n, void *arg)
{
	size_t at = strlen(fx.out);

	(void)arg;
	snprintf(fx.out + at, sizeof fx.out - at, "%s%.*s\n", text ? "" : "binary ", (int)n,
		 (const char *)data);
	return 0;
}

static bool begin_with(bool text_only)
{
	memset(&fx, 0, sizeof fx);
	return realtime_gemini.alloc(
		       &fx.codec, &(struct realtime_conf){
					  .url = "wss://generativelanguage.googleapis.com/realtime",
					  .model = "gemini-x",
					  .voice = "Kore",
					  .text_only = text_only,
					  .rate_in = 16000,
					  .rate_out = 24000}) == 0;
}

static bool begin(void)
{
	return begin_with(false);
}

static void end(void)
{
	realtime_gemini.free(fx.codec);
}

static int command(const struct realtime_command *cmd)
{
	fx.out[0] = '\0';
	return realtime_gemini.encode(fx.codec, cmd, keep, NULL);
}

static void note(const struct realtime_fact *f)
{
	static const char *const names[] = {[REALTIME_SESSION] = "session",
					    [REALTIME_HANDLE] = "handle",
					    [REALTIME_HEARD_ITEM] = "heard",
					    [REALTIME_HEARD_PART] = "part",
					    [REALTIME_HEARD_TEXT] = "words",
					    [REALTIME_RESPONSE] = "response",
					    [REALTIME_AUDIO] = "audio",
					    [REALTIME_TEXT] = "text",
					    [REALTIME_CALL] = "call",
					    [REALTIME_CALL_REVOKED] = "revoked",
					    [REALTIME_INTERRUPTED] = "interrupted",
					    [REALTIME_DONE] = "done",
					    [REALTIME_USAGE] = "usage",
					    [REALTIME_ERROR] = "error",
					    [REALTIME_GO_AWAY] = "away"};
	size_t at = strlen(fx.facts);
	char ask[16] = "", text[64] = "";

	if (f->ask)
		snprintf(ask, sizeof ask, " #%u", f->ask);
	if (f->text.n)
		snprintf(text, sizeof text, " %.*s", (int)f->text.n, (const char *)f->text.p);
	snprintf(fx.facts + at, sizeof fx.facts - at, "%s%s%s%s%s%s%s%s%s", names[f->type], ask,
		 *f->item ? " " : "", f->item, *f->call ? " " : "", f->call, *f->name ? " " : "",
		 f->name, text);
}

/* What a message says. */
static const char *say(const char *message)
{
	struct realtime_facts facts;
	size_t at;

	fx.facts[0] = '\0';
	if (realtime_gemini.decode(fx.codec, false, (const uint8_t *)message, strlen(message),
				   &facts))
		return "malformed";
	for (size_t i = 0; i < facts.n; i++) {
		const struct realtime_fact *f = &facts.v[i];

		note(f);
		at = strlen(fx.facts);
		snprintf(fx.facts + at, sizeof fx.facts - at, "%s; ",
			 f->type != REALTIME_DONE	   ? ""
			 : f->status == REALTIME_COMPLETED ? " completed"
							   : " cancelled");
		if (f->type == REALTIME_DONE || f->type == REALTIME_USAGE)
			fx.usage = f->usage;
	}
	realtime_facts_clear(&facts);
	return fx.facts;
}

#define AUDIO                                                                                      \
	"{\"serverContent\":{\"modelTurn\":{\"parts\":[{\"inlineData\":{\"mimeType\":"             \
	"\"audio/pcm;rate=24000\",\"data\":\"AAAA\"}}]}}}"
#define CONTENT(v) "{\"serverContent\":{" v "}}"

static void ask(uint32_t id)
{
	command(&(struct realtime_command){.type = REALTIME_RESPOND, .ask = id});
}

TEST(gemini_is_set_up_with_the_key_in_a_header)
{
	char *text;

	CHECK(begin());
	text = realtime_gemini.url(fx.codec);
	CHECK_STR(text, "wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage."
			"v1beta.GenerativeService.BidiGenerateContent");
	free(text);
	text = realtime_gemini.auth("k");
	CHECK_STR(text, "x-goog-api-key: k");
	free(text);
	CHECK_INT(command(&(struct realtime_command){
			  .type = REALTIME_DESCRIBE,
			  .instructions = "be brief",
			  .tools = "[{\"name\":\"f\",\"description\":\"d\",\"parameters\":{"
				   "\"type\":\"object\",\"properties\":{}}}]",
			  .handle = "h1"}),
		  0);
	CHECK_STR(
		fx.out,
		"{\"setup\":{\"model\":\"models/gemini-x\",\"generationConfig\":{"
		"\"responseModalities\":[\"AUDIO\"],\"speechConfig\":{\"voiceConfig\":{"
		"\"prebuiltVoiceConfig\":{\"voiceName\":\"Kore\"}}}},\"sessionResumption\":{"
		"\"handle\":\"h1\"},\"inputAudioTranscription\":{},\"outputAudioTranscription\":{},"
		"\"realtimeInputConfig\":{\"automaticActivityDetection\":{\"disabled\":true},"
		"\"activityHandling\":\"START_OF_ACTIVITY_INTERRUPTS\"},"
		"\"contextWindowCompression\":{\"slidingWindow\":{}},\"systemInstruction\":{"
		"\"parts\":[{\"text\":\"be brief\"}],\"role\":\"user\"},\"tools\":[{"
		"\"functionDeclarations\":[{\"name\":\"f\",\"description\":\"d\","
		"\"parametersJsonSchema\":{\"type\":\"object\",\"properties\":{}}}]}]}}\n");
	CHECK_INT(command(&(struct realtime_command){.type = REALTIME_DESCRIBE, .tools = "{}"}),
		  EINVAL);
	CHECK_STR(say("{\"setupComplete\":{\"sessionId\":\"abc\"}}"), "session; ");
	CHECK_INT(command(&(struct realtime_command){.type = REALTIME_INSTRUCT}), ENOTSUP);
	end();
}

TEST(gemini_lines_wait_for_the_question)
{
	CHECK(begin());
	CHECK_INT(command(&(struct realtime_command){.type = REALTIME_ITEM, .text = "hello"}), 0);
	CHECK_STR(fx.out, "");
	CHECK_INT(command(&(struct realtime_command){
			  .type = REALTIME_ITEM, .assistant = true, .text = "hi"}),
		  0);
	ask(7);
	CHECK_STR(fx.out, "{\"clientContent\":{\"turns\":[{\"role\":\"user\",\"parts\":[{\"text\":"
			  "\"hello\"}]},{\"role\":\"model\",\"parts\":[{\"text\":\"hi\"}]}],"
			  "\"turnComplete\":true}}\n");
	ask(8);
	CHECK_STR(fx.out, "{\"clientContent\":{\"turnComplete\":true}}\n");
	CHECK_INT(command(&(struct realtime_command){.type = REALTIME_ITEM, .text = "lost"}), 0);
	realtime_gemini.reset(fx.codec);
	ask(9);
	CHECK_STR(fx.out, "{\"clientContent\":{\"turnComplete\":true}}\n");
	end();
}

TEST(gemini_answers_get_ids_and_one_end)
{
	CHECK(begin());
	ask(7);
	CHECK_STR(say(AUDIO), "response #7 answer-1; audio answer-1; ");
	CHECK_STR(say(CONTENT("\"outputTranscription\":{\"text\":\"hi there\"}")),
		  "text answer-1 hi there; ");
	CHECK_STR(say(AUDIO), "audio answer-1; ");
	CHECK_STR(say(CONTENT("\"generationComplete\":true")), "done #7 answer-1 completed; ");
	/* Words that come late are still its words. */
	CHECK_STR(say(CONTENT("\"outputTranscription\":{\"text\":\"!\"}")), "text answer-1 !; ");
	/* The next request goes out before the turn is over. */
	ask(8);
	CHECK_STR(say("{\"serverContent\":{\"interrupted\":true}}"), "");
	CHECK_STR(say("{\"serverContent\":{\"turnComplete\":true},\"usageMetadata\":{"
		      "\"promptTokenCount\":50,\"responseTokenCount\":7,"
		      "\"cachedContentTokenCount\":20,\"thoughtsTokenCount\":3,"
		      "\"promptTokensDetails\":[{\"modality\":\"TEXT\",\"tokenCount\":30},"
		      "{\"modality\":\"AUDIO\",\"tokenCount\":20}]}}"),
		  "usage answer-1; ");
	CHECK(fx.usage.n[PRICE_TEXT_IN] == 10 && fx.usage.n[PRICE_TEXT_CACHED] == 20);
	CHECK(fx.usage.n[PRICE_AUDIO_IN] == 20 && fx.usage.n[PRICE_AUDIO_OUT] == 7);
	CHECK_INT(fx.usage.n[PRICE_TEXT_OUT], 3);
	CHECK_STR(say(AUDIO), "response #8 answer-2; audio answer-2; ");
	CHECK_STR(say("{\"serverContent\":{\"turnComplete\":true},\"usageMetadata\":{"
		      "\"promptTokenCount\":5}}"),
		  "done #8 answer-2 completed; ");
	CHECK_INT(fx.usage.n[PRICE_TEXT_IN], 5);
	/* A model that says nothing. */
	ask(9);
	CHECK_STR(say(CONTENT("\"turnComplete\":true")),
		  "response #9 answer-3; done #9 answer-3 completed; ");
	CHECK_STR(say(CONTENT("\"turnComplete\":true")), "");
	end();
}

TEST(gemini_has_no_cancel_and_late_audio_keeps_its_answer)
{
	CHECK(begin());
	ask(1);
	CHECK_STR(say(AUDIO), "response #1 answer-1; audio answer-1; ");
	CHECK_INT(command(&(struct realtime_command){.type = REALTIME_CANCEL, .id = "answer-1"}),
		  ENOTSUP);
	CHECK_INT(command(&(struct realtime_command){.type = REALTIME_TRUNCATE}), ENOTSUP);
	ask(2);
	CHECK_STR(say(AUDIO), "audio answer-1; ");
	CHECK_STR(say("{\"serverContent\":{\"interrupted\":true}}"), "interrupted answer-1; ");
	CHECK_STR(say(CONTENT("\"turnComplete\":true")), "done #1 answer-1 cancelled; ");
	CHECK_STR(say(AUDIO), "response #2 answer-2; audio answer-2; ");
	end();
}

#define SAID(text)	CONTENT("\"outputTranscription\":{\"text\":\"" text "\"}")
#define SAID_LAST(text) CONTENT("\"outputTranscription\":{\"text\":\"" text "\",\"finished\":true}")

/* The first answer is cut, and the second one requested. */
static void cut_first(void)
{
	CHECK(begin());
	ask(1);
	CHECK_STR(say(AUDIO), "response #1 answer-1; audio answer-1; ");
	ask(2);
	CHECK_STR(say("{\"serverContent\":{\"interrupted\":true}}"), "interrupted answer-1; ");
	CHECK_STR(say(CONTENT("\"turnComplete\":true")), "done #1 answer-1 cancelled; ");
}

TEST(gemini_words_of_a_cut_answer_do_not_begin_the_next)
{
	cut_first();
	CHECK_STR(say(SAID("late")), "text answer-1 late; ");
	CHECK_STR(say(SAID(" words")), "text answer-1  words; ");
	CHECK_STR(say(AUDIO), "response #2 answer-2; audio answer-2; ");
	CHECK_STR(say(SAID("mine")), "text answer-2 mine; ");
	CHECK_STR(say(CONTENT("\"generationComplete\":true,\"turnComplete\":true")),
		  "done #2 answer-2 completed; ");
	/* After an answer that was not cut, they are those of the next one. */
	ask(3);
	CHECK_STR(say(SAID("early")), "response #3 answer-3; text answer-3 early; ");
	end();
}

TEST(gemini_words_are_those_of_the_answer_whose_transcription_has_no_end_yet)
{
	cut_first();
	CHECK_STR(say(AUDIO), "response #2 answer-2; audio answer-2; ");
	CHECK_STR(say(SAID_LAST("late")), "");
	CHECK_STR(say(SAID("mine")), "text answer-2 mine; ");
	CHECK_STR(say(CONTENT("\"generationComplete\":true,\"turnComplete\":true")),
		  "done #2 answer-2 completed; ");
	/* This service marks ends, and this answer has none yet. */
	ask(3);
	CHECK_STR(say(SAID(" too")), "text answer-2  too; ");
	CHECK_STR(say(SAID_LAST(".")), "text answer-2 .; ");
	CHECK_STR(say(SAID("early")), "response #3 answer-3; text answer-3 early; ");
	CHECK_STR(say(SAID_LAST("!")), "text answer-3 !; ");
	end();
	/* The end of a cut answer leaves the place to the next one. */
	cut_first();
	CHECK_STR(say(SAID_LAST("late")), "text answer-1 late; ");
	CHECK_STR(say(SAID("mine")), "response #2 answer-2; text answer-2 mine; ");
	end();
}

#define MARK CONTENT("\"outputTranscription\":{\"finished\":true}")

/* Marks may come without words, and belong to the answer whose words they end. */
TEST(gemini_marks_without_words_cost_no_words_of_the_next_answer)
{
	CHECK(begin());
	CHECK_STR(say(MARK), "");
	ask(1);
	CHECK_STR(say(AUDIO), "response #1 answer-1; audio answer-1; ");
	CHECK_STR(say(SAID("mine")), "text answer-1 mine; ");
	CHECK_STR(say(MARK), "");
	CHECK_STR(say(CONTENT("\"generationComplete\":true,\"turnComplete\":true")),
		  "done #1 answer-1 completed; ");
	ask(2);
	CHECK_STR(say(SAID("early")), "response #2 answer-2; text answer-2 early; ");
	end();
	/* An answer whose transcription is empty. */
	cut_first();
	CHECK_STR(say(AUDIO), "response #2 answer-2; audio answer-2; ");
	CHECK_STR(say(MARK), "");
	CHECK_STR(say(CONTENT("\"generationComplete\":true,\"turnComplete\":true")),
		  "done #2 answer-2 completed; ");
	ask(3);
	CHECK_STR(say(SAID("early")), "response #3 answer-3; text answer-3 early; ");
	end();
	/* Nor does a speaker whose words were none. */
	CHECK(begin());
	CHECK_STR(say(CONTENT("\"inputTranscription\":{\"finished\":true}")), "");
	CHECK_STR(say(CONTENT("\"inputTranscription\":{\"text\":\"x\",\"finished\":true}")),
		  "heard input-0; part input-0 x; words input-0 x; ");
	CHECK_STR(say(CONTENT("\"inputTranscription\":{\"finished\":true}")), "");
	end();
}

TEST(gemini_hears_a_speaker_between_two_marks)
{
	const uint8_t pcm[3] = {0, 0, 0};

	CHECK(begin());
	command(&(struct realtime_command){.type = REALTIME_ITEM, .text = "before"});
	CHECK_INT(command(&(struct realtime_command){.type = REALTIME_ACTIVITY}), 0);
	CHECK_STR(fx.out, "{\"clientContent\":{\"turns\":[{\"role\":\"user\",\"parts\":[{\"text\":"
			  "\"before\"}]}],\"turnComplete\":false}}\n"
			  "{\"realtimeInput\":{\"activityStart\":{}}}\n");
	command(&(struct realtime_command){.type = REALTIME_APPEND, .data = {pcm, 3}});
	CHECK_STR(fx.out, "{\"realtimeInput\":{\"audio\":{\"data\":\"AAAA\",\"mimeType\":"
			  "\"audio/pcm;rate=16000\"}}}\n");
	command(&(struct realtime_command){.type = REALTIME_COMMIT, .ask = 5});
	CHECK_STR(fx.out, "{\"realtimeInput\":{\"activityEnd\":{}}}\n");
	CHECK_STR(say(CONTENT("\"inputTranscription\":{\"text\":\"what \"}")),
		  "heard input-1; part input-1 what ; ");
	CHECK_STR(say(CONTENT("\"inputTranscription\":{\"text\":\"time\"}")),
		  "part input-1 time; ");
	CHECK_STR(say(AUDIO), "response #5 answer-1; audio answer-1; ");
	CHECK_STR(say(CONTENT("\"generationComplete\":true")),
		  "words input-1 what time; done #5 answer-1 completed; ");
	say(CONTENT("\"turnComplete\":true"));
	/* What is dropped is answered for nobody. */
	command(&(struct realtime_command){.type = REALTIME_ACTIVITY});
	command(&(struct realtime_command){.type = REALTIME_DROP_AUDIO});
	ask(6);
	CHECK_STR(say(AUDIO), "");
	CHECK_STR(say(CONTENT("\"interrupted\":true,\"turnComplete\":true")), "");
	CHECK_STR(say(AUDIO), "response #6 answer-3; audio answer-3; ");
	CHECK_STR(say(CONTENT("\"inputTranscription\":{\"text\":\"x\",\"finished\":true}")),
		  "heard input-2; part input-2 x; words input-2 x; ");
	command(&(struct realtime_command){
		.type = REALTIME_IMAGE, .mime = "image/jpeg", .data = {pcm, 3}});
	CHECK_STR(fx.out, "{\"realtimeInput\":{\"video\":{\"data\":\"AAAA\",\"mimeType\":"
			  "\"image/jpeg\"}}}\n");
	end();
}

TEST(gemini_calls_tools_and_goes_on_after_the_results)
{
	CHECK(begin());
	ask(3);
	CHECK_STR(say("{\"toolCall\":{\"functionCalls\":[{\"id\":\"a\",\"name\":\"f\",\"args\":{"
		      "\"x\":1}},{\"id\":\"b\",\"name\":\"g\"}]}}"),
		  "response #3 answer-1; call answer-1 a f {\"x\":1}; call answer-1 b g {}; "
		  "done #3 answer-1 completed; ");
	command(&(struct realtime_command){
		.type = REALTIME_RESULT, .call = "a", .name = "f", .text = "ten past four"});
	CHECK_STR(fx.out, "{\"toolResponse\":{\"functionResponses\":[{\"id\":\"a\",\"name\":\"f\","
			  "\"response\":{\"output\":\"ten past four\"}}]}}\n");
	command(&(struct realtime_command){
		.type = REALTIME_RESULT, .call = "b", .name = "g", .failed = true, .text = "no"});
	CHECK_STR(fx.out, "{\"toolResponse\":{\"functionResponses\":[{\"id\":\"b\",\"name\":\"g\","
			  "\"response\":{\"error\":\"no\"}}]}}\n");
	CHECK_STR(say(AUDIO), "response #3 answer-2; audio answer-2; ");
	CHECK_STR(say(CONTENT("\"turnComplete\":true")), "done #3 answer-2 completed; ");
	CHECK_STR(say("{\"toolCallCancellation\":{\"ids\":[\"a\",\"b\"]}}"),
		  "revoked a; revoked b; ");
	CHECK_STR(say("{\"toolCall\":{\"functionCalls\":[{\"name\":\"f\"}]}}"), "malformed");
	end();
}

TEST(gemini_says_when_a_session_ends_and_how_it_is_resumed)
{
	static const char key[] = "API key not valid. Please pass a valid API key.";
	static const char busy[] = "Resource has been exhausted (e.g. check quota).";
	static const char shut[] = "closed 1006 HS: ws upgrade unauthorized";

	CHECK(begin());
	CHECK_STR(say("{\"sessionResumptionUpdate\":{\"newHandle\":\"h\",\"resumable\":true}}"),
		  "handle h; ");
	CHECK_STR(say("{\"sessionResumptionUpdate\":{\"resumable\":false}}"), "handle; ");
	CHECK_STR(say("{\"goAway\":{\"timeLeft\":\"50s\"}}"), "away; ");
	CHECK_STR(say("{\"error\":{\"code\":429,\"message\":\"m\",\"status\":"
		      "\"RESOURCE_EXHAUSTED\"}}"),
		  "error m; ");
	CHECK_STR(say("{\"voiceActivity\":{}}"), "");
	CHECK_STR(say("[]"), "malformed");
	CHECK_STR(say("{"), "malformed");
	CHECK_INT(realtime_gemini.trouble((const uint8_t *)key, sizeof key - 1), TROUBLE_KEY);
	CHECK_INT(realtime_gemini.trouble((const uint8_t *)busy, sizeof busy - 1), TROUBLE_BUSY);
	CHECK_INT(realtime_gemini.trouble((const uint8_t *)shut, sizeof shut - 1), TROUBLE_KEY);
	end();
}

TEST(gemini_may_write_and_its_thoughts_are_not_said)
{
	static const char parts[] = CONTENT("\"modelTurn\":{\"parts\":[{\"thought\":true,\"text\":"
					    "\"hm\"},{\"text\":\"Ten.\"}]}");

	CHECK(begin_with(true));
	ask(1);
	CHECK_STR(say(parts), "response #1 answer-1; text answer-1 Ten.; ");
	end();
	CHECK(begin());
	ask(1);
	CHECK_STR(say(parts), "");
	end();
}

TEST(gemini_takes_a_message_whole_or_not_at_all)
{
	char text[8192] = "{\"serverContent\":{\"modelTurn\":{\"parts\":[";

	CHECK(begin());
	for (unsigned i = 0; i < 30; i++)
		strcat(text, "{\"inlineData\":{\"mimeType\":\"audio/pcm\",\"data\":\"AA==\"}},");
	strcat(text, "{}]}}}");
	ask(1);
	CHECK_STR(say(text), "malformed");
	CHECK_STR(say(AUDIO), "response #1 answer-1; audio answer-1; ");
	end();
}

TEST_OOM(gemini_survives_having_no_memory)
{
	memset(&fx, 0, sizeof fx);
	if (!begin())
		return;
	command(&(struct realtime_command){.type = REALTIME_DESCRIBE, .instructions = "x"});
	command(&(struct realtime_command){.type = REALTIME_ITEM, .text = "x"});
	ask(1);
	say(AUDIO);
	end();
}
