#include "control/music/path_tags.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The extension with its dot; NULL: not that of a sound file. */
static const char *find_extension(const char *name)
{
	static const char *const known[] = {".mp3", ".flac", ".ogg", ".oga",  ".opus", ".m4a",
					    ".mp4", ".aac",  ".wav", ".webm", ".mka",  ".m4b"};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && dot != name && i < sizeof known / sizeof known[0]; i++)
		if (strcasecmp(dot, known[i]) == 0)
			return dot;
	return NULL;
}

/* Bytes of "01 - ", "1-02. " or "03 " before a title; 0 where the name is nothing else. */
static size_t measure_number(const char *name, const char *end)
{
	const char *p = name;

	while (p < end && isdigit((unsigned char)*p))
		p++;
	if (p == name || p - name > 3)
		return 0;
	if (end - p > 2 && *p == '-' && isdigit((unsigned char)p[1]))
		for (p++; p < end && isdigit((unsigned char)*p);)
			p++;
	if (p == end || !strchr(" .-_)", *p))
		return 0;
	while (p < end && strchr(" .-_)", *p))
		p++;
	return p < end ? (size_t)(p - name) : 0;
}

/* Copies a part of the path; names without blanks write them as underscores. */
static void set_part(char *to, size_t size, const char *from, const char *end)
{
	bool blanks = memchr(from, ' ', (size_t)(end - from));

	track_set_text(to, size, from, (size_t)(end - from));
	for (char *p = to; *p && !blanks; p++)
		if (*p == '_')
			*p = ' ';
}

/* The folder that ends before this slash; NULL: the path begins there. */
static const char *find_folder(const char *path, const char *slash)
{
	const char *p = slash;

	if (!slash)
		return NULL;
	while (p > path && p[-1] != '/')
		p--;
	return p;
}

bool path_tags_read(struct track *t, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *end = find_extension(name), *dash, *folder, *above;

	if (!end)
		return false;
	name += measure_number(name, end);
	dash = memmem(name, (size_t)(end - name), " - ", 3);
	folder = find_folder(path, slash);
	above = folder && folder > path ? find_folder(path, folder - 1) : NULL;
	*t->artist = *t->album = '\0';
	if (above) {
		set_part(t->artist, sizeof t->artist, above, folder - 1);
		set_part(t->album, sizeof t->album, folder, slash);
	} else if (folder) {
		set_part(t->artist, sizeof t->artist, folder, slash);
	}
	if (dash && dash > name && dash + 3 < end) {
		set_part(t->artist, sizeof t->artist, name, dash);
		name = dash + 3;
	}
	set_part(t->title, sizeof t->title, name, end);
	return true;
}
