#include "tests/bench/music_stage.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/time.h"
#include "proto/rtp.h"
#include "tests/bench/bare.h"
#include "tests/bench/bench.h"
#include "tests/bench/plane.h"
#include "tests/decoder/web.h"

enum { BITRATE = 128000, DUCK = 150 };

const struct music_format music_formats[MUSIC_FORMATS] = {
	{"flac", "flac", "flac", 44100},     {"flac", "flac", "flac", 48000},
	{"opus", "ogg", "libopus", 48000},   {"mp3", "mp3", "libmp3lame", 44100},
	{"mp3", "mp3", "libmp3lame", 48000}, {"m4a", "ipod", "aac", 44100},
	{"m4a", "ipod", "aac", 48000},	     {"ogg", "ogg", "libvorbis", 44100},
};

struct call {
	struct music_state state;
	/* Under the lock, of the far end's thread: */
	uint64_t first_sound, since;
	struct bare_receiver *receiver; /* NULL: does not record */
	int16_t *pcm;
	size_t n, cap, sound_end; /* frames; sound_end: after the last packet with sound */
	unsigned silences, trailing;
	uint16_t seq;
	bool any, gap;
};

struct music_stage {
	char dir[64], origin[40];
	struct plane *plane;
	struct web *web;
	music_state_h *h;
	void *arg;
	far_end_packet_h *packeth; /* under the lock */
	void *packet_arg;
	uint32_t musics;
	pthread_mutex_t lock;
	struct call calls[FAR_END_CALLS];
};

/* ---- packets ---- */

/* Packets of silence are three bytes and not encrypted; nothing else is as short. */
static bool has_sound(size_t n)
{
	return n > RTP_HEADER + OPUS_SILENCE_SIZE + 16 + 4;
}

static void add_frame(struct call *c, const uint8_t *p, size_t n)
{
	int16_t *to = c->pcm + c->n;

	if (c->n + RTP_FRAME > c->cap || (!c->n && !has_sound(n)))
		return;
	if (has_sound(n)) {
		bare_receiver_decode(c->receiver, p, n, to);
		c->silences += c->trailing;
		c->trailing = 0;
		c->sound_end = c->n + RTP_FRAME;
	} else {
		memset(to, 0, RTP_FRAME * sizeof *to);
		c->trailing++;
	}
	c->n += RTP_FRAME;
}

static void on_packet(unsigned call, uint64_t at, const uint8_t *p, size_t n, void *arg)
{
	struct music_stage *s = *(struct music_stage **)arg;
	struct call *c = &s->calls[call];
	uint16_t seq = (uint16_t)(p[2] << 8 | p[3]);

	pthread_mutex_lock(&s->lock);
	if (s->packeth)
		s->packeth(call, at, p, n, s->packet_arg);
	if (!c->first_sound && at >= c->since && has_sound(n))
		c->first_sound = at;
	if (c->receiver) {
		c->gap = c->gap || (c->any && (uint16_t)(seq - c->seq) != 1);
		add_frame(c, p, n);
		c->any = true;
		c->seq = seq;
	}
	pthread_mutex_unlock(&s->lock);
}

void music_stage_packets(struct music_stage *s, far_end_packet_h *h, void *arg)
{
	pthread_mutex_lock(&s->lock);
	s->packeth = h;
	s->packet_arg = arg;
	pthread_mutex_unlock(&s->lock);
}

uint64_t music_first_sound(struct music_stage *s, unsigned call, uint64_t since)
{
	struct call *c = &s->calls[call];
	uint64_t at;

	pthread_mutex_lock(&s->lock);
	if (c->since != since) {
		c->since = since;
		c->first_sound = 0;
	}
	at = c->first_sound;
	pthread_mutex_unlock(&s->lock);
	return at;
}

uint64_t music_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ns_of_timespec(&ts);
}

void music_record(struct music_stage *s, unsigned call, unsigned seconds)
{
	struct call *c = &s->calls[call];
	uint8_t transport[FAR_END_KEY], dave[16];

	far_end_key(transport, call, 0);
	far_end_client_key(plane_far(s->plane), call, PLANE_USER, dave);
	pthread_mutex_lock(&s->lock);
	free(c->pcm);
	c->receiver = bare_receiver_free(c->receiver);
	c->cap = (size_t)seconds * MUSIC_RATE;
	c->n = c->sound_end = c->silences = c->trailing = 0;
	c->any = c->gap = false;
	c->pcm = malloc(c->cap * sizeof *c->pcm);
	if (!c->pcm)
		bench_die("out of memory");
	bare_receiver_alloc(&c->receiver, transport, dave, MUSIC_RATE);
	pthread_mutex_unlock(&s->lock);
}

const int16_t *music_recorded(struct music_stage *s, unsigned call, size_t *frames)
{
	const struct call *c = &s->calls[call];

	pthread_mutex_lock(&s->lock);
	if (c->gap)
		bench_die("a packet of call %u was lost on the way", call);
	*frames = c->sound_end;
	pthread_mutex_unlock(&s->lock);
	return c->pcm;
}

unsigned music_silences(struct music_stage *s, unsigned call)
{
	return s->calls[call].silences;
}

void music_tone(const int16_t *pcm, size_t n, double hz, double *amplitude, double *phase)
{
	double re = 0, im = 0;

	for (size_t i = 0; i < n; i++) {
		double x = pcm[i] / 32768.0, w = 2 * M_PI * hz * (double)i / MUSIC_RATE;

		re += x * cos(w);
		im += x * sin(w);
	}
	*amplitude = 2 * hypot(re, im) / (double)n;
	*phase = atan2(re, im);
}

/* ---- music ---- */

static void on_msg(const struct media_msg *msg, void *arg)
{
	struct music_stage *s = *(struct music_stage **)arg;
	const struct media_music_state *m = &msg->music_state;
	struct music_state state = {m->music, m->phase, m->position};

	if (msg->type != MEDIA_MUSIC_STATE || m->call >= FAR_END_CALLS)
		return;
	if (m->phase == MEDIA_MUSIC_PHASE_FAILED)
		bench_die("music of call %u: %.*s", m->call, (int)m->failure.n,
			  (const char *)m->failure.p);
	s->calls[m->call].state = state;
	if (s->h)
		s->h(m->call, &state, s->arg);
}

const char *music_make(struct music_stage *s, const char *name, const struct music_format *f,
		       struct sound sound)
{
	static char file[96];
	char path[192];

	snprintf(file, sizeof file, "%s.%s", name, f->ending);
	snprintf(path, sizeof path, "%s/%s", s->dir, file);
	sound.path = path;
	sound.format = f->format;
	sound.codec = f->codec;
	sound.rate = f->rate;
	sound.channels = 2;
	if (!sound_write(&sound))
		bench_die("%s cannot be made", file);
	return file;
}

static struct slice find_path(const struct music_stage *s, const char *name, char *buf, size_t size)
{
	if (!name)
		return slice_str("");
	if (*name != '/')
		return slice_str(name);
	snprintf(buf, size, "%s%s", s->origin, name);
	return slice_str(buf);
}

static uint8_t kind_of(const char *name)
{
	if (!name)
		return MEDIA_MUSIC_NONE;
	return *name == '/' ? MEDIA_MUSIC_HTTP : MEDIA_MUSIC_FILE;
}

static uint32_t play(struct music_stage *s, unsigned call, const char *name, uint64_t start,
		     uint16_t loudness)
{
	struct media_msg msg = {.type = MEDIA_MUSIC_PLAY};
	char url[256];

	msg.music_play = (struct media_music_play){.call = call,
						   .gen = 1,
						   .music = ++s->musics,
						   .kind = kind_of(name),
						   .path = find_path(s, name, url, sizeof url),
						   .start = start,
						   .gain = 1000,
						   .loudness = loudness,
						   .duck = DUCK,
						   .duck_attack_ms = 80,
						   .duck_hold_ms = 600,
						   .duck_release_ms = 600,
						   .bitrate = BITRATE};
	plane_send(s->plane, &msg);
	return s->musics;
}

uint32_t music_play(struct music_stage *s, unsigned call, const char *name, uint16_t loudness)
{
	return play(s, call, name, 0, loudness);
}

uint32_t music_play_at(struct music_stage *s, unsigned call, const char *name, uint64_t start)
{
	return play(s, call, name, start, 0);
}

uint32_t music_next(struct music_stage *s, unsigned call, const char *name, uint16_t loudness)
{
	struct media_msg msg = {.type = MEDIA_MUSIC_NEXT};
	char url[256];

	msg.music_next = (struct media_music_next){.call = call,
						   .gen = 1,
						   .music = ++s->musics,
						   .kind = kind_of(name),
						   .path = find_path(s, name, url, sizeof url),
						   .gain = 1000,
						   .loudness = loudness};
	plane_send(s->plane, &msg);
	return s->musics;
}

void music_stop(struct music_stage *s, unsigned call, uint32_t music)
{
	struct media_msg msg = {.type = MEDIA_MUSIC_STOP};

	msg.music_stop = (struct media_music_stop){.call = call, .gen = 1, .music = music};
	plane_send(s->plane, &msg);
}

const struct music_state *music_state(const struct music_stage *s, unsigned call)
{
	return &s->calls[call].state;
}

void music_stage_states(struct music_stage *s, music_state_h *h, void *arg)
{
	s->h = h;
	s->arg = arg;
}

/* ---- life ---- */

void music_stage_alloc(struct music_stage **out, unsigned calls, unsigned delay_ms)
{
	/* plane copies its conf, and its handlers run before this returns. */
	static struct music_stage *s;
	struct plane_conf conf = {.cpu = -1, .packeth = on_packet, .msgh = on_msg, .arg = &s};

	s = calloc(1, sizeof *s);
	if (!s)
		bench_die("out of memory");
	pthread_mutex_init(&s->lock, NULL);
	snprintf(s->dir, sizeof s->dir, "/tmp/parley-music-bench-XXXXXX");
	if (!mkdtemp(s->dir) || !web_open(&s->web, s->dir))
		bench_die("no folder, or no web server");
	web_set_delay(s->web, delay_ms);
	snprintf(s->origin, sizeof s->origin, "http://127.0.0.1:%u", web_server_port(s->web));
	conf.music_root = s->dir;
	conf.music_address = s->origin + strlen("http://");
	plane_alloc(&s->plane, &conf);
	plane_calls(s->plane, 0, calls);
	plane_run(s->plane, 500);
	*out = s;
}

struct music_stage *music_stage_free(struct music_stage *s)
{
	char command[96];

	plane_free(s->plane);
	web_close(s->web);
	for (unsigned i = 0; i < FAR_END_CALLS; i++) {
		free(s->calls[i].pcm);
		bare_receiver_free(s->calls[i].receiver);
	}
	snprintf(command, sizeof command, "rm -rf %s", s->dir);
	if (system(command))
		perror(command);
	free(s);
	return NULL;
}

struct plane *music_stage_plane(struct music_stage *s)
{
	return s->plane;
}

/* The same of all processes whose parent is this one, and of theirs. */
static uint64_t sum_of_children(int parent, uint64_t (*of)(int pid))
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	uint64_t sum = 0;

	while (d && (e = readdir(d))) {
		char path[300];
		int pid = 0, ppid = 0;
		FILE *f;

		snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
		f = fopen(path, "r");
		if (f && fscanf(f, "%d (%*[^)]) %*c %d", &pid, &ppid) == 2 && ppid == parent)
			sum += of(pid) + sum_of_children(pid, of);
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return sum;
}

uint64_t music_stage_sum(const struct music_stage *s, uint64_t (*of)(int pid))
{
	pid_t pid = plane_pid(s->plane);

	return of(pid) + sum_of_children(pid, of);
}

unsigned music_stage_requests(const struct music_stage *s)
{
	return web_requests(s->web);
}

void music_stage_address(const struct music_stage *s, const char *name, char *to, size_t size)
{
	bool web = *name == '/';

	snprintf(to, size, "%s%s%s", web ? s->origin : s->dir, web ? "" : "/", name);
}
