/* What a session knows: the lines that it received, and the answers that follow from nothing else.
 *
 * So a test can tell what reached a provider: "the code word is swan" said in one session is
 * answered in another only if somebody told that one too. Pure.
 *
 *   the code word is X          is remembered; "what is the code word" is answered
 *   say exactly …: X            X, also in instructions
 *   repeat X                    X
 *   count to N                  one two three …
 *   what time is it             It is five past four in the afternoon.
 *   use the tool NAME JSON      a call of that tool, if there is one; its output is then told
 *   what did you say            I said: and the last line of the assistant
 *   never mind                  [SKIP]
 *   what do you see             I see: and the pictures that it was shown, or no picture
 *   Describe this image         the same
 *   what number do you see      I see the number N: of the newest picture; or I see no number
 *   anything else               You said: … */
#ifndef STANDINS_MIND_H
#define STANDINS_MIND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct si_mind;
struct si_script;

struct si_answer {
	char *text; /* "" for a call */
	char *call; /* the name of a tool, or NULL */
	char *arguments;
};

struct si_mind *si_mind_new(void);
struct si_mind *si_mind_free(struct si_mind *m);
/* A second one with the same lines. */
struct si_mind *si_mind_copy(const struct si_mind *m);
/* role: "system", "user", "assistant", "tool". name: of the item, or NULL. */
void si_mind_add(struct si_mind *m, const char *role, const char *name, const char *text);
/* Forgets what has this name. */
void si_mind_remove(struct si_mind *m, const char *name);
/* Puts the line of this name behind that of another one, or first behind "root". */
void si_mind_move(struct si_mind *m, const char *name, const char *after);
/* The instructions in force; replaces those before. */
void si_mind_instruct(struct si_mind *m, const char *text);
/* The names of the tools, from a list of objects with a `name`, or with a `function` that has one.
 * NULL: none. */
void si_mind_tools(struct si_mind *m, const json_t *tools);
/* A picture was shown: what it shows (picture.h). name: of the item, or NULL. */
void si_mind_see(struct si_mind *m, const char *name, const char *what);
/* The bytes of all lines, for usage. */
size_t si_mind_size(const struct si_mind *m);
/* The answer to the last line of a user, or to a tool's output after it. instructions: of this
 * answer alone, or NULL. Caller clears *out. */
void si_mind_answer(const struct si_mind *m, const struct si_script *script,
		    const char *instructions, struct si_answer *out);
void si_answer_clear(struct si_answer *a);

#endif
