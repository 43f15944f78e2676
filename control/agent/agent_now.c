/* What the room of an agent is doing now, for pages (agent.h). */
#include "control/agent/inside.h"
#include "control/agent/screen_looks.h"
#include "ipc/env.h"
#include "proto/base/iso_time.h"
#include "proto/base/time.h"

static json_t *id_json(uint64_t id)
{
	return id ? json_sprintf("%llu", (unsigned long long)id) : json_null();
}

static json_t *name_json(const struct agent *a, uint64_t user)
{
	const char *name = user ? turns_name(a->turns, user) : "";

	return *name ? json_string(name) : json_null();
}

static const char *phase_name(enum room_phase phase)
{
	static const char *const names[] = {"free",	"hearing", "transcribing", "classifying",
					    "deferred", "queued",  "asked",	   "speaking",
					    "closing",	"ended"};

	return names[phase];
}

/* Whom the answer is for: "all", "person" for somebody who is named, or "speaker" for whoever
 * asked.
 */
static json_t *addressee_json(const struct agent *a, const struct room_turn *t)
{
	const struct room_interruption_policy *p = &t->policy;
	bool all = p->why == ROOM_POLICY_TARGET_ALL;
	bool person = p->why == ROOM_POLICY_TARGET && p->user && p->user != t->user;
	uint64_t user = all ? 0 : person ? p->user : t->user;

	return json_pack("{s:s,s:o,s:o}", "kind",
			 all	  ? "all"
			 : person ? "person"
				  : "speaker",
			 "user", id_json(user), "name", name_json(a, user));
}

static json_t *turn_json(const struct agent *a, const struct room_turn *t, uint64_t now)
{
	return json_pack("{s:I,s:o,s:o,s:s,s:I}", "turn", (json_int_t)t->id, "user",
			 id_json(t->user), "name", name_json(a, t->user), "phase",
			 phase_name(t->phase), "forMs",
			 (json_int_t)(now > t->born_at ? (now - t->born_at) / NS_PER_MS : 0));
}

/* A time of the loop's clock, which is now where the other clock is wall; null for 0 and for never.
 */
static json_t *time_json(uint64_t at, uint64_t now, uint64_t wall)
{
	char text[ISO_TIME_SIZE];

	if (!at || at == UINT64_MAX)
		return json_null();
	iso_time_format(text,
			at < now ? wall - (now - at) / NS_PER_MS : wall + (at - now) / NS_PER_MS);
	return json_string(text);
}

/* What was asked and said about shown screens. */
static json_t *looks_json(const struct agent *a, uint64_t now)
{
	struct screen_looks_paid paid = screen_looks_paid(a->looks);

	return json_pack("{s:i,s:f,s:i,s:o}", "asked", (int)paid.asked, "spentUsd",
			 (double)paid.nano / 1e9, "remarks", (int)a->remarks, "remarkedMs",
			 a->remarks ? json_integer((json_int_t)((now - a->remarked_at) / NS_PER_MS))
				    : json_null());
}

/* What it attends to, and when it says something of its own, in the seeds' words. */
static void add_attention(const struct agent *a, json_t *j, uint64_t now, uint64_t wall)
{
	struct room_attention at;

	room_attention(a->room, now, &at);
	json_object_set_new(j, "wake",
			    json_pack("{s:s,s:b,s:o,s:o,s:o}", "attentionMode",
				      at.engaged ? "ACTIVE" : "AMBIENT", "active", (int)at.engaged,
				      "userId", id_json(at.holder), "lastRelevantAt",
				      time_json(at.relevant_at, now, wall), "endsAt",
				      time_json(at.ends_at, now, wall)));
	json_object_set_new(j, "thoughtEngine",
			    json_pack("{s:b,s:o,s:o,s:o}", "busy", (int)at.thinks, "nextAttemptAt",
				      time_json(at.due_at, now, wall), "lastAttemptAt",
				      time_json(at.tried_at, now, wall), "lastSpokenAt",
				      time_json(at.heard_at, now, wall)));
	json_object_set_new(j, "asr",
			    json_pack("{s:s,s:i}", "sessions",
				      at.asr_shared  ? "shared"
				      : at.asr_files ? "file"
						     : "speaker",
				      "pending", (int)at.recordings));
	json_object_set_new(j, "holds", json_boolean(at.holds));
	json_object_set_new(j, "superseded",
			    json_integer((json_int_t)room_count(a->room, ROOM_REASON_SUPERSEDED)));
}

json_t *agent_now(const struct agent *a)
{
	const struct room_turn *t, *floor = room_active(a->room);
	json_t *turns = json_array(), *holder = json_null(), *all;
	uint64_t now = env_now(a->env), wall = env_wall_ms(a->env);
	struct room_times times;
	unsigned place = 0;

	room_session_times(a->room, &times);
	/* Nobody hears a speculative answer yet, so its turn does not have the floor. */
	if (floor && room_speculates(a->room, floor->id))
		floor = NULL;
	while ((t = room_live_turn(a->room, &place)))
		json_array_append_new(turns, turn_json(a, t, now));
	if (floor) {
		holder = turn_json(a, floor, now);
		json_object_set_new(holder, "addressee", addressee_json(a, floor));
	}
	all = json_pack("{s:o,s:o,s:f,s:o,s:o,s:o,s:o}", "floor", holder, "turns", turns,
			"spentUsd", (double)a->spent_nano / 1e9, "lastActivityAt",
			time_json(times.active_at, now, wall), "maxEndsAt",
			time_json(times.length_end, now, wall), "inactivityEndsAt",
			time_json(times.idle_end, now, wall), "looks", looks_json(a, now));
	add_attention(a, all, now, wall);
	return all;
}

json_t *agent_levels(const struct agent *a)
{
	const struct room_turn *floor = room_active(a->room);
	json_t *users = json_object();
	const struct level *v;
	unsigned place = 0;

	while ((v = levels_next(&a->levels, &place))) {
		int db = levels_db(v, env_now(a->env));
		char id[24];

		snprintf(id, sizeof id, "%llu", (unsigned long long)v->user);
		json_object_set_new(users, id,
				    db == LEVEL_UNKNOWN ? json_null() : json_integer(db));
	}
	return json_pack("{s:o,s:b}", "users", users, "bot",
			 (int)(floor && floor->phase == ROOM_PHASE_SPEAKING));
}
