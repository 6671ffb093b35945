// An MCP client's whole way, by the transport and at the address that its arguments name. It prints what it saw as JSON.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ProgressNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

const [kind, url] = process.argv.slice(2);
const Transport = kind === 'sse' ? SSEClientTransport : StreamableHTTPClientTransport;
const transport = new Transport(new URL(url));
const client = new Client({ name: 'test', version: '1.0.0' });
const announced = new Promise((resolve) => {
  client.setNotificationHandler(ToolListChangedNotificationSchema, resolve);
});
// The SDK's own `onprogress` loses a step that arrives in one piece with the result.
const progress = [];
client.setNotificationHandler(
  ProgressNotificationSchema,
  ({ params }) => void progress.push(params.progress),
);

async function call(name) {
  const { content } = await client.callTool({ name, _meta: { progressToken: name } });
  return content[0].text;
}

await client.connect(transport);
const tools = (await client.listTools()).tools.map(({ name }) => name);
const counted = await call('count');
// Comes by the stream that the client holds open: by itself, with no request that it would answer.
const [told] = await Promise.all([announced, call('announce')]);
const revoked = await call('revoke');
const again = await call('announce');
const hasSession = transport.sessionId !== undefined;
await transport.terminateSession?.();
await client.close();
console.log(
  JSON.stringify({
    server: client.getServerVersion().name,
    tools,
    counted,
    progress,
    told: told.method,
    revoked,
    again,
    hasSession,
  }),
);
