/* `control --mcp-login SERVER`: the operator signs in at the authorization server of an MCP server
 * of the settings (control/mcp/login.h). */
#ifndef CONTROL_MCP_LOGIN_COMMAND_H
#define CONTROL_MCP_LOGIN_COMMAND_H

struct control_conf;
struct settings;

/* Prints the link, waits at most 10 minutes for the browser, and keeps the sign-in in the state
 * directory. scope: to ask for; NULL: what the server wants. Returns the exit status. */
int mcp_login_run(const struct settings *settings, const struct control_conf *conf,
		  const char *server, const char *scope);

#endif
