#include "tests/unit/control/agent/agent_scene.h"

bool scene_not_answering;
static bool (*is_over)(const struct scene *s);

struct tmr *scene_watch;
struct evhttp *scene_writer;
bool scene_mute;

void scene_from_mediad(struct scene *s, struct media_msg msg)
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

void scene_alice(struct scene *s, uint32_t capture, unsigned ms, uint64_t now, uint64_t every)
{
	uint8_t pcm[FRAME * 2];

	for (unsigned i = 0; i < FRAME; i++) {
		pcm[2 * i] = 0;
		pcm[2 * i + 1] = i / 8 % 2 ? 0x18 : 0xe8;
	}
	scene_from_mediad(s,
			  (struct media_msg){.type = MEDIA_SPEAKING,
					     .speaking = {.user = ALICE, .on = true, .at = now}});
	for (unsigned i = 0; i < ms / 20; i++)
		scene_from_mediad(s, (struct media_msg){.type = MEDIA_HEARD,
							.heard = {.listen = s->listen,
								  .user = ALICE,
								  .capture = capture,
								  .seq = i,
								  .at = now + i * every,
								  .pcm = {pcm, sizeof pcm}}});
	if (s->goes_on)
		return;
	scene_from_mediad(s, (struct media_msg){.type = MEDIA_HEARD_END,
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
	if (s->keyless) {
		s->started = s->stopped = true;
		out.type = MEDIA_SAY_STOPPED;
		out.say_stopped.playback = s->playback;
		out.say_stopped.reason = MEDIA_REASON_NO_KEY;
		scene_from_mediad(s, out);
		return;
	}
	s->started = true;
	out.type = MEDIA_SAY_STARTED;
	out.say_started.playback = s->playback;
	out.say_started.at = env_now(s->fake.env);
	scene_from_mediad(s, out);
	if (s->barge_in)
		scene_alice(s, 2, 1400, env_now(s->fake.env), NS_PER_MS);
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
	scene_from_mediad(s, out);
}

/* A call that is up, and an answer in it. */
static void hand_over(struct scene *s)
{
	s->call_id = 77;
	s->playback = 9;
	scene_from_mediad(
		s, (struct media_msg){
			   .type = MEDIA_CALL_STATE,
			   .call_state = {.phase = MEDIA_PHASE_UP, .guild = 1, .channel = 2}});
	scene_from_mediad(
		s, (struct media_msg){.type = MEDIA_SAY_STATE,
				      .say_state = {.playback = 9, .rate = 24000, .ended = true}});
}

/* A message of no call. */
static void send_as_is(struct scene *s, struct media_msg msg)
{
	uint8_t buf[512];
	size_t n;

	if (media_pack(&msg, MEDIA_MINOR, buf, sizeof buf, &n) == 0)
		peer_send(s->peer, PEER_COMMAND, buf, n);
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
		send_as_is(s, (struct media_msg){.type = MEDIA_HELLO,
						 .hello = {.major = MEDIA_MAJOR,
							   .minor = MEDIA_MINOR,
							   .instance = 1}});
		if (s->inherits)
			hand_over(s);
		send_as_is(s, (struct media_msg){.type = MEDIA_SYNCED});
		break;
	case MEDIA_PING:
		send_as_is(s, (struct media_msg){.type = MEDIA_PONG, .pong = {.id = m.ping.id}});
		break;
	case MEDIA_CALL_OPEN:
		s->call_id = m.call_open.call;
		s->gen = m.call_open.gen;
		scene_from_mediad(s, (struct media_msg){.type = MEDIA_CALL_STATE,
							.call_state = {.phase = MEDIA_PHASE_UP,
								       .guild = 1,
								       .channel = 2}});
		break;
	case MEDIA_LISTEN:
		if (m.listen.user != ALICE)
			break;
		s->listen = m.listen.listen;
		s->rate = m.listen.rate;
		scene_alice(s, 1, 1000, env_now(s->fake.env) - NS_PER_S, 20 * NS_PER_MS - 1);
		break;
	case MEDIA_SAY_OPEN:
		s->playback = m.say_open.playback;
		out.type = MEDIA_SAY_CREDIT;
		out.say_credit.playback = s->playback;
		out.say_credit.samples = s->long_s ? ANSWER : 10 * ANSWER;
		scene_from_mediad(s, out);
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

static void take_tools(struct scene *s, const json_t *tools)
{
	for (size_t i = 0; i < json_array_size(tools); i++) {
		const json_t *tool = json_array_get(tools, i);
		const char *name = json_string_value(json_object_get(tool, "name"));

		if (name && strcmp(name, "soundboard") == 0)
			snprintf(s->soundboard, sizeof s->soundboard, "%s",
				 json_string_value(json_object_get(tool, "description")));
	}
}

static void provider(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct scene *s = f->arg;
	bool transcribes = strstr(f->path[conn], "intent=");
	const char *text;

	if (strcmp(type, "session.update") == 0) {
		refuse_session(f, conn);
		take_tools(s, json_object_get(json_object_get(root, "session"), "tools"));
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

static void look(void *arg)
{
	struct scene *s = arg;

	if (is_over(s))
		env_stop(s->fake.env);
	else
		tmr_start(scene_watch, 10000000);
}

static void note_refusal(const struct bus_event *ev, void *arg)
{
	struct scene *s = arg;

	bus_event_line(ev, true, s->refusal, sizeof s->refusal);
}

static void faulted(enum fault fault, enum fault_is is, void *arg)
{
	struct scene *s = arg;

	faults_set(&s->faults, fault, is, env_now(s->fake.env));
}

bool scene_begin(struct scene *s, const char *guest, bool (*prepare)(struct scene *s))
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
	    tmr_alloc(&scene_watch, s->fake.env, look, s) || bus_alloc(&s->bus) ||
	    ledger_alloc(&s->ledger) ||
	    bus_subscribe(s->bus, BUS_MASK(EVENT_TURN), status_take_event, &s->tally) ||
	    bus_subscribe(s->bus, BUS_MASK(EVENT_ENGINE_REFUSED), note_refusal, s))
		return false;
	tmr_start(scene_watch, 0);
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

bool scene_run(struct scene *s, bool (*over)(const struct scene *s))
{
	is_over = over;
	env_run(s->fake.env);
	return !s->fake.timed_out;
}

void scene_end(struct scene *s)
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
	scene_watch = tmr_free(scene_watch);
	fake_end(&s->fake);
	rmdir(s->dir);
}

void scene_status_of(const struct scene *s, struct status *out)
{
	agent_status(s->agent, out);
	status_fill_turns(out, &s->tally, 1);
}

bool scene_answered(const struct scene *s)
{
	struct status status = {0};

	scene_status_of(s, &status);
	return status.answered == 1;
}

bool scene_waits_for_the_end(struct scene *s)
{
	return settings_set(s->settings, "speculative", "off") == 0;
}

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
	else if (scene_mute)
		fake_http_answer(req, 401, "application/json", refused, sizeof refused - 1);
	else
		fake_http_answer(req, 200, "audio/pcm", pcm, sizeof pcm);
}

bool scene_serve_writer(struct scene *s, char *base, size_t size)
{
	scene_writer = evhttp_new(env_base(s->fake.env));
	evhttp_set_gencb(scene_writer, write_or_speak, NULL);
	return fake_http_listen(scene_writer, base, size) &&
	       !settings_set(s->settings, "speech_url", base);
}

bool scene_written(struct scene *s)
{
	char base[64];

	return scene_serve_writer(s, base, sizeof base) &&
	       !settings_set(s->settings, "reply_path", "brain") &&
	       !settings_set(s->settings, "text_url", base);
}

bool scene_stopped(const struct scene *s)
{
	return s->stopped;
}

bool scene_turned(const struct scene *s)
{
	struct status status = {0};

	scene_status_of(s, &status);
	return status.turns > 0;
}
