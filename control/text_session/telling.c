/* What a model was told for an answer, for people who want to look at it (inside.h). */
#include <stdlib.h>

#include <jansson.h>

#include "control/engine/engine.h"
#include "control/events/events.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/text_session/inside.h"
#include "ipc/env.h"

/* Unless everybody whose words stand in it may be remembered, nothing but the memory is shown. */
static json_t *describe_messages(const struct text_job *job, const struct engine_ask *ask)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ask->n; i++) {
		const struct engine_message *m = &ask->messages[i];
		bool shows = job->keep || (job->memory && m->text == job->memory);

		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:s?}", "role",
						m->role == ENGINE_ASSISTANT ? "assistant" : "user",
						"speaker", shows && m->speaker ? m->speaker : "",
						"text", shows ? m->text : NULL));
	}
	return list;
}

void text_telling_keep(const struct text_job *job, const struct engine_ask *ask)
{
	const struct text_session_conf *c = &job->g->ts->conf;
	struct bus_event ev = {
		.type = EVENT_CONTEXT, .at_ms = env_wall_ms(c->env), .guild = job->g->id};
	json_t *told;
	char *text;

	if (!job->g->settings->keep_contexts || !job->g->id)
		return;
	told = json_pack("{s:s,s:o}", "instructions", ask->instructions, "messages",
			 describe_messages(job, ask));
	text = told ? json_dumps(told, JSON_COMPACT) : NULL;
	json_decref(told);
	if (!text)
		return;
	/* Written answers have no session. */
	ev.context = (struct event_context){.channel = job->channel,
					    .turn = job->reply,
					    .prompts = PROMPTS_VERSION,
					    .told = text};
	bus_publish(c->bus, &ev);
	free(text);
}
