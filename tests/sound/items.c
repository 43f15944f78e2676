#include "tests/sound/items.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, FIELDS = 9 };

static int copy(char *to, size_t cap, const char *text)
{
	size_t n = strlen(text);

	if (n >= cap)
		return EBADMSG;
	memcpy(to, text, n + 1);
	return 0;
}

static int parse(struct item *it, char *line)
{
	char *field[FIELDS], *at = line, *answer;
	unsigned n = 0;
	int err;

	line[strcspn(line, "\n")] = '\0';
	for (unsigned i = 0; i < FIELDS; i++) {
		field[i] = strsep(&at, "\t");
		if (!field[i])
			return EBADMSG;
	}
	*it = (struct item){.room = (unsigned)strtoul(field[0], NULL, 10),
			    .other = *field[2] == '1',
			    .after = *field[3] == '1',
			    .at_ms = (uint32_t)strtoul(field[4], NULL, 10)};
	err = copy(it->class, sizeof it->class, field[1]);
	err = err ? err : copy(it->question, ITEM_PATH, field[5]);
	err = err ? err : copy(it->said, ITEM_PATH, field[6]);
	err = err ? err : copy(it->text, ITEM_TEXT, field[8]);
	while (!err && n < ITEM_ANSWERS && (answer = strsep(&field[7], ",")))
		err = copy(it->answer[n++], ITEM_PATH, answer);
	return err;
}

int items_read(struct item **out, size_t *n, const char *path)
{
	struct item *v = NULL;
	char line[LINE];
	size_t have = 0;
	FILE *f = fopen(path, "r");
	int err = f ? 0 : errno;

	while (!err && fgets(line, sizeof line, f)) {
		struct item *more = realloc(v, (have + 1) * sizeof *v);

		if (more)
			v = more;
		err = more ? parse(&v[have], line) : ENOMEM;
		have += !err;
	}
	if (f)
		fclose(f);
	if (err) {
		free(v);
		return err;
	}
	*out = v;
	*n = have;
	return 0;
}

int16_t *items_sound(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	int16_t *pcm = NULL;
	long size = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;

	*n = 0;
	if (size > 1 && fseek(f, 0, SEEK_SET) == 0) {
		pcm = malloc((size_t)size);
		*n = pcm ? fread(pcm, 2, (size_t)size / 2, f) : 0;
	}
	if (f)
		fclose(f);
	return pcm;
}
