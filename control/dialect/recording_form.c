#include "control/dialect/recording_form.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/wav.h"

enum { HEAD_MAX = 2048 };

static void write_text(struct wr *w, const char *text)
{
	wr_bytes(w, text, strlen(text));
}

void form_field(struct wr *w, const char *boundary, const char *name, const char *value)
{
	char head[256];

	snprintf(head, sizeof head, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n",
		 boundary, name);
	write_text(w, head);
	write_text(w, value);
	write_text(w, "\r\n");
}

static void write_file_head(struct wr *w, const struct openai_recording *rec)
{
	char text[256];
	uint8_t header[WAV_HEADER];

	snprintf(text, sizeof text,
		 "--%s\r\nContent-Disposition: form-data; name=\"file\"; "
		 "filename=\"speech.wav\"\r\nContent-Type: audio/wav\r\n\r\n",
		 rec->boundary);
	write_text(w, text);
	wav_header(header, rec->rate, 1, rec->pcm.n / 2);
	wr_bytes(w, header, sizeof header);
}

int form_build(struct openai_body *out, const struct openai_recording *rec, form_fields_h *fields)
{
	struct openai_body b = {0};
	size_t size = HEAD_MAX + rec->pcm.n;
	struct wr w;
	char tail[96];

	/* RFC 2046: 1 to 70 characters. */
	if (!*rec->boundary || strlen(rec->boundary) > 70 || rec->pcm.n % 2)
		return EINVAL;
	b.p = malloc(size);
	if (!b.p)
		return ENOMEM;
	w = wr_of(b.p, size);
	fields(&w, rec);
	write_file_head(&w, rec);
	b.sound_at = w.pos;
	wr_bytes(&w, rec->pcm.p, rec->pcm.n);
	snprintf(tail, sizeof tail, "\r\n--%s--\r\n", rec->boundary);
	write_text(&w, tail);
	snprintf(b.type, sizeof b.type, "Content-Type: multipart/form-data; boundary=%s",
		 rec->boundary);
	b.n = w.pos;
	if (!w.ok) {
		free(b.p);
		return EINVAL;
	}
	*out = b;
	return 0;
}
