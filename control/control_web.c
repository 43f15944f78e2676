/* What control's HTTP API shows, and what is exported, of the program as a whole. */
#include <errno.h>

#include "control/control_inside.h"
#include "control/discord/guilds.h"
#include "control/discord/music_message.h"
#include "control/events/audit_kind.h"
#include "control/golive/golive.h"
#include "control/ledger/ledger.h"
#include "control/mcp/servers.h"
#include "control/media/media.h"
#include "control/metrics/metrics.h"
#include "control/metrics/otlp.h"
#include "control/music/queue.h"
#include "control/otlp/exporter.h"
#include "control/prompts/prompts.def"
#include "control/report/secure.h"
#include "control/report/status.h"
#include "control/room/base/turn.h"
#include "control/settings/settings.h"
#include "control/vision/vision.h"
#include "control/web/web.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/iso_time.h"
#include "proto/base/time.h"
#include "proto/media.h"

enum { ROOM_PEOPLE_MAX = 99, ROOM_TRACKS_MAX = 50 };
#define NANO_PER_CENT UINT64_C(10000000)

static json_t *tell_mcp(void *arg)
{
	const struct control *c = arg;

	return mcp_servers_status(c->mcp);
}

static void count_mcp(const struct control *c, struct metrics_now *now)
{
	json_t *status = mcp_servers_status(c->mcp), *server;
	size_t i;

	json_array_foreach(json_object_get(status, "servers"), i, server)
	{
		now->mcp_servers++;
		now->mcp_servers_up += json_is_true(json_object_get(server, "connected"));
	}
	json_decref(status);
}

/* How many voice sessions have a brain, and of how many it is not there. */
static void count_brains(const struct control *c, unsigned *down, unsigned *all)
{
	*down = *all = 0;
	for (unsigned i = 0; i < c->n_voice_sessions; i++) {
		struct status s = {0};

		voice_session_status(c->voice_sessions[i], &s);
		*all += s.has_brain;
		*down += s.has_brain && !s.brain_up;
	}
}

static json_t *part_json(unsigned well, unsigned all)
{
	if (!all)
		return json_string("unused");
	if (well == all)
		return json_string("up");
	return well ? json_sprintf("up: %u of %u", well, all) : json_string("down");
}

/* The answer of /readyz and /healthz. Ready: Discord, a mediad and the disk; a brain or a server of
 * MCP that is down is another provider's turn, and no reason to restart control. */
static json_t *tell_ready(void *arg)
{
	const struct control *c = arg;
	bool discord = !c->gateway || gateway_state(c->gateway) == GATEWAY_UP;
	struct metrics_now now = {0};
	unsigned there, all, down, brains;
	json_t *parts;

	media_count(c->media, &there, &all);
	count_brains(c, &down, &brains);
	count_mcp(c, &now);
	parts = json_pack("{s:s,s:o,s:s,s:o,s:o,s:s,s:s}", "discord",
			  !c->gateway ? "unused"
			  : discord   ? "up"
				      : "down",
			  "mediad", part_json(there, all ? all : 1), "store",
			  !c->store	 ? "unused"
			  : c->disk_full ? "disk full"
					 : "up",
			  "brain", part_json(brains - down, brains), "mcp",
			  part_json(now.mcp_servers_up, now.mcp_servers), "priority",
			  c->media && media_lacks_real_time(c->media) ? "lost" : "up", "golive",
			  !c->golive		    ? "unused"
			  : golive_ready(c->golive) ? "up"
						    : "down");
	return json_pack("{s:b,s:o}", "ready", discord && there > 0 && !c->disk_full, "parts",
			 parts);
}

static struct metrics_now describe_now(const struct control *c)
{
	unsigned down;
	struct metrics_now now = {.voice_sessions = c->n_voice_sessions,
				  .discord = c->gateway && gateway_state(c->gateway) == GATEWAY_UP,
				  .store = !c->store || !c->disk_full,
				  .spent_nano = ledger_spent(c->ledger, env_wall_ms(c->env)),
				  .limit_nano = c->settings->cost_day_cents * NANO_PER_CENT,
				  .started_ms = env_wall_ms(c->env) -
						(env_now(c->env) - c->started_at) / NS_PER_MS};

	count_brains(c, &down, &now.brains);
	now.brains_up = now.brains - down;
	media_count(c->media, &now.mediads, &now.mediads_expected);
	count_mcp(c, &now);
	return now;
}

static char *tell_metrics(void *arg)
{
	const struct control *c = arg;
	const struct metrics_now now = describe_now(c);

	return metrics_write(c->metrics, &c->state.counters, &now);
}

static char *export_metrics(void *arg)
{
	const struct control *c = arg;
	const struct metrics_now now = describe_now(c);

	return metrics_write_otlp(c->metrics, &c->state.counters, &now, env_wall_ms(c->env));
}

int control_make_exporter(struct control *c)
{
	const struct otlp_exporter_conf conf = {.env = c->env,
						.bus = c->bus,
						.settings = c->settings,
						.ca_file = c->conf.ca_file,
						.started_ms = describe_now(c).started_ms,
						.metricsh = export_metrics,
						.arg = c};
	int err = otlp_exporter_alloc(&c->exporter, &conf);

	if (err == EINVAL)
		log_fatal("otlp_endpoint_invalid",
			  "hint=\"otlp_endpoint is http://HOST:PORT or "
			  "https://HOST, without a slash at its end; otlp_token "
			  "goes over http to this machine alone\"");
	return err;
}

/* ---- the rooms ---- */

static json_t *id_json(uint64_t id)
{
	return id ? json_sprintf("%llu", (unsigned long long)id) : json_null();
}

/* null for 0. */
static json_t *time_json(uint64_t ms)
{
	char text[ISO_TIME_SIZE];

	iso_time_format(text, ms);
	return ms ? json_string(text) : json_null();
}

struct people {
	const struct voice_session *vs;
	json_t *list;
	unsigned heard, n;
};

static void add_person(uint64_t user, const char *name, enum unheard why, void *arg)
{
	static const char *const words[] = {[UNHEARD_NOT] = NULL,
					    [UNHEARD_BOT] = "bot",
					    [UNHEARD_NO_CONSENT] = "no_consent",
					    [UNHEARD_NO_ROOM] = "no_room"};
	struct people *p = arg;

	p->n++;
	p->heard += why == UNHEARD_NOT;
	if (json_array_size(p->list) < ROOM_PEOPLE_MAX)
		json_array_append_new(
			p->list, json_pack("{s:o,s:s,s:b,s:s?,s:o}", "user", id_json(user), "name",
					   name, "heard", why == UNHEARD_NOT, "unheard", words[why],
					   "asrIdleEndsAt",
					   time_json(voice_session_asr_closes_ms(p->vs, user))));
}

static json_t *faults_json(const struct faults *f)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < FAULT_COUNT; i++)
		if (f->v[i].there)
			json_array_append_new(list, json_pack("{s:s,s:s}", "fault",
							      faults_name((enum fault)i), "text",
							      words_fault_name((enum fault)i)));
	return list;
}

static json_t *secure_json(const struct status *s)
{
	char code[48];

	if (!s->secure)
		return json_null();
	secure_code(s->secure, code, sizeof code);
	return json_pack("{s:i,s:b,s:i,s:i,s:I,s:i,s:o}", "version", (int)s->secure->version,
			 "ready", (int)s->secure->ready, "members", (int)s->secure->members,
			 "undecryptable", (int)s->secure->undecryptable, "epoch",
			 (json_int_t)s->secure->epoch, "recovers", (int)s->secure->recovers, "code",
			 *code ? json_string(code) : json_null());
}

static json_t *track_json(const struct track *t)
{
	char label[TRACK_LABEL_MAX];

	track_write_label(label, t);
	return json_pack("{s:o,s:s,s:s,s:o,s:s,s:o}", "id", json_sprintf("%u", (unsigned)t->id),
			 "title", label, "artist", t->artist, "durationMs",
			 t->duration_ms ? json_integer((json_int_t)t->duration_ms) : json_null(),
			 "source", track_source_name(t->source), "requester",
			 t->requester ? id_json(t->requester) : json_null());
}

static const char *visualizer_name(uint32_t setting)
{
	static const char *const names[] = {[SETTINGS_VISUALIZER_CQT] = "cqt",
					    [SETTINGS_VISUALIZER_SPECTRUM] = "spectrum",
					    [SETTINGS_VISUALIZER_WAVES] = "waves",
					    [SETTINGS_VISUALIZER_VECTORSCOPE] = "vectorscope"};

	return names[setting];
}

/* The seeds' QueueState, of its first ROOM_TRACKS_MAX tracks. */
static json_t *music_json(const struct control *c, const struct voice_session *vs)
{
	json_t *tracks = json_array();
	struct music_view v;
	size_t n;

	if (!voice_session_music_view(vs, &v)) {
		json_decref(tracks);
		return json_null();
	}
	n = music_queue_count(v.queue);
	for (size_t i = 0; i < n && i < ROOM_TRACKS_MAX; i++)
		json_array_append_new(tracks, track_json(music_queue_at(v.queue, i)));
	return json_pack("{s:o,s:o,s:o,s:o,s:b,s:f,s:s,s:I,s:I,s:b,s:s?,s:s}", "guildId",
			 id_json(music_queue_guild(v.queue)), "voiceChannelId",
			 id_json(music_queue_channel(v.queue)), "tracks", tracks, "nowPlayingIndex",
			 music_queue_present(v.queue) ? json_integer(0) : json_null(), "isPaused",
			 (int)v.paused, "volume", music_queue_volume(v.queue) / 1000.0, "loop",
			 music_loop_name(music_queue_loop(v.queue)), "positionMs",
			 (json_int_t)(music_queue_position(v.queue) / (MUSIC_FRAMES_PER_S / 1000)),
			 "trackCount", (json_int_t)n, "halted", (int)v.halted, "streamTitle",
			 v.title, "visualizer", visualizer_name(c->settings->music_visualizer));
}

static json_t *brain_json(const struct status *s)
{
	if (!s->has_brain)
		return json_null();
	return json_pack("{s:s,s:b,s:b,s:s}", "name", s->brain, "up", (int)s->brain_up, "silent",
			 (int)s->brain_silent, "serving", s->served);
}

/* How the bot answers. */
static json_t *mode_json(const struct control *c)
{
	static const char *const names[] = {[SETTINGS_REPLY_NATIVE] = "native",
					    [SETTINGS_REPLY_BRIDGE] = "bridge",
					    [SETTINGS_REPLY_BRAIN] = "brain"};

	return json_string(names[c->settings->reply_path]);
}

/* What the bot shows itself, or showed last. */
static json_t *shown_json(const struct control *c, uint64_t guild, uint64_t channel)
{
	struct vision_show s;
	const char *name;

	if (!vision_show_last(c->vision, guild, channel, &s, &name))
		return json_null();
	return json_pack("{s:s,s:s,s:s,s:o,s:s,s:o,s:o,s:I,s:I,s:s?,s:o}", "kind",
			 vision_show_kind(&s), "state", vision_show_state(&s), "title", s.title,
			 "askedBy", s.user ? id_json(s.user) : json_null(), "askedByName", name,
			 "since", time_json(s.asked_ms), "viewers",
			 s.viewers < 0 ? json_null() : json_integer(s.viewers), "atSeconds",
			 (json_int_t)(s.at_ms / 1000), "seconds", (json_int_t)s.seconds, "why",
			 s.why, "endedAt", s.why ? time_json(s.over_ms) : json_null());
}

static json_t *room_json(const struct control *c, const struct voice_session *vs)
{
	struct people people = {.vs = vs, .list = json_array()};
	uint64_t guild = voice_session_guild(vs);
	struct guild_channel channel = {.name = ""};
	struct status s = {0};
	json_t *room, *now;

	voice_session_status(vs, &s);
	status_fill_turns(&s, &c->tally, guild);
	voice_session_each_member(vs, add_person, &people);
	guilds_channel(c->guilds, guild, s.channel, &channel);
	room = json_pack("{s:o,s:s,s:o,s:s,s:s,s:o}", "guild", id_json(guild), "guildName",
			 guilds_name(c->guilds, guild), "channel", id_json(s.channel),
			 "channelName", channel.name ? channel.name : "", "phase",
			 s.has_phase ? media_phase_name(s.phase) : "none", "since",
			 time_json(voice_session_since(vs)));
	if (!room) {
		json_decref(people.list);
		return NULL;
	}
	json_object_set_new(room, "people", people.list);
	json_object_set_new(room, "peopleCount", json_integer(people.n));
	json_object_set_new(room, "heardCount", json_integer(people.heard));
	json_object_set_new(room, "secure", secure_json(&s));
	json_object_set_new(room, "brain", brain_json(&s));
	json_object_set_new(room, "music", music_json(c, vs));
	json_object_set_new(room, "brainTools", voice_session_tools(vs));
	json_object_set_new(room, "mode", mode_json(c));
	json_object_set_new(room, "prompts", json_integer(PROMPTS_VERSION));
	now = voice_session_now(vs);
	json_object_set_new(room, "now", now ? now : json_null());
	json_object_set_new(room, "screens", vision_room(c->vision, guild, s.channel));
	json_object_set_new(room, "shown", shown_json(c, guild, s.channel));
	json_object_set_new(room, "muted", json_boolean(voice_session_muted(vs)));
	json_object_set_new(room, "faults", faults_json(&s.faults));
	json_object_set_new(room, "turnCount", json_integer((json_int_t)s.turns));
	json_object_set_new(room, "answeredCount", json_integer((json_int_t)s.answered));
	json_object_set_new(
		room, "spentTodayUsd",
		json_real((double)ledger_spent_by(c->ledger, guild, env_wall_ms(c->env)) / 1e9));
	return room;
}

static json_t *tell_rooms(void *arg)
{
	const struct control *c = arg;
	json_t *rooms = json_array();

	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		if (voice_session_channel(c->voice_sessions[i]))
			json_array_append_new(rooms, room_json(c, c->voice_sessions[i]));
	return rooms;
}

/* [{"guild", "channel", "users", "bot"}] of the rooms in which somebody can answer. */
static json_t *tell_levels(void *arg)
{
	const struct control *c = arg;
	json_t *rooms = json_array();

	for (unsigned i = 0; i < c->n_voice_sessions; i++) {
		json_t *levels = voice_session_levels(c->voice_sessions[i]);

		if (!levels)
			continue;
		json_object_set_new(levels, "guild",
				    id_json(voice_session_guild(c->voice_sessions[i])));
		json_object_set_new(levels, "channel",
				    id_json(voice_session_channel(c->voice_sessions[i])));
		json_array_append_new(rooms, levels);
	}
	return rooms;
}

static bool is_open(uint64_t guild, uint64_t channel, void *arg)
{
	const struct control *c = arg;

	return guilds_everybody_may_enter(c->guilds, guild, channel);
}

/* The answer of /api/stats. */
static json_t *tell_stats(void *arg)
{
	const struct control *c = arg;
	uint64_t now = env_wall_ms(c->env);
	json_t *counts = counters_json(&c->state.counters);

	return json_pack("{s:o,s:o,s:I,s:f,s:f}", "startedAt",
			 time_json(now - (env_now(c->env) - c->started_at) / NS_PER_MS), "counts",
			 counts ? counts : json_object(), "voiceSessions",
			 (json_int_t)c->n_voice_sessions, "spentTodayUsd",
			 (double)ledger_spent(c->ledger, now) / 1e9, "limitTodayUsd",
			 (double)c->settings->cost_day_cents / 100);
}

/* Of a fault by its name on the bus: what /status calls it, and what the room is told. */
static json_t *fault_meanings(void)
{
	json_t *all = json_object();

	for (unsigned i = 0; i < FAULT_COUNT; i++) {
		struct words w = {0};

		words_fault(&w, (enum fault)i, false);
		json_object_set_new(all, faults_name((enum fault)i),
				    json_pack("{s:s,s:s}", "text", words_fault_name((enum fault)i),
					      "report", w.text));
	}
	return all;
}

/* Sentences of the tables of reasons, rules and faults. */
static json_t *tell_reasons(void *arg)
{
	json_t *reasons = json_object(), *rules = json_object(), *audit = json_object();

	(void)arg;
	for (int k = 0; k < AUDIT_KIND_COUNT; k++)
		json_object_set_new(audit, audit_kind_name((enum audit_kind)k),
				    json_string(audit_kind_text((enum audit_kind)k)));
	for (unsigned i = 0; i < ROOM_REASON_COUNT; i++)
		json_object_set_new(reasons, room_reason_name(i), json_string(room_reason_text(i)));
	for (unsigned i = 0; i < ROOM_RULE_COUNT; i++)
		json_object_set_new(rules, room_rule_name(i),
				    json_pack("{s:s,s:s,s:s,s:s,s:s}", "text", room_rule_text(i),
					      "unit", room_rule_unit(i), "then",
					      room_decision_then(i, true), "otherwise",
					      room_decision_text(i, false), "thenOtherwise",
					      room_decision_then(i, false)));
	return json_pack("{s:o,s:o,s:o,s:o}", "reasons", reasons, "rules", rules, "faults",
			 fault_meanings(), "audit", audit);
}

int control_make_web(struct control *c)
{
	struct web_conf conf = {.env = c->env,
				.listen = c->settings->web_listen,
				.origin = c->settings->web_origin,
				.share_origin = c->settings->web_share_origin,
				.proxies = c->settings->web_proxies,
				.token = c->conf.web_token,
				.recorded = c->conf.recorded,
				.sessions = c->conf.kept ? c->conf.kept->web : NULL,
				.session_hours = &c->settings->web_session_hours,
				.http = c->http,
				.settings = c->settings,
				.talk = c->settings->talk_page,
				.store = c->store,
				.roomsh = tell_rooms,
				.levelsh = tell_levels,
				.remembersh = control_remembers,
				.reasonsh = tell_reasons,
				.statsh = tell_stats,
				.guildsh = control_tell_guilds,
				.channelsh = control_tell_channels,
				.openh = is_open,
				.againh = control_ask_again,
				.incidenth = control_make_incident,
				.eraseh = control_erase,
				.orderh = control_take_order,
				.watch_musich = control_watch_music,
				.shareh = control_take_share,
				.share_matchh = control_match_share,
				.share_programh = control_knows_program,
				.live = c->live,
				.bus = c->bus,
				.mcph = tell_mcp,
				.readyh = tell_ready,
				.metricsh = tell_metrics,
				.arg = c};

	return web_alloc(&c->web, &conf);
}

uint16_t control_web_port(const struct control *c)
{
	return c->web ? web_port(c->web) : 0;
}
