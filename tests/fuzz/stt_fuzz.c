/* Messages of transcription sessions and answers to recordings: no input may crash, leak or pass a
 * bound. The first byte selects the dialect. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/stt_file.h"
#include "control/dialect/stt_wire.h"
#include "proto/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void recording(const uint8_t *data, size_t size)
{
	struct openai_words w;

	if (stt_file_scribe.parse(&w, (const char *)data, size) == 0 &&
	    (!memchr(w.text, '\0', sizeof w.text) || !utf8_valid(w.text) || w.no_speech))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct stt_wire *const wires[] = {&stt_openai, &stt_xai, &stt_scribe,
						       &stt_vllm, &stt_xai_stt};
	struct stt_fact f;

	if (!size)
		return 0;
	recording(data + 1, size - 1);
	if (wires[data[0] % 4]->parse(&f, data + 1, size - 1))
		return 0;
	if (!memchr(f.item, '\0', sizeof f.item) || !memchr(f.code, '\0', sizeof f.code) ||
	    !f.text.p)
		abort();
	for (size_t i = 0; i < f.text.n; i++)
		if (f.type == STT_IGNORED || f.text.p[i] == 0xff)
			abort();
	stt_fact_clear(&f);
	return 0;
}
