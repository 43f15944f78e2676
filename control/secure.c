#include "control/secure.h"

#include <stdio.h>

#include "proto/media.h"

#define MS UINT64_C(1000000)

static void see(struct secure_trouble *t, bool is, uint64_t now)
{
	if (t->now == is)
		return;
	t->now = is;
	t->changed = now;
}

void secure_update(struct secure *s, const struct media_call_secure *m, bool others, uint64_t now)
{
	/* Between two sessions there is nothing to hear and nothing to seal; what was told stays
	 * open. */
	s->known = m->known;
	if (!m->known)
		return;
	see(&s->deaf, m->deaf > 0, now);
	see(&s->keyless, !m->ready && others, now);
}

void secure_forget(struct secure *s)
{
	*s = (struct secure){0};
}

/* When this trouble is to be told, or that it is over. */
static uint64_t due(const struct secure_trouble *t, unsigned wait_ms)
{
	uint64_t at = t->changed + (t->now ? wait_ms : SECURE_WELL_MS) * MS;

	if (t->now == t->told)
		return UINT64_MAX;
	if (t->now && t->told_at && at < t->told_at + SECURE_AGAIN_MS * MS)
		return t->told_at + SECURE_AGAIN_MS * MS;
	return at;
}

uint64_t secure_deadline(const struct secure *s)
{
	uint64_t a = due(&s->deaf, SECURE_DEAF_MS), b = due(&s->keyless, SECURE_KEYLESS_MS);

	return !s->known ? UINT64_MAX : a < b ? a : b;
}

static bool turn(struct secure_trouble *t, unsigned wait_ms, uint64_t now)
{
	if (now < due(t, wait_ms))
		return false;
	t->told = t->now;
	if (t->told)
		t->told_at = now;
	return true;
}

const char *secure_say(struct secure *s, uint64_t now)
{
	if (!s->known)
		return NULL;
	if (turn(&s->deaf, SECURE_DEAF_MS, now))
		return s->deaf.told ? "I cannot hear all of you: what some say reaches me "
				      "encrypted with keys that I do "
				      "not have. I am getting new ones."
				    : "I can hear all of you again.";
	if (turn(&s->keyless, SECURE_KEYLESS_MS, now))
		return s->keyless.told ? "I cannot speak: this call is end-to-end encrypted and I "
					 "have no key for it yet. "
					 "I keep trying."
				       : "I can speak again.";
	return NULL;
}

void secure_code(const struct media_call_secure *m, char *buf, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < m->privacy_code.n && at + 2 < size; i++) {
		if (i && i % 5 == 0)
			buf[at++] = ' ';
		buf[at++] = (char)m->privacy_code.p[i];
	}
	if (size)
		buf[at] = '\0';
}

void secure_status(const struct media_call_secure *m, char *buf, size_t size)
{
	char code[48];

	secure_code(m, code, sizeof code);
	if (!m->known)
		snprintf(buf, size, "End-to-end encryption: not agreed on yet.");
	else if (!m->version)
		snprintf(buf, size, "End-to-end encryption: none, as in stages.");
	else if (m->deaf)
		snprintf(buf, size, "End-to-end encryption: %u speaker%s cannot be decrypted; %s.",
			 m->deaf, m->deaf == 1 ? "" : "s", media_heal_text(m->heal));
	else if (!m->ready)
		snprintf(buf, size,
			 "End-to-end encryption: on, without a key until somebody else is there.");
	else
		snprintf(buf, size, "End-to-end encryption: on, %u members, privacy code %s.",
			 m->members, code);
}
