#include "tests/standins/ear.h"

#include <stdlib.h>
#include <string.h>

#include "ipc/log.h"
#include "tests/standins/prompts.h"
#include "tests/standins/recognition.h"
#include "tests/standins/record.h"
#include "tests/standins/sound.h"
#include "tests/standins/standin.h"

bool si_ear_take(struct si_ear *e, const void *pcm, size_t bytes)
{
	if (bytes % 2)
		return false;
	if (e->n + bytes / 2 > e->cap) {
		e->cap = (e->n + bytes / 2) * 2;
		e->pcm = realloc(e->pcm, e->cap * 2);
		if (!e->pcm)
			abort();
	}
	if (bytes)
		memcpy(e->pcm + e->n, pcm, bytes);
	e->n += bytes / 2;
	si_record_pcm(e->st->record, si_link_number(e->link), pcm, bytes);
	if (e->st->prompts && e->rate == SI_PROMPT_RATE) {
		if (!e->recognition)
			e->recognition = si_recognition_new(e->st->prompts);
		si_recognition_take(e->recognition, pcm, bytes / 2);
	}
	return true;
}

bool si_ear_take_base64(struct si_ear *e, const json_t *audio)
{
	size_t n;
	uint8_t *data = si_unbase64(json_string_value(audio), json_string_length(audio), &n);
	bool good = data && si_ear_take(e, data, n);

	free(data);
	return good;
}

bool si_ear_interim(struct si_ear *e, const char **text, uint32_t *delay_ms)
{
	char words[SI_RECOGNITION_TEXT];

	if (!e->recognition)
		return false;
	si_recognition_words(e->recognition, words, delay_ms);
	if (!*words || (e->interim && strcmp(e->interim, words) == 0))
		return false;
	free(e->interim);
	e->interim = si_copy(words, strlen(words));
	*text = e->interim;
	*delay_ms += SI_RECOGNITION_INTERIM_MS;
	return true;
}

/* The words that were recognised; they are due later. */
static void recognised(struct si_ear *e, char words[SI_RECOGNITION_TEXT])
{
	uint32_t delay_ms;

	si_recognition_end(e->recognition);
	si_recognition_words(e->recognition, words, &delay_ms);
	log_info("recognised", "ratio_db=%.1f seconds=%.2f words=\"%s\"",
		 si_recognition_ratio(e->recognition), (double)e->n / e->rate, words);
	si_recognition_clear(e->recognition);
	free(e->interim);
	e->interim = NULL;
	e->acts.delay_ms += SI_RECOGNITION_FINAL_MS + delay_ms;
}

void si_ear_commit(struct si_ear *e)
{
	si_link_fire(e->link, SI_COMMIT, &e->acts);
}

static void on_words(const char *words, void *arg)
{
	struct si_ear *e = arg;

	e->hearing = NULL;
	free(e->words);
	e->words = si_copy(words ? words : "", words ? strlen(words) : 0);
	si_plan(e->link, &(struct si_plan){.out = SI_OUT_CALL,
					   .after_ms = e->acts.delay_ms,
					   .h = e->h,
					   .arg = e->arg});
}

void si_ear_hear(struct si_ear *e)
{
	const char *text = e->acts.transcript ? e->acts.transcript->text : NULL;
	char words[SI_RECOGNITION_TEXT];

	if (e->recognition) {
		recognised(e, words);
		text = text ? text : words;
	}
	if (!e->acts.silent && !e->hearing)
		e->hearing = si_sound_hear(e->st, e->pcm, e->n, e->rate, text, on_words, e);
	e->n = 0;
}

void si_ear_clear(struct si_ear *e)
{
	si_sound_cancel(e->hearing);
	si_recognition_free(e->recognition);
	free(e->interim);
	free(e->words);
	free(e->pcm);
}
