#include "control/dialect/stt_file.h"

static const struct stt_file openai = {.endpoint = "audio/transcriptions",
				       .build = openai_transcription,
				       .parse = openai_transcript};

const struct stt_file *stt_file(enum dialect dialect)
{
	switch (dialect) {
	case DIALECT_OPENAI:
	case DIALECT_EMBEDDED:
	case DIALECT_VLLM:
		return &openai;
	case DIALECT_ELEVENLABS:
		return &stt_file_scribe;
	default:
		return NULL;
	}
}
