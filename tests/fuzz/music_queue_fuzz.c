/* Queues and requests to change them. The first byte 0: the rest is a document; one that is read is
 * written, and read as the same. Else every two bytes are a request; the caps hold after each. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/music/queue_document.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No track that the queue took may be lost when it is read again. */
static void check_saved(const struct music_queue *q)
{
	char *text = music_queue_write(q);
	struct music_queue *again = NULL;

	if (!text || music_queue_read(&again, text) ||
	    music_queue_count(again) != music_queue_count(q) ||
	    music_queue_played_count(again) != music_queue_played_count(q))
		abort();
	free(text);
	music_queue_free(again);
}

static void check_document(const char *text)
{
	struct music_queue *q, *again;
	char *first, *second;

	if (music_queue_read(&q, text))
		return;
	first = music_queue_write(q);
	if (!first || music_queue_read(&again, first))
		abort();
	second = music_queue_write(again);
	if (!second || strcmp(first, second) != 0)
		abort();
	free(first);
	free(second);
	music_queue_free(q);
	music_queue_free(again);
}

static void request(struct music_queue *q, uint8_t what, uint8_t value)
{
	struct track t = {.requester = value & 3,
			  .reference = "x",
			  .duration_ms = (uint64_t)value << (value % 57)};
	const struct track *named = music_queue_at(q, value);
	uint32_t id = named ? named->id : value;
	uint64_t ms;
	size_t first;

	switch (what % 16) {
	case 0:
		music_queue_add(q, &t, 1, MUSIC_QUEUE_END, &first);
		break;
	case 1:
		music_queue_add(q, &t, 1, value, &first);
		break;
	case 2:
		music_queue_add_next(q, &t, 1, &first);
		break;
	case 3:
		music_queue_play(q, &t, 1);
		break;
	case 4:
		music_queue_move(q, id, what >> 4);
		break;
	case 5:
		music_queue_remove(q, id);
		break;
	case 6:
		music_queue_jump(q, id);
		break;
	case 7:
		music_queue_clear(q, value & 3);
		break;
	case 8:
		music_queue_stop(q);
		break;
	case 9:
		music_queue_shuffle(q, value);
		break;
	case 10:
		music_queue_advance(q, (enum music_end)(value % 3));
		break;
	case 11:
		music_queue_previous(q);
		break;
	case 12:
		music_queue_set_loop(q, (enum music_loop)(value % MUSIC_LOOP_COUNT));
		break;
	case 13:
		music_queue_set_position(q, (uint64_t)value * 9600);
		break;
	case 14:
		music_queue_wait_ms(q, value, &ms);
		break;
	default:
		music_queue_set_paused(q, value & 1);
		break;
	}
}

static void check_queue(const struct music_queue *q)
{
	size_t count = music_queue_count(q), played = music_queue_played_count(q);

	if (played > MUSIC_QUEUE_HISTORY || count > MUSIC_QUEUE_WAITING + MUSIC_QUEUE_HISTORY)
		abort();
	if (count != 0 && !music_queue_present(q))
		abort();
	for (size_t i = 0; i < count; i++)
		if (music_queue_find(q, music_queue_at(q, i)->id) != i)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct music_queue *q = NULL;
	char *text;

	if (!size)
		return 0;
	if (data[0] == 0) {
		text = calloc(1, size);
		if (!text)
			abort();
		memcpy(text, data + 1, size - 1);
		check_document(text);
		free(text);
		return 0;
	}
	if (music_queue_alloc(&q, 1, 2))
		abort();
	for (size_t i = 1; i + 1 < size && i < 2000; i += 2) {
		request(q, data[i], data[i + 1]);
		check_queue(q);
	}
	check_saved(q);
	text = music_queue_write(q);
	check_document(text ? text : "");
	free(text);
	music_queue_free(q);
	return 0;
}
