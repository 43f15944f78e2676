/* Server events of the OpenAI Realtime dialect, then base64: no input may crash, leak or pass a
 * bound; what is read can be written again as a client event. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"
#include "control/dialect/openai.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(struct slice audio)
{
	size_t cap = base64_decoded(audio.n), len = 0;
	uint8_t *pcm = malloc(cap ? cap : 1);
	char *again;

	if (!pcm)
		return;
	if (base64_decode((const char *)audio.p, audio.n, pcm, cap, &len) == 0) {
		if (len > cap || base64_encoded(len) != audio.n)
			abort();
		again = malloc(audio.n + 1);
		if (again) {
			base64_encode(pcm, len, again);
			/* The spare bits of the last group may differ; all before must not. */
			if (audio.n > 4 && memcmp(again, audio.p, audio.n - 4) != 0)
				abort();
		}
		free(again);
	}
	free(pcm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct openai_fact f;

	decode((struct slice){data, size});
	if (openai_parse(&f, data, size))
		return 0;
	if (strlen(f.item) >= OPENAI_ID_MAX || strlen(f.response) >= OPENAI_ID_MAX)
		abort();
	if (f.type == OPENAI_AUDIO)
		decode(f.audio);
	if (f.type == OPENAI_TEXT || f.type == OPENAI_TRANSCRIPT) {
		char *text = strndup((const char *)f.text.p, f.text.n);

		/* JSON gave it as UTF-8, so it goes back as an item. */
		if (text) {
			char *item = openai_item(f.item, false, text);

			if (!item)
				abort();
			free(item);
		}
		free(text);
	}
	if (*f.item)
		free(openai_truncate(f.item, f.ask));
	if (*f.response)
		free(openai_cancel(f.response));
	openai_fact_clear(&f);
	return 0;
}
