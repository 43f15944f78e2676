/* Short notes about a screen, with their age: the last NOTES_MAX. A note says how much of the
 * picture changed; nothing is guessed, so it names no content. Pure. */
#ifndef CONTROL_VISION_CORE_NOTES_H
#define CONTROL_VISION_CORE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NOTES_MAX = 12, NOTES_SHOWN = 8 };

struct note {
	uint32_t id;	/* 0: none */
	uint64_t at;	/* ns */
	unsigned share; /* of the picture that changed, in thousandths; 0: nothing did */
};

struct notes {
	struct note v[NOTES_MAX]; /* the oldest first */
	unsigned n;
	uint32_t last_id;
	uint64_t changed_at; /* of the last change */
};

/* The picture changed. Returns the number of the note. */
uint32_t notes_changed(struct notes *n, unsigned share, uint64_t now);
/* The picture did not change; True if that is a note now: idle after the last note. A second such
 * note in a row takes the place of the first. */
bool notes_unchanged(struct notes *n, uint64_t idle, uint64_t now);
/* The last NOTES_SHOWN, the newest first, a line each. Returns the length; cut at whole lines. */
size_t notes_write(const struct notes *n, uint64_t now, char *buf, size_t size);

#endif
