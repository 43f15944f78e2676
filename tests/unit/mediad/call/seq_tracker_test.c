#include "mediad/call/seq_tracker.h"
#include "tests/test.h"

static struct seq_tracker fresh(uint16_t first)
{
	struct seq_tracker n;

	seq_tracker_reset(&n);
	seq_tracker_take(&n, first);
	return n;
}

TEST(seq_tracker_acks_the_last_complete_message)
{
	struct seq_tracker n;

	seq_tracker_reset(&n);
	CHECK_INT(seq_tracker_ack(&n), -1);
	CHECK_INT(seq_tracker_take(&n, 7), SEQ_NEXT);
	CHECK_INT(seq_tracker_take(&n, 8), SEQ_NEXT);
	CHECK_INT(seq_tracker_ack(&n), 8);
	CHECK(!seq_tracker_has_missing(&n));
	CHECK_INT(seq_tracker_take(&n, 11), SEQ_GAP);
	CHECK_INT(seq_tracker_take(&n, 12), SEQ_NEXT);
	CHECK_INT(seq_tracker_take(&n, 14), SEQ_GAP);
	CHECK(seq_tracker_has_missing(&n));
	CHECK_INT(seq_tracker_ack(&n), 8);
	CHECK_INT(seq_tracker_take(&n, 9), SEQ_RECOVERED);
	CHECK_INT(seq_tracker_ack(&n), 9);
	CHECK_INT(seq_tracker_take(&n, 10), SEQ_RECOVERED);
	CHECK_INT(seq_tracker_ack(&n), 12);
	CHECK_INT(seq_tracker_take(&n, 13), SEQ_RECOVERED);
	CHECK_INT(seq_tracker_ack(&n), 14);
}

TEST(seq_tracker_finds_duplicates)
{
	struct seq_tracker n = fresh(3);

	CHECK_INT(seq_tracker_take(&n, 2),
		  SEQ_RECOVERED); /* nothing is told again before a resume */
	seq_tracker_request(&n);
	CHECK_INT(seq_tracker_take(&n, 3), SEQ_DUPLICATE);
	CHECK_INT(seq_tracker_take(&n, 2), SEQ_DUPLICATE);
	CHECK_INT(seq_tracker_take(&n, 9), SEQ_GAP);
	CHECK_INT(seq_tracker_take(&n, 6), SEQ_RECOVERED); /* out of the middle */
	CHECK_INT(seq_tracker_take(&n, 6), SEQ_DUPLICATE);
	CHECK_INT(seq_tracker_take(&n, 5), SEQ_RECOVERED);
	CHECK_INT(seq_tracker_take(&n, 7), SEQ_RECOVERED);
	CHECK_INT(seq_tracker_take(&n, 4), SEQ_RECOVERED);
	CHECK_INT(seq_tracker_take(&n, 8), SEQ_RECOVERED);
	CHECK_INT(seq_tracker_take(&n, 8), SEQ_DUPLICATE);
	CHECK_INT(seq_tracker_ack(&n), 9);
}

TEST(seq_tracker_wraps)
{
	struct seq_tracker n = fresh(65533);

	CHECK_INT(seq_tracker_take(&n, 1), SEQ_GAP);
	CHECK_INT(seq_tracker_ack(&n), 65533);
	for (uint16_t s = 65534; s != 1; s++)
		CHECK_INT(seq_tracker_take(&n, s), SEQ_RECOVERED);
	CHECK_INT(seq_tracker_ack(&n), 1);
}

TEST(seq_tracker_gives_up_unavailable_messages)
{
	struct seq_tracker n = fresh(1);

	seq_tracker_take(&n, 5);
	seq_tracker_request(&n);
	CHECK(!seq_tracker_has_missing(&n)); /* requested: another resume would bring no more */
	CHECK_INT(seq_tracker_take(&n, 3), SEQ_RECOVERED);
	CHECK_INT(seq_tracker_ack(&n), 1);
	CHECK_INT(seq_tracker_take(&n, 6), SEQ_NEXT);
	CHECK_INT(seq_tracker_ack(&n), 6);
	CHECK_INT(seq_tracker_take(&n, 2), SEQ_DUPLICATE);
	CHECK_INT(seq_tracker_take(&n, 8), SEQ_GAP);
	CHECK(seq_tracker_has_missing(&n));
}

TEST(seq_tracker_loses_none_with_many_gaps)
{
	struct seq_tracker n = fresh(0);
	unsigned got = 0;

	for (unsigned i = 1; i <= 100; i++)
		seq_tracker_take(&n, (uint16_t)(3 * i));
	CHECK_INT(seq_tracker_ack(&n), 0);
	for (unsigned s = 1; s <= 300; s++)
		got += seq_tracker_take(&n, (uint16_t)s) == SEQ_RECOVERED || s % 3 == 0;
	CHECK_INT(got, 300);
	CHECK_INT(seq_tracker_ack(&n), 300);
}
