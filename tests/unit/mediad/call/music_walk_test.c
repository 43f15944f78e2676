/* Random walks of both halves of music: control's player with its queue, and the music of a call in
 * mediad, over a link that delays what it carries and breaks. Sources open late, fail, and their
 * decoders die; people skip, seek, pause, also for minutes, and change the queue; control is
 * restarted. Whatever happens, each track is heard or skipped by a person, and in the end mediad
 * plays what control believes. */
#include "control/music/player.h"
#include "control/music/queue_document.h"
#include "tests/random.h"
#include "tests/unit/control/music/tracks.h"
#include "tests/unit/mediad/call/music_rig.h"

enum { STEPS = 40, WAITING = 256, ENTRIES = 200, LENGTH = 96000, ORPHAN_MS = 2000, MUSICS = 256 };

struct walk {
	uint64_t chance;
	struct music_queue *queue;
	struct music_player player;
	bool connected, greeted; /* greeted: SYNCED waits behind what mediad has told */
	uint16_t crossfade_ms;
	bool fails; /* sources may fail, and decoders die */
	uint64_t orphans_at;
	struct {
		struct music_order order;
		char path[sizeof((struct track *)0)->reference];
	} down[WAITING]; /* to mediad */
	struct music_report up[WAITING];
	unsigned n_down, n_up;
	bool heard[ENTRIES];
	unsigned entry_of[MUSICS]; /* by number of the music */
	unsigned added, removed;
	char letter;
	const char *fault;
};

static void check(struct walk *w, bool is, const char *fault)
{
	if (!is && !w->fault)
		w->fault = fault;
}

/* ---- the link ---- */

static void note_order(const struct music_order *o, void *arg)
{
	struct walk *w = arg;

	if (!w->connected || w->n_down == WAITING)
		return;
	w->down[w->n_down].order = *o;
	snprintf(w->down[w->n_down++].path, sizeof w->down[0].path, "%s",
		 o->track ? o->track->reference : "");
}

static void run_order(struct walk *w, const struct music_order *o, const char *path)
{
	struct call *c = &music_rig.c;
	struct media_music_play play = {.music = o->music,
					.kind = MEDIA_MUSIC_FILE,
					.path = slice_str(path),
					.start = o->position,
					.gain = (uint16_t)o->volume,
					.paused = o->paused,
					.fade_ms = 100,
					.duck = 150,
					.bitrate = 96000};
	struct media_music_next next = {.music = o->music,
					.kind = *path ? MEDIA_MUSIC_FILE : MEDIA_MUSIC_NONE,
					.path = slice_str(path),
					.gain = (uint16_t)o->volume,
					.crossfade_ms = w->crossfade_ms,
					.after = o->after};
	struct media_music_seek seek = {.music = o->music, .position = o->position};
	struct media_music_gain gain = {
		.music = o->music, .target = (uint16_t)o->volume, .fade_ms = 100};

	if (*path && o->music < MUSICS)
		w->entry_of[o->music] = (unsigned)strtoul(path, NULL, 10);
	switch (o->kind) {
	case MUSIC_ORDER_PLAY:
		call_music_play(c, &play);
		break;
	case MUSIC_ORDER_NEXT:
		call_music_next(c, &next);
		break;
	case MUSIC_ORDER_PAUSE:
	case MUSIC_ORDER_RESUME:
		call_music_pause(c, o->music, o->kind == MUSIC_ORDER_PAUSE, 100);
		break;
	case MUSIC_ORDER_SEEK:
		call_music_seek(c, &seek);
		break;
	case MUSIC_ORDER_GAIN:
		call_music_gain(c, &gain);
		break;
	case MUSIC_ORDER_STOP:
		call_music_stop(c, o->music, 100);
		break;
	case MUSIC_ORDER_CLAIM:
		call_music_claim(c, o->music);
		break;
	}
}

/* What mediad has told since the last look. */
static void take_states(struct walk *w)
{
	for (unsigned i = 0; i < music_rig.n_states; i++) {
		static const enum music_phase phases[] = {
			[MEDIA_MUSIC_PHASE_OPENING] = MUSIC_PHASE_OPENING,
			[MEDIA_MUSIC_PHASE_READY] = MUSIC_PHASE_READY,
			[MEDIA_MUSIC_PHASE_PLAYING] = MUSIC_PHASE_PLAYING,
			[MEDIA_MUSIC_PHASE_PAUSED] = MUSIC_PHASE_PAUSED,
			[MEDIA_MUSIC_PHASE_ENDED] = MUSIC_PHASE_ENDED,
			[MEDIA_MUSIC_PHASE_FAILED] = MUSIC_PHASE_FAILED};
		const struct media_music_state *s = &music_rig.states[i].s;

		check(w, w->n_up < WAITING, "the walk reads too seldom");
		if (s->phase == MEDIA_MUSIC_PHASE_PLAYING && s->music < MUSICS)
			w->heard[w->entry_of[s->music]] = true;
		if (w->connected && w->n_up < WAITING)
			w->up[w->n_up++] =
				(struct music_report){.music = s->music,
						      .phase = phases[s->phase],
						      .position = s->position,
						      .stopped = s->reason == MEDIA_REASON_STOPPED};
	}
	music_rig.n_states = 0;
}

/* mediad runs up to n of the orders that wait. */
static void deliver_down(struct walk *w, unsigned n)
{
	n = n < w->n_down ? n : w->n_down;
	for (unsigned i = 0; i < n; i++)
		run_order(w, &w->down[i].order, w->down[i].path);
	w->n_down -= n;
	memmove(w->down, w->down + n, w->n_down * sizeof w->down[0]);
	take_states(w);
}

/* A report ends a track only if it was heard. */
static void hear_report(struct walk *w, const struct music_report *r)
{
	const struct track *before = music_queue_present(w->queue), *after;
	uint32_t id = before ? before->id : 0;

	music_player_report(&w->player, r);
	after = music_queue_present(w->queue);
	if (id && (!after || after->id != id) && !w->fails)
		check(w, w->heard[id], "a track is passed over unheard");
}

static void deliver_up(struct walk *w, unsigned n)
{
	n = n < w->n_up ? n : w->n_up;
	for (unsigned i = 0; i < n; i++)
		hear_report(w, &w->up[i]);
	w->n_up -= n;
	memmove(w->up, w->up + n, w->n_up * sizeof w->up[0]);
	if (!w->n_up && w->greeted) {
		w->greeted = false;
		music_player_up(&w->player);
	}
}

static void lose_link(struct walk *w)
{
	w->connected = w->greeted = false;
	w->n_down = w->n_up = 0;
	music_player_down(&w->player);
}

static void connect_link(struct walk *w)
{
	w->connected = w->greeted = true;
	music_unclaim_all(&music_rig.c);
	music_send_all(&music_rig.c);
	w->orphans_at = music_rig.now + ORPHAN_MS * NS_PER_MS;
	take_states(w);
}

/* ---- decoders ---- */

static void note_heard(struct walk *w)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++) {
		const struct music_track *t = music_rig.c.tracks[i];

		if (t && t->played)
			w->heard[strtoul(t->source.path, NULL, 10)] = true;
	}
}

static void open_sources(struct walk *w, bool all)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++) {
		const struct music_track *t = music_rig.c.tracks[i];

		if (!t || !t->decoded || t->lane || t->waits ||
		    (!all && random_below(&w->chance, 3)))
			continue;
		if (w->fails && !all && random_below(&w->chance, 5) == 0)
			music_rig_ended(t->decoded, DECODER_REASON_NOT_FOUND);
		else
			music_rig_opened(t->music, t->start, LENGTH);
	}
}

/* Lanes that waited for others may have theirs by now. */
static void feed_lanes(void)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++) {
		const struct music_track *t = music_rig.c.tracks[i];

		if (t && t->lane && !music_rig.left[t->lane] && !t->played &&
		    t->phase != MEDIA_MUSIC_PHASE_ENDED)
			music_rig.left[t->lane] = LENGTH - t->start;
	}
}

static void run_ms(struct walk *w, unsigned ms)
{
	for (unsigned t = 0; t < ms; t += 20) {
		feed_lanes();
		music_rig_run_ms(20);
		note_heard(w);
		take_states(w);
		if (w->orphans_at && music_rig.now >= w->orphans_at) {
			w->orphans_at = 0;
			music_stop_unclaimed(&music_rig.c);
		}
	}
}

/* ---- people ---- */

static void add_track(struct walk *w, bool next)
{
	struct track t = local_track((char[]){w->letter, '\0'}, ALICE);
	size_t first;

	if (++w->added >= ENTRIES)
		return;
	w->letter = w->letter == 'z' ? 'a' : (char)(w->letter + 1);
	snprintf(t.reference, sizeof t.reference, "%u", w->added); /* its entry's id */
	CHECK_INT(music_queue_add(w->queue, &t, 1, next ? 0 : MUSIC_QUEUE_END, &first), 0);
}

static void act(struct walk *w)
{
	size_t n = music_queue_count(w->queue);
	struct music_queue *q = w->queue;
	unsigned what = random_below(&w->chance, 12);

	if (what < 2) {
		music_queue_set_paused(q, what);
	} else if (what < 4) {
		music_player_seek(&w->player, random_below(&w->chance, LENGTH));
	} else if (what < 6) {
		music_queue_advance(q, MUSIC_SKIPPED);
	} else if (what < 8) {
		add_track(w, what == 6);
	} else if (what == 8 && n > 2) {
		music_queue_move(q, music_queue_at(q, 2)->id, 1);
	} else if (what == 9 && n > 1) {
		w->removed++;
		music_queue_remove(q, music_queue_at(q, 1)->id);
	} else if (what == 10) {
		music_queue_set_volume(q, random_below(&w->chance, MUSIC_VOLUME_FULL));
	} else if (what == 11) {
		music_queue_previous(q);
	}
	music_player_restart(&w->player);
}

static void restart_control(struct walk *w)
{
	char *text = music_queue_write(w->queue);

	lose_link(w);
	w->queue = music_queue_free(w->queue);
	CHECK_INT(music_queue_read(&w->queue, text), 0);
	free(text);
	music_player_init(&w->player, w->queue, note_order, w);
}

static void kill_decoder(struct walk *w)
{
	unsigned i = random_below(&w->chance, MUSIC_MIXER_LANES);
	const struct music_track *t = music_rig.c.tracks[i];
	uint64_t fed;

	if (!t || !t->lane || !t->decoded || t->start + 72000 >= LENGTH)
		return;
	fed = LENGTH - t->start - music_rig.left[t->lane];
	music_rig.written = fed > 72000 ? fed : 72000;
	music_rig.left[t->lane] = music_rig.written - fed;
	music_rig_ended(t->decoded, DECODER_REASON_CRASHED);
	music_rig.written = 0;
}

/* Minutes of a pause pass. */
static void rest(void)
{
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++)
		if (music_rig.c.tracks[i])
			music_rig.c.tracks[i]->paused_at = music_rig.now - MUSIC_RESTS_S * NS_PER_S;
	music_rest_paused(&music_rig.c);
}

static void step(struct walk *w)
{
	unsigned what = random_below(&w->chance, 20);

	if (what < 9)
		act(w);
	else if (what == 9 && w->connected)
		lose_link(w);
	else if (what == 10)
		restart_control(w);
	else if (!w->connected && what < 16)
		connect_link(w);
	else if (what >= 18)
		rest();
	if (random_below(&w->chance, 2))
		run_ms(w, 20 * random_below(&w->chance, 20));
	open_sources(w, false);
	take_states(w);
	deliver_down(w, random_below(&w->chance, 8));
	deliver_up(w, random_below(&w->chance, 60));
}

/* ---- the end ---- */

static void check_agreement(struct walk *w)
{
	const struct track *present = music_queue_present(w->queue),
			   *next = music_queue_following(w->queue);
	const struct music_track *t = music_rig_track_of(w->player.present.music), *played;

	if (!present || music_player_is_halted(&w->player))
		return;
	check(w, t && w->player.present.music, "control believes in music that mediad has not");
	if (!t || w->fault)
		return;
	check(w, strtoul(t->source.path, NULL, 10) == present->id, "mediad plays another track");
	for (played = t; played->replaces && played->phase != MEDIA_MUSIC_PHASE_PLAYING;)
		played = played->replaces;
	check(w, played->phase == MEDIA_MUSIC_PHASE_PLAYING && !t->paused, "it does not play");
	check(w, t->gain == music_gain_of((uint16_t)music_queue_volume(w->queue), 0),
	      "it has another volume");
	check(w, t->claimed, "nobody has claimed it");
	t = next ? music_rig_track_of(w->player.next.music) : NULL;
	check(w, !next || (t && strtoul(t->source.path, NULL, 10) == next->id),
	      "mediad has prepared another track");
	for (unsigned i = 0; i < MUSIC_MIXER_LANES; i++) {
		t = music_rig.c.tracks[i];
		check(w,
		      !t || t->music == w->player.present.music ||
			      t->music == w->player.next.music || !t->music,
		      "mediad has music that nobody wants");
	}
}

static void come_to_rest(struct walk *w)
{
	if (!w->connected)
		connect_link(w);
	add_track(w, false);
	add_track(w, false);
	music_queue_set_paused(w->queue, false);
	music_player_restart(&w->player);
	for (int i = 0; i < 12; i++) {
		deliver_up(w, WAITING);
		deliver_down(w, WAITING);
		open_sources(w, true);
		run_ms(w, 40);
	}
	/* Until it is neither at the beginning nor at the end of a track. */
	for (int i = 0; i < 120; i++) {
		uint64_t at = music_queue_position(w->queue);

		deliver_up(w, WAITING);
		deliver_down(w, WAITING);
		open_sources(w, true);
		run_ms(w, 20);
		if (i > 20 && at > LENGTH / 10 && at < LENGTH / 2)
			break;
	}
	deliver_up(w, WAITING);
	check_agreement(w);
	if (!w->fails)
		check(w,
		      music_queue_count(w->queue) + music_queue_played_count(w->queue) +
				      w->removed ==
			      w->added,
		      "a track has left the queue");
}

static void walk(uint64_t seed)
{
	static struct walk w;

	w = (struct walk){.chance = seed,
			  .letter = 'a',
			  .fails = seed % 4 == 3,
			  .crossfade_ms = seed % 3 == 1 ? 400 : 0};
	music_rig_setup();
	CHECK_INT(music_queue_alloc(&w.queue, GUILD, CHANNEL), 0);
	for (int i = 0; i < 4; i++)
		add_track(&w, false);
	music_player_init(&w.player, w.queue, note_order, &w);
	connect_link(&w);
	for (unsigned i = 0; i < STEPS && !w.fault; i++) {
		step(&w);
		if (w.fails && random_below(&w.chance, 4) == 0)
			kill_decoder(&w);
	}
	if (!w.fault)
		come_to_rest(&w);
	if (w.fault)
		printf("seed %llu: %s\n", (unsigned long long)seed, w.fault);
	music_queue_free(w.queue);
	music_rig_finish();
	CHECK(!w.fault);
}

TEST(music_of_both_halves_agrees_on_random_walks)
{
	for (uint64_t seed = 0; seed < 100; seed++)
		walk(seed);
}
