// A server of the modern era, made with the official SDK: stdio, or HTTP with a port as argument (it prints the port).
import http from 'node:http';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const make = () => {
  const s = new McpServer({ name: 'modern', version: '1.0' });
  s.registerTool('echo', { description: 'Says it again.', inputSchema: z.object({ message: z.string() }) },
    async ({ message }) => ({ content: [{ type: 'text', text: `Echo: ${message}` }] }));
  s.registerTool('slow', { description: 'Takes a while.', inputSchema: z.object({}) }, async (_args, ctx) => {
    ctx?.mcpReq?.signal?.addEventListener?.('abort', () => console.error('the call was aborted'));
    await new Promise((r) => setTimeout(r, 1500));
    return { content: [{ type: 'text', text: 'late' }] };
  });
  return s;
};

if (process.argv[2] === undefined) {
  await serveStdio(make);
} else {
  const handler = createMcpHandler(make);
  const server = http.createServer(async (req, res) => {
    const chunks = [];
    for await (const c of req) chunks.push(c);
    const ended = new AbortController();
    res.on('close', () => ended.abort());
    const answer = await handler.fetch(new Request(`http://127.0.0.1${req.url}`, {
      method: req.method, headers: req.headers, signal: ended.signal, body: chunks.length ? Buffer.concat(chunks) : undefined }));
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) for await (const c of answer.body) res.write(c);
    res.end();
  });
  server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log(server.address().port));
}
