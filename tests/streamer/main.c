/* A member of guildd who streams ("Go Live") by a mediad of their own: a number on grey, as
 * key frames; a line on stdin changes it. Speaks on request. See --help. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "control/media/media.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/join.h"
#include "tests/picture/encode_frame.h"

enum { WIDTH = 640, HEIGHT = 360, GREY = 120, FPS = 10, BITRATE = 2000000, FRAME_MS = 500 };
enum { RATE = 24000, SPEECH_MS = 1500, SYLLABLE_MS = 220, PITCH = 140, LOUD = 6000 };

static struct {
	const char *api, *sock, *ca, *out;
	uint64_t guild, channel, user;
	enum frame_codec codec;
	unsigned number;
} opt = {.codec = FRAME_H264};

static struct {
	struct env *env;
	struct http *http;
	struct media *media;
	struct media_call *voice, *call; /* in the channel, and of the stream */
	struct media_playback *speech;	 /* NULL: none yet */
	struct tmr *tmr;
	uint8_t frame[FRAME_BYTES_MAX];
	size_t n;
	unsigned shown; /* the number in `frame` */
	uint32_t frames;
	bool sending;
} run;

static const uint8_t codecs[FRAME_CODECS] = {[FRAME_H264] = MEDIA_VIDEO_H264,
					     [FRAME_VP8] = MEDIA_VIDEO_VP8,
					     [FRAME_AV1] = MEDIA_VIDEO_AV1};

static void give_up(const char *why)
{
	fprintf(stderr, "streamer: %s\n", why);
	exit(EXIT_FAILURE);
}

/* The key frame as it is sent, for those who look for it in memory. */
static void write_frame(void)
{
	FILE *f = fopen(opt.out, "we");

	if (!f || fwrite(run.frame, 1, run.n, f) != run.n || fclose(f))
		give_up("the file of the frame cannot be written");
}

static void show(void)
{
	const struct frame_scene scene = {
		.width = WIDTH, .height = HEIGHT, .brightness = GREY, .number = opt.number};
	uint32_t rtp = (uint32_t)(env_now(run.env) / 1000 * 90 / 1000);

	if (!run.n || run.shown != opt.number)
		run.n = frame_encode(run.frame, opt.codec, &scene, true);
	if (!run.n)
		give_up("there is no such encoder");
	if (opt.out && run.shown != opt.number)
		write_frame();
	if (run.shown != opt.number)
		printf("shows %u in %zu bytes\n", opt.number, run.n);
	fflush(stdout);
	run.shown = opt.number;
	media_call_show(run.call, rtp, true, run.frame, run.n);
	run.frames++;
}

static void on_speech(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
		      unsigned reason, uint64_t at_ns, void *arg)
{
	(void)pb, (void)samples, (void)reason, (void)at_ns, (void)arg;
	if (ev == MEDIA_PB_DRAINED || ev == MEDIA_PB_STOPPED) {
		printf("spoke\n");
		fflush(stdout);
	}
}

/* Syllables of no word: a stand-in says what was said. */
static void speak(void)
{
	static int16_t pcm[RATE * SPEECH_MS / 1000];

	for (unsigned i = 0; i < RATE * SPEECH_MS / 1000; i++) {
		unsigned in = i % (RATE * SYLLABLE_MS / 1000);
		bool silent = in > RATE * SYLLABLE_MS * 4 / 5 / 1000;
		int saw = (int)(i * PITCH * 2 * LOUD / RATE % (2 * LOUD)) - LOUD;

		pcm[i] = (int16_t)(silent ? 0 : saw);
	}
	run.speech = media_playback_free(run.speech);
	if (media_playback_open(&run.speech, run.voice, RATE, on_speech, NULL) ||
	    media_playback_write(run.speech, pcm, RATE * SPEECH_MS / 1000))
		give_up("it cannot speak");
	media_playback_end(run.speech);
}

/* stdin does not block. */
static void read_line(void)
{
	char line[32];
	ssize_t n = read(STDIN_FILENO, line, sizeof line - 1);

	if (n == 0 || (n < 0 && errno != EAGAIN))
		env_stop(run.env);
	if (n <= 0)
		return;
	line[n] = '\0';
	if (strncmp(line, "say", 3) == 0) {
		speak();
		return;
	}
	opt.number = (unsigned)strtoul(line, NULL, 10);
}

static void on_tmr(void *arg)
{
	(void)arg;
	read_line();
	show();
	tmr_start(run.tmr, FRAME_MS * NS_PER_MS);
}

static void on_media(struct media_call *call, const struct media_msg *msg, void *arg)
{
	(void)call, (void)arg;
	if (msg->type == MEDIA_CALL_STATE)
		printf("call %s %s\n", media_phase_name(msg->call_state.phase),
		       media_reason_name(msg->call_state.reason));
	if (msg->type == MEDIA_VIDEO_STATE && msg->video_state.sending != run.sending) {
		run.sending = msg->video_state.sending;
		printf("sending %d wanted %u\n", run.sending, msg->video_state.wanted);
	}
	fflush(stdout);
}

/* ---- joining ---- */

static void on_stream(const struct http_resp *resp, void *arg)
{
	json_t *o = resp->err || resp->status != 200
			    ? NULL
			    : json_loadb((const char *)resp->body.p, resp->body.n, 0, NULL);
	const char *guild = json_string_value(json_object_get(o, "guild_id"));
	const char *channel = json_string_value(json_object_get(o, "channel_id"));
	struct media_want want = {.bitrate = 64000, .mute = true, .consent = true, .stream = true};
	const struct media_video video = {codecs[opt.codec], FPS, WIDTH, HEIGHT, BITRATE};

	(void)arg;
	if (!guild || !channel)
		give_up("guildd refuses the stream");
	want.guild = strtoull(guild, NULL, 10);
	want.channel = strtoull(channel, NULL, 10);
	json_decref(o);
	if (media_call_open(&run.call, run.media, &want, on_media, NULL))
		give_up("no call");
	media_call_publish(run.call, &video);
	if (join_take_lease(run.call, resp, want.channel))
		give_up("no lease");
	printf("streams\n");
	fflush(stdout);
	on_tmr(NULL);
}

static void on_joined(const struct http_resp *resp, void *arg)
{
	static const char *const headers[] = {"Content-Type: application/json", NULL};
	char url[256];
	struct http_call req = {.method = "POST", .url = url, .headers = headers, .body = "{}"};

	const struct media_want want = {
		.guild = opt.guild, .channel = opt.channel, .bitrate = 64000, .consent = true};

	(void)arg;
	if (media_call_open(&run.voice, run.media, &want, NULL, NULL) ||
	    join_take_lease(run.voice, resp, opt.channel))
		give_up("guildd lets nobody in");
	req.body_len = 2;
	snprintf(url, sizeof url, "%s/users/%" PRIu64 "/stream", opt.api, opt.user);
	if (http_request(NULL, run.http, &req, on_stream, NULL))
		give_up("no request");
}

static void on_link(bool up, void *arg)
{
	(void)arg;
	if (up && !run.call &&
	    join_request(run.http, opt.api, opt.user, opt.guild, opt.channel, on_joined, NULL))
		give_up("no request");
}

/* ---- options ---- */

static void usage(FILE *f)
{
	fputs("usage: streamer --api URL --media-sock PATH --ca FILE --guild ID --channel ID\n"
	      "                --user ID --number N [--codec h264|vp8|av1] [--out FILE]\n\n"
	      "Joins guildd's voice channel and streams a picture with the number N, which a line "
	      "on stdin changes.\n"
	      "The line \"say\" makes it speak, no words. FILE gets the newest key frame. "
	      "Ends with stdin.\n",
	      f);
}

static enum frame_codec codec_named(const char *name)
{
	return strcmp(name, "h264") == 0  ? FRAME_H264
	       : strcmp(name, "vp8") == 0 ? FRAME_VP8
	       : strcmp(name, "av1") == 0 ? FRAME_AV1
					  : FRAME_NONE;
}

static bool parse_options(int argc, char **argv)
{
	static const struct option longs[] = {{"api", required_argument, NULL, 'a'},
					      {"media-sock", required_argument, NULL, 's'},
					      {"ca", required_argument, NULL, 'c'},
					      {"guild", required_argument, NULL, 'g'},
					      {"channel", required_argument, NULL, 'n'},
					      {"user", required_argument, NULL, 'u'},
					      {"number", required_argument, NULL, 'x'},
					      {"codec", required_argument, NULL, 'v'},
					      {"out", required_argument, NULL, 'o'},
					      {NULL, 0, NULL, 0}};
	int o;

	while ((o = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (o == 'a')
			opt.api = optarg;
		else if (o == 's')
			opt.sock = optarg;
		else if (o == 'c')
			opt.ca = optarg;
		else if (o == 'g')
			opt.guild = strtoull(optarg, NULL, 10);
		else if (o == 'n')
			opt.channel = strtoull(optarg, NULL, 10);
		else if (o == 'u')
			opt.user = strtoull(optarg, NULL, 10);
		else if (o == 'x')
			opt.number = (unsigned)strtoul(optarg, NULL, 10);
		else if (o == 'o')
			opt.out = optarg;
		else if (o == 'v')
			opt.codec = codec_named(optarg);
		else
			return false;
	}
	return opt.api && opt.sock && opt.ca && opt.guild && opt.channel && opt.user &&
	       opt.codec != FRAME_NONE;
}

int main(int argc, char **argv)
{
	const char *at[2];
	struct media_conf conf = {.socks = at, .epoch = 1, .linkh = on_link};
	int err;

	log_init("streamer", LOG_WARN_);
	if (!parse_options(argc, argv)) {
		usage(stderr);
		return 2;
	}
	at[0] = opt.sock;
	at[1] = NULL;
	conf.user = opt.user;
	conf.ca_file = opt.ca;
	err = env_alloc(&run.env, &(struct env_conf){.loop = true});
	if (!err)
		err = http_alloc(&run.http, run.env, NULL, "streamer");
	if (!err)
		err = tmr_alloc(&run.tmr, run.env, on_tmr, NULL);
	if (!err)
		err = media_alloc(&run.media, run.env, &conf);
	if (!err && fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK))
		err = errno;
	if (err)
		give_up(strerror(err));
	env_run(run.env);
	media_playback_free(run.speech);
	media_call_free(run.call);
	media_call_free(run.voice);
	media_free(run.media);
	tmr_free(run.tmr);
	http_free(run.http);
	env_free(run.env);
	return 0;
}
