#include "control/agent/screen_looks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/agent_screens.h"
#include "control/agent/inside.h"
#include "control/attachments/captions.h"
#include "control/media/media.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/tools/untrusted.h"
#include "control/vision/core/note_pace.h"
#include "control/vision/core/notes.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

/* A question about one picture. */
struct look {
	uint32_t turn; /* of its ask; 0: free */
	uint64_t user; /* whose screen */
	uint32_t share, number;
	uint32_t id;	  /* of the call; of a note 0 */
	screen_look_h *h; /* of a note NULL */
	void *arg;
	uint64_t at; /* ns; when the screen looked like this */
	char about[VISION_ABOUT_MAX];
	char words[SCREEN_LOOK_TEXT + 1];
	size_t n;
};

struct screen_looks {
	struct agent *a;
	struct ws_ctx *ws;
	struct http *http;
	struct captions *captions;
	struct roles *roles; /* NULL until something is asked */
	bool stale;	     /* they are of older settings */
	struct note_pace pace;
	struct tmr *tmr;
	struct screen_looks_paid paid;
	uint32_t turns;
	struct look look[SCREEN_LOOKS + 1]; /* the last one is the note's */
};

static struct look *note_of(struct screen_looks *l)
{
	return &l->look[SCREEN_LOOKS];
}

static void clear(struct look *x)
{
	explicit_bzero(x, sizeof *x);
}

/* ---- answers ---- */

static void plan_note(struct screen_looks *l);

static void end_note(struct screen_looks *l, const struct look *x, bool ok)
{
	char text[NOTE_TEXT];

	note_pace_end(&l->pace);
	if (ok) {
		utf8_copy(text, sizeof text, x->words);
		untrusted_clean_line(text);
		if (vision_note(l->a->vision, x->share, x->number, text) &&
		    !agent_screens_seen(l->a))
			agent_screen_told(l->a, x->user);
		explicit_bzero(text, sizeof text);
	}
	plan_note(l);
}

/* why: a clause, of a failure. */
static void end_look(struct screen_looks *l, struct look *x, const char *why)
{
	struct look was = *x;
	bool ok = !why && *was.words;

	roles_over(l->roles, was.turn);
	clear(x);
	if (!ok && !why)
		why = "the model that sees said nothing";
	if (!ok)
		log_warn("screen_not_described", "guild=%llu why=\"%s\"",
			 (unsigned long long)media_call_want(l->a->call)->guild, why);
	if (was.h)
		was.h(was.id,
		      &(struct screen_looked){.ok = ok,
					      .text = ok ? was.words : why,
					      .about = was.about,
					      .age_ms = (env_now(l->a->env) - was.at) / NS_PER_MS},
		      was.arg);
	else
		end_note(l, &was, ok);
	clear(&was);
}

static struct look *find_turn(struct screen_looks *l, uint32_t turn)
{
	for (unsigned i = 0; turn && i < SCREEN_LOOKS + 1; i++)
		if (l->look[i].turn == turn)
			return &l->look[i];
	return NULL;
}

static void take_event(const struct roles_event *ev, void *arg)
{
	struct screen_looks *l = arg;
	struct look *x = find_turn(l, ev->turn);
	size_t room, n = ev->engine->data.n;

	if (ev->engine->type == ENGINE_USAGE)
		l->paid.nano += agent_spend(l->a, ev);
	if (!x || ev->use != ENGINE_USE_SEE)
		return;
	if (ev->engine->type == ENGINE_WORDS) {
		room = SCREEN_LOOK_TEXT - x->n;
		n = n < room ? n : room;
		memcpy(x->words + x->n, ev->engine->data.p, n);
		x->n += n;
	} else if (ev->engine->type == ENGINE_DONE) {
		utf8_mend(x->words);
		end_look(l, x, NULL);
	} else if (ev->engine->type == ENGINE_FAILED) {
		end_look(l, x, "the model that sees does not answer");
	}
}

/* ---- questions ---- */

static bool is_busy(const struct screen_looks *l)
{
	for (unsigned i = 0; i < SCREEN_LOOKS + 1; i++)
		if (l->look[i].turn)
			return true;
	return false;
}

static int open_roles(struct screen_looks *l)
{
	const struct roles_conf rc = {.env = l->a->env,
				      .ws = l->ws,
				      .http = l->http,
				      .settings = l->a->settings,
				      .idle = true,
				      .h = take_event,
				      .arg = l};

	if (l->stale && !is_busy(l))
		l->roles = roles_free(l->roles);
	if (l->roles)
		return 0;
	l->stale = false;
	return roles_alloc(&l->roles, &rc);
}

struct screen_looks_paid screen_looks_paid(const struct screen_looks *l)
{
	return l ? l->paid : (struct screen_looks_paid){0};
}

bool screen_looks_can(struct screen_looks *l)
{
	return l && !open_roles(l) && roles_sees(l->roles, ENGINE_USE_SEE);
}

/* The look may have ended when it returns. */
static void ask_see(struct screen_looks *l, struct look *x, const struct vision_picture *picture,
		    const char *text, const char *instructions, unsigned tokens)
{
	const struct engine_message m = {.role = ENGINE_USER,
					 .speaker = "",
					 .text = text,
					 .images = &picture->image,
					 .n_images = 1};

	l->paid.asked++;
	if (!++l->turns)
		l->turns = 1;
	x->turn = l->turns;
	x->user = picture->user;
	x->share = picture->share;
	x->number = picture->number;
	x->at = env_now(l->a->env) - picture->age_ms * NS_PER_MS;
	memcpy(x->about, picture->about, sizeof x->about);
	roles_ask(
		l->roles, ENGINE_USE_SEE, 0,
		&(struct engine_ask){.turn = x->turn,
				     .purpose = PURPOSE_TEXT_REPLY,
				     .output_tokens = tokens,
				     .instructions = instructions,
				     .instructions_stable = strlen(instructions),
				     .model = "",
				     .voice = "",
				     .messages = &m,
				     .n = 1,
				     .deadline = env_now(l->a->env) + SCREEN_LOOK_MS * NS_PER_MS});
}

/* NULL: it may be asked. */
static const char *find_obstacle(struct screen_looks *l)
{
	uint32_t tokens;

	if (!screen_looks_can(l))
		return PROMPT_SCREEN_NO_EYES;
	if (!agent_may_spend(l->a, &tokens))
		return "the budget for models is spent";
	return captions_take(l->captions, media_call_want(l->a->call)->guild,
			     l->a->settings->captions_per_hour, env_now(l->a->env))
		       ? NULL
		       : "as many images were described in this hour as the settings allow";
}

int screen_looks_ask(struct screen_looks *l, uint32_t id, const struct vision_picture *picture,
		     const char *question, screen_look_h *h, void *arg)
{
	char text[sizeof PROMPT_SEE_QUESTION + SCREEN_LOOK_QUESTION + 16];
	char asked[SCREEN_LOOK_QUESTION];
	struct look *x = l->look;
	const char *why;

	while (x < l->look + SCREEN_LOOKS && x->turn)
		x++;
	if (x == l->look + SCREEN_LOOKS)
		return ENOSPC;
	why = find_obstacle(l);
	if (why) {
		h(id, &(struct screen_looked){.text = why, .about = picture->about}, arg);
		return 0;
	}
	utf8_copy(asked, sizeof asked, question);
	snprintf(text, sizeof text, PROMPT_SEE_QUESTION, *asked ? " " : "", asked);
	x->id = id;
	x->h = h;
	x->arg = arg;
	ask_see(l, x, picture, text, PROMPT_SEE, SCREEN_LOOK_TOKENS);
	return 0;
}

static void drop(struct screen_looks *l, struct look *x)
{
	uint32_t turn = x->turn;

	clear(x);
	roles_over(l->roles, turn);
	roles_cancel(l->roles, ENGINE_USE_SEE, turn);
}

void screen_looks_cancel(struct screen_looks *l, uint32_t id)
{
	for (unsigned i = 0; l && i < SCREEN_LOOKS; i++)
		if (l->look[i].turn && l->look[i].id == id)
			drop(l, &l->look[i]);
}

void screen_looks_stop(struct screen_looks *l, uint64_t user)
{
	struct look *x;

	for (unsigned i = 0; l && i < SCREEN_LOOKS; i++)
		if (l->look[i].turn && (!user || l->look[i].user == user)) {
			/* Its request holds a copy of the picture. */
			roles_cancel(l->roles, ENGINE_USE_SEE, l->look[i].turn);
			end_look(l, &l->look[i], "the screen is not shown any more");
		}
	x = l ? note_of(l) : NULL;
	if (!x || !x->turn || (user && x->user != user))
		return;
	drop(l, x);
	note_pace_end(&l->pace);
	plan_note(l);
}

/* ---- notes ---- */

static bool wants_notes(const struct screen_looks *l)
{
	uint32_t how = l->a->settings->screen_notes;

	return how == SETTINGS_NOTES_ON ||
	       (how == SETTINGS_NOTES_BLIND && !agent_screens_seen(l->a));
}

static struct note_rules read_rules(const struct screen_looks *l)
{
	const struct settings *set = l->a->settings;

	return (struct note_rules){.gap = set->watch_note_s * NS_PER_S,
				   .per_hour = set->screen_notes_per_hour};
}

static void plan_note(struct screen_looks *l)
{
	const struct note_rules rules = read_rules(l);
	uint64_t now = env_now(l->a->env), due = note_pace_due(&l->pace, &rules, now);

	tmr_stop(l->tmr);
	if (due != UINT64_MAX)
		tmr_start(l->tmr, due > now ? due - now : 0);
}

/* False: the share is not watched any more. */
static bool find_picture(const struct screen_looks *l, uint32_t share, struct vision_picture *out)
{
	const struct media_want *where = media_call_want(l->a->call);
	struct vision_picture all[NOTE_PACE_SHARES];
	size_t n = vision_latest(l->a->vision, where->guild, where->channel, all, NOTE_PACE_SHARES);

	for (size_t i = 0; i < n; i++)
		if (all[i].share == share) {
			*out = all[i];
			return true;
		}
	return false;
}

static void ask_note(struct screen_looks *l, const struct vision_picture *picture)
{
	char text[sizeof PROMPT_SCREEN_NOTE_QUESTION + NOTE_TEXT + 32];
	const char *before = vision_noted(l->a->vision, picture->share);

	snprintf(text, sizeof text, PROMPT_SCREEN_NOTE_QUESTION,
		 *before ? PROMPT_SCREEN_NOTE_BEFORE : "", before);
	note_pace_ask(&l->pace, env_now(l->a->env));
	ask_see(l, note_of(l), picture, text, PROMPT_SCREEN_NOTE, SCREEN_NOTE_TOKENS);
	explicit_bzero(text, sizeof text);
}

static void on_due(void *arg)
{
	struct screen_looks *l = arg;
	const struct note_rules rules = read_rules(l);
	struct vision_picture picture;
	uint32_t share, tokens;

	if (note_pace_due(&l->pace, &rules, env_now(l->a->env)) > env_now(l->a->env))
		return;
	share = note_pace_take(&l->pace);
	if (share && wants_notes(l) && find_picture(l, share, &picture) && screen_looks_can(l) &&
	    agent_may_spend(l->a, &tokens))
		ask_note(l, &picture);
	plan_note(l);
}

void screen_looks_changed(struct screen_looks *l, uint32_t share)
{
	if (!l || !wants_notes(l))
		return;
	note_pace_want(&l->pace, share);
	plan_note(l);
}

/* ---- making ---- */

void screen_looks_settings(struct screen_looks *l)
{
	if (!l)
		return;
	l->stale = true;
	if (l->roles)
		roles_settings(l->roles);
}

int screen_looks_alloc(struct screen_looks **out, struct agent *a, const struct agent_conf *conf)
{
	struct screen_looks *l;
	int err;

	*out = NULL;
	if (!conf->vision || !conf->viewers.captions)
		return 0;
	l = calloc(1, sizeof *l);
	if (!l)
		return ENOMEM;
	l->a = a;
	l->ws = conf->ws;
	l->http = conf->http;
	l->captions = conf->viewers.captions;
	err = tmr_alloc(&l->tmr, a->env, on_due, l);
	if (err)
		free(l);
	else
		*out = l;
	return err;
}

struct screen_looks *screen_looks_free(struct screen_looks *l)
{
	if (!l)
		return NULL;
	tmr_free(l->tmr);
	for (unsigned i = 0; i < SCREEN_LOOKS + 1; i++)
		clear(&l->look[i]);
	roles_free(l->roles);
	free(l);
	return NULL;
}
