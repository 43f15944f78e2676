#include "control/offline/record.h"
#include "control/offline/speech.h"
#include "control/offline/wavfile.h"
#include "tests/test.h"

#include <unistd.h>

struct sound {
	size_t n;
	unsigned pieces;
	char words[512];
	int peak;
	bool stop;
};

static bool on_sound(const int16_t *pcm, size_t n, const char *piece, void *arg)
{
	struct sound *s = arg;

	s->n += n;
	s->pieces += *piece != '\0';
	snprintf(s->words + strlen(s->words), sizeof s->words - strlen(s->words), "%s", piece);
	for (size_t i = 0; i < n; i++)
		if (abs(pcm[i]) > s->peak)
			s->peak = abs(pcm[i]);
	return !s->stop;
}

TEST(speech_says_sentence_by_sentence)
{
	struct speech *s = NULL;
	struct sound a = {.n = 0}, b = {.stop = true};

	CHECK_INT(speech_alloc(&s), 0);
	CHECK_INT(speech_say(s, "It is late. Good night!", "slt", 1, on_sound, &a), 0);
	CHECK_INT(a.pieces, 2);
	CHECK_STR(a.words, "It is late. Good night!");
	CHECK(a.n > SPEECH_RATE / 2 && a.n < SPEECH_RATE * 5);
	CHECK(a.peak > 1000);
	CHECK_INT(speech_say(s, "It is late. Good night!", "rms", 1.5, on_sound, &b), 0);
	CHECK_INT(b.pieces, 1);
	CHECK(b.n < SPEECH_RATE);
	CHECK_INT(speech_say(s, "x", "hal", 1, on_sound, &a), EINVAL);
	CHECK_INT(speech_say(s, "x", "slt", 9, on_sound, &a), EINVAL);
	CHECK_INT(speech_say(s, "", "slt", 1, on_sound, &a), 0);
	speech_free(s);
}

TEST(speech_sentence_ends_at_a_stop)
{
	CHECK_INT(speech_sentence("One. Two."), 4);
	CHECK_INT(speech_sentence(" Two."), 5);
	CHECK_INT(speech_sentence("It is 3.5 now"), 13);
	CHECK_INT(speech_sentence("  "), 0);
}

TEST(record_keeps_words_and_sound)
{
	char dir[] = "/tmp/parley-record-XXXXXX", path[64], line[256];
	static const int16_t pcm[3] = {1, -2, 3};
	struct record *r = NULL;
	uint32_t rate = 0;
	int16_t *back = NULL;
	size_t n = 0;
	FILE *f;

	CHECK(mkdtemp(dir));
	CHECK_INT(record_open(&r, dir, 100), 0);
	CHECK_INT(record_add(r, 142, "heard", "what \"time\"", 1, pcm, 3), 0);
	record_close(r);
	snprintf(path, sizeof path, "%s/events.jsonl", dir);
	f = fopen(path, "r");
	CHECK(f && fgets(line, sizeof line, f));
	fclose(f);
	CHECK_STR(line, "{\"ms\":42,\"kind\":\"heard\",\"text\":\"what "
			"\\\"time\\\"\",\"wav\":\"heard-1.wav\",\"inside\":true}"
			"\n");
	unlink(path);
	snprintf(path, sizeof path, "%s/heard-1.wav", dir);
	CHECK_INT(wavfile_read(path, &rate, &back, &n), 0);
	CHECK_INT(rate, 24000);
	CHECK_MEM(back, n * 2, pcm, 6);
	free(back);
	unlink(path);
	CHECK_INT(wavfile_read(path, &rate, &back, &n), ENOENT);
	rmdir(dir);
}
