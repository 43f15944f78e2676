#include "mediad/video/pacer.h"

#include "proto/base/time.h"
#include "tests/random.h"
#include "tests/test.h"

enum { RATE = 250000, PACKET = 1200 };

/* A burst leaves at once, then the rate holds: over any stretch no more than burst and rate. */
TEST(video_pacer_keeps_the_rate)
{
	struct pacer p;
	uint64_t now = 5 * NS_PER_S, start = now, sent = 0, seed = 1;

	pacer_start(&p, RATE, PACKET, now);
	CHECK_INT(p.burst, RATE * PACER_BURST_MS / 1000);
	while (now < start + 10 * NS_PER_S) {
		size_t n = random_between(&seed, 1, PACKET);
		uint64_t due = pacer_due(&p, n, now);

		if (due > now) {
			CHECK(!pacer_take(&p, n, due - 1));
			now = due;
		}
		CHECK(pacer_take(&p, n, now));
		sent += n;
		CHECK(sent <= p.burst + (now - start) * RATE / NS_PER_S + 1);
	}
	CHECK(sent > UINT64_C(10) * RATE - PACKET);
}

/* A pause fills the bucket and no more, however long; a clock that stands still takes nothing away.
 */
TEST(video_pacer_does_not_save_up)
{
	struct pacer p;
	uint64_t now = NS_PER_S;
	unsigned n = 0;

	pacer_start(&p, RATE, PACKET, now);
	while (pacer_take(&p, 100, now))
		n++;
	CHECK_INT(n, p.burst / 100);
	n = 0;
	while (pacer_take(&p, 100, now + 3600 * NS_PER_S))
		n++;
	CHECK_INT(n, p.burst / 100);
	CHECK(!pacer_take(&p, 100, now));
	CHECK(pacer_due(&p, 100, now) > now + 3600 * NS_PER_S);
	n = 0;
	while (pacer_take(&p, 100, UINT64_MAX))
		n++;
	CHECK_INT(n, p.burst / 100);
}

/* However slow, the largest packet leaves. */
TEST(video_pacer_lets_a_packet_leave)
{
	struct pacer p;
	uint64_t due;

	pacer_start(&p, 1000, PACKET, 0);
	CHECK(pacer_take(&p, PACKET, 0));
	CHECK(!pacer_take(&p, PACKET, 0));
	due = pacer_due(&p, PACKET, 0);
	CHECK_INT(due, 1200 * NS_PER_MS);
	CHECK(pacer_take(&p, PACKET, due));
}

/* Another rate gives nothing away: neither more than what had been saved up, nor more than its own
 * burst. */
TEST(video_pacer_changes_its_rate)
{
	struct pacer p;

	pacer_start(&p, RATE, PACKET, NS_PER_S);
	CHECK(pacer_take(&p, PACKET, NS_PER_S));
	pacer_set_rate(&p, 4 * RATE, PACKET, NS_PER_S);
	CHECK(p.level < PACKET * NS_PER_S);
	CHECK(!pacer_take(&p, PACKET, NS_PER_S));
	CHECK(pacer_take(&p, PACKET, NS_PER_S + 2 * NS_PER_MS));
	CHECK(pacer_due(&p, p.burst, 3 * NS_PER_S) == 3 * NS_PER_S);
	pacer_set_rate(&p, RATE, PACKET, 3 * NS_PER_S);
	CHECK(p.level == p.burst * NS_PER_S);
}
