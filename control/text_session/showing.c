/* What people attach to messages (inside.h): which files a model is shown with a question, and what
 * has been seen of them.
 *
 * A server keeps where the files of its last messages are, not the files. They are fetched for a
 * question, and go when it is answered. What was attached to a message that is deleted, that is
 * edited to have it no more, or of a person who may not be read any more, is shown no more. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/attachments/captions.h"
#include "control/attachments/viewer.h"
#include "control/engine/roles.h"
#include "control/settings/settings.h"
#include "control/text/missed.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum {
	RECENT_LINES = 5, /* of other messages, whose files are shown, too */
	RECENT_S = 600,
	TEXTS = 3, /* text files of one question */
};

/* One file of a question. */
struct shown {
	struct text_show *show;
	struct attached file;
	char by[INCOMING_NAME];
	uint64_t at, message, user;
	struct view *view; /* NULL: it is seen, or not asked for yet */
	bool out;	   /* somebody looks at it */
	bool gone;	   /* taken back before it was looked at */
	enum seen_kind kind;
	char *text;
	uint8_t *image;
	size_t image_n;
	bool cut;
};

struct text_show {
	struct text_job *job;
	bool begun;
	unsigned n, images;
	struct shown v[SEEN_MAX];
};

/* ---- the files of a server ---- */

static struct text_attached *find_files(struct text_guild *g, uint64_t message)
{
	for (unsigned i = 0; message && i < TEXT_ATTACHED; i++)
		if (g->attached[i].files && g->attached[i].message == message)
			return &g->attached[i];
	return NULL;
}

/* What was seen of it; what is being looked at ends by text_showing_stop_looking. */
static void forget_shown(struct shown *f)
{
	if (f->image)
		explicit_bzero(f->image, f->image_n);
	free(f->image);
	free(f->text);
	f->image = NULL;
	f->text = NULL;
	f->kind = SEEN_NOT;
	f->gone = true;
}

static void drop(struct text_attached *a)
{
	free(a->files);
	*a = (struct text_attached){0};
}

/* By the message itself, or by one that replies to it. */
static enum text_want want_of(const struct text_guild *g, const struct text_attached *a)
{
	enum text_want own = text_chat_wants(g->core, a->channel, a->message);
	enum text_want quoted = text_quoting_wants(g, a->message);

	return own > quoted ? own : quoted;
}

/* Where there is no free place, what is wanted least, of that the oldest. NULL: all that is there
 * waits for answers, and this one need not get one. */
static struct text_attached *place_for(struct text_guild *g, bool addressed)
{
	enum text_want least = TEXT_WANT_ADDRESSED, want;
	struct text_attached *best = NULL;

	for (unsigned i = 0; i < TEXT_ATTACHED; i++) {
		struct text_attached *a = &g->attached[i];

		if (!a->files)
			return a;
		want = want_of(g, a);
		if (best && (want > least || (want == least && a->order > best->order)))
			continue;
		best = a;
		least = want;
	}
	return least == TEXT_WANT_ADDRESSED && !addressed ? NULL : best;
}

static void keep(struct text_guild *g, const struct text_attached *what,
		 const struct attached_list *files, bool addressed)
{
	struct text_attached *a = find_files(g, what->message);

	if (!a)
		a = place_for(g, addressed);
	if (!a)
		return;
	drop(a);
	*a = *what;
	a->order = ++g->n_attached;
	a->files = malloc(sizeof *a->files);
	if (a->files)
		*a->files = *files;
}

static bool is_kept(const struct text_guild *g)
{
	return g->settings->attachments && g->ts->conf.viewers.fetcher;
}

/* When it was written; a message may be told of late, and one that is replied to is older. */
static uint64_t written_at(const struct text_guild *g, uint64_t message)
{
	struct env *env = g->ts->conf.env;
	uint64_t now = env_now(env), wall = env_wall_ms(env), ms = missed_ms_of(message);
	uint64_t age = wall > ms ? (wall - ms) * NS_PER_MS : 0;

	return age < now ? now - age : 0;
}

void text_showing_keep(struct text_guild *g, const struct incoming *in)
{
	struct text_attached a = {.message = in->message,
				  .channel = in->channel,
				  .user = in->user,
				  .at = written_at(g, in->message)};

	if (!is_kept(g) || in->self || !in->files.n || (in->starter && find_files(g, in->message)))
		return;
	utf8_copy(a.name, sizeof a.name, in->name);
	keep(g, &a, &in->files, in->to_bot || !in->guild);
}

void text_showing_quoted(struct text_guild *g, const struct incoming *in)
{
	struct text_attached a = {.message = in->replies_to,
				  .channel = in->channel,
				  .user = in->replied_user,
				  .at = written_at(g, in->replies_to)};

	if (!is_kept(g) || !in->quoted_files.n || find_files(g, a.message))
		return;
	utf8_copy(a.name, sizeof a.name, in->quoted_name);
	keep(g, &a, &in->quoted_files, in->to_bot || !in->guild);
}

static bool has_file(const struct attached_list *files, uint64_t id)
{
	for (unsigned i = 0; i < files->n; i++)
		if (files->v[i].id == id)
			return true;
	return false;
}

/* In all questions under way. */
static void forget_file(struct text_guild *g, uint64_t id)
{
	for (struct text_job *job = g->jobs; job; job = job->next)
		for (unsigned i = 0; job->show && i < job->show->n; i++)
			if (job->show->v[i].file.id == id)
				forget_shown(&job->show->v[i]);
}

void text_showing_edited(struct text_guild *g, const struct incoming *in)
{
	struct text_attached *a = find_files(g, in->message);
	bool same = true;

	for (unsigned i = 0; a && i < a->files->n; i++)
		if (!has_file(&in->files, a->files->v[i].id)) {
			forget_file(g, a->files->v[i].id);
			same = false;
		}
	if (!a || same)
		return;
	text_showing_gone(g->ts, in->guild, in->channel, in->message);
	*a->files = in->files;
}

void text_showing_gone(struct text_session *ts, uint64_t guild, uint64_t channel, uint64_t message)
{
	if (ts->conf.viewers.captions)
		captions_drop_message(ts->conf.viewers.captions, message);
	if (ts->conf.untypedh)
		ts->conf.untypedh(guild, channel, message, ts->conf.arg);
}

void text_showing_drop(struct text_guild *g, uint64_t message, uint64_t user)
{
	for (unsigned i = 0; i < TEXT_ATTACHED; i++)
		if (message ? g->attached[i].message == message : g->attached[i].user == user)
			drop(&g->attached[i]);
	for (struct text_job *job = g->jobs; job; job = job->next)
		for (unsigned i = 0; job->show && i < job->show->n; i++) {
			struct shown *f = &job->show->v[i];

			if (message ? f->message == message : f->user == user)
				forget_shown(f);
		}
}

void text_showing_drop_channel(struct text_guild *g, uint64_t channel)
{
	for (unsigned i = 0; i < TEXT_ATTACHED; i++)
		if (g->attached[i].files && g->attached[i].channel == channel) {
			uint64_t message = g->attached[i].message;

			text_showing_gone(g->ts, g->id, channel, message);
			text_showing_drop(g, message, 0);
			text_showing_stop_looking(g, message, 0);
		}
}

void text_showing_stop_looking(struct text_guild *g, uint64_t message, uint64_t user)
{
	viewer_drop(g->viewer, message, user);
}

void text_showing_clear(struct text_guild *g)
{
	for (unsigned i = 0; i < TEXT_ATTACHED; i++)
		drop(&g->attached[i]);
}

/* ---- the files of a question ---- */

static void add_file(struct text_show *s, const struct text_attached *a,
		     const struct attached *file)
{
	unsigned texts = s->n - s->images;
	bool image = file->kind == ATTACHED_IMAGE;

	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].file.id == file->id)
			return;
	if (s->n == SEEN_MAX || file->kind == ATTACHED_OTHER ||
	    (image ? s->images == ENGINE_IMAGES_MAX : texts == TEXTS))
		return;
	s->images += image;
	s->v[s->n] = (struct shown){
		.show = s, .file = *file, .at = a->at, .message = a->message, .user = a->user};
	memcpy(s->v[s->n++].by, a->name, sizeof a->name);
}

/* What others show may have been made by anybody: it holds calls back as text of strangers does. */
static bool has_others(const struct text_show *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].user != s->job->user)
			return true;
	return false;
}

static void add_message(struct text_show *s, struct text_guild *g, uint64_t message, bool recent)
{
	const struct text_attached *a = find_files(g, message);
	uint64_t now = env_now(g->ts->conf.env);

	if (!a || (recent && now - a->at > RECENT_S * NS_PER_S))
		return;
	for (unsigned i = 0; i < a->files->n; i++)
		add_file(s, a, &a->files->v[i]);
}

/* The newest first, so that these have a place. */
static void add_all(struct text_show *s, struct text_guild *g, const struct text_effect *e)
{
	for (size_t i = e->n_triggers; i > 0; i--)
		add_message(s, g, e->triggers[i - 1]->message, false);
	for (size_t i = e->n_triggers; i > 0; i--)
		for (unsigned k = 0; k < TEXT_QUOTES; k++)
			if (g->quote[k].reply == e->triggers[i - 1]->message)
				add_message(s, g, g->quote[k].message, false);
	for (size_t i = 0; i < RECENT_LINES && i < e->n_history; i++)
		add_message(s, g, e->history[e->n_history - 1 - i].message, true);
}

/* The embedded engine has no use for it. */
static bool is_used(const struct text_guild *g)
{
	const struct provider_record *p = settings_purpose(g->settings, PURPOSE_TEXT_REPLY, 0);

	return g->settings->attachments && p && p->dialect != DIALECT_EMBEDDED;
}

void text_showing_collect(struct text_job *job, const struct text_effect *e)
{
	struct text_show *s = is_used(job->g) ? calloc(1, sizeof *s) : NULL;

	if (!s)
		return;
	s->job = job;
	add_all(s, job->g, e);
	if (!s->n) {
		free(s);
		return;
	}
	job->show = s;
	job->strangers = job->strangers || has_others(s);
}

void text_showing_free(struct text_show *s)
{
	for (unsigned i = 0; s && i < s->n; i++) {
		viewer_cancel(s->v[i].view);
		forget_shown(&s->v[i]);
	}
	free(s);
}

/* ---- looking ---- */

static void spend(const struct roles_event *ev, void *arg)
{
	text_asking_spend(arg, ev);
}

static bool may_spend(void *arg)
{
	return text_asking_may_spend(arg);
}

struct viewer *text_showing_viewer(struct text_guild *g)
{
	const struct text_session_conf *c = &g->ts->conf;
	const struct viewer_conf conf = {.env = c->env,
					 .ws = c->ws,
					 .http = c->http,
					 .shared = c->viewers,
					 .settings = g->settings,
					 .guild = g->id,
					 .spendh = spend,
					 .mayh = may_spend,
					 .arg = g};

	if (!g->viewer && c->viewers.fetcher)
		viewer_alloc(&g->viewer, &conf);
	return g->viewer;
}

static void set_why(struct shown *s, const char *why)
{
	s->kind = SEEN_NOT;
	s->text = strdup(why);
}

static void go_on(struct text_show *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].out)
			return;
	if (s->begun)
		text_asking_shown(s->job);
}

/* A file that is gone and is still looked at; NULL: there is none. */
static struct shown *find_gone(const struct text_guild *g)
{
	for (struct text_job *job = g->jobs; job; job = job->next)
		for (unsigned i = 0; job->show && i < job->show->n; i++)
			if (job->show->v[i].gone && job->show->v[i].view)
				return &job->show->v[i];
	return NULL;
}

void text_showing_stop_gone(struct text_guild *g)
{
	struct shown *s;

	while ((s = find_gone(g))) {
		viewer_cancel(s->view);
		s->view = NULL;
		s->out = false;
		go_on(s->show); /* the question may be over when this returns */
	}
}

static void take_view(const struct view_result *got, void *arg)
{
	struct shown *s = arg;

	s->view = NULL;
	s->out = false;
	s->kind = got->kind;
	s->cut = got->cut;
	if (got->kind == SEEN_IMAGE) {
		s->image_n = got->image.data.n;
		s->image = malloc(s->image_n);
		if (s->image)
			memcpy(s->image, got->image.data.p, s->image_n);
		else
			set_why(s, "there is not enough memory for it");
	} else {
		s->text = strdup(got->text);
	}
	go_on(s->show);
}

static void look(struct text_guild *g, struct shown *s, bool images)
{
	struct viewer *viewer = text_showing_viewer(g);
	const struct view_wish wish = {.file = &s->file,
				       .images = images,
				       .question = "",
				       .message = s->message,
				       .user = s->user};
	struct view *view = NULL;
	int err;

	if (s->gone)
		return;
	s->out = true;
	err = viewer ? viewer_look(&view, viewer, &wish, take_view, s) : ENOMEM;
	/* It may have ended inside. */
	if (s->out)
		s->view = view;
	if (err) {
		s->out = false;
		set_why(s, err == EBUSY ? "too many files are looked at now"
					: "there is not enough memory for it");
	}
}

bool text_showing_begin(struct text_job *job)
{
	struct text_show *s = job->show;
	bool images = s && text_asking_sees(job->g);

	if (!s || s->begun)
		return false;
	for (unsigned i = 0; i < s->n; i++)
		look(job->g, &s->v[i], images);
	s->begun = true;
	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].out)
			return true;
	return false;
}

/* ---- what the model is told ---- */

char *text_showing_text(struct text_job *job, struct engine_image *images, size_t *n_images)
{
	struct env *env = job->g->ts->conf.env;
	const struct text_show *s = job->show;
	uint8_t mark[UNTRUSTED_MARK];
	struct seen seen[SEEN_MAX];
	size_t n = 0;

	*n_images = 0;
	/* The oldest first, as in a conversation. */
	for (unsigned i = s ? s->n : 0; i > 0; i--) {
		const struct shown *f = &s->v[i - 1];

		if (f->kind != SEEN_IMAGE && !f->text)
			continue;
		if (f->kind == SEEN_IMAGE)
			images[(*n_images)++] =
				(struct engine_image){"image/jpeg", {f->image, f->image_n}};
		seen[n++] = (struct seen){.kind = f->kind,
					  .cut = f->cut,
					  .name = f->file.name,
					  .by = f->by,
					  .age_s = (env_now(env) - f->at) / NS_PER_S,
					  .text = f->text};
	}
	if (!n)
		return NULL;
	env_random(env, mark, sizeof mark);
	return seen_text(seen, n, mark);
}
