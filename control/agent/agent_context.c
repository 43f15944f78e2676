/* Keeps the context that the model got for each answer, so that people can inspect it (agent.h). */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/agent/inside.h"
#include "control/media/media.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "ipc/env.h"

static bool add_message(json_t *list, const char *role, const char *speaker, const char *text)
{
	return json_array_append_new(list, json_pack("{s:s,s:s,s:s?}", "role", role, "speaker",
						     speaker, "text", text)) == 0;
}

/* True if each of those whose words stand in the turn may be remembered. */
static bool may_keep_question(const struct agent *a, uint32_t turn)
{
	const struct room_turn *t = room_active(a->room);

	return t && t->id == turn && turns_keeps_words(a->turns, t);
}

/* False if the memory may have told what is the speaker's own: operators read what is kept here. */
static bool may_keep_memory(const struct agent *a, uint32_t turn)
{
	const struct room_turn *t = room_active(a->room);

	return !turn || (t && t->id == turn && !t->told_private);
}

/* Answers, summaries and notes may repeat what anybody said: they are kept only where everybody in
 * the session may be remembered. */
static json_t *describe_messages(const struct agent *a, const struct room_effect *e)
{
	bool all = turns_all_kept(a->turns);
	json_t *list = json_array();
	bool ok = list != NULL;

	for (size_t i = 0; ok && i < e->history_n; i++) {
		const struct room_message *m = &e->history[i];
		bool keep = m->bot ? all
				   : m->user && agent_may_keep(a, m->user) &&
					     turns_keeps_line(a->turns, m);

		ok = add_message(list, m->bot ? "assistant" : "user", keep ? m->speaker : "",
				 keep ? m->text : NULL);
	}
	if (ok && e->memory && *e->memory)
		ok = add_message(list, "user", "", may_keep_memory(a, e->turn) ? e->memory : NULL);
	if (ok)
		ok = add_message(list, "user", "", may_keep_question(a, e->turn) ? e->text : NULL);
	if (ok)
		return list;
	json_decref(list);
	return NULL;
}

/* Of instructions that are written for each ask, the part that holds nobody's words. */
static json_t *describe_instructions(const struct agent *a, const struct room_effect *e)
{
	size_t n;

	if (!e->instructions)
		return json_string(roles_instructions(a->roles));
	n = strlen(e->instructions);
	if (!(turns_all_kept(a->turns) && may_keep_memory(a, e->turn)) && e->stable < n)
		n = e->stable;
	return json_stringn(e->instructions, n);
}

void agent_keep_context(struct agent *a, const struct room_effect *e)
{
	const struct media_want *where = media_call_want(a->call);
	struct bus_event ev = {
		.type = EVENT_CONTEXT, .at_ms = env_wall_ms(a->env), .guild = where->guild};
	json_t *told;
	char *text;

	if (!a->settings->keep_contexts || !a->bus)
		return;
	told = json_pack("{s:o,s:o}", "instructions", describe_instructions(a, e), "messages",
			 describe_messages(a, e));
	text = told ? json_dumps(told, JSON_COMPACT) : NULL;
	json_decref(told);
	if (!text)
		return;
	ev.context = (struct event_context){.session = turns_session(a->turns),
					    .channel = where->channel,
					    .turn = e->turn,
					    .prompts = PROMPTS_VERSION,
					    .told = text};
	bus_publish(a->bus, &ev);
	free(text);
}
