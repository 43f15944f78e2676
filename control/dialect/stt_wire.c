#include "control/dialect/stt_wire.h"

#include <jansson.h>

const struct stt_wire *stt_wire(enum dialect dialect)
{
	switch (dialect) {
	case DIALECT_OPENAI:
	case DIALECT_EMBEDDED:
		return &stt_openai;
	case DIALECT_XAI:
		return &stt_xai;
	case DIALECT_ELEVENLABS:
		return &stt_scribe;
	case DIALECT_VLLM:
		return &stt_vllm;
	case DIALECT_XAI_STT:
		return &stt_xai_stt;
	default:
		return NULL;
	}
}

void stt_fact_clear(struct stt_fact *fact)
{
	json_decref(fact->tree);
	*fact = (struct stt_fact){0};
}
