#include "tests/standins/script.h"
#include "tests/test.h"

static struct si_script *script_of(const char *text)
{
	struct si_script *s = NULL;
	const char *why;
	unsigned line;

	return si_script_alloc(&s, text, strlen(text), &line, &why) ? NULL : s;
}

TEST(standin_script_counts_its_triggers)
{
	struct si_script *s = script_of("# a comment\n"
					"response 2 delay 500\n"
					"  response * say hello there  \n"
					"\n"
					"response 2 audio 3 abort\n"
					"commit error rate_limit_exceeded Slow down.\n");
	const struct si_act *acts[4];

	CHECK(s);
	CHECK_INT(si_script_fire(s, SI_RESPONSE, acts, 4), 1);
	CHECK_INT(acts[0]->action, SI_DO_SAY);
	CHECK_STR(acts[0]->text, "hello there  ");
	CHECK_INT(si_script_fire(s, SI_AUDIO, acts, 4), 0);
	CHECK_INT(si_script_fire(s, SI_AUDIO, acts, 4), 0);
	CHECK_INT(si_script_fire(s, SI_AUDIO, acts, 4), 0);
	CHECK_INT(si_script_fire(s, SI_RESPONSE, acts, 4), 2);
	CHECK_INT(acts[0]->action, SI_DO_DELAY);
	CHECK_INT(acts[0]->number, 500);
	CHECK_INT(si_script_fire(s, SI_AUDIO, acts, 4), 0);
	CHECK_INT(si_script_fire(s, SI_AUDIO, acts, 4), 0);
	CHECK_INT(si_script_fire(s, SI_AUDIO, acts, 4), 1);
	CHECK_INT(acts[0]->action, SI_DO_ABORT);
	CHECK_INT(si_script_fire(s, SI_COMMIT, acts, 4), 1);
	CHECK_STR(acts[0]->word, "rate_limit_exceeded");
	CHECK_STR(acts[0]->text, "Slow down.");
	si_script_free(s);
}

TEST(standin_script_has_times_and_answers)
{
	struct si_script *s = script_of("at 3000 goaway 500\n"
					"answer code word => It is swan.\n"
					"answer weather=>call get_weather {\"city\":\"Paris\"}\n");
	const struct si_act *acts[4];

	CHECK(s);
	CHECK_INT(si_script_times(s, acts, 4), 1);
	CHECK_INT(acts[0]->at_ms, 3000);
	CHECK_INT(acts[0]->action, SI_DO_GOAWAY);
	CHECK_INT(acts[0]->number, 500);
	CHECK_INT(si_script_fire(s, SI_OPEN, acts, 4), 0);
	CHECK_STR(si_script_answer(s, "What is the Code Word?"), "It is swan.");
	CHECK_STR(si_script_answer(s, "the weather"), "call get_weather {\"city\":\"Paris\"}");
	CHECK(!si_script_answer(s, "something else"));
	si_script_free(s);
}

TEST(standin_script_names_the_wrong_line)
{
	static const char *const wrong[] = {
		"nothing",	  "response 2",
		"response delay", "response delay soon",
		"at soon abort",  "response abort now",
		"answer words",	  "answer => text",
		"response close", "response 1 response 1 response 1 response 1 response 1 abort",
	};

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		char text[256];
		struct si_script *s = NULL;
		const char *why = NULL;
		unsigned line = 0;

		snprintf(text, sizeof text, "open abort\n%s\n", wrong[i]);
		CHECK_INT(si_script_alloc(&s, text, strlen(text), &line, &why), EINVAL);
		CHECK_INT(line, 2);
		CHECK(why && !s);
	}
}

TEST_OOM(standin_script_survives_no_memory)
{
	static const char text[] = "response 2 delay 500\nanswer a => b\n";
	struct si_script *s = NULL;
	const char *why;
	unsigned line;

	CHECK_OOM(si_script_alloc(&s, text, sizeof text - 1, &line, &why), (void)0);
	si_script_free(s);
}
