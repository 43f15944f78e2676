/* The machine that decides whether the bot follows, offers or stays out, by itself. */
#include "tests/test.h"

#include "control/room/floor/floor.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

TEST(the_floor_is_a_machine_of_its_own)
{
	struct settings *s = NULL;
	struct room_floor f = {0};
	uint64_t now = 1000 * NS_PER_S;

	CHECK_INT(settings_alloc(&s), 0);
#define SAYS(user, address) room_floor_judge(&f, s, user, ROOM_ADDRESS_##address, true, now)
	CHECK_INT(SAYS(1, NONE), ROOM_FLOOR_IGNORE);
	CHECK_INT(room_floor_judge(&f, s, 1, ROOM_ADDRESS_NONE, false, now), ROOM_FLOOR_IGNORE);
	CHECK_INT(SAYS(1, MENTIONED), ROOM_FLOOR_OFFER_MENTIONED);
	CHECK_INT(SAYS(1, ADDRESSED), ROOM_FLOOR_WAKE);
	room_floor_apply(&f, s, ROOM_FLOOR_WAKE, 1, now);
	CHECK_INT(SAYS(1, NONE), ROOM_FLOOR_OFFER_HOLDER);
	CHECK_INT(SAYS(2, NONE), ROOM_FLOOR_LISTEN);
	CHECK_INT(SAYS(2, ADDRESSED), ROOM_FLOOR_HOLD);
	room_floor_apply(&f, s, ROOM_FLOOR_LISTEN, 2, now);
	CHECK_INT(f.others, 1);
	now += 60 * NS_PER_S;
	CHECK_INT(SAYS(1, NONE), ROOM_FLOOR_OFFER_HOLDER);
	now += 1;
	CHECK_INT(SAYS(1, NONE), ROOM_FLOOR_IGNORE);
	CHECK_INT(SAYS(1, ADDRESSED), ROOM_FLOOR_WAKE);
	room_floor_bot_spoke(&f, 2, now);
	CHECK_INT(f.holder, 2);
	CHECK_INT(f.others, 0);
	/* Taking or leaving an offer is told at most once for each. */
	room_floor_apply(&f, s, ROOM_FLOOR_OFFER_HOLDER, 2, now);
	room_floor_resolve_offer(&f, false, 2, now);
	room_floor_resolve_offer(&f, true, 3, now);
	CHECK_INT(f.offered, 1);
	CHECK_INT(f.taken + f.suppressed, 1);
	CHECK_INT(f.holder, 2);
	settings_free(s);
}

TEST(volition_has_an_interval_and_an_hourly_cap)
{
	static const struct {
		const char *name;
		unsigned interval_s, hourly;
	} rows[] = {{"quiet", 600, 2}, {"balanced", 240, 6}, {"chatty", 90, 15}};
	struct settings *s = NULL;

	CHECK_INT(settings_alloc(&s), 0);
	for (size_t i = 0; i < 3; i++) {
		struct room_floor f = {0};
		uint64_t now = 10000 * NS_PER_S, began = now;

		CHECK_INT(settings_set(s, "volition", rows[i].name), 0);
		for (unsigned k = 0; k < rows[i].hourly; k++) {
			CHECK_INT(SAYS(1, NONE), ROOM_FLOOR_OFFER_VOLITION);
			room_floor_apply(&f, s, ROOM_FLOOR_OFFER_VOLITION, 1, now);
			now += (rows[i].interval_s - 1) * NS_PER_S;
			CHECK_INT(SAYS(1, NONE), ROOM_FLOOR_IGNORE);
			now += 1 * NS_PER_S;
		}
		CHECK_INT(SAYS(1, NONE), ROOM_FLOOR_IGNORE);
		now = began + 3600 * NS_PER_S - 1;
		CHECK_INT(SAYS(1, NONE), ROOM_FLOOR_IGNORE);
		now++;
		CHECK_INT(SAYS(1, NONE), ROOM_FLOOR_OFFER_VOLITION);
	}
	CHECK_INT(settings_set(s, "volition", "off"), 0);
	{
		struct room_floor f = {0};
		uint64_t now = 10000 * NS_PER_S;

		CHECK_INT(SAYS(1, NONE), ROOM_FLOOR_IGNORE);
	}
	settings_free(s);
}
