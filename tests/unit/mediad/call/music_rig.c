#include "tests/unit/mediad/call/music_rig.h"

#include <math.h>

#include "ipc/env.h"
#include "ipc/env_replay.h"
#include "ipc/journal.h"
#include "mediad/engine/audio_thread.h"

enum { SOURCE_COMMAND = 1, SOURCE_TICK = 3, SOURCE_WORK = 4, SOURCE_MUSIC = 6 };
enum { SOURCE_ENGINE = 2, SOURCE_DECODERS = 1 };

struct music_rig music_rig;

/* The kernel takes what is sent, and every ring has room. */
static const uint8_t *on_world(uint8_t what, size_t n, void *arg)
{
	static const uint8_t none[64];
	static uint8_t answer[8];
	struct wr w = wr_of(answer, sizeof answer);

	(void)n, (void)arg;
	wr_be(&w, music_rig.written ? music_rig.written : 1, 8);
	return what == JOURNAL_ANSWER ? answer : none;
}

/* Of the loop thread: and the ring of a silent track is full, or not. */
static const uint8_t *on_loop_world(uint8_t what, size_t n, void *arg)
{
	static const uint8_t no[8];

	return what == JOURNAL_ANSWER && music_rig.starves ? no : on_world(what, n, arg);
}

/* No call to decoderd fails. */
static const uint8_t *on_decoders_world(uint8_t what, size_t n, void *arg)
{
	static const uint8_t none[64];

	(void)what, (void)n, (void)arg;
	return none;
}

static void on_out(const struct media_msg *msg, uint32_t flow, void *arg)
{
	(void)flow, (void)arg;
	if (msg->type == MEDIA_MUSIC_STATE && music_rig.n_states < MAX_STATES) {
		music_rig.states[music_rig.n_states].s = msg->music_state;
		snprintf(music_rig.states[music_rig.n_states++].failure, 33, "%.*s",
			 (int)msg->music_state.failure.n, (const char *)msg->music_state.failure.p);
	}
	music_rig.tags += msg->type == MEDIA_MUSIC_TAGS;
	if (msg->type == MEDIA_MUSIC_ANALYSIS) {
		music_rig.analysis = msg->music_analysis;
		music_rig.n_analyses++;
	}
	if (msg->type == MEDIA_MUSIC_TITLE)
		snprintf(music_rig.title, sizeof music_rig.title, "%.*s",
			 (int)msg->music_title.title.n, (const char *)msg->music_title.title.p);
}

static size_t count_queued(void *arg)
{
	(void)arg;
	return music_rig.queued;
}

static void send_cmd(struct cmd c)
{
	engine_send(music_rig.engine, music_rig.c.stream, &c);
}

static void on_event(const struct ev *ev, void *owner)
{
	(void)owner;
	if (ev->type == EV_WANT_SPEAKING && ev->on)
		send_cmd((struct cmd){.type = CMD_SPEAKING_SENT});
	if (ev->type == EV_MUSIC || ev->type == EV_MUSIC_PROGRESS)
		music_event(&music_rig.c, ev);
}

static void step_audio(uint32_t source, const void *p, size_t n, uint8_t kind)
{
	env_replay_step(music_rig.audio, music_rig.now, source, kind, p, n);
}

/* Gives a lane what its decoder has for it. */
static void feed(uint32_t id)
{
	struct music_lane *l = music_mixer_lane(sender_music(music_rig.c.stream->sender), id);
	static uint8_t data[MUSIC_FEED_MAX];
	struct wr w = wr_of(data, sizeof data);
	uint64_t n;

	if (!l || playout_may_write(music_lane_playout(l), 1))
		return;
	n = playout_room(music_lane_playout(l));
	n = n < music_rig.left[id] ? n : music_rig.left[id];
	music_rig.left[id] -= n;
	wr_be(&w, 0, 4);
	wr_be(&w, id, 4);
	step_audio(SOURCE_MUSIC, data, MUSIC_FEED_HEAD + n * MUSIC_FEED_FRAME,
		   !music_rig.left[id] && music_rig.starved != id);
}

/* Runs what waits at this time. */
static void settle(void)
{
	for (int i = 0; i < 20; i++) {
		step_audio(SOURCE_COMMAND, NULL, 0, 0);
		env_replay_step(music_rig.env, music_rig.now, SOURCE_ENGINE, 0, NULL, 0);
	}
}

void music_rig_run_ms(unsigned ms)
{
	for (uint64_t end = music_rig.now + ms * NS_PER_MS; music_rig.now + TICK <= end;) {
		settle();
		music_rig.now += TICK;
		step_audio(SOURCE_TICK, NULL, 0, 0);
		for (unsigned id = 1; sender_music(music_rig.c.stream->sender) && id < RIG_LANES;
		     id++)
			feed(id);
		step_audio(SOURCE_WORK, NULL, 0, 0);
	}
	settle();
}

int music_rig_start(bool with_decoders)
{
	const struct env_conf ec = {.loop = true, .replaying = true};
	struct decoders_conf dc = {.program = "decoderd", .log_level = "info"};
	struct engine_conf gc = {.threads = 1, .evh = on_event};
	int err;

	memset(&music_rig, 0, sizeof music_rig);
	music_rig.now = 1000 * TICK;
	err = env_alloc(&music_rig.env, &ec);
	if (err)
		return err;
	env_replay_world(music_rig.env, on_loop_world, NULL);
	gc.env = music_rig.env;
	err = engine_alloc(&music_rig.engine, &gc);
	if (!err)
		err = env_alloc(&music_rig.decoders, &ec);
	if (err)
		return err;
	env_replay_world(music_rig.decoders, on_decoders_world, NULL);
	dc.env = music_rig.decoders;
	if (with_decoders)
		err = decoders_alloc(&music_rig.c.conf.decoders, &dc);
	music_rig.c.conf.env = music_rig.env;
	music_rig.c.conf.engine = music_rig.engine;
	music_rig.c.conf.outh = on_out;
	music_rig.c.conf.queuedh = count_queued;
	if (!err)
		err = call_stream_alloc(&music_rig.c.stream, &music_rig.c, 64000);
	if (!err && (err = engine_add_stream(music_rig.engine, music_rig.c.stream)))
		music_rig.c.stream = call_stream_free(music_rig.c.stream);
	return err;
}

int music_rig_connect_stream(void)
{
	static const uint8_t key[RTPSIZE_KEY];
	struct cmd c = {.type = CMD_KEY};
	int err = rtpsize_alloc(&c.key, RTPSIZE_XCHACHA20_POLY1305, key);

	music_rig.audio = engine_env(music_rig.engine, 1);
	env_replay_world(music_rig.audio, on_world, NULL);
	send_cmd((struct cmd){.type = CMD_LINK, .link = {.fd = -1, .link = 1, .ssrc = 1}});
	send_cmd((struct cmd){.type = CMD_DAVE_CLEAR, .dave = {.send = true, .until = UINT64_MAX}});
	if (!err)
		send_cmd(c);
	music_rig_run_ms(1500);
	return err;
}

/* The call has ended for the audio thread, and its events have come. */
void music_rig_remove_stream(void)
{
	send_cmd((struct cmd){.type = CMD_STREAM_REMOVE});
	step_audio(SOURCE_COMMAND, NULL, 0, 0);
	for (int i = 0; i < 20; i++)
		env_replay_step(music_rig.env, music_rig.now, SOURCE_ENGINE, 0, NULL, 0);
}

void music_rig_finish(void)
{
	engine_free(music_rig.engine);
	music_free(&music_rig.c);
	decoders_free(music_rig.c.conf.decoders);
	env_free(music_rig.decoders);
	env_free(music_rig.env);
}

/* Tells the decoders about a track, in whichever slot it is: others ignore it. */
void music_rig_deliver(struct decoder_msg *msg)
{
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;

	for (msg->slot = 0; msg->slot < DECODER_SLOTS; msg->slot++)
		if (!decoder_wire_encode(msg, buf, &n))
			env_replay_step(music_rig.decoders, music_rig.now, SOURCE_DECODERS, 1, buf,
					n);
}

void music_rig_deliver_ready(void)
{
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;

	if (!decoder_wire_encode(&(struct decoder_msg){.type = DECODER_READY, .jailed = true}, buf,
				 &n))
		env_replay_step(music_rig.decoders, music_rig.now, SOURCE_DECODERS, 1, buf, n);
}

struct music_track *music_rig_track_of(uint32_t music)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (music_rig.c.tracks[i] && music_rig.c.tracks[i]->music == music)
			return music_rig.c.tracks[i];
	return NULL;
}

/* decoderd has opened the source of a music. */
void music_rig_opened(uint32_t music, uint64_t start_at, uint64_t duration)
{
	struct music_track *t = music_rig_track_of(music);
	struct decoder_msg msg = {.type = DECODER_OPENED, .track = t ? t->decoded : 0};

	msg.opened = (struct decoder_opened){.duration = duration,
					     .start = start_at,
					     .seekable = true,
					     .guessed = music_rig.guesses,
					     .levels = {-1000, -300},
					     .title = "Blue"};
	snprintf(msg.opened.album, sizeof msg.opened.album, "%s",
		 music_rig.album ? music_rig.album : "");
	snprintf(msg.opened.artist, sizeof msg.opened.artist, "%s",
		 music_rig.artist ? music_rig.artist : "");
	music_rig_deliver(&msg);
	t = music_rig_track_of(music);
	if (t && t->lane)
		music_rig.left[t->lane] = duration - start_at;
}

void music_rig_ended(uint64_t decoded, enum decoder_reason reason)
{
	music_rig_deliver(
		&(struct decoder_msg){.type = DECODER_ENDED, .track = decoded, .reason = reason});
}

void music_rig_play(uint32_t music, uint16_t fade_ms)
{
	struct media_music_play m = {.music = music,
				     .kind = MEDIA_MUSIC_FILE,
				     .path = slice_str("a.flac"),
				     .gain = 1000,
				     .duck = 150,
				     .bitrate = 96000,
				     .fade_ms = fade_ms};

	call_music_play(&music_rig.c, &m);
}

void music_rig_prepare(uint32_t music, uint16_t crossfade_ms)
{
	struct media_music_next m = {.music = music,
				     .kind = MEDIA_MUSIC_FILE,
				     .path = slice_str("b.flac"),
				     .gain = 1000,
				     .crossfade_ms = crossfade_ms};

	call_music_next(&music_rig.c, &m);
}

void music_rig_setup(void)
{
	CHECK_INT(music_rig_start(true), 0);
	music_rig_deliver_ready();
	CHECK_INT(music_rig_connect_stream(), 0);
}

/* The newest state of a music. */
const struct media_music_state *music_rig_state_of(uint32_t music)
{
	static const struct media_music_state none;

	for (unsigned i = music_rig.n_states; i-- > 0;)
		if (music_rig.states[i].s.music == music)
			return &music_rig.states[i].s;
	return &none;
}

const char *music_rig_failure_of(uint32_t music)
{
	for (unsigned i = music_rig.n_states; i-- > 0;)
		if (music_rig.states[i].s.music == music)
			return music_rig.states[i].failure;
	return "";
}

unsigned music_rig_count_states(uint32_t music, enum media_music_phase phase)
{
	unsigned n = 0;

	for (unsigned i = 0; i < music_rig.n_states; i++)
		n += music_rig.states[i].s.music == music && music_rig.states[i].s.phase == phase;
	return n;
}
