#include "tests/chaos/music.h"

#include "control/media/media.h"
#include "control/media/music.h"
#include "control/music/player.h"
#include "ipc/log.h"
#include "proto/base/wav.h"
#include "proto/media.h"
#include "tests/chaos/tone.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The loop is heard as one tone: the file holds whole periods of it. */
enum { RATE = 48000, FRAMES = 3 * RATE };

struct chaos_music {
	struct agent_state *st;
	struct music_queue *queue;
	struct music_player player;
	struct media_call *call;
	uint64_t position; /* of the newest report */
};

static int write_file(const char *folder, enum chaos_who who)
{
	static int16_t pcm[FRAMES];
	uint8_t header[WAV_HEADER];
	char path[200];
	FILE *f;
	bool ok;

	snprintf(path, sizeof path, "%s/%s.wav", folder, chaos_who_name(who));
	tone_make(pcm, FRAMES, RATE, who, 0);
	wav_header(header, RATE, 1, FRAMES);
	f = fopen(path, "w");
	if (!f)
		return errno;
	ok = fwrite(header, sizeof header, 1, f) == 1 && fwrite(pcm, sizeof pcm, 1, f) == 1;
	return fclose(f) || !ok ? EIO : 0;
}

int chaos_music_write(const char *folder)
{
	int err = 0;

	for (unsigned w = 0; w < CHAOS_PEOPLE && !err; w++)
		err = write_file(folder, (enum chaos_who)w);
	return err;
}

static void perform(const struct music_order *order, void *arg)
{
	static const struct media_music_style style = {.duck = 150,
						       .duck_attack_ms = 80,
						       .duck_hold_ms = 600,
						       .duck_release_ms = 600,
						       .bitrate = 64000};
	struct chaos_music *m = arg;

	if (m->call)
		media_music_order(m->call, order, &style);
}

int chaos_music_alloc(struct chaos_music **out, enum chaos_who who, struct agent_state *st)
{
	struct chaos_music *m = calloc(1, sizeof *m);
	struct track t = {.source = TRACK_LOCAL};
	int err = m ? music_queue_alloc(&m->queue, 1, 1) : ENOMEM;

	if (!err) {
		m->st = st;
		snprintf(t.reference, sizeof t.reference, "%s.wav", chaos_who_name(who));
		music_player_init(&m->player, m->queue, perform, m);
		err = music_queue_play(m->queue, &t, 1);
	}
	if (err) {
		chaos_music_free(m);
		return err;
	}
	music_queue_set_loop(m->queue, MUSIC_LOOP_TRACK);
	*out = m;
	return 0;
}

struct chaos_music *chaos_music_free(struct chaos_music *m)
{
	if (m)
		music_queue_free(m->queue);
	free(m);
	return NULL;
}

static void take_state(struct chaos_music *m, const struct media_music_state *s)
{
	struct music_report r;

	if (!media_music_report(&r, s))
		return;
	music_player_report(&m->player, &r);
	if (r.phase == MUSIC_PHASE_FAILED) {
		atomic_fetch_add(&m->st->music_failures, 1);
		log_warn("music_failed", "music=%u failure=%.*s text=\"%.*s\"", s->music,
			 (int)s->failure.n, (const char *)s->failure.p, (int)s->text.n,
			 (const char *)s->text.p);
	}
	if (r.phase == MUSIC_PHASE_PLAYING && r.position != m->position)
		atomic_fetch_add(&m->st->music_reports, 1);
	m->position = r.position;
}

static void take_call(struct chaos_music *m, unsigned phase)
{
	bool up = phase != MEDIA_PHASE_UNKNOWN && phase != MEDIA_PHASE_FAILED &&
		  phase != MEDIA_PHASE_CLOSED;

	if (!up)
		music_player_down(&m->player);
	else if (!m->player.up)
		music_player_up(&m->player);
}

void chaos_music_take(struct chaos_music *m, struct media_call *call, const struct media_msg *msg)
{
	m->call = call;
	if (!call)
		music_player_down(&m->player);
	else if (msg->type == MEDIA_CALL_STATE)
		take_call(m, msg->call_state.phase);
	else if (msg->type == MEDIA_MUSIC_STATE)
		take_state(m, &msg->music_state);
}
