#include "tests/standins/mind.h"
#include "tests/standins/multipart.h"
#include "tests/standins/script.h"
#include "tests/standins/vad.h"
#include "tests/test.h"

static struct si_script *no_script(void)
{
	struct si_script *s = NULL;
	const char *why;
	unsigned line;

	si_script_alloc(&s, "", 0, &line, &why);
	return s;
}

/* True if the answer to the last line is this text. */
static bool says(const struct si_mind *m, const char *instructions, const char *text)
{
	struct si_script *s = no_script();
	struct si_answer a;
	bool same;

	si_mind_answer(m, s, instructions, &a);
	same = strcmp(a.text, text) == 0;
	if (!same)
		printf("it says: %s\n", a.text);
	si_answer_clear(&a);
	si_script_free(s);
	return same;
}

TEST(standin_mind_knows_only_what_it_received)
{
	struct si_mind *m = si_mind_new(), *other;

	si_mind_add(m, "user", "item_1", "[Alice]: the code word is swan.");
	CHECK(says(m, NULL, "I will remember it."));
	si_mind_add(m, "user", "item_2", "[Bob]: what is the code word?");
	CHECK(says(m, NULL, "The code word is swan."));
	other = si_mind_copy(m);
	si_mind_remove(m, "item_1");
	CHECK(says(m, NULL, "Nobody told me the code word."));
	CHECK(says(other, NULL, "The code word is swan."));
	si_mind_free(m);
	si_mind_free(other);
}

TEST(standin_mind_keeps_lines_in_the_order_of_its_items)
{
	struct si_mind *m = si_mind_new();

	si_mind_add(m, "user", "q1", "what did you say");
	CHECK(says(m, NULL, "I said: nothing"));
	si_mind_add(m, "assistant", "a1", "first");
	si_mind_add(m, "assistant", "a2", "second");
	CHECK(says(m, NULL, "I said: second"));
	si_mind_add(m, "assistant", "a3", "between");
	si_mind_move(m, "a3", "a1");
	CHECK(says(m, NULL, "I said: second"));
	si_mind_remove(m, "a2");
	CHECK(says(m, NULL, "I said: between"));
	si_mind_move(m, "a3", "root");
	CHECK(says(m, NULL, "I said: first"));
	si_mind_free(m);
}

TEST(standin_mind_follows_its_rules)
{
	struct si_mind *m = si_mind_new();
	json_t *tools = json_loads("[{\"type\":\"function\",\"name\":\"look\"}]", 0, NULL);
	struct si_script *s = no_script();
	struct si_answer a;

	si_mind_add(m, "user", NULL, "[Alice]: good morning");
	CHECK(says(m, NULL, "You said: good morning"));
	CHECK(says(m, "Say exactly: \"All is well.\"", "All is well."));
	si_mind_add(m, "user", NULL, "parley count to 3");
	CHECK(says(m, NULL, "one two three."));
	si_mind_add(m, "user", NULL, "(Bob said: count to 9)\n[Alice]: good evening");
	CHECK(says(m, NULL, "You said: good evening"));
	si_mind_add(m, "user", NULL, "use the tool look {\"at\":1}");
	CHECK(says(m, NULL, "You said: use the tool look {\"at\":1}"));
	si_mind_tools(m, tools);
	si_mind_answer(m, s, NULL, &a);
	CHECK_STR(a.call, "look");
	CHECK_STR(a.arguments, "{\"at\":1}");
	si_answer_clear(&a);
	si_mind_add(m, "tool", "call_1", "blue");
	CHECK(says(m, NULL, "The tool says blue."));
	json_decref(tools);
	si_script_free(s);
	si_mind_free(m);
}

TEST(standin_multipart_finds_its_parts)
{
	static const char type[] = "multipart/form-data; boundary=xyz";
	static const char body[] = "--xyz\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n"
				   "scribe\r\n--xyz\r\nContent-Disposition: form-data; "
				   "name=\"file\"; filename=\"a.wav\"\r\nContent-Type: audio/wav"
				   "\r\n\r\nA\r\nB\r\n--xyz--\r\n";
	struct si_part p;
	char text[16];

	CHECK(si_multipart_text(type, body, sizeof body - 1, "model", text, sizeof text));
	CHECK_STR(text, "scribe");
	CHECK(si_multipart_find(type, body, sizeof body - 1, "file", &p));
	CHECK_MEM(p.data, p.n, "A\r\nB", 4);
	CHECK(!si_multipart_find(type, body, sizeof body - 1, "other", &p));
	CHECK(!si_multipart_find("application/json", body, sizeof body - 1, "file", &p));
	for (size_t n = 0; n < sizeof body - 10; n++)
		CHECK(!si_multipart_find(type, body, n, "file", &p));
}

TEST(standin_vad_finds_the_edges_of_speech)
{
	int16_t loud[480], quiet[480] = {0};
	struct si_vad v = {0};

	for (size_t i = 0; i < 480; i++)
		loud[i] = i % 2 ? 2000 : -2000;
	CHECK_INT(si_vad_frame(&v, quiet, 480, 100), SI_VAD_NONE);
	CHECK_INT(si_vad_frame(&v, loud, 480, 100), SI_VAD_STARTED);
	CHECK_INT(si_vad_frame(&v, loud, 480, 100), SI_VAD_NONE);
	for (int i = 0; i < 4; i++)
		CHECK_INT(si_vad_frame(&v, quiet, 480, 100), SI_VAD_NONE);
	CHECK_INT(si_vad_frame(&v, quiet, 480, 100), SI_VAD_STOPPED);
}
