/* What people ask of a jukebox: rights, votes, and the change of the queue. */
#include <errno.h>
#include <stdlib.h>

#include "control/jukebox/inside.h"
#include "control/media/music.h"
#include "control/music_sources/music_sources.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/log.h"

/* What one request is about, between its steps. */
struct work {
	struct jukebox *j;
	const struct jukebox_request *r;
	struct jukebox_answer *a;
	bool dj;    /* has no share of the queue but all of it */
	bool waits; /* PLAY may not end the present track: it comes next */
};

static void note_track(struct work *w, const struct track *t)
{
	w->a->has_track = t != NULL;
	if (t)
		w->a->track = *t;
}

static void note_present(struct work *w)
{
	note_track(w, music_queue_present(w->j->queue));
}

/* The entry that the request names; NULL: it is neither present nor waiting. */
static const struct track *named_track(const struct work *w)
{
	const struct music_queue *q = w->j->queue;

	if (!w->r->entry)
		return music_queue_present(q);
	return music_queue_at(q, music_queue_find(q, w->r->entry));
}

/* ---- acts ---- */

/* How many tracks this person may still have in the queue. The one that PLAY ends does not count.
 */
static size_t share_left(const struct work *w)
{
	const struct music_queue *q = w->j->queue;
	size_t share = w->j->conf.settings->music_share, own = 0;
	bool ends = w->r->act == MUSIC_ACT_PLAY && !w->waits;

	if (!share || !w->r->user || w->dj)
		return SIZE_MAX;
	for (size_t i = ends; i < music_queue_count(q); i++)
		own += music_queue_at(q, i)->requester == w->r->user;
	return own < share ? share - own : 0;
}

static bool is_own(const struct work *w, const struct track *t)
{
	return t && t->requester == w->r->user;
}

/* Tracks of others wait, and the person has no rights over them. */
static bool is_bound(const struct work *w)
{
	const struct music_queue *q = w->j->queue;

	if (!w->r->user || w->dj || w->j->conf.settings->music_control == MUSIC_CONTROL_EVERYONE)
		return false;
	for (size_t i = 1; i < music_queue_count(q); i++)
		if (!is_own(w, music_queue_at(q, i)))
			return true;
	return false;
}

/* The person's own track plays after another one of theirs: a third would keep the turn for ever.
 */
static bool has_had_turn(const struct work *w)
{
	const struct music_queue *q = w->j->queue;

	return is_own(w, music_queue_present(q)) && is_own(w, music_queue_played(q, 0));
}

/* One track of a member may stand before those of others; more of theirs go to the end. */
static enum music_turn find_turn(const struct work *w)
{
	const struct music_queue *q = w->j->queue;
	bool taken = w->r->n != 1;

	if (!is_bound(w))
		return MUSIC_TURN_FREE;
	for (size_t i = 1; i < music_queue_count(q); i++)
		taken |= is_own(w, music_queue_at(q, i));
	return taken ? MUSIC_TURN_TAKEN : has_had_turn(w) ? MUSIC_TURN_HAD : MUSIC_TURN_FREE;
}

/* Of several tracks the first takes the place of the member's own one, and passes those of others
 * in doing so. *n becomes the number that was added. */
static int play_tracks(const struct work *w, const struct track *tracks, size_t *n)
{
	size_t now = is_bound(w) ? 1 : *n, place;
	int err = music_queue_play(w->j->queue, tracks, now);

	w->a->turn = now < *n ? MUSIC_TURN_TAKEN : MUSIC_TURN_FREE;
	if (!err && now < *n &&
	    music_queue_add(w->j->queue, tracks + now, *n - now, MUSIC_QUEUE_END, &place))
		*n = now;
	return err;
}

/* Neither half may read it: a playlist names whatever it likes, and mediad says so in its turn. */
static bool may_read(const struct jukebox *j, const struct track *t)
{
	return j->conf.sources && music_sources_may_read(j->conf.sources, t->reference);
}

/* What mediad is known not to play is refused now: the person would read that it plays. */
static int find_lack(const struct work *w)
{
	static const int errors[] = {[MEDIA_MUSIC_LACKS_DECODERS] = ENODEV,
				     [MEDIA_MUSIC_LACKS_FOLDER] = ENXIO,
				     [MEDIA_MUSIC_LACKS_ADDRESS] = EADDRNOTAVAIL};
	struct jukebox *j = w->j;
	enum media_music_lack lack = MEDIA_MUSIC_LACKS_NOTHING;
	const struct track *t = w->r->tracks;

	for (size_t i = 0; i < w->r->n && !lack; i++) {
		const struct media_folder *folder =
			t[i].source == TRACK_LOCAL && j->conf.sources
				? music_sources_folder(j->conf.sources, t[i].root)
				: NULL;

		lack = media_music_find_lack(j->call, &t[i], folder);
		if (lack == MEDIA_MUSIC_LACKS_ADDRESS && !may_read(j, &t[i]))
			lack = MEDIA_MUSIC_LACKS_NOTHING;
	}
	if (lack && !(j->lacks_told & 1u << lack))
		log_warn("music_refused", "guild=%llu lacks=%s hint=\"%s\"",
			 (unsigned long long)j->conf.guild, media_music_lack_name(lack),
			 media_music_hint(j->call, lack));
	j->lacks_told |= 1u << lack;
	return errors[lack];
}

/* Of a long list as many as there is room for. */
static int add_tracks(struct work *w)
{
	const struct jukebox_request *r = w->r;
	size_t room = MUSIC_QUEUE_WAITING - music_queue_count(w->j->queue), share = share_left(w);
	size_t n = r->n < room ? r->n : room;
	size_t place = w->waits ? 0 : r->place;
	struct track *own;
	int err;

	if (!r->n || !r->tracks)
		return EINVAL;
	err = find_lack(w);
	if (err)
		return err;
	if (!n || !share)
		return n ? EDQUOT : ENOSPC;
	n = n < share ? n : share;
	own = calloc(n, sizeof *own);
	if (!own)
		return ENOMEM;
	for (size_t i = 0; i < n; i++) {
		own[i] = r->tracks[i];
		own[i].requester = r->user;
	}
	if (r->act == MUSIC_ACT_PLAY && !w->waits) {
		err = play_tracks(w, own, &n);
	} else {
		w->a->turn = place == MUSIC_QUEUE_END ? MUSIC_TURN_FREE : find_turn(w);
		err = music_queue_add(w->j->queue, own, n, w->a->turn ? MUSIC_QUEUE_END : place,
				      &w->a->place);
	}
	free(own);
	w->a->n = err ? 0 : n;
	if (!err)
		note_track(w, music_queue_at(w->j->queue, w->a->place));
	return err;
}

static int remove_entry(struct work *w)
{
	note_track(w, named_track(w));
	return music_queue_remove(w->j->queue, w->a->track.id);
}

/* Passing over tracks of others takes a member's only one, as coming next does. */
static bool may_move(const struct work *w)
{
	const struct music_queue *q = w->j->queue;
	size_t from = music_queue_find(q, w->r->entry), own = 0, passed = 0;

	if (!w->r->user || w->dj || w->j->conf.settings->music_control == MUSIC_CONTROL_EVERYONE)
		return true;
	for (size_t i = 1; i < music_queue_count(q); i++) {
		bool theirs = music_queue_at(q, i)->requester == w->r->user;

		own += theirs;
		passed += !theirs && i >= w->r->place && i < from;
	}
	return !passed || own == 1;
}

static int move_entry(struct work *w)
{
	int err;

	note_track(w, named_track(w));
	err = music_queue_move(w->j->queue, w->a->track.id, w->r->place);
	w->a->place = music_queue_find(w->j->queue, w->a->track.id);
	return err;
}

static int skip_present(struct work *w)
{
	note_present(w);
	music_queue_advance(w->j->queue, MUSIC_SKIPPED);
	return 0;
}

static int pause_queue(struct work *w)
{
	bool pause = w->r->act == MUSIC_ACT_PAUSE;
	bool halted = !pause && music_player_is_halted(&w->j->player);

	note_present(w);
	if (pause == music_queue_is_paused(w->j->queue) && !halted)
		return EALREADY;
	music_queue_set_paused(w->j->queue, pause);
	return 0;
}

static int seek_present(struct work *w)
{
	note_present(w);
	if (w->j->fixed && w->j->fixed == w->j->player.present.music)
		return ENOTSUP;
	if (w->a->has_track && w->a->track.duration_ms &&
	    w->r->position > w->a->track.duration_ms * MUSIC_FRAMES_PER_S / 1000)
		return ERANGE;
	music_player_seek(&w->j->player, w->r->position);
	return 0;
}

static int go_back(struct work *w)
{
	if (!music_queue_previous(w->j->queue))
		return ENOENT;
	note_present(w);
	return 0;
}

static int jump_to_entry(struct work *w)
{
	int err = music_queue_jump(w->j->queue, w->r->entry);

	note_present(w);
	return err;
}

static int stop_queue(struct work *w)
{
	note_present(w);
	w->a->n = music_queue_count(w->j->queue);
	music_queue_stop(w->j->queue);
	return 0;
}

static int clear_queue(struct work *w)
{
	w->a->n = music_queue_clear(w->j->queue, 0);
	return 0;
}

static int shuffle_queue(struct work *w)
{
	uint64_t seed;

	if (!music_queue_present(w->j->queue))
		return ENOENT;
	env_random(w->j->conf.env, &seed, sizeof seed);
	music_queue_shuffle(w->j->queue, seed);
	return 0;
}

static int set_loop(struct work *w)
{
	if ((unsigned)w->r->loop >= MUSIC_LOOP_COUNT)
		return EINVAL;
	music_queue_set_loop(w->j->queue, w->r->loop);
	return 0;
}

static int set_volume(struct work *w)
{
	music_queue_set_volume(w->j->queue, w->r->volume);
	return 0;
}

/* about: what the request needs, and whose track decides about rights. */
enum about { NOTHING, PRESENT, NAMED };
static const struct {
	int (*act)(struct work *w); /* NULL: only judged */
	enum about about;
	bool restarts; /* a person wants music to go on */
} acts[MUSIC_ACT_COUNT] = {
	[MUSIC_ACT_PLAY] = {add_tracks, NOTHING, true},
	[MUSIC_ACT_QUEUE_ADD] = {add_tracks, NOTHING, true},
	[MUSIC_ACT_REMOVE] = {remove_entry, NAMED, false},
	[MUSIC_ACT_MOVE] = {move_entry, NAMED, false},
	[MUSIC_ACT_SKIP] = {skip_present, PRESENT, true},
	[MUSIC_ACT_PAUSE] = {pause_queue, PRESENT, false},
	[MUSIC_ACT_RESUME] = {pause_queue, PRESENT, true},
	[MUSIC_ACT_SEEK] = {seek_present, PRESENT, false},
	[MUSIC_ACT_PREVIOUS] = {go_back, NOTHING, true},
	[MUSIC_ACT_JUMP] = {jump_to_entry, NAMED, true},
	[MUSIC_ACT_STOP] = {stop_queue, PRESENT, false},
	[MUSIC_ACT_CLEAR] = {clear_queue, NOTHING, false},
	[MUSIC_ACT_SHUFFLE] = {shuffle_queue, NOTHING, false},
	[MUSIC_ACT_LOOP] = {set_loop, NOTHING, false},
	[MUSIC_ACT_VOLUME] = {set_volume, NOTHING, false},
};

/* ---- rights ---- */

static size_t list_listeners(const struct jukebox *j, uint64_t to[JUKEBOX_LISTENERS])
{
	return j->conf.listenersh ? j->conf.listenersh(to, JUKEBOX_LISTENERS, j->conf.arg) : 0;
}

static enum music_verdict vote_to_skip(struct work *w)
{
	uint64_t listeners[JUKEBOX_LISTENERS];
	size_t n = list_listeners(w->j, listeners);
	uint64_t start = music_queue_starts(w->j->queue);

	w->a->tally = music_vote_skip(&w->j->votes, start, w->r->user, listeners, n);
	return w->a->tally.passed ? MUSIC_ALLOWED : MUSIC_NEEDS_VOTE;
}

static enum music_verdict judge(struct work *w, const struct track *about)
{
	enum music_control control = (enum music_control)w->j->conf.settings->music_control;
	const struct track *present = music_queue_present(w->j->queue);
	struct music_person person = {.user = w->r->user};
	enum music_verdict verdict;

	if (!w->r->user)
		return MUSIC_ALLOWED;
	if (w->j->conf.personh)
		w->j->conf.personh(&person, w->r->user, w->j->conf.arg);
	w->dj = music_policy_is_dj(&person);
	verdict = music_policy_judge(control, w->r->act, &person, about ? about->requester : 0);
	if (verdict == MUSIC_ALLOWED && w->r->act == MUSIC_ACT_MOVE && !may_move(w)) {
		w->a->turn = MUSIC_TURN_TAKEN;
		return MUSIC_NEEDS_DJ;
	}
	if (w->r->act == MUSIC_ACT_PLAY && present)
		w->waits = (has_had_turn(w) && is_bound(w)) ||
			   music_policy_judge(control, MUSIC_ACT_SKIP, &person,
					      present->requester) != MUSIC_ALLOWED;
	return verdict == MUSIC_NEEDS_VOTE ? vote_to_skip(w) : verdict;
}

int jukebox_do(struct jukebox *j, const struct jukebox_request *r, struct jukebox_answer *a)
{
	struct work w = {.j = j, .r = r, .a = a};
	const struct track *about;
	int err;

	*a = (struct jukebox_answer){0};
	if ((unsigned)r->act >= MUSIC_ACT_COUNT)
		return EINVAL;
	if (!j->call)
		return ENOTCONN;
	about = acts[r->act].about == PRESENT ? music_queue_present(j->queue)
		: acts[r->act].about == NAMED ? named_track(&w)
					      : NULL;
	if (acts[r->act].about != NOTHING && !about)
		return ENOENT;
	/* A late request about another track than the present one. */
	if (r->act == MUSIC_ACT_SKIP && about && r->entry && r->entry != about->id)
		return ENOENT;
	a->verdict = judge(&w, about);
	if (a->verdict != MUSIC_ALLOWED || !acts[r->act].act)
		return 0;
	err = acts[r->act].act(&w);
	if (err)
		return err;
	if (acts[r->act].restarts)
		music_player_restart(&j->player);
	else
		music_player_sync(&j->player);
	jukebox_settle(j);
	return 0;
}

struct music_tally jukebox_votes(const struct jukebox *j)
{
	uint64_t start = j->call ? music_queue_starts(j->queue) : 0;
	uint64_t listeners[JUKEBOX_LISTENERS];

	if (!j->call || !music_queue_present(j->queue) || j->votes.start != start)
		return (struct music_tally){0};
	return music_votes_count(&j->votes, start, listeners, list_listeners(j, listeners));
}

void jukebox_listeners_changed(struct jukebox *j)
{
	if (!jukebox_votes(j).passed)
		return;
	music_queue_advance(j->queue, MUSIC_SKIPPED);
	music_player_restart(&j->player);
	jukebox_settle(j);
}
