/* A room's journal, written by hand and from a scene, and run again. */
#include "tests/test.h"

#include "control/room/journal.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "control/again/rerun.h"
#include "tests/room/stage.h"

enum { SIZE = 8 << 20 };

static struct slice text_of(const char *text)
{
	return (struct slice){(const uint8_t *)text, strlen(text)};
}

struct tape {
	struct wr w;
	uint64_t steps, sum;
	struct room_effects one;
};

static void put(struct tape *t, struct room_journal_record r)
{
	room_journal_write(&t->w, &r);
}

static void stepped(const struct room_event *ev, uint64_t now, const struct room_effects *fx,
		    void *arg)
{
	struct tape *t = arg;

	put(t, (struct room_journal_record){.what = ROOM_JOURNAL_EVENT, .event = *ev, .now = now});
	t->steps++;
	t->sum = room_journal_sum(t->sum, fx);
}

/* Two people; one asks, the other's talk is not for the bot. */
static void make(struct tape *t, uint8_t *buf)
{
	struct settings *s = NULL;
	struct stage *stage = NULL;
	struct stage_conf conf = {.name = "Parley", .steppedh = stepped, .arg = t};
	uint64_t alice, bob;

	t->w = wr_of(buf, SIZE);
	wr_bytes(&t->w, ROOM_JOURNAL_FIRST, strlen(ROOM_JOURNAL_FIRST));
	put(t, (struct room_journal_record){.what = ROOM_JOURNAL_NAME, .text = text_of("Parley")});
	put(t, (struct room_journal_record){.what = ROOM_JOURNAL_SETTING,
					    .text = text_of("guest"),
					    .value = text_of("off")});
	put(t, (struct room_journal_record){.what = ROOM_JOURNAL_SETTING,
					    .text = text_of("speculative"),
					    .value = text_of("off")});
	if (settings_alloc(&s) || settings_set(s, "guest", "off") ||
	    settings_set(s, "speculative", "off"))
		abort();
	conf.settings = s;
	if (stage_alloc(&stage, &conf))
		abort();
	alice = stage_join(stage, "alice", false);
	bob = stage_join(stage, "bob", false);
	stage_brain_answers(stage, "ten past four", 1000, 400);
	stage_says(stage, alice, "parley what time is it", 1500, STAGE_LOUD);
	stage_run(stage, STAGE_START + 8000 * NS_PER_MS);
	stage_says(stage, bob, "charlie what time is it", 1500, STAGE_LOUD);
	stage_run(stage, STAGE_START + 20000 * NS_PER_MS);
	stage_free(stage);
	settings_free(s);
	put(t, (struct room_journal_record){
		       .what = ROOM_JOURNAL_SUM, .steps = t->steps, .sum = t->sum});
}

static uint8_t *buf;
static struct tape tape;

TEST(a_journal_runs_again_to_the_same_effects)
{
	struct rerun r;

	buf = malloc(SIZE);
	CHECK(buf);
	tape = (struct tape){0};
	make(&tape, buf);
	CHECK(tape.w.ok);
	CHECK_INT(rerun_bytes(&r, &(struct rerun_conf){.data = buf, .n = tape.w.pos}), 0);
	CHECK(r.whole);
	CHECK_INT(r.steps, tape.steps);
	CHECK(r.sum == tape.sum);
	CHECK_INT(r.n_turns, 2);
	CHECK_INT(r.turn[0].reason, ROOM_REASON_ANSWERED);
	CHECK_INT(r.turn[1].reason, ROOM_REASON_NOT_ADDRESSED);
	rerun_clear(&r);
	/* Cut anywhere it is what was there before, and no error. */
	CHECK_INT(rerun_bytes(&r, &(struct rerun_conf){.data = buf, .n = tape.w.pos - 7}), 0);
	CHECK(!r.whole);
	CHECK_INT(r.steps, tape.steps);
	rerun_clear(&r);
	free(buf);
}

static int call_it_charlie(struct settings *s, void *arg)
{
	(void)arg;
	return settings_set(s, "aliases", "charlie");
}

TEST(another_policy_decides_otherwise)
{
	struct rerun base, other;
	const struct room_turn *bob;

	buf = malloc(SIZE);
	CHECK(buf);
	tape = (struct tape){0};
	make(&tape, buf);
	CHECK_INT(rerun_bytes(&base, &(struct rerun_conf){.data = buf, .n = tape.w.pos}), 0);
	CHECK_INT(rerun_bytes(&other, &(struct rerun_conf){.data = buf,
							   .n = tape.w.pos,
							   .change = call_it_charlie,
							   .base = &base}),
		  0);
	/* The first is decided as before, with its answer. */
	CHECK_INT(rerun_same(&other, &base.turn[0])->reason, ROOM_REASON_ANSWERED);
	CHECK(other.sum != base.sum);
	/* The second is meant for the bot now, and was still waiting when the tape ended, or has
	 * failed. */
	bob = rerun_same(&other, &base.turn[1]);
	CHECK(!bob || bob->reason != ROOM_REASON_NOT_ADDRESSED);
	rerun_clear(&base);
	rerun_clear(&other);
	free(buf);
}

TEST(a_rerun_ends_with_its_turn_and_compares_decisions)
{
	struct rerun base, other;
	const struct room_turn *alice;
	struct rerun_conf conf;

	buf = malloc(SIZE);
	CHECK(buf);
	tape = (struct tape){0};
	make(&tape, buf);
	conf = (struct rerun_conf){.data = buf, .n = tape.w.pos, .turn = 1};
	CHECK_INT(rerun_bytes(&base, &conf), 0);
	CHECK(!base.whole && base.steps < tape.steps);
	CHECK_INT(base.n_turns, 1);
	alice = rerun_turn(&base, 1);
	CHECK(alice && alice->reason == ROOM_REASON_ANSWERED && !rerun_turn(&base, 2));
	CHECK(rerun_decision(alice, ROOM_RULE_DIRECT_ADDRESS));
	CHECK(rerun_is_same(alice, alice));
	conf = (struct rerun_conf){.data = buf,
				   .n = tape.w.pos,
				   .change = call_it_charlie,
				   .base = &base,
				   .until = base.ended_at};
	CHECK_INT(rerun_bytes(&other, &conf), 0);
	CHECK_INT(other.steps, base.steps);
	CHECK(rerun_is_same(alice, rerun_same(&other, alice)));
	rerun_clear(&base);
	rerun_clear(&other);
	free(buf);
}

TEST(a_damaged_journal_is_refused)
{
	static const char first[] = ROOM_JOURNAL_FIRST;
	uint8_t bad[200];
	struct wr w = wr_of(bad, sizeof bad);
	struct rerun r;

	CHECK_INT(rerun_bytes(&r, &(struct rerun_conf){.data = "PARLEY-JOURNAL 2", .n = 16}),
		  EBADMSG);
	wr_bytes(&w, first, sizeof first - 1);
	wr_be(&w, 2, 4);
	wr_be(&w, 9, 1); /* no such record */
	wr_be(&w, 0, 1);
	CHECK_INT(rerun_bytes(&r, &(struct rerun_conf){.data = bad, .n = w.pos}), EBADMSG);
	w = wr_of(bad, sizeof bad);
	wr_bytes(&w, first, sizeof first - 1);
	wr_be(&w, 10, 4);
	wr_be(&w, ROOM_JOURNAL_EVENT, 1);
	wr_be(&w, 1, 8);
	wr_be(&w, ROOM_EVENT_COUNT, 1); /* no such event */
	CHECK_INT(rerun_bytes(&r, &(struct rerun_conf){.data = bad, .n = w.pos}), EBADMSG);
}

TEST(an_event_keeps_every_field)
{
	struct room_journal_record in = {.what = ROOM_JOURNAL_EVENT, .now = 77}, out;
	uint8_t small[400];
	struct wr w = wr_of(small, sizeof small);
	struct rd r;
	uint64_t k = 1;

#define N(type, member) in.event.member = (type)k++;
#define T(member)	in.event.member = text_of(#member);
	ROOM_EVENT_FIELDS(N, T)
#undef N
#undef T
	in.event.type = ROOM_TRANSCRIPT;
	room_journal_write(&w, &in);
	CHECK(w.ok);
	r = rd_of(small, w.pos);
	CHECK_INT(room_journal_read(&r, &out), 0);
	CHECK_INT(out.now, 77);
#define N(type, member) CHECK_INT(out.event.member, in.event.member);
#define T(member)	CHECK_MEM(out.event.member.p, out.event.member.n, #member, strlen(#member));
	ROOM_EVENT_FIELDS(N, T)
#undef N
#undef T
	CHECK_INT(room_journal_read(&r, &out), ENODATA);
}
