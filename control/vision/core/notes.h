/* Short notes about a screen, with their age: the last NOTES_MAX. A note says how much of the
 * picture changed, or, once a model has looked at it, what it shows in that model's words. Nothing
 * is guessed here. Pure. */
#ifndef CONTROL_VISION_CORE_NOTES_H
#define CONTROL_VISION_CORE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NOTES_MAX = 12, NOTES_SHOWN = 8, NOTE_TEXT = 240 };

struct note {
	uint32_t id;	      /* 0: none */
	uint64_t at;	      /* ns */
	unsigned share;	      /* of the picture that changed, in thousandths; 0: nothing did */
	uint32_t picture;     /* the number of that picture */
	char text[NOTE_TEXT]; /* what it shows; "": not known */
};

struct notes {
	struct note v[NOTES_MAX]; /* the oldest first */
	unsigned n;
	uint32_t last_id;
	uint64_t changed_at; /* of the last change */
};

/* The picture changed, and is the one of this number. Returns the number of the note. */
uint32_t notes_changed(struct notes *n, unsigned share, uint32_t picture, uint64_t now);
/* A picture shows this, as a model says: told by the newest note that is not newer than it. text:
 * one line; cut. False: there is no such note any more. */
bool notes_tell(struct notes *n, uint32_t picture, const char *text);
/* What the newest note with words tells; "": none does. Borrowed until the next change. */
const char *notes_told(const struct notes *n);
/* Wipes what pictures showed; how much changed stays. */
void notes_wipe(struct notes *n);
/* The picture did not change; True if that is a note now: idle after the last note. A second such
 * note in a row takes the place of the first. */
bool notes_unchanged(struct notes *n, uint64_t idle, uint64_t now);
/* The last NOTES_SHOWN, the newest first, a line each. Returns the length; cut at whole lines. */
size_t notes_write(const struct notes *n, uint64_t now, char *buf, size_t size);

#endif
