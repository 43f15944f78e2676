/* Messages with their files, deletions and reactions as Discord's gateway tells of them, and the
 * splitting of long answers. What is taken keeps its caps; parts fit, and lose nothing but blanks.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/text/incoming.h"
#include "control/text/split.h"
#include "proto/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t most)
{
	if (strlen(text) >= most || !utf8_valid(text))
		abort();
}

static void check_files(const struct attached_list *files)
{
	char line[ATTACHED_LINE];

	if (files->n > ATTACHED_FILES)
		abort();
	for (unsigned i = 0; i < files->n; i++) {
		const struct attached *a = &files->v[i];

		check_text(a->name, sizeof a->name);
		check_text(a->type, sizeof a->type);
		check_text(a->url, sizeof a->url);
		if (!a->id || !*a->name || strpbrk(a->name, "[]\n") || strpbrk(a->type, "[]\n; ") ||
		    attached_line(a, line) >= sizeof line)
			abort();
	}
}

static void read_message(const json_t *d)
{
	static struct incoming in;
	struct incoming_change change;

	if (incoming_read(&in, d, 900, "Parley") == 0) {
		check_text(in.name, sizeof in.name);
		check_text(in.text, sizeof in.text);
		check_text(in.quoted_name, sizeof in.quoted_name);
		check_text(in.quoted, sizeof in.quoted);
		check_text(in.nonce, sizeof in.nonce);
		check_files(&in.files);
		check_files(&in.quoted_files);
		if (!in.strangers && in.own != strlen(in.text) && in.own < sizeof in.text - 1)
			abort();
		if (strpbrk(in.name, "[]\n") || !in.channel || !in.message)
			abort();
	}
	if (incoming_deleted(&change, d) == 0 && (!change.n || change.n > INCOMING_DELETED))
		abort();
	if (incoming_stop(&change, d) == 0 && (!change.user || !change.message[0]))
		abort();
}

static size_t units(const char *text)
{
	size_t n = 0;

	for (const unsigned char *p = (const unsigned char *)text; *p; p++)
		n += *p >= 0xf0 ? 2 : (*p & 0xc0) != 0x80;
	return n;
}

static void split_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), buf[SPLIT_BYTES];
	struct split s;

	if (!text)
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	utf8_mend(text);
	split_begin(&s, text);
	for (size_t n = 0; split_next(&s, buf); n++)
		if (!*buf || units(buf) > SPLIT_UNITS || !utf8_valid(buf) || n > size)
			abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *d = json_loadb((const char *)data, size, 0, NULL);

	if (d)
		read_message(d);
	else
		split_text(data, size);
	json_decref(d);
	return 0;
}
