/* mediad's side of the decoders with the real decoderd, on a loop as mediad's. */
#include "mediad/music/decoders.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/tmr.h"
#include "mediad/music/track_ring.h"
#include "proto/base/time.h"
#include "tests/decoder/deck.h"
#include "tests/decoder/formats.h"
#include "tests/test.h"

enum { PATIENCE_S = 60, LOOK_MS = 5 };

struct scene {
	struct deck deck; /* for its folder */
	struct env *env;
	struct tmr *look, *patience;
	struct decoders *d;
	uint64_t track;
	struct played played;
	bool late;
};

static void on_event(const struct decoder_msg *msg, void *arg)
{
	struct scene *s = arg;

	if (msg->type == DECODER_OPENED) {
		s->played.has_opened = true;
		s->played.opened = msg->opened;
	} else if (msg->type == DECODER_ENDED) {
		s->played.has_ended = true;
		s->played.reason = msg->reason;
	}
}

/* Opens the track once decoderd is ready, and reads it as an audio thread would. */
static void on_look(void *arg)
{
	struct scene *s = arg;
	struct decoder_source source = {.kind = DECODER_FILE};
	struct track_ring *ring = decoders_ring(s->d, s->track);
	int16_t pcm[2 * 4800];
	size_t got = 1;

	snprintf(source.path, sizeof source.path, "%s", formats[2].name);
	if (!s->track)
		decoders_open(s->d, &source, 0, 0, on_event, s, &s->track);
	while (ring && got && !track_ring_read(ring, pcm, 4800, &got))
		s->played.frames += got;
	if (ring && track_ring_ended(ring))
		env_stop(s->env);
	else
		tmr_start(s->look, LOOK_MS * NS_PER_MS);
}

static void on_late(void *arg)
{
	struct scene *s = arg;

	s->late = true;
	env_stop(s->env);
}

static bool open_scene(struct scene *s)
{
	const struct env_conf ec = {.loop = true};
	char program[512], *slash;
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 16);
	const char *roots[] = {s->deck.dir};
	struct decoders_conf conf = {
		.program = program, .roots = roots, .n_roots = 1, .log_level = "warn"};

	*s = (struct scene){0};
	program[n > 0 ? n : 0] = '\0';
	slash = strrchr(program, '/');
	strcpy(slash ? slash : program, "/../decoderd");
	if (!deck_open(&s->deck) || !format_write(&s->deck, &formats[2], 2) ||
	    env_alloc(&s->env, &ec))
		return false;
	conf.env = s->env;
	return !tmr_alloc(&s->look, s->env, on_look, s) &&
	       !tmr_alloc(&s->patience, s->env, on_late, s) && !decoders_alloc(&s->d, &conf);
}

static void close_scene(struct scene *s)
{
	decoders_free(s->d);
	tmr_free(s->look);
	tmr_free(s->patience);
	env_free(s->env);
	deck_close(&s->deck);
}

TEST(decoders_play_a_file_with_the_real_program)
{
	static struct scene s;
	bool ok = open_scene(&s);

	if (ok) {
		tmr_start(s.look, LOOK_MS * NS_PER_MS);
		tmr_start(s.patience, PATIENCE_S * NS_PER_S);
		env_run(s.env);
		decoders_close(s.d, s.track);
	}
	ok = ok && !s.late && decoders_ring(s.d, s.track) == NULL;
	close_scene(&s);
	CHECK(ok);
	CHECK(s.played.has_opened);
	CHECK_INT(s.played.frames, format_frames(&formats[2]));
	CHECK_STR(s.played.opened.artist, "An artist");
}
