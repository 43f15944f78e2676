/* Results of extraction, which a model writes: a fact that is kept has its evidence. */
#include <stdlib.h>
#include <string.h>

#include "control/memory/extract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct extract_line lines[] = {
	{.id = 1,
	 .user = 11,
	 .at_ms = 1000,
	 .name = "ana",
	 .text = "my bike is red and 12 years old"},
	{.id = 2, .user = 12, .at_ms = 2000, .name = "bob", .text = "the meeting is at 4"},
};

enum { LINES = sizeof lines / sizeof lines[0] };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct extract_result r;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	extract_read(text, lines, LINES, &r);
	if (r.facts > EXTRACT_FACTS)
		abort();
	for (unsigned i = 0; i < r.facts; i++) {
		const struct extract_fact *f = &r.fact[i];

		if (!f->n_evidence || f->n_evidence > EXTRACT_EVIDENCE || !*f->text)
			abort();
		for (unsigned k = 0; k < f->n_evidence; k++)
			if (f->user != lines[f->evidence[k] - 1].user)
				abort();
	}
	if (*r.summary && (memory_check_text(r.summary) || !r.summary_lines))
		abort();
	for (unsigned i = 0; i < r.summary_lines; i++)
		if (r.summary_line[i] != 1 && r.summary_line[i] != 2)
			abort();
	free(text);
	return 0;
}
