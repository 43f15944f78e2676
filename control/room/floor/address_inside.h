/* What the files about addresses share; for control/room/floor/address*.c alone. */
#ifndef CONTROL_ROOM_FLOOR_ADDRESS_INSIDE_H
#define CONTROL_ROOM_FLOOR_ADDRESS_INSIDE_H

#include "control/room/floor/address.h"

struct address_word {
	const char *p;
	size_t n;
	bool possessive; /* "parley's" */
	bool after_stop; /* punctuation stands before it */
	enum room_script script;
	char key[ROOM_KEY_MAX];
};

/* A name in a text. */
struct address_hit {
	unsigned at, words;
	bool exact; /* else it only sounds similar */
};

/* ---- address.c ---- */
/* The word in the common form of the lists. */
size_t address_form(const struct address_word *w, char form[ROOM_NAME_FORM]);
bool address_in_list(const struct address_word *w, const char *const *list);

/* ---- address_english.c ---- */
/* A greeting: people use those of other languages than their own, also of such without lists. */
bool address_greets(const struct address_word *w);
/* "Hey", in any language: it calls whoever is named behind it. */
bool address_calls(const struct address_word *w);
/* True if word i is called, or begins a sentence behind "and", "so". */
bool address_is_called(const struct address_word *w, unsigned i);
/* A name. */
enum room_address address_english(const struct address_word *w, unsigned n,
				  const struct address_hit *h);
/* A word that only sounds similar. */
enum room_address address_english_similar(const struct address_word *w, unsigned n,
					  const struct address_hit *h);

#endif
