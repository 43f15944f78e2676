#include "tests/guildd/files.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "tests/guildd/objects.h"

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

/* As Discord guesses it by the name. NULL: it tells none. */
static const char *type_of(const char *name)
{
	static const char *const types[][2] = {{".png", "image/png"},
					       {".jpg", "image/jpeg"},
					       {".webp", "image/webp"},
					       {".gif", "image/gif"},
					       {".txt", "text/plain; charset=utf-8"},
					       {".json", "application/json; charset=utf-8"},
					       {".pdf", "application/pdf"}};
	const char *end = strrchr(name, '.');

	for (size_t i = 0; end && i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(end, types[i][0]) == 0)
			return types[i][1];
	return NULL;
}

json_t *gd_files_data(const void *p, size_t n)
{
	char *text = malloc(4 * (n / 3 + 1) + 1);
	json_t *out = NULL;

	if (text) {
		EVP_EncodeBlock((unsigned char *)text, p, (int)n);
		out = json_string(text);
	}
	free(text);
	return out;
}

static bool read_data(struct gd_file *f, const char *base64)
{
	size_t n = strlen(base64);
	int got;

	f->data = malloc(n + 1);
	got = f->data && n % 4 == 0
		      ? EVP_DecodeBlock(f->data, (const unsigned char *)base64, (int)n)
		      : -1;
	if (got < 0)
		return false;
	f->n = (size_t)got;
	for (size_t i = n; i > 0 && base64[i - 1] == '='; i--)
		f->n--;
	return true;
}

static struct gd_file *file_free(struct gd_file *f)
{
	if (f) {
		free(f->name);
		free(f->type);
		free(f->data);
	}
	free(f);
	return NULL;
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static json_t *file_json(const struct gd_file *f, const char *base, const json_t *given)
{
	json_int_t size = json_integer_value(json_object_get(given, "size"));
	char url[512];
	json_t *o;

	snprintf(url, sizeof(url), "%s/attachments/%llu/%llu/%s?ex=6a&is=6a&hm=00", base,
		 (unsigned long long)f->channel, (unsigned long long)f->id, f->name);
	o = json_pack("{s:o, s:s, s:I, s:s, s:s, s:s*, s:O*}", "id", gd_id_json(f->id), "filename",
		      f->name, "size", size ? size : (json_int_t)f->n, "url", url, "proxy_url", url,
		      "content_type", f->type, "text", json_object_get(given, "text"));
	if (o && f->n > 24 && memcmp(f->data, "\x89PNG", 4) == 0) {
		json_object_set_new(o, "width", json_integer(be32(f->data + 16)));
		json_object_set_new(o, "height", json_integer(be32(f->data + 20)));
	}
	return o;
}

json_t *gd_files_keep(struct gd_vec *files, uint64_t (*id)(void *arg), void *arg, uint64_t channel,
		      const char *base, const json_t *given)
{
	json_t *out = json_array();
	const json_t *o;
	size_t i;

	json_array_foreach(given, i, o)
	{
		const char *name = text_of(o, "filename"), *type = text_of(o, "content_type");
		struct gd_file *f = calloc(1, sizeof(*f));

		if (!f)
			continue;
		type = *type ? type : type_of(name);
		f->channel = channel;
		f->id = id(arg);
		f->name = strdup(name);
		f->type = type ? strdup(type) : NULL;
		if (!read_data(f, text_of(o, "data")) || !f->name || gd_vec_add(files, f)) {
			file_free(f);
			continue;
		}
		json_array_append_new(out, file_json(f, base, o));
	}
	return out;
}

const struct gd_file *gd_files_find(const struct gd_vec *files, uint64_t channel, uint64_t id,
				    const char *name)
{
	for (size_t i = 0; i < files->n; i++) {
		const struct gd_file *f = files->v[i];

		if (f->channel == channel && f->id == id && strcmp(f->name, name) == 0)
			return f;
	}
	return NULL;
}

void gd_files_clear(struct gd_vec *files)
{
	for (size_t i = 0; i < files->n; i++)
		file_free(files->v[i]);
	gd_vec_clear(files);
}
