/* Publishes the events of the agent's room and engines, and records the end of a turn (agent.h). */
#include <stdio.h>
#include <string.h>

#include "control/agent/inside.h"
#include "control/agent/recall.h"
#include "control/agent/utterance_sound.h"
#include "control/agent/voice_output.h"
#include "control/events/audit_kind.h"
#include "control/media/media.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"
#include "proto/media.h"

enum {
	TYPED_AT_ONCE = 20, /* lines of an author that are told, then one in each: */
	TYPED_EACH_MS = 15000
};

static bool consents(uint64_t user, void *arg)
{
	const struct agent *a = arg;

	return media_call_consents(a->call, user);
}

bool agent_may_keep(const struct agent *a, uint64_t user)
{
	return media_call_consents(a->call, user) &&
	       (!a->remembersh || a->remembersh(user, a->arg));
}

static bool remembers(uint64_t user, void *arg)
{
	return agent_may_keep(arg, user);
}

int agent_open_turns(struct agent *a)
{
	const struct media_want *where = media_call_want(a->call);
	const struct turns_conf conf = {.env = a->env,
					.bus = a->bus,
					.guild = where->guild,
					.channel = where->channel,
					.settings = a->settings,
					.consentsh = consents,
					.remembersh = remembers,
					.arg = a};

	return turns_alloc(&a->turns, &conf);
}

uint64_t agent_started_ms(const struct agent *a)
{
	return turns_session(a->turns);
}

bool agent_knows(const struct agent *a, uint64_t user)
{
	return *turns_name(a->turns, user);
}

uint64_t agent_asr_closes_ms(const struct agent *a, uint64_t user)
{
	uint64_t at = room_asr_closes_at(a->room, user), now = env_now(a->env);

	if (at == UINT64_MAX)
		return 0;
	return env_wall_ms(a->env) + (at > now ? (at - now) / NS_PER_MS : 0);
}

/* The clock of the room; what is older than the machine has the time of its start. */
static uint64_t time_of(const struct agent *a, uint64_t at_ms)
{
	uint64_t now = env_now(a->env), wall = env_wall_ms(a->env);
	uint64_t ago = wall > at_ms ? (wall - at_ms) * NS_PER_MS : 0;

	return now > ago ? now - ago : 1;
}

bool agent_may_recall(const struct agent *a, uint64_t user)
{
	return agent_may_keep(a, user) && !(a->blockedh && a->blockedh(user, a->arg));
}

uint64_t agent_oldest_words_ms(const struct agent *a)
{
	return recall_oldest_ms(a->settings->store_words_hours, env_wall_ms(a->env));
}

static bool allows_speaker(uint64_t user, void *arg)
{
	return agent_may_recall(arg, user);
}

bool agent_may_recall_line(const struct agent *a, const json_t *line)
{
	const struct recall_rules rules = {.allowsh = allows_speaker, .arg = (void *)(uintptr_t)a};
	const char *user = json_string_value(json_object_get(line, "user"));
	uint64_t id = 0;

	return (!discord_u64(user, &id) || !id || agent_may_recall(a, id)) &&
	       recall_allows_askers(line, &rules);
}

void agent_recall_line(struct agent *a, const json_t *line)
{
	const char *name = json_string_value(json_object_get(line, "name"));
	const char *text = json_string_value(json_object_get(line, "text"));
	char all[ROOM_NAME_MAX + 4 * ROOM_TEXT_MAX];
	uint64_t user = 0;
	size_t n;

	discord_u64(json_string_value(json_object_get(line, "user")), &user);
	utf8_copy(all, ROOM_NAME_MAX, name ? name : "");
	n = strlen(all);
	all[n++] = '\n';
	utf8_copy(all + n, sizeof all - n, text);
	agent_feed(a,
		   &(struct room_event){.type = ROOM_RECALLED,
					.user = user,
					.is_bot = json_is_true(json_object_get(line, "bot")),
					.yes = json_is_true(json_object_get(line, "cut")),
					.at = time_of(a, (uint64_t)json_integer_value(
								 json_object_get(line, "at_ms"))),
					.text = slice_str(all)});
}

/* Each line is paid for with all further questions, and pushes out what was spoken. */
static bool types_too_much(struct agent *a, uint64_t user)
{
	uint64_t now = env_now(a->env), each = TYPED_EACH_MS * NS_PER_MS;
	struct agent_typist *typist = a->typist;

	for (unsigned i = 0; i < AGENT_TYPISTS && typist->user != user; i++)
		if (a->typist[i].user == user || a->typist[i].until < typist->until)
			typist = &a->typist[i];
	if (typist->user != user)
		*typist = (struct agent_typist){.user = user};
	if (typist->until < now)
		typist->until = now;
	if (typist->until - now > (TYPED_AT_ONCE - 1) * each)
		return true;
	typist->until += each;
	return false;
}

void agent_typed(struct agent *a, const struct agent_typed *t)
{
	char all[ROOM_NAME_MAX + 4 * ROOM_TEXT_MAX], line[sizeof all + 16];
	size_t n;

	/* What is told may stand in an answer: of whom nobody knows whether that may be kept,
	 * nothing is. */
	if (!agent_may_recall(a, t->user) && (t->bot || !agent_knows(a, t->user)))
		return;
	if (!t->bot && types_too_much(a, t->user)) {
		log_debug("typed_too_much", "user=%llu", (unsigned long long)t->user);
		return;
	}
	utf8_copy(all, ROOM_NAME_MAX, t->name);
	n = strlen(all);
	all[n++] = '\n';
	utf8_copy(all + n, sizeof all - n, t->text);
	/* One line each, as in the history. */
	if (!t->bot)
		utf8_plain(all + n);
	agent_pictures_typed(a->pictures, t);
	log_debug("typed", "user=%llu bot=%d", (unsigned long long)t->user, (int)t->bot);
	agent_feed(a, &(struct room_event){.type = ROOM_TYPED,
					   .user = t->user,
					   .is_bot = t->bot,
					   .tainted = t->repeats,
					   .message = t->message,
					   .at = env_now(a->env),
					   .text = slice_str(all)});
	if (a->settings->reply_path == SETTINGS_REPLY_BRAIN)
		return;
	/* A voice model's session learns it now, the next one by the history. */
	snprintf(line, sizeof line, "[%.*s, in writing]: %s", (int)(n - 1), all, all + n);
	roles_hear(a->roles,
		   &(struct engine_message){.role = t->bot ? ENGINE_ASSISTANT : ENGINE_USER,
					    .speaker = "",
					    .text = t->bot ? all + n : line});
}

void agent_edited(struct agent *a, uint64_t message, const char *text)
{
	agent_feed(a, &(struct room_event){
			      .type = ROOM_EDITED, .message = message, .text = slice_str(text)});
}

void agent_untyped(struct agent *a, uint64_t message)
{
	/* A session forgets nothing that it was shown. */
	if (agent_pictures_drop(a->pictures, message, 0))
		agent_renew_voice(a);
}

void agent_recall(struct agent *a, const json_t *words)
{
	const struct recall_rules rules = {
		.oldest_ms = agent_oldest_words_ms(a), .allowsh = allows_speaker, .arg = a};
	json_t *lines = recall_select(words, &rules), *line;
	bool tainted = false;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		agent_recall_line(a, line);
		tainted = tainted || json_is_true(json_object_get(line, "tainted"));
	}
	if (tainted)
		agent_tools_recalled(a->tools);
	log_info("words_recalled", "guild=%llu lines=%zu of=%zu",
		 (unsigned long long)media_call_want(a->call)->guild, json_array_size(lines),
		 json_array_size(words));
	json_decref(lines);
}

void agent_continue(struct agent *a)
{
	agent_continuity_begin(a->continuity);
}

void agent_inherited(struct agent *a, bool plays)
{
	agent_feed(a, &(struct room_event){.type = ROOM_INHERITED, .yes = plays});
}

void agent_publish_link(struct agent *a, const struct roles_event *ev)
{
	bool up = ev->engine->type == ENGINE_LINK_UP;
	char url[256] = "", why[256];
	struct bus_event out = {.type = up ? EVENT_ENGINE_UP : EVENT_ENGINE_DOWN,
				.at_ms = env_wall_ms(a->env),
				.guild = media_call_want(a->call)->guild};

	if (up)
		provider_shown(ev->provider, url, sizeof url);
	snprintf(why, sizeof why, "%.*s", up ? 0 : (int)ev->engine->data.n,
		 ev->engine->data.n ? (const char *)ev->engine->data.p : "");
	out.engine = (struct event_engine){.role = role_name(roles_role(ev->use)),
					   .url = url,
					   .why = why,
					   .provider = ev->provider->name,
					   .taken_over = ev->taken_over};
	bus_publish(a->bus, &out);
}

void agent_publish_provider(struct agent *a, const struct roles_event *ev)
{
	struct bus_event out = {.at_ms = env_wall_ms(a->env),
				.guild = media_call_want(a->call)->guild};
	const char *role = role_name(roles_role(ev->use));
	char why[256];

	if (ev->engine->type == ENGINE_FAILOVER) {
		out.type = EVENT_FAILOVER;
		out.failover = (struct event_failover){
			.role = role, .from = ev->provider->name, .to = ev->next->name};
	} else {
		snprintf(why, sizeof why, "%.*s", (int)ev->engine->data.n,
			 (const char *)ev->engine->data.p);
		utf8_mend(why);
		out.type = EVENT_ENGINE_REFUSED;
		out.refusal = (struct event_refusal){
			.role = role, .provider = ev->provider->name, .why = why};
	}
	bus_publish(a->bus, &out);
}

/* Turns that ended badly. */
static void tell_fault(struct agent *a, const struct room_turn *t)
{
	static const struct {
		enum room_reason reason;
		enum fault fault;
	} table[] = {{ROOM_REASON_PLAYBACK_FAILED, FAULT_PLAYBACK},
		     {ROOM_REASON_EXPIRED, FAULT_LATE}};

	if (t->reason == ROOM_REASON_ASR_FAILED)
		agent_tell_unheard(a);
	if (t->reason == ROOM_REASON_BRAIN_FAILED || t->reason == ROOM_REASON_SPEECH_FAILED ||
	    t->reason == ROOM_REASON_TOOL_FAILED)
		agent_tell_untold(a, t->id);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (table[i].reason == t->reason)
			agent_fault(a, table[i].fault, FAULT_IS_ONCE);
}

/* A turn that went into another one leaves its sound to that. */
static void drop_sound(struct agent *a, const struct room_turn *t)
{
	if (!a->sound || room_turn_replaced(t))
		return;
	for (unsigned i = 0; i < t->chunks; i++)
		utterance_sound_drop(a->sound, t->chunk[i].utterance);
	for (unsigned i = 0; i < t->segments; i++)
		utterance_sound_drop(a->sound, t->segment[i].utterance);
}

static void end_order(struct agent *a, uint64_t *order, const char *how)
{
	uint64_t guild = media_call_want(a->call)->guild;
	char target[64];

	snprintf(target, sizeof target, "server %llu, order %llu", (unsigned long long)guild,
		 (unsigned long long)*order);
	*order = 0;
	bus_publish(a->bus,
		    &(struct bus_event){.type = EVENT_ORDER_ENDED,
					.at_ms = env_wall_ms(a->env),
					.guild = guild,
					.action = {.actor = "control",
						   .via = "",
						   .kind = audit_kind_name(AUDIT_KIND_ORDER_ENDED),
						   .target = target,
						   .result = how}});
}

void agent_orders_add(struct agent *a, uint64_t order)
{
	for (unsigned i = 0; order && i < AGENT_ORDERS; i++)
		if (!a->orders[i]) {
			a->orders[i] = order;
			return;
		}
}

void agent_orders_look(struct agent *a)
{
	for (unsigned i = 0; i < AGENT_ORDERS; i++)
		if (a->orders[i] && !room_holds_order(a->room, a->orders[i]))
			end_order(a, &a->orders[i], "dropped");
}

void agent_orders_drop(struct agent *a)
{
	for (unsigned i = 0; i < AGENT_ORDERS; i++)
		if (a->orders[i])
			end_order(a, &a->orders[i], "dropped");
}

/* Somebody spoke before it was heard: then it waits again. */
static void follow_order(struct agent *a, const struct room_turn *t)
{
	for (unsigned i = 0; t->order && i < AGENT_ORDERS; i++)
		if (a->orders[i] == t->order && t->reason != ROOM_REASON_THOUGHT_WITHDRAWN)
			end_order(a, &a->orders[i], room_reason_name(t->reason));
}

void agent_record_turn(struct agent *a, const struct room_turn *t)
{
	tell_fault(a, t);
	follow_order(a, t);
	drop_sound(a, t);
	if (t->remark && t->first_audio_at) {
		a->remarks++;
		a->remarked_at = t->first_audio_at;
	}
	/* Of the answer that the control before us began, the room knows nothing. */
	if (t->reason == ROOM_REASON_CANCELLED)
		media_call_stop_inherited(a->call);
	/* Its words went into another turn, or were taken back: it never was. */
	if (t->asked_at && room_turn_replaced(t))
		roles_forget(a->roles, t->id);
	roles_over(a->roles, t->id);
	voice_output_over(a->output, t->id);
	if (a->screen_over)
		agent_renew_voice(a);
}
