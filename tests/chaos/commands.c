#include "tests/chaos/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"
#include "tests/chaos/music.h"

#define TEXT "127121515262115841"
#define HOME "127121515262115840"

enum { LIBRARY_MS = 10000, ANSWER_MS = 3000, LOOK_MS = 50 };

/* options: "" or what goes into the braces, as Discord's own list. The caller frees *out (may be
 * NULL). */
static void command(struct cluster *h, const char *name, const char *options, json_t **out)
{
	cluster_request(h, out, "/interactions",
			"{\"user_id\":\"501\",\"channel_id\":\"" TEXT
			"\",\"name\":\"%s\",\"options\":[%s]}",
			name, options);
}

void command_join(struct cluster *h)
{
	command(h, "join", "{\"name\":\"channel\",\"type\":7,\"value\":\"" HOME "\"}", NULL);
}

void command_leave(struct cluster *h)
{
	command(h, "leave", "", NULL);
}

/* ---- music ---- */

static bool answer_has(struct cluster *h, const char *id, const char *words)
{
	json_t *o = NULL;
	char path[64], *text;
	bool has;

	snprintf(path, sizeof path, "/interactions/%s", id);
	cluster_request(h, &o, path, NULL);
	text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	has = text && strstr(text, words);
	free(text);
	json_decref(o);
	return has;
}

/* Gives a subcommand of /music, with an option or not (""). True if the answer has these words. */
static bool command_music(struct cluster *h, const char *sub, const char *option, const char *words)
{
	uint64_t until = chaos_now() + ANSWER_MS * NS_PER_MS;
	json_t *o = NULL;
	char options[160], id[24] = "";
	const char *given;

	snprintf(options, sizeof options, "{\"name\":\"%s\",\"type\":1,\"options\":[%s]}", sub,
		 option);
	command(h, "music", options, &o);
	given = json_string_value(json_object_get(o, "id"));
	snprintf(id, sizeof id, "%s", given ? given : "");
	json_decref(o);
	while (*id && chaos_now() < until) {
		if (answer_has(h, id, words))
			return true;
		chaos_sleep(LOOK_MS);
	}
	return false;
}

static bool command_track(struct cluster *h, const char *sub, unsigned track, const char *words)
{
	char option[96];

	snprintf(option, sizeof option, "{\"name\":\"query\",\"type\":3,\"value\":\"%s\"}",
		 chaos_track_name(track));
	return command_music(h, sub, option, words);
}

bool command_play_tracks(struct cluster *h)
{
	uint64_t until = chaos_now() + LIBRARY_MS * NS_PER_MS;

	/* The music folders may not have been read yet. */
	while (!command_track(h, "play", 0, "Playing "))
		if (chaos_now() > until)
			return false;
	for (unsigned t = 1; t < TONE_TRACKS; t++)
		if (!command_track(h, "add", t, "Added "))
			return false;
	return command_music(h, "loop", "{\"name\":\"mode\",\"type\":3,\"value\":\"queue\"}",
			     "The queue repeats");
}

void command_resume(struct cluster *h)
{
	command(h, "music", "{\"name\":\"resume\",\"type\":1,\"options\":[]}", NULL);
}
