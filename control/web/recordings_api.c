/* What was recorded of a turn: GET /api/turns/:id/audio. Each request is a row of the audit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/store.h"
#include "control/web/inside.h"
#include "control/web/list_query.h"
#include "proto/base/cursor.h"
#include "proto/discord.h"

/* As mediad hears; G.711 mu-law has a byte a sample. */
enum { RATE = 24000, MU_LAW = 7, HEAD_SIZE = 58 };

static void put_le(uint8_t *to, uint32_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

/* RIFF, "fmt " of 18 bytes, "fact" with the number of samples, and the head of "data". */
static void write_head(uint8_t to[HEAD_SIZE], size_t n)
{
	memset(to, 0, HEAD_SIZE);
	memcpy(to, "RIFF", 4);
	put_le(to + 4, (uint32_t)(HEAD_SIZE - 8 + n), 4);
	memcpy(to + 8, "WAVEfmt ", 8);
	put_le(to + 16, 18, 4);
	put_le(to + 20, MU_LAW, 2);
	put_le(to + 22, 1, 2);
	put_le(to + 24, RATE, 4);
	put_le(to + 28, RATE, 4);
	put_le(to + 32, 1, 2);
	put_le(to + 34, 8, 2);
	memcpy(to + 38, "fact", 4);
	put_le(to + 42, 4, 4);
	put_le(to + 46, (uint32_t)n, 4);
	memcpy(to + 50, "data", 4);
	put_le(to + 54, (uint32_t)n, 4);
}

/* The consent of this moment counts, whatever the store still has. */
static bool may_be_heard(const struct web *w, const struct http_exchange *x,
			 const struct store_document *d)
{
	uint64_t scope = access_scope(web_access(w), x);
	const struct web_conf *c = web_shown(w);
	char guild[24] = "";
	uint64_t ids[2];
	size_t n = strcspn(d->author, " ");

	if (!d->size || !c->remembersh || n >= sizeof guild || !d->author[n])
		return false;
	memcpy(guild, d->author, n);
	return discord_u64(guild, &ids[0]) && discord_u64(d->author + n + 1, &ids[1]) &&
	       (!scope || scope == ids[0]) && c->remembersh(ids[0], ids[1], c->arg);
}

static void send(struct web *w, struct http_exchange *x, enum web_role role,
		 const struct store_document *d)
{
	bool may = may_be_heard(w, x, d);
	uint8_t *wav = may ? malloc(HEAD_SIZE + d->size) : NULL;
	char target[96];
	uint64_t utterance = 0;

	(void)role;
	list_query_number(http_request_head(x), "utterance", UINT32_MAX, &utterance);
	/* Whose voice it is is told by the utterance. */
	snprintf(target, sizeof target, "%.64s utterance %llu", http_request_head(x)->path,
		 (unsigned long long)utterance);
	access_audit(web_access(w), x, AUDIT_KIND_LISTEN, target, may ? "carried out" : "refused");
	if (!wav) {
		web_refuse(x, WEB_NO_RECORDING);
		return;
	}
	write_head(wav, d->size);
	memcpy(wav + HEAD_SIZE, d->document, d->size);
	http_reply(x, 200, "audio/wav", wav, HEAD_SIZE + d->size);
	free(wav);
}

void web_turn_audio_get(struct web *w, const struct web_request *r)
{
	uint64_t utterance;
	struct read *read;

	if (!list_query_number(r->head, "utterance", UINT32_MAX, &utterance) || !utterance) {
		web_refuse(r->x, WEB_BAD_UTTERANCE);
		return;
	}
	read = web_read_begin(w, r, send);
	if (read)
		web_read_begun(r, read,
			       store_read_recording(web_reads_store(w), r->id, utterance,
						    web_on_read, read));
}
