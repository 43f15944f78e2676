#include "control/configure/live_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/view.h"
#include "ipc/log.h"

/* The settings of one server that somebody asked for. They stay in one place, because it may get
 * some of its own, or lose them, at any time. */
struct own {
	uint64_t guild;
	struct settings *settings; /* what its voice session reads */
};

struct live_settings {
	struct live_settings_conf conf;
	struct document *document;
	struct settings *base, *wanted, *fresh;
	struct own own[LIVE_SETTINGS_GUILDS];
	unsigned n_own;
};

static void log_fault(const char *member, const char *text, void *arg)
{
	(void)arg;
	log_warn("settings_fault", "member=%s text=\"%s\"", member, text);
}

static int read_kept(struct live_settings *l)
{
	char *text = l->conf.kept ? json_dumps(l->conf.kept, JSON_COMPACT) : NULL;
	int err;

	if (!text)
		return l->conf.kept ? ENOMEM : 0;
	err = document_parse(l->document, text, strlen(text));
	free(text);
	if (err && err != ENOMEM)
		log_warn("settings_document_unreadable", "error=\"%s\"", strerror(err));
	return err == ENOMEM ? ENOMEM : 0;
}

int live_settings_alloc(struct live_settings **out, const struct live_settings_conf *conf)
{
	struct live_settings *l;
	int err;

	if (!out || !conf->settings)
		return EINVAL;
	l = calloc(1, sizeof *l);
	if (!l)
		return ENOMEM;
	l->conf = *conf;
	err = document_alloc(&l->document);
	if (!err)
		err = settings_alloc(&l->base);
	if (!err)
		err = settings_alloc(&l->wanted);
	if (!err)
		err = settings_alloc(&l->fresh);
	if (!err)
		err = read_kept(l);
	if (err) {
		live_settings_free(l);
		return err;
	}
	*l->base = *conf->settings;
	document_effective(l->document, l->base, 0, l->wanted, log_fault, NULL);
	*conf->settings = *l->wanted;
	*out = l;
	return 0;
}

struct live_settings *live_settings_free(struct live_settings *l)
{
	if (!l)
		return NULL;
	for (unsigned i = 0; i < l->n_own; i++)
		settings_free(l->own[i].settings);
	document_free(l->document);
	settings_free(l->base);
	settings_free(l->wanted);
	settings_free(l->fresh);
	free(l);
	return NULL;
}

int live_settings_base(struct live_settings *l, const char *name, const char *value)
{
	return settings_set(l->base, name, value);
}

/* ---- applying ---- */

struct applying {
	struct settings *to;
	const struct live_settings_conf *told; /* NULL: nobody is told */
	bool any;
};

static void apply_one(const char *name, const char *value, bool secret, void *arg)
{
	struct applying *a = arg;
	enum settings_when when = settings_when(name);
	int err = when == SETTINGS_START ? 0 : settings_set(a->to, name, value);

	(void)secret;
	a->any = a->any || (!err && when != SETTINGS_START);
	if (err)
		log_warn("setting_refused", "name=%s error=\"%s\"", name, strerror(err));
	else if (a->told && a->told->toldh)
		a->told->toldh(name, when, a->told->arg);
}

static bool has_own(const struct live_settings *l, uint64_t guild)
{
	char id[24];

	snprintf(id, sizeof id, "%llu", (unsigned long long)guild);
	return json_object_get(json_object_get(document_intent(l->document), "guilds"), id) != NULL;
}

/* True: something of it is another now. */
static bool apply_own(struct live_settings *l, struct own *own)
{
	struct applying a = {.to = own->settings};

	if (has_own(l, own->guild))
		document_effective(l->document, l->base, own->guild, l->fresh, log_fault, NULL);
	else
		*l->fresh = *l->conf.settings;
	settings_changes(own->settings, l->fresh, apply_one, &a);
	return a.any;
}

void live_settings_apply(struct live_settings *l, json_t **outcomes)
{
	struct applying all = {.to = l->conf.settings, .told = &l->conf};

	document_effective(l->document, l->base, 0, l->fresh, log_fault, NULL);
	if (outcomes)
		*outcomes = settings_outcomes_json(l->wanted, l->fresh);
	settings_changes(l->wanted, l->fresh, apply_one, &all);
	*l->wanted = *l->fresh;
	for (unsigned i = 0; i < l->n_own; i++)
		all.any = apply_own(l, &l->own[i]) || all.any;
	if (all.any && l->conf.changedh)
		l->conf.changedh(l->conf.arg);
}

/* ---- the document ---- */

/* What was not saved did not happen: the document goes back to what it was. */
static enum document_result save(struct live_settings *l, struct document *before,
				 enum document_result r, json_t **outcomes)
{
	char *text = document_text(l->document);
	json_t *j = text ? json_loads(text, 0, NULL) : NULL;
	int err = !j ? ENOMEM : l->conf.saveh ? l->conf.saveh(j, l->conf.arg) : 0;

	json_decref(j);
	free(text);
	if (err) {
		log_warn("settings_not_saved", "error=\"%s\"", strerror(err));
		document_free(l->document);
		l->document = before;
		return DOCUMENT_NOT_SAVED;
	}
	document_free(before);
	live_settings_apply(l, outcomes);
	return r;
}

static struct document *copy_of(const struct document *d)
{
	struct document *copy = NULL;
	char *text = document_text(d);

	if (text && document_alloc(&copy) == 0 && document_parse(copy, text, strlen(text)))
		copy = document_free(copy);
	free(text);
	return copy;
}

enum document_result live_settings_put(struct live_settings *l, const json_t *intent,
				       const struct document_change *change, document_fault_h *h,
				       void *arg, json_t **outcomes)
{
	struct document *before = copy_of(l->document);
	enum document_result r = DOCUMENT_NO_MEMORY;

	if (before)
		r = document_put(l->document, l->base, intent, change, h, arg);
	if (r == DOCUMENT_SAVED)
		return save(l, before, r, outcomes);
	document_free(before);
	return r;
}

enum document_result live_settings_undo(struct live_settings *l,
					const struct document_change *change, json_t **outcomes)
{
	struct document *before = copy_of(l->document);
	enum document_result r = DOCUMENT_NO_MEMORY;

	if (before)
		r = document_undo(l->document, l->base, change);
	if (r == DOCUMENT_SAVED)
		return save(l, before, r, outcomes);
	document_free(before);
	return r;
}

enum document_result live_settings_try(const struct live_settings *l, const json_t *intent,
				       document_fault_h *h, void *arg)
{
	return document_try(l->document, l->base, intent, h, arg);
}

const struct document *live_settings_document(const struct live_settings *l)
{
	return l->document;
}

const struct settings *live_settings_wanted(const struct live_settings *l)
{
	return l->wanted;
}

/* ---- servers ---- */

const struct settings *live_settings_of(struct live_settings *l, uint64_t guild)
{
	struct settings *s = NULL;

	for (unsigned i = 0; i < l->n_own; i++)
		if (l->own[i].guild == guild)
			return l->own[i].settings;
	if (l->n_own == LIVE_SETTINGS_GUILDS || settings_alloc(&s))
		return l->conf.settings;
	*s = *l->conf.settings;
	l->own[l->n_own] = (struct own){guild, s};
	apply_own(l, &l->own[l->n_own++]);
	return s;
}

void live_settings_release(struct live_settings *l, uint64_t guild)
{
	for (unsigned i = 0; i < l->n_own; i++)
		if (l->own[i].guild == guild) {
			settings_free(l->own[i].settings);
			l->own[i] = l->own[--l->n_own];
			return;
		}
}

void live_settings_embedded_at(struct live_settings *l, const char *url)
{
	settings_embedded_at(l->conf.settings, url);
	for (unsigned i = 0; i < l->n_own; i++)
		settings_embedded_at(l->own[i].settings, url);
}
