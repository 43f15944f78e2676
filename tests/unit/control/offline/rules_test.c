#include "control/offline/rules.h"
#include "tests/test.h"

static enum intent read_one(const char *text)
{
	static struct rules *r;
	struct reading reading;

	if (!r && rules_alloc(&r))
		return INTENT_COUNT;
	return rules_read(r, text, &reading) ? INTENT_COUNT : reading.intent;
}

TEST(rules_read_each_intent)
{
	CHECK_INT(read_one("what time is it"), INTENT_TIME);
	CHECK_INT(read_one("Hey Parley, what's the date today?"), INTENT_DATE);
	CHECK_INT(read_one("12 * 12"), INTENT_SUM);
	CHECK_INT(read_one("roll 2d6"), INTENT_DICE);
	CHECK_INT(read_one("Tell me a joke!"), INTENT_JOKE);
	CHECK_INT(read_one("[Bob]: who is here?"), INTENT_WHO);
	CHECK_INT(read_one("what can you do"), INTENT_CAN);
	CHECK_INT(read_one("say that again please"), INTENT_AGAIN);
	CHECK_INT(read_one("remember that the door code is secret"), INTENT_REMEMBER);
	CHECK_INT(read_one("what colour is my bike"), INTENT_RECALL);
	CHECK_INT(read_one("hello"), INTENT_GREET);
	CHECK_INT(read_one("thanks a lot"), INTENT_THANKS);
	CHECK_INT(read_one("stop"), INTENT_STOP);
	CHECK_INT(read_one("bye bye"), INTENT_BYE);
}

TEST(rules_leave_the_rest_alone)
{
	CHECK_INT(read_one("the weather in london is dreadful"), INTENT_NONE);
	CHECK_INT(read_one("i had a great time with those jokes"), INTENT_NONE);
	CHECK_INT(read_one(""), INTENT_NONE);
	CHECK_INT(read_one("parlez vous francais"), INTENT_NONE);
}

TEST(rules_know_their_intents_by_name)
{
	enum intent i;

	for (unsigned k = 0; k < INTENT_COUNT; k++)
		CHECK(intent_parse(intent_name((enum intent)k), &i) && i == (enum intent)k);
	CHECK(!intent_parse("nonsense", &i));
	CHECK_STR(intent_name((enum intent)999), "none");
}

/* Reads `intent<TAB>phrase` lines; counts those that are read right. */
static bool score(const char *name, unsigned *right, unsigned *all)
{
	const char *path = test_data(name);
	FILE *f = path ? fopen(path, "r") : NULL;
	char line[512];

	if (!f)
		return false;
	while (fgets(line, sizeof line, f)) {
		char *tab = strchr(line, '\t');
		enum intent want;

		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#' || !tab)
			continue;
		*tab++ = '\0';
		tab[strcspn(tab, "\t")] = '\0';
		++*all;
		*right += intent_parse(line, &want) && read_one(tab) == want;
	}
	fclose(f);
	return true;
}

TEST(rules_read_the_phrase_files)
{
	unsigned right = 0, all = 0, outside = 0;

	CHECK(score("offline/phrases_outside.txt", &right, &all));
	outside = all;
	CHECK(outside >= 40);
	CHECK(right * 100 >= outside * 85);
	CHECK(score("offline/phrases.txt", &right, &all));
	CHECK(all >= 200);
	CHECK(right * 100 >= all * 85);
}

TEST(rules_graph_says_nothing_the_rules_do_not_read)
{
	struct rules *r = NULL;
	struct pattern_graph g;
	struct reading reading;
	uint64_t random = 1;
	unsigned tried = 0;

	CHECK_INT(rules_alloc(&r), 0);
	CHECK_INT(rules_graph(r, &g), 0);
	while (tried < 500) {
		char text[1024] = "";
		uint32_t state = 0;

		for (unsigned len = 0; len < 30; len++) {
			unsigned first = 0, n = 0;

			while (first < g.n_arcs && g.arcs[first].from != state)
				first++;
			while (first + n < g.n_arcs && g.arcs[first + n].from == state)
				n++;
			random = random * 6364136223846793005u + 1442695040888963407u;
			if (!n || (g.final[state] && random >> 60 < 4))
				break;
			first += (unsigned)(random >> 33) % n;
			snprintf(text + strlen(text), sizeof text - strlen(text), "%s ",
				 g.words[g.arcs[first].word]);
			state = g.arcs[first].to;
		}
		CHECK(g.final[state]);
		CHECK_INT(rules_read(r, text, &reading), 0);
		if (reading.intent == INTENT_NONE)
			printf("not read: %s\n", text);
		CHECK(reading.intent != INTENT_NONE);
		tried++;
	}
	pattern_graph_free(&g);
	rules_free(r);
}

TEST(rules_read_requests_for_music)
{
	CHECK_INT(read_one("parley play the sea song"), INTENT_PLAY);
	CHECK_INT(read_one("play something by the waves"), INTENT_PLAY);
	CHECK_INT(read_one("what is playing right now"), INTENT_PLAYING);
	CHECK_INT(read_one("pause the music"), INTENT_PAUSE);
	CHECK_INT(read_one("please resume the music"), INTENT_RESUME);
	CHECK_INT(read_one("skip this song"), INTENT_SKIP);
	CHECK_INT(read_one("play the next song"), INTENT_SKIP);
	CHECK_INT(read_one("stop the music"), INTENT_STOP_MUSIC);
	CHECK_INT(read_one("parley louder"), INTENT_LOUDER);
	CHECK_INT(read_one("can you make it louder please"), INTENT_LOUDER);
	CHECK_INT(read_one("parley a bit quieter"), INTENT_SOFTER);
	CHECK_INT(read_one("it was much louder yesterday in the garden"), INTENT_NONE);
	CHECK_INT(read_one("the second one please"), INTENT_CHOICE);
	CHECK_INT(read_one("number two"), INTENT_CHOICE);
	CHECK_INT(read_one("pause"), INTENT_STOP);
}
