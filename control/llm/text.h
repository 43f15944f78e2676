/* A model that writes: answers, word by word as it writes them, and judgements of a word. A shell around
 * control/dialect (chat completions).
 *
 * It remembers nothing: each question carries what is to be known. A cancelled one is let go by closing its connection,
 * with which servers stop to write. There is no deadline of its own but LLM_TEXT_MS: whoever asks cancels.
 *
 * Everything runs on env's loop thread. The provider is borrowed. The handler is never called from inside a function of
 * this header; each question gets exactly one LLM_DONE or LLM_FAILED, unless it is cancelled. */
#ifndef CONTROL_LLM_TEXT_H
#define CONTROL_LLM_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct llm_text;
struct provider;

enum { LLM_TEXT_MS = 120000, LLM_TEXT_AT_ONCE = 16 };

enum llm_event {
	LLM_WORDS,  /* data: the next words, UTF-8 */
	LLM_DONE,   /* that was all */
	LLM_FAILED, /* data: why */
	LLM_JUDGED, /* data: all that was written, of llm_text_judge */
	LLM_UNJUDGED, /* data: why not */
};
/* data is borrowed until return, not NUL-terminated. */
typedef void(llm_h)(enum llm_event ev, uint32_t turn, const char *data, size_t n, void *arg);

/* ENOMEM, EINVAL. Caller owns *out, and frees it outside the handler. */
int llm_text_alloc(struct llm_text **out, struct provider *provider, llm_h *h, void *arg);
struct llm_text *llm_text_free(struct llm_text *t);

/* context: what is to be known; line: what was said. Texts are copied. ENOMEM, EBUSY too many are under way. */
int llm_text_ask(struct llm_text *t, const char *model, uint32_t turn, const char *context, const char *line);
/* What was asked last, once more. ENOENT it was of another turn. */
int llm_text_again(struct llm_text *t, uint32_t turn);
void llm_text_cancel(struct llm_text *t, uint32_t turn);
/* A word on a prompt, of so many tokens at most, within ms. */
int llm_text_judge(struct llm_text *t, const char *model, uint32_t turn, const char *prompt, unsigned tokens,
		   uint32_t ms);

#endif
