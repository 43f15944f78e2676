#include "control/store/faults.h"

#include <errno.h>
#include <string.h>

#include "control/words/words.h"

void store_fault_words(struct words *w, const char *dir, int err)
{
	switch (err) {
	case ENOSPC:
		words_store_full(w, dir);
		break;
	case EROFS:
	case EACCES:
		words_store_read_only(w, dir);
		break;
	case EBADMSG:
		words_store_not_a_database(w, dir);
		break;
	case EPERM:
		words_store_not_ours(w, dir);
		break;
	case ENOTSUP:
		words_store_newer(w, dir);
		break;
	case EUCLEAN:
		words_store_damaged(w, dir);
		break;
	default:
		words_store_failed(w, dir, strerror(err));
		break;
	}
}
