/* sound: the people of a sound test (docs/room-score.md). */
#include "tests/sound/call.h"
#include "tests/sound/plan.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	struct plan_conf plan;
	struct call_conf call;
};

static void usage(FILE *f)
{
	fprintf(f,
		"usage: sound plan --folder DIR --voices DIR --wordings DIR [--items N] "
		"[--rooms N] [--seed N] [--questions]\n"
		"       sound call --folder DIR --api URL --ca FILE --mediad PROGRAM [--seed N] "
		"[--noise] [--open-mic SECONDS]\n\n"
		"plan: makes items of wordings and has them spoken. call: plays them to a bot in "
		"guildd and records it.\n");
}

/* Where an option's text goes; NULL: it has none. */
static const char **find_text(struct options *o, int c)
{
	return c == 'v'	  ? &o->plan.voices
	       : c == 'w' ? &o->plan.wordings
	       : c == 'a' ? &o->call.api
	       : c == 'c' ? &o->call.ca
	       : c == 'm' ? &o->call.mediad
			  : NULL;
}

static unsigned *find_number(struct options *o, int c)
{
	return c == 'i'	  ? &o->plan.items
	       : c == 'r' ? &o->plan.rooms
	       : c == 'o' ? &o->call.open_mic_s
			  : NULL;
}

static int option_take(struct options *o, int c)
{
	const char **text = find_text(o, c);
	unsigned *number = find_number(o, c);

	if (text)
		*text = optarg;
	else if (number)
		*number = (unsigned)strtoul(optarg, NULL, 10);
	else if (c == 'f')
		o->plan.folder = o->call.folder = optarg;
	else if (c == 's')
		o->plan.seed = o->call.seed = strtoull(optarg, NULL, 10);
	else if (c == 'q')
		o->plan.questions = true;
	else if (c == 'n')
		o->call.noise = true;
	else
		return EINVAL;
	return 0;
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"folder", 1, NULL, 'f'},
		{"voices", 1, NULL, 'v'},
		{"wordings", 1, NULL, 'w'},
		{"items", 1, NULL, 'i'},
		{"rooms", 1, NULL, 'r'},
		{"seed", 1, NULL, 's'},
		{"questions", 0, NULL, 'q'},
		{"api", 1, NULL, 'a'},
		{"ca", 1, NULL, 'c'},
		{"mediad", 1, NULL, 'm'},
		{"noise", 0, NULL, 'n'},
		{"open-mic", 1, NULL, 'o'},
		{0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1)
		if (option_take(o, c))
			return EINVAL;
	return optind + 1 == argc ? 0 : EINVAL;
}

int main(int argc, char **argv)
{
	struct options o = {.plan = {.items = 20, .rooms = 8, .seed = 1}, .call = {.seed = 1}};
	bool plan, call;

	if (parse(&o, argc, argv)) {
		usage(stderr);
		return 2;
	}
	plan = strcmp(argv[optind], "plan") == 0;
	call = strcmp(argv[optind], "call") == 0;
	if (plan && o.plan.folder && o.plan.voices && o.plan.wordings && o.plan.rooms)
		return plan_make(&o.plan) ? 1 : 0;
	if (call && o.call.folder && o.call.api && o.call.ca && o.call.mediad)
		return call_run(&o.call);
	usage(stderr);
	return 2;
}
