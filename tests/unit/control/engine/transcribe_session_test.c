#include "tests/test.h"

#include "tests/unit/control/engine/fake_realtime.h"
#include "control/engine/transcribe_session.h"
#include "ipc/tmr.h"

struct seen {
	struct fake fake;
	struct transcribe_session *asr;
	char events[2048]; /* "t1/3:hello f1/4 …" */
	unsigned commits, sound;
	char session[1024];
	const char *stop_at; /* stop when events hold this */
	void (*heardh)(struct seen *s, enum transcribe_event ev, uint32_t utterance);
};

static void heard(enum transcribe_event ev, uint64_t user, uint32_t utterance, const uint8_t *text,
		  size_t len, struct transcribe_sure sure, void *arg)
{
	struct seen *s = arg;
	size_t at = strlen(s->events);

	(void)sure;
	if (ev == TRANSCRIBE_FAILED)
		snprintf(s->events + at, sizeof s->events - at, "f%llu/%u ",
			 (unsigned long long)user, utterance);
	else
		snprintf(s->events + at, sizeof s->events - at, "%c%llu/%u:%.*s ",
			 ev == TRANSCRIBE_PARTIAL ? 'p' : 't', (unsigned long long)user, utterance,
			 (int)len, (const char *)text);
	if (s->heardh)
		s->heardh(s, ev, utterance);
	if (s->stop_at && strstr(s->events, s->stop_at))
		env_stop(s->fake.env);
}

static bool begin_dialect(struct seen *s, fake_h *h, enum dialect dialect)
{
	char base[128];

	memset(s, 0, sizeof *s);
	if (!fake_begin(&s->fake, h, s))
		return false;
	snprintf(base, sizeof base, "http://127.0.0.1:%u/v1", ws_server_port(s->fake.server));
	return transcribe_session_alloc(&s->asr, &(struct transcribe_conf){.env = s->fake.env,
									   .ws = s->fake.ctx,
									   .dialect = dialect,
									   .base = base,
									   .url = s->fake.url,
									   .model = "m",
									   .language = "en",
									   .key = "k",
									   .h = heard,
									   .arg = s}) == 0;
}

static bool begin(struct seen *s, fake_h *h)
{
	return begin_dialect(s, h, DIALECT_OPENAI);
}

static void end(struct seen *s)
{
	transcribe_session_free(s->asr);
	fake_end(&s->fake);
}

static void speak(struct seen *s, uint64_t user, uint32_t utterance, unsigned ms)
{
	uint8_t pcm[960] = {0};

	transcribe_session_start(s->asr, user, utterance);
	for (unsigned i = 0; i < ms / 20; i++)
		transcribe_session_append(s->asr, user, utterance, pcm, sizeof pcm);
}

/* Two commits are confirmed in order; their transcripts come the other way round. */
static void crossing_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;
	char *text;

	if (strcmp(type, "session.update") == 0) {
		text = json_dumps(root, JSON_COMPACT);
		snprintf(s->session, sizeof s->session, "%s", text);
		free(text);
	}
	if (strcmp(type, "input_audio_buffer.append") == 0)
		s->sound += (unsigned)strlen(json_string_value(json_object_get(root, "audio")));
	if (strcmp(type, "input_audio_buffer.commit") != 0)
		return;
	s->commits++;
	fake_send(f, conn, "{\"type\":\"input_audio_buffer.committed\",\"item_id\":\"i%u\"}",
		  s->commits);
	if (s->commits < 2)
		return;
	fake_send(f, conn,
		  "{\"type\":\"conversation.item.input_audio_transcription.delta\",\"item_id\":"
		  "\"i2\","
		  "\"delta\":\"sec\"}");
	fake_send(f, conn,
		  "{\"type\":\"conversation.item.input_audio_transcription.completed\","
		  "\"item_id\":\"i2\",\"content_index\":0,\"transcript\":\"second\"}");
	fake_send(f, conn,
		  "{\"type\":\"conversation.item.input_audio_transcription.completed\","
		  "\"item_id\":\"i1\",\"content_index\":0,\"transcript\":\"first\"}");
}

TEST(transcripts_find_their_utterance)
{
	static struct seen s;

	CHECK(begin(&s, crossing_server));
	s.stop_at = "first";
	speak(&s, 1, 10, 400);
	transcribe_session_commit(s.asr, 1, 10);
	speak(&s, 1, 11, 400);
	transcribe_session_commit(s.asr, 1, 11);
	CHECK_INT(transcribe_session_sessions(s.asr), 1);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "p1/11:sec t1/11:second t1/10:first ");
	CHECK_STR(s.fake.path[0], "/v1/realtime?intent=transcription");
	CHECK_STR(s.fake.auth[0], "Bearer k");
	CHECK(strncmp(s.fake.types, "session.update input_audio_buffer.append", 40) == 0);
	CHECK(strstr(s.session, "\"type\":\"transcription\""));
	CHECK(strstr(s.session, "\"turn_detection\":null"));
	CHECK_INT(s.sound, 2 * 20 * 1280);
	end(&s);
}

TEST(too_little_sound_is_no_words_and_is_not_sent)
{
	static struct seen s;

	CHECK(begin(&s, crossing_server));
	speak(&s, 1, 1, 80);
	transcribe_session_commit(s.asr, 1, 1);
	CHECK_STR(s.events, "t1/1: ");
	end(&s);
}

TEST(cancelled_speech_is_cleared_and_its_transcript_dropped)
{
	static struct seen s;

	CHECK(begin(&s, crossing_server));
	s.stop_at = "t1/8";
	speak(&s, 1, 8, 400);
	transcribe_session_commit(s.asr, 1, 8);
	speak(&s, 1, 9, 400);
	transcribe_session_commit(s.asr, 1, 9);
	env_run(s.fake.env);
	/* The session is open. */
	s.commits = 0;
	s.events[0] = '\0';
	s.stop_at = "second";
	speak(&s, 1, 11, 400);
	transcribe_session_cancel(s.asr, 1, 11);
	transcribe_session_commit(s.asr, 1, 11); /* late: nothing */
	speak(&s, 1, 2, 400);
	transcribe_session_commit(s.asr, 1, 2);
	transcribe_session_cancel(s.asr, 1, 2); /* after its commit */
	speak(&s, 1, 3, 400);
	transcribe_session_commit(s.asr, 1, 3);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "p1/3:sec t1/3:second ");
	CHECK(strstr(s.fake.types, "input_audio_buffer.clear "));
	end(&s);
}

static void breaking_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	(void)root;
	if (strcmp(type, "input_audio_buffer.commit") == 0)
		ws_close(f->ws[conn], 1011, "broken");
}

/* The owner may close the session inside the handler that reports its loss. */
static void close_in_handler(struct seen *s, enum transcribe_event ev, uint32_t utterance)
{
	if (ev == TRANSCRIBE_FAILED && utterance == 1)
		transcribe_session_close(s->asr, 1);
}

TEST(a_session_lost_twice_fails_what_it_owes)
{
	static struct seen s;

	CHECK(begin(&s, breaking_server));
	s.stop_at = "f1/1";
	s.heardh = close_in_handler;
	speak(&s, 1, 1, 400);
	transcribe_session_commit(s.asr, 1, 1);
	speak(&s, 1, 2, 400);
	transcribe_session_commit(s.asr, 1, 2);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "f1/1 ");
	CHECK_INT(transcribe_session_sessions(s.asr), 0);
	end(&s);
}

static void empty_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	(void)root;
	if (strcmp(type, "input_audio_buffer.commit") == 0)
		fake_send(f, conn,
			  "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
			  "\"code\":\"input_audio_buffer_commit_empty\",\"message\":\"empty\","
			  "\"event_id\":\"utterance-4\"}}");
}

TEST(a_commit_refused_as_empty_is_no_words)
{
	static struct seen s;

	CHECK(begin(&s, empty_server));
	s.stop_at = "t1/4";
	speak(&s, 1, 4, 400);
	transcribe_session_commit(s.asr, 1, 4);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "t1/4: ");
	end(&s);
}

TEST(nobody_listening_fails_the_utterance)
{
	static struct seen s;

	CHECK(begin(&s, empty_server));
	s.fake.server = ws_server_free(s.fake.server);
	s.stop_at = "f1/1";
	speak(&s, 1, 1, 400);
	transcribe_session_commit(s.asr, 1, 1);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "f1/1 ");
	end(&s);
}

/* Whoever asks for words hears of them, or that there are none. */
TEST(what_was_never_begun_fails)
{
	static struct seen s;

	CHECK(begin(&s, empty_server));
	transcribe_session_commit(s.asr, 9, 5);
	CHECK_STR(s.events, "f9/5 ");
	end(&s);
}

/* Confirms nothing and answers nothing. */
static void silent_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	(void)f;
	(void)conn;
	(void)type;
	(void)root;
}

TEST(a_session_that_owes_too_much_is_given_up)
{
	static struct seen s;

	CHECK(begin(&s, silent_server));
	for (unsigned i = 1; i <= 16; i++) {
		speak(&s, 1, i, 200);
		transcribe_session_commit(s.asr, 1, i);
	}
	CHECK_STR(s.events, "");
	CHECK_INT(transcribe_session_sessions(s.asr), 1);
	speak(&s, 1, 17, 200);
	transcribe_session_commit(s.asr, 1, 17);
	CHECK(strncmp(s.events, "f1/1 f1/2 ", 10) == 0);
	CHECK(strstr(s.events, "f1/16 f1/17 "));
	CHECK_INT(transcribe_session_sessions(s.asr), 0); /* the next one begins anew */
	end(&s);
}

/* Tells after each commit how much sound it got. */
static void counting_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	if (strcmp(type, "input_audio_buffer.append") == 0)
		s->sound += (unsigned)strlen(json_string_value(json_object_get(root, "audio"))) /
			    4 * 3 / 48;
	if (strcmp(type, "input_audio_buffer.commit") != 0)
		return;
	s->commits++;
	fake_send(f, conn, "{\"type\":\"input_audio_buffer.committed\",\"item_id\":\"i%u\"}",
		  s->commits);
	fake_send(f, conn,
		  "{\"type\":\"conversation.item.input_audio_transcription.completed\","
		  "\"item_id\":\"i%u\",\"content_index\":0,\"transcript\":\"%u ms\"}",
		  s->commits, s->sound);
	s->sound = 0;
}

/* What is streamed after the first words so far: a second look, and the end. */
static void go_on(struct seen *s, enum transcribe_event ev, uint32_t utterance)
{
	uint8_t pcm[960] = {0};

	if (ev != TRANSCRIBE_PARTIAL)
		return;
	for (unsigned i = 0; i < 1000 / 20; i++)
		transcribe_session_append(s->asr, 1, utterance, pcm, sizeof pcm);
	if (s->commits == 1)
		transcribe_session_interim(s->asr, 1, utterance);
	else
		transcribe_session_commit(s->asr, 1, utterance);
}

TEST(an_interim_request_gives_a_transcript_and_the_final_one_is_whole)
{
	static struct seen s;

	CHECK(begin(&s, counting_server));
	s.heardh = go_on;
	/* A first utterance, so that there is a connection. */
	s.stop_at = "t1/1";
	speak(&s, 1, 1, 400);
	transcribe_session_interim(s.asr, 1, 1); /* not connected: nothing comes of it */
	transcribe_session_commit(s.asr, 1, 1);
	env_run(s.fake.env);
	CHECK_STR(s.events, "t1/1:400 ms ");
	s.events[0] = '\0';
	s.commits = 0;
	s.stop_at = "t1/2";
	speak(&s, 1, 2, 600);
	transcribe_session_interim(s.asr, 1, 2);
	transcribe_session_interim(s.asr, 1, 2);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "p1/2:600 ms p1/2:1600 ms t1/2:2600 ms ");
	CHECK_INT(s.commits, 3);
	end(&s);
}

TEST(no_interim_request_for_more_sound_than_is_kept)
{
	static struct seen s;

	CHECK(begin(&s, counting_server));
	s.stop_at = "t1/1";
	speak(&s, 1, 1, 400);
	transcribe_session_commit(s.asr, 1, 1);
	env_run(s.fake.env);
	s.commits = 0;
	s.stop_at = "t1/2";
	speak(&s, 1, 2, 5000);
	transcribe_session_interim(s.asr, 1, 2);
	transcribe_session_commit(s.asr, 1, 2);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_INT(s.commits, 1);
	CHECK_STR(s.events, "t1/1:400 ms t1/2:5000 ms ");
	end(&s);
}

/* ---- lost sessions ---- */

enum { KILLS = 1000 };

static struct killing {
	unsigned utterances, lost, appends, kill_at;
	bool killed;
} kills;

/* Kills the socket of every utterance once: while it streams, or at its commit; the next connection
 * transcribes. */
static void killing_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;
	bool commit = strcmp(type, "input_audio_buffer.commit") == 0;

	if (strcmp(type, "input_audio_buffer.append") == 0) {
		s->sound += (unsigned)strlen(json_string_value(json_object_get(root, "audio"))) /
			    4 * 3 / 48;
		kills.appends++;
	}
	if (!kills.killed && (kills.appends == kills.kill_at || commit)) {
		kills.killed = true;
		s->sound = 0;
		ws_abort(f->ws[conn]);
		ws_free(f->ws[conn]);
		f->conns = 0; /* its place is used again */
		return;
	}
	if (!commit)
		return;
	fake_send(f, conn, "{\"type\":\"input_audio_buffer.committed\",\"item_id\":\"i%u\"}",
		  kills.utterances);
	fake_send(f, conn,
		  "{\"type\":\"conversation.item.input_audio_transcription.completed\","
		  "\"item_id\":\"i%u\",\"content_index\":0,\"transcript\":\"%u ms\"}",
		  kills.utterances, s->sound);
	s->sound = 0;
}

static void count_words(struct seen *s, enum transcribe_event ev, uint32_t utterance)
{
	(void)utterance;
	if (ev != TRANSCRIBE_TRANSCRIPT || !strstr(s->events, ":600 ms"))
		kills.lost++;
	env_stop(s->fake.env);
}

static void go_on_speaking(void *arg)
{
	struct seen *s = arg;
	uint8_t pcm[960] = {0};

	for (unsigned i = 0; i < 15; i++)
		transcribe_session_append(s->asr, 1, kills.utterances, pcm, sizeof pcm);
	transcribe_session_commit(s->asr, 1, kills.utterances);
}

/* The bench row stt_reconnect_lost is this test's count of lost ones. */
TEST(no_utterance_is_lost_to_one_socket)
{
	static struct seen s;
	struct tmr *later = NULL;
	unsigned seed = 1;

	kills = (struct killing){0};
	CHECK(begin(&s, killing_server));
	s.heardh = count_words;
	CHECK_INT(tmr_alloc(&later, s.fake.env, go_on_speaking, &s), 0);
	for (unsigned i = 0; i < KILLS && !s.fake.timed_out; i++) {
		seed = seed * 1103515245u + 12345u;
		kills.utterances++;
		kills.killed = false;
		kills.appends = 0;
		kills.kill_at = seed / 65536 % 40; /* there are 30, or fewer in larger pieces */
		s.events[0] = s.fake.types[0] = '\0';
		s.sound = 0;
		speak(&s, 1, kills.utterances, 300);
		tmr_start(later, seed / 256 % 2 ? 0 : 2000000);
		env_run(s.fake.env);
		tmr_start(s.fake.deadline, 60000000000ull);
	}
	tmr_free(later);
	CHECK(!s.fake.timed_out);
	CHECK_INT(kills.utterances, KILLS);
	CHECK_INT(kills.lost, 0);
	end(&s);
}

/* ---- other dialects ---- */

static void scribe_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	if (strcmp(type, "input_audio_chunk") != 0)
		return;
	s->sound += (unsigned)strlen(json_string_value(json_object_get(root, "audio_base_64"))) /
		    4 * 3 / 48;
	if (!json_is_true(json_object_get(root, "commit"))) {
		if (s->commits == 4)
			fake_send(f, conn,
				  "{\"message_type\":\"partial_transcript\",\"text\":\"so far\"}");
		return;
	}
	s->commits++;
	fake_send(f, conn, "{\"message_type\":\"committed_transcript\",\"text\":\"passed over\"}");
	if (s->sound < 300)
		fake_send(f, conn,
			  "{\"message_type\":\"insufficient_audio_activity\",\"error\":\"short\"}");
	else
		fake_send(f, conn,
			  "{\"message_type\":\"committed_transcript_with_timestamps\",\"text\":"
			  "\"%u "
			  "ms\",\"words\":[{\"text\":\"x\",\"type\":\"word\",\"logprob\":-0.5}]}",
			  s->sound);
	s->sound = 0;
}

TEST(scribe_sessions_transcribe_in_order)
{
	static struct seen s;

	CHECK(begin_dialect(&s, scribe_server, DIALECT_ELEVENLABS));
	s.stop_at = "t1/3";
	speak(&s, 1, 1, 600);
	transcribe_session_commit(s.asr, 1, 1);
	speak(&s, 1, 2, 260);
	transcribe_session_commit(s.asr, 1, 2);
	speak(&s, 1, 3, 400);
	transcribe_session_commit(s.asr, 1, 3);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "t1/1:600 ms t1/2: t1/3:400 ms ");
	CHECK_STR(s.fake.path[0], "/v1/speech-to-text/realtime?model_id=m&audio_format=pcm_24000"
				  "&commit_strategy=manual&include_timestamps=true"
				  "&language_code=en");
	CHECK_STR(s.fake.auth[0], "k");
	/* Audio of what is cancelled cannot be discarded: it is committed, and nobody's. */
	s.events[0] = '\0';
	s.stop_at = "t1/5";
	speak(&s, 1, 4, 200);
	transcribe_session_cancel(s.asr, 1, 4);
	speak(&s, 1, 5, 20);
	for (unsigned i = 0; i < 24; i++)
		transcribe_session_append(s.asr, 1, 5, (const uint8_t[960]){0}, 960);
	transcribe_session_commit(s.asr, 1, 5);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK(strstr(s.events, "p1/5:so far "));
	CHECK(strstr(s.events, " t1/5:500 ms "));
	CHECK(!strstr(s.events, "1/4"));
	CHECK_INT(s.commits, 5);
	end(&s);
}

static void vllm_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	if (strcmp(type, "session.update") == 0)
		snprintf(s->session, sizeof s->session, "%s",
			 json_string_value(json_object_get(root, "model")));
	if (strcmp(type, "input_audio_buffer.append") == 0)
		s->sound +=
			(unsigned)strlen(json_string_value(json_object_get(root, "audio"))) / 4 * 3;
	if (strcmp(type, "input_audio_buffer.commit") != 0)
		return;
	s->commits++;
	if (!json_is_true(json_object_get(root, "final"))) {
		if (s->sound)
			fake_send(f, conn,
				  "{\"type\":\"error\",\"error\":\"busy\",\"code\":\"x\"}");
		s->sound = 0;
		return;
	}
	fake_send(f, conn, "{\"type\":\"transcription.delta\",\"delta\":\"ab\"}");
	fake_send(f, conn, "{\"type\":\"transcription.delta\",\"delta\":\"cd\"}");
	/* Base64 fills a piece up. */
	fake_send(f, conn, "{\"type\":\"transcription.done\",\"text\":\"%u ms\",\"usage\":null}",
		  (s->sound / 32 + 5) / 10 * 10);
	s->sound = 0;
}

TEST(vllm_sessions_transcribe_one_utterance_at_a_time)
{
	static struct seen s;

	CHECK(begin_dialect(&s, vllm_server, DIALECT_VLLM));
	s.stop_at = "t1/2";
	speak(&s, 1, 1, 600);
	transcribe_session_commit(s.asr, 1, 1);
	speak(&s, 1, 2, 420);
	transcribe_session_commit(s.asr, 1, 2);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "p1/1:ab p1/1:abcd t1/1:600 ms p1/2:ab p1/2:abcd t1/2:420 ms ");
	CHECK_STR(s.session, "m");
	CHECK_STR(s.fake.path[0], "/v1/realtime");
	CHECK_INT(s.commits, 4);
	end(&s);
}

/* Sound is binary; the words come in two parts, and it closes after each utterance. */
static void xai_stt_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	(void)root;
	if (strcmp(type, "audio.done") != 0)
		return;
	fake_send(f, conn,
		  "{\"type\":\"transcript.partial\",\"text\":\"it was\",\"is_final\":false,"
		  "\"speech_final\":false}");
	fake_send(f, conn,
		  "{\"type\":\"transcript.partial\",\"text\":\"it was\",\"is_final\":true,"
		  "\"speech_final\":true}");
	fake_send(f, conn, "{\"type\":\"transcript.done\",\"text\":\"%u ms\",\"duration\":1}",
		  (unsigned)f->binary / 48);
	f->binary = 0;
	if (++s->commits == 2)
		ws_close(f->ws[conn], 1000, "done");
}

static void say_ready(void *arg)
{
	struct fake *f = arg;

	for (unsigned i = 0; i < f->conns; i++)
		fake_send(f, i, "{\"type\":\"transcript.created\"}");
}

TEST(xai_speech_to_text_waits_and_joins_the_parts)
{
	static struct seen s;
	struct tmr *ready = NULL;

	CHECK(begin_dialect(&s, xai_stt_server, DIALECT_XAI_STT));
	CHECK_INT(tmr_alloc(&ready, s.fake.env, say_ready, &s.fake), 0);
	tmr_start(ready, 50000000);
	s.stop_at = "t1/2";
	speak(&s, 1, 1, 600);
	transcribe_session_commit(s.asr, 1, 1);
	speak(&s, 1, 2, 420);
	transcribe_session_commit(s.asr, 1, 2);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "p1/1:it was t1/1:it was 600 ms p1/2:it was t1/2:it was 420 ms ");
	CHECK_STR(s.fake.auth[0], "Bearer k");
	CHECK(strstr(s.fake.path[0], "/v1/stt?sample_rate=24000"));
	/* The server has closed: the next utterance opens another session. */
	s.stop_at = "t1/3";
	tmr_start(ready, 100000000);
	speak(&s, 1, 3, 300);
	transcribe_session_commit(s.asr, 1, 3);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK(strstr(s.events, "t1/3:it was 300 ms "));
	CHECK_INT(s.fake.conns, 2);
	tmr_free(ready);
	end(&s);
}

static void xai_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;
	char *text;

	if (strcmp(type, "session.update") == 0) {
		text = json_dumps(root, JSON_COMPACT);
		snprintf(s->session, sizeof s->session, "%s", text);
		free(text);
	}
	if (strcmp(type, "input_audio_buffer.commit") != 0)
		return;
	fake_send(f, conn, "{\"type\":\"ping\",\"timestamp\":1}");
	fake_send(f, conn, "{\"type\":\"input_audio_buffer.committed\",\"item_id\":\"i\"}");
	fake_send(f, conn,
		  "{\"type\":\"conversation.item.input_audio_transcription.updated\","
		  "\"item_id\":\"i\",\"transcript\":\"what\"}");
	fake_send(f, conn,
		  "{\"type\":\"conversation.item.input_audio_transcription.updated\","
		  "\"item_id\":\"i\",\"transcript\":\"what time\"}");
	fake_send(f, conn,
		  "{\"type\":\"conversation.item.input_audio_transcription.completed\","
		  "\"item_id\":\"i\",\"transcript\":\"what time is it\"}");
}

TEST(xai_sessions_transcribe_and_are_not_asked)
{
	static struct seen s;

	CHECK(begin_dialect(&s, xai_server, DIALECT_XAI));
	s.stop_at = "t1/1";
	speak(&s, 1, 1, 600);
	transcribe_session_commit(s.asr, 1, 1);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "p1/1:what p1/1:what time t1/1:what time is it ");
	CHECK_STR(s.fake.path[0], "/v1/realtime?model=grok-voice-latest");
	CHECK(!strstr(s.session, "\"type\":\"realtime\""));
	CHECK(strstr(s.session, "\"turn_detection\":null"));
	CHECK(strstr(s.session, "\"language_hint\":\"en\""));
	CHECK(!strstr(s.fake.types, "response.create"));
	end(&s);
}
