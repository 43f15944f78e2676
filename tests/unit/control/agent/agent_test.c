/* The agent between a toy mediad and a fake provider, all on one loop: from a speaker's sound to
 * the bot's. */
#include "control/agent/agent.h"
#include "control/agent/inside.h"
#include "control/dialect/base64.h"

#include <event2/buffer.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/base/time.h"
#include "tests/unit/control/engine/fake_realtime.h"
#include "control/events/events.h"
#include "control/ledger/ledger.h"
#include "control/media/media.h"
#include "control/room/room.h"
#include "control/settings/settings.h"
#include "control/report/status.h"
#include "tests/unit/control/fake_http.h"
#include "ipc/http.h"
#include "ipc/peer.h"
#include "ipc/tmr.h"
#include "proto/media.h"
#include "tests/test.h"

enum { ALICE = 5, FRAME = 480, ANSWER = 24000 };

struct scene {
	struct fake fake;
	char dir[32], path[48];
	struct peer_server *server;
	struct peer *peer;
	struct media *media;
	struct media_call *call;
	struct settings *settings;
	struct http *http;
	struct agent *agent;
	struct bus *bus;
	struct ledger *ledger;
	struct status_tally tally;

	const char *words; /* what the provider hears */
	bool barge_in;
	const char *fails; /* code with which every answer fails */
	unsigned deaf;	   /* asks that get no answer */
	unsigned breaks;   /* answers that fail behind their first word */
	unsigned long_s;   /* of an answer that comes much faster than it plays */
	bool goes_on;	   /* the end of Alice's voice is not told yet */
	bool drops;	   /* the connection, when the answer has begun to play */
	bool inherits;	   /* mediad plays an answer of the control before */
	unsigned voice;	   /* the connection that answered */
	bool text_only;	   /* the voice session was asked for text alone */
	uint32_t call_id, gen, listen, playback;
	uint64_t said, stopped_fade;
	unsigned rate;
	bool started, drained, stopped;
	unsigned softer, paused; /* times that it was told so */
	char asked[512], told[512], truncate[256], instructions[4096];
	size_t voice_heard, voice_heard_wrong; /* samples that the voice session got; not Alice's */
	struct faults faults;
	bool refuses;	   /* settings of its session */
	char refusal[200]; /* the event about it */
};

static void from_mediad(struct scene *s, struct media_msg msg)
{
	uint8_t buf[MEDIA_MAX_FRAME];
	size_t len;

	msg.call_state.call = s->call_id; /* every message begins with the same head */
	msg.call_state.gen = s->gen;
	if (media_pack(&msg, MEDIA_MINOR, buf, sizeof buf, &len) == 0)
		peer_send(s->peer,
			  media_lane_of(msg.type) == MEDIA_LANE_AUDIO ? PEER_AUDIO : PEER_COMMAND,
			  buf, len);
}

/* Alice's voice for so long, in packets that arrived every `every` ns from `now` on; told all at
 * once. */
static void alice(struct scene *s, uint32_t capture, unsigned ms, uint64_t now, uint64_t every)
{
	uint8_t pcm[FRAME * 2];

	for (unsigned i = 0; i < FRAME; i++) {
		pcm[2 * i] = 0;
		pcm[2 * i + 1] = i / 8 % 2 ? 0x18 : 0xe8;
	}
	from_mediad(s, (struct media_msg){.type = MEDIA_SPEAKING,
					  .speaking = {.user = ALICE, .on = true, .at = now}});
	for (unsigned i = 0; i < ms / 20; i++)
		from_mediad(s, (struct media_msg){.type = MEDIA_HEARD,
						  .heard = {.listen = s->listen,
							    .user = ALICE,
							    .capture = capture,
							    .seq = i,
							    .at = now + i * every,
							    .pcm = {pcm, sizeof pcm}}});
	if (s->goes_on)
		return;
	from_mediad(s, (struct media_msg){.type = MEDIA_HEARD_END,
					  .heard_end = {.listen = s->listen,
							.user = ALICE,
							.capture = capture,
							.reason = MEDIA_REASON_SILENCE,
							.at = now + ms / 20 * every}});
}

static void say(struct scene *s, const struct media_msg *m)
{
	struct media_msg out = {0};

	s->said += m->say.pcm.n / 2;
	if (s->started)
		return;
	s->started = true;
	out.type = MEDIA_SAY_STARTED;
	out.say_started.playback = s->playback;
	out.say_started.at = env_now(s->fake.env);
	from_mediad(s, out);
	if (s->barge_in)
		alice(s, 2, 1400, env_now(s->fake.env), NS_PER_MS);
}

static void say_over(struct scene *s, bool stopped, uint64_t samples)
{
	struct media_msg out = {0};

	if (s->drained || s->stopped || (!stopped && s->barge_in))
		return;
	s->drained = !stopped;
	s->stopped = stopped;
	out.type = stopped ? MEDIA_SAY_STOPPED : MEDIA_SAY_DRAINED;
	out.say_stopped.playback = s->playback;
	out.say_stopped.samples = samples;
	if (stopped)
		out.say_stopped.reason = MEDIA_REASON_STOPPED;
	from_mediad(s, out);
}

/* A call that is up, and an answer in it. */
static void hand_over(struct scene *s)
{
	s->call_id = 77;
	s->playback = 9;
	from_mediad(s, (struct media_msg){
			       .type = MEDIA_CALL_STATE,
			       .call_state = {.phase = MEDIA_PHASE_UP, .guild = 1, .channel = 2}});
	from_mediad(s,
		    (struct media_msg){.type = MEDIA_SAY_STATE,
				       .say_state = {.playback = 9, .rate = 24000, .ended = true}});
}

static int from_control(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	struct scene *s = arg;
	struct media_msg m, out = {0};

	(void)p;
	if (media_unpack(&m, MEDIA_SIDE_CONTROL, body, len))
		return EBADMSG;
	switch (m.type) {
	case MEDIA_HELLO:
		out.type = MEDIA_HELLO;
		out.hello = (struct media_hello){
			.major = MEDIA_MAJOR, .minor = MEDIA_MINOR, .instance = 1};
		{
			uint8_t buf[512];
			size_t n;

			media_pack(&out, MEDIA_MINOR, buf, sizeof buf, &n);
			peer_send(s->peer, PEER_COMMAND, buf, n);
			if (s->inherits)
				hand_over(s);
			out = (struct media_msg){.type = MEDIA_SYNCED};
			media_pack(&out, MEDIA_MINOR, buf, sizeof buf, &n);
			peer_send(s->peer, PEER_COMMAND, buf, n);
		}
		break;
	case MEDIA_CALL_OPEN:
		s->call_id = m.call_open.call;
		s->gen = m.call_open.gen;
		from_mediad(s, (struct media_msg){.type = MEDIA_CALL_STATE,
						  .call_state = {.phase = MEDIA_PHASE_UP,
								 .guild = 1,
								 .channel = 2}});
		break;
	case MEDIA_LISTEN:
		s->listen = m.listen.listen;
		s->rate = m.listen.rate;
		alice(s, 1, 1000, env_now(s->fake.env) - NS_PER_S, 20 * NS_PER_MS - 1);
		break;
	case MEDIA_SAY_OPEN:
		s->playback = m.say_open.playback;
		out.type = MEDIA_SAY_CREDIT;
		out.say_credit.playback = s->playback;
		out.say_credit.samples = s->long_s ? ANSWER : 10 * ANSWER;
		from_mediad(s, out);
		break;
	case MEDIA_SAY:
		say(s, &m);
		break;
	case MEDIA_SAY_END:
		say_over(s, false, s->said);
		break;
	case MEDIA_SAY_GAIN:
		s->softer += m.say_gain.target < 1000;
		break;
	case MEDIA_SAY_PAUSE:
		s->paused++;
		break;
	case MEDIA_SAY_STOP:
		s->stopped_fade = m.say_stop.fade_ms;
		say_over(s, true, ANSWER / 2);
		break;
	default:
		break;
	}
	return 0;
}

static void lost(struct peer *p, int err, void *arg)
{
	(void)p;
	(void)err;
	(void)arg;
}

static int accepted(struct peer *p, uid_t uid, struct peer_conf *conf, void *arg)
{
	struct scene *s = arg;

	(void)uid;
	s->peer = p;
	*conf = (struct peer_conf){.msgh = from_control, .losth = lost, .arg = s};
	return 0;
}

static void call_message(struct media_call *call, const struct media_msg *msg, void *arg)
{
	struct scene *s = arg;

	(void)call;
	if (s->agent)
		agent_media(s->agent, msg);
}

static void wants(struct media_call *call, void *arg)
{
	(void)call;
	(void)arg;
}

static void told(const struct words *words, void *arg)
{
	struct scene *s = arg;

	snprintf(s->told, sizeof s->told, "%.500s", words->text);
}

static bool not_answering; /* /status said so once */

static void faulted(enum fault fault, enum fault_is is, void *arg)
{
	struct scene *s = arg;

	faults_set(&s->faults, fault, is, env_now(s->fake.env));
}

/* What the voice session hears; the transcriber's sessions have an intent. */
static void hear_sound(struct scene *s, const json_t *root)
{
	const char *audio = json_string_value(json_object_get(root, "audio"));
	size_t n = audio ? strlen(audio) : 0, len = 0;
	uint8_t *pcm = malloc(n + 1);

	if (!pcm || !audio || base64_decode(audio, n, pcm, n, &len))
		s->voice_heard_wrong++;
	for (size_t i = 0; i < len / 2; i++) {
		size_t at = s->voice_heard + i;

		s->voice_heard_wrong +=
			pcm[2 * i] != 0 || pcm[2 * i + 1] != (at % FRAME / 8 % 2 ? 0x18 : 0xe8);
	}
	s->voice_heard += len / 2;
	free(pcm);
}

/* As a provider does with a misspelt voice: it names the member that is wrong. */
static void refuse_session(struct fake *f, unsigned conn)
{
	const struct scene *s = f->arg;

	if (s->refuses)
		fake_send(f, conn,
			  "{\"type\":\"error\",\"error\":{\"code\":\"invalid_value\","
			  "\"message\":\"No such voice.\",\"param\":\"session.audio.output.voice\","
			  "\"event_id\":null}}");
}

static void provider(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct scene *s = f->arg;
	bool transcribes = strstr(f->path[conn], "intent=");
	const char *text;

	if (strcmp(type, "session.update") == 0) {
		refuse_session(f, conn);
		text = json_string_value(
			json_object_get(json_object_get(root, "session"), "instructions"));
		if (text)
			snprintf(s->instructions, sizeof s->instructions, "%s", text);
		text = json_string_value(json_array_get(
			json_object_get(json_object_get(root, "session"), "output_modalities"), 0));
		s->text_only = s->text_only || (text && strcmp(text, "text") == 0);
	} else if (strcmp(type, "input_audio_buffer.append") == 0 && !transcribes) {
		hear_sound(s, root);
	} else if (strcmp(type, "input_audio_buffer.commit") == 0 && transcribes) {
		static unsigned item;

		fake_send(f, conn,
			  "{\"type\":\"input_audio_buffer.committed\",\"item_id\":\"u%u\"}",
			  ++item);
		fake_send(f, conn,
			  "{\"type\":\"conversation.item.input_audio_transcription.completed\","
			  "\"item_id\":\"u%u\",\"content_index\":0,\"transcript\":\"%s\"}",
			  item, *s->asked ? "mhm" : s->words);
	} else if (strcmp(type, "conversation.item.create") == 0 && !*s->asked) {
		text = json_string_value(json_object_get(
			json_array_get(json_object_get(json_object_get(root, "item"), "content"),
				       0),
			"text"));
		snprintf(s->asked, sizeof s->asked, "%s", text);
	} else if (strcmp(type, "response.create") == 0 && s->deaf) {
		s->deaf--;
	} else if (strcmp(type, "response.create") == 0 && s->breaks) {
		s->breaks--;
		fake_send(f, conn, "{\"type\":\"response.created\",\"response\":{\"id\":\"r0\"}}");
		fake_send(f, conn,
			  "{\"type\":\"response.output_audio_transcript.delta\","
			  "\"response_id\":\"r0\",\"item_id\":\"i0\",\"delta\":\"it\"}");
		fake_send(f, conn,
			  "{\"type\":\"response.done\",\"response\":{\"id\":\"r0\",\"status\":"
			  "\"failed\"}}");
	} else if (strcmp(type, "response.create") == 0 && s->fails) {
		fake_send(f, conn, "{\"type\":\"response.created\",\"response\":{\"id\":\"r1\"}}");
		fake_send(f, conn,
			  "{\"type\":\"response.done\",\"response\":{\"id\":\"r1\",\"status\":"
			  "\"failed\",\"status_details\":{\"error\":{\"code\":\"%s\",\"message\":"
			  "\"It does not go.\"}}}}",
			  s->fails);
	} else if (strcmp(type, "response.create") == 0 && s->text_only) {
		fake_send(f, conn, "{\"type\":\"response.created\",\"response\":{\"id\":\"r1\"}}");
		fake_send(f, conn,
			  "{\"type\":\"response.output_text.delta\",\"response_id\":\"r1\","
			  "\"item_id\":\"i1\",\"delta\":\"It is ten past four.\"}");
		fake_send(f, conn,
			  "{\"type\":\"response.done\",\"response\":{\"id\":\"r1\",\"status\":"
			  "\"completed\"}}");
	} else if (strcmp(type, "response.create") == 0) {
		fake_send(f, conn, "{\"type\":\"response.created\",\"response\":{\"id\":\"r1\"}}");
		fake_send(
			f, conn,
			"{\"type\":\"response.output_audio_transcript.delta\","
			"\"response_id\":\"r1\",\"item_id\":\"i1\",\"delta\":\"it is ten past four "
			"now\"}");
		fake_audio(f, conn, "r1", "i1", 100, ANSWER);
		s->voice = conn;
		if (!s->barge_in && !s->drops && !s->long_s)
			fake_send(f, conn,
				  "{\"type\":\"response.done\",\"response\":{\"id\":\"r1\","
				  "\"status\":\"completed\"}}");
	} else if (strcmp(type, "conversation.item.truncate") == 0) {
		char *all = json_dumps(root, JSON_COMPACT);

		snprintf(s->truncate, sizeof s->truncate, "%s", all);
		free(all);
	}
}

/* Looks every 10 ms whether the scene is over. */
static struct tmr *watch;
static bool (*over)(const struct scene *s);

static void look(void *arg)
{
	struct scene *s = arg;

	if (over(s))
		env_stop(s->fake.env);
	else
		tmr_start(watch, 10000000);
}

static void note_refusal(const struct bus_event *ev, void *arg)
{
	struct scene *s = arg;

	bus_event_line(ev, true, s->refusal, sizeof s->refusal);
}

/* What else is set before there is an agent; NULL: nothing. */
static bool (*prepare)(struct scene *s);

static bool impatient(struct scene *s)
{
	return settings_set(s->settings, "not_answering_ms", "50") == 0;
}

static bool scene_begin(struct scene *s, const char *guest)
{
	const char *socks[] = {s->path, NULL};
	struct media_want want = {.guild = 1, .channel = 2, .bitrate = 64000, .consent = true};
	struct media_conf mc = {.socks = socks, .user = 9, .epoch = 1, .wantsh = wants};

	memset(s, 0, sizeof *s);
	snprintf(s->dir, sizeof s->dir, "/tmp/agent-XXXXXX");
	if (!mkdtemp(s->dir) || !fake_begin(&s->fake, provider, s))
		return false;
	snprintf(s->path, sizeof s->path, "%s/sock", s->dir);
	if (peer_listen(&s->server, s->fake.env, s->path, (uid_t)-1, accepted, s) ||
	    settings_alloc(&s->settings) || settings_set(s->settings, "guest", guest) ||
	    settings_set(s->settings, "brain_url", s->fake.url) ||
	    http_alloc(&s->http, s->fake.env, NULL, "x") || (prepare && !prepare(s)) ||
	    media_alloc(&s->media, s->fake.env, &mc) ||
	    media_call_open(&s->call, s->media, &want, call_message, s) ||
	    tmr_alloc(&watch, s->fake.env, look, s) || bus_alloc(&s->bus) ||
	    ledger_alloc(&s->ledger) ||
	    bus_subscribe(s->bus, BUS_MASK(EVENT_TURN), status_take_event, &s->tally) ||
	    bus_subscribe(s->bus, BUS_MASK(EVENT_ENGINE_REFUSED), note_refusal, s))
		return false;
	tmr_start(watch, 0);
	if (agent_alloc(&s->agent, &(struct agent_conf){.env = s->fake.env,
							.ledger = s->ledger,
							.ws = s->fake.ctx,
							.http = s->http,
							.call = s->call,
							.settings = s->settings,
							.bus = s->bus,
							.bot_user = 9,
							.bot_name = "Parley",
							.tellh = told,
							.faulth = faulted,
							.arg = s}))
		return false;
	agent_member(s->agent, ALICE, "Alice", false, true);
	return true;
}

static void scene_end(struct scene *s)
{
	agent_free(s->agent);
	bus_free(s->bus);
	ledger_free(s->ledger);
	media_call_free(s->call);
	media_free(s->media);
	peer_free(s->peer);
	peer_server_free(s->server);
	http_free(s->http);
	settings_free(s->settings);
	watch = tmr_free(watch);
	fake_end(&s->fake);
	rmdir(s->dir);
}

static void status_of(const struct scene *s, struct status *out)
{
	agent_status(s->agent, out);
	status_fill_turns(out, &s->tally, 1);
}

static bool answered(const struct scene *s)
{
	struct status status = {0};

	status_of(s, &status);
	return status.answered == 1;
}

/* A speculative answer hears what was said so far. */
static bool waits_for_the_end(struct scene *s)
{
	return settings_set(s->settings, "speculative", "off") == 0;
}

TEST(a_spoken_question_gets_a_spoken_answer)
{
	static struct scene s;
	struct status status = {0};

	prepare = waits_for_the_end;
	CHECK(scene_begin(&s, "on"));
	prepare = NULL;
	s.words = "parley what time is it";
	over = answered;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_INT(s.rate, 24000);
	/* The voice hears her, and nobody else. */
	CHECK_STR(s.asked, "[Alice]:");
	CHECK_INT(s.voice_heard, s.rate);
	CHECK_INT(s.voice_heard_wrong, 0);
	CHECK_INT(s.said, ANSWER);
	CHECK(s.drained);
	CHECK_STR(s.truncate, "");
	CHECK(strstr(s.told, "No provider is set up"));
	CHECK(strstr(s.instructions, "people in the room: Alice"));
	status_of(&s, &status);
	CHECK(status.has_brain && status.brain_up && status.guest);
	CHECK_STR(status.brain, s.fake.url);
	CHECK_INT(status.turns, 1);
	CHECK_INT(status.delays.n, 1);
	CHECK_STR(status.last_turn, room_reason_text(ROOM_REASON_ANSWERED));
	for (int f = 0; f < FAULT_COUNT; f++)
		CHECK_INT(s.faults.v[f].count, 0);
	scene_end(&s);
}

static bool bridged(struct scene *s)
{
	return settings_set(s->settings, "reply_path", "bridge") == 0;
}

TEST(a_bridge_tells_the_voice_what_was_said)
{
	static struct scene s;

	prepare = bridged;
	CHECK(scene_begin(&s, "off"));
	prepare = NULL;
	s.words = "parley what time is it";
	over = answered;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.asked, "[Alice]: parley what time is it");
	CHECK_INT(s.voice_heard, 0);
	CHECK_INT(s.said, ANSWER);
	scene_end(&s);
}

static bool refuse_settings(struct scene *s)
{
	s->refuses = true;
	return true;
}

/* The answer comes, without those settings: that is told once, and an event. */
TEST(refused_settings_of_a_session_are_told)
{
	static struct scene s;
	struct words words = {0};

	prepare = refuse_settings;
	CHECK(scene_begin(&s, "on"));
	prepare = NULL;
	s.words = "parley what time is it";
	over = answered;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.refusal, "guild=1 role=voice provider=brain why=\"invalid_value: No such "
			     "voice.\"");
	CHECK(s.faults.v[FAULT_REFUSED].count > 0);
	CHECK(faults_say(&s.faults, env_now(s.fake.env), &words));
	CHECK(strstr(words.text, "does not accept my settings"));
	CHECK(!faults_say(&s.faults, env_now(s.fake.env), &words));
	scene_end(&s);
}

/* ---- an answer that is written and read out, by a server that may refuse to speak ---- */

static struct evhttp *writer;
static bool mute;

static void write_or_speak(struct evhttp_request *req, void *arg)
{
	static const char words[] = "data: {\"choices\":[{\"delta\":{\"content\":\"It is ten past "
				    "four.\"},\"finish_reason\":\"stop\"}]}\n\ndata: "
				    "{\"choices\":[],\"usage\":{\"prompt_tokens\":1000,"
				    "\"completion_tokens\":10}}\n\ndata: [DONE]\n\n";
	static const char refused[] =
		"{\"error\":{\"message\":\"no\",\"code\":\"invalid_api_key\"}}";
	static uint8_t pcm[2 * ANSWER];
	bool speech = strstr(evhttp_request_get_uri(req), "speech");

	(void)arg;
	if (!speech)
		fake_http_answer(req, 200, "text/event-stream", words, sizeof words - 1);
	else if (mute)
		fake_http_answer(req, 401, "application/json", refused, sizeof refused - 1);
	else
		fake_http_answer(req, 200, "audio/pcm", pcm, sizeof pcm);
}

static bool serve_writer(struct scene *s, char *base, size_t size)
{
	writer = evhttp_new(env_base(s->fake.env));
	evhttp_set_gencb(writer, write_or_speak, NULL);
	return fake_http_listen(writer, base, size) &&
	       !settings_set(s->settings, "speech_url", base);
}

static bool written(struct scene *s)
{
	char base[64];

	return serve_writer(s, base, sizeof base) &&
	       !settings_set(s->settings, "reply_path", "brain") &&
	       !settings_set(s->settings, "text_url", base);
}

static bool heard_and_read_out(struct scene *s)
{
	char base[64];

	return serve_writer(s, base, sizeof base) && waits_for_the_end(s) &&
	       !settings_set(s->settings, "answer_audio", "speech");
}

/* A voice session hears the speaker and writes; another provider's voice speaks. */
TEST(a_voice_session_may_write_what_another_voice_reads_out)
{
	static struct scene s;

	mute = false;
	prepare = heard_and_read_out;
	CHECK(scene_begin(&s, "off"));
	prepare = NULL;
	s.words = "parley what time is it";
	over = answered;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK(s.text_only);
	CHECK(strstr(s.fake.types, "response.create"));
	CHECK_INT(s.voice_heard, s.rate);
	CHECK_INT(s.said, ANSWER);
	CHECK(s.drained);
	CHECK_STR(s.truncate, "");
	evhttp_free(writer);
	scene_end(&s);
}

static bool turned(const struct scene *s);

TEST(a_spoken_question_gets_an_answer_that_is_written_and_read_out)
{
	static struct scene s;

	mute = false;
	prepare = written;
	CHECK(scene_begin(&s, "off"));
	prepare = NULL;
	s.words = "parley what time is it";
	over = answered;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_INT(s.said, ANSWER);
	CHECK(s.drained);
	CHECK_STR(s.asked, "");
	CHECK(!strstr(s.fake.types, "response.create"));
	/* 1000 tokens in and 10 out, and 20 characters that were read out, in 10^-9 dollars */
	CHECK_INT(ledger_spent(s.ledger, env_wall_ms(s.fake.env)), 150000 + 6000 + 20 * 18000);
	evhttp_free(writer);
	scene_end(&s);
}

/* ---- a model that decides nothing, since all its tokens went into thoughts ---- */

static void decide_nothing(struct evhttp_request *req, void *arg)
{
	static const char nothing[] = "{\"choices\":[{\"message\":{\"content\":\"\"},"
				      "\"finish_reason\":\"length\"}]}";

	(void)arg;
	fake_http_answer(req, 200, "application/json", nothing, sizeof nothing - 1);
}

static bool undecided(struct scene *s)
{
	char base[64];

	writer = evhttp_new(env_base(s->fake.env));
	evhttp_set_gencb(writer, decide_nothing, NULL);
	return fake_http_listen(writer, base, sizeof base) && waits_for_the_end(s) &&
	       !settings_set(s->settings, "admission", "classifier") &&
	       !settings_set(s->settings, "classify_ms", "10000") &&
	       !settings_set(s->settings, "text_url", base);
}

TEST(a_decision_without_words_is_not_waited_for)
{
	static struct scene s;

	prepare = undecided;
	CHECK(scene_begin(&s, "off"));
	prepare = NULL;
	agent_member(s.agent, ALICE + 1, "Bob", false, true);
	s.words = "what time is it";
	over = turned;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	evhttp_free(writer);
	scene_end(&s);
}

static char context[4096];

static void take_context(const struct bus_event *ev, void *arg)
{
	(void)arg;
	snprintf(context, sizeof context, "%u %s", (unsigned)ev->context.turn, ev->context.told);
}

TEST(what_the_model_was_told_is_published_where_it_is_kept)
{
	static struct scene s;

	for (int kept = 0; kept < 2; kept++) {
		context[0] = '\0';
		mute = false;
		prepare = written;
		CHECK(scene_begin(&s, "off"));
		prepare = NULL;
		CHECK_INT(bus_subscribe(s.bus, BUS_MASK(EVENT_CONTEXT), take_context, NULL), 0);
		CHECK_INT(settings_set(s.settings, "keep_contexts", kept ? "on" : "off"), 0);
		s.words = "parley what time is it";
		over = answered;
		env_run(s.fake.env);
		CHECK(!s.fake.timed_out);
		CHECK(!strstr(context, "what time is it") == !kept);
		CHECK(!strstr(context, "[[TO: SPEAKER]]") == !kept);
		evhttp_free(writer);
		scene_end(&s);
	}
}

/* ---- a summary that arrives after the next request ---- */

static struct evhttp_request *slow, *dropped;
static unsigned summaries;

static void forget_slow(struct evhttp_connection *conn, void *arg)
{
	(void)conn;
	(void)arg;
	dropped = slow;
	slow = NULL;
}

static void write_chunk(struct evhttp_request *req, const char *words)
{
	struct evbuffer *buf = evbuffer_new();

	evbuffer_add_printf(buf, "data: {\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}\n\n",
			    words);
	evhttp_send_reply_chunk(req, buf);
	evbuffer_free(buf);
}

static void write_summary(struct evhttp_request *req, void *arg)
{
	(void)arg;
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type",
			  "text/event-stream");
	evhttp_send_reply_start(req, 200, "OK");
	if (!summaries++) {
		slow = req;
		evhttp_connection_set_closecb(evhttp_request_get_connection(req), forget_slow,
					      NULL);
		write_chunk(req, "old");
		return;
	}
	if (slow)
		write_chunk(slow, "late");
	write_chunk(req, "new");
	evhttp_send_reply_end(req);
}

static bool summarised(struct scene *s)
{
	char base[64];

	summaries = 0;
	writer = evhttp_new(env_base(s->fake.env));
	evhttp_set_gencb(writer, write_summary, NULL);
	return fake_http_listen(writer, base, sizeof base) &&
	       !settings_set(s->settings, "reply_path", "brain") &&
	       !settings_set(s->settings, "text_url", base);
}

static bool summary_begun(const struct scene *s)
{
	return *s->agent->summary;
}

static bool summary_ended(const struct scene *s)
{
	static unsigned looks;

	return strstr(s->agent->summary, "new") && ++looks > 5;
}

TEST(a_late_summary_is_no_part_of_the_next_one)
{
	static const struct room_effect compact = {.type = ROOM_DO_COMPACT, .text = "Summarise."};
	static struct scene s;

	prepare = summarised;
	CHECK(scene_begin(&s, "off"));
	prepare = NULL;
	s.words = "";
	agent_perform(s.agent, &compact);
	over = summary_begun;
	env_run(s.fake.env);
	CHECK_STR(s.agent->summary, "old");
	agent_perform(s.agent, &compact);
	over = summary_ended;
	tmr_start(watch, 0);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.agent->summary, "new");
	CHECK(dropped);
	evhttp_send_reply_end(dropped); /* frees it: its connection is gone */
	evhttp_free(writer);
	scene_end(&s);
}

static void spend_budget(struct scene *s, const char *at_limit)
{
	CHECK_INT(settings_set(s->settings, "cost_guild_cents", "1"), 0);
	CHECK_INT(settings_set(s->settings, "cost_at_limit", at_limit), 0);
	ledger_add(s->ledger, 1, UINT64_C(10000000), env_wall_ms(s->fake.env));
}

TEST(a_spent_budget_stops_answers_and_says_so)
{
	static struct scene s;
	struct status status = {0};

	CHECK(scene_begin(&s, "off"));
	spend_budget(&s, "stop");
	s.words = "parley what time is it";
	over = turned;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.asked, "");
	CHECK_INT(s.said, 0);
	CHECK(s.faults.v[FAULT_BUDGET].there);
	CHECK_INT(s.faults.v[FAULT_ANSWER].count, 0);
	status_of(&s, &status);
	CHECK_STR(status.last_turn, room_reason_text(ROOM_REASON_BRAIN_FAILED));
	scene_end(&s);
}

TEST(a_spent_budget_makes_answers_cheaper_and_says_so)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off"));
	spend_budget(&s, "degrade");
	s.words = "parley what time is it";
	over = answered;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_INT(s.said, ANSWER);
	CHECK(s.faults.v[FAULT_THRIFT].there && !s.faults.v[FAULT_BUDGET].there);
	scene_end(&s);
}

TEST(a_voice_that_refuses_is_a_fault_that_is_told)
{
	static struct scene s;
	struct status status = {0};

	mute = true;
	prepare = written;
	CHECK(scene_begin(&s, "off"));
	prepare = NULL;
	s.words = "parley what time is it";
	over = turned;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	status_of(&s, &status);
	CHECK_STR(status.last_turn, room_reason_text(ROOM_REASON_SPEECH_FAILED));
	CHECK(s.faults.v[FAULT_KEY].count > 0);
	evhttp_free(writer);
	scene_end(&s);
}

static bool truncated(const struct scene *s)
{
	return *s->truncate;
}

TEST(rule_007_voice_over_the_answer_stops_it_and_the_brain_learns_where)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off"));
	/* All of the voice comes in the answer's first moment, before any words of it could. */
	CHECK_INT(settings_set(s.settings, "echo_guard_ms", "0"), 0);
	CHECK_INT(settings_set(s.settings, "interim_ms", "0"), 0);
	CHECK_INT(settings_set(s.settings, "stop_fade_ms", "60"), 0);
	s.words = "what time is it";
	s.barge_in = true;
	over = truncated;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_INT(s.softer, 1);
	CHECK_INT(s.paused, 1);
	CHECK(s.stopped);
	CHECK_INT(s.stopped_fade, 60);
	CHECK(strstr(s.truncate, "\"audio_end_ms\":500"));
	CHECK(strstr(s.fake.types, "response.cancel"));
	CHECK_STR(s.told, "");
	scene_end(&s);
}

static bool inherits(struct scene *s)
{
	return s->inherits = true;
}

static bool stopped(const struct scene *s)
{
	return s->stopped;
}

/* The room knows of no answer that could be stopped, and yet one is heard. */
TEST(a_stop_ends_the_answer_of_the_control_before)
{
	static struct scene s;

	prepare = inherits;
	CHECK(scene_begin(&s, "off"));
	prepare = NULL;
	s.words = "parley stop";
	over = stopped;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_INT(s.playback, 9);
	CHECK_STR(s.told, "");
	scene_end(&s);
}

static bool turned(const struct scene *s)
{
	struct status status = {0};

	status_of(s, &status);
	return status.turns > 0;
}

static bool faulty(const struct scene *s)
{
	for (int f = 0; f < FAULT_COUNT; f++)
		if (s->faults.v[f].count)
			return true;
	return false;
}

static const struct {
	const char *code;
	enum fault fault;
} failures[] = {{"insufficient_quota", FAULT_CREDIT},
		{"rate_limit_exceeded", FAULT_BUSY},
		{"server_error", FAULT_ANSWER}};

TEST(what_the_provider_refuses_is_told_by_what_it_is)
{
	static struct scene s;
	struct words words;

	for (unsigned i = 0; i < sizeof failures / sizeof failures[0]; i++) {
		CHECK(scene_begin(&s, "off"));
		s.words = "what time is it";
		s.fails = failures[i].code;
		over = faulty;
		env_run(s.fake.env);
		CHECK(!s.fake.timed_out);
		for (int f = 0; f < FAULT_COUNT; f++)
			CHECK_INT(s.faults.v[f].count, f == (int)failures[i].fault);
		words = (struct words){0};
		CHECK(faults_say(&s.faults, env_now(s.fake.env), &words));
		CHECK(strstr(words.text, "The service that thinks for me") ||
		      strstr(words.text, "could not answer"));
		scene_end(&s);
	}
}

/* What Alice said is likely whole; when that answer has failed, she is silent. */
static bool answered_again(const struct scene *s)
{
	static unsigned looks;

	if (s->goes_on && s->listen && ++looks == 10)
		agent_feed(s->agent, &(struct room_event){.type = ROOM_EOT,
							  .user = ALICE,
							  .utterance = 1,
							  .text = slice_str(s->words),
							  .probability = 990});
	if (s->goes_on && !s->breaks) {
		((struct scene *)s)->goes_on = false;
		alice((struct scene *)s, 1, 0, env_now(s->fake.env), 0);
	}
	return answered(s);
}

/* The question is asked again once it is certain: nobody missed anything. */
TEST(a_speculative_answer_that_fails_is_no_fault)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off"));
	CHECK_INT(settings_set(s.settings, "speculative", "on"), 0);
	s.words = "parley what time is it";
	s.breaks = 1;
	s.goes_on = true;
	over = answered_again;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_INT(s.breaks, 0);
	CHECK_INT(s.said, ANSWER);
	for (int f = 0; f < FAULT_COUNT; f++)
		CHECK_INT(s.faults.v[f].count, 0);
	scene_end(&s);
}

/* Three turns of the watch later the agent knows that the playback has started. */
static bool broken_off(const struct scene *s)
{
	static unsigned since_start;

	since_start = s->started ? since_start + 1 : 0;
	if (since_start == 3)
		ws_close(s->fake.ws[s->voice], 1011, "");
	return turned(s);
}

TEST(an_answer_that_breaks_off_is_told_at_once)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off"));
	s.words = "what time is it";
	s.drops = true;
	over = broken_off;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK(s.said > 0);
	CHECK_INT(s.faults.v[FAULT_ANSWER].count, 1);
	scene_end(&s);
}

/* 310 s of sound come while it plays the first second; only then has mediad place for more. */
static bool told_at_length(const struct scene *s)
{
	static unsigned looks;
	struct scene *scene = (struct scene *)s;

	for (unsigned i = 0; s->started && s->long_s > 1 && i < 10; i++, scene->long_s--)
		fake_audio(&scene->fake, s->voice, "r1", "i1", 100, ANSWER);
	if (s->long_s == 1 && ++looks == 40)
		from_mediad(scene, (struct media_msg){.type = MEDIA_SAY_CREDIT,
						      .say_credit = {.playback = s->playback,
								     .samples = 400 * ANSWER}});
	return turned(s);
}

TEST(an_answer_longer_than_its_backlog_is_heard_as_far_as_it_goes)
{
	static struct scene s;

	CHECK(scene_begin(&s, "off"));
	s.words = "what time is it";
	s.long_s = 310;
	over = told_at_length;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK(!s.stopped && s.drained);
	CHECK(s.said >= 300 * ANSWER);
	scene_end(&s);
}

/* ---- a provider that accepts and does not answer ---- */

static bool answered_late(const struct scene *s)
{
	struct status status = {0};

	status_of(s, &status);
	not_answering = not_answering || status.brain_silent;
	return status.answered == 1;
}

TEST(a_provider_that_does_not_answer_is_told_of_once_and_still_heard)
{
	static struct scene s;
	struct status status = {0};
	struct words words = {0};

	prepare = impatient;
	not_answering = false;
	CHECK(scene_begin(&s, "off"));
	prepare = NULL;
	s.words = "what time is it";
	s.deaf = 1;
	over = answered_late;
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	/* It was told, shown, and its session replaced; the answer of the next one was heard. */
	CHECK_INT(s.faults.v[FAULT_SILENT].count, 0); /* it did not last */
	CHECK(s.faults.v[FAULT_SILENT].changed);
	CHECK(not_answering);
	CHECK_INT(s.said, ANSWER);
	status_of(&s, &status);
	CHECK(status.brain_up && !status.brain_silent);
	CHECK(!s.faults.v[FAULT_SILENT].there);
	/* At once when it lasts, and not again for five minutes. */
	faults_set(&s.faults, FAULT_SILENT, FAULT_IS_THERE, env_now(s.fake.env));
	CHECK(faults_say(&s.faults, env_now(s.fake.env), &words));
	CHECK(strstr(words.text, "does not answer"));
	CHECK(!faults_say(&s.faults, env_now(s.fake.env), &words));
	scene_end(&s);
}
