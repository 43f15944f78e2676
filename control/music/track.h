/* A piece of music in a queue: its source, the reference that opens it, and its tags.
 *
 * Tags come from files and servers of strangers. track_set_text makes them one plain line; they are
 * data for prompts and messages, never instructions. Pure. */
#ifndef CONTROL_MUSIC_TRACK_H
#define CONTROL_MUSIC_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* S(NAME, name): the name stands in tools' results and in saved queues, so it never changes. */
#define TRACK_SOURCES(S)                                                                           \
	S(LOCAL, "local") /* reference: the path below a music folder */                           \
	S(URL, "url")	  /* reference: address of a file */                                       \
	S(RADIO, "radio") /* reference: address of a stream without an end */                      \
	S(YOUTUBE, "yt")  /* these three: address of the page, resolved when it is played */       \
	S(SOUNDCLOUD, "sc")                                                                        \
	S(PAGE, "page") /* of any other site that the downloader knows */

enum track_source {
#define S(NAME, name) TRACK_##NAME,
	TRACK_SOURCES(S)
#undef S
		TRACK_SOURCE_COUNT
};

/* Bytes with the NUL. */
enum {
	TRACK_TITLE_MAX = 200,
	TRACK_ARTIST_MAX = 120,
	TRACK_ALBUM_MAX = 120,
	TRACK_REFERENCE_MAX = 1024,
	TRACK_LABEL_MAX = TRACK_TITLE_MAX + TRACK_ARTIST_MAX + 3,
	TRACK_SELECTION_MAX = 24,
	TRACK_EDITION_MIN = 64,
	TRACK_DURATION_MAX_S = 7 * 24 * 3600, /* a longer one is as good as not known */
};

struct track {
	uint32_t id; /* of the entry in its queue, never reused there; 0: in none yet */
	enum track_source source;
	uint32_t root;	      /* of LOCAL: index of the music folder */
	uint64_t duration_ms; /* 0: not known, or without an end */
	bool may_be_live;     /* of a URL: the source tells whether it has an end */
	uint64_t requester;   /* user id; 0: the bot itself */
	char title[TRACK_TITLE_MAX], artist[TRACK_ARTIST_MAX], album[TRACK_ALBUM_MAX];
	char reference[TRACK_REFERENCE_MAX];
};

/* The name of the table; "" for a value that is none of it. */
const char *track_source_name(enum track_source source);
/* Returns false if the name is in no row; *source is as it was. */
bool track_source_parse(enum track_source *source, const char *name);
/* Copies a tag of n bytes, UTF-8 or Latin-1, as one plain line without blanks around it. */
void track_set_text(char *to, size_t size, const char *from, size_t n);
/* "Artist - Title"; the title alone without an artist; without a title the end of the reference, of
 * an address without its query. */
void track_write_label(char to[TRACK_LABEL_MAX], const struct track *t);
/* "Artist - Title [Album]", or without an album the label; a label too long for it is cut, so that
 * the album stays. size: more than TRACK_EDITION_MIN. */
void track_write_edition(char *to, size_t size, const struct track *t);
/* True if nothing but the album tells their labels apart: a studio album and a live one. */
bool track_is_other_edition(const struct track *a, const struct track *b);
/* "local-1f0c…": a name of the music for models and buttons. The same music has the same one in
 * every process. */
void track_write_selection(char to[TRACK_SELECTION_MAX], const struct track *t);
/* True if both open the same music. */
bool track_is_same(const struct track *a, const struct track *b);

#endif
