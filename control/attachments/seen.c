#include "control/attachments/seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/prompts/prompts.def"

enum { AGE = 32, HEAD = 400, MINUTE = 60, HOUR = 3600 };

static const char *age_text(uint64_t s, char buf[AGE])
{
	if (s < 2)
		return "just now";
	if (s < 2 * MINUTE)
		snprintf(buf, AGE, "%llu seconds ago", (unsigned long long)s);
	else if (s < 2 * HOUR)
		snprintf(buf, AGE, "%llu minutes ago", (unsigned long long)(s / MINUTE));
	else
		snprintf(buf, AGE, "%llu hours ago", (unsigned long long)(s / HOUR));
	return buf;
}

/* "cat.png, which Alice attached 40 seconds ago". Names are people's: one plain line each. */
static void write_head(const struct seen *s, char buf[HEAD])
{
	char name[80], by[80], age[AGE];

	snprintf(name, sizeof name, "%.79s", s->name);
	snprintf(by, sizeof by, "%.79s", *s->by ? s->by : "somebody");
	untrusted_clean_line(name);
	untrusted_clean_line(by);
	snprintf(buf, HEAD, "%s, which %s attached %s", name, by, age_text(s->age_s, age));
}

/* What stands behind the head; image: the number of the image. */
static const char *kind_text(const struct seen *s, unsigned image, char buf[AGE])
{
	switch (s->kind) {
	case SEEN_IMAGE:
		snprintf(buf, AGE, ": image %u with this.\n", image);
		return buf;
	case SEEN_DESCRIBED:
		return ". You do not see it yourself; another model describes it so:\n";
	case SEEN_FILE:
		return s->cut ? ", the beginning of its text:\n" : ", its text:\n";
	case SEEN_NOT:
		break;
	}
	return ": it cannot be shown to you: ";
}

struct out {
	char *p;
	size_t n, size;
	bool lost; /* no memory */
};

static void put(struct out *o, const char *text)
{
	size_t n = strlen(text);
	char *more;

	if (o->size - o->n <= n) {
		more = o->lost ? NULL : realloc(o->p, 2 * o->size + n + 1);
		if (!more) {
			o->lost = true;
			return;
		}
		o->p = more;
		o->size = 2 * o->size + n + 1;
	}
	memcpy(o->p + o->n, text, n + 1);
	o->n += n;
}

static void put_one(struct out *o, const struct seen *s, unsigned image, const uint8_t *mark)
{
	char head[HEAD], kind[AGE], *fenced = NULL;

	write_head(s, head);
	put(o, head);
	put(o, kind_text(s, image, kind));
	if (s->kind == SEEN_NOT) {
		put(o, s->text);
		put(o, "\n");
	}
	if (s->kind == SEEN_NOT || s->kind == SEEN_IMAGE)
		return;
	if (untrusted_wrap(&fenced, mark, s->name, s->text)) {
		o->lost = true;
		return;
	}
	put(o, fenced);
	put(o, "\n");
	free(fenced);
}

char *seen_text(const struct seen *v, size_t n, const uint8_t mark[UNTRUSTED_MARK])
{
	struct out o = {0};
	unsigned images = 0;

	if (!n)
		return NULL;
	put(&o, PROMPT_SEEN_SECTION);
	for (size_t i = 0; i < n; i++) {
		images += v[i].kind == SEEN_IMAGE;
		put_one(&o, &v[i], images, mark);
	}
	if (!o.lost)
		return o.p;
	free(o.p);
	return NULL;
}
