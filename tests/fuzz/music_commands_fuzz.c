/* /music as Discord's gateway sends it: the options of a subcommand, and texts that name entries of
 * a queue. What is taken keeps its caps. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/discord/music_commands.h"
#include "control/discord/music_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_command(const struct music_command *m)
{
	if (m->act >= MUSIC_ACT_COUNT || m->loop >= MUSIC_LOOP_COUNT ||
	    m->volume > MUSIC_VOLUME_FULL || m->place >= MUSIC_QUEUE_WAITING ||
	    m->page >= MUSIC_QUEUE_WAITING || m->position_s > TRACK_DURATION_MAX_S)
		abort();
	if ((m->query && !*m->query) || (m->track && !*m->track))
		abort();
}

static void check_track(const char *text)
{
	struct music_queue *q = NULL;
	struct track t = {.reference = "x"};
	json_t *list;
	uint32_t entry;
	size_t first;

	if (music_queue_alloc(&q, 1, 2))
		abort();
	for (unsigned i = 0; i < 3; i++) {
		track_set_text(t.title, sizeof t.title, text, strlen(text));
		if (music_queue_add(q, &t, 1, MUSIC_QUEUE_END, &first))
			abort();
	}
	entry = music_command_find(q, text);
	if (entry && music_queue_find(q, entry) == MUSIC_QUEUE_END)
		abort();
	list = music_suggest_entries(q, text);
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_string_length(json_object_get(json_array_get(list, i), "name")) > 100)
			abort();
	json_decref(list);
	music_queue_free(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *d = json_loadb((const char *)data, size, 0, NULL);
	const char *subject = json_string_value(json_object_get(d, "subject"));
	struct music_command m;
	uint64_t channel;
	uint32_t entry = 0;

	if (music_command_parse(json_object_get(json_object_get(d, "data"), "options"), &m) == 0) {
		check_command(&m);
		if (m.track || m.query)
			check_track(m.track ? m.track : m.query);
	}
	if (subject && music_subject_parse(subject, &channel, &entry) == 0 && !entry)
		abort();
	json_decref(d);
	return 0;
}
