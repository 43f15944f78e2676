/* One transcription session for everybody, over a server of this process. */
#include "tests/test.h"

#include "tests/unit/control/engine/fake_realtime.h"
#include "control/engine/transcribe_shared.h"
#include "ipc/tmr.h"

struct seen {
	struct fake fake;
	struct transcribe_shared *asr;
	char events[1024];
	unsigned commits, sound;
	const char *stop_at;
};

static void heard(enum transcribe_event ev, uint64_t user, uint32_t utterance, const uint8_t *text,
		  size_t len, struct transcribe_sure sure, void *arg)
{
	struct seen *s = arg;
	size_t at = strlen(s->events);

	(void)sure;
	snprintf(s->events + at, sizeof s->events - at, "%c%llu/%u:%.*s ",
		 ev == TRANSCRIBE_FAILED    ? 'f'
		 : ev == TRANSCRIBE_PARTIAL ? 'p'
					    : 't',
		 (unsigned long long)user, utterance, (int)len, (const char *)text);
	if (s->stop_at && strstr(s->events, s->stop_at))
		env_stop(s->fake.env);
}

/* Says after each commit how much sound it got. */
static void counting_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	if (strcmp(type, "input_audio_buffer.append") == 0)
		s->sound += (unsigned)strlen(json_string_value(json_object_get(root, "audio"))) /
			    4 * 3 / 48;
	if (strcmp(type, "input_audio_buffer.commit") != 0)
		return;
	s->commits++;
	fake_send(f, conn, "{\"type\":\"input_audio_buffer.committed\",\"item_id\":\"i%u\"}",
		  s->commits);
	fake_send(f, conn,
		  "{\"type\":\"conversation.item.input_audio_transcription.completed\","
		  "\"item_id\":\"i%u\",\"content_index\":0,\"transcript\":\"%u ms\"}",
		  s->commits, s->sound);
	s->sound = 0;
}

static bool begin_with(struct seen *s, fake_h *server)
{
	memset(s, 0, sizeof *s);
	return fake_begin(&s->fake, server, s) &&
	       transcribe_shared_alloc(&s->asr, &(struct transcribe_conf){.env = s->fake.env,
									  .ws = s->fake.ctx,
									  .url = s->fake.url,
									  .model = "m",
									  .language = "en",
									  .key = "k",
									  .h = heard,
									  .arg = s}) == 0;
}

static bool begin(struct seen *s)
{
	return begin_with(s, counting_server);
}

static void end(struct seen *s)
{
	transcribe_shared_free(s->asr);
	fake_end(&s->fake);
}

static void sound(struct seen *s, uint32_t utterance, unsigned ms)
{
	uint8_t pcm[960] = {0};

	for (unsigned i = 0; i < ms / 20; i++)
		transcribe_shared_append(s->asr, utterance, pcm, sizeof pcm);
}

TEST(rule_057_the_shared_session_is_handed_on_with_what_was_kept)
{
	static struct seen s;

	CHECK(begin(&s));
	s.stop_at = "t1/11";
	CHECK_INT(transcribe_shared_start(s.asr, 1, 10), 0);
	sound(&s, 10, 400);
	CHECK_INT(transcribe_shared_sessions(s.asr), 0); /* not before it counts as speech */
	transcribe_shared_promoted(s.asr, 10);
	CHECK_INT(transcribe_shared_sessions(s.asr), 1);
	sound(&s, 10, 200);
	/* Two more speak at the same time; the second of them is thrown away, a third ends at once.
	 */
	CHECK_INT(transcribe_shared_start(s.asr, 2, 20), 0);
	sound(&s, 20, 500);
	transcribe_shared_promoted(s.asr, 20);
	CHECK_INT(transcribe_shared_start(s.asr, 3, 30), 0);
	sound(&s, 30, 1000);
	transcribe_shared_promoted(s.asr, 30);
	transcribe_shared_commit(s.asr, 3, 30);
	transcribe_shared_commit(s.asr, 1, 10);
	/* The first goes on, and is in the row for the own words. */
	CHECK_INT(transcribe_shared_start(s.asr, 1, 11), 0);
	sound(&s, 11, 300);
	transcribe_shared_promoted(s.asr, 11);
	transcribe_shared_commit(s.asr, 1, 11);
	sound(&s, 20, 100);
	transcribe_shared_commit(s.asr, 2, 20);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "t1/10:600 ms t2/20:600 ms t3/30:1000 ms t1/11:300 ms ");
	CHECK_INT(s.fake.conns, 1);
	end(&s);
}

/* Better words of the first come while the second speaks: they are the first's, and the second goes
 * on. */
static void revising_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	counting_server(f, conn, type, root);
	if (strcmp(type, "input_audio_buffer.commit") == 0 && s->commits == 1)
		fake_send(f, conn,
			  "{\"type\":\"conversation.item.input_audio_transcription.completed\","
			  "\"item_id\":\"i1\",\"content_index\":0,\"transcript\":\"better\"}");
}

TEST(rule_059_better_words_in_the_shared_session_end_nobody_elses)
{
	static struct seen s;

	CHECK(begin_with(&s, revising_server));
	s.stop_at = "better";
	transcribe_shared_start(s.asr, 1, 10);
	transcribe_shared_promoted(s.asr, 10);
	sound(&s, 10, 400);
	transcribe_shared_start(s.asr, 2, 20);
	sound(&s, 20, 500);
	transcribe_shared_promoted(s.asr, 20);
	transcribe_shared_commit(s.asr, 1, 10);
	env_run(s.fake.env);
	CHECK_STR(s.events, "t1/10:400 ms t1/10:better ");
	s.stop_at = "t2";
	sound(&s, 20, 100);
	transcribe_shared_commit(s.asr, 2, 20);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "t1/10:400 ms t1/10:better t2/20:600 ms ");
	end(&s);
}

TEST(who_is_not_speech_or_leaves_takes_nothing_along)
{
	static struct seen s;

	CHECK(begin(&s));
	s.stop_at = "t2";
	CHECK_INT(transcribe_shared_start(s.asr, 1, 10), 0);
	sound(&s, 10, 400);
	transcribe_shared_cancel(s.asr, 10);
	CHECK_INT(transcribe_shared_start(s.asr, 1, 11), 0);
	sound(&s, 11, 600);
	transcribe_shared_promoted(s.asr, 11);
	CHECK_INT(transcribe_shared_start(s.asr, 2, 20), 0);
	sound(&s, 20, 12000); /* more than is kept */
	transcribe_shared_promoted(s.asr, 20);
	transcribe_shared_close(s.asr, 1); /* it held the session */
	transcribe_shared_commit(s.asr, 2, 20);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK(strstr(s.events, "t2/20:"));
	CHECK(!strstr(s.events, "t1"));
	transcribe_shared_commit(s.asr, 9, 90); /* of nobody: it failed, and is told */
	CHECK(strstr(s.events, "f9/90"));
	end(&s);
}

TEST(rule_056_the_shared_session_is_closed_with_the_last_who_used_it)
{
	static struct seen s;

	CHECK(begin(&s));
	transcribe_shared_start(s.asr, 1, 10);
	transcribe_shared_promoted(s.asr, 10);
	transcribe_shared_start(s.asr, 2, 20);
	CHECK_INT(transcribe_shared_sessions(s.asr), 1);
	transcribe_shared_close(s.asr, 9); /* who never spoke */
	transcribe_shared_close(s.asr, 1);
	CHECK_INT(transcribe_shared_sessions(s.asr), 1);
	transcribe_shared_close(s.asr, 2);
	CHECK_INT(transcribe_shared_sessions(s.asr), 0);
	/* The next begins anew. */
	transcribe_shared_start(s.asr, 1, 11);
	transcribe_shared_promoted(s.asr, 11);
	CHECK_INT(transcribe_shared_sessions(s.asr), 1);
	end(&s);
}

TEST(only_who_holds_the_session_has_words_so_far)
{
	static struct seen s;

	CHECK(begin(&s));
	s.stop_at = "t1";
	transcribe_shared_start(s.asr, 1, 9);
	transcribe_shared_promoted(s.asr, 9);
	sound(&s, 9, 400);
	transcribe_shared_commit(s.asr, 1, 9);
	env_run(s.fake.env);
	s.stop_at = "t2";
	transcribe_shared_start(s.asr, 1, 10);
	sound(&s, 10, 400);
	transcribe_shared_promoted(s.asr, 10);
	transcribe_shared_start(s.asr, 2, 20);
	sound(&s, 20, 600);
	transcribe_shared_promoted(s.asr, 20);
	transcribe_shared_interim(s.asr, 10);
	transcribe_shared_interim(s.asr, 20);
	sound(&s, 10, 100);
	transcribe_shared_commit(s.asr, 1, 10);
	transcribe_shared_commit(s.asr, 2, 20);
	env_run(s.fake.env);
	CHECK(!s.fake.timed_out);
	CHECK_STR(s.events, "t1/9:400 ms p1/10:400 ms t1/10:500 ms t2/20:600 ms ");
	end(&s);
}

/* ---- a socket that is killed while two speak ---- */

enum { KILLS = 200, MESSAGES = 9 /* of a round: appends in pieces, and two commits */ };

static struct {
	unsigned messages, kill_at, rounds;
	bool killed, second_first;
	struct tmr *later;
} kills;

/* Counts as counting_server, and resets the socket once in a round, at any message. */
static void killing_server(struct fake *f, unsigned conn, const char *type, const json_t *root)
{
	struct seen *s = f->arg;

	kills.messages += strncmp(type, "input_audio_buffer.", 19) == 0;
	if (!kills.killed && kills.messages > kills.kill_at) {
		kills.killed = true;
		s->sound = 0;
		ws_abort(f->ws[conn]);
		ws_free(f->ws[conn]);
		f->conns = 0; /* its place is used again */
		return;
	}
	counting_server(f, conn, type, root);
}

static void end_both(void *arg)
{
	struct seen *s = arg;
	uint32_t a = 2 * kills.rounds, b = a + 1;

	sound(s, a, 300);
	sound(s, b, 300);
	if (kills.second_first)
		transcribe_shared_commit(s->asr, 2, b);
	transcribe_shared_commit(s->asr, 1, a);
	if (!kills.second_first)
		transcribe_shared_commit(s->asr, 2, b);
}

/* True: both have all of their words. */
static bool play_round(struct seen *s, unsigned random)
{
	static char last[32];
	char first[32];
	uint32_t a = 2 * kills.rounds, b = a + 1;

	kills.messages = 0;
	kills.killed = false;
	kills.kill_at = random % MESSAGES;
	kills.second_first = random / 64 % 2;
	s->events[0] = s->fake.types[0] = '\0';
	s->sound = 0;
	snprintf(first, sizeof first, "t1/%u:600 ms", a);
	snprintf(last, sizeof last, "t2/%u:600 ms", b);
	s->stop_at = last;
	transcribe_shared_start(s->asr, 1, a);
	transcribe_shared_start(s->asr, 2, b);
	sound(s, a, 300);
	sound(s, b, 300);
	transcribe_shared_promoted(s->asr, a);
	transcribe_shared_promoted(s->asr, b);
	tmr_start(kills.later, random / 128 % 2 ? 0 : 2000000);
	env_run(s->fake.env);
	tmr_start(s->fake.deadline, 60000000000ull);
	return strstr(s->events, first) && strstr(s->events, last) && !strchr(s->events, 'f');
}

TEST(no_question_of_two_speakers_is_lost_to_one_shared_socket)
{
	static struct seen s;
	unsigned seed = 1, lost = 0, killed = 0;

	memset(&kills, 0, sizeof kills);
	CHECK(begin_with(&s, killing_server));
	CHECK_INT(tmr_alloc(&kills.later, s.fake.env, end_both, &s), 0);
	for (kills.rounds = 1; kills.rounds <= KILLS && !s.fake.timed_out; kills.rounds++) {
		seed = seed * 1103515245u + 12345u;
		lost += !play_round(&s, seed / 65536);
		killed += kills.killed;
	}
	tmr_free(kills.later);
	CHECK(!s.fake.timed_out);
	CHECK_INT(lost, 0);
	CHECK(killed > KILLS / 2);
	end(&s);
}
