#include "control/engine/core/traffic.h"

#include <string.h>

enum {
	CONTEXT_TOKENS = 262144,
	SPARE_IN = 4096,
	SPARE_OUT = 16384, /* thoughts that are not shown */
	SPARE_SOUND = 64,
	SOUND_A_SECOND = 64,
	IMAGE_TOKENS = 16384,
	SPARE_SECONDS = 2,
};

static uint64_t text_size(const char *text)
{
	return text ? strlen(text) : 0;
}

struct traffic traffic_of_ask(const struct engine_ask *ask)
{
	struct traffic t = {.text_in =
				    text_size(ask->instructions) + text_size(ask->answer_schema)};
	uint64_t bytes = 0;

	for (size_t i = 0; i < ask->n; i++) {
		const struct engine_message *m = &ask->messages[i];

		t.text_in += text_size(m->speaker) + text_size(m->text) + text_size(m->tool);
		t.images += (uint32_t)m->n_images;
	}
	for (size_t i = 0; i < ask->n_tools; i++)
		t.text_in += text_size(ask->tools[i].name) + text_size(ask->tools[i].description) +
			     text_size(ask->tools[i].schema);
	for (size_t i = 0; i < ask->n_sound; i++)
		bytes += ask->sound[i].n;
	t.sound_in_ms = bytes / (ENGINE_SOUND_RATE / 1000 * 2);
	return t;
}

void traffic_add(struct traffic *to, const struct traffic *more)
{
	to->text_in += more->text_in;
	to->text_out += more->text_out;
	to->sound_in_ms += more->sound_in_ms;
	to->sound_out_ms += more->sound_out_ms;
	to->images += more->images;
}

bool traffic_is_none(const struct traffic *t)
{
	return !t->text_in && !t->text_out && !t->sound_in_ms && !t->sound_out_ms && !t->images;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Lowers *value to the limit; true if that was needed. */
static bool lower(uint64_t *value, uint64_t most)
{
	bool low = *value > most;

	*value = least(*value, most);
	return low;
}

/* Lowers both, so that together they are at most this. */
static bool lower_two(uint64_t *full, uint64_t *cached, uint64_t most)
{
	bool low = lower(full, most);

	return lower(cached, most - *full) || low;
}

static uint64_t sound_tokens(uint64_t ms)
{
	return ms / 1000 * SOUND_A_SECOND + SOUND_A_SECOND + SPARE_SOUND;
}

bool traffic_bound(const struct traffic *context, const struct traffic *answer, struct usage *u)
{
	uint64_t read = context->text_in + context->text_out + answer->text_in;
	uint64_t heard = context->sound_in_ms + context->sound_out_ms + answer->sound_in_ms;
	uint64_t sound = least(sound_tokens(heard), CONTEXT_TOKENS);
	uint64_t spoken = sound_tokens(answer->sound_out_ms);
	uint64_t images = (uint64_t)(context->images + answer->images) * IMAGE_TOKENS;
	uint64_t text = least(2 * read + SPARE_IN + sound + images, CONTEXT_TOKENS);
	uint64_t seconds = (heard + answer->sound_out_ms) / 1000 + SPARE_SECONDS;
	bool low = false;

	low |= lower_two(&u->n[PRICE_TEXT_IN], &u->n[PRICE_TEXT_CACHED], text);
	low |= lower(&u->n[PRICE_TEXT_OUT],
		     least(2 * answer->text_out + SPARE_OUT + spoken, CONTEXT_TOKENS));
	low |= lower_two(&u->n[PRICE_AUDIO_IN], &u->n[PRICE_AUDIO_CACHED], sound);
	low |= lower(&u->n[PRICE_AUDIO_OUT], least(spoken, CONTEXT_TOKENS));
	low |= lower(&u->n[PRICE_IMAGE_IN], least(images, CONTEXT_TOKENS));
	low |= lower(&u->n[PRICE_CHARACTERS], answer->text_in);
	low |= lower(&u->n[PRICE_SECONDS], seconds);
	return low;
}

bool traffic_estimate(const struct traffic *t, const bool priced[PRICE_KINDS], struct usage *u)
{
	uint64_t images = t->images * UINT64_C(1000);
	const uint64_t units[PRICE_KINDS] = {
		[PRICE_TEXT_IN] = (t->text_in + 3) / 4 + (priced[PRICE_IMAGE_IN] ? 0 : images),
		[PRICE_TEXT_OUT] = (t->text_out + 3) / 4,
		[PRICE_AUDIO_IN] = t->sound_in_ms / 100,
		[PRICE_AUDIO_OUT] = t->sound_out_ms / 50,
		[PRICE_IMAGE_IN] = images,
		[PRICE_CHARACTERS] = t->text_in,
		[PRICE_SECONDS] = (t->sound_in_ms + t->sound_out_ms + 999) / 1000,
	};
	unsigned first = priced[PRICE_SECONDS]	    ? PRICE_SECONDS
			 : priced[PRICE_CHARACTERS] ? PRICE_CHARACTERS
						    : 0;
	bool any = false;

	*u = (struct usage){.estimated = true};
	for (unsigned i = first; i < PRICE_KINDS; i++) {
		u->n[i] = priced[i] ? units[i] : 0;
		any = any || u->n[i];
	}
	return any;
}
