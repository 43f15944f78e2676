#include "control/control_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/room_log.h"
#include "control/consent/consent.h"
#include "control/discord/commands.h"
#include "control/discord/gateway.h"
#include "control/discord/guilds.h"
#include "control/discord/rest.h"
#include "control/golive/golive.h"
#include "control/embeddings/embeddings.h"
#include "control/extraction/extraction.h"
#include "control/library/library.h"
#include "control/music_sources/music_sources.h"
#include "control/soundboard/clips.h"
#include "control/events/events.h"
#include "control/embedded.h"
#include "control/jukebox/queue_shelf.h"
#include "control/ledger/ledger.h"
#include "control/delegate/delegates.h"
#include "control/mcp/servers.h"
#include "control/media/media.h"
#include "control/metrics/metrics.h"
#include "control/engine/model_conf.h"
#include "control/configure/live_settings.h"
#include "control/settings/profile.h"
#include "control/settings/settings.h"
#include "control/report/status.h"
#include "control/store/faults.h"
#include "control/store/store.h"
#include "control/text_session/text_session.h"
#include "control/words/words.h"
#include "control/otlp/exporter.h"
#include "control/vision/vision.h"
#include "control/web/web.h"
#include "control/writer.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

uint32_t control_intents(const struct settings *settings)
{
	/* Commands and voice servers need no intent; voice states do, our own too, and so do
	 * changes of a soundboard. The only privileged one is for the text of messages. */
	return DISCORD_INTENT_GUILDS | DISCORD_INTENT_GUILD_EXPRESSIONS |
	       DISCORD_INTENT_GUILD_VOICE_STATES | text_session_intents(settings);
}

/* Messages that were kept before text_chat was switched off may still be edited and deleted. Their
 * new text does not come; what is outdated goes. */
static uint32_t intents_of_kept(const struct control *c)
{
	return c->conf.kept && c->conf.kept->written &&
			       settings_gateway(c->settings) == SETTINGS_GATEWAY_FULL
		       ? DISCORD_INTENT_GUILD_MESSAGES
		       : 0;
}

uint64_t control_permissions(const struct settings *settings)
{
	static const uint64_t written = DISCORD_PERMISSION(DISCORD_BIT_READ_MESSAGE_HISTORY) |
					DISCORD_PERMISSION(DISCORD_BIT_ADD_REACTIONS) |
					DISCORD_PERMISSION(DISCORD_BIT_ATTACH_FILES) |
					DISCORD_PERMISSION(DISCORD_BIT_SEND_MESSAGES_IN_THREADS);

	return DISCORD_PERMISSION(DISCORD_BIT_VIEW_CHANNEL) |
	       DISCORD_PERMISSION(DISCORD_BIT_CONNECT) | DISCORD_PERMISSION(DISCORD_BIT_SPEAK) |
	       DISCORD_PERMISSION(DISCORD_BIT_SEND_MESSAGES) |
	       DISCORD_PERMISSION(DISCORD_BIT_USE_VAD) |
	       DISCORD_PERMISSION(DISCORD_BIT_REQUEST_TO_SPEAK) |
	       (text_session_intents(settings) ? written : 0);
}

/* Keeps the first reason; the caller just put this one into `why`. */
void control_give_up(struct control *c, const struct words *why)
{
	if (!c->failure.n)
		c->failure = *why;
	env_stop(c->env);
}

/* ---- voice sessions ---- */

struct voice_session *control_find_voice_session(struct control *c, uint64_t guild)
{
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		if (voice_session_guild(c->voice_sessions[i]) == guild)
			return c->voice_sessions[i];
	return NULL;
}

struct voice_session *control_open_voice_session(struct control *c, uint64_t guild)
{
	struct voice_session_conf conf = {.env = c->env,
					  .ws = c->ws,
					  .http = c->http,
					  .mcp = c->mcp,
					  .delegates = c->delegates,
					  .viewers = c->viewers,
					  .rest = c->rest,
					  .gateway = c->gateway,
					  .guilds = c->guilds,
					  .clips = c->clips,
					  .media = c->media,
					  .bus = c->bus,
					  .store = c->store,
					  .sources = c->sources,
					  .shelf = c->shelf,
					  .vision = c->vision,
					  .consents = c->consents,
					  .ledger = c->ledger,
					  .encrypted = &c->state.encrypted,
					  .counters = &c->state.counters,
					  .metrics = c->metrics,
					  .bot_name = c->state.bot_name,
					  .changedh = control_on_calls_changed,
					  .analysish = control_take_analysis,
					  .arg = c};
	struct voice_session *vs = control_find_voice_session(c, guild);

	if (vs)
		return vs;
	/* A session that is out of its channel only occupies a place. */
	for (unsigned i = 0; c->n_voice_sessions == VOICE_SESSIONS_MAX && i < c->n_voice_sessions;
	     i++)
		if (!voice_session_channel(c->voice_sessions[i])) {
			uint64_t other = voice_session_guild(c->voice_sessions[i]);

			voice_session_free(c->voice_sessions[i]);
			if (!text_session_uses(c->text, other))
				live_settings_release(c->live, other);
			c->voice_sessions[i] = c->voice_sessions[--c->n_voice_sessions];
		}
	if (c->n_voice_sessions == VOICE_SESSIONS_MAX)
		return NULL;
	conf.settings = live_settings_of(c->live, guild);
	control_start_embedded(c);
	if (voice_session_alloc(&vs, &conf, guild))
		return NULL;
	voice_session_mediad(vs, c->mediad_up);
	voice_session_embedded(vs, c->embedded_fault);
	voice_session_disk(vs, c->disk_full);
	if (gateway_state(c->gateway) == GATEWAY_UP)
		voice_session_online(vs, false);
	return c->voice_sessions[c->n_voice_sessions++] = vs;
}

/* ---- mediad and the brain ---- */

static void take_link_state(bool up, void *arg)
{
	struct control *c = arg;
	struct words words = {0};

	bus_publish(c->bus, &(struct bus_event){.type = EVENT_MEDIAD_LINK,
						.at_ms = env_wall_ms(c->env),
						.link = {.up = up}});
	c->mediad_up = up;
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_mediad(c->voice_sessions[i], up);
	if (!up && media_superseded(c->media)) {
		c->replaced = true;
		words_superseded(&words);
		control_give_up(c, &words);
	}
}

static void tell_embedded_fault(enum embedded_fault fault, void *arg)
{
	struct control *c = arg;

	if (fault && fault != c->embedded_fault)
		log_warn("embedded_fails", "why=\"%s\"",
			 fault == EMBEDDED_NO_MODEL ? "the speech model is not installed"
						    : "offlined does not start");
	c->embedded_fault = fault;
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_embedded(c->voice_sessions[i], fault);
}

static void take_brain_address(const char *url, void *arg)
{
	struct control *c = arg;
	const char *before = c->settings->records.embedded_url;
	bool moved = *before && strcmp(before, url) != 0;

	live_settings_embedded_at(c->live, url);
	text_session_settings(c->text);
	tell_embedded_fault(EMBEDDED_STARTS, c);
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_brain_ready(c->voice_sessions[i], moved);
}

void control_start_embedded(struct control *c)
{
	if (!c->embedded && live_settings_needs_embedded(c->live) &&
	    embedded_alloc(&c->embedded, c->env, take_brain_address, tell_embedded_fault, c))
		log_warn("embedded_missing", "hint=\"offlined is not beside control\"");
}

/* ---- making ---- */

/* Leaves the calls to mediad and to the next control. */
static void hand_over(struct control *c)
{
	control_save_state(c);
	c->ending = true;
	/* Disconnects first, so that the ends of the rooms do not stop playbacks in mediad. */
	media_disconnect(c->media);
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_end(c->voice_sessions[i]);
	env_stop(c->env);
}

/* Somebody waits for an answer that mediad does not have yet, or not to its end. */
static bool owes_answer(const struct control *c)
{
	for (unsigned i = 0; i < c->state.under_way.n; i++)
		if (c->state.under_way.v[i].what == UNDER_WAY_TURN &&
		    !c->state.under_way.v[i].speaking)
			return true;
	return media_has_unsent(c->media);
}

static void on_stop(void *arg)
{
	struct control *c = arg;

	if (!c->hand_over_until)
		env_stop(c->env);
	else if (owes_answer(c) && env_now(c->env) < c->hand_over_until)
		tmr_start(c->stop_tmr, STOP_SOON_MS * NS_PER_MS);
	else
		hand_over(c);
}

static int make_discord(struct control *c)
{
	struct gateway_conf gateway = {.env = c->env,
				       .ws = c->ws,
				       .token = c->settings->discord_token,
				       .intents = c->intents,
				       .eventh = control_on_gateway_event,
				       .stateh = control_on_gateway_state,
				       .sessionh = control_on_resume_point,
				       .findh = control_find_gateway,
				       .arg = c};
	int err = rest_alloc(&c->rest, c->env, c->http, c->settings->discord_api,
			     c->settings->discord_token);

	if (!err)
		err = guilds_alloc(&c->guilds);
	if (!err)
		err = gateway_alloc(&c->gateway, &gateway);
	if (!err)
		err = commands_alloc(&c->commands, c->env, c->rest, control_on_command,
				     control_on_calls_changed, c);
	if (!err)
		control_prepare_commands(c);
	if (!err)
		err = components_alloc(&c->components, c->env, c->rest, control_on_press,
				       control_on_typing, c);
	return err;
}

static int make_media(struct control *c)
{
	struct media_conf media = {.socks = c->conf.socks,
				   .spawn = c->conf.spawn,
				   .ca_file = c->conf.ca_file,
				   .run_dir = c->conf.run_dir,
				   .music_folders = c->settings->music_folders,
				   .music_addresses = c->settings->web_read_allowed,
				   .music_web = c->settings->music_web,
				   .music_downloader = *c->settings->music_downloader,
				   .epoch = c->state.epoch,
				   .linkh = take_link_state,
				   .arg = c};
	int err = media_alloc(&c->media, c->env, &media);

	if (!err)
		media_set_log(c->media, c->settings->log_level, c->settings->log_json);
	return err ? err : control_make_golive(c);
}

static void publish_document(struct control *c, const struct store_document *d)
{
	bus_publish(c->bus, &(struct bus_event){.type = EVENT_SETTINGS_SAVED,
						.at_ms = env_wall_ms(c->env),
						.document = {.scope = STORE_SETTINGS_GLOBAL,
							     .document_version = d->version,
							     .author = d->author}});
}

static void on_document_saved(int err, const struct store_document *d, void *arg)
{
	struct control *c = arg;
	struct words why = {0};

	/* The answer goes to a client, and is the same on replay: no path of this machine. */
	if (err)
		store_fault_words(&why, "the state directory", err);
	live_settings_saved(c->live, err, d->document, why.text);
	if (!err)
		publish_document(c, d);
}

/* Begins; the change takes effect once the store has it on the disk. */
static int save_document(const struct live_settings_version *version, void *arg)
{
	const struct store_put put = {.scope = STORE_SETTINGS_GLOBAL,
				      .document = version->text,
				      .author = version->author,
				      .compare = true,
				      .version = version->before};
	struct control *c = arg;

	if (!c->store)
		return ENOENT;
	env_output(c->env, ENV_OUT_FILE, 0, version->text, strlen(version->text));
	return store_settings_put(c->store, &put, on_document_saved, c);
}

/* The setting's words are those of enum log_level behind the first one. */
static void apply_log(const struct control *c)
{
	log_set_level(c->settings->log_level ? (enum log_level)(c->settings->log_level - 1)
					     : c->conf.log_level);
	log_set_json(c->settings->log_json);
	if (c->media)
		media_set_log(c->media, c->settings->log_level, c->settings->log_json);
}

static void take_changes(void *arg)
{
	struct control *c = arg;

	apply_log(c);
	control_start_embedded(c);
	if (c->mcp)
		mcp_servers_update(c->mcp, c->settings);
	if (c->delegates)
		delegates_update(c->delegates);
	control_update_work(c);
	/* Also while Discord is away: it may tell later what was written before this. */
	control_note_reading(c);
	text_session_settings(c->text);
	if (c->web)
		web_settings_read(c->web);
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_settings(c->voice_sessions[i]);
}

static int make_settings(struct control *c)
{
	struct live_settings_conf conf = {.settings = c->settings,
					  .kept = c->conf.kept ? c->conf.kept->settings : NULL,
					  /* Without Discord control shows a directory, which may
					   * be another's (control --incident). */
					  .shown = settings_gateway(c->settings) ==
						   SETTINGS_GATEWAY_NONE,
					  .saveh = save_document,
					  .changedh = take_changes,
					  .toldh = control_publish_setting,
					  .senth = control_sent_chat,
					  .arg = c};
	int err = live_settings_alloc(&c->live, &conf);

	if (!err)
		apply_log(c);
	/* A saved channel alone is no wish to join it. */
	if (!err && !c->conf.guild)
		settings_start_channel(c->settings, &c->conf.guild, &c->conf.channel);
	if (!err)
		err = consent_table_alloc(&c->consents,
					  c->conf.kept ? c->conf.kept->consents : NULL);
	return err;
}

/* Sets the backoff between requests for the gateway's address. */
static const struct backoff_conf find_backoff = {.first_ms = 1000, .max_ms = 60000};

/* Costs of today before this start. */
static void take_costs(int err, const struct store_document *list, size_t n, void *arg)
{
	struct control *c = arg;
	uint64_t guild;

	if (err)
		log_warn("costs_not_read", "error=\"%s\"", strerror(err));
	for (size_t i = 0; i < n; i++)
		if (discord_u64(list[i].author, &guild))
			ledger_add(c->ledger, guild, list[i].version, env_wall_ms(c->env));
}

static int make_ledger(struct control *c)
{
	int err = ledger_alloc(&c->ledger);

	if (!err && c->store)
		err = store_sum_costs(c->store, ledger_day_ms(env_wall_ms(c->env)), take_costs, c);
	return err;
}

static int make_bus(struct control *c)
{
	int err = bus_alloc(&c->bus);

	c->changed_guilds = json_object();
	if (!err && !c->changed_guilds)
		err = ENOMEM;
	if (!err)
		err = writer_alloc(&c->writer, c->env, c->bus, c->settings);
	if (!err && c->conf.state_dir)
		err = store_alloc(&c->store, c->env, c->bus, c->settings, c->conf.state_dir);
	if (!err && c->store)
		control_watch_memory(c);
	if (!err && c->store && c->conf.shown)
		store_keep_all(c->store);
	if (!err)
		err = make_ledger(c);
	if (!err && c->conf.no_subscribers)
		bus_drop_subscribers(c->bus);
	if (!err)
		err = control_make_metrics(c);
	/* /status reports control as a whole, with or without other listeners. */
	if (!err)
		err = bus_subscribe(c->bus, BUS_MASK(EVENT_TURN) | BUS_MASK(EVENT_SESSION_STARTED),
				    status_take_event, &c->tally);
	if (!err)
		err = bus_subscribe(c->bus, BUS_MASK(EVENT_TURN), own_turns_take_event,
				    &c->own_turns);
	if (!err)
		err = bus_subscribe(c->bus, BUS_ALL, control_on_counted_event, c);
	if (!err)
		err = bus_subscribe(c->bus,
				    BUS_MASK(EVENT_TURN_ADMITTED) | BUS_MASK(EVENT_TURN_SPEAKING) |
					    BUS_MASK(EVENT_TURN) | BUS_MASK(EVENT_TOOL_BEGAN) |
					    BUS_MASK(EVENT_TOOL_CALLED) |
					    BUS_MASK(EVENT_SESSION_STARTED) |
					    BUS_MASK(EVENT_SESSION_OVER),
				    control_on_turn_event, c);
	return err;
}

/* Folders that cannot be used leave the bot without a music library. */
static int make_sources(struct control *c)
{
	const char *folders = c->settings->music_folders;
	int err = 0;

	if (*folders && c->conf.state_dir)
		err = library_alloc(&c->library, c->env, c->conf.state_dir, folders, "decoderd");
	if (err)
		log_warn(
			"music_library_failed",
			"folders=\"%s\" error=\"%s\" hint=\"each path begins with /, and there are "
			"eight at most\"",
			folders, strerror(err));
	err = err == EINVAL ? 0 : err;
	return err ? err : music_sources_alloc(&c->sources, c->env, c->library, c->settings);
}

static void list_sounds(void *arg)
{
	const struct control *c = arg;

	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_list_sounds(c->voice_sessions[i]);
}

/* The two that read the store beside the rooms, the music library, and the eyes. */
static int make_memory(struct control *c)
{
	const struct model_conf conf = {.env = c->env,
					.http = c->http,
					.ws = c->ws,
					.settings = c->settings,
					.store = c->store,
					.ledger = c->ledger,
					.bus = c->bus,
					.allowsh = control_remembers,
					.zoneh = control_time_zone,
					.arg = c};
	int err = c->store ? extraction_alloc(&c->extraction, &conf) : 0;

	if (!err && c->store)
		err = embeddings_alloc(&c->embeddings, &conf);
	if (!err)
		err = queue_shelf_alloc(&c->shelf, c->conf.kept ? c->conf.kept->queues : NULL);
	if (!err)
		err = clips_alloc(&c->clips, c->env, "decoderd", c->settings->sound_folder,
				  list_sounds, c);
	if (!err)
		err = control_make_vision(c);
	return err ? err : make_sources(c);
}

static int make_timers(struct control *c)
{
	int err = tmr_alloc(&c->find_tmr, c->env, control_find_gateway, c);

	if (!err)
		err = tmr_alloc(&c->save_tmr, c->env, control_on_save_timer, c);
	if (!err)
		err = tmr_alloc(&c->stop_tmr, c->env, on_stop, c);
	if (!err)
		err = tmr_alloc(&c->held_tmr, c->env, control_on_held_timer, c);
	return err;
}

static const char user_agent[] =
	"DiscordBot (https://github.com/parley-voice/parley, " PARLEY_VERSION ")";

int control_alloc(struct control **out, struct env *env, struct settings *settings,
		  const struct control_conf *conf)
{
	struct control *c;
	int err;

	if (!out || !env || !settings || !conf)
		return EINVAL;
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->env = env;
	c->settings = settings;
	c->conf = *conf;
	c->find = backoff_of(&find_backoff);
	err = make_bus(c);
	if (!err)
		err = make_settings(c);
	if (!err)
		err = http_alloc(&c->http, env, conf->ca_file, user_agent);
	if (!err)
		err = mcp_servers_alloc(&c->mcp,
					&(struct mcp_servers_conf){.env = env,
								   .http = c->http,
								   .state_dir = conf->state_dir,
								   .settings = settings,
								   .version = PARLEY_VERSION});
	if (!err)
		err = delegates_alloc(&c->delegates, env, settings, PARLEY_VERSION);
	if (!err)
		err = ws_ctx_alloc(&c->ws, env, conf->ca_file);
	if (!err)
		err = make_memory(c);
	c->intents = control_intents(settings) | intents_of_kept(c);
	if (!err)
		err = make_discord(c);
	if (err)
		goto out;
	err = control_load_state(c);
	if (!err)
		err = control_make_text(c);
	if (!err)
		err = make_media(c);
	if (!err)
		err = make_timers(c);
	if (!err && settings_needs_embedded(settings))
		err = embedded_alloc(&c->embedded, env, take_brain_address, tell_embedded_fault, c);
	if (!err && conf->web_token && *settings->web_listen)
		err = control_make_web(c);
	if (!err && *settings->otlp_endpoint)
		err = control_make_exporter(c);
out:
	if (err)
		control_free(c);
	else
		*out = c;
	return err;
}

static void end_web(struct control *c)
{
	control_end_again(c);
	control_end_incident(c);
	c->web = web_free(c->web);
}

struct control *control_free(struct control *c)
{
	if (!c)
		return NULL;
	if (c->gateway && c->save_dirty)
		control_save_state(c);
	c->ending = true;
	if (c->media && !c->conf.spawn)
		media_disconnect(c->media); /* also after an end without control_stop */
	while (c->n_voice_sessions)
		voice_session_free(c->voice_sessions[--c->n_voice_sessions]);
	control_end_music(c);
	queue_shelf_free(c->shelf);
	extraction_free(c->extraction);
	music_sources_free(c->sources);
	library_free(c->library);
	clips_free(c->clips);
	embeddings_free(c->embeddings);
	text_session_stop(c->text);
	mcp_servers_free(c->mcp);
	control_end_work(c);
	delegates_free(c->delegates);
	embedded_free(c->embedded);
	golive_free(c->golive);
	media_free(c->media);
	rest_free(c->rest); /* before commands, because rest may still hold their answers */
	text_session_free(c->text);
	control_end_text(c);
	control_end_browser(c);
	control_end_asks(c);
	commands_free(c->commands);
	components_free(c->components);
	gateway_free(c->gateway);
	end_web(c);
	vision_free(c->vision);
	otlp_exporter_free(c->exporter);
	guilds_free(c->guilds);
	live_settings_free(c->live);
	tmr_free(c->find_tmr);
	tmr_free(c->save_tmr);
	tmr_free(c->stop_tmr);
	tmr_free(c->held_tmr);
	ws_ctx_free(c->ws);
	http_free(c->http);
	writer_free(c->writer);
	store_free(c->store);
	control_end_consents(c);
	control_end_privacy(c);
	control_end_memory(c);
	control_end_settings(c);
	consent_table_free(c->consents);
	ledger_free(c->ledger);
	metrics_free(c->metrics);
	json_decref(c->changed_guilds);
	json_decref(c->state.commands);
	bus_free(c->bus);
	free(c);
	room_log_settle();
	return NULL;
}

static bool owns_gateway(const struct control *c)
{
	return settings_gateway(c->settings) != SETTINGS_GATEWAY_NONE;
}

static const json_t *find_words(const struct control *c, uint64_t guild)
{
	char key[24];

	snprintf(key, sizeof key, "%llu", (unsigned long long)guild);
	return c->conf.kept ? json_object_get(c->conf.kept->words, key) : NULL;
}

void control_start(struct control *c)
{
	struct state_call calls[STATE_CALLS_MAX];
	unsigned n = c->state.n_calls;
	struct voice_session *vs;

	c->started_at = env_now(c->env);
	memcpy(calls, c->state.calls, sizeof calls);
	/* The desired calls come before mediad: resync closes a call that no voice session wants.
	 */
	for (unsigned i = 0; i < n; i++) {
		vs = control_open_voice_session(c, calls[i].guild);
		if (vs)
			voice_session_inherit(vs, &c->inherited, calls[i].since_ms,
					      find_words(c, calls[i].guild));
		if (vs)
			voice_session_inherit_music(vs, calls[i].channel, calls[i].music_message);
		if (vs && c->resuming)
			voice_session_adopt(vs, calls[i].channel, calls[i].standing);
		else if (vs)
			voice_session_join(vs, calls[i].channel, calls[i].standing, NULL);
	}
	if (owns_gateway(c) && c->conf.guild && c->conf.channel) {
		vs = control_open_voice_session(c, c->conf.guild);
		if (vs && voice_session_channel(vs) != c->conf.channel)
			voice_session_join(vs, c->conf.channel, true, NULL);
	}
	if (c->resuming)
		media_set_user(c->media, c->state.user);
	if (c->conf.kept && c->conf.kept->erasing)
		control_take_erase_requests(c);
	tmr_start(c->save_tmr, SAVE_ANYWAY_MS * NS_PER_MS);
	if (owns_gateway(c))
		control_find_gateway(c);
	else
		log_info("gateway_not_owned", "hint=\"the setting gateway is none\"");
}

/* Ends the program once Discord lists the bot in no channel. */
void control_stop_when_out(struct control *c)
{
	struct guild_voice v;

	if (!c->stopping)
		return;
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		if (gateway_state(c->gateway) == GATEWAY_UP &&
		    guilds_voice(c->guilds, voice_session_guild(c->voice_sessions[i]),
				 guilds_self(c->guilds), &v))
			return;
	/* A moment for the last answers to commands. */
	tmr_start(c->stop_tmr, STOP_SOON_MS * NS_PER_MS);
	c->stopping = false;
}

void control_stop(struct control *c)
{
	if (c->conf.spawn) {
		/* Our own mediad ends with us, so no process would hold these calls. */
		for (unsigned i = 0; i < c->n_voice_sessions; i++)
			voice_session_leave(c->voice_sessions[i]);
		c->stopping = true;
		tmr_start(c->stop_tmr, STOP_MS * NS_PER_MS);
		control_stop_when_out(c);
	} else if (c->hand_over_until || !owes_answer(c)) {
		hand_over(c);
	} else {
		c->hand_over_until = env_now(c->env) + HAND_OVER_MS * NS_PER_MS;
		tmr_start(c->stop_tmr, STOP_SOON_MS * NS_PER_MS);
	}
}

void control_suspend(struct control *c)
{
	for (unsigned i = 0; i < c->n_voice_sessions; i++)
		voice_session_suspend(c->voice_sessions[i]);
}

/* A journal takes secrets out of what comes in; the program needs them all the same. */
static const char *whole_value(const struct control *c, const char *name, const char *text)
{
	const char *secret =
		c->conf.whole && *c->conf.whole ? settings_secret(*c->conf.whole, name) : NULL;

	return secret ? secret : text;
}

int control_settings(struct control *c, const uint8_t *json, size_t len)
{
	json_t *all = json_loadb((const char *)json, len, 0, NULL), *value;
	const char *name;

	if (!json_is_object(all)) {
		json_decref(all);
		return EBADMSG;
	}
	json_object_foreach(all, name, value)
	{
		const char *text = whole_value(c, name, json_string_value(value));
		int err = text ? live_settings_base(c->live, name, text) : EINVAL;

		if (err)
			log_warn("setting_refused", "name=%s error=\"%s\"", name, strerror(err));
	}
	json_decref(all);
	live_settings_apply(c->live);
	return 0;
}

void control_input(uint8_t kind, const uint8_t *data, size_t len, void *c)
{
	if (kind == CONTROL_IN_START)
		control_start(c);
	else if (kind == CONTROL_IN_STOP)
		control_stop(c);
	else if (kind == CONTROL_IN_SUSPEND)
		control_suspend(c);
	else if (kind == CONTROL_IN_ERASE)
		control_take_erase_requests(c);
	else if (kind == CONTROL_IN_SETTINGS && control_settings(c, data, len))
		log_warn("settings_malformed", "bytes=%zu", len);
}

bool control_replaced(const struct control *c)
{
	return c->replaced;
}

const struct words *control_failure(const struct control *c)
{
	return &c->failure;
}
