#include "control/music/choice.h"

#include <stdio.h>
#include <string.h>

#include "control/music/match.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

static const char *const kinds[] = {
#define K(NAME, name) [MUSIC_CHOOSE_##NAME] = name,
	MUSIC_CHOICES(K)
#undef K
};

static bool has_label(const struct music_choice *c, const char *label)
{
	for (unsigned i = 0; i < c->n; i++)
		if (strcmp(c->label[i], label) == 0)
			return true;
	return false;
}

/* Of the first n hits, which are near enough to be meant. */
static bool has_other_edition(const struct music_hit *hits, size_t n, const struct track *t)
{
	for (size_t i = 0; i < n; i++)
		if (track_is_other_edition(hits[i].track, t))
			return true;
	return false;
}

static void add_option(struct music_choice *c, const struct track *t, bool edition)
{
	char label[TRACK_LABEL_MAX], option[MUSIC_OPTION_MAX];

	track_write_label(label, t);
	if (edition)
		track_write_edition(option, sizeof option, t);
	else
		utf8_copy(option, sizeof option, label);
	if (has_label(c, option))
		return;
	memcpy(c->label[c->n], option, sizeof option);
	c->option[c->n++] = *t;
}

enum music_decision music_choice_decide(struct music_choice *c, const struct music_hit *hits,
					size_t n)
{
	size_t near = 0;

	if (!n)
		return MUSIC_NONE_FITS;
	music_choice_clear(c);
	while (near < n && hits[near].score + MUSIC_CHOICE_AHEAD > hits[0].score)
		near++;
	for (size_t i = 0; i < near && c->n < MUSIC_OPTIONS; i++)
		add_option(c, hits[i].track, has_other_edition(hits, near, hits[i].track));
	return c->n == 1 ? MUSIC_ONE_FITS : MUSIC_MANY_FIT;
}

void music_choice_offer(struct music_choice *c, uint64_t user, enum music_choice_kind kind,
			uint64_t now)
{
	c->user = user;
	c->kind = kind;
	c->until = now + MUSIC_CHOICE_S * NS_PER_S;
}

void music_choice_clear(struct music_choice *c)
{
	c->until = 0;
	c->n = 0;
}

void music_choice_write(char to[MUSIC_CHOICE_TEXT_MAX], const struct music_choice *c)
{
	int n = snprintf(to, MUSIC_CHOICE_TEXT_MAX, "%s", kinds[c->kind]);

	for (unsigned i = 0; i < c->n; i++)
		n += snprintf(to + n, MUSIC_CHOICE_TEXT_MAX - (size_t)n, "\n%s", c->label[i]);
}

const struct track *music_choice_pick(const struct music_choice *c, uint64_t user, const char *text,
				      uint64_t now)
{
	char selection[TRACK_SELECTION_MAX];

	if (c->until <= now || c->user != user)
		return NULL;
	for (unsigned i = 0; i < c->n; i++) {
		track_write_selection(selection, &c->option[i]);
		if (strcmp(c->label[i], text) == 0 || strcmp(selection, text) == 0)
			return &c->option[i];
	}
	return NULL;
}
