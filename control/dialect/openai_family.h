/* Differences of the dialects of the OpenAI Realtime family, as data (control/dialect/realtime.h).
 *
 * Sources: OpenAI's OpenAPI document, RealtimeClientEvent*, RealtimeServerEvent* and RealtimeBeta*;
 * xAI's Voice Agent API; LocalAI's realtime API. For control/dialect/openai_realtime*.c only. */
#ifndef CONTROL_DIALECT_OPENAI_FAMILY_H
#define CONTROL_DIALECT_OPENAI_FAMILY_H

#include "control/dialect/realtime.h"

struct openai_family {
	/* Shape of a session's description: audio formats and turn detection nested in it with a
	 * type (GA), formats nested and the rest beside them (xAI), or all of it flat (beta). */
	enum { OPENAI_SHAPE_GA, OPENAI_SHAPE_XAI, OPENAI_SHAPE_BETA } shape;
	const char *model; /* for conf without one; NULL for none */
	const char *said;  /* the type of a text that the assistant said */
	const char *limit; /* the name of the token limit of a response; NULL for none */
	bool metadata;	   /* brings metadata of a response back */
	bool modalities;   /* a response names its modalities */
	bool images;	   /* takes images */
	bool aside;	   /* answers beside the conversation, in text, while another answer runs */
	/* Speech of exact words: a response out of band, or an item of its own. */
	enum { OPENAI_LINE_NONE, OPENAI_LINE_OUT_OF_BAND, OPENAI_LINE_ITEM } line;
};

/* The metadata that brings the ask of an ASIDE back, and the beginning of its event's id. */
#define OPENAI_ASIDE	   "aside"
#define OPENAI_ASIDE_EVENT "aside-"

struct openai_codec {
	const struct openai_family *family;
	char *url, *model, *voice;
	uint32_t rate_in, rate_out;
	bool text_only;
};

int openai_realtime_encode(void *codec, const struct realtime_command *cmd, realtime_send_h *h,
			   void *arg);
int openai_realtime_decode(void *codec, bool text, const uint8_t *msg, size_t n,
			   struct realtime_facts *facts);

#endif
