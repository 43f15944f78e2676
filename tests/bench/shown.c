/* From a picture of a shared screen to the model: frame_to_model_p99_ms, the time from the POST of
 * a JPEG of 960 by 540 by the page of a share to its image on the socket of a realtime model, which
 * is asked as soon as the picture can be shown.
 *
 * The web server, the shares, imaged with its jail and the realtime engine are those of control; a
 * child process is the page, and a script in this process is the model (brain.h), which counts a
 * picture as there when it has read the whole item with the image.
 *
 *   BENCH_FRAMES=n      pictures (300) */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jpeglib.h>

#include "control/engine/roles.h"
#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/web/web.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/brain.h"
#include "tests/bench/rooms.h"
#include "tests/bench/share_server.h"
#include "tests/random.h"

enum {
	FRAMES = 300,
	FRAMES_MAX = 2000,
	WIDTH = 960,
	HEIGHT = 540,
	GLYPH = 8,
	QUALITY = 60,
	JPEG_MAX = 1 << 20,
	PICTURES = 16,
	EVERY_MS = 120,
	MEMBER = 3,
	LIMIT_S = 120
};

static struct {
	struct env *env;
	struct share_server server;
	struct roles *roles;
	struct brain *brain;
	struct ws_ctx *ws;
	struct http *http;
	struct tmr *limit;
	unsigned frames, turn;
	uint64_t *posted; /* by the page, of each picture */
	char token[SHARE_SECRET_SIZE], key[SHARE_SECRET_SIZE];
} w;

/* ---- pictures ---- */

static struct {
	uint8_t *p;
	unsigned long n;
} picture[PICTURES];

/* A page of text: rows of small glyphs of a seed. */
static void paint(uint8_t *grey, uint64_t seed)
{
	memset(grey, 245, (size_t)WIDTH * HEIGHT);
	for (unsigned y = GLYPH; y + 2 * GLYPH < HEIGHT; y += 2 * GLYPH)
		for (unsigned x = GLYPH; x + GLYPH < WIDTH; x += GLYPH) {
			uint64_t bits = random_next(&seed) & random_next(&seed);

			if (random_below(&seed, 6) == 0)
				continue; /* a space */
			for (unsigned i = 0; i < GLYPH * GLYPH; i++)
				if (bits >> i & 1)
					grey[(y + i / GLYPH) * WIDTH + x + i % GLYPH] = 30;
		}
}

static void make_picture(unsigned k)
{
	struct jpeg_compress_struct j;
	struct jpeg_error_mgr errors;
	uint8_t *grey = malloc((size_t)WIDTH * HEIGHT), *row = malloc((size_t)WIDTH * 3);

	if (!grey || !row)
		bench_die("out of memory");
	paint(grey, k + 1);
	j.err = jpeg_std_error(&errors);
	jpeg_create_compress(&j);
	jpeg_mem_dest(&j, &picture[k].p, &picture[k].n);
	j.image_width = WIDTH;
	j.image_height = HEIGHT;
	j.input_components = 3;
	j.in_color_space = JCS_RGB;
	jpeg_set_defaults(&j);
	jpeg_set_quality(&j, QUALITY, TRUE);
	jpeg_start_compress(&j, TRUE);
	while (j.next_scanline < HEIGHT) {
		for (unsigned x = 0; x < WIDTH; x++)
			memset(row + 3 * (size_t)x, grey[j.next_scanline * WIDTH + x], 3);
		jpeg_write_scanlines(&j, &row, 1);
	}
	jpeg_finish_compress(&j);
	jpeg_destroy_compress(&j);
	free(grey);
	free(row);
}

/* ---- the page, a process ---- */

/* One picture; its answer comes back within one read. */
static void post_picture(int fd, unsigned k)
{
	unsigned port = web_port(w.server.web);
	char head[512], answer[2048];
	int n = snprintf(head, sizeof head,
			 "POST /api/voice/share-session/%s/frame HTTP/1.1\r\n"
			 "Host: 127.0.0.1:%u\r\nOrigin: http://127.0.0.1:%u\r\n"
			 "Cookie: parley_share=%s\r\nContent-Type: image/jpeg\r\n"
			 "Content-Length: %lu\r\n\r\n",
			 w.token, port, port, w.key, picture[k % PICTURES].n);
	ssize_t got;

	w.posted[k] = bench_clock();
	share_server_write(fd, head, (size_t)n);
	share_server_write(fd, picture[k % PICTURES].p, picture[k % PICTURES].n);
	got = read(fd, answer, sizeof answer - 1);
	answer[got > 0 ? got : 0] = '\0';
	if (strncmp(answer, "HTTP/1.1 200", 12) != 0)
		bench_die("a picture was refused: %s", answer);
}

static pid_t start_page(void)
{
	const struct timespec pause = {0, EVERY_MS * 1000000L};
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = share_server_dial(&w.server, NULL);
	for (unsigned k = 0; k < w.frames; k++) {
		post_picture(fd, k);
		nanosleep(&pause, NULL);
	}
	_exit(0);
}

/* ---- control ---- */

/* A picture can be shown: the model is asked with it. */
static void on_frame(const struct bus_event *ev, void *arg)
{
	struct vision_picture shown;
	struct engine_message m = {
		.role = ENGINE_USER, .speaker = "Bob", .text = "What do you see?"};
	struct engine_ask ask = {.instructions = "", .messages = &m, .n = 1};

	(void)ev, (void)arg;
	if (vision_latest(w.server.vision, SHARE_GUILD, SHARE_CHANNEL, &shown, 1) != 1)
		bench_die("no picture is shown");
	m.images = &shown.image;
	m.n_images = 1;
	ask.turn = ++w.turn;
	roles_ask(w.roles, ENGINE_USE_VOICE, 0, &ask);
}

static void on_roles(const struct roles_event *ev, void *arg)
{
	size_t n;

	(void)arg;
	if (ev->engine->type == ENGINE_FAILED)
		bench_die("the model failed: %.*s", (int)ev->engine->data.n,
			  (const char *)ev->engine->data.p);
	if (ev->engine->type != ENGINE_DONE)
		return;
	roles_over(w.roles, ev->turn);
	brain_asked(w.brain, &n);
	if (n == w.frames)
		env_stop(w.env);
}

static void set_up_provider(void)
{
	struct settings_records *r = &w.server.settings->records;
	struct provider_record *p = &r->provider[r->n[RECORD_KIND_PROVIDER]++];

	*p = (struct provider_record){.dialect = DIALECT_OPENAI};
	snprintf(p->name, sizeof p->name, "eyes");
	snprintf(p->url, sizeof p->url, "%s", brain_url(w.brain));
	*strstr(p->url, "/realtime") = '\0';
	snprintf(r->role[ROLE_VOICE].name[0], RECORD_NAME_MAX, "eyes");
	r->role[ROLE_VOICE].n = 1;
	w.server.settings->share_frames_per_minute = UINT32_MAX;
	settings_resolve(w.server.settings);
}

static void open_share(void)
{
	const struct share_owner owner = {SHARE_GUILD, SHARE_CHANNEL, MEMBER, MEMBER, false};
	uint32_t share;

	if (vision_offer(w.server.vision, &owner, w.token) ||
	    vision_open(w.server.vision, w.token, 0, w.key, &share))
		bench_die("there is no share");
}

static void on_limit(void *arg)
{
	size_t n;

	(void)arg;
	brain_asked(w.brain, &n);
	bench_die("%zu of %u pictures reached the model", n, w.frames);
}

static void open_control(void)
{
	BENCH_OK(settings_alloc(&w.server.settings));
	brain_alloc(&w.brain, w.env, "", 200, false);
	set_up_provider();
	share_server_open(&w.server, w.env);
	BENCH_OK(ws_ctx_alloc(&w.ws, w.env, NULL));
	BENCH_OK(http_alloc(&w.http, w.env, NULL, "bench"));
	BENCH_OK(roles_alloc(&w.roles, &(struct roles_conf){.env = w.env,
							    .ws = w.ws,
							    .http = w.http,
							    .settings = w.server.settings,
							    .h = on_roles}));
	BENCH_OK(bus_subscribe(w.server.bus, BUS_MASK(EVENT_SHARE_FRAME), on_frame, NULL));
	open_share();
}

int main(void)
{
	double ms[FRAMES_MAX];
	const struct brain_asked *asked;
	size_t n;
	pid_t page;

	w.frames = rooms_number("BENCH_FRAMES", FRAMES, FRAMES_MAX);
	w.posted = mmap(NULL, FRAMES_MAX * sizeof *w.posted, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w.posted == MAP_FAILED)
		bench_die("out of memory");
	for (unsigned k = 0; k < PICTURES; k++)
		make_picture(k);
	BENCH_OK(env_alloc(&w.env, &(struct env_conf){.loop = true}));
	open_control();
	BENCH_OK(tmr_alloc(&w.limit, w.env, on_limit, NULL));
	tmr_start(w.limit, LIMIT_S * NS_PER_S);
	page = start_page();
	env_run(w.env);
	waitpid(page, NULL, 0);
	asked = brain_asked(w.brain, &n);
	for (size_t k = 0; k < n; k++) {
		if (!asked[k].image)
			bench_die("a question came without its picture");
		ms[k] = (double)(asked[k].image - w.posted[k]) / 1e6;
	}
	bench_raw("frame_to_model_p99_ms", ms, n);
	bench_row_more("frame_to_model_p99_ms", bench_quantile(ms, n, 0.99), "ms",
		       "\"p50\": %.2f, \"max\": %.2f, \"n\": %zu, \"bytes\": %lu",
		       bench_quantile(ms, n, 0.5), bench_quantile(ms, n, 1), n, picture[0].n);
	roles_free(w.roles);
	share_server_close(&w.server);
	return 0;
}
