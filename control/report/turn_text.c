#include "control/report/turn_text.h"

#include <stdio.h>

#include <jansson.h>

#include "control/room/base/turn.h"
#include "proto/base/time.h"

char *turn_why_text(const struct room_turn *turn)
{
	json_t *list = json_array();
	char *text;

	for (unsigned i = 0; i < turn->decisions && i < ROOM_CHAIN; i++) {
		const struct room_decision *d = &turn->decision[i];

		json_array_append_new(list,
				      json_pack("{s:s,s:b,s:I,s:I,s:s,s:s,s:s}", "rule",
						room_rule_name(d->rule), "yes", d->yes, "value",
						(json_int_t)d->value, "limit", (json_int_t)d->limit,
						"unit", room_rule_unit(d->rule), "text",
						room_decision_text(d->rule, d->yes), "then",
						room_decision_then(d->rule, d->yes)));
	}
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

void turn_heard_text(const struct room_turn *turn, char *out, size_t size)
{
	if (turn->prompted)
		snprintf(out, size, "%.*s", (int)turn->quoted_n,
			 turn->transcript + turn->quoted_at);
	else
		snprintf(out, size, "%s", turn->transcript);
}

int64_t turn_first_audio_ms(const struct room_turn *turn)
{
	if (!turn->first_audio_at || !turn->end_of_speech_at ||
	    turn->first_audio_at < turn->end_of_speech_at)
		return -1;
	return (int64_t)((turn->first_audio_at - turn->end_of_speech_at) / NS_PER_MS);
}

int64_t turn_lasted_ms(const struct room_turn *turn, uint64_t now)
{
	if (!turn->born_at || turn->born_at > now)
		return -1;
	return (int64_t)((now - turn->born_at) / NS_PER_MS);
}
