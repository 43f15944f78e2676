#include "control/attachments/viewer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "control/attachments/captions.h"
#include "control/attachments/fetch.h"
#include "control/engine/roles.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/vision/image_jail.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

struct viewer {
	struct viewer_conf conf;
	struct roles *roles; /* NULL until something is described */
	bool stale;	     /* they are of older settings */
	struct view *first;
	unsigned n;
	uint32_t asks;
};

struct view {
	struct viewer *v;
	struct view *next, **at;
	bool text, images, decoding;
	uint64_t message, user;
	char question[VIEWER_QUESTION];
	struct fetch *fetch;
	uint32_t ask; /* that describes it; 0: none */
	uint8_t hash[CAPTION_HASH];
	char words[CAPTION_TEXT + 1];
	size_t n;
	view_h *h;
	void *arg;
	bool *gone; /* set when it ends inside viewer_look; or NULL */
};

/* ---- the end of one ---- */

static void free_view(struct view *x)
{
	fetch_cancel(x->fetch);
	if (x->decoding)
		image_jail_cancel(x->v->conf.shared.jail, x);
	if (x->ask)
		roles_cancel(x->v->roles, ENGINE_USE_SEE, x->ask);
	*x->at = x->next;
	if (x->next)
		x->next->at = x->at;
	x->v->n--;
	if (x->gone)
		*x->gone = true;
	free(x);
}

static void end_view(struct view *x, const struct view_result *got)
{
	view_h *h = x->h;
	void *arg = x->arg;

	free_view(x);
	h(got, arg);
}

/* why: a clause. */
static void fail(struct view *x, const char *why)
{
	const struct view_result got = {.kind = SEEN_NOT, .text = why};

	log_debug("attachment_not_seen", "guild=%llu why=\"%s\"",
		  (unsigned long long)x->v->conf.guild, why);
	end_view(x, &got);
}

/* ---- descriptions ---- */

static struct view *find_ask(const struct viewer *v, uint32_t ask)
{
	struct view *x = v->first;

	while (x && (!ask || x->ask != ask))
		x = x->next;
	return x;
}

static void take_description(struct view *x)
{
	struct viewer *v = x->v;
	char text[CAPTION_TEXT + 1];
	struct caption caption = {
		.guild = v->conf.guild, .message = x->message, .user = x->user, .text = text};

	x->ask = 0;
	x->words[x->n] = '\0';
	utf8_mend(x->words);
	memcpy(text, x->words, sizeof text);
	if (!*text) {
		fail(x, "the model that describes images said nothing");
		return;
	}
	memcpy(caption.hash, x->hash, sizeof caption.hash);
	captions_keep(v->conf.shared.captions, &caption, env_now(v->conf.env));
	end_view(x, &(struct view_result){.kind = SEEN_DESCRIBED, .text = text});
}

static void take_event(const struct roles_event *ev, void *arg)
{
	struct viewer *v = arg;
	struct view *x = find_ask(v, ev->turn);
	size_t room, n = ev->engine->data.n;

	if (ev->engine->type == ENGINE_USAGE)
		v->conf.spendh(ev, v->conf.arg);
	if (!x || ev->use != ENGINE_USE_SEE)
		return;
	if (ev->engine->type == ENGINE_WORDS) {
		room = CAPTION_TEXT - x->n;
		n = n < room ? n : room;
		memcpy(x->words + x->n, ev->engine->data.p, n);
		x->n += n;
	} else if (ev->engine->type == ENGINE_DONE) {
		take_description(x);
	} else if (ev->engine->type == ENGINE_FAILED) {
		log_warn("image_not_described", "guild=%llu why=\"%.*s\"",
			 (unsigned long long)v->conf.guild, (int)n,
			 (const char *)ev->engine->data.p);
		x->ask = 0;
		fail(x, "the model that describes images does not answer");
	}
}

static int open_roles(struct viewer *v)
{
	const struct roles_conf rc = {.env = v->conf.env,
				      .ws = v->conf.ws,
				      .http = v->conf.http,
				      .settings = v->conf.settings,
				      .idle = true,
				      .h = take_event,
				      .arg = v};
	bool busy = false;

	for (const struct view *x = v->first; x; x = x->next)
		busy = busy || x->ask;
	if (v->stale && !busy)
		v->roles = roles_free(v->roles);
	if (v->roles)
		return 0;
	v->stale = false;
	return roles_alloc(&v->roles, &rc);
}

static void ask_see(struct view *x, const struct engine_image *image)
{
	struct viewer *v = x->v;
	char text[sizeof PROMPT_SEE_QUESTION + VIEWER_QUESTION + 16];
	const struct engine_message m = {
		.role = ENGINE_USER, .speaker = "", .text = text, .images = image, .n_images = 1};

	snprintf(text, sizeof text, PROMPT_SEE_QUESTION, *x->question ? " " : "", x->question);
	x->ask = ++v->asks;
	roles_ask(
		v->roles, ENGINE_USE_SEE, 0,
		&(struct engine_ask){.turn = x->ask,
				     .purpose = PURPOSE_TEXT_REPLY,
				     .output_tokens = VIEWER_SEE_TOKENS,
				     .instructions = PROMPT_SEE,
				     .instructions_stable = sizeof PROMPT_SEE - 1,
				     .model = "",
				     .voice = "",
				     .messages = &m,
				     .n = 1,
				     .deadline = env_now(v->conf.env) + VIEWER_SEE_MS * NS_PER_MS});
}

static void hash_image(struct view *x, const struct engine_image *image)
{
	crypto_generichash_state s;

	crypto_generichash_init(&s, NULL, 0, CAPTION_HASH);
	crypto_generichash_update(&s, (const uint8_t *)x->question, strlen(x->question) + 1);
	crypto_generichash_update(&s, image->data.p, image->data.n);
	crypto_generichash_final(&s, x->hash, CAPTION_HASH);
}

static void describe(struct view *x, const struct engine_image *image)
{
	struct viewer *v = x->v;
	const struct viewer_conf *c = &v->conf;
	uint64_t now = env_now(c->env);
	const char *known;

	hash_image(x, image);
	known = captions_find(c->shared.captions, c->guild, x->hash, now);
	if (known) {
		/* It may go while the handler runs. It keeps its age and its message: whoever asks
		 * again makes it neither younger nor theirs. */
		char text[CAPTION_TEXT + 1];

		snprintf(text, sizeof text, "%s", known);
		end_view(x, &(struct view_result){.kind = SEEN_DESCRIBED, .text = text});
		return;
	}
	if (open_roles(v))
		fail(x, "there is not enough memory to describe it");
	else if (!roles_sees(v->roles, ENGINE_USE_SEE))
		fail(x, "no model that sees is set up here: neither the one that answers nor one "
			"of the role see");
	else if (!c->mayh(c->arg))
		fail(x, "the budget for models is spent");
	else if (!captions_take(c->shared.captions, c->guild, c->settings->captions_per_hour, now))
		fail(x, "as many images were described in this hour as the settings allow");
	else
		ask_see(x, image);
}

/* ---- what was fetched ---- */

static void take_picture(const struct image_result *result, void *arg)
{
	struct view *x = arg;
	const struct engine_image image = {.type = "image/jpeg", .data = {result->jpeg, result->n}};

	x->decoding = false;
	if (result->reason != IMAGE_OK)
		fail(x, image_reason_text(result->reason));
	else if (x->images)
		end_view(x, &(struct view_result){.kind = SEEN_IMAGE, .image = image});
	else
		describe(x, &image);
}

static void decode(struct view *x, const struct fetched *got)
{
	const struct image_limits limits = {.side = VIEWER_SIDE, .quality = VIEWER_QUALITY};
	enum image_reason why = IMAGE_NO_PROCESS;
	struct image_jail *jail = x->v->conf.shared.jail;

	x->decoding = jail && !image_jail_decode(jail, (const uint8_t *)got->p, got->n, &limits,
						 take_picture, x, &why);
	if (!x->decoding)
		fail(x, image_reason_text(why));
}

/* A file that only pretends to be text is not quoted. */
static void take_file(struct view *x, const struct fetched *got)
{
	char *text = memchr(got->p ? got->p : "", '\0', got->n)
			     ? NULL
			     : strndup(got->p ? got->p : "", got->n);

	if (!text) {
		fail(x, "it is no text");
		return;
	}
	utf8_mend(text);
	end_view(x, &(struct view_result){.kind = SEEN_FILE, .text = text, .cut = got->cut});
	free(text);
}

static void take_fetched(const struct fetched *got, void *arg)
{
	struct view *x = arg;

	x->fetch = NULL;
	if (got->why)
		fail(x, got->why);
	else if (x->text)
		take_file(x, got);
	else
		decode(x, got);
}

/* ---- the door ---- */

/* x may be gone when it returns. */
static int begin(struct view *x, const struct view_wish *wish, struct fetch **fetch)
{
	const struct viewer_conf *c = &x->v->conf;
	const struct attached *file = wish->file;
	struct fetch_call call = {.from = file ? FETCH_ATTACHMENT : FETCH_WEB,
				  .url = file ? file->url : wish->url,
				  .most = VIEWER_IMAGE_BYTES};

	x->text = file && file->kind == ATTACHED_TEXT;
	if (x->text) {
		call.most = VIEWER_TEXT_BYTES;
		call.cut = true;
	}
	if (file && file->kind == ATTACHED_OTHER)
		fail(x, "files of this kind are not read");
	else if (file && !x->text && file->size > VIEWER_IMAGE_BYTES)
		fail(x, "it is too large");
	else if (!x->text && wish->images && wish->counted &&
		 !captions_take(c->shared.captions, c->guild, c->settings->captions_per_hour,
				env_now(c->env)))
		fail(x, "as many images were looked at in this hour as the settings allow");
	else
		return fetch_begin(fetch, x->v->conf.shared.fetcher, &call, take_fetched, x);
	return 0;
}

int viewer_look(struct view **out, struct viewer *v, const struct view_wish *wish, view_h *h,
		void *arg)
{
	struct view *x = v->n < VIEWER_AT_ONCE ? calloc(1, sizeof *x) : NULL;
	struct fetch *fetch = NULL;
	bool gone = false;
	int err;

	*out = NULL;
	if (!x)
		return v->n < VIEWER_AT_ONCE ? ENOMEM : EBUSY;
	*x = (struct view){.v = v,
			   .next = v->first,
			   .at = &v->first,
			   .images = wish->images,
			   .message = wish->message,
			   .user = wish->user,
			   .h = h,
			   .arg = arg,
			   .gone = &gone};
	utf8_copy(x->question, sizeof x->question, wish->question ? wish->question : "");
	if (x->next)
		x->next->at = &x->next;
	v->first = x;
	v->n++;
	err = begin(x, wish, &fetch);
	if (gone)
		return 0;
	x->gone = NULL; /* NOLINT(clang-analyzer-unix.Malloc): not gone */
	x->fetch = fetch;
	if (err)
		free_view(x);
	else
		*out = x;
	return err;
}

void viewer_cancel(struct view *view)
{
	if (view)
		free_view(view);
}

static struct view *find_of(const struct viewer *v, uint64_t message, uint64_t user)
{
	struct view *x = v ? v->first : NULL;

	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): those that were freed are not in the list */
	while (x && (message ? x->message != message : x->user != user))
		x = x->next;
	return x;
}

void viewer_drop(struct viewer *v, uint64_t message, uint64_t user)
{
	struct view *x;

	while ((x = find_of(v, message, user)))
		fail(x, "it was taken back");
}

void viewer_settings(struct viewer *v)
{
	v->stale = true;
	if (v->roles)
		roles_settings(v->roles);
}

int viewer_alloc(struct viewer **out, const struct viewer_conf *conf)
{
	*out = calloc(1, sizeof **out);
	if (!*out)
		return ENOMEM;
	(*out)->conf = *conf;
	return 0;
}

struct viewer *viewer_free(struct viewer *v)
{
	struct view *next;

	if (!v)
		return NULL;
	for (struct view *x = v->first; x; x = next) {
		next = x->next;
		free_view(x);
	}
	roles_free(v->roles);
	free(v);
	return NULL;
}
