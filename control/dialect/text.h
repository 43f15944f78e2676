/* Text models: one table row for each way to ask one over HTTP.
 *
 *   row                    POST               sources
 *   text_dialect_chat      chat/completions   OpenAI's OpenAPI document
 * (CreateChatCompletionRequest, CreateChatCompletionStreamResponse); llama.cpp, Ollama, vLLM and
 * LocalAI deviate as text_options says text_dialect_responses responses          the same
 * (CreateResponse, Response*Event) text_dialect_messages  messages           Anthropic's Messages
 * API, version 2026-10-21
 *
 * Pure. A request becomes a body, and the data of each server-sent event, or an answer that comes
 * whole, becomes facts. Reasoning is never a fact. Every pointer is borrowed for the call; texts
 * that are returned are freed by the caller with free(), and NULL is ENOMEM. */
#ifndef CONTROL_DIALECT_TEXT_H
#define CONTROL_DIALECT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/engine/core/ask.h"
#include "control/settings/usage.h"

enum {
	TEXT_ID_MAX = 128,
	TEXT_NAME_MAX = 72,
	TEXT_CALLS_MAX = 16,	    /* in one answer */
	TEXT_SEARCHES_MAX = 32,	    /* of the provider, in one answer */
	TEXT_ARGUMENTS_MAX = 24000, /* bytes of one call */
	TEXT_EVENT_MAX = 1 << 20,   /* bytes of one event, or of a whole answer */
	TEXT_VERSION_MAX = 24,
	TEXT_EFFORT_MAX = 16,
};

/* ---- options of a provider ---- */

/* Whether a request tells the schema of its answer. */
enum text_schema { TEXT_SCHEMA_BY_MODEL, TEXT_SCHEMA_NEVER, TEXT_SCHEMA_ALWAYS };

/* Local servers that deviate from the dialect of chat completions. */
enum text_server {
	TEXT_SERVER_ANY,
	TEXT_SERVER_LLAMACPP,
	TEXT_SERVER_OLLAMA,
	TEXT_SERVER_VLLM,
	TEXT_SERVER_LOCALAI
};

struct text_options {
	enum text_server server; /* "server" */
	bool store;		 /* "store": the provider keeps the conversation */
	bool stream_usage;	 /* option "stream_usage": requests usage; default true */
	bool cache;		 /* "cache": marks for the prompt cache; default true */
	bool bearer;		 /* "bearer": the key goes as a bearer token; default false */
	enum text_schema schema; /* "schema": true or false; default by server and model */
	int32_t slot;		 /* "slot" of the server's cache; -1: whichever is free */
	char version[TEXT_VERSION_MAX]; /* "version" of the protocol */
	char effort[TEXT_EFFORT_MAX];	/* "effort" of reasoning; "": the model's own */
	uint32_t output_tokens;		/* "output_tokens": the limit of an ask that has none */
};
/* json: the options of a provider's record, or "". Members that are unknown or of another type are
 * passed over. */
void text_options_parse(struct text_options *out, const char *json);

/* ---- requests ---- */

struct text_request {
	const struct engine_ask *ask;
	const struct text_options *options;
	size_t from;	      /* messages before this one are known to the provider */
	const char *previous; /* id of the answer that this continues, or "" */
	bool stream;
};

/* ---- what comes back ---- */

enum text_fact_type {
	TEXT_WORDS,	   /* text: more of the answer */
	TEXT_CALL_START,   /* call, tool */
	TEXT_CALL_MORE,	   /* call, text: more of its arguments */
	TEXT_CALL,	   /* call, tool, text: all of its arguments, "{}" for none; too_large */
	TEXT_SEARCH_BEGAN, /* the provider searches the web by itself */
	TEXT_SEARCHED, /* text: the query, or the address of a page; failed. One for each BEGAN */
	TEXT_SOURCE,   /* text: the address of a page that the answer cites; title */
	TEXT_USAGE,    /* usage: once, before the end */
	TEXT_DONE,     /* end */
	TEXT_FAILED,   /* text: why, one line; nothing follows */
};
struct text_fact {
	enum text_fact_type type;
	struct slice text;
	const char *call, *tool;
	const struct usage *usage;
	enum engine_end end;
	bool too_large; /* of CALL: the arguments are, and text is empty */
	bool failed;
	const char *title; /* "" for none */
};
/* False: nothing more is wanted. */
typedef bool(text_fact_h)(const struct text_fact *fact, void *arg);

struct text_call {
	char key[TEXT_ID_MAX]; /* by which its fragments are known */
	char id[TEXT_ID_MAX], tool[TEXT_NAME_MAX];
	char *arguments;
	size_t n, cap;
	bool told; /* whole */
	bool too_large;
};

/* The answer so far. A struct of zeros but for `ask` is ready; text_stream_clear
 * frees it. */
struct text_stream {
	uint32_t ask; /* makes ids of calls that have none differ from those of other answers */
	struct text_call calls[TEXT_CALLS_MAX];
	unsigned n_calls;
	unsigned searches_begun, searches_told; /* of the provider's own */
	char response[TEXT_ID_MAX];		/* the answer's own id, "" when it has none */
	struct usage usage;
	bool used;     /* usage is known */
	bool words;    /* some were told */
	bool finished; /* the server said that the answer ends here */
	bool over;     /* DONE or FAILED was told, or the handler wants no more */
	enum engine_end end;
	/* Reasoning that stands in the text, between <think> and </think>. */
	enum { TEXT_THINK_UNKNOWN, TEXT_THINK_INSIDE, TEXT_THINK_OVER } think;
	char held[16]; /* the text's beginning, or the end of reasoning, while it may be a mark */
	size_t n_held;
	text_fact_h *h;
	void *arg;
};

struct text_dialect {
	const char *path;	 /* after the provider's base */
	const char *key_header;	 /* the name of the header that holds the key; NULL: bearer token */
	const char *version;	 /* the name of the header with the version; NULL: none */
	const char *version_now; /* its value when the options name none */
	bool searches;		 /* the provider can search the web by itself */
	bool continues;		 /* takes the id of the answer that it continues */
	char *(*build)(const struct text_request *request);
	/* One event's data, or a whole answer, as a JSON object. */
	int (*read)(struct text_stream *s, const void *root);
};
extern const struct text_dialect text_dialect_chat, text_dialect_responses, text_dialect_messages;

/* The data of one event of a stream, or a whole answer: calls h for each fact. EBADMSG, EMSGSIZE
 * (drop it and go on), ENOMEM, ECANCELED nothing more is wanted. */
int text_stream_read(struct text_stream *s, const struct text_dialect *d, const uint8_t *data,
		     size_t n, text_fact_h *h, void *arg);
/* The server has closed the answer: tells what is still to be told, and DONE or FAILED. */
void text_stream_end(struct text_stream *s, text_fact_h *h, void *arg);
void text_stream_clear(struct text_stream *s);

/* The request that clears the slot of a cancelled answer; false when the server offers none. path
 * is relative to the server's root. */
bool text_slot_cancel(const struct text_options *o, const char **method, char *path, size_t size);

#endif
