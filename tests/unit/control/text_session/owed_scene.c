#include "tests/unit/control/text_session/owed_scene.h"

#include "control/settings/settings.h"
#include "control/text/taken.h"
#include "ipc/env.h"
#include "tests/test.h"

json_t *owed_row(uint64_t message, uint64_t guild, uint64_t channel, const char *state)
{
	return json_pack("[[I,I,I,I,s,I]]", (json_int_t)message, (json_int_t)guild,
			 (json_int_t)channel, (json_int_t)STAGE_BOB, state, (json_int_t)0);
}

uint64_t owed_since(struct text_stage *s, uint64_t ago_ms, const char *state)
{
	uint64_t owed = text_stage_id(s, ago_ms);

	s->rows = owed_row(owed, STAGE_GUILD, STAGE_CHANNEL, state);
	s->conf.taken = s->rows;
	return owed;
}

void owed_server_comes(struct text_stage *s, uint64_t first, unsigned n)
{
	json_t *guilds = text_stage_guilds(first, n);

	text_session_online(s->ts, guilds);
	json_decref(guilds);
}

void owed_channel_comes(struct text_stage *s, uint64_t last)
{
	s->unknown = false;
	text_stage_guild(s, STAGE_GUILD, STAGE_CHANNEL, 1, last);
	text_stage_run(s);
}
