/* Shared by the files of control/vision. */
#ifndef CONTROL_VISION_INSIDE_H
#define CONTROL_VISION_INSIDE_H

#include "control/events/events.h"
#include "control/vision/core/change.h"
#include "control/vision/core/notes.h"
#include "control/vision/vision.h"

struct tmr;

struct kept_picture {
	uint8_t *p; /* a JPEG; NULL: none */
	size_t n;
	uint32_t width, height;
	uint32_t screen; /* pixels of the longer side of what it shows */
	uint64_t at;	 /* ns; when it came */
};

/* What was seen of the share in the same place of the table. */
struct view {
	struct vision *vision;
	uint32_t share; /* 0: nothing was */
	struct kept_picture newest;
	struct change change;
	struct notes notes;
	bool decoding;
	bool shown;		   /* the room was told so */
	uint32_t number;	   /* of the newest picture */
	uint32_t screen;	   /* the longer side of its screen, as a page says; 0: unknown */
	uint32_t wiped;		   /* the last one that is not to be told of any more */
	uint64_t came;		   /* ns; the picture that is decoded now */
	uint64_t looked;	   /* ns; when a model was given it last */
	uint64_t confirmed;	   /* ns; the screen looked like the newest picture */
	enum image_reason problem; /* of the last picture */
};

enum { VISION_NAME_SIZE = 81 };

/* One that was open, whose, and why it is over: a clause. */
struct ended_share {
	uint64_t guild, channel, user;
	uint64_t at; /* ns */
	char name[VISION_NAME_SIZE], why[128];
};
enum { ENDED_SHARES = 8 }; /* the last ones, of all servers */

struct vision {
	struct vision_conf conf;
	struct image_jail *jail;
	struct image_jail *frames; /* decodes key frames; NULL: no streams are watched */
	struct vision_streams streams;
	struct tmr *tmr; /* while there are shares */
	struct shares shares;
	struct view views[SHARES_MAX];
	size_t memory; /* of pictures */
	struct ended_share ended[ENDED_SHARES];
	unsigned n_ended; /* shares noted so far; the next one goes to n_ended % ENDED_SHARES */
};

static inline struct view *view_of(struct vision *v, const struct share *s)
{
	return &v->views[s - v->shares.v];
}

/* Models can look at it. */
static inline bool share_is_seen(const struct share *s, const struct view *view)
{
	return s->watched && view->newest.p;
}

/* control/vision/vision.c */
/* Those of this server; 0: of all. */
struct share_rules vision_rules(const struct vision *v, uint64_t guild);
void vision_publish_share(struct vision *v, const struct share *s, enum event_type type,
			  const char *why);
void vision_end_share(struct vision *v, struct share *s, const char *why, const char *failure);
/* Offers it, with a token that is a new one or the share's. */
enum share_refusal vision_offer_share(struct vision *v, const struct share_owner *owner,
				      char token[SHARE_SECRET_SIZE], struct share **out);
/* Takes a picture, or a key frame of this codec. */
enum share_refusal vision_take(struct vision *v, struct share *s, bool known_type,
			       enum frame_codec codec, struct slice picture);

/* control/vision/shown.c */
/* A name for a sentence: one line, and short enough that the sentence cuts no character of it.
 * Returns out. */
const char *vision_write_name(const struct vision *v, uint64_t guild, uint64_t user,
			      char out[VISION_NAME_SIZE]);

/* control/vision/unseen.c */
/* Remembers for a while why the share is over. failure: a clause, or NULL. */
void vision_note_end(struct vision *v, const struct share *s, const char *why, const char *failure);
void vision_forget_ended(struct vision *v, uint64_t guild, uint64_t user);

/* control/vision/streams.c */
/* True if the target's stream is watched from now on. *why, NULL accepted: else a clause, where
 * there are streams at all. */
bool vision_watch_stream(struct vision *v, uint64_t guild, uint64_t channel, uint64_t target,
			 const char **why);
/* Appends those that are not watched, to what vision_list tells. */
void vision_list_streams(const struct vision *v, uint64_t guild, uint64_t channel, json_t *list);

/* control/vision/pictures.c */
/* Has it decoded. BUSY: it cannot be now. */
enum share_refusal view_take(struct view *view, const struct share *s, enum frame_codec codec,
			     struct slice picture);
/* A second has passed. */
void view_tick(struct view *view, const struct share *s);
/* The first picture is there, or there is none any more: the room is told, once. */
void view_tell(struct view *view, const struct share *s, bool shown, const char *why);
/* Wipes its pictures and what notes say of them; that they changed stays. */
void view_wipe(struct view *view);
/* Forgets it. */
void view_end(struct view *view);

#endif
