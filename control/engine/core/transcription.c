#include "control/engine/core/transcription.h"

#include <string.h>

#include "proto/base/time.h"
#include "proto/base/utf8.h"

void transcription_init(struct transcription *b, size_t min_commit)
{
	memset(b, 0, sizeof *b);
	/* Without any sound there is nothing to commit. */
	b->min_commit = min_commit ? min_commit : 1;
}

enum transcription_phase transcription_phase(const struct transcription *b)
{
	if (b->closing)
		return TRANSCRIPTION_CLOSING;
	if (b->connecting)
		return TRANSCRIPTION_CONNECTING;
	if (!b->up)
		return TRANSCRIPTION_IDLE;
	return b->owed ? TRANSCRIPTION_COMMITTING : TRANSCRIPTION_READY;
}

static void copy(char *to, size_t size, const char *from)
{
	size_t n = strnlen(from, size - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

/* ---- from the room ---- */

static void nothing_streams(struct transcription *b)
{
	b->utterance = 0;
	b->sound = 0;
	b->again = false;
	b->early[0] = b->text[0] = '\0';
}

struct transcription_out transcription_start(struct transcription *b, uint32_t utterance,
					     uint64_t now)
{
	struct transcription_out out = {0};
	bool there = b->up || b->connecting;

	/* The previous utterance was neither committed nor cancelled: discard its audio. */
	out.clear = there && b->utterance && b->sound;
	nothing_streams(b);
	b->utterance = utterance;
	out.connect = !there && !b->closing &&
		      (!b->tried_at || now >= b->tried_at + TRANSCRIPTION_RETRY_MS * NS_PER_MS);
	if (out.connect) {
		b->connecting = true;
		b->tried_at = now;
	}
	b->broken = !there && !out.connect;
	return out;
}

struct transcription_out transcription_append(struct transcription *b, uint32_t utterance,
					      size_t bytes)
{
	struct transcription_out out = {0};

	if (!utterance || b->utterance != utterance || b->broken || !bytes)
		return out;
	out.append = true;
	b->sound += bytes;
	if (b->connecting && !b->again)
		b->kept += bytes;
	return out;
}

size_t transcription_overfull(const struct transcription *b)
{
	return b->kept > TRANSCRIPTION_KEPT ? b->kept - TRANSCRIPTION_KEPT : 0;
}

void transcription_dropped(struct transcription *b, size_t bytes)
{
	b->kept -= bytes < b->kept ? bytes : b->kept;
}

static struct transcription_said *owe(struct transcription *b, uint32_t utterance)
{
	struct transcription_said *o = &b->owe[b->owed++];

	memset(o, 0, sizeof *o);
	o->utterance = utterance;
	return o;
}

struct transcription_out transcription_commit(struct transcription *b, uint32_t utterance)
{
	struct transcription_out out = {0};
	struct transcription_said *o;

	if (!utterance || b->utterance != utterance)
		return out;
	if (b->owed == TRANSCRIPTION_OWED) {
		b->broken = out.give_up = true;
		for (unsigned i = 0; i < b->owed; i++)
			b->owe[i].again = true;
	}
	if (b->broken) {
		out.failed = true;
	} else if (b->sound < b->min_commit && !b->early[0]) {
		out.empty = true;
		out.clear = b->sound > 0;
	} else {
		o = owe(b, utterance);
		copy(o->item, sizeof o->item, b->early);
		copy(o->text, sizeof o->text, b->text);
		o->again = b->again;
		out.commit = !b->early[0];
	}
	nothing_streams(b);
	return out;
}

struct transcription_out transcription_interim(struct transcription *b, uint32_t utterance)
{
	struct transcription_out out = {0};

	if (!utterance || b->utterance != utterance || !b->up || b->broken || b->early[0] ||
	    b->sound < b->min_commit || b->sound > TRANSCRIPTION_INTERIM ||
	    b->owed >= TRANSCRIPTION_OWED / 2)
		return out;
	for (unsigned i = 0; i < b->owed; i++)
		if (b->owe[i].interim && b->owe[i].utterance == utterance)
			return out;
	owe(b, utterance)->interim = true;
	out.commit = out.again = true;
	return out;
}

struct transcription_out transcription_cancel(struct transcription *b, uint32_t utterance)
{
	struct transcription_out out = {0};

	if (utterance && b->utterance == utterance) {
		out.clear = b->sound > 0 && !b->broken;
		nothing_streams(b);
	}
	for (unsigned i = 0; i < b->owed; i++)
		if (b->owe[i].utterance == utterance)
			b->owe[i].cancelled = true;
	return out;
}

/* ---- the connection ---- */

void transcription_opened(struct transcription *b)
{
	b->connecting = false;
	b->up = true;
	b->kept = 0;
	b->tried_at = 0;
}

static void forget(struct transcription *b, unsigned i)
{
	b->owed--;
	memmove(&b->owe[i], &b->owe[i + 1], (b->owed - i) * sizeof b->owe[0]);
}

/* Interim and cancelled requests are not retried. True: something is owed that
 * can be. */
static bool owe_again(struct transcription *b)
{
	bool any = false;

	for (unsigned i = b->owed; i-- > 0;) {
		struct transcription_said *o = &b->owe[i];

		if (o->interim || o->cancelled) {
			forget(b, i);
			continue;
		}
		o->failed = o->again;
		o->again = true;
		o->item[0] = o->text[0] = '\0';
		any = any || !o->failed;
	}
	return any;
}

bool transcription_lost(struct transcription *b, uint64_t now)
{
	bool wanted = !b->closing && owe_again(b);

	if (b->utterance && !b->broken) {
		b->broken = b->again || b->closing;
		b->again = true;
		b->early[0] = b->text[0] = '\0';
		wanted = wanted || !b->broken;
	}
	b->up = b->closing = false;
	b->connecting = wanted;
	b->kept = 0;
	if (wanted)
		b->tried_at = now;
	return wanted;
}

bool transcription_holds(const struct transcription *b, uint32_t utterance)
{
	if (b->utterance == utterance)
		return !b->broken;
	for (unsigned i = 0; i < b->owed; i++)
		if (b->owe[i].utterance == utterance && !b->owe[i].interim)
			return true;
	return false;
}

void transcription_discard(struct transcription *b, uint32_t utterance)
{
	if (b->owed < TRANSCRIPTION_OWED)
		owe(b, utterance)->cancelled = true;
}

uint32_t transcription_fail_next(struct transcription *b)
{
	for (unsigned i = 0; i < b->owed; i++)
		if (b->owe[i].failed) {
			uint32_t utterance = b->owe[i].utterance;

			forget(b, i);
			return utterance;
		}
	return 0;
}

void transcription_closing(struct transcription *b)
{
	b->closing = true;
	b->owed = 0;
	nothing_streams(b);
}

/* ---- from the provider ---- */

static int by_item(const struct transcription *b, const char *item)
{
	for (unsigned i = 0; i < b->owed; i++)
		if (strcmp(b->owe[i].item, item) == 0)
			return (int)i;
	return -1;
}

/* The oldest whose commit was not confirmed. */
static int unnamed(const struct transcription *b)
{
	return by_item(b, "");
}

void transcription_committed(struct transcription *b, const char *item)
{
	int i = unnamed(b);

	if (i >= 0)
		copy(b->owe[i].item, sizeof b->owe[i].item, item);
	else if (b->utterance && !b->early[0])
		copy(b->early, sizeof b->early, item);
}

/* True if an interim transcript of this utterance is of use: the final one is not there yet. */
static bool goes_on(const struct transcription *b, uint32_t utterance)
{
	if (b->utterance == utterance)
		return true;
	for (unsigned i = 0; i < b->owed; i++)
		if (!b->owe[i].interim && b->owe[i].utterance == utterance)
			return !b->owe[i].cancelled;
	return false;
}

static void add(char *text, const char *words, size_t n)
{
	size_t len = strlen(text);

	if (n > TRANSCRIPTION_TEXT - 1 - len)
		n = utf8_whole(words, TRANSCRIPTION_TEXT - 1 - len);
	memcpy(text + len, words, n);
	text[len + n] = '\0';
}

uint32_t transcription_partial(struct transcription *b, const char *item, struct slice words,
			       bool whole, const char **so_far)
{
	int i = by_item(b, item);
	char *text = i < 0 ? b->text : b->owe[i].text;

	if (i < 0 ? !b->utterance : b->owe[i].cancelled)
		return 0;
	if (i >= 0 && b->owe[i].interim && !goes_on(b, b->owe[i].utterance))
		return 0;
	if (whole)
		text[0] = '\0';
	if (words.n)
		add(text, (const char *)words.p, words.n);
	*so_far = text;
	return i < 0 ? b->utterance : b->owe[i].utterance;
}

uint32_t transcription_done(struct transcription *b, const char *item, bool *revised)
{
	int i = by_item(b, item);
	uint32_t utterance;

	*revised = false;
	for (unsigned k = 0; i < 0 && *item && k < TRANSCRIPTION_DONE; k++)
		if (b->last[k].utterance && strcmp(b->last[k].item, item) == 0) {
			*revised = true;
			return b->last[k].cancelled ? 0 : b->last[k].utterance;
		}
	if (i < 0 && (i = unnamed(b)) < 0)
		return 0;
	utterance = b->owe[i].cancelled ? 0 : b->owe[i].utterance;
	copy(b->owe[i].item, sizeof b->owe[i].item, item);
	b->last[b->done++ % TRANSCRIPTION_DONE] = b->owe[i];
	forget(b, (unsigned)i);
	return utterance;
}

bool transcription_interim_given(struct transcription *b, const char *item, uint32_t *utterance)
{
	int i = by_item(b, item);

	*utterance = 0;
	for (unsigned k = 0; i < 0 && *item && k < TRANSCRIPTION_DONE; k++)
		if (b->last[k].utterance && strcmp(b->last[k].item, item) == 0)
			return b->last[k].interim;
	if (i < 0)
		i = unnamed(b);
	if (i < 0 || !b->owe[i].interim)
		return false;
	if (!b->owe[i].cancelled && goes_on(b, b->owe[i].utterance))
		*utterance = b->owe[i].utterance;
	copy(b->owe[i].item, sizeof b->owe[i].item, item);
	b->last[b->done++ % TRANSCRIPTION_DONE] = b->owe[i];
	forget(b, (unsigned)i);
	return true;
}

/* A refused commit has no item; an interim request of the same utterance may have one. */
uint32_t transcription_refused(struct transcription *b, uint32_t utterance)
{
	int at = utterance ? -1 : unnamed(b);
	bool told;

	for (unsigned i = b->owed; utterance && i-- > 0;)
		if (b->owe[i].utterance == utterance && (at < 0 || !b->owe[i].item[0]))
			at = (int)i;
	if (at < 0)
		return 0;
	told = b->owe[at].cancelled || b->owe[at].interim;
	utterance = b->owe[at].utterance;
	forget(b, (unsigned)at);
	return told ? 0 : utterance;
}
