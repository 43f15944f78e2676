#include "tests/sound/plan.h"

#include "tests/sound/items.h"
#include "tests/sound/voices.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORDINGS = 4096,
	PROMPTS = 8192,
	TOPICS = 1024,
	TOPIC = 32,
	OVER_LEAST_MS = 500, /* after the answer began */
	OVER_MOST_MS = 2500,
	FOLLOW_LEAST_MS = 800, /* after it ended */
	FOLLOW_MOST_MS = 2000,
	QUIET_LEAST_MS = 5000,
	QUIET_MOST_MS = 7000,
	LEFT_MS = 3500, /* of the answer, when the utterance has ended */
	PAUSE_MS = 100, /* after a sentence of the bot */
};

/* A line of a file of wordings (tests/conversations/wordings/README.md). */
struct wording {
	char class[16];
	bool asker;
	char bot[ITEM_TEXT], said[ITEM_TEXT];
};

struct plan {
	const struct plan_conf *conf;
	struct wording w[WORDINGS];
	size_t n;
	uint64_t noted[PROMPTS];
	unsigned prompts_noted;
	char topic[TOPICS][TOPIC];
	unsigned topics, made, generic;
	uint64_t random;
	FILE *items, *catalogue, *brain;
	int err;
};

static unsigned between(struct plan *p, unsigned from, unsigned to)
{
	p->random = p->random * 6364136223846793005ull + 1442695040888963407ull;
	return from + (unsigned)(p->random >> 33) % (to - from + 1);
}

/* ---- what the bot says besides the wordings ---- */

static const char *const generic[] = {
	"There is more to it than most people think at first.",
	"It depends on the season and on how much time there is.",
	"Many of the older books describe it in a different way.",
	"The details changed several times over the last decades.",
	"Most of the work is done long before anybody notices it.",
	"The usual advice is to start small and to keep notes.",
	"A second look at the numbers often changes the picture.",
	"In the north it is handled quite differently from the south.",
	"The cost is lower in spring and rises again in the autumn.",
	"There are three common ways, and each has its own trouble.",
};
enum { GENERIC = sizeof generic / sizeof *generic };

static const char *const asked[] = {
	"Parley, what can you tell me about %s?",
	"Hey Parley, what do you know about %s?",
	"Parley, can you explain %s to me please?",
	"Parley, tell me something about %s.",
};

/* What the bot says when a question has no known topic. */
static const char *const otherwise[] = {"Alright, let me do that instead.",
					"Okay, I will keep that in mind."};

/* Topics of items in which the bot says nothing of its own. */
static const char *const plain_topics[] = {
	"lighthouses", "bagpipes",   "glaciers",  "submarines",	 "marmalade",	"volcanoes",
	"typewriters", "orchids",    "compasses", "windmills",	 "penguins",	"cathedrals",
	"hammocks",    "telescopes", "saffron",	  "beehives",	 "chandeliers", "monsoons",
	"accordions",  "fossils",    "caravans",  "harpoons",	 "meteors",	"ravioli",
	"dungeons",    "gondolas",   "sapphires", "tambourines", "walruses",	"trampolines",
	"molasses",    "jackals",    "kerosene",  "lavender",	 "parchment",	"quarries",
	"turbines",    "umbrellas",  "vineyards", "zeppelins",	 "avocados",	"bulldozers",
};

/* ---- recordings ---- */

static void prompt_note(struct plan *p, const char *path, const char *text)
{
	const char *slash = strrchr(path, '/');
	uint64_t name = slash ? strtoull(slash + 1, NULL, 16) : 0;
	char full[4096];

	for (unsigned i = 0; i < p->prompts_noted; i++)
		if (p->noted[i] == name)
			return;
	if (p->prompts_noted == PROMPTS || !realpath(path, full))
		return;
	p->noted[p->prompts_noted++] = name;
	fprintf(p->catalogue, "%s\t%s\n", full, text);
}

static uint32_t speak(struct plan *p, char path[ITEM_PATH], unsigned voice, const char *text)
{
	uint32_t ms = 0;
	int err = voices_speak(path, &ms, p->conf->voices, voice, text,
			       voice == VOICE_BOT ? (unsigned)PAUSE_MS : 0u);

	if (err && !p->err) {
		fprintf(stderr, "sound: %s cannot speak \"%s\"; flite and espeak-ng are needed\n",
			voices_name(voice), text);
		p->err = err;
	}
	prompt_note(p, path, text);
	return ms;
}

/* Each person of a room keeps a voice. */
static unsigned voice_of(const struct plan *p, unsigned room, bool other)
{
	(void)p;
	return 1 + (room * 2 + (other ? 1 : 0)) % (voices_count() - 1);
}

/* ---- topics ---- */

static bool topic_free(const struct plan *p, const char *word)
{
	for (unsigned i = 0; i < p->topics; i++)
		if (strcasestr(p->topic[i], word) || strcasestr(word, p->topic[i]))
			return false;
	return !strcasestr("parley explain something please", word);
}

/* The longest word of the sentence that no other item has; false: none. */
static bool topic_find(struct plan *p, char *topic, const char *text)
{
	*topic = '\0';
	while (*text) {
		char word[TOPIC];
		size_t n = 0;

		while (*text && !isalpha((unsigned char)*text))
			text++;
		while (isalpha((unsigned char)text[n]))
			n++;
		if (n >= 5 && n < TOPIC - 1) {
			memcpy(word, text, n);
			word[n] = '\0';
			if (n > strlen(topic) && topic_free(p, word))
				memcpy(topic, word, n + 1);
		}
		text += n;
	}
	return *topic;
}

static void topic_choose(struct plan *p, char *topic, const char *bot)
{
	if (!topic_find(p, topic, bot))
		for (unsigned i = 0; i < sizeof plain_topics / sizeof *plain_topics; i++)
			if (topic_free(p, plain_topics[i])) {
				snprintf(topic, TOPIC, "%s", plain_topics[i]);
				break;
			}
	/* All are taken: a number of its own. */
	if (!*topic)
		snprintf(topic, TOPIC, "number %u", 1000 + p->topics);
	if (p->topics < TOPICS)
		snprintf(p->topic[p->topics++], TOPIC, "%s", topic);
}

/* ---- items ---- */

/* The bot's answer: the sentence of the wording, then others until it is long enough. */
static void answer_make(struct plan *p, const char *bot, uint32_t least_ms, const char *topic,
			char answers[ITEM_ANSWERS * ITEM_PATH])
{
	char path[ITEM_PATH], text[2048] = "";
	uint32_t ms = 0;

	*answers = '\0';
	for (unsigned i = 0; i < ITEM_ANSWERS && (i == 0 || ms < least_ms); i++) {
		const char *sentence = i == 0 && *bot ? bot : generic[p->generic++ % GENERIC];

		ms += speak(p, path, VOICE_BOT, sentence);
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
			 sentence);
		snprintf(answers + strlen(answers), ITEM_ANSWERS * ITEM_PATH - strlen(answers),
			 "%s%s", i ? "," : "", path);
	}
	fprintf(p->brain, "answer %s => %s\n", topic, text);
}

static void item_make(struct plan *p, const char *class, const struct wording *line)
{
	unsigned room = p->made % p->conf->rooms, at;
	bool follows = strcmp(class, "followup") == 0, after = !line || follows || !*line->bot;
	char question[128], topic[TOPIC] = "", path[2][ITEM_PATH] = {"-", "-"};
	char answers[ITEM_ANSWERS * ITEM_PATH];
	const char *bot = line ? line->bot : "";
	uint32_t said_ms = 0;

	topic_choose(p, topic, bot);
	snprintf(question, sizeof question, asked[p->made % 4], topic);
	speak(p, path[0], voice_of(p, room, false), question);
	if (line)
		said_ms = speak(p, path[1], voice_of(p, room, !line->asker), line->said);
	at = follows ? between(p, FOLLOW_LEAST_MS, FOLLOW_MOST_MS)
	     : after ? between(p, QUIET_LEAST_MS, QUIET_MOST_MS)
		     : between(p, OVER_LEAST_MS, OVER_MOST_MS);
	answer_make(p, bot, after ? 0 : at + said_ms + LEFT_MS, topic, answers);
	fprintf(p->items, "%u\t%s\t%d\t%d\t%u\t%s\t%s\t%s\t%s\n", room, class, line && !line->asker,
		after, at, path[0], path[1], answers, line ? line->said : question);
	p->made++;
}

/* ---- the wordings ---- */

static bool wording_parse(struct wording *w, char *line)
{
	char *field[4], *at = line;

	line[strcspn(line, "\n")] = '\0';
	for (unsigned i = 0; i < 4; i++) {
		field[i] = strsep(&at, "\t");
		if (!field[i] || strlen(field[i]) >= ITEM_TEXT)
			return false;
	}
	snprintf(w->class, sizeof w->class, "%s", field[0]);
	w->asker = *field[1] == 'a';
	snprintf(w->bot, sizeof w->bot, "%s", strcmp(field[2], "-") == 0 ? "" : field[2]);
	snprintf(w->said, sizeof w->said, "%s", field[3]);
	return true;
}

static int file_read(struct plan *p, const char *name)
{
	char path[1024], line[2048];
	FILE *f;
	int err = 0;

	snprintf(path, sizeof path, "%s/%s", p->conf->wordings, name);
	f = fopen(path, "r");
	if (!f)
		return errno;
	while (!err && fgets(line, sizeof line, f))
		/* Removed by tests/conversations/disjoint.sh. */
		if (strncmp(line, "# ", 2) != 0 &&
		    (p->n == WORDINGS || !wording_parse(&p->w[p->n++], line)))
			err = EBADMSG;
	fclose(f);
	return err;
}

static int is_english(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 7 && strcmp(e->d_name + n - 7, "-en.tsv") == 0;
}

/* All of English, in an order of the seed. */
static int wordings_read(struct plan *p)
{
	struct dirent **names;
	int n = scandir(p->conf->wordings, &names, is_english, alphasort), err = n < 0 ? errno : 0;

	for (int i = 0; i < n; i++) {
		if (!err)
			err = file_read(p, names[i]->d_name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	for (size_t i = p->n; i > 1; i--) {
		size_t k = between(p, 0, (unsigned)i - 1);
		struct wording swap = p->w[i - 1];

		p->w[i - 1] = p->w[k];
		p->w[k] = swap;
	}
	return err || p->n ? err : ENOENT;
}

static void items_choose(struct plan *p)
{
	static const char *const classes[] = {"backchannel", "takeover", "aside", "tic",
					      "followup"};
	unsigned left[5];

	for (unsigned i = 0; i < 5; i++)
		left[i] = i < 3 ? p->conf->items : (p->conf->items + 3) / 4;
	for (size_t i = 0; i < p->n && !p->err; i++)
		for (unsigned k = 0; k < 5; k++)
			if (strcmp(p->w[i].class, classes[k]) == 0 && left[k]) {
				left[k]--;
				item_make(p, classes[k], &p->w[i]);
			}
}

static FILE *file_open(struct plan *p, const char *name)
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", p->conf->folder, name);
	f = fopen(path, "w");
	if (!f) {
		fprintf(stderr, "sound: %s: %s\n", path, strerror(errno));
		p->err = errno;
	}
	return f;
}

static void plan_write(struct plan *p)
{
	char path[ITEM_PATH], answers[ITEM_ANSWERS * ITEM_PATH];

	fprintf(p->brain, "response delay 300\n");
	if (p->conf->questions)
		for (unsigned i = 0; i < p->conf->rooms; i++)
			item_make(p, "question", NULL);
	else
		items_choose(p);
	/* A question whose topic was misunderstood. */
	answer_make(p, "", OVER_MOST_MS + LEFT_MS + 3000, "arley", answers);
	for (unsigned i = 0; i < 5; i++)
		fprintf(p->brain, "answer %c => %s\n", "eaoiu"[i], otherwise[i % 2]);
	for (unsigned i = 0; i < 2; i++)
		speak(p, path, VOICE_BOT, otherwise[i]);
}

int plan_make(const struct plan_conf *conf)
{
	struct plan *p = calloc(1, sizeof *p);
	int err;

	if (!p)
		return ENOMEM;
	p->conf = conf;
	p->random = conf->seed;
	p->err = wordings_read(p);
	if (p->err)
		fprintf(stderr, "sound: %s: %s\n", conf->wordings, strerror(p->err));
	p->items = p->err ? NULL : file_open(p, "items.tsv");
	p->catalogue = p->err ? NULL : file_open(p, "prompts.tsv");
	p->brain = p->err ? NULL : file_open(p, "brain.txt");
	if (!p->err)
		plan_write(p);
	FILE *files[] = {p->items, p->catalogue, p->brain};
	for (unsigned i = 0; i < 3; i++)
		if (files[i] && fclose(files[i]) && !p->err)
			p->err = EIO;
	err = p->err;
	if (!err)
		printf("%u items, %u voices\n", p->made, voices_count());
	free(p);
	return err;
}
