/* A question with the lines that are newer than its first message (inside.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/text_session/inside.h"

/* Puts a line behind what is there. Without memory *all is NULL, and stays so. */
static void join_line(char **all, const char *name, const char *text)
{
	char *one = *all ? text_asking_label(name, text) : NULL, *more = NULL;

	if (one && asprintf(&more, "%s%s%s", *all, **all ? "\n" : "", one) < 0)
		more = NULL;
	free(one);
	free(*all);
	*all = more;
}

/* The oldest line behind this message; NULL: none is. */
static const struct text_line *line_behind(const struct text_line *lines, size_t n,
					   uint64_t message)
{
	const struct text_line *next = NULL;

	for (size_t i = 0; i < n; i++)
		if (lines[i].message > message && (!next || lines[i].message < next->message))
			next = &lines[i];
	return next;
}

char *text_since_join(const struct text_job *job, const struct text_effect *e,
		      const struct text_line *since, size_t n_since)
{
	const struct text_line *line = line_behind(since, n_since, 0);
	const char *asker = e->triggers[0]->name;
	const char *own =
		*job->g->settings->bot_name ? job->g->settings->bot_name : job->g->ts->name;
	char *all = strdup(""), *noted = NULL;

	for (size_t i = 0; i < e->n_triggers || line;) {
		const struct text_trigger *t = i < e->n_triggers ? e->triggers[i] : NULL;

		if (t && (!line || t->message < line->message)) {
			join_line(&all, t->name, t->text);
			i++;
			continue;
		}
		join_line(&all, line->bot ? own : line->name, line->text);
		line = line_behind(since, n_since, line->message);
	}
	if (!all || line_behind(since, n_since, e->triggers[e->n_triggers - 1]->message) == NULL)
		return all;
	if (asprintf(&noted, "%s\n" PROMPT_TEXT_MEANWHILE, all, asker) < 0)
		noted = NULL;
	free(all);
	return noted;
}
