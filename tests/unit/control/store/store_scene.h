/* A store in a folder of its own, for the tests of control/store: one scene at a time. */
#ifndef TESTS_UNIT_CONTROL_STORE_STORE_SCENE_H
#define TESTS_UNIT_CONTROL_STORE_STORE_SCENE_H

#include "control/store/store.h"

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "tests/unit/ipc/loop.h"

struct store_scene {
	struct loop l;
	struct bus *bus;
	struct settings *settings;
	struct store *store;
	char dir[32], path[64]; /* the folder, and the database in it */
	bool drops;		/* what is too old goes, a second after a store was opened */
	int err;
	unsigned answers;
	struct store_document got;
	char document[64], author[64];
	size_t n;
};

extern struct store_scene store_scene;

/* Makes the folder and default settings. */
void store_scene_begin(void);
/* journal may be NULL. */
void store_scene_open(struct journal *journal);
void store_scene_close(void);
/* So many ms later than an hour ago: older words might expire while the test runs. */
uint64_t store_scene_ms(uint64_t ms);
void store_scene_end(void);
/* How many lines of the file hold the text. */
unsigned store_scene_count(const char *file, const char *text);
/* The integer that this SQL selects, over a connection of its own; -1 on failure. */
int store_scene_number(const char *sql);

#endif
