#include "control/agent/agent_music.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/agent_music_inside.h"
#include "control/music/volume.h"
#include "control/music_sources/music_sources.h"
#include "control/room/room.h"
#include "control/tools/builtin/host.h"
#include "ipc/env.h"
#include "proto/media.h"

static void hold(struct agent_music *m, bool held)
{
	if (m->held == held)
		return;
	m->held = held;
	jukebox_hold(m->conf.jukebox, held);
}

/* ---- what the room is told ---- */

static const char *room_word(const struct agent_music *m)
{
	switch (jukebox_phase(m->conf.jukebox)) {
	case JUKEBOX_OPENING:
		return m->held ? "paused" : "loading";
	case JUKEBOX_PLAYING:
	case JUKEBOX_WAITING:
		return m->held ? "paused" : "playing";
	case JUKEBOX_PAUSED:
		return "paused";
	case JUKEBOX_HALTED:
		return "failed";
	default:
		return "idle";
	}
}

/* The turn that asked stands with the first "playing", at which older answers fall silent. */
static void tell_phase(struct agent_music *m, bool again)
{
	const char *word = room_word(m);
	bool track = music_queue_present(jukebox_queue(m->conf.jukebox)) != NULL;
	bool begins = m->asked && strcmp(word, "playing") == 0;
	struct room_event ev = {
		.type = ROOM_MUSIC, .text = slice_str(word), .yes = track, .turn = m->asked};

	if (!again && !begins && strcmp(word, m->told) == 0 && track == m->track)
		return;
	m->told = word;
	m->track = track;
	if (begins)
		m->asked = 0;
	m->conf.feedh(&ev, m->conf.arg);
}

static void tell_context(struct agent_music *m)
{
	char context[MUSIC_CONTEXT_MAX];

	music_write_context(m, context);
	if (strcmp(context, m->context) == 0)
		return;
	memcpy(m->context, context, sizeof context);
	m->conf.feedh(&(struct room_event){.type = ROOM_TRACKS, .text = slice_str(context)},
		      m->conf.arg);
}

/* A hold ends with the music that it holds, or what plays later would be silent. */
static void release_idle(struct agent_music *m)
{
	enum jukebox_phase phase = jukebox_phase(m->conf.jukebox);

	if (phase == JUKEBOX_IDLE || phase == JUKEBOX_HALTED)
		hold(m, false);
}

static void on_changed(struct jukebox *j, void *arg)
{
	(void)j;
	release_idle(arg);
	tell_phase(arg, false);
	tell_context(arg);
}

void agent_music_tell(struct agent_music *m)
{
	if (m && m->conf.jukebox)
		on_changed(m->conf.jukebox, m);
}

/* ---- the jukebox ---- */

static bool names_entry(enum music_act act)
{
	return act == MUSIC_ACT_REMOVE || act == MUSIC_ACT_MOVE || act == MUSIC_ACT_JUMP;
}

/* As a part of a sentence; the embedded brain says it as it stands. */
static const char *explain_error(enum music_act act, int err)
{
	switch (err) {
	case ENOTCONN:
		return "the bot is in no voice call";
	case ENOENT:
		return names_entry(act)		   ? "there is no such track in the queue"
		       : act == MUSIC_ACT_PREVIOUS ? "nothing was played before"
						   : "nothing plays at the moment";
	case EALREADY:
		return "it is like that already";
	case ENOSPC:
		return "the queue is full";
	case EDQUOT:
		return "this person has as many tracks in the queue as one member may";
	case ENOTSUP:
		return "this track cannot start at another place: it is live, or its server "
		       "allows no other one";
	case ENODEV:
		return "no music can be played: the program that decodes it does not run. Whoever "
		       "runs the bot can change that";
	case ENXIO:
		return "this file cannot be played: the media daemon was started without its music "
		       "folder. Whoever runs the bot can change that";
	case EADDRNOTAVAIL:
		return "this address cannot be played: the media daemon was started without it. "
		       "Whoever runs the bot can change that";
	case ERANGE:
		return "the track ends before that place";
	default:
		return "the music cannot be changed";
	}
}

static const char *explain_turn(enum music_turn turn)
{
	return turn == MUSIC_TURN_HAD
		       ? "two tracks of this person play in a row, so those of others come first"
		       : "only one track of this person at a time may pass those of others; a DJ "
			 "may move more";
}

enum { ADDED = 12 }; /* that are named; a playlist may be long */

static json_t *tell_answer(const struct agent_music *m, const struct jukebox_request *r,
			   const struct jukebox_answer *a)
{
	json_t *o = music_tell_state(m), *added;

	if (r->act == MUSIC_ACT_SKIP && a->has_track)
		json_object_set_new(o, "skipped", music_tell_track(&a->track));
	if (r->act != MUSIC_ACT_QUEUE_ADD && !a->place)
		return o;
	added = json_array();
	for (size_t i = 0; i < a->n && i < ADDED; i++)
		json_array_append_new(added, music_tell_label(&r->tracks[i]));
	json_object_set_new(o, "added", added);
	json_object_set_new(o, "added_count", json_integer((json_int_t)a->n));
	if (a->n < r->n)
		json_object_set_new(o, "no_room_for", json_integer((json_int_t)(r->n - a->n)));
	json_object_set_new(o, "position", json_integer((json_int_t)a->place));
	if (a->turn)
		json_object_set_new(o, "waits_because", json_string(explain_turn(a->turn)));
	json_object_del(o, "queue");
	return o;
}

json_t *music_perform(struct agent_music *m, const struct jukebox_request *r, const char **why)
{
	struct jukebox_answer a = {0};
	int err = jukebox_do(m->conf.jukebox, r, &a);

	*why = NULL;
	if (err)
		*why = explain_error(r->act, err);
	else if (a.verdict == MUSIC_NEEDS_DJ && a.turn)
		*why = explain_turn(a.turn);
	else if (a.verdict == MUSIC_NEEDS_DJ)
		*why = "only a DJ may do that: someone with the DJ role, the permission Manage "
		       "Channels, or alone with the bot";
	else if (a.verdict == MUSIC_NEEDS_VOTE)
		*why = "their vote counts, but more people have to vote to skip this track";
	return *why ? NULL : tell_answer(m, r, &a);
}

/* ---- commands that need no model ---- */

/* What may not be done is told. */
static void request(struct agent_music *m, const struct jukebox_request *r)
{
	struct jukebox_answer a = {0};
	int err = jukebox_do(m->conf.jukebox, r, &a);

	if (!err && a.verdict != MUSIC_ALLOWED && m->conf.refusedh)
		m->conf.refusedh(a.tally.votes, a.tally.needed, m->conf.arg);
}

static void command(struct agent_music *m, enum music_act act, uint64_t user)
{
	request(m, &(struct jukebox_request){.act = act, .user = user});
}

static void change_volume(struct agent_music *m, uint64_t user, bool louder)
{
	unsigned now = music_queue_volume(jukebox_queue(m->conf.jukebox));

	request(m, &(struct jukebox_request){.act = MUSIC_ACT_VOLUME,
					     .user = user,
					     .volume = music_volume_step(now, louder)});
}

static void command_of(struct agent_music *m, uint64_t user, const char *what)
{
	if (strcmp(what, "stop") == 0) {
		command(m, MUSIC_ACT_STOP, user);
	} else if (strcmp(what, "pause") == 0) {
		command(m, MUSIC_ACT_PAUSE, user);
	} else if (strcmp(what, "skip") == 0) {
		command(m, MUSIC_ACT_SKIP, user);
		return; /* the room resumes by itself what it holds */
	} else if (strcmp(what, "louder") == 0 || strcmp(what, "quieter") == 0) {
		change_volume(m, user, *what == 'l');
		return;
	} else if (music_queue_is_paused(jukebox_queue(m->conf.jukebox))) {
		command(m, MUSIC_ACT_RESUME, user);
	}
	hold(m, false);
	tell_phase(m, true);
}

/* The room's own: at the end of a session the jukebox is left anyway. A pause that somebody made
 * while it was held has the same word as the hold, and is told again when that ends: the room would
 * wait for the music to go on. */
static void command_of_room(struct agent_music *m, const char *what)
{
	bool pauses = strcmp(what, "pause") == 0;

	if (strcmp(what, "stop") == 0)
		return;
	hold(m, pauses);
	tell_phase(m, !pauses);
}

static void choose(struct agent_music *m, uint64_t user, const char *text)
{
	static const enum music_act acts[] = {[MUSIC_CHOOSE_PLAY] = MUSIC_ACT_PLAY,
					      [MUSIC_CHOOSE_ADD] = MUSIC_ACT_QUEUE_ADD,
					      [MUSIC_CHOOSE_NEXT] = MUSIC_ACT_QUEUE_ADD};
	const struct track *t =
		*text ? music_choice_pick(&m->choice, user, text, env_now(m->conf.env)) : NULL;
	struct jukebox_answer a = {0};
	struct jukebox_request r = {.user = user, .tracks = t, .n = 1};
	int err;

	if (t) {
		r.act = acts[m->choice.kind];
		r.place = m->choice.kind == MUSIC_CHOOSE_NEXT ? 0 : MUSIC_QUEUE_END;
		err = jukebox_do(m->conf.jukebox, &r, &a);
		if (err && m->conf.failedh)
			m->conf.failedh(err, m->conf.arg);
		if (!err && a.verdict != MUSIC_ALLOWED && m->conf.refusedh)
			m->conf.refusedh(a.tally.votes, a.tally.needed, m->conf.arg);
	}
	music_choice_clear(&m->choice);
}

void agent_music_effect(struct agent_music *m, const struct room_effect *e)
{
	if (!m || !m->conf.jukebox)
		return;
	if (e->type == ROOM_DO_CHOOSE)
		choose(m, e->user, e->text);
	else if (e->user)
		command_of(m, e->user, e->text);
	else
		command_of_room(m, e->text);
}

/* ---- coming and going ---- */

bool agent_music_searches(const struct agent_music *m)
{
	return m && m->conf.sources && music_sources_search(m->conf.sources);
}

bool agent_music_web(const struct agent_music *m)
{
	return m && m->conf.sources && music_sources_web(m->conf.sources);
}

bool agent_music_has_track(const struct agent_music *m)
{
	const struct music_queue *q = m && m->conf.jukebox ? jukebox_queue(m->conf.jukebox) : NULL;

	return q && music_queue_present(q);
}

bool agent_music_plays(const struct agent_music *m)
{
	return m && m->conf.jukebox && (agent_music_searches(m) || agent_music_web(m));
}

int agent_music_alloc(struct agent_music **out, const struct agent_music_conf *conf)
{
	struct agent_music *m = calloc(1, sizeof *m);
	int err;

	if (!m)
		return ENOMEM;
	m->conf = *conf;
	m->told = "";
	err = conf->jukebox ? jukebox_subscribe(conf->jukebox, on_changed, NULL, m) : 0;
	if (err) {
		free(m);
		return err;
	}
	*out = m;
	return 0;
}

struct agent_music *agent_music_free(struct agent_music *m)
{
	if (!m)
		return NULL;
	music_asks_end(m);
	if (m->conf.jukebox) {
		hold(m, false);
		jukebox_unsubscribe(m->conf.jukebox, m);
	}
	free(m->seen);
	free(m);
	return NULL;
}
