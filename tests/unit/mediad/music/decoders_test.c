/* The pool of tracks, with a decoderd that the test plays; tests/decoder runs the real one. */
#include "mediad/music/decoders.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "ipc/env.h"
#include "ipc/env_replay.h"
#include "ipc/journal.h"
#include "mediad/music/track_ring.h"
#include "tests/test.h"
#include "tests/unit/mediad/engine/present.h"

struct rig {
	struct env *env;
	struct decoders *d;
	uint32_t before; /* the source before that of the decoders */
	struct decoder_msg last;
	unsigned events;
	bool closes; /* the handler closes the track */
	bool full;   /* the socket has no room */
	unsigned sent;
	uint64_t now;
};

/* The socket takes each message, unless it is full. */
static const uint8_t *on_world(uint8_t what, size_t n, void *arg)
{
	static const uint8_t zero[64], again[8] = {[7] = EAGAIN};
	struct rig *r = arg;

	(void)n;
	r->sent += what == JOURNAL_ANSWER;
	return r->full && what == JOURNAL_ANSWER ? again : zero;
}

static void on_nothing(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	(void)kind, (void)data, (void)len, (void)arg;
}

static void on_event(const struct decoder_msg *msg, void *arg)
{
	struct rig *r = arg;

	r->last = *msg;
	r->events++;
	if (r->closes)
		decoders_close(r->d, msg->track);
}

static int open_rig(struct rig *r)
{
	const struct env_conf ec = {.loop = true, .replaying = true};
	struct decoders_conf conf = {.program = "decoderd", .log_level = "info"};
	int err;

	*r = (struct rig){0};
	err = env_alloc(&r->env, &ec);
	if (err)
		return err;
	env_replay_world(r->env, on_world, r);
	conf.env = r->env;
	err = env_source_add(r->env, &r->before, on_nothing, NULL);
	return err ? err : decoders_alloc(&r->d, &conf);
}

static void close_rig(struct rig *r)
{
	decoders_free(r->d);
	env_free(r->env);
}

static void deliver(struct rig *r, const struct decoder_msg *msg)
{
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;

	if (!decoder_wire_encode(msg, buf, &n))
		env_replay_step(r->env, ++r->now, r->before + 1, 1, buf, n);
}

static void deliver_ready(struct rig *r)
{
	deliver(r, &(struct decoder_msg){.type = DECODER_READY, .jailed = true});
}

static void deliver_ended(struct rig *r, uint16_t slot, uint64_t track, enum decoder_reason reason)
{
	deliver(r, &(struct decoder_msg){
			   .type = DECODER_ENDED, .slot = slot, .track = track, .reason = reason});
}

static uint64_t open_track(struct rig *r)
{
	struct decoder_source source = {.kind = DECODER_FILE, .path = "a.flac"};
	uint64_t track = 0;

	return decoders_open(r->d, &source, 0, 0, on_event, r, &track) ? 0 : track;
}

/* Opens the rig and one track in it; 0: it failed. */
static uint64_t open_first(struct rig *r)
{
	if (open_rig(r))
		return 0;
	deliver_ready(r);
	return open_track(r);
}

TEST(decoders_pass_events_of_a_track)
{
	struct rig r;
	uint64_t track = open_first(&r);

	CHECK(track != 0);
	CHECK(decoders_ring(r.d, track) != NULL);
	deliver(&r, &(struct decoder_msg){.type = DECODER_OPENED, .track = track});
	CHECK_INT(r.last.type, DECODER_OPENED);
	deliver_ended(&r, 0, track, DECODER_REASON_END);
	CHECK_INT(r.last.type, DECODER_ENDED);
	CHECK_INT(r.last.reason, DECODER_REASON_END);
	/* The ring is read to its end after that. */
	CHECK(decoders_ring(r.d, track) != NULL);
	decoders_close(r.d, track);
	CHECK(decoders_ring(r.d, track) == NULL);
	CHECK_INT(r.events, 2);
	close_rig(&r);
}

/* A closed track's process may still write into the ring, until decoderd says that it has ended. */
TEST(decoders_use_a_slot_again_after_its_process_has_ended)
{
	struct rig r;
	uint64_t first = open_first(&r);

	decoders_close(r.d, first);
	for (unsigned i = 1; i < DECODER_SLOTS; i++)
		CHECK(open_track(&r) != 0);
	CHECK_INT(open_track(&r), 0);
	deliver_ended(&r, 0, first, DECODER_REASON_CLOSED);
	CHECK(open_track(&r) != 0);
	CHECK_INT(open_track(&r), 0);
	CHECK_INT(r.events, 0);
	close_rig(&r);
}

/* Otherwise its process would decode for ever, and the slot would be lost. */
TEST(decoders_repeat_a_close_that_found_no_room)
{
	struct rig r;
	uint64_t first = open_first(&r), second = open_track(&r);
	unsigned before;

	r.full = true;
	decoders_close(r.d, first);
	before = r.sent;
	r.full = false;
	deliver(&r, &(struct decoder_msg){.type = DECODER_OPENED, .slot = 1, .track = second});
	CHECK_INT(r.sent, before + 1);
	deliver(&r, &(struct decoder_msg){.type = DECODER_TITLE, .slot = 1, .track = second});
	CHECK_INT(r.sent, before + 1);
	/* Another track is opened, before any message. */
	r.full = true;
	decoders_close(r.d, second);
	r.full = false;
	before = r.sent;
	CHECK(open_track(&r) != 0);
	CHECK_INT(r.sent, before + 2);
	close_rig(&r);
}

TEST(decoders_ignore_messages_of_other_tracks)
{
	struct rig r;
	uint64_t track = open_first(&r);

	deliver_ended(&r, 0, track + 7, DECODER_REASON_CRASHED);
	deliver_ended(&r, 9, track, DECODER_REASON_CRASHED);
	deliver(&r, &(struct decoder_msg){.type = DECODER_CLOSE, .track = track});
	env_replay_step(r.env, 99, r.before + 1, 1, (const uint8_t *)"junk", 4);
	CHECK_INT(r.events, 0);
	deliver_ended(&r, 0, track, DECODER_REASON_CRASHED);
	CHECK_INT(r.events, 1);
	deliver_ended(&r, 0, track, DECODER_REASON_CRASHED);
	CHECK_INT(r.events, 1);
	close_rig(&r);
}

TEST(decoders_allow_closing_in_the_handler)
{
	struct rig r;
	uint64_t track;

	CHECK_INT(open_rig(&r), 0);
	deliver_ready(&r);
	r.closes = true;
	track = open_track(&r);
	deliver_ended(&r, 0, track, DECODER_REASON_DAMAGED);
	CHECK_INT(r.events, 1);
	CHECK(decoders_ring(r.d, track) == NULL);
	CHECK_INT(open_track(&r), track + 1);
	deliver_ended(&r, 0, track + 1, DECODER_REASON_END);
	CHECK_INT(r.events, 2);
	close_rig(&r);
}

/* A new process of decoderd may carry out an OPEN that the old one had not read. */
TEST(decoders_lose_their_tracks_with_a_restart)
{
	struct rig r;
	uint64_t track = open_first(&r);

	deliver_ready(&r);
	CHECK_INT(r.last.reason, DECODER_REASON_LOST);
	decoders_close(r.d, track);
	for (unsigned i = 1; i < DECODER_SLOTS; i++)
		CHECK(open_track(&r) != 0);
	CHECK_INT(open_track(&r), 0);
	deliver_ended(&r, 0, track, DECODER_REASON_CLOSED);
	CHECK(open_track(&r) != 0);
	CHECK_INT(r.events, 1);
	close_rig(&r);
}

/* Tracks that are prepared for many calls leave some places to those whose turn has come. */
TEST(decoders_keep_places_for_those_who_wait_for_sound)
{
	struct decoder_source source = {.kind = DECODER_FILE, .path = "a.flac"};
	unsigned prepared = 0, present = 0;
	uint64_t track;
	struct rig r;

	CHECK_INT(open_rig(&r), 0);
	deliver_ready(&r);
	while (!decoders_open(r.d, &source, 0, DECODER_IS_AHEAD, on_event, &r, &track))
		prepared++;
	while (open_track(&r))
		present++;
	CHECK_INT(prepared, DECODER_SLOTS - DECODER_KEPT);
	CHECK_INT(present, DECODER_KEPT);
	close_rig(&r);
}

TEST(decoders_refuse_tracks_without_jail_or_program)
{
	struct rig r;
	struct decoder_source source = {.kind = DECODER_FILE, .path = "a.flac"};
	uint64_t track = 0;

	CHECK_INT(open_rig(&r), 0);
	deliver(&r, &(struct decoder_msg){.type = DECODER_READY, .jailed = false});
	CHECK_INT(decoders_open(r.d, &source, 0, 0, on_event, &r, &track), DECODER_REASON_NO_JAIL);
	deliver_ready(&r);
	CHECK(open_track(&r) != 0);
	env_replay_step(r.env, 99, r.before + 1, 2, NULL, 0);
	CHECK_INT(r.last.reason, DECODER_REASON_NO_DECODER);
	CHECK_INT(decoders_open(r.d, &source, 0, 0, on_event, &r, &track),
		  DECODER_REASON_NO_DECODER);
	CHECK_INT(decoders_open(NULL, &source, 0, 0, on_event, &r, &track),
		  DECODER_REASON_NO_DECODER);
	CHECK(decoders_ring(NULL, 1) == NULL);
	decoders_close(NULL, 1);
	close_rig(&r);
}

TEST(decoders_report_a_program_that_cannot_be_started)
{
	const struct env_conf ec = {.loop = true};
	struct decoders_conf conf = {.program = "/nonexistent/decoderd", .log_level = "info"};
	struct decoder_source source = {.kind = DECODER_FILE, .path = "a.flac"};
	struct decoders *d;
	uint64_t track;

	CHECK_INT(env_alloc(&conf.env, &ec), 0);
	CHECK_INT(decoders_alloc(&d, &conf), 0);
	CHECK_INT(decoders_open(d, &source, 0, 0, on_event, NULL, &track),
		  DECODER_REASON_NO_DECODER);
	decoders_free(d);
	env_free(conf.env);
}

/* Returns where this process has mapped the rings; NULL: it has not. */
static const void *find_rings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	uintptr_t from = 0;
	char line[512];

	while (f && !from && fgets(line, sizeof line, f))
		if (strstr(line, "memfd:rings"))
			sscanf(line, "%" SCNxPTR, &from);
	if (f)
		fclose(f);
	return (const void *)from;
}

/* Otherwise the audio thread, which reads the ring, maps each page of each track. The program is
 * none, so the track may not be opened. */
TEST(decoders_map_the_ring_of_a_track_when_it_is_opened)
{
	const struct env_conf ec = {.loop = true};
	const struct decoder_msg ready = {.type = DECODER_READY, .jailed = true};
	struct decoders_conf conf = {.program = "/bin/true", .log_level = "info"};
	struct decoder_source source = {.kind = DECODER_FILE, .path = "a.flac"};
	uint8_t buf[DECODER_MSG_MAX];
	const void *rings;
	struct decoders *d;
	uint32_t before;
	uint64_t track;
	unsigned all;
	size_t n;

	CHECK_INT(env_alloc(&conf.env, &ec), 0);
	CHECK_INT(env_source_add(conf.env, &before, on_nothing, NULL), 0);
	CHECK_INT(decoders_alloc(&d, &conf), 0);
	rings = find_rings();
	CHECK(rings != NULL);
	CHECK(present_pages(rings, TRACK_RING_MEMORY, NULL) < 2);
	CHECK_INT(decoder_wire_encode(&ready, buf, &n), 0);
	env_deliver(conf.env, before + 1, 1, buf, n);
	decoders_open(d, &source, 0, 0, on_event, NULL, &track);
	/* But for the analyses, which the loop thread reads. */
	CHECK_INT(present_pages(rings, TRACK_RING_READER - 65536, &all), all);
	CHECK_INT(present_pages((const uint8_t *)rings + TRACK_RING_READER,
				TRACK_RING_MEMORY - TRACK_RING_READER, &all),
		  all);
	decoders_free(d);
	env_free(conf.env);
}

TEST_OOM(decoders_survive_failing_allocations)
{
	struct rig r;

	CHECK_OOM(open_rig(&r), close_rig(&r));
	close_rig(&r);
}

/* As the pool delivers them: kind 3, a struct of track, frame and analysis. */
TEST(decoders_pass_analyses_of_a_track_that_is_held)
{
	struct {
		uint64_t track, at;
		struct analysis a;
	} in = {.at = 3 * ANALYSIS_STEP, .a = {.bands = {9}}};
	const uint8_t *bytes = (const uint8_t *)&in;
	struct rig r;

	in.track = open_first(&r);
	decoders_watch(r.d, in.track, true);
	/* Nothing comes of it on replay. */
	decoders_ask_analysis(r.d, in.track, 0);
	env_replay_step(r.env, 1, r.before + 1, 3, bytes, sizeof in);
	CHECK_INT(r.events, 1);
	CHECK_INT(r.last.type, DECODER_ANALYSIS);
	CHECK_INT(r.last.analysis.at, 3 * ANALYSIS_STEP);
	CHECK_INT(r.last.analysis.a.bands[0], 9);
	env_replay_step(r.env, 2, r.before + 1, 3, bytes, sizeof in - 1);
	in.track++;
	env_replay_step(r.env, 3, r.before + 1, 3, bytes, sizeof in);
	in.track--;
	decoders_close(r.d, in.track);
	env_replay_step(r.env, 4, r.before + 1, 3, bytes, sizeof in);
	CHECK_INT(r.events, 1);
	decoders_watch(r.d, in.track, true);
	decoders_watch(NULL, in.track, true);
	decoders_ask_analysis(NULL, in.track, 0);
	close_rig(&r);
}
