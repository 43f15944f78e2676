#include "control/writer.h"

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "tests/unit/ipc/loop.h"

static struct scene {
	struct loop l;
	struct bus *bus;
	struct settings *settings;
	struct writer *writer;
	char dir[32], path[64];
} s;

static int begin(void)
{
	int err;

	memset(&s, 0, sizeof s);
	if (!folder_make(s.dir))
		return EIO;
	snprintf(s.path, sizeof s.path, "%s/turns", s.dir);
	err = loop_open(&s.l, NULL);
	if (!err)
		err = bus_alloc(&s.bus);
	if (!err)
		err = settings_alloc(&s.settings);
	if (!err)
		err = settings_set(s.settings, "turns_file", s.path) ? EINVAL : 0;
	return err ? err : writer_alloc(&s.writer, s.l.env, s.bus, s.settings);
}

static void end(void)
{
	writer_free(s.writer);
	settings_free(s.settings);
	bus_free(s.bus);
	loop_close(&s.l);
	folder_remove(s.dir);
}

static void publish_turn(uint64_t turn)
{
	bus_publish(s.bus, &(struct bus_event){.type = EVENT_TURN,
					       .turn = {.turn = turn, .stage = "ended"}});
}

/* True if the turn file holds these turns in this order, ended by a zero. */
static bool turns_are(const uint64_t *turns)
{
	FILE *f = fopen(s.path, "r");
	char line[4096];
	bool same = f != NULL;

	for (; same && *turns; turns++) {
		json_t *j = fgets(line, sizeof line, f) ? json_loads(line, 0, NULL) : NULL;

		same = (uint64_t)json_integer_value(json_object_get(j, "turn")) == *turns;
		json_decref(j);
	}
	if (f) {
		same = same && !fgets(line, sizeof line, f);
		fclose(f);
	}
	return same;
}

TEST(events_that_wait_are_written_before_the_writer_is_freed)
{
	uint64_t turns[201] = {0};

	CHECK_INT(begin(), 0);
	for (unsigned i = 0; i < 200; i++) {
		turns[i] = i + 1;
		publish_turn(i + 1);
	}
	s.writer = writer_free(s.writer);
	CHECK(turns_are(turns));
	end();
}

TEST(an_event_without_memory_is_shed_and_the_next_is_written)
{
	CHECK_INT(begin(), 0);
	publish_turn(1);
	test_no_memory(true);
	publish_turn(2);
	test_no_memory(false);
	publish_turn(3);
	s.writer = writer_free(s.writer);
	CHECK(turns_are((const uint64_t[]){1, 3, 0}));
	end();
}

static void on_synced(void *arg)
{
	(void)arg;
	CHECK(turns_are((const uint64_t[]){1, 2, 3, 0}));
	env_stop(s.l.env);
}

TEST(a_sync_comes_after_the_events_before_it)
{
	CHECK_INT(begin(), 0);
	for (uint64_t i = 1; i <= 3; i++)
		publish_turn(i);
	CHECK_INT(writer_sync(s.writer, on_synced, NULL), 0);
	CHECK(loop_run(&s.l));
	end();
}

TEST_OOM(writer_without_memory)
{
	CHECK_OOM(begin(), end());
	publish_turn(1);
	end();
}
