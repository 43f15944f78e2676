/* Lists of IP addresses with ports, as of the setting web_read_allowed and of --music-address:
 * "10.0.0.5:80, [fd00::1]:8080". Commas and spaces separate entries. Pure. */
#ifndef PROTO_BASE_ADDRESS_LIST_H
#define PROTO_BASE_ADDRESS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* At most so many entries, and bytes with the one at the end. */
enum { ADDRESS_LIST_ENTRIES = 16, ADDRESS_LIST_BYTES = 512 };

struct address_entry {
	struct sockaddr_storage sa; /* what is not used of it is 0 */
	socklen_t len;
};

/* Reads n bytes, which are one entry. False: they are none, as the name of a host or an address
 * without a port is; *out may be written all the same. */
bool address_entry_read(struct address_entry *out, const char *text, size_t n);
/* The next entry of a list, of *n bytes; *list is moved behind it. NULL: there is none. */
const char *address_list_next(const char **list, size_t *n);
/* The first entry, of *n bytes, that is no address or one too many. NULL: nothing is wrong. */
const char *address_list_fault(const char *list, size_t *n);

#endif
