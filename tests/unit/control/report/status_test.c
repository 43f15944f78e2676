/* /status in each state, as it is read. */
#include "control/report/status.h"

#include "control/events/events.h"

#include "control/report/secure.h"
#include "proto/base/time.h"
#include "tests/test.h"

static const struct media_call_secure well = {
	.version = 1, .known = true, .ready = true, .members = 2};

/* In a call with Alice for ten minutes, all is well. */
static struct status good(void)
{
	struct status s = {.now = 1000 * NS_PER_S,
			   .wall_s = 1700000000,
			   .channel = 7,
			   .state = VOICE_IN,
			   .has_phase = true,
			   .phase = MEDIA_PHASE_UP,
			   .up_since = 400 * NS_PER_S,
			   .mediads = 1,
			   .mediads_there = 1,
			   .secure = &well,
			   .has_brain = true,
			   .brain_up = true,
			   .brain = "wss://api.openai.com/v1/realtime",
			   .turns = 3,
			   .answered = 2};

	status_person(&s, "Alice", UNHEARD_NOT);
	return s;
}

static const char *text(const struct status *s)
{
	static struct words w;

	w = (struct words){0};
	status_words(s, &w);
	return w.text;
}

#define CHECK_IN(s, part)                                                                          \
	do {                                                                                       \
		if (!strstr(text(&(s)), part)) {                                                   \
			test_fail(__FILE__, __LINE__, "no \"%s\" in:\n%s", part, text(&(s)));      \
			return;                                                                    \
		}                                                                                  \
	} while (0)

TEST(status_all_is_well)
{
	struct media_call_secure m = well;
	struct status s = good();

	m.privacy_code = slice_str("992563144762369703352153434510");
	s.secure = &m;
	s.last_turn = "it was answered";
	status_delay(&s.delays, 900);
	status_delay(&s.delays, 1149);
	status_delay(&s.delays, 800);
	status_delay(&s.delays, 950);
	CHECK_STR(
		text(&s),
		"**Call:** up in <#7> since <t:1699999400:t>.\n"
		"**Heard:** Alice.\n"
		"**Encryption:** end to end, 2 members. Privacy code:\n"
		"`99256 31447 62369 70335 21534 34510`\n"
		"Compare it: Discord shows yours under Privacy in the voice details. The same "
		"digits "
		"mean that nobody is in between.\n"
		"**Brain:** `api.openai.com`, connected.\n"
		"**Answers:** 2 of 3 turns. From your last sound to my first: 1.1 s, 0.8 s, 1.0 s; "
		"the median is 0.9 s. Of the last turn: it was answered.\n"
		"**Faults:** none since I started.");
}

TEST(status_in_another_language)
{
	struct status s = good();
	struct words w = {0};

	faults_set(&s.faults, FAULT_ANSWER, FAULT_IS_ONCE, s.now);
	status_person(&s, "Music", UNHEARD_BOT);
	words_speak(&w, "de");
	status_words(&s, &w);
	CHECK(strstr(w.text, "**Gehört:** Alice"));
	CHECK(strstr(w.text, "**Nicht gehört:** Music (ein Bot)"));
	CHECK(strstr(w.text, "`api.openai.com`, verbunden."));
	CHECK(strstr(w.text, "**Störungen** seit meinem Start: Antwort gescheitert 1× ("));
	CHECK(!strstr(w.text, "**Call"));
}

TEST(status_in_no_call)
{
	struct status s = {.mediads = 1, .mediads_there = 1};

	CHECK_STR(text(&s), "**Call:** none. /join brings me into your channel.\n**Faults:** none "
			    "since I started.");
	s.why = VOICE_REASON_MEDIA;
	s.media_reason = MEDIA_REASON_ENCRYPTION_REQUIRED;
	CHECK_IN(s, "a kind of end-to-end encryption that this version does not speak");
}

TEST(status_on_the_way_in)
{
	struct status s = {.channel = 7, .state = VOICE_ASKED, .mediads = 2, .mediads_there = 1};

	CHECK_IN(s, "not up in <#7>; asking Discord to join.\n");
	CHECK_IN(s, "1 of 2 audio processes connected");
	CHECK(!strstr(text(&s), "Encryption") && !strstr(text(&s), "Heard"));
	s.state = VOICE_IN;
	s.has_phase = true;
	s.phase = MEDIA_PHASE_DISCOVERING;
	CHECK_IN(s, "joined. With Discord's voice server: looking for a way for sound.");
	s.state = VOICE_WAITING;
	s.why = VOICE_REASON_NO_MEDIAD;
	CHECK_IN(s, "is not running");
}

TEST(status_since_when)
{
	struct status s = good();

	s.up_since = 0;
	CHECK_IN(s, "up in <#7>.\n");
	s.now = 100000 * NS_PER_S;
	s.up_since = NS_PER_S;
	CHECK_IN(s, "since <t:1699900001:f>");
	s.phase = MEDIA_PHASE_RESUMING;
	CHECK_IN(s, "up in <#7>");
	s.up_since = s.now + NS_PER_S; /* never in the future */
	CHECK_IN(s, "since <t:1700000000:t>");
}

TEST(status_who_is_heard)
{
	struct status s = good();

	status_person(&s, "Bob *the* bot", UNHEARD_BOT);
	status_person(&s, "Carol", UNHEARD_NO_CONSENT);
	CHECK_IN(s, "**Heard:** Alice.\n**Not heard:** Bob \\*the\\* bot (a bot), Carol (has not "
		    "agreed).\n");
	s.people = s.n_people = 0;
	CHECK_IN(s, "nobody but me");
	status_person(&s, "Bot", UNHEARD_BOT);
	CHECK_IN(s, "**Heard:** nobody.\n**Not heard:** Bot (a bot).");
}

TEST(status_hindrances)
{
	struct status s = good();

	s.why = VOICE_REASON_SERVER_MUTED;
	CHECK_IN(s, "I am muted by the server");
	s.why = VOICE_REASON_STAGE_AUDIENCE;
	CHECK_IN(s, "audience of this stage");
}

TEST(status_encryption)
{
	struct media_call_secure m = {0};
	struct status s = good();

	s.secure = &m;
	CHECK_IN(s, "**Encryption:** not agreed on yet.");
	m.known = true;
	CHECK_IN(s, "none end to end, although this is no stage");
	s.stage = true;
	CHECK_IN(s, "none end to end, as in every stage");
	m.version = 1;
	CHECK_IN(s, "end to end; waiting for a key.");
	s.people = s.n_people = 0;
	CHECK_IN(s, "a key is made when somebody else comes");
	m.ready = true;
	m.undecryptable = 2;
	m.heal = MEDIA_HEAL_RECOVER;
	CHECK_IN(s, "not decrypted: 2 of you, new keys were requested.");
	s.secure = NULL;
	CHECK(!strstr(text(&s), "Encryption"));
}

TEST(status_brains)
{
	struct status s = good();

	s.brain_embedded = s.guest = true;
	s.brain_up = false;
	CHECK_IN(s,
		 "the small one built in, not connected. I am a guest here: with several people in "
		 "the channel I answer when I am named.\n");
	s.has_brain = false;
	CHECK_IN(s, "still starting");
	CHECK(!strstr(text(&s), "Answers"));
}

TEST(status_faults)
{
	struct status s = good();

	struct words none = {0};

	faults_set(&s.faults, FAULT_DEAF, FAULT_IS_THERE, 900 * NS_PER_S);
	CHECK_IN(s, "**Faults:** none since I started.");
	faults_say(&s.faults, 903 * NS_PER_S, &none);
	faults_set(&s.faults, FAULT_ANSWER, FAULT_IS_ONCE, 400 * NS_PER_S);
	faults_set(&s.faults, FAULT_ANSWER, FAULT_IS_ONCE, 940 * NS_PER_S);
	CHECK_IN(s, "**Faults** since I started: answer failed 2× (last <t:1699999940:R>), someone "
		    "could not be decrypted 1× (now).");
	/* Two at the same moment are both there. */
	faults_set(&s.faults, FAULT_BUSY, FAULT_IS_ONCE, 940 * NS_PER_S);
	CHECK_IN(s, "brain asked to slow down 1×");
	CHECK_IN(s, "answer failed 2×");
	CHECK_IN(s, "decrypted 1×");
}

TEST(status_delays_keep_the_last)
{
	struct status_delays d = {0};

	for (unsigned i = 1; i <= STATUS_DELAYS + 5; i++)
		status_delay(&d, i);
	CHECK_INT(d.n, STATUS_DELAYS);
	CHECK_INT(d.ms[0], 6);
	CHECK_INT(d.ms[STATUS_DELAYS - 1], STATUS_DELAYS + 5);
}

/* As full as it can be: nothing of it may be lost for want of room. */
TEST(status_fits_into_one_message)
{
	struct media_call_secure m = well;
	struct status s = good();

	m.privacy_code = slice_str("992563144762369703352153434510");
	s.secure = &m;
	s.why = VOICE_REASON_STAGE_AUDIENCE;
	s.mediads = 32;
	s.guest = true;
	memset(s.brain, 'x', sizeof s.brain - 1);
	s.last_turn = "the speaker went on before the answer began; a newer turn holds it";
	s.turns = s.answered = UINT64_MAX;
	for (unsigned i = 0; i < 3; i++)
		status_delay(&s.delays, 99999);
	for (unsigned i = 0; i < 600; i++)
		status_person(&s, "****************************************",
			      i % 2 ? UNHEARD_NO_CONSENT : UNHEARD_NOT);
	for (int f = 0; f < FAULT_COUNT; f++)
		for (unsigned i = 0; i < 100; i++)
			faults_set(&s.faults, (enum fault)f, FAULT_IS_ONCE, 999 * NS_PER_S);
	CHECK(strlen(text(&s)) <= WORDS_MAX);
	CHECK_IN(s, "more.\n**Not heard:**");
	CHECK_IN(s, "Privacy code");
	CHECK_IN(s, "**Faults** since I started:");
	CHECK(text(&s)[strlen(text(&s)) - 1] == '.');
}

TEST(secure_code_in_groups)
{
	struct media_call_secure m = well;
	char buf[200];

	m.privacy_code = slice_str("992563144762369703352153434510");
	secure_code(&m, buf, sizeof buf);
	CHECK_STR(buf, "99256 31447 62369 70335 21534 34510");
	secure_code(&m, buf, 8);
	CHECK_STR(buf, "99256 3"); /* cut */
	m.privacy_code = (struct slice){0};
	secure_code(&m, buf, sizeof buf);
	CHECK_STR(buf, "");
}

TEST(turns_are_tallied_by_guild_from_events)
{
	static struct status_tally tally;
	struct bus_event ev = {.type = EVENT_TURN, .guild = 1};
	struct status s = {0};

	memset(&tally, 0, sizeof tally);
	ev.turn = (struct event_turn){
		.reason = "answered", .text = "it was answered", .first_audio_ms = 900};
	status_take_event(&ev, &tally);
	ev.turn = (struct event_turn){
		.reason = "noise", .text = "it was noise", .first_audio_ms = -1};
	status_take_event(&ev, &tally);
	ev.turn = (struct event_turn){
		.reason = "merged", .text = "another turn has its words", .first_audio_ms = -1};
	status_take_event(&ev, &tally); /* part of another one */
	for (uint64_t guild = 2; guild <= STATUS_GUILDS; guild++) {
		ev.guild = guild;
		status_take_event(&ev, &tally);
	}
	status_fill_turns(&s, &tally, 1);
	CHECK_INT(s.turns, 2);
	CHECK_INT(s.answered, 1);
	CHECK_INT(s.delays.n, 1);
	CHECK_STR(s.last_turn, "it was noise");
	ev.guild = STATUS_GUILDS + 1; /* the longest silent one gives way */
	status_take_event(&ev, &tally);
	s = (struct status){0};
	status_fill_turns(&s, &tally, 1);
	CHECK_INT(s.turns, 0);
	ev.type = EVENT_SESSION_STARTED;
	ev.guild = 2;
	status_take_event(&ev, &tally);
	status_fill_turns(&s, &tally, 2);
	CHECK_INT(s.turns, 0);
	CHECK(!s.last_turn);
}
