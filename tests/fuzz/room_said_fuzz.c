/* Whatever of words, sound and word times comes in whatever order: what was heard ends at a word's
 * end, grows with the samples that left, is nothing without any, and is never longer than the text.
 * And the plan beside it always ends. */
#include "control/room/answer/planner.h"
#include "control/room/answer/playout_position.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT = 2000, RATE = 24000 };

static void check_said(const struct room_playout *said, const char *text)
{
	size_t n = strlen(text), before = 0;

	for (uint64_t left = 0; left <= said->samples + RATE; left += 1 + said->samples / 40) {
		size_t heard = room_playout_text_played(said, text, left, RATE);

		if (heard > n || heard < before || (!left && heard))
			abort();
		before = heard;
	}
}

static void check_plan(struct room_plan *plan)
{
	room_plan_complete(plan);
	for (unsigned i = 0;; i++) {
		struct room_plan_do d = room_plan_next(plan, 0, 10, 5);

		if (i > 4 * ROOM_PLAN_STEPS + 8)
			abort();
		if (d.what == ROOM_PLAN_DONE)
			return;
		if (d.what == ROOM_PLAN_SPEAK && strlen(d.text) > ROOM_EXACT_LINE_MAX)
			abort();
		if (d.what == ROOM_PLAN_END)
			room_plan_drained(plan);
		else if (d.what == ROOM_PLAN_SPEAK)
			room_plan_sounds(plan, d.chunk);
		if (plan->running && !room_plan_spoken(plan, plan->running))
			room_plan_sounded(plan, plan->running);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct room_playout playout;
	static struct room_plan plan;
	char text[TEXT + 1] = "";
	size_t n = 0;

	memset(&playout, 0, sizeof playout);
	memset(&plan, 0, sizeof plan);
	while (size >= 3) {
		uint32_t chunk = data[1] % 64;
		size_t len = data[2] < size - 3 ? data[2] : size - 3;
		char word[256] = "";

		memcpy(word, data + 3, len);
		for (size_t i = 0; i < len; i++)
			if (!word[i])
				word[i] = ' ';
		switch (data[0] % 6) {
		case 0:
			if (n + len <= TEXT) {
				memcpy(text + n, word, len);
				n += len;
				text[n] = '\0';
				room_playout_add_text(&playout, chunk, n);
			}
			room_plan_speech(&plan, word, len);
			break;
		case 1:
			room_playout_add_audio(&playout, chunk, data[2] * 100u);
			len = 0;
			break;
		case 2:
			room_playout_add_word(&playout, chunk, text, word, len, data[0] * 50u);
			break;
		case 3:
			room_playout_chunk_complete(&playout, chunk);
			room_plan_sound(&plan, word, len);
			break;
		case 4:
			room_plan_next(&plan, data[2], 100, 50);
			len = 0;
			break;
		default:
			room_plan_spoken(&plan, chunk);
			room_plan_sounds(&plan, chunk);
			room_plan_drained(&plan);
			len = 0;
			break;
		}
		data += 3 + len;
		size -= 3 + len;
	}
	check_said(&playout, text);
	check_plan(&plan);
	return 0;
}
