#include "control/room/floor/floor.h"

#include "control/settings/settings.h"
#include "proto/base/time.h"

uint64_t room_floor_ends_at(const struct room_floor *f, const struct settings *s)
{
	return f->relevant_at + s->floor_decay_s * NS_PER_S;
}

bool room_floor_engaged(const struct room_floor *f, const struct settings *s, uint64_t now)
{
	return f->engaged && now <= room_floor_ends_at(f, s);
}

uint64_t room_floor_volition_in(const struct room_floor *f, const struct settings *s, uint64_t now)
{
	static const struct {
		uint64_t interval_s;
		unsigned hourly;
	} caps[] = {
		[SETTINGS_VOLITION_OFF] = {0, 0},
		[SETTINGS_VOLITION_QUIET] = {600, 2},
		[SETTINGS_VOLITION_BALANCED] = {240, 6},
		[SETTINGS_VOLITION_CHATTY] = {90, 15},
	};
	unsigned hourly = caps[s->volition].hourly;
	uint64_t wait = 0, last, nth;

	if (!hourly)
		return UINT64_MAX;
	last = f->offer_at[(f->next_offer + ROOM_OFFERS - 1) % ROOM_OFFERS];
	nth = f->offer_at[(f->next_offer + ROOM_OFFERS - hourly) % ROOM_OFFERS];
	if (last && now - last < caps[s->volition].interval_s * NS_PER_S)
		wait = (last + caps[s->volition].interval_s * NS_PER_S - now) / NS_PER_MS + 1;
	if (nth && now - nth < 3600 * NS_PER_S &&
	    (nth + 3600 * NS_PER_S - now) / NS_PER_MS + 1 > wait)
		wait = (nth + 3600 * NS_PER_S - now) / NS_PER_MS + 1;
	return wait;
}

enum room_floor_decision room_floor_judge(const struct room_floor *f, const struct settings *s,
					  uint64_t user, enum room_address address, bool words,
					  uint64_t now)
{
	bool engaged = room_floor_engaged(f, s, now);

	if (!words)
		return ROOM_FLOOR_IGNORE;
	if (address == ROOM_ADDRESS_ADDRESSED)
		return engaged ? ROOM_FLOOR_HOLD : ROOM_FLOOR_WAKE;
	if (address == ROOM_ADDRESS_MENTIONED)
		return ROOM_FLOOR_OFFER_MENTIONED;
	if (engaged)
		return user == f->holder ? ROOM_FLOOR_OFFER_HOLDER : ROOM_FLOOR_LISTEN;
	return room_floor_volition_in(f, s, now) == 0 ? ROOM_FLOOR_OFFER_VOLITION
						      : ROOM_FLOOR_IGNORE;
}

void room_floor_bot_spoke(struct room_floor *f, uint64_t user, uint64_t now)
{
	f->engaged = true;
	f->holder = user;
	f->relevant_at = now;
	f->others = 0;
}

void room_floor_apply(struct room_floor *f, const struct settings *s, enum room_floor_decision says,
		      uint64_t user, uint64_t now)
{
	if (says != ROOM_FLOOR_WAKE && says != ROOM_FLOOR_HOLD && !room_floor_engaged(f, s, now))
		f->engaged = false;
	switch (says) {
	case ROOM_FLOOR_WAKE:
	case ROOM_FLOOR_HOLD:
		room_floor_bot_spoke(f, user, now);
		break;
	case ROOM_FLOOR_OFFER_VOLITION:
		f->offer_at[f->next_offer] = now;
		f->next_offer = (f->next_offer + 1) % ROOM_OFFERS;
		f->offered++;
		break;
	case ROOM_FLOOR_OFFER_HOLDER:
	case ROOM_FLOOR_OFFER_MENTIONED:
		f->offered++;
		break;
	case ROOM_FLOOR_LISTEN:
		f->others++;
		break;
	case ROOM_FLOOR_IGNORE:
		break;
	}
}

void room_floor_resolve_offer(struct room_floor *f, bool taken, uint64_t user, uint64_t now)
{
	if (f->taken + f->suppressed >= f->offered)
		return;
	if (!taken) {
		f->suppressed++;
		return;
	}
	f->taken++;
	room_floor_bot_spoke(f, user, now);
}

uint64_t room_floor_holder(const struct room_floor *f)
{
	return f->holder;
}

unsigned room_floor_others(const struct room_floor *f)
{
	return f->others;
}

uint64_t room_floor_relevant_at(const struct room_floor *f)
{
	return f->relevant_at;
}
