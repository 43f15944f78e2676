/* The question that reads a call back to the person who has to agree to it, and the proof that an
 * answer was this question. Its words come from the tool's name and all its arguments, and a model
 * adds next to nothing, so a yes never counts for a call that the bot did not name. Pure; no
 * pointer is kept. */
#ifndef CONTROL_TOOLS_READ_BACK_H
#define CONTROL_TOOLS_READ_BACK_H

#include <stdbool.h>
#include <stddef.h>

enum {
	TOOL_READ_BACK_MAX = 480, /* bytes, with the NUL */
	/* The same of a tool of ours, in plain words: what fits above fits here in every language.
	 */
	TOOL_PLAIN_MAX = TOOL_READ_BACK_MAX + 300,
	TOOL_QUESTION_MAX = TOOL_PLAIN_MAX + 100,
	TOOL_QUESTION_LEAD = 3, /* other words between the call and the question */
};

/* Writes "memory create entities, entities, name Ana, type cat": the tool, then each value of the
 * arguments, a JSON object, with its key if there are several, and the keys of lists and objects
 * that hold others. Always terminated. False: it
 * does not fit, or a value is too deep. */
bool tool_read_back(const char *tool, const char *arguments, char buf[TOOL_READ_BACK_MAX]);
/* Writes the question that names the call: 'Shall I do this: remember this, for everybody here,
 * "tea is hot"?' of a tool of ours, 'Shall I do this: send money, amount 5, to Bob?' of others.
 * language: a code of ISO 639, "" for English. False: as
 * above. */
bool tool_question(const char *tool, const char *arguments, const char *language,
		   char buf[TOOL_QUESTION_MAX]);
/* Words of the text, as they are compared. */
unsigned tool_count_words(const char *text);
/* True if `said` is the question: word for word, with at most TOOL_QUESTION_LEAD words before it
 * and none behind it. Case and punctuation do not matter. lead: words of the same answer that came
 * before the call, which are no part of this. */
bool tool_is_question(const char *question, const char *said, unsigned lead);

#endif
