/* The link to mediad against a toy mediad: a Unix socket, both ends in one loop. */
#include <sys/stat.h>
#include <unistd.h>

#include "control/media/call.h"
#include "tests/unit/control/media/toy_mediad.h"

TEST(media_says_hello_and_opens_what_is_wanted)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(t.hello.epoch, 10);
	CHECK_INT(t.hello.user, 900);
	CHECK_INT(t.ups, 1);
	CHECK_INT(t.wants, 1);
	CHECK(media_call_last(t.call) && media_call_last(t.call)->phase == MEDIA_PHASE_WAITING);
	toy_free(&t);
}

/* A fault at night is traced without an end of the calls. */
TEST(media_tells_what_is_to_be_logged)
{
	struct toy t;

	/* By default it logs as it was started, and is told nothing. */
	CHECK(toy_up_with_call(&t));
	media_set_log(t.media, 0, false);
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_LOG], 0);
	media_set_log(t.media, 4, false);
	CHECK(toy_run_until(&t, MEDIA_LOG, 1));
	media_set_log(t.media, 4, false);
	media_set_log(t.media, 0, true);
	CHECK(toy_run_until(&t, MEDIA_LOG, 2));
	/* One that comes back is told again. */
	t.peer = peer_free(t.peer);
	CHECK(toy_run_until(&t, MEDIA_LOG, 3));
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_LOG], 3);
	toy_free(&t);
}

TEST(media_waits_for_a_mediad_that_comes_late)
{
	struct toy t;

	CHECK_INT(toy_alloc(&t), 0);
	CHECK_INT(toy_start_control(&t, 10), 0);
	toy_settle(&t);
	CHECK_INT(t.hellos, 0);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_HELLO, 1));
	toy_free(&t);
}

TEST(media_hands_out_leases_of_rising_generation)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_call_credentials(t.call, "s", "t1", "h:1", 301), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_CREDENTIALS, 1));
	CHECK_INT(t.gen, 1);
	CHECK_STR(t.token, "t1");
	CHECK_INT(media_call_credentials(t.call, "s", "t2", "h:1", 301), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_CREDENTIALS, 2));
	CHECK_INT(t.gen, 2);
	/* what an older generation still says is not heard */
	t.states = 0;
	toy_state(&t, t.call_id, 1, 100, MEDIA_PHASE_FAILED, false);
	toy_settle(&t);
	CHECK_INT(t.states, 0);
	toy_state(&t, t.call_id, 2, 100, MEDIA_PHASE_UP, false);
	toy_settle(&t);
	CHECK_INT(t.states, 1);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_UP);
	toy_free(&t);
}

/* Each lease says whether it was fetched when control knew that the call had failed: a failure that
 * crosses a lease is of an older generation, and passed over. */
TEST(media_tells_which_leases_follow_a_failure)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_call_credentials(t.call, "s", "t1", "h:1", 301), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_CREDENTIALS, 1));
	CHECK(!t.after_failure);
	toy_state(&t, t.call_id, 1, 100, MEDIA_PHASE_UP, false);
	toy_settle(&t);
	/* The failure and the next lease cross. */
	toy_state(&t, t.call_id, 1, 100, MEDIA_PHASE_FAILED, false);
	CHECK_INT(media_call_credentials(t.call, "s", "t2", "h:1", 301), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_CREDENTIALS, 2));
	toy_settle(&t);
	CHECK(!t.after_failure);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_UP);
	toy_state(&t, t.call_id, 2, 100, MEDIA_PHASE_FAILED, false);
	toy_settle(&t);
	CHECK_INT(media_call_credentials(t.call, "s", "t3", "h:1", 301), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_CREDENTIALS, 3));
	CHECK(t.after_failure);
	toy_free(&t);
}

TEST(media_brings_everything_back_when_mediad_was_killed)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_call_listen(t.call, 501, 24000, 700), 0);
	CHECK_INT(media_call_consent(t.call, 502, false), 0);
	CHECK(toy_run_until(&t, MEDIA_LISTEN, 1));
	toy_gone(&t);
	toy_settle(&t);
	CHECK_INT(t.downs, 1);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_UNKNOWN);
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), ENOTCONN);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_LISTEN, 2));
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_CALL_OPEN], 2);
	CHECK_INT(t.count[MEDIA_CONSENT], 2);
	CHECK_INT(t.wants, 2); /* fresh credentials, the old are never sent again */
	CHECK_INT(t.count[MEDIA_CALL_CREDENTIALS], 0);
	toy_free(&t);
}

/* mediad says that its audio threads have lost real-time priority, and repeats it at each HELLO. */
TEST(media_knows_which_mediad_lacks_real_time)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK(!media_lacks_real_time(t.media) && !media_call_lacks_real_time(t.call));
	toy_fault(&t, MEDIA_FAULT_NO_REAL_TIME);
	toy_settle(&t);
	CHECK(media_lacks_real_time(t.media) && media_call_lacks_real_time(t.call));
	CHECK_INT(t.faults, 1);
	for (unsigned restarts = 1; restarts <= 2; restarts++) {
		t.lacks_real_time = restarts == 1;
		toy_gone(&t);
		toy_settle(&t);
		CHECK(!media_call_lacks_real_time(t.call));
		CHECK_INT(toy_listen(&t), 0);
		CHECK(toy_run_until(&t, MEDIA_CALL_OPEN, restarts + 1));
		toy_settle(&t);
		CHECK_INT(media_lacks_real_time(t.media), t.lacks_real_time);
		CHECK_INT(media_call_lacks_real_time(t.call), t.lacks_real_time);
	}
	toy_free(&t);
}

TEST(media_takes_over_a_call_and_closes_strays)
{
	enum { STRAYS = 150 };
	struct toy t;

	CHECK_INT(toy_alloc(&t), 0);
	t.holds_call = true;
	t.strays = STRAYS;
	CHECK_INT(toy_listen(&t), 0);
	CHECK_INT(toy_start_control(&t, 11), 0);
	CHECK_INT(media_call_open(&t.call, t.media, &toy_want, toy_on_call, &t), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_SET, 1));
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_CALL_OPEN], 0);
	CHECK_INT(t.count[MEDIA_CALL_CLOSE], STRAYS);
	CHECK_INT(t.wants, 0);
	CHECK_INT(t.states, 1);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_UP);
	/* the next lease is of a generation above the one it was taken over with */
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_CREDENTIALS, 1));
	CHECK_INT(t.gen, 4);
	toy_free(&t);
}

/* The list of strays finds no memory. */
TEST(media_closes_a_stray_that_it_cannot_note)
{
	struct toy t;

	CHECK_INT(toy_alloc(&t), 0);
	t.still_reports = true;
	CHECK_INT(toy_listen(&t) || toy_start_control(&t, 11), 0);
	CHECK(toy_run_until(&t, MEDIA_HELLO, 1));
	toy_settle(&t);
	toy_state(&t, 78, 1, 999, MEDIA_PHASE_UP, false);
	test_fail_allocation(0);
	CHECK(toy_run_until(&t, MEDIA_CALL_CLOSE, 1));
	CHECK(test_oom_hit());
	CHECK_INT(t.call_id, 78);
	toy_free(&t);
}

TEST(media_does_not_take_over_a_call_that_is_being_left)
{
	struct toy t;

	CHECK_INT(toy_alloc(&t), 0);
	t.holds_call = t.leaves_call = true;
	CHECK_INT(toy_listen(&t), 0);
	CHECK_INT(toy_start_control(&t, 11), 0);
	CHECK_INT(media_call_open(&t.call, t.media, &toy_want, toy_on_call, &t), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_OPEN, 1));
	CHECK_INT(t.call_id, 78);
	toy_settle(&t);
	CHECK_INT(t.wants, 1);
	CHECK_INT(t.count[MEDIA_CALL_CLOSE], 0);
	/* its end concerns nobody */
	toy_state(&t, 77, 3, 100, MEDIA_PHASE_CLOSED, false);
	toy_settle(&t);
	CHECK_INT(media_call_last(t.call)->phase, MEDIA_PHASE_WAITING);
	toy_free(&t);
}

TEST(media_gives_way_to_a_newer_control)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	toy_send(&t, (struct media_msg){.type = MEDIA_FAULT,
					.fault = {.code = MEDIA_FAULT_TAKEN_OVER}});
	toy_settle(&t);
	t.peer = peer_free(t.peer);
	toy_settle(&t);
	CHECK(media_superseded(t.media));
	CHECK_INT(t.downs, 1);
	toy_settle(&t);
	CHECK_INT(t.hellos, 1); /* not tried again */
	toy_free(&t);
}

TEST(media_closes_a_mediad_that_breaks_the_protocol)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	peer_send(t.peer, PEER_COMMAND, "\xff\xff", 2);
	CHECK(toy_run_until(&t, MEDIA_HELLO, 2));
	CHECK(toy_run_until(&t, MEDIA_CALL_OPEN, 2));
	toy_free(&t);
}

TEST(media_letting_go_keeps_the_calls_in_mediad)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	media_disconnect(t.media);
	t.call = media_call_free(t.call);
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_CALL_CLOSE], 0);
	toy_free(&t);
}

TEST(media_unlistens_and_changes_rates)
{
	struct toy t;
	uint32_t first;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_call_listen(t.call, 501, 24000, 700), 0);
	CHECK(toy_run_until(&t, MEDIA_LISTEN, 1));
	first = t.listen_id;
	CHECK_INT(media_call_listen(t.call, 501, 24000, 700), 0); /* the same: nothing is sent */
	CHECK_INT(media_call_listen(t.call, 501, 16000, 700), 0);
	CHECK(toy_run_until(&t, MEDIA_LISTEN, 2));
	CHECK(t.listen_id != first);
	CHECK_INT(t.count[MEDIA_UNLISTEN], 1);
	CHECK_INT(media_call_listen(t.call, 501, 0, 0), 0);
	CHECK(toy_run_until(&t, MEDIA_UNLISTEN, 2));
	toy_free(&t);
}

/* Starts a program as mediad that writes down its arguments. */
static bool read_arguments(struct toy *t, const struct media_conf *conf, char *text, size_t size)
{
	struct media_conf with = *conf;
	char program[64], to[64], script[320];
	size_t n = 0;
	FILE *f;

	snprintf(program, sizeof program, "%s/mediad.sh", t->dir);
	snprintf(to, sizeof to, "%s/arguments", t->dir);
	snprintf(script, sizeof script,
		 "#!/bin/sh\necho \"$*\" >%s.new\nmv %s.new %s\nexec sleep 60\n", to, to, to);
	f = fopen(program, "w");
	if (!f || fputs(script, f) < 0 || fclose(f) || chmod(program, 0700))
		return false;
	with.spawn = program;
	with.run_dir = t->dir;
	if (media_alloc(&t->media, t->env, &with))
		return false;
	for (unsigned i = 0; i < 500 && !n; i++) {
		toy_settle(t);
		f = fopen(to, "r");
		if (f) {
			n = fread(text, 1, size - 1, f);
			fclose(f);
		}
	}
	text[n] = '\0';
	t->media = media_free(t->media);
	unlink(to);
	unlink(program);
	return n;
}

/* music_web and music_downloader may be set while mediad runs, which starts no program then. */
TEST(media_spawns_mediad_with_decoders_whatever_the_settings_are)
{
	char text[512];
	struct toy t;

	CHECK_INT(toy_alloc(&t), 0);
	CHECK(read_arguments(&t, &(struct media_conf){.music_addresses = ""}, text, sizeof text));
	CHECK(strstr(text, " --decoderd decoderd"));
	CHECK(!strstr(text, "--music-"));
	CHECK(read_arguments(
		&t,
		&(struct media_conf){.music_folders = "/a::/b", .music_addresses = "10.0.0.5:8000"},
		text, sizeof text));
	CHECK(strstr(text, " --music-root /a --music-root /b --decoderd decoderd "
			   "--music-address 10.0.0.5:8000"));
	toy_free(&t);
}

TEST_OOM(media_allocates)
{
	struct toy t;
	int err = toy_alloc(&t);

	CHECK_OOM(err, toy_free(&t));
	err = toy_start_control(&t, 10);
	CHECK_OOM(err, toy_free(&t));
	err = media_call_open(&t.call, t.media, &toy_want, toy_on_call, &t);
	CHECK_OOM(err, toy_free(&t));
	err = media_call_listen(t.call, 501, 24000, 700);
	CHECK_OOM(err, toy_free(&t));
	err = media_call_consent(t.call, 501, true);
	CHECK_OOM(err, toy_free(&t));
	toy_free(&t);
}

static void toy_secure(struct toy *t, uint32_t gen, const char *code)
{
	toy_send(t, (struct media_msg){.type = MEDIA_CALL_SECURE,
				       .call_secure = {.call = t->call_id,
						       .gen = gen,
						       .version = 1,
						       .known = true,
						       .members = 2,
						       .privacy_code = slice_str(code)}});
}

/* What is kept outlives the message, and is forgotten with its mediad. */
TEST(media_keeps_how_a_call_is_encrypted)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK(!media_call_secured(t.call));
	toy_secure(&t, 0, "123456789012345678901234567890");
	toy_settle(&t);
	CHECK_INT(t.secures, 1);
	CHECK(media_call_secured(t.call));
	CHECK_MEM(media_call_secured(t.call)->privacy_code.p,
		  media_call_secured(t.call)->privacy_code.n, "123456789012345678901234567890", 30);
	CHECK_INT(media_call_verify(t.call, 501), 0);
	CHECK(toy_run_until(&t, MEDIA_VERIFY, 1));
	toy_send(&t, (struct media_msg){
			     .type = MEDIA_CODE,
			     .code = {.call = t.call_id, .user = 501, .code = slice_str("12345")}});
	toy_settle(&t);
	CHECK_INT(t.codes, 1);
	CHECK_STR(t.code, "12345");
	toy_gone(&t);
	toy_settle(&t);
	CHECK(!media_call_secured(t.call));
	CHECK_INT(media_call_verify(t.call, 501), ENOTCONN);
	toy_free(&t);
}

/* mediad does the same with a refusal that it cannot keep. */
TEST(media_a_refusal_without_memory_refuses_all)
{
	struct media_want want = toy_want;
	struct toy t;

	CHECK(toy_up_with_call(&t));
	want.consent = true;
	CHECK_INT(media_call_set(t.call, &want), 0);
	CHECK_INT(media_call_consent(t.call, 6, true), 0);
	test_fail_allocation(0);
	CHECK_INT(media_call_consent(t.call, 5, false), ENOMEM);
	CHECK(!media_call_consents(t.call, 5));
	CHECK(media_call_consents(t.call, 6));
	CHECK(toy_run_until(&t, MEDIA_CALL_SET, 2));
	CHECK_INT(t.set.consent, MEDIA_CONSENT_NO);
	/* The bitrate of the channel changes, and mediad is started anew. */
	want.bitrate = 96000;
	CHECK_INT(media_call_set(t.call, &want), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_SET, 3));
	CHECK_INT(t.set.consent, MEDIA_CONSENT_NO);
	CHECK(!media_call_consents(t.call, 5));
	toy_gone(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_CONSENT, 2));
	CHECK(!t.open.consent);
	toy_free(&t);
}

static void send_heard(struct toy *t, uint32_t listen, uint64_t user)
{
	toy_send(t, (struct media_msg){.type = MEDIA_HEARD,
				       .heard = {.call = t->call_id,
						 .listen = listen,
						 .user = user,
						 .pcm = {(const uint8_t *)"\0", 2}}});
	toy_settle(t);
}

/* The track ends while the next lease is under way: nothing else would tell the player. */
/* Whoever looks at the music goes on looking. */
TEST(media_watches_music_again_when_mediad_was_killed)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	media_call_watch_music(t.call, true);
	media_call_watch_music(t.call, true);
	CHECK(toy_run_until(&t, MEDIA_MUSIC_WATCH, 1));
	toy_gone(&t);
	toy_settle(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_MUSIC_WATCH, 2));
	media_call_watch_music(t.call, false);
	CHECK(toy_run_until(&t, MEDIA_MUSIC_WATCH, 3));
	toy_gone(&t);
	toy_settle(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_OPEN, 3));
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_MUSIC_WATCH], 3);
	toy_free(&t);
}

TEST(media_hears_of_music_across_a_lease)
{
	struct media_msg msg = {.type = MEDIA_MUSIC_STATE};
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_CREDENTIALS, 1));
	msg.music_state.call = t.call_id;
	msg.music_state.gen = t.gen - 1;
	msg.music_state.music = 7;
	msg.music_state.phase = MEDIA_MUSIC_PHASE_ENDED;
	msg.music_state.failure = msg.music_state.text = slice_str("");
	toy_send(&t, msg);
	toy_settle(&t);
	CHECK_INT(t.music, 7);
	toy_free(&t);
}

/* Nobody says again that a member has stopped speaking, or has left. */
TEST(media_hears_of_members_across_a_lease)
{
	struct media_msg speaking = {.type = MEDIA_SPEAKING}, member = {.type = MEDIA_MEMBER};
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_CREDENTIALS, 1));
	speaking.speaking =
		(struct media_speaking){.call = t.call_id, .gen = t.gen - 1, .user = 500};
	member.member = (struct media_member){.call = t.call_id, .gen = t.gen - 1, .user = 500};
	toy_send(&t, speaking);
	toy_send(&t, member);
	toy_settle(&t);
	CHECK_INT(t.speaking, 1);
	CHECK_INT(t.members, 1);
	toy_free(&t);
}

/* mediad has no memory for a listen, and says so while the next lease is under way. */
TEST(media_repeats_a_listen_that_was_refused)
{
	struct media_msg refused = {.type = MEDIA_HEARD_END};
	unsigned sent, opened;
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_call_listen(t.call, 500, 24000, 700), 0);
	CHECK(toy_run_until(&t, MEDIA_LISTEN, 1));
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_CREDENTIALS, 1));
	toy_settle(&t);
	sent = t.count[MEDIA_LISTEN];
	opened = t.count[MEDIA_CALL_OPEN];
	refused.heard_end = (struct media_heard_end){.call = t.call_id,
						     .listen = t.listen_id,
						     .user = 500,
						     .reason = MEDIA_REASON_BAD_REQUEST};
	toy_send(&t, refused);
	CHECK(toy_run_until(&t, MEDIA_LISTEN, sent + 1));
	/* Nor was it sent because the connection was lost and the call was opened again. */
	CHECK_INT(t.count[MEDIA_CALL_OPEN], opened);
	CHECK(t.listen_id != refused.heard_end.listen);
	refused.heard_end.reason = MEDIA_REASON_SILENCE;
	toy_send(&t, refused);
	toy_settle(&t);
	media_wake(t.media, 0);
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_LISTEN], sent + 1);
	toy_free(&t);
}

/* It was under way when its listen ended, or when its user refused. */
TEST(media_drops_audio_that_nobody_listens_to_any_more)
{
	struct toy t;
	uint32_t first;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_call_consent(t.call, 500, true), 0);
	CHECK_INT(media_call_listen(t.call, 500, 24000, 700), 0);
	CHECK(toy_run_until(&t, MEDIA_LISTEN, 1));
	first = t.listen_id;
	send_heard(&t, first, 500);
	CHECK_INT(t.heard, 1);
	send_heard(&t, first, 501);
	CHECK_INT(t.heard, 1);
	CHECK_INT(media_call_listen(t.call, 500, 24000, 900), 0);
	CHECK(toy_run_until(&t, MEDIA_LISTEN, 2));
	send_heard(&t, first, 500);
	CHECK_INT(t.heard, 1);
	send_heard(&t, t.listen_id, 500);
	CHECK_INT(t.heard, 2);
	CHECK_INT(media_call_consent(t.call, 500, false), 0);
	send_heard(&t, t.listen_id, 500);
	CHECK_INT(t.heard, 2);
	toy_free(&t);
}

/* A mediad with many calls reports them in more than one turn of the loop. */
TEST(media_ends_what_is_not_wanted_any_more_while_mediad_reports)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_call_listen(t.call, 500, 24000, 700), 0);
	CHECK(toy_run_until(&t, MEDIA_LISTEN, 1));
	t.holds_call = t.still_reports = true;
	toy_gone(&t);
	toy_settle(&t);
	CHECK_INT(toy_listen(&t), 0);
	CHECK(toy_run_until(&t, MEDIA_HELLO, 2));
	toy_send(&t, (struct media_msg){.type = MEDIA_LISTENING,
					.listening = {.call = 77,
						      .gen = 3,
						      .listen = t.listen_id,
						      .user = 500,
						      .rate = 24000}});
	toy_settle(&t);
	CHECK_INT(media_call_listen(t.call, 500, 0, 0), 0);
	t.call = media_call_free(t.call);
	toy_send(&t, (struct media_msg){.type = MEDIA_SYNCED, .synced = {.calls = 1}});
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_UNLISTEN], 1);
	CHECK_INT(t.count[MEDIA_CALL_CLOSE], 1);
	CHECK_INT(t.call_id, 77);
	toy_free(&t);
}

/* The refusal comes before Discord's answer to op 4. There may be room again when the lease is
 * there; if not, the second refusal comes when somebody waits for the call. */
TEST(media_opens_a_refused_call_again_with_its_lease)
{
	struct toy t;
	uint32_t refused;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_call_consent(t.call, 500, false), 0);
	CHECK_INT(media_call_listen(t.call, 500, 24000, 700), 0);
	CHECK(toy_run_until(&t, MEDIA_LISTEN, 1));
	refused = t.call_id;
	toy_state(&t, refused, 0, 0, MEDIA_PHASE_FAILED, false);
	toy_settle(&t);
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_CREDENTIALS, 1));
	CHECK_INT(t.count[MEDIA_CALL_OPEN], 2);
	CHECK_INT(t.count[MEDIA_CONSENT], 2);
	CHECK_INT(t.count[MEDIA_LISTEN], 2);
	CHECK(t.call_id != refused);
	CHECK_INT(t.gen, 1);
	/* a session that failed is one of a call that exists */
	toy_state(&t, t.call_id, 1, 100, MEDIA_PHASE_FAILED, false);
	toy_settle(&t);
	CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), 0);
	CHECK(toy_run_until(&t, MEDIA_CALL_CREDENTIALS, 2));
	CHECK_INT(t.count[MEDIA_CALL_OPEN], 2);
	CHECK_INT(t.gen, 2);
	toy_free(&t);
}

/* mediad answers with the generation of CALL_OPEN, which the lease has left behind. */
TEST(media_hears_the_second_refusal_of_a_call)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	for (unsigned opened = 2; opened < 5; opened++) {
		toy_state(&t, t.call_id, 0, 0, MEDIA_PHASE_FAILED, false);
		toy_settle(&t);
		CHECK(media_call_last(t.call) &&
		      media_call_last(t.call)->phase == MEDIA_PHASE_FAILED);
		CHECK_INT(media_call_credentials(t.call, "s", "t", "h", 301), 0);
		CHECK(toy_run_until(&t, MEDIA_CALL_CREDENTIALS, opened - 1));
		CHECK_INT(t.count[MEDIA_CALL_OPEN], opened);
	}
	toy_free(&t);
}

/* Of the control before: the mediad would refuse a listen of another user by the same number, and
 * nobody would hear that user. */
TEST(media_numbers_its_listens_apart_from_reported_ones)
{
	struct toy t;

	CHECK_INT(toy_alloc(&t), 0);
	t.holds_call = t.still_reports = true;
	CHECK_INT(toy_listen(&t) || toy_start_control(&t, 10), 0);
	CHECK_INT(media_call_open(&t.call, t.media, &toy_want, toy_on_call, &t), 0);
	CHECK_INT(media_call_listen(t.call, 11, 24000, 600), 0);
	CHECK_INT(media_call_listen(t.call, 12, 24000, 600), 0);
	CHECK(toy_run_until(&t, MEDIA_HELLO, 1));
	for (uint32_t reported = 1; reported <= 2; reported++)
		toy_send(&t, (struct media_msg){.type = MEDIA_LISTENING,
						.listening = {.call = 77,
							      .gen = 3,
							      .listen = reported,
							      .user = 9 + reported,
							      .rate = 24000}});
	toy_send(&t, (struct media_msg){.type = MEDIA_SYNCED, .synced = {.calls = 1}});
	CHECK(toy_run_until(&t, MEDIA_LISTEN, 1));
	CHECK(t.listen_id > 2);
	CHECK_INT(t.count[MEDIA_UNLISTEN], 1);
	toy_free(&t);
}

/* People come and go in a call that lasts for months. Beyond the bound nobody else is heard who has
 * no consent of their own, as without memory. */
TEST(media_keeps_the_consents_of_so_many_people)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	CHECK_INT(media_call_consent(t.call, 5, false), 0);
	CHECK_INT(t.call->n_consents, 1);
	t.call->n_consents = MEDIA_CONSENTS_MAX;
	CHECK_INT(media_call_consent(t.call, 5, true), 0);
	CHECK_INT(media_call_consent(t.call, 6, true), ENOMEM);
	CHECK(media_call_consents(t.call, 7));
	CHECK_INT(media_call_consent(t.call, 6, false), ENOMEM);
	CHECK(media_call_consents(t.call, 5) && !media_call_consents(t.call, 6));
	CHECK(!media_call_consents(t.call, 7));
	toy_free(&t);
}

/* Nobody would hear the user, and nothing would tell. */
TEST(media_listens_again_when_there_is_memory)
{
	struct toy t;

	CHECK(toy_up_with_call(&t));
	test_fail_allocation(0);
	CHECK_INT(media_call_listen(t.call, 502, 24000, 700), ENOMEM);
	CHECK(!media_call_listens(t.call, 502));
	CHECK(toy_run_until(&t, MEDIA_LISTEN, 1));
	CHECK(media_call_listens(t.call, 502));
	/* One that was given up meanwhile is not tried again. */
	test_fail_allocation(0);
	CHECK_INT(media_call_listen(t.call, 503, 24000, 700), ENOMEM);
	CHECK_INT(media_call_listen(t.call, 503, 0, 0), 0);
	toy_run_ms(&t, MEDIA_RELISTEN_MS + 100);
	CHECK(!media_call_listens(t.call, 503));
	toy_free(&t);
}

/* The setting has changed while control was away. */
TEST(media_keeps_no_reported_listen_with_another_silence)
{
	struct media_msg listening = {.type = MEDIA_LISTENING};
	struct toy t;

	CHECK_INT(toy_alloc(&t), 0);
	t.holds_call = t.still_reports = true;
	CHECK_INT(toy_listen(&t) || toy_start_control(&t, 10), 0);
	CHECK_INT(media_call_open(&t.call, t.media, &toy_want, toy_on_call, &t), 0);
	CHECK_INT(media_call_listen(t.call, 11, 24000, 600), 0);
	CHECK_INT(media_call_listen(t.call, 12, 24000, 600), 0);
	CHECK_INT(media_call_listen(t.call, 13, 24000, 600), 0);
	CHECK(toy_run_until(&t, MEDIA_HELLO, 1));
	listening.listening = (struct media_listening){77, 3, 1, 11, 24000, 600};
	toy_send(&t, listening);
	listening.listening = (struct media_listening){77, 3, 2, 12, 24000, 900};
	toy_send(&t, listening);
	listening.listening = (struct media_listening){77, 3, 3, 13, 24000, 0}; /* an older one */
	toy_send(&t, listening);
	toy_send(&t, (struct media_msg){.type = MEDIA_SYNCED, .synced = {.calls = 1}});
	CHECK(toy_run_until(&t, MEDIA_LISTEN, 1));
	toy_settle(&t);
	CHECK_INT(t.count[MEDIA_UNLISTEN], 1);
	CHECK_INT(t.count[MEDIA_LISTEN], 1);
	toy_free(&t);
}
