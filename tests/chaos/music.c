#include "tests/chaos/music.h"

#include "control/media/media.h"
#include "control/media/music.h"
#include "control/music/player.h"
#include "control/music/queue_document.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/base/wav.h"
#include "proto/media.h"
#include "tests/chaos/tone.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Each file holds whole periods of its tone. A track is longer than the two seconds that mediad
 * buffers, so that its decoder works while it plays. */
enum { RATE = 16000, FRAMES = CHAOS_TRACK_S * RATE, ASK_AGAIN_MS = 1000, JOINT_MS = 2000 };

_Static_assert(CHAOS_TRACK_S * 1000 == TONE_STEPS * TONE_STEP_MS, "a step comes twice in a track");

/* Each file is there three times: as it should be, and for plants with something missing or twice
 * at a place that no message tells. */
enum form { FORM_WHOLE, FORM_SKIPS, FORM_REPEATS, FORMS };

struct chaos_music {
	struct agent_state *st;
	enum chaos_who who;
	struct music_queue *queue;
	struct music_player player;
	struct media_call *call;
	uint64_t halted_at; /* ns; 0: it is not */
	bool lost;
};

const char *chaos_track_name(unsigned track)
{
	static const char *const names[TONE_TRACKS] = {"anchor", "meadow", "thunder"};

	return names[track];
}

static void name_file(char *to, size_t size, enum chaos_who who, unsigned track, enum form form)
{
	static const char *const forms[FORMS] = {"", "lacks", "again"};

	if (form == FORM_WHOLE)
		snprintf(to, size, "%s/%s.wav", chaos_who_name(who), chaos_track_name(track));
	else /* a name that nobody finds who looks for a track */
		snprintf(to, size, "%s/%s%u.wav", chaos_who_name(who), forms[form], track);
}

static void make_track(int16_t pcm[FRAMES], enum chaos_who who, unsigned track, enum form form)
{
	const size_t s = RATE;

	tone_make_track(pcm, FRAMES, RATE, who, track, 0);
	if (form == FORM_SKIPS) { /* the silence at the end tells nothing */
		tone_make_track(pcm + s, FRAMES - s, RATE, who, track, s + s / 2);
		memset(pcm + FRAMES - s / 2, 0, s / 2 * sizeof *pcm);
	} else if (form == FORM_REPEATS) {
		tone_make_track(pcm + 2 * s, FRAMES - 2 * s, RATE, who, track, s);
	}
}

static int write_file(const char *folder, enum chaos_who who, unsigned track, enum form form)
{
	static int16_t pcm[FRAMES];
	uint8_t header[WAV_HEADER];
	char name[64], path[240];
	FILE *f;
	bool ok;

	name_file(name, sizeof name, who, track, form);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	make_track(pcm, who, track, form);
	wav_header(header, RATE, 1, FRAMES);
	f = fopen(path, "w");
	if (!f)
		return errno;
	ok = fwrite(header, sizeof header, 1, f) == 1 && fwrite(pcm, sizeof pcm, 1, f) == 1;
	return fclose(f) || !ok ? EIO : 0;
}

int chaos_music_write(const char *folder)
{
	char below[240];
	int err = mkdir(folder, 0700) ? errno : 0;

	for (unsigned w = 0; w < CHAOS_PEOPLE && !err; w++) {
		snprintf(below, sizeof below, "%s/%s", folder, chaos_who_name((enum chaos_who)w));
		err = mkdir(below, 0700) ? errno : 0;
	}
	for (unsigned i = 0; i < CHAOS_PEOPLE * TONE_TRACKS && !err; i++)
		for (unsigned form = 0; form < FORMS && !err; form++)
			err = write_file(folder, (enum chaos_who)(i / TONE_TRACKS), i % TONE_TRACKS,
					 (enum form)form);
	return err;
}

/* ---- orders ---- */

/* Names another file in place of that of the order. */
static void replace_track(struct music_order *o, struct track *other, enum chaos_who who,
			  unsigned track, enum form form)
{
	if (!o->track)
		return;
	*other = *o->track;
	name_file(other->reference, sizeof other->reference, who, track, form);
	o->track = other;
}

static unsigned track_of(const struct track *t)
{
	unsigned track = 0;

	while (t && track < TONE_TRACKS && !strstr(t->reference, chaos_track_name(track)))
		track++;
	return t ? track : TONE_TRACKS;
}

/* Makes a mistake of the plants with an order. Returns false if it is not to be sent. */
static bool spoil(const struct chaos_music *m, struct music_order *o,
		  struct media_music_style *style, struct track *other)
{
	bool begins = o->kind == MUSIC_ORDER_PLAY;

	switch (atomic_load(&m->st->plant)) {
	case PLANT_NO_MUSIC:
		return false;
	case PLANT_MUSIC_AGAIN:
		o->position = begins ? 0 : o->position;
		break;
	case PLANT_MUSIC_AHEAD:
		o->position += begins ? MUSIC_FRAMES_PER_S : 0;
		break;
	case PLANT_TWO_TRACKS:
		style->crossfade_ms = JOINT_MS;
		break;
	case PLANT_OTHER_MUSIC:
		replace_track(o, other, (m->who + 1) % CHAOS_PEOPLE, 0, FORM_WHOLE);
		break;
	case PLANT_MUSIC_SKIPS:
		replace_track(o, other, m->who, track_of(o->track), FORM_SKIPS);
		break;
	case PLANT_MUSIC_REPEATS:
		replace_track(o, other, m->who, track_of(o->track), FORM_REPEATS);
		break;
	default:
		break;
	}
	return true;
}

static void perform(const struct music_order *order, void *arg)
{
	struct media_music_style style = {.duck = 150,
					  .duck_attack_ms = 80,
					  .duck_hold_ms = 600,
					  .duck_release_ms = 600,
					  .bitrate = 64000};
	struct chaos_music *m = arg;
	struct music_order o = *order;
	struct track other;

	if (o.kind == MUSIC_ORDER_PLAY)
		timeline_begin(&m->st->queue.timeline);
	if (m->call && spoil(m, &o, &style, &other))
		media_music_order(m->call, &o, &style);
}

/* ---- the queue ---- */

static int fill_queue(struct chaos_music *m)
{
	struct track t[TONE_TRACKS] = {0};
	int err = music_queue_alloc(&m->queue, 1, 1);

	for (unsigned i = 0; i < TONE_TRACKS; i++) {
		t[i].source = TRACK_LOCAL;
		name_file(t[i].reference, sizeof t[i].reference, m->who, i, FORM_WHOLE);
	}
	if (!err)
		err = music_queue_play(m->queue, t, TONE_TRACKS);
	if (!err)
		music_queue_set_loop(m->queue, MUSIC_LOOP_QUEUE);
	return err;
}

static int open_queue(struct chaos_music *m)
{
	const struct agent_queue *kept = &m->st->queue;
	unsigned newest = atomic_load(&kept->newest);

	if (!newest || atomic_load(&m->st->plant) == PLANT_QUEUE_FORGOTTEN)
		return fill_queue(m);
	return music_queue_read(&m->queue, kept->document[newest - 1]);
}

static void save_queue(struct chaos_music *m)
{
	struct agent_queue *kept = &m->st->queue;
	unsigned to = atomic_load(&kept->newest) == 1;
	char *text = music_queue_write(m->queue);

	if (text && strlen(text) < AGENT_QUEUE_MAX) {
		strcpy(kept->document[to], text);
		atomic_store(&kept->newest, to + 1);
	} else {
		log_warn("music_not_saved", "error=\"%s\"", strerror(text ? ENOSPC : ENOMEM));
	}
	free(text);
}

static void judge_queue(struct chaos_music *m)
{
	const struct track *t = music_queue_present(m->queue);
	uint64_t ms = music_queue_position(m->queue) / (MUSIC_FRAMES_PER_S / MS_PER_S);
	unsigned track = track_of(t);
	struct timespec now;
	enum timeline_fault fault;

	if (music_queue_count(m->queue) != TONE_TRACKS && !m->lost) {
		m->lost = true;
		atomic_fetch_add(&m->st->music_lost, 1);
		log_warn("music_lost", "tracks=%zu", music_queue_count(m->queue));
	}
	if (track == TONE_TRACKS)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	fault = timeline_note(&m->st->queue.timeline, TONE_TRACKS, CHAOS_TRACK_S * MS_PER_S, track,
			      ms, ns_of_timespec(&now) / NS_PER_MS);
	atomic_store(&m->st->music_at_ms, m->st->queue.timeline.at_ms);
	if (!fault)
		return;
	atomic_fetch_add(&m->st->music_misplaced, 1);
	log_warn("music_misplaced", "fault=%d track=%u at_ms=%llu", fault, track,
		 (unsigned long long)ms);
}

/* ---- coming and going ---- */

int chaos_music_alloc(struct chaos_music **out, enum chaos_who who, struct agent_state *st)
{
	struct chaos_music *m = calloc(1, sizeof *m);
	int err = m ? 0 : ENOMEM;

	if (!err) {
		m->st = st;
		m->who = who;
		err = open_queue(m);
	}
	if (err) {
		chaos_music_free(m);
		return err;
	}
	music_player_init(&m->player, m->queue, perform, m);
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
}

static void go_down(struct chaos_music *m)
{
	const struct track *next = music_queue_following(m->queue);

	music_player_down(&m->player);
	if (next && atomic_load(&m->st->plant) == PLANT_TRACK_LOST)
		music_queue_remove(m->queue, next->id);
}

static void take_call(struct chaos_music *m, unsigned phase)
{
	bool up = phase != MEDIA_PHASE_UNKNOWN && phase != MEDIA_PHASE_FAILED &&
		  phase != MEDIA_PHASE_CLOSED;

	if (!up)
		go_down(m);
	else if (!m->player.up)
		music_player_up(&m->player);
}

void chaos_music_take(struct chaos_music *m, struct media_call *call, const struct media_msg *msg)
{
	m->call = call;
	if (msg->type == MEDIA_CALL_STATE)
		take_call(m, msg->call_state.phase);
	else if (msg->type == MEDIA_MUSIC_STATE)
		take_state(m, &msg->music_state);
	else
		return;
	judge_queue(m);
	save_queue(m);
}

void chaos_music_leave(struct chaos_music *m)
{
	m->call = NULL;
	go_down(m);
	save_queue(m);
}

void chaos_music_tick(struct chaos_music *m, uint64_t now)
{
	if (!music_player_is_halted(&m->player))
		m->halted_at = 0;
	else if (!m->halted_at)
		m->halted_at = now;
	else if (now >= m->halted_at + ASK_AGAIN_MS * NS_PER_MS)
		music_player_restart(&m->player);
}
