/* A voice session between Discord's events and a toy mediad, without a room: which channel an
 * encrypted call is noted for, which policy mediad gets, and a fault of mediad. */
#include "control/voice_session/voice_session.h"

#include <jansson.h>

#include "control/consent/consent.h"
#include "control/discord/guilds.h"
#include "control/events/events.h"
#include "control/metrics/counters.h"
#include "control/settings/settings.h"
#include "control/voice_session/encrypted_channels.h"
#include "control/voice_session/inside.h"
#include "tests/unit/control/media/toy_mediad.h"

static const char guild_text[] =
	"{\"id\":\"100\",\"name\":\"Fake\",\"owner_id\":\"1\",\"roles\":["
	"{\"id\":\"100\",\"permissions\":\"3146752\"}],\"channels\":["
	"{\"id\":\"301\",\"type\":2,\"name\":\"One\",\"bitrate\":64000},"
	"{\"id\":\"302\",\"type\":2,\"name\":\"Two\",\"bitrate\":64000}],"
	"\"members\":[{\"user\":{\"id\":\"900\",\"username\":\"parley\",\"bot\":true},"
	"\"roles\":[]}],"
	"\"voice_states\":[{\"user_id\":\"900\",\"channel_id\":\"301\",\"session_id\":\"s\"}]}";

static struct {
	struct toy t;
	struct guilds *g;
	struct bus *bus;
	struct settings *settings;
	struct counters counters;
	struct encrypted_channels encrypted;
	struct voice_session *vs;
	struct consent_table *consents;
	unsigned changes, faults, told;
	unsigned ended; /* faults that lasted */
	char last_told[512];
} rig;

static void on_changed(void *arg)
{
	(void)arg;
	rig.changes++;
}

static void on_bus_event(const struct bus_event *ev, void *arg)
{
	(void)arg;
	rig.faults += ev->type == EVENT_FAULT;
	rig.ended += ev->type == EVENT_FAULT && ev->fault.ended;
	if (ev->type != EVENT_TOLD)
		return;
	rig.told++;
	snprintf(rig.last_told, sizeof rig.last_told, "%s", ev->notice.text);
}

/* An event of Discord, as control hands it on. */
static void discord(const char *name, const char *text)
{
	json_t *d = json_loads(text, 0, NULL);

	guilds_event(rig.g, name, d);
	if (rig.vs)
		voice_session_event(rig.vs, name, d);
	json_decref(d);
}

static int rig_make(const char *guild)
{
	struct voice_session_conf conf = {.encrypted = &rig.encrypted,
					  .counters = &rig.counters,
					  .bot_name = "Parley",
					  .changedh = on_changed};
	int err;

	memset(&rig, 0, sizeof rig);
	err = toy_alloc(&rig.t);
	if (!err)
		err = toy_listen(&rig.t);
	if (!err)
		err = toy_start_control(&rig.t, 10);
	if (!err)
		err = guilds_alloc(&rig.g);
	if (!err)
		err = bus_alloc(&rig.bus);
	if (!err)
		err = settings_alloc(&rig.settings);
	if (!err)
		err = bus_subscribe(rig.bus, BUS_ALL, on_bus_event, NULL);
	if (err)
		return err;
	guilds_set_self(rig.g, 900);
	if (guild)
		discord("GUILD_CREATE", guild);
	if (!err)
		err = consent_table_alloc(&rig.consents, NULL);
	conf.consents = rig.consents;
	conf.env = rig.t.env;
	conf.media = rig.t.media;
	conf.guilds = rig.g;
	conf.bus = rig.bus;
	conf.settings = rig.settings;
	return voice_session_alloc(&rig.vs, &conf, 100);
}

/* Takes over channel 301 from the control before, whose mediad has its session in `channel`. */
static bool rig_adopt(uint64_t channel, bool encrypted)
{
	if (rig_make(guild_text))
		return false;
	rig.t.holds_call = true;
	rig.t.encrypts = encrypted;
	rig.t.channel = channel;
	voice_session_adopt(rig.vs, 301, false);
	if (!toy_run_until(&rig.t, MEDIA_CALL_SET, 1))
		return false;
	toy_settle(&rig.t);
	voice_session_online(rig.vs, false);
	rig.vs->quiet = true; /* there is no REST */
	return true;
}

static void rig_end(void)
{
	voice_session_free(rig.vs);
	toy_free(&rig.t);
	settings_free(rig.settings);
	bus_free(rig.bus);
	guilds_free(rig.g);
	consent_table_free(rig.consents);
}

/* Discord moved the bot just before the control before this one ended, so mediad's session is still
 * in the channel that it left. */
TEST(voice_session_notes_encryption_for_the_channel_of_an_adopted_session)
{
	CHECK(rig_adopt(302, true));
	CHECK(encrypted_channels_has(&rig.encrypted, 100, 302));
	CHECK(!encrypted_channels_has(&rig.encrypted, 100, 301));
	rig_end();
}

/* The bot is moved while mediad is out of reach, so its lease for the new channel cannot be sent.
 */
TEST(voice_session_notes_no_encryption_for_a_lease_that_was_not_sent)
{
	CHECK(rig_adopt(301, false));
	toy_gone(&rig.t);
	toy_settle(&rig.t);
	discord("VOICE_STATE_UPDATE",
		"{\"guild_id\":\"100\",\"user_id\":\"900\",\"channel_id\":\"302\","
		"\"session_id\":\"s2\"}");
	discord("VOICE_SERVER_UPDATE",
		"{\"guild_id\":\"100\",\"token\":\"t\",\"endpoint\":\"voice.example:1\"}");
	CHECK_INT(rig.t.count[MEDIA_CALL_CREDENTIALS], 0);
	rig.t.encrypts = true;
	CHECK_INT(toy_listen(&rig.t), 0);
	CHECK(toy_run_until(&rig.t, MEDIA_CALL_SET, 2));
	toy_settle(&rig.t);
	CHECK(encrypted_channels_has(&rig.encrypted, 100, 301));
	CHECK(!encrypted_channels_has(&rig.encrypted, 100, 302));
	rig_end();
}

/* Returns how often mediad got a message of this type before the n-th CALL_SET. */
static unsigned count_before_set(unsigned type, unsigned n)
{
	unsigned count = 0;

	for (unsigned i = 0; i < rig.t.n_seen && n; i++) {
		n -= rig.t.seen[i] == MEDIA_CALL_SET;
		count += rig.t.seen[i] == type;
	}
	return count;
}

/* A restarted control does not know who is in the channel: somebody who has refused may be. */
TEST(voice_session_lets_nobody_be_heard_before_it_knows_the_channel)
{
	static const char alice_is_there[] =
		"{\"id\":\"100\",\"name\":\"Fake\",\"channels\":[{\"id\":\"301\",\"type\":2,"
		"\"bitrate\":64000}],\"members\":[{\"user\":{\"id\":\"500\",\"username\":\"alice\"}"
		"}],"
		"\"voice_states\":[{\"user_id\":\"500\",\"channel_id\":\"301\"},"
		"{\"user_id\":\"900\",\"channel_id\":\"301\",\"session_id\":\"s\"}]}";

	CHECK_INT(rig_make(NULL), 0);
	CHECK_INT(consent_set(rig.consents, 100, 500, CONSENT_NEITHER, 0), 0);
	rig.t.holds_call = true;
	voice_session_adopt(rig.vs, 301, false);
	CHECK(toy_run_until(&rig.t, MEDIA_CALL_SET, 1));
	CHECK_INT(rig.t.set.consent, MEDIA_CONSENT_NO);
	discord("GUILD_CREATE", alice_is_there);
	CHECK(toy_run_until(&rig.t, MEDIA_CALL_SET, 2));
	CHECK_INT(rig.t.set.consent, MEDIA_CONSENT_YES);
	CHECK_INT(count_before_set(MEDIA_CONSENT, 2), 1);
	CHECK(!media_call_consents(rig.vs->media, 500));
	rig_end();
}

static const char two_are_there[] =
	"{\"id\":\"100\",\"name\":\"Fake\",\"channels\":[{\"id\":\"301\",\"type\":2,"
	"\"bitrate\":64000}],\"members\":[{\"user\":{\"id\":\"500\",\"username\":\"alice\"}},"
	"{\"user\":{\"id\":\"501\",\"username\":\"bob\"}}],"
	"\"voice_states\":[{\"user_id\":\"500\",\"channel_id\":\"301\"},"
	"{\"user_id\":\"501\",\"channel_id\":\"301\"},"
	"{\"user_id\":\"900\",\"channel_id\":\"301\",\"session_id\":\"s\"}]}";

/* As control does it (control_gateway.c). */
static void begin_outage(void)
{
	json_t *d = json_loads("{\"id\":\"100\",\"unavailable\":true}", 0, NULL);

	guilds_event(rig.g, "GUILD_DELETE", d);
	voice_session_offline(rig.vs);
	json_decref(d);
}

/* The server is in an outage: who comes now may have refused, but those who were heard still are.
 */
TEST(voice_session_hears_those_who_were_here_before_an_outage)
{
	CHECK(rig_adopt(301, false));
	CHECK_INT(consent_set(rig.consents, 100, 501, CONSENT_NEITHER, 0), 0);
	discord("GUILD_CREATE", two_are_there);
	CHECK_INT(rig.vs->n_members, 2);
	begin_outage();
	CHECK(toy_run_until(&rig.t, MEDIA_CALL_SET, 2));
	CHECK_INT(rig.t.set.consent, MEDIA_CONSENT_NO);
	CHECK(media_call_consents(rig.vs->media, 500));
	CHECK(!media_call_consents(rig.vs->media, 501));
	CHECK(!media_call_consents(rig.vs->media, 502));
	CHECK_INT(count_before_set(MEDIA_CONSENT, 2), 2);
	/* A lease in between loses nobody. */
	voice_session_sync_members(rig.vs);
	CHECK_INT(rig.vs->n_members, 2);
	discord("GUILD_CREATE", two_are_there);
	CHECK(toy_run_until(&rig.t, MEDIA_CALL_SET, 3));
	CHECK_INT(rig.t.set.consent, MEDIA_CONSENT_YES);
	CHECK(!media_call_consents(rig.vs->media, 501));
	rig_end();
}

TEST(voice_session_tells_its_room_of_an_outage_that_lasts)
{
	CHECK(rig_adopt(301, false));
	begin_outage();
	CHECK_INT(rig.told, 0);
	/* As if it had begun before. */
	rig.vs->faults.v[FAULT_OUTAGE].changed = 0;
	voice_session_watch(rig.vs);
	voice_session_watch(rig.vs);
	CHECK_INT(rig.told, 1);
	CHECK(strstr(rig.last_told, "nobody who joins now"));
	rig_end();
}

/* The setting begins to allow what she has refused. */
TEST(voice_session_tells_refusals_before_the_default_changes)
{
	CHECK(rig_adopt(301, false));
	discord("GUILD_MEMBER_ADD",
		"{\"guild_id\":\"100\",\"user\":{\"id\":\"500\",\"username\":\"alice\"}}");
	CHECK_INT(settings_set(rig.settings, "consent", "neither"), 0);
	voice_session_settings(rig.vs);
	CHECK(toy_run_until(&rig.t, MEDIA_CALL_SET, 2));
	CHECK_INT(rig.t.set.consent, MEDIA_CONSENT_NO);
	CHECK_INT(consent_set(rig.consents, 100, 500, CONSENT_NEITHER, 0), 0);
	discord("VOICE_STATE_UPDATE", "{\"guild_id\":\"100\",\"user_id\":\"500\",\"channel_id\":"
				      "\"301\",\"session_id\":\"x\"}");
	CHECK_INT(settings_set(rig.settings, "consent", "heard"), 0);
	voice_session_settings(rig.vs);
	CHECK(toy_run_until(&rig.t, MEDIA_CALL_SET, 3));
	CHECK_INT(rig.t.set.consent, MEDIA_CONSENT_YES);
	CHECK_INT(count_before_set(MEDIA_CONSENT, 3), 1);
	rig_end();
}

static void change_type(const char *type)
{
	char text[160];

	snprintf(text, sizeof text,
		 "{\"guild_id\":\"100\",\"id\":\"301\",\"type\":%s,\"name\":\"One\",\"bitrate\":"
		 "64000}",
		 type);
	discord("CHANNEL_UPDATE", text);
	toy_settle(&rig.t);
}

/* Nothing but its type changes. */
TEST(voice_session_tells_mediad_of_a_stage)
{
	CHECK(rig_adopt(301, false));
	CHECK(!rig.t.set.stage);
	change_type("13");
	CHECK(rig.t.set.stage);
	change_type("2");
	CHECK(!rig.t.set.stage);
	rig_end();
}

/* So many channels of a server had encrypted calls that all of its channels count: of this server,
 * not of another. */
TEST(voice_session_takes_no_channel_for_a_stage_once_its_server_has_its_share)
{
	uint64_t strict;

	CHECK(rig_adopt(301, false));
	for (uint64_t i = 0; i <= ENCRYPTED_CHANNELS_GUILD; i++)
		encrypted_channels_add(&rig.encrypted, 200, 1000 + i, &strict);
	CHECK(strict == 200);
	change_type("13");
	CHECK(rig.t.set.stage);
	CHECK_INT(rig.t.set.e2ee, MEDIA_E2EE_REQUIRE);
	change_type("2");
	for (uint64_t i = 0; i <= ENCRYPTED_CHANNELS_GUILD; i++)
		encrypted_channels_add(&rig.encrypted, 100, 1000 + i, &strict);
	CHECK(strict == 100);
	change_type("13");
	CHECK(!rig.t.set.stage);
	CHECK_INT(rig.t.set.e2ee, MEDIA_E2EE_ALWAYS);
	rig_end();
}

/* Calls in other channels end no stage that is under way; an encrypted call in its own would. */
TEST(voice_session_keeps_a_stage_that_is_under_way)
{
	uint64_t strict;

	CHECK(rig_adopt(301, false));
	change_type("13");
	for (uint64_t i = 0; i <= ENCRYPTED_CHANNELS_GUILD; i++)
		encrypted_channels_add(&rig.encrypted, 100, 1000 + i, &strict);
	voice_session_update_call(rig.vs);
	toy_settle(&rig.t);
	CHECK(rig.t.set.stage);
	CHECK_INT(rig.t.set.e2ee, MEDIA_E2EE_REQUIRE);
	encrypted_channels_forget(&rig.encrypted, 100);
	encrypted_channels_add(&rig.encrypted, 100, 301, &strict);
	voice_session_update_call(rig.vs);
	toy_settle(&rig.t);
	CHECK(!rig.t.set.stage);
	CHECK_INT(rig.t.set.e2ee, MEDIA_E2EE_ALWAYS);
	rig_end();
}

/* Before a full list makes a server strict, it loses what is gone of all servers. Of a server that
 * is not known nobody can tell. */
TEST(voice_session_forgets_channels_that_are_gone_when_the_list_is_full)
{
	uint64_t strict, guild = 1000;

	CHECK(rig_adopt(301, false));
	for (uint64_t i = 0; i < 40; i++)
		encrypted_channels_add(&rig.encrypted, 100, 1000 + i, &strict);
	while (rig.encrypted.n < ENCRYPTED_CHANNELS_MAX - 1)
		encrypted_channels_add(&rig.encrypted, guild++, 1, &strict);
	toy_encrypt(&rig.t);
	toy_settle(&rig.t);
	CHECK(encrypted_channels_has(&rig.encrypted, 100, 301));
	CHECK(!encrypted_channels_has(&rig.encrypted, 100, 1000));
	CHECK(encrypted_channels_has(&rig.encrypted, 1000, 1));
	CHECK_INT(rig.encrypted.n, ENCRYPTED_CHANNELS_MAX - 40);
	rig_end();
}

/* The list of a strict server takes no channel, and the call itself is none that may be clear. */
TEST(voice_session_remembers_that_its_own_stage_was_encrypted)
{
	uint64_t strict;

	for (unsigned k = 0; k < 2; k++) {
		CHECK(rig_adopt(301, false));
		change_type("13");
		for (uint64_t i = 0; i < ENCRYPTED_CHANNELS_GUILD + k; i++)
			encrypted_channels_add(&rig.encrypted, 100, 1000 + i, &strict);
		voice_session_update_call(rig.vs);
		toy_settle(&rig.t);
		CHECK(rig.t.set.stage);
		toy_encrypt(&rig.t);
		toy_settle(&rig.t);
		CHECK(!rig.t.set.stage);
		CHECK_INT(rig.t.set.e2ee, MEDIA_E2EE_ALWAYS);
		rig_end();
	}
}

/* The call of a stream is new to mediad, which does not know what the channel's own was. */
TEST(voice_session_has_streams_encrypted_as_its_own_call)
{
	CHECK(rig_adopt(301, false));
	CHECK_INT(voice_session_stream_e2ee(rig.vs, 301), MEDIA_E2EE_REQUIRE);
	toy_encrypt(&rig.t);
	toy_settle(&rig.t);
	CHECK_INT(voice_session_stream_e2ee(rig.vs, 301), MEDIA_E2EE_ALWAYS);
	CHECK_INT(voice_session_stream_e2ee(rig.vs, 302), MEDIA_E2EE_REQUIRE);
	rig.settings->e2ee = SETTINGS_E2EE_PREFER;
	CHECK_INT(voice_session_stream_e2ee(rig.vs, 301), MEDIA_E2EE_PREFER);
	rig.settings->e2ee = SETTINGS_E2EE_REQUIRE;
	encrypted_channels_forget(&rig.encrypted, 100);
	CHECK_INT(voice_session_stream_e2ee(rig.vs, 301), MEDIA_E2EE_ALWAYS);
	rig_end();
}

TEST(voice_session_tells_its_room_of_streams)
{
	static const struct {
		unsigned reason;
		const char *text;
	} all[] = {{MEDIA_REASON_NONE, "The stream is not end-to-end encrypted"},
		   {MEDIA_REASON_NOT_ENCRYPTED, "would not be end-to-end encrypted"},
		   {MEDIA_REASON_RATE_LIMITED, "asked me to slow down"},
		   {MEDIA_REASON_SESSION_INVALID, "lost the connection of the stream"}};

	CHECK(rig_adopt(301, false));
	for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
		voice_session_tell_stream(rig.vs, all[i].reason);
		CHECK_INT(rig.told, i + 1);
		CHECK(strstr(rig.last_told, all[i].text));
	}
	rig_end();
}

TEST(voice_session_tells_its_room_once_that_real_time_is_lost)
{
	CHECK(rig_adopt(301, false));
	toy_fault(&rig.t, MEDIA_FAULT_NO_REAL_TIME);
	toy_settle(&rig.t);
	CHECK_INT(rig.told, 1);
	CHECK(strstr(rig.last_told, "took the priority of my sound away"));
	CHECK_INT(rig.faults, 1);
	CHECK(rig.changes > 0);
	/* Its mediad repeats it after a lost connection. */
	rig.t.lacks_real_time = true;
	toy_gone(&rig.t);
	toy_settle(&rig.t);
	CHECK_INT(toy_listen(&rig.t), 0);
	CHECK(toy_run_until(&rig.t, MEDIA_CALL_SET, 2));
	toy_settle(&rig.t);
	CHECK_INT(rig.told, 1);
	CHECK_INT(rig.faults, 1);
	rig_end();
}

TEST(the_end_of_a_fault_is_published_once)
{
	CHECK(rig_adopt(301, false));
	toy_fault(&rig.t, MEDIA_FAULT_NO_REAL_TIME);
	toy_settle(&rig.t);
	CHECK_INT(rig.faults, 1);
	CHECK_INT(rig.ended, 0);
	toy_gone(&rig.t);
	toy_settle(&rig.t);
	CHECK_INT(toy_listen(&rig.t), 0);
	CHECK(toy_run_until(&rig.t, MEDIA_CALL_SET, 2));
	toy_settle(&rig.t);
	CHECK_INT(rig.faults, 2);
	CHECK_INT(rig.ended, 1);
	rig_end();
}
