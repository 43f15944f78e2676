#include "control/music/queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/music/queue_inside.h"

static const char *const loops[] = {
#define L(NAME, name) [MUSIC_LOOP_##NAME] = name,
	MUSIC_LOOPS(L)
#undef L
};

const char *music_loop_name(enum music_loop loop)
{
	return (unsigned)loop < MUSIC_LOOP_COUNT ? loops[loop] : "";
}

bool music_loop_parse(enum music_loop *loop, const char *name)
{
	for (unsigned i = 0; i < MUSIC_LOOP_COUNT; i++)
		if (strcmp(loops[i], name) == 0) {
			*loop = (enum music_loop)i;
			return true;
		}
	return false;
}

int music_queue_alloc(struct music_queue **out, uint64_t guild, uint64_t channel)
{
	struct music_queue *q = calloc(1, sizeof *q);

	if (!q)
		return ENOMEM;
	q->guild = guild;
	q->channel = channel;
	q->next_id = 1;
	q->volume = MUSIC_VOLUME_FULL;
	*out = q;
	return 0;
}

void music_queue_succeed(struct music_queue *q, const struct music_queue *before)
{
	music_queue_set_volume(q, before->volume);
	music_queue_note_number(q, before->last_number);
	q->next_id = before->next_id;
}

struct music_queue *music_queue_free(struct music_queue *q)
{
	for (size_t i = 0; q && i < q->n; i++)
		free(q->tracks[i]);
	free(q);
	return NULL;
}

static void start_present(struct music_queue *q, size_t at)
{
	q->at = at;
	q->position = 0;
	q->paused = false;
	q->starts++;
	q->revision++;
}

static void reverse_tracks(struct track **tracks, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct track *t = tracks[i];

		tracks[i] = tracks[n - 1 - i];
		tracks[n - 1 - i] = t;
	}
}

/* Moves the first k of n tracks behind the others. */
static void rotate_tracks(struct track **tracks, size_t n, size_t k)
{
	reverse_tracks(tracks, k);
	reverse_tracks(tracks + k, n - k);
	reverse_tracks(tracks, n);
}

/* Frees the tracks from one index up to another, and closes the gap. */
static void drop_tracks(struct music_queue *q, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		free(q->tracks[i]);
	rotate_tracks(&q->tracks[from], q->n - from, to - from);
	q->n -= to - from;
	if (q->at >= to)
		q->at -= to - from;
	else if (q->at > from)
		q->at = from;
}

static void note_left(struct music_queue *q, uint32_t id)
{
	if (q->n_left == MUSIC_QUEUE_HISTORY)
		memmove(q->left, q->left + 1, --q->n_left * sizeof *q->left);
	q->left[q->n_left++] = id;
}

/* Makes the track at this place the present one. Those before it go to the history, or to the end
 * of a queue that loops. */
static void start_place(struct music_queue *q, size_t place)
{
	size_t count = q->n - q->at;

	if (count && place)
		note_left(q, q->tracks[q->at]->id);
	if (q->loop == MUSIC_LOOP_QUEUE && count) {
		rotate_tracks(&q->tracks[q->at], count, place % count);
		start_present(q, q->at);
	} else {
		start_present(q, q->at + place);
	}
	if (q->at > MUSIC_QUEUE_HISTORY)
		drop_tracks(q, 0, q->at - MUSIC_QUEUE_HISTORY);
}

/* What a source claims; 0: it says nothing that can be true. */
static uint64_t bound_duration(uint64_t ms)
{
	return ms <= (uint64_t)TRACK_DURATION_MAX_S * 1000 ? ms : 0;
}

static int insert_tracks(struct music_queue *q, const struct track *tracks, size_t n, size_t at)
{
	size_t made = 0;

	if (!n || q->next_id > UINT32_MAX - MUSIC_QUEUE_WAITING)
		return EINVAL;
	if (n > MUSIC_QUEUE_WAITING || q->n - q->at > MUSIC_QUEUE_WAITING - n)
		return ENOSPC;
	for (; made < n; made++) {
		struct track *t = malloc(sizeof *t);

		if (!t)
			break;
		*t = tracks[made];
		t->id = q->next_id + (uint32_t)made;
		t->duration_ms = bound_duration(t->duration_ms);
		q->tracks[q->n + made] = t;
	}
	if (made < n) {
		while (made)
			free(q->tracks[q->n + --made]);
		return ENOMEM;
	}
	rotate_tracks(&q->tracks[at], q->n - at + n, q->n - at);
	q->next_id += (uint32_t)n;
	q->n += n;
	q->revision++;
	return 0;
}

int music_queue_add(struct music_queue *q, const struct track *tracks, size_t n, size_t place,
		    size_t *first)
{
	bool idle = q->at == q->n;
	size_t at = place > q->n - q->at ? q->n : q->at + place;
	int err;

	/* The present track keeps its place. */
	if (!idle && at == q->at)
		at++;
	err = insert_tracks(q, tracks, n, at);
	if (err)
		return err;
	if (idle)
		start_present(q, at);
	*first = at - q->at;
	return 0;
}

int music_queue_add_next(struct music_queue *q, const struct track *tracks, size_t n, size_t *first)
{
	return music_queue_add(q, tracks, n, 0, first);
}

int music_queue_play(struct music_queue *q, const struct track *tracks, size_t n)
{
	size_t first;
	int err = music_queue_add_next(q, tracks, n, &first);

	if (err)
		return err;
	start_place(q, first);
	return 0;
}

size_t music_queue_find(const struct music_queue *q, uint32_t id)
{
	for (size_t i = q->at; i < q->n; i++)
		if (q->tracks[i]->id == id)
			return i - q->at;
	return MUSIC_QUEUE_END;
}

int music_queue_move(struct music_queue *q, uint32_t id, size_t place)
{
	size_t from = music_queue_find(q, id), last = q->n - q->at - 1;

	if (from == MUSIC_QUEUE_END || from == 0)
		return ENOENT;
	place = place < 1 ? 1 : place > last ? last : place;
	from += q->at;
	place += q->at;
	if (from < place)
		rotate_tracks(&q->tracks[from], place - from + 1, 1);
	else
		rotate_tracks(&q->tracks[place], from - place + 1, from - place);
	q->revision++;
	return 0;
}

int music_queue_remove(struct music_queue *q, uint32_t id)
{
	size_t place = music_queue_find(q, id);

	if (place == MUSIC_QUEUE_END)
		return ENOENT;
	if (place == 0 && q->loop != MUSIC_LOOP_QUEUE) {
		music_queue_advance(q, MUSIC_SKIPPED);
		return 0;
	}
	drop_tracks(q, q->at + place, q->at + place + 1);
	if (place == 0)
		start_present(q, q->at);
	q->revision++;
	return 0;
}

void music_queue_postpone(struct music_queue *q)
{
	if (q->at == q->n)
		return;
	rotate_tracks(&q->tracks[q->at], q->n - q->at, 1);
	start_present(q, q->at);
}

int music_queue_bring(struct music_queue *q, uint32_t id, size_t place)
{
	size_t from = music_queue_find(q, id);

	if (from == MUSIC_QUEUE_END)
		return ENOENT;
	if (from && place)
		return music_queue_move(q, id, place);
	if (from) {
		rotate_tracks(&q->tracks[q->at], from + 1, from);
		start_present(q, q->at);
	}
	return 0;
}

int music_queue_jump(struct music_queue *q, uint32_t id)
{
	size_t place = music_queue_find(q, id);

	if (place == MUSIC_QUEUE_END)
		return ENOENT;
	start_place(q, place);
	return 0;
}

size_t music_queue_clear(struct music_queue *q, uint64_t requester)
{
	size_t before = q->n;

	for (size_t i = q->n; i > q->at + 1; i--)
		if (!requester || q->tracks[i - 1]->requester == requester)
			drop_tracks(q, i - 1, i);
	q->revision += before != q->n;
	return before - q->n;
}

void music_queue_stop(struct music_queue *q)
{
	music_queue_clear(q, 0);
	if (q->at < q->n) {
		q->at = q->n;
		start_place(q, 0);
	}
}

/* splitmix64 */
static uint64_t draw_number(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void music_queue_shuffle(struct music_queue *q, uint64_t seed)
{
	size_t first = q->at + 1;

	for (size_t i = q->n; i > first + 1; i--) {
		size_t k = first + (size_t)(draw_number(&seed) % (i - first));
		struct track *t = q->tracks[i - 1];

		q->tracks[i - 1] = q->tracks[k];
		q->tracks[k] = t;
	}
	q->revision++;
}

const struct track *music_queue_advance(struct music_queue *q, enum music_end end)
{
	if (q->at == q->n)
		return NULL;
	if (end == MUSIC_FAILED) {
		drop_tracks(q, q->at, q->at + 1);
		start_present(q, q->at);
	} else {
		start_place(q, end == MUSIC_ENDED && q->loop == MUSIC_LOOP_TRACK ? 0 : 1);
	}
	return music_queue_present(q);
}

/* The place of the track that played before the present one; MUSIC_QUEUE_END: it is in the history.
 * Where none is known, it is the last one of the list. */
static size_t find_previous(struct music_queue *q)
{
	while (q->n_left) {
		size_t place = music_queue_find(q, q->left[--q->n_left]);

		if (place)
			return place;
	}
	return q->at ? MUSIC_QUEUE_END : music_queue_count(q) - 1;
}

/* In a queue that loops the track comes back from wherever it waits. */
static bool loop_back(struct music_queue *q)
{
	size_t place = find_previous(q);

	if (place == MUSIC_QUEUE_END)
		return false;
	rotate_tracks(&q->tracks[q->at], place + 1, place);
	start_present(q, q->at);
	return true;
}

const struct track *music_queue_previous(struct music_queue *q)
{
	bool present = q->at < q->n;

	if (present && q->position > MUSIC_QUEUE_RESTART_S * MUSIC_FRAMES_PER_S)
		start_present(q, q->at);
	else if (q->n && !(present && q->loop == MUSIC_LOOP_QUEUE && loop_back(q)))
		start_present(q, q->at ? q->at - 1 : 0);
	return music_queue_present(q);
}

const struct track *music_queue_present(const struct music_queue *q)
{
	return music_queue_at(q, 0);
}

const struct track *music_queue_at(const struct music_queue *q, size_t place)
{
	return place < q->n - q->at ? q->tracks[q->at + place] : NULL;
}

const struct track *music_queue_following(const struct music_queue *q)
{
	const struct track *next = music_queue_at(q, 1);

	if (q->loop == MUSIC_LOOP_TRACK || (q->loop == MUSIC_LOOP_QUEUE && !next))
		return music_queue_present(q);
	return next;
}

const struct track *music_queue_played(const struct music_queue *q, size_t i)
{
	return i < q->at ? q->tracks[q->at - 1 - i] : NULL;
}

size_t music_queue_count(const struct music_queue *q)
{
	return q->n - q->at;
}

size_t music_queue_played_count(const struct music_queue *q)
{
	return q->at;
}

bool music_queue_wait_ms(const struct music_queue *q, size_t place, uint64_t *ms)
{
	uint64_t played = q->position / (MUSIC_FRAMES_PER_S / 1000), sum = 0;

	for (size_t i = 0; i < place && i < music_queue_count(q); i++) {
		uint64_t left = q->tracks[q->at + i]->duration_ms;

		if (!left)
			return false;
		if (i == 0)
			left -= left < played ? left : played;
		sum += left;
	}
	*ms = sum;
	return true;
}

void music_queue_forget(struct music_queue *q, uint64_t user)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->tracks[i]->requester == user) {
			q->tracks[i]->requester = 0;
			q->revision++;
		}
}

static bool fill_text(char *to, size_t size, const char *from)
{
	bool fills = !*to && *from;

	if (fills)
		snprintf(to, size, "%s", from);
	return fills;
}

void music_queue_describe(struct music_queue *q, uint32_t id, const struct track *tags)
{
	uint64_t duration_ms = bound_duration(tags->duration_ms);
	size_t place = music_queue_find(q, id);
	struct track *t = place == MUSIC_QUEUE_END ? NULL : q->tracks[q->at + place];
	bool filled;

	if (!t)
		return;
	filled = fill_text(t->title, sizeof t->title, tags->title);
	filled |= fill_text(t->artist, sizeof t->artist, tags->artist);
	filled |= fill_text(t->album, sizeof t->album, tags->album);
	if (!t->duration_ms && duration_ms) {
		t->duration_ms = duration_ms;
		filled = true;
	}
	q->revision += filled;
}

void music_queue_note_end(struct music_queue *q, uint32_t id)
{
	size_t place = music_queue_find(q, id);
	struct track *t = place == MUSIC_QUEUE_END ? NULL : q->tracks[q->at + place];

	if (!t || t->source != TRACK_RADIO)
		return;
	t->source = TRACK_URL;
	q->revision++;
}

bool music_queue_note_endless(struct music_queue *q, uint32_t id)
{
	size_t place = music_queue_find(q, id);
	struct track *t = place == MUSIC_QUEUE_END ? NULL : q->tracks[q->at + place];

	if (!t || t->source != TRACK_URL || !t->may_be_live)
		return false;
	t->source = TRACK_RADIO;
	t->may_be_live = false;
	q->revision++;
	return true;
}

uint64_t music_queue_guild(const struct music_queue *q)
{
	return q->guild;
}

uint64_t music_queue_channel(const struct music_queue *q)
{
	return q->channel;
}

void music_queue_set_channel(struct music_queue *q, uint64_t channel)
{
	q->revision += q->channel != channel;
	q->channel = channel;
}

enum music_loop music_queue_loop(const struct music_queue *q)
{
	return q->loop;
}

void music_queue_set_loop(struct music_queue *q, enum music_loop loop)
{
	q->loop = loop;
	q->revision++;
}

bool music_queue_is_paused(const struct music_queue *q)
{
	return q->paused;
}

void music_queue_set_paused(struct music_queue *q, bool paused)
{
	q->paused = paused && q->at < q->n;
	q->revision++;
}

unsigned music_queue_volume(const struct music_queue *q)
{
	return q->volume;
}

void music_queue_set_volume(struct music_queue *q, unsigned thousandths)
{
	q->volume = thousandths < MUSIC_VOLUME_FULL ? thousandths : MUSIC_VOLUME_FULL;
	q->revision++;
}

uint64_t music_queue_position(const struct music_queue *q)
{
	return q->position;
}

void music_queue_set_position(struct music_queue *q, uint64_t frames)
{
	if (frames > MUSIC_POSITION_MAX)
		frames = MUSIC_POSITION_MAX;
	q->position = q->at < q->n ? frames : 0;
}

uint64_t music_queue_starts(const struct music_queue *q)
{
	return q->starts;
}

void music_queue_set_playing(struct music_queue *q, uint32_t present, uint32_t prepared)
{
	const struct track *next = music_queue_following(q);

	q->revision += music_queue_playing(q) != present || music_queue_prepared(q) != prepared;
	q->playing = present;
	q->playing_start = q->starts;
	q->prepared = prepared;
	q->prepared_entry = next ? next->id : 0;
	music_queue_note_number(q, present);
	music_queue_note_number(q, prepared);
}

uint32_t music_queue_playing(const struct music_queue *q)
{
	return q->playing_start == q->starts ? q->playing : 0;
}

uint32_t music_queue_prepared(const struct music_queue *q)
{
	const struct track *next = music_queue_following(q);

	return next && next->id == q->prepared_entry ? q->prepared : 0;
}

void music_queue_note_number(struct music_queue *q, uint32_t number)
{
	q->revision += number > q->last_number;
	if (number > q->last_number)
		q->last_number = number;
}

uint32_t music_queue_last_number(const struct music_queue *q)
{
	return q->last_number;
}

uint64_t music_queue_revision(const struct music_queue *q)
{
	return q->revision;
}
