#include "control/events/events.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static_assert(EVENT_COUNT < 64, "a mask has a bit for each type");

struct bus {
	unsigned n;
	bool publishing;
	struct {
		uint64_t mask;
		bus_h *h;
		void *arg;
	} v[BUS_SUBSCRIBERS];
};

int bus_alloc(struct bus **out)
{
	struct bus *bus = calloc(1, sizeof *bus);

	if (!bus)
		return ENOMEM;
	*out = bus;
	return 0;
}

struct bus *bus_free(struct bus *bus)
{
	free(bus);
	return NULL;
}

int bus_subscribe(struct bus *bus, uint64_t mask, bus_h *h, void *arg)
{
	if (bus->n == BUS_SUBSCRIBERS)
		return ENOSPC;
	bus->v[bus->n].mask = mask;
	bus->v[bus->n].h = h;
	bus->v[bus->n++].arg = arg;
	return 0;
}

void bus_drop_subscribers(struct bus *bus)
{
	bus->n = 0;
}

void bus_publish(struct bus *bus, const struct bus_event *ev)
{
	if (!bus)
		return;
	assert(!bus->publishing);
	bus->publishing = true;
	for (unsigned i = 0; i < bus->n; i++)
		if (bus->v[i].mask & BUS_MASK(ev->type))
			bus->v[i].h(ev, bus->v[i].arg);
	bus->publishing = false;
}
