/* What hostile code in a decoder process tries: one attempt each. */
#ifndef TESTS_ESCAPE_ATTEMPTS_H
#define TESTS_ESCAPE_ATTEMPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SECRET_FD = 50,	    /* a file with SECRET_TEXT that the parent has open */
	NEIGHBOUR_TEXT = 7, /* byte in the ring of another track */
};
#define SECRET_TEXT "secret of the parent"
#define SECRET_NAME "PARLEY_ESCAPE_SECRET"

/* Set by the parent before it forks. */
struct surroundings {
	const char *dir;	     /* a folder that anybody may write; holds "planted" */
	const char *socket;	     /* a Unix socket on which the parent listens */
	uint16_t udp_port;	     /* of the parent, on 127.0.0.1 */
	volatile uint8_t *ring;	     /* own ring */
	volatile uint8_t *neighbour; /* ring of another track */
	int parent;		     /* process id */
	const void *parent_text;     /* SECRET_TEXT in the parent's memory */
};

struct attempt {
	const char *name;
	bool (*run)(const struct surroundings *s); /* true: it succeeded */
};

/* What goes otherwise than mediad/decoder/fence.h says, which is told on stderr. */
unsigned fence_faults(const struct surroundings *s);

/* The same of mediad/decoder/zygote.h; rings: n_rings of them; root: a folder that holds "planted".
 */
unsigned zygote_faults(void *rings, size_t n_rings, int root);
/* True in a decoder that finds what the message of another track carried. */
bool escape_finds_token(void);

extern const struct attempt attempts[];
extern const unsigned n_attempts;

#endif
