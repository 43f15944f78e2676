/* Requests for tracks: from the words, selections or address of a tool's call to the jukebox
 * (agent_music.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/agent_music_inside.h"
#include "control/music/match.h"
#include "control/music/volume.h"
#include "control/music_sources/music_sources.h"
#include "control/room/room.h"
#include "control/tools/builtin/host.h"
#include "ipc/env.h"
#include "proto/media.h"

/* A call that waits for tracks. */
struct music_ask {
	struct agent_music *m;
	struct music_ask *next;
	uint32_t id, turn;
	uint64_t user;
	enum tool_music_op op;
	enum music_platform platform;
	int place;
	unsigned most;
	bool single; /* one track is meant; else each item gives one */
	bool address;
	json_t *items; /* words, selections or an address */
	size_t item;   /* the next one */
	struct track *tracks;
	size_t n;
	struct music_request *request;
};

/* ---- outputs ---- */

void music_give(struct agent_music *m, uint32_t id, json_t *output, const char *why)
{
	char *text = output ? json_dumps(output, JSON_COMPACT) : NULL;

	json_decref(output);
	if (!text && !why)
		why = strerror(ENOMEM);
	m->conf.outputh(id, text != NULL, slice_str(text ? text : why), m->conf.arg);
	free(text);
}

static void free_ask(struct music_ask *a)
{
	struct music_ask **at = &a->m->asks;

	while (*at != a)
		at = &(*at)->next;
	*at = a->next;
	music_request_cancel(a->request);
	json_decref(a->items);
	free(a->tracks);
	free(a);
}

static void end_ask(struct music_ask *a, json_t *output, const char *why)
{
	struct agent_music *m = a->m;
	uint32_t id = a->id;

	free_ask(a);
	music_give(m, id, output, why);
}

void music_asks_end(struct agent_music *m)
{
	while (m->asks)
		free_ask(m->asks);
}

void agent_music_cancel(struct agent_music *m, uint32_t id)
{
	for (struct music_ask *a = m ? m->asks : NULL; a; a = a->next)
		if (a->id == id) {
			free_ask(a);
			return;
		}
}

/* ---- selections ---- */

static void note_seen(struct agent_music *m, const struct track *t)
{
	if (!m->seen)
		m->seen = calloc(MUSIC_SEEN, sizeof *m->seen);
	if (m->seen)
		m->seen[m->n_seen++ % MUSIC_SEEN] = *t;
}

static bool is_selection(const struct track *t, const char *selection)
{
	char own[TRACK_SELECTION_MAX];

	if (!t || !*t->reference)
		return false;
	track_write_selection(own, t);
	return strcmp(own, selection) == 0;
}

const struct track *music_find_selection(const struct agent_music *m, const char *selection)
{
	const struct music_queue *q = m->conf.jukebox ? jukebox_queue(m->conf.jukebox) : NULL;

	for (unsigned i = 0; m->seen && i < MUSIC_SEEN; i++)
		if (is_selection(&m->seen[i], selection))
			return &m->seen[i];
	for (size_t i = 0; q && i < music_queue_count(q); i++)
		if (is_selection(music_queue_at(q, i), selection))
			return music_queue_at(q, i);
	for (size_t i = 0; q && i < music_queue_played_count(q); i++)
		if (is_selection(music_queue_played(q, i), selection))
			return music_queue_played(q, i);
	return NULL;
}

/* ---- several fit ---- */

static enum music_choice_kind kind_of(const struct music_ask *a)
{
	if (a->op == TOOL_MUSIC_PLAY)
		return MUSIC_CHOOSE_PLAY;
	return a->place == 1 ? MUSIC_CHOOSE_NEXT : MUSIC_CHOOSE_ADD;
}

/* The options belong to the speaker; the room takes their answer. */
static void offer(struct music_ask *a)
{
	struct agent_music *m = a->m;
	json_t *options = json_array();
	char text[MUSIC_CHOICE_TEXT_MAX];
	struct room_event ev = {.type = ROOM_CHOICE, .user = a->user, .yes = true};

	music_choice_offer(&m->choice, a->user, kind_of(a), env_now(m->conf.env));
	music_choice_write(text, &m->choice);
	for (unsigned i = 0; i < m->choice.n; i++) {
		note_seen(m, &m->choice.option[i]);
		json_array_append_new(options, music_tell_track(&m->choice.option[i]));
	}
	end_ask(a, json_pack("{s:s,s:o}", "status", "needs_disambiguation", "options", options),
		NULL);
	ev.text = slice_str(text);
	m->conf.feedh(&ev, m->conf.arg);
}

/* A request that is not about the open choice ends it. */
static void close_choice(struct agent_music *m, uint64_t user)
{
	if (!m->choice.until || m->choice.user != user)
		return;
	music_choice_clear(&m->choice);
	m->conf.feedh(&(struct room_event){.type = ROOM_CHOICE, .user = user}, m->conf.arg);
}

/* ---- tracks ---- */

static int add_track(struct music_ask *a, const struct track *t)
{
	struct track *tracks = realloc(a->tracks, (a->n + 1) * sizeof *tracks);

	if (!tracks)
		return ENOMEM;
	a->tracks = tracks;
	tracks[a->n++] = *t;
	note_seen(a->m, t);
	return 0;
}

static void finish(struct music_ask *a)
{
	struct agent_music *m = a->m;
	bool plays = a->op == TOOL_MUSIC_PLAY;
	struct jukebox_request r = {.act = plays ? MUSIC_ACT_PLAY : MUSIC_ACT_QUEUE_ADD,
				    .user = a->user,
				    .tracks = a->tracks,
				    .n = a->n,
				    .place = MUSIC_QUEUE_END};
	uint32_t asked = m->asked;
	const char *why;
	json_t *output;

	if (!a->n) {
		end_ask(a, json_pack("{s:s}", "status", "not_found"), NULL);
		return;
	}
	if (!plays && a->place > 0)
		r.place = (size_t)a->place - 1;
	m->asked = plays ? a->turn : asked;
	output = music_perform(m, &r, &why);
	/* What was added plays later, and is no reason for silence. */
	if (!output || json_object_get(output, "added"))
		m->asked = asked;
	end_ask(a, output, why);
}

static void advance(struct music_ask *a);

/* The best of a list stands first; words for one track may mean several. Only those take the place
 * of a choice that is open, which may be another person's. */
static void take_one(struct music_ask *a, const struct music_found *f)
{
	struct music_choice choice = {0};
	struct music_hit hits[LIBRARY_HITS_MAX];
	size_t n = f->n < LIBRARY_HITS_MAX ? f->n : LIBRARY_HITS_MAX;

	for (size_t i = 0; i < n; i++)
		hits[i] = (struct music_hit){&f->hits[i].track, f->hits[i].score};
	switch (a->user ? music_choice_decide(&choice, hits, n) : MUSIC_ONE_FITS) {
	case MUSIC_NONE_FITS:
		finish(a);
		break;
	case MUSIC_MANY_FIT:
		a->m->choice = choice;
		offer(a);
		break;
	case MUSIC_ONE_FITS:
		if (add_track(a, &f->hits[0].track) == 0)
			finish(a);
		else
			end_ask(a, NULL, strerror(ENOMEM));
		break;
	}
}

static void tell_hits(struct music_ask *a, const struct music_found *f)
{
	json_t *tracks = json_array();

	for (size_t i = 0; i < f->n; i++) {
		note_seen(a->m, &f->hits[i].track);
		json_array_append_new(tracks, music_tell_track(&f->hits[i].track));
	}
	end_ask(a, json_pack("{s:o}", "tracks", tracks), NULL);
}

static void take_found(const struct music_found *f, void *arg)
{
	struct music_ask *a = arg;
	int err = 0;

	a->request = NULL;
	if (a->op == TOOL_MUSIC_SEARCH) {
		tell_hits(a, f);
	} else if (a->single && f->why) {
		end_ask(a, json_pack("{s:s,s:s}", "status", "not_found", "reason", f->why), NULL);
	} else if (a->single && !a->address) {
		take_one(a, f);
	} else {
		for (size_t i = 0; !err && i < (a->address ? f->n : f->n > 0); i++)
			err = add_track(a, &f->hits[i].track);
		advance(a);
	}
}

/* Looks for the next item, until all are found. */
static void advance(struct music_ask *a)
{
	struct music_sources *s = a->m->conf.sources;
	const struct music_asker asker = {a->m->conf.guild, a->user};
	int err = 0;

	while (!err && !a->request && a->item < json_array_size(a->items)) {
		const char *text = json_string_value(json_array_get(a->items, a->item++));
		const struct track *t = a->address ? NULL : music_find_selection(a->m, text);

		if (t)
			err = add_track(a, t);
		else if (!s)
			err = ENOTSUP;
		else if (a->address)
			err = music_sources_address(&a->request, s, asker, text, take_found, a);
		else
			err = music_sources_words(&a->request, s,
						  &(struct music_words){asker, text, a->platform,
									a->most,
									a->op != TOOL_MUSIC_SEARCH},
						  take_found, a);
	}
	if (err)
		end_ask(a, NULL,
			err == ENOTSUP ? "there is no such source of music here"
			: err == EDQUOT
				? "this person's other requests for music are still under way"
			: err == ENOSPC ? "too many requests for music are under way"
					: strerror(err));
	else if (!a->request)
		finish(a);
}

/* ---- calls ---- */

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static enum music_platform platform_of(const char *name)
{
	static const char *const names[] = {[MUSIC_LIBRARY] = "library",
					    [MUSIC_YOUTUBE] = "youtube",
					    [MUSIC_SOUNDCLOUD] = "soundcloud"};

	for (unsigned i = MUSIC_LIBRARY; i <= MUSIC_SOUNDCLOUD; i++)
		if (strcmp(names[i], or_empty(name)) == 0)
			return (enum music_platform)i;
	return MUSIC_ANYWHERE;
}

/* One item, unless the call names a list: a selection that is known, else the words. */
static json_t *list_items(const struct agent_music *m, const struct tool_music *what)
{
	const char *selection = or_empty(what->selection), *query = or_empty(what->query);

	if (json_array_size(what->tracks))
		return json_deep_copy(what->tracks);
	if (*or_empty(what->url))
		return json_pack("[s]", what->url);
	if (*selection && (!*query || music_find_selection(m, selection)))
		return json_pack("[s]", selection);
	return *query ? json_pack("[s]", query) : json_array();
}

static unsigned count_asks(const struct agent_music *m)
{
	unsigned n = 0;

	for (const struct music_ask *a = m->asks; a; a = a->next)
		n++;
	return n;
}

static int begin(struct agent_music *m, uint32_t id, const struct tool_music *what)
{
	struct music_ask *a;

	if (count_asks(m) >= MUSIC_ASKS)
		return ENOSPC;
	a = calloc(1, sizeof *a);
	if (!a)
		return ENOMEM;
	*a = (struct music_ask){.m = m,
				.next = m->asks,
				.id = id,
				.turn = what->turn,
				.user = what->user,
				.op = what->op,
				.platform = platform_of(what->platform),
				.place = what->place,
				.most = what->op == TOOL_MUSIC_SEARCH ? what->most
								      : LIBRARY_HITS_MAX,
				.single = !json_array_size(what->tracks),
				.address = *or_empty(what->url),
				.items = list_items(m, what)};
	m->asks = a;
	if (what->op != TOOL_MUSIC_SEARCH)
		close_choice(m, what->user);
	advance(a);
	return 0;
}

/* The state is the output also where nothing has changed. */
static int perform(struct agent_music *m, uint32_t id, const struct jukebox_request *r)
{
	const char *why;
	json_t *output = music_perform(m, r, &why);

	music_give(m, id, output, why);
	return 0;
}

/* ---- changes ---- */

static bool change_volume(const struct music_queue *q, const json_t *v, struct jukebox_request *r)
{
	const char *step = json_string_value(v);
	unsigned now = music_queue_volume(q);

	r->act = MUSIC_ACT_VOLUME;
	if (!step)
		r->volume = (unsigned)json_number_value(v) * MUSIC_VOLUME_FULL / 100;
	else
		r->volume = music_volume_step(now, strcmp(step, "up") == 0);
	return true;
}

static bool change_loop(const struct music_queue *q, const json_t *v, struct jukebox_request *r)
{
	(void)q;
	r->act = MUSIC_ACT_LOOP;
	return music_loop_parse(&r->loop, or_empty(json_string_value(v)));
}

static bool shuffle(const struct music_queue *q, const json_t *v, struct jukebox_request *r)
{
	(void)q;
	r->act = MUSIC_ACT_SHUFFLE;
	return json_is_true(v);
}

static bool seek(const struct music_queue *q, const json_t *v, struct jukebox_request *r)
{
	(void)q;
	r->act = MUSIC_ACT_SEEK;
	r->position = (uint64_t)json_number_value(v) * MUSIC_FRAMES_PER_S;
	return true;
}

static bool go_back(const struct music_queue *q, const json_t *v, struct jukebox_request *r)
{
	(void)q;
	r->act = MUSIC_ACT_PREVIOUS;
	return json_is_true(v);
}

static uint32_t find_entry(const struct music_queue *q, const json_t *place)
{
	const struct track *t = music_queue_at(q, (size_t)json_number_value(place));

	return t ? t->id : UINT32_MAX;
}

static bool remove_waiting(const struct music_queue *q, const json_t *v, struct jukebox_request *r)
{
	r->act = MUSIC_ACT_REMOVE;
	r->entry = find_entry(q, v);
	return true;
}

static bool move_waiting(const struct music_queue *q, const json_t *v, struct jukebox_request *r)
{
	r->act = MUSIC_ACT_MOVE;
	r->entry = find_entry(q, json_object_get(v, "from"));
	r->place = (size_t)json_number_value(json_object_get(v, "to"));
	return true;
}

static bool clear_waiting(const struct music_queue *q, const json_t *v, struct jukebox_request *r)
{
	(void)q;
	r->act = MUSIC_ACT_CLEAR;
	return json_is_true(v);
}

static const struct {
	const char *key;
	/* False: nothing is to be done. */
	bool (*fill)(const struct music_queue *q, const json_t *v, struct jukebox_request *r);
} changes[] = {{"volume", change_volume}, {"loop", change_loop},      {"position_s", seek},
	       {"move", move_waiting},	  {"remove", remove_waiting}, {"clear", clear_waiting},
	       {"shuffle", shuffle},	  {"previous", go_back}};

/* Makes the changes of a call in order, until one is refused. Their places in the queue are those
 * from before the call. While nothing plays, a step of the volume ("up") is refused, because nobody
 * would hear it; a percentage is not, because it also holds for what plays later. */
static void change(struct agent_music *m, uint32_t id, const struct tool_music *what)
{
	struct jukebox_request r[sizeof changes / sizeof changes[0]];
	const char *why = NULL;
	size_t n = 0;

	if (json_is_string(json_object_get(what->changes, "volume")) &&
	    !music_queue_present(jukebox_queue(m->conf.jukebox)))
		why = "nothing plays at the moment";
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		const json_t *v = json_object_get(what->changes, changes[i].key);

		r[n] = (struct jukebox_request){.user = what->user};
		n += v && changes[i].fill(jukebox_queue(m->conf.jukebox), v, &r[n]);
	}
	for (size_t i = 0; !why && i < n; i++)
		json_decref(music_perform(m, &r[i], &why));
	music_give(m, id, why ? NULL : music_tell_state(m), why);
}

/* Without words: a track of the queue, or music that waits. */
static int play_queued(struct agent_music *m, uint32_t id, const struct tool_music *what)
{
	const struct music_queue *q = jukebox_queue(m->conf.jukebox);
	const struct track *t = what->place > 0 ? music_queue_at(q, (size_t)what->place) : NULL;

	if (what->place > 0 && !t) {
		music_give(m, id, NULL, "the queue has no such place");
		return 0;
	}
	if (!t && !music_queue_present(q)) {
		music_give(m, id, NULL, "nothing waits in the queue");
		return 0;
	}
	return perform(m, id,
		       &(struct jukebox_request){.act = t ? MUSIC_ACT_JUMP : MUSIC_ACT_RESUME,
						 .user = what->user,
						 .entry = t ? t->id : 0});
}

/* The room performs it; only music that is heard can be handed off. */
static void hand_off(struct agent_music *m, uint32_t id, const struct tool_music *what)
{
	bool pauses = strcmp(or_empty(what->mode), "pause") == 0;
	bool plays = jukebox_phase(m->conf.jukebox) == JUKEBOX_PLAYING && !(pauses && m->held);
	json_t *o = json_pack("{s:b,s:b}", "applied", plays, "autoRestore", plays && pauses);

	if (!plays)
		json_object_set_new(o, "reason", json_string("music_not_audible"));
	music_give(m, id, o, NULL);
	if (plays)
		m->conf.feedh(&(struct room_event){.type = ROOM_HANDOFF,
						   .turn = what->turn,
						   .text = slice_str(or_empty(what->mode))},
			      m->conf.arg);
}

static bool names_tracks(const struct tool_music *what)
{
	return *or_empty(what->query) || *or_empty(what->selection) || *or_empty(what->url) ||
	       json_array_size(what->tracks);
}

int agent_music_ask(struct agent_music *m, uint32_t id, const struct tool_music *what)
{
	static const enum music_act acts[] = {[TOOL_MUSIC_PAUSE] = MUSIC_ACT_PAUSE,
					      [TOOL_MUSIC_RESUME] = MUSIC_ACT_RESUME,
					      [TOOL_MUSIC_SKIP] = MUSIC_ACT_SKIP,
					      [TOOL_MUSIC_STOP] = MUSIC_ACT_STOP};

	if (what->op == TOOL_MUSIC_SEARCH)
		return begin(m, id, what);
	if (!m->conf.jukebox)
		return ENOTSUP;
	switch (what->op) {
	case TOOL_MUSIC_PLAY:
		return names_tracks(what) ? begin(m, id, what) : play_queued(m, id, what);
	case TOOL_MUSIC_ADD:
		if (names_tracks(what))
			return begin(m, id, what);
		music_give(m, id, NULL, "no music is named");
		return 0;
	case TOOL_MUSIC_STATUS:
		music_give(m, id, music_tell_all(m), NULL);
		return 0;
	case TOOL_MUSIC_CHANGE:
		change(m, id, what);
		return 0;
	case TOOL_MUSIC_HANDOFF:
		hand_off(m, id, what);
		return 0;
	default:
		return perform(
			m, id,
			&(struct jukebox_request){.act = acts[what->op], .user = what->user});
	}
}
