#include "control/agent/agent_screens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/agent/agent_music.h"
#include "control/agent/inside.h"
#include "control/agent/screen_looks.h"
#include "control/media/media.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/tools/builtin/host.h"
#include "control/tools/untrusted.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

/* ---- before a question ---- */

bool agent_screens_seen(const struct agent *a)
{
	return a->settings->screen_mode == SETTINGS_SCREEN_MULTIMODAL &&
	       roles_sees(a->roles, agent_reply_use(a));
}

/* Which pictures come with a question if there are too many: the speaker's, the one that was asked
 * about by name, fresh ones, those of the newest share. It does not change with each word of a
 * page, as the order of their ages does. */
static bool goes_before(const struct agent *a, const struct vision_picture *p,
			const struct vision_picture *q, uint64_t speaker)
{
	const struct vision_picture *const both[] = {p, q};
	unsigned rank[2];

	for (unsigned i = 0; i < 2; i++)
		rank[i] = (unsigned)(both[i]->user == speaker) << 2 |
			  (unsigned)(both[i]->user == a->screen_asked) << 1 |
			  (both[i]->age_ms <= VISION_FRESH_MS);
	return rank[0] != rank[1] ? rank[0] > rank[1] : p->share > q->share;
}

/* All pictures of the room, those that come with a question first. */
static size_t find_pictures(struct agent *a, uint64_t speaker,
			    struct vision_picture all[SHARES_MAX])
{
	const struct media_want *where = media_call_want(a->call);
	size_t n = vision_latest(a->vision, where->guild, where->channel, all, SHARES_MAX);

	for (size_t i = 0; i < n && i < AGENT_SCREENS; i++)
		for (size_t k = i + 1; k < n; k++)
			if (goes_before(a, &all[k], &all[i], speaker)) {
				struct vision_picture p = all[i];

				all[i] = all[k];
				all[k] = p;
			}
	return n;
}

/* The names of those whose pictures do not come with the question. */
static void write_others(const struct agent *a, const struct vision_picture *all, size_t n,
			 char out[AGENT_SCREENS_OTHERS])
{
	char names[AGENT_SCREENS_OTHERS - sizeof PROMPT_SCREEN_OTHERS] = "";
	size_t used = 0;

	for (size_t i = AGENT_SCREENS; i < n && used < sizeof names; i++) {
		const char *name = turns_name(a->turns, all[i].user);

		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
					 used ? ", " : "", *name ? name : "somebody");
	}
	*out = '\0';
	if (!used)
		return;
	untrusted_clean_line(names);
	snprintf(out, AGENT_SCREENS_OTHERS, PROMPT_SCREEN_OTHERS, names);
}

/* Names and notes are text of strangers. */
static void write_text(struct agent *a, struct agent_shown *shown, size_t n, const char *others,
		       const char *notes)
{
	size_t used = (size_t)snprintf(shown->text, sizeof shown->text, "%s",
				       agent_screens_seen(a)	    ? PROMPT_SCREENS
				       : screen_looks_can(a->looks) ? PROMPT_SCREENS_BLIND
								    : PROMPT_SCREENS_UNSEEN);

	for (size_t i = 0; i < n && used < sizeof shown->text; i++) {
		untrusted_clean_line(shown->pictures[i].about);
		used += (size_t)snprintf(shown->text + used, sizeof shown->text - used, "\n%s",
					 shown->pictures[i].about);
	}
	if (*others && used < sizeof shown->text)
		used += (size_t)snprintf(shown->text + used, sizeof shown->text - used, "\n%s",
					 others);
	if (*notes && used < sizeof shown->text)
		snprintf(shown->text + used, sizeof shown->text - used, "\n%s", notes);
	/* What does not fit may end inside a character. */
	untrusted_clean(shown->text);
}

static uint64_t mix(uint64_t share, uint64_t what)
{
	uint64_t x = (share << 32 ^ what) * 0x9e3779b97f4a7c15u;

	return (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
}

bool agent_screens_message(struct agent *a, uint64_t speaker, struct agent_shown *shown,
			   struct engine_message *out, bool *fresh, bool *news)
{
	const struct media_want *where = media_call_want(a->call);
	struct vision_picture all[SHARES_MAX];
	char notes[VISION_NOTES_MAX], others[AGENT_SCREENS_OTHERS];
	uint64_t print = 0, words = 0;
	size_t n = a->vision ? find_pictures(a, speaker, all) : 0;

	if (!n)
		return false;
	for (size_t i = 0; i < n; i++) {
		/* One that does not come with the question is told by the name alone. */
		words += mix(all[i].share, i < AGENT_SCREENS ? all[i].words : UINT64_MAX);
		if (i >= AGENT_SCREENS)
			continue;
		shown->pictures[i] = all[i];
		shown->images[i] = all[i].image;
		a->screen_shares[i] = all[i].share;
		print += mix(all[i].share, all[i].number);
	}
	vision_notes(a->vision, where->guild, where->channel, notes);
	vision_looked(a->vision, where->guild, where->channel);
	write_others(a, all, n, others);
	n = n < AGENT_SCREENS ? n : AGENT_SCREENS;
	write_text(a, shown, n, others, notes);
	*fresh = print != a->screen_told;
	*news = *fresh || words != a->screen_words;
	a->screen_told = print;
	a->screen_words = words;
	*out = (struct engine_message){.role = ENGINE_USER,
				       .speaker = "",
				       .text = shown->text,
				       .images = shown->images,
				       .n_images = agent_screens_seen(a) ? n : 0};
	return true;
}

void agent_screens_note(struct agent *a, uint32_t turn)
{
	const struct media_want *where = media_call_want(a->call);
	uint64_t users[SHARES_MAX];
	size_t n = vision_whose(a->vision, where->guild, where->channel, users, SHARES_MAX);

	for (size_t i = 0; i < n; i++)
		turns_shown(a->turns, turn, users[i]);
	a->screen_held = a->screen_held || n;
}

/* A session forgets nothing that it was shown. A new one is told the question under way with its
 * pictures, so it begins when that turn is over. */
static void forget_screens(struct agent *a)
{
	if (a->screen_held && room_active(a->room))
		a->screen_over = true;
	else if (a->screen_held)
		agent_renew_voice(a);
}

/* ---- tools ---- */

static uint64_t user_of(const json_t *share)
{
	const char *text = json_string_value(json_object_get(share, "user"));
	uint64_t user = 0;

	return text && discord_u64(text, &user) ? user : 0;
}

static bool is_state(const json_t *share, const char *state)
{
	const char *own = json_string_value(json_object_get(share, "state"));

	return own && strcmp(own, state) == 0;
}

static bool is_named(const json_t *share, const char *name)
{
	const char *own = json_string_value(json_object_get(share, "name"));

	return own && strcasecmp(own, name) == 0;
}

/* The person of this name who has a share here, the speaker before others: anybody may take any
 * name. 0: there is none. */
static uint64_t find_target(const json_t *shares, const struct tool_screen *what)
{
	const json_t *share;
	uint64_t found = 0;
	size_t i;

	json_array_foreach(shares, i, share)
	{
		if (!is_named(share, what->target))
			continue;
		if (!found || user_of(share) == what->user)
			found = user_of(share);
	}
	return found;
}

/* The person of this name: somebody who shares a screen, else somebody in the room, else somebody
 * whose share ended a while ago. 0: nobody is known by this name. */
static uint64_t find_person(const struct agent *a, const json_t *shares,
			    const struct tool_screen *what)
{
	const struct media_want *where = media_call_want(a->call);
	uint64_t user = find_target(shares, what);

	if (!user)
		user = room_user_of(a->room, what->target);
	return user ? user
		    : vision_find_ended(a->vision, where->guild, where->channel, what->target);
}

/* Of this person's shares, one that is watched, or else any; NULL: there is none. */
static const json_t *find_share(const json_t *shares, uint64_t user)
{
	const json_t *share, *found = NULL;
	size_t i;

	json_array_foreach(shares, i, share)
	{
		if (user_of(share) != user)
			continue;
		if (!found || json_is_true(json_object_get(share, "watched")))
			found = share;
	}
	return found;
}

/* How to share a screen is told in writing, to the room; the link is told by the command alone. */
static void tell_how(struct agent *a)
{
	struct words words = {0};

	words_speak(&words, agent_language(a));
	words_share_ask(&words);
	if (a->tellh)
		a->tellh(&words, a->arg);
}

/* A page says by itself that it is watched, a stream of Discord does not. */
static void tell_stream(struct agent *a, const json_t *share)
{
	const char *name = json_string_value(json_object_get(share, "name"));
	struct words words = {0};
	char line[ROOM_NAME_MAX];

	if (!name || !is_state(share, "streaming") || !a->tellh)
		return;
	utf8_copy(line, sizeof line, name);
	untrusted_clean_line(line);
	words_speak(&words, agent_language(a));
	words_stream_watched(&words, line);
	a->tellh(&words, a->arg);
}

/* A link that was opened, a pause and a screen that is looked at again have no picture yet. */
static json_t *tell_watching(const json_t *share)
{
	if (json_is_integer(json_object_get(share, "ageMs")))
		return json_pack("{s:b,s:b}", "watching", 1, "sees", 1);
	return json_pack("{s:b,s:b,s:s}", "watching", 1, "sees", 0, "because",
			 is_state(share, "paused") ? PROMPT_SCREEN_IS_PAUSED
						   : PROMPT_SCREEN_NO_PICTURE);
}

/* Its person is elsewhere, or is not heard. The last picture may be there for a moment still. */
static json_t *tell_away(const struct agent *a, uint64_t user)
{
	const struct media_want *where = media_call_want(a->call);
	char why[VISION_ABOUT_MAX];

	if (!vision_unseen(a->vision, where->guild, where->channel, user, why))
		return json_pack("{s:b,s:b}", "watching", 1, "sees", 1);
	untrusted_clean_line(why);
	return json_pack("{s:b,s:s}", "watching", 0, "because", why);
}

/* Nobody but its owner has a screen looked at that is not: they may have said "stop looking", and
 * who streams shows it to people. */
static json_t *watch(struct agent *a, const struct tool_screen *what, const json_t *shares)
{
	const struct media_want *where = media_call_want(a->call);
	uint64_t target = *what->target ? find_target(shares, what) : what->user;
	const json_t *share = find_share(shares, target);
	const char *why = NULL;

	if (share && json_is_true(json_object_get(share, "watched")))
		return tell_watching(share);
	if (share && is_state(share, "away"))
		return tell_away(a, target);
	if (share && (target != what->user || what->shared))
		return json_pack("{s:b,s:s}", "watching", 0, "needs", PROMPT_SCREEN_NEEDS_OWNER);
	if (share && vision_watch(a->vision, where->guild, where->channel, target, true, &why)) {
		tell_stream(a, share);
		return tell_watching(share);
	}
	if (why)
		return json_pack("{s:b,s:s}", "watching", 0, "because", why);
	tell_how(a);
	return json_pack("{s:b,s:s}", "watching", 0, "needs", PROMPT_SCREEN_NEEDS_SHARE);
}

/* The one of the name; without, the asker's, and all if they have none or several people asked. */
static uint64_t find_unwatched(const struct tool_screen *what, const json_t *shares)
{
	const json_t *own = find_share(shares, what->user);

	if (*what->target)
		return find_target(shares, what);
	return !what->all && !what->shared && own && json_is_true(json_object_get(own, "watched"))
		       ? what->user
		       : 0;
}

static json_t *unwatch(struct agent *a, const struct tool_screen *what, const json_t *shares)
{
	const struct media_want *where = media_call_want(a->call);
	uint64_t target = find_unwatched(what, shares);
	unsigned n = *what->target && !target ? 0
					      : vision_watch(a->vision, where->guild,
							     where->channel, target, false, NULL);

	if (n) {
		screen_looks_stop(a->looks, target);
		forget_screens(a);
	}
	return json_pack("{s:b,s:i}", "watching", 0, "stopped", (int)n);
}

/* What is known of the screens besides what a picture shows. */
static json_t *describe_screens(struct agent *a, struct vision_picture *pictures, size_t n,
				const char *note)
{
	const struct media_want *where = media_call_want(a->call);
	json_t *list = json_array();
	char notes[VISION_NOTES_MAX];

	for (size_t i = 0; i < n; i++) {
		untrusted_clean_line(pictures[i].about);
		json_array_append_new(list, json_string(pictures[i].about));
	}
	vision_notes(a->vision, where->guild, where->channel, notes);
	untrusted_clean(notes);
	return json_pack("{s:o,s:s,s:s}", "screens", list, "notes", notes, "note", note);
}

static void put_output(json_t *out, uint32_t id, bool ok, agent_screens_h *outputh, void *arg)
{
	char *text = out ? json_dumps(out, JSON_COMPACT) : NULL;

	json_decref(out);
	outputh(id, ok && text, text ? slice_str(text) : slice_str("no memory"), arg);
	free(text);
}

static void take_looked(uint32_t id, const struct screen_looked *got, void *arg)
{
	struct agent *a = arg;
	char *shows = strdup(got->text), *about = strdup(got->about);
	json_t *out;

	if (shows && about) {
		untrusted_clean(shows);
		untrusted_clean_line(about);
	}
	out = got->ok ? json_pack("{s:s?,s:s?,s:I}", "screen", about, "shows", shows,
				  "picture_age_s", (json_int_t)(got->age_ms / 1000))
		      : json_pack("{s:s?,s:s,s:s}", "screen", about, "not_seen_because", got->text,
				  "note", PROMPT_SCREEN_NOT_SEEN);
	put_output(out, id, true, agent_tools_output, a->tools);
	free(shows);
	free(about);
}

/* Of the pictures, the first one of this person's screen (0: of anybody's). */
static const struct vision_picture *find_of(const struct vision_picture *pictures, size_t n,
					    uint64_t user)
{
	for (size_t i = 0; i < n; i++)
		if (!user || pictures[i].user == user)
			return &pictures[i];
	return NULL;
}

static bool is_told(const struct agent *a, uint32_t share)
{
	for (unsigned i = 0; i < AGENT_SCREENS; i++)
		if (a->screen_shares[i] == share)
			return true;
	return false;
}

/* Why there is no such picture. user 0: of anybody's screen, or of somebody's who is not known. */
static json_t *tell_unseen(struct agent *a, struct vision_picture *pictures, size_t n,
			   uint64_t user, bool unknown)
{
	const struct media_want *where = media_call_want(a->call);
	json_t *out = describe_screens(a, pictures, n,
				       n ? PROMPT_SCREEN_NOT_THEIRS : PROMPT_SCREEN_NOT_SEEN);
	char why[VISION_ABOUT_MAX];

	if (unknown)
		snprintf(why, sizeof why, "%s", PROMPT_UNSEEN_UNKNOWN);
	else if (!vision_unseen(a->vision, where->guild, where->channel, user, why))
		return out;
	untrusted_clean_line(why);
	json_object_set_new(out, "not_seen_because", json_string(why));
	return out;
}

/* *out NULL: the output follows. */
static int see(struct agent *a, uint32_t id, const struct tool_screen *what, const json_t *shares,
	       json_t **out)
{
	const struct media_want *where = media_call_want(a->call);
	struct vision_picture pictures[SHARES_MAX];
	size_t n = find_pictures(a, what->user, pictures);
	uint64_t user = *what->target ? find_person(a, shares, what) : 0;
	bool unknown = *what->target && !user;
	const struct vision_picture *picture = unknown ? NULL : find_of(pictures, n, user);

	agent_screens_note(a, what->turn);
	vision_looked(a->vision, where->guild, where->channel);
	if (user)
		a->screen_asked = user;
	if (!picture)
		*out = tell_unseen(a, pictures, n, user, unknown);
	else if (agent_screens_seen(a) && is_told(a, picture->share))
		*out = describe_screens(a, pictures, n, PROMPT_SCREEN_SEEN);
	else if (!a->looks)
		*out = describe_screens(a, pictures, n, PROMPT_SCREEN_NO_EYES);
	else
		return screen_looks_ask(a->looks, id, picture, what->question, take_looked, a);
	return 0;
}

static json_t *list_shares(struct agent *a, const struct tool_screen *what, const json_t *shares)
{
	const struct media_want *where = media_call_want(a->call);
	const json_t *share;
	size_t i;

	json_array_foreach(shares, i, share)
	{
		turns_shown(a->turns, what->turn, user_of(share));
	}
	return json_pack("{s:O?,s:o?}", "shares", shares, "own",
			 vision_shown(a->vision, where->guild, where->channel));
}

/* ---- a video of ours ---- */

/* Its title is text of strangers. */
static void take_shown(const struct vision_film_state *state, void *arg)
{
	struct agent *a = arg;
	char *title = strdup(state->title);
	uint32_t id = a->film_call;
	json_t *out;

	a->film_call = 0;
	if (title)
		untrusted_clean_line(title);
	out = state->playing ? json_pack("{s:b,s:s,s:s?,s:I}", "playing", 1, "begins",
					 "when somebody watches it", "title", title, "seconds",
					 (json_int_t)(state->duration_ms / 1000))
			     : json_pack("{s:b,s:s}", "playing", 0, "because", state->why);
	put_output(out, id, true, agent_tools_output, a->tools);
	free(title);
}

/* mode: as vision_film.visualizer. */
static json_t *show(struct agent *a, uint32_t id, const struct tool_screen *what, unsigned mode)
{
	const struct media_want *where = media_call_want(a->call);
	const char *why = vision_show(a->vision,
				      &(struct vision_film){.guild = where->guild,
							    .channel = where->channel,
							    .user = what->user,
							    .url = what->url,
							    .sound = what->sound,
							    .visualizer = mode},
				      take_shown, a);

	if (why)
		return json_pack("{s:b,s:s}", "playing", 0, "because", why);
	a->film_call = id;
	return NULL;
}

void agent_screens_cancel(struct agent *a, uint32_t id)
{
	if (!a->film_call || a->film_call != id)
		return;
	a->film_call = 0;
	vision_forget_show(a->vision, a);
	vision_end_show(a->vision, media_call_want(a->call)->guild);
}

/* The mode of that name plus one; that of the settings, if it is none. */
static unsigned find_mode(const struct agent *a, const char *name)
{
	static const char *const names[] = {[SETTINGS_VISUALIZER_CQT] = "cqt",
					    [SETTINGS_VISUALIZER_SPECTRUM] = "spectrum",
					    [SETTINGS_VISUALIZER_WAVES] = "waves",
					    [SETTINGS_VISUALIZER_VECTORSCOPE] = "vectorscope"};

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return i + 1;
	return a->settings->music_visualizer + 1;
}

static json_t *visualize(struct agent *a, uint32_t id, const struct tool_screen *what)
{
	if (!agent_music_has_track(a->music))
		return json_pack("{s:b,s:s}", "playing", 0, "because", "no music plays");
	return show(a, id, what, find_mode(a, what->mode));
}

static json_t *end_show(struct agent *a)
{
	const struct media_want *where = media_call_want(a->call);

	return json_pack("{s:b,s:b}", "playing", 0, "stopped",
			 vision_end_show(a->vision, where->guild));
}

int agent_screens_ask(struct agent *a, uint32_t id, const struct tool_screen *what,
		      agent_screens_h *outputh, void *out_arg)
{
	const struct media_want *where = media_call_want(a->call);
	json_t *shares = vision_list(a->vision, where->guild, where->channel), *out = NULL;
	int err = 0;

	if (what->op == TOOL_SCREEN_WATCH)
		out = watch(a, what, shares);
	else if (what->op == TOOL_SCREEN_UNWATCH)
		out = unwatch(a, what, shares);
	else if (what->op == TOOL_SCREEN_LIST)
		out = list_shares(a, what, shares);
	else if (what->op == TOOL_SCREEN_SHOW)
		out = show(a, id, what, 0);
	else if (what->op == TOOL_SCREEN_VISUALIZE)
		out = visualize(a, id, what);
	else if (what->op == TOOL_SCREEN_SHOW_END)
		out = end_show(a);
	else
		err = see(a, id, what, shares, &out);
	if (out)
		put_output(out, id, true, outputh, out_arg);
	else if (what->op != TOOL_SCREEN_SEE && !a->film_call)
		err = ENOMEM;
	json_decref(shares);
	return err;
}

/* ---- what happens ---- */

void agent_screen_share(struct agent *a, uint64_t user, bool shown)
{
	const char *name = turns_name(a->turns, user);
	char line[sizeof PROMPT_SCREEN_OVER + ROOM_NAME_MAX];

	if (!shown) {
		screen_looks_stop(a->looks, user);
		forget_screens(a);
	}
	agent_feed(a, &(struct room_event){.type = ROOM_SCREEN_SHARE, .user = user, .yes = shown});
	/* Others are told as a moment of the room. */
	if (!*name || a->settings->reply_path == SETTINGS_REPLY_BRAIN)
		return;
	snprintf(line, sizeof line, shown ? PROMPT_SCREEN_BEGUN : PROMPT_SCREEN_OVER, name);
	untrusted_clean_line(line);
	roles_hear(a->roles,
		   &(struct engine_message){.role = ENGINE_USER, .speaker = "", .text = line});
}

void agent_screen_unseen(struct agent *a, uint64_t user, const char *why, bool told)
{
	const char *name = turns_name(a->turns, user);
	char line[sizeof PROMPT_SCREEN_UNSEEN + ROOM_NAME_MAX + 160];
	struct words words = {0};

	snprintf(line, sizeof line, "%s", name);
	untrusted_clean_line(line);
	words_speak(&words, agent_language(a));
	words_stream_unseen(&words, line);
	if (a->tellh && !told)
		a->tellh(&words, a->arg);
	snprintf(line, sizeof line, PROMPT_SCREEN_UNSEEN, name, why);
	untrusted_clean_line(line);
	roles_hear(a->roles,
		   &(struct engine_message){.role = ENGINE_USER, .speaker = "", .text = line});
}

/* The asker's tool has told the model of its begin, and of a request that came to nothing. */
void agent_show(struct agent *a, const struct vision_show *what, unsigned over)
{
	static const char *const lines[] = {[VISION_SHOW_ASKED] = PROMPT_SHOW_OVER,
					    [VISION_SHOW_TOLD] = PROMPT_SHOW_LOST,
					    [VISION_SHOW_LOST] = PROMPT_SHOW_LOST,
					    [VISION_SHOW_FAILED] = PROMPT_SHOW_FAILED,
					    [VISION_SHOW_UNWATCHED] = PROMPT_SHOW_UNWATCHED};
	struct words words = {0};

	agent_feed(a, &(struct room_event){.type = ROOM_VIDEO_SHARE,
					   .user = what->user,
					   .yes = over == VISION_SHOW_BEGUN});
	words_speak(&words, agent_language(a));
	if (over == VISION_SHOW_LOST)
		words_show_lost(&words);
	else if (over == VISION_SHOW_FAILED)
		words_show_failed(&words);
	else if (over == VISION_SHOW_UNWATCHED)
		words_show_unwatched(&words);
	if (*words.text && a->tellh)
		a->tellh(&words, a->arg);
	if (over == VISION_SHOW_BEGUN || a->settings->reply_path == SETTINGS_REPLY_BRAIN)
		return;
	roles_hear(a->roles, &(struct engine_message){
				     .role = ENGINE_USER, .speaker = "", .text = lines[over]});
}

void agent_screen_changed(struct agent *a, uint64_t user, uint32_t share)
{
	screen_looks_changed(a->looks, share);
	/* Others can be told once there is a note. */
	if (agent_screens_seen(a))
		agent_screen_told(a, user);
}

void agent_screen_told(struct agent *a, uint64_t user)
{
	agent_feed(a, &(struct room_event){.type = ROOM_SCREEN_CHANGED, .user = user});
}
