/* /music, the buttons of the message about what plays, and what is suggested while a member types.
 *
 *   request              who                          what follows
 *   queue, now, history  members who see the channel  a list, for them alone
 *   play, add, next      those in the channel         tracks by control/music_sources; if several
 *                                                     fit, a select; then the jukebox
 *   all others, buttons  those in the channel         the jukebox, with the member's rights
 *
 * Answers are for the member alone; the room sees the message about what plays. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/control_inside.h"
#include "control/discord/components.h"
#include "control/discord/guilds.h"
#include "control/discord/music_commands.h"
#include "control/discord/music_message.h"
#include "control/jukebox/jukebox.h"
#include "control/library/library.h"
#include "control/music/choice.h"
#include "control/music/match.h"
#include "control/music_sources/music_sources.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

enum { OFFERS_MAX = 32, TYPINGS_MAX = 8, SUGGESTED = 25, CHANGES_A_MINUTE = COOLDOWN_MOST };
enum { LABEL_TYPED = 101 /* bytes of a suggestion with NUL */ };

/* /music play, add or next that waits for its tracks. */
struct music_search {
	struct music_search *next;
	struct control *c;
	struct command *cmd;
	struct music_request *request;
	enum music_command_kind kind;
	char label[LABEL_TYPED]; /* the words, as long as a suggestion is */
};

/* Several tracks fitted; the member has a select to choose. */
struct music_offer {
	struct music_offer *next; /* an older one */
	uint64_t guild;
	enum music_command_kind kind;
	struct music_choice choice;
};

/* A member types the words of a title. Each has the newest letters looked for alone, and all
 * together TYPINGS_MAX: the library is looked through by one thread for every server. */
struct music_typing {
	struct music_typing *next; /* an older one */
	struct control *c;
	uint64_t user;
	uint32_t id;
};

/* ---- who ---- */

/* The music of the channel where the bot is, if the member sees it; else NULL. */
static struct voice_session *find_music(struct control *c, uint64_t guild, uint64_t user,
					const json_t *member)
{
	struct voice_session *vs = control_find_voice_session(c, guild);
	uint64_t channel = vs ? voice_session_channel(vs) : 0, bits = 0;

	if (!channel || !voice_session_jukebox(vs) ||
	    !guilds_permissions_as(c->guilds, guild, channel, user, member, &bits) ||
	    !(bits & DISCORD_PERMISSION(DISCORD_BIT_VIEW_CHANNEL)))
		return NULL;
	return vs;
}

/* False, with the reason: the member is not in the channel, or blocked. */
static bool may_control(const struct control *c, const struct voice_session *vs, uint64_t user,
			struct words *words)
{
	struct guild_voice v;

	if (!guilds_voice(c->guilds, voice_session_guild(vs), user, &v) ||
	    v.channel != voice_session_channel(vs)) {
		words_music_come_in(words);
		return false;
	}
	if (voice_session_blocks(vs, user)) {
		words_music_blocked(words);
		return false;
	}
	return true;
}

/* The same of a member who has not asked for very much in the last minute: each change is saved,
 * and shown to all. */
static bool may_change(struct control *c, const struct voice_session *vs, uint64_t user,
		       struct words *words)
{
	if (!may_control(c, vs, user, words))
		return false;
	if (cooldown_take(&c->music, voice_session_guild(vs), user, CHANGES_A_MINUTE,
			  env_now(c->env)))
		return true;
	words_ask_too_often(words, CHANGES_A_MINUTE);
	return false;
}

/* ---- what the jukebox did ---- */

static void tell_wait(struct words *words, const struct jukebox *j, size_t place)
{
	char time[MUSIC_TIME_MAX];
	uint64_t ms;

	if (!music_queue_wait_ms(jukebox_queue(j), place, &ms))
		return;
	music_time_write(time, ms / 1000);
	words_music_wait(words, time);
}

/* Why a track does not stand where it was wanted. */
static void tell_turn(struct words *words, enum music_turn turn)
{
	if (turn == MUSIC_TURN_TAKEN)
		words_music_one_passes(words);
	else if (turn == MUSIC_TURN_HAD)
		words_music_had_turn(words);
}

static void tell_added(struct words *words, const struct jukebox *j,
		       const struct jukebox_request *r, const struct jukebox_answer *a,
		       const char *label)
{
	if (r->n > 1)
		words_music_added_many(words, (unsigned)a->n, (unsigned)a->place + 1);
	else if (a->place)
		words_music_added(words, label, (unsigned)a->place + 1);
	else
		words_music_plays(words, label);
	if (a->place)
		tell_wait(words, j, a->place);
	tell_turn(words, a->turn);
	if (a->n < r->n)
		words_music_no_room(words, (unsigned)(r->n - a->n));
}

static void tell_loop(struct words *words, enum music_loop loop)
{
	if (loop == MUSIC_LOOP_TRACK)
		words_music_loop_track(words);
	else if (loop == MUSIC_LOOP_QUEUE)
		words_music_loop_queue(words);
	else
		words_music_loop_off(words);
}

static void tell_position(struct words *words, uint64_t frames)
{
	char time[MUSIC_TIME_MAX];

	music_time_write(time, frames / MUSIC_FRAMES_PER_S);
	words_music_position(words, time);
}

static void tell_skipped(struct words *words, const struct jukebox *j, const char *label)
{
	words_music_skipped(words, label);
	if (!music_queue_present(jukebox_queue(j)))
		words_music_skipped_all(words);
}

static void tell_done(struct words *words, const struct jukebox *j, const struct jukebox_request *r,
		      const struct jukebox_answer *a)
{
	char label[TRACK_LABEL_MAX] = "";

	if (a->has_track)
		track_write_label(label, &a->track);
	else if (r->n)
		track_write_label(label, r->tracks);
	switch (r->act) {
	case MUSIC_ACT_PLAY:
	case MUSIC_ACT_QUEUE_ADD:
		tell_added(words, j, r, a, label);
		break;
	case MUSIC_ACT_REMOVE:
		words_music_removed(words, label);
		break;
	case MUSIC_ACT_MOVE:
		words_music_moved(words, label, (unsigned)a->place + 1);
		break;
	case MUSIC_ACT_SKIP:
		tell_skipped(words, j, label);
		break;
	case MUSIC_ACT_PAUSE:
		words_music_pauses(words);
		break;
	case MUSIC_ACT_RESUME:
		words_music_goes_on(words);
		break;
	case MUSIC_ACT_SEEK:
		tell_position(words, r->position);
		break;
	case MUSIC_ACT_STOP:
		words_music_stopped(words);
		break;
	case MUSIC_ACT_CLEAR:
		words_music_cleared(words);
		break;
	case MUSIC_ACT_SHUFFLE:
		words_music_shuffled(words);
		break;
	case MUSIC_ACT_LOOP:
		tell_loop(words, r->loop);
		break;
	case MUSIC_ACT_VOLUME:
		words_music_volume(words, r->volume * 100 / MUSIC_VOLUME_FULL);
		break;
	default: /* PREVIOUS, JUMP */
		words_music_plays(words, label);
		break;
	}
}

static void tell_length(struct words *words, const struct jukebox_answer *a)
{
	char time[MUSIC_TIME_MAX];

	music_time_write(time, a->track.duration_ms / 1000);
	words_music_past_end(words, time);
}

static void tell_error(struct words *words, enum music_act act, const struct jukebox_answer *a,
		       int err)
{
	bool of_entry = act == MUSIC_ACT_REMOVE || act == MUSIC_ACT_MOVE || act == MUSIC_ACT_JUMP;

	if (err == ENOENT && of_entry)
		words_music_no_entry(words);
	else if (err == ENOENT)
		words_music_nothing_plays(words);
	else if (err == EALREADY)
		words_music_already(words);
	else if (err == ENOSPC)
		words_music_full(words);
	else if (err == EDQUOT)
		words_music_share(words);
	else if (err == ENOTSUP)
		words_music_no_seek(words);
	else if (err == ERANGE)
		tell_length(words, a);
	else if (err == ENOTCONN)
		words_not_here(words);
	else if (err == ENODEV)
		words_music_no_decoder(words);
	else if (err == ENXIO)
		words_music_no_folder(words);
	else if (err == EADDRNOTAVAIL)
		words_music_no_address(words);
	else
		words_music_no_luck(words);
}

/* True if it was done; else the words tell why not. */
static bool do_request(struct voice_session *vs, const struct jukebox_request *r,
		       struct words *words)
{
	struct jukebox *j = voice_session_jukebox(vs);
	struct jukebox_answer a;
	int err = jukebox_do(j, r, &a);

	if (err)
		tell_error(words, r->act, &a, err);
	else if (a.verdict == MUSIC_NEEDS_VOTE)
		words_music_vote(words, a.tally.votes, a.tally.needed);
	else if (a.verdict == MUSIC_NEEDS_DJ && a.turn)
		tell_turn(words, a.turn);
	else if (a.verdict == MUSIC_NEEDS_DJ)
		words_music_needs_dj(words);
	else
		tell_done(words, j, r, &a);
	return !err && a.verdict == MUSIC_ALLOWED;
}

/* ---- tracks that were found ---- */

static void add_tracks(struct control *c, uint64_t guild, uint64_t user,
		       enum music_command_kind kind, const struct track *tracks, size_t n,
		       struct words *words)
{
	struct voice_session *vs = control_find_voice_session(c, guild);
	struct jukebox_request r = {.act = kind == MUSIC_COMMAND_PLAY ? MUSIC_ACT_PLAY
								      : MUSIC_ACT_QUEUE_ADD,
				    .user = user,
				    .tracks = tracks,
				    .n = n,
				    .place = kind == MUSIC_COMMAND_ADD ? MUSIC_QUEUE_END : 0};

	if (!vs || !voice_session_jukebox(vs))
		words_not_here(words);
	else if (may_control(c, vs, user, words))
		do_request(vs, &r, words);
}

static struct music_offer *find_offer(struct control *c, uint64_t guild, uint64_t user)
{
	struct music_offer *o = c->music_offers;

	while (o && (o->guild != guild || o->choice.user != user))
		o = o->next;
	return o;
}

/* The member's own one again, or a new one; the oldest gives way. */
static struct music_offer *make_offer(struct control *c, uint64_t guild, uint64_t user)
{
	struct music_offer *o = find_offer(c, guild, user), **at = &c->music_offers;
	unsigned n = 0;

	if (o)
		return o;
	for (; *at; at = &(*at)->next)
		if (++n == OFFERS_MAX) {
			free(*at);
			*at = NULL;
			break;
		}
	o = calloc(1, sizeof *o);
	if (!o)
		return NULL;
	o->guild = guild;
	o->next = c->music_offers;
	c->music_offers = o;
	return o;
}

static json_t *offer_select(const struct control *c, const struct music_offer *o)
{
	json_t *options = json_array();
	char selection[TRACK_SELECTION_MAX], label[LABEL_TYPED];

	for (unsigned i = 0; i < o->choice.n; i++) {
		track_write_selection(selection, &o->choice.option[i]);
		utf8_copy(label, sizeof label, o->choice.label[i]);
		json_array_append_new(options,
				      json_pack("{s:s,s:s}", "label", label, "value", selection));
	}
	return component_row(json_pack("[o]", component_select("music_choice", o->choice.user,
							       env_wall_ms(c->env), options)));
}

/* A suggestion that was taken is the label of its track, with its album where another one has the
 * same label (control/discord/music_commands.h). */
static const struct track *find_label(const struct music_search *s, const struct library_hit *hits,
				      size_t n)
{
	char full[TRACK_LABEL_MAX], label[LABEL_TYPED];
	const struct track *found = NULL;

	for (size_t i = 0; i < n; i++) {
		track_write_edition(label, sizeof label, &hits[i].track);
		if (strcmp(label, s->label) == 0)
			return &hits[i].track;
		track_write_label(full, &hits[i].track);
		utf8_copy(label, sizeof label, full);
		if (strcmp(label, s->label) != 0)
			continue;
		if (found && track_is_other_edition(found, &hits[i].track))
			return NULL;
		found = found ? found : &hits[i].track;
	}
	return found;
}

/* The select of the answer; NULL: the words are all. An offer is made for several tracks alone, or
 * requests that need none would make those of others expire. */
static json_t *offer(const struct music_search *s, const struct music_choice *choice,
		     struct words *words)
{
	struct music_offer *o = make_offer(s->c, s->cmd->guild, s->cmd->user);

	if (!o) {
		words_music_no_luck(words);
		return NULL;
	}
	o->kind = s->kind;
	o->choice = *choice;
	music_choice_offer(&o->choice, s->cmd->user, MUSIC_CHOOSE_PLAY, env_now(s->c->env));
	words_music_which(words);
	return offer_select(s->c, o);
}

/* The components of the answer; NULL: the words are all. */
static json_t *choose(struct music_search *s, const struct music_found *found, struct words *words)
{
	struct music_hit ranked[LIBRARY_HITS_MAX];
	const struct track *exact = find_label(s, found->hits, found->n);
	uint64_t guild = s->cmd->guild, user = s->cmd->user;
	enum music_decision decision = MUSIC_ONE_FITS;
	struct music_choice choice = {0};
	size_t n = found->n < LIBRARY_HITS_MAX ? found->n : LIBRARY_HITS_MAX;

	for (size_t i = 0; i < n; i++)
		ranked[i] = (struct music_hit){&found->hits[i].track, found->hits[i].score};
	if (!exact)
		decision = music_choice_decide(&choice, ranked, n);
	if (decision == MUSIC_MANY_FIT)
		return offer(s, &choice, words);
	if (decision == MUSIC_NONE_FITS)
		words_music_nothing_fits(words);
	else
		add_tracks(s->c, guild, user, s->kind, exact ? exact : &choice.option[0], 1, words);
	return NULL;
}

static void add_list(struct music_search *s, const struct music_found *found, struct words *words)
{
	struct track *tracks = calloc(found->n, sizeof *tracks);

	for (size_t i = 0; tracks && i < found->n; i++)
		tracks[i] = found->hits[i].track;
	if (tracks)
		add_tracks(s->c, s->cmd->guild, s->cmd->user, s->kind, tracks, found->n, words);
	else
		words_music_no_luck(words);
	free(tracks);
}

static void end_search(struct music_search *s)
{
	for (struct music_search **at = &s->c->music_searches; *at; at = &(*at)->next)
		if (*at == s) {
			*at = s->next;
			break;
		}
	free(s);
}

static void on_found(const struct music_found *found, void *arg)
{
	struct music_search *s = arg;
	struct command *cmd = s->cmd;
	struct words words = {0};
	json_t *components = NULL;

	words_speak(&words, cmd->locale);
	if (found->why)
		words_music_not_found(&words, found->why);
	else if (found->list && found->n)
		add_list(s, found, &words);
	else
		components = choose(s, found, &words);
	end_search(s);
	command_reply_with(cmd, &words, components);
}

/* 0: on_found answers. */
static int begin_search(struct control *c, struct command *cmd, const struct music_command *m)
{
	const struct music_asker asker = {cmd->guild, cmd->user};
	struct music_search *s = calloc(1, sizeof *s);
	char url[MUSIC_ADDRESS_MAX + 1]; /* one that is cut is too long, too */
	struct slice address;
	int err;

	if (!s)
		return ENOMEM;
	s->c = c;
	s->cmd = cmd;
	s->kind = m->kind;
	utf8_copy(s->label, sizeof s->label, m->query);
	if (music_command_address(m->query, &address)) {
		snprintf(url, sizeof url, "%.*s", (int)address.n, (const char *)address.p);
		err = music_sources_address(&s->request, c->sources, asker, url, on_found, s);
	} else {
		err = music_sources_words(
			&s->request, c->sources,
			&(struct music_words){asker, m->query, MUSIC_ANYWHERE, SUGGESTED, true},
			on_found, s);
	}
	s->next = c->music_searches;
	c->music_searches = s;
	if (err)
		end_search(s);
	return err;
}

/* ---- the command ---- */

static void show(const struct voice_session *vs, const struct music_command *m, struct words *words)
{
	struct music_view v;

	if (!voice_session_music_view(vs, &v))
		words_music_nothing_plays(words);
	else if (m->kind == MUSIC_COMMAND_HISTORY)
		music_message_history(words, v.queue);
	else if (m->kind == MUSIC_COMMAND_QUEUE)
		music_message_queue(words, &v, m->page);
	else if (!music_queue_present(v.queue))
		words_music_nothing_plays(words);
	else
		music_message_write(words, &v);
}

static void act(struct voice_session *vs, const struct command *cmd, const struct music_command *m,
		struct words *words)
{
	const struct music_queue *q = jukebox_queue(voice_session_jukebox(vs));
	struct jukebox_request r = {.act = m->act,
				    .user = cmd->user,
				    .place = m->place,
				    .position = m->position_s * MUSIC_FRAMES_PER_S,
				    .volume = m->volume,
				    .loop = m->loop};

	if (m->track && q)
		r.entry = music_command_find(q, m->track);
	if (!m->track || r.entry)
		do_request(vs, &r, words);
	else if (*m->track == '#') /* as it is suggested */
		words_music_no_entry(words);
	else
		words_music_nothing_fits(words);
}

/* Once for each setting: members may ask for it all the time. */
static void log_missing(struct control *c, unsigned bit, const char *settings)
{
	if (c->music_missing & bit)
		return;
	c->music_missing |= bit;
	log_warn("music_not_set_up",
		 "settings=\"%s\" hint=\"members ask for music that needs one of "
		 "these settings\"",
		 settings);
}

/* Nothing that is set up takes the request. */
static void tell_unsupported(struct control *c, const struct music_command *m, struct words *words)
{
	bool searches = music_sources_search(c->sources);
	struct slice address;

	if (!searches && !music_sources_web(c->sources)) {
		words_music_none(words);
		log_missing(c, 1, "music_folders, music_web, music_downloader");
	} else if (!searches && !music_command_address(m->query, &address)) {
		words_music_addresses_only(words);
		log_missing(c, 2, "music_folders, music_downloader");
	} else {
		words_music_no_web(words);
		log_missing(c, 4, "music_web, music_downloader");
	}
}

/* True if somebody answers later. */
static bool begin_adding(struct control *c, struct command *cmd, const struct music_command *m,
			 struct words *words)
{
	int err = begin_search(c, cmd, m);

	if (err == ENOTSUP)
		tell_unsupported(c, m, words);
	else if (err == EDQUOT)
		words_music_busy(words);
	else if (err)
		words_music_no_luck(words);
	return !err;
}

void control_answer_music(struct control *c, struct command *cmd)
{
	struct voice_session *vs = find_music(c, cmd->guild, cmd->user, cmd->member);
	struct words words = {0};
	struct music_command m;
	int err = music_command_parse(cmd->options, &m);

	words_speak(&words, cmd->locale);
	if (err == EINVAL)
		words_music_bad_time(&words);
	else if (err)
		words_music_no_luck(&words);
	else if (!vs)
		words_music_not_here(&words);
	else if (m.act == MUSIC_ACT_NOW_PLAYING)
		show(vs, &m, &words);
	else if (!may_change(c, vs, cmd->user, &words))
		;
	else if (!m.query)
		act(vs, cmd, &m, &words);
	else if (begin_adding(c, cmd, &m, &words))
		return;
	command_reply(cmd, &words);
}

/* ---- buttons and the select ---- */

static void press_choice(struct control *c, struct press *p)
{
	struct music_offer *o = find_offer(c, p->guild, p->user);
	const struct track *t =
		o ? music_choice_pick(&o->choice, p->user, p->value, env_now(c->env)) : NULL;
	struct words words = {0};

	words_speak(&words, p->locale);
	if (t)
		add_tracks(c, p->guild, p->user, o->kind, t, 1, &words);
	else
		words_component_expired(&words);
	if (t)
		music_choice_clear(&o->choice);
	press_update(p, &words, NULL);
}

static const enum music_act button_acts[MUSIC_BUTTON_COUNT] = {
	[MUSIC_BUTTON_PREVIOUS] = MUSIC_ACT_PREVIOUS, [MUSIC_BUTTON_PAUSE] = MUSIC_ACT_PAUSE,
	[MUSIC_BUTTON_RESUME] = MUSIC_ACT_RESUME,     [MUSIC_BUTTON_SKIP] = MUSIC_ACT_SKIP,
	[MUSIC_BUTTON_STOP] = MUSIC_ACT_STOP,	      [MUSIC_BUTTON_LOOP] = MUSIC_ACT_LOOP,
	[MUSIC_BUTTON_SHUFFLE] = MUSIC_ACT_SHUFFLE,
};

/* The request of a button, about the track that the message showed when it was pressed. ENOENT:
 * another one plays, or the bot is in another channel. */
static int read_button(struct voice_session *vs, const struct press *p, enum music_button button,
		       struct jukebox_request *r)
{
	const struct music_queue *q = jukebox_queue(voice_session_jukebox(vs));
	const struct track *present = q ? music_queue_present(q) : NULL;
	bool of_queue = button == MUSIC_BUTTON_LOOP || button == MUSIC_BUTTON_SHUFFLE;
	uint64_t channel;
	uint32_t entry;

	if (music_subject_parse(p->subject, &channel, &entry) || !present ||
	    channel != music_queue_channel(q) || (!of_queue && entry != present->id))
		return ENOENT;
	*r = (struct jukebox_request){.act = button_acts[button], .user = p->user};
	if (button == MUSIC_BUTTON_LOOP)
		r->loop = (enum music_loop)((music_queue_loop(q) + 1) % MUSIC_LOOP_COUNT);
	if (button == MUSIC_BUTTON_SKIP)
		r->entry = entry;
	return 0;
}

bool control_press_music(struct control *c, struct press *p)
{
	struct voice_session *vs;
	struct jukebox_request r;
	enum music_button button;
	struct words words = {0};

	if (strcmp(p->action, "music_choice") == 0) {
		press_choice(c, p);
		return true;
	}
	if (!music_button_parse(&button, p->action))
		return false;
	vs = find_music(c, p->guild, p->user, p->member);
	words_speak(&words, p->locale);
	if (!vs)
		words_not_here(&words);
	else if (!may_change(c, vs, p->user, &words))
		;
	else if (read_button(vs, p, button, &r))
		words_music_no_entry(&words);
	else if (do_request(vs, &r, &words)) {
		press_accept(p);
		return true;
	}
	press_refuse(p, &words);
	return true;
}

/* ---- typing ---- */

static void end_typing(struct music_typing *t)
{
	for (struct music_typing **at = &t->c->music_typings; *at; at = &(*at)->next)
		if (*at == t) {
			*at = t->next;
			break;
		}
	free(t);
}

static void on_suggested(int err, const struct library_hit *hits, size_t n, void *arg)
{
	struct music_typing *t = arg;

	components_suggest(t->c->components, t->id, err ? NULL : music_suggest_hits(hits, n));
	end_typing(t);
}

/* It gets no suggestions. */
static void drop_typing(struct music_typing *t)
{
	library_forget(t->c->library, t);
	components_suggest(t->c->components, t->id, NULL);
	end_typing(t);
}

/* Makes room for letters that this member types now. */
static void drop_old_typings(struct control *c, uint64_t user)
{
	struct music_typing *t = c->music_typings, *next;
	unsigned others = 0;

	for (; t; t = next) {
		next = t->next;
		if (t->user == user || ++others == TYPINGS_MAX)
			drop_typing(t);
	}
}

/* False: nothing is under way. */
static bool search_for_typing(struct control *c, const struct typing *typing, uint32_t id)
{
	struct music_typing *t = c->library && *typing->text ? calloc(1, sizeof *t) : NULL;

	if (!t)
		return false;
	drop_old_typings(c, typing->user);
	t->c = c;
	t->user = typing->user;
	t->id = id;
	t->next = c->music_typings;
	c->music_typings = t;
	if (library_suggest(c->library, typing->text, SUGGESTED, on_suggested, t) == 0)
		return true;
	end_typing(t);
	return false;
}

void control_type_music(struct control *c, const struct typing *typing, uint32_t id)
{
	struct voice_session *vs = find_music(c, typing->guild, typing->user, typing->member);
	const struct music_queue *q = vs ? jukebox_queue(voice_session_jukebox(vs)) : NULL;
	json_t *choices = NULL;

	if (vs && strcmp(typing->option, "query") == 0 && !voice_session_blocks(vs, typing->user) &&
	    search_for_typing(c, typing, id))
		return;
	if (q && strcmp(typing->option, "track") == 0)
		choices = music_suggest_entries(q, typing->text);
	components_suggest(c->components, id, choices);
}

void control_end_music(struct control *c)
{
	struct music_search *s;
	struct music_typing *t;
	struct music_offer *o;

	while ((s = c->music_searches)) {
		c->music_searches = s->next;
		music_request_cancel(s->request);
		free(s);
	}
	while ((t = c->music_typings)) {
		c->music_typings = t->next;
		library_forget(c->library, t);
		free(t);
	}
	while ((o = c->music_offers)) {
		c->music_offers = o->next;
		free(o);
	}
}
