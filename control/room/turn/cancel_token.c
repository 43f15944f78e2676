#include "control/room/turn/cancel_token.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define SLOT_MOST ((INT64_C(1) << 53) - 1)

static const char *const names[ROOM_ABORT_COUNT] = {
	[ROOM_ABORT_NONE] = "none",
	[ROOM_ABORT_BARGE_IN] = "barge-in",
	[ROOM_ABORT_EOT_REVOKED] = "eot-revoked",
	[ROOM_ABORT_USER_CANCEL] = "user-cancel",
	[ROOM_ABORT_TIMEOUT] = "timeout",
	[ROOM_ABORT_EXTERNAL] = "external",
};

const char *room_abort_name(enum room_abort reason)
{
	return (unsigned)reason < ROOM_ABORT_COUNT ? names[reason] : "?";
}

enum room_abort room_abort_of(const char *said)
{
	if (said && strcmp(said, "voice-barge-in") == 0)
		return ROOM_ABORT_BARGE_IN;
	for (unsigned i = ROOM_ABORT_BARGE_IN; said && i < ROOM_ABORT_COUNT; i++)
		if (strcmp(said, names[i]) == 0)
			return (enum room_abort)i;
	return ROOM_ABORT_EXTERNAL;
}

void room_token_init(struct room_token *t, uint32_t run, int64_t slot)
{
	bool safe = slot >= -SLOT_MOST && slot <= SLOT_MOST;

	*t = (struct room_token){.run = run, .slot = safe ? slot : ROOM_NO_SLOT};
}

void room_token_init_aborted(struct room_token *t, enum room_abort reason)
{
	room_token_init(t, 0, ROOM_NO_SLOT);
	t->reason = reason == ROOM_ABORT_NONE ? ROOM_ABORT_EXTERNAL : reason;
	t->signalled = true;
}

bool room_token_abort(struct room_token *t, enum room_abort reason)
{
	if (room_token_aborted(t))
		return false;
	t->reason = reason == ROOM_ABORT_NONE ? ROOM_ABORT_EXTERNAL : reason;
	if (t->parent)
		room_token_off(t->parent, t->link);
	t->parent = NULL;
	/* A listener may take itself or others off: what stands at the front is next. */
	while (t->n) {
		room_token_h *h = t->listener[0].h;
		void *arg = t->listener[0].arg;

		room_token_off(t, t->listener[0].id);
		if (h(t, t->reason, arg))
			t->failed++;
	}
	t->signalled = true;
	return true;
}

int room_token_on(struct room_token *t, room_token_h *h, void *arg, uint32_t *id)
{
	*id = 0;
	if (room_token_aborted(t)) {
		if (h(t, t->reason, arg))
			t->failed++;
		return 0;
	}
	if (t->n == ROOM_LISTENERS)
		return ENOSPC;
	*id = ++t->last;
	t->listener[t->n].id = *id;
	t->listener[t->n].h = h;
	t->listener[t->n++].arg = arg;
	return 0;
}

void room_token_off(struct room_token *t, uint32_t id)
{
	for (unsigned i = 0; i < t->n; i++)
		if (id && t->listener[i].id == id) {
			t->n--;
			memmove(&t->listener[i], &t->listener[i + 1],
				(t->n - i) * sizeof t->listener[0]);
			return;
		}
}

static int parent_aborted(struct room_token *parent, enum room_abort reason, void *arg)
{
	struct room_token *t = arg;

	(void)parent;
	(void)reason;
	t->parent = NULL;
	room_token_abort(t, ROOM_ABORT_EXTERNAL);
	return 0;
}

int room_token_link(struct room_token *t, struct room_token *parent)
{
	int err;

	if (room_token_aborted(t))
		return 0;
	if (t->parent)
		return EALREADY;
	t->parent = parent;
	err = room_token_on(parent, parent_aborted, t, &t->link);
	if (err || room_token_aborted(t))
		t->parent = NULL;
	return err;
}
