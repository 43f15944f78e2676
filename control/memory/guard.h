/* The guard of the memory: decides which texts may become facts, and in which namespace. Pure.
 *
 * No person reviews a model's writes, and later prompts quote them. The guard therefore refuses a
 * fact that holds a secret or reads like an order to the bot. */
#ifndef CONTROL_MEMORY_GUARD_H
#define CONTROL_MEMORY_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

enum { MEMORY_TEXT_MAX = 400 };

/* R(NAME, name, sentence): a reason to refuse a text; the sentence is for the model. */
#define MEMORY_REFUSALS(R)                                                                         \
	R(NONE, none, "It may be kept.")                                                           \
	R(EMPTY, empty, "There are no words in it, or too many.")                                  \
	R(SENSITIVE, sensitive_content, "It looks like a secret, such as a password or a key.")    \
	R(UNSAFE, unsafe_instruction, "It asks for an action instead of telling a fact.")          \
	R(INSTRUCTION, instruction_like, "It reads like an order to you instead of a fact.")

enum memory_refusal {
#define R(NAME, name, text) MEMORY_REFUSAL_##NAME,
	MEMORY_REFUSALS(R)
#undef R
};
const char *memory_refusal_name(enum memory_refusal refusal);
const char *memory_refusal_text(enum memory_refusal refusal);

enum memory_refusal memory_check_text(const char *text);
/* The same for an array of tags: each by itself, and all in their order, because models read them
 * side by side. */
enum memory_refusal memory_check_tags(const json_t *tags);

/* Whose memory: of the server, or of one person there. */
struct memory_space {
	uint64_t guild;
	uint64_t owner; /* 0: the server's */
	bool any;	/* the server's and the speaker's */
};

/* Reads a namespace: "" is both, "guild", "shared", "bot", "guild:ID"; "user", "me", "speaker",
 * "user:ID" of the speaker. NULL, or why it may not be used: a code for the model. */
const char *memory_read_space(const char *name, uint64_t guild, uint64_t speaker,
			      struct memory_space *out);

#endif
