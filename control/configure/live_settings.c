#include "control/configure/live_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
	bool unread; /* the stored document is there, and nobody knows what it holds */
	/* The change that waits until it is saved; NULL: none. */
	struct document *pending;
	live_settings_done_h *doneh;
	void *donearg;
};

/* Most of the records are empty, and pages of the system that are not written take no memory, which
 * counts where many servers are served: a seventh of it is left. NULL without memory. */
static struct settings *copy_settings(const struct settings *from)
{
	static const unsigned char none[4096];
	const unsigned char *src = (const unsigned char *)from;
	unsigned char *to = mmap(NULL, sizeof *from, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (to == MAP_FAILED)
		return NULL;
	for (size_t at = 0; at < sizeof *from; at += sizeof none) {
		size_t n = sizeof *from - at < sizeof none ? sizeof *from - at : sizeof none;

		if (memcmp(src + at, none, n) != 0)
			memcpy(to + at, src + at, n);
	}
	return (struct settings *)(void *)to;
}

/* Nobody gets the pages before they are wiped. */
static void drop_settings(struct settings *s)
{
	munmap(s, sizeof *s);
}

static void log_fault(const char *member, const char *text, void *arg)
{
	(void)arg;
	log_warn("settings_fault", "member=%s text=\"%s\"", member, text);
}

static void write_effective(const struct live_settings *l, uint64_t guild, struct settings *out,
			    document_fault_h *h)
{
	if (l->conf.shown)
		*out = *l->base;
	else
		document_effective(l->document, l->base, guild, out, h, NULL);
}

/* A document that cannot be read must not unblock anybody. */
static int read_kept(struct live_settings *l)
{
	char *text = l->conf.kept ? json_dumps(l->conf.kept, JSON_COMPACT) : NULL;
	bool empty = !json_array_size(json_object_get(l->conf.kept, "versions"));
	int err = 0;

	l->unread = json_is_true(json_object_get(l->conf.kept, "unread"));
	if (!text)
		return l->conf.kept ? ENOMEM : 0;
	if (!l->unread || !empty)
		err = document_parse(l->document, text, strlen(text));
	free(text);
	if (err && err != ENOMEM)
		log_warn("settings_document_unreadable", "error=\"%s\"", strerror(err));
	l->unread = l->unread || err;
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
	write_effective(l, 0, l->wanted, log_fault);
	*conf->settings = *l->wanted;
	conf->settings->unread = l->unread || l->wanted->unread;
	*out = l;
	return 0;
}

struct live_settings *live_settings_free(struct live_settings *l)
{
	if (!l)
		return NULL;
	for (unsigned i = 0; i < l->n_own; i++)
		drop_settings(l->own[i].settings);
	document_free(l->document);
	document_free(l->pending);
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

static uint32_t sent(const struct live_settings *l)
{
	return l->conf.senth ? l->conf.senth(l->conf.arg) : SETTINGS_TEXT_ALL;
}

struct applying {
	struct settings *to;
	const struct settings *from;
	uint32_t sent;
	const struct live_settings_conf *told; /* NULL: nobody is told */
	const char *author;
	bool any;
};

/* A text_chat for which Discord sends less than it wants does what it can with that. */
static bool waits(const struct applying *a, const char *name, enum settings_when when)
{
	return when == SETTINGS_START &&
	       (settings_when(name) == SETTINGS_START || a->sent == SETTINGS_TEXT_OFF);
}

static void apply_one(const char *name, const char *value, bool secret, void *arg)
{
	struct applying *a = arg;
	enum settings_when when = settings_when_of(name, a->from, a->sent);
	bool later = waits(a, name, when);
	int err = later ? 0 : settings_set(a->to, name, value);

	(void)secret;
	a->any = a->any || (!err && !later);
	if (err)
		log_warn("setting_refused", "name=%s error=\"%s\"", name, strerror(err));
	else if (a->told && a->told->toldh)
		a->told->toldh(name, when, a->author, a->told->arg);
}

static bool has_own(const struct live_settings *l, uint64_t guild)
{
	char id[24];

	snprintf(id, sizeof id, "%llu", (unsigned long long)guild);
	return !l->conf.shown &&
	       json_object_get(json_object_get(document_intent(l->document), "guilds"), id);
}

/* True: something of it is another now. */
static bool apply_own(struct live_settings *l, struct own *own)
{
	struct applying a = {.to = own->settings, .sent = sent(l)};
	const struct settings *next = l->conf.settings;

	if (has_own(l, own->guild)) {
		document_of_guild(l->document, l->base, l->wanted, own->guild, l->fresh, log_fault,
				  NULL);
		next = l->fresh;
	}
	a.from = next;
	settings_changes(own->settings, next, apply_one, &a);
	own->settings->unread = l->unread || next->unread;
	return a.any;
}

static void apply(struct live_settings *l, const char *author, json_t **outcomes)
{
	struct applying all = {.to = l->conf.settings,
			       .from = l->fresh,
			       .sent = sent(l),
			       .told = &l->conf,
			       .author = author};
	bool unread;

	write_effective(l, 0, l->fresh, log_fault);
	if (outcomes)
		*outcomes = settings_outcomes_json(l->wanted, l->fresh, all.sent);
	settings_changes(l->wanted, l->fresh, apply_one, &all);
	*l->wanted = *l->fresh;
	unread = l->unread || l->wanted->unread;
	all.any = all.any || l->conf.settings->unread != unread;
	l->conf.settings->unread = unread;
	for (unsigned i = 0; i < l->n_own; i++)
		all.any = apply_own(l, &l->own[i]) || all.any;
	if (all.any && l->conf.changedh)
		l->conf.changedh(l->conf.arg);
}

void live_settings_apply(struct live_settings *l)
{
	apply(l, NULL, NULL);
}

/* ---- the document ---- */

/* Hands the version over; it takes effect once it is saved. */
static enum document_result save(struct live_settings *l, struct document *next,
				 live_settings_done_h *doneh, void *donearg)
{
	char *text = document_version_text(next);
	struct live_settings_version version = {.text = text,
						.author = document_author(next),
						.before = document_version(l->document)};
	int err = text ? l->conf.saveh(&version, l->conf.arg) : ENOMEM;

	free(text);
	if (err) {
		log_warn("settings_not_saved", "error=\"%s\"", strerror(err));
		document_free(next);
		return DOCUMENT_NOT_SAVED;
	}
	l->pending = next;
	l->doneh = doneh;
	l->donearg = donearg;
	return DOCUMENT_SAVED;
}

/* next was changed with this result. */
static enum document_result finish_change(struct live_settings *l, struct document *next,
					  enum document_result r, live_settings_done_h *doneh,
					  void *donearg)
{
	if (r == DOCUMENT_SAVED && l->pending)
		r = DOCUMENT_CONFLICT;
	if (r == DOCUMENT_SAVED)
		return save(l, next, doneh, donearg);
	document_free(next);
	return r;
}

enum document_result live_settings_put(struct live_settings *l, const json_t *intent,
				       const struct document_change *change, document_fault_h *h,
				       void *arg, live_settings_done_h *doneh, void *donearg)
{
	struct document *next = NULL;
	enum document_result r = DOCUMENT_NO_MEMORY;

	if (document_copy(&next, l->document) == 0)
		r = document_put(next, l->base, intent, change, h, arg);
	return finish_change(l, next, r, doneh, donearg);
}

enum document_result live_settings_undo(struct live_settings *l,
					const struct document_change *change,
					live_settings_done_h *doneh, void *donearg)
{
	struct document *next = NULL;
	enum document_result r = DOCUMENT_NO_MEMORY;

	if (document_copy(&next, l->document) == 0)
		r = document_undo(next, l->base, change);
	return finish_change(l, next, r, doneh, donearg);
}

/* Another program saved this document. It counts from now on; its history shows after a restart. */
static void adopt(struct live_settings *l, const char *present)
{
	json_t *version = json_loads(present, JSON_REJECT_DUPLICATES, NULL);
	json_t *all = version ? json_pack("{s:[o]}", "versions", version) : NULL;
	char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	int err = text ? document_parse(l->document, text, strlen(text)) : EBADMSG;

	l->unread = err != 0;
	if (err)
		log_warn("settings_document_unreadable", "error=\"%s\"", strerror(err));
	apply(l, document_author(l->document), NULL);
	free(text);
	json_decref(all);
}

/* Members that the newest version gave to servers, or took from them. */
static void tell_servers(const struct live_settings *l, json_t *outcomes)
{
	json_t *changes = document_diff(l->document, 0, 0), *change;
	size_t i;

	json_array_foreach(changes, i, change)
	{
		const char *key = json_string_value(json_object_get(change, "key"));
		const char *name = strrchr(key, '/');
		enum settings_when when;
		uint64_t guild;

		if (!name)
			continue;
		guild = strtoull(strchr(key, '/') + 1, NULL, 10);
		when = strcmp(++name, "preset") == 0 ? SETTINGS_NOW
						     : live_settings_when(l, guild, name);
		json_array_append_new(outcomes, settings_outcome_json(key, when));
		if (l->conf.toldh)
			l->conf.toldh(key, when, document_author(l->document), l->conf.arg);
	}
	json_decref(changes);
}

void live_settings_saved(struct live_settings *l, int err, const char *present, const char *why)
{
	struct live_settings_done done = {.why = why ? why : ""};
	struct document *pending = l->pending;
	json_t *outcomes = NULL;

	l->pending = NULL;
	if (!err) {
		document_free(l->document);
		l->document = pending;
		l->unread = false;
		pending = NULL;
		apply(l, document_author(l->document), &outcomes);
		tell_servers(l, outcomes);
		done.outcomes = outcomes;
		done.result = DOCUMENT_SAVED;
	} else {
		log_warn("settings_not_saved", "error=\"%s\"", strerror(err));
		done.result = err == ESTALE ? DOCUMENT_CONFLICT : DOCUMENT_NOT_SAVED;
	}
	if (err == ESTALE)
		adopt(l, present);
	document_free(pending);
	l->doneh(&done, l->donearg);
	json_decref(outcomes);
}

enum document_result live_settings_try(const struct live_settings *l, const json_t *intent,
				       document_fault_h *h, void *arg)
{
	return document_try(l->document, l->base, intent, h, arg);
}

void live_settings_forget_person(struct live_settings *l, const char *author, uint64_t user)
{
	document_forget_author(l->document, author);
	document_forget_person(l->document, user);
	if (!l->pending)
		return;
	document_forget_author(l->pending, author);
	document_forget_person(l->pending, user);
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

void live_settings_wanted_of(const struct live_settings *l, uint64_t guild, struct settings *out)
{
	write_effective(l, guild, out, NULL);
	settings_embedded_at(out, l->wanted->records.embedded_url);
}

enum settings_when live_settings_when(const struct live_settings *l, uint64_t guild,
				      const char *name)
{
	live_settings_wanted_of(l, guild, l->fresh);
	return settings_when_of(name, l->fresh, sent(l));
}

const struct settings *live_settings_of(struct live_settings *l, uint64_t guild)
{
	struct settings *s = NULL;

	for (unsigned i = 0; i < l->n_own; i++)
		if (l->own[i].guild == guild)
			return l->own[i].settings;
	if (l->n_own < LIVE_SETTINGS_GUILDS)
		s = copy_settings(l->conf.settings);
	if (!s)
		return l->conf.settings;
	l->own[l->n_own] = (struct own){guild, s};
	apply_own(l, &l->own[l->n_own++]);
	return s;
}

void live_settings_release(struct live_settings *l, uint64_t guild)
{
	for (unsigned i = 0; i < l->n_own; i++)
		if (l->own[i].guild == guild) {
			drop_settings(l->own[i].settings);
			l->own[i] = l->own[--l->n_own];
			return;
		}
}

bool live_settings_needs_embedded(const struct live_settings *l)
{
	bool needs = settings_needs_embedded(l->conf.settings);

	for (unsigned i = 0; i < l->n_own; i++)
		needs = needs || settings_needs_embedded(l->own[i].settings);
	return needs;
}

void live_settings_embedded_at(struct live_settings *l, const char *url)
{
	settings_embedded_at(l->conf.settings, url);
	for (unsigned i = 0; i < l->n_own; i++)
		settings_embedded_at(l->own[i].settings, url);
}
