/* A spoken yes and the question before it. The first line of the input is the answer of the bot or
 * the words of a person, the rest the arguments of a call. No input may crash, a read-back stays
 * valid UTF-8 on one line, and an answer is its own question only if nothing stands behind it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tools/agreement.h"
#include "control/tools/read_back.h"
#include "proto/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *said = strndup((const char *)data, size), *arguments = strchr(said, '\n');
	char words[TOOL_READ_BACK_MAX], question[TOOL_QUESTION_MAX];
	char quoted[TOOL_QUESTION_MAX + 32];

	if (arguments)
		*arguments++ = '\0';
	tool_agrees(said, "");
	tool_agrees(said, said);
	tool_agrees("yes parley", said);
	tool_read_back("say_it", arguments ? arguments : "{}", words);
	if (!utf8_valid(words) || strchr(words, '\n') || strncmp(words, "say it", 6) != 0)
		abort();
	tool_is_question(words, said, 0);
	tool_is_question(said, words, 0);
	tool_question("say_it", arguments ? arguments : "{}", "", question);
	snprintf(quoted, sizeof quoted, "Well: %s", question);
	if (!utf8_valid(question) || !tool_is_question(question, quoted, 0))
		abort();
	snprintf(quoted, sizeof quoted, "%s No.", question);
	if (tool_is_question(question, quoted, 0))
		abort();
	free(said);
	return 0;
}
