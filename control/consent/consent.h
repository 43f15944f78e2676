/* The consents of people: who is heard, and whose words are kept, in each server.
 *
 * A value in memory, without I/O. The store keeps it (store_put_consent, store_read_consents).
 * People are told apart by subject_mac (control/store/subject.h), so that a refusal outlives the
 * erasure of the person's data. */
#ifndef CONTROL_CONSENT_CONSENT_H
#define CONTROL_CONSENT_CONSENT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct consent_table;

/* C(NAME, name): the first three are the words of the setting consent, in its order. */
#define CONSENTS(C)                                                                                \
	C(HEARD, heard)		  /* heard and answered, not remembered */                         \
	C(REMEMBERED, remembered) /* heard, and the words are kept */                              \
	C(NEITHER, neither)	  /* not even decoded */                                           \
	C(DEFAULT, default)	  /* has not answered: the setting counts */

enum consent {
#define X(NAME, name) CONSENT_##NAME,
	CONSENTS(X)
#undef X
		CONSENT_COUNT
};

/* kept: as store_read_consents; NULL: nobody has answered; without a valid key: the answers cannot
 * be read. Not kept. ENOMEM. Caller owns *out. */
int consent_table_alloc(struct consent_table **out, const json_t *kept);
struct consent_table *consent_table_free(struct consent_table *t);
/* Never CONSENT_DEFAULT: it gives by_default for a person who has not answered. NULL as table:
 * nobody has. */
enum consent consent_of(const struct consent_table *t, uint64_t guild, uint64_t user,
			enum consent by_default);
/* The consent of a person who has not answered: by_default, or CONSENT_NEITHER if the answers could
 * not be read, because the person may have refused. NULL as table: by_default. */
enum consent consent_default(const struct consent_table *t, enum consent by_default);
/* True if the saved answers could not be read. */
bool consent_table_unread(const struct consent_table *t);
/* CONSENT_DEFAULT if the person has not answered in this server. */
enum consent consent_answer(const struct consent_table *t, uint64_t guild, uint64_t user);
/* at_ms: when it was answered, since 1970. CONSENT_DEFAULT: forgets the answer. ENOMEM, EINVAL. */
int consent_set(struct consent_table *t, uint64_t guild, uint64_t user, enum consent consent,
		uint64_t at_ms);
/* Since when (ms since 1970) the present answer holds; 0: the person has not answered. */
uint64_t consent_since(const struct consent_table *t, uint64_t guild, uint64_t user);
/* What this person wrote before is not read again: they refused to be read until then, or were
 * erased; 0: never. by_default as of consent_of. */
uint64_t consent_unread_before(const struct consent_table *t, uint64_t guild, uint64_t user,
			       enum consent by_default);
/* Somebody in this server, who was read or remembered, allows less since then. ENOMEM. */
int consent_withdraw(struct consent_table *t, uint64_t guild, uint64_t at_ms);
/* When that happened last, or somebody was erased, in whatever server: what the bot wrote before
 * may repeat words of theirs. 0: never; UINT64_MAX: the saved answers could not be read. NULL
 * accepted. */
uint64_t consent_withdrawn(const struct consent_table *t, uint64_t guild);
/* The person was erased: each `remembered` becomes `heard`, and refusals stay. Cannot fail: a
 * failure would go on keeping the words of a person who wants to be forgotten. */
void consent_end(struct consent_table *t, uint64_t user, uint64_t at_ms);

const char *consent_name(enum consent consent);
/* False: there is none of this name. */
bool consent_parse(const char *name, enum consent *out);

#endif
