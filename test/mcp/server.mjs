// A real MCP server with both transports, which demands the bearer token of its own token endpoint. It prints its URL,
// and then a line for each request. JavaScript, since it stands for a program that is not ours.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

let issued = 0;
let valid = '';
/** Live transports by session. */
const sessions = new Map();

const TOOLS = {
  // Tells of each step, and then of its end.
  count: async ({ _meta }, { sendNotification }) => {
    for (const progress of [1, 2, 3])
      await sendNotification({
        method: 'notifications/progress',
        params: { progressToken: _meta.progressToken, progress, total: 3 },
      });
    return '3';
  },
  // Tells its client, outside of any request, that the list of tools has changed.
  announce: async (_params, _extra, server) => {
    await server.sendToolListChanged();
    return 'announced';
  },
  // The token that came with this call is worth nothing from now on.
  revoke: async () => {
    valid = '';
    return 'revoked';
  },
};

function mcpServer() {
  const server = new Server(
    { name: 'upstream', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => ({
    content: [{ type: 'text', text: await TOOLS[params.name](params, extra, server) }],
  }));
  return server;
}

async function streamable(req, res) {
  const known = sessions.get(req.headers['mcp-session-id']);
  if (known !== undefined) return known.handleRequest(req, res);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  await mcpServer().connect(transport);
  return transport.handleRequest(req, res);
}

async function events(url, res) {
  if (url.searchParams.has('absolute')) {
    // As a server does that is told its own address.
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(`event: endpoint\ndata: http://${res.req.headers.host}/messages?sessionId=1\n\n`);
    return;
  }
  const transport = new SSEServerTransport('/messages', res);
  sessions.set(transport.sessionId, transport);
  await mcpServer().connect(transport);
}

function issueToken(res) {
  valid = `token-${++issued}`;
  res.setHeader('content-type', 'application/json');
  res.end(JSON.stringify({ access_token: valid, token_type: 'Bearer', expires_in: 3600 }));
}

const server = createServer(async (req, res) => {
  const url = new URL(req.url, 'http://localhost');
  if (url.pathname === '/token') return issueToken(res);
  const isKnown = valid !== '' && req.headers.authorization === `Bearer ${valid}`;
  console.log(`${req.method} ${url.pathname} ${isKnown ? valid : 401}`);
  if (!isKnown) return res.writeHead(401).end();
  if (url.pathname === '/mcp') return streamable(req, res);
  if (url.pathname === '/sse') return events(url, res);
  return sessions.get(url.searchParams.get('sessionId')).handlePostMessage(req, res);
});
await once(server.listen(0, '127.0.0.1'), 'listening');
console.log(`http://127.0.0.1:${server.address().port}`);
