/* Shapes of messages (ipc/shape.h) stay in their room, whatever came, and hold no text of theirs:
 * what they print of JSON and msgpack has no byte that the grammar of shapes does not have. */
#include "ipc/shape.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 300, GUARD = 0x5a };

static void look(size_t (*shape)(const uint8_t *, size_t, char *, size_t), const uint8_t *data,
		 size_t size, size_t room)
{
	char *text = malloc(room + 1);
	size_t n;

	if (!text)
		return;
	text[room] = GUARD;
	n = shape(data, size, text, room);
	if (n > room || text[room] != GUARD)
		abort();
	for (size_t i = 0; i < n; i++)
		if (text[i] < 0x20 || text[i] > 0x7e)
			abort();
	free(text);
}

static size_t json(const uint8_t *data, size_t size, char *text, size_t room)
{
	return shape_json((const char *)data, size, text, room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = size ? data[0] : 0;

	look(json, data, size, ROOM);
	look(json, data, size, room);
	look(shape_msgpack, data, size, ROOM);
	look(shape_msgpack, data, size, room);
	return 0;
}
