/* Recognition of a catalogue of made-up voices. */
#include "tests/standins/prompts.h"
#include "tests/standins/recognition.h"
#include "tests/test.h"

#include <math.h>
#include <unistd.h>

enum { RATE = SI_PROMPT_RATE, VOICE = RATE * 3 / 2, PROMPTS = 6, LOUD = 3000 };

static const char *const texts[PROMPTS] = {
	"what time is it now", "the river runs north",	"please stop right there",
	"I like the old one",  "all of them came late", "nobody wrote it down",
};

static double next_random(uint64_t *r)
{
	*r = *r * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(*r >> 33) / 2147483648.0 * 2 - 1;
}

/* Syllables of harmonics whose pitch and length depend on the seed. */
static void voice_make(int16_t *pcm, unsigned seed)
{
	uint64_t r = seed * 77 + 5;
	double phase = 0, pitch = 120, bright = 1, length = 0, at = 0;

	for (unsigned i = 0; i < VOICE; i++, at++) {
		double env;

		if (at >= length) {
			at = 0;
			length = RATE * (0.16 + 0.06 * next_random(&r));
			pitch = 150 + 60 * next_random(&r);
			bright = 1 + next_random(&r);
		}
		env = sin(M_PI * at / length);
		phase += 2 * M_PI * pitch / RATE;
		pcm[i] = (int16_t)(LOUD * env *
				   (sin(phase) + bright * sin(3 * phase) + 0.5 * sin(7 * phase)));
	}
}

struct fixture {
	char folder[64];
	struct si_prompts *prompts;
	struct si_recognition *r;
	int16_t pcm[PROMPTS][VOICE];
};

static bool fixture_make(struct fixture *f)
{
	char path[128];
	FILE *list;

	snprintf(f->folder, sizeof f->folder, "/tmp/parley-prompts-XXXXXX");
	if (!mkdtemp(f->folder))
		return false;
	snprintf(path, sizeof path, "%s/prompts.tsv", f->folder);
	list = fopen(path, "w");
	for (unsigned i = 0; list && i < PROMPTS; i++) {
		FILE *pcm;

		voice_make(f->pcm[i], i + 1);
		fprintf(list, "%u.pcm\t%s\n", i, texts[i]);
		snprintf(path, sizeof path, "%s/%u.pcm", f->folder, i);
		pcm = fopen(path, "wb");
		if (!pcm || fwrite(f->pcm[i], 2, VOICE, pcm) != VOICE || fclose(pcm))
			return false;
	}
	if (!list || fclose(list))
		return false;
	snprintf(path, sizeof path, "%s/prompts.tsv", f->folder);
	if (si_prompts_alloc(&f->prompts, path))
		return false;
	f->r = si_recognition_new(f->prompts);
	return true;
}

static void fixture_end(struct fixture *f)
{
	char path[128];

	for (unsigned i = 0; i < PROMPTS; i++) {
		snprintf(path, sizeof path, "%s/%u.pcm", f->folder, i);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/prompts.tsv", f->folder);
	unlink(path);
	rmdir(f->folder);
	si_recognition_free(f->r);
	si_prompts_free(f->prompts);
}

/* Silence, then n samples of the prompt with noise of this size, in frames of 20 ms. */
static void hear(struct fixture *f, unsigned prompt, size_t n, double noise)
{
	static int16_t x[RATE / 3 + VOICE + RATE / 2];
	size_t lead = RATE / 3 + 7, size = lead + n;
	uint64_t r = 9;

	memset(x, 0, sizeof x);
	for (size_t i = 0; i < size; i++)
		x[i] = (int16_t)((i >= lead ? f->pcm[prompt][i - lead] : 0) +
				 noise * LOUD * next_random(&r));
	for (size_t at = 0; at < size; at += RATE / 50)
		si_recognition_take(f->r, x + at, size - at < RATE / 50 ? size - at : RATE / 50);
}

/* How many words of the text are in the transcript, in any place. */
static unsigned words_found(const char *text, const char *heard)
{
	unsigned n = 0;
	char word[32];

	while (*text) {
		size_t m = strcspn(text, " ");

		snprintf(word, sizeof word, "%.*s", (int)m, text);
		n += strstr(heard, word) != NULL;
		text += m + strspn(text + m, " ");
	}
	return n;
}

TEST(recognition_knows_each_prompt_by_its_sound)
{
	struct fixture f;
	char words[SI_RECOGNITION_TEXT];
	uint32_t delay;
	unsigned found = 0;

	CHECK(fixture_make(&f));
	for (unsigned i = 0; i < PROMPTS; i++) {
		si_recognition_clear(f.r);
		hear(&f, i, VOICE, 0);
		si_recognition_end(f.r);
		CHECK(si_recognition_ratio(f.r) > 15);
		si_recognition_words(f.r, words, &delay);
		CHECK_INT(delay, 0);
		found += words_found(texts[i], words);
	}
	/* Of 25 words; the table has 3 % of errors. */
	CHECK(found >= 22);
	fixture_end(&f);
}

TEST(recognition_hears_one_utterance_after_the_other_without_a_pause)
{
	struct fixture f;
	char words[SI_RECOGNITION_TEXT];
	uint32_t delay;

	CHECK(fixture_make(&f));
	for (unsigned i = 0; i < 12; i++) {
		si_recognition_take(f.r, f.pcm[3], VOICE);
		si_recognition_end(f.r);
		si_recognition_words(f.r, words, &delay);
		CHECK(words_found(texts[3], words) >= 4);
		si_recognition_clear(f.r);
	}
	fixture_end(&f);
}

TEST(recognition_returns_no_words_for_sound_that_is_no_prompt)
{
	struct fixture f;
	char words[SI_RECOGNITION_TEXT];
	uint32_t delay;
	int16_t other[VOICE];

	CHECK(fixture_make(&f));
	voice_make(other, 1234);
	si_recognition_take(f.r, other, VOICE);
	si_recognition_end(f.r);
	si_recognition_words(f.r, words, &delay);
	CHECK_STR(words, "");
	si_recognition_clear(f.r);
	memset(other, 0, sizeof other);
	si_recognition_take(f.r, other, VOICE);
	si_recognition_end(f.r);
	si_recognition_words(f.r, words, &delay);
	CHECK_STR(words, "");
	fixture_end(&f);
}

TEST(recognition_has_only_the_words_that_were_heard)
{
	struct fixture f;
	char words[SI_RECOGNITION_TEXT];
	uint32_t delay;

	CHECK(fixture_make(&f));
	hear(&f, 1, VOICE / 2, 0);
	si_recognition_words(f.r, words, &delay);
	CHECK(strstr(words, "river"));
	CHECK(!strstr(words, "north"));
	fixture_end(&f);
}

TEST(recognition_measures_noise_and_is_late_in_it)
{
	struct fixture f;
	char words[SI_RECOGNITION_TEXT];
	uint32_t delay;
	double ratio;

	CHECK(fixture_make(&f));
	hear(&f, 2, VOICE, 2);
	si_recognition_end(f.r);
	ratio = si_recognition_ratio(f.r);
	CHECK(ratio > -6 && ratio < 6);
	si_recognition_words(f.r, words, &delay);
	CHECK(delay >= 50);
	/* Louder still: nothing is understood. */
	si_recognition_clear(f.r);
	hear(&f, 2, VOICE, 8);
	si_recognition_end(f.r);
	si_recognition_words(f.r, words, &delay);
	CHECK_STR(words, "");
	fixture_end(&f);
}

TEST(prompts_are_spoken_by_their_letters)
{
	struct fixture f;
	int16_t *pcm;
	size_t n = 0;

	CHECK(fixture_make(&f));
	pcm = si_prompts_speak(f.prompts, " Please stop, right there. The river runs north!", &n);
	CHECK(pcm && n == 2 * VOICE);
	CHECK_MEM(pcm, VOICE * 2, f.pcm[2], VOICE * 2);
	free(pcm);
	CHECK(!si_prompts_speak(f.prompts, "please stop right there and then", &n));
	fixture_end(&f);
}
