/* A model that writes: answers, word by word as it writes them, and judgements of a word. A shell
 * around control/dialect (chat completions).
 *
 * It remembers nothing: each question carries what is to be known. A cancelled one is let go by
 * closing its connection, with which servers stop to write. There is no deadline of its own but
 * ENGINE_TEXT_MS: whoever asks cancels.
 *
 * Everything runs on env's loop thread. The provider is borrowed. The handler is never called from
 * inside a function of this header; each question gets exactly one ENGINE_TEXT_DONE or
 * ENGINE_TEXT_FAILED, unless it is cancelled. */
#ifndef CONTROL_ENGINE_TEXT_H
#define CONTROL_ENGINE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct engine_text;
struct endpoint;

enum { ENGINE_TEXT_MS = 120000, ENGINE_TEXT_AT_ONCE = 16 };

enum engine_text_event {
	ENGINE_TEXT_WORDS,    /* data: the next words, UTF-8 */
	ENGINE_TEXT_DONE,     /* that was all */
	ENGINE_TEXT_FAILED,   /* data: why */
	ENGINE_TEXT_JUDGED,   /* data: all that was written, of engine_text_judge */
	ENGINE_TEXT_UNJUDGED, /* data: why not */
};
/* data is borrowed until return, not NUL-terminated. */
typedef void(engine_text_h)(enum engine_text_event ev, uint32_t turn, const char *data, size_t n,
			    void *arg);

/* ENOMEM, EINVAL. Caller owns *out, and frees it outside the handler. */
int engine_text_alloc(struct engine_text **out, struct endpoint *provider, engine_text_h *h,
		      void *arg);
struct engine_text *engine_text_free(struct engine_text *t);

/* context: what is to be known; line: what was said. Texts are copied. ENOMEM, EBUSY too many are
 * under way. */
int engine_text_ask(struct engine_text *t, const char *model, uint32_t turn, const char *context,
		    const char *line);
/* What was asked last, once more. ENOENT it was of another turn. */
int engine_text_again(struct engine_text *t, uint32_t turn);
void engine_text_cancel(struct engine_text *t, uint32_t turn);
/* A word on a prompt, of so many tokens at most, within ms. */
int engine_text_judge(struct engine_text *t, const char *model, uint32_t turn, const char *prompt,
		      unsigned tokens, uint32_t ms);

#endif
