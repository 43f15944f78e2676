/* Messages of ElevenLabs' speech, line by line: no input may crash, leak or pass a bound; words end
 * where their bytes fit. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/eleven.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_word(const char *word, size_t n, uint64_t ends, void *arg)
{
	(void)ends;
	if (!n || n > ELEVEN_WORD_MAX || *word == ' ')
		abort();
	++*(unsigned *)arg;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eleven_word word = {.n = 0};
	struct eleven_fact f;
	unsigned words = 0;

	while (size) {
		const uint8_t *nl = memchr(data, '\n', size);
		size_t n = nl ? (size_t)(nl - data) : size;

		if (eleven_parse(&f, data, n) == 0) {
			if ((f.type == ELEVEN_AUDIO || f.type == ELEVEN_FINAL) && !f.context)
				abort();
			if (f.alignment)
				eleven_words(&word, &f, 100, on_word, &words);
			eleven_trouble(f.text.p, f.text.n);
			eleven_fact_clear(&f);
		}
		data += n + (nl != NULL);
		size -= n + (nl != NULL);
	}
	eleven_last_word(&word, on_word, &words);
	return 0;
}
