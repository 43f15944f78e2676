/* A control that only listens: it opens a call in a mediad, or takes over the one there, and prints
 * how many samples of each user it heard. With control's own link to mediad, and a default consent
 * and consents of its own, which control has no setting for.
 *
 *   listener SOCKET EPOCH USER GUILD CHANNEL SESSION TOKEN ENDPOINT MS yes|no
 * [+USER|-USER|play:FILE|say:LINES|tone:HZ]… listen USER…
 *
 * say:LINES: each line that is appended to this file is the path of a WAV file, which is said.
 * +USER and -USER: this user consents, or does not. play:FILE: music from mediad's first folder; a
 * second one follows the first. The states of music are printed, and of each user, twice a second,
 * the loudest sample, how often the sound crossed zero and the amplitude of the tone of HZ. */
#include "control/media/call.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/base/wav.h"
#include "proto/media.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIXED = 11, USERS = 8, RATE = 24000, LEVEL_MS = 500, LINES_MS = 50 };

static struct {
	char **argv;
	struct env *env;
	struct media *media;
	struct media_call *call;
	struct tmr *end;
	struct tmr *levels;
	uint64_t user[USERS], samples[USERS];
	int peak[USERS], last[USERS];
	unsigned crossings[USERS];
	double hz, sine[USERS], cosine[USERS]; /* the sound's part of that tone */
	unsigned measured[USERS];
	unsigned n_users;
	const char *files[2]; /* of music */
	unsigned n_files;
	const char *lines; /* file of what to say; NULL: nothing */
	long lines_read;
	struct tmr *say_tmr;
	struct media_playback *say;
	uint64_t ms;
	bool up;
} run;

static void on_end(void *arg)
{
	(void)arg;
	env_stop(run.env);
}

static void on_levels(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < run.n_users; i++) {
		printf("level %" PRIu64 " %d %u %.0f\n", run.user[i], run.peak[i], run.crossings[i],
		       run.measured[i] ? 2 * hypot(run.sine[i], run.cosine[i]) / run.measured[i]
				       : 0.0);
		run.sine[i] = run.cosine[i] = 0;
		run.measured[i] = 0;
		run.peak[i] = 0;
		run.crossings[i] = 0;
	}
	fflush(stdout);
	tmr_start(run.levels, LEVEL_MS * NS_PER_MS);
}

static void on_said(struct media_playback *pb, enum media_playback_event ev, uint64_t samples,
		    unsigned reason, uint64_t at_ns, void *arg)
{
	(void)pb;
	(void)samples;
	(void)reason;
	(void)at_ns;
	(void)arg;
	if (ev == MEDIA_PB_STARTED || ev == MEDIA_PB_DRAINED)
		printf("%s\n", ev == MEDIA_PB_STARTED ? "speaks" : "spoken");
	fflush(stdout);
}

/* Its samples are aligned: they follow the 44 bytes of the header. */
static int read_wav(const char *path, struct wav *wav)
{
	static union {
		uint8_t bytes[1 << 20];
		int16_t aligned;
	} file;
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(file.bytes, 1, sizeof file.bytes, f) : 0;
	int err = f ? wav_parse(wav, file.bytes, n) : errno;

	if (f)
		fclose(f);
	return !err && wav->channels != 1 ? ENOTSUP : err;
}

static void say_file(const char *path)
{
	struct wav wav = {0};
	int err = read_wav(path, &wav);

	run.say = media_playback_free(run.say);
	if (!err)
		err = media_playback_open(&run.say, run.call, wav.rate, on_said, NULL);
	if (!err)
		err = media_playback_write(run.say, (const int16_t *)(const void *)wav.data,
					   wav.frames);
	if (!err)
		media_playback_end(run.say);
	else
		fprintf(stderr, "listener: %s: %s\n", path, strerror(err));
}

static void on_say(void *arg)
{
	char line[1024];
	FILE *f = fopen(run.lines, "r");

	(void)arg;
	if (f && fseek(f, run.lines_read, SEEK_SET) == 0 && fgets(line, sizeof line, f) &&
	    strchr(line, '\n')) {
		run.lines_read = ftell(f);
		line[strcspn(line, "\n")] = '\0';
		say_file(line);
	}
	if (f)
		fclose(f);
	tmr_start(run.say_tmr, LINES_MS * NS_PER_MS);
}

static void measure(unsigned i, struct slice pcm)
{
	run.samples[i] += pcm.n / 2;
	for (size_t k = 0; k + 1 < pcm.n; k += 2) {
		int16_t v = (int16_t)(pcm.p[k] | pcm.p[k + 1] << 8);

		run.crossings[i] += (v < 0) != (run.last[i] < 0);
		run.last[i] = v;
		run.sine[i] += v * sin(2 * M_PI * run.hz * run.measured[i] / RATE);
		run.cosine[i] += v * cos(2 * M_PI * run.hz * run.measured[i] / RATE);
		run.measured[i]++;
		if (abs(v) > run.peak[i])
			run.peak[i] = abs(v);
	}
}

static void play_files(struct media_call *call)
{
	struct media_msg play = {.type = MEDIA_MUSIC_PLAY}, next = {.type = MEDIA_MUSIC_NEXT};

	play.music_play.music = 1;
	play.music_play.kind = MEDIA_MUSIC_FILE;
	play.music_play.path = slice_str(run.files[0]);
	play.music_play.gain = 1000;
	play.music_play.duck = 150;
	play.music_play.duck_attack_ms = 80;
	play.music_play.duck_hold_ms = 600;
	play.music_play.duck_release_ms = 600;
	play.music_play.bitrate = 96000;
	next.music_next.music = 2;
	next.music_next.kind = MEDIA_MUSIC_FILE;
	next.music_next.path = slice_str(run.files[1]);
	next.music_next.gain = 1000;
	if (run.n_files)
		media_call_send(call, &play);
	if (run.n_files > 1)
		media_call_send(call, &next);
}

static void on_event(struct media_call *call, const struct media_msg *m, void *arg)
{
	(void)arg;
	if (m->type == MEDIA_MUSIC_STATE)
		printf("music %u %s %" PRIu64 " %.*s\n", m->music_state.music,
		       media_music_phase_name(m->music_state.phase), m->music_state.position,
		       (int)m->music_state.failure.n, (const char *)m->music_state.failure.p);
	if (m->type == MEDIA_CALL_STATE && m->call_state.phase == MEDIA_PHASE_UP && !run.up) {
		run.up = true;
		tmr_start(run.end, run.ms * NS_PER_MS);
		tmr_start(run.levels, LEVEL_MS * NS_PER_MS);
		printf("up\n");
		fflush(stdout);
		play_files(call);
		if (run.lines)
			tmr_start(run.say_tmr, 0);
	}
	for (unsigned i = 0; m->type == MEDIA_HEARD && i < run.n_users; i++)
		if (m->heard.user == run.user[i])
			measure(i, m->heard.pcm);
}

static void on_wants(struct media_call *call, void *arg)
{
	(void)arg;
	media_call_credentials(call, run.argv[6], run.argv[7], run.argv[8],
			       strtoull(run.argv[5], NULL, 10));
}

static int tell_wishes(int argc)
{
	bool listen = false;
	int err = 0;

	for (int i = FIXED; !err && i < argc; i++) {
		const char *word = run.argv[i];
		uint64_t user = strtoull(word + strspn(word, "+-"), NULL, 10);

		if (strcmp(word, "listen") == 0) {
			listen = true;
		} else if (strncmp(word, "play:", 5) == 0 && run.n_files < 2) {
			run.files[run.n_files++] = word + 5;
		} else if (strncmp(word, "tone:", 5) == 0) {
			run.hz = strtod(word + 5, NULL);
		} else if (strncmp(word, "say:", 4) == 0) {
			run.lines = word + 4;
		} else if (listen && run.n_users < USERS) {
			run.user[run.n_users++] = user;
			err = media_call_listen(run.call, user, RATE, 1000);
		} else {
			err = media_call_consent(run.call, user, *word == '+');
		}
	}
	return err;
}

int main(int argc, char **argv)
{
	struct env_conf ec = {.loop = true};
	const char *socks[] = {argc > FIXED ? argv[1] : "", NULL};
	struct media_conf conf = {.socks = socks, .wantsh = on_wants};
	struct media_want want = {.bitrate = 64000, .e2ee = MEDIA_E2EE_PREFER};
	int err;

	if (argc <= FIXED) {
		fprintf(stderr, "listener: see the head of its source\n");
		return 2;
	}
	run.argv = argv;
	conf.epoch = strtoull(argv[2], NULL, 10);
	conf.user = strtoull(argv[3], NULL, 10);
	want.guild = strtoull(argv[4], NULL, 10);
	want.channel = strtoull(argv[5], NULL, 10);
	run.ms = strtoull(argv[9], NULL, 10);
	want.consent = strcmp(argv[10], "yes") == 0;
	log_init("listener", LOG_INFO_);
	err = env_alloc(&run.env, &ec);
	if (!err)
		err = tmr_alloc(&run.end, run.env, on_end, NULL);
	if (!err)
		err = tmr_alloc(&run.levels, run.env, on_levels, NULL);
	if (!err)
		err = tmr_alloc(&run.say_tmr, run.env, on_say, NULL);
	if (!err)
		err = media_alloc(&run.media, run.env, &conf);
	if (!err)
		err = media_call_open(&run.call, run.media, &want, on_event, NULL);
	if (!err)
		err = tell_wishes(argc);
	if (err) {
		fprintf(stderr, "listener: %s\n", strerror(err));
		return 1;
	}
	env_run(run.env);
	for (unsigned i = 0; i < run.n_users; i++)
		printf("heard %" PRIu64 " %" PRIu64 "\n", run.user[i], run.samples[i]);
	fflush(stdout);
	_Exit(0); /* as if it was killed: mediad keeps the call for the next */
}
