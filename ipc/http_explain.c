#include "ipc/http.h"

#include <errno.h>

const char *http_explain(int err)
{
	switch (err) {
	case EACCES:
		return "its address is not public";
	case ETIMEDOUT:
		return "the site took too long to answer";
	case EHOSTUNREACH:
		return "the site was not found";
	case ECONNREFUSED:
		return "the site cannot be reached";
	case EPROTO:
	case EKEYEXPIRED:
		return "the site has no valid certificate";
	case EMEDIUMTYPE:
		return "it is no text";
	case ENOMEM:
		return "there was no memory for it";
	default:
		return "the connection failed";
	}
}
