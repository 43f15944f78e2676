#include "control/engine/core/ask.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/utf8.h"

/* Where the parts of a copy go: the structs first, then the bytes. While at is NULL, the sizes are
 * added up. */
struct copy {
	char *at;
	size_t n;
};

static const char *put_bytes(struct copy *c, const void *bytes, size_t n)
{
	char *to = c->at ? c->at + c->n : NULL;

	if (to && n)
		memcpy(to, bytes, n);
	c->n += n;
	return to;
}

static const char *put_text(struct copy *c, const char *text)
{
	return text ? put_bytes(c, text, strlen(text) + 1) : put_bytes(c, "", 1);
}

static size_t count_images(const struct engine_ask *ask)
{
	size_t n = 0;

	for (size_t i = 0; i < ask->n; i++)
		n += ask->messages[i].n_images;
	return n;
}

/* The structs of the copy; NULL while sizes are added up. */
struct parts {
	struct engine_message *messages;
	struct engine_tool *tools;
	struct engine_image *images;
	struct slice *sound;
};

static void put_images(struct copy *c, const struct engine_message *m, struct engine_image *images)
{
	for (size_t i = 0; i < m->n_images; i++) {
		const char *type = put_text(c, m->images[i].type);
		const char *data = put_bytes(c, m->images[i].data.p, m->images[i].data.n);

		if (images)
			images[i] = (struct engine_image){
				type, {(const uint8_t *)data, m->images[i].data.n}};
	}
}

static void put_message(struct copy *c, const struct engine_message *m, struct engine_message *to,
			struct engine_image *images)
{
	struct engine_message copy = *m;

	copy.speaker = put_text(c, m->speaker);
	copy.text = put_text(c, m->text);
	copy.call = put_text(c, m->call);
	copy.tool = put_text(c, m->tool);
	copy.images = images;
	put_images(c, m, images);
	if (to)
		*to = copy;
}

static void put_sound(struct copy *c, const struct engine_ask *ask, struct slice *to)
{
	for (size_t i = 0; i < ask->n_sound; i++) {
		const char *bytes = put_bytes(c, ask->sound[i].p, ask->sound[i].n);

		if (to)
			to[i] = (struct slice){(const uint8_t *)bytes, ask->sound[i].n};
	}
}

static void put_ask(struct copy *c, const struct engine_ask *ask, struct engine_ask *to,
		    const struct parts *p)
{
	struct engine_image *images = p->images;
	struct engine_ask copy = *ask;

	copy.messages = p->messages;
	copy.tools = p->tools;
	copy.sound = p->sound;
	copy.instructions = put_text(c, ask->instructions);
	copy.model = put_text(c, ask->model);
	copy.voice = put_text(c, ask->voice);
	copy.sound_label = put_text(c, ask->sound_label);
	copy.answer_schema = ask->answer_schema ? put_text(c, ask->answer_schema) : NULL;
	for (size_t i = 0; i < ask->n; i++) {
		put_message(c, &ask->messages[i], to ? &p->messages[i] : NULL, images);
		images = to ? images + ask->messages[i].n_images : NULL;
	}
	for (size_t i = 0; i < ask->n_tools; i++) {
		const char *name = put_text(c, ask->tools[i].name);
		const char *description = put_text(c, ask->tools[i].description);
		const char *schema = put_text(c, ask->tools[i].schema);

		if (to)
			p->tools[i] = (struct engine_tool){name, description, schema};
	}
	put_sound(c, ask, p->sound);
	if (to)
		*to = copy;
}

int engine_ask_copy(struct engine_ask **out, const struct engine_ask *ask)
{
	size_t images = count_images(ask), structs;
	struct engine_ask *copy;
	struct copy c = {0};
	struct parts p = {0};

	if (!ask->n || ask->n > ENGINE_MESSAGES_MAX || ask->n_tools > ENGINE_TOOLS_MAX ||
	    images > ENGINE_IMAGES_MAX || ask->n_sound > ENGINE_SOUNDS_MAX)
		return EINVAL;
	structs = sizeof *copy + ask->n * sizeof *p.messages + ask->n_tools * sizeof *p.tools +
		  images * sizeof *p.images + ask->n_sound * sizeof *p.sound;
	put_ask(&c, ask, NULL, &p);
	copy = malloc(structs + c.n);
	if (!copy)
		return ENOMEM;
	p.messages = (struct engine_message *)(copy + 1);
	p.tools = (struct engine_tool *)(p.messages + ask->n);
	p.images = (struct engine_image *)(p.tools + ask->n_tools);
	p.sound = (struct slice *)(p.images + images);
	c = (struct copy){.at = (char *)copy + structs};
	put_ask(&c, ask, copy, &p);
	*out = copy;
	return 0;
}

void engine_ask_drop_images(struct engine_ask *copy)
{
	for (size_t i = 0; copy && i < copy->n; i++) {
		struct engine_message *m = (struct engine_message *)(uintptr_t)&copy->messages[i];

		for (size_t k = 0; k < m->n_images; k++)
			explicit_bzero((void *)(uintptr_t)m->images[k].data.p, m->images[k].data.n);
		m->n_images = 0;
	}
}

void engine_ask_free(struct engine_ask *copy)
{
	engine_ask_drop_images(copy);
	free(copy);
}

size_t engine_message_line(const struct engine_message *m, char *buf, size_t size)
{
	int n = m->role == ENGINE_USER && *m->speaker
			? snprintf(buf, size, "[%s]: %s", m->speaker, m->text)
			: snprintf(buf, size, "%s", m->text);

	/* One bad byte, or a character that was cut here, must not fail all answers. */
	return n < 0 ? 0 : utf8_mend(buf);
}
