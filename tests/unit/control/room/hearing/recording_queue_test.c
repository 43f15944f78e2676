/* The room and its transcription sessions: one session for everybody, and whole recordings
 * (statement 57). */
#include "tests/test.h"

#include "control/room/hearing/capture.h"
#include "control/room/hearing/recording_queue.h"
#include "control/room/inside.h"
#include "proto/base/time.h"
#include "tests/unit/control/room/world.h"

TEST(rule_057_each_piece_of_long_speech_asks_for_the_session)
{
	struct world w;

	world_begin(&w, "asr_sessions=shared", 1);
	world_sound(&w, 1, 9000, 6000);
	CHECK_INT(w.did[ROOM_DO_ASR_START], 2);
	CHECK_INT(w.did[ROOM_DO_ASR_PROMOTE], 2);
	CHECK_INT(w.last[ROOM_DO_ASR_PROMOTE].utterance, w.last[ROOM_DO_ASR_START].utterance);
	world_end(&w);
}

TEST(recordings_go_one_at_a_time)
{
	const int end = ROOM_CAPTURE_SPEECH;
	struct room_recording_queue l = {0};
	struct room_recording_out out;

	CHECK(room_recording_add(&l, 1, 10, end, 1000, 0).run);
	out = room_recording_add(&l, 2, 20, end, 1000, 100 * NS_PER_MS);
	CHECK(!out.run && !out.dropped.n);
	/* The same speaker goes on. */
	out = room_recording_add(&l, 2, 21, end, 2000, 1300 * NS_PER_MS);
	CHECK(!out.dropped.n);
	CHECK_INT(l.waiting.n, 2);
	CHECK_INT(l.waiting.ms, 3000);
	/* Too much together, too late, or ended otherwise: it takes the place. */
	out = room_recording_add(&l, 2, 22, end, 5001, 1400 * NS_PER_MS);
	CHECK_INT(out.dropped.n, 2);
	CHECK_INT(out.dropped.utterance[1], 21);
	out = room_recording_add(&l, 2, 23, end, 100, 2601 * NS_PER_MS);
	CHECK_INT(out.dropped.utterance[0], 22);
	out = room_recording_add(&l, 2, 24, ROOM_CAPTURE_CHUNK, 100, 2700 * NS_PER_MS);
	CHECK_INT(out.dropped.utterance[0], 23);
	out = room_recording_done(&l, 3000 * NS_PER_MS);
	CHECK(out.run);
	CHECK_INT(l.running.utterance[0], 24);
	/* What waited too long has no words. */
	room_recording_add(&l, 3, 30, end, 1000, 3100 * NS_PER_MS);
	out = room_recording_done(&l, 7601 * NS_PER_MS);
	CHECK(!out.run);
	CHECK_INT(out.dropped.utterance[0], 30);
	CHECK(!room_recording_done(&l, 7700 * NS_PER_MS).run);
}

TEST(a_recording_that_is_not_wanted_any_more_does_not_run)
{
	const int end = ROOM_CAPTURE_SPEECH;
	struct room_recording_queue l = {0};

	room_recording_add(&l, 1, 10, end, 1000, 0);
	room_recording_add(&l, 2, 20, end, 1000, 100 * NS_PER_MS);
	room_recording_add(&l, 2, 21, end, 1000, 200 * NS_PER_MS);
	CHECK(!room_recording_cancel(&l, 1, 10));
	CHECK(!room_recording_cancel(&l, 1, 20));
	CHECK(room_recording_cancel(&l, 2, 20));
	CHECK_INT(l.waiting.n, 1);
	CHECK_INT(l.waiting.utterance[0], 21);
	CHECK(room_recording_cancel(&l, 2, 21));
	CHECK(!room_recording_done(&l, 300 * NS_PER_MS).run);
}

TEST(a_room_of_recordings_waits_for_one_at_a_time)
{
	struct world w;
	uint32_t first, second;

	world_begin(&w, "asr_sessions=file", 2);
	world_sound(&w, 1, 600, 6000);
	world_sound_end(&w, 1);
	first = w.utterance[1];
	CHECK_INT(w.did[ROOM_DO_ASR_COMMIT], 0);
	CHECK_INT(w.did[ROOM_DO_ASR_RECORDING], 1);
	CHECK_INT(w.last[ROOM_DO_ASR_RECORDING].utterance, first);
	world_sound(&w, 2, 600, 6000);
	world_sound_end(&w, 2);
	second = w.utterance[2];
	CHECK_INT(w.did[ROOM_DO_ASR_RECORDING], 1);
	world_words(&w, 1, "parley what time is it");
	CHECK_INT(w.did[ROOM_DO_ASR_RECORDING], 2);
	CHECK_INT(w.last[ROOM_DO_ASR_RECORDING].utterance, second);
	/* A recording that nobody waits for any more holds up nobody. */
	world_sound(&w, 1, 600, 6000);
	world_sound_end(&w, 1);
	world_step(&w, (struct room_event){.type = ROOM_MEMBER, .user = 2});
	CHECK_INT(w.did[ROOM_DO_ASR_RECORDING], 3);
	world_step(&w, (struct room_event){.type = ROOM_TRANSCRIPT_FAILED,
					   .user = 1,
					   .utterance = w.utterance[1]});
	CHECK_INT(w.ended, ROOM_REASON_ASR_FAILED);
	CHECK_INT(w.room->transcripts.recordings.running.n, 0);
	world_end(&w);
}

TEST(a_recording_that_lost_its_place_is_thrown_away)
{
	struct world w;
	uint32_t second;

	world_begin(&w, "asr_sessions=file", 3);
	for (uint64_t user = 1; user <= 2; user++) {
		world_sound(&w, user, 600, 6000);
		world_sound_end(&w, user);
	}
	second = w.utterance[2];
	CHECK_INT(w.did[ROOM_DO_ASR_CANCEL], 0);
	world_sound(&w, 3, 600, 6000);
	world_sound_end(&w, 3);
	CHECK_INT(w.did[ROOM_DO_ASR_CANCEL], 1);
	CHECK(w.last[ROOM_DO_ASR_CANCEL].user == 2 &&
	      w.last[ROOM_DO_ASR_CANCEL].utterance == second);
	CHECK_INT(w.ended, ROOM_REASON_ASR_FAILED);
	world_end(&w);
}
