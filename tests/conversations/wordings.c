#include "tests/conversations/wordings.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "tests/room/stage.h"

enum {
	YIELD_MS = 2000,
	AFTER_MS = 1000,
	SILENCE_LEAST_MS = 5000,
	SILENCE_MOST_MS = 45000,
	ANSWER_MS = 9000,
	PATIENCE_MS = 8000,
	LATER_MS = 14000, /* a deferred turn is taken up after the answer */
	SHORTEST_MS = 240,
	LETTER_MS = 60,
	UNSPACED_MS = 160, /* a character of kana, hanzi or hangul is a syllable */
	PARTIALS_MS = 300,
	LINE = 2 * WORDINGS_TEXT + 64,
};

static const char *const class_names[] = {
#define X(NAME, name) #name,
	WORDINGS_CLASSES(X)
#undef X
};

static const char *const language_names[] = {
#define X(code) #code,
	WORDINGS_LANGUAGES(X)
#undef X
};

const char *wordings_class_name(enum wordings_class class)
{
	return class_names[class];
}

/* ---- files ---- */

static int find_name(const char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

static int parse_line(struct wordings_line *out, char *line, int language)
{
	char *field[4], *at = line;
	int class;

	line[strcspn(line, "\r\n")] = '\0';
	for (unsigned i = 0; i < 4; i++) {
		field[i] = at ? strsep(&at, "\t") : NULL;
		if (!field[i] || strlen(field[i]) >= WORDINGS_TEXT)
			return EBADMSG;
	}
	class = find_name(class_names, WORDINGS_CLASS_COUNT, field[0]);
	if (class < 0 || (strcmp(field[1], "asker") != 0 && strcmp(field[1], "other") != 0))
		return EBADMSG;
	*out = (struct wordings_line){.class = (enum wordings_class) class,
				      .language = (enum wordings_language)language,
				      .asker = *field[1] == 'a'};
	if (strcmp(field[2], "-") != 0)
		snprintf(out->bot, sizeof out->bot, "%s", field[2]);
	snprintf(out->said, sizeof out->said, "%s", field[3]);
	return 0;
}

/* "# CLASS" in the place of a line that disjoint.sh removed. */
static int find_removed(char *line)
{
	line[strcspn(line, "\r\n")] = '\0';
	return strncmp(line, "# ", 2) == 0 ? find_name(class_names, WORDINGS_CLASS_COUNT, line + 2)
					   : -1;
}

/* The same place of an author's class is the same situation in all languages but English. */
static unsigned situation_of(char author, int language, unsigned place)
{
	unsigned english = language == WORDINGS_en;

	return ((unsigned)(author - 'a') * 2 + english) * WORDINGS_PLACES + place;
}

/* Doubles the place when it is full: under ASan each realloc copies. */
static int make_place(struct wordings *w)
{
	bool full = !(w->n & (w->n - 1));
	struct wordings_line *more =
		full ? realloc(w->v, (w->n ? 2 * w->n : 1) * sizeof *more) : w->v;

	if (!more)
		return ENOMEM;
	w->v = more;
	return 0;
}

static int read_lines(struct wordings *w, FILE *f, int language, char author)
{
	unsigned place[WORDINGS_CLASS_COUNT] = {0};
	char line[LINE];

	while (fgets(line, sizeof line, f)) {
		int removed = find_removed(line), err;
		struct wordings_line *more;

		if (removed >= 0) {
			place[removed]++;
			continue;
		}
		err = make_place(w);
		if (err)
			return err;
		more = &w->v[w->n];
		err = parse_line(more, line, language);
		if (!err && place[more->class] == WORDINGS_PLACES)
			err = EBADMSG;
		if (err)
			return err;
		more->situation = situation_of(author, language, place[more->class]++);
		w->n++;
	}
	return 0;
}

static int read_file(struct wordings *w, const char *folder, const char *name)
{
	char path[1024], code[3] = {0};
	size_t n = strlen(name);
	int language, err;
	FILE *f;

	if (n < 7 || strcmp(name + n - 4, ".tsv") != 0)
		return 0;
	memcpy(code, name + n - 6, 2);
	language = find_name(language_names, WORDINGS_LANGUAGE_COUNT, code);
	if (language < 0 || *name < 'a' || *name > 'z')
		return EBADMSG;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "r");
	if (!f)
		return errno;
	err = read_lines(w, f, language, *name);
	fclose(f);
	return err;
}

int wordings_load(struct wordings *out, const char *folder)
{
	struct wordings w = {0};
	struct dirent **names;
	int n = scandir(folder, &names, NULL, alphasort), err = n < 0 ? errno : 0;

	for (int i = 0; i < n; i++) {
		if (!err)
			err = read_file(&w, folder, names[i]->d_name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	if (!err && !w.n)
		err = ENOENT;
	if (err)
		wordings_free(&w);
	else
		*out = w;
	return err;
}

void wordings_free(struct wordings *w)
{
	free(w->v);
	*w = (struct wordings){0};
}

/* ---- a play ---- */

unsigned wordings_letters(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80 && !strchr(" .,;:!?'\"-", *text);
	return n;
}

static bool is_unspaced(enum wordings_language language)
{
	return language == WORDINGS_ja || language == WORDINGS_ko || language == WORDINGS_zh;
}

static unsigned spoken_ms(const struct wordings_line *line, const char *text)
{
	unsigned ms = wordings_letters(text) *
		      (is_unspaced(line->language) ? (unsigned)UNSPACED_MS : (unsigned)LETTER_MS);

	return ms < SHORTEST_MS ? SHORTEST_MS : ms;
}

struct talk {
	const struct wordings_line *line;
	const struct wordings_classifier *classifier;
	struct wordings_play *play;
	struct stage *stage;
	uint64_t random, user, said_at; /* said_at: ns; 0: not yet */
	bool speaks;
	uint64_t stopped_at, paused_at;
	bool disturbed;
};

/* FNV-1a over the line, so that its play depends on nothing else. */
static uint64_t hash_line(const struct wordings_line *line)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (const char *p = line->said; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
	for (const char *p = line->bot; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
	return h;
}

static unsigned between(struct talk *t, unsigned from, unsigned to)
{
	t->random = t->random * 6364136223846793005ull + 1442695040888963407ull;
	return from + (unsigned)(t->random >> 33) % (to - from + 1);
}

static void note_effect(struct talk *t, const struct room_effect *e, uint64_t now)
{
	if (!t->said_at)
		return;
	if (e->type == ROOM_DO_SAY_STOP && t->speaks && !t->stopped_at)
		t->stopped_at = now;
	else if (e->type == ROOM_DO_SAY_PAUSE && t->speaks && !t->paused_at)
		t->paused_at = now;
	else if (e->type == ROOM_DO_SAY_RESUME && !t->stopped_at)
		t->paused_at = 0;
	else if (e->type == ROOM_DO_ASK && strstr(e->text, t->line->said))
		t->play->asked = true;
	else if (e->type == ROOM_DO_RECORD && e->record->user == t->user &&
		 strstr(e->record->transcript, t->line->said) && !*t->play->reason)
		snprintf(t->play->reason, sizeof t->play->reason, "%s",
			 room_reason_name(e->record->reason));
	if (e->type == ROOM_DO_SAY_STOP || e->type == ROOM_DO_SAY_PAUSE)
		t->disturbed = true;
}

static void stepped(const struct room_event *ev, uint64_t now, const struct room_effects *fx,
		    void *arg)
{
	struct talk *t = arg;

	if (ev->type == ROOM_SAY_STARTED)
		t->speaks = true;
	for (size_t i = 0; i < fx->n; i++)
		note_effect(t, &fx->v[i], now);
	if (ev->type == ROOM_SAY_DRAINED || ev->type == ROOM_SAY_STOPPED)
		t->speaks = false;
}

static void pass(struct talk *t, unsigned ms)
{
	stage_run(t->stage, stage_now(t->stage) + ms * NS_PER_MS);
}

static bool wait_for_voice(struct talk *t, bool speaks)
{
	for (unsigned ms = 0; ms < PATIENCE_MS + ANSWER_MS && t->speaks != speaks; ms += 20)
		pass(t, 20);
	return t->speaks == speaks;
}

/* Somebody calls the bot by its name, in the same way in all languages, and it begins to answer. */
static bool open_talk(struct talk *t, unsigned answer_ms)
{
	stage_brain_answers(t->stage, *t->line->bot ? t->line->bot : "Hello.", answer_ms, 400);
	pass(t, stage_says(t->stage, 1, "hey Parley", 1000, STAGE_LOUD));
	return wait_for_voice(t, true);
}

/* Leads to the situation of the class. */
static void make_situation(struct talk *t)
{
	bool after = t->line->class == WORDINGS_FOLLOWUP || !*t->line->bot;

	if (!open_talk(t, after ? spoken_ms(t->line, t->line->bot) + 1000 : (unsigned)ANSWER_MS))
		return;
	if (!after) {
		pass(t, between(t, 300, 2500));
		t->play->over = t->speaks;
		return;
	}
	wait_for_voice(t, false);
	pass(t,
	     *t->line->bot ? between(t, 800, 2000) : between(t, SILENCE_LEAST_MS, SILENCE_MOST_MS));
}

static void judge(struct talk *t, uint64_t until)
{
	uint64_t quiet = t->paused_at && (!t->stopped_at || t->paused_at < t->stopped_at)
				 ? t->paused_at
				 : t->stopped_at;

	t->play->yielded = t->stopped_at && quiet - t->said_at <= YIELD_MS * NS_PER_MS;
	t->play->talked_on = !t->disturbed;
	if (stage_now(t->stage) < until)
		stage_run(t->stage, until);
}

static void say_line(struct talk *t)
{
	unsigned ms = spoken_ms(t->line, t->line->said);
	uint64_t end;

	t->user = t->line->asker ? 1 : 2;
	t->said_at = stage_now(t->stage);
	stage_says(t->stage, t->user, t->line->said, ms, STAGE_LOUD);
	end = t->said_at + (ms + AFTER_MS) * NS_PER_MS;
	stage_run(t->stage, end > t->said_at + YIELD_MS * NS_PER_MS
				    ? end
				    : t->said_at + YIELD_MS * NS_PER_MS);
	judge(t, t->said_at + (ms + LATER_MS) * NS_PER_MS);
}

/* Errors depend on the line alone, so that a higher rate adds errors to those of a lower one. */
static bool judge_words(const char *prompt, void *arg)
{
	const struct talk *t = arg;
	bool wrong = (hash_line(t->line) >> 20) % 1000 < t->classifier->wrong;

	(void)prompt;
	return wordings_for_bot(t->line->class) != wrong;
}

static void add_classifier(struct talk *t)
{
	if (!t->classifier)
		return;
	stage_setting(t->stage, "classify_interruptions", "yes");
	stage_classifier(t->stage, judge_words, t, t->classifier->after_ms);
}

int wordings_play(struct wordings_play *out, const struct wordings_line *line,
		  const struct wordings_classifier *classifier)
{
	struct talk t = {
		.line = line, .classifier = classifier, .play = out, .random = hash_line(line)};
	struct stage_conf sc = {.name = "Parley", .steppedh = stepped, .arg = &t};
	struct settings *settings;
	int err = settings_alloc(&settings);

	*out = (struct wordings_play){0};
	if (err)
		return err;
	settings_set(settings, "guest", "off");
	sc.settings = settings;
	err = stage_alloc(&t.stage, &sc);
	if (!err) {
		stage_join(t.stage, "Quirin", false);
		stage_join(t.stage, "Xanthe", false);
		stage_join(t.stage, "Zebedee", false);
		stage_partials(t.stage, PARTIALS_MS);
		add_classifier(&t);
		make_situation(&t);
		say_line(&t);
	}
	stage_free(t.stage);
	settings_free(settings);
	return err;
}

bool wordings_right(const struct wordings_line *line, const struct wordings_play *play)
{
	switch (line->class) {
	case WORDINGS_BACKCHANNEL:
	case WORDINGS_TIC:
		return play->talked_on;
	case WORDINGS_ASIDE:
	case WORDINGS_OF_THE_BOT:
		return play->talked_on && !play->asked;
	case WORDINGS_TAKEOVER:
		return play->yielded;
	default:
		return play->asked;
	}
}
