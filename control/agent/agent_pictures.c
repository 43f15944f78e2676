#include "control/agent/agent_pictures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/agent_tools_inside.h"
#include "control/attachments/looked.h"
#include "control/media/media.h"
#include "control/settings/settings.h"
#include "control/tools/builtin/host.h"
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

enum { LOOKS = 4 };

struct picture {
	struct agent_pictures *p;
	bool used;
	struct attached file;
	char by[ROOM_NAME_MAX];
	uint64_t message, user, at;
	struct view *view; /* NULL: it is seen */
	bool seen, told;   /* told: a voice's session holds it, also when it is used no more */
	enum seen_kind kind;
	bool cut;
	char *text;
	uint8_t *image;
	size_t image_n;
};

/* A call that waits for a picture. */
struct look {
	struct agent_pictures *p; /* NULL: free */
	uint32_t id;
	uint64_t at;
	char name[ATTACHED_NAME], by[ROOM_NAME_MAX];
	struct view *view;
};

struct agent_pictures {
	struct agent *a;
	struct viewer *viewer;
	struct picture v[AGENT_PICTURES];
	unsigned n; /* ever */
	struct look look[LOOKS];
	struct tmr *timer; /* when the next one is too old; NULL: none has come yet */
};

static void clear(struct picture *x)
{
	viewer_cancel(x->view);
	free(x->text);
	if (x->image)
		explicit_bzero(x->image, x->image_n);
	free(x->image);
	*x = (struct picture){0};
}

static bool is_fresh(const struct picture *x, uint64_t now)
{
	return x->used && now - x->at < AGENT_PICTURES_S * NS_PER_S;
}

/* A session that was shown it is renewed when the message goes or its writer withdraws. So it stays
 * known whose it was. */
static void expire(struct picture *x)
{
	const struct picture left = {.told = x->told, .message = x->message, .user = x->user};

	clear(x);
	if (left.told)
		*x = left;
}

/* Those that are too old go; the timer waits for the next one. */
static void sweep(void *arg)
{
	struct agent_pictures *p = arg;
	uint64_t now = env_now(p->a->env), oldest = UINT64_MAX;

	for (unsigned i = 0; i < AGENT_PICTURES; i++) {
		struct picture *x = &p->v[i];

		if (!is_fresh(x, now))
			expire(x);
		else if (x->at < oldest)
			oldest = x->at;
	}
	if (oldest != UINT64_MAX)
		tmr_start_at(p->timer, oldest + AGENT_PICTURES_S * NS_PER_S);
}

/* ---- what is told ---- */

static struct seen seen_of(const struct picture *x)
{
	return (struct seen){.kind = x->kind,
			     .cut = x->cut,
			     .name = x->file.name,
			     .by = x->by,
			     .age_s = (env_now(x->p->a->env) - x->at) / NS_PER_S,
			     .text = x->text};
}

/* A picture that could not be seen is told with the next question alone. */
static void tell_session(struct picture *x)
{
	struct agent *a = x->p->a;
	const struct engine_image image = {"image/jpeg", {x->image, x->image_n}};
	struct engine_message m = {.role = ENGINE_USER, .speaker = ""};
	const struct seen seen = seen_of(x);
	uint8_t mark[UNTRUSTED_MARK];
	char *text;

	if (a->settings->reply_path == SETTINGS_REPLY_BRAIN || x->kind == SEEN_NOT)
		return;
	env_random(a->env, mark, sizeof mark);
	text = seen_text(&seen, 1, mark);
	if (!text)
		return;
	m.text = text;
	m.images = &image;
	m.n_images = x->kind == SEEN_IMAGE;
	x->told = true;
	turns_shown(a->turns, 0, x->user);
	roles_hear(a->roles, &m);
	free(text);
}

static void take_view(const struct view_result *got, void *arg)
{
	struct picture *x = arg;

	x->view = NULL;
	x->seen = true;
	x->kind = got->kind;
	x->cut = got->cut;
	if (got->kind == SEEN_IMAGE) {
		x->image_n = got->image.data.n;
		x->image = malloc(x->image_n);
		if (x->image)
			memcpy(x->image, got->image.data.p, x->image_n);
	} else {
		x->text = strdup(got->text);
	}
	if (!x->image && !x->text)
		clear(x); /* no memory */
	else
		tell_session(x);
}

/* False: it is too old, or one of too many images. *images: that are left out yet. */
static bool is_shown(const struct picture *x, uint64_t now, unsigned *images)
{
	if (!is_fresh(x, now))
		return false;
	return !x->seen || x->kind != SEEN_IMAGE || !*images || !(*images)--;
}

static unsigned count_images(const struct agent_pictures *p, uint64_t now)
{
	unsigned n = 0;

	for (unsigned i = 0; p && i < AGENT_PICTURES; i++)
		n += is_fresh(&p->v[i], now) && p->v[i].seen && p->v[i].kind == SEEN_IMAGE;
	return n;
}

bool agent_pictures_message(const struct agent_pictures *p, uint32_t turn, struct engine_message *m,
			    struct engine_image *images, char **text)
{
	uint64_t now = p ? env_now(p->a->env) : 0;
	unsigned all = count_images(p, now),
		 left_out = all > AGENT_PICTURES_SHOWN ? all - AGENT_PICTURES_SHOWN : 0;
	struct seen seen[AGENT_PICTURES];
	uint8_t mark[UNTRUSTED_MARK];
	size_t n = 0, n_images = 0;

	for (unsigned i = 0; p && i < AGENT_PICTURES; i++) {
		/* In the order in which they came. */
		const struct picture *x = &p->v[(p->n + i) % AGENT_PICTURES];

		if (!is_shown(x, now, &left_out))
			continue;
		turns_shown(p->a->turns, turn, x->user);
		seen[n] = seen_of(x);
		if (!x->seen) {
			seen[n].kind = SEEN_NOT;
			seen[n].text = "it is still being looked at";
		} else if (x->kind == SEEN_IMAGE) {
			images[n_images++] =
				(struct engine_image){"image/jpeg", {x->image, x->image_n}};
		}
		n++;
	}
	if (!n)
		return false;
	env_random(p->a->env, mark, sizeof mark);
	*text = seen_text(seen, n, mark);
	*m = (struct engine_message){.role = ENGINE_USER,
				     .speaker = "",
				     .text = *text,
				     .images = images,
				     .n_images = n_images};
	return *text != NULL;
}

/* ---- what comes and goes ---- */

static void look_at(struct agent_pictures *p, const struct agent_typed *t,
		    const struct attached *file)
{
	struct picture *x = &p->v[p->n++ % AGENT_PICTURES];
	/* A session that is shown it pays for it with each further answer. */
	const struct view_wish wish = {.file = file,
				       .images = roles_sees(p->a->roles, agent_reply_use(p->a)),
				       .counted =
					       p->a->settings->reply_path != SETTINGS_REPLY_BRAIN,
				       .question = "",
				       .message = t->message,
				       .user = t->user};
	struct view *view = NULL;

	clear(x);
	*x = (struct picture){.p = p,
			      .used = true,
			      .file = *file,
			      .message = t->message,
			      .user = t->user,
			      .at = env_now(p->a->env)};
	utf8_copy(x->by, sizeof x->by, t->name);
	if (viewer_look(&view, p->viewer, &wish, take_view, x))
		clear(x);
	else if (x->used && !x->seen)
		x->view = view;
	sweep(p);
}

void agent_pictures_typed(struct agent_pictures *p, const struct agent_typed *t)
{
	if (!p || t->bot || !t->files || !p->a->settings->attachments)
		return;
	if (!p->timer && tmr_alloc(&p->timer, p->a->env, sweep, p))
		return; /* what would never go is not kept */
	for (unsigned i = 0; i < t->files->n; i++)
		if (t->files->v[i].kind != ATTACHED_OTHER)
			look_at(p, t, &t->files->v[i]);
}

bool agent_pictures_drop(struct agent_pictures *p, uint64_t message, uint64_t user)
{
	bool told = false;

	for (unsigned i = 0; p && i < AGENT_PICTURES; i++) {
		struct picture *x = &p->v[i];

		if ((!x->used && !x->told) || (message ? x->message != message : x->user != user))
			continue;
		told = told || x->told;
		clear(x);
	}
	if (p)
		viewer_drop(p->viewer, message, user);
	return told;
}

/* ---- the tool image_lookup ---- */

bool agent_pictures_looks(const struct agent_pictures *p)
{
	return p && p->a->settings->attachments;
}

static void take_looked(const struct view_result *got, void *arg)
{
	struct look *look = arg;
	struct agent *a = look->p->a;
	uint8_t mark[UNTRUSTED_MARK];
	const char *why;
	char *text;

	env_random(a->env, mark, sizeof mark);
	text = looked_text(got, look->name, look->by, (env_now(a->env) - look->at) / NS_PER_S, mark,
			   &why);
	look->p = NULL;
	agent_tools_output(look->id, text != NULL, slice_str(text ? text : why), a->tools);
	free(text);
}

static const struct picture *find(const struct agent_pictures *p, const char *query)
{
	uint64_t now = env_now(p->a->env);

	for (unsigned i = 0; i < AGENT_PICTURES; i++) {
		/* The newest first. */
		const struct picture *x = &p->v[(p->n + AGENT_PICTURES - 1 - i) % AGENT_PICTURES];

		if (is_fresh(x, now) && x->file.kind == ATTACHED_IMAGE &&
		    looked_fits(query, x->file.name, x->by))
			return x;
	}
	return NULL;
}

int agent_pictures_look(struct agent_pictures *p, uint32_t id, const struct tool_look *what)
{
	const struct picture *x = *what->url ? NULL : find(p, what->query);
	struct view_wish wish = {.question = what->question};
	struct view *view = NULL;
	struct look *look = p->look;
	int err;

	while (look < p->look + LOOKS && look->p)
		look++;
	if (look == p->look + LOOKS)
		return ENOSPC;
	if (!x) {
		agent_tools_output(id, false,
				   slice_str("no such picture was attached in the chat of this "
					     "voice channel"),
				   p->a->tools);
		return 0;
	}
	*look = (struct look){.p = p, .id = id, .at = x->at};
	memcpy(look->name, x->file.name, sizeof look->name);
	memcpy(look->by, x->by, sizeof look->by);
	wish.file = &x->file;
	wish.message = x->message;
	wish.user = x->user;
	err = viewer_look(&view, p->viewer, &wish, take_looked, look);
	if (err)
		look->p = NULL;
	else if (look->p)
		look->view = view;
	return err;
}

void agent_pictures_cancel(struct agent_pictures *p, uint32_t id)
{
	for (unsigned i = 0; p && i < LOOKS; i++)
		if (p->look[i].p && p->look[i].id == id) {
			viewer_cancel(p->look[i].view);
			p->look[i].p = NULL;
		}
}

/* ---- making ---- */

static void spend(const struct roles_event *ev, void *arg)
{
	agent_spend(arg, ev);
}

static bool may_spend(void *arg)
{
	uint32_t tokens;

	return agent_may_spend(arg, &tokens);
}

int agent_pictures_alloc(struct agent_pictures **out, struct agent *a,
			 const struct agent_conf *conf)
{
	const struct viewer_conf vc = {.env = conf->env,
				       .ws = conf->ws,
				       .http = conf->http,
				       .shared = conf->viewers,
				       .settings = conf->settings,
				       .guild = media_call_want(conf->call)->guild,
				       .spendh = spend,
				       .mayh = may_spend,
				       .arg = a};
	struct agent_pictures *p;
	int err;

	*out = NULL;
	if (!conf->viewers.fetcher)
		return 0;
	p = calloc(1, sizeof *p);
	if (!p)
		return ENOMEM;
	p->a = a;
	err = viewer_alloc(&p->viewer, &vc);
	if (err)
		free(p);
	else
		*out = p;
	return err;
}

void agent_pictures_settings(struct agent_pictures *p)
{
	if (p)
		viewer_settings(p->viewer);
}

struct agent_pictures *agent_pictures_free(struct agent_pictures *p)
{
	for (unsigned i = 0; p && i < AGENT_PICTURES; i++)
		clear(&p->v[i]);
	if (p) {
		tmr_free(p->timer);
		viewer_free(p->viewer);
	}
	free(p);
	return NULL;
}
