/* An answer in text, whatever its wire: chat completions, Responses, Messages.
 *
 * A wire reads a request into the mind of a struct si_text and then calls si_text_start, which
 * chooses the answer and calls back. The pieces of a stream are planned, so that a script can delay
 * them, break off between them, or find that the client is gone. */
#ifndef STANDINS_TEXT_H
#define STANDINS_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/standins/link.h"
#include "tests/standins/mind.h"
#include "tests/standins/shape.h"

enum { SI_TEXT_ID = 48, SI_TEXT_MODEL = 128 };

struct si_text;

struct si_text_wire {
	/* An error before the answer has begun. */
	void (*refuse)(struct si_link *l, int status, const char *code, const char *text);
	/* Sends the answer. */
	void (*emit)(struct si_text *t);
};

struct si_text {
	const struct si_text_wire *wire;
	struct si_link *link;
	struct si_acts acts;
	struct si_mind *mind;
	struct si_answer answer;
	json_t *root; /* the request */
	char model[SI_TEXT_MODEL], id[SI_TEXT_ID], call[SI_TEXT_ID];
	bool stream, cut, done; /* cut: at max */
	size_t max;		/* words; 0: no limit */
	size_t in, cached, out; /* tokens */
	uint32_t pieces, events;
};

/* Of a request whose body is an object of this shape; otherwise it was refused, and NULL. Owned by
 * the link. */
struct si_text *si_text_open(struct si_link *l, const struct si_text_wire *wire,
			     const struct si_shape *shape);
/* Answers from what is in the mind. */
void si_text_start(struct si_text *t);

/* Sends an event of the stream, with the next piece's time; name NULL: data alone. Steals data. */
void si_text_event(struct si_text *t, bool piece, const char *name, json_t *data);
/* The same with a plain text. */
void si_text_line(struct si_text *t, const char *line);
void si_text_end(struct si_text *t);
/* The length of the piece of a text that begins here: a word and what is before it. */
size_t si_text_piece(const char *at);

#endif
