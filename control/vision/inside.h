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
	uint64_t at; /* ns; when it came */
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
	uint32_t wiped;		   /* the last one that is not to be told of any more */
	uint64_t came;		   /* ns; the picture that is decoded now */
	uint64_t confirmed;	   /* ns; the screen looked like the newest picture */
	enum image_reason problem; /* of the last picture */
};

struct vision {
	struct vision_conf conf;
	struct image_jail *jail;
	struct tmr *tmr; /* while there are shares */
	struct shares shares;
	struct view views[SHARES_MAX];
	size_t memory; /* of pictures */
};

static inline struct view *view_of(struct vision *v, const struct share *s)
{
	return &v->views[s - v->shares.v];
}

/* control/vision/vision.c */
void vision_publish_share(struct vision *v, const struct share *s, enum event_type type,
			  const char *why);

/* control/vision/pictures.c */
/* Has it decoded. BUSY: it cannot be now. */
enum share_refusal view_take(struct view *view, const struct share *s, struct slice picture);
/* A second has passed. */
void view_tick(struct view *view, const struct share *s);
/* The first picture is there, or there is none any more: the room is told, once. */
void view_tell(struct view *view, const struct share *s, bool shown, const char *why);
/* Wipes its pictures and what notes say of them; that they changed stays. */
void view_wipe(struct view *view);
/* Forgets it. */
void view_end(struct view *view);

#endif
