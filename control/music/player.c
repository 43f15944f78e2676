#include "control/music/player.h"

#include <limits.h>
#include <string.h>

/* Frames that mediad may play between a report and the arrival of an order, with much to spare. */
enum { SOUGHT_LAG = 48000 };
/* A track that could not be prepared is tried again after 10, 20 and 40 s of the present one. */
enum { AHEAD_TRIES = 3, AHEAD_FRAMES = 10 * MUSIC_FRAMES_PER_S };

void music_player_init(struct music_player *p, struct music_queue *queue, music_order_h *h,
		       void *arg)
{
	*p = (struct music_player){.queue = queue, .h = h, .arg = arg};
}

static void order(const struct music_player *p, struct music_order o)
{
	o.volume = p->volume;
	p->h(&o, p->arg);
}

static bool wants_pause(const struct music_player *p)
{
	return p->held || music_queue_is_paused(p->queue);
}

/* Of no other music, not even of one that an earlier control had. */
static uint32_t next_number(struct music_player *p)
{
	music_queue_note_number(p->queue, music_queue_last_number(p->queue) + 1);
	return music_queue_last_number(p->queue);
}

static void order_play(struct music_player *p, const struct track *t)
{
	p->present = (struct music_told){.music = next_number(p), .entry = t->id};
	p->next = (struct music_told){0};
	p->ahead = (struct music_ahead){0};
	p->starts = music_queue_starts(p->queue);
	p->paused = wants_pause(p);
	p->still = false;
	p->sought = (struct music_sought){0};
	order(p, (struct music_order){.kind = MUSIC_ORDER_PLAY,
				      .music = p->present.music,
				      .track = t,
				      .position = music_queue_position(p->queue),
				      .paused = p->paused});
}

static void order_next(struct music_player *p, const struct track *t)
{
	if (t ? p->next.entry == t->id : !p->next.entry)
		return;
	p->next = (struct music_told){.music = next_number(p), .entry = t ? t->id : 0};
	order(p, (struct music_order){.kind = MUSIC_ORDER_NEXT,
				      .music = p->next.music,
				      .after = p->present.music,
				      .track = t});
	if (!t)
		p->next.music = 0;
}

/* The present music, and the one that crosses over into it. */
static void order_end(const struct music_player *p, uint32_t present)
{
	if (present && p->passing)
		order(p, (struct music_order){.kind = MUSIC_ORDER_STOP, .music = p->passing});
	if (present)
		order(p, (struct music_order){.kind = MUSIC_ORDER_STOP, .music = present});
}

/* Nothing may follow music that is stopped. */
static void order_stop(struct music_player *p)
{
	order_next(p, NULL);
	order_end(p, p->present.music);
	p->present = (struct music_told){0};
}

static void order_changes(struct music_player *p, bool gain)
{
	bool paused = wants_pause(p);

	if (paused != p->paused)
		order(p,
		      (struct music_order){.kind = paused ? MUSIC_ORDER_PAUSE : MUSIC_ORDER_RESUME,
					   .music = p->present.music});
	p->paused = paused;
	if (gain)
		order(p, (struct music_order){.kind = MUSIC_ORDER_GAIN, .music = p->present.music});
	if (gain && p->next.music)
		order(p, (struct music_order){.kind = MUSIC_ORDER_GAIN, .music = p->next.music});
}

/* The prepared music is the present one. */
static void promote_next(struct music_player *p)
{
	p->present = p->next;
	p->next = (struct music_told){0};
	p->ahead = (struct music_ahead){0};
	p->starts = music_queue_starts(p->queue);
	p->paused = p->still = false;
	p->sought = (struct music_sought){0};
}

/* The track that is wanted now stands ready: mediad goes on with it when the present one is
 * stopped, and opens nothing. A seek that is under way takes back what was prepared. */
static bool order_skip(struct music_player *p, const struct track *t, bool gain)
{
	const uint32_t present = p->present.music;

	if (!present || p->sought.entry || !p->next.music || p->next.entry != t->id ||
	    music_queue_position(p->queue))
		return false;
	promote_next(p);
	order_changes(p, gain);
	order_end(p, present);
	return true;
}

/* What is prepared: a station would be heard as old as it has waited. */
static const struct track *find_following(const struct music_player *p)
{
	const struct track *t = music_queue_following(p->queue);

	return t && t->source != TRACK_RADIO ? t : NULL;
}

void music_player_sync(struct music_player *p)
{
	const struct track *t = music_queue_present(p->queue);
	bool gain = p->volume != music_queue_volume(p->queue);

	if (!p->up || music_player_is_halted(p))
		return;
	p->volume = music_queue_volume(p->queue);
	if (!t)
		order_stop(p);
	else if (!p->present.music || p->present.entry != t->id ||
		 p->starts != music_queue_starts(p->queue)) {
		if (!order_skip(p, t, gain))
			order_play(p, t);
	} else {
		order_changes(p, gain);
	}
	if (t)
		order_next(p, find_following(p));
	music_queue_set_playing(p->queue, p->present.music, p->next.music);
}

static void order_seek(struct music_player *p)
{
	p->sought.ordered = true;
	p->sought.still = p->still;
	order(p, (struct music_order){.kind = MUSIC_ORDER_SEEK,
				      .music = p->present.music,
				      .position = p->sought.position});
}

/* Orders about music that was claimed may have been lost with a connection. */
void music_player_up(struct music_player *p)
{
	uint32_t sought = p->present.entry == p->sought.entry ? p->present.music : 0;

	p->up = true;
	if (p->present.music) {
		p->paused = !wants_pause(p);
		p->volume = UINT_MAX;
	}
	music_player_sync(p);
	if (sought && sought == p->present.music)
		order_seek(p);
	else
		p->sought = (struct music_sought){0};
}

void music_player_down(struct music_player *p)
{
	p->up = p->still = false;
	p->passing = 0;
	p->present = p->next = (struct music_told){0};
}

void music_player_restyle(struct music_player *p)
{
	if (p->up && p->present.music)
		p->volume = UINT_MAX;
	music_player_sync(p);
}

void music_player_hold(struct music_player *p, bool held)
{
	p->held = held;
	music_player_sync(p);
}

void music_player_seek(struct music_player *p, uint64_t position)
{
	const struct track *t = music_queue_present(p->queue);
	uint64_t from = p->sought.entry ? p->sought.from : music_queue_position(p->queue);

	music_queue_set_position(p->queue, position);
	if (!t || (p->up && !p->present.music))
		return;
	p->sought = (struct music_sought){
		.entry = t->id, .position = music_queue_position(p->queue), .from = from};
	if (p->up)
		order_seek(p);
}

void music_player_reopen(struct music_player *p, uint32_t music)
{
	if (music && music == p->present.music)
		p->present = (struct music_told){0};
	else if (music && music == p->next.music)
		p->next = (struct music_told){0};
	music_player_sync(p);
}

bool music_player_is_halted(const struct music_player *p)
{
	return p->failures >= MUSIC_FAILURES;
}

void music_player_restart(struct music_player *p)
{
	p->failures = p->failures_ahead = 0;
	music_player_sync(p);
}

static bool has_failed(const struct music_player *p, uint64_t requester)
{
	for (unsigned i = 0; i < p->n_failed; i++)
		if (p->failed[i] == requester)
			return true;
	return false;
}

static void note_failure(struct music_player *p, uint64_t requester)
{
	if (!p->failures)
		p->n_failed = 0;
	if (!has_failed(p, requester) && p->n_failed < MUSIC_FAILED_REQUESTERS)
		p->failed[p->n_failed++] = requester;
	p->failures++;
}

/* The tracks of somebody else go on when those of some have failed in a row. */
static void pass_requesters(struct music_player *p)
{
	const struct track *t;

	if (!music_player_is_halted(p) || p->n_failed == MUSIC_FAILED_REQUESTERS)
		return;
	for (size_t i = 0; (t = music_queue_at(p->queue, i)); i++)
		if (!has_failed(p, t->requester)) {
			p->failures = MUSIC_FAILURES - 1;
			p->passed = i;
			music_queue_bring(p->queue, t->id, 0);
			return;
		}
}

/* ---- tracks whose servers are not reached ---- */

static bool is_in_row(const struct music_row *row, uint32_t entry)
{
	for (unsigned i = 0; i < row->n; i++)
		if (row->of[i].entry == entry)
			return true;
	return false;
}

bool music_player_has_waited(const struct music_player *p, uint32_t entry)
{
	for (unsigned i = 0; i < 2 * MUSIC_ROW; i++)
		if (entry && p->missed[i] == entry)
			return true;
	return false;
}

/* Whether the present track may play later, when the network is back. Without others behind it,
 * there is nothing to go on with meanwhile, nor to lose. */
static bool may_wait(const struct music_player *p, const struct music_report *r)
{
	const struct track *t = music_queue_present(p->queue);

	return t && r->phase == MUSIC_PHASE_FAILED && r->fault == MUSIC_FAULT_NETWORK &&
	       r->music != p->sounded && !music_player_has_waited(p, t->id) &&
	       p->row.n < MUSIC_ROW && music_queue_count(p->queue) > 1;
}

static void postpone_present(struct music_player *p)
{
	struct music_row *row = &p->row;

	row->of[row->n].entry = music_queue_present(p->queue)->id;
	row->of[row->n].place = row->n + p->passed;
	row->of[row->n].waits = true;
	row->n++;
	music_queue_postpone(p->queue);
	if (is_in_row(row, music_queue_present(p->queue)->id))
		p->failures = MUSIC_FAILURES;
}

/* Of those that wait at the end. */
static void note_missed(struct music_player *p, const struct music_row *row)
{
	for (unsigned i = 0; i < row->n; i++)
		if (row->of[i].waits) {
			memmove(p->missed + 1, p->missed, sizeof p->missed - sizeof p->missed[0]);
			p->missed[0] = row->of[i].entry;
		}
}

/* Something plays: what failed before it gets one more chance. */
static void end_row(struct music_player *p)
{
	note_missed(p, &p->row);
	note_missed(p, &p->returned);
	p->row.n = p->returned.n = 0;
	p->passed = 0;
}

/* Nothing plays. Those that stood there at the last halt stay at the end: the next ones are tried.
 */
static void return_row(struct music_player *p)
{
	for (unsigned i = 0; i < p->row.n; i++)
		if (!is_in_row(&p->returned, p->row.of[i].entry)) {
			music_queue_bring(p->queue, p->row.of[i].entry, p->row.of[i].place);
			p->row.of[i].waits = false;
		}
	if (p->row.n)
		p->returned = p->row;
	p->row.n = 0;
	p->passed = 0;
}

/* The present music is over; mediad goes on with the prepared one by itself. */
static void finish_present(struct music_player *p, enum music_end end, bool waits)
{
	bool paused = music_queue_is_paused(p->queue), goes_on;
	const struct track *t = music_queue_present(p->queue);
	/* Somebody skipped it while mediad could not be told. */
	bool past = p->starts != music_queue_starts(p->queue);

	p->sought = (struct music_sought){0};
	if (end == MUSIC_FAILED && t && !past)
		note_failure(p, t->requester);
	else
		p->failures = p->failures_ahead = 0;
	if (waits && !past)
		postpone_present(p);
	else if (!past)
		music_queue_advance(p->queue, end);
	pass_requesters(p);
	t = music_queue_present(p->queue);
	goes_on = t && p->next.music && p->next.entry == t->id;
	if (music_player_is_halted(p) && !goes_on)
		return_row(p);
	/* It was over before the pause reached mediad, or could not be opened. */
	music_queue_set_paused(p->queue, paused);
	p->present = (struct music_told){0};
	if (goes_on)
		promote_next(p);
	music_player_sync(p);
}

static void note_sound(struct music_player *p, uint32_t music)
{
	p->failures = 0;
	p->sounded = music;
	end_row(p);
}

/* The track may play yet: mediad has no decoder for any, or only not for its middle. */
static bool spares_track(const struct music_player *p, const struct music_report *r)
{
	return r->phase == MUSIC_PHASE_FAILED &&
	       (r->fault == MUSIC_FAULT_MACHINE ||
		(r->fault == MUSIC_FAULT_START && music_queue_position(p->queue)));
}

/* The present music is over and its track is still the present one. */
static void retain_present(struct music_player *p, const struct music_report *r)
{
	uint32_t next = p->next.music;

	if (r->fault == MUSIC_FAULT_START) {
		music_queue_set_position(p->queue, 0);
		music_player_reopen(p, r->music);
		return;
	}
	p->failures = MUSIC_FAILURES;
	p->sought = (struct music_sought){0};
	p->present = p->next = (struct music_told){0};
	music_queue_set_playing(p->queue, 0, 0);
	if (next)
		order(p, (struct music_order){.kind = MUSIC_ORDER_STOP, .music = next});
}

/* The prepared music has begun while the present one crosses over into it. */
static void begin_next(struct music_player *p)
{
	uint32_t passing = p->present.music;

	if (passing)
		finish_present(p, MUSIC_ENDED, false);
	p->passing = passing;
}

/* A network that is down for a moment costs no track its place. */
static void note_unreached(struct music_player *p, uint32_t entry)
{
	if (p->ahead.entry != entry)
		p->ahead = (struct music_ahead){.entry = entry};
	p->ahead.from = music_queue_position(p->queue);
}

/* The present music plays on. Somebody may have sought back in it. */
static void prepare_again(struct music_player *p)
{
	struct music_ahead *a = &p->ahead;
	uint64_t at = music_queue_position(p->queue);

	if (!a->entry || p->next.music || p->next.entry != a->entry || a->tries == AHEAD_TRIES)
		return;
	if (at < a->from)
		a->from = at;
	if (at - a->from < (uint64_t)AHEAD_FRAMES << a->tries)
		return;
	a->tries++;
	p->next.entry = 0;
	music_player_sync(p);
}

/* A looped track that cannot be prepared may still play from its start, and so may each one after
 * a row of others that could not, and one that is perhaps not to blame. */
static void drop_next(struct music_player *p, const struct music_report *r)
{
	uint32_t entry = p->next.entry;

	p->next.music = 0;
	if (r->fault == MUSIC_FAULT_NETWORK) {
		note_unreached(p, entry);
		return;
	}
	p->ahead = (struct music_ahead){0};
	if (r->fault == MUSIC_FAULT_MACHINE || entry == p->present.entry ||
	    ++p->failures_ahead >= MUSIC_FAILURES)
		return;
	p->next.entry = 0;
	music_queue_remove(p->queue, entry);
	music_player_sync(p);
}

/* ---- music that an earlier control has started, as mediad tells it before `up` ---- */

static void order_claim(const struct music_player *p, uint32_t music)
{
	order(p, (struct music_order){.kind = MUSIC_ORDER_CLAIM, .music = music});
}

/* It has ended, or failed, while no control was there: the prepared one went on by itself. */
static void pass_over(struct music_player *p, enum music_end end, bool waits)
{
	uint32_t prepared = music_queue_prepared(p->queue);

	p->sought = (struct music_sought){0};
	if (waits)
		music_queue_postpone(p->queue);
	else
		music_queue_advance(p->queue, end);
	music_queue_set_playing(p->queue, prepared, 0);
}

static bool claim_prepared(struct music_player *p, const struct music_report *r)
{
	const struct track *t = music_queue_following(p->queue);

	if (!t)
		return false;
	p->next = (struct music_told){.music = r->music, .entry = t->id};
	order_claim(p, r->music);
	return true;
}

/* True if mediad has got the order of a seek: it opens the new place or plays there. One that it
 * refused is over when it plays on: the reports of a second may have been under way. */
static bool ends_seek(const struct music_player *p, const struct music_report *r)
{
	const struct music_sought *s = &p->sought;

	if (!s->ordered || r->position == s->position)
		return s->ordered;
	if (r->phase != MUSIC_PHASE_PLAYING && r->phase != MUSIC_PHASE_PAUSED)
		return false;
	/* Music that was paused says nothing by itself: this is the answer. */
	if (p->up)
		return (s->still && r->phase == MUSIC_PHASE_PAUSED) || r->position < s->from ||
		       r->position >= s->from + SOUGHT_LAG;
	/* It has played on for as long as there was no connection. */
	return s->position < s->from ? r->position < s->from : r->position >= s->position;
}

/* Not while a seek is under way, or if it was lost or made while mediad was away. */
static void note_position(struct music_player *p, const struct music_report *r)
{
	bool sought = p->sought.entry == p->present.entry;

	if (sought && !ends_seek(p, r)) {
		if (!p->up)
			p->sought.from = r->position;
		return;
	}
	if (sought)
		p->sought = (struct music_sought){0};
	music_queue_set_position(p->queue, r->position);
}

static bool claim_present(struct music_player *p, const struct music_report *r)
{
	const struct track *t = music_queue_present(p->queue);

	if (!t)
		return false;
	p->present = (struct music_told){.music = r->music, .entry = t->id};
	if (p->next.music == r->music)
		p->next = (struct music_told){0};
	p->starts = music_queue_starts(p->queue);
	p->paused = r->phase == MUSIC_PHASE_PAUSED;
	note_position(p, r);
	order_claim(p, r->music);
	return true;
}

/* Returns false for music that nobody wants. The states come in any order, and those of music that
 * is over come last. */
static bool inherit_music(struct music_player *p, const struct music_report *r)
{
	bool begun = r->phase == MUSIC_PHASE_PLAYING || r->phase == MUSIC_PHASE_PAUSED;
	bool over = r->phase == MUSIC_PHASE_ENDED || r->phase == MUSIC_PHASE_FAILED;
	/* What was prepared follows the music that played; a track that has come between them since
	 * was not heard. */
	uint32_t playing = music_queue_playing(p->queue),
		 prepared = playing ? music_queue_prepared(p->queue) : 0;

	/* The present one crosses over into it. */
	if (!p->up && r->music == prepared && begun) {
		p->passing = playing;
		p->present = (struct music_told){0};
	}
	if (!p->up && r->music == prepared && !begun && !over && !p->next.music)
		return claim_prepared(p, r);
	if (p->up || p->present.music)
		return over;
	if (over && r->music == playing && (r->stopped || spares_track(p, r))) {
		if (r->fault == MUSIC_FAULT_START)
			music_queue_set_position(p->queue, 0);
		music_queue_set_playing(p->queue, 0, prepared);
	} else if (over && r->music == playing) {
		pass_over(p, r->phase == MUSIC_PHASE_ENDED ? MUSIC_ENDED : MUSIC_FAILED,
			  may_wait(p, r));
	}
	if (over)
		return true;
	if (r->music == prepared && begun)
		pass_over(p, MUSIC_ENDED, false);
	else if (r->music != playing)
		return false;
	return claim_present(p, r);
}

void music_player_report(struct music_player *p, const struct music_report *r)
{
	bool over = r->phase == MUSIC_PHASE_ENDED || r->phase == MUSIC_PHASE_FAILED;

	if (!r->music)
		return;
	if (!p->up)
		music_queue_note_number(p->queue, r->music);
	if (r->music == p->present.music) {
		p->still = r->phase == MUSIC_PHASE_PAUSED;
		if (over && spares_track(p, r)) {
			retain_present(p, r);
			return;
		}
		/* mediad took it back, for another decoder, before it knew of the skip to it. */
		if (over && r->stopped) {
			music_player_reopen(p, r->music);
			return;
		}
		if (over) {
			finish_present(p,
				       r->phase == MUSIC_PHASE_ENDED ? MUSIC_ENDED : MUSIC_FAILED,
				       may_wait(p, r));
			return;
		}
		if (r->phase == MUSIC_PHASE_PLAYING)
			note_sound(p, r->music);
		if (r->phase == MUSIC_PHASE_PLAYING || r->phase == MUSIC_PHASE_PAUSED ||
		    (r->phase == MUSIC_PHASE_OPENING && p->sought.entry))
			note_position(p, r);
		if (r->phase == MUSIC_PHASE_PLAYING)
			prepare_again(p);
	} else if (r->music == p->next.music) {
		if (r->phase == MUSIC_PHASE_FAILED)
			drop_next(p, r);
		if (r->phase == MUSIC_PHASE_READY)
			p->failures_ahead = 0;
		if (r->phase == MUSIC_PHASE_PLAYING)
			begin_next(p);
		/* A seek of the present one took it back. */
		if (r->phase == MUSIC_PHASE_ENDED) {
			p->next = (struct music_told){0};
			music_player_sync(p);
		}
	} else if (r->music == p->passing) {
		if (over)
			p->passing = 0;
		else if (!p->up)
			order_claim(p, r->music);
	} else if (!inherit_music(p, r)) {
		order(p, (struct music_order){.kind = MUSIC_ORDER_STOP, .music = r->music});
	}
}
