#include "control/jukebox/jukebox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/jukebox/inside.h"
#include "control/jukebox/queue_shelf.h"
#include "control/media/media.h"
#include "control/media/music.h"
#include "control/music/queue_document.h"
#include "control/music_sources/music_sources.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"

/* To write a document takes some 10 ns a byte, and anybody may change a long queue all the time. */
enum { SAVE_NS_A_BYTE = 1000, POSITION_S = 1, RETRY_S = 1, LOUDNESS = 1600 };

#define ID(x) ((unsigned long long)(x))

/* ---- orders ---- */

static bool is_one_folder(const struct track *a, const struct track *b)
{
	const char *x = strrchr(a->reference, '/'), *y = strrchr(b->reference, '/');
	size_t n = x ? (size_t)(x - a->reference) : 0;

	return a->source == TRACK_LOCAL && b->source == TRACK_LOCAL && a->root == b->root && x &&
	       y && (size_t)(y - b->reference) == n && memcmp(a->reference, b->reference, n) == 0;
}

/* Tracks of an album may run into each other as they are. Many artists have an album of greatest
 * hits, and some albums many artists. */
static bool is_same_album(const struct track *a, const struct track *b)
{
	return *a->album && strcmp(a->album, b->album) == 0 &&
	       (strcmp(a->artist, b->artist) == 0 || is_one_folder(a, b));
}

static uint16_t choose_crossfade(const struct jukebox *j, const struct music_order *o)
{
	const struct track *present = music_queue_present(j->queue);

	if (o->kind != MUSIC_ORDER_NEXT || !o->track || !present ||
	    is_same_album(present, o->track))
		return 0;
	return (uint16_t)j->conf.settings->music_crossfade_ms;
}

static struct media_music_style style_of(const struct jukebox *j, const struct music_order *o)
{
	const struct settings *s = j->conf.settings;

	return (struct media_music_style){.duck = (uint16_t)s->music_duck_gain,
					  .duck_attack_ms = (uint16_t)s->music_duck_attack_ms,
					  .duck_hold_ms = (uint16_t)s->music_duck_hold_ms,
					  .duck_release_ms = (uint16_t)s->music_duck_release_ms,
					  .fade_ms = (uint16_t)s->music_fade_ms,
					  .loudness = LOUDNESS,
					  .crossfade_ms = choose_crossfade(j, o),
					  .bitrate = media_call_want(j->call)->bitrate};
}

static void log_position(const struct jukebox *j, const char *what, uint64_t position)
{
	log_info(what, "guild=%llu at_ms=%llu", ID(j->conf.guild),
		 ID(position * 1000 / MUSIC_FRAMES_PER_S));
}

int jukebox_send(struct jukebox *j, const struct music_order *o, const struct music_found *found)
{
	struct media_music_style style = style_of(j, o);
	int err;

	style.stream = found ? found->stream : NULL;
	style.headers = found ? found->headers : NULL;
	err = media_music_order(j->call, o, &style);
	if (err && err != ENOTCONN && err != ENOTSUP)
		log_warn("music_order_lost", "guild=%llu music=%u error=\"%s\"", ID(j->conf.guild),
			 o->music, strerror(err));
	return err;
}

const char *jukebox_refusal(int err)
{
	return err == EMSGSIZE ? "its address is too long" : err == EINVAL ? "" : NULL;
}

void jukebox_order(const struct music_order *o, void *arg)
{
	struct jukebox *j = arg;
	/* Nothing follows music that mediad does not know yet: it would play in its place. */
	bool early = o->kind == MUSIC_ORDER_NEXT && jukebox_finds_present(j);
	const struct music_order none = {.kind = MUSIC_ORDER_NEXT, .music = o->music};
	int err = jukebox_send(j, early ? &none : o, NULL);

	/* Music that mediad has never heard of would be waited for without end. */
	if (err == ENOTSUP)
		jukebox_find_stream(j, o);
	else if (o->track && jukebox_refusal(err))
		jukebox_fail_later(j, o->music, jukebox_refusal(err));
	if (o->kind == MUSIC_ORDER_PLAY && o->position)
		log_position(j, "music_continued", o->position);
	else if (o->kind == MUSIC_ORDER_CLAIM)
		log_position(j, "music_claimed", music_queue_position(j->queue));
}

/* ---- saving ---- */

/* The queue has changed, but for its position. */
static bool is_unsaved(const struct jukebox *j)
{
	return j->saved_revision != music_queue_revision(j->queue);
}

static bool must_save_queue(const struct jukebox *j)
{
	return is_unsaved(j) && env_now(j->conf.env) >= j->queue_due;
}

/* The document that it belongs to is saved. */
static bool must_save_position(const struct jukebox *j)
{
	return !is_unsaved(j) && j->saved_position != music_queue_position(j->queue) &&
	       env_now(j->conf.env) >= j->position_due;
}

static bool must_save(const struct jukebox *j)
{
	return must_save_queue(j) || must_save_position(j);
}

static void note_saved(struct jukebox *j)
{
	j->saved_revision = music_queue_revision(j->queue);
	j->saved_position = music_queue_position(j->queue);
	j->position_due = env_now(j->conf.env) + POSITION_S * NS_PER_S;
}

/* What cannot be saved now is saved later. */
static void save_queue(struct jukebox *j)
{
	char *text = music_queue_write(j->queue);
	uint64_t now = env_now(j->conf.env);
	int err = text ? 0 : ENOMEM;

	if (text && j->conf.store) {
		env_output(j->conf.env, ENV_OUT_FILE, 0, text, strlen(text));
		err = store_save_queue(j->conf.store, j->conf.guild, text);
	}
	if (err) {
		j->queue_due = now + RETRY_S * NS_PER_S;
		log_warn("queue_not_saved", "guild=%llu error=\"%s\"", ID(j->conf.guild),
			 strerror(err));
	} else {
		note_saved(j);
		j->queue_due = now + strlen(text) * SAVE_NS_A_BYTE;
	}
	free(text);
}

static void save_position(struct jukebox *j)
{
	const struct track *t = music_queue_present(j->queue);
	uint64_t row[2] = {t ? t->id : 0, music_queue_position(j->queue)};
	int err = 0;

	if (t && j->conf.store) {
		env_output(j->conf.env, ENV_OUT_FILE, 0, row, sizeof row);
		err = store_save_position(j->conf.store, j->conf.guild, t->id, row[1]);
	}
	if (!err)
		j->saved_position = row[1];
	j->position_due = env_now(j->conf.env) + POSITION_S * NS_PER_S;
}

static void save(struct jukebox *j)
{
	if (must_save_queue(j))
		save_queue(j);
	else if (must_save_position(j))
		save_position(j);
}

/* ---- who is told ---- */

enum jukebox_phase jukebox_phase(const struct jukebox *j)
{
	const struct music_report *r = &j->heard;

	if (!j->call || !music_queue_present(j->queue))
		return JUKEBOX_IDLE;
	if (music_player_is_halted(&j->player))
		return JUKEBOX_HALTED;
	if (music_queue_is_paused(j->queue))
		return JUKEBOX_PAUSED;
	if (!r->music || r->music != j->player.present.music ||
	    (r->phase != MUSIC_PHASE_PLAYING && r->phase != MUSIC_PHASE_PAUSED))
		return JUKEBOX_OPENING;
	return r->waits ? JUKEBOX_WAITING : JUKEBOX_PLAYING;
}

const char *jukebox_title(const struct jukebox *j)
{
	uint32_t present = j->player.present.music;

	for (unsigned i = 0; present && i < 2; i++)
		if (j->titles[i].music == present && *j->titles[i].text)
			return j->titles[i].text;
	return NULL;
}

static bool must_tell(const struct jukebox *j)
{
	return j->told.revision != music_queue_revision(j->queue) ||
	       j->told.phase != jukebox_phase(j) || j->told.titles != j->n_titles;
}

static void tell_changes(struct jukebox *j)
{
	j->told.revision = music_queue_revision(j->queue);
	j->told.phase = jukebox_phase(j);
	j->told.titles = j->n_titles;
	for (unsigned i = 0; i < JUKEBOX_SUBSCRIBERS; i++)
		if (j->subscriber[i].changedh)
			j->subscriber[i].changedh(j, j->subscriber[i].arg);
}

static void tell_failure(struct jukebox *j, const struct track *t, const char *reason,
			 enum jukebox_failure failure)
{
	log_info("track_failed", "guild=%llu source=%s halted=%d why=\"%s\"", ID(j->conf.guild),
		 track_source_name(t->source), music_player_is_halted(&j->player), reason);
	for (unsigned i = 0; i < JUKEBOX_SUBSCRIBERS; i++)
		if (j->subscriber[i].failedh)
			j->subscriber[i].failedh(j, t, reason, failure, j->subscriber[i].arg);
}

void jukebox_settle(struct jukebox *j)
{
	if (j->queue && (must_tell(j) || must_save(j)))
		tmr_start(j->tmr, 0);
	else if (j->queue && is_unsaved(j))
		tmr_start_at(j->saver, j->queue_due);
}

int jukebox_subscribe(struct jukebox *j, jukebox_changed_h *changedh, jukebox_failed_h *failedh,
		      void *arg)
{
	for (unsigned i = 0; i < JUKEBOX_SUBSCRIBERS; i++)
		if (!j->subscriber[i].changedh) {
			j->subscriber[i].changedh = changedh;
			j->subscriber[i].failedh = failedh;
			j->subscriber[i].arg = arg;
			return 0;
		}
	return ENOSPC;
}

void jukebox_unsubscribe(struct jukebox *j, const void *arg)
{
	for (unsigned i = 0; j && i < JUKEBOX_SUBSCRIBERS; i++)
		if (j->subscriber[i].arg == arg)
			memset(&j->subscriber[i], 0, sizeof j->subscriber[i]);
}

/* ---- reports ---- */

void jukebox_report(struct jukebox *j, const struct music_report *r, const char *reason)
{
	uint32_t entry = r->music == j->player.present.music ? j->player.present.entry
			 : r->music == j->player.next.music  ? j->player.next.entry
							     : 0;
	size_t place = entry ? music_queue_find(j->queue, entry) : MUSIC_QUEUE_END;
	bool halted = music_player_is_halted(&j->player);
	bool present = entry && r->music == j->player.present.music;
	bool waited = music_player_has_waited(&j->player, entry);
	struct track failed = {0};

	if (r->phase == MUSIC_PHASE_FAILED && place != MUSIC_QUEUE_END)
		failed = *music_queue_at(j->queue, place);
	music_player_report(&j->player, r);
	if (r->music == j->player.present.music)
		j->heard = *r;
	/* One that could not be prepared may be tried again, and has not failed yet. One that ended
	 * the music, or waits until others have played, is told although it stays. */
	halted = !halted && music_player_is_halted(&j->player);
	place = failed.id ? music_queue_find(j->queue, failed.id) : 0;
	if (failed.id && halted)
		tell_failure(j, &failed, reason, JUKEBOX_STOPPED);
	else if (failed.id && place == MUSIC_QUEUE_END)
		tell_failure(j, &failed, reason, waited ? JUKEBOX_GIVEN_UP : JUKEBOX_REMOVED);
	else if (failed.id && present && place)
		tell_failure(j, &failed, reason, JUKEBOX_WAITS);
}

static uint32_t entry_of(const struct jukebox *j, uint32_t music)
{
	if (music && music == j->player.present.music)
		return j->player.present.entry;
	return music && music == j->player.next.music ? j->player.next.entry : 0;
}

static bool is_refused(const struct media_music_state *s)
{
	static const char name[] = "http_error";

	return s->phase == MEDIA_MUSIC_PHASE_FAILED && s->failure.n == sizeof name - 1 &&
	       memcmp(s->failure.p, name, sizeof name - 1) == 0;
}

/* The other one's stays. */
static void set_title(struct jukebox *j, uint32_t music, const char *text, size_t n)
{
	uint32_t first = j->titles[0].music;
	bool second = first != music && (j->titles[1].music == music || entry_of(j, first));
	struct jukebox_title *t = &j->titles[second];

	if (!entry_of(j, music))
		return;
	t->music = music;
	track_set_text(t->text, sizeof t->text, text, n);
	j->n_titles++;
}

/* What was taken for a station is a file: its tags are its own. */
static void note_end(struct jukebox *j, uint32_t music)
{
	music_queue_note_end(j->queue, entry_of(j, music));
	if (!music || j->station.music != music)
		return;
	music_queue_describe(j->queue, entry_of(j, music), &j->station.tags);
	set_title(j, music, "", 0);
	j->station.music = 0;
}

/* The old place plays on. */
static void tell_unsought(struct jukebox *j, uint32_t music, const char *reason)
{
	const struct track *t =
		music_queue_at(j->queue, music_queue_find(j->queue, entry_of(j, music)));

	log_info("seek_failed", "guild=%llu why=\"%s\"", ID(j->conf.guild), reason);
	if (t && j->conf.unsoughth)
		j->conf.unsoughth(t, reason, j->conf.arg);
}

/* It was not known to be a station: what is prepared of one is given back. */
static void note_endless(struct jukebox *j, uint32_t music)
{
	if (music_queue_note_endless(j->queue, entry_of(j, music)))
		music_player_sync(&j->player);
}

static bool is_open(const struct media_music_state *s)
{
	return s->phase == MEDIA_MUSIC_PHASE_READY || s->phase == MEDIA_MUSIC_PHASE_PLAYING ||
	       s->phase == MEDIA_MUSIC_PHASE_PAUSED || s->phase == MEDIA_MUSIC_PHASE_WAITING;
}

static void take_state(struct jukebox *j, const struct media_music_state *s)
{
	struct track tags = {.duration_ms = s->duration / (MUSIC_FRAMES_PER_S / 1000)};
	struct music_report r;
	char reason[160];

	snprintf(reason, sizeof reason, "%.*s", (int)s->text.n, (const char *)s->text.p);
	music_queue_describe(j->queue, entry_of(j, s->music), &tags);
	if (tags.duration_ms && s->seekable)
		note_end(j, s->music);
	else if (!tags.duration_ms && !s->seekable && is_open(s))
		note_endless(j, s->music);
	if (s->phase == MEDIA_MUSIC_PHASE_PLAYING || s->phase == MEDIA_MUSIC_PHASE_PAUSED ||
	    s->phase == MEDIA_MUSIC_PHASE_WAITING)
		j->fixed = s->seekable ? 0 : s->music;
	if (s->failure.n && s->phase != MEDIA_MUSIC_PHASE_FAILED)
		tell_unsought(j, s->music, reason);
	if (is_refused(s) && jukebox_renew_stream(j, s->music))
		return;
	if (media_music_report(&r, s))
		jukebox_report(j, &r, reason);
}

/* Those of a station are of the song that it plays. */
static void take_tags(struct jukebox *j, const struct media_music_tags *m)
{
	char label[TRACK_LABEL_MAX];
	struct track tags = {0};
	const struct track *t;

	track_set_text(tags.title, sizeof tags.title, (const char *)m->title.p, m->title.n);
	track_set_text(tags.artist, sizeof tags.artist, (const char *)m->artist.p, m->artist.n);
	track_set_text(tags.album, sizeof tags.album, (const char *)m->album.p, m->album.n);
	t = music_queue_at(j->queue, music_queue_find(j->queue, entry_of(j, m->music)));
	if (!t || t->source != TRACK_RADIO) {
		music_queue_describe(j->queue, entry_of(j, m->music), &tags);
		return;
	}
	j->station.music = m->music;
	j->station.tags = tags;
	track_write_label(label, &tags);
	set_title(j, m->music, label, strlen(label));
}

static void take_title(struct jukebox *j, const struct media_music_title *m)
{
	set_title(j, m->music, (const char *)m->title.p, m->title.n);
}

/* A call that is lost or over has no music. Every other state tells that mediad has the call. */
static void take_call(struct jukebox *j, unsigned phase)
{
	bool up = phase != MEDIA_PHASE_UNKNOWN && phase != MEDIA_PHASE_FAILED &&
		  phase != MEDIA_PHASE_CLOSED;

	if (up && !j->player.up)
		music_player_up(&j->player);
	else if (!up)
		music_player_down(&j->player);
}

void jukebox_media(struct jukebox *j, const struct media_msg *msg)
{
	if (!j->call)
		return;
	switch (msg->type) {
	case MEDIA_CALL_STATE:
		take_call(j, msg->call_state.phase);
		break;
	case MEDIA_MUSIC_STATE:
		take_state(j, &msg->music_state);
		break;
	case MEDIA_MUSIC_TAGS:
		take_tags(j, &msg->music_tags);
		break;
	case MEDIA_MUSIC_TITLE:
		take_title(j, &msg->music_title);
		break;
	default:
		return;
	}
	jukebox_settle(j);
}

void jukebox_settings(struct jukebox *j)
{
	if (j->call)
		music_player_restyle(&j->player);
}

static void on_tmr(void *arg)
{
	struct jukebox *j = arg;

	while (j->call && jukebox_fail_pages(j))
		;
	jukebox_drop_pages(j);
	save(j);
	if (must_tell(j))
		tell_changes(j);
	jukebox_settle(j);
}

static void on_saver(void *arg)
{
	jukebox_settle(arg);
}

/* ---- coming and going ---- */

int jukebox_alloc(struct jukebox **out, const struct jukebox_conf *conf)
{
	struct jukebox *j = calloc(1, sizeof *j);

	if (!j)
		return ENOMEM;
	j->conf = *conf;
	if (tmr_alloc(&j->tmr, conf->env, on_tmr, j) ||
	    tmr_alloc(&j->saver, conf->env, on_saver, j)) {
		jukebox_free(j);
		return ENOMEM;
	}
	*out = j;
	return 0;
}

static void put_back(struct jukebox *j)
{
	char *text = j->queue && j->conf.shelf ? music_queue_write(j->queue) : NULL;

	if (text)
		queue_shelf_put(j->conf.shelf, j->conf.guild, text);
	free(text);
}

struct jukebox *jukebox_free(struct jukebox *j)
{
	if (!j)
		return NULL;
	if (j->queue && (is_unsaved(j) || j->saved_position != music_queue_position(j->queue)))
		save_queue(j);
	put_back(j);
	music_player_down(&j->player);
	jukebox_drop_pages(j);
	tmr_free(j->tmr);
	tmr_free(j->saver);
	music_queue_free(j->queue);
	free(j);
	return NULL;
}

/* A queue of another channel ends; its volume stays. */
static int choose_queue(struct jukebox *j, uint64_t channel)
{
	struct music_queue *q = j->queue, *fresh;
	int err;

	if (!q && j->conf.shelf)
		q = queue_shelf_take(j->conf.shelf, j->conf.guild);
	j->queue = q;
	if (q && music_queue_channel(q) == channel)
		return 0;
	err = music_queue_alloc(&fresh, j->conf.guild, channel);
	if (err)
		return err;
	if (q)
		music_queue_succeed(fresh, q);
	music_queue_free(q);
	j->queue = fresh;
	return 0;
}

int jukebox_enter(struct jukebox *j, struct media_call *call, uint64_t channel)
{
	int err;

	if (j->call) {
		music_queue_set_channel(j->queue, channel);
		jukebox_settle(j);
		return 0;
	}
	err = choose_queue(j, channel);
	if (err)
		return err;
	j->call = call;
	j->heard = (struct music_report){0};
	memset(j->titles, 0, sizeof j->titles);
	j->station.music = 0;
	j->votes = (struct music_votes){0};
	music_player_init(&j->player, j->queue, jukebox_order, j);
	note_saved(j);
	j->queue_due = 0;
	j->told.phase = JUKEBOX_IDLE;
	j->told.revision = music_queue_revision(j->queue);
	jukebox_settle(j);
	return 0;
}

void jukebox_leave(struct jukebox *j)
{
	if (!j || !j->call)
		return;
	music_player_down(&j->player);
	j->call = NULL;
	jukebox_drop_pages(j);
	if (music_queue_present(j->queue))
		music_queue_set_paused(j->queue, true);
	jukebox_settle(j);
}

const struct music_queue *jukebox_queue(const struct jukebox *j)
{
	return j->queue;
}

void jukebox_hold(struct jukebox *j, bool held)
{
	if (j->call)
		music_player_hold(&j->player, held);
}

void jukebox_forget(struct jukebox *j, uint64_t user)
{
	if (j->queue)
		music_queue_forget(j->queue, user);
	jukebox_settle(j);
}
