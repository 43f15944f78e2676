#include "proto/base/numeric_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

size_t numeric_address(struct sockaddr_storage *out, const char *text, uint16_t port)
{
	struct sockaddr_in *four = (struct sockaddr_in *)out;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;

	*out = (struct sockaddr_storage){0};
	if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		return sizeof *four;
	}
	if (inet_pton(AF_INET6, text, &six->sin6_addr) != 1)
		return 0;
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	return sizeof *six;
}
