/* What models read about music (agent_music.h). */
#include <stdio.h>
#include <string.h>

#include "control/agent/agent_music_inside.h"
#include "control/tools/untrusted.h"
#include "proto/base/utf8.h"

enum { LISTED = 10, PLAYED = 5, IN_CONTEXT = 5, LINE_MAX_BYTES = 160, MS_PER_SECOND = 1000 };

static void set_text(json_t *o, const char *key, const char *text)
{
	char clean[TRACK_LABEL_MAX];

	snprintf(clean, sizeof clean, "%s", text);
	untrusted_clean_line(clean);
	if (*clean)
		json_object_set_new(o, key, json_string(clean));
}

json_t *music_tell_track(const struct track *t)
{
	char selection[TRACK_SELECTION_MAX], label[TRACK_LABEL_MAX];
	json_t *o = json_object();

	track_write_selection(selection, t);
	track_write_label(label, t);
	json_object_set_new(o, "selection_id", json_string(selection));
	set_text(o, "title", *t->title ? t->title : label);
	set_text(o, "artist", t->artist);
	set_text(o, "album", t->album);
	json_object_set_new(o, "source", json_string(track_source_name(t->source)));
	return o;
}

json_t *music_tell_label(const struct track *t)
{
	char label[TRACK_LABEL_MAX];

	track_write_label(label, t);
	untrusted_clean_line(label);
	return json_string(label);
}

static const char *phase_name(const struct agent_music *m)
{
	static const char *const names[] = {
		[JUKEBOX_IDLE] = "idle",       [JUKEBOX_OPENING] = "loading",
		[JUKEBOX_PLAYING] = "playing", [JUKEBOX_WAITING] = "waiting_for_source",
		[JUKEBOX_PAUSED] = "paused",   [JUKEBOX_HALTED] = "failed"};

	return names[jukebox_phase(m->conf.jukebox)];
}

static void tell_present(const struct agent_music *m, const struct music_queue *q, json_t *o)
{
	const struct track *t = music_queue_present(q);
	const char *title = jukebox_title(m->conf.jukebox);
	json_t *track;

	if (!t)
		return;
	track = music_tell_track(t);
	json_object_set_new(
		track, "position_s",
		json_integer((json_int_t)(music_queue_position(q) / MUSIC_FRAMES_PER_S)));
	if (t->duration_ms)
		json_object_set_new(track, "duration_s",
				    json_integer((json_int_t)(t->duration_ms / MS_PER_SECOND)));
	if (t->source == TRACK_RADIO)
		json_object_set_new(track, "live", json_true());
	if (title)
		set_text(track, "plays_now", title);
	json_object_set_new(o, "track", track);
}

json_t *music_tell_state(const struct agent_music *m)
{
	const struct music_queue *q = jukebox_queue(m->conf.jukebox);
	json_t *o = json_pack("{s:s}", "status", phase_name(m)), *waiting = json_array();
	size_t n = music_queue_count(q);

	tell_present(m, q, o);
	for (size_t i = 1; i < n && i <= LISTED; i++)
		json_array_append_new(waiting, music_tell_track(music_queue_at(q, i)));
	json_object_set_new(o, "queue", waiting);
	json_object_set_new(o, "queue_length", json_integer((json_int_t)(n ? n - 1 : 0)));
	json_object_set_new(o, "volume_percent",
			    json_integer(music_queue_volume(q) * 100 / MUSIC_VOLUME_FULL));
	json_object_set_new(o, "loop", json_string(music_loop_name(music_queue_loop(q))));
	return o;
}

json_t *music_tell_all(const struct agent_music *m)
{
	const struct music_queue *q = jukebox_queue(m->conf.jukebox);
	json_t *o = music_tell_state(m), *played = json_array();

	for (size_t i = 0; i < music_queue_played_count(q) && i < PLAYED; i++)
		json_array_append_new(played, music_tell_track(music_queue_played(q, i)));
	json_object_set_new(o, "played", played);
	return o;
}

/* ---- prompts ---- */

/* One line, whole or not at all. The label stands in quotes, which it must not end. */
static void put_line(char to[MUSIC_CONTEXT_MAX], const char *what, const struct track *t)
{
	size_t n = strlen(to);
	char selection[TRACK_SELECTION_MAX], label[TRACK_LABEL_MAX], line[LINE_MAX_BYTES + 64];

	track_write_selection(selection, t);
	track_write_label(label, t);
	untrusted_clean_line(label);
	for (char *p = label; *p; p++)
		if (*p == '"')
			*p = '\'';
	snprintf(line, sizeof line, "%s%s: %s \"%.*s\"", n ? "\n" : "", what, selection,
		 (int)utf8_whole(label,
				 strlen(label) < LINE_MAX_BYTES ? strlen(label) : LINE_MAX_BYTES),
		 label);
	if (strlen(line) < MUSIC_CONTEXT_MAX - n)
		memcpy(to + n, line, strlen(line) + 1);
}

void music_write_context(const struct agent_music *m, char to[MUSIC_CONTEXT_MAX])
{
	const struct music_queue *q = jukebox_queue(m->conf.jukebox);
	const struct track *present = music_queue_present(q), *last = music_queue_played(q, 0);

	to[0] = '\0';
	if (present)
		put_line(to, phase_name(m), present);
	if (last)
		put_line(to, "played before", last);
	for (size_t i = 1; i < music_queue_count(q) && i <= IN_CONTEXT; i++)
		put_line(to, "queued", music_queue_at(q, i));
}
