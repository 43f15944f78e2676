/* Shared by the files of the text dialects (text.h). For control/dialect/text_*.c only. */
#ifndef CONTROL_DIALECT_TEXT_INSIDE_H
#define CONTROL_DIALECT_TEXT_INSIDE_H

#include <jansson.h>

#include "control/dialect/text.h"

/* ---- text_build.c ---- */
/* Steals root; NULL stays NULL. */
char *text_print(json_t *root);
/* Sets a member and steals the value; false without memory. */
bool text_put(json_t *root, const char *name, json_t *value);
/* "[Alice]: hello", or the text alone. */
json_t *text_line(const struct engine_message *m);
/* "data:image/jpeg;base64,…" */
json_t *text_data_url(const struct engine_image *image);
/* The image's bytes in base64. */
json_t *text_base64(const struct slice *data);
/* The JSON in text, or an empty object when it is none. */
json_t *text_json(const char *text);
/* Limit of the answer: the ask's, else the options'; 0: none. */
uint32_t text_limit(const struct text_request *r);
/* Effort of reasoning: the options', or for one word the least that the model knows; "": its own.
 */
const char *text_effort(const struct text_request *r);
/* A model of the service that made the dialects of chat completions and responses. */
bool text_is_openai(const char *model);
/* The schema of the answer, where there is one and the request should tell it: as the option says,
 * else if known and the model is none that refuses it. NULL: none. */
json_t *text_answer_schema(const struct text_request *r, bool known);

/* ---- text_stream.c ---- */
void text_tell_words(struct text_stream *s, const json_t *text);
/* As text_tell_words, without reasoning in marks. */
void text_tell_content(struct text_stream *s, const json_t *text);
/* The call of this key, begun if need be; NULL when there are too many. id and tool may be NULL. */
struct text_call *text_call_at(struct text_stream *s, const char *key, const char *id,
			       const char *tool);
void text_call_more(struct text_stream *s, struct text_call *c, const json_t *fragment);
/* All of it came; arguments: the whole of them, or NULL when the fragments were. */
void text_call_end(struct text_stream *s, struct text_call *c, const json_t *arguments);
void text_end_calls(struct text_stream *s);
/* Of an error object with code or type, and a message; or of a text. */
void text_fail(struct text_stream *s, const json_t *error);
/* The provider's own searches. query: borrowed, NULL is "". */
void text_search_began(struct text_stream *s);
void text_searched(struct text_stream *s, const char *query, bool failed);
/* Tells the ends of searches that the provider left open. */
void text_end_searches(struct text_stream *s);
void text_tell_source(struct text_stream *s, const char *url, const char *title);
uint64_t text_number(const json_t *object, const char *name);

#endif
