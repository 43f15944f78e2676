/* The queue of what is to be written: what takes words away is not shed with the rest. */
#include "control/events/events.h"
#include "control/store/job.h"
#include "control/store/store.h"
#include "tests/test.h"

static struct record *make(const char *change)
{
	const struct bus_event ev = {
		.type = EVENT_MESSAGE,
		.message = {.channel = 5, .message = 50, .change = change, .name = "", .text = ""}};
	struct record *r = calloc(1, sizeof *r);
	size_t bytes = 0;

	if (r)
		r->ev = bus_event_copy(&ev, &bytes);
	return r;
}

/* True if it was taken. */
static bool push(struct queue *q, const char *change)
{
	struct record *r = make(change);
	bool shed = false;

	if (!r || !r->ev)
		abort();
	record_queue_push(q, r, 100, &shed);
	if (shed)
		record_free(r);
	return !shed;
}

TEST(a_full_queue_takes_deletions_and_keeps_them_for_the_next_time)
{
	struct queue q = {.n = 0};
	struct record *head;
	uint32_t n;

	pthread_mutex_init(&q.lock, NULL);
	q.tail = &q.head;
	for (unsigned i = 0; i < STORE_QUEUE; i++)
		CHECK(push(&q, "written"));
	CHECK(!push(&q, "written"));
	CHECK(push(&q, "deleted"));
	CHECK(push(&q, "edited"));
	head = record_queue_take(&q, &n);
	CHECK_INT(n, STORE_QUEUE + 2);
	/* It could not be written, and another one came meanwhile. */
	CHECK(push(&q, "written"));
	CHECK_INT(record_queue_put_back(&q, head), STORE_QUEUE);
	CHECK_INT(q.n, 3);
	CHECK_INT(q.bytes, 300);
	CHECK_STR(q.head->ev->message.change, "deleted");
	CHECK(push(&q, "written"));
	CHECK_INT(record_queue_put_back(&q, record_queue_take(&q, &n)), 2);
	CHECK_INT(n, 4);
	CHECK_INT(record_queue_put_back(&q, NULL), 0);
	head = record_queue_take(&q, &n);
	CHECK_INT(n, 2);
	while (head) {
		struct record *next = head->next;

		record_free(head);
		head = next;
	}
	pthread_mutex_destroy(&q.lock);
}
