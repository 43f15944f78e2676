#include "control/dialect/stt_wire.h"

#include <errno.h>
#include <jansson.h>

#include "control/dialect/json_read.h"

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

int stt_fact_read(struct stt_fact *fact, const uint8_t *msg, size_t n, const char *name,
		  stt_read_h *h)
{
	struct stt_fact f = {.type = STT_IGNORED, .text = json_read_text(NULL, "")};
	const char *type;
	json_t *root;
	int err;

	if (n > STT_MESSAGE_MAX)
		return EMSGSIZE;
	root = json_loadb((const char *)msg, n, 0, NULL);
	type = json_string_value(json_object_get(root, name));
	err = type ? h(&f, root, type) : EBADMSG;
	if (err) {
		json_decref(root);
		return err;
	}
	f.tree = root;
	*fact = f;
	return 0;
}
